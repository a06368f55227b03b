"""The model in few rules: those that agree with it on the samples of a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._data.classes import Label
from sslart._utils.intervals import Estimate, share
from sslart.reporting._summary import Observed
from sslart.rules import rules_of
from sslart.rules._model_rules import condition_text


@dataclass(frozen=True)
class ModelRuleLine:
    """One rule, ready to be shown.

    Attributes
    ----------
    number : int
        From 1.
    label : class or None
        None where the model abstains.
    conditions : tuple of str
        Empty for the samples that meet no other rule.
    covered : Estimate
        Samples of the report that meet the rule.
    agreeing : Estimate
        Those of them for which the model predicts the class of the rule.
    right : Estimate
        Labels learnt that meet the rule and have its class.
    """

    number: int
    label: Label | None
    conditions: tuple[str, ...]
    covered: Estimate
    agreeing: Estimate
    right: Estimate


@dataclass(frozen=True)
class ModelRules:
    """Few rules, and their fidelity on the samples of the report."""

    lines: tuple[ModelRuleLine, ...]
    fidelity: Estimate


def model_rules(observed: Observed, X: Any) -> ModelRules | None:
    """Return few rules that approximate a model; None if one box decides, so that its rules are exact."""
    if observed.view.decides_by_one_box:
        return None
    rules = rules_of(observed.model, X)
    places = rules.apply_table(observed.table)
    agrees = np.array([rules[place].label == label for place, label in zip(places, observed.predicted, strict=True)])
    lines = tuple(
        ModelRuleLine(
            rule.number,
            rule.label,
            tuple(map(condition_text, rule.conditions)),
            share(int((places == place).sum()), len(places)),
            share(int(agrees[places == place].sum()), int((places == place).sum())),
            share(rule.right.count, rule.right.total),
        )
        for place, rule in enumerate(rules)
    )
    return ModelRules(lines, share(int(agrees.sum()), len(agrees)))
