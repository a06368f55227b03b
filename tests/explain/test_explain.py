"""Explanations: they agree with the model, add up, and their counterfactuals hold."""

from __future__ import annotations

import itertools
import json
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import sslart
from conftest import CLASSIFIERS, lattices, name_of
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart._mapping.model_view import PredictionBatch, view_of
from sslart.explain import Box, Explanation, _text, explain
from sslart.explain._explanation import Novelty

MODELS = [
    FuzzyARTMAP(0.5),
    SSLART(0.8, random_state=0),
    SSLART(0.9, search_depth=2, random_state=0),
    SSLART(0.8, mapping="one-to-one", learning_rate=0.5, random_state=0),
    WESSLART(3, vigilance=0.85, random_state=0),
    WESSLART(4, voting="majority", vigilance=0.9, search_depth=1, random_state=0),
]


def fitted(model: Any, X: Any, y: Any) -> Any:
    """A model that learnt one label in four, or all of them if it must."""
    few = y if isinstance(model, FuzzyARTMAP) else np.where(np.arange(len(y)) % 4 == 0, y, -1)
    return clone(model).fit(X, few)


def rows(explanations: list[Explanation]) -> np.ndarray:
    return np.array([e.counterfactual.sample for e in explanations if e.counterfactual], dtype=float)


def check_counterfactuals(model: Any, explanations: list[Explanation]) -> None:
    found = [e for e in explanations if e.counterfactual]
    if found:
        answers = model.predict(rows(explanations)).tolist()
        assert answers == [e.counterfactual.prediction for e in found]
        assert all(
            answer != e.prediction and answer in model.classes_ for answer, e in zip(answers, found, strict=True)
        )
        assert all(e.counterfactual.changes for e in found)


def check_shares(box: Box) -> None:
    total = sum(condition.share for condition in box.feature_matches)
    assert total == pytest.approx(1.0 if box.distance > 0 else 0.0)
    assert all((condition.share > 0) <= (condition.inside is False) for condition in box.feature_matches)


def check_predictions(model: Any, X: Any, explanations: list[Explanation]) -> None:
    assert [e.prediction for e in explanations] == model.predict(X).tolist()
    shares = model.predict_proba(X)
    for explanation, row in zip(explanations, shares, strict=True):
        assert explanation.abstained == (explanation.prediction not in model.classes_)
        if explanation.abstained:
            assert explanation.confidence is None
        else:
            assert explanation.confidence == row[model.classes_.tolist().index(explanation.prediction)]


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_an_explanation_agrees_with_its_model(model: Any, blobs: Any) -> None:
    X, y = blobs
    model = fitted(model, X, y)
    explanations = explain(model, X)
    check_predictions(model, X, explanations)
    check_counterfactuals(model, explanations)
    assert sum(e.counterfactual is not None for e in explanations) > 0.8 * len(X)
    for explanation in explanations:
        check_shares(explanation.box)
        assert explanation.opposing_box is not None
        check_shares(explanation.opposing_box)
        assert explanation.opposing_box.label not in (explanation.prediction, None)


