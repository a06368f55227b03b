"""Metrics: counted by hand, and what must hold whatever the answers are."""

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
from hypothesis.extra import numpy as hnp
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, recall_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import CLASSIFIERS, name_of
from sslart import SSLART, WESSLART
from sslart.metrics import (
    Interval,
    WinTieLoss,
    bootstrap_interval,
    correctness_score,
    correctness_scorer,
    coverage_correctness_curve,
    coverage_score,
    coverage_scorer,
    sensitivity_score,
    specificity_score,
    win_tie_loss,
)

#        answered:  yes yes yes  no yes  no yes yes
TRUTH = np.array([1, 1, 1, 1, 0, 0, 0, 0])
ANSWERS = np.array([1, 1, 0, -1, 1, -1, 0, 0])


def as_words(codes: Any) -> list[str | None]:
    return [None if code == -1 else "ab"[code] for code in codes]


@pytest.mark.parametrize(
    ("truth", "answers", "positive"),
    [
        (TRUTH, ANSWERS, 1),
        (TRUTH.tolist(), ANSWERS.tolist(), 1),
        (TRUTH.astype(float), np.where(ANSWERS == -1, np.nan, ANSWERS), 1),
        (pd.Series(TRUTH), pd.Series(ANSWERS), 1),
        (pd.Series(TRUTH), pd.Series(ANSWERS, dtype="Int64").replace(-1, pd.NA), 1),
        (as_words(TRUTH), as_words(ANSWERS), "b"),
        (np.array(as_words(TRUTH)), np.array(as_words(ANSWERS), dtype=object), "b"),
        (as_words(TRUTH), [-1 if word is None else word for word in as_words(ANSWERS)], "b"),
        (TRUTH == 1, [None if code == -1 else code == 1 for code in ANSWERS], True),
    ],
)
def test_scores_counted_by_hand(truth: Any, answers: Any, positive: Any) -> None:
    assert coverage_score(truth, answers) == 6 / 8
    assert correctness_score(truth, answers) == 4 / 6
    assert sensitivity_score(truth, answers, pos_label=positive) == 2 / 3
    assert specificity_score(truth, answers, pos_label=positive) == 2 / 3


def test_another_mark_of_abstention() -> None:
    assert coverage_score([0, 1], [0, 9], abstained=9) == 0.5
    assert coverage_score(["a", "b"], ["a", "unknown"], abstained="unknown") == 0.5
    assert correctness_score([0, 1], ["unknown", 1], abstained="unknown") == 1


def test_minus_one_can_be_a_class() -> None:
    assert coverage_score([-1, 1, 1], [-1, -1, None], abstained=None) == 2 / 3
    assert correctness_score([-1, 1, 1], [-1, -1, None], abstained=None) == 0.5
    with pytest.raises(ValueError, match="give abstained=None if -1 is a class here"):
        coverage_score([-1, 1], [-1, 1])


def test_sensitivity_and_specificity_of_three_classes() -> None:
    truth, answers = [0, 0, 1, 1, 2, 2, 2], [0, 1, 1, -1, 2, 0, 2]
    assert sensitivity_score(truth, answers, pos_label=2) == 2 / 3
    assert specificity_score(truth, answers, pos_label=0) == 3 / 4
    assert sensitivity_score(truth, answers, pos_label=None) == pytest.approx((1 / 2 + 1 + 2 / 3) / 3)
    assert specificity_score(truth, answers, pos_label=None) == pytest.approx((3 / 4 + 4 / 5 + 1) / 3)
    # a class without an answer has no sensitivity
    assert sensitivity_score([0, 1, 2], [0, 0, -1], pos_label=None) == 0.5


@pytest.mark.parametrize("nothing", [[-1, -1], [None, None], [np.nan, np.nan]])
@pytest.mark.parametrize("truth", [[0, 1], ["0", "1"]])
def test_without_an_answer_there_is_nothing_to_be_right(truth: Any, nothing: Any) -> None:
    assert coverage_score(truth, nothing) == 0
    assert math.isnan(correctness_score(truth, nothing))
    assert math.isnan(sensitivity_score(truth, nothing, pos_label=truth[1]))
    assert math.isnan(specificity_score(truth, nothing, pos_label=truth[1]))


