"""Dates in the code of rules: SQL and Python take them as texts in ISO 8601 or as the dates that they have."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sslart._data.columns import PARTS
from sslart._data.dates import HOURS, MONTHS, PER_DAY, WEEKDAYS
from sslart._utils.text import DateName

HOUR, WEEKDAY, MONTH = PARTS
WORDS = {HOUR: HOURS, WEEKDAY: WEEKDAYS, MONTH: MONTHS}

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


def part_and_column(feature: str) -> tuple[str, str]:
    """Return the part of a date that a feature is, and the name of the column of dates.

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
    """Return an expression for a part of the dates in a column, and the numbers of categories in it.

    The text of a date is the same in SQLite, PostgreSQL and DuckDB; functions of dates are not.
    """
    places = sorted(WORDS[part].index(str(one)) for one in categories)

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
    """Return an expression for the days since 1970 in a column of dates, or for a part of them, None where missing."""
    if isinstance(feature, DateName):
        of_moment = f"(one - datetime(1970, 1, 1)) // timedelta(microseconds=1) / {PER_DAY}"
        return f"part(moment(sample[{str(feature)!r}]), lambda one: {of_moment})"
    part, column = part_and_column(feature)
    return f"part(moment(sample[{column!r}]), lambda one: {_PYTHON_PARTS[part]})"
