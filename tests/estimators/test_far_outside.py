"""Samples far outside everything that was learnt: a model predicts the nearest edge, and the answer names that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.evidence.families import FAMILY_NAMES

QUICK: dict[str, Any] = {"bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5, "random_state": 0}
BEYOND = "It lies beyond all that was learnt"


def every_model() -> list[Any]:
    evidence = [SSLART(mapping="evidence", families=[name], **QUICK) for name in FAMILY_NAMES]
    return [*evidence, SSLART(random_state=0), FuzzyARTMAP(), WESSLART(n_members=3, random_state=0)]


@pytest.mark.parametrize("model", every_model(), ids=str)
def test_a_sample_far_outside_is_novel_and_its_explanation_is_plain_about_it(model: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model.fit(X[::3], y[::3])
    far = np.repeat([[1e9], [-1e9]], 4, axis=1)
    assert model.score_samples(far).tolist() == [0, 0]
    assert model.is_novel(far).all()
    for explanation in model.explain(far):
        assert BEYOND in str(explanation)
        assert "its confidence is not reliable" in str(explanation)
    edge = np.clip(far, X[::3].min(axis=0), X[::3].max(axis=0))
    np.testing.assert_array_equal(model.predict_proba(far), model.predict_proba(edge))
    assert BEYOND not in str(model.explain(X[:1])[0])


@pytest.mark.parametrize("vigilance", [0.0, 0.9])
def test_a_model_of_too_few_samples_to_flag_any_is_plain_about_it_too(vigilance: float) -> None:
    model = AutoSSLART(vigilance, random_state=0).fit([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.9, 0.1]], [0, 1, 0, 1])
    far = [[1e9, -1e9]]
    assert not model.is_novel(far).any()
    assert model.score_samples(far).item() == 0
    assert BEYOND in str(model.explain(far)[0])
