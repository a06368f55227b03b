"""A classifier with its unlabelled samples inside: calibration, thresholds and stacking see classes only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import StackingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold, TunedThresholdClassifierCV, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from conftest import EVIDENCE, name_of
from sslart import SSLART, WESSLART
from sslart.model_selection import LabelledKFold, StratifiedLabelledKFold, WithUnlabelled, is_labelled

X, Y = load_breast_cancer(return_X_y=True)
ORDER = np.random.RandomState(0).permutation(len(Y))
LABELLED, UNLABELLED, TEST = ORDER[:60], ORDER[60:300], ORDER[300:]
ALL = ORDER[:300]
FEW = np.where(np.arange(300) < 60, Y[ALL], -1)
MODEL = SSLART(random_state=0)
INSIDE = WithUnlabelled(MODEL, X[UNLABELLED])
KINDS = {
    "integers": Y,
    "names": np.array(["bad", "good"])[Y],
    "objects": np.array(["bad", "good"], dtype=object)[Y],
    "booleans": Y == 1,
    "minus one and one": 2 * Y - 1,
    "floats": Y.astype(float),
}


@pytest.mark.parametrize("y", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("model", [MODEL, WESSLART(3, random_state=0), EVIDENCE[0]], ids=name_of)
def test_it_predicts_what_the_classifier_predicts_that_learnt_both(model: Any, y: Any) -> None:
    inside = WithUnlabelled(model, X[UNLABELLED]).fit(X[LABELLED], y[LABELLED])
    both = clone(model).fit(X[ALL], FEW)
    np.testing.assert_array_equal(inside.predict_proba(X[TEST]), both.predict_proba(X[TEST]))
    assert inside.score(X[TEST], y[TEST]) == both.score(X[TEST], Y[TEST])
    assert (inside.predict(X[TEST]) == y[TEST]).mean() == both.score(X[TEST], Y[TEST])
    np.testing.assert_array_equal(inside.classes_, np.unique(y))
    assert inside.n_features_in_ == 30


@pytest.mark.parametrize("y", [KINDS["integers"], KINDS["objects"]], ids=["integers", "objects"])
@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_learns_from_labels_alone(y: Any, ensemble: bool) -> None:
    calibrated = CalibratedClassifierCV(INSIDE, cv=3, ensemble=ensemble).fit(X[LABELLED], y[LABELLED])
    assert calibrated.classes_.tolist() == np.unique(y).tolist()
    assert calibrated.score(X[TEST], y[TEST]) > 0.87
    # given y with gaps instead, it counts -1 as a class
    if y is Y and ensemble:
        misled = CalibratedClassifierCV(MODEL, cv=StratifiedLabelledKFold(3)).fit(X[ALL], FEW)
        assert misled.classes_.tolist() == [-1, 0, 1]
        assert misled.score(X[TEST], Y[TEST]) < 0.6


@pytest.mark.parametrize("y", [KINDS["integers"], KINDS["minus one and one"]], ids=["integers", "minus one and one"])
def test_thresholds_are_tuned_on_labelled_samples(y: Any) -> None:
    model = WithUnlabelled(EVIDENCE[0], X[UNLABELLED])
    tuned = TunedThresholdClassifierCV(model, cv=StratifiedKFold(3), scoring="balanced_accuracy", store_cv_results=True)
    tuned.fit(X[LABELLED], y[LABELLED])
    scores = []
    for train, test in StratifiedKFold(3).split(X[LABELLED], y[LABELLED]):
        rest = np.delete(np.arange(300), test)
        assert set(train) <= set(rest)
        proba = clone(EVIDENCE[0]).fit(X[ALL[rest]], FEW[rest]).predict_proba(X[LABELLED[test]])[:, 1]
        truth = Y[LABELLED[test]]
        right = (proba >= tuned.best_threshold_) == truth
        scores.append((right[truth == 1].mean() + right[truth == 0].mean()) / 2)
    assert tuned.best_score_ == pytest.approx(np.mean(scores), abs=0.03)  # thresholds are interpolated
    assert tuned.score(X[TEST], y[TEST]) > 0.87


def test_predictions_of_folds_agree_with_the_labelled_splitter() -> None:
    predicted = cross_val_predict(INSIDE, X[LABELLED], Y[LABELLED], cv=StratifiedKFold(4))
    for train, test in StratifiedLabelledKFold(4).split(X[ALL], FEW):
        by_hand = clone(MODEL).fit(X[ALL[train]], FEW[train]).predict(X[ALL[test]])
        np.testing.assert_array_equal(predicted[test], by_hand)
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(MODEL, X[ALL], FEW, cv=LabelledKFold())


def test_it_stacks_and_its_parameters_are_searched() -> None:
    stack = StackingClassifier([("art", INSIDE), ("linear", make_pipeline(StandardScaler(), LogisticRegression()))])
    assert stack.fit(X[LABELLED], Y[LABELLED]).score(X[TEST], Y[TEST]) > 0.87
    search = GridSearchCV(INSIDE, {"estimator__vigilance": [0.0, 0.9]}, cv=3).fit(X[LABELLED], Y[LABELLED])
    assert search.best_params_ == {"estimator__vigilance": 0.9}


@pytest.mark.parametrize(
    "frame", [pd.DataFrame, lambda values: pl.DataFrame(values, orient="row")], ids=["pandas", "polars"]
)
def test_frames_stay_frames(frame: Any) -> None:
    labelled, unlabelled, test = (frame(X[rows]) for rows in (LABELLED, UNLABELLED, TEST))
    if isinstance(labelled, pd.DataFrame):
        labelled, unlabelled, test = (part.add_prefix("x") for part in (labelled, unlabelled, test))
    model = WithUnlabelled(MODEL, unlabelled).fit(labelled, Y[LABELLED])
    assert model.estimator_.feature_names_in_.tolist() == list(labelled.columns)
    np.testing.assert_array_equal(model.predict(test), INSIDE.fit(X[LABELLED], Y[LABELLED]).predict(X[TEST]))
    with pytest.raises(ValueError, match="Give both as arrays, or both as frames"):
        WithUnlabelled(MODEL, unlabelled).fit(X[LABELLED], Y[LABELLED])


def test_other_semi_supervised_classifiers_learn_the_same_way() -> None:
    pipeline = make_pipeline(StandardScaler(), LabelSpreading("knn", n_neighbors=7))
    inside = WithUnlabelled(pipeline, X[UNLABELLED]).fit(X[LABELLED], Y[LABELLED])
    np.testing.assert_array_equal(inside.predict(X[TEST]), clone(pipeline).fit(X[ALL], FEW).predict(X[TEST]))
    assert not hasattr(inside, "decision_function")


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match=r"y has 240 sample\(s\) without a label .* Pass them as unlabelled= to"):
        INSIDE.fit(X[ALL], FEW)
    with pytest.raises(ValueError, match=r"X has the features \(5,\) and unlabelled \(30,\)"):
        INSIDE.fit(X[LABELLED, :5], Y[LABELLED])
    with pytest.raises(NotFittedError):
        clone(INSIDE).predict(X)
    assert is_labelled(FEW).sum() == 60
