from __future__ import annotations

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from reproduction.methods.competitors import BASES
from reproduction.methods.regboost import RegularizedBoost, probabilities
from reproduction.tests.experiments.semi_supervised import accuracy_on_moons, moons


def test_probabilities_follow_the_published_equation() -> None:
    random = np.random.RandomState(0)
    X, F = random.rand(7, 2), random.randn(7)
    y = np.where(random.rand(7) > 0.5, 1.0, -1.0)
    sigma, beta = 0.4, 0.5
    W = np.array([[np.exp(-np.sum((a - b) ** 2) / (2 * sigma**2)) for b in X] for a in X])
    expected = np.zeros(7)
    for i in range(7):
        R = sum(W[i, j] * (np.exp(abs(y[i] - y[j])) - 1) for j in range(7) if j != i)
        expected[i] = np.exp(-y[i] * F[i]) + beta * R
    np.testing.assert_allclose(probabilities(F, y, W, beta), expected / expected.sum())


def test_without_the_penalty_the_probabilities_are_those_of_adaboost() -> None:
    F, y = np.array([0.5, -1.0, 2.0]), np.array([1.0, 1.0, -1.0])
    expected = np.exp(-y * F)
    np.testing.assert_allclose(probabilities(F, y, np.ones((3, 3)), 0.0), expected / expected.sum())


@pytest.mark.parametrize("base", BASES)
def test_unlabelled_samples_help(base: str) -> None:
    # the claim of the paper (Chen and Wang, 2007): better than the base learner on the labelled samples
    def alone(X: np.ndarray, y: np.ndarray) -> object:
        return BASES[base]().fit(X[y >= 0], y[y >= 0])

    def boosted(X: np.ndarray, y: np.ndarray) -> object:
        return RegularizedBoost(BASES[base](), widths=(0.5,)).fit(X, y)

    both = (accuracy_on_moons(method, n_labelled=6, n_seeds=10) for method in (boosted, alone))
    assert next(both) > next(both)


def test_the_same_seed_gives_the_same_predictions() -> None:
    X, y, _ = moons(5, seed=0)
    one, other = (RegularizedBoost(DecisionTreeClassifier(random_state=0), random_state=7).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.predict(X), other.predict(X))


def test_three_classes_are_refused() -> None:
    with pytest.raises(ValueError, match="two classes"):
        RegularizedBoost(GaussianNB()).fit(np.eye(3), np.arange(3))
