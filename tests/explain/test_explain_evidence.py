"""Explanations with evidence mapping: contributions add up to the score, and text, dict and HTML agree."""

from __future__ import annotations

import functools
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


@pytest.fixture(scope="module")
def hard() -> tuple[np.ndarray, np.ndarray]:
    """Three clusters that overlap, with one label in four; tests only read them."""
    return overlapping()


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.RandomState(0)
    y = random.permutation(np.repeat([0, 1, 2], 50))
    X = random.normal(scale=1.5, size=(150, 3)) + 2 * y[:, None]
    return X, np.where(np.arange(150) % 4 == 0, y, -1)


@functools.cache
def learnt(which: int) -> tuple[Any, list[Explanation]]:
    """Return a model that has learnt overlapping clusters, and the explanations of all; tests only read them."""
    X, y = overlapping()
    model = clone(MODELS[which]).fit(X, y)
    return model, explain(model, X)


ALL_MODELS = pytest.mark.parametrize("which", range(len(MODELS)), ids=[name_of(model) for model in MODELS])
SINGLE_MODELS = pytest.mark.parametrize("which", range(5), ids=[name_of(model) for model in MODELS[:5]])


def check_sum(evidence: Evidence | None) -> Evidence:
    assert evidence is not None
    amounts = [one.amount for one in evidence.contributions]
    scale = max(abs(evidence.margin), sum(map(abs, amounts)), 1.0)
    assert evidence.base + sum(amounts) == pytest.approx(evidence.margin, abs=1e-5 * scale)
    assert [abs(amount) for amount in amounts] == sorted(map(abs, amounts), reverse=True)
    assert (*evidence.shown, *evidence.not_shown) == evidence.contributions
    assert evidence.rest == pytest.approx(sum(one.amount for one in evidence.not_shown))
    if evidence.margin > 1e-5 * scale:  # else it is a tie
        assert evidence.base + sum(one.amount for one in evidence.shown) > 0
    for one in evidence.contributions:
        assert one.amount == pytest.approx(sum(one.amounts) if one.features else one.amount)
        assert len(one.features) == len(one.values) == len(one.amounts)
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


@ALL_MODELS
def test_an_explanation_agrees_with_its_model(which: int, hard: Any) -> None:
    model, explanations = learnt(which)
    check_predictions(model, hard[0], explanations)
    check_flips(model, explanations)
    if model.abstain_below is None:  # else there may be no sure answer near by
        assert np.mean([explanation.counterfactual is not None for explanation in explanations]) > 0.8
    for explanation in explanations:
        evidence = check_sum(explanation.evidence)
        assert evidence.predicted == (evidence.predicted if explanation.abstained else explanation.prediction)
        assert evidence.runner_up in set(model.classes_.tolist()) - {evidence.predicted}


@SINGLE_MODELS
def test_the_margin_is_that_of_the_scores(which: int, hard: Any) -> None:
    model, explanations = learnt(which)
    member, coded = member_and_coded(model, hard[0])
    seen = model.classes_.tolist()
    for explanation, row in zip(explanations, member.scores(coded), strict=True):
        best, second = np.argsort(-row)[:2]
        evidence = check_sum(explanation.evidence)
        assert (evidence.predicted, evidence.runner_up) == (seen[best], seen[second])
        assert evidence.margin == pytest.approx(row[best] - row[second])


def test_the_amounts_are_the_contributions_of_the_features(hard: Any) -> None:
    X, _ = hard
    model, explanations = learnt(0)
    parts, seen = model.contributions(X), model.classes_.tolist()
    for row, explanation in enumerate(explanations):
        evidence = check_sum(explanation.evidence)
        first, second = seen.index(evidence.predicted), seen.index(evidence.runner_up)  # type: ignore[arg-type]
        amounts = {
            name: amount
            for one in evidence.contributions
            for name, amount in zip(one.features, one.amounts, strict=True)
        }
        expected = parts.values[row, :, first] - parts.values[row, :, second]
        assert [amounts.get(f"x{column}", 0.0) for column in range(3)] == pytest.approx(expected.tolist())
        assert evidence.base == pytest.approx(parts.base[first] - parts.base[second])
        assert evidence.probability == pytest.approx(model.predict_proba(X[row : row + 1])[0, first])


def test_features_that_go_together_are_one_line() -> None:
    random = np.random.RandomState(0)
    size, shade = random.rand(200), random.rand(200)
    frame = pd.DataFrame({"radius": size, "shade": shade, "area": size**2 + 1e-3 * random.rand(200)})
    frame["inverse"] = 1 - frame["radius"]
    y = np.where(size + 0.3 * shade > 0.6, "large", "small")
    model = AutoSSLART(random_state=0).fit(frame, np.where(np.arange(200) % 5 == 0, y, None))
    for explanation in explain(model, frame[:20]):
        evidence = check_sum(explanation.evidence)
        assert sorted(sorted(one.features) for one in evidence.contributions if one.features) == [
            ["area", "inverse", "radius"],
            ["shade"],
        ]
        assert "which go together" in str(explanation)


def test_the_list_grows_until_it_has_the_sign_of_the_margin() -> None:
    random = np.random.RandomState(1)
    X = random.normal(size=(300, 30))
    y = (X.sum(axis=1) > 0).astype(int)
    model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(300) % 3 == 0, y, -1))
    lengths = [len(check_sum(explanation.evidence).shown) for explanation in explain(model, X)]
    assert max(lengths) > 8
    assert np.mean(lengths) < 12


