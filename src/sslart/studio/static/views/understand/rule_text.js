// A rule in words. The names that people give to rules are kept by these words.
import { t } from "../../lib/texts.js";

export const textOf = (rule) =>
  rule.is_default ? t("understand.otherwise") : rule.conditions.map((one) => one.text).join(t("understand.and"));
