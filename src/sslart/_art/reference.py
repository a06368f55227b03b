"""The whole algorithm in plain NumPy, to be read beside the paper: the specification of the compiled kernel.

Symbols as in the paper: x a sample, A its complement code, W the weights, ρ the vigilance, α the choice
parameter, β the learning rate, J the winning node, T the depth of the search, F the counts of the one-to-many map.
The model's own decisions, where the paper leaves something open, are in docs/model.md.

The functions work on the arrays of `sslart._art.nodes.Nodes` in place, as the compiled kernel does.
"""

from __future__ import annotations

import numpy as np

from sslart._art.algebra.textbook import (
    factorise,
    gram,
    inverse_diagonals,
    invert,
    multiply,
    solve,
    update_regressions,
)
from sslart._art.drift.textbook import drift_beyond, drift_push, drift_sums, drift_window
from sslart._art.joining.textbook import join
from sslart._art.reference_functions import StreamFunctions, compete
from sslart._art.reference_scorer import Scorer
from sslart._art.reference_terms import Flags, measure, nearest_centres
from sslart._art.trees.textbook import grow_tree, tree_scores
from sslart._data.encoder import GRID
from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.random_keys import KeyArray, mixed

__all__ = [
    "Scorer",
    "StreamFunctions",
    "compete",
    "drift_beyond",
    "drift_push",
    "drift_sums",
    "drift_window",
    "encode",
    "factorise",
    "gram",
    "grow_tree",
    "inverse_diagonals",
    "invert",
    "join",
    "learn",
    "measure",
    "multiply",
    "nearest_centres",
    "new_cache",
    "rank",
    "row_keys",
    "solve",
    "tree_scores",
    "update_regressions",
]

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


def gap(A: FloatArray, present: BoolArray, W_J: FloatArray) -> float:
    """Return how far a sample lies from a box, by the mean of its features; a side not reached yet counts nothing."""
    D = len(A) // 2
    reached = W_J[:D] + W_J[D:] <= 1.0
    counts = present & np.concatenate([reached, reached])
    return float(np.maximum(0.0, W_J[counts] - A[counts]).sum() / present[:D].sum())


def extent(W_J: FloatArray) -> float:
    """Return the sum of the sides of a box; a side that no sample has reached yet counts nothing."""
    D = len(W_J) // 2
    return float(np.maximum(0.0, 1.0 - W_J[:D] - W_J[D:]).sum())


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


def row_keys(matrix: FloatArray, factors: KeyArray, keys: KeyArray) -> None:
    """Find a key for each row: the same for rows that agree in every value.

    Parameters
    ----------
    matrix : array of shape (n_rows, n_columns)
    factors : array of length n_columns
        An odd number for each column.
    keys : array of length n_rows
        Filled with the keys.
    """
    bits = (matrix + 0.0).view(np.uint64)  # -0.0 is 0.0
    keys[:] = mixed(((bits ^ (bits >> np.uint64(29))) * factors).sum(axis=1, dtype=np.uint64))


def new_cache() -> None:
    """Return what `learn` and `rank` keep between calls: nothing."""


def learn(
    cache: None,
    weights: FloatArray,
    norms: FloatArray,
    support: CountArray,
    counts: CountArray,
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
    predict_by_first: bool = False,
    gaps: FloatArray | None = None,
    journal_weights: FloatArray | None,
    journal_support: CountArray | None,
    journal_counts: CountArray | None,
    fit_wanted: Flags | None = None,
    fit_nodes: IntArray | None = None,
    fit_matches: FloatArray | None = None,
    fit_extents: FloatArray | None = None,
    stop: Flags,
) -> None:
    """Learn a batch in one pass, from sample progress[0] on, with progress[1] nodes so far.

    Parameters
    ----------
    cache : None
        What `new_cache` returned.
    weights, norms, support, counts, labels : arrays
        The nodes, changed in place; supports and counts both int64 or both float64. Stops before a sample whose new
        node would not fit.
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
    predict_by_first : bool
        Whether the label of the first node that passes vigilance is the prediction, where it has one.
    gaps : array of length n_samples, or None
        Filled with how far each sample lay from the first node that passed vigilance; left as it is where none did.
    journal_weights, journal_support, journal_counts : arrays with a row per sample, or None
        Filled with the winner's row as it was before the sample.
    fit_wanted : array of length n_samples, or None
        Not zero for samples whose fit is measured before they are learnt.
    fit_nodes, fit_matches, fit_extents : arrays of length n_samples, or None
        Filled with the node of highest choice of each such sample, its match, and the sum of the sides of its box.
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
        first = resonating_node(choices, matches, labels, UNLABELLED, vigilance, match_tracking, one_to_one)
        if predicted is not None and target != UNLABELLED:
            by_first = predict_by_first and first != NO_NODE and labels[first] != UNLABELLED
            node = first if by_first else predicting_node(choices, labels, search_depth)
            predicted[i] = UNLABELLED if node == NO_NODE else labels[node]
        wanted = fit_wanted is not None and bool(fit_wanted[i]) and n_nodes > 0
        if wanted and fit_nodes is not None and fit_matches is not None and fit_extents is not None:
            best = winner_among(np.ones(n_nodes, dtype=bool), choices)
            fit_nodes[i], fit_matches[i], fit_extents[i] = best, matches[best], extent(weights[best])

        if gaps is not None and first != NO_NODE:
            gaps[i] = gap(A, present, weights[first])
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
