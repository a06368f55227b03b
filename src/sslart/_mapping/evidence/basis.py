"""Basis functions and their ridge regression, with exact leave-one-out.

A family of evidence is a grid of settings, a design matrix, and a term of the readout. It is registered in
`families.py`; nothing else has to know it. The regression is solved in the dual, and in the primal for many labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse

from sslart._art.backend import Cholesky, gram_matrix, multiply
from sslart._mapping.evidence.settings import MAX_SETTING, MIN_SETTING, BasisSpec, FixedSettings
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.validation import check_number, require, saved_array

if TYPE_CHECKING:
    from sslart._mapping.evidence.design import DesignMatrices, LabelGroups, LabelledSet

MAX_COEFFICIENT = 1e30  # of a saved term: sums stay finite in single precision
MARGIN = 1e-6  # rounding may leave the unit cube by this
MAX_AT_ONCE = 400_000  # matrix entries solved for several λ at once, which is faster for small matrices
ROWS_AT_ONCE = 2048  # labels whose functions are computed at once, to bound memory


class TermShape(NamedTuple):
    """Numbers of features, classes, and boxes that all terms of a readout share."""

    n_features: int
    n_classes: int
    n_boxes: int


class Term(ABC):
    """One summand of the scores. Samples are given on the scale of the term: see `RankScaler.blend`."""

    kind: ClassVar[str]  # its name in saved files
    weights_name: ClassVar[str] = "weights"  # the field with its weights; the last axis is the class
    rank_weight: float

    def to_state(self) -> dict[str, Any]:
        """Return the term as plain values and arrays: the fields of the dataclass."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    @classmethod
    @abstractmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Restore the term from a saved state after validating it."""

    @abstractmethod
    def add_to(self, scorer: Any) -> None:
        """Add the term to a scorer of the backend."""

    @classmethod
    def combined(cls, terms: list[Self]) -> list[Self]:
        """Merge terms of this class into one term per scale with the same sum."""
        by_scale: dict[float, Self] = {}
        for term in terms:
            before = by_scale.get(term.rank_weight)
            total = term if before is None else term._weighing(before._weights + term._weights)
            by_scale[term.rank_weight] = total
        return list(by_scale.values())

    def mixed(self, weights: FloatArray) -> Self:
        """Return a term whose scores are those of this term times a matrix of shape (n_classes, n_classes)."""
        own = self._weights
        return self._weighing(multiply(own.reshape(-1, own.shape[-1]), weights).reshape(*own.shape[:-1], -1))

    @property
    def _weights(self) -> FloatArray:
        return np.asarray(getattr(self, self.weights_name))

    def _weighing(self, weights: FloatArray) -> Self:
        return replace(self, **{self.weights_name: weights})  # type: ignore[type-var]

    def inside_contributions(self) -> tuple[IntArray, FloatArray] | None:
        """Return box indices and the scores of samples inside each box, (n_boxes, n_classes); None if no boxes."""
        return None


def saved_rank_weight(state: dict[str, Any]) -> float:
    """Return the rank weight of a saved term."""
    return check_number("a term", "rank_weight", state["rank_weight"], 0, 1)


def saved_coefficients(state: dict[str, Any], name: str, *shape: int | None) -> FloatArray:
    """Return the weights of a saved term, bounded so that sums of them stay finite."""
    return saved_array(state, name, np.float64, *shape, low=-MAX_COEFFICIENT, high=MAX_COEFFICIENT)


def saved_places(state: dict[str, Any], name: str, n: int | None, end: int) -> IntArray:
    """Return indices of a saved state below `end`: at least one, strictly ascending."""
    places = saved_array(state, name, np.int64, n, low=0, high=end - 1)
    require(len(places) and (np.diff(places) > 0).all(), repr(name))
    return places


class Basis(ABC):
    """Basis functions at the labelled samples; `matrix` (n_labels, n_functions): Φ."""

    def __init__(self, spec: BasisSpec, design: DesignMatrices, matrix: FloatArray) -> None:
        self.spec, self.matrix, self.sample_weights = spec, matrix, design.labelled.ridge_weights

    @property
    def n_functions(self) -> int:
        """Number of functions."""
        return int(self.matrix.shape[1])

    def functions(self, rows: IntArray) -> FloatArray:
        """Return the functions at some labels."""
        return self.matrix[rows]

    @cached_property
    def scale(self) -> float:
        """The mean diagonal of ΦΦ', by which it is divided."""
        return self._mean(np.einsum("ij,ij->i", self.matrix, self.matrix)) or 1.0

    def _mean(self, values: FloatArray) -> float:
        return float(np.average(values, weights=self.sample_weights))

    @cached_property
    def gram(self) -> FloatArray:
        """The Gram matrix ΦΦ' for ridge regression in the dual, scaled to a mean diagonal of one."""
        return np.asarray(gram_matrix(self.matrix) / self.scale)

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Return the weight of each function, shape (n_functions, n_classes), from coefficients of the samples."""
        return np.asarray(multiply(self.matrix.T, coefficients) / self.scale)

    def own_fit(self, targets: FloatArray, groups: LabelGroups) -> Fit | None:
        """Return the fit of a basis that is not a ridge regression, and so is never mixed; None for other bases."""
        return None

    def own_left_out_without(
        self, targets: FloatArray, groups: LabelGroups, blocks: Sequence[IntArray]
    ) -> FloatArray | None:
        """Return leave-group-out predictions of `own_fit`, each also without one block of labels."""
        return None

    def own_weights(self, targets: FloatArray) -> FloatArray | None:
        """Return only the weights of `own_fit`."""
        return None

    def own_terms_without(self, targets: FloatArray, blocks: Sequence[IntArray], share: float) -> list[Term]:
        """Return the terms of `own_fit` times a share without each block of labels, (n_blocks * n_classes) scores."""
        return []

    @abstractmethod
    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the functions with their weights as terms."""


