"""Ridge regression of class indicators: in the dual with exact leave-one-out, and in the primal for many labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from sslart._utils.arrays import FloatArray, IntArray

MAX_AT_ONCE = 64  # labels for which several λ are taken together


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
    """

    ridge: float
    coefficients: FloatArray
    left_out: FloatArray


class DualRidge:
    """The regression on one Gram matrix, which is decomposed once for all λ and used up.

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
        values, self._vectors = scipy.linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
        self._values = np.maximum(values, 0.0)
        self._turned, self._squared = self._vectors.T @ self._weighted(targets), self._vectors**2
        if self._root is not None:
            self._squared *= self._root**2
        self._of_groups = [self._weighted_rows(rows) for rows in groups]

    def _weighted(self, values: FloatArray) -> FloatArray:
        return values if self._root is None else values * self._root

    def _weighted_rows(self, rows: IntArray) -> FloatArray:
        vectors = self._vectors[rows]
        return np.asarray(vectors if self._root is None else vectors * self._root[rows])

    def fit(self, ridge: float) -> Fit:
        """Return the solution for one λ."""
        inverse = 1.0 / (self._values + ridge)
        coefficients = self._weighted(self._vectors @ (inverse[:, None] * self._turned))
        left_out = self._targets - coefficients / (self._squared @ inverse)[:, None]
        for rows, of_group in zip(self._groups, self._of_groups, strict=True):
            inner = (of_group * inverse) @ of_group.transpose(0, 2, 1)
            left_out[rows] = self._targets[rows] - np.linalg.solve(inner, coefficients[rows])
        return Fit(ridge, coefficients, left_out)


def left_out_without(
    gram: FloatArray,
    targets: FloatArray,
    fits: Sequence[Fit],
    blocks: Sequence[IntArray],
    weights: FloatArray | None = None,
    groups: Sequence[IntArray] = (),
) -> Iterator[FloatArray]:
    """Yield, for each fit, what is predicted for each sample without its group and without a block of samples.

    With B = (G + λW⁻¹)⁻¹, leaving out the block f turns B into B − B_:f B_ff⁻¹ B_f: and c into c − B_:f B_ff⁻¹ c_f.

    Parameters
    ----------
    gram, targets, weights, groups
        See `DualRidge`; the Gram matrix stays as it is.
    fits : sequence of Fit
        Its solutions, each for one λ.
    blocks : sequence of arrays of int
        Each of whole groups.

    Yields
    ------
    array of shape (n_blocks, n_labels, n_classes)
        Without meaning for the samples of the block itself.
    """
    sizes = np.array([len(block) for block in blocks])
    at_once = len(fits) if len(gram) <= MAX_AT_ONCE else 1
    for start in range(0, len(fits), at_once):
        some = fits[start : start + at_once]
        ridges = np.array([fit.ridge for fit in some])[:, None]
        whole = _inverses(gram, ridges if weights is None else ridges / weights)
        coefficients = np.array([fit.coefficients for fit in some])
        found = np.empty((len(some), len(blocks), *targets.shape))
        for size in np.unique(sizes).tolist():
            own = np.flatnonzero(sizes == size)
            rows = np.array([blocks[one] for one in own.tolist()])
            found[:, own] = _without(whole, targets, coefficients, rows, groups)
        yield from found


def _inverses(gram: FloatArray, ridges: FloatArray) -> FloatArray:
    """Return (G + λW⁻¹)⁻¹ for each row of λW⁻¹: of small matrices all at once, of large ones by Cholesky."""
    systems = np.repeat(gram[None], len(ridges), axis=0)
    places = np.arange(len(gram))
    systems[:, places, places] += ridges
    if len(systems) > 1:
        return np.asarray(np.linalg.inv(systems), dtype=np.float64)
    factor = scipy.linalg.cholesky(systems[0], lower=True, overwrite_a=True, check_finite=False)
    (potri,) = scipy.linalg.get_lapack_funcs(("potri",), (factor,))
    lower, _ = potri(factor, lower=1, overwrite_c=1)
    below = np.tril(lower, -1)
    return np.asarray(below + below.T + np.diag(np.diagonal(lower)))[None]


def _without(
    whole: FloatArray, targets: FloatArray, coefficients: FloatArray, rows: IntArray, groups: Sequence[IntArray]
) -> FloatArray:
    """Return what `left_out_without` does for several fits and blocks of one size, shape (n_blocks, size)."""
    of_block = whole[:, rows]
    turned = np.linalg.solve(whole[:, rows[:, :, None], rows[:, None, :]], of_block)
    diagonal = np.diagonal(whole, axis1=1, axis2=2)[:, None] - np.einsum("fmbn,fmbn->fmn", turned, of_block)
    rest = coefficients[:, None] - turned.transpose(0, 1, 3, 2) @ coefficients[:, rows]
    inside = np.zeros(diagonal.shape[1:], dtype=bool)
    np.put_along_axis(inside, rows, True, axis=1)
    diagonal[:, inside] = 1.0
    found = targets - rest / diagonal[..., None]
    for group in groups:
        change = np.einsum("fmbgs,fmbgt->fmgst", turned[..., group], of_block[..., group])
        inner = whole[:, None, group[:, :, None], group[:, None, :]] - change
        inner[:, inside[:, group[:, 0]]] = np.eye(group.shape[1])
        found[:, :, group] = targets[group] - np.linalg.solve(inner, rest[:, :, group])
    return np.asarray(found)


def primal(matrix: FloatArray, penalties: FloatArray, targets: FloatArray, ridge: float) -> FloatArray:
    """Return the weights w that minimise |Φw − Y|² + λ Σ penalty · w²: those that the dual gives."""
    system = matrix.T @ matrix + np.diag(ridge * penalties)
    return np.asarray(scipy.linalg.solve(system, matrix.T @ targets, assume_a="pos", check_finite=False))
