"""Cells of a table as text, and the names in its header."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from sslart._data.text_parsing import MISSING
from sslart._tables import pandas
from sslart._tables.limits import check_width
from sslart._tables.text import CURE
from sslart._utils.arrays import IntArray
from sslart._utils.text import of_text_cell

OF_ONE_TYPE = ("string", "integer", "floating", "boolean", "categorical")  # names of `pandas.api.types.infer_dtype`
WHOLE = re.compile(r"[+-]?\d+(\.0+)?")


def plain(cell: str) -> str:
    """Remove the decimals of a whole number: files have 1.0 for 1 if a column has blanks."""
    return cell.partition(".")[0] if WHOLE.fullmatch(cell) else cell


def distinct(column: Any) -> tuple[IntArray, list[str | None]]:
    """Return the index of each row's cell among the distinct cells, and these as written, with None for blank as last.

    A leading apostrophe that marks text in a spreadsheet, as `sslart predict` writes before a formula, is removed.
    """
    if column.dtype == object and pandas().api.types.infer_dtype(column, skipna=True) not in OF_ONE_TYPE:
        known = column.notna().to_numpy()  # not factorize, for which 1 and True are equal
        places, values = np.where(known, known.cumsum() - 1, -1), column[known].tolist()
    else:
        places, found = pandas().factorize(column)
        values = found.tolist()
    is_float = column.dtype.kind == "f"
    texts = (str(int(one)) if is_float and one % 1 == 0 else of_text_cell(str(one).strip()) for one in values)
    return places, [*(text or None for text in texts), None]


def texts(column: Any) -> list[str | None]:
    """Return the cells of a column as text, None where blank; whole numbers without decimals."""
    places, cells = distinct(column)
    return _spread([None if cell is None else plain(cell) for cell in cells], places)


def names(column: Any) -> list[str | None]:
    """Return the cells of a column as written, None where blank."""
    places, cells = distinct(column)
    return _spread(cells, places)


def _spread(cells: list[str | None], places: IntArray) -> list[str | None]:
    return [cells[place] for place in places.tolist()]


def present_texts(column: Any) -> list[str | None]:
    """Return the cells of a column as text; None where a cell is blank or has a marker of a missing value."""
    return [None if cell in MISSING else cell for cell in texts(column)]


def header(row: bytes, separator: str, source: str) -> list[str]:
    """Return the names in the first row of a text."""
    names = header_names(header_cells(row, separator, source))
    check_unique(names, source)
    return names


def header_cells(row: bytes, separator: str, source: str) -> list[str]:
    """Return the raw cells of the first row of a text."""
    if b"\0" in row:
        raise ValueError(f"{source} has zero bytes, as UTF-16 without a byte order mark. Then {CURE}: utf-16-le.")
    try:
        cells = next(csv.reader([row.decode().lstrip("\ufeff")], delimiter=separator, strict=True))
    except UnicodeDecodeError as error:
        raise ValueError(f"The header of {source} is not text in UTF-8: {CURE}.") from error
    except csv.Error as error:
        raise ValueError(f"The header of {source} cannot be cut into names: {error}. Correct its quotes.") from error
    check_width(len(cells), source)
    return cells


def header_names(cells: Sequence[str]) -> list[str]:
    """Return the cells of a header as names; a blank name becomes "column" and its number."""
    return [of_text_cell(cell.strip()) or f"column {place}" for place, cell in enumerate(cells, start=1)]


def check_unique(names: Sequence[str], source: str) -> None:
    """Raise a ValueError if a column name is repeated."""
    twice = [one for one, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"{source} has {len(twice)} column name(s) more than once, such as {twice[0]!r}: rename them.")
