"""Scales: levels that contain the box, cut points and terms of the user, and errors that name the cure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruled_models import GRID_STEP, lattice_rules

from conftest import lattices
from sslart import SSLART, FuzzyARTMAP
from sslart.rules import rules_of


@given(lattices(min_samples=2), st.integers(2, 9), st.booleans())
def test_levels_contain_the_box(X: np.ndarray, levels: int, ensemble: bool) -> None:
    model, _ = lattice_rules(X, members=2 if ensemble else 0)
    rules = rules_of(model, kind="boxes", levels=levels)
    scales = rules.to_dict()["features"]
    for rule in rules:
        for condition, scale in zip(rule.conditions, scales, strict=True):
            if np.isnan(condition.low_value):
                assert (condition.low_level, condition.high_level) == (1, levels)
                assert condition.full_range
                continue
            ends = [-np.inf, *scale["cuts"], np.inf]
            assert ends[condition.low_level - 1] <= condition.low_value + GRID_STEP
            assert condition.high_value <= ends[condition.high_level] + GRID_STEP
            assert condition.terms == tuple(scale["terms"][condition.low_level - 1 : condition.high_level])


def test_each_side_goes_to_the_nearest_level() -> None:
    values = np.linspace(0, 1, 41)
    model = FuzzyARTMAP(vigilance=1.0).fit(values[:, None] * 200 - 50, np.arange(41) % 2)
    for n_levels in (2, 3, 5, 7):
        centres = np.arange(n_levels) / (n_levels - 1)  # V_q
        for rule in rules_of(model, kind="boxes", levels=n_levels):
            (condition,) = rule.conditions
            gaps = abs(centres - values[rule.nodes[0]])
            assert gaps[condition.low_level - 1] == pytest.approx(gaps.min())


def test_terms_can_be_renamed_for_all_features_or_for_one(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    model = SSLART(0.8, random_state=0).fit(*blobs)
    words = ["low", "normal", "high"]
    assert {
        scale["terms"][1] for scale in rules_of(model, kind="boxes", levels=3, terms=words).to_dict()["features"]
    } == {"normal"}
    rules = rules_of(model, kind="boxes", levels={"x1": 3}, terms={"x1": words})
    assert [scale["terms"][0] for scale in rules.to_dict()["features"]] == ["Very Small", "low", "Very Small"]
    assert [len(scale["terms"]) for scale in rules.to_dict()["features"]] == [5, 3, 5]
    assert rules_of(model, kind="boxes", levels=9).to_dict()["features"][0]["terms"][8] == "level 9"


def test_the_level_of_an_expert_is_the_number_of_cuts_below() -> None:
    pressure = np.array([100.0, 119, 120, 121, 140, 141, 180])
    frame = pd.DataFrame({"pressure": pressure})
    model = FuzzyARTMAP(vigilance=1.0).fit(frame, np.arange(7) % 2)
    rules = rules_of(
        model, kind="boxes", levels={"pressure": [120, 140]}, terms={"pressure": ["low", "normal", "high"]}
    )
    terms = {rule.nodes[0]: rule.conditions[0].terms for rule in rules}
    assert [terms[node] for node in range(7)] == [("low",)] * 3 + [("normal",)] * 2 + [("high",)] * 2
    beyond = rules_of(model, kind="boxes", levels={"pressure": [50, 200]})
    assert {(rule.conditions[0].low_level, rule.conditions[0].full_range) for rule in beyond} == {(2, False)}


def test_a_value_that_is_a_cut_lies_below_it_whatever_the_grid() -> None:
    values = np.sort(np.random.RandomState(0).normal(size=50).round(3))
    values = np.unique(values)
    model = FuzzyARTMAP(vigilance=1.0).fit(values[:, None], np.arange(len(values)) % 2)
    rules = rules_of(model, kind="boxes", levels={"x0": values[:-1]})
    levels = {rule.nodes[0]: rule.conditions[0].high_level for rule in rules}
    assert [levels[node] for node in range(len(values))] == list(range(1, len(values) + 1))


def test_a_box_that_reaches_all_levels_has_no_condition() -> None:
    model = SSLART(0.0, shuffle=False).fit([[0.1], [0.9], [0.0], [1.0]], ["a", "a", None, None])
    assert rules_of(model, kind="boxes")[0].conditions[0].full_range
    X = np.array([[0.2, 0.0], [0.8, 0.1], [0.0, 1.0], [1.0, 1.0]])
    rules = rules_of(FuzzyARTMAP(vigilance=0.3).fit(X, ["a", "a", "b", "b"]), kind="boxes", levels=2)
    (condition, _) = rules.filter(label="a")[0].conditions
    assert (condition.low_level, condition.high_level, condition.full_range) == (1, 2, True)
    assert condition.low_value == pytest.approx(0.2)
    assert "x0" not in rules.filter(label="a").to_text()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": 1}, "levels must be 2 or more, got 1"),
        ({"levels": True}, "whole number from 2 up, or cut points"),
        ({"levels": 2.5}, "whole number from 2 up, or cut points"),
        ({"levels": {"x0": "abc"}}, "'x0' must be a whole number"),
        ({"levels": {"x0": []}}, "at least one"),
        ({"levels": {"x0": [1, np.nan]}}, "all finite"),
        ({"levels": {"x0": [2, 1]}}, "cut points of the feature 'x0' must increase"),
        ({"levels": {"age": 3}}, "levels names the feature 'age'.*'x0', 'x1', 'x2'"),
        ({"terms": {"age": ["a"]}}, "terms names the feature 'age'"),
        ({"terms": ["a", "b"]}, "2 words for the 5 levels of the feature 'x0'.*levels=2"),
        ({"terms": "abcde"}, "sequence of strings"),
        ({"terms": 5}, "sequence of strings"),
        ({"terms": ["a", "b", "c", "d", "a"]}, "each different"),
        ({"terms": ["a", "b", "c", "d", 5]}, "must be strings"),
        ({"min_confidence": 2}, r"min_confidence of rules must be a number in \[0, 1\]"),
        ({"min_support": -1}, "min_support of rules"),
        ({"simplify": True}, r"simplify=\(X, y\)"),
        ({"simplify": 5}, r"simplify=\(X, y\)"),
    ],
)
def test_errors_name_the_cure(options: dict[str, Any], message: str, blobs: tuple[np.ndarray, np.ndarray]) -> None:
    model = SSLART(0.8, random_state=0).fit(*blobs)
    with pytest.raises(ValueError, match=message):
        rules_of(model, kind="boxes", **options)
