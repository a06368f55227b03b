// The linter of the studio's modules: every rule that eslint recommends, and a few more. Run from the root of the
// repository, as `make lint` does. Not yet on: rules of style, which no tool formats; max-len, since a line of a
// template is one element of the page.
import js from "@eslint/js";
import globals from "globals";

const STATIC = "src/sslart/studio/static";
const STRICTER = {
  "array-callback-return": "error",
  "consistent-return": "error",
  "default-case-last": "error",
  eqeqeq: ["error", "smart"], // == null means null or undefined
  "no-constructor-return": "error",
  "no-duplicate-imports": "error",
  "no-else-return": "error",
  "no-eval": "error",
  "no-implied-eval": "error",
  "no-lonely-if": "error",
  "no-new-func": "error",
  "no-promise-executor-return": "error",
  "no-self-compare": "error",
  "no-shadow": "error",
  "no-template-curly-in-string": "error",
  "no-throw-literal": "error",
  "no-unmodified-loop-condition": "error",
  "no-unneeded-ternary": "error",
  "no-unreachable-loop": "error",
  "no-unused-expressions": ["error", { allowShortCircuit: true, allowTernary: true, allowTaggedTemplates: false }],
  "no-unused-vars": ["error", { args: "all", argsIgnorePattern: "^_", varsIgnorePattern: "^_" }],
  "no-use-before-define": ["error", { functions: false, variables: false }],
  "no-useless-concat": "error",
  "no-useless-rename": "error",
  "no-useless-return": "error",
  "no-var": "error",
  "object-shorthand": "error",
  "prefer-const": "error",
  "prefer-object-spread": "error",
};

export default [
  { ignores: [`${STATIC}/vendor/**`] },
  js.configs.recommended,
  { linterOptions: { reportUnusedDisableDirectives: "error" }, rules: STRICTER },
  { files: [`${STATIC}/**/*.js`], languageOptions: { globals: globals.browser } },
  { files: ["**/*_worker.js"], languageOptions: { globals: globals.worker } },
  { files: ["tests/studio/js/**/*.js"], languageOptions: { globals: globals.node } },
];
