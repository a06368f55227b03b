"""The SQLite file, whose tables are in schema.sql: errors, and write and read connections."""

from __future__ import annotations

import json
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sslart._utils.optional import optional

APPLICATION_ID = 0x5353_4C41  # "SSLA", in the header of the file
PROTOCOL = 1  # version of the schema and its contents; no other is read
# tables whose rows belong to a model, with their keys
OF_A_MODEL = {
    "journal": "id",
    "keys": "key",
    "ids": "id",
    "labels": "id",
    "uploads": "id",
    "kept_rows": "row",
    "snapshots": "id",
    "jobs": "sequence",
    "properties": "key",
}
BUSY_MILLISECONDS = 10_000
WAL_BYTES = 2**26  # a longer write-ahead log is truncated to this size after a checkpoint
PAGES_PER_CHECKPOINT = 1000
_WITHOUT_LOCKS = "unix-none"  # a file system of SQLite


class StoreError(OSError):
    """Raised for an unusable store. The message names the cause and the remedy."""


class StoreBusyError(StoreError):
    """Raised if too many requests wait to be written; the request can be repeated after a moment."""


class NotWritableError(StoreError):
    """Raised when nothing can be written: the disk is full, read-only, or has failed. Reading still works."""


class DamagedError(StoreError):
    """Raised when stored bytes differ from the written ones."""


def sqlite() -> Any:
    """Return the module apsw, which bundles a recent SQLite."""
    return optional("apsw", "serve")


def open_to_write(path: Path, vfs: str | None = None) -> Any:
    """Return the writing connection; create the tables of a new file. Commits are durable."""
    connection = sqlite().Connection(str(path), vfs=vfs)
    try:
        connection.set_busy_timeout(BUSY_MILLISECONDS)
        is_new = not _pragma(connection, "schema_version")
        if is_new:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        else:
            check_protocol(connection, path)  # before any change
        for setting in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "fullfsync = ON",  # of macOS, whose fsync leaves data in the cache of the disk
            "checkpoint_fullfsync = ON",
            f"journal_size_limit = {WAL_BYTES}",
            f"wal_autocheckpoint = {PAGES_PER_CHECKPOINT}",
            "temp_store = MEMORY",
            "trusted_schema = OFF",
        ):
            connection.execute(f"PRAGMA {setting}")
        if is_new:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(files("sslart.server.store").joinpath("schema.sql").read_text("utf-8"))
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {PROTOCOL}")
            connection.execute("COMMIT")
        else:
            with suppress(sqlite().FullError):
                # after a failed sync, the system may have pages of the log that the disk does not have, and that no
                # later sync writes: what comes after them would be lost with them
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
    except BaseException:
        close(connection)
        raise
    return connection


def close(connection: Any) -> None:
    """Close a connection, ignoring errors of a failed disk."""
    with suppress(sqlite().Error):
        connection.close(True)


def open_to_read(path: Path, vfs: str | None = None, *, is_frozen: bool = False) -> Any:
    """Return a read-only connection; with `is_frozen`, nobody writes, and no files next to the database are created."""
    apsw = sqlite()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    uri, log = f"file:{quote(str(path))}?mode=ro", path.with_name(f"{path.name}-wal")
    if not is_frozen:
        connection = apsw.Connection(uri, flags=flags, vfs=vfs)
    elif log.is_file() and log.stat().st_size > 0 and _WITHOUT_LOCKS in apsw.vfs_names():
        # the write-ahead log has the last commits; its index is kept in memory instead of a file
        connection = apsw.Connection(uri, flags=flags, vfs=_WITHOUT_LOCKS)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    else:
        connection = apsw.Connection(f"{uri}&immutable=1", flags=flags)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


def check_protocol(connection: Any, path: Path) -> None:
    """Raise a StoreError if a file is not a database of the service, or has another protocol."""
    if _pragma(connection, "application_id") != APPLICATION_ID:
        raise StoreError(f"{path} is not a database of sslart serve: give its folder, or an empty folder.")
    protocol = _pragma(connection, "user_version")
    if protocol != PROTOCOL:
        raise StoreError(
            f"{path} was written by another version of sslart: it has protocol {protocol}, but this version reads "
            f"protocol {PROTOCOL} only. Use the version that wrote it, or give an empty folder."
        )


def insert(connection: Any, table: str, or_else: str = "ABORT", /, **values: Any) -> int:
    """Insert a row and return its number; `or_else` is SQLite's conflict clause."""
    marks = ", ".join("?" * len(values))
    sql = f"INSERT OR {or_else} INTO {table} ({', '.join(values)}) VALUES ({marks})"
    connection.execute(sql, tuple(values.values()))
    return int(connection.last_insert_rowid())


def plain_text(values: Any) -> str:
    """Return plain values as JSON text."""
    return json.dumps(values, ensure_ascii=False)


def _pragma(connection: Any, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").get)
