"""Evidence scores in plain NumPy, and what each column adds to them: the specification of the compiled kernel."""

from __future__ import annotations

import itertools

import numpy as np

from sslart._reference.terms import (
    Flags,
    ReferenceBoxes,
    ReferenceGraph,
    ReferenceLines,
    ReferenceSplines,
    ReferenceTerm,
)
from sslart._reference.trees import LEAF, ReferenceTrees
from sslart._utils.arrays import FloatArray, IntArray, SingleArray


class Scorer:
    """Evidence scores of samples: a bias and a sum of terms, each on its own mixture of values and ranks.

    Parameters
    ----------
    bias : array of length n_classes
    """

    def __init__(self, bias: FloatArray) -> None:
        _require(bias.ndim == 1 and len(bias) > 0, "bias must have the length n_classes, at least 1")
        self._bias = bias.copy()
        self._knots: list[tuple[FloatArray, FloatArray]] = []
        self._terms: list[ReferenceTerm] = []
        self._n_features: int | None = None
        self._n_features_needed = 0

    def set_ranks(self, offsets: IntArray, values: FloatArray, shares: FloatArray) -> None:
        """Set the rank tables of all features, one after the other.

        Parameters
        ----------
        offsets : array of length n_features + 1
            Where the table of each feature starts; a feature with an empty table keeps its values.
        values, shares : arrays
            The share of all samples at or below each value, straight between entries; values increase.
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

        Parameters
        ----------
        rank_weight : float
            How much of each value is its rank: 0 none, 1 all.
        features : array of int
            The features in which the boxes lie.
        factors : array of the same length
            What a distance in each of them is multiplied by.
        lower, upper : arrays of shape (n_blocks, n_features of the boxes, 16)
            The sides; -inf and inf where a box has none.
        rate : float
        weights : array of shape (n_levels, n_classes, n_blocks * 16)
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
        single = float(np.float32(rate))  # as the kernel keeps it
        self._add(ReferenceBoxes(rank_weight, *arrays, single, weights.copy()), None, needed)

    def add_graph(self, rank_weight: float, centres: FloatArray, missing: FloatArray, outputs: FloatArray) -> None:
        """Add the output of the nearest centre.

        Parameters
        ----------
        rank_weight : float
        centres : array of shape (n_centres, n_features)
        missing : array of length n_features
            Replaces a missing value.
        outputs : array of shape (n_centres, n_classes)
        """
        _require(
            len(centres) > 0 and missing.shape == centres.shape[1:],
            "centres must have the shape (n_centres, n_features), missing the length n_features",
        )
        _require(outputs.shape == (len(centres), len(self._bias)), "outputs must have the shape (n_centres, n_classes)")
        self._add(ReferenceGraph(rank_weight, centres.copy(), missing.copy(), outputs.copy()), centres.shape[1], 0)

    def add_linear(self, rank_weight: float, centre: FloatArray, slopes: FloatArray) -> None:
        """Add Σ (x − centre) · slope over the features that a sample has.

        Parameters
        ----------
        rank_weight : float
        centre : array of length n_features
        slopes : array of shape (n_features, n_classes)
        """
        _require(
            slopes.shape == (len(centre), len(self._bias)),
            "centre must have the length n_features, slopes the shape (n_features, n_classes)",
        )
        self._add(ReferenceLines(rank_weight, centre.copy(), slopes.copy()), len(centre), 0)

    def add_splines(self, rank_weight: float, heights: FloatArray) -> None:
        """Add a function per feature, straight between evenly spaced knots on [0, 1]; a missing value adds nothing.

        Parameters
        ----------
        rank_weight : float
        heights : array of shape (n_features, n_knots, n_classes)
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
        """Add the values of the leaves that a sample reaches.

        Parameters
        ----------
        rank_weight : float
            How much of each value is its rank: 0 none, 1 all.
        roots, features, thresholds, left, shares, values : arrays
            See `sslart._art.trees.Forest`.
        """
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
        """Score samples.

        Parameters
        ----------
        coded : array of shape (n_samples, n_features)
            Coded samples, NaN where missing.
        scores : array of shape (n_samples, n_classes)
            Filled with the scores.
        n_threads : int
            For the compiled kernel.
        stop : array of length 1
            Not zero once another thread wants this one to stop.
        """
        _require(scores.shape == (len(coded), len(self._bias)), "scores must have the shape (n_samples, n_classes)")
        self._require_features(coded)
        scores[:] = self._bias
        blended = {term.rank_weight: self._blend(coded, term.rank_weight) for term in self._terms}
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
        """Divide scores among the columns that the features encode: Shapley values, where a missing value adds nothing.

        The score of a sample is that of a sample without values, plus the values of all columns, plus the difference
        in what the graph adds.

        Parameters
        ----------
        coded : array of shape (n_samples, n_features)
            Coded samples, NaN where missing.
        columns : array of length n_features
            The column that each feature encodes.
        by_column : array of shape (n_samples, n_columns, n_classes)
            Filled with the Shapley value of each column, without the graph.
        of_graph : array of shape (n_samples, n_classes)
            Filled with what the graph adds.
        n_threads : int
            For the compiled kernel.
        stop : array of length 1
            Not zero once another thread wants this one to stop.
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
        blended = {term.rank_weight: self._blend(coded, term.rank_weight) for term in self._terms}
        for term in self._terms:
            term.contribute(blended[term.rank_weight], columns, by_column, of_graph)
            if stop[0]:
                return

    def _require_features(self, coded: FloatArray) -> None:
        _require(
            coded.shape[1] >= self._n_features_needed and self._n_features in (None, coded.shape[1]),
            "coded must have the shape (n_samples, n_features) with the features of the terms",
        )

    def _blend(self, coded: FloatArray, rank_weight: float) -> FloatArray:
        blended = coded.copy()
        for feature, (values, shares) in enumerate(self._knots):
            if rank_weight and len(values):
                x = coded[:, feature]
                blended[:, feature] = (1.0 - rank_weight) * x + rank_weight * np.interp(x, values, shares)
        return blended

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


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
