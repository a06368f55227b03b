"""The whole algorithm in plain NumPy, to be read beside the paper: the specification of the compiled kernel.

Symbols as in the paper: x a sample, A its complement code, W the weights, ρ the vigilance, α the choice
parameter, β the learning rate, J the winning node, T the depth of the search, F the counts of the one-to-many map.
The model's own decisions, where the paper leaves something open, are in docs/model.md.

The functions work on the arrays of `sslart._art.nodes.Nodes` in place, as the compiled kernel does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from sslart._data.encoder import GRID
from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, SingleArray

Flags = np.ndarray[tuple[int], np.dtype[np.uint8]]
Term = Callable[[FloatArray, FloatArray, Flags], None]

NO_NODE = -1


def complement_code(x: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return A = (x, 1 − x), and which elements of A the sample has: a missing value takes no part in any sum."""
    A = np.concatenate([x, 1.0 - x])
    return A, ~np.isnan(A)


def choice_and_match(A: FloatArray, present: BoolArray, W: FloatArray, choice: float) -> tuple[FloatArray, FloatArray]:
    """Choice T_j = |A ∧ W_j| / (α + |W_j|) and match |A ∧ W_j| / |A| of every node, over the values present."""
    shared = np.minimum(A[present], W[:, present]).sum(axis=1)
    return shared / (choice + W[:, present].sum(axis=1)), shared / A[present].sum()


def winner_among(active: BoolArray, choices: FloatArray) -> int:
    """J = argmax T_j over the active nodes, the lowest index on ties."""
    return int(np.where(active, choices, -np.inf).argmax()) if active.any() else NO_NODE


def resonating_node(
    choices: FloatArray,
    matches: FloatArray,
    labels: IntArray,
    target: int,
    vigilance: float,
    match_tracking: float,
    one_to_one: bool,
) -> int:
    """Search for the node that learns the sample; NO_NODE where a new one is needed.

    The paper's cycle takes the best node, tests vigilance, switches the node off where it fails, and repeats. That is
    the best among the nodes that pass. One-to-one mapping also switches off a node of another class, and raises
    vigilance to just above its match for the rest of the search.
    """
    active = matches >= vigilance
    while True:
        J = winner_among(active, choices)
        if J == NO_NODE or not one_to_one or target == UNLABELLED or labels[J] in (UNLABELLED, target):
            return J
        active &= matches >= matches[J] + match_tracking
        active[J] = False


def adapted(A: FloatArray, present: BoolArray, W_J: FloatArray, learning_rate: float) -> FloatArray:
    """W_J ← β(A ∧ W_J) + (1 − β)W_J on the grid; a side that no sample has reached yet takes the sample's value."""
    D = len(A) // 2
    reached = W_J[:D] + W_J[D:] <= 1.0
    reached = np.concatenate([reached, reached])
    blend = learning_rate * np.minimum(A, W_J) + (1.0 - learning_rate) * W_J
    return np.where(present, np.where(reached, np.rint(blend * GRID) / GRID, A), W_J)


def predicting_node(choices: FloatArray, labels: IntArray, search_depth: int) -> int:
    """Return the first node with a label among the T best (0: among all)."""
    for n_passed, J in enumerate(np.argsort(-choices, kind="stable")):
        if search_depth and n_passed == search_depth:
            break
        if labels[J] != UNLABELLED:
            return int(J)
    return NO_NODE


def encode(matrix: FloatArray, lower: FloatArray, upper: FloatArray, coded: FloatArray) -> bool:
    """Scale a matrix to [0, 1], clip it, and round it to the grid.

    Parameters
    ----------
    matrix : array of shape (n_samples, n_features)
        In the user's units, NaN where missing.
    lower, upper : arrays of length n_features
        Range of each feature; lower > upper where no value is known yet, which codes as missing.
    coded : array of shape (n_samples, n_features)
        Filled with the coded values. A constant feature codes as 0.

    Returns
    -------
    bool
        Whether a value lies beyond the range of its feature.
    """
    known = lower <= upper
    origin = np.where(known, lower, np.nan)
    span = np.where(known, upper, np.nan) - origin
    scaled = (matrix - origin) / np.where(span > 0, span, 1.0)
    scaled[:, span == 0] *= 0.0
    coded[:] = np.rint(np.clip(scaled, 0.0, 1.0) * GRID) / GRID
    return bool((matrix < lower).any() or (matrix > upper).any())


def new_cache() -> None:
    """Return what `learn` and `rank` keep between calls: nothing."""


