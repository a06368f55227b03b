"""The nodes: boxes, supports and class counts as plain arrays with room to grow."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from sslart._data.encoder import GRID, Encoder
from sslart._data.recoding import recode_boxes
from sslart._data.labels import UNLABELLED
from sslart._data.saved import MAX_COUNT, require, saved_array, saved_whole
from sslart._utils.arrays import FloatArray, IntArray


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
    labels : array of length capacity
        The class with most counts, the one seen first on ties; -1 without counts.
    n_nodes : int
        How many rows are in use.
    n_nodes_stage1 : int
        How many nodes were made by unlabelled samples.
    """

    def __init__(self, n_features: int, n_classes: int = 0) -> None:
        self._allocate(0, n_features, n_classes)
        self._cache: tuple[Any, Any] = (None, None)
        self.n_nodes = 0
        self.n_nodes_stage1 = 0

    def _allocate(self, capacity: int, n_features: int, n_classes: int) -> None:
        self.weights: FloatArray = np.empty((capacity, 2 * n_features))
        self.norms: FloatArray = np.empty(capacity)
        self.support: IntArray = np.empty(capacity, dtype=np.int64)
        self.counts: IntArray = np.empty((capacity, n_classes), dtype=np.int64)
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
        for name in ("weights", "norms", "support", "counts", "labels"):
            rows = getattr(self, name)
            larger[name] = np.empty((capacity, *rows.shape[1:]), dtype=rows.dtype)
            larger[name][: self.n_nodes] = rows[: self.n_nodes]
        vars(self).update(larger)

    def copy(self) -> Nodes:
        """Return a copy with as much room."""
        other = Nodes(self.n_features, self.n_classes)
        other._allocate(self.capacity, self.n_features, self.n_classes)
        other.n_nodes, other.n_nodes_stage1 = self.n_nodes, self.n_nodes_stage1
        for name in ("weights", "norms", "support", "counts", "labels"):
            getattr(other, name)[: self.n_nodes] = getattr(self, name)[: self.n_nodes]
        backend, cache = self._cache
        other._cache = backend, copy.copy(cache)
        return other

    def trim(self) -> None:
        """Give back the room that no node uses."""
        # in place, which spares a second copy of a large model; no view of these arrays outlives a call
        for array in (self.weights, self.norms, self.support, self.counts, self.labels):
            array.resize((self.n_nodes, *array.shape[1:]), refcheck=False)

    def add_classes(self, n_classes: int) -> None:
        """Make room for the counts of further classes."""
        if n_classes > self.n_classes:
            counts = np.zeros((self.capacity, n_classes), dtype=np.int64)
            counts[: self.n_nodes, : self.n_classes] = self.counts[: self.n_nodes]
            self.counts = counts

    def boxes(self) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners in the unit cube; lower > upper on a side not reached yet."""
        used = self.weights[: self.n_nodes]
        return used[:, : self.n_features], 1.0 - used[:, self.n_features :]

    def recode(self, encoder: Encoder, wider: Encoder) -> None:
        """Express every box in a wider encoder; what it covers in the user's units stays covered."""
        lower, upper = recode_boxes(encoder, *self.boxes(), wider)
        weights = np.empty((self.capacity, 2 * lower.shape[1]))
        weights[: self.n_nodes, : lower.shape[1]] = lower
        weights[: self.n_nodes, lower.shape[1] :] = 1.0 - upper
        self.weights = weights
        self._derive(np.arange(self.n_nodes))

    def cache_of(self, backend: Any) -> Any:
        """Return what a backend keeps of these nodes between calls; dropped when the nodes are changed otherwise."""
        if self._cache[0] is not backend:
            self._cache = backend, backend.new_cache()
        return self._cache[1]

    def _derive(self, nodes: IntArray) -> None:
        """Compute afresh what follows from the weights and the counts."""
        self._cache = None, None
        self.norms[nodes] = self.weights[nodes].sum(axis=1)
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
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Nodes:
        """Return the nodes of a saved state, after checking that it can be one."""
        weights = saved_array(state, "weights", np.float64, None, None, low=0, high=1)
        support = saved_array(state, "support", np.int64, len(weights), low=1, high=MAX_COUNT)
        counts = saved_array(state, "counts", np.int64, len(weights), None, low=0, high=MAX_COUNT)
        stage1 = saved_whole(state, "n_nodes_stage1", 0, len(weights))
        require(weights.shape[1] and weights.shape[1] % 2 == 0 and (weights * GRID % 1 == 0).all(), "the weights")
        lower, rest = np.hsplit(weights, 2)
        require(((lower + rest <= 1) | ((lower == 1) & (rest == 1))).all(), "the weights")
        require(support.sum(dtype=np.float64) <= MAX_COUNT, "the supports")
        require((counts.sum(axis=1, dtype=np.float64) <= support).all(), "the counts")
        nodes = cls(weights.shape[1] // 2, counts.shape[1])
        nodes._allocate(len(weights), weights.shape[1] // 2, counts.shape[1])
        nodes.n_nodes, nodes.n_nodes_stage1 = len(weights), stage1
        nodes.weights[:], nodes.support[:], nodes.counts[:] = weights, support, counts
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
        self._n_nodes, self._n_nodes_stage1 = nodes.n_nodes, nodes.n_nodes_stage1
        n_samples = len(winners)
        self.weights = np.empty((n_samples, nodes.weights.shape[1]))
        self.support = np.empty(n_samples, dtype=np.int64)
        self.counts = np.empty((n_samples, nodes.n_classes), dtype=np.int64)

    def restore(self) -> None:
        """Put every node back as it was."""
        owner, winners = self._owner, self._winners
        owner.n_nodes, owner.n_nodes_stage1 = self._n_nodes, self._n_nodes_stage1
        changed = np.flatnonzero((winners >= 0) & (winners < self._n_nodes))[::-1]
        nodes = winners[changed]  # of several rows for one node the last assigned stays: the earliest
        owner.weights[nodes] = self.weights[changed]
        owner.support[nodes] = self.support[changed]
        owner.counts[nodes] = self.counts[changed]
        owner._derive(nodes)
