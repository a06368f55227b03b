"""Limits on packed spreadsheets, checked before reading: unpacked bytes, and extent of the cells."""

from __future__ import annotations

import zipfile
from functools import lru_cache
from typing import IO, BinaryIO
from xml.parsers import expat

from sslart._tables.limits import MAX_SHEET_BYTES, MAX_SHEET_CELLS

BYTES_AT_ONCE = 2**16
LETTERS = 26


def check_sheets(file: BinaryIO) -> None:
    """Raise a ValueError where a packed spreadsheet is too large; a wrong size in it ends reading with an error.

    A few bytes can name a cell in the last row and column, and all cells before it would be made.
    """
    with zipfile.ZipFile(file) as packed:
        n_bytes = sum(one.file_size for one in packed.infolist())
        if n_bytes > MAX_SHEET_BYTES:
            raise ValueError(f"it unpacks to {n_bytes} bytes, and {MAX_SHEET_BYTES} is the limit")
        for one in packed.infolist():
            with packed.open(one) as part:
                _Extent().check(part)


class _Extent:
    """The rows and columns up to the last cell with a value."""

    def __init__(self) -> None:
        self._row = self._column = self._n_rows = self._n_columns = 0

    def check(self, part: IO[bytes]) -> None:
        """Raise a ValueError where the cells of a part reach too far; a part that is no sheet has none."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        try:
            while content := part.read(BYTES_AT_ONCE):
                parser.Parse(content, False)
        except expat.ExpatError:
            return  # such as a picture; a damaged sheet is refused by its reader

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name not in ("c", "v"):  # which are most
            name = name.rpartition(":")[2]
        if name == "c":
            self._at_cell(attributes.get("r", ""))
        elif name == "row":
            self._row, self._column = int(attributes.get("r", self._row + 1)), 0
        elif name in ("v", "is") and (self._row > self._n_rows or self._column > self._n_columns):
            self._n_rows, self._n_columns = max(self._n_rows, self._row), max(self._n_columns, self._column)
            if self._n_rows * self._n_columns > MAX_SHEET_CELLS:
                end = f"row {self._n_rows} and column {self._n_columns}"
                raise ValueError(f"its cells reach to {end}: delete what is far from the table")

    def _at_cell(self, reference: str) -> None:
        """Go to a cell such as B7; to the next one where it has no name."""
        letters = reference.rstrip("0123456789")
        self._column = _column(letters) if letters else self._column + 1
        if reference != letters:
            self._row = int(reference[len(letters) :])


@lru_cache(2**15)
def _column(letters: str) -> int:
    """Return the number of a column such as AB, from 1."""
    number = 0
    for letter in letters[:4]:  # there are three at most
        number = number * LETTERS + ord(letter.upper()) - ord("A") + 1
    return number