@pytest.mark.parametrize(
    ("truth", "answers", "message"),
    [
        ([], [], "give at least one sample"),
        ([0, 1], [0], "inconsistent numbers of samples"),
        ([0, None], [0, 0], r"1 sample\(s\) without a class. Leave them out"),
        ([0, 1], ["a", "b"], "true classes are integers and the predicted ones strings: convert"),
        ([0, 1], [0.5, 1.0], "Unknown label type"),
    ],
)
def test_bad_labels_are_refused_with_a_cure(truth: Any, answers: Any, message: str) -> None:
    for score in (coverage_score, correctness_score):
        with pytest.raises(ValueError, match=message):
            score(truth, answers)


def test_the_positive_class_must_be_named_and_exist() -> None:
    for score in (sensitivity_score, specificity_score):
        with pytest.raises(ValueError, match=r"Give pos_label, one of \[0, 1\]"):
            score([0, 1], [0, 1], pos_label=None)
        with pytest.raises(ValueError, match=r"pos_label=2 is no class .* one of \[0, 1\]"):
            score([0, 1], [0, 1], pos_label=2)


answered_pairs = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), min_size=1, max_size=30)


@given(answered_pairs)
def test_accuracy_is_coverage_times_correctness(pairs: Any) -> None:
    truth, answers = np.array(pairs).T
    coverage, correctness = coverage_score(truth, answers), correctness_score(truth, answers)
    assert 0 <= coverage <= 1
    assert math.isnan(correctness) == (coverage == 0)
    right = 0 if coverage == 0 else coverage * correctness
    assert right == pytest.approx(accuracy_score(truth, answers))


@given(answered_pairs, st.randoms(use_true_random=False))
def test_the_order_of_samples_does_not_matter(pairs: Any, random: Any) -> None:
    mixed = random.sample(pairs, len(pairs))
    for score in (coverage_score, correctness_score):
        np.testing.assert_equal(score(*np.array(pairs).T), score(*np.array(mixed).T))


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_sensitivity_is_the_recall_and_specificity_that_of_the_other_class(pairs: Any) -> None:
    truth, answers = np.array([*pairs, (True, True), (False, False)]).T
    assert sensitivity_score(truth, answers, pos_label=True) == pytest.approx(recall_score(truth, answers))
    assert specificity_score(truth, answers, pos_label=True) == pytest.approx(
        recall_score(truth, answers, pos_label=False)
    )


def few(y: Any) -> Any:
    return np.where(np.arange(len(y)) % 8 == 0, y, -1)


@pytest.mark.parametrize(
    "model", [SSLART(0.95, random_state=0), WESSLART(3, vigilance=0.95, random_state=0)], ids=name_of
)
@pytest.mark.parametrize("kind", ["integers", "words", "plus and minus one"])
def test_the_curve_is_what_predict_says_at_each_depth(model: Any, kind: str, blobs: Any) -> None:
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
        with pytest.warns(UserWarning, match="two classes"):
            model = copy.deepcopy(model).fit(X, np.where(unlabelled, None, y))
    if kind != "plus and minus one":
        model = copy.deepcopy(model).fit(X, labels)
    before = pickle.dumps(model)
    depths = (1, 2, 5, None)
    curve = coverage_correctness_curve(model, X, y, depths)
    coverage_correctness_curve(model, X, y, [1])
    assert pickle.dumps(model) == before
    assert curve.depths == depths
    assert (np.diff(curve.coverage) >= 0).all()
    assert curve.coverage[0] < 1 == curve.coverage[-1]
    for depth, coverage, correctness in zip(*curve, strict=True):
        answers = copy.deepcopy(model).set_params(search_depth=depth).predict(X)
        abstained = np.array([a is None or (a == -1 and kind != "plus and minus one") for a in answers.tolist()])
        assert coverage == (~abstained).mean()
        assert correctness == (answers == y)[~abstained].mean()


