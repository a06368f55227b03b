"""Reference implementation in NumPy, to be read beside the paper: the specification of the compiled kernel.

Symbols as in the paper: x a sample, A its complement code, W the weights, ρ the vigilance, α the choice
parameter, β the learning rate, J the winning node, T the depth of the search, F the counts of the one-to-many map.
The model's own decisions, where the paper leaves something open, are in docs/model.md.

`Boxes` has the arrays of a model, as the compiled kernel does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.ranks import GRID
from sslart._reference.algebra import Flags, factorise, gram, inverse_diagonals, invert, multiply, solve
from sslart._reference.drift import drift_features, drift_push, drift_sums, drift_window
from sslart._reference.functions import StreamFunctions, learn_labels, shared_weights
from sslart._reference.scorer import Scorer, measure, nearest_centres
from sslart._reference.trees import grow_trees, tree_scores
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray, mixed

__all__ = [
    "Boxes",
    "Scorer",
    "StreamFunctions",
    "drift_features",
    "drift_push",
    "drift_sums",
    "drift_window",
    "encode",
    "factorise",
    "gram",
    "grow_trees",
    "inverse_diagonals",
    "invert",
    "join",
    "learn_labels",
    "measure",
    "multiply",
    "nearest_centres",
    "row_keys",
    "shared_weights",
    "solve",
    "tree_scores",
]

NO_NODE = -1
SIZE_SHARE = 0.125  # as in _art/geometry.py


def complement_code(x: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Return A = (x, 1 − x) and the mask of its present elements; missing values are omitted from all sums."""
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
    """Return the node that learns the sample; NO_NODE if a new one is needed.

    The paper's cycle takes the best node, tests vigilance, deactivates the node if it fails, and repeats. The result is
    the best of the nodes that pass. One-to-one mapping also deactivates a node of another class, and raises vigilance
    to just above its match for the rest of the search (match tracking).
    """
    active = matches >= vigilance
    while True:
        J = winner_among(active, choices)
        if J == NO_NODE or not one_to_one or target == UNLABELLED or labels[J] in (UNLABELLED, target):
            return J
        active &= matches >= matches[J] + match_tracking
        active[J] = False


def adapted(A: FloatArray, present: BoolArray, W_J: FloatArray, learning_rate: float) -> FloatArray:
    """W_J ← β(A ∧ W_J) + (1 − β)W_J on the grid; features without a value yet take the sample's value."""
    D = len(A) // 2
    reached = W_J[:D] + W_J[D:] <= 1.0
    reached = np.concatenate([reached, reached])
    blend = learning_rate * np.minimum(A, W_J) + (1.0 - learning_rate) * W_J
    return np.where(present, np.where(reached, np.rint(blend * GRID) / GRID, A), W_J)


def gap(A: FloatArray, present: BoolArray, W_J: FloatArray) -> float:
    """Return the mean distance per feature of a sample from a box; features without a value count as zero."""
    D = len(A) // 2
    reached = W_J[:D] + W_J[D:] <= 1.0
    counts = present & np.concatenate([reached, reached])
    return float(np.maximum(0.0, W_J[counts] - A[counts]).sum() / present[:D].sum())


def extent(W_J: FloatArray) -> float:
    """Return the sum of the side lengths of a box; features without a value add nothing."""
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
    """Scale a matrix to [0, 1], clip, and round to the grid, into `coded`; return True if any value is out of range.

    A feature with lower > upper has no known value yet and is coded as missing (NaN), a constant one as 0.
    """
    known = lower <= upper
    origin = np.where(known, lower, np.nan)
    span = np.where(known, upper, np.nan) - origin
    scaled = (matrix - origin) / np.where(span > 0, span, 1.0)
    scaled[:, span == 0] *= 0.0
    coded[:] = np.rint(np.clip(scaled, 0.0, 1.0) * GRID) / GRID
    return bool((matrix < lower).any() or (matrix > upper).any())


def row_keys(matrix: FloatArray, factors: KeyArray, keys: KeyArray) -> None:
    """Hash each row into `keys`, with an odd factor for each column."""
    bits = (matrix + 0.0).view(np.uint64)  # adding 0.0 turns -0.0 into 0.0
    keys[:] = mixed(((bits ^ (bits >> np.uint64(29))) * factors).sum(axis=1, dtype=np.uint64))


