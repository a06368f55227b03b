"""Choruses side by side in one array, so that a graph hears many small ones at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sslart._mapping.evidence.readout import Part
from sslart._utils.arrays import FloatArray, IntArray, SingleArray


@dataclass(frozen=True)
class Choruses:
    """Choruses with what they say, filled up to the largest of them with boxes that say nothing.

    Attributes
    ----------
    lower, upper : arrays of shape (n_choruses, n_heard, n_boxes)
        The sides; -inf and inf where a box does not ask for a feature.
    features : array of shape (n_choruses, n_heard)
        The features that each hears.
    factors : array of shape (n_choruses, n_heard)
    shares : list of float
        The scale of each.
    rates : array of length n_choruses
    weights : array of shape (n_levels, n_choruses * n_boxes, n_classes)
    """

    lower: SingleArray
    upper: SingleArray
    features: IntArray
    factors: FloatArray
    shares: list[float]
    rates: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, parts: Sequence[Part]) -> Choruses:
        """Return choruses side by side."""
        n_levels, n_classes, n_boxes = np.max([part.weights.shape for part in parts], axis=0)
        n_heard = max(len(part.chorus.features) for part in parts)
        lower = np.full((len(parts), n_heard, n_boxes), -np.inf, dtype=np.float32)
        upper = -lower
        features = np.zeros((len(parts), n_heard), dtype=np.int64)
        factors = np.zeros((len(parts), n_heard))
        weights = np.zeros((n_levels, len(parts), n_boxes, n_classes))
        for place, part in enumerate(parts):
            chorus, (own_boxes, own_heard) = part.chorus, part.chorus.lower.shape
            asks = chorus.lower <= chorus.upper
            lower[place, :own_heard, :own_boxes] = np.where(asks, chorus.lower, -np.inf).T
            upper[place, :own_heard, :own_boxes] = np.where(asks, chorus.upper, np.inf).T
            features[place, :own_heard], factors[place, :own_heard] = chorus.features, chorus.factors
            # as the engine has them
            spoken = part.weights.astype(np.float32)
            weights[: len(spoken), place, :own_boxes] = spoken.transpose(0, 2, 1)
        return cls(
            lower,
            upper,
            features,
            factors,
            [part.chorus.share for part in parts],
            np.array([part.rate for part in parts]),
            weights.reshape(n_levels, -1, n_classes),
        )


def side_by_side(parts: Iterable[Part]) -> list[Choruses]:
    """Return choruses together with those of about the same size: none has twice the boxes or features of another."""

    def size(part: Part) -> tuple[int, int]:
        n_boxes, n_features = part.chorus.lower.shape
        return n_boxes.bit_length(), n_features.bit_length()

    speaking = sorted((part for part in parts if len(part.chorus.boxes)), key=size)
    return [Choruses.of(list(alike)) for _, alike in groupby(speaking, size)]
