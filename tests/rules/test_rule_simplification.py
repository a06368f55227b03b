"""Rules predict by the nearest one, and simplification changes no prediction for the given samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruled_models import lattice_rules, mixed_samples

from conftest import lattices
from sslart import SSLART, FuzzyARTMAP
from sslart.rules import rules_of


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
