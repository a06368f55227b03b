"""Rules of a model as code: an SQL expression, or the source of a Python function.

Dates are read as timestamps or as texts in ISO 8601.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
import warnings
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import chain, count
from typing import Any

from sslart._data.columns import PARTS
from sslart._data.dates import HOURS, MONTHS, PER_DAY, WEEKDAYS
from sslart._utils.text import DateName, DatePart
from sslart.rules._model_rules import ModelCondition, ModelRule, conditions_text, label_text, number_repr

RESULTS = ("class", "rule")  # what an expression or a function returns
HOUR, WEEKDAY, MONTH = PARTS
CATEGORIES_OF_PART = {HOUR: HOURS, WEEKDAY: WEEKDAYS, MONTH: MONTHS}

# lines of a function that reads a date, a datetime, a pandas Timestamp, or a text in ISO 8601
PYTHON_MOMENT = [
    "    from datetime import datetime, timedelta",
    "",
    "    def moment(value):  # the date as the clock shows it; None where it is missing",
    "        if value is None or value != value:",
    "            return None",
    "        return datetime.fromisoformat(str(value)).replace(tzinfo=None)",
    "",
    "    def part(value, of_moment):",
    "        return None if value is None else of_moment(value)",
    "",
]
PYTHON_NAMES = frozenset({"datetime", "timedelta", "moment", "part"})
_PYTHON_PARTS = {
    HOUR: f"{HOURS!r}[one.hour // 3]",
    WEEKDAY: f"{WEEKDAYS!r}[one.weekday()]",
    MONTH: f"{MONTHS!r}[one.month - 1]",
}


def sql_code(rules: Sequence[ModelRule], result: str) -> str:
    """Return the rules as an SQL expression, ``CASE WHEN ... END``."""
    _check_sql_texts(rules, result)
    *others, default = rules
    otherwise = _sql_literal(_result(default, result))
    if not others:
        return otherwise
    lines = [
        f"  WHEN {' AND '.join(map(_sql_condition, rule.conditions))} THEN {_sql_literal(_result(rule, result))}"
        for rule in others
    ]
    return "\n".join(["CASE", *lines, f"  ELSE {otherwise}", "END"])


def _check_sql_texts(rules: Sequence[ModelRule], result: str) -> None:
    """Raise a ValueError for texts that SQL cannot hold; warn of backslashes, which some databases read as escapes."""
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
    part: str | None = None
    if isinstance(condition.feature, DatePart):
        part, column = part_and_column(condition.feature)
        name = '"' + column.replace('"', '""') + '"'
    if condition.only_missing:
        return f"{name} IS NULL"
    if condition.categories:
        value, known = (name, condition.categories) if part is None else sql_part(name, part, condition.categories)
        named = ", ".join(map(_sql_literal, known))
        text = f"{value} {'NOT IN' if condition.negated else 'IN'} ({named})"
    else:
        sides = ((">", condition.low), ("<=", condition.high))
        of_date = isinstance(condition.feature, DateName)
        limits = [
            f"{name} {sign} {_sql_literal(iso_text(limit)) if of_date else number_repr(limit)}"
            for sign, limit in sides
            if limit is not None
        ]
        text = " AND ".join(limits) or f"{name} IS NOT NULL"
    return f"({name} IS NULL OR ({text}))" if condition.missing else text


def _sql_literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        quoted = value.replace("'", "''")
        return f"'{quoted}'"
    return str(value) if isinstance(value, int) else number_repr(value)


def python_code(rules: Sequence[ModelRule], name: str, result: str) -> str:
    """Return the rules as the source of a Python function of one sample, without imports of packages."""
    *others, default = rules
    what = "number of the rule for" if result == "rule" else "class of"
    lines = [
        f"def {name}(sample):",
        f'    """Return the {what} one sample: a mapping from feature to value, None or NaN where it is missing."""',
    ]
    conditions = [condition for rule in others for condition in rule.conditions]
    variables = _variables(list(dict.fromkeys(condition.feature for condition in conditions)))
    if any(isinstance(feature, DateName | DatePart) for feature in variables):
        lines += PYTHON_MOMENT
    of_nan = {condition.feature for condition in conditions if _may_hold_for_nan(condition)}
    for feature, variable in variables.items():
        if isinstance(feature, DateName | DatePart):
            lines.append(f"    {variable} = {python_date(feature)}")
            continue
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


def _variables(features: Sequence[str]) -> Mapping[str, str]:
    """Return a unique, valid variable name for each feature."""
    variables: dict[str, str] = {}
    reserved = PYTHON_NAMES if any(isinstance(feature, DateName | DatePart) for feature in features) else frozenset()
    for place, feature in enumerate(features):
        plain = re.sub(r"\W+", "_", unicodedata.normalize("NFKC", feature)).strip("_")  # as Python reads names
        others = (f"x{place}_{number}" for number in count())
        taken = {"sample", *reserved, *variables.values()}
        candidates = chain([plain, f"x{place}_{plain}".rstrip("_"), f"x{place}"], others)
        variables[feature] = next(name for name in candidates if is_name(name) and name not in taken)
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


def part_and_column(feature: str) -> tuple[str, str]:
    """Split the name of a date part into the part and the name of the date column.

    >>> part_and_column("month of day of birth")
    ('month', 'day of birth')
    """
    part, _, column = feature.partition(" of ")
    return part, column


def iso_text(days: float) -> str:
    """Return days since 1970 as a date in ISO 8601, which databases compare with dates and with such texts.

    >>> iso_text(18690.75)
    '2021-03-04 18:00:00'
    """
    moment = datetime(1970, 1, 1) + timedelta(microseconds=round(days * PER_DAY))
    return moment.isoformat(sep=" ")


def sql_part(name: str, part: str, categories: Sequence[object]) -> tuple[str, list[int]]:
    """Return an SQL expression for a part of the dates in a column, and its values for some categories.

    It reads the text of a date, which is the same in SQLite, PostgreSQL and DuckDB; their date functions differ.
    """
    places = sorted(CATEGORIES_OF_PART[part].index(str(one)) for one in categories)

    def digits(start: int, length: int) -> str:
        return f"CAST(SUBSTR(CAST({name} AS TEXT), {start}, {length}) AS INTEGER)"

    if part == MONTH:
        return digits(6, 2), [place + 1 for place in places]
    if part == HOUR:
        return digits(12, 2), [hour for place in places for hour in range(3 * place, 3 * place + 3)]
    # Zeller's congruence, in which January and February are months 13 and 14 of the year before; 0 is Saturday
    month = f"({digits(6, 2)} + CASE WHEN {digits(6, 2)} < 3 THEN 12 ELSE 0 END)"
    year = f"({digits(1, 4)} - CASE WHEN {digits(6, 2)} < 3 THEN 1 ELSE 0 END)"
    months = f"13 * ({month} + 1)"

    def divided(value: str, divisor: int) -> str:
        return f"({value} - {value} % {divisor}) / {divisor}"

    leaps = f"{divided(year, 4)} - {divided(year, 100)} + {divided(year, 400)}"
    day = f"({digits(9, 2)} + {divided(f'({months})', 5)} + {year} + {leaps}) % 7"
    return f"({day})", sorted((place + 2) % 7 for place in places)


def python_date(feature: str) -> str:
    """Return a Python expression for the days since 1970 in a column of dates, or for a part of the date."""
    if isinstance(feature, DateName):
        of_moment = f"(one - datetime(1970, 1, 1)) // timedelta(microseconds=1) / {PER_DAY}"
        return f"part(moment(sample[{str(feature)!r}]), lambda one: {of_moment})"
    part, column = part_and_column(feature)
    return f"part(moment(sample[{column!r}]), lambda one: {_PYTHON_PARTS[part]})"
