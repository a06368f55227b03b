"""Explanations where all boxes speak: terms add up to the answer, and text, dict and HTML say the same."""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import sslart
from conftest import lattices, name_of
from sslart import SSLART, WESSLART, AutoSSLART
from sslart.explain import Evidence, Explanation, explain
from sslart.plotting import ReasonDisplay, VotesDisplay

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
    amounts = [term.amount for term in evidence.terms]
    scale = max(abs(evidence.margin), 1e-3 * sum(map(abs, amounts)))
    assert sum(amounts) == pytest.approx(evidence.margin, abs=1e-4 * scale)
    assert [abs(amount) for amount in amounts] == sorted(map(abs, amounts), reverse=True)
    return evidence


def check_answers(model: Any, X: Any, explanations: list[Explanation]) -> None:
    assert [why.answer for why in explanations] == model.predict(X).tolist()
    for why, shares in zip(explanations, model.predict_proba(X), strict=True):
        assert why.abstained == (why.answer not in model.classes_.tolist())
        if why.abstained:
            assert why.confidence is None
        else:
            assert why.confidence == pytest.approx(shares[model.classes_.tolist().index(why.answer)])


def check_flips(model: Any, explanations: list[Explanation]) -> None:
    found = [why for why in explanations if why.counterfactual]
    if found:
        changed = np.array([why.counterfactual.sample for why in found], dtype=float)  # type: ignore[union-attr]
        answers = model.predict(changed).tolist()
        assert answers == [why.counterfactual.answer for why in found]  # type: ignore[union-attr]
        assert all(answer != why.answer for answer, why in zip(answers, found, strict=True))


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_an_explanation_agrees_with_its_model(model: Any, hard: Any) -> None:
    model = clone(model).fit(*hard)
    explanations = explain(model, hard[0])
    check_answers(model, hard[0], explanations)
    check_flips(model, explanations)
    if model.abstain_below is None:  # else there may be no sure answer near by
        assert np.mean([why.counterfactual is not None for why in explanations]) > 0.8
    for why in explanations:
        evidence = check_sum(why.evidence)
        assert evidence.winner == (evidence.winner if why.abstained else why.answer)
        assert evidence.runner_up in set(model.classes_.tolist()) - {evidence.winner}


@pytest.mark.parametrize("model", MODELS[:5], ids=name_of)
def test_the_margin_is_that_of_the_scores(model: Any, hard: Any) -> None:
    X, y = hard
    model = clone(model).fit(X, y)
    scores = model._heard().readout.scores(model._network._encode(model._read(X))[0])
    seen = list(model._class_table.seen)
    for why, row in zip(explain(model, X), scores, strict=True):
        best, second = np.argsort(-row)[:2]
        evidence = check_sum(why.evidence)
        assert (evidence.winner, evidence.runner_up) == (seen[best], seen[second])
        assert evidence.margin == pytest.approx(row[best] - row[second])


def test_a_box_says_what_the_readout_has_it_say(hard: Any) -> None:
    X, y = hard
    model = AutoSSLART(random_state=0).fit(X, y)
    landmarks, seen = model._landmarks().tolist(), list(model._class_table.seen)
    said = model._heard().readout.by_box(
        model._network._encode(model._read(X))[0], len(landmarks), np.zeros(1, np.uint8)
    )
    for row, why in enumerate(explain(model, X)):
        evidence = check_sum(why.evidence)
        assert evidence.runner_up is not None
        every = said[row, seen.index(evidence.winner)] - said[row, seen.index(evidence.runner_up)]
        terms = [term for term in evidence.terms if term.box is not None]
        for term in terms:
            assert term.box is not None
            assert term.amount == pytest.approx(every[landmarks.index(term.box.node)])
            assert [c.value for c in term.box.conditions] == X[row].tolist()
            np.testing.assert_allclose([c.lower for c in term.box.conditions], model.lower_[term.box.node])
        assert max(term.amount for term in terms) == pytest.approx(every.max())
        assert why.box.node == landmarks[int(every.argmax())]
        assert why.rival is not None
        assert why.rival.node == landmarks[int(every.argmin())]
        assert evidence.amount_of(why.box) == pytest.approx(every.max())
        (others,) = [term.amount for term in evidence.terms if term.kind == "other boxes"] or [0.0]
        assert others == pytest.approx(every.sum() - sum(term.amount for term in terms))


