"""The writer: requests that wait are written together, each wholly or not at all."""

from __future__ import annotations

import os
import threading
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import apsw
import pytest
from failing_disk import FailingDisk

from sslart.server.store import Store
from sslart.server.store._database import NotWritableError
from sslart.server.store._journal import audit


def note(text: str) -> Any:
    """Return work that adds an entry to the audit log."""
    return lambda connection: audit(connection, text, "", "", {})


def notes_in(store: Store) -> list[str]:
    """Return the entries of the audit log."""
    return [text for (text,) in store.reader().execute("SELECT actor FROM audit ORDER BY id")]


class Held:
    """Keeps the writer busy, so that what is submitted meanwhile is written together."""

    def __init__(self, store: Store) -> None:
        self._go_on = threading.Event()
        self._future = store.submit(lambda _: self._go_on.wait(10))

    def release(self) -> None:
        """Let the writer go on."""
        self._go_on.set()
        self._future.result(10)


def test_a_request_that_fails_is_taken_back_and_others_of_the_same_transaction_are_kept(tmp_path: Path) -> None:
    def failing(connection: Any) -> None:
        note("half")(connection)
        raise ValueError("no")

    with Store(tmp_path) as store:
        held = Held(store)
        futures: list[Future[Any]] = [store.submit(work) for work in (note("first"), failing, note("last"))]
        held.release()
        assert futures[0].result(10) is None
        with pytest.raises(ValueError, match="no"):
            futures[1].result(10)
        assert futures[2].result(10) is None
        assert notes_in(store) == ["first", "last"]


def test_a_request_that_was_given_up_before_its_turn_is_not_written(tmp_path: Path) -> None:
    with Store(tmp_path) as store:
        held = Held(store)
        given_up, other = store.submit(note("given up")), store.submit(note("other"))
        assert given_up.cancel()
        held.release()
        other.result(10)
        assert notes_in(store) == ["other"]


def test_all_requests_end_where_the_disk_fails_also_those_that_were_given_up(tmp_path: Path) -> None:
    disk = FailingDisk()
    with Store(tmp_path, vfs=disk.name) as store:
        store.submit(note("before")).result(10)
        held = Held(store)
        waiting = [store.submit(note(str(number))) for number in range(1000)]
        for future in waiting[::2]:
            future.cancel()
        disk.error = apsw.IOError
        with pytest.raises(NotWritableError):
            held.release()
        for future in waiting[1::2]:
            with pytest.raises(NotWritableError):
                future.result(10)
        with pytest.raises(NotWritableError, match="restart the service"):
            store.submit(note("after"))
        assert notes_in(store) == ["before"]
        disk.error = None


def test_the_names_of_new_folders_are_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced, sync = set(), os.fsync

    def noted(descriptor: int) -> None:
        synced.add(os.fstat(descriptor).st_ino)
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    Store(tmp_path / "some" / "store").close()
    assert {tmp_path.stat().st_ino, (tmp_path / "some").stat().st_ino} <= synced
