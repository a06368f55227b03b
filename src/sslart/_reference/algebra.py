"""Linear algebra by textbook loops in NumPy: the specification of the compiled kernel.

The products of each result are summed in order, so that every bit of the result is defined.
"""

from __future__ import annotations

import numpy as np

from sslart._utils.arrays import FloatArray

Flags = np.ndarray[tuple[int], np.dtype[np.uint8]]


def multiply(
    a: FloatArray, b: FloatArray, out: FloatArray, a_transposed: bool, b_transposed: bool, stop: Flags
) -> None:
    """Fill `out` with the products of two stacks of matrices, each transposed or not."""
    left = a.swapaxes(1, 2) if a_transposed else a
    right = b.swapaxes(1, 2) if b_transposed else b
    if left.shape[2] != right.shape[1] or out.shape != (len(left), left.shape[1], right.shape[2]):
        raise ValueError("matrices whose shapes do not fit")
    out[:] = 0.0
    for k in range(left.shape[2]):
        out += left[:, :, k, None] * right[:, None, k]
        if stop[0]:
            return


def gram(a: FloatArray, out: FloatArray, a_transposed: bool, stop: Flags) -> None:
    """Fill `out` with AA', where A is transposed or not."""
    multiply(a[None], a[None], out[None], a_transposed, not a_transposed, stop)


def factorise(matrices: FloatArray, floors: FloatArray, stop: Flags) -> None:
    """Replace each matrix of a stack by its Cholesky factor L; squares of its diagonal are at least the floors."""
    n = matrices.shape[2]
    if matrices.shape[1] != n or floors.shape != matrices.shape[:2]:
        raise ValueError("matrices must have the shape (n_matrices, n, n), floors the shape (n_matrices, n)")
    for k in range(n):
        pivots = np.sqrt(np.maximum(matrices[:, k, k], floors[:, k]))
        matrices[:, k, k] = pivots
        matrices[:, k, k + 1 :] = 0.0
        matrices[:, k + 1 :, k] /= pivots[:, None]
        later = matrices[:, k + 1 :, k]
        matrices[:, k + 1 :, k + 1 :] -= later[:, :, None] * later[:, None]
        if stop[0]:
            return


def solve(factors: FloatArray, right_sides: FloatArray, stop: Flags) -> None:
    """Replace B by (LL')⁻¹B."""
    if factors.shape[1] != factors.shape[2]:
        raise ValueError("factors must have the shape (n_matrices, n, n)")
    if right_sides.shape[:2] != factors.shape[:2]:
        raise ValueError("right_sides must have the shape (n_matrices, n, n_columns)")
    for k in range(factors.shape[1]):
        right_sides[:, k] /= factors[:, k, k, None]
        right_sides[:, k + 1 :] -= factors[:, k + 1 :, k, None] * right_sides[:, k, None]
        if stop[0]:
            return
    for k in reversed(range(factors.shape[1])):
        right_sides[:, k] /= factors[:, k, k, None]
        right_sides[:, :k] -= factors[:, k, :k, None] * right_sides[:, k, None]
        if stop[0]:
            return


def invert(factors: FloatArray, out: FloatArray, stop: Flags) -> None:
    """Fill `out` with (LL')⁻¹."""
    if out.shape != factors.shape:
        raise ValueError("out must have the shape (n_matrices, n, n)")
    inverse = _inverse_factors(factors, stop)
    multiply(inverse, inverse, out, True, False, stop)


def inverse_diagonals(factors: FloatArray, out: FloatArray, stop: Flags) -> None:
    """Fill `out` with the diagonal of (LL')⁻¹."""
    if out.shape != factors.shape[:2]:
        raise ValueError("out must have the shape (n_matrices, n)")
    out[:] = 0.0
    for row in _inverse_factors(factors, stop).swapaxes(0, 1):
        out += row * row


def _inverse_factors(factors: FloatArray, stop: Flags) -> FloatArray:
    """Return L⁻¹, a lower triangular matrix."""
    inverse = np.zeros(factors.shape)
    inverse[:] = np.eye(factors.shape[1])
    for k in range(factors.shape[1]):
        row = inverse[:, k, : k + 1]
        row /= factors[:, k, k, None]
        inverse[:, k + 1 :, : k + 1] -= factors[:, k + 1 :, k, None] * row[:, None]
        if stop[0]:
            break
    return inverse


def learn_label(
    inverse: FloatArray,
    weights: FloatArray,
    values: FloatArray,
    target: int,
    importance: float,
    kept: float,
    scores: FloatArray,
    place: int,
    ridge: float,
    first: FloatArray,
) -> None:
    """Update a ridge regression with one label: a rank-one update.

    Parameters
    ----------
    inverse, weights : arrays of shape (n, n) and (n, n_classes)
        (Φ'WΦ + Λ)⁻¹ and the weights; changed in place.
    values, target : array of length n, int
        The functions at the sample, and its class.
    importance, kept : float
        Weight of the label, and forgetting factor of the earlier ones.
    scores : array of length n_classes
        Filled with the scores of the sample before the label is learnt.
    place, ridge, first : int, float, and array of length n_classes
        The function whose regularisation is restored after forgetting, its λ, and its initial weights.
    """
    turned, gain = _learn(inverse, weights, values, target, importance, kept, scores)
    inverse -= (turned[:, None] * turned) * gain
    if kept < 1.0:
        _forget(inverse, weights, kept, place, ridge * (1.0 - kept) * len(values), first)


def _learn(
    inverse: FloatArray,
    weights: FloatArray,
    values: FloatArray,
    target: int,
    importance: float,
    kept: float,
    scores: FloatArray,
) -> tuple[FloatArray, float]:
    """Update the weights with a label; return Px and the gain."""
    turned, spread = np.zeros(len(values)), 0.0
    scores[:] = 0.0
    for k, value in enumerate(values):
        turned += inverse[k] * value
        scores += value * weights[k]
    for k, value in enumerate(values):
        spread += turned[k] * value
    gain = 1.0 / (kept / importance + spread)
    weights += (turned * gain)[:, None] * ((np.arange(len(scores)) == target) - scores)
    return turned, gain


def _forget(
    inverse: FloatArray, weights: FloatArray, kept: float, place: int, amount: float, first: FloatArray
) -> None:
    """Apply the forgetting factor, and restore an amount of λ of one function."""
    inverse *= 1.0 / kept
    column = inverse[:, place].copy()
    back = amount / (1.0 + amount * column[place])
    weights += (column * back)[:, None] * (first - weights[place])
    inverse -= (column[:, None] * column) * back
