"""Registry of all models of a service: the interface between the store and the HTTP API."""

from __future__ import annotations

import asyncio
import ctypes
import logging
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial, wraps
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sslart.server._logging import leave_warnings, take_warnings
from sslart.server.models import _transactions as transactions
from sslart.server.models._events import Events
from sslart.server.models._hosted import HostedModel
from sslart.server.models._published import Published, as_class, first_samples
from sslart.server.models._replica import ReadRows
from sslart.server.models._settings import Learning, Limits, ModelSettings, check_name
from sslart.server.models._stored_rows import FoundRow, RowFinder, StoredRows, store_file
from sslart.server.models._transactions import ConflictError, Key, NoSuchModelError, Work, Written
from sslart.server.store import Store
from sslart.server.store._database import NotWritableError, StoreBusyError, StoreError
from sslart.server.store._files import is_from_file, remove_unused
from sslart.server.store._journal import LAST, audit, models
from sslart.server.store._labels import set_property
from sslart.server.studies._samples import LoadedSamples, SampleCache

FEW_ROWS = 64  # predicted in about a millisecond

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")
SETTABLE = ("abstain_below", "max_error", "confidence", "search_depth", "quorum", "decision_costs", "half_life")
MAX_ROWS_TOLD = 1000  # row numbers in an event
SECONDS_BETWEEN_CLEANING = 3600.0
SECONDS_BETWEEN_TRIMS = 20.0
logger = logging.getLogger("sslart.server")