def test_a_box_is_matched_as_the_ranking_matches_it(hard: Any) -> None:
    X = hard[0].copy()
    X[::3, 1] = np.nan
    model = AutoSSLART(random_state=0).fit(X, hard[1])
    nodes, matches = model._network.rank(model._read(X), model.choice, depth=model.n_nodes_)
    for row, why in enumerate(explain(model, X)):
        place = nodes[row].tolist().index(why.box.node)
        assert why.box.match == pytest.approx(matches[row, place])
        assert (why.box.support, why.box.label) == (
            model.support_[why.box.node],
            None if model.node_labels_[why.box.node] == -1 else model.node_labels_[why.box.node],
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
    check_answers(model, samples, explanations)
    check_flips(model, explanations)
    for why in explanations:
        check_sum(why.evidence)
        json.dumps(why.to_dict(), allow_nan=False)
        assert str(why)


def test_one_class_has_no_runner_up() -> None:
    (why,) = explain(AutoSSLART(random_state=0).fit([[0.0], [1.0]], ["only", "only"]), [[0.5]])
    evidence = check_sum(why.evidence)
    assert (evidence.winner, evidence.runner_up, why.counterfactual) == ("only", None, None)
    assert "against" not in str(why)


def test_nobody_was_asked_in_turn(hard: Any) -> None:
    for why in explain(AutoSSLART(0.95, random_state=0).fit(*hard), hard[0]):
        assert why.asked == ()
        assert "Asked before" not in str(why)
        assert "Answer" in str(why)
        assert "from what all boxes say together" in str(why)


def test_other_mappings_have_no_evidence(hard: Any) -> None:
    for why in explain(SSLART(random_state=0).fit(*hard), hard[0][:5]):
        assert why.evidence is None
        assert why.to_dict()["evidence"] is None
        assert "Evidence" not in str(why) + why._repr_html_()


def test_a_column_of_categories_is_one_term() -> None:
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"size": random.normal(size=60), "colour": random.choice(["red", "blue", "green"], 60)})
    y = np.where(frame["colour"] == "red", "warm", "cold")
    model = SSLART(0.7, mapping="evidence", families=["linear", "box"], random_state=0).fit(frame, y)
    spoke = 0
    for why, colour in zip(explain(model, frame), frame["colour"], strict=True):
        evidence = check_sum(why.evidence)
        terms = {term.feature: term for term in evidence.terms if term.kind == "feature"}
        assert set(terms) <= {"size", "colour"}
        if "colour" in terms:
            spoke += 1
            assert terms["colour"].value == colour
            assert f"colour by itself: it has {colour}" in str(why)
    assert spoke == 60
    found = [why.counterfactual for why in explain(model, frame) if why.counterfactual]
    assert found
    changed = pd.DataFrame([one.sample for one in found], columns=frame.columns)
    assert model.predict(changed).tolist() == [one.answer for one in found]


def test_a_missing_value_says_nothing(hard: Any) -> None:
    X = hard[0].copy()
    X[::3, 2] = np.nan
    model = SSLART(0.8, mapping="evidence", families=["linear"], random_state=0).fit(X, hard[1])
    named = []
    for why in explain(model, X):
        evidence = check_sum(why.evidence)
        named.append("x2" in [term.feature for term in evidence.terms])
        json.dumps(why.to_dict(), allow_nan=False)
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
    for row, why in enumerate(explain(model, X)):
        assert why.votes is not None
        assert why.scores is not None
        assert [-1 if vote.vote is None else vote.vote for vote in why.votes] == answers[:, row].tolist()
        voters = answers[:, row] >= 0
        assert list(why.scores.values()) == pytest.approx(shares[voters, row].sum(axis=0).tolist())
        for vote in why.votes:
            assert vote.node is None
            assert vote.weight == pytest.approx(0 if vote.vote is None else shares[vote.member, row, vote.vote])
        evidence = check_sum(why.evidence)
        assert evidence.member == why.box.member
        assert f"Evidence of member {evidence.member} for" in str(why)
        if not why.abstained:
            given = np.where(voters, shares[:, row, why.answer], -1)
            assert given[evidence.member] == given.max()  # type: ignore[index]
            assert sorted(why.scores, key=why.scores.__getitem__)[-2:] == [evidence.runner_up, evidence.winner]
            if depth is None:
                proba = model.predict_proba(X[row : row + 1])[0]
                assert np.array(list(why.scores.values())) / sum(why.scores.values()) == pytest.approx(proba)
        differing += len({vote.vote for vote in why.votes}) > 1
    assert differing


