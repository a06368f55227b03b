"""A text cut into pieces of whole rows, where line ends in quotes end no row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

from sslart.cli.input.limits import MAX_LINE_BYTES

QUOTE = b'"'


def whole_rows(file: BinaryIO, separator: str, n_bytes: int, source: str) -> Iterator[bytes]:
    """Yield the rest of a file in pieces of about so many bytes, each of which ends with a row."""
    row, rest = _row_pattern(separator), b""
    while content := file.read(n_bytes):
        text = rest + content
        end = _end_of_rows(text, row)
        if end:
            yield text[:end]
        rest = text[end:]
        if len(rest) > MAX_LINE_BYTES:
            raise ValueError(
                f"{source} has a row of more than {MAX_LINE_BYTES} bytes, which is the limit: is a quote not closed, "
                "or are there no line ends?"
            )
    if rest:
        yield rest


def _end_of_rows(text: bytes, row: re.Pattern[bytes]) -> int:
    """Return where the last whole row ends."""
    if QUOTE not in text:
        return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    end = 0
    while found := row.match(text, end):
        end = found.end()
    return end


def _row_pattern(separator: str) -> re.Pattern[bytes]:
    """Return the pattern of a row with its end: a cell is in quotes if its first character is a quote."""
    other = rf"[^{separator}\r\n]*"
    cell = rf'(?:"[^"]*(?:""[^"]*)*"(?!"){other}|(?!"){other})'
    return re.compile(rf"{cell}(?:{separator}{cell})*(?:\r\n?|\n)".encode())