class Boxes:
    """The boxes of one model: a mutable draft that learns, or an immutable published version."""

    def __init__(self, n_features: int, n_classes: int = 0, n_constant: int = 0) -> None:
        self.n_features, self.n_constant = n_features, n_constant
        self._arrays: dict[str, Any] = {
            "weights": np.empty((0, 2 * n_features)),
            "norms": np.empty(0),
            "support": np.empty(0),
            "counts": np.empty((0, n_classes)),
            "labels": np.empty(0, dtype=np.int64),
            "met": np.empty((0, n_constant), dtype=np.uint8),
        }
        self.n_boxes = 0
        self._is_draft = True

    @classmethod
    def of(cls, weights: FloatArray, support: FloatArray, counts: FloatArray, met: Flags) -> Boxes:
        """Return a draft of boxes given as arrays."""
        boxes = cls(len(weights.T) // 2, len(counts.T), len(met.T))
        norms, labels = weights.sum(axis=1), np.full(len(weights), UNLABELLED)
        given = {"weights": weights, "norms": norms, "support": support, "counts": counts, "labels": labels, "met": met}
        boxes._arrays = {name: array.copy() for name, array in given.items()}
        boxes.n_boxes = len(weights)
        boxes._derive_labels()
        return boxes

    @property
    def n_classes(self) -> int:
        """Number of classes learnt so far."""
        return len(self._arrays["counts"].T)

    def draft(self) -> Boxes:
        """Return a draft that starts as a copy of these boxes."""
        other = type(self)(self.n_features, 0, self.n_constant)
        other._arrays = {name: array.copy() for name, array in self._arrays.items()}
        other.n_boxes = self.n_boxes
        return other

    def publish(self) -> None:
        """Make the boxes immutable."""
        self._is_draft = False

    def read(self, rows: IntArray | None = None, **wanted: Any) -> None:
        """Copy attributes of some boxes into the arrays of the same names; `rows` None: of all boxes."""
        for name, array in wanted.items():
            array[:] = self._arrays[name][: self.n_boxes] if rows is None else self._arrays[name][rows]

    def add_classes(self, n_classes: int) -> None:
        """Add columns for the counts of further classes."""
        more = max(n_classes - self.n_classes, 0)
        self._changing()["counts"] = np.pad(self._arrays["counts"], ((0, 0), (0, more)))

    def fade(self, factor: float) -> float:
        """Multiply supports and counts by a factor; return the lowest support."""
        arrays = self._changing()
        for name in ("support", "counts"):
            arrays[name][: self.n_boxes] *= factor  # the rest of the arrays is not initialised
        self._derive_labels()
        return float(arrays["support"][: self.n_boxes].min(initial=np.inf))

    def meet(self, winners: IntArray, values: Flags) -> None:
        """Record which constant features have a value in samples, by the box that learnt each sample."""
        np.maximum.at(self._changing()["met"], winners, values)

    def add(self) -> int:
        """Add an empty box and return its index."""
        new = {"weights": 1.0, "norms": 2.0 * self.n_features, "labels": UNLABELLED}
        for name, array in self._changing().items():
            if self.n_boxes == len(array):
                grown = np.empty((max(64, 2 * len(array)), *array.shape[1:]), dtype=array.dtype)
                grown[: len(array)] = array
                self._arrays[name] = grown
            self._arrays[name][self.n_boxes] = new.get(name, 0)
        self.n_boxes += 1
        return self.n_boxes - 1

    def count(self, box: int, target: int) -> None:
        """Count a sample without changing the box."""
        arrays = self._changing()
        arrays["support"][box] += 1
        if target != UNLABELLED:
            arrays["counts"][box, target] += 1
            arrays["labels"][box] = arrays["counts"][box].argmax()

    def learn(
        self,
        next: int,
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
        predict_by_first: bool,
        gaps: FloatArray,
        fit_wanted: Flags | None = None,
        fit_nodes: IntArray | None = None,
        fit_familiarity: FloatArray | None = None,
        fit_extents: FloatArray | None = None,
        max_boxes: int | None = None,
        stop: Flags,
    ) -> int:
        """Learn a batch in one pass from sample `next` on; return the index of the first sample not learnt.

        Parameters
        ----------
        next : int
        vigilance, choice, learning_rate, match_tracking : float
            ρ, α, β, δ.
        one_to_one : bool
            Whether a box serves one class only.
        samples, targets : arrays
            Coded samples, NaN where missing, and class codes, -1 where unlabelled.
        winners, gaps : arrays of length n_samples
            Filled with the box that learnt each sample, and its distance from the first box that passed vigilance.
        predicted : array of length n_samples, or None
            Filled with the class predicted for each labelled sample just before it is learnt, -1 for none.
        search_depth : int
            T of that prediction, 0 for no limit.
        predict_by_first : bool
            Whether the label of the first box that passes vigilance is the prediction, if it has one.
        fit_wanted, fit_nodes, fit_familiarity, fit_extents : arrays of length n_samples, or None
            Nonzero for samples whose fit is measured before they are learnt; filled with the box of highest choice of
            each such sample, its familiarity, and the sum of the box's side lengths.
        max_boxes : int or None
            Learning stops before a sample that would need more boxes.
        stop : array of length 1
            Set to nonzero by another thread to stop this one.
        """
        for i in range(next, len(samples)):
            if stop[0]:
                return i
            arrays, n_boxes = self._changing(), self.n_boxes
            weights, labels = arrays["weights"], arrays["labels"]
            target = int(targets[i])
            A, present = complement_code(samples[i])
            choices, matches = choice_and_match(A, present, weights[:n_boxes], choice)
            J = resonating_node(choices, matches, labels, target, vigilance, match_tracking, one_to_one)
            if J == NO_NODE and max_boxes is not None and n_boxes >= max_boxes:
                return i
            first = resonating_node(choices, matches, labels, UNLABELLED, vigilance, match_tracking, one_to_one)
            if predicted is not None and target != UNLABELLED:
                by_first = predict_by_first and first != NO_NODE and labels[first] != UNLABELLED
                node = first if by_first else predicting_node(choices, labels, search_depth)
                predicted[i] = UNLABELLED if node == NO_NODE else labels[node]
            wanted = fit_wanted is not None and bool(fit_wanted[i]) and n_boxes > 0
            if wanted and fit_nodes is not None and fit_familiarity is not None and fit_extents is not None:
                best = winner_among(np.ones(n_boxes, dtype=bool), choices)
                fit_nodes[i], fit_extents[i] = best, extent(weights[best])
                away = gap(A, present, weights[best]) + SIZE_SHARE * fit_extents[i] / samples.shape[1]
                fit_familiarity[i] = max(0.0, 1.0 - away)
            if first != NO_NODE:
                gaps[i] = gap(A, present, weights[first])
            if J == NO_NODE:
                J = self.add()
                arrays = self._arrays
            winners[i] = J
            arrays["weights"][J] = adapted(A, present, arrays["weights"][J], learning_rate)
            arrays["norms"][J] = arrays["weights"][J].sum()
            self.count(J, target)
        return len(samples)

    def learn_row(self, *_: Any) -> None:
        """Return None: only the kernel has a fast path for one row."""

    def rank(
        self,
        *,
        choice: float,
        labelled_only: bool,
        labels: IntArray | None = None,
        samples: FloatArray,
        nodes: IntArray,
        matches: FloatArray,
        n_threads: int,
        stop: Flags,
    ) -> None:
        """Fill `nodes` and `matches`, of shape (n_samples, depth), with the boxes of highest choice, best first.

        With `labelled_only`, boxes without a label are skipped; `labels` override those of the boxes.
        """
        own = self._arrays["labels"][: self.n_boxes] if labels is None else labels
        eligible = np.flatnonzero(own != UNLABELLED) if labelled_only else np.arange(self.n_boxes)
        depth = min(nodes.shape[1], len(eligible))
        nodes[:], matches[:] = NO_NODE, 0.0
        for i, x in enumerate(samples):
            if stop[0]:
                return
            A, present = complement_code(x)
            node_choices, node_matches = choice_and_match(A, present, self._arrays["weights"][eligible], choice)
            best = np.argsort(-node_choices, kind="stable")[:depth]
            nodes[i, :depth] = eligible[best]
            matches[i, :depth] = node_matches[best]

    def _changing(self) -> dict[str, Any]:
        if not self._is_draft:
            raise ValueError("published boxes do not learn: make a draft")
        return self._arrays

    def _derive_labels(self) -> None:
        counts = self._arrays["counts"][: self.n_boxes]
        if self.n_classes:
            self._arrays["labels"][: self.n_boxes] = np.where(counts.any(axis=1), counts.argmax(axis=1), UNLABELLED)


PARTS = (2, 3)  # a split leaves 1/2 of the boxes below it in even rounds, and 1/3 in odd rounds


def join(
    weights: FloatArray,
    keys: IntArray,
    into: IntArray,
    joined: FloatArray,
    vigilance: FloatArray,
    *,
    max_boxes: int,
    cell_size: int,
    stop: Flags,
) -> int:
    """Join boxes by the rules of `sslart._art.boxes.join_boxes`; return the number of boxes afterwards.

    Fills `into` with the new index of each box, and the first rows of `joined` with the boxes; with `max_boxes` (0: no
    limit), lowers `vigilance` to the lowest match of the unions.
    """
    W, own_keys = weights.copy(), keys.copy()
    into[:] = np.arange(len(W))
    n_round = n_fruitless = 0
    while (not max_boxes or len(W) > max_boxes) and not stop[0]:
        n_wanted = len(W) - max_boxes if max_boxes else len(W)
        pairs = sorted(closest_pairs(W, own_keys, PARTS[n_round % 2], cell_size))
        lowest = vigilance[0]
        if max_boxes and pairs:  # always the better half
            lowest = min(lowest, -pairs[len(pairs) // 2][0])
        target = np.arange(len(W))
        is_joined = np.zeros(len(W), dtype=bool)
        for minus_match, first, second in pairs:
            if n_wanted and -minus_match >= lowest and not is_joined[first] and not is_joined[second]:
                W[first] = np.minimum(W[first], W[second])
                own_keys[first] = max(own_keys[first], own_keys[second])
                target[second] = first
                is_joined[first] = is_joined[second] = True
                vigilance[0] = min(vigilance[0], -minus_match)
                n_wanted -= 1
        is_kept = target == np.arange(len(W))
        into[:] = (np.cumsum(is_kept) - 1)[target][into]
        W, own_keys = W[is_kept], own_keys[is_kept]
        n_round += 1
        n_fruitless = n_fruitless + 1 if is_kept.all() else 0
        if n_fruitless and len(W) <= cell_size:
            break
        if n_fruitless == len(PARTS):
            if not max_boxes:
                break
            cell_size, n_fruitless = 2 * cell_size, 0
    joined[: len(W)] = W
    return len(W)


def closest_pairs(W: FloatArray, keys: IntArray, parts: int, cell_size: int) -> set[tuple[float, int, int]]:
    """Return triples (negative match of the union, first box, second box) of each box and its closest partner."""
    pairs = set()
    for cell in cells(W, np.arange(len(W)), parts, cell_size):
        for box in cell:
            found = match_of_unions(W[box], W[cell])
            found[(cell == box) | ~are_alike(keys[box], keys[cell])] = -np.inf
            best = int(found.argmax())
            if found[best] >= 0:
                pairs.add((-float(found[best]), int(min(box, cell[best])), int(max(box, cell[best]))))
    return pairs


def are_alike(key: int, keys: IntArray) -> BoolArray:
    """Return a mask of keys that are compatible with a box of the given key for joining."""
    return np.asarray((keys == key) | (keys == UNLABELLED) | (key == UNLABELLED))


def match_of_unions(w: FloatArray, W: FloatArray) -> FloatArray:
    """Return the match of the union of one box with each of several: 1 minus its mean side length."""
    unions = np.minimum(w, W)
    lower, rest = np.hsplit(unions, 2)
    is_reached = lower + rest <= 1.0
    n_sides = is_reached.sum(axis=1)
    overlap = ((lower + rest) * is_reached).sum(axis=1)
    return np.asarray(np.where(n_sides == 0, 1.0, overlap / np.maximum(n_sides, 1)))


def cells(W: FloatArray, boxes: IntArray, parts: int, cell_size: int) -> Iterator[IntArray]:
    """Yield the boxes of each cell, ascending: boxes are split in two by their centres until cells are small enough."""
    if len(boxes) <= cell_size:
        yield boxes
        return
    lower, rest = np.hsplit(W[boxes], 2)
    centres = ((lower + (1.0 - rest)) * GRID).astype(np.int64)  # twice; whole numbers, so that every sum is exact
    spread = np.abs(centres - centres.sum(axis=0) // len(boxes)).sum(axis=0)
    order = np.argsort(centres[:, spread.argmax()], kind="stable")
    cut = len(boxes) // parts
    for part in (order[:cut], order[cut:]):
        yield from cells(W, np.sort(boxes[part]), parts, cell_size)
