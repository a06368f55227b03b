"""Groups and weights reach fit, score and splitters through pipelines and searches, routed or by name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import balanced_accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, TunedThresholdClassifierCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart.model_selection import GroupLabelledKFold, StratifiedLabelledKFold, WithUnlabelled

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:200, :6], Y[:200]
FEW = np.where(np.arange(200) % 3 == 0, Y, -1)
KNOWN = np.flatnonzero(FEW != -1)
GROUPS = np.arange(200) // 6
WEIGHTS = np.random.RandomState(0).randint(1, 4, size=200).astype(float)
EVIDENCE = SSLART(mapping="evidence", families=["box", "linear"], bandwidth=0.25, ridge=0.01, random_state=0)
FOLDS = StratifiedLabelledKFold(3)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def learnt(model: Any, rows: Any, **given: Any) -> Any:
    """Return the model after a fit of some rows by hand, with these rows of what is given."""
    return clone(model).fit(X[rows], FEW[rows], **{name: values[rows] for name, values in given.items()})


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("model", [EVIDENCE, SSLART(random_state=0), WESSLART(2, random_state=0)], ids=name_of)
def test_weights_reach_fit_and_score_of_each_fold(model: Any) -> None:
    asking = clone(model).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    found = cross_val_score(asking, X, FEW, cv=FOLDS, params={"sample_weight": WEIGHTS}, error_score="raise")
    by_hand = [
        learnt(model, train, sample_weight=WEIGHTS).score(X[test], FEW[test], sample_weight=WEIGHTS[test])
        for train, test in FOLDS.split(X, FEW)
    ]
    np.testing.assert_array_equal(found, by_hand)


@pytest.mark.usefixtures("routing")
def test_groups_reach_the_splitter_and_fit() -> None:
    asking = clone(EVIDENCE).set_fit_request(groups=True)
    found = cross_validate(
        asking, X, FEW, cv=GroupLabelledKFold(3), params={"groups": GROUPS}, return_estimator=True, error_score="raise"
    )
    for fitted, (train, test) in zip(found["estimator"], GroupLabelledKFold(3).split(X, FEW, GROUPS), strict=True):
        by_hand = learnt(EVIDENCE, train, groups=GROUPS)
        np.testing.assert_array_equal(fitted.predict_proba(X[test]), by_hand.predict_proba(X[test]))
        assert fitted.quality_.accuracy.value == by_hand.quality_.accuracy.value


@pytest.mark.usefixtures("routing")
def test_a_search_over_a_pipeline_routes_weights_and_groups() -> None:
    asking = clone(EVIDENCE).set_fit_request(sample_weight=True, groups=True).set_score_request(sample_weight=True)
    scaler = StandardScaler().set_fit_request(sample_weight=False)
    grid = {"sslart__ridge": [0.01, 1.0]}
    search = GridSearchCV(make_pipeline(scaler, asking), grid, cv=GroupLabelledKFold(3), error_score="raise")
    search.fit(X, FEW, sample_weight=WEIGHTS, groups=GROUPS)
    by_hand = []
    for ridge in grid["sslart__ridge"]:
        scores = []
        for train, test in GroupLabelledKFold(3).split(X, FEW, GROUPS):
            scaled = StandardScaler().fit(X[train])
            model = clone(EVIDENCE).set_params(ridge=ridge)
            model.fit(scaled.transform(X[train]), FEW[train], sample_weight=WEIGHTS[train], groups=GROUPS[train])
            scores.append(model.score(scaled.transform(X[test]), FEW[test], sample_weight=WEIGHTS[test]))
        by_hand.append(np.mean(scores))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand, rtol=1e-12)


@pytest.mark.usefixtures("routing")
@pytest.mark.parametrize("model", [EVIDENCE, AutoSSLART(), SSLART(), WESSLART(), FuzzyARTMAP()], ids=name_of)
def test_what_was_not_asked_for_is_refused_and_not_lost(model: Any) -> None:
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        cross_val_score(clone(model), X, Y, cv=3, params={"sample_weight": WEIGHTS}, error_score="raise")


def test_without_routing_a_pipeline_takes_weights_by_the_name_of_the_step() -> None:
    pipeline = make_pipeline(StandardScaler(), EVIDENCE)
    pipeline.fit(X, FEW, sslart__sample_weight=WEIGHTS)
    scaled = StandardScaler().fit_transform(X)
    by_hand = clone(EVIDENCE).fit(scaled, FEW, sample_weight=WEIGHTS)
    np.testing.assert_array_equal(pipeline.predict_proba(X), by_hand.predict_proba(scaled))


@pytest.mark.parametrize("is_routed", [False, True])
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_with_unlabelled_passes_weights_and_groups_on(is_routed: bool, in_pipeline: bool) -> None:
    order = np.concatenate([KNOWN, np.flatnonzero(FEW == -1)])
    weights = np.where(FEW[order] == -1, 1.0, WEIGHTS[order])
    names = np.where(FEW[order] == -1, None, GROUPS[order])
    by_hand = clone(EVIDENCE).fit(X[order], FEW[order], sample_weight=weights, groups=names)
    with sklearn.config_context(enable_metadata_routing=is_routed):
        inner = clone(EVIDENCE).set_fit_request(sample_weight=True, groups=True) if is_routed else EVIDENCE
        inside = WithUnlabelled(make_pipeline("passthrough", inner) if in_pipeline else inner, X[FEW == -1])
        inside.fit(X[KNOWN], Y[KNOWN], sample_weight=WEIGHTS[KNOWN], groups=GROUPS[KNOWN])
    np.testing.assert_array_equal(inside.predict_proba(X), by_hand.predict_proba(X))
    fitted = inside.estimator_[-1] if in_pipeline else inside.estimator_
    assert fitted.quality_.accuracy.value == by_hand.quality_.accuracy.value  # groups are left out together
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        inside.fit(X[KNOWN], Y[KNOWN], sample_weight=WEIGHTS)


def test_calibration_and_thresholds_pass_weights_to_every_fit() -> None:
    inside = WithUnlabelled(EVIDENCE, X[FEW == -1])
    weights = WEIGHTS[KNOWN]
    calibrated = CalibratedClassifierCV(inside, cv=3).fit(X[KNOWN], Y[KNOWN], sample_weight=weights)
    assert np.abs(calibrated.predict_proba(X) - clone(calibrated).fit(X[KNOWN], Y[KNOWN]).predict_proba(X)).max() > 0
    by_hand = clone(inside).fit(X[KNOWN], Y[KNOWN], sample_weight=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        asking = clone(inside).set_fit_request(sample_weight=True)
        scorer = make_scorer(balanced_accuracy_score).set_score_request(sample_weight=False)
        routed = TunedThresholdClassifierCV(asking, scoring=scorer, cv=3).fit(X[KNOWN], Y[KNOWN], sample_weight=weights)
    np.testing.assert_array_equal(routed.predict_proba(X), by_hand.predict_proba(X))
