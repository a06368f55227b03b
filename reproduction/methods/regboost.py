"""Regularized Boost: boosting with pseudo-labels and a penalty on different labels of samples that lie close.

Reference: K. Chen, S. Wang, Regularized boost for semi-supervised learning, NIPS 20 (2007) 281-288. It extends ASSEMBLE
(K. P. Bennett, A. Demiriz, R. Maclin, Exploiting unlabeled data in ensemble methods, KDD 2002); the cost is
C(z) = exp(-z). There are two classes, y = 1 and -1. Unlabelled samples start with the label of the nearest labelled
sample, and then have y_i = sign F(x_i). Each round trains f_t on samples drawn with the probabilities

    D(i) ∝ α_i exp(-y_i F(x_i)) + β_i R(i),
    R(i) = Σ_{j≠i} W_ij C̃(-|y_i - y_j|),  C̃(z) = exp(-z) - 1,  W_ij = exp(-‖x_i - x_j‖² / 2σ²),

and adds w_t f_t with w_t = ½ ln((1 - ε)/ε), ε = Σ D(i) over the samples where f_t(x_i) ≠ y_i; it ends where ε ≥ ½.

Left open, and chosen here: α_i = 1 and β_i = ½; 20 rounds; first probabilities of 0.9 for all labelled samples together
and 0.1 for all others (ASSEMBLE), and as many draws as there are samples; σ is a multiple of the mean distance to the
nearest neighbour, so that the penalty stays local, chosen by cross-validation on the labelled samples.

RegBoost of 2011 (IEEE TPAMI 33, 129-143), which the paper of WESSL-ART quotes, has another cost: margins of labelled
samples alone, and a penalty on unlabelled samples that is weighted with their density. It is not written here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from reproduction.methods import tuning
from reproduction.methods.tuning import Competitor, FloatArray, IntArray

PENALTY = float(np.exp(2) - 1)  # C̃(-2)


@dataclass(eq=False, repr=False)
class RegularizedBoost(Competitor):
    """Boost a classifier with labelled and unlabelled samples; -1 stands for no label.

    Parameters
    ----------
    estimator : classifier
        What is boosted.
    n_rounds : int
        At most so many rounds; fewer once a round is no better than chance.
    beta : float
        Weight β of the penalty; with 0 this is ASSEMBLE.
    widths : sequence of float
        Widths σ to choose from, in units of the mean distance to the nearest different sample.
    random_state : int
        Seeds the draws and the parts of the cross-validation.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from reproduction.methods.regboost import RegularizedBoost
    >>> X = np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]])
    >>> RegularizedBoost(DecisionTreeClassifier(random_state=0)).fit(X, np.array([0, 0, -1, -1, 1, 1])).predict(X)
    array([0, 0, 0, 1, 1, 1])
    """

    estimator: Any
    n_rounds: int = 20
    beta: float = 0.5
    widths: Any = (1.0, 0.25)
    random_state: Any = 0

    def fit(self, X: FloatArray, y: IntArray) -> Self:
        """Choose σ and boost."""
        random = check_random_state(self.random_state)
        labelled, codes = self._labelled(y)
        if len(self.classes_) != 2:
            raise ValueError(f"Regularized Boost is for two classes, y has {len(self.classes_)}.")
        signs = tuning.targets(codes, self.classes_)[:, 0]
        squares = tuning.squared_distances(X, X)
        unit = float(np.sqrt(np.where(squares > 1e-12, squares, np.inf).min(axis=1)).mean())

        def score(width: float, kept: IntArray, hidden: IntArray, signs: FloatArray) -> FloatArray:
            one = np.random.RandomState(0)
            return _vote(self._boost(X, labelled[kept], signs[:, 0], squares, width * unit, one), X[labelled[hidden]])

        best = tuning.best_setting(self.widths, codes, score, random, n_parts=3)
        self.width_ = best * unit
        self.members_ = self._boost(X, labelled, signs, squares, self.width_, random)
        return self

    def decision_function(self, X: FloatArray) -> FloatArray:
        """Return the weighted vote, one column."""
        return _vote(self.members_, X)

    def _boost(
        self,
        X: FloatArray,
        labelled: IntArray,
        signs: FloatArray,
        squares: FloatArray,
        width: float,
        random: np.random.RandomState,
    ) -> list[tuple[float, Any]]:
        """Return the members and their weights."""
        near = tuning.gaussian(squares, width)
        y = signs[squares[:, labelled].argmin(axis=1)]
        y[labelled] = signs
        unlabelled = np.setdiff1d(np.arange(len(X)), labelled)
        shares = np.full(len(X), 0.1 / max(1, len(unlabelled)))
        shares[labelled] = 0.9 / len(labelled)
        shares /= shares.sum()
        vote = np.zeros(len(X))
        members: list[tuple[float, Any]] = []
        for _ in range(self.n_rounds):
            drawn = random.choice(len(X), size=len(X), p=shares)
            member = clone(self.estimator).fit(X[drawn], y[drawn])
            predicted = member.predict(X)
            error = float(shares[predicted != y].sum())
            if error >= 0.5:
                break
            weight = 0.5 * float(np.log((1 - error + 1e-9) / (error + 1e-9)))
            members.append((weight, member))
            vote += weight * predicted
            y[unlabelled] = np.where(vote[unlabelled] > 0, 1.0, -1.0)
            shares = probabilities(vote, y, near, self.beta)
        return members or [(1.0, clone(self.estimator).fit(X[labelled], signs))]


def probabilities(vote: FloatArray, y: FloatArray, near: FloatArray, beta: float) -> FloatArray:
    """Return D from the vote F, the labels and pseudo-labels y, the similarities W, and β."""
    unlike = np.where(y > 0, near @ (y < 0), near @ (y > 0))
    found = np.exp(-y * vote) + beta * PENALTY * unlike
    return np.asarray(found / found.sum())


def _vote(members: list[tuple[float, Any]], X: FloatArray) -> FloatArray:
    return np.asarray(sum(weight * member.predict(X) for weight, member in members))[:, None]
