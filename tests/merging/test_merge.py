"""sslart.merge: which models can be merged, and what users see of the result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tables_in_parts import file_of, fitted, parts_of

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._mapping.model_view import view_of

SETTLED = {"families": ["box", "linear"], "bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5}
EACH = [
    FuzzyART(),
    FuzzyARTMAP(),
    SSLART(random_state=0),
    AutoSSLART(random_state=0),
    WESSLART(2, random_state=0),
    WESSLART(2, mapping="evidence", random_state=0, **SETTLED),
]


def in_halves(model: Any, X: Any, y: Any) -> list[Any]:
    return fitted(model, [(X[:60], y[:60]), (X[60:], y[60:])])


@pytest.mark.parametrize(
    "model", [pytest.param(one, marks=pytest.mark.slow if one is EACH[3] else ()) for one in EACH], ids=repr
)
def test_a_merged_model_works_as_any_other(
    model: Any, few_labels: tuple[np.ndarray, np.ndarray], tmp_path: Path
) -> None:
    X, y = few_labels
    merged = sslart.merge(in_halves(model, X, y))
    assert type(merged) is type(model)
    assert merged.get_params() == model.get_params()
    sslart.save(merged, tmp_path / "merged")
    again = sslart.load(tmp_path / "merged")
    np.testing.assert_array_equal(again.predict(X), merged.predict(X))
    np.testing.assert_array_equal(again.novelty_pvalues(X), merged.novelty_pvalues(X))
    known = y != -1
    for one in (again, merged):
        one.partial_fit(X[known]) if isinstance(model, FuzzyART) else one.partial_fit(X[known], y[known])
    assert file_of(again) == file_of(merged)
    if not isinstance(model, FuzzyART):
        assert merged.score(X[known], y[known]) > 0.9
        assert merged.explain(X[:1])


def test_a_feature_that_is_constant_in_each_part_separates_classes_after_merging() -> None:
    random = np.random.default_rng(0)
    parts = [(np.column_stack([random.random(20), np.full(20, float(site))]), np.full(20, site)) for site in range(2)]
    models = [SSLART(random_state=0).fit(X, y) for X, y in parts]
    merged = sslart.merge(models)
    for X, y in parts:
        np.testing.assert_array_equal(merged.predict(X), y)
    assert merged.coded_feature_names_ == ["x0", "x1"]


def test_categories_and_classes_are_those_of_all_and_sorted() -> None:
    frames = [
        (pd.DataFrame({"n": [1.0, 2.0], "c": ["b", "a"]}), ["yes", "no"]),
        (pd.DataFrame({"n": [9.0, 5.0], "c": ["c", None]}), ["maybe", None]),
    ]
    merged = sslart.merge([SSLART().fit(X, y) for X, y in frames])
    assert merged.coded_feature_names_ == ["n", "c=a", "c=b", "c=c"]
    assert merged.classes_.tolist() == ["maybe", "no", "yes"]
    assert merged.predict(frames[0][0]).tolist() == ["yes", "no"]


def test_labels_are_a_fair_sample_past_max_labels() -> None:
    random = np.random.default_rng(0)
    X = random.random((300, 2))
    y = (X[:, 0] > 0.5).astype(int)
    parts = [(X[:200], y[:200]), (X[200:], y[200:])]
    model = SSLART(mapping="evidence", max_labels=90, random_state=0, **SETTLED)
    merged = sslart.merge(fitted(model, parts))
    table, _ = view_of(merged).members[0].kept_labels
    assert len(table) == 90
    from_first = np.isin(table.values[:, 0], X[:200, 0]).sum()
    assert 45 <= from_first <= 75


def test_validated_successes_of_an_ensemble_add() -> None:
    parts = parts_of(1, [40, 40], columns="numbers")
    models = fitted(WESSLART(2, vigilance=0.7, random_state=0), parts)
    merged = sslart.merge(models)
    expected, trials = np.zeros((2, 4)), np.zeros(4)
    for one, (_, y) in zip(models, parts, strict=True):
        n_labels = np.bincount([label for label in y if label is not None], minlength=4)
        trials += n_labels
        expected[:, one.classes_] += one.class_weights_ * n_labels[one.classes_]
    expected, trials = expected[:, merged.classes_], trials[merged.classes_]
    np.testing.assert_allclose(merged.class_weights_, expected / trials)


def test_a_lower_vigilance_makes_fewer_boxes_of_one_model_alone(few_labels: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = few_labels
    model = SSLART(0.95, random_state=0).fit(X, y)
    smaller = sslart.merge([model], vigilance=0.7)
    assert smaller.n_nodes_ < model.n_nodes_
    assert smaller.vigilance_ == 0.7
    assert smaller.vigilance == 0.95
    assert smaller.support_.sum() == len(X)


def test_samples_like_those_learnt_are_seldom_novel_for_a_merged_model() -> None:
    random = np.random.default_rng(0)
    parts = [(random.normal(size=(400, 3)) * scale, None) for scale in (1.0, 1.2, 0.9)]
    merged = sslart.merge([FuzzyART(0.9).fit(X) for X, _ in parts])
    new = random.normal(size=(2000, 3)) * random.choice([1.0, 1.2, 0.9], (2000, 1))
    assert merged.is_novel(new).mean() < 0.06
    assert merged.is_novel(new * 6).mean() > 0.5


def test_models_that_have_learnt_nothing_make_one_that_has_learnt_nothing() -> None:
    merged = sslart.merge([SSLART(0.7), SSLART(0.7, random_state=3)])
    assert merged.get_params() == SSLART(0.7).get_params()
    with pytest.raises(NotFittedError):
        merged.predict([[0.0]])


def refused(error: type[Exception], message: str, models: Any, **options: Any) -> None:
    with pytest.raises(error, match=message):
        sslart.merge(models, **options)


def test_what_is_no_sequence_of_models_is_refused() -> None:
    model = SSLART().fit([[0.0], [1.0]], [0, 1])
    refused(TypeError, r"a sequence of models, got one SSLART: pass \[model\]", model)
    refused(ValueError, "at least one model", [])
    refused(TypeError, r"models\[1\] is a str", [model, "x"])
    refused(TypeError, r"models\[0\] is a SSLART, models\[1\] a AutoSSLART|models of one class", [model, AutoSSLART()])
    refused(ValueError, r"vigilance of sslart.merge must be a number in \[0, 1\]", [model], vigilance=2)


def test_the_parameter_that_differs_is_named() -> None:
    X, y = [[0.0], [1.0]], [0, 1]
    one = SSLART(0.9).fit(X, y)
    refused(ValueError, r"vigilance is 0.9 in models\[0\] and 0.8 in models\[2\]", [one, clone(one), SSLART(0.8)])
    refused(ValueError, "bounds is", [SSLART(bounds=(0, 1)), SSLART(bounds=(0, 2))])
    bounds = (np.zeros(2), [1, np.nan])
    sslart.merge([SSLART(bounds=bounds), SSLART(bounds=([0.0, 0.0], np.array([1, np.nan])))])
    sslart.merge([one, SSLART(0.9, random_state=7, n_jobs=2).fit(X, y)])


def test_other_features_are_refused() -> None:
    X, y = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]}), [0, 1]
    one = SSLART().fit(X, y)
    refused(ValueError, r"models\[0\] has learnt 2 features and models\[1\] 1", [one, SSLART().fit(X[["a"]], y)])
    refused(ValueError, r"with feature names and models\[1\] samples without", [one, SSLART().fit(X.to_numpy(), y)])
    refused(ValueError, r"'a' in models\[0\] is 'b' in models\[2\]", [one, SSLART(), SSLART().fit(X[["b", "a"]], y)])
    text = X.assign(b=["u", "v"])
    refused(ValueError, "'b' is categorical in one part of the data and numeric", [one, SSLART().fit(text, y)])
    dates = X.assign(b=pd.to_datetime(["2021-01-01", "2021-05-01"]))
    refused(ValueError, "'b' holds dates in one part", [one, SSLART().fit(dates, y)])


def test_a_column_that_one_model_leaves_out_and_another_learns_is_refused() -> None:
    ids = pd.DataFrame({"n": np.arange(40.0) % 7, "id": [f"k{i}" for i in range(40)]})
    few = pd.DataFrame({"n": np.arange(40.0) % 5, "id": ["k1", "k2"] * 20})
    y = np.arange(40) % 2
    with pytest.warns(UserWarning, match="left out"):
        one = SSLART().fit(ids, y)
    refused(ValueError, "'id' is left out in one part of the data", [one, SSLART().fit(few, y)])


def test_classes_of_two_kinds_and_a_doubtful_minus_one_are_refused() -> None:
    X = [[0.0], [1.0], [2.0]]
    numbers, names = SSLART().fit(X, [0, 1, 2]), SSLART().fit(X, ["a", "b", "c"])
    refused(ValueError, "Classes of several kinds", [numbers, names])
    with pytest.warns(UserWarning, match="two classes"):
        signs = SSLART().fit(X, [-1, 1, 1])
    refused(ValueError, "-1 is a class in one part", [signs, numbers])
    ones = SSLART().fit(X, [1, 1, 1])
    assert sslart.merge([signs, ones]).classes_.tolist() == [-1, 1]
