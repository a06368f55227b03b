"""SemiBoost: boosting of any classifier with unlabelled samples (Mallapragada, Jin, Jain and Liu, 2009).

Written after the paper, because no maintained package has it. Two classes. In each round every unlabelled sample gets a
pseudo-label and a confidence from the labelled and unlabelled samples that are like it; the classifier is trained on
the labelled samples and the most confident others, and joins the vote.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics import pairwise_distances
from sklearn.utils import check_random_state

FloatArray = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class SemiBoost(ClassifierMixin, BaseEstimator):
    """Boost a classifier with unlabelled samples.

    Parameters
    ----------
    estimator : classifier
        What is boosted.
    n_rounds : int
        At most so many rounds; fewer once a round has no weight.
    share : float
        Share of the unlabelled samples that each round adds.
    percentile : float
        The width of the similarity is this percentile of all distances.
    random_state : int
        Seeds the choice of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from reproduction.methods.semiboost import SemiBoost
    >>> X = np.array([[0.0], [0.1], [0.2], [0.8], [0.9], [1.0]])
    >>> y = np.array(["a", None, None, None, None, "b"], dtype=object)
    >>> SemiBoost(DecisionTreeClassifier(random_state=0)).fit(X, y).predict(X)
    array(['a', 'a', 'a', 'b', 'b', 'b'], dtype=object)
    """

    estimator: Any
    n_rounds: int = 20
    share: float = 0.1
    percentile: float = 20.0
    random_state: Any = 0

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from samples of which some have a label and the others None."""
        random = check_random_state(self.random_state)
        labelled = np.array([label is not None for label in y])
        self.classes_ = np.unique(y[labelled].astype(str)).astype(object)
        if len(self.classes_) != 2:
            raise ValueError(f"SemiBoost is for two classes, y has {len(self.classes_)}.")
        signs = np.where(y[labelled] == self.classes_[1], 1.0, -1.0)
        X_labelled, X_unlabelled = X[labelled], X[~labelled]
        likeness = self._likeness(X_unlabelled, X)
        to_labelled, to_unlabelled = likeness[:, labelled], likeness[:, ~labelled]
        balance = labelled.sum() / max(1, len(X_unlabelled))  # C of the paper
        vote = np.zeros(len(X_unlabelled))
        self.estimators_: list[Any] = []
        self.weights_: list[float] = []
        n_added = max(1, round(self.share * len(X_unlabelled)))
        for _ in range(self.n_rounds):
            p, q = self._pulls(vote, signs, to_labelled, to_unlabelled, balance)
            pull = p - q
            confidence = np.abs(pull)
            if not confidence.any():
                break
            chosen = random.choice(
                len(pull),
                size=min(n_added, np.count_nonzero(confidence)),
                replace=False,
                p=confidence / confidence.sum(),
            )
            member = clone(self.estimator).fit(
                np.vstack([X_labelled, X_unlabelled[chosen]]), np.concatenate([signs, np.sign(pull[chosen])])
            )
            predicted = member.predict(X_unlabelled)
            right = p[predicted > 0].sum() + q[predicted < 0].sum()
            wrong = p[predicted < 0].sum() + q[predicted > 0].sum()
            weight = 0.25 * float(np.log((right + 1e-12) / (wrong + 1e-12)))
            if weight <= 0:
                break
            vote += weight * predicted
            self.estimators_.append(member)
            self.weights_.append(weight)
        if not self.estimators_:
            self.estimators_, self.weights_ = [clone(self.estimator).fit(X_labelled, signs)], [1.0]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of the weighted vote."""
        vote = sum(weight * member.predict(X) for member, weight in zip(self.estimators_, self.weights_, strict=True))
        return np.asarray(self.classes_[(np.asarray(vote) > 0).astype(int)])

    def _likeness(self, some: FloatArray, others: FloatArray) -> FloatArray:
        squares = pairwise_distances(some, others, metric="sqeuclidean")
        width = np.percentile(np.sqrt(squares), self.percentile)
        return np.asarray(np.exp(-squares / max(width, 1e-12) ** 2))

    @staticmethod
    def _pulls(
        vote: FloatArray, signs: FloatArray, to_labelled: FloatArray, to_unlabelled: FloatArray, balance: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return the pull of each unlabelled sample towards the second class, and towards the first."""
        up, down = np.exp(np.clip(vote, -15, 15)), np.exp(np.clip(-vote, -15, 15))
        p = down**2 * (to_labelled @ (signs > 0)) + 0.5 * balance * down * (to_unlabelled @ up)
        q = up**2 * (to_labelled @ (signs < 0)) + 0.5 * balance * up * (to_unlabelled @ down)
        return p, q