@settings(max_examples=40)
@given(lattices(min_samples=4, max_features=5), st.sampled_from(CLASSIFIERS), st.integers(0, 5), st.data())
def test_whatever_the_samples(samples: np.ndarray, model: Any, seed: int, data: Any) -> None:
    random = np.random.RandomState(seed)
    y = random.randint(3, size=len(samples))
    if not isinstance(model, FuzzyARTMAP):
        y[random.rand(len(y)) < 0.4] = -1
        y[0] = 2
    model = clone(model).set_params(vigilance=data.draw(st.sampled_from([0.3, 0.8, 1.0])))
    if not isinstance(model, FuzzyARTMAP):
        model.set_params(search_depth=data.draw(st.sampled_from([None, 1, 3])))
    X = samples[: len(samples) // 2 + 1]
    model.fit(X, y[: len(X)])
    if np.isnan(X).all(axis=0).any():  # a feature that no sample has: others may have nothing else
        samples = X
    explanations = explain(model, samples)
    check_predictions(model, samples, explanations)
    check_counterfactuals(model, explanations)
    for explanation in explanations:
        for box in (explanation.box, explanation.opposing_box):
            if box is not None:
                check_shares(box)
        json.dumps(explanation.to_dict(), allow_nan=False)
        assert str(explanation)


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_one_sample_is_explained_as_it_is_among_many(model: Any, blobs: Any) -> None:
    X, y = blobs
    model = fitted(model, X, y)
    together = explain(model, X[:10])
    for explanation, x in zip(together, X[:10], strict=True):
        assert explain(model, x[None])[0].to_dict() == explanation.to_dict()


@pytest.mark.parametrize("depth", [None, 1, 3, 1000])
def test_the_search_path_is_the_start_of_the_ranking(depth: int | None, few_labels: Any) -> None:
    X, y = few_labels
    model = SSLART(0.95, search_depth=depth, random_state=0).fit(X, y)
    view = view_of(model)
    (member,) = view.members
    nodes, matches = member.rank(member.encode(view.read(X)), depth=model.n_nodes_)
    labels = model.node_labels_
    for row, explanation in enumerate(explain(model, X)):
        path = explanation.search_path
        assert [node.node for node in path] == nodes[row, : len(path)].tolist()
        assert [node.match for node in path] == matches[row, : len(path)].tolist()
        choices = [node.choice for node in path]
        assert all(a >= b - 1e-12 for a, b in itertools.pairwise(choices))
        assert all(node.label is None and node.skipped_because == "no label" for node in path[:-1])
        assert [-1 if node.label is None else node.label for node in path] == labels[[n.node for n in path]].tolist()
        if explanation.abstained:
            assert len(path) == depth
        else:
            assert (path[-1].label, path[-1].skipped_because) == (explanation.prediction, None)
            assert explanation.box.node == path[-1].node == model.apply(X[row : row + 1])[0]


def test_the_opposing_box_is_the_best_node_of_another_class(few_labels: Any) -> None:
    X, y = few_labels
    model = SSLART(0.9, random_state=0).fit(X, y)
    view = view_of(model)
    (member,) = view.members
    ranked = member.rank(member.encode(view.read(X)), depth=model.n_nodes_)[0]
    labels = model.node_labels_
    for explanation, nodes in zip(explain(model, X), ranked, strict=True):
        others = [node for node in nodes if labels[node] not in (-1, explanation.prediction)]
        assert explanation.opposing_box is not None
        assert explanation.opposing_box.node == others[0]


def test_conditions_are_the_box_in_the_users_units() -> None:
    model = FuzzyARTMAP().fit([[10.0, 1000.0], [30.0, 2000.0], [90.0, 9000.0], [110.0, 9000.0]], [0, 0, 1, 1])
    (explanation,) = explain(model, [[40.0, 1500.0]])
    far, near = explanation.box.feature_matches
    assert (far.feature, far.value, far.inside, far.share) == ("x0", 40.0, False, 1.0)
    assert (far.lower, far.upper, far.outside_by) == pytest.approx((10.0, 30.0, 10.0))
    assert far.width == pytest.approx(0.2)
    assert (near.inside, near.outside_by, near.share) == (True, 0.0, 0.0)
    assert [c.feature for c in explanation.box.outside] == ["x0"]
    np.testing.assert_allclose([c.lower for c in explanation.box.feature_matches], model.lower_[explanation.box.node])
    assert explanation.opposing_box is not None
    assert [c.outside_by for c in explanation.opposing_box.feature_matches] == pytest.approx([50.0, 7500.0])
    assert (explanation.box.support, explanation.box.label, explanation.opposing_box.label) == (2, 0, 1)


def test_the_smallest_change_is_one_feature_where_one_is_enough() -> None:
    X = np.array([[0.0, 5.0, 1.0], [1.0, 5.0, 2.0], [9.0, 5.0, 1.0], [10.0, 5.0, 2.0]])
    model = FuzzyARTMAP().fit(X, [0, 0, 1, 1])
    (explanation,) = explain(model, [[1.0, 5.0, 1.5]])
    assert explanation.counterfactual is not None
    (change,) = explanation.counterfactual.changes
    assert change == ("x0", 1.0, 6.0)  # the boxes are alike, so the border is half-way between 1 and 9
    finer = FuzzyARTMAP().fit(X + np.array([[0.1], [0], [0], [0.01]]) * [1, 0, 0], [0, 0, 1, 1])
    (explanation,) = explain(finer, [[1.0, 5.0, 1.5]])
    assert explanation.counterfactual is not None
    (change,) = explanation.counterfactual.changes
    assert change.feature == "x0"
    assert 4.9 < change.after < 5.2
    assert change.after == round(change.after, 2)


@pytest.mark.parametrize("model", [FuzzyARTMAP(0.5), SSLART(0.9, random_state=0), WESSLART(3, random_state=0)])
def test_a_counterfactual_is_as_fine_as_the_data(model: Any) -> None:
    random = np.random.RandomState(0)
    X = np.column_stack(
        [
            random.randint(29, 78, 200),
            random.randint(0, 2, 200),
            random.normal(size=200).round(1),
            random.normal(size=200),
            random.normal(scale=1e5, size=200),
        ]
    ).astype(float)
    model = clone(model).fit(X, (X[:, 0] > 50) ^ (X[:, 2] > 0) ^ (X[:, 3] > 0))
    explanations = explain(model, X)
    check_counterfactuals(model, explanations)
    changes = [change for e in explanations if e.counterfactual for change in e.counterfactual.changes]
    decimals = {"x0": 0, "x1": 0, "x2": 1, "x3": 2, "x4": -3}
    assert {change.feature for change in changes} >= {"x0", "x2", "x3", "x4"}
    rounds = [change.after == round(change.after, decimals[change.feature]) for change in changes]
    of_data = [kept for change, kept in zip(changes, rounds, strict=True) if change.feature in ("x0", "x1", "x2")]
    assert all(of_data)
    assert np.mean(rounds) > 0.6  # the sides of a narrow box may want more decimals


@pytest.mark.parametrize("model", [SSLART(0.9, random_state=0), AutoSSLART(random_state=0)], ids=name_of)
def test_counterfactuals_of_many_samples_are_searched_in_batches(model: Any, blobs: Any, monkeypatch: Any) -> None:
    X, y = blobs
    model = fitted(model, X, y)
    sizes: list[int] = []

    class CountedBatch(PredictionBatch):
        def __init__(self, view: Any, table: Any) -> None:
            sizes.append(len(table))
            super().__init__(view, table)

    monkeypatch.setattr("sslart.explain._search.PredictionBatch", CountedBatch)
    assert explain(model, X[:10])[0].counterfactual is not None
    n_batches_of_few = len(sizes)
    assert explain(model, X)[0].counterfactual is not None
    assert len(sizes) - n_batches_of_few < 2 * n_batches_of_few
    assert sum(sizes[n_batches_of_few:]) < 250 * len(X)


def test_one_feature_and_copies_of_a_sample_with_two_labels() -> None:
    X = np.array([[0.0], [0.0], [0.5], [0.5]])
    for labels in itertools.product([0, 1], repeat=4):
        model = FuzzyARTMAP(0.5).fit(X, labels)
        explanations = explain(model, X)
        check_predictions(model, X, explanations)
        check_counterfactuals(model, explanations)


def test_no_counterfactual_where_there_is_no_other_class() -> None:
    model = FuzzyARTMAP().fit([[0.0], [1.0]], ["only", "only"])
    (explanation,) = explain(model, [[0.5]])
    assert (explanation.opposing_box, explanation.counterfactual) == (None, None)
    assert "another" not in str(explanation)


def test_an_ensemble_without_its_quorum_is_explained(few_labels: Any) -> None:
    X, y = few_labels
    model = WESSLART(5, quorum=4, vigilance=0.95, search_depth=1, random_state=0).fit(X, y)
    n_votes = (model.apply(X) >= 0).sum(axis=1).tolist()
    assert 0 in n_votes
    for explanation, n in zip(explain(model, X), n_votes, strict=True):
        assert explanation.abstained == (n < 4)
        text = str(explanation)
        assert ("only" in text) == (0 < n < 4)
        if explanation.abstained:
            assert (f"only {n} of 5 members vote, and the quorum is 4." in text) == (n > 0)
            assert explanation.advice is not None
            assert explanation.search_path[0].label is None  # of a member that has no vote
            assert explanation.box.node == explanation.search_path[0].node


def test_abstention_explains_itself() -> None:
    X = np.array([[0.0, 0.0], [0.1, 0.1], [5.0, 5.0], [5.0, 5.1], [5.1, 5.0], [10.0, 10.0]])
    y = np.array(["a", None, None, None, None, "b"], dtype=object)
    model = SSLART(0.9, search_depth=1, shuffle=False).fit(X, y)
    (explanation,) = explain(model, [[5.0, 5.0]])
    assert explanation.prediction is None
    assert explanation.abstained
    assert explanation.confidence is None
    assert explanation.advice is not None
    assert explanation.advice.support == 3 == model.support_[explanation.advice.node]
    text = str(explanation)
    assert text.startswith("No prediction: the best box does not have a label.")
    assert f"would label box {explanation.advice.node}, which holds 3 samples." in text
    assert explanation.counterfactual is not None
    assert explanation.counterfactual.prediction in ("a", "b")
    with_label = clone(model).fit(np.vstack([X, [[5.0, 5.0]]]), np.append(y, "a"))
    assert explain(with_label, [[5.0, 5.0]])[0].prediction == "a"


def test_the_ensemble_names_the_member_whose_label_would_help_most(few_labels: Any) -> None:
    X, y = few_labels
    model = WESSLART(4, vigilance=0.93, search_depth=1, random_state=0).fit(X, y)
    silent = [e for e in explain(model, X) if e.abstained]
    assert silent
    for explanation in silent:
        advice = explanation.advice
        assert advice is not None
        assert advice.member is not None
        assert model.estimators_[advice.member].support_[advice.node] == advice.support
        assert explanation.prediction == -1
        assert all(vote.vote is None and vote.weight == 0 for vote in explanation.votes or ())
        assert "of any member" in str(explanation)


@pytest.mark.parametrize(
    ("fit", "vigilance", "threshold", "shown"),
    [
        (0.88, 0.9, 0.5, "is 0.88, less than the vigilance 0.9."),
        (0.8996, 0.9, 0.5, "is 0.8996, less than the vigilance 0.9."),
        (0.8512, 0.9, 0.8547, "is 0.851. Of samples like those learnt, at most 5 in 100 have less than 0.855."),
    ],
)
def test_a_fit_is_shown_to_be_less_than_its_limit(fit: float, vigilance: float, threshold: float, shown: str) -> None:
    line = _text._novelty_line(Novelty(fit, fit, vigilance, 0, (), threshold))
    assert shown in line


def test_novelty_names_the_feature_pushed_out_of_range(blobs: Any) -> None:
    X, y = blobs
    for model in (SSLART(0.8, random_state=0).fit(X, y), WESSLART(3, vigilance=0.8, random_state=0).fit(X, y)):
        familiar = explain(model, X)
        scores = model.score_samples(X)
        assert [e.novelty is None for e in familiar] == (scores >= 0.8).tolist()
        strange = X[:20].copy()
        strange[:, 1] = X[:, 1].max() + 3 * np.ptp(X[:, 1])
        for explanation, score in zip(explain(model, strange), model.score_samples(strange), strict=True):
            assert explanation.novelty is not None
            assert explanation.novelty.features == ("x1",)
            assert explanation.novelty.familiarity == score
            assert explanation.novelty.threshold == model.novelty_threshold_
            assert ("Novel" in str(explanation)) is explanation.novelty.is_novel
            assert ("box of its own" in str(explanation)) is not explanation.novelty.is_novel
            assert explanation.box.feature_matches[1].beyond_range
            assert "because of x1" in str(explanation)
            assert "beyond the learnt range" in str(explanation)


@pytest.mark.parametrize("voting", ["weighted", "majority"])
@pytest.mark.parametrize("depth", [None, 1])
def test_the_votes_add_up_to_the_decision(voting: Any, depth: Any, few_labels: Any) -> None:
    X, y = few_labels
    X = X + np.random.RandomState(1).normal(scale=1.5, size=X.shape)
    model = WESSLART(5, voting=voting, vigilance=0.9, search_depth=depth, random_state=0).fit(X, y)
    answering = model.apply(X)
    differing = 0
    for row, explanation in enumerate(explain(model, X)):
        votes, scores = explanation.votes, explanation.scores
        assert votes is not None
        assert scores is not None
        assert [-1 if vote.node is None else vote.node for vote in votes] == answering[row].tolist()
        assert list(scores) == model.classes_.tolist()
        for label, score in scores.items():
            assert score == pytest.approx(sum(vote.weight for vote in votes if vote.vote == label))
        if not explanation.abstained:
            assert scores[explanation.prediction] == max(scores.values())
            backers = [vote for vote in votes if vote.vote == explanation.prediction]
            shown = votes[explanation.box.member]  # type: ignore[index]
            assert shown in backers
            assert shown.weight == max(vote.weight for vote in backers)
            assert shown.node == explanation.box.node
        differing += len({vote.vote for vote in votes}) > 1
    assert differing


def test_votes_of_weight_zero_count_one_each() -> None:
    X, y = np.array([[0.0], [1.0], [2.0]]), ["a", "b", "b"]
    model = WESSLART(2, random_state=0).fit(X, y, validation_set=([[0.0], [2.0]], ["b", "a"]))
    assert not model.class_weights_.any()
    (explanation,) = explain(model, [[0.0]])
    assert [vote.weight for vote in explanation.votes or ()] == [1.0, 1.0]
    assert explanation.scores == {"a": 2.0, "b": 0.0}


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_explaining_changes_nothing(model: Any, blobs: Any, tmp_path: Any) -> None:
    X, y = blobs
    model = fitted(model, X, y)
    before_X, names = X.copy(), set(vars(model))
    sslart.save(model, tmp_path / "before")
    for explanation in explain(model, X):
        str(explanation), explanation.to_dict()
    sslart.save(model, tmp_path / "after")
    assert (tmp_path / "before").read_bytes() == (tmp_path / "after").read_bytes()
    assert set(vars(model)) == names
    np.testing.assert_array_equal(X, before_X)


def test_an_explanation_outlives_what_the_model_learns_and_the_user_writes(few_labels: Any) -> None:
    X, y = (part.copy() for part in few_labels)
    model = SSLART(0.9, search_depth=2, random_state=0).fit(X, y)
    same, kept = explain(model, X), explain(model, X)
    texts = [str(explanation) for explanation in same]
    model.partial_fit(X + 0.3, np.roll(y, 1))
    X[:] = 0.0
    assert [str(explanation) for explanation in kept] == texts


def test_an_explanation_can_be_pickled(few_labels: Any) -> None:
    X, y = few_labels
    for model in (SSLART(0.9, search_depth=1, random_state=0), WESSLART(2, random_state=0)):
        for explanation in explain(model.fit(X, y), X[:5]):
            assert pickle.loads(pickle.dumps(explanation)).to_dict() == explanation.to_dict()


def test_a_missing_value_is_no_evidence(blobs: Any) -> None:
    X, y = blobs
    X = X.copy()
    X[::7, 2] = np.nan
    model = SSLART(0.8, random_state=0).fit(X, y)
    explanations = explain(model, X)
    check_predictions(model, X, explanations)
    check_counterfactuals(model, explanations)
    for explanation in explanations[::7]:
        gap = explanation.box.feature_matches[2]
        assert (gap.value, gap.inside, gap.share, gap.outside_by) == (None, None, 0.0, 0.0)
        assert "No evidence: x2." in str(explanation)
        if explanation.counterfactual:
            assert explanation.counterfactual.sample[2] is None
        json.dumps(explanation.to_dict(), allow_nan=False)


def test_a_side_that_no_sample_reached_is_no_evidence() -> None:
    model = FuzzyARTMAP().fit([[0.0, np.nan], [10.0, 3.0]], [0, 1])
    (explanation,) = explain(model, [[1.0, 3.0]])
    box = explanation.box if explanation.prediction == 0 else explanation.opposing_box
    assert box is not None
    assert (box.feature_matches[1].lower, box.feature_matches[1].inside, box.feature_matches[1].share) == (
        None,
        None,
        0.0,
    )
    check_shares(box)


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "size": [1.0, 2.0, 1.5, 8.0, 9.0, 8.5],
            "colour": ["red", "blue", "red", "green", "green", "green"],
            "sold": [True, True, True, False, False, False],
        }
    )


