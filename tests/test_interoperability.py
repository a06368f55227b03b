"""In scikit-learn's company: pipelines, searches, meta-estimators and inspection, on real data; the page on it runs."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.inspection import DecisionBoundaryDisplay, partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import adjusted_rand_score, log_loss
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    learning_curve,
    train_test_split,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.utils.validation import has_fit_parameter
from test_stream import fingerprint

from conftest import CLASSIFIERS, EVIDENCE, name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.metrics import correctness_scorer, coverage_scorer
from sslart.model_selection import StratifiedLabelledKFold

PAGE = Path(__file__).parent.parent / "docs" / "interoperability.md"
QUICK = [*CLASSIFIERS, EVIDENCE[0]]
SEMI_SUPERVISED = [model for model in QUICK if not isinstance(model, FuzzyARTMAP)]

each = pytest.mark.parametrize("model", QUICK, ids=name_of)
each_semi_supervised = pytest.mark.parametrize("model", SEMI_SUPERVISED, ids=name_of)


def shuffled(load: Any) -> tuple[np.ndarray, np.ndarray]:
    X, y = load(return_X_y=True)
    order = np.random.RandomState(0).permutation(len(y))
    return X[order], y[order]


def with_gaps(y: np.ndarray, every: int = 5) -> np.ndarray:
    """One label in so many."""
    return np.where(np.arange(len(y)) % every == 0, y, -1)


IRIS, WINE, CANCER = (shuffled(load) for load in (load_iris, load_wine, load_breast_cancer))


@each
def test_pipeline_is_its_steps_one_after_the_other(model: Any) -> None:
    X, y = WINE
    X = X.copy()
    X[::7, 2] = np.nan
    pipeline = make_pipeline(SimpleImputer(), StandardScaler(), PCA(4), clone(model)).fit(X, y)
    by_hand = X
    for step in (SimpleImputer(), StandardScaler(), PCA(4)):
        by_hand = step.fit_transform(by_hand)
    assert fingerprint(pipeline[-1]) == fingerprint(clone(model).fit(by_hand, y))
    assert pipeline.score(X, y) > 0.9
    assert pipeline.classes_.tolist() == [0, 1, 2]


@each
def test_pipeline_of_frames_hands_on_names(model: Any) -> None:
    frame = pd.DataFrame(WINE[0], columns=load_wine().feature_names)
    pipeline = make_pipeline(StandardScaler(), PCA(3), clone(model)).set_output(transform="pandas").fit(frame, WINE[1])
    assert pipeline[-1].feature_names_in_.tolist() == ["pca0", "pca1", "pca2"]
    assert pipeline[-1].coded_feature_names_ == ["pca0", "pca1", "pca2"]
    assert "pca1" in pipeline[-1].rules(kind="boxes").to_text()
    np.testing.assert_array_equal(pipeline[:-1].get_feature_names_out(), pipeline[-1].feature_names_in_)


@each
def test_raw_mixed_frame_does_as_well_as_one_hot_coding(model: Any) -> None:
    X, y = CANCER
    frame = pd.DataFrame(X[:300, :6], columns=list("abcdef"))
    frame["b"] = pd.cut(frame["b"], 4, labels=list("wxyz")).astype(str)
    frame["c"] = frame["c"] > 90
    one_hot = make_column_transformer((OneHotEncoder(), ["b", "c"]), remainder=StandardScaler())
    raw = cross_val_score(clone(model), frame, y[:300], cv=3)
    coded = cross_val_score(make_pipeline(one_hot, clone(model)), frame, y[:300], cv=3)
    assert min(raw.min(), coded.min()) > 0.8
    assert raw.mean() > coded.mean() - 0.04


@each_semi_supervised
def test_search_finds_parameters_with_few_labels(model: Any) -> None:
    X, y = WINE
    few = with_gaps(y, 3)
    grid = {"vigilance": [0.05, 0.8]}
    search = GridSearchCV(clone(model), grid, cv=3, error_score="raise").fit(X, few)
    by_hand = [
        np.mean([
            clone(model).set_params(vigilance=vigilance).fit(X[train], few[train]).score(X[test], few[test])
            for train, test in StratifiedKFold(3).split(X, few)
        ])
        for vigilance in grid["vigilance"]
    ]  # fmt: skip
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], by_hand)
    assert search.best_params_["vigilance"] == grid["vigilance"][int(np.argmax(by_hand))]
    assert search.best_estimator_.score(X, y) > 0.85


def test_search_over_mapping_and_members() -> None:
    X, y = WINE
    search = RandomizedSearchCV(
        SSLART(random_state=0),
        {"vigilance": [0.05, 0.7, 0.9], "mapping": ["one-to-many", "one-to-one"]},
        n_iter=4,
        cv=3,
        random_state=0,
        error_score="raise",
    ).fit(X, with_gaps(y, 2))
    assert len(search.cv_results_["params"]) == 4
    assert search.best_params_["vigilance"] > 0.05
    assert search.best_score_ > 0.8
    ensemble = GridSearchCV(WESSLART(random_state=0), {"n_members": [1, 5]}, cv=3, error_score="raise").fit(X, y)
    assert len(ensemble.best_estimator_.estimators_) == ensemble.best_params_["n_members"]
    assert ensemble.best_score_ > 0.85


def test_search_by_halves() -> None:
    X, y = CANCER
    search = HalvingGridSearchCV(
        SSLART(random_state=0), {"vigilance": [0.0, 0.5, 0.8, 0.9]}, cv=3, random_state=0, error_score="raise"
    ).fit(X, y)
    assert search.n_candidates_[-1] < search.n_candidates_[0] == 4
    assert search.best_params_["vigilance"] > 0
    assert search.best_score_ > 0.85


@each_semi_supervised
def test_scorers_for_models_that_abstain(model: Any) -> None:
    X, y = IRIS
    if model.get_params()["mapping"] == "evidence":
        model = clone(model).set_params(abstain_below=0.9)
    else:
        model = clone(model).set_params(search_depth=1)
    few = with_gaps(y, 3)
    found = cross_validate(
        model,
        X,
        few,
        cv=StratifiedLabelledKFold(3),
        scoring={"coverage": coverage_scorer, "correctness": correctness_scorer},
        error_score="raise",
    )
    coverage, right = [], []
    for train, test in StratifiedLabelledKFold(3).split(X, few):
        predicted = clone(model).fit(X[train], few[train]).predict(X[test])
        coverage.append(np.mean(predicted != -1))
        right.append(np.mean((predicted == y[test])[predicted != -1]))
    np.testing.assert_allclose(found["test_coverage"], coverage)
    np.testing.assert_allclose(found["test_correctness"], right)
    assert 0.2 < np.mean(coverage) < 1
    assert np.mean(right) > 0.75


def test_search_refits_by_the_scorer_that_is_asked_for() -> None:
    X, y = IRIS
    search = GridSearchCV(
        SSLART(0.95, random_state=0),
        {"search_depth": [1, 3, None]},
        cv=StratifiedLabelledKFold(3),
        scoring={"coverage": coverage_scorer, "correctness": correctness_scorer},
        refit="coverage",
    ).fit(X, with_gaps(y))
    coverage = search.cv_results_["mean_test_coverage"]
    assert coverage[0] < coverage[1] < coverage[2] == 1
    assert search.best_params_ == {"search_depth": None}


def test_names_with_gaps_go_through_kfold() -> None:
    X, y = IRIS
    names = np.array(["setosa", "versicolor", "virginica"], dtype=object)[y]
    names[np.arange(150) % 3 > 0] = None
    assert cross_val_score(SSLART(0.8, random_state=0), X, names, cv=KFold(4), error_score="raise").min() > 0.7


@pytest.mark.parametrize("model", [SSLART(0.8, random_state=0), EVIDENCE[0]], ids=name_of)
def test_calibration_makes_probabilities_better(model: Any) -> None:
    X, y = CANCER
    train, test = slice(0, 400), slice(400, None)
    calibrated = CalibratedClassifierCV(clone(model), cv=5).fit(X[train], y[train])
    assert len(calibrated.calibrated_classifiers_) == 5
    assert calibrated.score(X[test], y[test]) > 0.88
    raw = clone(model).fit(X[train], y[train])
    loss = log_loss(y[test], calibrated.predict_proba(X[test]))
    assert loss < 0.3
    assert loss < log_loss(y[test], raw.predict_proba(X[test])) + (0.05 if model is EVIDENCE[0] else 0)


@each_semi_supervised
def test_calibration_of_a_model_fitted_with_gaps(model: Any) -> None:
    X, y = CANCER
    fitted = clone(model).fit(X[:300], with_gaps(y[:300]))
    before = fingerprint(fitted)
    calibrated = CalibratedClassifierCV(FrozenEstimator(fitted)).fit(X[300:430], y[300:430])
    assert fingerprint(fitted) == before
    assert calibrated.score(X[430:], y[430:]) > 0.85
    assert log_loss(y[430:], calibrated.predict_proba(X[430:])) < 0.4


@pytest.mark.parametrize("wrapper", [OneVsRestClassifier, OneVsOneClassifier])
@each
def test_one_model_per_class_or_pair(model: Any, wrapper: Any) -> None:
    X, y = WINE
    wrapped = wrapper(clone(model)).fit(X[:120], y[:120])
    assert wrapped.score(X[120:], y[120:]) > 0.85
    target = y[:120] == 0 if wrapper is OneVsRestClassifier else y[:120][y[:120] < 2]
    samples = X[:120] if wrapper is OneVsRestClassifier else X[:120][y[:120] < 2]
    assert fingerprint(wrapped.estimators_[0]) == fingerprint(clone(model).fit(samples, target.astype(int)))


@each
def test_votes_with_others(model: Any) -> None:
    X, y = WINE
    other = make_pipeline(StandardScaler(), LogisticRegression())
    vote = VotingClassifier([("ours", clone(model)), ("other", other)], voting="soft").fit(X[:120], y[:120])
    by_hand = [clone(one).fit(X[:120], y[:120]).predict_proba(X[120:]) for one in (model, other)]
    np.testing.assert_allclose(vote.predict_proba(X[120:]), np.mean(by_hand, axis=0))
    assert vote.score(X[120:], y[120:]) > 0.9


@each
def test_stacks_with_others(model: Any) -> None:
    X, y = WINE
    stack = StackingClassifier([("ours", clone(model))], LogisticRegression(C=10), cv=StratifiedKFold(3)).fit(X, y)
    np.testing.assert_array_equal(stack.transform(X), stack.estimators_[0].predict_proba(X))
    predicted = cross_val_predict(clone(model), X, y, cv=StratifiedKFold(3), method="predict_proba")
    np.testing.assert_allclose(
        stack.final_estimator_.coef_, LogisticRegression(C=10).fit(predicted, y).coef_, rtol=1e-3, atol=1e-3
    )
    assert stack.score(X, y) > 0.85


@each
def test_bags(model: Any) -> None:
    X, y = WINE
    bag = BaggingClassifier(clone(model), n_estimators=3, max_features=0.8, random_state=0).fit(X[:120], y[:120])
    assert bag.score(X[120:], y[120:]) > 0.85
    first = bag.estimators_[0]
    rows, columns = bag.estimators_samples_[0], bag.estimators_features_[0]
    again = clone(model).set_params(**{
        name: value for name, value in first.get_params().items() if name == "random_state"
    })  # fmt: skip
    if has_fit_parameter(model, "sample_weight"):
        again.fit(X[:120][:, columns], y[:120], sample_weight=np.bincount(rows, minlength=120))
    else:
        again.fit(X[:120][rows][:, columns], y[:120][rows])
    assert fingerprint(first) == fingerprint(again)


@each
def test_teaches_itself(model: Any) -> None:
    X, y = CANCER
    few = with_gaps(y, 10)
    taught = SelfTrainingClassifier(clone(model), criterion="k_best", k_best=100, max_iter=3).fit(X, few)
    assert (taught.transduction_ != -1).sum() == (few != -1).sum() + 300
    assert taught.score(X, y) > 0.85


@pytest.mark.parametrize(
    "wrapper",
    [
        BaggingClassifier(SSLART(), n_estimators=2),
        VotingClassifier([("ours", SSLART())]),
        StackingClassifier([("ours", SSLART())], LogisticRegression(), cv=3),
        CalibratedClassifierCV(SSLART(), cv=3),
        OneVsRestClassifier(SSLART()),
        OneVsOneClassifier(SSLART()),
    ],
    ids=lambda wrapper: type(wrapper).__name__,
)
def test_wrapper_that_takes_gaps_for_a_class(wrapper: Any) -> None:
    """These wrappers learn -1 as a class; SSLART alone and self-training do not."""
    X, y = IRIS
    few = with_gaps(y)
    assert clone(wrapper).fit(X, few).classes_.tolist() == [-1, 0, 1, 2]
    for ours in (SSLART(), SelfTrainingClassifier(SSLART())):
        assert ours.fit(X, few).classes_.tolist() == [0, 1, 2]


def test_stratified_splits_cannot_sort_gaps_among_names() -> None:
    X, y = IRIS
    names = np.where(np.arange(150) % 3 == 0, np.array(["a", "b", "c"], dtype=object)[y], None)
    with pytest.raises(TypeError, match="not supported between"):
        cross_val_score(SSLART(), X, names, cv=StratifiedKFold(3))


@each
def test_importance_is_with_the_feature_that_matters(model: Any) -> None:
    X, y = CANCER
    random = np.random.RandomState(0)
    samples = np.column_stack([X[:, 22], random.rand(len(y)) / 10, np.full(len(y), 3.0)])
    fitted = clone(model).fit(samples[:300], y[:300])
    found = permutation_importance(fitted, samples[300:], y[300:], n_repeats=3, random_state=0).importances_mean
    assert found[0] > 0.2 > abs(found[1])
    assert found[2] == 0


@each
def test_partial_dependence_is_the_mean_probability(model: Any) -> None:
    X, y = CANCER
    fitted = clone(model).fit(X[:200, 20:24], y[:200])
    found = partial_dependence(fitted, X[:50, 20:24], [2], grid_resolution=5, response_method="predict_proba")
    for value, average in zip(found["grid_values"][0], found["average"][0], strict=True):
        there = X[:50, 20:24].copy()
        there[:, 2] = value
        assert fitted.predict_proba(there)[:, 1].mean() == pytest.approx(average)
    assert found["average"][0][0] > found["average"][0][-1]


@each
def test_decision_boundary_shows_the_predictions(model: Any) -> None:
    X, y = IRIS
    fitted = clone(model).fit(X[:, 2:], y)
    shown = DecisionBoundaryDisplay.from_estimator(fitted, X[:, 2:], response_method="predict", grid_resolution=12)
    points = np.column_stack([shown.xx0.ravel(), shown.xx1.ravel()])
    np.testing.assert_array_equal(shown.response.ravel(), fitted.predict(points))
    assert set(shown.response.ravel()) == {0, 1, 2}


@each
def test_threshold_is_tuned(model: Any) -> None:
    X, y = CANCER
    tuned = TunedThresholdClassifierCV(clone(model), scoring="balanced_accuracy", thresholds=20, cv=3).fit(X, y)
    probabilities = clone(model).fit(X, y).predict_proba(X)[:, 1]
    np.testing.assert_array_equal(tuned.predict(X), (probabilities >= tuned.best_threshold_).astype(int))
    assert tuned.best_score_ > 0.85


def test_learning_curve_rises() -> None:
    X, y = WINE
    sizes, _, scores = learning_curve(SSLART(0.8, random_state=0), X, y, train_sizes=[4, 100], cv=3)
    assert sizes.tolist() == [4, 100]
    assert scores[1].mean() > max(0.85, scores[0].mean())


def test_features_are_selected() -> None:
    X, y = IRIS
    selector = SequentialFeatureSelector(SSLART(0.8, random_state=0), n_features_to_select=1, cv=3).fit(X, y)
    assert selector.get_support()[2:].any()  # of the petals


def test_clusters_in_a_pipeline() -> None:
    X, y = IRIS
    pipeline = make_pipeline(StandardScaler(), FuzzyART(0.5))
    labels = pipeline.fit_predict(X)
    np.testing.assert_array_equal(labels, FuzzyART(0.5).fit_predict(StandardScaler().fit_transform(X)))
    assert adjusted_rand_score(y, labels) > 0.4
    search = GridSearchCV(pipeline, {"fuzzyart__vigilance": [0.3, 0.5, 0.99]}, scoring="adjusted_rand_score", cv=3)
    assert search.fit(X, y).best_params_["fuzzyart__vigilance"] < 0.99


@pytest.mark.slow
@pytest.mark.parametrize("model", [CLASSIFIERS[-1], EVIDENCE[0]], ids=name_of)
def test_processes_side_by_side_change_nothing(model: Any) -> None:
    X, y = WINE
    alone = cross_val_score(clone(model), X, y, cv=3)
    np.testing.assert_array_equal(cross_val_score(clone(model), X, y, cv=3, n_jobs=2), alone)


@pytest.mark.parametrize("model", [*QUICK, FuzzyART()], ids=name_of)
def test_weights_of_samples_are_taken_or_refused_by_name(model: Any) -> None:
    X, y = IRIS
    weights = np.where(np.arange(150) % 3, 1, 2)
    if has_fit_parameter(model, "sample_weight"):
        vote = VotingClassifier([("ours", clone(model)), ("other", LogisticRegression(max_iter=500))])
        vote.fit(X, y, sample_weight=weights)
        alone = clone(model).fit(X, vote.le_.transform(y), sample_weight=weights)
        assert fingerprint(vote.named_estimators_["ours"]) == fingerprint(alone)
        return
    with pytest.raises(TypeError, match="sample_weight"):
        clone(model).fit(X, y, sample_weight=weights)
    if not isinstance(model, FuzzyART):
        vote = VotingClassifier([("ours", clone(model)), ("other", LogisticRegression())])
        with pytest.raises(TypeError, match=rf"{type(model).__name__} does not support sample weights"):
            vote.fit(X, y, sample_weight=weights)


@each
def test_weights_are_routed_to_the_score(model: Any) -> None:
    X, y = IRIS
    weights = np.where(np.arange(150) % 2, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(model).set_score_request(sample_weight=True)
        if has_fit_parameter(model, "sample_weight"):
            asking.set_fit_request(sample_weight=False)
        found = cross_validate(asking, X, y, cv=3, params={"sample_weight": weights}, error_score="raise")
        with pytest.raises(ValueError, match=r"sample_weight.*not explicitly set"):
            cross_validate(clone(model), X, y, cv=3, params={"sample_weight": weights}, error_score="raise")
    by_hand = [
        clone(model).fit(X[train], y[train]).score(X[test][weights[test] > 0], y[test][weights[test] > 0])
        for train, test in StratifiedKFold(3).split(X, y)
    ]
    np.testing.assert_allclose(found["test_score"], by_hand)


def test_validation_set_is_routed_through_a_pipeline() -> None:
    X, y = WINE
    held_out = X[120:], y[120:]
    with sklearn.config_context(enable_metadata_routing=True):
        model = WESSLART(3, random_state=0).set_fit_request(validation_set=True)
        pipeline = make_pipeline("passthrough", model).fit(X[:120], y[:120], validation_set=held_out)
    direct = WESSLART(3, random_state=0).fit(X[:120], y[:120], validation_set=held_out)
    np.testing.assert_array_equal(pipeline[-1].class_weights_, direct.class_weights_)
    assert not np.array_equal(direct.class_weights_, WESSLART(3, random_state=0).fit(X[:120], y[:120]).class_weights_)


def test_estimator_to_start_with_lives_in_a_pipeline_with_gaps() -> None:
    X, y = WINE
    train, test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    pipeline = make_pipeline(StandardScaler(), AutoSSLART(random_state=0))
    assert pipeline.fit(train, with_gaps(y_train)).score(test, y_test) > 0.9


def test_the_page_shows_what_its_snippets_print() -> None:
    parts = re.findall(r"```python\n(.*?)```(?:\s*```text\n(.*?)```)?", PAGE.read_text(), re.DOTALL)
    assert len(parts) >= 5
    for snippet, expected in parts:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(snippet, PAGE.name, "exec"), {})
        assert printed.getvalue() == expected
