"""What labels change in a stream, in plain NumPy: the specification of that in the compiled kernel, bit for bit."""

from __future__ import annotations

import math

import numpy as np

from sslart._reference.terms import Flags, measure
from sslart._utils.arrays import FloatArray, IntArray, SingleArray


class StreamFunctions:
    """Scores, boxes, a constant, and a trend in each of the first features, where values are mixed with their ranks.

    Parameters
    ----------
    offsets, values, shares : arrays
        The rank tables of all features, see `Scorer.set_ranks`.
    rank_weight : float
        How much of each value is its rank: 0 none, 1 all.
    lower, upper : arrays of shape (n_blocks, n_features, 16)
        The sides of the boxes; -inf and inf where a box has none.
    n_boxes : int
        How many of them take part.
    width : float
        A box is exp(−distance / width).
    middle : float
        Where a trend is zero.
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
        blended = coded.copy()
        for feature, (known, shares) in enumerate(self._tables):
            if len(known):
                x = coded[:, feature]
                ranks = np.interp(x, known, shares)
                blended[:, feature] = (1.0 - self._rank_weight) * x + self._rank_weight * ranks
        distances = np.empty((len(coded), 16 * len(self._boxes[0])), dtype=np.float32)
        measure(blended.astype(np.float32), *self._boxes, distances, stop)
        out[:, :n_classes], out[:, last] = scores, 1.0
        for row, own in zip(out, distances[:, : self._n_boxes].tolist(), strict=True):
            row[n_classes:last] = [math.exp(-distance / self._width) for distance in own]
        trends = blended[:, : self._n_trends] - self._middle
        out[:, last + 1 :] = np.where(np.isnan(trends), 0.0, trends)


def compete(
    scores: FloatArray,
    targets: IntArray,
    sharpness: float,
    kept: float,
    losses: FloatArray,
    errors: FloatArray,
    predicted: IntArray,
) -> None:
    """Let candidates predict labels, one after another: their errors decide what each counts for the next label.

    Parameters
    ----------
    scores : array of shape (n_labels, n_candidates, n_classes)
    targets : array of length n_labels
    sharpness : float
        A candidate counts exp(−sharpness · loss).
    kept : float
        The share of losses and errors that remains after a label.
    losses, errors : arrays of length n_candidates
        Of scores and predicted classes, and of predicted classes alone; changed.
    predicted : array of length n_labels
        Filled with the classes that all predict together.
    """
    n_labels, n_candidates, n_classes = scores.shape
    if targets.shape != (n_labels,) or predicted.shape != targets.shape or not n_candidates or not n_classes:
        raise ValueError("scores and targets whose shapes do not fit")
    if losses.shape != (n_candidates,) or errors.shape != losses.shape:
        raise ValueError("losses and errors must have the length n_candidates")
    for label, target in enumerate(targets.tolist()):
        least, sums = losses.min(), np.zeros(n_classes)
        for candidate, own in enumerate(scores[label]):
            sums += math.exp(-sharpness * (losses[candidate] - least)) * own
            loss = 0.0
            for number, score in enumerate(own.tolist()):
                loss += (score - (number == target)) ** 2
            wrong = float(own.argmax() != target)
            losses[candidate] = kept * losses[candidate] + (loss + wrong) / 2.0
            errors[candidate] = kept * errors[candidate] + wrong
        predicted[label] = sums.argmax()
