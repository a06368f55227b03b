"""The nodes: boxes, supports and class counts as plain arrays with room to grow."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from sslart._art.backend import backend
from sslart._art.joining import Joined
from sslart._art.learn_result import LearningParams, LearnResult
from sslart._art.learning.journal import Journal
from sslart._art.reduction.fading import LEAST_SUPPORT
from sslart._art.reduction.limit import NoRoomError, with_room
from sslart._art.reduction.renaming import NO_BOX, both
from sslart._data.encoder import GRID, Encoder
from sslart._data.labels import UNLABELLED
from sslart._data.recoding import recode_boxes
from sslart._data.saved import MAX_COUNT, require, saved_array, saved_whole
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.parallel import StoppedError

NO_LIMIT = 0
ROUNDING = 1e-6  # the most by which the counts of a node that fades may exceed its support
ROWS = ("weights", "norms", "support", "counts", "met", "labels")
NUMBERS = ("n_nodes", "n_nodes_stage1", "n_learnt", "vigilance")


class Nodes:
    """All nodes of one network, in the order in which they were made.

    Attributes
    ----------
    weights : array of shape (capacity, 2 * n_features)
        W = (u, 1 - v) of the box [u, v] in the unit cube; (1, 1) on a side that no sample has reached yet.
    norms : array of length capacity
        The sum |W| of each node's weights.
    support : array of length capacity
        How many samples resonated with each node, labelled or not.
    counts : array of shape (capacity, n_classes)
        How many labelled samples of each class resonated, classes in the order they were first learnt.
    met : array of shape (capacity, n_constant)
        Whether each node has met a value of each feature that has shown one value only.
    labels : array of length capacity
        The class with most counts, the one seen first on ties; -1 without counts.
    n_nodes : int
        How many rows are in use.
    n_nodes_stage1 : int
        How many nodes were made by unlabelled samples, those included that have been dropped since; where nodes have
        been joined, how many hold the first of these.
    n_learnt : int or None
        How many samples have been learnt, where supports and counts fade; they are floats then. None: they do not.
    vigilance : float
        The highest vigilance that all unions of joined nodes reach: nothing is learnt with a higher one. 1 where no
        nodes have been joined.
    """

    def __init__(self, n_features: int, n_classes: int = 0, n_constant: int = 0) -> None:
        self._allocate(0, n_features, n_classes, n_constant)
        self._cache: tuple[Any, Any] = (None, None)
        self.n_nodes = 0
        self.n_nodes_stage1 = 0
        self.n_learnt: int | None = None
        self.vigilance = 1.0

    def _allocate(self, capacity: int, n_features: int, n_classes: int, n_constant: int) -> None:
        self.weights: FloatArray = np.empty((capacity, 2 * n_features))
        self.norms: FloatArray = np.empty(capacity)
        self.support: CountArray = np.empty(capacity, dtype=np.int64)
        self.counts: CountArray = np.empty((capacity, n_classes), dtype=np.int64)
        self.met: BoolArray = np.empty((capacity, n_constant), dtype=bool)
        self.labels: IntArray = np.empty(capacity, dtype=np.int64)

    @property
    def n_features(self) -> int:
        """Number of coded features."""
        return int(self.weights.shape[1] // 2)

    @property
    def n_classes(self) -> int:
        """Number of classes learnt so far."""
        return int(self.counts.shape[1])

    @property
    def n_samples(self) -> int:
        """Number of samples learnt so far, by boxes that have been dropped too."""
        return int(self.support[: self.n_nodes].sum()) if self.n_learnt is None else self.n_learnt

    @property
    def capacity(self) -> int:
        """How many nodes fit before the arrays must grow."""
        return len(self.weights)

    def grow(self, n_samples: int) -> None:
        """Make room for as many nodes again, or for those that so many samples may make, up to a thousand.

        Memory is taken only as nodes fill it.
        """
        capacity = max(64, 2 * self.capacity, self.n_nodes + min(n_samples, 1024))
        larger = {}
        for name in ROWS:
            rows = getattr(self, name)
            larger[name] = np.empty((capacity, *rows.shape[1:]), dtype=rows.dtype)
            larger[name][: self.n_nodes] = rows[: self.n_nodes]
        vars(self).update(larger)

    def copy(self) -> Nodes:
        """Return a copy with as much room."""
        other = Nodes(self.n_features, self.n_classes)
        for name in NUMBERS:
            setattr(other, name, getattr(self, name))
        for name in ROWS:
            rows = np.empty_like(getattr(self, name))
            rows[: self.n_nodes] = getattr(self, name)[: self.n_nodes]
            setattr(other, name, rows)
        backend, cache = self._cache
        other._cache = backend, copy.copy(cache)
        return other

    def trim(self) -> None:
        """Give back the room that no node uses."""
        # in place, which spares a second copy of a large model; no view of these arrays outlives a call
        for array in (getattr(self, name) for name in ROWS):
            array.resize((self.n_nodes, *array.shape[1:]), refcheck=False)

    def add_classes(self, n_classes: int) -> None:
        """Make room for the counts of further classes."""
        if n_classes > self.n_classes:
            counts = np.zeros((self.capacity, n_classes), dtype=self.counts.dtype)
            counts[: self.n_nodes, : self.n_classes] = self.counts[: self.n_nodes]
            self.counts = counts

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners in the unit cube; lower > upper on a side not reached yet."""
        used = self.weights[: self.n_nodes]
        return used[:, : self.n_features], 1.0 - used[:, self.n_features :]

    def extents(self, boxes: IntArray) -> FloatArray:
        """Return the sum of the sides of boxes in the unit cube; a side not reached yet counts nothing."""
        weights, n_features = self.weights[boxes], self.n_features
        return np.asarray(np.maximum(0.0, 1.0 - weights[:, :n_features] - weights[:, n_features:]).sum(axis=1))

    def recode(self, encoder: Encoder, wider: Encoder) -> None:
        """Express every box in a wider encoder; what it covers in the user's units stays covered."""
        lower, upper, met = recode_boxes(encoder, *self.boxes(), self.met[: self.n_nodes], wider)
        self.met = np.zeros((self.capacity, met.shape[1]), dtype=bool)
        self.met[: self.n_nodes] = met
        weights = np.empty((self.capacity, 2 * lower.shape[1]))
        weights[: self.n_nodes, : lower.shape[1]] = lower
        weights[: self.n_nodes, lower.shape[1] :] = 1.0 - upper
        self.weights = weights
        self.derive(np.arange(self.n_nodes))

    def learn(
        self,
        samples: FloatArray,
        targets: IntArray,
        params: LearningParams,
        learnt: LearnResult,
        *,
        predict_depth: int | None,
        predict_by_first: bool,
        measured: Any,
        journal: Journal | None,
        stop: Any,
    ) -> IntArray | None:
        """Learn coded samples in their order; see `Network.learn`. `learnt` gets what happens to each.

        Returns
        -------
        array of length n_nodes, or None
            The index now of each node that there was; None where no nodes were joined.
        """
        into, n_learnt, limit = None, 0, params.max_nodes
        progress = np.array([0, self.n_nodes])
        while True:
            n_before, room = self.n_nodes, slice(0, limit)
            if limit is None or n_before <= limit:
                backend().learn(
                    self.cache_of(backend()),
                    self.weights[room],
                    self.norms[room],
                    self.support[room],
                    self.counts[room],
                    self.labels[room],
                    progress,
                    vigilance=min(params.vigilance, self.vigilance),
                    choice=params.choice,
                    learning_rate=params.learning_rate,
                    match_tracking=params.match_tracking,
                    one_to_one=params.one_to_one,
                    samples=samples,
                    targets=targets,
                    winners=learnt.nodes,
                    predicted=None if predict_depth is None else learnt.predicted,
                    search_depth=predict_depth or NO_LIMIT,
                    predict_by_first=predict_by_first,
                    gaps=learnt.gaps,
                    journal_weights=None if journal is None else journal.weights,
                    journal_support=None if journal is None else journal.support,
                    journal_counts=None if journal is None else journal.counts,
                    **learnt.fits.arguments(measured),
                    stop=stop,
                )
            rows, n_learnt = slice(n_learnt, int(progress[0])), int(progress[0])
            self.n_nodes = int(progress[1])
            if self.n_nodes > n_before:
                self.met[n_before : self.n_nodes] = False
                self.n_nodes_stage1 += learnt.of(rows).n_made_unlabelled(targets[rows], n_before)
            if n_learnt == len(samples):
                break
            if stop[0]:
                raise StoppedError
            if limit is None or self.n_nodes < limit:
                self.grow(len(samples) - n_learnt)
                continue
            if journal is not None:
                raise NoRoomError
            into = both(into, self.make_room(params, learnt, stop))
            progress[1] = self.n_nodes
        self.count(len(samples))
        return into

    def make_room(self, params: LearningParams, learnt: LearnResult, stop: Any) -> IntArray:
        """Join nodes until there is room for new ones, and return the index now of each node that there was."""
        used, vigilance = slice(0, self.n_nodes), min(params.vigilance, self.vigilance)
        joined = with_room(self.weights[used], self.labels[used], params, vigilance, stop)
        self.join(joined)
        learnt.rename(joined.into)
        return joined.into

    def join(self, joined: Joined) -> None:
        """Let boxes that have been joined take the place of their parts: supports and counts add."""
        used, n_joined = slice(0, self.n_nodes), len(joined.weights)
        order = np.argsort(joined.into, kind="stable")
        starts = np.flatnonzero(np.diff(joined.into[order], prepend=-1))
        self.weights[:n_joined] = joined.weights
        for rows, add in ((self.support, np.add), (self.counts, np.add), (self.met, np.logical_or)):
            rows[:n_joined] = add.reduceat(rows[used][order], starts)
        self.n_nodes = n_joined
        self.n_nodes_stage1 = int(joined.into[: self.n_nodes_stage1].max(initial=-1)) + 1
        self.vigilance = min(self.vigilance, joined.vigilance)
        self.derive(np.arange(n_joined))

    def count(self, n_samples: int) -> None:
        """Take note that so many samples have been learnt."""
        if self.n_learnt is not None:
            self.n_learnt += n_samples

    def add_empty(self) -> int:
        """Add a node that has learnt nothing yet, and return it; the caller counts a sample for it."""
        if self.n_nodes == self.capacity:
            self.grow(1)
        node = self.n_nodes
        self.weights[node], self.support[node], self.counts[node], self.met[node] = 1.0, 0, 0, False
        self.n_nodes += 1
        return node

    def meet(self, winners: IntArray, values: BoolArray, journal: Journal | None = None) -> None:
        """Take down which constant features have a value in the samples that nodes have learnt.

        Parameters
        ----------
        winners : array of length n_samples
            The node that has learnt each sample.
        values : array of shape (n_samples, n_constant)
            Whether the sample has a value.
        journal : Journal or None
            Gets what is changed.
        """
        if journal is not None:
            journal.met = self.met[winners]
        samples, features = np.nonzero(values)
        self.met[winners[samples], features] = True

    def start_to_fade(self) -> None:
        """Count samples from now on, and keep supports and counts as floats, so that they can fade."""
        if self.n_learnt is None:
            self.n_learnt = self.n_samples
            self.support, self.counts = self.support.astype(np.float64), self.counts.astype(np.float64)

    def fade(self, factor: float) -> IntArray | None:
        """Multiply supports and counts, and drop the nodes of too little support.

        Returns
        -------
        array of length n_nodes, or None
            The index now of each node that there was, -1 where it was dropped; None where none was.
        """
        used = slice(0, self.n_nodes)
        self.support[used] *= factor
        self.counts[used] *= factor
        kept = self.support[used] >= LEAST_SUPPORT
        into = None if kept.all() else self._keep(kept)
        self._derive_labels(np.arange(self.n_nodes))  # rounding may have made counts equal
        return into

    def _keep(self, kept: BoolArray) -> IntArray:
        """Drop all nodes but some, and return the index now of each node that there was, -1 where it was dropped."""
        into = np.where(kept, np.cumsum(kept) - 1, NO_BOX)
        for name in ROWS:
            rows = getattr(self, name)
            rows[: kept.sum()] = rows[: self.n_nodes][kept]
        self.n_nodes = int(kept.sum())
        self._cache = None, None
        return into

    def cache_of(self, backend: Any) -> Any:
        """Return what a backend keeps of these nodes between calls; dropped when the nodes are changed otherwise."""
        if self._cache[0] is not backend:
            self._cache = backend, backend.new_cache()
        return self._cache[1]

    def derive(self, nodes: IntArray) -> None:
        """Compute afresh what follows from the weights and the counts."""
        self._cache = None, None
        self.norms[nodes] = self.weights[nodes].sum(axis=1)
        self._derive_labels(nodes)

    def _derive_labels(self, nodes: IntArray) -> None:
        if self.n_classes:
            counts = self.counts[nodes]
            self.labels[nodes] = np.where(counts.any(axis=1), counts.argmax(axis=1), UNLABELLED)
        else:
            self.labels[nodes] = UNLABELLED

    def to_state(self) -> dict[str, Any]:
        """Return what must be saved: the weights, supports and counts in use."""
        used = slice(0, self.n_nodes)
        return {
            "weights": self.weights[used],
            "support": self.support[used],
            "counts": self.counts[used],
            "n_nodes_stage1": self.n_nodes_stage1,
            **({} if self.n_learnt is None else {"n_learnt": self.n_learnt}),
            **({} if self.vigilance == 1 else {"vigilance": np.array([self.vigilance])}),
            **({"met": self.met[used].view(np.uint8)} if self.met.shape[1] else {}),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Nodes:
        """Return the nodes of a saved state, after checking that it can be one."""
        weights = saved_array(state, "weights", np.float64, None, None, low=0, high=1)
        n_learnt = saved_whole(state, "n_learnt", 1, MAX_COUNT) if "n_learnt" in state else None
        fades = n_learnt is not None
        kind, least = (np.float64, LEAST_SUPPORT) if fades else (np.int64, 1)
        support: CountArray = saved_array(state, "support", kind, len(weights), low=least, high=MAX_COUNT)
        counts: CountArray = saved_array(state, "counts", kind, len(weights), None, low=0, high=MAX_COUNT)
        stage1 = saved_whole(state, "n_nodes_stage1", 0, MAX_COUNT if fades else len(weights))
        require(weights.shape[1] and weights.shape[1] % 2 == 0 and (weights * GRID % 1 == 0).all(), "the weights")
        lower, rest = np.hsplit(weights, 2)
        require(((lower + rest <= 1) | ((lower == 1) & (rest == 1))).all(), "the weights")
        require(support.sum(dtype=np.float64) <= MAX_COUNT, "the supports")
        most = support * (1 + ROUNDING) if fades else support
        require((counts.sum(axis=1, dtype=np.float64) <= most).all(), "the counts")
        unmet = np.empty((len(weights), 0), dtype=np.uint8)
        met = saved_array(state, "met", np.uint8, len(weights), None, low=0, high=1, missing=unmet)
        nodes = cls(weights.shape[1] // 2, counts.shape[1])
        nodes._allocate(len(weights), weights.shape[1] // 2, counts.shape[1], met.shape[1])
        nodes.n_nodes, nodes.n_nodes_stage1, nodes.n_learnt = len(weights), stage1, n_learnt
        nodes.vigilance = saved_array(state, "vigilance", np.float64, 1, low=0, high=1, missing=np.ones(1)).item()
        nodes.support, nodes.counts = np.empty_like(support), np.empty_like(counts)
        nodes.weights[:], nodes.support[:], nodes.counts[:], nodes.met[:] = weights, support, counts, met
        nodes.derive(np.arange(len(weights)))
        return nodes

    def __getstate__(self) -> dict[str, Any]:
        return self.to_state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(self.from_state(state).__dict__)


def runs(flags: BoolArray) -> Iterator[tuple[slice, bool]]:
    """Yield the parts of a sequence of which the flags agree, in their order, with the flag."""
    starts = [0, *(np.flatnonzero(np.diff(flags)) + 1).tolist()]
    for start, stop in zip(starts, [*starts[1:], len(flags)], strict=True):
        yield slice(start, stop), bool(flags[start])