def test_categories_are_conditions_by_column(frame: pd.DataFrame) -> None:
    model = FuzzyARTMAP().fit(frame, ["small"] * 3 + ["large"] * 3)
    path = pd.DataFrame({"size": [1.2, 9.0, 1.0], "colour": ["green", "purple", None], "sold": [True, False, True]})
    explanations = explain(model, path)
    check_predictions(model, path, explanations)
    other, unknown, missing = explanations
    size, colour, sold = other.box.feature_matches
    assert [c.feature for c in (size, colour, sold)] == ["size", "colour", "sold"]
    assert (colour.value, colour.categories, colour.inside, colour.lower) == ("green", ("red", "blue"), False, None)
    assert (colour.outside_by, colour.share) == (1.0, 1.0)
    assert (sold.value, sold.categories, sold.inside) == (True, (True,), True)
    assert "colour is red or blue; the sample has green" in str(other)
    assert unknown.box.feature_matches[1].beyond_range
    assert unknown.box.feature_matches[1].inside is False
    assert missing.box.feature_matches[1].inside is None
    flipped = [e.counterfactual for e in explanations if e.counterfactual]
    assert flipped
    changed = pd.DataFrame([f.sample for f in flipped], columns=path.columns)
    assert model.predict(changed).tolist() == [f.prediction for f in flipped]
    for explanation in explanations:
        check_shares(explanation.box)
        json.dumps(explanation.to_dict(), allow_nan=False)


