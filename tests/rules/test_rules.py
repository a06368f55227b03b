"""Rules: one per labelled box, with its samples and confidence; those of members that read the same are one."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruled_models import covers, each_classifier, lattice_rules, mixed_samples
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from conftest import CLASSIFIERS, lattices, name_of
from sslart import SSLART, WESSLART, FuzzyART, FuzzyARTMAP
from sslart._mapping.model_view import view_of
from sslart.rules import rules_of
from sslart.rules._box_rules import level_text


@given(lattices(min_samples=2))
def test_every_labelled_sample_satisfies_a_rule_that_counts_its_class(X: np.ndarray) -> None:
    model, y = lattice_rules(X)
    rules = rules_of(model, kind="boxes")
    for sample, label in zip(X[y != -1], y[y != -1], strict=True):
        assert any(covers(rule, sample) and rule.counts[label] > 0 for rule in rules)


@each_classifier
def test_shares_and_supports_are_those_of_the_nodes(model: Any, few_labels: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = few_labels
    model = clone(model).fit(X, y) if not isinstance(model, FuzzyARTMAP) else clone(model).fit(X[y >= 0], y[y >= 0])
    rules = rules_of(model, kind="boxes")
    for rule in rules:
        nodes = list(rule.nodes)
        assert sum(rule.confidences.values()) == pytest.approx(1)
        assert rule.confidence == max(rule.confidences.values())
        assert rule.support == model.support_[nodes].sum() >= rule.n_labelled
        assert list(rule.counts.values()) == model.counts_[nodes].sum(axis=0).tolist()
        assert {model.node_labels_[node] for node in nodes} == {rule.label}
        assert [condition.low_value for condition in rule.conditions] == model.lower_[nodes].min(axis=0).tolist()
        assert [condition.high_value for condition in rule.conditions] == model.upper_[nodes].max(axis=0).tolist()
    assert sorted(node for rule in rules for node in rule.nodes) == np.flatnonzero(model.node_labels_ != -1).tolist()


def test_the_confidence_factor_is_that_of_carpenter_and_tan() -> None:
    X = np.array([[0.0], [0.0], [0.0], [0.0], [0.5], [1.0], [1.0]])
    model = SSLART(1.0, shuffle=False).fit(X, ["a", "a", "a", "b", "a", "b", "b"])
    factors = {rule.nodes: rule.confidence_factor for rule in rules_of(model, kind="boxes")}
    # node 0: 3 a and 1 b; node 1: 1 a; node 2: 2 b
    assert factors == {(0,): 0.5 * 1 + 0.5 * 0.75, (1,): 0.5 / 3 + 0.5 * 1, (2,): 1.0}
    assert [rule.nodes for rule in rules_of(model, kind="boxes")] == [(2,), (0,), (1,)]


@given(lattices(min_samples=2), st.integers(1, 4))
def test_members_share_rules_that_read_the_same(X: np.ndarray, n_members: int) -> None:
    model, _ = lattice_rules(X, members=n_members)
    rules = rules_of(model, kind="boxes", levels=3)
    readings = [(rule.label, *map(level_text, rule.conditions)) for rule in rules]
    assert len(set(readings)) == len(readings)
    of_members = [rule for member in model.estimators_ for rule in rules_of(member, kind="boxes", levels=3)]
    assert set(readings) == {(rule.label, *map(level_text, rule.conditions)) for rule in of_members}
    labelled = model.node_labels_ != -1
    assert sum(rule.support for rule in rules) == model.support_[labelled].sum()
    assert sum(rule.n_labelled for rule in rules) == model.counts_.sum()
    offsets = np.cumsum([member.n_nodes_ for member in model.estimators_])
    for rule in rules:
        assert 1 <= rule.n_members <= n_members
        assert set(rule.members) == set(np.searchsorted(offsets, rule.nodes, side="right").tolist())


def test_members_that_are_alike_have_every_rule(few_labels: tuple[np.ndarray, np.ndarray]) -> None:
    model = WESSLART(3, shuffle=False, vigilance=0.8, random_state=0).fit(*few_labels)
    rules = rules_of(model, kind="boxes")
    assert {rule.n_members for rule in rules} == {3}
    assert "in 3 of 3 members" in rules.to_text()


def test_rules_stay_as_they_were_when_the_model_learns_on(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    model = SSLART(0.8, random_state=0).fit(X[:60], y[:60])
    rules = rules_of(model, kind="boxes")
    before, predicted = rules.to_json(), rules.predict(X)
    model.partial_fit(X[60:] * 3, y[60:] + 5)
    assert rules.to_json() == before
    assert (rules.predict(X) == predicted).all()


@pytest.mark.parametrize("model", [SSLART(0.6, shuffle=False), WESSLART(3, vigilance=0.6, random_state=0)], ids=name_of)
def test_a_categorical_column_is_one_condition(model: Any) -> None:
    frame, y = mixed_samples()
    rules = rules_of(clone(model).fit(frame, y), kind="boxes")
    assert rules.feature_names == ("size", "colour", "old", "constant")
    assert list(rules.to_frame().columns[:4]) == ["size", "colour", "old", "constant"]
    for row, label in zip(frame.astype(object).where(frame.notna(), None).to_numpy(), y, strict=True):
        sample = [np.nan if row[0] is None else row[0], *row[1:]]
        assert any(covers(rule, sample) and rule.counts[label] > 0 for rule in rules)
    for rule in rules:
        colour = rule.conditions[1]
        assert colour.full_range == (set(colour.categories) == {"red", "blue", "green"})
        assert rule.conditions[3].full_range
    assert re.search(r"colour is “\w+”( or “\w+”)?[,\n]", rules.to_text())
    assert json.loads(rules.to_json())["features"][1] == {
        "feature": "colour",
        "categories": [c for c in dict.fromkeys(frame["colour"]) if isinstance(c, str)],
    }
    with pytest.raises(ValueError, match="'colour', which is categorical"):
        rules_of(clone(model).fit(frame, y), kind="boxes", levels={"colour": 3})


def test_the_conditions_are_the_boxes_of_the_model() -> None:
    model = SSLART(0.6, shuffle=False).fit(*mixed_samples())
    rules = rules_of(model, kind="boxes")
    (member,) = view_of(model).members
    for of_rules, of_nodes in zip(rules._domain.boxes(rules), member.boxes, strict=True):
        for row, rule in enumerate(rules):
            for condition, scale in zip(rule.conditions, rules.scales, strict=True):
                if not condition.full_range:
                    assert (of_rules[row, scale.positions] == of_nodes[rule.nodes[0], scale.positions]).all()


def test_a_side_that_no_sample_has_reached_is_left_out() -> None:
    X = np.array([[0.0, np.nan], [1.0, 0.0], [0.5, 1.0]])
    rules = rules_of(SSLART(1.0, shuffle=False).fit(X, ["a", "b", "c"]), kind="boxes")
    (rule,) = rules.filter(label="a")
    assert rule.conditions[1].full_range
    assert np.isnan(rule.conditions[1].low_value)
    assert "x1" not in rules.filter(label="a").to_text()
    assert rules.filter(label="a").to_frame()["x1"].tolist() == ["any"]
    assert rules.filter(label="a").to_dict()["rules"][0]["conditions"][1]["low_value"] is None


def test_models_without_rules_are_refused(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    for model in CLASSIFIERS:
        with pytest.raises(NotFittedError):
            rules_of(clone(model), kind="boxes")
    with pytest.raises(NotFittedError, match="No labelled sample"):
        rules_of(SSLART().partial_fit(X), kind="boxes")
    with pytest.raises(TypeError, match="got a FuzzyART"):
        rules_of(FuzzyART().fit(X), kind="boxes")
    with pytest.raises(TypeError, match=r"pipeline\[-1\]"):
        rules_of(make_pipeline(SSLART()).fit(X, y), kind="boxes")
    model = SSLART().fit(X, y)
    with pytest.raises(ValueError, match="no labelled sample"):
        rules_of(model, kind="boxes", simplify=(X, np.full(len(X), -1)))
    with pytest.raises(ValueError, match="2 features"):
        rules_of(model, kind="boxes").predict(X[:, :2])
