"""Conversion of cells to text, independent of the other cells of the column."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from sslart._tables.encodings import CURE
from sslart._tables.limits import check_width
from sslart._utils.text import of_text_cell

MISSING = frozenset({"NA", "N/A", "n/a", "NaN", "NAN", "nan", "NULL", "null", "None", "?", "<NA>"})
WHOLE = re.compile(r"[+-]?\d+(\.0+)?")


def plain(cell: str) -> str:
    """Return a whole number without a point: files write 1.0 for 1 where a column has blanks."""
    return cell.partition(".")[0] if WHOLE.fullmatch(cell) else cell


def texts(column: Any) -> list[str | None]:
    """Return the cells of a column as text, None where blank; whole numbers without a point."""
    return [None if cell is None else plain(cell) for cell in names(column)]


def names(column: Any) -> list[str | None]:
    """Return the cells of a column as written, None where blank.

    An apostrophe that makes a cell text in a spreadsheet, such as `sslart predict` writes before a formula, is no part
    of the cell.
    """
    cells: list[str | None] = [None] * len(column)
    is_float = column.dtype.kind == "f"
    known = column.notna().to_numpy()
    for place, value in zip(known.nonzero()[0].tolist(), column[known].tolist(), strict=True):
        text = str(int(value)) if is_float and value % 1 == 0 else of_text_cell(str(value).strip())
        cells[place] = text or None
    return cells


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
