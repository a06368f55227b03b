"""Changes of shared objects in place: only while nobody reads them, and taken back if the call fails.

A reader is admitted to networks, and as long as it lives none of them changes. A call that learns changes a network in
place where it has no reader, and keeps new readers waiting until it ends; else it learns on a copy.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable


class Readers:
    """Who reads one network, and which call changes it in place."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._readmitted = threading.Condition(self._lock)
        self._present: set[int] = set()
        self._excluded_by: Changes | None = None

    def admit(self, reader: Reader) -> None:
        """Let a reader in, after a change in place has ended."""
        with self._lock:
            while self._excluded_by is not None:
                self._readmitted.wait()
            self._present.add(id(reader))

    def dismiss(self, reader: Reader) -> None:
        """Take note that a reader has ended. Needs no lock: it may run wherever an object is freed."""
        self._present.discard(id(reader))

    def exclude(self, changes: Changes) -> bool:
        """Keep new readers out if there are none; return whether there are none."""
        with self._lock:
            nobody_reads = not self._present
            if nobody_reads:
                self._excluded_by = changes
            return nobody_reads

    def readmit(self, changes: Changes) -> None:
        """Let readers in again, if it is these changes that keep them out."""
        with self._lock:
            if self._excluded_by is changes:
                self._excluded_by = None
                self._readmitted.notify_all()


class Reader:
    """As long as this object lives, no network that it was admitted to changes.

    Parameters
    ----------
    networks : iterable of Readers
    """

    def __init__(self, networks: Iterable[Readers]) -> None:
        self._networks = tuple(networks)
        for readers in self._networks:
            readers.admit(self)

    def __del__(self) -> None:
        for readers in self._networks:
            readers.dismiss(self)


class Changes:
    """What one call changes in place."""

    def __init__(self) -> None:
        self._networks: list[Readers] = []
        self._undo: list[Callable[[], None]] = []

    def begin(self, readers: Readers) -> bool:
        """Keep readers away from a network until the end; return whether it may be changed: whether it has none."""
        self._networks.append(readers)  # first, so that `end` finds it wherever the call is interrupted
        return readers.exclude(self)

    def on_failure(self, undo: Callable[[], None]) -> None:
        """Note, before something is changed, how to undo it."""
        self._undo.append(undo)

    def take_back(self) -> None:
        """Undo all changes, the last first."""
        for undo in reversed(self._undo):
            undo()

    def end(self) -> None:
        """Let readers in again."""
        for readers in self._networks:
            readers.readmit(self)
