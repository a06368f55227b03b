"""Features as basis functions: a straight trend in each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sslart._art.algebra import multiply
from sslart._mapping.evidence.bases.base import (
    MARGIN,
    Basis,
    Family,
    Term,
    TermShape,
    saved_coefficients,
    saved_rank_weight,
    sum_by_scale,
)
from sslart._mapping.evidence.design import DesignMatrices, feature_means
from sslart._mapping.evidence.settings import MAX_SETTING, BasisSpec, FixedSettings
from sslart._utils.arrays import FloatArray
from sslart._utils.validation import saved_array

MIN_DEVIATION = 0.02  # of a standardised feature, so that a nearly constant one is not blown up
LOW_RIDGES = (1e-6, 1e-5, 1e-4)  # for trends alone: they cost nothing there, and help no other family


@dataclass(frozen=True)
class LinearTerm(Term):
    """A trend, straight in each feature on one scale. A missing value adds nothing.

    Attributes
    ----------
    rank_weight : float
    centre : array of length n_features
        Where the trend is zero.
    slopes : array of shape (n_features, n_classes)
    """

    kind: ClassVar[str] = "linear"
    rank_weight: float
    centre: FloatArray
    slopes: FloatArray

    def to_state(self) -> dict[str, Any]:
        """Return the term as plain values and arrays."""
        return {name: getattr(self, name) for name in ("rank_weight", "centre", "slopes")}

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Return the term of a saved state, after checking that it can be one."""
        centre = saved_array(state, "centre", np.float64, shape.n_features, low=-MARGIN, high=1 + MARGIN)
        return cls(saved_rank_weight(state), centre, saved_coefficients(state, "slopes", *shape[:2]))

    def add_to(self, scorer: Any) -> None:
        """Add the trend to a scorer of the backend."""
        scorer.add_linear(self.rank_weight, self.centre, np.ascontiguousarray(self.slopes))

    @classmethod
    def combined(cls, terms: list[Self]) -> list[Self]:
        """Return one trend per scale."""
        return sum_by_scale(terms, "slopes")

    def mixed(self, weights: FloatArray) -> Self:
        """Return the trend with slopes that are mixed over the classes."""
        return replace(self, slopes=multiply(self.slopes, weights))


class LinearBasis(Basis):
    """The features, centred; standardised where the spec wants it."""

    def __init__(self, spec: BasisSpec, samples: FloatArray, sample_weights: FloatArray | None = None) -> None:
        centre = feature_means(samples, sample_weights)
        centred = np.nan_to_num(samples - centre)
        deviation = np.ones(samples.shape[1])
        if spec.bandwidth:
            deviation = np.maximum(_deviations(centred, sample_weights), MIN_DEVIATION)
        super().__init__(spec, centred / deviation, sample_weights)
        self.centre, self.deviation = centre, deviation

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the trend that weights make."""
        return [LinearTerm(self.spec.rank_weight, self.centre, weights / self.deviation[:, None])]


def _deviations(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    mean = np.average(values, axis=0, weights=weights)
    return np.asarray(np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights)))


class LinearFamily(Family):
    """A linear trend over all features; the bandwidth is 0 for raw features, 1 for standardised ones."""

    kind: ClassVar[str] = "linear"
    name: ClassVar[str] = "linear"
    term: ClassVar[type[Term]] = LinearTerm
    bandwidth_range: ClassVar[tuple[float, float]] = (0, MAX_SETTING)

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return both ways on every scale."""
        return [BasisSpec(self.kind, scale, way) for scale in fixed.rank_weights for way in (0.0, 1.0)]

    def ridges(self, fixed: FixedSettings) -> tuple[float, ...]:
        """Return also low values of λ: a sharp trend may lie in small differences of features that go together."""
        return fixed.ridges if fixed.ridge is not None else (*fixed.some(LOW_RIDGES), *fixed.ridges)

    def basis(self, spec: BasisSpec, design: DesignMatrices) -> LinearBasis:
        """Return the centred features."""
        return LinearBasis(spec, design.samples_on(spec.rank_weight), design.labelled.ridge_weights)
