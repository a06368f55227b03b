"""Interface of a family of evidence: a grid of settings, design matrices, and terms of the readout.

A family is registered in `families.py`; nothing else has to know it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from sslart._art.algebra import gram_matrix, multiply
from sslart._mapping.evidence.duplicate_groups import LabelGroups
from sslart._mapping.evidence.ridge import Fit
from sslart._mapping.evidence.settings import MAX_SETTING, MIN_SETTING, BasisSpec, FixedSettings
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.validation import check_number, require, saved_array

if TYPE_CHECKING:
    from sslart._mapping.evidence.design import DesignMatrices

AnyTerm = TypeVar("AnyTerm", bound="Term")
MAX_COEFFICIENT = 1e30  # in a file: sums of many are numbers in single precision too
MARGIN = 1e-6  # by which rounding may lead out of the unit cube


class TermShape(NamedTuple):
    """Numbers of features, classes, and boxes that all terms of a readout share."""

    n_features: int
    n_classes: int
    n_boxes: int


class Term(ABC):
    """One summand of the scores. Samples are given on the scale of the term: see `RankScaler.blend`.

    Attributes
    ----------
    kind : str
        Its name in saved files.
    rank_weight : float
    """

    kind: ClassVar[str]
    rank_weight: float

    @abstractmethod
    def to_state(self) -> dict[str, Any]:
        """Return the term as plain values and arrays."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Return the term of a saved state, after checking that it can be one."""

    @abstractmethod
    def add_to(self, scorer: Any) -> None:
        """Add the term to a scorer of the backend."""

    @classmethod
    @abstractmethod
    def combined(cls, terms: list[Self]) -> list[Self]:
        """Return terms of this class as fewer terms with the same sum."""

    @abstractmethod
    def mixed(self, weights: FloatArray) -> Self:
        """Return a term whose scores are those of this term times a matrix of shape (n_classes, n_classes)."""

    def inside_contributions(self) -> tuple[IntArray, FloatArray] | None:
        """Return box indices and the score each box adds inside it, (n_boxes, n_classes); None without boxes."""
        return None


def saved_rank_weight(state: dict[str, Any]) -> float:
    """Return the weight of ranks in the scale of a saved term."""
    return check_number("a term", "rank_weight", state["rank_weight"], 0, 1)


def saved_coefficients(state: dict[str, Any], name: str, *shape: int | None) -> FloatArray:
    """Return the weights of a saved term, bounded so that sums of them stay finite."""
    return saved_array(state, name, np.float64, *shape, low=-MAX_COEFFICIENT, high=MAX_COEFFICIENT)


def saved_places(state: dict[str, Any], name: str, n: int | None, end: int) -> IntArray:
    """Return indices of a saved state, below an end: at least one, in ascending order, each once."""
    places = saved_array(state, name, np.int64, n, low=0, high=end - 1)
    require(len(places) and (np.diff(places) > 0).all(), repr(name))
    return places


def sum_by_scale(terms: list[AnyTerm], attribute: str) -> list[AnyTerm]:
    """Return one term per scale, with an attribute, such as the weights, added up."""
    by_scale: dict[float, Any] = {}
    for term in terms:
        before = by_scale.get(term.rank_weight)
        if before is not None:
            term = replace(term, **{attribute: getattr(before, attribute) + getattr(term, attribute)})  # type: ignore[type-var]
        by_scale[term.rank_weight] = term
    return list(by_scale.values())


class Basis(ABC):
    """Basis functions at the labelled samples.

    Parameters
    ----------
    spec : BasisSpec
    matrix : array of shape (n_labels, n_functions)
        Φ.
    sample_weights : array of length n_labels, or None
        None: one each.
    """

    def __init__(self, spec: BasisSpec, matrix: FloatArray, sample_weights: FloatArray | None = None) -> None:
        self.spec, self.matrix, self.sample_weights = spec, matrix, sample_weights

    @cached_property
    def scale(self) -> float:
        """The mean diagonal of ΦΦ', by which it is divided."""
        return self._mean(np.einsum("ij,ij->i", self.matrix, self.matrix)) or 1.0

    def _mean(self, values: FloatArray) -> float:
        return float(np.average(values, weights=self.sample_weights))

    @cached_property
    def gram(self) -> FloatArray:
        """ΦΦ', scaled so that its mean diagonal is one. Ridge in the dual needs nothing else."""
        return np.asarray(gram_matrix(self.matrix) / self.scale)

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Return the weight of each function, shape (n_functions, n_classes), from coefficients of the samples."""
        return np.asarray(multiply(self.matrix.T, coefficients) / self.scale)

    def own_fit(self, targets: FloatArray, groups: LabelGroups) -> Fit | None:
        """Return the solution of a basis that is no ridge regression and takes part in no mixture; None for others."""
        return None

    def own_left_out_without(
        self, targets: FloatArray, groups: LabelGroups, blocks: Sequence[IntArray]
    ) -> FloatArray | None:
        """Return leave-group-out predictions of that solution, each also without one block of labels."""
        return None

    def own_weights(self, targets: FloatArray) -> FloatArray | None:
        """Return the weights of that solution alone."""
        return None

    @abstractmethod
    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the functions with their weights as terms."""


class Family(ABC):
    """A kind of basis.

    Attributes
    ----------
    kind : str
        Its name in `BasisSpec` and in saved files.
    name : str
        The family that users choose it by; several kinds may share one.
    term : type
        The class of its terms.
    fits_many : bool
        Whether it can be solved in the primal, for more labels than a Gram matrix can hold.
    bandwidth_range : (float, float)
        What `BasisSpec.bandwidth` may be.
    uses_ridge : bool
        Whether λ has a meaning for it.
    uses_labels : bool
        Whether its functions depend on the labels of the samples, so that leaving one out needs other functions.
    gains_from_labels : bool
        Whether it gains so much from further labels that a few of them cannot show it to be behind.
    is_costly : bool
        Whether it takes so long that it has no part where few settings are tried.
    prior : float
        What one of its candidates counts before any label does, against 1.
    """

    kind: ClassVar[str]
    name: ClassVar[str]
    term: ClassVar[type[Term]]
    fits_many: ClassVar[bool] = True
    bandwidth_range: ClassVar[tuple[float, float]] = (MIN_SETTING, MAX_SETTING)
    uses_ridge: ClassVar[bool] = True
    uses_labels: ClassVar[bool] = False
    gains_from_labels: ClassVar[bool] = False
    is_costly: ClassVar[bool] = False
    prior: ClassVar[float] = 1.0

    @abstractmethod
    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return the settings to try."""

    def ridges(self, fixed: FixedSettings) -> tuple[float, ...]:
        """Return the values of λ to try for a basis alone."""
        return fixed.ridges

    def applies(self, design: DesignMatrices) -> bool:
        """Return True if the family can be used with these boxes and features."""
        return True

    @abstractmethod
    def basis(self, spec: BasisSpec, design: DesignMatrices) -> Basis:
        """Return the basis functions at the labelled samples."""
