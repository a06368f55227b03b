"""Evidence scores and Shapley values of columns in NumPy: the specification of the compiled kernel."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sslart._reference.algebra import Flags
from sslart._utils.arrays import FloatArray, IntArray, SingleArray

RankTables = list[tuple[FloatArray, FloatArray]]


class Scorer:
    """Evidence scores of samples: a bias and a sum of terms, each on its own mixture of values and ranks."""

    def __init__(self, bias: FloatArray) -> None:
        _require(bias.ndim == 1 and len(bias) > 0, "bias must have the length n_classes, at least 1")
        self._bias = bias.copy()
        self._knots: RankTables = []
        self._terms: list[ReferenceTerm] = []
        self._n_features: int | None = None
        self._n_features_needed = 0

    def set_ranks(self, offsets: IntArray, values: FloatArray, shares: FloatArray) -> None:
        """Set the concatenated rank tables of all features; `offsets` has the start of each table, and the end.

        A table has the share of all samples at or below each value, interpolated linearly; values increase. A feature
        with an empty table keeps its values.
        """
        ends = len(offsets) > 0 and offsets[0] == 0 and offsets[-1] == len(values) == len(shares)
        _require(bool(ends), "offsets must start at 0 and end at the length of values and shares")
        _require(bool((np.diff(offsets) >= 0).all()), "offsets must not decrease")
        knots = [(values[i:j].copy(), shares[i:j].copy()) for i, j in itertools.pairwise(offsets)]
        _require(all((np.diff(x) > 0).all() for x, _ in knots), "values must increase within each feature")
        self._fits(len(knots), 0)
        self._knots = knots

    def add_boxes(
        self,
        rank_weight: float,
        features: IntArray,
        factors: FloatArray,
        lower: SingleArray,
        upper: SingleArray,
        rate: float,
        weights: SingleArray,
    ) -> None:
        """Add the term Σ exp(−rate · distance)^(2^level) · weight, over boxes and levels.

        Distances use some `features`, each with a factor; sides, of shape (n_blocks, n_features, 16), are infinite if a
        box has none. `weights` have the shape (n_levels, n_classes, n_blocks * 16).
        """
        n_blocks = len(lower)
        _require(
            lower.shape == upper.shape == (n_blocks, len(features), 16),
            "lower and upper must have the shape (n_blocks, n_features, 16)",
        )
        _require(len(factors) == len(features), "factors must have the length of features")
        _require(
            weights.shape[1:] == (len(self._bias), n_blocks * 16),
            "weights must have the shape (n_levels, n_classes, n_blocks * 16)",
        )
        _require(0.0 < rate < np.inf, "rate must be positive and finite")
        _require(bool((features >= 0).all()), "features must not be negative")
        arrays = (features.copy(), factors.copy(), lower.copy(), upper.copy())
        needed = int(features.max(initial=-1)) + 1
        single = float(np.float32(rate))  # single precision as in the kernel
        self._add(ReferenceBoxes(rank_weight, *arrays, single, weights.copy()), None, needed)

    def add_graph(self, rank_weight: float, centres: FloatArray, missing: FloatArray, outputs: FloatArray) -> None:
        """Add the output of the nearest centre, shape (n_centres, n_classes); `missing` replaces missing values."""
        _require(
            len(centres) > 0 and missing.shape == centres.shape[1:],
            "centres must have the shape (n_centres, n_features), missing the length n_features",
        )
        _require(outputs.shape == (len(centres), len(self._bias)), "outputs must have the shape (n_centres, n_classes)")
        self._add(ReferenceGraph(rank_weight, centres.copy(), missing.copy(), outputs.copy()), centres.shape[1], 0)

    def add_linear(self, rank_weight: float, centre: FloatArray, slopes: FloatArray) -> None:
        """Add Σ (x − centre) · slope over the features that a sample has; slopes of shape (n_features, n_classes)."""
        _require(
            slopes.shape == (len(centre), len(self._bias)),
            "centre must have the length n_features, slopes the shape (n_features, n_classes)",
        )
        self._add(ReferenceLines(rank_weight, centre.copy(), slopes.copy()), len(centre), 0)

    def add_splines(self, rank_weight: float, heights: FloatArray) -> None:
        """Add a piecewise linear function per feature with equidistant knots on [0, 1]; missing values add nothing.

        `heights` have the shape (n_features, n_knots, n_classes).
        """
        _require(
            heights.ndim == 3 and heights.shape[1] >= 2 and heights.shape[2] == len(self._bias),
            "heights must have the shape (n_features, n_knots, n_classes) with at least 2 knots",
        )
        self._add(ReferenceSplines(rank_weight, heights.copy()), len(heights), 0)

    def add_trees(
        self,
        rank_weight: float,
        roots: IntArray,
        features: IntArray,
        thresholds: FloatArray,
        left: IntArray,
        shares: FloatArray,
        values: FloatArray,
    ) -> None:
        """Add trees, with the values of their leaves: see `sslart._art.trees.Forest`."""
        n_nodes, nodes = len(features), np.arange(len(features))
        _require(values.shape[1:] == self._bias.shape, "values must have the shape (n_leaves, n_classes)")
        _require(
            len(thresholds) == len(left) == len(shares) == n_nodes,
            "features, thresholds, left and shares must have the length n_nodes",
        )
        _require(bool(((roots >= 0) & (roots < n_nodes)).all()), "roots must be nodes")
        is_leaf = (features == LEAF) & (left >= 0) & (left < len(values))
        is_inner = (features >= 0) & (left > nodes) & (left + 1 < n_nodes)
        _require(bool((is_leaf | is_inner).all()), "left must be a leaf, or a node that comes later")
        trees = ReferenceTrees(
            rank_weight, roots.copy(), features.copy(), thresholds.copy(), left.copy(), shares.copy(), values.copy()
        )
        self._add(trees, None, int(features.max(initial=-1)) + 1)

    def scores(self, coded: FloatArray, scores: FloatArray, n_threads: int, stop: Flags) -> None:
        """Fill `scores`, shape (n_samples, n_classes), with those of coded samples, NaN where missing."""
        _require(scores.shape == (len(coded), len(self._bias)), "scores must have the shape (n_samples, n_classes)")
        self._require_features(coded)
        scores[:] = self._bias
        blended = {term.rank_weight: blended_with_ranks(coded, self._knots, term.rank_weight) for term in self._terms}
        for term in self._terms:
            scores += term.scores(blended[term.rank_weight], stop)

    def contributions(
        self,
        coded: FloatArray,
        columns: IntArray,
        by_column: FloatArray,
        of_graph: FloatArray,
        n_threads: int,
        stop: Flags,
    ) -> None:
        """Divide scores among the columns that the features encode, as Shapley values; missing values add nothing.

        The score of a sample is that of a sample without values, plus the Shapley values of all columns, plus the
        difference of the graph term. Fills `by_column`, shape (n_samples, n_columns, n_classes), and `of_graph`.
        """
        _require(
            by_column.ndim == 3 and by_column.shape[::2] == (len(coded), len(self._bias)),
            "by_column must have the shape (n_samples, n_columns, n_classes)",
        )
        _require(of_graph.shape == (len(coded), len(self._bias)), "of_graph must have the shape (n_samples, n_classes)")
        _require(columns.shape == coded.shape[1:], "columns must have the length n_features")
        in_range = (columns >= 0) & (columns < by_column.shape[1])
        _require(bool(in_range.all()), "columns must be from 0 to n_columns - 1")
        self._require_features(coded)
        by_column[:], of_graph[:] = 0.0, 0.0
        blended = {term.rank_weight: blended_with_ranks(coded, self._knots, term.rank_weight) for term in self._terms}
        for term in self._terms:
            term.contribute(blended[term.rank_weight], columns, by_column, of_graph)
            if stop[0]:
                return

    def _require_features(self, coded: FloatArray) -> None:
        _require(
            coded.shape[1] >= self._n_features_needed and self._n_features in (None, coded.shape[1]),
            "coded must have the shape (n_samples, n_features) with the features of the terms",
        )

    def _add(self, term: ReferenceTerm, n_features: int | None, n_features_needed: int) -> None:
        _require(0.0 <= term.rank_weight <= 1.0, "rank_weight must lie in [0, 1]")
        self._fits(n_features, n_features_needed)
        self._terms.append(term)

    def _fits(self, n_features: int | None, n_features_needed: int) -> None:
        known = n_features if self._n_features is None else self._n_features
        needed = max(self._n_features_needed, n_features_needed)
        _require(n_features in (None, known), "all terms must have the same number of features")
        _require(known is None or needed <= known, "features must be less than the number of features")
        self._n_features, self._n_features_needed = known, needed


def blended_with_ranks(coded: FloatArray, tables: RankTables, rank_weight: float) -> FloatArray:
    """Return coded samples with each value replaced by a mixture with its rank."""
    blended = coded.copy()
    for feature, (values, shares) in enumerate(tables):
        if rank_weight and len(values):
            x = coded[:, feature]
            blended[:, feature] = (1.0 - rank_weight) * x + rank_weight * np.interp(x, values, shares)
    return blended


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)


LEAF = -1  # feature index of a leaf


def measure(samples: SingleArray, lower: SingleArray, upper: SingleArray, distances: SingleArray, stop: Flags) -> None:
    """Fill `distances` with the L1 distance of each sample to each box, without missing values.

    The sides of boxes, in blocks of shape (n_features, width), are infinite if a box has none.
    """
    distances[:] = 0.0
    for feature in range(samples.shape[1]):
        if stop[0]:
            return
        values = samples[:, feature, None]
        gaps = np.maximum(lower[:, feature].ravel() - values, values - upper[:, feature].ravel())
        distances += np.fmax(gaps, np.float32(0.0))


def nearest_centres(
    samples: FloatArray, centres: FloatArray, missing: FloatArray, nearest: IntArray, stop: Flags
) -> None:
    """Fill `nearest` with the nearest centre of each sample, the first on ties; `missing` replaces missing values."""
    if not len(centres) or centres.shape[1] != samples.shape[1] or missing.shape != samples.shape[1:]:
        raise ValueError("centres must have the shape (n_centres, n_features), missing the length n_features")
    if nearest.shape != samples.shape[:1]:
        raise ValueError("nearest must have the length n_samples")
    single_centres = centres.astype(np.float32)
    single_samples = np.where(np.isnan(samples), missing, samples).astype(np.float32)
    squares = np.zeros(len(centres))
    for by_feature in single_centres.T.astype(np.float64):
        squares += by_feature * by_feature
    products = np.zeros((len(samples), len(centres)), dtype=np.float32)
    for x, c in zip(single_samples.T, single_centres.T, strict=True):
        if stop[0]:
            return
        products += x[:, None] * c
    nearest[:] = ((0.5 * squares).astype(np.float32) - products).argmin(axis=1)  # half the square, less ½|x|²


@dataclass(frozen=True)
class ReferenceTerm(ABC):
    """One summand of the scores; `rank_weight` is the weight of ranks in the mixture, from 0 to 1."""

    rank_weight: float

    @abstractmethod
    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        """Return the contribution of the term to the scores, shape (n_samples, n_classes)."""

    @abstractmethod
    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        """Add the Shapley value of each column to `sums`; the graph, which has none, is added to `graph`."""


@dataclass(frozen=True)
class ReferenceBoxes(ReferenceTerm):
    features: IntArray
    factors: FloatArray
    lower: SingleArray
    upper: SingleArray
    rate: float
    weights: SingleArray

    def _selected(self, samples: FloatArray) -> SingleArray:
        return np.ascontiguousarray(samples[:, self.features] * self.factors, dtype=np.float32)

    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        activations = np.empty((len(samples), self.weights.shape[2]), dtype=np.float32)
        measure(self._selected(samples), self.lower, self.upper, activations, stop)
        np.exp(activations * np.float32(-self.rate), out=activations)
        scores = np.zeros((len(samples), self.weights.shape[1]))
        for level in self.weights:
            for own, row in zip(
                scores, activations, strict=True
            ):  # row by row, so that the bits do not depend on others
                own += (level * row).sum(axis=1, dtype=np.float64)
            np.multiply(activations, activations, out=activations)
        return scores

    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        own, group_of = np.unique(columns[self.features], return_inverse=True)
        lower, upper = (side.transpose(1, 0, 2).reshape(len(self.features), -1) for side in (self.lower, self.upper))
        nodes, node_weights = np.polynomial.legendre.leggauss((len(own) + 1) // 2)
        for row, sample in enumerate(self._selected(samples).astype(np.float64)):
            gaps = np.fmax(np.maximum(lower - sample[:, None], sample[:, None] - upper), 0.0)
            distances = np.zeros((len(own), lower.shape[1]))
            np.add.at(distances, group_of, gaps)
            for number, level in enumerate(self.weights.astype(np.float64)):
                values = _shapley_values(np.expm1(-self.rate * 2.0**number * distances), nodes, node_weights)
                sums[row, own] += np.einsum("gb,cb->gc", values, level)


def _shapley_values(changes: FloatArray, nodes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return c_j ∫₀¹ Π_{g≠j} (1 + t c_g) dt for each column j and box, by quadrature with nodes on [−1, 1]."""
    values = np.zeros_like(changes)
    for t, weight in zip((1.0 + nodes) / 2.0, weights / 2.0, strict=True):
        factors = 1.0 + t * changes
        before = np.cumprod(np.vstack([np.ones_like(factors[:1]), factors[:-1]]), axis=0)
        after = np.cumprod(np.vstack([np.ones_like(factors[:1]), factors[:0:-1]]), axis=0)[::-1]
        values += weight * before * after
    return np.asarray(values * changes)


