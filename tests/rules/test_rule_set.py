"""A rule set: a sequence that filters, and the same rules as text, frame, dict, Markdown and HTML."""

from __future__ import annotations

import dataclasses
import json
import pickle
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from ruled_models import each_classifier
from sklearn.base import clone

from sslart import SSLART, FuzzyARTMAP
from sslart.rules import RuleSet, rules_of


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
