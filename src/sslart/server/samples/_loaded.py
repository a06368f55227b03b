"""The samples of a model, with derived values computed on first use."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sslart._data.labels import UNLABELLED
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.server.models._published import Published
from sslart.server.models._rows import as_class
from sslart.server.samples._positions import Positions, Projection, within_unit
from sslart.server.samples._table import SampleTable
from sslart.server.store._labels import given_labels

SAMPLES_AT_ONCE = 50_000
LAST = 2**62  # a sequence number beyond all

Floats = NDArray[np.float32]
Result = TypeVar("Result")


class Predictions(NamedTuple):
    """Predictions for all samples.

    Attributes
    ----------
    sequence : int
        The last record that the model had learnt.
    classes : list
    indices : array of int
        The class of each, by its index; -1 where the model abstains, or has no class yet.
    best : array of int
        The most probable class of each, also where the model abstains; -1 where it has no class yet.
    probability, margin : arrays
        Of the most probable class, and by how much it is above that of the second.
    """

    sequence: int
    classes: list[Any]
    indices: NDArray[np.int16]
    best: NDArray[np.int16]
    probability: Floats
    margin: Floats


class LoadedSamples:
    """Samples of a model since a fit.

    Parameters
    ----------
    samples : SampleTable
    fit : int
        The sequence number of the fit that they were read after: boxes and positions are those of that time.
    projection : Projection, default=None
        That of an earlier fit, which is kept where it fits, so that samples stay where they were drawn.

    Notes
    -----
    Boxes and novelty are those of the model that has read the samples: what it learns one by one hardly changes them.
    Predictions are those of the model as it is.
    """

    def __init__(self, samples: SampleTable, fit: int, projection: Projection | None = None) -> None:
        self.samples, self.fit, self._old_projection = samples, fit, projection
        self._lock, self._making = threading.RLock(), threading.RLock()
        self._predictions: Predictions | None = None
        self._kept: dict[str, Any] = {}

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
        """Where each sample is drawn."""
        if not len(self):
            return np.zeros((0, 2), dtype=np.float32)
        with self._lock:
            return within_unit(self.projection.of(self.coded))

    @cached_property
    def boxes(self) -> IntArray:
        """The box that each sample falls into."""
        with self._lock:
            return self._nodes_and_match[0]

    @cached_property
    def _nodes_and_match(self) -> tuple[IntArray, FloatArray]:
        if not len(self):
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        nodes, match = self.member.rank(self.coded)
        return np.asarray(nodes[:, 0]), np.asarray(match[:, 0])

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

    def once(self, key: str, make: Callable[[], Result]) -> Result:
        """Return the cached value of a key; compute it on first use."""
        with self._making:
            if key not in self._kept:
                self._kept[key] = make()
            found: Result = self._kept[key]
            return found

    def labels(self, connection: Any, model: int) -> list[Any]:
        """Return the label in force of each sample; None where it has none."""
        labels, given = list(self.samples.own_labels), given_labels(connection, model, LAST)
        rows = np.fromiter(given, dtype=np.int64, count=len(given))
        is_there = np.isin(rows, self.samples.rows)
        for place, row in zip(self.samples.places(rows[is_there]).tolist(), rows[is_there].tolist(), strict=True):
            labels[place] = given[row]
        return labels

    def has_label(self, connection: Any, model: int) -> BoolArray:
        """Return a mask of labelled samples."""
        return np.array([one is not None for one in self.labels(connection, model)], dtype=bool)

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
