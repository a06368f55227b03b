"""Costs decide what is predicted; scores, explanations, rules, files and exports agree with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

import sslart
from conftest import CLASSIFIERS, EVIDENCE, name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.decision_rules import cost_matrix
from sslart._mapping.model_view import view_of

X, Y = load_breast_cancer(return_X_y=True)
X, Y = X[:280, :6], Y[:280]
FEW = np.where(np.arange(len(Y)) % 8 == 0, Y, -1)
NAMES = np.array(["ill", "healthy", None], dtype=object)[FEW]
ILL_MISSED = {("ill", "healthy"): 20}
RARE = np.where(np.cumsum(FEW == 0) > 8, np.where(FEW == 0, -1, FEW), FEW)  # 8 labels of class 0
LEARNT: dict[Any, Any] = {}
MODELS = [
    SSLART(0.3, random_state=0),
    SSLART(0.6, mapping="evidence", families=["box", "linear"], bandwidth=0.25, ridge=0.01, random_state=0),
    WESSLART(5, vigilance=0.3, random_state=0),
    WESSLART(2, vigilance=0.6, mapping="evidence", families=["box"], bandwidth=0.25, ridge=0.01, random_state=0),
]


def fitted(model: Any, costs: Any = ILL_MISSED, y: Any = NAMES, **params: Any) -> Any:
    """Return a model that has learnt with these costs; tests only read it."""
    key = name_of(model), repr(costs), id(y), repr(params)
    if key not in LEARNT:
        LEARNT[key] = clone(model).set_params(decision_costs=costs, **params).fit(X, y)
    return LEARNT[key]


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_the_class_of_the_lowest_expected_cost_is_predicted(model: Any) -> None:
    costly = fitted(model)
    proba = costly.predict_proba(X)
    np.testing.assert_array_equal(proba, fitted(model, None).predict_proba(X))
    healthy, ill = proba.T
    assert costly.classes_.tolist() == ["healthy", "ill"]
    # predicting healthy costs 20 where it is wrong, predicting ill costs 1
    np.testing.assert_array_equal(costly.predict(X), np.where(20 * ill <= healthy, "healthy", "ill"))
    assert (costly.predict(X) == "ill").sum() > (fitted(model, None).predict(X) == "ill").sum()


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_a_matrix_means_the_same_as_a_dict_and_equal_costs_change_nothing(model: Any) -> None:
    by_dict = fitted(model).predict(X)
    np.testing.assert_array_equal(fitted(model, [[0, 1], [20, 0]]).predict(X), by_dict)
    np.testing.assert_array_equal(fitted(model, np.array([[0, 3], [60, 0]])).predict(X), by_dict)
    np.testing.assert_array_equal(fitted(model, {}).predict(X), fitted(model, None).predict(X))


def test_costs_follow_the_parameter_without_another_fit() -> None:
    model = clone(MODELS[1]).fit(X, NAMES).set_params(decision_costs=ILL_MISSED)
    np.testing.assert_array_equal(model.predict(X), fitted(MODELS[1]).predict(X))


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_balanced_costs_decide_at_the_share_of_the_classes(model: Any) -> None:
    balanced = fitted(model, "balanced", RARE)
    of_rare = (balanced.counts_[:, 0].sum() + 1) / (balanced.counts_.sum() + 2)
    np.testing.assert_array_equal(balanced.predict(X) == 0, balanced.predict_proba(X)[:, 0] >= of_rare)


def test_balanced_costs_raise_the_balanced_accuracy() -> None:
    by_cost = [fitted(MODELS[1], costs, RARE).predict(X) for costs in (None, "balanced")]
    usual, balanced = ([(predicted[label == Y] == label).mean() for label in (0, 1)] for predicted in by_cost)
    assert np.mean(balanced) > np.mean(usual)
    assert balanced[0] > usual[0]


@given(
    st.integers(2, 5).flatmap(
        lambda n: st.tuples(
            st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=n, max_size=n),
            st.lists(st.lists(st.integers(0, 9), min_size=n, max_size=n), min_size=1, max_size=5),
        )
    )
)
def test_no_other_class_has_a_lower_expected_cost(drawn: tuple[list[list[int]], list[list[int]]]) -> None:
    costs, counts = np.array(drawn[0], dtype=float), np.array(drawn[1])
    X = np.repeat(np.arange(float(len(counts)))[:, None], counts.sum(axis=1), axis=0)
    y = np.concatenate([np.repeat(np.arange(len(row)), row) for row in counts])
    classes = np.unique(y)
    if not len(classes):
        return
    own = costs[np.ix_(classes, classes)]
    model = SSLART(1.0, decision_costs=own, shuffle=False).fit(X, y)
    expected = model.predict_proba(X) @ own
    predicted = np.searchsorted(classes, model.predict(X))
    assert (expected[np.arange(len(X)), predicted] <= expected.min(axis=1) + 1e-12).all()
    scores = model.decision_function(X)
    best = (scores > 0).astype(int) if len(classes) == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(best, predicted)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_explanations_agree_and_name_the_costs(model: Any) -> None:
    costly = fitted(model)
    predicted = costly.predict(X[:150])
    explained = costly.explain(X[:150])
    assert [one.prediction for one in explained] == predicted.tolist()
    against = np.flatnonzero(predicted != costly.classes_[costly.predict_proba(X[:150]).argmax(axis=1)])
    assert against.size
    for row in against[:5]:
        one = explained[row]
        assert one.expected_costs["ill"] == pytest.approx(costly.predict_proba(X[row : row + 1])[0, 0])
        assert one.expected_costs["healthy"] == pytest.approx(20 * one.confidence)
        assert "It has the lowest expected cost: " in str(one)
        assert {"class": "ill", "cost": one.expected_costs["ill"]} in one.to_dict()["expected_costs"]
        change = one.counterfactual
        assert change is None or costly.predict([change.sample]).tolist() == [change.prediction] == ["healthy"]
        if one.box.member is not None and one.evidence is None:
            assert one.box.label == "ill"  # a member that votes for the prediction is shown
    free = fitted(model, None).explain(X[:1])[0]
    assert free.expected_costs is None
    assert "cost" not in str(free)


@pytest.mark.parametrize("model", [MODELS[0], *(pytest.param(one, marks=pytest.mark.slow) for one in MODELS[1:])])
def test_what_if_rules_report_and_file_agree(model: Any, tmp_path: Path) -> None:
    costly = fitted(model)
    row = int(np.flatnonzero(costly.predict(X) != fitted(model, None).predict(X))[0])
    found = costly.counterfactual(X[row])
    assert found.prediction == "ill"
    assert all(costly.predict([one.sample])[0] == one.prediction == "healthy" for one in found)
    assert costly.rules(X).fidelity(X) > 0.9
    sslart.save(costly, tmp_path / "model.sslart")
    again = sslart.load(tmp_path / "model.sslart")
    assert again.decision_costs == ILL_MISSED
    np.testing.assert_array_equal(again.predict(X), costly.predict(X))
    page = sslart.report(costly, X[row : row + 40], None, tmp_path / "page.html").read_text(encoding="utf-8")
    assert str(costly.explain(X[row : row + 1])[0]).split("\n")[1] in page  # the line of the costs
    assert "The class of the lowest expected cost is predicted" in page


@pytest.mark.parametrize("model", MODELS, ids=name_of)
@pytest.mark.parametrize("abstention", [{}, {"abstain_below": 0.7}, {"search_depth": 1}], ids=str)
def test_onnx_decides_as_predict_does(model: Any, abstention: dict[str, Any]) -> None:
    costly = fitted(model, **abstention)
    session = onnxruntime.InferenceSession(sslart.to_onnx(costly).SerializeToString())
    label, _, abstained = session.run(None, {"X": X})
    predicted = costly.predict(X)
    np.testing.assert_array_equal(np.where(abstained, None, label), predicted.astype(object))


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_abstention_is_the_same_with_and_without_costs(model: Any) -> None:
    for abstention in ({"abstain_below": 0.8}, {"search_depth": 1, "vigilance": 0.9}):
        free, costly = (fitted(model, costs, **abstention).predict(X) for costs in (None, ILL_MISSED))
        np.testing.assert_array_equal(np.equal(free, None), np.equal(costly, None))
        assert np.equal(free, None).any()


def test_left_out_accuracy_is_that_of_what_is_predicted() -> None:
    model = fitted(MODELS[1])
    left_out = view_of(model).left_out
    healthy, ill = left_out.proba.T
    np.testing.assert_array_equal(left_out.predicted, 20 * ill > healthy)
    assert left_out.right.mean() < view_of(fitted(MODELS[1], None)).left_out.right.mean()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], "has 3 rows and columns, and the model 2 classes: 'healthy', 'ill'"),
        ([[0, 1]], "must be a square matrix of numbers"),
        ([[0, np.nan], [1, 0]], "must be a square matrix of numbers"),
        ("cheap", "or 'balanced', or None; got 'cheap'"),
        (7, "must be a square matrix of numbers"),
        (
            {("ill", "well"): 2},
            "names the class 'well', which the model does not have. Its classes are 'healthy', 'ill'",
        ),
        ({"ill": 2}, r"has the key 'ill': each key must be a pair \(true class, predicted class\)"),
        ({("ill", "healthy"): "much"}, "must be numbers, got 'much' for a sample of class 'ill'"),
        ({("ill", "healthy"): np.inf}, "must be numbers, got inf"),
        ({("ill", "healthy"): 10**400}, "must be numbers, got 1000"),
        ([[0, 10**400], [1, 0]], "must be a square matrix"),
    ],
)
@pytest.mark.parametrize("model", [MODELS[0], MODELS[2]], ids=["SSLART", "WESSLART"])
def test_costs_that_cannot_be_are_refused_before_anything_is_learnt(model: Any, costs: Any, message: str) -> None:
    untouched = clone(model).set_params(decision_costs=costs)
    with pytest.raises(ValueError, match=message):
        untouched.fit(X, NAMES)
    with pytest.raises(NotFittedError):
        untouched.predict(X)
    learnt = fitted(model, None)
    try:
        with pytest.raises(ValueError, match=message):
            learnt.set_params(decision_costs=costs).predict(X)
    finally:
        learnt.set_params(decision_costs=None)


def test_a_stream_may_have_costs_for_classes_that_come_later() -> None:
    model = SSLART(bounds=(0, 1), decision_costs={("b", "a"): 5})
    model.partial_fit([[0.1]], ["a"])
    with pytest.raises(ValueError, match=r"names the class 'b', which the model does not have.* announces classes"):
        model.predict([[0.1]])
    assert model.partial_fit([[0.12]], ["b"]).predict([[0.11]]).tolist() == ["b"]
    announced = SSLART(bounds=(0, 1), decision_costs={("b", "a"): 5}).partial_fit([[0.1]], ["a"], classes=["a", "b"])
    assert announced.predict([[0.1]]).tolist() == ["a"]


def test_classes_of_numbers_and_booleans_are_told_apart() -> None:
    assert cost_matrix("x", {(1.0, np.int64(0)): 3}, np.array([0, 1])).tolist() == [[0, 1], [3, 0]]
    assert cost_matrix("x", {(True, False): 3}, np.array([False, True])).tolist() == [[0, 1], [3, 0]]
    for pair, classes in (((True, False), [0, 1]), ((1, 0), [False, True])):
        with pytest.raises(ValueError, match="which the model does not have"):
            cost_matrix("x", {pair: 3}, np.array(classes))


@pytest.mark.parametrize("model", [*CLASSIFIERS, *EVIDENCE], ids=name_of)
def test_scores_are_finite_and_agree_with_probabilities_and_predictions(model: Any, blobs: Any) -> None:
    samples, y = blobs
    for classes in ([0], [0, 1], [0, 1, 2]):
        own = np.isin(y, classes)
        learnt = clone(model).fit(samples[own], y[own])
        proba, scores = learnt.predict_proba(samples), learnt.decision_function(samples)
        assert np.isfinite(scores).all()
        assert scores.shape == ((len(y),) if len(classes) == 2 else (len(y), len(classes)))
        best = (scores > 0).astype(int) if len(classes) == 2 else scores.argmax(axis=1)
        np.testing.assert_array_equal(np.array(classes)[best], learnt.predict(samples))
        with np.errstate(divide="ignore"):
            np.testing.assert_array_equal(learnt.predict_log_proba(samples), np.log(proba))
        if len(classes) == 2:
            order = np.argsort(proba[:, 1], kind="stable")
            assert (np.diff(scores[order]) >= -1e-12).all()


def test_ties_of_a_box_are_broken_as_predict_breaks_them() -> None:
    for y in ([1, 0], [0, 1]):
        model = SSLART(0.0, shuffle=False).fit([[0.0], [0.0]], y)
        assert model.predict_proba([[0.0]]).tolist() == [[0.5, 0.5]]
        assert (model.decision_function([[0.0]]) > 0).tolist() == (model.predict([[0.0]]) == 1).tolist()


def test_a_model_of_one_class_per_box_has_no_use_for_costs() -> None:
    assert "decision_costs" not in FuzzyARTMAP().get_params()
    assert {"decision_costs"} <= AutoSSLART().get_params().keys()
