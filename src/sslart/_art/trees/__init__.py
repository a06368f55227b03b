"""Randomised decision trees: grown by the backend, kept as flat arrays. A leaf is a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sslart._art.backend import backend
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.parallel import stop_flag
from sslart._utils.random_keys import KeyArray

LEAF = -1  # in the place of a feature


@dataclass(frozen=True)
class Forest:
    """Some trees, their nodes one after the other.

    A sample goes left at a node if its value of the feature is at most the threshold. Where the value is missing, both
    children count, each by its share.

    Attributes
    ----------
    roots : array of int of length n_trees
    features : array of int of length n_nodes
        The feature that each node looks at; `LEAF` for a leaf.
    thresholds : array of length n_nodes
    left : array of int of length n_nodes
        The left child; the right one follows it. Of a leaf, its number.
    shares : array of length n_nodes
        The share of the samples learnt, of those with a value, that went left.
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
        """Grow trees.

        Parameters
        ----------
        samples : array of shape (n_samples, n_features)
            NaN where missing.
        classes : array of int of length n_samples
        n_classes : int
        weights : array of shape (n_trees, n_samples)
            How much each sample counts for each tree; 0: it takes no part.
        seeds : array of uint64 of length n_trees
        n_tried : int
            How many columns are tried at each node, each by one of its features, constant ones not counted.
        min_weight : float
            What the samples of a leaf weigh at least.
        column_of : array of int of length n_features, or None
            The column that each feature stands for; None: each is its own.
        """
        order = np.arange(samples.shape[1]) if column_of is None else np.argsort(column_of, kind="stable")
        sizes = np.ones_like(order) if column_of is None else np.unique(column_of, return_counts=True)[1]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        columns = np.ascontiguousarray(samples.T)
        most = max(int((weights > 0).sum(axis=1).max()), 1)
        features, left = np.empty(2 * most, dtype=np.int64), np.empty(2 * most, dtype=np.int64)
        thresholds, shares, values = np.empty(2 * most), np.empty(2 * most), np.empty((most, n_classes))
        trees = []
        for seed, own in zip(seeds.tolist(), weights, strict=True):
            n = backend().grow_tree(
                columns,
                starts,
                order,
                classes,
                np.ascontiguousarray(own),
                seed,
                n_tried,
                min_weight,
                features,
                thresholds,
                left,
                shares,
                values,
                stop_flag(),
            )
            n_leaves = int((features[:n] == LEAF).sum())
            trees.append(
                cls(
                    np.zeros(1, dtype=np.int64),
                    features[:n].copy(),
                    thresholds[:n].copy(),
                    left[:n].copy(),
                    shares[:n].copy(),
                    values[:n_leaves].copy(),
                )
            )
        return cls.joined(trees)

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
        """Return what each tree predicts, shape (n_trees, n_samples, n_classes)."""
        found = np.empty((len(self.roots), len(samples), self.values.shape[1]))
        backend().tree_scores(*self.arrays, np.ascontiguousarray(samples), found, stop_flag())
        return found

    @property
    def arrays(self) -> tuple[IntArray, IntArray, FloatArray, IntArray, FloatArray, FloatArray]:
        """All arrays, as the backend takes them."""
        return self.roots, self.features, self.thresholds, self.left, self.shares, self.values
