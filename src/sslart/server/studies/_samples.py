"""All rows of a model as samples in memory, with predictions, novelty, boxes, and positions on the map."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sslart._art.geometry import centres
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import MemberView
from sslart._tables import pandas
from sslart._tables.columns import samples_for
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import Cache
from sslart._utils.notes import collected_notes
from sslart.server.models._published import Published, as_class
from sslart.server.models._replica import FittedRows
from sslart.server.models._stored_rows import StoredRows, by_halves
from sslart.server.store._journal import LAST, last_fit
from sslart.server.store._labels import given_labels

SOURCE = "the rows"
PROJECTED_AT_ONCE = 100_000
SAMPLES_AT_ONCE = 50_000
MAX_MODELS = 3

Positions = NDArray[np.float32]
Floats = NDArray[np.float32]
Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class SampleTable:
    """Rows of a model as samples, in the order of their numbers."""

    published: Published  # the model that has read them
    rows: IntArray  # the number of each
    frame: Any  # the columns that the model has learnt from
    own_labels: list[Any]  # the label that each came with, as text; None where it had none
    n_given: int  # rows that the model had been given; some may not be readable, or no longer be kept

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def table(self) -> Table:
        """The samples as the model reads them."""
        return self.published.view.read(self.raw())

    def raw(self, places: Any = slice(None)) -> Any:
        """Return the samples, or some of them, as estimators take them: an array where columns have no names."""
        frame = self.frame.iloc[places]
        return frame if self.published.reader.has_names else frame.to_numpy()

    def places(self, rows: Sequence[int] | IntArray) -> IntArray:
        """Return where rows are, by their numbers; those that are not among the samples are left out."""
        wanted = np.asarray(rows, dtype=np.int64)
        found = np.searchsorted(self.rows, wanted)
        is_there = found < len(self.rows)
        is_there[is_there] = self.rows[found[is_there]] == wanted[is_there]
        return np.asarray(found[is_there])

    def reads_as(self, published: Published) -> bool:
        """Return True if another state of the model reads rows in the same way."""
        old, new = self.published, published
        plans = old.view.reader.plan, new.view.reader.plan
        return old.settings == new.settings and old.reader.names == new.reader.names and plans[0] == plans[1]


def spread(n: int, most: int) -> IntArray:
    """Return the places of at most so many of `n` samples, evenly spread."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).astype(np.int64))


def read_rows(stored: StoredRows, published: Published, first_row: int = 0) -> SampleTable:
    """Return the rows of a model from a number on; those that it cannot read are left out."""
    numbers: list[IntArray] = []
    frames: list[Any] = []
    labels: list[Any] = []
    names = published.reader.names
    with collected_notes():
        for rows, frame, own in stored.pieces(first_row):
            given = np.asarray(rows, dtype=np.int64)
            features = frame.reindex(columns=names)
            is_wanted = (given >= first_row) & ~features.isna().all(axis=1).to_numpy()
            features = features[is_wanted]
            of_wanted = [one for one, wanted in zip(own, is_wanted.tolist(), strict=True) if wanted]
            for places, samples in by_halves(partial(_samples, published.model, features), np.arange(len(features))):
                if samples is None:
                    continue
                numbers.append(given[is_wanted][places])
                frames.append(samples)
                labels += [of_wanted[place] for place in places.tolist()]
    all_rows = np.concatenate([np.zeros(0, dtype=np.int64), *numbers])
    frame = pandas().concat(frames, ignore_index=True) if frames else pandas().DataFrame(columns=names)
    return SampleTable(published, all_rows, frame, labels, stored.n_rows)


def _samples(model: Any, frame: Any, places: IntArray) -> Any:
    samples = samples_for(model, frame.iloc[places], SOURCE)
    return samples if hasattr(samples, "iloc") else pandas().DataFrame(samples, columns=frame.columns)