@pytest.mark.parametrize("mapping", ["one-to-many", "evidence"])
@pytest.mark.parametrize("n_members", [None, 3])
def test_a_model_that_is_not_sure_says_so(mapping: str, n_members: int | None, hard: Any) -> None:
    X, y = hard
    kind: Any = SSLART(0.75) if n_members is None else WESSLART(n_members, vigilance=0.75)
    model = kind.set_params(mapping=mapping, abstain_below=0.8, random_state=0).fit(X, y)
    explanations = explain(model, X)
    check_answers(model, X, explanations)
    check_flips(model, explanations)
    silent = [
        (why, shares.max()) for why, shares in zip(explanations, model.predict_proba(X), strict=True) if why.abstained
    ]
    assert 0 < len(silent) < len(X)
    for why, highest in silent:
        assert why.unsure == pytest.approx((highest, 0.8))
        said = re.match(r"No answer: the highest probability, ([0-9.]+), is below 0.8\.", str(why))
        assert said
        assert float(said[1]) == pytest.approx(highest, abs=0.006)
        assert float(said[1]) < 0.8
        assert "does not have a label" not in str(why)
        assert why.to_dict()["unsure"] == list(why.unsure or ())
        if why.advice is not None:
            member = model if why.advice.member is None else model.estimators_[why.advice.member]
            assert member.node_labels_[why.advice.node] == -1
            assert member.support_[why.advice.node] == why.advice.support
            assert f"A label for node {why.advice.node}" in str(why)
    assert any(why.advice is not None for why, _ in silent)
    assert all(why.unsure is None for why in explanations if not why.abstained)


def test_a_probability_just_below_the_limit_is_told_apart_from_it() -> None:
    from sslart.explain._format_evidence import doubt

    assert doubt(0.55, 0.6) == "the highest probability, 0.55, is below 0.6"
    assert doubt(0.5999, 0.6) == "the highest probability, 0.5999, is below 0.6"


def test_search_depth_still_says_who_has_no_label(hard: Any) -> None:
    model = AutoSSLART(0.97, search_depth=2, random_state=0).fit(*hard)
    silent = [why for why in explain(model, hard[0]) if why.abstained]
    assert silent
    for why in silent:
        assert [asked.label for asked in why.asked] == [None, None]
        assert str(why).startswith("No answer: none of the 2 best boxes has a label.")
        assert why.advice is not None
        assert why.advice.node in [asked.node for asked in why.asked]


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_text_dict_and_html_agree(model: Any, hard: Any) -> None:
    for why in explain(clone(model).fit(*hard), hard[0][:40]):
        text, plain, html = str(why), why.to_dict(), why._repr_html_()
        assert json.loads(json.dumps(plain)) == plain
        evidence = plain["evidence"]
        head = f"for {evidence['winner']} against {evidence['runner_up']}, {evidence['margin']:+.3f} in all"
        assert head in text
        assert head in html
        lines = re.findall(r"^  ([+-][0-9.]+) (.*)$", text, re.MULTILINE)
        assert sum(float(said) for said, _ in lines) == pytest.approx(evidence["margin"], abs=0.0006 * len(lines))
        boxes = [term for term in evidence["terms"] if term["box"]]
        shown = [float(said) for said, who in lines if who.startswith("box ")]
        assert shown == pytest.approx([term["amount"] for term in boxes[:5]], abs=0.00051)
        assert len([who for _, who in lines if "by itself:" in who]) <= 5
        for said, who in lines:
            assert f"<td>{said}</td><td>{who.split(':')[0]}" in html
        total = sum(term["amount"] for term in evidence["terms"])
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
    said = [why.to_dict() for why in same]
    model.partial_fit(X + 0.7, np.roll(y, 1))
    assert [why.to_dict() for why in kept] == said
    assert pickle.loads(pickle.dumps(kept[0])).to_dict() == said[0]


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


@pytest.mark.parametrize("model", [MODELS[2], MODELS[5], SSLART(0.75, abstain_below=0.8, random_state=0)], ids=name_of)
def test_the_report_tells_who_spoke(model: Any, hard: Any, tmp_path: Path) -> None:
    X, y = hard
    model = clone(model).fit(X, y)
    page = sslart.report(model, X, y, tmp_path / "report.html", max_samples=150).read_text(encoding="utf-8")
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page))
    speaks = model.mapping == "evidence"
    assert ("Spoke loudest for it" in text) == speaks
    assert ("Decided by" in text) == (not speaks)
    assert ("No single rule decides" in text) == speaks
    assert ("evidence 0 +" in text or "evidence 1 +" in text) == speaks
    if speaks:
        evidence = explain(model, X)[0].evidence
        assert evidence is not None
        assert f"for {evidence.winner} against {evidence.runner_up}, {evidence.margin:+.3f} in all" in text
    if model.abstain_below is not None:
        assert f"is below {model.abstain_below}" in text
        assert f"no class has a probability of {model.abstain_below}" in text


def test_pictures_say_that_all_speak(hard: Any) -> None:
    X, y = hard
    model = WESSLART(3, mapping="evidence", random_state=0).fit(X, y)
    display = ReasonDisplay.from_estimator(model, X[0])
    assert "All boxes speak" in " ".join(
        text.get_text() for text in display.figure_.findobj(lambda a: hasattr(a, "get_text"))
    )
    votes = VotesDisplay.from_estimator(model, X[0])
    assert "probability times their weight" in votes.ax_.get_xlabel()
