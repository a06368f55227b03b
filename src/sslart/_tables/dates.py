"""Dates and times in the cells of a file, in the forms in which tables have them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

_CLOCK = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:[.,]\d+)?)?\s?(?P<half>[AaPp][Mm])?"
_ZONE = r"\s?(?:Z|UTC|[+-]\d{2}:?\d{2})?"
_TIME = rf"(?:(?:T|,?\s+){_CLOCK}{_ZONE})?"
_MONTH = r"(?P<name>[A-Za-z]{3,9})"
_YEAR = r"(?P<year>\d{4}|\d{2})"
FORMS = [
    re.compile(form)
    for form in (
        rf"(?P<year>\d{{4}})([-/.])(?P<month>\d{{1,2}})\2(?P<day>\d{{1,2}}){_TIME}",
        rf"(?P<first>\d{{1,2}})([-/.])(?P<second_place>\d{{1,2}})\2{_YEAR}{_TIME}",
        rf"(?:[A-Z][a-z]{{2}},?\s)?(?P<day>\d{{1,2}})[-\s]{_MONTH}[-,\s]+{_YEAR}{_TIME}",
        rf"(?:[A-Z][a-z]{{2}},?\s)?{_MONTH}\.?\s(?P<day>\d{{1,2}}),?\s(?P<year>\d{{4}}){_TIME}",
        rf"{_CLOCK}",
    )
]
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NEW_CENTURY = 70  # two digits below it are of years from 2000 on


class NotADateError(ValueError):
    """A cell that is no date, with its place among the cells."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def is_date(cell: str) -> bool:
    """Return True if a cell looks like a date or a time."""
    return _match(cell) is not None


def day_comes_first(cells: Sequence[str | None]) -> bool | None:
    """Return True if the day precedes the month in dates such as 3/4/2021; None if no cell shows it."""
    found = [match for cell in cells if cell is not None and (match := _match(cell)) and "first" in match.groupdict()]
    if not found:
        return False
    if any(int(match["first"]) > 12 for match in found) or any("." in match.string for match in found):
        return True
    return False if any(int(match["second_place"]) > 12 for match in found) else None


def moments(cells: Sequence[str | None], *, day_first: bool) -> Any:
    """Return cells as an array of datetime64, as the clock shows them; a time without a date is one of 1970-01-01.

    Raises
    ------
    NotADateError
        Where a cell is no date.
    """
    values = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[s]")
    known: dict[str, Any] = {}
    for place, cell in enumerate(cells):
        if cell is not None:
            if cell not in known:
                known[cell] = _moment(cell, day_first)
            if known[cell] is None:
                raise NotADateError(place)
            values[place] = known[cell]
    return values.astype("datetime64[ns]")


def _match(cell: str) -> re.Match[str] | None:
    for form in FORMS:
        found = form.fullmatch(cell)
        if found and ("name" not in found.groupdict() or found["name"][:3].lower() in MONTHS):
            return found
    return None


def _moment(cell: str, day_first: bool) -> datetime | None:
    found = _match(cell)
    if found is None:
        return None
    parts = found.groupdict()
    if "first" in parts:
        day, month = (parts["first"], parts["second_place"])[:: 1 if day_first else -1]
    elif "name" in parts:
        day, month = parts["day"], str(MONTHS.index(parts["name"][:3].lower()) + 1)
    else:
        day, month = parts.get("day", "1"), parts.get("month", "1")
    year = int(parts.get("year", "1970"))
    if len(parts.get("year", "1970")) == 2:
        year += 2000 if year < NEW_CENTURY else 1900
    hour = int(parts["hour"] or 0)
    if parts["half"]:
        hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
    try:
        return datetime(year, int(month), int(day), hour, int(parts["minute"] or 0), int(parts["second"] or 0))
    except ValueError:
        return None
