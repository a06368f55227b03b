// Draft of the column roles, and the corresponding settings of the service.

/** Roles that only one column can have. */
export const SINGLE = ["label", "id", "group"];

/** The role of each column by its name, as the model has it. */
export function rolesOf(columns, settings) {
  return Object.fromEntries(columns.map((one) => {
    const isCategory = one.role === "feature" && (settings.category ?? []).includes(one.name);
    return [one.name, isCategory ? "category" : one.role];
  }));
}

/** The roles after one was changed: another column that had a role for one column only becomes a feature. */
export function changed(roles, name, role) {
  const next = { ...roles };
  if (SINGLE.includes(role)) {
    for (const [other, its] of Object.entries(next)) if (its === role) next[other] = "feature";
  }
  next[name] = role;
  return next;
}

/** The roles that a column can get, the one that it has included. */
export function choices(column, role) {
  const found = ["feature", "label", "id", "group", "ignored"];
  if (column.kind === "number" || role === "category") found.splice(1, 0, "category");
  return role === "left out" ? ["left out", ...found] : found;
}

export function settingsOf(roles, columns, settings) {
  const named = (role) => Object.keys(roles).filter((name) => roles[name] === role);
  const used = (one) => roles[one.name] === "feature" && (one.role === "left out" || (settings.use ?? []).includes(one.name));
  return {
    label: named("label")[0] ?? null,
    id: named("id")[0] ?? null,
    group: named("group")[0] ?? null,
    ignore: named("ignored"),
    category: named("category"),
    use: columns.filter(used).map((one) => one.name),
  };
}
