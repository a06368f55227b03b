"""The samples of the models that were asked about last, kept in memory."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Any

from sslart.server.models._published import Published
from sslart.server.models._stored_rows import Before
from sslart.server.models._training import FittedRows
from sslart.server.samples._loaded import LoadedSamples
from sslart.server.samples._table import read_rows, rows_of_fit
from sslart.server.store._jobs import last_fit

MAX_MODELS = 3


class SampleCache:
    """A cache of the samples of few models, loaded on demand and extended by new rows."""

    def __init__(self) -> None:
        self._loaded: OrderedDict[int, LoadedSamples] = OrderedDict()
        self._locks: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()

    def samples(
        self,
        connection: Any,
        model: int,
        n_rows: int,
        published: Published,
        keep_rows: int,
        fitted: FittedRows | None = None,
    ) -> LoadedSamples:
        """Return the samples of a model.

        Parameters
        ----------
        connection : apsw.Connection
        model : int
        n_rows : int
            How many rows the model was given.
        published : Published
            The model as it was last published.
        keep_rows : int
            Of rows without a label, so many are kept.
        fitted : FittedRows, default=None
            All rows as the last fit has read them, where they are at hand.
        """
        with self._lock:
            own = self._locks.setdefault(model, threading.Lock())
        with own:
            fit = last_fit(connection, model, published.sequence)
            found = self._loaded.get(model)
            if fitted is not None and fitted.sequence == fit and (found is None or found.fit != fit):
                old = None if found is None or not found.samples.reads_as(published) else found.projection
                found = LoadedSamples(rows_of_fit(fitted, published), fit, old)
            if found is None or found.fit != fit or found.samples.n_given != n_rows:
                found = self._read(connection, Before(model, 2**62, n_rows), keep_rows, published, fit, found)
            with self._lock:
                self._loaded[model] = found
                self._loaded.move_to_end(model)
                while len(self._loaded) > MAX_MODELS:
                    self._loaded.popitem(last=False)
            return found

    @staticmethod
    def _read(
        connection: Any, before: Before, keep_rows: int, published: Published, fit: int, old: LoadedSamples | None
    ) -> LoadedSamples:
        if old is None or not old.samples.reads_as(published) or old.samples.n_given > before.n_rows:
            return LoadedSamples(read_rows(connection, before, keep_rows, published), fit)
        samples, n_given = old.samples.of(published), old.samples.n_given
        if n_given < before.n_rows:
            samples = samples.with_more(read_rows(connection, before, keep_rows, published, n_given))
        return LoadedSamples(samples, fit, old.projection)

    def forget(self, model: int) -> None:
        """Give back the memory of a model that was deleted."""
        with self._lock:
            self._loaded.pop(model, None)
            self._locks.pop(model, None)
