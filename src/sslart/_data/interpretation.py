"""Interpretation of text columns as dates, numbers with units, or categories with markers of missing values.

Columns are interpreted when a model first learns, and later samples are read in the same way.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.columns import AS_DATES, AS_MISSING, AS_NUMBERS, MARKED, ColumnNote, is_text
from sslart._data.dates import PER_DAY
from sslart._data.text_parsing import (
    AMONG_NUMBERS,
    MISSING,
    NotADateError,
    TextNumbers,
    dates_in,
    moments,
    numbers_of_unit,
    numbers_with_marks,
)
from sslart._utils.arrays import FloatArray
from sslart._utils.text import list_text, plural

SHOWN_CELLS = 5


@dataclass(frozen=True)
class Texts:
    """Interpretation of the text columns of a table.

    Attributes
    ----------
    columns : mapping from int to array
        Converted values by column: numbers, days of dates, or categories with missing values.
    dates, day_first : tuple of int
        The columns that hold dates, and those of them with the day before the month.
    texts : tuple of (int, str)
        As in `ColumnPlan`.
    notes : tuple of ColumnNote
    """

    columns: Mapping[int, NDArray[Any]] = field(default_factory=dict)
    dates: tuple[int, ...] = ()
    day_first: tuple[int, ...] = ()
    texts: tuple[tuple[int, str], ...] = ()
    notes: tuple[ColumnNote, ...] = ()


NO_TEXTS = Texts()


def interpreted(given: Sequence[tuple[str, Any]], columns: Sequence[NDArray[Any]]) -> Texts:
    """Interpret the text columns of a frame.

    Columns of the pandas dtype "category" stay categories.
    """
    found: dict[int, NDArray[Any]] = {}
    dates, day_first, texts, notes = list[int](), list[int](), list[tuple[int, str]](), list[ColumnNote]()
    for position, ((name, column), values) in enumerate(zip(given, columns, strict=True)):
        if values.dtype != object or not is_text(column):
            continue
        cells = values.tolist()
        counts = Counter(cells)
        if not all(value is None or isinstance(value, str) for value in counts):
            words = _words_among_numbers(counts)
            if words:
                found[position] = np.array([np.nan if one is None or one in words else float(one) for one in cells])
                texts.append((position, ""))
                notes.append(ColumnNote(AS_MISSING, name, marks_in_words(words)))
            continue
        gaps = {cell: n for cell, n in counts.items() if cell is not None and is_mark(cell)}
        known = {cell: n for cell, n in counts.items() if cell is not None and cell not in gaps}
        if not known:
            continue
        stripped = [cell.strip() for cell in known]
        if (moments_found := dates_in(stripped)) is not None:
            days = dict(zip(known, _days(moments_found.values).tolist(), strict=True))
            found[position] = np.array([days.get(cell, np.nan) for cell in cells])
            dates.append(position)
            if moments_found.day_first:
                day_first.append(position)
            unsure = "" if moments_found.day_first is not None else ", of which the month is taken to come first"
            left = blank_in_words(moments_found.others)
            notes.append(ColumnNote(AS_DATES, name, f"such as {moments_found.example}{unsure}{left}"))
        elif (numbers := numbers_with_marks(stripped, list(known.values()))) is not None:
            value_of = dict(zip(known, numbers.values.tolist(), strict=True))
            found[position] = np.array([value_of.get(cell, np.nan) for cell in cells])
            texts.append((position, numbers.unit))
            notes.append(ColumnNote(AS_NUMBERS, name, in_words(numbers)))
        elif gaps:
            found[position] = np.array([None if cell in gaps else cell for cell in cells], dtype=object)
            texts.append((position, MARKED))
        if gaps and (shown := marks_in_words(gaps)):
            notes.append(ColumnNote(AS_MISSING, name, shown))
    return Texts(found, tuple(dates), tuple(day_first), tuple(texts), tuple(notes))


def _words_among_numbers(counts: Mapping[Any, int]) -> dict[str, int]:
    """Count the words for missing values in a column of numbers; empty for other columns."""
    words = {one: n for one, n in counts.items() if isinstance(one, str)}
    known = [one for one in counts if one is not None and one not in words]
    is_clear = all(map(_is_gap, words))
    return (
        words if is_clear and all(isinstance(one, int | float) and not isinstance(one, bool) for one in known) else {}
    )


def is_mark(cell: str) -> bool:
    """Return True if a cell is blank or a marker of a missing value."""
    return (stripped := cell.strip()) in MISSING or not stripped


def _is_gap(cell: str) -> bool:
    """Return True if a cell stands for a missing value in a column of numbers."""
    return is_mark(cell) or cell.strip().lower() in AMONG_NUMBERS


def in_words(numbers: TextNumbers) -> str:
    """Describe numbers in text, with the cells that are treated as blank."""
    return f"{numbers}, such as {numbers.example}{blank_in_words(numbers.others)}"


def blank_in_words(cells: Sequence[str]) -> str:
    """Describe the cells that are treated as blank; empty if there are none."""
    shown = [repr(cell) for cell in sorted(cells)]
    return f"; {list_text(shown, SHOWN_CELLS)} treated as blank" if shown else ""


def marks_in_words(counts: Mapping[str, int]) -> str:
    """Describe the markers of missing values in a column and the number of their rows."""
    marks = sorted({cell.strip() for cell in counts} - {""})
    n_rows = sum(n for cell, n in counts.items() if cell.strip())
    return f"{list_text([repr(one) for one in marks], SHOWN_CELLS)} in {plural(n_rows, 'row')}" if marks else ""


def as_known_text(name: str, values: NDArray[Any], how: str) -> NDArray[Any]:
    """Read a text column by its first interpretation; `how` as in `ColumnPlan.texts`."""
    if values.dtype != object:
        return values
    if how == MARKED:
        return np.array(
            [None if isinstance(value, str) and is_mark(value) else value for value in values.tolist()], dtype=object
        )
    texts = [None if value is None or _is_gap(str(value)) else str(value).strip() for value in values.tolist()]
    numbers, others = numbers_of_unit(texts, how)
    if others:
        unit = f"numbers in {how}" if how else "numbers without a unit"
        raise ValueError(
            f"Column {name!r} held {unit} in the data learnt first, and holds {others[0]!r} now: convert it to the "
            "same unit, or leave the cell blank."
        )
    blank = sorted({cell for cell, one in zip(texts, np.isnan(numbers).tolist(), strict=True) if one and cell})
    if blank:
        warnings.warn(
            f"Column {name!r} holds numbers, and {list_text([repr(one) for one in blank], SHOWN_CELLS)}, treated "
            "as blank.",
            UserWarning,
            stacklevel=4,
        )
    return numbers


def known_dates(name: str, cells: Sequence[str | None], *, day_first: bool) -> FloatArray:
    """Return the days since 1970 of dates in text, NaN where missing."""
    known = {cell: cell.strip() for cell in set(cells) if cell is not None and not is_mark(cell)}
    try:
        days = dict(zip(known, _days(moments(list(known.values()), day_first=day_first)).tolist(), strict=True))
    except NotADateError as error:
        raise ValueError(
            f"Column {name!r} held dates in the data learnt first, and {list(known)[error.place]!r} is not one: "
            "correct it, or leave the cell blank."
        ) from error
    return np.array([np.nan if cell is None else days.get(cell, np.nan) for cell in cells], dtype=np.float64)


def _days(values: NDArray[np.datetime64]) -> FloatArray:
    days: FloatArray = values.astype("datetime64[us]").astype(np.int64) / PER_DAY
    return np.where(np.isnat(values), np.nan, days)