def test_members_that_met_the_categories_in_different_orders(frame: pd.DataFrame) -> None:
    y = ["small"] * 3 + ["large"] * 3
    model = WESSLART(3, random_state=0).partial_fit(frame, y)
    model.partial_fit(frame.assign(colour=["pink", "red", "grey", "pink", "green", "blue"]), y)
    explanations = explain(model, frame)
    check_predictions(model, frame, explanations)
    flipped = [e.counterfactual for e in explanations if e.counterfactual]
    assert flipped
    changed = pd.DataFrame([f.sample for f in flipped], columns=frame.columns)
    assert model.predict(changed).tolist() == [f.prediction for f in flipped]


@pytest.mark.parametrize("classes", [[0, 1, 2], ["a", "b", "c"], [-1, 0, 1], [True, False, True]])
@pytest.mark.parametrize("model", [FuzzyARTMAP(0.5), SSLART(0.8), WESSLART(2, random_state=0)], ids=name_of)
def test_classes_of_every_kind(classes: list[Any], model: Any, blobs: Any) -> None:
    X, codes = blobs
    y = np.array(classes)[codes]
    if -1 in classes and not isinstance(model, FuzzyARTMAP):
        model = clone(model).partial_fit(X, y, classes=classes)
    elif -1 in classes:
        y = np.where(y == 0, 1, y)
        model = clone(model).fit(X, y)
    else:
        model = clone(model).fit(X, y)
    explanations = explain(model, X[:20])
    assert [e.prediction for e in explanations] == model.predict(X[:20]).tolist()
    assert {type(e.prediction) for e in explanations} == {type(classes[0])}
    check_counterfactuals(model, explanations)
    json.dumps([e.to_dict() for e in explanations])


