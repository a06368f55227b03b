"""Lines as rows: CSV below a header, or one JSON object per line. A line that is no row raises an error."""

from __future__ import annotations

import csv
import json
import re
from typing import Any

from sslart.cli.input.cells import header, header_names
from sslart.cli.input.limits import MAX_LINE_BYTES

DECIMAL_COMMA = re.compile(r"^\s*([+-]?\d+),(\d+)\s*$")


class NotARowError(ValueError):
    """A line that cannot be read, with the reason."""


class LineReader:
    """Reads lines one by one: the first decides what they are, and is a header unless it is JSON."""

    def __init__(self) -> None:
        self.names: list[str] | None = None
        self.separator = ","
        self.is_json: bool | None = None

    def read(self, line: bytes) -> dict[str, Any] | None:
        """Return a row by the names of its columns; None for a blank line and for the header."""
        if len(line) > MAX_LINE_BYTES:
            if self.is_json is None:
                raise ValueError(
                    f"The first line of the stream has more than {MAX_LINE_BYTES} bytes, which is the limit: give a "
                    "header and one line per row, or one JSON object per line."
                )
            raise NotARowError(f"This line has more than {MAX_LINE_BYTES} bytes, which is the limit: the rest is lost.")
        try:
            text = line.decode("utf-8-sig" if self.is_json is None else "utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            raise NotARowError("This line is not text in UTF-8.") from error
        if not text.strip():
            return None
        if self.is_json is None:
            self.is_json = text.lstrip().startswith("{")
            if not self.is_json:
                self.names, self.separator = header(text, "the stream")
                return None
        return self._object(text) if self.is_json else self._row(text)

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
