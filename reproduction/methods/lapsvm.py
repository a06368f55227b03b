"""LapSVM, trained in the primal: a support vector machine that is smooth over a graph of all samples.

References: M. Belkin, P. Niyogi, V. Sindhwani, Manifold regularization, JMLR 7 (2006) 2399-2434; S. Melacci, M. Belkin,
Laplacian support vector machines trained in the primal, JMLR 12 (2011) 1149-1184 (LapSVMp). With f = Kα + b on the
training samples, graph Laplacian L and labelled samples 1..l, it minimises

    Σ_{i≤l} max(0, 1 - y_i f(x_i))² + γ_A αᵀKα + γ_I αᵀKLKα.

Newton's method on the errors E = {i ≤ l: y_i f(x_i) < 1} solves (γ_A I + γ_I LK) α = I_E (y - f) (section 4.1 there).
With B = (γ_A I + γ_I LK)⁻¹ Jᵀ, where J picks the labelled samples, α = B r, and r is found in the deformed kernel JKB
of labelled samples alone: (JKB + I)_EE r_E + b = y_E, Σ r_E = 0. This is the same solution, with one large system for
each pair of kernel width and γ_A instead of one for each step.

Left open, and chosen here: γ_I = 1 and six neighbours are those of the paper of WESSL-ART (line 758); the Laplacian is
not normalised and its weights are Gaussian with the mean distance of neighbours, as in the package lapsvmp with a
bias; kernel width and γ_A are chosen by cross-validation on the labelled samples; more than two classes are learnt one
against the rest.
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
class LapSVM(KernelCompetitor):
    """Learn from labelled and unlabelled samples; -1 stands for no label.

    Parameters
    ----------
    widths : sequence of float
        Widths of the Gaussian kernel to choose from, in units of the median distance.
    gammas_a : sequence of float
        Weights γ_A of the norm to choose from.
    gamma_i : float
        Weight γ_I of the smoothness over the graph.
    n_neighbors : int
        Neighbours in the graph.
    random_state : int
        Seeds the parts of the cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.methods.lapsvm import LapSVM
    >>> X = np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]])
    >>> LapSVM(n_neighbors=2).fit(X, np.array([0, -1, -1, -1, -1, 1])).predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    widths: Any = tuning.WIDTHS
    gammas_a: Any = (1.0, 1e-1, 1e-2, 1e-3)
    gamma_i: float = 1.0
    n_neighbors: int = 6
    random_state: Any = 0

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Choose the settings and train."""
        labelled, codes = self._labelled(y)
        squares, unit = tuning.own_distances(X)
        graph = tuning.laplacian(X, self.n_neighbors)
        settings = list(product(self.widths, self.gammas_a))
        expansions = {}
        for width in self.widths:
            kernel = tuning.gaussian(squares, width * unit)
            smooth = self.gamma_i * (graph @ kernel)
            for gamma_a in self.gammas_a:
                expansion = expansion_of(smooth, labelled, gamma_a)
                deformed = kernel[labelled] @ expansion
                expansions[width, gamma_a] = expansion, (deformed + deformed.T) / 2

        def score(setting: tuple[float, float], kept: IntArray, hidden: IntArray, signs: FloatArray) -> FloatArray:
            deformed = expansions[setting][1]
            r, b = machines(deformed[np.ix_(kept, kept)], signs)
            return np.asarray(deformed[np.ix_(hidden, kept)] @ r + b)

        best = tuning.best_setting(settings, codes, score, check_random_state(self.random_state))
        self.width_, self.gamma_a_ = best[0] * unit, best[1]
        expansion, deformed = expansions[best]
        r, self.intercept_ = machines(deformed, tuning.targets(codes, self.classes_))
        self.alpha_ = expansion @ r
        self.X_ = X
        return self


def expansion_of(smooth: FloatArray, labelled: IntArray, gamma_a: float) -> FloatArray:
    """Return B = (γ_A I + γ_I LK)⁻¹ Jᵀ, where `smooth` is γ_I LK."""
    system = smooth.copy()
    system[np.diag_indices_from(system)] += gamma_a
    picked = np.zeros((len(smooth), len(labelled)))
    picked[labelled, np.arange(len(labelled))] = 1.0
    return np.asarray(solve(system, picked, overwrite_a=True, check_finite=False))


def machines(kernel: FloatArray, signs: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return r and b of one machine for each column of signs."""
    found = [machine(kernel, column) for column in signs.T]
    return np.column_stack([r for r, _ in found]), np.array([b for _, b in found])


def machine(kernel: FloatArray, signs: FloatArray, n_steps: int = 100) -> tuple[FloatArray, float]:
    """Minimise Σ max(0, 1 - y f)² + rᵀKr with f = Kr + b, by Newton's method with halved steps.

    Returns
    -------
    r : array, the coefficients
    b : float
    """

    def cost(r: FloatArray, b: float) -> float:
        f = kernel @ r
        return float(np.sum(np.maximum(0.0, 1.0 - signs * (f + b)) ** 2) + r @ f)

    r, b = np.zeros(len(signs)), 0.0
    lowest = cost(r, b)
    for _ in range(n_steps):
        errors = np.flatnonzero(signs * (kernel @ r + b) < 1)
        if not len(errors):
            break
        system = np.ones((len(errors) + 1, len(errors) + 1))
        system[:-1, :-1] = kernel[np.ix_(errors, errors)] + np.eye(len(errors))
        system[-1, -1] = 0.0
        solution = solve(system, np.append(signs[errors], 0.0), assume_a="sym", check_finite=False)
        towards = np.zeros(len(signs))
        towards[errors] = solution[:-1]
        step = 1.0
        while step > 1e-6:
            r_next, b_next = r + step * (towards - r), b + step * (float(solution[-1]) - b)
            if (reached := cost(r_next, b_next)) < lowest:
                break
            step /= 2
        if step <= 1e-6 or lowest - reached < 1e-12 * lowest:
            break
        r, b, lowest = r_next, b_next, reached
    return r, b
