"""`summary()` counts what was learnt, states the left-out accuracy or why there is none, and names weak classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

import sslart
from sslart._mapping.model_view import view_of
from sslart.metrics import ModelSummary

X, Y = load_iris(return_X_y=True)
NAMES = load_iris().target_names[Y].astype(object)


def labelled(rows: Any) -> np.ndarray:
    y = np.full(150, None)
    y[rows] = NAMES[rows]
    return y


def summary_of(rows: Any) -> ModelSummary:
    return sslart.AutoSSLART(random_state=0).fit(X, labelled(rows)).summary()


def test_it_counts_samples_features_labels_and_boxes() -> None:
    model = sslart.AutoSSLART(random_state=0).fit(X, labelled(np.arange(0, 150, 3)))
    found = model.summary()
    assert (found.estimator, found.n_samples, found.n_features) == ("AutoSSLART", 150, 4)
    assert found.n_boxes == model.n_nodes_
    assert {one.label: one.n_labels for one in found.classes} == {"setosa": 17, "versicolor": 17, "virginica": 16}
    assert "150, of which 50 labelled" in str(found)
    assert not found.warnings()


@pytest.mark.parametrize("half_life", [None, 40])
def test_in_a_stream_it_counts_what_came_after_the_last_choice_of_settings_too(half_life: float | None) -> None:
    rows = np.random.RandomState(0).permutation(150)
    model = sslart.AutoSSLART(half_life=half_life, random_state=0)
    for start in range(0, 150, 50):
        own = rows[start : start + 50]
        model.partial_fit(X[own], np.where(np.arange(50) % 7, None, NAMES[own]))
    model.partial_fit(X[rows[:3]], np.full(3, None))
    found = model.summary()
    assert (found.n_samples, found.n_boxes) == (153, model.n_nodes_)
    assert sum(one.n_labels for one in found.classes) <= 24


def test_the_accuracy_is_that_of_left_out_labels() -> None:
    model = sslart.AutoSSLART(random_state=0).fit(X, labelled(np.arange(0, 150, 3)))
    left_out = view_of(model).left_out
    assert left_out is not None
    accuracy = model.summary().quality.accuracy
    assert accuracy is not None
    assert accuracy == left_out.share(left_out.right)
    assert f"{100 * accuracy.value:.1f} % (95 % interval " in str(model.summary())  # type: ignore[operator]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([0], "labels of one class only"),
        ([0, 1, 2], "labels of one class only"),
        ([0, 60], "each class has one label"),
        ([0, 60, 120], "each class has one label"),
    ],
)
def test_with_one_label_of_each_class_no_figure_is_claimed(rows: list[int], reason: str) -> None:
    found = summary_of(rows)
    assert found.quality.accuracy is None
    assert reason in found.quality.why_not
    assert f"not measured: {found.quality.why_not}" in str(found)


def test_a_model_that_keeps_no_labels_names_the_cure() -> None:
    for model in (sslart.SSLART(random_state=0), sslart.FuzzyARTMAP(), sslart.WESSLART(3, random_state=0)):
        found = model.fit(X, NAMES).summary()
        assert found.quality.accuracy is None
        assert "sslart.model_selection" in str(found)
    assert "there is no label" in str(sslart.AutoSSLART().partial_fit(X).summary())


def test_classes_with_few_labels_and_classes_that_are_never_predicted_are_named() -> None:
    rows = [*range(0, 50, 3), *range(50, 100, 3), 106]  # a virginica that looks like a versicolor
    found = summary_of(rows)
    assert [one.label for one in found.few_labels] == ["virginica"]
    assert [one.label for one in found.never_predicted] == ["virginica"]
    assert found.warnings()["fewer than five labels"] == "virginica (1)"
    assert "never predicted" in str(found)


def test_copies_groups_and_repeated_measurements_are_counted() -> None:
    y = labelled(np.arange(0, 150, 5))
    twice = np.vstack([X, X]), np.append(y, y)
    copies = sslart.AutoSSLART(random_state=0).fit(*twice).quality_.together
    assert copies is not None
    assert (copies.kind, copies.n_labels, copies.n_groups) == ("copies", 60, 30)
    given = sslart.AutoSSLART(random_state=0).fit(X, y, groups=np.arange(150) // 10).quality_
    assert given.together is not None
    assert (given.together.kind, given.together.n_labels, given.together.n_groups) == ("given", 30, 15)
    assert given.how == "leave-one-group-out"
    assert given.accuracy is not None
    assert given.accuracy.total == 15


def test_repeated_measurements_do_not_raise_the_claim() -> None:
    samples, y = load_wine(return_X_y=True)
    random = np.random.RandomState(0)
    y = random.permutation(y)  # nothing to learn
    items = random.permutation(178)[:40]
    rows = np.repeat(items, 5)
    readings = samples[rows] + 0.01 * np.ptp(samples, axis=0) * random.standard_normal((200, 13))
    found = sslart.AutoSSLART(random_state=0).fit(readings, y[rows]).summary()
    assert found.quality.together is not None
    assert found.quality.together.kind == "near copies"
    assert "almost equal samples" in str(found)
    assert found.quality.accuracy is not None
    assert found.quality.accuracy.value is not None
    assert found.quality.accuracy.value < 0.65
    assert found.quality.to_dict()["together"] == {"kind": "near copies", "n_labels": 200, "n_groups": 40}


def test_an_ensemble_is_summarised_as_one_model() -> None:
    model = sslart.WESSLART(3, mapping="evidence", random_state=0).fit(X, labelled(np.arange(0, 150, 5)))
    found = model.summary()
    assert found.n_samples == 150
    assert sum(one.n_labels for one in found.classes) == 30
    assert found.n_boxes == sum(member.n_nodes_ for member in model.estimators_)
    assert found.quality.accuracy is not None
