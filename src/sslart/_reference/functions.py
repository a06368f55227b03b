"""Recursive updates of evidence mapping in streams: the bit-exact specification of the compiled kernel."""

from __future__ import annotations

import math

import numpy as np

from sslart._reference.algebra import Flags, learn_label
from sslart._reference.scorer import blended_with_ranks, measure
from sslart._utils.arrays import FloatArray, IntArray, SingleArray


class StreamFunctions:
    """Basis functions of updates: scores, boxes, a constant, and the first features, on a mixture of values and ranks.

    Parameters
    ----------
    offsets, values, shares : arrays
        The rank tables of all features, see `Scorer.set_ranks`.
    rank_weight : float
        Weight of ranks in the mixture: 0 values only, 1 ranks only.
    lower, upper, n_boxes
        Sides of the boxes, shape (n_blocks, n_features, 16), infinite if a box has none; number of boxes used.
    width, middle : float
        The function of a box is exp(−distance / width); that of a feature is x − middle.
    n_trends : int
    """

    def __init__(
        self,
        offsets: IntArray,
        values: FloatArray,
        shares: FloatArray,
        rank_weight: float,
        lower: SingleArray,
        upper: SingleArray,
        n_boxes: int,
        width: float,
        middle: float,
        n_trends: int,
    ) -> None:
        n_features = lower.shape[1]
        fits = len(offsets) == n_features + 1 and lower.shape == upper.shape and lower.shape[2] == 16
        if not (fits and 0 <= n_boxes <= 16 * len(lower) and 0 <= n_trends <= n_features and width > 0):
            raise ValueError("rank tables and boxes whose shapes do not fit")
        self._tables = [
            (values[start:end].copy(), shares[start:end].copy())
            for start, end in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        ]
        self._rank_weight, self._boxes = rank_weight, (lower.copy(), upper.copy())
        self._n_boxes, self._width, self._middle, self._n_trends = n_boxes, width, middle, n_trends

    def values(self, coded: FloatArray, scores: FloatArray, out: FloatArray, stop: Flags) -> None:
        """Fill `out`, shape (n_samples, n_functions), with the functions at coded samples, given their scores."""
        n_classes = scores.shape[1]
        last = n_classes + self._n_boxes
        if coded.shape != (len(scores), len(self._tables)) or out.shape != (len(scores), last + 1 + self._n_trends):
            raise ValueError("samples, scores and out whose shapes do not fit")
        blended = blended_with_ranks(coded, self._tables, self._rank_weight)
        distances = np.empty((len(coded), 16 * len(self._boxes[0])), dtype=np.float32)
        measure(blended.astype(np.float32), *self._boxes, distances, stop)
        out[:, :n_classes], out[:, last] = scores, 1.0
        for row, own in zip(out, distances[:, : self._n_boxes].tolist(), strict=True):
            row[n_classes:last] = [math.exp(-distance / self._width) for distance in own]
        trends = blended[:, : self._n_trends] - self._middle
        out[:, last + 1 :] = np.where(np.isnan(trends), 0.0, trends)

    def weigh(self, coded: FloatArray, scores: FloatArray, weights: FloatArray, stop: Flags) -> None:
        """Replace scores by the functions times weights, shape (n_functions, n_classes)."""
        n_functions = scores.shape[1] + self._n_boxes + 1 + self._n_trends
        if weights.shape != (n_functions, scores.shape[1]):
            raise ValueError("samples, scores and weights whose shapes do not fit")
        values = np.empty((len(coded), n_functions))
        self.values(coded, scores, values, stop)
        scores[:] = 0.0
        for value, weight in zip(values.T, weights, strict=True):
            scores += value[:, None] * weight


