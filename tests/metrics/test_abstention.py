"""Scores of models that abstain: counted by hand, and what holds for all predictions."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import CLASSIFIERS, name_of
from sslart import SSLART, WESSLART, metrics
from sslart.model_selection import StratifiedLabelledKFold

#       predicted:  yes yes yes  no yes  no yes yes
TRUTH = np.array([1, 1, 1, 1, 0, 0, 0, 0])
PREDICTED = np.array([1, 1, 0, -1, 1, -1, 0, 0])


def as_words(codes: Any) -> list[str | None]:
    return [None if code == -1 else "ab"[code] for code in codes]


@pytest.mark.parametrize(
    ("truth", "predicted", "positive"),
    [
        (TRUTH, PREDICTED, 1),
        (TRUTH.tolist(), PREDICTED.tolist(), 1),
        (TRUTH.astype(float), np.where(PREDICTED == -1, np.nan, PREDICTED), 1),
        (pd.Series(TRUTH), pd.Series(PREDICTED), 1),
        (pd.Series(TRUTH), pd.Series(PREDICTED, dtype="Int64").replace(-1, pd.NA), 1),
        (as_words(TRUTH), as_words(PREDICTED), "b"),
        (np.array(as_words(TRUTH)), np.array(as_words(PREDICTED), dtype=object), "b"),
        (as_words(TRUTH), [-1 if word is None else word for word in as_words(PREDICTED)], "b"),
        (TRUTH == 1, [None if code == -1 else code == 1 for code in PREDICTED], True),
    ],
)
def test_scores_counted_by_hand(truth: Any, predicted: Any, positive: Any) -> None:
    assert metrics.coverage_score(truth, predicted) == 6 / 8
    assert metrics.correctness_score(truth, predicted) == 4 / 6
    assert metrics.sensitivity_score(truth, predicted, pos_label=positive) == 2 / 3
    assert metrics.specificity_score(truth, predicted, pos_label=positive) == 2 / 3


def test_another_value_for_abstention() -> None:
    assert metrics.coverage_score([0, 1], [0, 9], abstained=9) == 0.5
    assert metrics.coverage_score(["a", "b"], ["a", "unknown"], abstained="unknown") == 0.5
    assert metrics.correctness_score([0, 1], ["unknown", 1], abstained="unknown") == 1


def test_minus_one_can_be_a_class() -> None:
    assert metrics.coverage_score([-1, 1, 1], [-1, -1, None], abstained=None) == 2 / 3
    assert metrics.correctness_score([-1, 1, 1], [-1, -1, None], abstained=None) == 0.5
    with pytest.raises(ValueError, match="give abstained=None if -1 is a class here"):
        metrics.coverage_score([-1, 1], [-1, 1])


def test_sensitivity_and_specificity_of_three_classes() -> None:
    truth, predicted = [0, 0, 1, 1, 2, 2, 2], [0, 1, 1, -1, 2, 0, 2]
    assert metrics.sensitivity_score(truth, predicted, pos_label=2) == 2 / 3
    assert metrics.specificity_score(truth, predicted, pos_label=0) == 3 / 4
    assert metrics.sensitivity_score(truth, predicted, pos_label=None) == pytest.approx((1 / 2 + 1 + 2 / 3) / 3)
    assert metrics.specificity_score(truth, predicted, pos_label=None) == pytest.approx((3 / 4 + 4 / 5 + 1) / 3)
    # a class without a prediction has no sensitivity
    assert metrics.sensitivity_score([0, 1, 2], [0, 0, -1], pos_label=None) == 0.5


@pytest.mark.parametrize("nothing", [[-1, -1], [None, None], [np.nan, np.nan]])
@pytest.mark.parametrize("truth", [[0, 1], ["0", "1"]])
def test_without_a_prediction_correctness_is_nan(truth: Any, nothing: Any) -> None:
    assert metrics.coverage_score(truth, nothing) == 0
    assert math.isnan(metrics.correctness_score(truth, nothing))
    assert math.isnan(metrics.sensitivity_score(truth, nothing, pos_label=truth[1]))
    assert math.isnan(metrics.specificity_score(truth, nothing, pos_label=truth[1]))


@pytest.mark.parametrize(
    ("truth", "predicted", "message"),
    [
        ([], [], "give at least one sample"),
        ([0, 1], [0], "inconsistent numbers of samples"),
        (
            [0, None],
            [0, 0],
            r"1 sample\(s\) without a class: -1, None or NaN.* Leave them out; .*StratifiedLabelledKFold",
        ),
        ([0, -1], [0, 0], r"1 sample\(s\) without a class: -1, None or NaN"),
        ([0, 1], ["a", "b"], "true classes are integers and the predicted ones strings: convert"),
        ([0, 1], [0.5, 1.0], "Unknown label type"),
    ],
)
def test_bad_labels_are_refused_with_a_cure(truth: Any, predicted: Any, message: str) -> None:
    for score in (metrics.coverage_score, metrics.correctness_score):
        with pytest.raises(ValueError, match=message):
            score(truth, predicted)


def test_the_positive_class_must_be_named_and_exist() -> None:
    for score in (metrics.sensitivity_score, metrics.specificity_score):
        with pytest.raises(ValueError, match=r"Give pos_label, one of \[0, 1\]"):
            score([0, 1], [0, 1], pos_label=None)
        with pytest.raises(ValueError, match=r"pos_label=2 is not a class .* one of \[0, 1\]"):
            score([0, 1], [0, 1], pos_label=2)


label_pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), min_size=1, max_size=30)


@given(label_pairs)
def test_accuracy_is_coverage_times_correctness(pairs: Any) -> None:
    truth, predicted = np.array(pairs).T
    coverage, correctness = metrics.coverage_score(truth, predicted), metrics.correctness_score(truth, predicted)
    assert 0 <= coverage <= 1
    assert math.isnan(correctness) == (coverage == 0)
    right = 0 if coverage == 0 else coverage * correctness
    assert right == pytest.approx(accuracy_score(truth, predicted))


@given(label_pairs, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(pairs: Any, random: Any) -> None:
    mixed = random.sample(pairs, len(pairs))
    for score in (metrics.coverage_score, metrics.correctness_score):
        np.testing.assert_equal(score(*np.array(pairs).T), score(*np.array(mixed).T))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_sensitivity_is_the_recall_and_specificity_that_of_the_other_class(pairs: Any) -> None:
    truth, predicted = np.array([*pairs, (True, True), (False, False)]).T
    assert metrics.sensitivity_score(truth, predicted, pos_label=True) == pytest.approx(recall_score(truth, predicted))
    assert metrics.specificity_score(truth, predicted, pos_label=True) == pytest.approx(
        recall_score(truth, predicted, pos_label=False)
    )


def few(y: Any) -> Any:
    return np.where(np.arange(len(y)) % 8 == 0, y, -1)


@pytest.mark.parametrize(
    "model", [SSLART(0.95, random_state=0), WESSLART(3, vigilance=0.95, random_state=0)], ids=name_of
)
@pytest.mark.parametrize("kind", ["integers", "words", "plus and minus one"])
def test_the_curve_is_that_of_predict_at_each_depth(model: Any, kind: str, blobs: Any) -> None:
    X, y = blobs
    unlabelled = few(y) == -1
    if kind == "integers":
        labels = few(y)
    elif kind == "words":
        y = np.array(["a", "b", "c"])[y]
        labels = np.where(unlabelled, None, y)
    else:
        y = np.where(y == 0, -1, 1)
        labels = np.where(unlabelled, None, y)
    model = copy.deepcopy(model).fit(X, labels)
    model.predict(X)  # fills the caches
    before = pickle.dumps(model)
    depths = (1, 2, 5, None)
    curve = metrics.coverage_correctness_curve(model, X, y, depths)
    metrics.coverage_correctness_curve(model, X, y, [1])
    assert pickle.dumps(model) == before
    assert curve.depths == depths
    assert (np.diff(curve.coverage) >= 0).all()
    assert curve.coverage[0] < 1 == curve.coverage[-1]
    for depth, coverage, correctness in zip(*curve, strict=True):
        predicted = copy.deepcopy(model).set_params(search_depth=depth).predict(X)
        abstained = np.array([a is None or (a == -1 and kind != "plus and minus one") for a in predicted.tolist()])
        assert coverage == (~abstained).mean()
        assert correctness == (predicted == y)[~abstained].mean()


def test_unlabelled_samples_are_left_out_of_the_curve(blobs: Any) -> None:
    X, y = blobs
    model = SSLART(0.95, random_state=0).fit(X, few(y))
    curve = metrics.coverage_correctness_curve(model, X, few(y), iter([1]))
    alone = metrics.coverage_correctness_curve(model, X[::8], y[::8], [1])
    np.testing.assert_equal(curve, alone)
    with pytest.raises(ValueError, match="no labelled sample to score against"):
        metrics.coverage_correctness_curve(model, X, np.full(len(y), -1), [1])


def test_what_the_curve_refuses(blobs: Any) -> None:
    X, y = blobs
    model = SSLART(0.95, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"depths is empty: give at least one search depth"):
        metrics.coverage_correctness_curve(model, X, y, [])
    with pytest.raises(ValueError, match="search_depth of SSLART must be a whole number from 1 up"):
        metrics.coverage_correctness_curve(model, X, y, [1, 0])
    with pytest.raises(ValueError, match="LogisticRegression has no search_depth to vary"):
        metrics.coverage_correctness_curve(LogisticRegression().fit(X, y), X, y, [1])
    with pytest.raises(ValueError, match="of a pipeline, its last step"):
        metrics.coverage_correctness_curve(make_pipeline(StandardScaler(), model), X, y, [1])


@pytest.mark.parametrize("model", [*CLASSIFIERS, SSLART(0.95, search_depth=1, random_state=0)], ids=name_of)
def test_scorers_agree_with_score_in_cross_validation(model: Any, blobs: Any) -> None:
    X, y = blobs
    labels = y if "FuzzyARTMAP" in name_of(model) else np.where(np.arange(len(y)) % 2 == 0, y, -1)
    scoring = {"coverage": metrics.coverage_scorer, "correctness": metrics.correctness_scorer}
    folds = StratifiedLabelledKFold(3)
    scores = cross_validate(model, X, labels, cv=folds, scoring=scoring)
    product = scores["test_coverage"] * scores["test_correctness"]
    np.testing.assert_allclose(product, cross_val_score(model, X, labels, cv=folds))


def test_scorers_choose_parameters_and_score_pipelines(blobs: Any) -> None:
    X, y = blobs
    words = np.where(few(y) == -1, None, np.array(["a", "b", "c"])[y])
    model = make_pipeline(StandardScaler(), SSLART(0.95, random_state=0)).fit(X, words)
    with pytest.warns(UserWarning, match=r"105 of 120 samples to score are unlabelled .*StratifiedLabelledKFold"):
        assert metrics.coverage_scorer(model, X, words) == 1
    assert metrics.correctness_scorer(model, X, np.array(["a", "b", "c"])[y]) > 0.9
    grid = {"search_depth": [1, 3, None]}
    search = GridSearchCV(
        SSLART(0.95, random_state=0), grid, scoring=metrics.coverage_scorer, cv=StratifiedLabelledKFold(3)
    )
    search.fit(X, few(y))
    assert search.best_params_ == {"search_depth": None}
    assert search.best_score_ == 1
