"""Explanations with evidence mapping: contributions add up to the score, and text, dict and HTML agree."""

from __future__ import annotations

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

from conftest import lattices, name_of
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.model_view import MemberView, view_of
from sslart.explain import Evidence, Explanation, explain

MODELS = [
    AutoSSLART(random_state=0),
    AutoSSLART(0.95, search_depth=1, random_state=0),
    AutoSSLART(0.95, abstain_below=0.9, random_state=0),
    SSLART(0.8, mapping="evidence", families=["box"], random_state=0),
    SSLART(0.8, mapping="evidence", families=["feature", "propagated"], random_state=0),
    WESSLART(3, mapping="evidence", vigilance=0.85, random_state=0),
    WESSLART(3, mapping="evidence", voting="majority", search_depth=1, abstain_below=0.6, random_state=0),
]


@pytest.fixture
def hard() -> tuple[np.ndarray, np.ndarray]:
    """Three clusters that overlap, with one label in four."""
    random = np.random.RandomState(0)
    y = random.permutation(np.repeat([0, 1, 2], 50))
    X = random.normal(scale=1.5, size=(150, 3)) + 2 * y[:, None]
    return X, np.where(np.arange(150) % 4 == 0, y, -1)


def check_sum(evidence: Evidence | None) -> Evidence:
    assert evidence is not None
    amounts = [term.amount for term in evidence.contributions]
    scale = max(abs(evidence.margin), 1e-3 * sum(map(abs, amounts)))
    assert sum(amounts) == pytest.approx(
        evidence.margin, abs=max(1e-4 * scale, 1e-12)
    )  # scores of order one are rounded
    assert [abs(amount) for amount in amounts] == sorted(map(abs, amounts), reverse=True)
    return evidence


def member_and_coded(model: Any, X: Any) -> tuple[MemberView, np.ndarray]:
    """Return the only member of a model, and samples as it encodes them."""
    view = view_of(model)
    (member,) = view.members
    return member, member.encode(view.read(X))


def check_predictions(model: Any, X: Any, explanations: list[Explanation]) -> None:
    assert [explanation.prediction for explanation in explanations] == model.predict(X).tolist()
    for explanation, shares in zip(explanations, model.predict_proba(X), strict=True):
        assert explanation.abstained == (explanation.prediction not in model.classes_.tolist())
        if explanation.abstained:
            assert explanation.confidence is None
        else:
            assert explanation.confidence == pytest.approx(
                shares[model.classes_.tolist().index(explanation.prediction)]
            )


def check_flips(model: Any, explanations: list[Explanation]) -> None:
    found = [explanation for explanation in explanations if explanation.counterfactual]
    if found:
        changed = np.array([explanation.counterfactual.sample for explanation in found], dtype=float)  # type: ignore[union-attr]
        answers = model.predict(changed).tolist()
        assert answers == [explanation.counterfactual.prediction for explanation in found]  # type: ignore[union-attr]
        assert all(answer != explanation.prediction for answer, explanation in zip(answers, found, strict=True))


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_an_explanation_agrees_with_its_model(model: Any, hard: Any) -> None:
    model = clone(model).fit(*hard)
    explanations = explain(model, hard[0])
    check_predictions(model, hard[0], explanations)
    check_flips(model, explanations)
    if model.abstain_below is None:  # else there may be no sure answer near by
        assert np.mean([explanation.counterfactual is not None for explanation in explanations]) > 0.8
    for explanation in explanations:
        evidence = check_sum(explanation.evidence)
        assert evidence.predicted == (evidence.predicted if explanation.abstained else explanation.prediction)
        assert evidence.runner_up in set(model.classes_.tolist()) - {evidence.predicted}


@pytest.mark.parametrize("model", MODELS[:5], ids=name_of)
def test_the_margin_is_that_of_the_scores(model: Any, hard: Any) -> None:
    X, y = hard
    model = clone(model).fit(X, y)
    member, coded = member_and_coded(model, X)
    seen = model.classes_.tolist()
    for explanation, row in zip(explain(model, X), member.scores(coded), strict=True):
        best, second = np.argsort(-row)[:2]
        evidence = check_sum(explanation.evidence)
        assert (evidence.predicted, evidence.runner_up) == (seen[best], seen[second])
        assert evidence.margin == pytest.approx(row[best] - row[second])