def test_unlabelled_samples_are_left_out_of_the_curve(blobs: Any) -> None:
    X, y = blobs
    model = SSLART(0.95, random_state=0).fit(X, few(y))
    curve = coverage_correctness_curve(model, X, few(y), iter([1]))
    alone = coverage_correctness_curve(model, X[::8], y[::8], [1])
    np.testing.assert_equal(curve, alone)
    with pytest.raises(ValueError, match="no labelled sample to score against"):
        coverage_correctness_curve(model, X, np.full(len(y), -1), [1])


def test_what_the_curve_refuses(blobs: Any) -> None:
    X, y = blobs
    model = SSLART(0.95, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"depths is empty: give at least one search depth"):
        coverage_correctness_curve(model, X, y, [])
    with pytest.raises(ValueError, match="search_depth of SSLART must be a whole number from 1 up"):
        coverage_correctness_curve(model, X, y, [1, 0])
    with pytest.raises(ValueError, match="LogisticRegression has no search_depth to vary"):
        coverage_correctness_curve(LogisticRegression().fit(X, y), X, y, [1])
    with pytest.raises(ValueError, match="of a pipeline, its last step"):
        coverage_correctness_curve(make_pipeline(StandardScaler(), model), X, y, [1])


@pytest.mark.parametrize("model", [*CLASSIFIERS, SSLART(0.95, search_depth=1, random_state=0)], ids=name_of)
def test_scorers_agree_with_score_in_cross_validation(model: Any, blobs: Any) -> None:
    X, y = blobs
    labels = y if "FuzzyARTMAP" in name_of(model) else np.where(np.arange(len(y)) % 2 == 0, y, -1)
    scoring = {"coverage": coverage_scorer, "correctness": correctness_scorer}
    scores = cross_validate(model, X, labels, cv=3, scoring=scoring)
    product = scores["test_coverage"] * scores["test_correctness"]
    np.testing.assert_allclose(product, cross_val_score(model, X, labels, cv=3))


def test_scorers_choose_parameters_and_score_pipelines(blobs: Any) -> None:
    X, y = blobs
    words = np.where(few(y) == -1, None, np.array(["a", "b", "c"])[y])
    model = make_pipeline(StandardScaler(), SSLART(0.95, random_state=0)).fit(X, words)
    assert coverage_scorer(model, X, words) == 1
    assert correctness_scorer(model, X, np.array(["a", "b", "c"])[y]) > 0.9
    grid = {"search_depth": [1, 3, None]}
    search = GridSearchCV(SSLART(0.95, random_state=0), grid, scoring=coverage_scorer, cv=3).fit(X, few(y))
    assert search.best_params_ == {"search_depth": None}
    assert search.best_score_ == 1


def test_wins_ties_and_losses_counted_by_hand() -> None:
    # the row ION of the paper, with its one tie
    scores = np.array([[93.02, 91.2, 82.3, 90.1, 82.3, 85.7, 74.6, 80.1]])
    assert [tuple(counts) for counts in win_tie_loss(scores).values()] == [
        (7, 0, 0),
        (6, 0, 1),
        (2, 1, 4),
        (5, 0, 2),
        (2, 1, 4),
        (4, 0, 3),
        (0, 0, 7),
        (1, 0, 6),
    ]


def test_scores_may_be_a_table_a_mapping_or_a_frame() -> None:
    named = {"a": [3.0, 2.0], "b": [1.0, 2.5], "c": [1.0, 0.0]}
    expected = [WinTieLoss(3, 0, 1), WinTieLoss(2, 1, 1), WinTieLoss(0, 1, 3)]
    assert win_tie_loss(named) == dict(zip("abc", expected, strict=True))
    assert win_tie_loss(pd.DataFrame(named)) == dict(zip("abc", expected, strict=True))
    assert win_tie_loss([[3.0, 1.0, 1.0], [2.0, 2.5, 0.0]]) == dict(enumerate(expected))


