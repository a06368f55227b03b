"""Scorers and searches of scikit-learn give the figures that one gets by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.decomposition import PCA
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, log_loss, roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    StratifiedKFold,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sslart import SSLART
from sslart import model_selection as cv
from sslart.metrics import correctness_scorer, coverage_scorer

X, Y = load_breast_cancer(return_X_y=True)
ORDER = np.random.RandomState(0).permutation(len(Y))
TRAIN, TEST = ORDER[:300], ORDER[300:]
FEW = np.where(np.arange(300) % 5 == 0, Y[TRAIN], -1)
NAMES = np.array(["malignant", "benign", None], dtype=object)[FEW]
GROUPS = np.arange(300) // 10
MODEL = SSLART(random_state=0)
SPLITTERS = [
    cv.LabelledKFold(4, shuffle=True, random_state=0),
    cv.StratifiedLabelledKFold(4, shuffle=True, random_state=0),
    cv.GroupLabelledKFold(4),
    cv.StratifiedGroupLabelledKFold(4),
    cv.RepeatedStratifiedLabelledKFold(n_splits=3, n_repeats=2, random_state=0),
    cv.StratifiedLabelledShuffleSplit(3, test_size=0.25, random_state=0),
]
SCORES = {
    "accuracy": lambda model, rows: accuracy_score(Y[TRAIN[rows]], model.predict(X[TRAIN[rows]])),
    "balanced_accuracy": lambda model, rows: balanced_accuracy_score(Y[TRAIN[rows]], model.predict(X[TRAIN[rows]])),
    "f1_macro": lambda model, rows: f1_score(Y[TRAIN[rows]], model.predict(X[TRAIN[rows]]), average="macro"),
    "neg_log_loss": lambda model, rows: -log_loss(Y[TRAIN[rows]], model.predict_proba(X[TRAIN[rows]])),
    "roc_auc": lambda model, rows: roc_auc_score(Y[TRAIN[rows]], model.predict_proba(X[TRAIN[rows]])[:, 1]),
}


def groups_for(splitter: Any) -> Any:
    return GROUPS if "Group" in type(splitter).__name__ else None


def fitted_without(rows: Any, model: Any = MODEL) -> Any:
    """Return a model that has learnt all samples, those of the rows excepted."""
    rest = np.setdiff1d(np.arange(300), rows)
    return clone(model).fit(X[TRAIN[rest]], FEW[rest])


@pytest.mark.parametrize("splitter", SPLITTERS, ids=lambda splitter: type(splitter).__name__)
def test_every_scorer_gives_what_one_computes_by_hand(splitter: Any) -> None:
    groups = groups_for(splitter)
    found = cross_validate(MODEL, X[TRAIN], FEW, groups=groups, cv=splitter, scoring=list(SCORES), error_score="raise")
    tests = [test for _, test in splitter.split(X[TRAIN], FEW, groups)]
    for name, score in SCORES.items():
        np.testing.assert_allclose(found[f"test_{name}"], [score(fitted_without(test), test) for test in tests])


def test_the_score_agrees_with_new_samples_where_that_of_kfold_does_not() -> None:
    truth = clone(MODEL).fit(X[TRAIN], FEW).score(X[TEST], Y[TEST])
    ours = cross_val_score(MODEL, X[TRAIN], FEW, cv=cv.StratifiedLabelledKFold(5), scoring="accuracy").mean()
    theirs = cross_val_score(MODEL, X[TRAIN], FEW, cv=StratifiedKFold(5), scoring="accuracy").mean()
    assert abs(ours - truth) < 0.07
    assert theirs < 0.25


@pytest.mark.parametrize("y", [NAMES, NAMES.tolist(), pd.Series(NAMES), np.where(FEW == -1, np.nan, FEW)], ids=type)
def test_gaps_of_other_kinds_give_the_same_scores(y: Any) -> None:
    folds = cv.StratifiedLabelledKFold(4, shuffle=True, random_state=0)
    for scoring in ("balanced_accuracy", None, coverage_scorer, correctness_scorer):
        found = cross_val_score(MODEL, X[TRAIN], y, cv=folds, scoring=scoring, error_score="raise")
        np.testing.assert_allclose(found, cross_val_score(MODEL, X[TRAIN], FEW, cv=folds, scoring=scoring))


@pytest.mark.parametrize("search", [GridSearchCV, RandomizedSearchCV, HalvingGridSearchCV])
def test_searches_choose_on_labelled_samples(search: Any) -> None:
    grid = {"sslart__vigilance": [0.0, 0.8, 0.9]}
    options = {RandomizedSearchCV: {"n_iter": 3}, HalvingGridSearchCV: {"min_resources": 200, "factor": 1.2}}
    pipeline = make_pipeline(StandardScaler(), MODEL)
    folds = cv.StratifiedLabelledKFold(4)
    found = search(
        pipeline, grid, cv=folds, scoring="balanced_accuracy", error_score="raise", **options.get(search, {})
    ).fit(X[TRAIN], FEW)
    assert found.best_params_["sslart__vigilance"] > 0
    assert found.best_estimator_.score(X[TEST], Y[TEST]) > 0.85
    if search is GridSearchCV:
        by_hand = [
            cross_val_score(clone(pipeline).set_params(sslart__vigilance=vigilance), X[TRAIN], FEW, cv=folds)
            for vigilance in grid["sslart__vigilance"]
        ]
        accuracy = GridSearchCV(pipeline, grid, cv=folds).fit(X[TRAIN], FEW).cv_results_["mean_test_score"]
        np.testing.assert_allclose(accuracy, np.mean(by_hand, axis=1))
    elif search is HalvingGridSearchCV:
        assert found.n_resources_[0] == 200


def test_groups_are_routed_through_searches_and_pipelines() -> None:
    folds = cv.GroupLabelledKFold(4)
    tests = [test.tolist() for _, test in folds.split(X[TRAIN], FEW, GROUPS)]
    grid = {"sslart__vigilance": [0.5, 0.9]}
    search = GridSearchCV(make_pipeline(StandardScaler(), PCA(5), MODEL), grid, cv=folds, error_score="raise")
    plain = clone(search).fit(X[TRAIN], FEW, groups=GROUPS).cv_results_["mean_test_score"]
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(search).fit(X[TRAIN], FEW, groups=GROUPS).cv_results_["mean_test_score"]
        found = cross_validate(MODEL, X[TRAIN], FEW, cv=folds, params={"groups": GROUPS}, return_indices=True)
        renamed = cv.GroupLabelledKFold(4).set_split_request(groups="patient")
        by_name = cross_validate(MODEL, X[TRAIN], FEW, cv=renamed, params={"patient": GROUPS})
        nested = cross_validate(
            search, X[TRAIN], FEW, cv=cv.GroupLabelledKFold(3), params={"groups": GROUPS}, error_score="raise"
        )
        with pytest.raises(ValueError, match="GroupLabelledKFold needs groups"):
            cross_validate(MODEL, X[TRAIN], FEW, cv=folds)
        cross_validate(MODEL, X[TRAIN], FEW, cv=cv.LabelledKFold(), params={"groups": GROUPS})
        assert MODEL.get_metadata_routing().fit.requests["groups"] is True  # groups reach fit without being asked for
    np.testing.assert_array_equal(routed, plain)
    assert [test.tolist() for test in found["indices"]["test"]] == tests
    np.testing.assert_allclose(found["test_score"], [SCORES["accuracy"](fitted_without(test), test) for test in tests])
    np.testing.assert_array_equal(by_name["test_score"], found["test_score"])
    assert nested["test_score"].min() > 0.7