def learn(
    cache: None,
    weights: FloatArray,
    norms: FloatArray,
    support: IntArray,
    counts: IntArray,
    labels: IntArray,
    progress: IntArray,
    *,
    vigilance: float,
    choice: float,
    learning_rate: float,
    match_tracking: float,
    one_to_one: bool,
    samples: FloatArray,
    targets: IntArray,
    winners: IntArray,
    predicted: IntArray | None,
    search_depth: int,
    journal_weights: FloatArray | None,
    journal_support: IntArray | None,
    journal_counts: IntArray | None,
    stop: Flags,
) -> None:
    """Learn a batch in one pass, from sample progress[0] on, with progress[1] nodes so far.

    Parameters
    ----------
    cache : None
        What `new_cache` returned.
    weights, norms, support, counts, labels : arrays
        The nodes, changed in place. Stops before a sample whose new node would not fit.
    progress : array of length 2
        The next sample to learn and the number of nodes; kept up to date.
    vigilance, choice, learning_rate, match_tracking : float
        ρ, α, β, δ.
    one_to_one : bool
        Whether a node serves one class only.
    samples : array of shape (n_samples, n_features)
        Coded samples, NaN where missing.
    targets : array of length n_samples
        Class codes, -1 where unlabelled.
    winners : array of length n_samples
        Filled with the node that learnt each sample.
    predicted : array of length n_samples, or None
        Filled with the class predicted for each labelled sample just before it is learnt, -1 where none is.
    search_depth : int
        T of that prediction, 0 for no limit.
    journal_weights, journal_support, journal_counts : arrays with a row per sample, or None
        Filled with the winner's row as it was before the sample.
    stop : array of length 1
        Not zero once another thread wants this one to stop.
    """
    while progress[0] < len(samples) and not stop[0]:
        i, n_nodes = int(progress[0]), int(progress[1])
        target = int(targets[i])
        A, present = complement_code(samples[i])
        choices, matches = choice_and_match(A, present, weights[:n_nodes], choice)
        J = resonating_node(choices, matches, labels, target, vigilance, match_tracking, one_to_one)
        if J == NO_NODE and n_nodes == len(weights):
            return
        if predicted is not None and target != UNLABELLED:
            node = predicting_node(choices, labels, search_depth)
            predicted[i] = UNLABELLED if node == NO_NODE else labels[node]

        if J == NO_NODE:
            J = n_nodes
            weights[J], support[J], counts[J], labels[J] = 1.0, 0, 0, UNLABELLED
        if journal_weights is not None and journal_support is not None and journal_counts is not None:
            journal_weights[i], journal_support[i], journal_counts[i] = weights[J], support[J], counts[J]
        winners[i] = J
        weights[J] = adapted(A, present, weights[J], learning_rate)
        norms[J] = weights[J].sum()
        support[J] += 1
        if target != UNLABELLED:
            counts[J, target] += 1
            labels[J] = counts[J].argmax()
        progress[:] = i + 1, max(n_nodes, J + 1)


def rank(
    cache: None,
    weights: FloatArray,
    norms: FloatArray,
    labels: IntArray,
    n_nodes: int,
    *,
    choice: float,
    labelled_only: bool,
    samples: FloatArray,
    nodes: IntArray,
    matches: FloatArray,
    n_threads: int,
    stop: Flags,
) -> None:
    """Find the nodes of highest choice for each sample, best first.

    Parameters
    ----------
    cache : None
        What `new_cache` returned.
    weights, norms, labels : arrays
        The nodes.
    n_nodes : int
        How many of them are in use.
    choice : float
        α.
    labelled_only : bool
        Whether to leave out the nodes without a label.
    samples : array of shape (n_samples, n_features)
        Coded samples, NaN where missing.
    nodes, matches : arrays of shape (n_samples, depth)
        Filled with the best nodes, -1 where there are no more, and their match.
    n_threads : int
        For the compiled kernel.
    stop : array of length 1
        Not zero once another thread wants this one to stop.
    """
    eligible = np.flatnonzero(labels[:n_nodes] != UNLABELLED) if labelled_only else np.arange(n_nodes)
    depth = min(nodes.shape[1], len(eligible))
    nodes[:], matches[:] = NO_NODE, 0.0
    for i, x in enumerate(samples):
        if stop[0]:
            return
        A, present = complement_code(x)
        node_choices, node_matches = choice_and_match(A, present, weights[eligible], choice)
        best = np.argsort(-node_choices, kind="stable")[:depth]
        nodes[i, :depth] = eligible[best]
        matches[i, :depth] = node_matches[best]