def test_similar_boxes_are_those_of_highest_choice_with_their_labels(hard: Any) -> None:
    X, _ = hard
    model, explanations = learnt(0)
    member, coded = member_and_coded(model, X)
    nodes, _ = member.rank(coded, depth=3)
    for row, explanation in enumerate(explanations):
        assert [box.node for box in explanation.similar_boxes] == nodes[row].tolist()
        for box in explanation.similar_boxes:
            counts = dict(zip(model.classes_.tolist(), model.counts_[box.node].tolist(), strict=True))
            assert box.label_counts == {label: n for label, n in counts.items() if n}
            is_inside = (X[row] >= model.lower_[box.node] - 1e-6) & (X[row] <= model.upper_[box.node] + 1e-6)
            line = next(line for line in str(explanation).split("\n") if line.startswith(f"  box {box.node}:"))
            assert line.endswith("; inside") == bool(is_inside.all())


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


@settings(max_examples=settings().max_examples // 5)
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
    for explanation in explain(AutoSSLART(0.95, random_state=0).fit(*hard), hard[0][:50]):
        assert explanation.search_path == ()
        assert "Ranked higher" not in str(explanation)
        assert "Prediction" in str(explanation)


def test_other_mappings_have_no_evidence(hard: Any) -> None:
    for explanation in explain(SSLART(random_state=0).fit(*hard), hard[0][:5]):
        assert explanation.evidence is None
        assert explanation.to_dict()["evidence"] is None
        assert explanation.similar_boxes == ()
        assert "average sample" not in str(explanation) + explanation._repr_html_()


def test_a_column_of_categories_is_one_term() -> None:
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"size": random.normal(size=60), "colour": random.choice(["red", "blue", "green"], 60)})
    y = np.where(frame["colour"] == "red", "warm", "cold")
    model = SSLART(0.7, mapping="evidence", families=["linear", "box"], random_state=0).fit(frame, y)
    for explanation, colour in zip(explain(model, frame), frame["colour"], strict=True):
        evidence = check_sum(explanation.evidence)
        values = {one.features: one.values for one in evidence.contributions}
        assert set(values) <= {("size",), ("colour",)}
        assert values[("colour",)] == (colour,)
        assert f"colour is {colour}" in str(explanation)
    found = [explanation.counterfactual for explanation in explain(model, frame) if explanation.counterfactual]
    assert found
    changed = pd.DataFrame([one.sample for one in found], columns=frame.columns)
    assert model.predict(changed).tolist() == [one.prediction for one in found]


def test_a_missing_value_is_named_as_missing(hard: Any) -> None:
    X = hard[0].copy()
    X[::3, 2] = np.nan
    model = SSLART(0.8, mapping="evidence", families=["linear"], random_state=0).fit(X, hard[1])
    for row, explanation in enumerate(explain(model, X)):
        evidence = check_sum(explanation.evidence)
        pairs = (pair for one in evidence.contributions for pair in zip(one.features, one.values, strict=True))
        value = dict(pairs)["x2"]
        assert value is None if row % 3 == 0 else value == X[row, 2]
        json.dumps(explanation.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("voting", "depth"),
    [
        ("weighted", 1),
        pytest.param("majority", None, marks=pytest.mark.slow),
        pytest.param("weighted", None, marks=pytest.mark.slow),
        pytest.param("majority", 1, marks=pytest.mark.slow),
    ],
)
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
        if not explanation.abstained:
            given = np.where(voters, shares[:, row, explanation.prediction], -1)
            assert given[explanation.box.member] == given.max()
            scores = explanation.scores
            assert evidence.margin == pytest.approx(scores[evidence.predicted] - scores[evidence.runner_up])  # type: ignore[index]
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


@pytest.mark.parametrize(
    ("mapping", "n_members"),
    [
        ("one-to-many", None),
        ("one-to-many", 3),
        ("evidence", None),
        pytest.param("evidence", 3, marks=pytest.mark.slow),
    ],
)
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
    from sslart.explain._text import low_probability_text

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


@ALL_MODELS
def test_text_dict_and_html_agree(which: int) -> None:
    for explanation in learnt(which)[1][:40]:
        text, plain, html = str(explanation), explanation.to_dict(), explanation._repr_html_()
        assert json.loads(json.dumps(plain)) == plain
        evidence = plain["evidence"]
        total = f"{evidence['margin']:+.3f}"
        assert f"Sum: {total} for {evidence['predicted']} against {evidence['runner_up']}." in text
        lines = re.findall(r"^  ([+-][0-9.]+(?: ± [0-9.]+)?) +(.*)$", text, re.MULTILINE)
        amounts = [amount.split()[0] for amount, _ in lines]
        within = [0.51 * 10.0 ** -len(amount.partition(".")[2]) for amount in amounts]
        assert sum(map(float, amounts)) == pytest.approx(evidence["margin"], abs=sum(within) + 0.0001)
        shown = [one["amount"] for one in evidence["contributions"] if one["shown"]]
        for amount, value, most in zip(amounts[1:], shown, within[1:], strict=False):
            assert float(amount) == pytest.approx(value, abs=most)
        for amount, source in [*lines, (total, "sum, for")]:
            assert f"<td>{amount}</td><td>{source}" in html


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
    X, _ = hard
    model, _ = learnt(0)
    many = np.vstack([X, X + 0.01, X - 0.01])  # more than one piece
    together = explain(model, many)
    for row in (0, 255, 256, 449):
        (alone,) = explain(model, many[row : row + 1])
        assert alone.evidence is not None
        assert together[row].evidence.margin == pytest.approx(alone.evidence.margin)  # type: ignore[union-attr]
        assert together[row].box.node == alone.box.node
