"""A text cut into pieces of whole rows, where line ends in quotes end no row."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sslart._tables.encodings import Readable
from sslart._tables.limits import MAX_LINE_BYTES

QUOTE = b'"'
FIRST_LINE = re.compile(rb"[^\r\n]*")
OPENING = re.compile(rb'(?:^|(?<=[,\t;]))"')
SEPARATORS = ",\t;"
AT_ONCE = 1000  # repeats in one match: each takes memory until the match ends


def first_row(text: bytes) -> tuple[bytes, str] | None:
    """Return the first row of a text with its line end, and its separator; None if no row ends.

    The separator is the one that comes most often outside quotes. A line end in quotes ends no row.
    """
    counts = _separators_in(FIRST_LINE.match(text)[0])  # type: ignore[index]
    likely = max(counts, key=lambda one: counts[one])
    found = [
        (text[:end], one)
        for one in ([likely] if counts[likely] else SEPARATORS)
        if (end := RowEnds(one).after(text, 0)) is not None
    ]
    return max(found, key=lambda row: _separators_in(row[0])[row[1]], default=None)


def _separators_in(row: bytes) -> dict[str, int]:
    bare, end = list[bytes](), 0
    while end >= 0 and (opening := OPENING.search(row, end)):
        bare.append(row[end : opening.start()])
        end = _after_quotes(row, opening.start())
    if end >= 0:
        bare.append(row[end:])
    return {one: sum(part.count(one.encode()) for part in bare) for one in SEPARATORS}


def whole_rows(file: Readable, separator: str, n_bytes: int, source: str, rest: bytes = b"") -> Iterator[bytes]:
    """Yield the rest of a file in pieces of about `n_bytes` bytes that end with a whole row.

    What was read of it before, and is yielded too, is `rest`.
    """
    row = RowEnds(separator)
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
    row, start = RowEnds(separator), 0
    while (end := row.after(text, start)) is not None:
        yield text[start:end]
        start = end
    if start < len(text):
        yield text[start:]


def with_cell(row: bytes, separator: str, place: int, cell: str) -> bytes:
    """Return a row with the text of one cell replaced."""
    pattern, start = re.compile(_cell_pattern(separator).encode()), 0
    for _ in range(place):
        start = pattern.match(row, start).end() + 1  # type: ignore[union-attr]
    end = pattern.match(row, start).end()  # type: ignore[union-attr]
    if cell != cell.strip() or any(one in cell for one in f'{separator}"\r\n'):
        cell = '"' + cell.replace('"', '""') + '"'
    return row[:start] + cell.encode() + row[end:]


class RowEnds:
    """Finder of row ends in a text with a given separator."""

    def __init__(self, separator: str) -> None:
        cell, other = _cell_pattern(separator, AT_ONCE), rf"[^{separator}\r\n]*"
        line_end = r"(\r\n?|\n)"
        self._cells = re.compile(rf"(?:{cell}{separator}){{0,{AT_ONCE}}}(?:{cell}{line_end})?".encode())
        self._rest_of_cell = re.compile(rf"{other}(?:{separator}|{line_end})".encode())

    def after(self, text: bytes, start: int) -> int | None:
        """Return where a row that starts at a place ends; None where the text is over before."""
        while True:
            found = self._cells.match(text, start)
            if found is None or found.end() == start:  # a cell of many quotes, or one that is not over
                closed = _after_quotes(text, start) if text[start : start + 1] == QUOTE else -1
                found = self._rest_of_cell.match(text, closed) if closed >= 0 else None
                if found is None:
                    return None
            start = found.end()
            if found[1] is not None:
                return start


def _after_quotes(text: bytes, opening: int) -> int:
    """Return the position after a quoted text, in which doubled quotes are escapes; -1 if it is not closed."""
    place = text.find(QUOTE, opening + 1)
    while place >= 0 and text[place + 1 : place + 2] == QUOTE:
        place = text.find(QUOTE, place + 2)
    return place + 1 if place >= 0 else -1


def _end_of_rows(text: bytes, row: RowEnds) -> int:
    """Return where the last whole row ends."""
    if QUOTE not in text:
        return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    end = 0
    while (following := row.after(text, end)) is not None:
        end = following
    return end


def _cell_pattern(separator: str, most_quotes: int | None = None) -> str:
    """Return the pattern of a cell; a cell that starts with a quote is quoted, with a limit on escaped quotes."""
    other, times = rf"[^{separator}\r\n]*", "*" if most_quotes is None else f"{{0,{most_quotes}}}"
    return rf'(?:"[^"]*(?:""[^"]*){times}"(?!"){other}|(?!"){other})'
