"""Features as basis functions: a smooth curve over each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sslart._art.algebra import Cholesky, multiply
from sslart._mapping.evidence.bases.base import (
    Basis,
    Family,
    Term,
    TermShape,
    saved_coefficients,
    saved_rank_weight,
    sum_by_scale,
)
from sslart._mapping.evidence.design import DesignMatrices
from sslart._mapping.evidence.settings import BasisSpec, FixedSettings
from sslart._utils.arrays import FloatArray, IntArray

N_KNOTS = 17  # a curve is straight between knots at every sixteenth of the range


@dataclass(frozen=True)
class SplineTerm(Term):
    """A curve per feature and class on one scale, straight between evenly spaced knots. A missing value adds nothing.

    Attributes
    ----------
    rank_weight : float
    heights : array of shape (n_features, n_knots, n_classes)
    """

    kind: ClassVar[str] = "splines"
    rank_weight: float
    heights: FloatArray

    def to_state(self) -> dict[str, Any]:
        """Return the term as plain values and arrays."""
        return {"rank_weight": self.rank_weight, "heights": self.heights}

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Return the term of a saved state, after checking that it can be one."""
        heights = saved_coefficients(state, "heights", shape.n_features, N_KNOTS, shape.n_classes)
        return cls(saved_rank_weight(state), heights)

    def add_to(self, scorer: Any) -> None:
        """Add the curves to a scorer of the backend."""
        scorer.add_splines(self.rank_weight, np.ascontiguousarray(self.heights))

    @classmethod
    def combined(cls, terms: list[Self]) -> list[Self]:
        """Return one set of curves per scale."""
        return sum_by_scale(terms, "heights")

    def mixed(self, weights: FloatArray) -> Self:
        """Return the curves with heights that are mixed over the classes."""
        n_features, n_knots, n_classes = self.heights.shape
        flat = multiply(self.heights.reshape(-1, n_classes), weights)
        return replace(self, heights=flat.reshape(n_features, n_knots, -1))


def knot_positions(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return the knot below each value in [0, 1], and which part of the way to the next knot the value lies at."""
    position = np.clip(np.nan_to_num(values), 0.0, 1.0) * (N_KNOTS - 1)
    below = np.minimum(position.astype(np.int64), N_KNOTS - 2)
    return below, position - below


class SplineBasis(Basis):
    """Smooth curves over each feature: the heights at two knots correlate more the closer the knots are."""

    def __init__(self, spec: BasisSpec, samples: FloatArray, sample_weights: FloatArray | None = None) -> None:
        knots = np.linspace(0.0, 1.0, N_KNOTS)
        similarity = np.exp(-np.abs(knots[:, None] - knots) / spec.bandwidth)
        self.root = Cholesky(similarity).lower
        below, part = knot_positions(samples)
        at = np.zeros((*samples.shape, N_KNOTS))
        np.put_along_axis(at, below[:, :, None], 1.0 - part[:, :, None], axis=2)
        np.put_along_axis(at, below[:, :, None] + 1, part[:, :, None], axis=2)
        at[np.isnan(samples)] = 0.0
        super().__init__(spec, multiply(at.reshape(-1, N_KNOTS), self.root).reshape(len(samples), -1), sample_weights)

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the curves that weights make."""
        by_feature = weights.reshape(-1, N_KNOTS, weights.shape[1])
        heights = np.einsum("ak,fkc->fac", self.root, by_feature)
        return [SplineTerm(self.spec.rank_weight, heights)]


class SplineFamily(Family):
    """A curve over each feature."""

    kind: ClassVar[str] = "feature"
    name: ClassVar[str] = "feature"
    term: ClassVar[type[Term]] = SplineTerm

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return the wider bandwidths on the middle scale."""
        return [BasisSpec(self.kind, fixed.middle_rank_weight, width) for width in fixed.bandwidths[:4]]

    def basis(self, spec: BasisSpec, design: DesignMatrices) -> SplineBasis:
        """Return the curves at the labelled samples."""
        return SplineBasis(spec, design.samples_on(spec.rank_weight), design.labelled.ridge_weights)
