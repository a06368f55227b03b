"""Ridge regression in the primal for many labels of many classes, with exact leave-one-out for some of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from sslart._art.algebra import Cholesky, gram_matrix, multiply
from sslart._mapping.evidence.bases.base import Basis, Term
from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.design import LabelledSet
from sslart._utils.arrays import FloatArray, IntArray

ROWS_AT_ONCE = 2048  # labels whose functions are computed together


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
