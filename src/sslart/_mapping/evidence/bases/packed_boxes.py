"""Boxes in the layout of the backend, which measures the distance of samples to all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._art.backend import backend
from sslart._utils.arrays import FloatArray, SingleArray
from sslart._utils.parallel import stop_flag

WIDTH = 16  # boxes lie in blocks of so many


@dataclass(frozen=True)
class PackedBoxes:
    """Boxes in blocks; the last block is filled up with boxes that no sample matters to.

    Attributes
    ----------
    lower, upper : arrays of shape (n_blocks, n_features, WIDTH)
        The sides; -inf and inf where no sample has reached the box.
    n_boxes : int
    """

    lower: SingleArray
    upper: SingleArray
    n_boxes: int

    @classmethod
    def of(cls, lower: FloatArray, upper: FloatArray) -> PackedBoxes:
        """Return boxes of shape (n_boxes, n_features); lower > upper on a side that no sample has reached."""
        reached = lower <= upper
        sides = np.where(reached, lower, -np.inf), np.where(reached, upper, np.inf)
        return cls(_in_blocks(sides[0]), _in_blocks(sides[1]), len(lower))

    def distances(self, samples: FloatArray) -> SingleArray:
        """Return the L1 distance of each sample to each box, over the features that the sample has."""
        distances = np.empty((len(samples), self.lower.shape[0] * WIDTH), dtype=np.float32)
        samples = np.ascontiguousarray(samples, dtype=np.float32)
        backend().measure(samples, self.lower, self.upper, distances, stop_flag())
        return distances[:, : self.n_boxes]


def padded(weights: FloatArray) -> SingleArray:
    """Return weights of shape (..., n_boxes) with zeros for the boxes that fill up the last block."""
    n = weights.shape[-1]
    found = np.zeros((*weights.shape[:-1], n + -n % WIDTH), dtype=np.float32)
    found[..., :n] = weights
    return found


def _in_blocks(sides: FloatArray) -> SingleArray:
    by_feature = padded(sides.T)
    n_features = len(by_feature)
    return np.ascontiguousarray(by_feature.reshape(n_features, -1, WIDTH).transpose(1, 0, 2))
