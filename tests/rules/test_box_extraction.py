"""Rules of boxes made from models: simplified, with evidence, and looked up for predictions."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruled_models import lattice_rules, mixed_samples

from conftest import lattices
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._art.geometry import centres
from sslart._mapping.evidence.boxes import BoxTerm
from sslart._mapping.model_view import MemberView, PredictionBatch, view_of
from sslart.rules import rules_of
from sslart.rules._box_extraction import RuleNumbers


def test_the_nearest_rule_predicts_and_the_better_one_on_ties() -> None:
    model = FuzzyARTMAP(vigilance=1.0).fit([[0.0], [0.0], [1.0], [0.25]], ["a", "a", "b", "a"])
    rules = rules_of(model, kind="boxes")
    assert rules.predict([[0.0], [0.3], [0.6], [0.7], [9.0]]).tolist() == ["a", "a", "a", "b", "b"]
    assert [rule.confidence_factor for rule in rules] == [1.0, 1.0, 0.75]
    assert rules.predict([[0.625]]) == ["b"]  # as far from the third rule, which is for "a"
    tied = SSLART(1.0, shuffle=False).fit([[0.0], [1.0], [1.0], [0.0], [0.0]], ["a", "b", "b", "b", "a"])
    factors = {rule.label: rule.confidence_factor for rule in rules_of(tied, kind="boxes")}
    assert factors["a"] == factors["b"]
    assert rules_of(tied, kind="boxes").predict([[0.5]]) == [rules_of(tied, kind="boxes")[0].label]


@given(lattices(min_samples=2), st.integers(2, 5), st.sampled_from([0, 1, 3]))
def test_simplification_never_changes_a_prediction(X: np.ndarray, levels: int, members: int) -> None:
    model, y = lattice_rules(X, members)
    rules = rules_of(model, kind="boxes", levels=levels)
    short = rules_of(model, kind="boxes", levels=levels, simplify=(X, y))
    labelled = X[y != -1]
    assert (rules.predict(labelled) == short.predict(labelled)).all()
    assert len(short) <= len(rules)
    assert sum(rule.support for rule in short) == sum(rule.support for rule in rules)
    assert sorted(n for rule in short for n in rule.nodes) == sorted(n for rule in rules for n in rule.nodes)
    merged = sum("merged" in line for line in short.dropped)
    assert len(rules) - len(short) == merged


def test_simplified_categories_predict_the_same() -> None:
    frame, y = mixed_samples()
    model = SSLART(0.7, shuffle=False).fit(frame, y)
    rules, short = rules_of(model, kind="boxes"), rules_of(model, kind="boxes", simplify=(frame, y))
    assert (rules.predict(frame) == short.predict(frame)).all()
    assert len(short) < len(rules)


def test_simplification_lists_what_it_left_out() -> None:
    X = np.array([[0.0, 0.1], [0.2, 0.9], [0.8, 0.0], [1.0, 1.0]])
    model = FuzzyARTMAP(vigilance=1.0).fit(X, ["a", "a", "b", "b"])
    short = rules_of(model, kind="boxes", levels=2, simplify=(X, ["a", "a", "b", "b"]))
    assert short.predict(X).tolist() == ["a", "a", "b", "b"]
    assert len(short) == 2
    assert any("merged with box" in line for line in short.dropped)
    assert any("left out" in line for line in short.dropped)
    assert len(rules_of(model, kind="boxes").dropped) == 0
    assert sum(not condition.full_range for rule in short for condition in rule.conditions) == 1
    assert short.to_text().splitlines()[-3] == "Box 2: Otherwise"


@given(lattices(min_samples=2), st.integers(2, 5), st.sampled_from([0, 3]))
@settings(max_examples=40)
def test_only_the_last_rule_may_lose_all_conditions(X: np.ndarray, levels: int, members: int) -> None:
    model, y = lattice_rules(X, members)
    whole = {
        node
        for rule in rules_of(model, kind="boxes", levels=levels)
        for node in rule.nodes
        if all(condition.full_range for condition in rule.conditions)
    }
    short = rules_of(model, kind="boxes", levels=levels, simplify=(X, y))
    for rule in short[:-1]:
        assert whole & set(rule.nodes) or not all(condition.full_range for condition in rule.conditions)
    assert ("Otherwise" in short.to_text()) <= all(condition.full_range for condition in short[-1].conditions)


def test_unlabelled_samples_do_not_hold_simplification_back(few_labels: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = few_labels
    model = SSLART(0.8, random_state=0).fit(X, y)
    known = y != -1
    assert (
        rules_of(model, kind="boxes", simplify=(X, y)).to_json()
        == rules_of(model, kind="boxes", simplify=(X[known], y[known])).to_json()
    )


def test_simplify_is_refused_where_no_single_rule_decides(few_labels: Any) -> None:
    X, y = few_labels
    model = SSLART(0.9, mapping="evidence", random_state=0).fit(X, y)
    with pytest.raises(ValueError, match=r"no single rule decides.*mapping='one-to-many'"):
        model.rules(kind="boxes", simplify=(X, y))


def inside_contributions(member: MemberView, node: int) -> np.ndarray:
    """Return the score that a box adds to each class for a sample in its middle."""
    readout = member.readout
    assert readout is not None
    (box,) = np.flatnonzero(readout.nodes == node)
    terms = []
    for term in readout.terms:
        assert isinstance(term, BoxTerm)
        own = np.flatnonzero(term.group.boxes == box)
        if own.size:
            terms.append(replace(term, group=term.group.only(own), weights=term.weights[:, :, own]))
    middle = centres(*(side[[node]] for side in member.boxes))
    return replace(readout, terms=tuple(terms), bias=np.zeros(len(readout.bias))).scores(middle)[0]


@pytest.mark.parametrize("n_members", [None, 3])
def test_the_evidence_of_a_rule_is_what_its_box_adds_for_a_sample_inside(
    n_members: int | None, few_labels: Any
) -> None:
    X, y = few_labels
    model: Any = SSLART(0.9) if n_members is None else WESSLART(n_members, vigilance=0.9)
    model.set_params(mapping="evidence", families=["box", "relevant"], random_state=0).fit(X, y)
    rules = model.rules(kind="boxes")
    members = view_of(model).members
    starts = np.cumsum([0, *(member.n_nodes for member in members)])
    weighted = [rule for rule in rules if rule.evidence is not None]
    for rule in weighted:
        expected = np.zeros(3)
        for node in rule.nodes:
            index = int(np.searchsorted(starts, node, side="right")) - 1
            expected += inside_contributions(members[index], node - starts[index]) / len(rule.members)
        assert list(rule.evidence) == [0, 1, 2]
        assert list(rule.evidence.values()) == pytest.approx(expected.tolist())
    assert weighted
    text, frame = rules.to_text(), rules.to_frame()
    assert frame["evidence 1"].tolist() == pytest.approx(
        [np.nan if rule.evidence is None else rule.evidence[1] for rule in rules], nan_ok=True
    )
    assert f"{weighted[0].label} {weighted[0].evidence[weighted[0].label]:+.3f}" in text
    assert json.loads(rules.to_json())["rules"][0]["evidence"] == (
        None if rules[0].evidence is None else {str(label): amount for label, amount in rules[0].evidence.items()}
    )
    assert "| evidence 0 | evidence 1 | evidence 2 |" in rules.to_markdown()
    assert "<th>evidence 2</th>" in rules._repr_html_()
    assert list(rules[:0].to_frame().columns) == list(frame.columns)


def test_rules_of_other_mappings_have_no_evidence(few_labels: Any) -> None:
    rules = SSLART(0.9, random_state=0).fit(*few_labels).rules(kind="boxes")
    assert all(rule.evidence is None for rule in rules)
    assert "evidence" not in rules.to_text() + rules.to_markdown() + rules._repr_html_()


def test_a_box_without_a_weight_has_no_evidence(few_labels: Any) -> None:
    rules = SSLART(0.9, mapping="evidence", families=["linear"], random_state=0).fit(*few_labels).rules(kind="boxes")
    assert all(rule.evidence is None for rule in rules)
    assert rules.to_frame()["evidence 0"].isna().all()
    assert "nan" not in rules.to_markdown() + rules.to_text()


def numbers_of(model: Any, X: np.ndarray, labels: list[Any]) -> np.ndarray:
    view = view_of(model)
    indices = np.array([-1 if label is None else view.classes.tolist().index(label) for label in labels])
    return RuleNumbers(view)(PredictionBatch(view, view.read(X)), indices)


@pytest.mark.parametrize("model", [FuzzyARTMAP(vigilance=0.8), SSLART(0.8, search_depth=1, random_state=0)])
def test_where_one_box_decides_its_rule_is_meant(model: Any, few_labels: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = few_labels
    known = y != -1 if isinstance(model, FuzzyARTMAP) else slice(None)
    model.fit(X[known], y[known])
    rules, nodes = rules_of(model, kind="boxes"), model.apply(X)
    labels = [None if label == -1 else label for label in model.predict(X).tolist()]
    numbers = numbers_of(model, X, labels)
    for number, label, node in zip(numbers.tolist(), labels, nodes.tolist(), strict=True):
        assert number == (-1 if label is None else node)
        assert label is None or rules[rules.numbers.index(number)].nodes == (node,)


@pytest.mark.parametrize(
    "model", [WESSLART(3, vigilance=0.8, random_state=0), AutoSSLART(random_state=0)], ids=["ensemble", "evidence"]
)
def test_where_many_boxes_decide_the_nearest_rule_of_the_class_is_meant(model: Any) -> None:
    X = np.array([[0.0], [0.1], [0.4], [0.6], [0.9], [1.0]])
    model.fit(X, ["a", "a", "b", "b", "a", "a"])
    rules = rules_of(model, kind="boxes")
    samples = np.linspace(0, 1, 21)[:, None]
    for label in ("a", "b"):
        numbers = numbers_of(model, samples, [label] * len(samples))
        for number, (value,) in zip(numbers.tolist(), samples, strict=True):
            gaps = {}
            for other, rule in zip(rules.numbers, rules, strict=True):
                (condition,) = rule.conditions
                if rule.label == label:
                    gaps[other] = max(condition.low_value - value, value - condition.high_value, 0.0)
            assert gaps[number] == pytest.approx(min(gaps.values()), abs=1e-6)
    assert numbers_of(model, samples[:1], [None]).tolist() == [-1]
