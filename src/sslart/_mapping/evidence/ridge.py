"""Ridge regression of class indicators in the dual, with exact leave-one-out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from sslart._art.algebra import Cholesky, multiply
from sslart._utils.arrays import FloatArray, IntArray

MAX_AT_ONCE = 400_000  # entries of matrices for which several λ are taken together

Item = TypeVar("Item")


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
