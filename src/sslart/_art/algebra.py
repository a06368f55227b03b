"""Reproducible linear algebra: the bits of a result depend on the input alone.

BLAS adds in another order for another number of threads, on another processor, and for another place in memory. Here
every sum adds its products one after another, in the order of the textbook's loops. The work is done by the backend:
the compiled kernel, or `sslart._reference.algebra`, which are those loops in NumPy and give the same bits.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from sslart._art.backend import backend
from sslart._utils.arrays import FloatArray
from sslart._utils.resources import stop_flag

EPSILON = float(np.finfo(np.float64).eps)


def multiply(a: FloatArray, b: FloatArray) -> FloatArray:
    """Return the product of matrices of shapes (..., m, k) and (..., k, n); the axes before must be the same."""
    (left, is_left_turned), (right, is_right_turned) = _as_stack(a), _as_stack(b)
    out = np.empty((len(left), a.shape[-2], b.shape[-1]))
    backend().multiply(left, right, out, is_left_turned, is_right_turned, stop_flag())
    return out.reshape(*a.shape[:-1], b.shape[-1])


def gram_matrix(matrix: FloatArray) -> FloatArray:
    """Return AA' of a matrix A."""
    values, is_turned = _as_stack(matrix)
    out = np.empty((len(matrix), len(matrix)))
    backend().gram(values[0], out, is_turned, stop_flag())
    return out


class Cholesky:
    """Cholesky factors L of a stack of positive definite matrices (LL' = A), with solves and inverses.

    Squares of the diagonal of L are at least the `floors`, of shape (..., n): where A is a positive semidefinite matrix
    plus these on its diagonal, that is so but for rounding. None: the diagonal of A times the precision of numbers.
    With `overwrite`, the matrices may be used up.
    """

    def __init__(self, matrices: FloatArray, floors: FloatArray | None = None, *, overwrite: bool = False) -> None:
        n = matrices.shape[-1]
        if floors is None:
            floors = EPSILON * np.abs(np.diagonal(matrices, axis1=-2, axis2=-1))
        given = np.asarray(matrices, dtype=np.float64)
        stack = np.ascontiguousarray(given).reshape(-1, n, n)
        if not overwrite and np.shares_memory(stack, given):
            stack = stack.copy()
        backend().factorise(stack, np.ascontiguousarray(floors, dtype=np.float64).reshape(-1, n), stop_flag())
        self._stack, self._shape = stack, matrices.shape

    @property
    def lower(self) -> FloatArray:
        """L, with zeros above the diagonal."""
        return self._stack.reshape(self._shape)

    def solve(self, right_sides: FloatArray) -> FloatArray:
        """Return A⁻¹B of arrays of shape (..., n, n_columns)."""
        stack = np.array(right_sides, dtype=np.float64, order="C").reshape(len(self._stack), *right_sides.shape[-2:])
        backend().solve(self._stack, stack, stop_flag())
        return stack.reshape(right_sides.shape)

    @cached_property
    def inverse(self) -> FloatArray:
        """A⁻¹."""
        out = np.empty(self._stack.shape)
        backend().invert(self._stack, out, stop_flag())
        return out.reshape(self._shape)

    def inverse_diagonal(self) -> FloatArray:
        """Return the diagonal of A⁻¹, shape (..., n)."""
        out = np.empty(self._stack.shape[:2])
        backend().inverse_diagonals(self._stack, out, stop_flag())
        return out.reshape(self._shape[:-1])


def _as_stack(matrix: FloatArray) -> tuple[FloatArray, bool]:
    """Return matrices as a contiguous stack, and whether each lies transposed in it."""
    matrix = np.asarray(matrix, dtype=np.float64)
    turned = matrix.swapaxes(-1, -2)
    is_turned = turned.flags.c_contiguous and not matrix.flags.c_contiguous
    rows = turned if is_turned else np.ascontiguousarray(matrix)
    return rows.reshape(math.prod(rows.shape[:-2]), *rows.shape[-2:]), is_turned