def to_the_end(
    method: Callable[Arguments, Coroutine[Any, Any, Result]],
) -> Callable[Arguments, Coroutine[Any, Any, Result]]:
    """Run a method to completion even if its request is cancelled, so that models learn every committed record."""

    @wraps(method)
    async def shielded(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return await asyncio.shield(method(*args, **kwargs))

    return shielded


async def soon(work: Callable[[], Result], n_rows: int) -> Result:
    """Run work on few rows directly, on many rows in a thread, so that other requests do not wait."""
    return work() if n_rows <= FEW_ROWS else await asyncio.to_thread(work)


def give_memory_back() -> None:
    """Return free memory to the system with malloc_trim, if the C library is glibc."""
    with suppress(AttributeError, TypeError, OSError):  # no glibc
        ctypes.CDLL(None).malloc_trim(0)


class BacklogError(StoreBusyError):
    """Raised if too many rows wait to be learnt."""

    def __init__(self, seconds: int) -> None:
        super().__init__("Too many rows wait to be learnt: send this request again later.")
        self.seconds = seconds


class Registry:
    """The models of a store."""

    def __init__(self, store: Store, limits: Limits | None = None) -> None:
        self.store, self.limits, self.events = store, limits or Limits(), Events()
        self._models: dict[str, HostedModel] = {}
        self._rows, self._samples = RowFinder(), SampleCache()
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._cleaner = threading.Thread(target=self._clean, name="clean", daemon=True)

    def start(self) -> None:
        """Start all models."""
        take_warnings()
        self.store.remove_unfinished()
        for row in models(self.store.reader()):
            self._host(HostedModel(self.store, row, self.events, self.limits))
        self._cleaner.start()

    def stop(self) -> None:
        """Stop learning, store snapshots, and close the store."""
        self._end.set()
        for hosted in self.models():
            hosted.stop()
        self._cleaner.join()
        self.store.close()
        leave_warnings()

    def _clean(self) -> None:
        """Remove obsolete data at regular intervals, and give free memory back to the system more often."""
        due = 0.0
        while not self._end.is_set():
            if time.monotonic() >= due:
                self._purge()
                due = time.monotonic() + SECONDS_BETWEEN_CLEANING
            give_memory_back()
            self._end.wait(SECONDS_BETWEEN_TRIMS)

    def _purge(self) -> None:
        try:
            self.store.purge()
        except StoreError as error:  # such as a full disk: the next time it may have space
            logger.warning("no cleanup: %s", error)
        except Exception:
            logger.exception("nothing is cleaned")

    def _host(self, hosted: HostedModel) -> None:
        with self._lock:
            self._models[hosted.name] = hosted
        if self.limits.keep_samples:
            hosted.when_fitted = self._prepare
        hosted.start()

    def _prepare(self, hosted: HostedModel) -> None:
        """Compute the positions of samples on the map in advance."""
        try:
            _ = self.samples(hosted).positions
        except Exception:
            if not self._end.is_set():  # requests for the map get the reason
                logger.warning("samples could not be prepared", extra={"model": hosted.name}, exc_info=True)

    def models(self) -> list[HostedModel]:
        """Return all models by name."""
        return [one for _, one in sorted(self._models.items())]

    def model(self, name: str) -> HostedModel:
        """Return a model, or raise a NoSuchModelError."""
        found = self._models.get(name)
        if found is None:
            raise NoSuchModelError(f"There is no model {name!r}.")
        return found

    @property
    def is_ready(self) -> bool:
        """True if all models have replayed the journals found at the start."""
        return all(one.state != "starting" for one in self.models())

    async def write(self, hosted: HostedModel, work: Work, key: Key | None = None) -> Written:
        """Write a request to the database; return when it is on disk."""
        done = partial(transactions.do_once, model=hosted.id, key=key, work=work)
        written = await asyncio.wrap_future(self.store.submit(done))
        for record in written.records:
            hosted.accept(record)
        return written

    def _before(self, hosted: HostedModel, key: Key | None) -> Written | None:
        """Return the response to an earlier request with the same key, whatever the state of the model now."""
        return None if key is None else transactions.written_before(self.store.reader(), hosted.id, key)

    def check_learns(self, hosted: HostedModel) -> None:
        """Raise an error if a model has stopped learning, is being restored, or has too large a backlog."""
        if hosted.problem is not None:
            raise NotWritableError(hosted.problem)
        hosted.check_restored()
        if hosted.backlog >= self.limits.max_backlog:
            raise BacklogError(seconds=5)

    def check_has_its_rows(self, hosted: HostedModel) -> None:
        """Raise a ConflictError if a fit would lose data learnt before the model was imported."""
        if is_from_file(self.store.reader(), hosted.id):
            raise ConflictError(
                f"The model {hosted.name!r} was imported from a file without its training rows: a refit would lose "
                "them. Send more rows to learn, or create a new model from a table with all rows."
            )

    @to_the_end
    async def create(self, name: str, settings: ModelSettings, actor: str) -> HostedModel:
        """Create an unfitted model."""
        check_name(name)
        settings.new_estimator()
        if len(self._models) >= self.limits.max_models:
            raise ConflictError(f"The limit of {len(self._models)} models is reached: delete one first.")
        work = partial(transactions.create, name=name, settings=settings, actor=actor)
        number, written = await asyncio.wrap_future(self.store.submit(work))
        row = next(one for one in models(self.store.reader()) if one.id == number)
        hosted = HostedModel(self.store, row, self.events, self.limits)
        self._host(hosted)
        for record in written.records:
            hosted.accept(record)
        return hosted

    def check_empty(self, hosted: HostedModel) -> None:
        """Raise a ConflictError if a model has any data other than tables that could not be learnt."""
        if not transactions.is_empty(self.store.reader(), hosted.id):
            raise ConflictError(f"There is already a model named {hosted.name!r}: send rows to it, or delete it first.")

    @to_the_end
    async def delete(self, hosted: HostedModel, actor: str, *, only_empty: bool = False) -> None:
        """Delete a model; with `only_empty`, raise a ConflictError if it has data."""
        work = partial(transactions.delete, to=hosted.target(actor), only_empty=only_empty)
        await asyncio.wrap_future(self.store.submit(work))
        with self._lock:
            self._models.pop(hosted.name, None)
        await asyncio.to_thread(hosted.stop)
        self._samples.forget(hosted.id)
        threading.Thread(target=self._purge, name="purge", daemon=True).start()
        self.events.publish("state", hosted.name, {"state": "deleted"})

    def upload(self, path: Path, encoding: str | None = None, named: Sequence[str] = ()) -> tuple[int, bool]:
        """Store an uploaded file; return its number, and whether it is a model file.

        A table must have the columns named in the settings.
        """
        return store_file(self.store, path, encoding, named, self.limits.max_table_cells)

    async def add_upload(
        self, hosted: HostedModel, upload: int, is_model: bool, actor: str, key: Key | None = None
    ) -> Written:
        """Refit a model to an uploaded table and all other rows, or replace it by an uploaded model file."""
        work: Work = partial(transactions.add_model_file, to=hosted.target(actor), upload=upload)
        if not is_model:
            work = partial(
                transactions.add_table,
                to=hosted.target(actor),
                upload=upload,
                settings=hosted.settings,
                keep_rows=self.limits.keep_rows,
            )
        written = await self.write(hosted, work, key)
        if written.is_again:
            self.store.submit_own(lambda connection: remove_unused(connection, upload))
        return written

    async def learn(
        self,
        hosted: HostedModel,
        rows: Sequence[dict[str, Any]],
        labels: Sequence[Any] | None,
        ids: Sequence[str] | None,
        actor: str,
        key: Key | None,
        policy: Learning | None = None,
    ) -> Written:
        """Store rows to be learnt; with a policy, predict them, and learn those selected by it or labelled.

        Rows are converted once, to be predicted and learnt, unless the columns of the model change in between.
        """
        if (before := self._before(hosted, key)) is not None:
            return before
        self.check_learns(hosted)
        self.check_rows(rows)
        if ids is not None and (len(ids) != len(rows) or len(set(ids)) < len(ids)):
            raise ValueError(f"There are {len(ids)} ids for {len(rows)} rows: give one unique ID for each row.")
        published = hosted.published if policy is None else self.published(hosted)

        def prepared() -> Work:
            plain, classes = self._labelled(hosted, rows, labels)
            content: dict[str, Any] = {"rows": plain} if classes is None else {"rows": plain, "labels": classes}
            if published is None:
                first_samples(plain, hosted.settings)
                return transactions.learn(hosted.target(actor), content, ids)
            if policy is not None:
                published.check_has_label()
            table = published.reader.table(plain)
            if policy is not None:
                decisions = published.plain(published.predict_table(table))
                given = classes or [None] * len(plain)
                pairs = zip(decisions, given, strict=True)
                content["learn"] = [label is not None or policy.takes(is_novel=one["novel"]) for one, label in pairs]
                content["decisions"] = decisions
            read = ReadRows(content, table, published.reader.columns)
            return transactions.learn(hosted.target(actor), content, ids, partial(hosted.keep_read, read))

        return await self.write(hosted, await soon(prepared, len(rows)), key)

    def check_rows(self, rows: Sequence[Any]) -> None:
        """Raise a ValueError if a request has too many rows."""
        if len(rows) > self.limits.max_rows:
            raise ValueError(
                f"There are {len(rows)} rows, but the limit is {self.limits.max_rows}: send fewer at once."
            )

    def _labelled(
        self, hosted: HostedModel, rows: Sequence[dict[str, Any]], labels: Sequence[Any] | None
    ) -> tuple[list[dict[str, Any]], list[Any] | None]:
        """Return rows without their label, and the labels as classes of the model."""
        name = hosted.settings.label
        if labels is None and name is not None and any(name in row for row in rows):
            labels = [row.get(name) for row in rows]
        if name is not None:
            rows = [{column: cell for column, cell in row.items() if column != name} for row in rows]
        if labels is None:
            return list(rows), None
        if len(labels) != len(rows):
            raise ValueError(f"There are {len(labels)} labels for {len(rows)} rows: give one for each, null for none.")
        found = self.classes(hosted, labels)
        self._check_groups(hosted, rows, found)
        return list(rows), found

    @staticmethod
    def classes(hosted: HostedModel, labels: Sequence[Any]) -> list[Any]:
        """Return labels of a request as classes of a model."""
        classes = None if hosted.published is None else hosted.published.view.classes
        return [as_class(one, classes) for one in labels]

    @staticmethod
    def _check_groups(hosted: HostedModel, rows: Sequence[dict[str, Any]], labels: Sequence[Any]) -> None:
        group = hosted.settings.group
        if group is None:
            return
        for number, (row, label) in enumerate(zip(rows, labels, strict=True), start=1):
            if label is not None and row.get(group) in (None, ""):
                raise ValueError(f"Row {number} has a label but no {group!r}: give the group of each labelled row.")

    async def decide(
        self,
        hosted: HostedModel,
        rows: Sequence[dict[str, Any]],
        ids: Sequence[str] | None,
        learning: Learning | None,
        actor: str,
        key: Key | None,
    ) -> Written:
        """Predict rows and store them with their predictions, so that they can be labelled later."""
        policy = learning or hosted.settings.learn
        written = await self.learn(hosted, rows, None, ids, actor, key, policy)
        if not written.is_again:
            for row, decision in zip(written.answer["rows"], written.answer["decisions"], strict=True):
                self.events.publish("decision", hosted.name, {"row": row, **decision}, keep=False)
        return written

    def published(self, hosted: HostedModel) -> Published:
        """Return the last published state of a model, or raise an error if it has learnt nothing."""
        if hosted.published is None:
            hosted.check_restored()
            raise ConflictError(f"The model {hosted.name!r} is not fitted yet: send a table, or rows to learn.")
        return hosted.published

    async def label(
        self,
        hosted: HostedModel,
        given: Sequence[tuple[int | str, Any, bool]],
        actor: str,
        key: Key | None,
        *,
        together: bool = False,
    ) -> Written:
        """Label stored rows, each with whether it was drawn at random; `together`: one answer about similar rows."""
        if (before := self._before(hosted, key)) is not None:
            return before
        self.check_learns(hosted)
        self.check_rows(given)
        labels = self.classes(hosted, [label for _, label, _ in given])
        rows = await asyncio.to_thread(self.rows, hosted, [which for which, *_ in given])
        self._check_groups(hosted, [one.cells for one in rows], labels)
        new = list(map(transactions.NewLabel, rows, labels, [at_random for *_, at_random in given]))
        work = partial(transactions.label, to=hosted.target(actor), given=new, together=together)
        written = await self.write(hosted, work, key)
        if not written.is_again:
            told = {"sequence": written.answer["sequence"], "rows": written.answer["rows"][:MAX_ROWS_TOLD], "by": actor}
            self.events.publish("labels", hosted.name, told)
        return written

    async def refit_by_labels(self, hosted: HostedModel, written: Written, actor: str) -> int | None:
        """Refit if labels were changed, or if there are many new ones since the last fit; return the job."""
        if not transactions.leads_to_fit(self.store.reader(), hosted.id, hosted.n_rows, written):
            return None
        found: int = (await self.refit(hosted, {}, actor, None, by_labels=True)).answer["sequence"]
        return found

    def rows(self, hosted: HostedModel, which: Sequence[int | str]) -> list[FoundRow]:
        """Return stored rows of a model."""
        return self._rows.find(self.store.reader(), hosted.id, hosted.settings, which)

    def stored_rows(self, hosted: HostedModel, settings: ModelSettings, before: int = LAST) -> StoredRows:
        """Return the rows stored before a record, read by the connection of this thread."""
        limit = self.limits.keep_rows
        return StoredRows(self.store.reader(), hosted.id, before, hosted.n_rows, limit, settings)

    def samples(self, hosted: HostedModel) -> LoadedSamples:
        """Return all rows of a model as samples; those of a large model take some time."""
        published = self.published(hosted)
        found = self._samples.samples(self.stored_rows(hosted, published.settings), published, hosted.fitted_rows)
        hosted.fitted_rows = None
        return found

    @to_the_end
    async def refit(
        self, hosted: HostedModel, changes: dict[str, Any], actor: str, key: Key | None, *, by_labels: bool = False
    ) -> Written:
        """Refit a model to all its rows, optionally with new settings."""
        if (before := self._before(hosted, key)) is not None:
            return before
        self.check_learns(hosted)
        self.check_has_its_rows(hosted)
        settings = ModelSettings.model_validate({**hosted.settings.model_dump(mode="json"), **changes})
        settings.new_estimator()
        to, keep_rows = hosted.target(actor), self.limits.keep_rows
        work = partial(transactions.refit, to=to, settings=settings, keep_rows=keep_rows, by_labels=by_labels)
        written = await self.write(hosted, work, key)
        hosted.adopt(settings, written.answer["sequence"])
        return written

    @to_the_end
    async def set_parameters(self, hosted: HostedModel, parameters: dict[str, Any], actor: str) -> Written:
        """Change parameters that need no fit."""
        self.check_learns(hosted)
        other = [name for name in parameters if name not in SETTABLE]
        if other:
            raise ValueError(f"{other[0]!r} cannot be changed without a refit; these can: {', '.join(SETTABLE)}.")
        settings = hosted.settings.model_copy(update={"parameters": {**hosted.settings.parameters, **parameters}})
        settings.new_estimator()
        if hosted.published is not None:
            hosted.published.check_parameters(parameters)
        to = hosted.target(actor)
        work = partial(transactions.set_parameters, to=to, settings=settings, parameters=parameters)
        written = await self.write(hosted, work)
        hosted.adopt(settings, written.answer["sequence"])
        return written

    @to_the_end
    async def set_property(self, hosted: HostedModel, key: str, value: Any) -> None:
        """Store a property of a model; None removes it."""
        work = partial(set_property, model=hosted.id, key=key, value=value)
        await asyncio.wrap_future(self.store.submit(work))
        self.events.publish("properties", hosted.name, {"key": key})

    @to_the_end
    async def cancel(self, hosted: HostedModel, sequence: int, actor: str) -> bool:
        """Cancel a fit; return False if it had already ended."""
        work = partial(transactions.cancel, to=hosted.target(actor), sequence=sequence)
        is_cancelled = await asyncio.wrap_future(self.store.submit(work))
        if is_cancelled:
            hosted.cancel_fit(sequence)
        return is_cancelled

    async def note_in_audit(self, actor: str, action: str, model: str, detail: dict[str, Any]) -> None:
        """Add an entry to the audit log."""
        work = partial(audit, actor=actor, action=action, model=model, detail=detail)
        await asyncio.wrap_future(self.store.submit_own(work))
