"""Parsing of text cells: dates, numbers with thousands separators or units, and markers of missing values."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sslart._utils.arrays import FloatArray

MISSING = frozenset({"NA", "N/A", "n/a", "NaN", "NAN", "nan", "NULL", "null", "None", "?", "<NA>"})
# markers of missing values in a column of numbers; in a column of categories they are values
AMONG_NUMBERS = frozenset(
    {
        "-",
        "--",
        ".",
        "..",
        "...",
        "*",
        "na",
        "n.a.",
        "n.d.",
        "nd",
        "none",
        "missing",
        "unknown",
        "not available",
        "#n/a",
    }
)
UNKNOWN_WORDS = frozenset({"unknown", "unk", "missing", "not known", "not available", "n.a.", "none given"})
SLIPS = 0.2  # maximum share of the values of a column that are typing errors
NEARLY_ALL = 0.95  # minimum share of numbers in a column: the other cells are then treated as blank
FEW_CODES = 10  # distinct texts such as 5a, 6a, 7a: so few may be codes instead of numbers with a unit
MIN_REPEATS = 5  # rows with the same text among numbers: hardly a typing error
MOST_MARKS = 3  # distinct texts that may be markers among numbers
MIN_MEASURED = 50  # distinct numbers: with fewer, the texts may be categories
TO_LOOK_AT = 50  # cells that are tried first: the column is skipped unless half of them are numbers
SPACES = "\u00a0\u202f "
CURRENCY = "$€£¥"
NUMBER = re.compile(
    rf"(?P<sign>[+\-\u2212]?)(?P<before>[{CURRENCY}]?)[{SPACES}]?(?P<inner>[+\-\u2212]?)"
    rf"(?P<digits>\d{{1,3}}(?:[,{SPACES}'\u2019]\d{{3}})+(?:\.\d+)?|\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+)"
    rf"[{SPACES}]?(?P<unit>[%\u2030{CURRENCY}]|[A-Za-z\u00b5\u03bc\u00b0][A-Za-z0-9\u00b5\u00b0\u00b2\u00b3/^.\u00b7-]{{0,11}})?"
)
LEADING_ZERO = re.compile(r"0\d")
PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
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
        rf"(?P<year>\d{{4}})[-\s]{_MONTH}",
        rf"{_MONTH}[-\s](?P<year>\d{{4}})",
        rf"{_CLOCK}",
    )
]
_GAP = r"(?:0{1,2}|99|-9{1,2}|[xX?]{1,2})"  # an unknown day or month
_PART_OR_GAP = rf"(?:\d{{1,2}}|{_GAP})"
WITHOUT_A_PART = re.compile(
    rf"(?:(?:\d{{4}}|[xX?]{{4}})([-/.])(?:{_PART_OR_GAP}\1{_GAP}|{_GAP}\1{_PART_OR_GAP})"
    rf"|(?:{_PART_OR_GAP}([-/.]){_GAP}|{_GAP}([-/.]){_PART_OR_GAP})(?:\2|\3)\d{{4}})(?:[T ]00:00(?::00)?)?"
)
ISO = re.compile(
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?)?"
)  # which NumPy reads fast, and no other way than we do
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
NEW_CENTURY = 70  # two-digit years below it are from 2000 on, others from 1900 on


class NotADateError(ValueError):
    """Error for a cell that is not a date, with the index of the cell."""

    def __init__(self, place: int) -> None:
        super().__init__(place)
        self.place = place


def is_date(cell: str) -> bool:
    """Return True if a cell looks like a date or a time."""
    return _match(cell) is not None


def lacks_a_part(cell: str) -> bool:
    """Return True if a cell is a date without its day or month, such as 3/-9/1848, 1848-03-00 or 0000-00-00.

    >>> [lacks_a_part(cell) for cell in ("3/-9/1848", "0000-00-00", "3/9/1848", "-9")]
    [True, True, False, False]
    """
    return WITHOUT_A_PART.fullmatch(cell) is not None


def day_comes_first(cells: Sequence[str | None]) -> bool | None:
    """Return True if the day precedes the month in dates such as 3/4/2021; None if no cell shows it."""
    found = [match for cell in cells if cell is not None and (match := _match(cell)) and "first" in match.groupdict()]
    if not found:
        return False
    if any(int(match["first"]) > 12 for match in found) or any("." in match.string for match in found):
        return True
    return False if any(int(match["second_place"]) > 12 for match in found) else None


def moments(cells: Sequence[str | None], *, day_first: bool) -> NDArray[np.datetime64]:
    """Parse cells as datetime64 in local time; a time without a date is on 1970-01-01.

    A date without day or month is missing.

    Raises
    ------
    NotADateError
        If a cell is not a date.
    """
    values = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[s]")
    iso = [place for place, cell in enumerate(cells) if cell is not None and ISO.fullmatch(cell)]
    with suppress(ValueError):  # such as of 30 February, which is named below
        values[iso] = np.array([cells[place] for place in iso], dtype="datetime64[s]")
    for place in np.flatnonzero(np.isnat(values)).tolist():
        if (cell := cells[place]) is None:
            continue
        moment = _moment(cell, day_first)
        if moment is not None:
            values[place] = moment
        elif not lacks_a_part(cell):
            raise NotADateError(place)
    return values.astype("datetime64[us]")


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
        day, month = parts.get("day", "1"), str(MONTHS.index(parts["name"][:3].lower()) + 1)
    else:
        day, month = parts.get("day", "1"), parts.get("month", "1")
    year = int(parts.get("year", "1970"))
    if len(parts.get("year", "1970")) == 2:
        year += 2000 if year < NEW_CENTURY else 1900
    hour = int(parts.get("hour") or 0)
    if parts.get("half"):
        hour = hour % 12 + (12 if parts["half"].lower() == "pm" else 0)
    try:
        return datetime(year, int(month), int(day), hour, int(parts.get("minute") or 0), int(parts.get("second") or 0))
    except ValueError:
        return None


class TextNumbers(NamedTuple):
    """Numbers in text, with thousands separators, currency or percent signs, or a unit.

    Attributes
    ----------
    values : array
        The number in each cell, NaN if there is none.
    unit : str
        The common sign or unit of the cells, empty if there is none.
    example : str
        A cell that is not a plain number, if there is one.
    others : list of str
        Cells without a number, which are treated as blank.
    """

    values: FloatArray
    unit: str
    example: str
    others: list[str]

    def __str__(self) -> str:
        if self.unit:
            return f"numbers in {self.unit}"
        return "numbers" if PLAIN_NUMBER.fullmatch(self.example) else "numbers with thousands separators"


def numbers_with_marks(
    cells: Sequence[str | None], counts: Collection[int] | None = None, *, are_numbers: bool = False
) -> TextNumbers | None:
    """Parse distinct cells as numbers if nearly all are numbers of one unit; else return None.

    A unit of letters requires more than a few distinct numbers, since 5a and 6a may be codes. Plain numbers count only
    together with other texts: many numbers beside words for missing values, or beside a few texts that are repeated
    often, such as T for traces of rain.

    Parameters
    ----------
    cells : sequence of str or None
    counts : collection of int, or None
        Number of rows with each cell; None: one each.
    are_numbers : bool
        Whether the user has declared the column as numbers: then it is parsed as such in any case.

    >>> found = numbers_with_marks(["1,234", "99", None])
    >>> found.values.tolist(), str(found), found.example
    ([1234.0, 99.0, nan], 'numbers with thousands separators', '1,234')
    """
    some = [cell for cell in cells[: 2 * TO_LOOK_AT] if cell is not None][:TO_LOOK_AT]
    if not are_numbers and 2 * sum(NUMBER.fullmatch(cell) is not None for cell in some) < len(some):
        return None
    found = [None if cell is None else NUMBER.fullmatch(cell) for cell in cells]
    weights = np.ones(len(cells)) if counts is None else np.array(list(counts), dtype=np.float64)
    is_known = np.array([cell is not None and cell.lower() not in AMONG_NUMBERS for cell in cells], dtype=bool)
    is_number = np.array([one is not None for one in found], dtype=bool)
    units = {unit for one in found if one is not None and (unit := one["unit"] or one["before"])}
    marked = [cell for cell, one in zip(cells, found, strict=True) if one and cell and not PLAIN_NUMBER.fullmatch(cell)]
    if len(units) > 1 or not is_number.any():
        return None
    unit = next(iter(units), "")
    if not are_numbers:
        n_plain = int(is_number.sum()) - len(marked)
        marks = weights[is_known & ~is_number]
        have_marks = (
            not marked
            and 0 < len(marks) <= MOST_MARKS
            and bool((marks >= MIN_REPEATS).all())
            and marks.sum() <= SLIPS * weights[is_known].sum()
            and is_number.sum() >= MIN_MEASURED
        )
        if not have_marks and weights[is_number].sum() < NEARLY_ALL * weights[is_known].sum():
            return None
        if unit[:1].isalpha() and (is_number.sum() <= FEW_CODES or n_plain > SLIPS * is_number.sum()):
            return None
        has_words = any(cell is not None and cell.lower() in AMONG_NUMBERS for cell in cells)
        are_codes = any(cell is not None and LEADING_ZERO.match(cell) for cell in cells)
        has_gaps = (has_words and is_number.sum() > FEW_CODES) or have_marks
        if not marked and (not has_gaps or are_codes):
            return None
    values = np.array([np.nan if one is None else _number(one) for one in found])
    others = [cell for cell, one in zip(cells, found, strict=True) if cell is not None and one is None]
    example = marked[0] if marked else next(cell for cell, one in zip(cells, found, strict=True) if cell and one)
    return TextNumbers(values, unit, example, others)


def _number(found: re.Match[str]) -> float:
    value = float(re.sub(rf"[,{SPACES}'\u2019]", "", found["digits"]))
    return value if {found["sign"], found["inner"]} <= {"", "+"} else -value


def numbers_of_unit(cells: Sequence[str | None], unit: str) -> tuple[FloatArray, list[str]]:
    """Parse cells as numbers of a unit, NaN if a cell is not a number; also return the cells with another unit.

    >>> numbers_of_unit(["12 kg", "7", "3 lb", None], "kg")
    (array([12.,  7., nan, nan]), ['3 lb'])
    """
    values, others = np.full(len(cells), np.nan), []
    for place, cell in enumerate(cells):
        found = None if cell is None else NUMBER.fullmatch(cell)
        own = None if found is None else found["unit"] or found["before"] or ""
        if found is not None and own in ("", unit):
            values[place] = _number(found)
        elif cell is not None and found is not None:
            others.append(cell)
    return values, others


class TextDates(NamedTuple):
    """Dates in text.

    Attributes
    ----------
    values : array of datetime64
    day_first : bool or None
        Whether the day precedes the month; None if ambiguous: the month is then read first.
    example : str
    others : list of str
        Dates without day or month, which are treated as blank.
    """

    values: NDArray[np.datetime64]
    day_first: bool | None
    example: str
    others: list[str]


def are_dates(cells: Collection[str]) -> bool:
    """Return True if all cells are dates, and at least half of them have day and month."""
    whole = [cell for cell in cells if not lacks_a_part(cell)]
    return 0 < len(cells) <= 2 * len(whole) and all(map(is_date, whole))


def dates_in(cells: Sequence[str]) -> TextDates | None:
    """Parse distinct cells as dates; None unless all are dates."""
    if not are_dates(cells):
        return None
    day_first = day_comes_first(cells)
    others = [cell for cell in cells if lacks_a_part(cell)]
    example = next(cell for cell in cells if not lacks_a_part(cell))
    try:
        return TextDates(moments(cells, day_first=bool(day_first)), day_first, example, others)
    except NotADateError:
        return None
