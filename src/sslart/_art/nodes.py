"""The nodes: boxes, supports and class counts as plain arrays with room to grow."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from sslart._art.backend import backend
from sslart._art.learn_result import LearningParams, LearnResult, StoppedError
from sslart._art.reduction.fading import LEAST_SUPPORT
from sslart._art.reduction.renaming import NO_BOX
from sslart._data.encoder import GRID, Encoder
from sslart._data.labels import UNLABELLED
from sslart._data.recoding import recode_boxes
from sslart._data.saved import MAX_COUNT, require, saved_array, saved_whole
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray

NO_LIMIT = 0
ROUNDING = 1e-6  # the most by which the counts of a node that fades may exceed its support
ROWS = ("weights", "norms", "support", "counts", "met", "labels")


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
        How many nodes were made by unlabelled samples, those included that have been dropped since.
    n_learnt : int or None
        How many samples have been learnt, where supports and counts fade; they are floats then. None: they do not.
    """

    def __init__(self, n_features: int, n_classes: int = 0, n_constant: int = 0) -> None:
        self._allocate(0, n_features, n_classes, n_constant)
        self._cache: tuple[Any, Any] = (None, None)
        self.n_nodes = 0
        self.n_nodes_stage1 = 0
        self.n_learnt: int | None = None

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
        other.n_nodes, other.n_nodes_stage1, other.n_learnt = self.n_nodes, self.n_nodes_stage1, self.n_learnt
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

    def recode(self, encoder: Encoder, wider: Encoder) -> None:
        """Express every box in a wider encoder; what it covers in the user's units stays covered."""
        lower, upper, met = recode_boxes(encoder, *self.boxes(), self.met[: self.n_nodes], wider)
        self.met = np.zeros((self.capacity, met.shape[1]), dtype=bool)
        self.met[: self.n_nodes] = met
        weights = np.empty((self.capacity, 2 * lower.shape[1]))
        weights[: self.n_nodes, : lower.shape[1]] = lower
        weights[: self.n_nodes, lower.shape[1] :] = 1.0 - upper
        self.weights = weights
        self._derive(np.arange(self.n_nodes))

    def learn(
        self,
        samples: FloatArray,
        targets: IntArray,
        params: LearningParams,
        learnt: LearnResult,
        *,
        predict_depth: int | None,
        predict_rows: Any,
        measured: Any,
        journal: Journal | None,
        stop: Any,
    ) -> None:
        """Learn coded samples in their order; see `Network.learn`. `learnt` gets what happens to each."""
        n_nodes_before = self.n_nodes
        progress = np.array([0, n_nodes_before])
        while True:
            backend().learn(
                self.cache_of(backend()),
                self.weights,
                self.norms,
                self.support,
                self.counts,
                self.labels,
                progress,
                vigilance=params.vigilance,
                choice=params.choice,
                learning_rate=params.learning_rate,
                match_tracking=params.match_tracking,
                one_to_one=params.one_to_one,
                samples=samples,
                targets=targets,
                winners=learnt.nodes,
                predicted=None if predict_depth is None else learnt.predicted,
                search_depth=predict_depth or NO_LIMIT,
                predict_wanted=predict_rows,
                gaps=learnt.gaps,
                journal_weights=None if journal is None else journal.weights,
                journal_support=None if journal is None else journal.support,
                journal_counts=None if journal is None else journal.counts,
                **learnt.fits.arguments(measured),
                stop=stop,
            )
            self.n_nodes = int(progress[1])
            if progress[0] == len(samples):
                break
            if stop[0]:
                raise StoppedError
            self.grow(len(samples) - int(progress[0]))
        if self.n_nodes > n_nodes_before:
            self.n_nodes_stage1 += learnt.n_made_unlabelled(targets, n_nodes_before)
        self._count(len(samples))

    def learn_empty(
        self, targets: IntArray, params: LearningParams, learnt: LearnResult, predict_depth: int | None
    ) -> None:
        """Learn samples without a value that counts: they match every node alike, so that the first one wins."""
        for row, target in enumerate(targets.tolist()):
            if self.n_nodes:
                learnt.gaps[row] = 0.0
            if predict_depth is not None:
                labels = self.labels[: self.n_nodes][: predict_depth or None]
                learnt.predicted[row] = next((label for label in labels.tolist() if label != UNLABELLED), UNLABELLED)
            learnt.nodes[row] = self._learn_first(target, one_to_one=params.one_to_one)
        self._count(len(targets))

    def _count(self, n_samples: int) -> None:
        if self.n_learnt is not None:
            self.n_learnt += n_samples

    def _learn_first(self, target: int, *, one_to_one: bool) -> int:
        """Let the first node learn a sample that matches all alike, or a new one where its class differs; return it.

        With one-to-one mapping a node serves one class only. A label of -1 is none.
        """
        node = 0
        if not self.n_nodes or (one_to_one and UNLABELLED not in (target, self.labels[0]) and self.labels[0] != target):
            if self.n_nodes == self.capacity:
                self.grow(1)
            node = self.n_nodes
            self.weights[node], self.support[node], self.counts[node], self.met[node] = 1.0, 0, 0, False
            self.n_nodes += 1
            self.n_nodes_stage1 += target == UNLABELLED
        self.support[node] += 1
        if target != UNLABELLED:
            self.counts[node, target] += 1
        self._derive(np.array([node]))
        return node

    def meet(self, winners: IntArray, values: BoolArray, n_before: int, journal: Journal | None = None) -> None:
        """Take down which constant features have a value in the samples that nodes have learnt.

        Parameters
        ----------
        winners : array of length n_samples
            The node that has learnt each sample.
        values : array of shape (n_samples, n_constant)
            Whether the sample has a value.
        n_before : int
            How many nodes there were before these samples.
        journal : Journal or None
            Gets what is changed.
        """
        if journal is not None:
            journal.met = self.met[winners]
        self.met[n_before : self.n_nodes] = False
        samples, features = np.nonzero(values)
        self.met[winners[samples], features] = True

    def start_to_fade(self) -> None:
        """Count samples from now on, and keep supports and counts as floats, so that they can fade."""
        if self.n_learnt is None:
            self.n_learnt = int(self.support[: self.n_nodes].sum())
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

    def _derive(self, nodes: IntArray) -> None:
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
        nodes.support, nodes.counts = np.empty_like(support), np.empty_like(counts)
        nodes.weights[:], nodes.support[:], nodes.counts[:], nodes.met[:] = weights, support, counts, met
        nodes._derive(np.arange(len(weights)))
        return nodes

    def __getstate__(self) -> dict[str, Any]:
        return self.to_state()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(self.from_state(state).__dict__)