def measure(samples: SingleArray, lower: SingleArray, upper: SingleArray, distances: SingleArray, stop: Flags) -> None:
    """Measure the L1 distance of each sample to each box, over the features that the sample has.

    Parameters
    ----------
    samples : array of shape (n_samples, n_features)
        NaN where missing.
    lower, upper : arrays of shape (n_blocks, n_features, width)
        The sides of the boxes, in blocks; -inf and inf where a box has no side.
    distances : array of shape (n_samples, n_boxes)
        Filled with the distances.
    stop : array of length 1
        Not zero once another thread wants this one to stop.
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
    """Find the centre nearest to each sample, the one of lowest index on ties.

    Parameters
    ----------
    samples : array of shape (n_samples, n_features)
        NaN where missing.
    centres : array of shape (n_centres, n_features)
    missing : array of length n_features
        Replaces a missing value.
    nearest : array of length n_samples
        Filled with the indices.
    stop : array of length 1
        Not zero once another thread wants this one to stop.
    """
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
        self._terms: list[tuple[float, Term]] = []
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
        view, sides, weights = (features.copy(), factors.copy()), (lower.copy(), upper.copy()), weights.copy()

        def term(samples: FloatArray, scores: FloatArray, stop: Flags) -> None:
            values = np.ascontiguousarray(samples[:, view[0]] * view[1], dtype=np.float32)
            activations = np.empty((len(samples), weights.shape[2]), dtype=np.float32)
            measure(values, *sides, activations, stop)
            np.exp(activations * np.float32(-rate), out=activations)
            for level in weights:
                scores += activations @ level.T
                np.multiply(activations, activations, out=activations)

        self._add(rank_weight, term, None, int(features.max(initial=-1)) + 1)

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
        arrays = [array.copy() for array in (centres, missing, outputs)]

        def term(samples: FloatArray, scores: FloatArray, stop: Flags) -> None:
            nearest = np.zeros(len(samples), dtype=np.int64)
            nearest_centres(samples, arrays[0], arrays[1], nearest, stop)
            scores += arrays[2][nearest]

        self._add(rank_weight, term, centres.shape[1], 0)

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
        arrays = [array.copy() for array in (centre, slopes)]

        def term(samples: FloatArray, scores: FloatArray, stop: Flags) -> None:
            scores += np.nan_to_num(samples - arrays[0]) @ arrays[1]

        self._add(rank_weight, term, len(centre), 0)

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
        heights = heights.copy()

        def term(samples: FloatArray, scores: FloatArray, stop: Flags) -> None:
            last = heights.shape[1] - 1
            position = np.clip(np.nan_to_num(samples), 0.0, 1.0) * last
            below = np.minimum(position.astype(np.int64), last - 1)
            part = (position - below)[:, :, None]
            each = np.arange(samples.shape[1])
            values = (1.0 - part) * heights[each, below] + part * heights[each, below + 1]
            scores += np.where(np.isnan(samples)[:, :, None], 0.0, values).sum(axis=1)

        self._add(rank_weight, term, len(heights), 0)

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
        _require(
            coded.shape[1] >= self._n_features_needed and self._n_features in (None, coded.shape[1]),
            "coded must have the shape (n_samples, n_features) with the features of the terms",
        )
        scores[:] = self._bias
        blended = {weight: self._blend(coded, weight) for weight, _ in self._terms}
        for weight, term in self._terms:
            term(blended[weight], scores, stop)

    def _blend(self, coded: FloatArray, rank_weight: float) -> FloatArray:
        blended = coded.copy()
        for feature, (values, shares) in enumerate(self._knots):
            if rank_weight and len(values):
                x = coded[:, feature]
                blended[:, feature] = (1.0 - rank_weight) * x + rank_weight * np.interp(x, values, shares)
        return blended

    def _add(self, rank_weight: float, term: Term, n_features: int | None, n_features_needed: int) -> None:
        _require(0.0 <= rank_weight <= 1.0, "rank_weight must lie in [0, 1]")
        self._fits(n_features, n_features_needed)
        self._terms.append((rank_weight, term))

    def _fits(self, n_features: int | None, n_features_needed: int) -> None:
        known = n_features if self._n_features is None else self._n_features
        needed = max(self._n_features_needed, n_features_needed)
        _require(n_features in (None, known), "all terms must have the same number of features")
        _require(known is None or needed <= known, "features must be less than the number of features")
        self._n_features, self._n_features_needed = known, needed


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
