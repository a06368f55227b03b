"""Feature contributions: they add up to the scores, against either reference, and shap can show them."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

from conftest import few
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.model_view import view_of
from sslart.explain import contributions_of
from sslart.explain._contributions import background


@pytest.mark.parametrize("reference", ["average", "nothing"])
def test_contributions_add_up_to_the_scores_and_these_give_the_prediction(reference: str, cancer: Any) -> None:
    X, model = cancer
    parts = model.contributions(X, reference)
    np.testing.assert_allclose(parts.base + parts.values.sum(axis=1) + parts.graph, parts.scores, atol=1e-5)
    np.testing.assert_array_equal(parts.classes[parts.scores.argmax(axis=1)], model.predict(X))
    np.testing.assert_array_equal(parts.data, X)


@pytest.mark.parametrize("vigilance", [0.9, 0.7])  # small boxes, and wide ones
def test_the_average_sample_has_the_base_score_and_no_contribution(vigilance: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AutoSSLART(vigilance, random_state=0).fit(X, few(y, 10))
    parts = model.contributions(X)
    nothing = model.contributions(X, "nothing")
    shift = nothing.values - parts.values
    np.testing.assert_allclose(shift, np.broadcast_to(shift[0], shift.shape), atol=1e-12)  # the same for every sample
    (member,) = view_of(model).members
    drawn = model.contributions(member.encoder.decode(background(member)))
    np.testing.assert_allclose(drawn.values.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(drawn.scores.mean(axis=0), parts.base, atol=1e-5)


@pytest.mark.parametrize("vigilance", [0.9, 0.7])
def test_samples_drawn_from_the_boxes_have_nearly_the_average_of_those_learnt(vigilance: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    parts = AutoSSLART(vigilance, random_state=0).fit(X, few(y, 10)).contributions(X)
    assert np.abs(parts.scores.mean(axis=0) - parts.base).max() < 0.06
    assert np.abs(parts.values.mean(axis=0)).max() < 0.03


def test_a_class_that_was_only_announced_has_no_contributions() -> None:
    X, y = load_wine(return_X_y=True)
    model = AutoSSLART(random_state=0).partial_fit(X[:120], y[:120], classes=[0, 1, 2])
    parts = model.contributions(X[:5])
    assert parts.values.shape == (5, 13, 3)
    assert not parts.values[:, :, 2].any()
    assert np.isneginf(parts.scores[:, 2]).all()
    assert np.isneginf(parts.base[2])


def test_categories_have_one_contribution_per_column() -> None:
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"size": random.normal(size=80), "colour": random.choice(["red", "green", "blue"], 80)})
    y = np.where(frame["colour"] == "red", "warm", "cold")
    model = AutoSSLART(random_state=0).fit(frame, y)
    parts = contributions_of(model, frame)
    assert parts.feature_names == ["size", "colour"]
    assert parts.data[:3, 1].tolist() == frame["colour"][:3].tolist()
    warm = parts.classes.tolist().index("warm")
    towards = parts.values[:, 1, warm]
    assert towards[frame["colour"] == "red"].min() > towards[frame["colour"] != "red"].max()


@pytest.mark.parametrize(
    ("model", "message"),
    [(FuzzyARTMAP(), "single boxes"), (SSLART(), "single boxes"), (WESSLART(2, random_state=0), "single boxes")],
)
def test_models_without_such_contributions_are_refused_with_the_cure(model: Any, message: str) -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y).contributions(X)


@functools.cache
def ensemble(voting: str) -> WESSLART:
    """Return an ensemble that has learnt wines; tests only read it."""
    X, y = load_wine(return_X_y=True)
    given = np.where(np.random.RandomState(0).rand(len(y)) < 0.15, y, -1)
    return WESSLART(4, mapping="evidence", voting=voting, random_state=0).fit(X, given)


@pytest.mark.parametrize(
    ("voting", "reference"),
    [
        ("weighted", "average"),
        ("majority", "nothing"),
        ("weighted", "nothing"),
        pytest.param("majority", "average", marks=pytest.mark.slow),
    ],
)
def test_those_of_an_ensemble_add_up_to_its_weighted_probabilities(voting: str, reference: str) -> None:
    X, _ = load_wine(return_X_y=True)
    model = ensemble(voting)
    parts = model.contributions(X, reference)
    np.testing.assert_allclose(parts.base + parts.values.sum(axis=1) + parts.graph, parts.scores, atol=1e-5)
    np.testing.assert_allclose(parts.scores / parts.scores.sum(axis=1, keepdims=True), model.predict_proba(X))


def test_with_two_classes_a_member_divides_its_probability_as_its_score() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    given = np.where(np.random.RandomState(0).rand(len(y)) < 0.1, y, -1)
    model = WESSLART(1, mapping="evidence", voting="majority", random_state=0).fit(X, given)
    of_ensemble, of_member = (one.contributions(X[:50], reference="nothing") for one in (model, model.estimators_[0]))
    difference = of_member.values[:, :, 1] - of_member.values[:, :, 0]
    shares = difference / (difference.sum(axis=1) + of_member.graph @ [-1, 1])[:, None]
    change = of_ensemble.scores[:, 1] - of_ensemble.base[1]
    np.testing.assert_allclose(of_ensemble.values[:, :, 1], shares * change[:, None], atol=1e-6)


def test_an_ensemble_is_compared_with_the_average_of_its_scores() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = WESSLART(1, mapping="evidence", voting="majority", random_state=0).fit(X, few(y, 10))
    (member,) = view_of(model).members
    parts, drawn = model.contributions(X), model.contributions(member.encoder.decode(background(member)))
    np.testing.assert_allclose(drawn.values.mean(axis=0), 0.0, atol=1e-6)
    np.testing.assert_allclose(drawn.scores.mean(axis=0), parts.base, atol=1e-5)
    assert np.abs(parts.values).sum(axis=1).min() > 0.05  # also where probabilities are near 0 and 1


def test_an_unknown_reference_is_refused(cancer: Any) -> None:
    with pytest.raises(ValueError, match="reference"):
        cancer[1].contributions(cancer[0], "zero")


def test_shap_takes_the_contributions(cancer: Any) -> None:
    shap = pytest.importorskip("shap")
    X, model = cancer
    parts = model.contributions(X[:20])
    explanation = parts.to_shap()
    assert isinstance(explanation, shap.Explanation)
    np.testing.assert_allclose(explanation.values.sum(axis=1) + explanation.base_values, parts.scores, atol=1e-5)
    assert list(explanation.feature_names[:2]) == ["x0", "x1"]
