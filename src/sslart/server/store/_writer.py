"""The only thread that writes to a store: requests that wait are written together, and answered once on the disk."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

from sslart.server.store._connection import close, sqlite
from sslart.server.store._errors import DamagedError, NotWritableError, StoreBusyError

MAX_WAITING = 4096  # requests
MAX_TOGETHER = 512  # requests in one transaction

Result = TypeVar("Result")


class _Request(NamedTuple):
    work: Callable[[Any], Any]
    future: Future[Any]


class Writer:
    """A thread with the connection that writes.

    Each request is a function of the connection. Those that wait are run one after another in one transaction: if one
    raises, what it has written is taken back, and the others are not affected. Results are set after the commit.

    Parameters
    ----------
    connection : apsw.Connection

    Attributes
    ----------
    why_not : str or None
        Why nothing can be written until the service is started anew; None where it can.
    """

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self._waiting: queue.Queue[_Request | None] = queue.Queue()
        self.why_not: str | None = None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    @property
    def n_waiting(self) -> int:
        """Number of requests waiting to be written."""
        return self._waiting.qsize()

    def submit(self, work: Callable[[Any], Result], *, may_wait: bool = False) -> Future[Result]:
        """Return the future result of some work, which is on the disk once it is there.

        With `may_wait` there is no limit to how many requests wait: for work of the service itself.
        """
        if self.why_not is not None:
            raise NotWritableError(self.why_not)
        if not may_wait and self.n_waiting >= MAX_WAITING:
            raise StoreBusyError("Too many requests wait to be written: send this one again in a moment.")
        future: Future[Result] = Future()
        self._waiting.put(_Request(work, future))
        return future

    def close(self) -> None:
        """Complete pending writes, and close the connection."""
        self._waiting.put(None)
        self._thread.join()
        close(self._connection)

    def _run(self) -> None:
        while (batch := self._next_batch()) is not None:
            if batch:
                self._write(batch)

    def _next_batch(self) -> list[_Request] | None:
        """Return the requests that wait, at least one; None at the end."""
        first = self._waiting.get()
        if first is None:
            return None
        batch = [first]
        while len(batch) < MAX_TOGETHER:
            try:
                request = self._waiting.get_nowait()
            except queue.Empty:
                break
            if request is None:
                self._waiting.put(None)
                break
            batch.append(request)
        return batch

    def _write(self, batch: list[_Request]) -> None:
        connection, done = self._connection, list[tuple[_Request, Any]]()
        if self.why_not is not None:
            _fail(batch, NotWritableError(self.why_not))
            return
        try:
            connection.execute("BEGIN IMMEDIATE")
            for request in batch:
                if not request.future.set_running_or_notify_cancel():
                    continue
                connection.execute("SAVEPOINT request")
                try:
                    done.append((request, request.work(connection)))
                except Exception as error:
                    if isinstance(error, sqlite().Error) and not isinstance(error, sqlite().ConstraintError):
                        raise
                    connection.execute("ROLLBACK TO request")
                    request.future.set_exception(error)
                connection.execute("RELEASE request")
            connection.execute("COMMIT")
        except Exception as error:
            with suppress(sqlite().Error):
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
            _fail(batch, self._why(error))
            return
        for request, result in done:
            request.future.set_result(result)

    def _why(self, error: Exception) -> Exception:
        """Return the error that users get; after a failure of the disk, nothing more is written."""
        apsw = sqlite()
        if isinstance(error, apsw.FullError):
            return NotWritableError(
                "The disk of the store is full: nothing of this request was kept. Free some space, and send it again."
            )
        if isinstance(error, apsw.CorruptError | apsw.NotADBError):
            self.why_not = f"The store is damaged ({error}): run sslart serve DIR --verify, and restore a backup."
            return DamagedError(self.why_not)
        if isinstance(error, apsw.ReadOnlyError | apsw.CantOpenError | apsw.IOError | apsw.AuthError):
            # after a failed sync the system may have dropped what it could not write: only a new start reads the truth
            self.why_not = (
                f"The disk of the store cannot be written ({error}): correct the cause, and start the service again."
            )
            return NotWritableError(
                f"{self.why_not} It is not known whether this request was kept: repeat it with its Idempotency-Key."
            )
        return error


def _fail(batch: list[_Request], error: Exception) -> None:
    for future in (request.future for request in batch):
        if not future.done() and (future.running() or future.set_running_or_notify_cancel()):
            future.set_exception(error)