def learn_labels(
    inverses: FloatArray,
    next: FloatArray,
    weights: FloatArray,
    columns: IntArray,
    other_inverses: FloatArray,
    other_next: FloatArray,
    other_weights: FloatArray,
    other_columns: IntArray,
    values: FloatArray,
    targets: IntArray,
    importances: FloatArray,
    times: IntArray,
    time: int,
    turns: int,
    half_lives: FloatArray,
    max_forgotten: float,
    ridges: FloatArray,
    first: FloatArray,
    sharpness: float,
    kept: float,
    losses: FloatArray,
    errors: FloatArray,
    predicted: IntArray,
    stop: Flags,
) -> None:
    """Update several candidate regressions with labels in order; each predicts a label before learning it.

    Parameters
    ----------
    inverses, next : arrays of shape (n_half_lives, n, n)
        (Φ'WΦ + Λ)⁻¹ of some of the functions; `next` is filled with those after all labels.
    weights, columns : arrays of shape (n_half_lives, n, n_classes) and (n,)
        Weights, changed in place, and the indices of the functions used.
    other_inverses, other_next, other_weights, other_columns : arrays
        The same of the regressions on other functions.
    values : array of shape (n_labels, n_functions)
        All functions at the samples.
    targets, importances, times : arrays of length n_labels
        Classes and weights of the labels, and sample numbers.
    time, turns : int
        Number of the last earlier sample with a label, and number of labels so far.
    half_lives : array of length n_half_lives
        In samples.
    max_forgotten : float
        Limit of the forgetting by one label, divided by the number of functions.
    ridges, first : arrays of shape (n_functions,) and (n_functions, n_classes)
        λ of each function, and the initial weights. With each label, the λ of one function in turn is restored, by n
        times the amount that forgetting takes from each of n functions.
    sharpness : float
        The weight of a candidate is exp(−sharpness · loss).
    kept : float
        Decay factor of losses and errors per label.
    losses, errors : arrays of length n_candidates
        Losses of scores and predicted classes, and errors of predicted classes; changed in place.
    predicted : array of length n_labels
        Filled with the classes predicted by the weighted candidates.
    stop : array of length 1
    """
    n_classes, m = first.shape[1], len(values)
    parts = ((next, weights, columns), (other_next, other_weights, other_columns))
    for given, (after, own, some) in zip((inverses, other_inverses), parts, strict=True):
        _check_part(own, some, (len(half_lives), len(some), n_classes), len(first))
        if given.shape != (*own.shape[:2], len(some)) or after.shape != given.shape:
            raise ValueError("inverses must have the shape (n_half_lives, n, n)")
        after[:] = given
    sizes = [len(one) for one in (targets, importances, times, predicted, ridges, first, losses, errors)]
    if sizes != [m] * 4 + [values.shape[1]] * 2 + [2 * len(half_lives)] * 2:
        raise ValueError("arrays of labels whose shapes do not fit")
    scores = np.empty((len(losses), n_classes))
    for label in range(m):
        if stop[0]:
            return
        passed = int(times[label]) - int(times[label - 1] if label else time)
        for part, (after, own, some) in enumerate(parts):
            n = len(some)
            place, least = (turns + label) % n, 1.0 - max_forgotten / max(float(n), 2.0 * max_forgotten)
            for r, half_life in enumerate(half_lives.tolist()):
                share = max(math.pow(2.0, -passed / half_life), least)
                learn_label(
                    after[r],
                    own[r],
                    values[label, some],
                    int(targets[label]),
                    float(importances[label]),
                    share,
                    scores[part * len(half_lives) + r],
                    place,
                    float(ridges[some[place]]),
                    first[some[place]],
                )
        predicted[label] = _compete(scores, int(targets[label]), sharpness, kept, losses, errors)


def shared_weights(
    weights: FloatArray,
    columns: IntArray,
    other_weights: FloatArray,
    other_columns: IntArray,
    losses: FloatArray,
    sharpness: float,
    out: FloatArray,
) -> None:
    """Fill `out`, shape (n_functions, n_classes), with the averaged weights of the candidates of `learn_labels`."""
    for own, some in ((weights, columns), (other_weights, other_columns)):
        _check_part(own, some, (len(weights), len(some), out.shape[1]), len(out))
    if len(losses) != 2 * len(weights):
        raise ValueError("losses must have the length n_candidates")
    shares = _shares(losses, sharpness)
    total = 0.0
    for share in shares:
        total += share
    out[:] = 0.0
    for number, share in enumerate(shares):
        own, some = (weights, columns) if number < len(weights) else (other_weights, other_columns)
        out[some] += (share / total) * own[number % len(weights)]


def _check_part(weights: FloatArray, columns: IntArray, shape: tuple[int, ...], n_functions: int) -> None:
    if weights.shape != shape:
        raise ValueError("weights must have the shape (n_half_lives, n, n_classes)")
    if columns.min(initial=0) < 0 or columns.max(initial=0) >= n_functions:
        raise ValueError("columns must be from 0 to n_functions - 1")


def _shares(losses: FloatArray, sharpness: float) -> list[float]:
    least = float(losses.min())
    return [math.exp(-sharpness * (loss - least)) for loss in losses.tolist()]


def _compete(
    scores: FloatArray, target: int, sharpness: float, kept: float, losses: FloatArray, errors: FloatArray
) -> int:
    """Update losses and errors of each candidate with a label; return the class predicted by their average."""
    sums = np.zeros(scores.shape[1])
    for share, own in zip(_shares(losses, sharpness), scores, strict=True):
        sums += share * own
    for candidate, own in enumerate(scores):
        loss = 0.0
        for number, score in enumerate(own.tolist()):
            loss += (score - (number == target)) ** 2
        wrong = float(own.argmax() != target)
        losses[candidate] = kept * losses[candidate] + (loss + wrong) / 2.0
        errors[candidate] = kept * errors[candidate] + wrong
    return int(sums.argmax())
