"""The number of the rule behind a prediction: that of the box that decides, or the nearest of the predicted class."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.model_view import PredictionBatch, view_of
from sslart.rules import rules_of
from sslart.rules._box_extraction import RuleNumbers


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