class Projection:
    """Projection of box centres to a plane: principal components, weighted by samples.

    Every column of the table counts the same, however far its values lie apart and however many categories it has.
    """

    def __init__(self, member: MemberView) -> None:
        self._features = member.encoder.features
        points = np.nan_to_num(centres(*member.boxes), nan=0.5)
        weights = np.maximum(np.asarray(member.support, dtype=np.float64), 0.0)
        weights = weights / max(float(weights.sum()), 1.0)
        self._mean = weights @ points
        columns = np.array([feature.column for feature in self._features])
        total = np.bincount(columns, weights @ (points - self._mean) ** 2)[columns]  # variance of each column
        scales = np.where(total > 0, 1.0 / np.sqrt(np.where(total > 0, total, 1.0)), 0.0)
        apart = (points - self._mean) * np.sqrt(weights)[:, None] * scales
        axes = np.linalg.svd(apart, full_matrices=False)[2][:2]
        self._axes = np.zeros((points.shape[1], 2))
        largest = np.abs(axes).argmax(axis=1)[:, None]
        signs = np.where(np.take_along_axis(axes, largest, axis=1) < 0, -1.0, 1.0)  # the same boxes give the same map
        self._axes[:, : len(axes)] = (axes * signs * scales).T

    def fits(self, encoder: Encoder) -> bool:
        """Return True if another encoder has the same features."""
        return encoder.features == self._features

    def of(self, coded: FloatArray) -> Positions:
        """Return where coded samples lie; a missing value counts as the mean."""
        parts = [
            np.nan_to_num(coded[start : start + PROJECTED_AT_ONCE] - self._mean, nan=0.0) @ self._axes
            for start in range(0, len(coded), PROJECTED_AT_ONCE)
        ]
        return np.concatenate([np.zeros((0, 2)), *parts]).astype(np.float32)


class Predictions(NamedTuple):
    """Predictions for all samples."""

    sequence: int  # the last record that the model had learnt
    classes: list[Any]
    indices: NDArray[np.int16]  # the class of each; -1 where the model abstains, or has no class yet
    best: NDArray[np.int16]  # the most probable class of each, also where the model abstains
    probability: Floats  # of the most probable class
    margin: Floats  # by how much that is above the second


class LoadedSamples:
    """Samples of a model since the fit with a sequence number.

    Boxes and novelty are those of the model that has read the samples: what it learns one by one hardly changes them.
    Predictions are those of the model as it is. The projection of an earlier fit is kept where it fits, so that samples
    stay where they were drawn.
    """

    def __init__(self, samples: SampleTable, fit: int, projection: Projection | None = None) -> None:
        self.samples, self.fit, self._old_projection = samples, fit, projection
        self._lock, self._making = threading.RLock(), threading.RLock()
        self._predictions: Predictions | None = None
        self._cache = Cache()

    def __len__(self) -> int:
        return len(self.samples)

    @cached_property
    def member(self) -> MemberView:
        """The network that the boxes are of; of an ensemble, that of the first member."""
        return self.samples.published.view.members[0]

    @cached_property
    def coded(self) -> FloatArray:
        """The samples in the unit cube."""
        with self._lock:
            return self.member.encode(self.samples.table)

    @cached_property
    def projection(self) -> Projection:
        """The plane in which samples are drawn."""
        old, encoder = self._old_projection, self.member.encoder
        return old if old is not None and old.fits(encoder) else Projection(self.member)

    @cached_property
    def positions(self) -> Positions:
        """The place of each sample on the map, from 0 to 1."""
        if not len(self):
            return np.zeros((0, 2), dtype=np.float32)
        with self._lock:
            positions = self.projection.of(self.coded)
            low, high = positions.min(axis=0), positions.max(axis=0)
            return np.asarray((positions - low) / np.where(high > low, high - low, 1.0), dtype=np.float32)

    @cached_property
    def boxes(self) -> IntArray:
        """The box that each sample falls into."""
        if not len(self):
            return np.zeros(0, dtype=np.int64)
        with self._lock:
            return np.asarray(self.member.rank(self.coded)[0][:, 0])

    @cached_property
    def rows_by_box(self) -> tuple[IntArray, IntArray]:
        """The places of samples in the order of their boxes, and where each box begins."""
        order = np.argsort(self.boxes, kind="stable")
        return order, np.searchsorted(self.boxes[order], np.arange(self.member.n_nodes + 1))

    def places_in(self, box: int) -> IntArray:
        """Return where the samples of a box are."""
        order, starts = self.rows_by_box
        return order[starts[box] : starts[box + 1]]

    @cached_property
    def novelty(self) -> Floats:
        """Novelty of each sample, from 0 to 1."""
        view = self.samples.published.view
        with self._lock:
            parts = [view.score_samples(self.samples.table[part]) for part in _parts(len(self))]
            return np.asarray(1.0 - np.concatenate([np.zeros(0), *parts]), dtype=np.float32)

    @cached_property
    def is_novel(self) -> BoolArray:
        """Mask of novel samples."""
        return np.asarray(1.0 - self.novelty.astype(np.float64) < self.samples.published.view.novelty_threshold)

    def predictions(self, published: Published) -> Predictions:
        """Return the predictions of the last published model."""
        with self._lock:
            found = self._predictions
            if found is None or found.sequence != published.sequence:
                found = self._predictions = self._predict(published)
            return found

    def _predict(self, published: Published) -> Predictions:
        n = len(self)
        indices, best = np.full(n, UNLABELLED, dtype=np.int16), np.full(n, UNLABELLED, dtype=np.int16)
        probability, margin = np.zeros(n, dtype=np.float32), np.zeros(n, dtype=np.float32)
        if published.classes:
            for part in _parts(n):
                found = published.view.predict(self.samples.table[part], want_proba=True)
                assert found.proba is not None
                highest = np.sort(found.proba, axis=1)[:, -2:]
                indices[part], best[part] = found.indices, found.proba.argmax(axis=1)
                probability[part] = highest[:, -1]
                margin[part] = highest[:, -1] - (highest[:, 0] if highest.shape[1] > 1 else 0.0)
        return Predictions(published.sequence, published.classes, indices, best, probability, margin)

    def predicted(self, published: Published, places: IntArray) -> IntArray:
        """Return the class that is predicted for some samples, by its index; -1 where the model abstains."""
        found = self._predictions
        if len(places) == len(self) or (found is not None and found.sequence == published.sequence):
            return self.predictions(published).indices[places].astype(np.int64)
        return published.view.predict(self.samples.table[places]).indices

    def cached(self, key: tuple[Any, ...], make: Callable[[], Result]) -> Result:
        """Return the cached value of a key; compute it on first use, by one thread."""
        with self._making:
            return self._cache.get_or_compute(key, make)

    def labels(self, connection: Any, model: int) -> list[Any]:
        """Return the label in force of each sample; None where it has none."""
        labels, given = list(self.samples.own_labels), given_labels(connection, model, LAST)
        rows = np.fromiter(given, dtype=np.int64, count=len(given))
        is_there = np.isin(rows, self.samples.rows)
        for place, row in zip(self.samples.places(rows[is_there]).tolist(), rows[is_there].tolist(), strict=True):
            labels[place] = given[row]
        return labels

    def label_indices(self, labels: list[Any], classes: list[Any]) -> NDArray[np.int16]:
        """Return the index of each label among classes; -1 where there is none."""
        known = np.array(classes) if classes else None
        codes = {None: UNLABELLED}
        for label in {one for one in labels if one is not None}:
            try:
                found = as_class(label, known)
            except ValueError:
                found = None
            codes[label] = classes.index(found) if found in classes else UNLABELLED
        return np.array([codes[one] for one in labels], dtype=np.int16)


