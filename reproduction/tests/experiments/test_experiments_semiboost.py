from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from reproduction.methods.semiboost import SemiBoost


def moons(n_labelled: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    X, codes = make_moons(300, noise=0.08, random_state=0)
    truth = np.array(["upper", "lower"], dtype=object)[codes]
    y = np.full(300, None, dtype=object)
    for name in ("upper", "lower"):
        rows = np.flatnonzero(truth == name)[:n_labelled]
        y[rows] = truth[rows]
    return X, y, truth


def test_unlabelled_samples_help() -> None:
    X, y, truth = moons(4)
    labelled = np.array([label is not None for label in y])
    base = DecisionTreeClassifier(random_state=0)
    alone = np.mean(base.fit(X[labelled], y[labelled].astype(str)).predict(X) == truth)
    boosted = np.mean(SemiBoost(base).fit(X, y).predict(X) == truth)
    assert boosted > alone


def test_the_same_seed_gives_the_same_predictions() -> None:
    X, y, _ = moons(5)
    one, other = (SemiBoost(KNeighborsClassifier(3), random_state=7).fit(X, y).predict(X) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_three_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="two classes"):
        SemiBoost(KNeighborsClassifier()).fit(np.eye(3), np.array(["a", "b", "c"], dtype=object))
