"""Simplification of rules: fewer and shorter rules with the same prediction for every given sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sslart._art.geometry import distances, gaps
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.text import printable
from sslart.rules._boxes.domain import Domain, precedence
from sslart.rules._boxes.format import condition_text
from sslart.rules._boxes.rule import Rule, RuleCondition, joined

MAX_NEIGHBOURS = 16  # how many rules, the closest first, each rule is tried to merge with


class Hull(NamedTuple):
    """The box around a rule and another one; `full` tells in which features it spans the whole range."""

    other: int
    lower: FloatArray
    upper: FloatArray
    full: BoolArray


class Simplifier:
    """Rules that are merged and lose conditions, provided that no sample moves to a rule of another class.

    Boxes only grow, so that a sample changes its rule only to one that has just grown.

    Parameters
    ----------
    rules : sequence of Rule
    domain : Domain
    samples : array of shape (n_samples, n_coded_features)
        Coded; their predictions stay as they are.
    """

    def __init__(self, rules: Sequence[Rule], domain: Domain, samples: FloatArray) -> None:
        self.rules = [rules[index] for index in precedence(rules)]
        self.domain, self.samples = domain, samples
        self.lower, self.upper = domain.boxes(self.rules)
        self.full = domain.spans(self.lower, self.upper)
        self.low, self.high = domain.levels(self.lower, self.upper)
        self.left_out = np.zeros_like(self.full)
        codes = {label: code for code, label in enumerate(dict.fromkeys(rule.label for rule in self.rules))}
        self.labels = np.array([codes[rule.label] for rule in self.rules])
        self.kept = np.ones(len(self.rules), dtype=bool)
        self.parts = [[index] for index in range(len(self.rules))]
        to_rules = distances(samples, self.lower, self.upper)
        self.winner = to_rules.argmin(axis=1)
        self.nearest = to_rules.min(axis=1)
        self.predicted = self.labels[self.winner]
        self.feature_of = np.zeros((samples.shape[1], len(domain.scales)))
        for column, scale in enumerate(domain.scales):
            self.feature_of[scale.positions, column] = 1.0
        self.log: list[str] = []

    def result(self) -> tuple[list[Rule], tuple[str, ...]]:
        """Return the remaining rules, and a log of merged rules and removed conditions."""
        return [self._rule(index) for index in np.flatnonzero(self.kept).tolist()], tuple(self.log)

    def _rule(self, index: int) -> Rule:
        parts = [self.rules[part] for part in self.parts[index]]
        return joined(parts, tuple(self._condition(index, column) for column in range(len(self.domain.scales))))

    def _condition(self, index: int, column: int) -> RuleCondition:
        scale, parts = self.domain.scales[column], self.parts[index]
        if self.left_out[index, column]:
            return scale.whole()
        conditions = [self.rules[part].conditions[column] for part in parts]
        return conditions[0] if len(parts) == 1 else scale.hull(conditions, bool(self.full[index, column]))

    def merge(self) -> None:
        """Merge rules of one class that are neighbours: their levels overlap or adjoin in every feature."""
        for index in range(len(self.rules)):
            refused: list[int] = []
            grown = bool(self.kept[index])
            while grown and len(refused) < MAX_NEIGHBOURS:
                grown = False
                for hull in self._hulls(index, refused):
                    grown = self._grow(index, hull)
                    if grown:
                        break
                    refused.append(hull.other)

    def _hulls(self, index: int, refused: list[int]) -> list[Hull]:
        """Return the hulls of a rule with its later neighbours, the smallest first."""
        free = self.kept & (self.labels == self.labels[index])
        free[: index + 1] = False
        free[refused] = False
        others = np.flatnonzero(free)
        touching = (
            self.full[index]
            | self.full[others]
            | ((self.low[others] <= self.high[index] + 1) & (self.low[index] <= self.high[others] + 1))
        )
        others = others[touching.all(axis=1)]
        lower = np.minimum(self.lower[index], self.lower[others])
        upper = np.maximum(self.upper[index], self.upper[others])
        smallest = np.argsort((upper - lower).sum(axis=1), kind="stable")[: MAX_NEIGHBOURS - len(refused)]
        others, lower, upper = others[smallest], lower[smallest], upper[smallest]
        full = self.full[index] | self.full[others] | self.domain.spans(lower, upper)
        self.domain.widen(lower, upper, full)
        return [Hull(*parts) for parts in zip(others.tolist(), lower, upper, full, strict=True)]

    def _grow(self, index: int, hull: Hull) -> bool:
        """Merge another rule into a rule, unless a prediction would change or a rule before the last lose all."""
        if hull.full.all() and not self.full[index].all() and not self._is_last(index, hull.other):
            return False
        if not self._takes_over(index, gaps(self.samples, hull.lower, hull.upper).sum(axis=1)):
            return False
        self.log.append(f"{self._name(index)}: merged with {self._boxes(hull.other)}")
        self.lower[index], self.upper[index], self.full[index] = hull.lower, hull.upper, hull.full
        low, high = self.domain.levels(hull.lower[None], hull.upper[None])
        self.low[index], self.high[index] = low[0], high[0]
        self.left_out[index] |= self.left_out[hull.other]
        self.parts[index] += self.parts[hull.other]
        self.kept[hull.other] = False
        return True

    def leave_out(self) -> None:
        """Leave out conditions, of each rule the widest first."""
        n_coded = np.maximum(self.feature_of.sum(axis=0), 1.0)
        for index in np.flatnonzero(self.kept).tolist():
            low, high = self.lower[index], self.upper[index]
            by_feature = gaps(self.samples, low, high) @ self.feature_of
            distance = by_feature.sum(axis=1)
            widths = (high - low) @ self.feature_of / n_coded
            for column in np.argsort(-widths, kind="stable"):
                if self._may_open(index, column) and self._takes_over(index, distance - by_feature[:, column]):
                    distance -= by_feature[:, column]
                    self._open(index, int(column))

    def _may_open(self, index: int, column: int) -> bool:
        """Return True if a condition may be removed; the only one of a rule may be only if the rule is last."""
        is_only_condition = int((~self.full[index]).sum()) == 1
        return not self.full[index, column] and (not is_only_condition or self._is_last(index))

    def _is_last(self, index: int, other: int | None = None) -> bool:
        """Return True if no rule follows this one, except for one about to be merged."""
        return not any(later != other for later in np.flatnonzero(self.kept[index + 1 :]) + index + 1)

    def _open(self, index: int, column: int) -> None:
        text = condition_text(self._condition(index, column), self.domain.scales[column])
        self.log.append(f"{self._name(index)}: left out {text}")
        self.left_out[index, column] = self.full[index, column] = True
        positions = self.domain.scales[column].positions
        self.lower[index, positions], self.upper[index, positions] = 0.0, 1.0

    def _takes_over(self, index: int, distance: FloatArray) -> bool:
        """Give a rule with new distances the samples it is nearest to, unless the prediction for one would change."""
        nearer = (distance < self.nearest) | ((distance == self.nearest) & (index <= self.winner))
        if (self.predicted[nearer] != self.labels[index]).any():
            return False
        self.nearest[nearer], self.winner[nearer] = distance[nearer], index
        return True

    def _name(self, index: int) -> str:
        return f"{printable(self.rules[index].label)}, {self._boxes(index)}"

    def _boxes(self, index: int) -> str:
        nodes = sorted(node for part in self.parts[index] for node in self.rules[part].nodes)
        return f"box{'es' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"


def simplified(rules: Sequence[Rule], domain: Domain, samples: FloatArray) -> tuple[list[Rule], tuple[str, ...]]:
    """Return fewer and shorter rules with the same predictions for some samples, and a log of the changes."""
    if not rules:
        return [], ()
    simplifier = Simplifier(rules, domain, samples)
    simplifier.merge()
    simplifier.leave_out()
    simplifier.merge()
    return simplifier.result()
