"""Rules of the model as code: an SQL expression, and a Python function that needs nothing but Python."""

from __future__ import annotations

import keyword
import re
import unicodedata
import warnings
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import Any

from sslart._utils.text import DateName, DatePart
from sslart.rules._model.decimals import number_repr
from sslart.rules._model.rule import ModelCondition, ModelRule
from sslart.rules._model.text import conditions_text, label_text

RESULTS = ("class", "rule")


def sql(rules: Sequence[ModelRule], result: str) -> str:
    """Return the rules as ``CASE WHEN ... END``."""
    _refuse_dates(rules, "SQL")
    _check_sql_texts(rules, result)
    *others, default = rules
    if not others:
        return _sql_literal(_result(default, result))
    lines = [
        f"  WHEN {' AND '.join(map(_sql_condition, rule.conditions))} THEN {_sql_literal(_result(rule, result))}"
        for rule in others
    ]
    return "\n".join(["CASE", *lines, f"  ELSE {_sql_literal(_result(default, result))}", "END"])


def _refuse_dates(rules: Sequence[ModelRule], language: str) -> None:
    names = [one.feature for rule in rules for one in rule.conditions if isinstance(one.feature, DateName | DatePart)]
    if names:
        raise ValueError(
            f"A rule has a condition on {names[0]!r}, which follows from dates, and these have no form in {language} "
            "that all programs read. Fit a model to the parts of the dates that matter, as columns of their own."
        )


def _check_sql_texts(rules: Sequence[ModelRule], result: str) -> None:
    """Raise a ValueError or warn if a text cannot be represented in SQL, or would change its meaning there."""
    conditions = [condition for rule in rules for condition in rule.conditions]
    values = [_result(rule, result) for rule in rules] + [one for each in conditions for one in each.categories or ()]
    literals = [value for value in values if isinstance(value, str)]
    for text in [*literals, *(condition.feature for condition in conditions)]:
        if "\0" in text:
            raise ValueError(f"SQL cannot hold {text!r}, a text with the character NUL: rename it and fit anew.")
    escaped = [text for text in literals if "\\" in text]
    if escaped:
        warnings.warn(
            f"The text {escaped[0]!r} holds a backslash. Standard SQL takes it as it is; use these rules in no "
            "database in which a backslash in quotes begins an escape, such as MySQL, Snowflake or BigQuery.",
            UserWarning,
            stacklevel=4,
        )


def _result(rule: ModelRule, result: str) -> Any:
    return rule.number if result == "rule" else rule.label


def _sql_condition(condition: ModelCondition) -> str:
    quoted = condition.feature.replace('"', '""')
    name = f'"{quoted}"'
    if condition.only_missing:
        return f"{name} IS NULL"
    if condition.categories:
        named = ", ".join(map(_sql_literal, condition.categories))
        text = f"{name} {'NOT IN' if condition.negated else 'IN'} ({named})"
    else:
        limits = [
            *([] if condition.low is None else [f"{name} > {number_repr(condition.low)}"]),
            *([] if condition.high is None else [f"{name} <= {number_repr(condition.high)}"]),
        ]
        text = " AND ".join(limits) or f"{name} IS NOT NULL"
    return f"({name} IS NULL OR ({text}))" if condition.missing else text


def _sql_literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    return str(value) if isinstance(value, int) else number_repr(value)


def python(rules: Sequence[ModelRule], name: str, result: str) -> str:
    """Return the rules as the source of a function of one sample."""
    _refuse_dates(rules, "Python")
    *others, default = rules
    what = "number of the rule for" if result == "rule" else "class of"
    lines = [
        f"def {name}(sample):",
        f'    """Return the {what} one sample: a mapping from feature to value, None or NaN where it is missing."""',
    ]
    conditions = [condition for rule in others for condition in rule.conditions]
    variables = _variables(dict.fromkeys(condition.feature for condition in conditions))
    of_nan = {condition.feature for condition in conditions if _may_hold_for_nan(condition)}
    for feature, variable in variables.items():
        lines.append(f"    {variable} = sample[{feature!r}]")
        if feature in of_nan:
            lines.append(f"    {variable} = None if {variable} != {variable} else {variable}  # NaN is a missing value")
    for rule in others:
        met = " and ".join(_python_condition(one, variables[one.feature]) for one in rule.conditions)
        lines += [
            f"    # Rule {rule.number}: if {conditions_text(rule, alone=False)}, then {label_text(rule)}",
            f"    if {met}:",
            f"        return {_result(rule, result)!r}",
        ]
    return "\n".join([*lines, f"    return {_result(default, result)!r}", ""])


def _variables(features: Iterable[str]) -> dict[str, str]:
    """Return a name for each feature that Python takes as a variable, each different."""
    variables: dict[str, str] = {}
    for place, feature in enumerate(features):
        plain = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", feature)).strip("_")  # as Python reads names
        others = (f"x{place}_{number}" for number in count())
        taken = {"sample", *variables.values()}
        variables[feature] = next(
            name
            for name in chain([plain, f"x{place}_{plain}".rstrip("_"), f"x{place}"], others)
            if is_name(name) and name not in taken
        )
    return variables


def is_name(name: str) -> bool:
    """Return True if a text is a valid Python name for a variable or a function."""
    return name.isidentifier() and not keyword.iskeyword(name)


def _may_hold_for_nan(condition: ModelCondition) -> bool:
    """Return True if the plain comparison could hold for NaN, so that missing values need an explicit test."""
    has_limits = condition.low is not None or condition.high is not None
    return condition.missing or condition.negated or not (has_limits or condition.categories)


def _python_condition(condition: ModelCondition, variable: str) -> str:
    if condition.only_missing:
        return f"{variable} is None"
    if condition.categories:
        named = ", ".join(map(repr, condition.categories))
        text = f"{variable} {'not in' if condition.negated else 'in'} ({named},)"
    elif condition.low is None and condition.high is None:
        text = ""
    else:
        low = "" if condition.low is None else f"{number_repr(condition.low)} < "
        high = "" if condition.high is None else f" <= {number_repr(condition.high)}"
        text = f"{low}{variable}{high}"
    if condition.missing:
        return f"({variable} is None or {text})"
    return f"({variable} is not None and {text})" if text else f"{variable} is not None"
