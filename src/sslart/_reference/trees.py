"""Randomised decision trees in NumPy: the specification of the compiled kernel.

All sums run over the samples in order, so that both have the same bits.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._reference.algebra import Flags
from sslart._reference.scorer import LEAF, ReferenceTrees
from sslart._utils.arrays import ALL_BITS, STEP, FloatArray, IntArray, KeyArray, mixed_number


class SplitMix:
    """SplitMix64 random numbers, the same on every machine."""

    def __init__(self, seed: int) -> None:
        self._state = seed

    def _next(self) -> int:
        self._state = (self._state + STEP) & ALL_BITS
        return mixed_number(self._state)

    def uniform(self) -> float:
        """Return a number in [0, 1)."""
        return (self._next() >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """Return a number from 0 to n − 1."""
        return self._next() % n


def grow_trees(
    columns: FloatArray,
    starts: IntArray,
    members: IntArray,
    classes: IntArray,
    weights: FloatArray,
    seeds: KeyArray,
    n_tried: int,
    min_weight: float,
    roots: IntArray,
    features: IntArray,
    thresholds: FloatArray,
    left: IntArray,
    shares: FloatArray,
    values: FloatArray,
    stop: Flags,
) -> int:
    """Grow trees, with a random threshold for each of some random columns at each node; return the number of nodes.

    Parameters
    ----------
    columns : array of shape (n_features, n_samples)
        NaN where missing.
    starts, members : arrays of int
        Start of each of the user's columns in `members`, the features sorted by column.
    classes : array of int of length n_samples
    weights : array of shape (n_trees, n_samples)
        0: the sample is not used.
    seeds : array of uint64 of length n_trees
    n_tried : int
        Number of non-constant columns tried at each node, each by one of its features.
    min_weight : float
        Minimum total weight of the samples in a leaf.
    roots, features, thresholds, left, shares, values : arrays
        Filled with the nodes, tree after tree: see `sslart._art.trees.Forest`.
    stop : array of length 1
    """
    n_nodes = n_leaves = 0
    for tree, (own, seed) in enumerate(zip(weights, seeds.tolist(), strict=True)):
        n = _grow_tree(
            columns,
            starts,
            members,
            classes,
            own,
            seed,
            n_tried,
            min_weight,
            features[n_nodes:],
            thresholds[n_nodes:],
            left[n_nodes:],
            shares[n_nodes:],
            values[n_leaves:],
            stop,
        )
        is_leaf = features[n_nodes : n_nodes + n] == LEAF
        left[n_nodes : n_nodes + n] += np.where(is_leaf, n_leaves, n_nodes)
        roots[tree] = n_nodes
        n_nodes, n_leaves = n_nodes + n, n_leaves + int(is_leaf.sum())
    return n_nodes


def _grow_tree(
    columns: FloatArray,
    starts: IntArray,
    members: IntArray,
    classes: IntArray,
    weights: FloatArray,
    seed: int,
    n_tried: int,
    min_weight: float,
    features: IntArray,
    thresholds: FloatArray,
    left: IntArray,
    shares: FloatArray,
    values: FloatArray,
    stop: Flags,
) -> int:
    """Grow one tree from the samples with positive weight; return the number of its nodes."""
    n_classes = values.shape[1]
    random, order = SplitMix(seed), [members[i:j].tolist() for i, j in itertools.pairwise(starts.tolist())]
    parts, n_nodes, n_leaves = [(0, np.flatnonzero(weights > 0))], 1, 0
    while parts and not stop[0]:
        node, rows = parts.pop()
        totals = np.bincount(classes[rows], weights[rows], n_classes)
        total = _sum(totals)
        split = None
        if (totals > 0).sum() > 1 and total >= 2.0 * min_weight:
            split = _best_split(
                columns[:, rows], classes[rows], weights[rows], n_classes, random, order, n_tried, min_weight
            )
        if split is None:
            features[node], thresholds[node], left[node], shares[node] = LEAF, 0.0, n_leaves, 0.0
            values[n_leaves] = totals / total
            n_leaves += 1
            continue
        feature, threshold, share = split
        features[node], thresholds[node], left[node], shares[node] = feature, threshold, n_nodes, share
        own = columns[feature, rows]
        goes_left = np.where(np.isnan(own), share >= 0.5, own <= threshold)  # missing values go with the majority
        parts += [(n_nodes + 1, rows[~goes_left]), (n_nodes, rows[goes_left])]
        n_nodes += 2
    return n_nodes


def _best_split(
    columns: FloatArray,
    classes: IntArray,
    weights: FloatArray,
    n_classes: int,
    random: SplitMix,
    order: list[list[int]],
    n_tried: int,
    min_weight: float,
) -> tuple[int, float, float] | None:
    """Return feature, threshold and left share of the split with the highest gain, or None."""
    best, best_gain, tried = None, -np.inf, 0
    for drawn in range(len(order)):
        if tried == n_tried:
            break
        other = drawn + random.below(len(order) - drawn)
        order[drawn], order[other] = order[other], order[drawn]
        feature = _varying_feature(columns, order[drawn], random)
        if feature is None:
            continue
        tried += 1
        column, is_known = columns[feature], ~np.isnan(columns[feature])
        column, own_classes, own_weights = column[is_known], classes[is_known], weights[is_known]
        lowest, highest = float(column.min()), float(column.max())
        threshold = lowest + random.uniform() * (highest - lowest)
        threshold = lowest if threshold >= highest else threshold
        is_left = column <= threshold
        of_known = np.bincount(own_classes, own_weights, n_classes)
        of_left = np.bincount(own_classes[is_left], own_weights[is_left], n_classes)
        of_right = of_known - of_left
        known, on_left = _sum(of_known), _sum(of_left)
        on_right = known - on_left
        if on_left < min_weight or on_right < min_weight:
            continue
        gain = _sum(of_left**2) / on_left + _sum(of_right**2) / on_right - _sum(of_known**2) / known
        if gain > best_gain:
            best, best_gain = (feature, threshold, on_left / known), gain
    return best


def _varying_feature(columns: FloatArray, features: list[int], random: SplitMix) -> int | None:
    """Return a random non-constant feature; None if there is none."""
    first = random.below(len(features)) if len(features) > 1 else 0
    for feature in features[first:] + features[:first]:
        known = columns[feature][~np.isnan(columns[feature])]
        if len(known) and known.min() < known.max():
            return feature
    return None


def _sum(values: NDArray[Any]) -> float:
    return float(np.add.accumulate(values)[-1])


def tree_scores(
    roots: IntArray,
    features: IntArray,
    thresholds: FloatArray,
    left: IntArray,
    shares: FloatArray,
    values: FloatArray,
    samples: FloatArray,
    found: FloatArray,
    stop: Flags,
) -> None:
    """Fill `found`, shape (n_trees, n_samples, n_classes), with the values of the leaves reached in each tree."""
    trees = ReferenceTrees(0.0, roots, features, thresholds, left, shares, values)
    found[:] = 0.0
    for root, own in zip(roots.tolist(), found, strict=True):
        if stop[0]:
            return
        trees.add_leaves(root, samples, own)
