// A rule as text, which is also the key of its custom name.
import { t } from "../../lib/texts.js";

export const textOf = (rule) =>
  rule.is_default ? t("understand.otherwise") : rule.conditions.map((one) => one.text).join(t("understand.and"));