def test_the_contribution_of_a_box_is_that_of_the_readout(hard: Any) -> None:
    X, y = hard
    model = AutoSSLART(random_state=0).fit(X, y)
    member, coded = member_and_coded(model, X)
    assert member.readout is not None
    landmarks, seen = member.readout.nodes.tolist(), model.classes_.tolist()
    by_class = np.zeros((len(X), len(seen), len(landmarks)))
    for boxes, activations, weights in member.readout.box_activations(coded):
        by_class[:, :, boxes] += activations[:, None, :] * weights
    for row, explanation in enumerate(explain(model, X)):
        evidence = check_sum(explanation.evidence)
        assert evidence.runner_up is not None
        every = by_class[row, seen.index(evidence.predicted)] - by_class[row, seen.index(evidence.runner_up)]
        terms = [term for term in evidence.contributions if term.box is not None]
        for term in terms:
            assert term.box is not None
            assert term.amount == pytest.approx(every[landmarks.index(term.box.node)])
            assert [c.value for c in term.box.feature_matches] == X[row].tolist()
            np.testing.assert_allclose([c.lower for c in term.box.feature_matches], model.lower_[term.box.node])
        assert max(term.amount for term in terms) == pytest.approx(every.max())
        assert explanation.box.node == landmarks[int(every.argmax())]
        assert explanation.opposing_box is not None
        assert explanation.opposing_box.node == landmarks[int(every.argmin())]
        assert evidence.amount_of(explanation.box) == pytest.approx(every.max())
        (others,) = [term.amount for term in evidence.contributions if term.kind == "other boxes"] or [0.0]
        assert others == pytest.approx(every.sum() - sum(term.amount for term in terms))


def test_a_box_is_matched_as_the_ranking_matches_it(hard: Any) -> None:
    X = hard[0].copy()
    X[::3, 1] = np.nan
    model = AutoSSLART(random_state=0).fit(X, hard[1])
    member, coded = member_and_coded(model, X)
    nodes, matches = member.rank(coded, depth=model.n_nodes_)
    for row, explanation in enumerate(explain(model, X)):
        place = nodes[row].tolist().index(explanation.box.node)
        assert explanation.box.match == pytest.approx(matches[row, place])
        assert (explanation.box.support, explanation.box.label) == (
            model.support_[explanation.box.node],
            None if model.node_labels_[explanation.box.node] == -1 else model.node_labels_[explanation.box.node],
        )


@settings(max_examples=25)
@given(lattices(min_samples=4, max_samples=20, max_features=4), st.integers(0, 5), st.booleans(), st.data())
def test_whatever_the_samples(samples: np.ndarray, seed: int, ensemble: bool, data: Any) -> None:
    random = np.random.RandomState(seed)
    y = np.where(random.rand(len(samples)) < 0.4, -1, random.randint(3, size=len(samples)))
    y[0] = 2
    model: Any = WESSLART(2, mapping="evidence", random_state=0) if ensemble else AutoSSLART(random_state=0)
    model.set_params(
        vigilance=data.draw(st.sampled_from([0.3, 0.9])),
        search_depth=data.draw(st.sampled_from([None, 1])),
        abstain_below=data.draw(st.sampled_from([None, 0.7])),
    )
    model.fit(samples, y)
    explanations = explain(model, samples)
    check_predictions(model, samples, explanations)
    check_flips(model, explanations)
    for explanation in explanations:
        check_sum(explanation.evidence)
        json.dumps(explanation.to_dict(), allow_nan=False)
        assert str(explanation)


def test_one_class_has_no_runner_up() -> None:
    (explanation,) = explain(AutoSSLART(random_state=0).fit([[0.0], [1.0]], ["only", "only"]), [[0.5]])
    evidence = check_sum(explanation.evidence)
    assert (evidence.predicted, evidence.runner_up, explanation.counterfactual) == ("only", None, None)
    assert "against" not in str(explanation)


def test_there_is_no_search_path_where_all_boxes_contribute(hard: Any) -> None:
    for explanation in explain(AutoSSLART(0.95, random_state=0).fit(*hard), hard[0]):
        assert explanation.search_path == ()
        assert "Ranked higher" not in str(explanation)
        assert "Prediction" in str(explanation)
        assert "from the evidence of all boxes and features" in str(explanation)


def test_other_mappings_have_no_evidence(hard: Any) -> None:
    for explanation in explain(SSLART(random_state=0).fit(*hard), hard[0][:5]):
        assert explanation.evidence is None
        assert explanation.to_dict()["evidence"] is None
        assert "Evidence" not in str(explanation) + explanation._repr_html_()


