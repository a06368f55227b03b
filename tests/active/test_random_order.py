"""Labels needed in random order: a simulation that is right where the predictions are."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris

from sslart import AutoSSLART
from sslart.active._random_order import random_order


@pytest.mark.slow
def test_a_higher_accuracy_needs_more_labels() -> None:
    X, y = load_iris(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X, [label if row % 5 == 0 else None for row, label in enumerate(y)])
    low, high = (random_order(model, X, 8, accuracy) for accuracy in (0.6, 0.97))
    assert low.n_labels is not None
    assert high.n_labels is not None
    assert low.n_labels < high.n_labels <= high.n_tried
    assert high.low is not None
    assert high.low <= high.n_labels


@pytest.mark.slow
def test_the_simulation_agrees_with_labels_that_are_drawn() -> None:
    X, y = load_digits(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X, [label if row % 5 == 0 else None for row, label in enumerate(y)])
    found = random_order(model, X, 30, 0.85)
    assert found.n_labels is not None
    random, scores = np.random.default_rng(1), []
    for _ in range(3):
        chosen = random.choice(len(y), 600, replace=False)
        labels = np.full(600, None, dtype=object)
        labels[: found.n_labels] = y[chosen[: found.n_labels]]
        fitted = AutoSSLART(random_state=0).fit(X[chosen], labels)
        scores.append(np.mean(fitted.predict(X[chosen[found.n_labels :]]) == y[chosen[found.n_labels :]]))
    assert np.mean(scores) == pytest.approx(0.85, abs=0.08)


@pytest.mark.slow
def test_what_cannot_be_reached_is_not_promised() -> None:
    X, y = load_iris(return_X_y=True)
    few = AutoSSLART(random_state=0).fit(X, [label if row % 25 == 0 else None for row, label in enumerate(y)])
    assert random_order(few, X[::3], 6, 1.01).n_labels is None
    assert random_order(few, X[:10], 6, 0.5).n_tried == 0
