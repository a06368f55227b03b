"""A folder with the store of a service: opened by one process at a time, readable also where nothing can be written."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from sslart._utils.files import try_lock
from sslart.server.store._connection import Readers, check_protocol, open_to_read, open_to_write, sqlite
from sslart.server.store._errors import DamagedError, NotWritableError, StoreError
from sslart.server.store._journal import models
from sslart.server.store._retention import forget_old_keys
from sslart.server.store._schema import OF_A_MODEL
from sslart.server.store._snapshots import remove_incomplete
from sslart.server.store._tokens import tokens
from sslart.server.store._uploads import remove_unused
from sslart.server.store._writer import Writer

FILE_NAME = "store.db"
LOCK_NAME = "lock"
ROWS_PER_PURGE = 1000
PARTS_PER_PURGE = 10

Result = TypeVar("Result")


class Store:
    """The store of a service.

    Parameters
    ----------
    folder : Path
        Made where it does not exist, readable by its owner alone.
    vfs : str, default=None
        The name of a virtual file system of SQLite, such as one that loses what was not synced, for tests.
    """

    def __init__(self, folder: Path, *, vfs: str | None = None) -> None:
        self.folder, self.path, self._vfs = folder, folder / FILE_NAME, vfs
        self._lock: int | None = None
        self._writer: Writer | None = None
        self._why_not: str | None = None
        self._purging = threading.Lock()
        try:
            _make(folder)
            self._lock = self._locked()
            self._writer = Writer(open_to_write(self.path, vfs))
        except StoreError:
            self._unlock()
            raise
        except _cannot_be_written() as error:
            self._open_without_writing(error)
        except sqlite().Error as error:
            self._unlock()
            raise DamagedError(f"{self.path} is damaged: {error}. Restore a backup.") from error
        self._readers = Readers(self.path, vfs, is_frozen=self._writer is None)
        self._check_start()

    def _check_start(self) -> None:
        """Raise a DamagedError where it cannot be read which models and tokens there are."""
        try:
            models(self.reader())
            tokens(self.reader())
        except (sqlite().Error, ValueError, TypeError, AttributeError) as error:
            self.close()
            raise DamagedError(f"{self.path} is damaged: {error}. Restore a backup.") from error

    def _open_without_writing(self, error: Exception) -> None:
        if not self.path.exists():
            self._unlock()
            raise StoreError(f"No store can be made in {self.folder}: {error}. Give a folder that you may write to.")
        try:
            check_protocol(open_to_read(self.path, is_frozen=True), self.path)
        except StoreError:
            self._unlock()
            raise
        except sqlite().Error as second:
            self._unlock()
            raise StoreError(f"{self.path} can be neither written nor read: {error}; {second}.") from second
        self._why_not = (
            f"The folder of the store cannot be written ({error}): the service reads only. Correct the cause, and "
            "start it again."
        )

    def _locked(self) -> int:
        descriptor = os.open(self.folder / LOCK_NAME, os.O_RDWR | os.O_CREAT, 0o600)
        if not try_lock(descriptor):
            os.close(descriptor)
            raise StoreError(f"Another process serves {self.folder}: stop it first, or give another folder.")
        return descriptor

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def why_not_writable(self) -> str | None:
        """Why nothing can be written; None where it can."""
        return self._why_not if self._writer is None else self._writer.why_not

    @property
    def n_waiting(self) -> int:
        """Number of requests waiting for the writer."""
        return 0 if self._writer is None else self._writer.n_waiting

    @property
    def n_bytes(self) -> int:
        """The size of the store on the disk."""
        paths = (self.path, self.path.with_name(f"{FILE_NAME}-wal"))
        return sum(path.stat().st_size for path in paths if path.exists())

    def reader(self) -> Any:
        """Return the connection by which this thread reads."""
        return self._readers.own()

    def submit(self, work: Callable[[Any], Result], *, may_wait: bool = False) -> Future[Result]:
        """Pass work to the writer; its result is on the disk once it is there. See `Writer.submit`."""
        if self._writer is None:
            raise NotWritableError(self._why_not)
        return self._writer.submit(work, may_wait=may_wait)

    def submit_own(self, work: Callable[[Any], Result]) -> Future[Result]:
        """Pass work of the service itself to the writer, however much waits."""
        return self.submit(work, may_wait=True)

    def remove_unfinished(self) -> None:
        """Remove partial writes left behind by a killed process; call it before any other write.

        Where nothing can be written, as on a full disk, it stays until the next start.
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
        """Write a consistent copy of the store during other writes; the copy can replace the store."""
        write_copy(self.reader(), target)

    def close(self) -> None:
        """Complete pending writes, and release the lock on the store."""
        if self._writer is not None:
            self._writer.close()
        self._unlock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _cannot_be_written() -> tuple[type[Exception], ...]:
    apsw = sqlite()
    return OSError, apsw.ReadOnlyError, apsw.CantOpenError, apsw.FullError, apsw.IOError


def _make(folder: Path) -> None:
    """Make a folder and those above it, and let all of them be on the disk."""
    if folder.is_dir():
        return
    _make(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    sync_folder(folder.parent)


def sync_folder(folder: Path) -> None:
    """Let the names in a folder be on the disk, where the system can do that."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def write_copy(connection: Any, target: Path) -> None:
    """Write a copy of the store of a connection atomically."""
    if target.exists():
        raise StoreError(f"There is a file {target}: give another name.")
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
        raise StoreError(f"No backup could be written to {target}: {error}.") from error


def _purge_some(connection: Any) -> bool:
    """Remove some rows that belong to nothing, and return whether there may be more."""
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
