"""MSS-KSC: kernel spectral clustering with labels, for any number of classes.

Reference: S. Mehrkanoon, C. Alzate, R. Mall, R. Langone, J. A. K. Suykens, Multiclass semisupervised learning based
upon kernel spectral clustering, IEEE TNNLS 26 (2015) 720-733. For each class, with kernel matrix Ω, V = D⁻¹ (D has the
degrees Σ_j Ω_ij), labels c (1 and -1, zero where there is none) and A the diagonal matrix of labelled samples, it finds
a stationary point of

    ½ wᵀw - γ₁/2 eᵀVe + γ₂/2 (e - c)ᵀA(e - c)   with e = Φw + b1.

With R = γ₁V - γ₂A, w = Φᵀα: α = Re + γ₂c, 1ᵀα = 0, and thus the linear system of the paper,

    α - R (I - 11ᵀR / 1ᵀR1) Ωα = γ₂ (I - R11ᵀ / 1ᵀR1) c,   b = -(γ₂ 1ᵀc + 1ᵀRΩα) / 1ᵀR1.

Here it is solved through the labelled samples: α = γ₁Ve + r with r = γ₂(c - Ae), which is zero without a label. Then
e = Er (`response` has E), and (I/γ₂ + E) r = c on labelled samples: one large system for each pair of kernel width and
γ₁.

Left open, and chosen here: kernel width, γ₁ < 1 and γ₂ are chosen by cross-validated accuracy on the labelled samples
alone (the paper also uses a measure of clusters); one class against the rest, and the class with the largest e (the
paper compares signs with codewords, which does not decide where no sign or several signs are positive).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.linalg import solve
from sklearn.utils import check_random_state

from reproduction.methods import tuning
from reproduction.methods.tuning import FloatArray, IntArray, KernelCompetitor


@dataclass(eq=False, repr=False)
class MSSKSC(KernelCompetitor):
    """Learn from labelled and unlabelled samples; -1 stands for no label.

    Parameters
    ----------
    widths : sequence of float
        Widths of the Gaussian kernel to choose from, in units of the median distance.
    gammas_1, gammas_2 : sequence of float
        Weights γ₁ of the clusters and γ₂ of the labels to choose from.
    random_state : int
        Seeds the parts of the cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.methods.mssksc import MSSKSC
    >>> X = np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]])
    >>> MSSKSC().fit(X, np.array([0, -1, -1, -1, -1, 1])).predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    widths: Any = tuning.WIDTHS
    gammas_1: Any = (0.99, 0.9, 0.5, 0.1)
    gammas_2: Any = (1.0, 10.0, 100.0)
    random_state: Any = 0

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Choose the settings and train."""
        labelled, codes = self._labelled(y)
        squares, unit = tuning.own_distances(X)
        responses = {}
        for width in self.widths:
            kernel = tuning.gaussian(squares, width * unit)
            for gamma_1 in self.gammas_1:
                responses[width, gamma_1] = response(kernel, labelled, gamma_1)

        def score(
            setting: tuple[float, float, float], kept: IntArray, hidden: IntArray, signs: FloatArray
        ) -> FloatArray:
            width, gamma_1, gamma_2 = setting
            e = responses[width, gamma_1][0][labelled]
            return np.asarray(e[np.ix_(hidden, kept)] @ coefficients(e[np.ix_(kept, kept)], gamma_2, signs))

        settings = list(product(self.widths, self.gammas_1, self.gammas_2))
        best = tuning.best_setting(settings, codes, score, check_random_state(self.random_state))
        width, self.gamma_1_, self.gamma_2_ = best
        self.width_ = width * unit
        e, bias = responses[width, self.gamma_1_]
        r = coefficients(e[labelled], self.gamma_2_, tuning.targets(codes, self.classes_))
        degrees = tuning.gaussian(squares, self.width_).sum(axis=1)
        self.alpha_ = self.gamma_1_ * (e @ r) / degrees[:, None]
        self.alpha_[labelled] += r
        self.intercept_ = bias @ r
        self.X_ = X
        return self


def response(kernel: FloatArray, labelled: IntArray, gamma_1: float) -> tuple[FloatArray, FloatArray]:
    """Return E and the row β with e = Er and b = βr, where r is nonzero on labelled samples only.

    From e = Ω(γ₁Ve + r) + b1 and 1ᵀ(γ₁Ve + r) = 0: e = S(Ωr + b1) with S = (I - γ₁ΩV)⁻¹, and
    b = -(γ₁1ᵀVSΩ + 1ᵀ) r / γ₁1ᵀVS1.
    """
    weights = gamma_1 / kernel.sum(axis=1)
    system = -kernel * weights[None, :]
    system[np.diag_indices_from(system)] += 1.0
    known = np.column_stack([kernel[:, labelled], np.ones(len(kernel))])
    found = solve(system, known, overwrite_a=True, check_finite=False)
    free, constant = found[:, :-1], found[:, -1]
    bias = -(weights @ free + 1.0) / (weights @ constant)
    return np.asarray(free + np.outer(constant, bias)), np.asarray(bias)


def coefficients(e: FloatArray, gamma_2: float, signs: FloatArray) -> FloatArray:
    """Return r of (I/γ₂ + E) r = c on labelled samples."""
    return np.asarray(solve(e + np.eye(len(e)) / gamma_2, signs, check_finite=False))
