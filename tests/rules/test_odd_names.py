"""Rules of tables whose columns and categories have names that a sentence, SQL or Python could misread."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from by_hand import from_json, from_python, from_sql

from sslart import AutoSSLART
from sslart._utils.text import category_text
from sslart.rules import ModelRuleSet


def rules_of_columns(names: list[str]) -> tuple[ModelRuleSet, pd.DataFrame]:
    random = np.random.default_rng(0)
    y = random.integers(0, 2, 200)
    frame = pd.DataFrame(random.normal(size=(200, len(names))) + 2 * y[:, None], columns=names)
    model = AutoSSLART(random_state=0).fit(frame, np.where(np.arange(200) < 40, y, -1))
    return model.rules(frame), frame


@pytest.mark.parametrize(
    "names",
    [["area m²", "CO₂", "t"], ["µ", "μ", "fi", "ﬁ"], ["class", "x0_class", "x1_class"], ["௰", "½", "sample"]],
    ids=str,
)
def test_python_takes_every_column_name(names):
    rules, frame = rules_of_columns(names)
    assert len({condition.feature for rule in rules for condition in rule.conditions}) > 1
    assert from_python(rules, frame, "rule") == rules.apply(frame).tolist() == from_sql(rules, frame, "rule")


@pytest.mark.parametrize("name", ["class", "a b", "", "1st"])
def test_a_function_needs_a_name_that_python_takes(name):
    rules, _ = rules_of_columns(["a", "b"])
    with pytest.raises(ValueError, match="must be the name of a function"):
        rules.to_python(name)


def test_categories_that_read_like_words_of_a_condition_are_in_quotes():
    names = ["x", "y", "x or y", "brown, grey", "missing", "known", "not x", " x", "O'Brien", "naïve"]
    texts = [category_text(name) for name in names]
    assert texts == [
        *("x", "y", "'x or y'", "'brown, grey'", "'missing'", "'known'", "'not x'", "' x'", "O'Brien", "naïve")
    ]


def test_a_category_with_or_in_it_is_not_read_as_two():
    kinds = np.array(["x", "y", "x or y", "missing"], dtype=object)[np.arange(120) % 4]
    frame = pd.DataFrame({"kind": kinds, "size": np.arange(120) // 4 % 7})
    y = np.where(np.isin(kinds, ["x or y", "missing"]), "odd", "plain").astype(object)
    y[40:] = None
    rules = AutoSSLART(random_state=0).fit(frame, y).rules(frame)
    assert from_json(rules, frame) == rules.apply(frame).tolist()
    texts = [one["text"] for rule in rules.to_dict()["rules"] for one in rule["conditions"]]
    assert set(texts) & {"kind is 'x or y' or 'missing'", "kind is x or y"}
