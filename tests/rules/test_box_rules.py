"""Rules of boxes: conditions, scales, text, tables, filters, and predictions by the nearest rule."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruled_models import GRID_STEP, covers, each_classifier, lattice_rules, mixed_samples
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from conftest import CLASSIFIERS, lattices, name_of
from sslart import SSLART, WESSLART, FuzzyART, FuzzyARTMAP
from sslart._mapping.model_view import view_of
from sslart.rules import RuleSet, rules_of
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


def test_a_rule_set_is_an_immutable_sequence(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    rules = rules_of(SSLART(0.8, random_state=0).fit(*blobs), kind="boxes")
    assert isinstance(rules[1:3], RuleSet)
    assert list(rules[1:3]) == [rules[1], rules[2]]
    assert rules[-1] is list(rules)[-1]
    assert rules[0] in rules
    assert hash(rules[0]) == hash(pickle.loads(pickle.dumps(rules))[0])
    for owner, name in ((rules, "dropped"), (rules[0], "label"), (rules[0].conditions[0], "feature")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(owner, name, "other")
    assert rules[:0].to_text() == ""
    assert len(rules[:0].to_frame()) == 0
    with pytest.raises(ValueError, match="no rule to predict with"):
        rules[:0].predict(blobs[0])


def test_filters_keep_what_they_promise(few_labels: tuple[np.ndarray, np.ndarray]) -> None:
    model = SSLART(0.6, random_state=0).fit(*few_labels)
    rules = rules_of(model, kind="boxes")
    assert {rule.label for rule in rules.filter(label=1)} == {1}
    assert all(rule.confidence >= 0.9 for rule in rules.filter(min_confidence=0.9))
    assert all(not rule.conditions[1].full_range for rule in rules.filter(feature="x1"))
    assert list(rules.filter(min_support=5)) == list(rules_of(model, kind="boxes", min_support=5))
    assert list(rules.filter(min_confidence=0.9)) == list(rules_of(model, kind="boxes", min_confidence=0.9))
    with pytest.raises(ValueError, match=r"no class 7.*0, 1, 2"):
        rules.filter(label=7)
    with pytest.raises(ValueError, match=r"no feature 'y'.*'x0'"):
        rules.filter(feature="y")


def levels_in_text(text: str, rules: RuleSet) -> list[dict[str, str]]:
    terms = {scale["feature"]: scale.get("terms") for scale in rules.to_dict()["features"]}
    found = []
    for part in text.split("\n\n"):
        cells = dict.fromkeys(rules.feature_names, "any")
        phrases = re.sub(r"^Box(es)? \d+: (If )?", "", part.split("\nThen ")[0])
        for words in phrases.split(", AND\n   "):
            if words in ("anything", "Otherwise"):
                continue
            name, first, last = re.fullmatch(r"(\w+) is (?:from )?“(.+?)”(?: to “(.+?)”)? \[.+\]", words).groups()
            low, high = terms[name].index(first) + 1, terms[name].index(last or first) + 1
            cells[name] = str(low) if low == high else f"{low}-{high}"
        found.append(cells)
    return found


@pytest.mark.parametrize("levels", [2, 5, 8])
@each_classifier
def test_all_forms_have_the_same_levels_labels_and_confidences(
    model: Any, levels: int, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, y = blobs
    rules = rules_of(clone(model).set_params(vigilance=0.7).fit(X, y), kind="boxes", levels=levels)
    names = list(rules.feature_names)
    from_text = levels_in_text(rules.to_text(), rules)
    from_frame = rules.to_frame()[names].to_dict("records")
    from_dict = [
        {
            condition["feature"]: "any"
            if condition["full_range"]
            else "-".join(map(str, sorted({condition["low_level"], condition["high_level"]})))
            for condition in rule["conditions"]
        }
        for rule in rules.to_dict()["rules"]
    ]
    rows = re.findall(r"<tr><th>\d+</th>(.*?)</tr>", rules._repr_html_())
    from_html = [dict(zip(names, re.findall(r"<td.*?>(.*?)</td>", row), strict=False)) for row in rows]
    lines = rules.to_markdown().splitlines()[2:]
    from_markdown = [dict(zip(names, line.strip("| ").split(" | ")[1:], strict=False)) for line in lines]
    assert from_text == from_frame == from_dict == from_html == from_markdown
    labels = re.findall(r"\nThen (.+) with confidence estimate=(.+)\.\n", rules.to_text())
    assert labels == [(str(rule.label), str(round(rule.confidence, 3))) for rule in rules]
    assert json.loads(rules.to_json())["rules"][0]["confidences"] == {
        str(label): share for label, share in rules[0].confidences.items()
    }


def test_the_text_has_the_form_of_the_paper() -> None:
    frame = pd.DataFrame({"Age": [29.0, 77.0, 29.0, 35.0], "Sex": [0.0, 1.0, 0.0, 0.0]})
    rules = rules_of(
        SSLART(0.9, shuffle=False).fit(frame, ["Positive", "Negative", "Positive", "Positive"]), kind="boxes"
    )
    assert rules[:1].to_text() == (
        "Box 0: If Age is “Very Small” [29, 35], AND\n"
        "   Sex is “Very Small” [0, 0]\n"
        "Then Positive with confidence estimate=1.0.\n"
        "   (support 3, 3 of them labelled)"
    )


def test_a_box_that_holds_everything_reads_as_anything() -> None:
    rules = rules_of(SSLART(0.0, shuffle=False).fit([[0.0], [1.0]], ["a", "a"]), kind="boxes")
    assert rules.to_text().startswith("Box 0: If anything\nThen a")


def test_html_and_markdown_escape_what_they_show() -> None:
    frame = pd.DataFrame({"<b>|": [0.0, 1.0]})
    rules = rules_of(SSLART().fit(frame, ["<i>", "a|b"]), kind="boxes")
    assert "<b>" not in rules._repr_html_()
    assert "<i>" not in rules._repr_html_()
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in rules.to_markdown().splitlines()}
    assert len(widths) == 1


def test_a_feature_called_like_a_column_of_the_table_gets_another_name() -> None:
    names = ["label", "support", "confidence a", "feature label", "No.", "size"]
    frame = pd.DataFrame(np.arange(18.0).reshape(3, 6), columns=names)
    rules = rules_of(FuzzyARTMAP(vigilance=1.0).fit(frame, ["a", "b", "a"]), kind="boxes")
    columns = list(rules.to_frame().columns)
    assert columns[:6] == [
        "feature feature label",
        "feature support",
        "feature confidence a",
        "feature label",
        "feature No.",
        "size",
    ]
    assert len(set(columns)) == len(columns)
    assert rules.to_frame()["label"].tolist() == [rule.label for rule in rules]
    assert rules.feature_names == tuple(names)
    heads = re.findall(r"<th>([^<]+)</th>", rules._repr_html_().split("</thead>")[0])
    assert heads == ["No.", *columns]
    assert rules.to_markdown().splitlines()[0] == f"| {' | '.join(heads)} |"


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
