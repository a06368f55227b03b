"""Randomised decision trees (as ExtraTrees), grown by the backend and stored as flat arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._art.backend import backend
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray, mixed
from sslart._utils.resources import stop_flag
from sslart._utils.validation import require, saved_array, saved_whole

LEAF = -1  # feature index of a leaf
KINDS = (np.uint8, np.uint16, np.uint32)  # types of whole numbers in files
MAX_AT_ONCE = 1 << 17  # possible leaves of the trees grown in one call: memory for all of them is allocated first
MARGIN = 1e-6  # rounding may leave the unit cube by this
MAX_DEPTH = 2000  # of a tree in a file: the kernel descends by recursion, which a deeper tree could overflow


@dataclass(frozen=True)
class Forest:
    """A forest of decision trees as flat arrays, one tree after another.

    A sample goes left at a node if its value of the feature is at most the threshold. If the value is missing, both
    children count, weighted by the shares of the training samples with a value that went left and right.

    Attributes
    ----------
    roots : array of int of length n_trees
    features : array of int of length n_nodes
        The feature that each node splits on; `LEAF` for a leaf.
    thresholds, shares : arrays of length n_nodes
    left : array of int of length n_nodes
        The left child; the right one follows it. For a leaf, its number.
    values : array of shape (n_leaves, n_classes)
        The share of each class among the samples of a leaf.
    """

    roots: IntArray
    features: IntArray
    thresholds: FloatArray
    left: IntArray
    shares: FloatArray
    values: FloatArray

    @classmethod
    def grown(
        cls,
        samples: FloatArray,
        classes: IntArray,
        n_classes: int,
        weights: FloatArray,
        seeds: KeyArray,
        n_tried: int,
        min_weight: float,
        column_of: IntArray | None = None,
    ) -> Forest:
        """Grow a tree for each seed from samples (NaN where missing) and weights of shape (n_trees, n_samples).

        At each node `n_tried` non-constant columns are tried, each by one of its features. `column_of` is the column of
        each feature; None: each is its own. The total weight of the samples in a leaf is at least `min_weight`.
        """
        order = np.arange(samples.shape[1]) if column_of is None else np.argsort(column_of, kind="stable")
        sizes = np.ones_like(order) if column_of is None else np.unique(column_of, return_counts=True)[1]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        columns = np.ascontiguousarray(samples.T)
        n_rows = (weights > 0).sum(axis=1)
        at_once = max(MAX_AT_ONCE // max(int(n_rows.max()), 1), 1)
        forests = []
        for first in range(0, len(weights), at_once):
            own = slice(first, first + at_once)
            most = int(n_rows[own].sum())
            roots = np.empty(len(n_rows[own]), dtype=np.int64)
            features, left = np.empty(2 * most, dtype=np.int64), np.empty(2 * most, dtype=np.int64)
            thresholds, shares, values = np.empty(2 * most), np.empty(2 * most), np.empty((most, n_classes))
            nodes: list[Any] = [features, thresholds, left, shares]
            given = columns, starts, order, classes, np.ascontiguousarray(weights[own]), seeds[own]
            n = backend().grow_trees(*given, n_tried, min_weight, roots, *nodes, values, stop_flag())
            grown = [roots, *(one[:n].copy() for one in nodes), values[: int((features[:n] == LEAF).sum())].copy()]
            forests.append(cls(*grown))
        return forests[0] if len(forests) == 1 else cls.joined(forests)

    @classmethod
    def joined(cls, forests: Sequence[Forest]) -> Forest:
        """Return the trees of several forests as one."""
        sizes, n_leaves = [len(one.features) for one in forests], [len(one.values) for one in forests]
        nodes, leaves = (np.cumsum([0, *counts[:-1]]) for counts in (sizes, n_leaves))
        roots, features, thresholds, left, shares, values = (
            np.concatenate(own) for own in zip(*(one.arrays for one in forests), strict=True)
        )
        return cls(
            roots + np.repeat(nodes, [len(one.roots) for one in forests]),
            features,
            thresholds,
            left + np.where(features == LEAF, np.repeat(leaves, sizes), np.repeat(nodes, sizes)),
            shares,
            values,
        )

    def scores_by_tree(self, samples: FloatArray) -> FloatArray:
        """Return the scores predicted by each tree, shape (n_trees, n_samples, n_classes)."""
        found = np.empty((len(self.roots), len(samples), self.values.shape[1]))
        backend().tree_scores(*self.arrays, np.ascontiguousarray(samples), found, stop_flag())
        return found

    @property
    def tree_of_leaf(self) -> IntArray:
        """The tree of each leaf."""
        nodes = np.flatnonzero(self.features == LEAF)
        trees = np.empty(len(nodes), dtype=np.int64)
        trees[self.left[nodes]] = np.searchsorted(self.roots, nodes, side="right") - 1
        return trees

    def first(self, n: int) -> Forest:
        """Return the first trees of a forest as it was grown."""
        end = int(self.roots[n]) if n < len(self.roots) else len(self.features)
        nodes = self.features[:end], self.thresholds[:end], self.left[:end], self.shares[:end]
        return Forest(self.roots[:n], *nodes, self.values[: int((nodes[0] == LEAF).sum())])

    def by_level(self) -> Forest:
        """Return the same trees with their nodes in breadth-first order.

        The positions of children and leaves then follow from a mask of the leaves.
        """
        levels = [self.roots]
        while len(levels[-1]):
            inner = self.left[levels[-1][self.features[levels[-1]] != LEAF]]
            levels.append(np.column_stack([inner, inner + 1]).reshape(-1))
        order = np.concatenate(levels)
        features = self.features[order]
        left = _places_by_level(features == LEAF, len(self.roots))
        leaves = self.left[order[features == LEAF]]
        roots = np.arange(len(self.roots))
        return Forest(roots, features, self.thresholds[order], left, self.shares[order], self.values[leaves])

    def to_state(self) -> dict[str, Any]:
        """Return the trees in breadth-first order as plain values and arrays; equal leaves are stored once."""
        own = self.by_level()
        values, of_leaf = _distinct(own.values)
        inner = own.features != LEAF
        return {
            "n_trees": len(own.roots),
            "features": _smallest(own.features + 1),
            "thresholds": own.thresholds[inner],
            "shares": own.shares[inner],
            "leaves": _smallest(of_leaf),
            "values": values,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_features: int, n_classes: int, largest: float) -> Forest:
        """Restore the trees from a saved state after validating it.

        The nodes of each level are the children of those before, so that every path ends at a leaf. `largest`: the
        maximum absolute value of a leaf.
        """
        stored = _saved_numbers(state, "features", None, n_features)
        is_leaf, features = stored == 0, stored.astype(np.int64)
        features -= 1  # a leaf has none
        n_trees, n_leaves = saved_whole(state, "n_trees", 1, max(len(features), 1)), int(is_leaf.sum())
        n_inner = len(features) - n_leaves
        require(len(features) == n_trees + 2 * n_inner, "the trees")
        left, end = _places_by_level(is_leaf, n_trees), n_trees
        start, depth = 0, 0
        while end < len(features):
            n_children = 2 * (end - start - int(np.count_nonzero(is_leaf[start:end])))
            start, end, depth = end, end + n_children, depth + 1
            require(n_children and depth <= MAX_DEPTH, "the trees")
        sides, inner = np.zeros((2, len(features))), np.flatnonzero(~is_leaf)
        inside = {"thresholds": (-MARGIN, 1 + MARGIN), "shares": (0.0, 1.0)}
        for own, (name, (low, high)) in zip(sides, inside.items(), strict=True):
            own[inner] = saved_array(state, name, np.float64, n_inner, low=low, high=high)
        values = saved_array(state, "values", np.float64, None, n_classes, low=-largest, high=largest)
        of_leaf = _saved_numbers(state, "leaves", n_leaves, len(values) - 1)
        return cls(np.arange(n_trees), features, sides[0], left, sides[1], values[of_leaf])

    @property
    def arrays(self) -> tuple[IntArray, IntArray, FloatArray, IntArray, FloatArray, FloatArray]:
        """All arrays, as the backend takes them."""
        return self.roots, self.features, self.thresholds, self.left, self.shares, self.values


def _places_by_level(is_leaf: BoolArray, n_trees: int) -> IntArray:
    """Return the left child of each inner node in level order, and the number of each leaf."""
    left = np.empty(len(is_leaf), dtype=np.int64)
    for rows, start, step in ((np.flatnonzero(is_leaf), 0, 1), (np.flatnonzero(~is_leaf), n_trees, 2)):
        left[rows] = np.arange(start, start + step * len(rows), step)
    return left


def _smallest(numbers: IntArray) -> NDArray[np.unsignedinteger[Any]]:
    """Return whole numbers from 0 in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _saved_numbers(state: Mapping[str, Any], name: str, n: int | None, high: int) -> NDArray[Any]:
    """Return whole numbers from 0 of a saved state, of the type that they are in."""
    kind = getattr(state[name], "dtype", None)
    return saved_array(state, name, next((one for one in KINDS if kind == one), KINDS[-1]), n, low=0, high=high)


def _distinct(values: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the distinct rows in order of first appearance, and the index of each row among them."""
    keys = np.zeros(len(values), dtype=np.uint64)
    for column in np.ascontiguousarray(values).view(np.uint64).T:
        keys = mixed(keys ^ column)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rows, places = values[first[order]], np.argsort(order)[inverse.reshape(-1)]
    is_same = np.array_equal(rows[places].view(np.uint64), np.ascontiguousarray(values).view(np.uint64))
    return (rows, places) if is_same else (values, np.arange(len(values)))