class Family(ABC):
    """A kind of basis."""

    kind: ClassVar[str]  # its name in `BasisSpec` and in saved files
    name: ClassVar[str]  # the family that users choose it by; several kinds may share one
    term: ClassVar[type[Term]]  # the class of its terms
    basis_type: ClassVar[type[Basis]]  # the class of its basis
    # whether it can be solved in the primal, for more labels than fit in a Gram matrix
    fits_many: ClassVar[bool] = True
    functions_of: ClassVar[tuple[int, int]] = (0, 0)  # number of functions per numeric feature and per indicator
    bandwidth_range: ClassVar[tuple[float, float]] = (MIN_SETTING, MAX_SETTING)  # of `BasisSpec.bandwidth`
    uses_ridge: ClassVar[bool] = True  # whether it depends on λ
    # whether its functions depend on labels, so that leaving a label out changes them
    uses_labels: ClassVar[bool] = False
    # whether it improves so much with more labels that it must not be screened out on a few
    gains_from_labels: ClassVar[bool] = False
    is_costly: ClassVar[bool] = False  # whether it is skipped where few settings are tried, to save time
    prior: ClassVar[float] = 1.0  # prior weight of each of its candidates

    @abstractmethod
    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return the settings to try."""

    def ridges(self, fixed: FixedSettings) -> tuple[float, ...]:
        """Return the values of λ to try for a basis alone."""
        return fixed.ridges

    def applies(self, design: DesignMatrices) -> bool:
        """Return True if the family can be used with these boxes and features."""
        return True

    def basis(self, spec: BasisSpec, design: DesignMatrices) -> Basis:
        """Return the basis functions at the labelled samples."""
        return self.basis_type(spec, design)  # type: ignore[call-arg]


@dataclass(frozen=True)
class Fit:
    """A solution of the dual regression for one λ."""

    ridge: float  # λ
    # (n_labels, n_classes): c = (G + λW⁻¹)⁻¹ Y, where W has the weights of the samples on its diagonal
    coefficients: FloatArray
    # (n_labels, n_classes): leave-one-out prediction of each sample: Y − c_i / (G + λW⁻¹)⁻¹_ii. For a group of samples
    # that are left out together: Y − [(G + λW⁻¹)⁻¹_gg]⁻¹ c_g
    left_out: FloatArray
    # (n_blocks, n_labels, n_classes): the same, each time also without one block of samples; undefined for the samples
    # of that block; None if not requested
    without: FloatArray | None = None


class DualRidge:
    """Ridge regression in the dual on a Gram matrix, which is overwritten.

    `weights` are sample weights of the squared errors; None: all one. `groups` are the samples that are left out
    together: an array of shape (n_groups, size) for each size above one.
    """

    def __init__(
        self,
        gram: FloatArray,
        targets: FloatArray,
        weights: FloatArray | None = None,
        groups: Sequence[IntArray] = (),
    ) -> None:
        self._targets, self._groups = targets, groups
        self._root = None if weights is None else np.sqrt(weights)[:, None]
        if self._root is not None:
            gram *= self._root
            gram *= self._root.T
        self._gram = gram

    def coefficients(self, ridges: Sequence[float]) -> Iterator[FloatArray]:
        """Yield the coefficients for each λ."""
        for some in _at_once(ridges, self._gram.size):
            yield from self._solved(self._decomposed(some), len(some))

    def whole(self, ridge: float) -> tuple[FloatArray, FloatArray]:
        """Return (G + λW⁻¹)⁻¹ and the coefficients for one λ, from which leave-out predictions follow."""
        systems = self._decomposed([ridge])
        inverse = systems.inverse[0] if self._root is None else systems.inverse[0] * self._root * self._root.T
        return inverse, self._solved(systems, 1)[0]

    def coefficients_without(self, ridge: float, blocks: Sequence[IntArray]) -> FloatArray:
        """Return the coefficients for one λ without each block of labels, shape (n_blocks, n_labels, n_classes)."""
        whole, coefficients = self.whole(ridge)
        found = np.repeat(coefficients[None], len(blocks), axis=0)
        for rows, own in zip(blocks, found, strict=True):
            own -= multiply(whole[:, rows], Cholesky(whole[np.ix_(rows, rows)]).solve(coefficients[rows]))
            own[rows] = 0.0
        return found

    def fits(
        self,
        ridges: Sequence[float],
        blocks: Sequence[IntArray] = (),
        is_wanted: Callable[[FloatArray], bool] = lambda left_out: True,
    ) -> Iterator[Fit]:
        """Yield the solution for each λ.

        With `blocks` (of whole groups), also without each block, if `is_wanted` returns True for the leave-one-out
        predictions.
        """
        for some in _at_once(ridges, max(self._gram.size, len(blocks) * self._targets.size)):
            systems = self._decomposed(some)
            coefficients = self._solved(systems, len(some))
            if not (self._groups or blocks):
                diagonal = self._weighted(self._weighted(systems.inverse_diagonal()[..., None]))
                yield from map(Fit, some, coefficients, self._targets - coefficients / diagonal)
                continue
            whole = systems.inverse if self._root is None else systems.inverse * self._root * self._root.T
            left_out = self._targets - coefficients / np.diagonal(whole, axis1=1, axis2=2)[..., None]
            for rows in self._groups:
                inner = whole[:, rows[:, :, None], rows[:, None, :]]
                left_out[:, rows] = self._targets[rows] - Cholesky(inner).solve(coefficients[:, rows])
            wanted = [place for place, own in enumerate(left_out) if blocks and is_wanted(own)]
            without = dict.fromkeys(range(len(some)))
            if wanted:
                found = _without_blocks(whole[wanted], self._targets, coefficients[wanted], blocks, self._groups)
                without |= dict(zip(wanted, found, strict=True))
            yield from map(Fit, some, coefficients, left_out, without.values())

    def _decomposed(self, ridges: Sequence[float]) -> Cholesky:
        """Return the Cholesky factors of G + λW⁻¹ for each λ."""
        places = np.arange(len(self._gram))
        each = np.repeat(np.array(ridges)[:, None], len(places), axis=1)
        systems = np.repeat(self._gram[None], len(each), axis=0)
        systems[:, places, places] += each
        return Cholesky(systems, each, overwrite=True)

    def _solved(self, systems: Cholesky, n: int) -> FloatArray:
        return self._weighted(systems.solve(np.repeat(self._weighted(self._targets)[None], n, axis=0)))

    def _weighted(self, values: FloatArray) -> FloatArray:
        return values if self._root is None else values * self._root


def _without_blocks(
    whole: FloatArray,
    targets: FloatArray,
    coefficients: FloatArray,
    blocks: Sequence[IntArray],
    groups: Sequence[IntArray],
) -> FloatArray:
    """Return leave-group-out predictions of each sample, each also without one block, for several λ.

    With B = (G + λW⁻¹)⁻¹, leaving out the block f turns B into B − B_:f B_ff⁻¹ B_f: and c into c − B_:f B_ff⁻¹ c_f.
    """
    sizes = np.array([len(block) for block in blocks])
    found = np.empty((len(whole), len(blocks), *targets.shape))
    for size in np.unique(sizes).tolist():
        own = np.flatnonzero(sizes == size)
        rows = np.array([blocks[one] for one in own.tolist()])
        found[:, own] = _without(whole, targets, coefficients, rows, groups)
    return found


def _at_once(ridges: Sequence[float], n_entries: int) -> Iterator[Sequence[float]]:
    """Yield batches of λ: many at once for small matrices, else one by one."""
    size = max(MAX_AT_ONCE // max(n_entries, 1), 1)
    return (ridges[start : start + size] for start in range(0, len(ridges), size))


def _without(
    whole: FloatArray, targets: FloatArray, coefficients: FloatArray, rows: IntArray, groups: Sequence[IntArray]
) -> FloatArray:
    """Return the result of `_without_blocks` for blocks of one size, shape (n_blocks, size)."""
    of_block = whole[:, rows]
    turned = Cholesky(whole[:, rows[:, :, None], rows[:, None, :]], overwrite=True).solve(of_block)
    diagonal = np.diagonal(whole, axis1=1, axis2=2)[:, None] - np.einsum("fmbn,fmbn->fmn", turned, of_block)
    rest = coefficients[:, None] - multiply(turned.transpose(0, 1, 3, 2), coefficients[:, rows])
    inside = np.zeros(diagonal.shape[1:], dtype=bool)
    np.put_along_axis(inside, rows, True, axis=1)
    diagonal[:, inside] = 1.0
    found = targets - rest / diagonal[..., None]
    for group in groups:
        change = np.einsum("fmbgs,fmbgt->fmgst", turned[..., group], of_block[..., group])
        inner = whole[:, None, group[:, :, None], group[:, None, :]] - change
        inner[:, inside[:, group[:, 0]]] = np.eye(group.shape[1])
        found[:, :, group] = targets[group] - Cholesky(inner).solve(rest[:, :, group])
    return np.asarray(found)


class PrimalRidge:
    """The weights that minimise |Φw − Y|² + λ Σ penalty · w², for a mixture of bases and one λ.

    Memory grows with labels × functions and functions × classes, but never with labels × classes. It learns from the
    labels in `rows`, all by default.
    """

    def __init__(
        self, bases: Sequence[Basis], labelled: LabelledSet, ridge: float, rows: IntArray | None = None
    ) -> None:
        self._bases, self._labelled = bases, labelled
        sizes = [basis.n_functions for basis in bases]
        self._ends = np.cumsum([1, *sizes])[:-1]
        self._root = None if labelled.ridge_weights is None else np.sqrt(labelled.ridge_weights)
        self._penalties = ridge * np.append(1.0, np.repeat([len(bases) * basis.scale for basis in bases], sizes))
        self._system = np.diag(self._penalties)
        self._sums = np.zeros((labelled.n_classes, len(self._system)))
        self.add(np.arange(len(labelled.classes)) if rows is None else rows)

    def add(self, rows: IntArray) -> None:
        """Learn from further labels."""
        labelled = self._labelled
        for start in range(0, len(rows), ROWS_AT_ONCE):
            own = rows[start : start + ROWS_AT_ONCE]
            matrix = self._matrix(own)
            self._system += gram_matrix(matrix.T)
            self._sums += _sums_by_class(
                matrix if self._root is None else matrix * self._root[own, None], own, labelled
            )
        self._factor = Cholesky(self._system, self._penalties)
        self.weights = self._factor.solve(self._sums.T)

    def predicted(self, rows: IntArray) -> FloatArray:
        """Return the scores of some labelled samples, shape (n_rows, n_classes)."""
        return multiply(self._functions(rows), self.weights)

    def _functions(self, rows: IntArray) -> FloatArray:
        return np.hstack([np.ones((len(rows), 1)), *(basis.functions(rows) for basis in self._bases)])

    def _matrix(self, rows: IntArray) -> FloatArray:
        """Return the functions at some labels, times the square roots of their weights."""
        matrix = self._functions(rows)
        return matrix if self._root is None else matrix * self._root[rows, None]

    def terms(self, share: float) -> tuple[list[Term], FloatArray]:
        """Return the terms and the bias, multiplied by a share."""
        bias, *parts = np.split(share * self.weights, self._ends)
        return [term for basis, own in zip(self._bases, parts, strict=True) for term in basis.terms(own)], bias[0]

    def left_out(self, rows: IntArray, groups: LabelGroups) -> FloatArray:
        """Return leave-group-out predictions of some labels, shape (n_rows, n_classes).

        Groups, which must be contained in `rows`, are left out together: with H = Φ A⁻¹ Φ' and the residual r = Y − Φw,
        the prediction for a group is Y − (I − H_gg)⁻¹ r_g.
        """
        matrix = self._matrix(rows)
        solved = self._factor.solve(matrix.T)
        root = 1.0 if self._root is None else self._root[rows, None]
        targets = np.zeros((len(rows), self._labelled.n_classes))
        targets[np.arange(len(rows)), self._labelled.classes[rows]] = 1.0
        targets *= root
        left_out = multiply(matrix, self.weights)
        np.subtract(targets, left_out, out=left_out)
        alone = np.ones(len(rows), dtype=bool)
        for together in groups.several:
            alone[together] = False
            for own in together:
                inner = np.eye(len(own)) - multiply(matrix[own], solved[:, own])
                left_out[own] = Cholesky(inner, overwrite=True).solve(left_out[own])
        left_out[alone] /= 1.0 - np.einsum("np,pn->n", matrix[alone], solved[:, alone])[:, None]
        np.subtract(targets, left_out, out=left_out)
        left_out /= root
        return left_out


def _sums_by_class(matrix: FloatArray, rows: IntArray, labelled: LabelledSet) -> FloatArray:
    """Return the sum of the rows of each class, shape (n_classes, n_functions)."""
    places = (labelled.classes[rows], np.arange(len(rows)))
    of_class = scipy.sparse.csr_array((np.ones(len(rows)), places), shape=(labelled.n_classes, len(rows)))
    return np.asarray(of_class @ matrix)
