"""Connections to the file of a store: one that writes, and one per thread that reads."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sslart._utils.optional import optional
from sslart.server.store._errors import StoreError
from sslart.server.store._schema import APPLICATION_ID, PROTOCOL, TABLES

BUSY_MILLISECONDS = 10_000
WAL_BYTES = 2**26  # beyond, the write-ahead log is cut to this size after a checkpoint
PAGES_PER_CHECKPOINT = 1000
_WITHOUT_LOCKS = "unix-none"  # a file system of SQLite


def sqlite() -> Any:
    """Return the module apsw, which bundles a recent SQLite."""
    return optional("apsw", "serve")


def open_to_write(path: Path, vfs: str | None = None) -> Any:
    """Return the writing connection; create the tables of a new file. Commits are durable."""
    connection = sqlite().Connection(str(path), vfs=vfs)
    try:
        _prepare_to_write(connection, path)
    except BaseException:
        close(connection)
        raise
    return connection


def close(connection: Any) -> None:
    """Close a connection; where the disk has failed, no error is raised a second time."""
    with suppress(sqlite().Error):
        connection.close(True)


def _prepare_to_write(connection: Any, path: Path) -> None:
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    is_new = not _pragma(connection, "schema_version")
    if is_new:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    else:
        check_protocol(connection, path)  # before anything is changed
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA fullfsync = ON")  # of macOS, whose fsync leaves data in the cache of the disk
    connection.execute("PRAGMA checkpoint_fullfsync = ON")
    connection.execute(f"PRAGMA journal_size_limit = {WAL_BYTES}")
    connection.execute(f"PRAGMA wal_autocheckpoint = {PAGES_PER_CHECKPOINT}")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA trusted_schema = OFF")
    if is_new:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(TABLES)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {PROTOCOL}")
        connection.execute("COMMIT")
    else:
        with suppress(sqlite().FullError):
            # after a failed sync, the system may have pages of the log that the disk does not have, and that no later
            # sync writes: what comes after them would be lost with them
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()


def open_to_read(path: Path, vfs: str | None = None, *, is_frozen: bool = False) -> Any:
    """Return a connection that only reads; `is_frozen`: nobody writes, and files beside it may not be made."""
    apsw = sqlite()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    uri = f"file:{quote(str(path))}?mode=ro"
    if not is_frozen:
        connection = apsw.Connection(uri, flags=flags, vfs=vfs)
    elif _has_log(path) and _WITHOUT_LOCKS in apsw.vfs_names():
        # the write-ahead log has what was committed last: its index is kept in memory, and not in a file
        connection = apsw.Connection(uri, flags=flags, vfs=_WITHOUT_LOCKS)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    else:
        connection = apsw.Connection(f"{uri}&immutable=1", flags=flags)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def _has_log(path: Path) -> bool:
    log = path.with_name(f"{path.name}-wal")
    return log.is_file() and log.stat().st_size > 0


def check_protocol(connection: Any, path: Path) -> None:
    """Raise a StoreError where a file is no store, or one of another protocol."""
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise StoreError(f"{path} is not a store of sslart serve: give the folder of one, or an empty folder.")
    protocol = _pragma(connection, "user_version")
    if protocol != PROTOCOL:
        raise StoreError(
            f"{path} was written by another sslart: it has protocol {protocol}, and this sslart reads protocol "
            f"{PROTOCOL} only. Serve it with the sslart that wrote it, or give an empty folder."
        )


def _pragma(connection: Any, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").get)


class Readers:
    """A connection that reads for each thread, opened when the thread first needs it.

    Parameters
    ----------
    path : Path
    vfs : str or None
    is_frozen : bool
        Whether nobody can write to the file.
    """

    def __init__(self, path: Path, vfs: str | None, *, is_frozen: bool) -> None:
        self._path, self._vfs, self._is_frozen = path, vfs, is_frozen
        self._own = threading.local()

    def own(self) -> Any:
        """Return the connection of this thread."""
        connection = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._own.connection = open_to_read(self._path, self._vfs, is_frozen=self._is_frozen)
        return connection
