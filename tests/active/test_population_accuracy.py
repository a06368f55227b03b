"""Accuracy over all samples, where labels were not drawn at random."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from sslart import AutoSSLART
from sslart._mapping.loo_predictions import LooPredictions
from sslart._mapping.model_view import view_of
from sslart.active import select_queries
from sslart.active._estimates import population_accuracy


def labels_of(rows: np.ndarray, y: np.ndarray) -> np.ndarray:
    found = np.full(len(y), None, dtype=object)
    found[rows] = y[rows]
    return found


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    chosen = np.random.default_rng(0).permutation(len(y))[:500]
    return X[chosen], y[chosen]


def test_for_labels_of_uncertain_samples_it_is_nearer_to_the_truth_than_leave_one_out(
    data: tuple[np.ndarray, ...],
) -> None:
    X, y = data
    rows = select_queries(AutoSSLART(random_state=0).partial_fit(X), X, 15)
    model = AutoSSLART(random_state=0).fit(X, labels_of(rows, y))
    for _ in range(3):
        left = np.setdiff1d(np.arange(len(y)), rows)
        unsure = np.argsort(model.predict_proba(X[left]).max(axis=1), kind="stable")[:10]
        rows = np.concatenate([rows, left[unsure]])
        model = AutoSSLART(random_state=0).fit(X, labels_of(rows, y))
    rest = np.setdiff1d(np.arange(len(y)), rows)
    truth = float(np.mean(model.predict(X[rest]) == y[rest]))
    left_out = view_of(model).left_out
    assert left_out is not None
    found = population_accuracy(left_out, model.predict_proba(X[rest]).max(axis=1), len(rest), len(rows))
    assert found is not None
    on_labels = left_out.accuracy()
    assert on_labels is not None
    assert abs(found.estimate.value - truth) < abs(on_labels.value - truth)
    assert found.estimate.low <= truth <= found.estimate.high


@pytest.mark.slow
def test_for_labels_at_random_it_is_about_the_same_as_leave_one_out(data: tuple[np.ndarray, ...]) -> None:
    X, y = data
    model = AutoSSLART(random_state=0).fit(X, labels_of(np.arange(120), y))
    left_out = view_of(model).left_out
    assert left_out is not None
    found = population_accuracy(left_out, model.predict_proba(X[120:]).max(axis=1), len(X) - 120, 120)
    assert found is not None
    assert found.estimate.value == pytest.approx(left_out.accuracy().value, abs=0.05)
    assert found.estimate.low < found.estimate.value < found.estimate.high


def test_one_class_says_nothing(data: tuple[np.ndarray, ...]) -> None:
    X, _ = data
    model = AutoSSLART(random_state=0).fit(X, ["a"] * 5 + [None] * (len(X) - 5))
    left_out = view_of(model).left_out
    assert left_out is None or population_accuracy(left_out, np.ones(10), 10, 5) is None


def test_where_all_have_a_label_it_is_that_of_left_out_labels(data: tuple[np.ndarray, ...]) -> None:
    X, y = data
    noisy = np.where(
        np.random.default_rng(1).random(len(y)) < 0.3, (y + 1) % 10, y
    )  # the model learns wrong labels too
    left_out = view_of(AutoSSLART(random_state=0).fit(X[:300], noisy[:300])).left_out
    assert left_out is not None
    found = population_accuracy(left_out, np.zeros(0), 0, 300)
    on_labels = left_out.accuracy()
    assert found is not None
    assert on_labels is not None
    assert found.estimate.value == pytest.approx(on_labels.value, abs=0.02)


@pytest.mark.parametrize("right", [True, False])
def test_few_labels_that_are_all_right_or_all_wrong_leave_much_open(right: bool) -> None:
    truth = np.array([0, 0, 0, 1, 1])
    proba = np.where((truth == 0)[:, None] == right, [[0.9, 0.1]], [[0.1, 0.9]])
    left_out = LooPredictions(proba, truth, np.ones(5), np.arange(5), np.arange(5), "copies")
    found = population_accuracy(left_out, np.full(100, 0.9), 100, 5)
    assert found is not None
    low, value, high = found.estimate.low, found.estimate.value, found.estimate.high
    assert low < value < high
    assert high - low > 0.3
    assert found.resampled.std() > 0.02
