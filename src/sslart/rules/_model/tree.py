"""A decision tree that imitates the model: grown where it gains most, with few features on each path."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.rules._model.grid import Gain, Grid, Split


@dataclass(eq=False)
class Node:
    """A node of the tree; a leaf until it has a split.

    Attributes
    ----------
    rows : array of int
        The samples that reach it.
    split : Split or None
    children : tuple of two nodes, or None
        Where the samples go, left first.
    outcome : int
        What a leaf predicts.
    gain : Gain or None
        The best split of a leaf, once it is known.
    """

    rows: IntArray
    split: Split | None = None
    children: tuple[Node, Node] | None = None
    outcome: int = 0
    gain: Gain | None = None

    def cut(self, split: Split, grid: Grid) -> None:
        """Split a leaf into two leaves."""
        left = grid.left(split, self.rows)
        self.split, self.children = split, (Node(self.rows[left]), Node(self.rows[~left]))

    def close(self, outcome: int) -> None:
        """Turn a node into a leaf."""
        self.split, self.children, self.outcome, self.gain = None, None, outcome, None

    def refill(self, rows: IntArray, grid: Grid) -> None:
        """Redistribute samples from this node down to the leaves."""
        self.rows, self.gain = rows, None
        if self.split is not None and self.children is not None:
            left = grid.left(self.split, rows)
            for child, own in zip(self.children, (rows[left], rows[~left]), strict=True):
                child.refill(own, grid)

    def predict(self, grid: Grid, rows: IntArray) -> IntArray:
        """Return the outcome of the leaf that each sample reaches."""
        if self.split is None or self.children is None:
            return np.full(len(rows), self.outcome)
        left = grid.left(self.split, rows)
        outcomes = np.empty(len(rows), dtype=np.int64)
        outcomes[left] = self.children[0].predict(grid, rows[left])
        outcomes[~left] = self.children[1].predict(grid, rows[~left])
        return outcomes

    def leaves(self, features: frozenset[int] = frozenset()) -> Iterator[tuple[Node, frozenset[int]]]:
        """Yield the leaves from left to right, each with the features on its path below this node."""
        if self.split is None or self.children is None:
            yield self, features
        else:
            for child in self.children:
                yield from child.leaves(features | {self.split.column})

    def fidelity(self, grid: Grid) -> float:
        """Return the fidelity: the weighted share of samples on which the tree agrees with the model."""
        every = np.arange(len(grid))
        return float(np.average(self.predict(grid, every) == grid.outcomes, weights=grid.weights))


@dataclass(frozen=True)
class Growth:
    """Limits and procedure of growing a tree.

    Attributes
    ----------
    max_leaves : int
    max_features : int
        How many features a path may have.
    min_weight : float
        What a leaf must have at least.
    """

    max_leaves: int
    max_features: int
    min_weight: float

    def grow(self, root: Node, grid: Grid, weights: FloatArray, candidates: BoolArray) -> None:
        """Split the leaf that gains most, again and again.

        Parameters
        ----------
        root : Node
        grid : Grid
        weights : array of length n_samples
            Take the place of those of the grid.
        candidates : array of length n_columns
            The features that take part.
        """
        leaves = list(root.leaves())
        while len(leaves) < self.max_leaves:
            for leaf, features in leaves:
                if leaf.gain is None:
                    allowed = candidates & within(features, self.max_features, len(candidates))
                    leaf.gain = grid.best_split(leaf.rows, allowed, self.min_weight, weights)
            gains = [0.0 if leaf.gain is None else leaf.gain.amount for leaf, _ in leaves]
            place = int(np.argmax(gains))
            leaf, features = leaves[place]
            if leaf.gain is None or leaf.gain.split is None:
                return
            split = leaf.gain.split
            leaf.cut(split, grid)
            leaves[place : place + 1] = [(child, features | {split.column}) for child in leaf.children or ()]


def within(features: frozenset[int], most: int, n_columns: int) -> BoolArray:
    """Tell which features may follow on a path: all while there is room, then only those it has already."""
    allowed = np.full(n_columns, len(features) < most)
    allowed[list(features)] = True
    return allowed
