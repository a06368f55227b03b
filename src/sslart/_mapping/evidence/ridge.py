"""Ridge regression of class indicators: in the dual with exact leave-one-out, and in the primal for many labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from sslart._utils.arrays import FloatArray, IntArray


@dataclass(frozen=True)
class Fit:
    """One solution of the dual.

    Attributes
    ----------
    ridge : float
        λ.
    coefficients : array of shape (n_labels, n_classes)
        c = (G + λI)⁻¹ Y.
    left_out : array of shape (n_labels, n_classes)
        What is predicted for each sample by the others alone: Y − c_i / (G + λI)⁻¹_ii. Of a group of samples that are
        left out together, Y − [(G + λI)⁻¹_gg]⁻¹ c_g.
    """

    ridge: float
    coefficients: FloatArray
    left_out: FloatArray


def dual(
    gram: FloatArray, targets: FloatArray, ridges: Sequence[float], groups: Sequence[IntArray] = ()
) -> Iterator[Fit]:
    """Solve for each λ from one decomposition of the Gram matrix, which is used up.

    `groups`: samples that are left out together, shape (n_groups, size), an array for each size.
    """
    values, vectors = scipy.linalg.eigh(gram, overwrite_a=True, check_finite=False, driver="evd")
    values = np.maximum(values, 0.0)
    turned, squared = vectors.T @ targets, vectors**2
    own = [vectors[rows] for rows in groups]
    for ridge in ridges:
        inverse = 1.0 / (values + ridge)
        coefficients = vectors @ (inverse[:, None] * turned)
        left_out = targets - coefficients / (squared @ inverse)[:, None]
        for rows, of_group in zip(groups, own, strict=True):
            inner = (of_group * inverse) @ of_group.transpose(0, 2, 1)
            left_out[rows] = targets[rows] - np.linalg.solve(inner, coefficients[rows])
        yield Fit(ridge, coefficients, left_out)


def primal(matrix: FloatArray, penalties: FloatArray, targets: FloatArray, ridge: float) -> FloatArray:
    """Return the weights w that minimise |Φw − Y|² + λ Σ penalty · w²: those that the dual gives."""
    system = matrix.T @ matrix + np.diag(ridge * penalties)
    return np.asarray(scipy.linalg.solve(system, matrix.T @ targets, assume_a="pos", check_finite=False))
