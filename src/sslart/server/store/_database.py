"""The database file of a store: its tables, its errors, and connections that write and read."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sslart._utils.optional import optional

APPLICATION_ID = 0x5353_4C41  # "SSLA", in the header of the file
PROTOCOL = 1  # of the tables and of what is in them; no other is read
TABLES = """
-- `last_sequence` counts the records of a model, `n_rows` the rows it was given; records up to `compacted_through` are
-- gone. Numbers of models are never used twice.
CREATE TABLE models (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    created REAL NOT NULL,
    settings TEXT NOT NULL,
    last_sequence INTEGER NOT NULL DEFAULT 0,
    n_rows INTEGER NOT NULL DEFAULT 0,
    compacted_through INTEGER NOT NULL DEFAULT 0
);

-- Models that were deleted, and of which something may be left.
CREATE TABLE deleted (model INTEGER PRIMARY KEY);

-- What happened to each model, in order. `first_row` and `n_rows`: the rows that a record brings.
CREATE TABLE journal (
    id INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    kind TEXT NOT NULL,
    time REAL NOT NULL,
    actor TEXT NOT NULL,
    first_row INTEGER NOT NULL,
    n_rows INTEGER NOT NULL,
    payload BLOB NOT NULL,
    checksum BLOB NOT NULL,
    UNIQUE (model, sequence)
);
CREATE INDEX journal_rows ON journal (model, first_row) WHERE n_rows > 0;

-- Requests that were accepted: the same key again gets the same answer.
CREATE TABLE keys (
    model INTEGER NOT NULL,
    key TEXT NOT NULL,
    request BLOB NOT NULL,
    answer TEXT NOT NULL,
    time REAL NOT NULL,
    PRIMARY KEY (model, key)
) WITHOUT ROWID;
CREATE INDEX keys_time ON keys (time);

-- Names that users have given to rows.
CREATE TABLE ids (
    model INTEGER NOT NULL,
    id TEXT NOT NULL,
    row INTEGER NOT NULL,
    PRIMARY KEY (model, id)
) WITHOUT ROWID;
CREATE INDEX ids_row ON ids (model, row);

-- Who has labelled which row; the last label of a row is in force, NULL for one that was withdrawn. `together`: one
-- answer about similar rows has given all labels of the sequence number.
CREATE TABLE labels (
    id INTEGER PRIMARY KEY,
    model INTEGER NOT NULL,
    row INTEGER NOT NULL,
    label TEXT,
    previous TEXT,
    actor TEXT NOT NULL,
    time REAL NOT NULL,
    sequence INTEGER NOT NULL,
    together INTEGER NOT NULL
);
CREATE INDEX labels_row ON labels (model, row, id);

-- Tables and files of models that users have sent, in parts; only complete ones count.
CREATE TABLE uploads (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    model INTEGER,
    sequence INTEGER NOT NULL DEFAULT 0,
    first_row INTEGER NOT NULL DEFAULT 0,
    n_rows INTEGER NOT NULL DEFAULT 0,
    time REAL NOT NULL
);
CREATE TABLE upload_parts (
    id INTEGER PRIMARY KEY,
    upload INTEGER NOT NULL,
    first_row INTEGER NOT NULL,
    n_rows INTEGER NOT NULL,
    content BLOB NOT NULL,
    checksum BLOB NOT NULL,
    UNIQUE (upload, first_row)
);

-- Labelled rows whose record is gone.
CREATE TABLE kept_rows (
    model INTEGER NOT NULL,
    row INTEGER NOT NULL,
    cells TEXT NOT NULL,
    PRIMARY KEY (model, row)
) WITHOUT ROWID;

-- Models as they were after a record, in parts; only complete ones count.
CREATE TABLE snapshots (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    model INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    digest TEXT NOT NULL,
    n_bytes INTEGER NOT NULL,
    settings TEXT NOT NULL,
    time REAL NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX snapshots_model ON snapshots (model, sequence);
CREATE TABLE snapshot_parts (
    id INTEGER PRIMARY KEY,
    snapshot INTEGER NOT NULL,
    number INTEGER NOT NULL,
    content BLOB NOT NULL,
    UNIQUE (snapshot, number)
);

-- The outcome of records that take long: those of kind fit.
CREATE TABLE jobs (
    model INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    state TEXT NOT NULL,
    created REAL NOT NULL,
    ended REAL,
    outcome TEXT,
    PRIMARY KEY (model, sequence)
) WITHOUT ROWID;

CREATE TABLE tokens (
    name TEXT PRIMARY KEY,
    hash BLOB NOT NULL UNIQUE,
    scopes TEXT NOT NULL,
    created REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE audit (
    id INTEGER PRIMARY KEY,
    time REAL NOT NULL,
    actor TEXT NOT NULL,
    action TEXT NOT NULL,
    model TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- What users keep with a model beside its rows, such as names of classes: JSON by key.
CREATE TABLE properties (
    model INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    time REAL NOT NULL,
    PRIMARY KEY (model, key)
) WITHOUT ROWID;
"""
# tables whose rows belong to a model, and what identifies a row of each
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
WAL_BYTES = 2**26  # beyond, the write-ahead log is cut to this size after a checkpoint
PAGES_PER_CHECKPOINT = 1000
_WITHOUT_LOCKS = "unix-none"  # a file system of SQLite


class StoreError(OSError):
    """Raised for an unusable store. The message names the cause and the remedy."""


class StoreBusyError(StoreError):
    """More waits to be written than may wait: the request can be repeated after a moment."""


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
            check_protocol(connection, path)  # before anything is changed
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
            connection.execute(TABLES)
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
    """Close a connection; where the disk has failed, no error is raised a second time."""
    with suppress(sqlite().Error):
        connection.close(True)


def open_to_read(path: Path, vfs: str | None = None, *, is_frozen: bool = False) -> Any:
    """Return a connection that only reads; `is_frozen`: nobody writes, and files beside it may not be made."""
    apsw = sqlite()
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    uri, log = f"file:{quote(str(path))}?mode=ro", path.with_name(f"{path.name}-wal")
    if not is_frozen:
        connection = apsw.Connection(uri, flags=flags, vfs=vfs)
    elif log.is_file() and log.stat().st_size > 0 and _WITHOUT_LOCKS in apsw.vfs_names():
        # the write-ahead log has what was committed last: its index is kept in memory, and not in a file
        connection = apsw.Connection(uri, flags=flags, vfs=_WITHOUT_LOCKS)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    else:
        connection = apsw.Connection(f"{uri}&immutable=1", flags=flags)
    connection.set_busy_timeout(BUSY_MILLISECONDS)
    connection.execute("PRAGMA trusted_schema = OFF")
    return connection


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
