"""Cells of a table as text, names, dates and missing values, each by itself."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np

from sslart._tables import pandas
from sslart._tables.limits import check_width
from sslart._tables.text import CURE
from sslart._utils.arrays import IntArray
from sslart._utils.text import of_text_cell

OF_ONE_TYPE = ("string", "integer", "floating", "boolean", "categorical")  # as pandas infers types
MISSING = frozenset({"NA", "N/A", "n/a", "NaN", "NAN", "nan", "NULL", "null", "None", "?", "<NA>"})
WHOLE = re.compile(r"[+-]?\d+(\.0+)?")
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
ISO = r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?"  # which pandas reads fast, and no other way than we do
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NEW_CENTURY = 70  # two digits below it are of years from 2000 on


def plain(cell: str) -> str:
    """Return a whole number without a point: files write 1.0 for 1 where a column has blanks."""
    return cell.partition(".")[0] if WHOLE.fullmatch(cell) else cell


def distinct(column: Any) -> tuple[IntArray, list[str | None]]:
    """Return the distinct cells of a column as written, ended by None for blank ones, and the place of each row's cell.

    An apostrophe that makes a cell text in a spreadsheet, such as `sslart predict` writes before a formula, is no part
    of the cell.
    """
    if column.dtype == object and pandas().api.types.infer_dtype(column, skipna=True) not in OF_ONE_TYPE:
        known = column.notna().to_numpy()  # 1 and True would be one value
        places, values = np.where(known, known.cumsum() - 1, -1), column[known].tolist()
    else:
        places, found = pandas().factorize(column)
        values = found.tolist()
    is_float = column.dtype.kind == "f"
    texts = (str(int(one)) if is_float and one % 1 == 0 else of_text_cell(str(one).strip()) for one in values)
    return places, [*(text or None for text in texts), None]


def texts(column: Any) -> list[str | None]:
    """Return the cells of a column as text, None where blank; whole numbers without a point."""
    places, cells = distinct(column)
    return _spread([None if cell is None else plain(cell) for cell in cells], places)


def names(column: Any) -> list[str | None]:
    """Return the cells of a column as written, None where blank."""
    places, cells = distinct(column)
    return _spread(cells, places)


def _spread(cells: list[str | None], places: IntArray) -> list[str | None]:
    return [cells[place] for place in places.tolist()]


def labels(column: Any) -> list[str | None]:
    """Return the labels in a column as text; None where a cell is blank or holds a mark for a missing value."""
    return [None if cell in MISSING else cell for cell in texts(column)]


def header(row: bytes, separator: str, source: str) -> list[str]:
    """Return the names in the first row of a text."""
    names = header_names(header_cells(row, separator, source))
    check_unique(names, source)
    return names


def header_cells(row: bytes, separator: str, source: str) -> list[str]:
    """Return the raw cells of the first row of a text."""
    if b"\0" in row:
        raise ValueError(f"{source} has zero bytes, as UTF-16 without a mark at its start has. Then {CURE}: utf-16-le.")
    try:
        cells = next(csv.reader([row.decode().lstrip("\ufeff")], delimiter=separator, strict=True))
    except UnicodeDecodeError as error:
        raise ValueError(f"The header of {source} is not text in UTF-8: {CURE}.") from error
    except csv.Error as error:
        raise ValueError(f"The header of {source} cannot be cut into names: {error}. Correct its quotes.") from error
    check_width(len(cells), source)
    return cells


def header_names(cells: Sequence[str]) -> list[str]:
    """Return the cells of a header as names; its number where a name is blank."""
    return [of_text_cell(cell.strip()) or f"column {place}" for place, cell in enumerate(cells, start=1)]


def check_unique(names: Sequence[str], source: str) -> None:
    """Raise a ValueError if a column name is repeated."""
    twice = [one for one, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{source} has {len(twice)} column name(s) more than once, such as {twice[0]!r}: rename them.")


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
    texts = pandas().Series(cells, dtype=object)
    is_iso = texts.str.fullmatch(ISO, na=False)
    values = (
        pandas()
        .to_datetime(texts.where(is_iso), format="ISO8601", errors="coerce")
        .to_numpy("datetime64[s]", copy=True)
    )
    for place in np.flatnonzero(np.isnat(values) & texts.notna().to_numpy()).tolist():
        moment = _moment(cells[place], day_first)
        if moment is None:
            raise NotADateError(place)
        values[place] = moment
    return values.astype("datetime64[ns]")


def _match(cell: str) -> re.Match[str] | None:
    for form in FORMS:
        found = form.fullmatch(cell)
        if found and ("name" not in found.groupdict() or found["name"][:3].lower() in MONTHS):
            return found
    return None


def _moment(cell: str | None, day_first: bool) -> datetime | None:
    found = None if cell is None else _match(cell)
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