@dataclass(frozen=True)
class ReferenceGraph(ReferenceTerm):
    centres: FloatArray
    missing: FloatArray
    outputs: FloatArray

    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        nearest = np.zeros(len(samples), dtype=np.int64)
        nearest_centres(samples, self.centres, self.missing, nearest, stop)
        return np.asarray(self.outputs[nearest])

    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        graph += self.scores(samples, np.zeros(1, dtype=np.uint8))


class AdditiveTerm(ReferenceTerm):
    """A sum over features, each of which is its own Shapley value."""

    @abstractmethod
    def by_feature(self, samples: FloatArray) -> FloatArray:
        """Return the contribution of each feature, shape (n_samples, n_features, n_classes)."""

    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        return np.asarray(self.by_feature(samples).sum(axis=1))

    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        np.add.at(sums.transpose(1, 0, 2), columns, self.by_feature(samples).transpose(1, 0, 2))


@dataclass(frozen=True)
class ReferenceLines(AdditiveTerm):
    centre: FloatArray
    slopes: FloatArray

    def by_feature(self, samples: FloatArray) -> FloatArray:
        return np.asarray(np.nan_to_num(samples - self.centre)[:, :, None] * self.slopes)


@dataclass(frozen=True)
class ReferenceSplines(AdditiveTerm):
    heights: FloatArray

    def by_feature(self, samples: FloatArray) -> FloatArray:
        last = self.heights.shape[1] - 1
        position = np.clip(np.nan_to_num(samples), 0.0, 1.0) * last
        below = np.minimum(position.astype(np.int64), last - 1)
        part = (position - below)[:, :, None]
        each = np.arange(samples.shape[1])
        values = (1.0 - part) * self.heights[each, below] + part * self.heights[each, below + 1]
        return np.where(np.isnan(samples)[:, :, None], 0.0, values)