def test_a_column_of_categories_is_one_term() -> None:
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"size": random.normal(size=60), "colour": random.choice(["red", "blue", "green"], 60)})
    y = np.where(frame["colour"] == "red", "warm", "cold")
    model = SSLART(0.7, mapping="evidence", families=["linear", "box"], random_state=0).fit(frame, y)
    n_found = 0
    for explanation, colour in zip(explain(model, frame), frame["colour"], strict=True):
        evidence = check_sum(explanation.evidence)
        terms = {term.feature: term for term in evidence.contributions if term.kind == "feature"}
        assert set(terms) <= {"size", "colour"}
        if "colour" in terms:
            n_found += 1
            assert terms["colour"].value == colour
            assert f"colour alone: the sample has {colour}" in str(explanation)
    assert n_found == 60
    found = [explanation.counterfactual for explanation in explain(model, frame) if explanation.counterfactual]
    assert found
    changed = pd.DataFrame([one.sample for one in found], columns=frame.columns)
    assert model.predict(changed).tolist() == [one.prediction for one in found]


def test_a_missing_value_says_nothing(hard: Any) -> None:
    X = hard[0].copy()
    X[::3, 2] = np.nan
    model = SSLART(0.8, mapping="evidence", families=["linear"], random_state=0).fit(X, hard[1])
    named = []
    for explanation in explain(model, X):
        evidence = check_sum(explanation.evidence)
        named.append("x2" in [term.feature for term in evidence.contributions])
        json.dumps(explanation.to_dict(), allow_nan=False)
    assert not any(named[::3])
    assert all(named[1::3] + named[2::3])


@pytest.mark.parametrize("voting", ["weighted", "majority"])
@pytest.mark.parametrize("depth", [None, 1])
def test_the_members_add_up_to_the_decision(voting: str, depth: int | None, hard: Any) -> None:
    X, y = hard
    model = WESSLART(4, mapping="evidence", voting=voting, vigilance=0.95, search_depth=depth, random_state=0).fit(X, y)
    weights = np.maximum(model.class_weights_, 1e-3) if voting == "weighted" else np.ones((4, 3))
    shares = np.array([member.predict_proba(X) for member in model.estimators_]) * weights[:, None]
    answers = np.array([member.predict(X) for member in model.estimators_])
    differing = 0
    for row, explanation in enumerate(explain(model, X)):
        assert explanation.votes is not None
        assert explanation.scores is not None
        assert [-1 if vote.vote is None else vote.vote for vote in explanation.votes] == answers[:, row].tolist()
        voters = answers[:, row] >= 0
        assert list(explanation.scores.values()) == pytest.approx(shares[voters, row].sum(axis=0).tolist())
        for vote in explanation.votes:
            assert vote.node is None
            assert vote.weight == pytest.approx(0 if vote.vote is None else shares[vote.member, row, vote.vote])
        evidence = check_sum(explanation.evidence)
        assert evidence.member == explanation.box.member
        assert f"Evidence of member {evidence.member} for" in str(explanation)
        if not explanation.abstained:
            given = np.where(voters, shares[:, row, explanation.prediction], -1)
            assert given[evidence.member] == given.max()  # type: ignore[index]
            assert sorted(explanation.scores, key=explanation.scores.__getitem__)[-2:] == [
                evidence.runner_up,
                evidence.predicted,
            ]
            if depth is None:
                proba = model.predict_proba(X[row : row + 1])[0]
                assert np.array(list(explanation.scores.values())) / sum(explanation.scores.values()) == pytest.approx(
                    proba
                )
        differing += len({vote.vote for vote in explanation.votes}) > 1
    assert differing


@pytest.mark.parametrize("mapping", ["one-to-many", "evidence"])
@pytest.mark.parametrize("n_members", [None, 3])
def test_a_model_that_is_not_sure_says_so(mapping: str, n_members: int | None, hard: Any) -> None:
    X, y = hard
    kind: Any = SSLART(0.75) if n_members is None else WESSLART(n_members, vigilance=0.75)
    model = kind.set_params(mapping=mapping, abstain_below=0.8, random_state=0).fit(X, y)
    explanations = explain(model, X)
    check_predictions(model, X, explanations)
    check_flips(model, explanations)
    silent = [
        (explanation, shares.max())
        for explanation, shares in zip(explanations, model.predict_proba(X), strict=True)
        if explanation.abstained
    ]
    assert 0 < len(silent) < len(X)
    for explanation, highest in silent:
        assert explanation.low_confidence == pytest.approx((highest, 0.8))
        stated = re.match(r"No prediction: the highest probability, ([0-9.]+), is below 0.8\.", str(explanation))
        assert stated
        assert float(stated[1]) == pytest.approx(highest, abs=0.006)
        assert float(stated[1]) < 0.8
        assert "does not have a label" not in str(explanation)
        assert explanation.to_dict()["low_confidence"] == list(explanation.low_confidence or ())
        if explanation.advice is not None:
            member = model if explanation.advice.member is None else model.estimators_[explanation.advice.member]
            assert member.node_labels_[explanation.advice.node] == -1
            assert member.support_[explanation.advice.node] == explanation.advice.support
            assert f"A label for box {explanation.advice.node}" in str(explanation)
    assert any(explanation.advice is not None for explanation, _ in silent)
    assert all(explanation.low_confidence is None for explanation in explanations if not explanation.abstained)


