// Names of models.
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;
const MOST = 60;

export function isName(text) {
  return NAME.test(text);
}

/** A name for the model of a file that no other model has. */
export function freeName(file, taken) {
  const stem = file.replace(/\.[^.]*$/, "").normalize("NFKD").replace(/[^A-Za-z0-9._-]+/g, "-").replace(/^[-._]+|[-._]+$/g, "");
  const name = stem.slice(0, MOST) || "table";
  if (!taken.includes(name)) return name;
  for (let n = 2; ; n += 1) if (!taken.includes(`${name}-${n}`)) return `${name}-${n}`;
}
