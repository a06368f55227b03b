"""Read text files with any separator as rows of cells or numbers."""

from __future__ import annotations

import gzip
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sslart._utils.arrays import FloatArray

_MISSING = ("?", "")


def open_bytes(path: Path) -> io.BufferedIOBase:
    """Open a file for reading, through gzip if it begins like that, whatever its name."""
    with path.open("rb") as file:
        zipped = file.read(2) == b"\x1f\x8b"
    return gzip.open(path, "rb") if zipped else path.open("rb")


def read_text(path: Path) -> str:
    """Return the text of a file."""
    with open_bytes(path) as file:
        return file.read().decode("utf-8-sig")


def read_cells(text: str) -> list[list[str]]:
    """Return the cells of each line; blank lines, comments and the header of ARFF are left out."""
    lines = (line.strip() for line in text.splitlines())
    return [_cells(line) for line in lines if line and line[0] not in "%@#"]


def _cells(line: str) -> list[str]:
    separator = next((mark for mark in ",;" if mark in line), None)
    return [cell.strip().strip("'\"") for cell in line.split(separator)]


def without_header(rows: list[list[str]]) -> list[list[str]]:
    """Leave out a first row of names: one with no number in it."""
    return rows[1:] if rows and not any(_is_number(cell) for cell in rows[0]) else rows


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def to_numbers(rows: Sequence[Sequence[str]], width: int) -> FloatArray:
    """Return rows of the same width as an array, NaN where a cell is empty or a question mark."""
    table = np.empty((len(rows), width))
    for position, row in enumerate(rows):
        if len(row) != width:
            raise ValueError(f"row {position + 1} has {len(row)} values where {width} are expected")
        try:
            table[position] = [np.nan if cell in _MISSING else float(cell) for cell in row]
        except ValueError as error:
            raise ValueError(f"row {position + 1} holds something that is not a number: {error}") from None
    return table
