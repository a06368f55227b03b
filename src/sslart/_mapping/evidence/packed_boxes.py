"""Boxes that all speak about a sample, each with a strength that falls off with its distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._art.backend import backend
from sslart._art.network import StoppedError
from sslart._utils.arrays import FloatArray, SingleArray

WIDTH = 16  # boxes lie in blocks of so many


@dataclass(frozen=True)
class Speakers:
    """Boxes as the engine wants them: in blocks, the last filled up with boxes that are nowhere.

    Attributes
    ----------
    lower, upper : arrays of shape (n_blocks, n_features, WIDTH)
        The sides; -inf and inf where a box does not ask for a feature.
    n_boxes : int
    """

    lower: SingleArray
    upper: SingleArray
    n_boxes: int

    @classmethod
    def of(cls, lower: FloatArray, upper: FloatArray) -> Speakers:
        """Return boxes of shape (n_boxes, n_features); lower > upper on a side that no sample has reached."""
        asks = lower <= upper
        return cls(_in_blocks(np.where(asks, lower, -np.inf)), _in_blocks(np.where(asks, upper, np.inf)), len(lower))

    def distances(self, samples: FloatArray, stop: Any) -> SingleArray:
        """Return the L1 distance of each sample to each box, over the features that the sample has."""
        distances = np.empty((len(samples), self.lower.shape[0] * WIDTH), dtype=np.float32)
        backend().measure(_single(samples), self.lower, self.upper, distances, stop)
        _check_going(stop)
        return distances[:, : self.n_boxes]

    def hear(self, samples: FloatArray, rate: float, weights: SingleArray, scores: FloatArray, stop: Any) -> None:
        """Add to the scores what all boxes say: Σ exp(−rate · d)^(2^level) · weight.

        `weights` has the shape (n_levels, n_classes, n_blocks · WIDTH): see `filled`.
        """
        backend().hear(_single(samples), self.lower, self.upper, rate, weights, scores, stop)
        _check_going(stop)


def filled(weights: FloatArray) -> SingleArray:
    """Return weights of shape (..., n_boxes) with zeros for the boxes that fill up the last block."""
    missing = -weights.shape[-1] % WIDTH
    widths = [(0, 0)] * (weights.ndim - 1) + [(0, missing)]
    return np.ascontiguousarray(np.pad(weights, widths), dtype=np.float32)


def _in_blocks(sides: FloatArray) -> SingleArray:
    by_feature = filled(sides.T)
    n_features = len(by_feature)
    return np.ascontiguousarray(by_feature.reshape(n_features, -1, WIDTH).transpose(1, 0, 2))


def _single(samples: FloatArray) -> SingleArray:
    return np.ascontiguousarray(samples, dtype=np.float32)


def _check_going(stop: Any) -> None:
    if stop[0]:
        raise StoppedError
