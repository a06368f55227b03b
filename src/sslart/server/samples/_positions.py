"""Two dimensions in which samples are drawn, computed from the boxes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sslart._art.geometry import centres
from sslart._data.encoder import Encoder, Feature
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import FloatArray

SAMPLES_AT_ONCE = 100_000

Positions = NDArray[np.float32]


class Projection:
    """Projection of box centres to a plane: principal components, weighted by samples.

    Every column of the table counts the same, however far its values lie apart and however many categories it has.

    Parameters
    ----------
    member : MemberView
        Whose boxes give the plane.
    """

    def __init__(self, member: MemberView) -> None:
        self._features = member.encoder.features
        points = np.nan_to_num(centres(*member.boxes), nan=0.5)
        weights = np.maximum(np.asarray(member.support, dtype=np.float64), 0.0)
        weights = weights / max(float(weights.sum()), 1.0)
        self._mean = weights @ points
        scales = _scales(self._features, weights @ (points - self._mean) ** 2)
        apart = (points - self._mean) * np.sqrt(weights)[:, None] * scales
        axes = np.linalg.svd(apart, full_matrices=False)[2][:2]
        self._axes = np.zeros((points.shape[1], 2))
        self._axes[:, : len(axes)] = (axes * _signs(axes) * scales).T

    def fits(self, encoder: Encoder) -> bool:
        """Return True if another encoder has the same features."""
        return encoder.features == self._features

    def of(self, coded: FloatArray) -> Positions:
        """Return where coded samples lie; a missing value counts as the mean."""
        parts = [
            np.nan_to_num(coded[start : start + SAMPLES_AT_ONCE] - self._mean, nan=0.0) @ self._axes
            for start in range(0, len(coded), SAMPLES_AT_ONCE)
        ]
        return np.concatenate([np.zeros((0, 2)), *parts]).astype(np.float32)


def _scales(features: Sequence[Feature], variances: FloatArray) -> FloatArray:
    """Return scale factors of coded features that give every column a total variance of one."""
    columns = np.array([feature.column for feature in features])
    total = np.bincount(columns, variances)[columns]
    return np.asarray(np.where(total > 0, 1.0 / np.sqrt(np.where(total > 0, total, 1.0)), 0.0))


def _signs(axes: FloatArray) -> FloatArray:
    """Return signs by which the largest part of each axis is positive, so that the same boxes give the same map."""
    largest = np.abs(axes).argmax(axis=1)[:, None]
    return np.asarray(np.where(np.take_along_axis(axes, largest, axis=1) < 0, -1.0, 1.0))


def within_unit(positions: Positions) -> Positions:
    """Return positions scaled so that each dimension goes from 0 to 1."""
    if not len(positions):
        return positions
    low, high = positions.min(axis=0), positions.max(axis=0)
    return np.asarray((positions - low) / np.where(high > low, high - low, 1.0), dtype=np.float32)
