"""A text cut into pieces of whole rows, where line ends in quotes end no row."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sslart._tables.encodings import Readable
from sslart._tables.limits import MAX_LINE_BYTES

QUOTE = b'"'
FIRST_LINE = re.compile(rb"[^\r\n]*")
QUOTED = re.compile(rb'(?:^|(?<=[,\t;]))"[^"]*(?:""[^"]*)*(?:"|$)')
SEPARATORS = ",\t;"


def first_row(text: bytes) -> tuple[bytes, str] | None:
    """Return the first row of a text with its end, and what separates its cells; None where no row ends.

    The separator is the one that comes most often outside quotes. A line end in quotes ends no row.
    """
    counts = _separators_in(FIRST_LINE.match(text)[0])  # type: ignore[index]
    likely = max(counts, key=lambda one: counts[one])
    found = [
        (row[0], one)
        for one in ([likely] if counts[likely] else SEPARATORS)
        if (row := _row_pattern(one).match(text)) is not None
    ]
    return max(found, key=lambda row: _separators_in(row[0])[row[1]], default=None)


def _separators_in(row: bytes) -> dict[str, int]:
    bare = QUOTED.sub(b"", row)
    return {one: bare.count(one.encode()) for one in SEPARATORS}


def whole_rows(file: Readable, separator: str, n_bytes: int, source: str, rest: bytes = b"") -> Iterator[bytes]:
    """Yield what is left of a file in pieces of about so many bytes, each of which ends with a row.

    What was read of it before, and is yielded too, is `rest`.
    """
    row = _row_pattern(separator)
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


def rows_in(text: bytes, separator: str) -> Iterator[bytes]:
    """Yield the rows of a text, each with its end, which the last one may lack."""
    if QUOTE not in text:
        yield from text.splitlines(keepends=True)
        return
    row, end = _row_pattern(separator), 0
    while found := row.match(text, end):
        end = found.end()
        yield found[0]
    if end < len(text):
        yield text[end:]


def with_cell(row: bytes, separator: str, place: int, cell: str) -> bytes:
    """Return a row with another text in one of its cells, and all else as it is."""
    pattern, start = re.compile(_cell_pattern(separator).encode()), 0
    for _ in range(place):
        start = pattern.match(row, start).end() + 1  # type: ignore[union-attr]
    end = pattern.match(row, start).end()  # type: ignore[union-attr]
    if cell != cell.strip() or any(one in cell for one in f'{separator}"\r\n'):
        cell = '"' + cell.replace('"', '""') + '"'
    return row[:start] + cell.encode() + row[end:]


def _end_of_rows(text: bytes, row: re.Pattern[bytes]) -> int:
    """Return where the last whole row ends."""
    if QUOTE not in text:
        return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    end = 0
    while found := row.match(text, end):
        end = found.end()
    return end


def _row_pattern(separator: str) -> re.Pattern[bytes]:
    """Return the pattern of a row with its end."""
    cell = _cell_pattern(separator)
    return re.compile(rf"{cell}(?:{separator}{cell})*(?:\r\n?|\n)".encode())


def _cell_pattern(separator: str) -> str:
    """Return the pattern of a cell: it is in quotes if its first character is a quote."""
    other = rf"[^{separator}\r\n]*"
    return rf'(?:"[^"]*(?:""[^"]*)*"(?!"){other}|(?!"){other})'