class Journal:
    """The former row of the one node that each sample of a call changes, so that a call that fails can be undone.

    Its cost does not grow with the model.

    Parameters
    ----------
    nodes : Nodes
    winners : array of length n_samples
        Gets the node that each sample changes; -1 for samples not begun.
    """

    def __init__(self, nodes: Nodes, winners: IntArray) -> None:
        self._owner, self._winners = nodes, winners
        self._n_nodes, self._n_nodes_stage1, self._n_learnt = nodes.n_nodes, nodes.n_nodes_stage1, nodes.n_learnt
        n_samples = len(winners)
        self.weights = np.empty((n_samples, nodes.weights.shape[1]))
        self.support = np.empty(n_samples, dtype=nodes.support.dtype)
        self.counts = np.empty((n_samples, nodes.n_classes), dtype=nodes.counts.dtype)
        self.met: BoolArray | None = None

    def restore(self) -> None:
        """Put every node back as it was."""
        owner, winners = self._owner, self._winners
        owner.n_nodes, owner.n_nodes_stage1, owner.n_learnt = self._n_nodes, self._n_nodes_stage1, self._n_learnt
        changed = np.flatnonzero((winners >= 0) & (winners < self._n_nodes))[::-1]
        nodes = winners[changed]  # of several rows for one node the last assigned stays: the earliest
        owner.weights[nodes] = self.weights[changed]
        owner.support[nodes] = self.support[changed]
        owner.counts[nodes] = self.counts[changed]
        if self.met is not None:
            owner.met[nodes] = self.met[changed]
        owner._derive(nodes)


def runs(flags: BoolArray) -> Iterator[tuple[slice, bool]]:
    """Yield the parts of a sequence of which the flags agree, in their order, with the flag."""
    starts = [0, *(np.flatnonzero(np.diff(flags)) + 1).tolist()]
    for start, stop in zip(starts, [*starts[1:], len(flags)], strict=True):
        yield slice(start, stop), bool(flags[start])