@dataclass(frozen=True)
class ReferenceTrees(ReferenceTerm):
    """Trees as a term of the scores."""

    roots: IntArray
    features: IntArray
    thresholds: FloatArray
    left: IntArray
    shares: FloatArray
    values: FloatArray

    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        scores = np.zeros((len(samples), self.values.shape[1]))
        for root in self.roots.tolist():
            if stop[0]:
                break
            self.add_leaves(root, samples, scores)
        return scores

    def add_leaves(self, root: int, samples: FloatArray, scores: FloatArray) -> None:
        """Add the values of the leaves that samples reach; if a value is missing, both children count."""
        parts = [(root, np.arange(len(samples)), np.ones(len(samples)))]
        while parts:
            node, rows, weights = parts.pop()
            if self.features[node] == LEAF:
                scores[rows] += weights[:, None] * self.values[self.left[node]]
                continue
            own, child, share = samples[rows, self.features[node]], int(self.left[node]), self.shares[node]
            is_missing = np.isnan(own)
            for side, goes, part in (
                (1, own > self.thresholds[node], 1.0 - share),
                (0, own <= self.thresholds[node], share),
            ):
                those = goes | is_missing
                if those.any():
                    parts.append((child + side, rows[those], np.where(is_missing, part, 1.0)[those] * weights[those]))

    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        for row, sample in enumerate(samples):
            for root in self.roots.tolist():
                for leaf, known, unknown in self._leaves(root, sample, columns):
                    for column, value in _path_shapley_values(known, unknown).items():
                        sums[row, column] += value * self.values[leaf]

    def _leaves(
        self, root: int, sample: FloatArray, columns: IntArray
    ) -> Iterator[tuple[int, dict[int, float], dict[int, float]]]:
        """Yield each leaf with factors of the columns on its path, for a known and for an unknown value."""
        parts: list[tuple[int, dict[int, float], dict[int, float]]] = [(root, {}, {})]
        while parts:
            node, known, unknown = parts.pop()
            feature = int(self.features[node])
            if feature == LEAF:
                yield int(self.left[node]), known, unknown
                continue
            column, value = int(columns[feature]), sample[feature]
            for side in (0, 1):
                share = float(1.0 - self.shares[node] if side else self.shares[node])
                inside = share if np.isnan(value) else float((value <= self.thresholds[node]) == (side == 0))
                parts.append(
                    (
                        int(self.left[node]) + side,
                        {**known, column: known.get(column, 1.0) * inside},
                        {**unknown, column: unknown.get(column, 1.0) * share},
                    )
                )


def _path_shapley_values(known: dict[int, float], unknown: dict[int, float]) -> dict[int, float]:
    """Return (z_j − p_j) ∫₀¹ Π_{g≠j} (p_g + t (z_g − p_g)) dt for each column j, by quadrature."""
    nodes, weights = np.polynomial.legendre.leggauss((len(known) + 1) // 2 or 1)
    t = (1.0 + nodes) / 2.0
    factors = {column: unknown[column] + t * (known[column] - unknown[column]) for column in known}
    found = {}
    for column in known:
        product = weights / 2.0
        for other, factor in factors.items():
            if other != column:
                product = product * factor
        found[column] = float((known[column] - unknown[column]) * product.sum())
    return found
