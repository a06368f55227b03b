"""MeanS3VM by multiple kernel learning: the convex relaxation of the search for the means.

Reference: Y.-F. Li, J. T. Kwok, Z.-H. Zhou, Semi-supervised learning using label mean, ICML 2009, 633-640, the version
meanS3vm-mkl. Each d of `means3vm` gives a kernel K^d over the labelled samples and the two means, and the relaxation is

    min over μ ≥ 0, Σμ_d = 1 of  max over α of  Σ α_i - ½ (α∘y)ᵀ (Σ_d μ_d K^d) (α∘y),

over all d. Cutting planes: start with one d; solve for μ and α; add a d with a larger ‖w_d‖² = (α∘y)ᵀK^d(α∘y) than
those known; end where none is found. For given kernels μ_d ∝ μ_d ‖w_d‖ is repeated, with a quadratic program for α each
time.

Left open, and chosen here: ‖w_d‖² is convex in d and its largest value is hard to find, so it is raised from the best
known d by taking the u₊ unlabelled samples with the largest wᵀφ(x), again and again; at most ten d; the kernel width is
that which meanS3vm-iter chooses. The rest is as in `means3vm`.
"""

from __future__ import annotations

import numpy as np

from reproduction.methods.means3vm import MeanS3VM, coefficients, means_by, program, quadratic_program
from reproduction.methods.tuning import FloatArray, IntArray

N_PLANES = 10


class MeanS3VMMKL(MeanS3VM):
    """Learn from labelled and unlabelled samples; -1 stands for no label. Parameters are those of `MeanS3VM`."""

    def _last(self, kernel: FloatArray, labelled: IntArray, signs: FloatArray) -> tuple[FloatArray, float]:
        planes = [self._first_means(kernel, labelled, signs)]
        while True:
            shares, alpha, multiplier = mixture(kernel, labelled, signs, planes, self.c_1, self.c_2)
            found = most_violated(kernel, labelled, signs, planes, alpha, self.c_2)
            if found is None or len(planes) == N_PLANES:
                break
            planes.append(found)
        vectors = [coefficients(alpha, labelled, signs, means, self.c_2) for means in planes]
        middles = [vector @ kernel @ means.mean(axis=0) for vector, means in zip(vectors, planes, strict=True)]
        return np.asarray(shares @ np.array(vectors)), multiplier - float(shares @ np.array(middles))


def mixture(
    kernel: FloatArray,
    labelled: IntArray,
    signs: FloatArray,
    planes: list[FloatArray],
    c_1: float,
    c_2: float,
    n_rounds: int = 50,
) -> tuple[FloatArray, FloatArray, float]:
    """Return μ, α and the multiplier of |Σ α_i y_i| ≤ C₂ for the kernels of given means."""
    programs = [program(kernel, labelled, signs, means, c_2) for means in planes]
    matrices, vectors = np.array([H for H, _ in programs]), np.array([q for _, q in programs])
    shares = np.full(len(planes), 1.0 / len(planes))
    for _ in range(n_rounds):
        H, q = np.tensordot(shares, matrices, axes=1), shares @ vectors
        alpha, multiplier = quadratic_program(H, q, c_1, signs, c_2)
        norms = np.array([norm(kernel, coefficients(alpha, labelled, signs, means, c_2)) for means in planes])
        if norms.max() <= (1 + 1e-4) * float(shares @ norms):
            break
        shares = shares * norms / (shares @ norms)
    return shares, alpha, multiplier


def most_violated(
    kernel: FloatArray, labelled: IntArray, signs: FloatArray, planes: list[FloatArray], alpha: FloatArray, c_2: float
) -> FloatArray | None:
    """Return means with a larger ‖w‖ than all known ones, None if none is found."""
    vectors = [coefficients(alpha, labelled, signs, means, c_2) for means in planes]
    known = [norm(kernel, vector) for vector in vectors]
    best = int(np.argmax(known))
    means, vector, length = planes[best], vectors[best], known[best]
    while True:
        means_next = means_by(kernel @ vector, labelled, signs)
        vector = coefficients(alpha, labelled, signs, means_next, c_2)
        if (length_next := norm(kernel, vector)) <= (1 + 1e-6) * length:
            break
        means, length = means_next, length_next
    return means if length > (1 + 1e-4) * known[best] else None


def norm(kernel: FloatArray, vector: FloatArray) -> float:
    """Return ‖w‖ from the coefficients of w over the samples."""
    return float(np.sqrt(max(0.0, float(vector @ kernel @ vector))))