def test_text_dict_and_html_agree(few_labels: Any) -> None:
    X, y = few_labels
    for model in (SSLART(0.9, search_depth=1, random_state=0), WESSLART(3, vigilance=0.9, random_state=0)):
        for explanation in explain(model.fit(X, y), X):
            text, plain, html = str(explanation), explanation.to_dict(), explanation._repr_html_()
            if explanation.abstained:
                assert text.startswith("No prediction")
                assert "No prediction" in html
                assert (plain["prediction"], plain["confidence"]) == (-1, None)
            else:
                head = f"Prediction: {plain['prediction']} (confidence {plain['confidence']:.2f})"
                assert text.startswith(head)
                assert head in html
            assert html.count("<tr>") == 1 + X.shape[1]
            assert json.loads(json.dumps(plain)) == plain


def test_html_is_escaped() -> None:
    frame = pd.DataFrame({"<b>": [0.0, 9.0], "k": ["<i>", "&"]})
    model = FuzzyARTMAP().fit(frame, ["<script>", "no"])
    html = explain(model, frame)[0]._repr_html_()
    assert not re.search(r"<(b|i|script)>", html)
    assert "&lt;script&gt;" in html


def test_features_go_by_their_names(frame: pd.DataFrame) -> None:
    model = FuzzyARTMAP().fit(frame, ["small"] * 3 + ["large"] * 3)
    assert "size 1 to 2; the sample has 1: inside" in str(explain(model, frame)[0])


@pytest.mark.parametrize("model", CLASSIFIERS, ids=name_of)
def test_an_unfitted_model_is_refused(model: Any) -> None:
    with pytest.raises(NotFittedError):
        explain(clone(model), [[0.0]])


def test_a_model_without_a_label_is_refused() -> None:
    with pytest.raises(NotFittedError, match="No labelled sample"):
        explain(SSLART().partial_fit([[0.0], [1.0]]), [[0.0]])


def test_a_model_that_is_no_classifier_is_refused() -> None:
    with pytest.raises(TypeError, match="SSLART, FuzzyARTMAP or WESSLART, got a FuzzyART"):
        explain(FuzzyART().fit([[0.0]]), [[0.0]])  # type: ignore[arg-type]


def test_values_at_the_end_of_double_precision() -> None:
    model = FuzzyARTMAP().fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    for explanation in explain(model, [[1.7e308, -1.7e308], [-1.7e308, 0.0]]):
        json.dumps(explanation.to_dict(), allow_nan=False)
        check_shares(explanation.box)
