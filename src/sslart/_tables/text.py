"""Text files: decoding to UTF-8, and splitting into whole rows, with line ends inside quotes."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from sslart._tables.limits import MAX_LINE_BYTES
from sslart._utils.notes import note

WESTERN = "cp1252"  # Latin-1 with typographic quotes and the euro sign instead of control characters
CURE = "name its encoding with --encoding, or save it as CSV (UTF-8)"
MAX_MARK_BYTES = 4
_MARKS = {  # UTF-32 first, since its mark begins like that of UTF-16
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_NOT_TEXT = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_FOREIGN_WORD = re.compile(r"\w{0,20}[^\x00-\x7f]\w{0,20}")
QUOTE = b'"'
FIRST_LINE = re.compile(rb"[^\r\n]*")
OPENING = re.compile(rb'(?:^|(?<=[,\t;]))"')
SEPARATORS = ",\t;"
AT_ONCE = 1000  # repeats in one match of a regular expression, which takes memory for each


class Readable(Protocol):
    """A file or a file-like object."""

    def read(self, n_bytes: int, /) -> bytes:
        """Read at most about `n_bytes` bytes; empty at the end."""


def check_encoding(name: str | None) -> None:
    """Raise a ValueError if an encoding is unknown."""
    try:
        if name is not None:
            codecs.lookup(name)
            b"a".decode(name)
    except UnicodeDecodeError:  # a known encoding with more than one byte per character
        pass
    except (LookupError, ValueError) as error:
        raise ValueError(
            f"There is no encoding {name!r}: give a name that Python knows, such as utf-8, utf-16, cp1252 (Western "
            "Europe), cp1250 (Central Europe), cp1251 (Cyrillic), shift_jis or gb18030."
        ) from error


def encoding_of(start: bytes, given: str | None) -> str | None:
    """Return the given encoding, or that of a byte order mark, which stays part of the text.

    None if there is neither, and for UTF-8.
    """
    if given is not None and codecs.lookup(given).name not in ("utf-16", "utf-32"):
        return None if codecs.lookup(given).name in ("utf-8", "utf-8-sig") else given
    return next((name for mark, name in _MARKS.items() if start.startswith(mark)), given)


class Utf8Text:
    """A text in any encoding, read as UTF-8 and encoded back for writing.

    The default encoding without a byte order mark is UTF-8. If the first non-ASCII bytes are invalid UTF-8, it is
    Windows-1252, with a note.
    """

    def __init__(self, file: BinaryIO, source: str, encoding: str | None = None) -> None:
        check_encoding(encoding)
        self._file, self._source = file, source
        start = file.read(MAX_MARK_BYTES)
        file.seek(0)
        name = encoding_of(start, encoding)
        self._may_be_western, self._encoding = encoding is None, name or "utf-8"
        self._decoder = None if name is None else codecs.getincrementaldecoder(name)()
        self._rest, self._is_over = b"", False

    def read(self, n_bytes: int, /) -> bytes:
        """Read about `n_bytes` bytes of the text as UTF-8; empty at its end."""
        text = b""
        while not text and not self._is_over:
            content = self._file.read(n_bytes)
            self._is_over = not content
            try:
                text = self._as_utf8(content)
            except UnicodeError as error:
                raise ValueError(f"{self._source} is not text in {self._encoding}: {CURE}.") from error
        return text

    def encoded(self, content: bytes) -> bytes:
        """Convert UTF-8 to the encoding of this text."""
        return content if self._decoder is None else content.decode().encode(self._encoding)

    def _as_utf8(self, content: bytes) -> bytes:
        if self._decoder is not None:
            return self._decoder.decode(content, self._is_over).encode()
        if not self._rest and content.isascii():
            return content
        content = self._rest + content
        try:
            length = codecs.utf_8_decode(content, "strict", self._is_over)[1]
        except UnicodeDecodeError as error:
            if not self._may_be_western or not content[: error.start].isascii() or _NOT_TEXT.search(content):
                raise
            return self._as_western(content)
        self._rest = content[length:]
        self._may_be_western = self._may_be_western and content[:length].isascii()
        return content[:length]

    def _as_western(self, content: bytes) -> bytes:
        self._decoder, self._encoding, self._rest = codecs.getincrementaldecoder(WESTERN)(), WESTERN, b""
        text = self._decoder.decode(content, self._is_over)
        word = _FOREIGN_WORD.search(text)
        note(
            f"{self._source} is not text in UTF-8 and is read as Windows-1252 (Latin-1), such as "
            f"{word[0] if word else ''!r}. Where this is wrong, {CURE}."
        )
        return text.encode()


class Utf8Stream:
    """An incremental decoder to UTF-8; undecodable bytes are replaced by bytes that are invalid in UTF-8.

    Without an encoding, a byte order mark decides.
    """

    def __init__(self, encoding: str | None) -> None:
        self._encoding, self._start = encoding, b""
        self._decoder: codecs.IncrementalDecoder | None = None
        self._is_begun = False

    def read(self, content: bytes, *, is_over: bool = False) -> bytes:
        """Decode the next bytes; with `is_over`, also the remainder."""
        if not self._is_begun:
            self._start += content
            if len(self._start) < MAX_MARK_BYTES and not is_over:
                return b""
            content, self._is_begun = self._start, True
            name = encoding_of(content, self._encoding)
            if name is not None:
                self._decoder = codecs.getincrementaldecoder(name)(_KEPT_AS_NO_TEXT)
        if self._decoder is None:
            return content
        return self._decoder.decode(content, is_over).encode("utf-8", "surrogatepass")


def _half_a_character(error: UnicodeError) -> tuple[str, int]:
    """Replace undecodable bytes by a lone surrogate, which is invalid in UTF-8."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return "\udcff", error.end


_KEPT_AS_NO_TEXT = "sslart: kept as no text"


codecs.register_error(_KEPT_AS_NO_TEXT, _half_a_character)


def first_row(text: bytes) -> tuple[bytes, str] | None:
    """Return the first row of a text with its line end, and its separator; None if no row ends.

    The separator is the most frequent one outside quotes. Line ends inside quotes do not end a row.
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

    `rest` is the content read before, which is yielded first.
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
    """Yield the rows of a text with their line ends, which the last one may lack."""
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
        """Return the end of the row that starts at a position; None if the text ends before."""
        while True:
            found = self._cells.match(text, start)
            if found is None or found.end() == start:  # a cell of many quotes, or an incomplete one
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
    """Return the end of the last complete row."""
    if QUOTE not in text:
        return max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
    end = 0
    while (following := row.after(text, end)) is not None:
        end = following
    return end


def _cell_pattern(separator: str, most_quotes: int | None = None) -> str:
    """Return the pattern of a plain or quoted cell, with a limit on escaped quotes."""
    other, times = rf"[^{separator}\r\n]*", "*" if most_quotes is None else f"{{0,{most_quotes}}}"
    return rf'(?:"[^"]*(?:""[^"]*){times}"(?!"){other}|(?!"){other})'
