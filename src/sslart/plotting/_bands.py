"""Conditions of rules as stretches of their scales, and which features rules differ in."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sslart._utils.arrays import FloatArray
from sslart.rules import Rule, RuleCondition
from sslart.rules._boxes.scales import Scale


def bands(condition: RuleCondition, scale: Scale) -> list[tuple[float, float]]:
    """Return the stretches of its scale that a condition allows, from 0 to 1; one for each category."""
    if condition.full_range:
        return [(0.0, 1.0)]
    if scale.categories is not None:
        n = len(scale.categories)
        indices = sorted(scale.categories.index(one) for one in condition.categories or ())
        return [(index / n, (index + 1) / n) for index in indices] or [(0.0, 1.0)]
    span = scale.high - scale.low
    if not span > 0:
        return [(0.5, 0.5)]
    return [((condition.low_value - scale.low) / span, (condition.high_value - scale.low) / span)]


def band(condition: RuleCondition, scale: Scale) -> tuple[float, float]:
    """Return the lower and upper end of a condition on its scale, both from 0 to 1."""
    stretches = bands(condition, scale)
    return stretches[0][0], stretches[-1][1]


def level_bars(condition: RuleCondition, scale: Scale) -> list[tuple[float, float]]:
    """Return start and length of the bars of a cell, as parts of its width; none where everything is allowed."""
    if condition.full_range:
        return []
    if scale.categories is not None:
        return [(low, high - low) for low, high in bands(condition, scale)]
    n, low, high = len(scale.terms), condition.low_level or 1, condition.high_level or 1
    return [((low - 1) / n, (high - low + 1) / n)]


def feature_spread(rules: Sequence[Rule], scales: Sequence[Scale]) -> FloatArray:
    """Return the spread of the rules in each feature: the variance of their centres, then their narrowness."""
    support = np.array([rule.support for rule in rules], dtype=float)
    pairs = [list(zip(rule.conditions, scales, strict=True)) for rule in rules]
    centres = np.array([[sum(band(*pair)) / 2 for pair in row] for row in pairs])
    excluded = np.array([[scale.excluded_share(condition) for condition, scale in row] for row in pairs])
    variance = (centres - np.average(centres, axis=0, weights=support)) ** 2
    return np.asarray(np.average(variance + 1e-6 * excluded, axis=0, weights=support))
