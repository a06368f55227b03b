"""Classifiers of river with default parameters, and two baselines that need no features."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from river import base, ensemble, forest, linear_model, naive_bayes, neighbors, preprocessing, tree
from streams.protocol import HIDDEN

ARF, HAT, LOGISTIC = "adaptive random forest", "Hoeffding adaptive tree", "logistic regression"


class River:
    """A classifier of river, which learns the samples with a label, one at a time.

    Where it scales the features, the scaler learns all samples.
    """

    block = 1

    def __init__(self, model: base.Classifier, scale: bool = False) -> None:
        self.model = model
        self.scaler = preprocessing.StandardScaler() if scale else None

    def prepare(self, X: np.ndarray) -> list[dict[int, float]]:
        return [dict(enumerate(row)) for row in X.tolist()]

    def predict(self, samples: list[dict[int, float]]) -> list[int | None]:
        return [self.model.predict_one(self._scaled(x)) for x in samples]

    def learn(self, samples: list[dict[int, float]], labels: list[int]) -> None:
        for x, y in zip(samples, labels, strict=True):
            if self.scaler is not None:
                self.scaler.learn_one(x)
            if y != HIDDEN:
                self.model.learn_one(self._scaled(x), y)

    def _scaled(self, x: dict[int, float]) -> dict[int, float]:
        return x if self.scaler is None else self.scaler.transform_one(x)


class NoFeatures:
    """Predict the last class that was seen, or the one seen most often."""

    block = 1

    def __init__(self, last: bool) -> None:
        self.last = last
        self.counts: Counter[int] = Counter()
        self.best: int | None = None

    def prepare(self, X: np.ndarray) -> np.ndarray:
        return X

    def predict(self, samples: np.ndarray) -> list[int | None]:
        return [self.best] * len(samples)

    def learn(self, samples: np.ndarray, labels: list[int]) -> None:
        for label in labels:
            if label != HIDDEN:
                self.counts[label] += 1
                if self.last or self.best is None or self.counts[label] > self.counts[self.best]:
                    self.best = label


def _logistic(n_classes: int) -> base.Classifier:
    return linear_model.LogisticRegression() if n_classes == 2 else linear_model.SoftmaxRegression()


# from the number of classes and a seed
RIVALS: dict[str, Callable[[int, int], Any]] = {
    "Hoeffding tree": lambda n, seed: River(tree.HoeffdingTreeClassifier()),
    HAT: lambda n, seed: River(tree.HoeffdingAdaptiveTreeClassifier(seed=seed)),
    ARF: lambda n, seed: River(forest.ARFClassifier(seed=seed)),
    LOGISTIC: lambda n, seed: River(_logistic(n), scale=True),
    "Gaussian naive Bayes": lambda n, seed: River(naive_bayes.GaussianNB()),
    "k-nearest neighbours": lambda n, seed: River(
        neighbors.KNNClassifier(engine=neighbors.SWINN(seed=seed)), scale=True
    ),
    "streaming random patches": lambda n, seed: River(ensemble.SRPClassifier(seed=seed)),
}
REFERENCES: dict[str, Callable[[int, int], Any]] = {
    "no change": lambda n, seed: NoFeatures(last=True),
    "majority": lambda n, seed: NoFeatures(last=False),
}
ON_TUNING = (HAT, ARF, LOGISTIC)