def _parts(n: int) -> list[slice]:
    return [slice(start, start + SAMPLES_AT_ONCE) for start in range(0, n, SAMPLES_AT_ONCE)]


class SampleCache:
    """A cache of the samples of few models, loaded on demand and extended by new rows."""

    def __init__(self) -> None:
        self._loaded: OrderedDict[int, LoadedSamples] = OrderedDict()
        self._locks: dict[int, threading.Lock] = {}
        self._lock = threading.Lock()

    def samples(self, stored: StoredRows, published: Published, fitted: FittedRows | None = None) -> LoadedSamples:
        """Return the rows of a model as samples; `fitted` are all of them as the last fit has read them."""
        with self._lock:
            own = self._locks.setdefault(stored.model, threading.Lock())
        with own:
            fit = last_fit(stored.connection, stored.model, published.sequence)
            found = self._loaded.get(stored.model)
            if fitted is not None and fitted.sequence == fit and (found is None or found.fit != fit):
                old = None if found is None or not found.samples.reads_as(published) else found.projection
                rows, frame = np.arange(len(fitted.labels), dtype=np.int64), fitted.frame.reset_index(drop=True)
                samples = SampleTable(published, rows, frame, list(fitted.labels), len(rows))
                found = LoadedSamples(samples, fit, old)
            if found is None or found.fit != fit or found.samples.n_given != stored.n_rows:
                found = _extended(stored, published, fit, found)
            with self._lock:
                self._loaded[stored.model] = found
                self._loaded.move_to_end(stored.model)
                while len(self._loaded) > MAX_MODELS:
                    self._loaded.popitem(last=False)
            return found

    def forget(self, model: int) -> None:
        """Give back the memory of a model that was deleted."""
        with self._lock:
            self._loaded.pop(model, None)
            self._locks.pop(model, None)


def _extended(stored: StoredRows, published: Published, fit: int, old: LoadedSamples | None) -> LoadedSamples:
    """Return the samples of a model, with what was read of them before."""
    if old is None or not old.samples.reads_as(published) or old.samples.n_given > stored.n_rows:
        return LoadedSamples(read_rows(stored, published), fit)
    samples, first = replace(old.samples, published=published), old.samples.n_given
    if first < stored.n_rows:
        more = read_rows(stored, published, first)
        frame = pandas().concat([samples.frame, more.frame], ignore_index=True)
        rows, labels = np.concatenate([samples.rows, more.rows]), samples.own_labels + more.own_labels
        samples = SampleTable(published, rows, frame, labels, more.n_given)
    return LoadedSamples(samples, fit, old.projection)
