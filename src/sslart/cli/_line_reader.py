"""Read lines of standard input or of a growing file as they arrive, and parse them as CSV or JSON rows."""

from __future__ import annotations

import codecs
import csv
import json
import os
import queue
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import Any

from sslart._tables.cells import header, header_names
from sslart._tables.limits import MAX_LINE_BYTES
from sslart._tables.text import CURE, Utf8Stream, check_encoding, first_row
from sslart._utils.files import STANDARD

MAX_WAITING = 10_000
MAX_BYTES_WAITING = 2**24
BYTES_AT_ONCE = 2**16
SECONDS_TO_WAIT = 0.1
MAX_HEADER_LINES = 100
DECIMAL_COMMA = re.compile(r"^\s*([+-]?\d+),(\d+)\s*$")


class Lines:
    """Lines of a file, or of standard input for ``-``, read ahead by a background thread.

    With `follow`, it waits for more at the end of a file. Without an encoding, UTF-16 and UTF-32 are recognised by
    their byte order mark; everything else is read as UTF-8. `stopped_by` is the signal that ended reading.
    """

    def __init__(self, source: str, *, follow: bool, encoding: str | None = None) -> None:
        check_encoding(encoding)
        self._encoding = encoding
        self.stopped_by: str | None = None
        self._error: OSError | None = None
        self._waiting: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._room, self._n_lines, self._n_bytes = threading.Condition(), 0, 0
        if source == STANDARD and sys.stdin is None:
            raise ValueError("Standard input is closed: give a file, or pipe rows into the command.")
        if source == STANDARD:
            descriptor, follow = sys.stdin.fileno(), False
        elif Path(source).exists() and not Path(source).is_dir():
            descriptor = os.open(source, os.O_RDONLY)
        else:
            raise FileNotFoundError(f"There is no file {source}: check the name, or give - for standard input.")
        # not sys.stdin.buffer: its lock would still be held by the reading thread when the program ends
        threading.Thread(target=self._read, args=(descriptor, follow), daemon=True).start()

    def _read(self, descriptor: int, follow: bool) -> None:
        line = bytearray()  # the incomplete last line; an overlong one is truncated just above the limit
        try:
            as_utf8 = Utf8Stream(self._encoding)
            while (content := os.read(descriptor, BYTES_AT_ONCE)) or follow:
                if not content:
                    time.sleep(SECONDS_TO_WAIT)
                    if self._is_shorter(descriptor):
                        os.lseek(descriptor, 0, os.SEEK_SET)
                        as_utf8 = Utf8Stream(self._encoding)
                        line.clear()
                self._cut(line, as_utf8.read(content))
            self._cut(line, as_utf8.read(b"", is_over=True))
            if line:
                self._put(bytes(line))
        except OSError as error:
            self._error = error
        finally:
            self._waiting.put(None)

    def _cut(self, line: bytearray, content: bytes) -> None:
        """Queue the complete lines in some content; the incomplete rest stays in `line`."""
        first, *others = content.split(b"\n")
        line += first[: MAX_LINE_BYTES + 1 - len(line)]
        for start in others:
            self._put(bytes(line))
            line[:] = start[: MAX_LINE_BYTES + 1]

    @staticmethod
    def _is_shorter(descriptor: int) -> bool:
        """Return True if a file was truncated, as by log rotation."""
        with suppress(OSError):  # a pipe cannot seek
            return os.fstat(descriptor).st_size < os.lseek(descriptor, 0, os.SEEK_CUR)
        return False

    def _put(self, line: bytes) -> None:
        with self._room:
            self._room.wait_for(lambda: self._n_lines < MAX_WAITING and self._n_bytes < MAX_BYTES_WAITING)
            self._n_lines += 1
            self._n_bytes += len(line)
        self._waiting.put(line)

    def _make_room(self, lines: list[bytes]) -> None:
        with self._room:
            self._n_lines -= len(lines)
            self._n_bytes -= sum(map(len, lines))
            self._room.notify()

    def _stop(self, number: int, _: FrameType | None) -> None:
        self.stopped_by = signal.Signals(number).name
        self._waiting.put(None)

    @contextmanager
    def until_signal(self) -> Iterator[None]:
        """Treat SIGINT and SIGTERM as the end of the input."""
        numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
        before = {number: signal.signal(number, self._stop) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def batches(self, most: int) -> Iterator[list[bytes]]:
        """Yield batches of one to `most` available lines; wait while there is none."""
        while self.stopped_by is None and (line := self._waiting.get()) is not None:
            batch = [line]
            at_end = False
            while len(batch) < most and not self._waiting.empty() and not at_end:
                line = self._waiting.get()
                at_end = line is None
                if line is not None:
                    batch.append(line)
            self._make_room(batch)
            yield batch
            if at_end:
                break
        if self._error is not None:
            raise self._error


class NotARowError(ValueError):
    """Raised for a line that cannot be parsed."""


class LineReader:
    """Parser of lines: the first line is a header unless it is JSON."""

    def __init__(self) -> None:
        self.names: list[str] | None = None
        self.separator = ","
        self.is_json: bool | None = None
        self._header = b""  # read so far: a quoted name may contain a line break
        self._n_header_lines = 0

    def read(self, line: bytes) -> dict[str, Any] | None:
        """Return a row by the names of its columns; None for a blank line and for the header."""
        if self.is_json is None:
            line = self._header + line
        if len(line) > MAX_LINE_BYTES:
            if self.is_json is None:
                raise ValueError(
                    f"The first line of the stream is longer than the limit of {MAX_LINE_BYTES} bytes: give a "
                    "header and one line per row, or one JSON object per line."
                )
            raise NotARowError(f"This line is longer than the limit of {MAX_LINE_BYTES} bytes: the rest is lost.")
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
            raise NotARowError(f"This line is not UTF-8. If the stream has another encoding, {CURE}.") from error
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
            raise NotARowError(f"This line is not valid CSV: {error}.") from error

    def _row(self, text: str) -> dict[str, Any] | None:
        cells, names = self._cells(text), self.names or []
        if header_names(cells) == names:
            return None  # a repeated header: the file was rewritten, or files were concatenated
        if len(cells) != len(names):
            raise NotARowError(f"This line has {len(cells)} cells, but the header has {len(names)}.")
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
            raise NotARowError("This line is JSON, but not an object with a value for each column.")
        nested = [name for name, value in row.items() if isinstance(value, dict | list)]
        if nested:
            raise NotARowError(f"Column {nested[0]!r} holds {json.dumps(row[nested[0]])}, where one value should be.")
        return {name: None if value is None or value == "" else str(value) for name, value in row.items()}
