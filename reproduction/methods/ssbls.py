"""SS-BLS: a broad learning system whose output is smooth over a graph of all samples.

References: H. Zhao, J. Zheng, W. Deng, Y. Song, Semi-supervised broad learning system based on manifold regularization
and broad network, IEEE TCAS I 67 (2020) 983-994; C. L. P. Chen, Z. Liu, Broad learning system, IEEE TNNLS 29 (2018)
10-24. The nodes A = [Z | H] are

    mapped features  Z_i = scaled([X 1] W_i), where W_i is a random matrix refined by a sparse autoencoder:
                     min ½ ‖G W_iᵀ - [X 1]‖² + λ_s ‖W_i‖₁ with G = scaled([X 1] random), 50 steps of ADMM;
    enhancement      H = tanh(s [Z 1] W_h / max), W_h random with orthonormal columns,

and the output weights W minimise ‖W‖² + c Σ_labelled ‖A_i W - y_i‖² + λ trace(WᵀAᵀLAW), so with λ = cμ

    W = (I/c + AᵀJA + μ AᵀLA)⁻¹ AᵀJY.

Left open, and chosen here: ten windows of ten mapped features and 100 enhancement nodes, λ_s = 10⁻³ and s = 0.8 (as in
the code of the broad learning system by its authors); six neighbours and Gaussian weights in the graph; the same c for
all labelled samples; c and μ are chosen by cross-validation on the labelled samples; Y has 1 for the class and -1 for
the others.
The paper of WESSL-ART compares with other semi-supervised broad learning systems (FLAP-BLS, TLLT-BLS, LPDGL-BLS).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Self

import numpy as np
from scipy.linalg import orth, solve
from sklearn.utils import check_random_state

from reproduction.methods import tuning
from reproduction.methods.tuning import Competitor, FloatArray, IntArray


@dataclass(eq=False, repr=False)
class SSBLS(Competitor):
    """Learn from labelled and unlabelled samples; -1 stands for no label.

    Parameters
    ----------
    n_windows, n_features : int
        Groups of mapped features, and features in each.
    n_enhancement : int
        Enhancement nodes.
    costs, ratios : sequence of float
        Weights c of the labels, and μ of the graph in relation to them, to choose from.
    n_neighbors : int
        Neighbours in the graph.
    random_state : int
        Seeds the nodes and the parts of the cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from reproduction.methods.ssbls import SSBLS
    >>> X = np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]])
    >>> SSBLS(n_neighbors=2).fit(X, np.array([0, -1, -1, -1, -1, 1])).predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    n_windows: int = 10
    n_features: int = 10
    n_enhancement: int = 100
    costs: Any = (1.0, 1e2, 1e4, 1e6)
    ratios: Any = (1.0, 1e-1, 1e-2, 0.0)
    n_neighbors: int = 6
    random_state: Any = 0

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Draw the nodes, choose the settings and find the output weights."""
        random = check_random_state(self.random_state)
        labelled, codes = self._labelled(y)
        nodes = self._draw(X, random)
        smooth = nodes.T @ (tuning.laplacian(X, self.n_neighbors) @ nodes)
        known = nodes[labelled]

        def score(setting: tuple[float, float], kept: IntArray, hidden: IntArray, signs: FloatArray) -> FloatArray:
            return np.asarray(known[hidden] @ output_weights(known[kept], signs, smooth, *setting))

        settings = list(product(self.costs, self.ratios))
        self.cost_, self.ratio_ = tuning.best_setting(settings, codes, score, random)
        signs = tuning.targets(codes, self.classes_)
        self.weights_ = output_weights(known, signs, smooth, self.cost_, self.ratio_)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the output, a column per class, or one column where there are two classes."""
        return np.asarray(self.nodes(X) @ self.weights_)

    def nodes(self, X: FloatArray) -> FloatArray:
        """Return A = [Z | H]."""
        mapped = (_with_one(X) @ self.mapping_ - self.low_) / self.range_
        return np.column_stack([mapped, np.tanh(_with_one(mapped) @ self.enhancement_)])

    def _draw(self, X: FloatArray, random: np.random.RandomState) -> FloatArray:
        inputs = _with_one(X)
        windows = []
        for _ in range(self.n_windows):
            first = inputs @ random.uniform(-1, 1, (inputs.shape[1], self.n_features))
            low, high = first.min(axis=0), first.max(axis=0)
            first = 2 * (first - low) / np.maximum(high - low, 1e-12) - 1
            windows.append(sparse_autoencoder(first, inputs).T)
        self.mapping_ = np.hstack(windows)
        mapped = inputs @ self.mapping_
        self.low_ = mapped.min(axis=0)
        self.range_ = np.maximum(mapped.max(axis=0) - self.low_, 1e-12)
        drawn = random.uniform(-1, 1, (mapped.shape[1] + 1, self.n_enhancement))
        self.enhancement_ = orth(drawn) if drawn.shape[0] >= drawn.shape[1] else orth(drawn.T).T
        sums = _with_one((mapped - self.low_) / self.range_) @ self.enhancement_
        self.enhancement_ *= 0.8 / np.maximum(np.abs(sums).max(), 1e-12)
        return self.nodes(X)


def sparse_autoencoder(
    features: FloatArray, inputs: FloatArray, penalty: float = 1e-3, n_steps: int = 50
) -> FloatArray:
    """Return W of min ½ ‖features W - inputs‖² + penalty ‖W‖₁ after so many steps of ADMM."""
    inverse = np.linalg.inv(features.T @ features + np.eye(features.shape[1]))
    fixed = inverse @ (features.T @ inputs)
    kept, scaled = np.zeros_like(fixed), np.zeros_like(fixed)
    for _ in range(n_steps):
        free = fixed + inverse @ (kept - scaled)
        kept = np.sign(free + scaled) * np.maximum(np.abs(free + scaled) - penalty, 0.0)
        scaled += free - kept
    return kept


def output_weights(known: FloatArray, signs: FloatArray, smooth: FloatArray, cost: float, ratio: float) -> FloatArray:
    """Return W = (I/c + AᵀJA + μ AᵀLA)⁻¹ AᵀJY, where `known` is JA and `smooth` is AᵀLA."""
    system = known.T @ known + ratio * smooth
    system[np.diag_indices_from(system)] += 1.0 / cost
    return np.asarray(solve(system, known.T @ signs, assume_a="pos", check_finite=False))


def _with_one(X: FloatArray) -> FloatArray:
    return np.column_stack([X, np.ones(len(X))])
