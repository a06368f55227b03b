"""MeanS3VM: a support vector machine with a large margin between the means of the unlabelled samples of both classes.

Reference: Y.-F. Li, J. T. Kwok, Z.-H. Zhou, Semi-supervised learning using label mean, ICML 2009, 633-640: the version
with alternating optimisation, meanS3vm-iter; the other is in `means3vm_mkl`. The unlabelled samples get d ∈ {0, 1} with
Σd = u₊ fixed, and

    min over d, w, b, ξ, ρ of  ½ wᵀw + C₁ Σ ξ_i - C₂ ρ
    with  y_i (wᵀφ(x_i) + b) ≥ 1 - ξ_i, ξ_i ≥ 0  on labelled samples,
          wᵀm₊ + b ≥ ρ  and  wᵀm₋ + b ≤ -ρ,  m₊ = Σ d_j φ(x_j) / u₊,  m₋ = Σ (1 - d_j) φ(x_j) / u₋.

With d fixed this is a quadratic program; with w fixed the best d marks the u₊ unlabelled samples with the largest f.
Both steps alternate until d does not change. The dual of the program has multipliers λ₊ + λ₋ = C₂ for the means and
Σ α_i y_i + λ₊ - λ₋ = 0; without them, and with c = (m₊ + m₋)/2 and δ = C₂ (m₊ - m₋)/2, it is

    min over 0 ≤ α ≤ C₁, |Σ α_i y_i| ≤ C₂ of  ½ ‖Σ α_i y_i (φ(x_i) - c) + δ‖² - Σ α_i,

solved here by an interior-point method. b = μ - wᵀc, where μ is the multiplier of |Σ α_i y_i| ≤ C₂.

Left open, and chosen here: C₁ = 1 and C₂ = 0.1 are those of the paper of WESSL-ART (line 756); the kernel width is
chosen by cross-validation on the labelled samples; u₊ is the share among labelled samples; the first d comes from a
support vector machine on the labelled samples; predictions are those of w and b of the last step; more than two classes
are learnt one against the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.svm import SVC
from sklearn.utils import check_random_state

from reproduction.methods import tuning
from reproduction.methods.tuning import FloatArray, IntArray, KernelCompetitor


@dataclass(eq=False, repr=False)
class MeanS3VM(KernelCompetitor):
    """Learn from labelled and unlabelled samples; -1 stands for no label.

    Parameters
    ----------
    widths : sequence of float
        Widths of the Gaussian kernel to choose from, in units of the median distance.
    c_1, c_2 : float
        Weights of the labelled samples and of the margin between the means.
    n_rounds : int
        At most so many alternations.
    random_state : int
        Seeds the parts of the cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.methods.means3vm import MeanS3VM
    >>> X = np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]])
    >>> MeanS3VM().fit(X, np.array([0, -1, -1, -1, -1, 1])).predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    widths: Any = tuning.WIDTHS
    c_1: float = 1.0
    c_2: float = 0.1
    n_rounds: int = 20
    random_state: Any = 0

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Choose the kernel width and train."""
        labelled, codes = self._labelled(y)
        squares, unit = tuning.own_distances(X)
        kernels = {width: tuning.gaussian(squares, width * unit) for width in self.widths}

        def score(width: float, kept: IntArray, hidden: IntArray, signs: FloatArray) -> FloatArray:
            weights, b = _side_by_side([self._alternate(kernels[width], labelled[kept], column) for column in signs.T])
            return np.asarray(kernels[width][labelled[hidden]] @ weights + b)

        best = tuning.best_setting(self.widths, codes, score, check_random_state(self.random_state))
        self.width_ = best * unit
        found = [self._last(kernels[best], labelled, column) for column in tuning.targets(codes, self.classes_).T]
        self.alpha_, self.intercept_ = _side_by_side(found)
        self.X_ = X
        return self

    def _last(self, kernel: FloatArray, labelled: IntArray, signs: FloatArray) -> tuple[FloatArray, float]:
        """Train with the chosen kernel."""
        return self._alternate(kernel, labelled, signs)

    def _alternate(self, kernel: FloatArray, labelled: IntArray, signs: FloatArray) -> tuple[FloatArray, float]:
        """Return the coefficients of f over all samples, and b."""
        means = self._first_means(kernel, labelled, signs)
        for _ in range(self.n_rounds):
            weights, b = machine(kernel, labelled, signs, means, self.c_1, self.c_2)
            before, means = means, means_by(kernel @ weights, labelled, signs)
            if np.array_equal(means, before):
                break
        return weights, b

    def _first_means(self, kernel: FloatArray, labelled: IntArray, signs: FloatArray) -> FloatArray:
        first = SVC(C=self.c_1, kernel="precomputed").fit(kernel[np.ix_(labelled, labelled)], signs)
        return means_by(first.decision_function(kernel[:, labelled]), labelled, signs)


def _side_by_side(found: list[tuple[FloatArray, float]]) -> tuple[FloatArray, FloatArray]:
    return np.column_stack([weights for weights, _ in found]), np.array([b for _, b in found])


def means_by(f: FloatArray, labelled: IntArray, signs: FloatArray) -> FloatArray:
    """Return the coefficients of m₋ and m₊ over all samples; the u₊ unlabelled with the largest f are positive."""
    unlabelled = np.setdiff1d(np.arange(len(f)), labelled)
    n_up = int(np.clip(round(float(np.mean(signs > 0)) * len(unlabelled)), 1, len(unlabelled) - 1))
    order = unlabelled[np.argsort(-f[unlabelled], kind="stable")]
    means = np.zeros((2, len(f)))
    means[1, order[:n_up]] = 1.0 / n_up
    means[0, order[n_up:]] = 1.0 / (len(unlabelled) - n_up)
    return means


def machine(
    kernel: FloatArray, labelled: IntArray, signs: FloatArray, means: FloatArray, c_1: float, c_2: float
) -> tuple[FloatArray, float]:
    """Solve the quadratic program for given means.

    Parameters
    ----------
    kernel : array of shape (n, n)
    labelled : array of the l labelled rows
    signs : array of shape (l,)
    means : array of shape (2, n)
        Coefficients over the samples of m₋ and m₊.

    Returns
    -------
    weights : array of shape (n,), the coefficients of w over the samples
    b : float
    """
    H, q = program(kernel, labelled, signs, means, c_2)
    alpha, multiplier = quadratic_program(H, q, c_1, signs, c_2)
    weights = coefficients(alpha, labelled, signs, means, c_2)
    return weights, multiplier - float(weights @ kernel @ means.mean(axis=0))


def program(
    kernel: FloatArray, labelled: IntArray, signs: FloatArray, means: FloatArray, c_2: float
) -> tuple[FloatArray, FloatArray]:
    """Return H and q with which the cost for given means is ½ αᵀHα - qᵀα, up to a constant."""
    centre, offset = means.mean(axis=0), 0.5 * c_2 * (means[1] - means[0])
    to_centre, to_offset = kernel @ centre, kernel @ offset
    centred = kernel[np.ix_(labelled, labelled)] - to_centre[labelled][:, None] - to_centre[labelled][None, :]
    centred += centre @ to_centre
    return centred * np.outer(signs, signs), 1.0 - signs * (to_offset[labelled] - centre @ to_offset)


def coefficients(alpha: FloatArray, labelled: IntArray, signs: FloatArray, means: FloatArray, c_2: float) -> FloatArray:
    """Return the coefficients of w over all samples: α_i y_i, and λ₊ and -λ₋ for the means."""
    balance = float(signs @ alpha)
    weights = 0.5 * ((c_2 - balance) * means[1] - (c_2 + balance) * means[0])
    weights[labelled] += alpha * signs
    return np.asarray(weights)


def quadratic_program(
    H: FloatArray, q: FloatArray, upper: float, row: FloatArray, bound: float, n_steps: int = 60
) -> tuple[FloatArray, float]:
    """Minimise ½xᵀHx - qᵀx with 0 ≤ x ≤ upper and |row·x| ≤ bound, by Mehrotra's interior-point method.

    Returns
    -------
    x : array
    multiplier : float, of row·x
    """
    n = len(q)
    limits = np.concatenate([np.full(n, upper), np.zeros(n), [bound, bound]])

    def across(x: FloatArray) -> FloatArray:  # Gx of Gx ≤ limits
        return np.concatenate([x, -x, [row @ x, -(row @ x)]])

    def back(z: FloatArray) -> FloatArray:  # Gᵀz
        return np.asarray(z[:n] - z[n : 2 * n] + (z[-2] - z[-1]) * row)

    x = np.full(n, 0.5 * upper)
    slack, z = np.full(2 * n + 2, 0.5 * upper), np.ones(2 * n + 2)
    for _ in range(n_steps):
        dual, primal, gap = H @ x - q + back(z), across(x) + slack - limits, float(slack @ z) / len(z)
        if max(np.abs(dual).max(), np.abs(primal).max(), gap) < 1e-7:
            break
        ratio = z / slack
        system = H + (ratio[-2] + ratio[-1]) * np.outer(row, row)
        system[np.diag_indices(n)] += ratio[:n] + ratio[n : 2 * n] + 1e-9
        factor = cho_factor(system, check_finite=False)
        complementary = slack * z
        for corrected in (False, True):
            dx = cho_solve(factor, -dual - back((z * primal - complementary) / slack), check_finite=False)
            d_slack = -primal - across(dx)
            dz = -(complementary + z * d_slack) / slack
            step = min(1.0, _largest_step(slack, d_slack), _largest_step(z, dz))
            if not corrected:
                after = float((slack + step * d_slack) @ (z + step * dz)) / len(z)
                complementary = slack * z + d_slack * dz - (after / gap) ** 3 * gap
        step = min(1.0, 0.99 * step)
        x, slack, z = x + step * dx, slack + step * d_slack, z + step * dz
    return np.clip(x, 0.0, upper), float(z[-2] - z[-1])


def _largest_step(values: FloatArray, change: FloatArray) -> float:
    falling = change < 0
    return float(np.min(-values[falling] / change[falling])) if falling.any() else np.inf
