"""A hosted model: a thread that learns from its journal, and the last published state."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from itertools import takewhile
from typing import Any

from sslart._utils.resources import stop_flag
from sslart._utils.stopping import StoppedError, stopped_by
from sslart.persistence import model_bytes
from sslart.server.models._events import Events
from sslart.server.models._published import Published
from sslart.server.models._replica import Fitted, FittedRows, ReadRows, Replica, fit, imported_model, restored
from sslart.server.models._settings import Limits, ModelSettings
from sslart.server.models._transactions import Target
from sslart.server.store import Store
from sslart.server.store._database import DamagedError, NotWritableError, StoreError, sqlite
from sslart.server.store._files import remove_snapshot, snapshots, write_snapshot
from sslart.server.store._journal import (
    CANCELLED,
    DONE,
    FAILED,
    FIT,
    WAITING,
    ModelRow,
    Record,
    end_job,
    job,
    n_rows_before,
    records,
)
from sslart.server.store._labels import compact_some

STARTING, READY = "starting", "ready"
DAMAGED, FAILED_STATE = "damaged", "failed"  # the journal cannot be read; an error in learning
MAX_HANDED_ON = 10_000  # converted rows waiting in memory; further ones are read from the journal
SECONDS_TO_WAIT = 1.0
SECONDS_BETWEEN_TRIES = 2.0
SECONDS_BETWEEN_GROUPS = 0.02  # rows are learnt in batches: learning each alone would slow down all requests

logger = logging.getLogger("sslart.server")


class HostedModel:
    """A model with a thread that learns the records of its journal."""

    def __init__(self, store: Store, row: ModelRow, events: Events, limits: Limits) -> None:
        self.id, self.name, self.created = row.id, row.name, row.created
        self.settings = ModelSettings.model_validate(row.settings)  # for new requests
        self._store, self._events, self._limits = store, events, limits
        self.published: Published | None = None  # read by requests; None before anything was learnt
        self.fitted_rows: FittedRows | None = None  # rows of the last fit, until they are taken
        # called in a thread of its own after each fit, and once the model is ready
        self.when_fitted: Callable[[HostedModel], None] | None = None
        self.state = STARTING
        self.problem: str | None = None  # reason why the model stopped learning
        self.accepted, self.applied = row.last_sequence, 0  # the last records accepted, and learnt
        self.n_rows, self.n_rows_applied = row.n_rows, 0
        self._accepted_before, self._is_compacted = row.last_sequence, row.compacted_through > 0
        self.n_learnt = self.n_rejected = self.n_drifts = 0
        self.busy_with: dict[str, Any] | None = None
        self._changed = threading.Condition()
        self._waiting: list[tuple[int, Future[None]]] = []
        self._read_rows: dict[int, tuple[bytes, ReadRows]] = {}
        self._stopping, self._stop_fit, self._snapshot_wanted = False, stop_flag(), list[Future[Published | None]]()
        self._n_unsaved, self._saved_at, self._saved, self._has_ended = 0, time.monotonic(), 0, False
        self._thread = threading.Thread(target=self._run, name=f"learn {self.name}", daemon=True)

    def target(self, actor: str) -> Target:
        """Return the model as the target of a request."""
        return Target(self.id, self.name, actor)

    def start(self) -> None:
        """Start learning from the journal."""
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current record and store a snapshot; an interrupted fit restarts later."""
        with self._changed:
            self._stopping = True
            self._stop_fit[0] = 1
            self._changed.notify_all()
        self._thread.join()

    def accept(self, record: Record) -> None:
        """Register a new record of the journal."""
        with self._changed:
            self.accepted = max(self.accepted, record.sequence)
            self.n_rows = max(self.n_rows, record.first_row + record.n_rows)
            self._changed.notify_all()

    def keep_read(self, read: ReadRows, record: Record) -> None:
        """Keep the converted rows of a record until they are learnt, unless there are many."""
        with self._changed:
            if sum(len(one.table) for _, one in self._read_rows.values()) < MAX_HANDED_ON:
                self._read_rows[record.sequence] = record.payload, read

    def _read_by_request(self, record: Record) -> ReadRows | None:
        """Return the converted rows of a record; a rolled-back record may have had the same number."""
        payload, read = self._read_rows.get(record.sequence, (b"", None))
        return read if payload == record.payload else None

    def adopt(self, settings: ModelSettings, sequence: int) -> None:
        """Use the settings of a record for new requests until the record is learnt or fails."""
        with self._changed:
            if sequence > self.applied:
                self.settings = settings

    def check_restored(self) -> None:
        """Raise a StoreError while the model is still being restored after a start."""
        if self.state == STARTING and self.published is None and self._accepted_before > 1:
            raise StoreError(f"The model {self.name!r} is being restored: send this request again in a moment.")

    @property
    def backlog(self) -> int:
        """Number of rows and records accepted but not yet learnt."""
        return (self.n_rows - self.n_rows_applied) + (self.accepted - self.applied)

    def when_applied(self, sequence: int) -> Future[None]:
        """Return a future that completes when a record has been learnt and published, or never can be."""
        future: Future[None] = Future()
        with self._changed:
            if self.applied >= sequence or self._has_ended:
                future.set_result(None)
            else:
                self._waiting.append((sequence, future))
                self._changed.notify_all()
        return future

    def want_snapshot(self) -> Future[Published | None]:
        """Request a snapshot; return a future of the published state it stored."""
        future: Future[Published | None] = Future()
        with self._changed:
            if self._has_ended:
                future.set_exception(self._why_ended())
            else:
                self._snapshot_wanted.append(future)
                self._changed.notify_all()
        return future

    def cancel_fit(self, sequence: int) -> None:
        """Stop the running fit of a record, which is already marked as cancelled in the database."""
        if self.busy_with is not None and self.busy_with["sequence"] == sequence:
            self._stop_fit[0] = 1

    def _run(self) -> None:
        try:
            replica = self._restored()
            self._saved, self.applied = replica.sequence, replica.sequence
            self.n_rows_applied = n_rows_before(self._store.reader(), self.id, replica.sequence + 1)
            self._publish(replica)
            self._follow(replica)
            if self._n_unsaved and self.problem is None:
                self._snapshot(replica)
        except DamagedError as error:
            self._fail(DAMAGED, str(error))
        except NotWritableError as error:
            self._fail(FAILED_STATE, str(error))
        except Exception as error:
            logger.exception("learning has stopped", extra={"model": self.name})
            self._fail(FAILED_STATE, f"Learning stopped after an error ({type(error).__name__}): see the log.")
        finally:
            self._wake_all()

    def _fail(self, state: str, problem: str) -> None:
        self.state, self.problem = state, problem
        logger.error(problem, extra={"model": self.name})
        self._events.publish("state", self.name, {"state": state, "problem": problem})

    def _restored(self) -> Replica:
        """Return the model of the newest intact snapshot, or an unfitted one."""
        connection, damaged = self._store.reader(), list[int]()
        for snapshot in snapshots(connection, self.id):
            try:
                if snapshot.sequence > self._accepted_before:
                    raise DamagedError(f"A snapshot is of record {snapshot.sequence}, which does not exist.")
                found = restored(connection, snapshot)
                self._remove_snapshots(damaged)
                return found
            except DamagedError as error:
                logger.error(str(error), extra={"model": self.name})
                damaged.append(snapshot.id)
            except ValueError as error:
                logger.error(str(error), extra={"model": self.name})
        if not self._is_compacted:
            self._remove_snapshots(damaged)
        return Replica(self.settings)  # the first record has the original settings

    def _remove_snapshots(self, damaged: list[int]) -> None:
        """Remove damaged snapshots that are not needed: they would count towards those that are kept."""
        for number in damaged:
            with suppress(StoreError):
                self._store.submit_own(partial(remove_snapshot, snapshot=number)).result()

    def _follow(self, replica: Replica) -> None:
        connection = self._store.reader()
        while not self._stopping:
            some = records(connection, self.id, replica.sequence, self._limits.group_rows)
            if some:
                self._apply(replica, some)
            if self.state == STARTING and replica.sequence >= self._accepted_before:
                self.state = READY
                self._events.publish("state", self.name, {"state": READY, "sequence": replica.sequence})
            self._snapshot_if_due(replica, idle=not some)
            with self._changed:
                if some:
                    self._changed.wait_for(self._is_awaited, SECONDS_BETWEEN_GROUPS)
                elif self.accepted <= replica.sequence and not self._stopping and not self._snapshot_wanted:
                    self._changed.wait(SECONDS_TO_WAIT)

    def _is_awaited(self) -> bool:
        """Return True if a caller waits for rows to be learnt, or if enough rows have accumulated for a batch."""
        many = self.backlog >= self._limits.group_rows
        return many or self._stopping or bool(self._waiting or self._snapshot_wanted)

    def _apply(self, replica: Replica, given: list[Record]) -> None:
        """Learn records up to the next fit, so that the result is published before a long fit."""
        some = list(takewhile(lambda one: one is given[0] or one.kind != FIT, given))
        n_learnt, n_rejected = replica.n_learnt, replica.n_rejected
        try:
            imported = partial(imported_model, self._store.reader())
            for last in replica.apply(some, self._fitted, imported, self._read_by_request):
                self.n_rows_applied = last.first_row + last.n_rows
                self.accept(last)  # also if the request that wrote it ended early
                self._n_unsaved += 1
                if self._stopping:
                    break
        except StoppedError:
            if not self._stopping:
                raise
        self.n_learnt += replica.n_learnt - n_learnt
        self._n_unsaved += replica.n_learnt - n_learnt
        if n_new := replica.n_rejected - n_rejected:
            self.n_rejected += n_new
            logger.warning("%d rows could not be learnt", n_new, extra={"model": self.name})
            self._events.publish("rejected", self.name, {"rows": n_new})
        self._publish(replica)

    def _publish(self, replica: Replica) -> None:
        before = self.published
        if replica.model is not None and (before is None or before.sequence != replica.sequence):
            published = Published(replica.model, replica.sequence, replica.settings)
            published.warm()
            self.published = published
            drifts = [] if before is None else published.model.drift_[len(before.model.drift_) :]
            self.n_drifts += len(drifts)
            for drift in drifts:
                self._events.publish("drift", self.name, drift.to_dict("row"))
            self._events.publish("learnt", self.name, {"sequence": published.sequence}, keep=False)
            if self.when_fitted is not None and (before is None or self.fitted_rows is not None):
                threading.Thread(target=self.when_fitted, args=(self,), name="fitted", daemon=True).start()
        with self._changed:
            self.applied = replica.sequence
            self._read_rows = {number: one for number, one in self._read_rows.items() if number > self.applied}
            if self.accepted <= self.applied:
                self.settings = replica.settings  # the settings of a failed fit are discarded
            done = [future for sequence, future in self._waiting if sequence <= self.applied]
            self._waiting = [one for one in self._waiting if one[0] > self.applied]
        for future in done:
            _resolve(future, None)

    def _fitted(self, record: Record) -> Any:
        """Run a record of kind fit, and return its result; None if it fails or is cancelled."""
        row = job(self._store.reader(), self.id, record.sequence)
        if row is None or row.state in (CANCELLED, FAILED):
            return None
        self.busy_with = {"sequence": record.sequence, "step": "reading", "share": 0.0, "since": time.time()}
        self._stop_fit = stop_flag()
        if self._stopping:
            raise StoppedError
        fitted: Fitted | None = None
        try:
            with stopped_by(self._stop_fit):
                found = fit(self._store.reader(), record, self._progress)
            content = model_bytes(found.model)
            if row.state == DONE:  # repeated, since its snapshot is lost
                fitted = found
            elif self._retried(lambda: self._keep_fit(record, found, content)):
                fitted = found
                self.fitted_rows = found.rows if self._limits.keep_samples else None
                self._saved, self._n_unsaved, self._saved_at = record.sequence, 0, time.monotonic()
        except StoppedError:
            if self._stopping:
                raise
        except (NotWritableError, sqlite().Error):
            raise
        except Exception as error:
            if row.state == DONE:
                raise  # repeated after damage: without it, the model would differ
            outcome = {"error": self._why_failed(error)}
            end = partial(end_job, model=self.id, sequence=record.sequence, state=FAILED, outcome=outcome)
            self._retried(lambda: self._store.submit_own(end).result())
        finally:
            self.busy_with = None
        row = job(self._store.reader(), self.id, record.sequence)
        if row is not None and row.state != WAITING:
            self._events.publish("job", self.name, {"sequence": record.sequence, "state": row.state})
        return None if fitted is None else fitted.model

    def _why_failed(self, error: Exception) -> str:
        """Return the reason of a failed fit for the user; unexpected errors are logged."""
        if isinstance(error, MemoryError):
            return "There is not enough memory."
        if isinstance(error, ValueError | TypeError | DamagedError):
            return str(error)
        logger.error("a fit has failed", extra={"model": self.name}, exc_info=error)
        return f"Internal error ({type(error).__name__}): see the log of the service."

    def _progress(self, step: str, share: float) -> None:
        stop_flag()  # ends the fit here where it was cancelled
        assert self.busy_with is not None
        before = self.busy_with
        self.busy_with = {**before, "step": step, "share": round(share, 3)}
        if step != before["step"] or share - before["share"] >= 0.05:
            self._events.publish("job", self.name, {"state": "running", **self.busy_with})

    def _keep_fit(self, record: Record, fitted: Fitted, content: bytes) -> bool:
        """Store a fitted model together with the outcome of the fit."""
        end = partial(end_job, model=self.id, sequence=record.sequence, state=DONE, outcome=fitted.outcome)
        settings = record.content()["settings"]
        return write_snapshot(self._store.submit_own, self.id, record.sequence, content, settings, end)

    def _retried(self, write: Callable[[], bool]) -> bool:
        """Return the result of a write; while the disk is full, retry until it succeeds or the service stops."""
        while True:
            try:
                return write()
            except NotWritableError as error:
                if self._store.why_not_writable is not None:
                    raise  # nothing can be written until the next start
                logger.warning("%s", error, extra={"model": self.name})
                with self._changed:
                    if not self._stopping:
                        self._changed.wait(SECONDS_BETWEEN_TRIES)
                    if self._stopping:
                        raise StoppedError from error

    def _snapshot_if_due(self, replica: Replica, *, idle: bool) -> None:
        limits = self._limits
        age = time.monotonic() - self._saved_at
        due = self._n_unsaved >= limits.snapshot_rows or (self._n_unsaved and age >= limits.snapshot_seconds)
        wanted = self._snapshot_wanted if idle or due else []
        if due or wanted:
            error = self._snapshot(replica)
            with self._changed:
                asked, self._snapshot_wanted = self._snapshot_wanted, []
            for future in asked:
                _resolve(future, self.published, error)

    def _snapshot(self, replica: Replica) -> StoreError | None:
        """Store a snapshot and remove obsolete records; return the error if the store cannot be written."""
        self._saved_at = time.monotonic()
        try:
            if replica.model is not None and replica.sequence > self._saved:
                published = self.published
                assert published is not None
                settings = published.settings.model_dump(mode="json")
                write_snapshot(self._store.submit_own, self.id, published.sequence, published.content(), settings)
                self._saved, self._n_unsaved = published.sequence, 0
            compact = partial(compact_some, model=self.id, keep_rows=self._limits.keep_rows)
            while self._store.submit_own(compact).result():
                pass
        except StoreError as error:
            logger.warning("no snapshot: %s", error, extra={"model": self.name})
            return error
        return None

    def _wake_all(self) -> None:
        """Complete all pending futures when the thread has ended."""
        with self._changed:
            self._has_ended = True
            waiting, self._waiting = self._waiting, []
            wanted, self._snapshot_wanted = self._snapshot_wanted, []
        for _, future in waiting:
            _resolve(future, None)
        for asked in wanted:
            _resolve(asked, None, self._why_ended())

    def _why_ended(self) -> StoreError:
        return StoreError(self.problem or "The model was deleted, or the service is stopping.")


def _resolve(future: Future[Any], result: Any, error: Exception | None = None) -> None:
    """Set the outcome of a future, unless its caller has given up."""
    if future.set_running_or_notify_cancel():
        if error is None:
            future.set_result(result)
        else:
            future.set_exception(error)
