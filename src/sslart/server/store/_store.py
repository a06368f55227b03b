"""The database folder of a service: opened by one process at a time, written by one thread."""

from __future__ import annotations

import hashlib
import os
import queue
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

from sslart._utils.files import try_lock
from sslart.server.store._database import (
    OF_A_MODEL,
    DamagedError,
    NotWritableError,
    StoreBusyError,
    StoreError,
    check_protocol,
    close,
    insert,
    open_to_read,
    open_to_write,
    sqlite,
)
from sslart.server.store._files import remove_incomplete, remove_unused
from sslart.server.store._journal import models
from sslart.server.store._labels import forget_old_keys

SCOPES = ("read", "learn", "admin")  # each includes those before it
RANDOM_BYTES = 32
PREFIX = "sslart_"
MAX_WAITING = 4096  # requests
MAX_TOGETHER = 512  # requests in one transaction
FILE_NAME = "store.db"
LOCK_NAME = "lock"
ROWS_PER_PURGE = 1000
PARTS_PER_PURGE = 10

Result = TypeVar("Result")
_Request = tuple[Callable[[Any], Any], Future[Any]]


class Token(NamedTuple):
    """A token: its name, its scopes, and the time of its creation."""

    name: str
    scopes: frozenset[str]
    created: float


def token_hash(secret: str) -> bytes:
    """Return the hash stored for a token. The secret is long and random, so a fast hash suffices."""
    return hashlib.sha256(secret.encode()).digest()


def add_token(connection: Any, name: str, scope: str) -> str:
    """Add a token and return its secret, which is not stored."""
    if scope not in SCOPES:
        raise ValueError(f"Unknown scope {scope!r}: choose one of {', '.join(SCOPES)}.")
    if not name or len(name) > 100 or not name.isprintable():
        raise ValueError(
            "The name of a token has 1 to 100 printable characters, such as the name of a person or machine."
        )
    if connection.execute("SELECT 1 FROM tokens WHERE name = ?", (name,)).get is not None:
        raise ValueError(f"There is already a token named {name!r}: revoke it first, or give another name.")
    secret = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    scopes = SCOPES[: SCOPES.index(scope) + 1]
    insert(connection, "tokens", name=name, hash=token_hash(secret), scopes=" ".join(scopes), created=time.time())
    return secret


def revoke_token(connection: Any, name: str) -> None:
    """Remove a token."""
    connection.execute("DELETE FROM tokens WHERE name = ?", (name,))
    if not connection.changes():
        raise ValueError(f"There is no token named {name!r}.")


def tokens(connection: Any) -> dict[bytes, Token]:
    """Return all tokens by their hash."""
    rows = connection.execute("SELECT hash, name, scopes, created FROM tokens ORDER BY name")
    return {digest: Token(name, frozenset(scopes.split()), created) for digest, name, scopes, created in rows}


