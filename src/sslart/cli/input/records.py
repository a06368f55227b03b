"""Lines as rows: CSV below a header, or one JSON object per line. A line that is no row raises an error."""

from __future__ import annotations

import codecs
import csv
import json
import re
from typing import Any

from sslart._tables.cells import header, header_names
from sslart._tables.encodings import CURE
from sslart._tables.limits import MAX_LINE_BYTES
from sslart._tables.text_rows import first_row

MAX_HEADER_LINES = 100
DECIMAL_COMMA = re.compile(r"^\s*([+-]?\d+),(\d+)\s*$")


class NotARowError(ValueError):
    """A line that cannot be read, with the reason."""


class LineReader:
    """Parser of lines: the first line is a header unless it is JSON."""

    def __init__(self) -> None:
        self.names: list[str] | None = None
        self.separator = ","
        self.is_json: bool | None = None
        self._header = b""  # as far as it has come: a name in quotes may go on in the next line
        self._n_header_lines = 0

    def read(self, line: bytes) -> dict[str, Any] | None:
        """Return a row by the names of its columns; None for a blank line and for the header."""
        if self.is_json is None:
            line = self._header + line
        if len(line) > MAX_LINE_BYTES:
            if self.is_json is None:
                raise ValueError(
                    f"The first line of the stream has more than {MAX_LINE_BYTES} bytes, which is the limit: give a "
                    "header and one line per row, or one JSON object per line."
                )
            raise NotARowError(f"This line has more than {MAX_LINE_BYTES} bytes, which is the limit: the rest is lost.")
        if self.is_json is None:
            line = line.removeprefix(codecs.BOM_UTF8)
        if not line.strip():
            return None
        if self.is_json is None and not line.lstrip().startswith(b"{"):
            self._read_header(line)
            return None
        self.is_json = self.names is None
        try:
            text = line.decode().rstrip("\r")
        except UnicodeDecodeError as error:
            raise NotARowError(f"This line is not text in UTF-8. If the stream is not, {CURE}.") from error
        return self._object(text) if self.is_json else self._row(text)

    def end(self) -> None:
        """Raise a ValueError if the input ends in the middle of the header."""
        if self._header:
            header(self._header, self.separator, "the stream")

    def _read_header(self, line: bytes) -> None:
        row = first_row(line + b"\n")
        self._n_header_lines += 1
        if row is None and self._n_header_lines < MAX_HEADER_LINES:
            self._header = line + b"\n"
            return
        whole, self.separator = row or (line, ",")
        self.names, self._header, self.is_json = header(whole, self.separator, "the stream"), b"", False

    def _cells(self, text: str) -> list[str]:
        try:
            return next(csv.reader([text], delimiter=self.separator, strict=True))
        except csv.Error as error:
            raise NotARowError(f"This line cannot be cut into cells: {error}.") from error

    def _row(self, text: str) -> dict[str, Any] | None:
        cells, names = self._cells(text), self.names or []
        if header_names(cells) == names:
            return None  # the header once more: the file was begun anew, or files were put together
        if len(cells) != len(names):
            raise NotARowError(f"This line has {len(cells)} cells, and the header {len(names)}.")
        if self.separator == ";":
            cells = [DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in cells]
        return {name: cell or None for name, cell in zip(names, cells, strict=True)}

    @staticmethod
    def _object(text: str) -> dict[str, Any]:
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise NotARowError(f"This line is not JSON: {error}.") from error
        if not isinstance(row, dict):
            raise NotARowError("This line is JSON, but no object with a value for each column.")
        nested = [name for name, value in row.items() if isinstance(value, dict | list)]
        if nested:
            raise NotARowError(f"Column {nested[0]!r} holds {json.dumps(row[nested[0]])}, where one value should be.")
        return {name: None if value is None or value == "" else str(value) for name, value in row.items()}
