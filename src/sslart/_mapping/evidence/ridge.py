"""Ridge regression of class indicators with exact leave-one-out: in the dual, and in the primal for many labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import scipy.sparse

from sslart._art.algebra import Cholesky, gram_matrix, multiply
from sslart._utils.arrays import FloatArray, IntArray

if TYPE_CHECKING:
    from sslart._mapping.evidence.basis import Basis, Term
    from sslart._mapping.evidence.design import LabelledSet
    from sslart._mapping.evidence.duplicate_groups import LabelGroups

MAX_AT_ONCE = 400_000  # entries of matrices for which several λ are taken together
Item = TypeVar("Item")
ROWS_AT_ONCE = 2048  # labels whose functions are computed together


@dataclass(frozen=True)
class Fit:
    """One solution of the dual.

    Attributes
    ----------
    ridge : float
        λ.
    coefficients : array of shape (n_labels, n_classes)
        c = (G + λW⁻¹)⁻¹ Y, where W has the weights of the samples on its diagonal.
    left_out : array of shape (n_labels, n_classes)
        What is predicted for each sample by the others alone: Y − c_i / (G + λW⁻¹)⁻¹_ii. Of a group of samples that are
        left out together, Y − [(G + λW⁻¹)⁻¹_gg]⁻¹ c_g.
    without : array of shape (n_blocks, n_labels, n_classes), or None
        The same without each block of samples too, without meaning for the samples of the block itself; None where it
        was not wanted.
    """

    ridge: float
    coefficients: FloatArray
    left_out: FloatArray
    without: FloatArray | None = None


class DualRidge:
    """The regression on one Gram matrix, which is used up.

    Parameters
    ----------
    gram : array of shape (n_labels, n_labels)
    targets : array of shape (n_labels, n_classes)
    weights : array of length n_labels, or None
        How much each sample counts in the sum of squared errors; None: one each.
    groups : sequence of arrays of shape (n_groups, size)
        Samples that are left out together, an array for each size above one.
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

    def fits(
        self,
        ridges: Sequence[float],
        blocks: Sequence[IntArray] = (),
        is_wanted: Callable[[FloatArray], bool] = lambda left_out: True,
    ) -> Iterator[Fit]:
        """Yield the solution for each λ.

        Where there are blocks, of whole groups, and the predictions for left-out samples make it wanted, also that
        without each block of samples.
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
        each = np.repeat(np.array(ridges)[:, None], len(self._gram), axis=1)
        return _plus_diagonal(self._gram, each)

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


def _at_once(those: Sequence[Item], n_entries: int) -> Iterator[Sequence[Item]]:
    """Yield parts of a sequence that are taken together: many where each has a small matrix, else one by one."""
    size = max(MAX_AT_ONCE // max(n_entries, 1), 1)
    return (those[start : start + size] for start in range(0, len(those), size))


def _plus_diagonal(gram: FloatArray, ridges: FloatArray) -> Cholesky:
    """Return G + λW⁻¹ for each row of λW⁻¹, decomposed."""
    systems = np.repeat(gram[None], len(ridges), axis=0)
    places = np.arange(len(gram))
    systems[:, places, places] += ridges
    return Cholesky(systems, ridges, overwrite=True)


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

    Memory grows with labels × functions and functions × classes, but never with labels × classes.

    Parameters
    ----------
    bases : sequence of Basis
    labelled : LabelledSet
    ridge : float
    rows : array of int or None
        The labels to learn from; None: all.
    """

    def __init__(
        self, bases: Sequence[Basis], labelled: LabelledSet, ridge: float, rows: IntArray | None = None
    ) -> None:
        self._bases, self._labelled = bases, labelled
        sizes = [basis.matrix.shape[1] for basis in bases]
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
        return np.hstack([np.ones((len(rows), 1)), *(basis.matrix[rows] for basis in self._bases)])

    def _matrix(self, rows: IntArray) -> FloatArray:
        """Return the functions at some labels, times the roots of their weights."""
        matrix = self._functions(rows)
        return matrix if self._root is None else matrix * self._root[rows, None]

    def terms(self, share: float) -> tuple[FloatArray, list[Term]]:
        """Return the bias and the terms, times a share."""
        bias, *parts = np.split(share * self.weights, self._ends)
        return bias[0], [term for basis, own in zip(self._bases, parts, strict=True) for term in basis.terms(own)]

    def left_out(self, rows: IntArray, groups: LabelGroups) -> FloatArray:
        """Return leave-group-out predictions of some labels, shape (n_rows, n_classes).

        Those of a group, all of which must be among the rows, are left out together: with H = Φ A⁻¹ Φ' and the residual
        r = Y − Φw, what is predicted for a group is Y − (I − H_gg)⁻¹ r_g.
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
