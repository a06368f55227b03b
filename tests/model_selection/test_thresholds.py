"""Thresholds of scikit-learn on probabilities and scores of sslart, with samples that have no label."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import recall_score
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV

from conftest import CLASSIFIERS, EVIDENCE, name_of
from sslart.model_selection import StratifiedLabelledKFold, WithUnlabelled, is_labelled

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:, :8], 1 - Y  # 1 is malignant, the rarer class
RARE = np.flatnonzero(Y == 1)[:12]
KNOWN = np.sort(np.concatenate([RARE, np.flatnonzero(Y == 0)[:70]]))
FEW = np.full(len(Y), -1)
FEW[KNOWN] = Y[KNOWN]
TEST = np.setdiff1d(np.arange(len(Y)), np.arange(200))
MODEL = EVIDENCE[0]


@pytest.mark.parametrize("model", [*CLASSIFIERS, *EVIDENCE], ids=name_of)
def test_a_threshold_of_ones_own_decides_by_the_probability(model: Any) -> None:
    at = FixedThresholdClassifier(model, threshold=0.2, pos_label=1).fit(X[KNOWN], Y[KNOWN])
    np.testing.assert_array_equal(at.predict(X[TEST]), at.predict_proba(X[TEST])[:, 1] >= 0.2)
    by_score = FixedThresholdClassifier(model, threshold=1e-300, response_method="decision_function")
    np.testing.assert_array_equal(by_score.fit(X[KNOWN], Y[KNOWN]).predict(X[TEST]), at.estimator_.predict(X[TEST]))


def test_unlabelled_samples_are_learnt_inside() -> None:
    inside = WithUnlabelled(MODEL, X[FEW == -1])
    at = FixedThresholdClassifier(inside, threshold=0.2).fit(X[KNOWN], Y[KNOWN])
    order = np.concatenate([KNOWN, np.flatnonzero(FEW == -1)])
    by_hand = clone(MODEL).fit(X[order], FEW[order]).predict_proba(X[TEST])[:, 1] >= 0.2
    np.testing.assert_array_equal(at.predict(X[TEST]), by_hand)


def test_a_fitted_model_gets_a_threshold_without_learning_again() -> None:
    model = clone(MODEL).fit(X, FEW)
    at = FixedThresholdClassifier(FrozenEstimator(model), threshold=0.2).fit(X[KNOWN], Y[KNOWN])
    np.testing.assert_array_equal(at.predict(X[TEST]), model.predict_proba(X[TEST])[:, 1] >= 0.2)


def test_a_tuned_threshold_finds_more_of_the_rare_class() -> None:
    model = WithUnlabelled(MODEL, X[~is_labelled(FEW)])
    tuned = TunedThresholdClassifierCV(model, scoring="balanced_accuracy", cv=4).fit(X[KNOWN], Y[KNOWN])
    proba = tuned.predict_proba(X[TEST])[:, 1]
    np.testing.assert_array_equal(tuned.predict(X[TEST]), proba >= tuned.best_threshold_)
    usual, found = (recall_score(Y[TEST], one.predict(X[TEST])) for one in (tuned.estimator_, tuned))
    assert tuned.best_threshold_ < 0.5
    assert found > usual


@pytest.mark.parametrize(
    "tool",
    [
        FixedThresholdClassifier(MODEL, threshold=0.2),
        TunedThresholdClassifierCV(MODEL, cv=StratifiedLabelledKFold(3)),
    ],
    ids=lambda tool: type(tool).__name__,
)
def test_the_tools_themselves_refuse_gaps_as_the_guide_says(tool: Any) -> None:
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        clone(tool).fit(X, FEW)
