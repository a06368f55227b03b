"""Limits on tables, checked before memory is allocated: widths, spreadsheets, and compressed Arrow files."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from typing import IO, Any, BinaryIO
from xml.parsers import expat

from sslart._utils.optional import optional

MAX_LINE_BYTES = 2**21  # of a header, and of a row
MAX_COLUMNS = 100_000
MAX_SHEET_BYTES = 2**28  # of a spreadsheet, decompressed
MAX_SHEET_CELLS = 2**25  # of a sheet, including empty ones
BYTES_AT_ONCE = 2**16
LETTERS = 26
MAX_UNPACKED_BYTES = 2**28  # decompressed size, allowed at any ratio
MAX_PACKED_TIMES = 64  # compression ratio, allowed at any size
ARROW_FILE = b"ARROW1\0\0"  # magic bytes before the stream
DICTIONARIES, ROWS = 2, 3  # types of messages in Arrow's FlatBuffers schema
HEADER_KIND, HEADER, DATA, BUFFERS, COMPRESSION = 1, 2, 1, 2, 3  # numbers of fields there


def check_width(n_columns: int, source: str) -> None:
    """Raise a ValueError if a table has too many columns."""
    if n_columns > MAX_COLUMNS:
        raise ValueError(
            f"{source} has {n_columns} columns, and at most {MAX_COLUMNS} can be read: give fewer columns, or check "
            "the separator of cells."
        )


def check_sheets(file: BinaryIO) -> None:
    """Raise a ValueError if a spreadsheet is too large; a wrong size in its archive leads to a read error later.

    A few bytes can name a cell in the last row and column, and all cells before it would be allocated.
    """
    with zipfile.ZipFile(file) as packed:
        n_bytes = sum(one.file_size for one in packed.infolist())
        if n_bytes > MAX_SHEET_BYTES:
            raise ValueError(f"it unpacks to {n_bytes} bytes, and {MAX_SHEET_BYTES} is the limit")
        for one in packed.infolist():
            with packed.open(one) as part:
                _Extent().check(part)


class _Extent:
    """Extent of a sheet: rows and columns up to the last cell with a value."""

    def __init__(self) -> None:
        self._row = self._column = self._n_rows = self._n_columns = 0

    def check(self, part: IO[bytes]) -> None:
        """Raise a ValueError if the cells of a part reach too far; other parts than sheets have no cells."""
        parser = expat.ParserCreate()
        parser.StartElementHandler = self._start
        try:
            while content := part.read(BYTES_AT_ONCE):
                parser.Parse(content, False)
        except expat.ExpatError:
            return  # such as an image; a damaged sheet fails in its reader

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name not in ("c", "v"):  # fast path: most elements are cells and values
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
        """Move to a cell such as B7; to the next one if it has no reference."""
        letters = reference.rstrip("0123456789")
        self._column = _column(letters) if letters else self._column + 1
        if reference != letters:
            self._row = int(reference[len(letters) :])


@lru_cache(2**15)
def _column(letters: str) -> int:
    """Return the number of a column such as AB, from 1."""
    number = 0
    for letter in letters[:4]:  # valid references have three at most
        number = number * LETTERS + ord(letter.upper()) - ord("A") + 1
    return number


def check_cells(schema: Any, name: str) -> None:
    """Raise a ValueError if a column holds lists, records or bytes: one row of it can take all memory."""
    for field in schema:
        if not _is_cell(field.type):
            raise ValueError(
                f"{name} has the column {field.name!r} of type {field.type}, which has no single cells: write the file "
                "without it."
            )


def _is_cell(kind: Any) -> bool:
    types = optional("pyarrow.types", "cli")
    if types.is_dictionary(kind):
        return _is_cell(kind.value_type)
    tests = (types.is_primitive, types.is_decimal, types.is_null, types.is_string, types.is_large_string)
    return any(test(kind) for test in tests)


def check_packed(file: BinaryIO, name: str) -> None:
    """Raise a ValueError if the Arrow stream at the position of a file decompresses to far more than its size."""
    ipc = optional("pyarrow.ipc", "cli")
    for message in ipc.MessageReader.open_stream(file):
        n_packed = 0 if message.body is None else len(message.body)
        try:
            n_unpacked = _n_unpacked(message) if n_packed else 0
        except (struct.error, IndexError) as error:
            raise ValueError(f"{name} cannot be read as Arrow: a message in it is damaged. Write it again.") from error
        if n_unpacked > max(MAX_UNPACKED_BYTES, MAX_PACKED_TIMES * n_packed):
            raise ValueError(
                f"{name} unpacks to more than {MAX_PACKED_TIMES} times its size, which is the limit: write it in "
                "smaller batches, or as CSV."
            )


def _n_unpacked(message: Any) -> int:
    """Return the total decompressed size of the buffers of a message; each buffer begins with its size."""
    content, body = bytes(message.metadata), memoryview(message.body)
    table = _Table(content, struct.unpack_from("<I", content, 0)[0])
    kind = table.number(HEADER_KIND)
    batch = table.inner(HEADER) if kind in (DICTIONARIES, ROWS) else None
    if kind == DICTIONARIES and batch is not None:
        batch = batch.inner(DATA)
    if batch is None or batch.inner(COMPRESSION) is None:
        return 0
    starts = (start for start, length in batch.pairs(BUFFERS) if length >= 8)
    return sum(max(struct.unpack_from("<q", body, start)[0], 0) for start in starts)


class _Table:
    """A table in a FlatBuffer, the format of Arrow messages."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content, self._place = content, place

    def _field(self, number: int) -> int | None:
        fields = self._place - struct.unpack_from("<i", self._content, self._place)[0]
        (n_bytes,) = struct.unpack_from("<H", self._content, fields)
        at = 4 + 2 * number
        offset = struct.unpack_from("<H", self._content, fields + at)[0] if at < n_bytes else 0
        return self._place + offset if offset else None

    def number(self, number: int) -> int:
        """Return a field of one byte."""
        place = self._field(number)
        return 0 if place is None else self._content[place]

    def inner(self, number: int) -> _Table | None:
        """Return a field that is a table."""
        place = self._target(number)
        return None if place is None else _Table(self._content, place)

    def _target(self, number: int) -> int | None:
        place = self._field(number)
        return None if place is None else place + int(struct.unpack_from("<I", self._content, place)[0])

    def pairs(self, number: int) -> Iterator[tuple[int, int]]:
        """Yield the elements of a field that is a vector of pairs of numbers."""
        place = self._target(number)
        if place is not None:
            (length,) = struct.unpack_from("<I", self._content, place)
            yield from (struct.unpack_from("<qq", self._content, place + 4 + 16 * n) for n in range(length))