class Writer:
    """The writer thread with the write connection.

    Each request is a function of the connection. Waiting requests are run in one transaction: if one raises, its
    changes are rolled back without affecting the others. Results are set after the commit.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._waiting: queue.Queue[_Request | None] = queue.Queue()  # None ends the thread
        self.why_not: str | None = None  # reason why nothing can be written until a restart
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    @property
    def n_waiting(self) -> int:
        """Number of requests waiting to be written."""
        return self._waiting.qsize()

    def submit(self, work: Callable[[Any], Result], *, may_wait: bool = False) -> Future[Result]:
        """Return a future for some work, which is on disk when the future completes.

        With `may_wait`, the limit on waiting requests does not apply: for work of the service itself.
        """
        if self.why_not is not None:
            raise NotWritableError(self.why_not)
        if not may_wait and self.n_waiting >= MAX_WAITING:
            raise StoreBusyError("Too many requests wait to be written: send this one again later.")
        future: Future[Result] = Future()
        self._waiting.put((work, future))
        return future

    def close(self) -> None:
        """Complete pending writes, and close the connection."""
        self._waiting.put(None)
        self._thread.join()
        close(self._connection)

    def _run(self) -> None:
        is_last = False
        while not is_last:
            batch = [self._waiting.get()]
            while len(batch) < MAX_TOGETHER and not self._waiting.empty():  # only this thread takes from it
                batch.append(self._waiting.get())
            is_last = None in batch
            self._write([request for request in batch if request is not None])

    def _write(self, batch: list[_Request]) -> None:
        connection, done = self._connection, list[tuple[Future[Any], Any]]()
        if self.why_not is not None:
            _fail(batch, NotWritableError(self.why_not))
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
            for work, future in batch:
                if not future.set_running_or_notify_cancel():
                    continue
                connection.execute("SAVEPOINT request")
                try:
                    done.append((future, work(connection)))
                except Exception as error:
                    if isinstance(error, sqlite().Error) and not isinstance(error, sqlite().ConstraintError):
                        raise
                    connection.execute("ROLLBACK TO request")
                    future.set_exception(error)
                connection.execute("RELEASE request")
            connection.execute("COMMIT")
        except Exception as error:
            with suppress(sqlite().Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            _fail(batch, self._why(error))
            return
        for future, result in done:
            future.set_result(result)

    def _why(self, error: Exception) -> Exception:
        """Return the error for users; after a disk failure, nothing more is written."""
        apsw = sqlite()
        if isinstance(error, apsw.FullError):
            return NotWritableError(
                "The disk is full: nothing of this request was stored. Free some space, and send it again."
            )
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            self.why_not = f"The database is damaged ({error}): run sslart serve DIR --verify, and restore a backup."
            return DamagedError(self.why_not)
        if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.IOError | apsw.AuthError):
            # after a failed sync the system may have dropped unwritten pages: only a restart reads the true state
            self.why_not = f"The disk cannot be written ({error}): correct the cause, and restart the service."
            return NotWritableError(
                f"{self.why_not} It is unknown whether this request was stored: repeat it with its Idempotency-Key."
            )
        return error


def _fail(batch: list[_Request], error: Exception) -> None:
    for _, future in batch:
        if not future.done() and (future.running() or future.set_running_or_notify_cancel()):
            future.set_exception(error)


class Store:
    """The database of a service, in a folder that is created if missing and readable by its owner only.

    `vfs` names a virtual file system of SQLite, for tests, such as one that loses unsynced data.
    """

    def __init__(self, folder: Path, *, vfs: str | None = None) -> None:
        self.folder, self.path, self._vfs = folder, folder / FILE_NAME, vfs
        self._lock: int | None = None
        self._writer: Writer | None = None
        self._why_not: str | None = None
        self._purging = threading.Lock()
        self._of_thread = threading.local()
        try:
            self._open()
            models(self.reader())
            tokens(self.reader())
        except (sqlite().Error, ValueError, TypeError, AttributeError) as error:
            self.close()
            raise DamagedError(f"{self.path} is damaged: {error}. Restore a backup.") from error
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        """Open the database for writing or, if that is impossible, for reading."""
        apsw = sqlite()
        try:
            _make(self.folder)
            self._lock = os.open(self.folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
            if not try_lock(self._lock):
                raise StoreError(f"Another process is serving {self.folder}: stop it first, or give another folder.")
            self._writer = Writer(open_to_write(self.path, self._vfs))
        except StoreError:
            raise
        except (OSError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.FullError, apsw.IOError) as error:
            if not self.path.exists():
                raise StoreError(
                    f"No database can be created in {self.folder}: {error}. Give a writable folder."
                ) from error
            try:
                check_protocol(open_to_read(self.path, is_frozen=True), self.path)
            except apsw.Error as second:
                raise StoreError(f"{self.path} can be neither written nor read: {error}; {second}.") from second
            self._why_not = (
                f"The folder of the database cannot be written ({error}): the service is read-only. Correct the cause, "
                "and restart it."
            )

    @property
    def why_not_writable(self) -> str | None:
        """The reason why nothing can be written, or None."""
        return self._why_not if self._writer is None else self._writer.why_not

    @property
    def n_waiting(self) -> int:
        """Number of requests waiting for the writer."""
        return 0 if self._writer is None else self._writer.n_waiting

    @property
    def n_bytes(self) -> int:
        """Size of the database on disk."""
        paths = (self.path, self.path.with_name(f"{FILE_NAME}-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def reader(self) -> Any:
        """Return the read connection of this thread, opened on first use."""
        found = getattr(self._of_thread, "connection", None)
        if found is None:
            is_frozen = self._writer is None  # nobody can write to the file
            found = self._of_thread.connection = open_to_read(self.path, self._vfs, is_frozen=is_frozen)
        return found

    def submit(self, work: Callable[[Any], Result], *, may_wait: bool = False) -> Future[Result]:
        """Pass work to the writer; see `Writer.submit`."""
        if self._writer is None:
            raise NotWritableError(self._why_not)
        return self._writer.submit(work, may_wait=may_wait)

    def submit_own(self, work: Callable[[Any], Result]) -> Future[Result]:
        """Pass work of the service itself to the writer, without a limit on waiting requests."""
        return self.submit(work, may_wait=True)

    def remove_unfinished(self) -> None:
        """Remove partial writes left by a killed process; call it before any other write.

        If nothing can be written, as on a full disk, they remain until the next start.
        """
        with suppress(StoreError):
            self.submit_own(remove_incomplete).result()
            self.submit_own(remove_unused).result()

    def purge(self) -> None:
        """Remove orphaned data in small batches, and free the space."""
        if self.why_not_writable is not None:
            return
        with self._purging:
            self.submit_own(forget_old_keys).result()
            while self.submit_own(_purge_some).result():
                pass
            self.submit_own(lambda connection: connection.execute("PRAGMA incremental_vacuum(1000)").fetchall())

    def backup(self, target: Path) -> None:
        """Write a consistent backup of the database during other writes."""
        write_copy(self.reader(), target)

    def close(self) -> None:
        """Complete pending writes, and release the lock on the database."""
        if self._writer is not None:
            self._writer.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _make(folder: Path) -> None:
    """Create a folder and its parents durably."""
    if folder.is_dir():
        return
    _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder, if the system supports it."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_copy(connection: Any, target: Path) -> None:
    """Write a backup through a connection atomically."""
    if target.exists():
        raise StoreError(f"The file {target} exists: give another name.")
    part = target.with_name(f".{target.name}.part")
    with suppress(FileNotFoundError):
        part.unlink()
    try:
        connection.execute("VACUUM INTO ?", (str(part),))
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.chmod(0o600)
        part.replace(target)
        sync_folder(target.parent)
    except (sqlite().Error, OSError) as error:
        with suppress(OSError):
            part.unlink()
        raise StoreError(f"The backup could not be written to {target}: {error}.") from error


def _purge_some(connection: Any) -> bool:
    """Remove some orphaned rows; return whether there may be more."""
    n_removed = 0
    for part, whole in (("upload_parts", "uploads"), ("snapshot_parts", "snapshots")):
        name = whole.removesuffix("s")
        connection.execute(
            f"DELETE FROM {part} WHERE id IN "
            f"(SELECT id FROM {part} WHERE {name} NOT IN (SELECT id FROM {whole}) LIMIT {PARTS_PER_PURGE})"
        )
        n_removed += connection.changes()
    for (model,) in connection.execute("SELECT model FROM deleted").fetchall():
        n_of_model = 0
        for table, key in OF_A_MODEL.items():
            connection.execute(
                f"DELETE FROM {table} WHERE model = ? AND {key} IN "
                f"(SELECT {key} FROM {table} WHERE model = ? LIMIT {ROWS_PER_PURGE})",
                (model, model),
            )
            n_of_model += connection.changes()
        if not n_of_model:
            connection.execute("DELETE FROM deleted WHERE model = ?", (model,))
        n_removed += n_of_model
    return bool(n_removed)