def test_a_probability_just_below_the_limit_is_told_apart_from_it() -> None:
    from sslart.explain._text.explanation import low_probability_text

    assert low_probability_text(0.55, 0.6) == "the highest probability, 0.55, is below 0.6"
    assert low_probability_text(0.5999, 0.6) == "the highest probability, 0.5999, is below 0.6"


def test_search_depth_still_says_who_has_no_label(hard: Any) -> None:
    model = AutoSSLART(0.97, search_depth=2, random_state=0).fit(*hard)
    silent = [explanation for explanation in explain(model, hard[0]) if explanation.abstained]
    assert silent
    for explanation in silent:
        assert [asked.label for asked in explanation.search_path] == [None, None]
        assert str(explanation).startswith("No prediction: none of the 2 best boxes has a label.")
        assert explanation.advice is not None
        assert explanation.advice.node in [asked.node for asked in explanation.search_path]


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_text_dict_and_html_agree(model: Any, hard: Any) -> None:
    for explanation in explain(clone(model).fit(*hard), hard[0][:40]):
        text, plain, html = str(explanation), explanation.to_dict(), explanation._repr_html_()
        assert json.loads(json.dumps(plain)) == plain
        evidence = plain["evidence"]
        head = f"for {evidence['predicted']} against {evidence['runner_up']}, {evidence['margin']:+.3f} in total"
        assert head in text
        assert head in html
        lines = re.findall(r"^  ([+-][0-9.]+) (.*)$", text, re.MULTILINE)
        assert sum(float(amount) for amount, _ in lines) == pytest.approx(evidence["margin"], abs=0.0006 * len(lines))
        boxes = [term for term in evidence["contributions"] if term["box"]]
        shown = [float(amount) for amount, source in lines if source.startswith("box ")]
        assert shown == pytest.approx([term["amount"] for term in boxes[:5]], abs=0.00051)
        assert len([source for _, source in lines if "alone:" in source]) <= 5
        for amount, source in lines:
            assert f"<td>{amount}</td><td>{source.split(':')[0]}" in html
        total = sum(term["amount"] for term in evidence["contributions"])
        assert total == pytest.approx(evidence["margin"], abs=1e-4)


def test_html_is_escaped() -> None:
    frame = pd.DataFrame({"<b>": [0.0, 1.0, 9.0, 8.0], "k": ["<i>", "<i>", "&", "&"]})
    model = SSLART(0.7, mapping="evidence", families=["linear", "box"], random_state=0)
    model.fit(frame, ["<script>", "<script>", "no", "no"])
    html = explain(model, frame)[0]._repr_html_()
    assert not re.search(r"<(b|i|script)>", html)
    assert "&lt;script&gt;" in html


def test_an_explanation_outlives_what_the_model_learns(hard: Any) -> None:
    X, y = hard
    model = AutoSSLART(random_state=0).fit(X, y)
    same, kept = explain(model, X[:30]), explain(model, X[:30])
    before = [explanation.to_dict() for explanation in same]
    model.partial_fit(X + 0.7, np.roll(y, 1))
    assert [explanation.to_dict() for explanation in kept] == before
    assert pickle.loads(pickle.dumps(kept[0])).to_dict() == before[0]


def test_pieces_of_rows_are_explained_as_the_rows_are(hard: Any) -> None:
    X, y = hard
    model = AutoSSLART(random_state=0).fit(X, y)
    many = np.vstack([X, X + 0.01, X - 0.01])  # more than one piece
    together = explain(model, many)
    for row in (0, 255, 256, 449):
        (alone,) = explain(model, many[row : row + 1])
        assert alone.evidence is not None
        assert together[row].evidence.margin == pytest.approx(alone.evidence.margin)  # type: ignore[union-attr]
        assert together[row].box.node == alone.box.node