def test_tolerance_and_missing_scores() -> None:
    assert win_tie_loss([[82.4, 82.3]], tolerance=0.1)[0] == (0, 1, 0)
    assert win_tie_loss([[82.4, 82.3]], tolerance=0.05)[0] == (1, 0, 0)
    assert win_tie_loss([[1.0, np.nan, 2.0]]) == {0: (0, 0, 1), 1: (0, 0, 0), 2: (1, 0, 0)}


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(2, 5)), elements=st.integers(0, 4).map(float)),
    st.sampled_from([0.0, 1.0, 2.5]),
)
def test_every_comparison_is_counted_for_both_sides(scores: Any, tolerance: float) -> None:
    counts = np.array(list(win_tie_loss(scores, tolerance=tolerance).values()))
    n_datasets, n_methods = scores.shape
    assert (counts.sum(axis=1) == n_datasets * (n_methods - 1)).all()
    wins, ties, losses = counts.sum(axis=0)
    assert wins == losses
    assert ties % 2 == 0
    np.testing.assert_array_equal(np.array(list(win_tie_loss(-scores, tolerance=tolerance).values())), counts[:, ::-1])


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0, 2.0], "row per data set, a column per method"),
        ([[1.0], [2.0]], "at least two methods"),
        ([[1.0, np.inf]], "put NaN where a method has no score"),
        ([["x", "y"]], "must be numbers"),
        ({"a": [1.0], "b": [1.0, 2.0]}, "one value per data set for every method"),
        ({}, "one value per data set for every method"),
    ],
)
def test_bad_scores_are_refused_with_a_cure(scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        win_tie_loss(scores)


def test_a_negative_tolerance_is_refused() -> None:
    with pytest.raises(ValueError, match="tolerance of win_tie_loss must be a number in"):
        win_tie_loss([[1.0, 2.0]], tolerance=-1)


def test_the_interval_of_two_values_is_known() -> None:
    # the mean of a resample of (0, 1) is 0, 1/2 or 1 with chances 1/4, 1/2, 1/4
    assert bootstrap_interval([0.0, 1.0]) == (0, 1)
    assert bootstrap_interval([0.0, 1.0], level=0.4) == (0.5, 0.5)


def test_the_interval_comes_close_to_that_of_the_normal_distribution() -> None:
    values = np.random.RandomState(0).normal(size=400)
    low, high = bootstrap_interval(values)
    width = 1.96 * values.std() / 20
    assert low == pytest.approx(values.mean() - width, abs=0.01)
    assert high == pytest.approx(values.mean() + width, abs=0.01)
    wide, narrow = bootstrap_interval(values, level=0.99), bootstrap_interval(values, level=0.5)
    assert wide.low < low < narrow.low < narrow.high < high < wide.high


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=8))
def test_the_interval_lies_among_the_values_and_repeats(values: Any) -> None:
    interval = bootstrap_interval(values, n_resamples=200)
    assert min(values) <= interval.low <= interval.high <= max(values)
    assert interval == bootstrap_interval(values, n_resamples=200)


@pytest.mark.parametrize("values", [[7.25], [0.1] * 10])
def test_the_interval_of_equal_values_is_that_value(values: Any) -> None:
    assert bootstrap_interval(values) == Interval(values[0], values[0])


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ([], {}, "values must be a sequence of numbers, and not empty"),
        ([[1.0]], {}, "values must be a sequence of numbers"),
        ([1.0, np.nan], {}, "leave out the repetitions without a result"),
        ([1.0, 2.0], {"level": 95}, "level of bootstrap_interval must be a number in"),
        ([1.0, 2.0], {"level": 1.0}, "must be below 1"),
        ([1.0, 2.0], {"n_resamples": 0}, "n_resamples of bootstrap_interval must be a whole number"),
    ],
)
def test_bad_values_are_refused_with_a_cure(values: Any, options: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bootstrap_interval(values, **options)
