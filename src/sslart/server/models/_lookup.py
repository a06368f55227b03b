"""Rows that a model was given, found by their number: in the journal, in an uploaded table, or among those kept."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sslart._tables import cells as table_cells
from sslart.server.models._frames import cells_of, frame_of
from sslart.server.models._settings import ModelSettings
from sslart.server.store._journal import record_with_row, row_with_id
from sslart.server.store._labels import given_label
from sslart.server.store._records import LEARN
from sslart.server.store._retention import kept_row
from sslart.server.store._uploads import Upload, part_with_row, parts, upload_with_row, uploads

MAX_FRAMES = 8
MAX_TABLES = 3
LAST = 2**62  # a sequence number beyond all
MAX_DIGITS = 20


class NoSuchRowError(LookupError):
    """A row that the model was not given, or that is no longer kept."""


@dataclass(frozen=True)
class FoundRow:
    """A row that a model was given.

    Attributes
    ----------
    row : int
    cells : dict
    label : class or None
        The label in force.
    decision : dict or None
        What was predicted when the row was sent to `decide`.
    """

    row: int
    cells: dict[str, Any]
    label: Any
    decision: dict[str, Any] | None = None


class RowFinder:
    """Finds rows; the parts of tables that were read last are kept in memory."""

    def __init__(self) -> None:
        self._frames: OrderedDict[tuple[int, int], Any] = OrderedDict()
        self._names: OrderedDict[tuple[int, str], dict[str, int]] = OrderedDict()  # by upload and column
        self._lock = threading.Lock()

    def find(self, connection: Any, model: int, settings: ModelSettings, which: Sequence[int | str]) -> list[FoundRow]:
        """Return rows by their numbers, or by the names they were given; a NoSuchRowError where one is missing."""
        numbers = [self._number(connection, model, settings, one) for one in which]
        found: dict[int, FoundRow | None] = {}
        for row in sorted(set(numbers)):  # those in one part of a table one after another
            found[row] = self._find(connection, model, settings, row) if 0 <= row < 2**63 else None
        rows = []
        for number, one in zip(numbers, which, strict=True):
            there = found[number]
            if there is None:
                raise NoSuchRowError(f"There is no row {one!r}, or it is no longer kept.")
            rows.append(there)
        return rows

    def _number(self, connection: Any, model: int, settings: ModelSettings, which: int | str) -> int:
        """Return the number of a row that is given by its number or name; -1 where no row has the name."""
        if isinstance(which, int):
            return which
        named = row_with_id(connection, model, which)
        if named is None and settings.id is not None:
            named = self._in_tables(connection, model, settings.id, which)
        if named is not None:
            return named
        return int(which) if which.isdecimal() and len(which) < MAX_DIGITS else -1

    def _in_tables(self, connection: Any, model: int, column: str, name: str) -> int | None:
        """Return the first row of a table that has a name in a column; None where none has it."""
        for upload in uploads(connection, model, LAST):
            key = (upload.id, column)
            with self._lock:
                known = self._names.get(key)
            if known is None:
                known = _names_in(connection, upload, column)
                with self._lock:
                    self._names[key] = known
                    if len(self._names) > MAX_TABLES:
                        self._names.popitem(last=False)
            if name in known:
                return upload.first_row + known[name]
        return None

    def _find(self, connection: Any, model: int, settings: ModelSettings, row: int) -> FoundRow | None:
        is_given, label = given_label(connection, model, row)
        record = record_with_row(connection, model, row)
        if record is not None and record.kind == LEARN:
            content, place = record.content(), row - record.first_row
            decisions = content.get("decisions")
            return FoundRow(row, content["rows"][place], label, None if decisions is None else decisions[place])
        upload = upload_with_row(connection, model, row)
        if upload is not None:
            first_row, frame = self._part(connection, upload, row - upload.first_row)
            place = row - upload.first_row - first_row
            if not is_given and settings.label in frame.columns:
                label = table_cells.labels(frame[settings.label].iloc[place : place + 1])[0]
            cells = cells_of(frame, place)
            return FoundRow(row, {name: cell for name, cell in cells.items() if name != settings.label}, label)
        kept = kept_row(connection, model, row)
        return None if kept is None else FoundRow(row, kept, label)

    def _part(self, connection: Any, upload: Upload, row: int) -> tuple[int, Any]:
        """Return the first row of the part of an upload that has a row of it, and its frame."""
        with self._lock:
            for (number, first_row), frame in self._frames.items():
                if number == upload.id and first_row <= row < first_row + len(frame):
                    self._frames.move_to_end((number, first_row))
                    return first_row, frame
        part = part_with_row(connection, upload.id, row)
        frame = frame_of(part.content)
        with self._lock:
            self._frames[upload.id, part.first_row] = frame
            if len(self._frames) > MAX_FRAMES:
                self._frames.popitem(last=False)
        return part.first_row, frame


def _names_in(connection: Any, upload: Upload, column: str) -> dict[str, int]:
    """Return the first row of each name in a column of a table."""
    found: dict[str, int] = {}
    for part in parts(connection, upload.id) if upload.n_rows else ():
        frame = frame_of(part.content)
        if column in frame.columns:
            for place, name in enumerate(table_cells.names(frame[column])):
                if name is not None:
                    found.setdefault(name, part.first_row + place)
    return found
