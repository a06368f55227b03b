"""Rules as boxes in the unit cube: the nearest one answers; how they become fewer and shorter with the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sslart._art.backend import backend
from sslart._data.classes import ClassTable
from sslart._data.encoder import Encoder
from sslart._data.samples import Table, read_samples
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.estimators._base import RawSamplesEstimator
from sslart.rules._format import phrase
from sslart.rules._scales import Rule, RuleCondition, Scale, joined

NEIGHBOURS = 16  # how many rules, the closest first, each rule is tried to merge with
CELLS = 2**22  # how many distances are held at a time


class RuleReader(RawSamplesEstimator):
    """Reads samples as the model did that the rules are from, without holding on to the model."""

    def __init__(self) -> None:
        self._categorical: frozenset[int] = frozenset()

    @classmethod
    def of(cls, model: Any) -> RuleReader:
        """Return a reader of samples like those of a model."""
        reader = cls()
        reader._categorical = model._categorical_columns()
        reader.n_features_in_ = model.n_features_in_
        if hasattr(model, "feature_names_in_"):
            reader.feature_names_in_ = model.feature_names_in_
        return reader

    def _categorical_columns(self) -> frozenset[int]:
        return self._categorical


@dataclass(frozen=True, eq=False)
class Domain:
    """What rules are about: the features and how they are coded and named, the classes, the number of members.

    `has_evidence`: whether all boxes of the model speak, and rules tell what theirs say.
    """

    encoder: Encoder
    scales: tuple[Scale, ...]
    classes: ClassTable
    n_members: int
    reader: RuleReader
    has_evidence: bool = False

    def read(self, X: Any) -> Table:
        """Return samples as a table, or raise an error that says the cure."""
        table = read_samples(self.reader, X, reset=False)
        self.encoder.check(table)
        return table

    def code(self, matrix: FloatArray) -> FloatArray:
        """Return values in the user's units, one column per coded feature, as coded values; NaN where missing."""
        matrix = np.ascontiguousarray(matrix)
        coded = np.empty_like(matrix)
        backend().encode(matrix, self.encoder.lower, self.encoder.upper, coded)
        return coded

    def conditions(self, lower: FloatArray, upper: FloatArray) -> list[tuple[RuleCondition, ...]]:
        """Return the conditions of each box."""
        by_feature = (
            scale.conditions(lower[:, scale.positions], upper[:, scale.positions], self.encoder)
            for scale in self.scales
        )
        return list(zip(*by_feature, strict=True))

    def spans(self, lower: FloatArray, upper: FloatArray) -> BoolArray:
        """Tell for each box (row) and feature (column) whether the box asks nothing of the feature."""
        by_feature = [scale.spans(lower[:, scale.positions], upper[:, scale.positions]) for scale in self.scales]
        return np.array(by_feature).T

    def levels(self, lower: FloatArray, upper: FloatArray) -> tuple[IntArray, IntArray]:
        """Return first and last level of each box (row) and feature (column); 1 for categories."""
        low = np.ones((len(lower), len(self.scales)), dtype=np.int64)
        high = low.copy()
        for place, scale in enumerate(self.scales):
            if scale.categories is None:
                position = scale.positions[0]
                low[:, place], high[:, place] = scale.levels(lower[:, position]), scale.levels(upper[:, position])
        return low, high

    def open(self, lower: FloatArray, upper: FloatArray, places: BoolArray) -> None:
        """Let boxes reach from end to end in some features: rows are boxes, columns features."""
        for place, scale in enumerate(self.scales):
            rows = np.flatnonzero(places[:, place])[:, None]
            lower[rows, scale.positions], upper[rows, scale.positions] = 0.0, 1.0

    def boxes(self, rules: Sequence[Rule]) -> tuple[FloatArray, FloatArray]:
        """Return what the conditions of each rule allow, as boxes in the unit cube."""
        shape = (len(rules), len(self.encoder.features))
        lower, upper = np.full(shape, np.nan), np.full(shape, np.nan)
        for place, scale in enumerate(self.scales):
            if scale.categories is None:
                asked = [(row, rule.conditions[place]) for row, rule in enumerate(rules)]
                for row, condition in asked:
                    if not condition.full_range:
                        lower[row, scale.positions] = condition.low_value
                        upper[row, scale.positions] = condition.high_value
        lower, upper = self.code(lower), self.code(upper)
        lower[np.isnan(lower)], upper[np.isnan(upper)] = 0.0, 1.0
        for place, scale in enumerate(self.scales):
            if scale.categories is not None:
                for row, rule in enumerate(rules):
                    allowed = rule.conditions[place].categories or ()
                    if not rule.conditions[place].full_range:
                        inside = np.array([category in allowed for category in scale.categories], dtype=np.float64)
                        upper[row, scale.positions] = inside
                        lower[row, scale.positions] = inside if len(allowed) == 1 else 0.0
        return lower, upper

    def winners(self, rules: Sequence[Rule], samples: FloatArray) -> IntArray:
        """Return for each coded sample the place of the nearest rule; on ties the better factor, then the first."""
        order = by_factor(rules)
        lower, upper = (side[order] for side in self.boxes(rules))
        step = max(1, CELLS // len(rules))
        pieces = [samples[start : start + step] for start in range(0, len(samples), step)]
        return np.concatenate([order[distances(lower, upper, piece).argmin(axis=0)] for piece in pieces])


def by_factor(rules: Sequence[Rule]) -> IntArray:
    """Return the places of the rules in the order in which they take precedence."""
    return np.argsort([-rule.confidence_factor for rule in rules], kind="stable")


def distances(lower: FloatArray, upper: FloatArray, samples: FloatArray) -> FloatArray:
    """Return the L1 distance of each box (row) to each sample (column); exact, as all values are on the grid."""
    total = np.zeros((len(lower), len(samples)))
    for low, high, values in zip(lower.T, upper.T, samples.T, strict=True):
        total += gaps(low[:, None], high[:, None], values)
    return total


def gaps(low: FloatArray, high: FloatArray, values: FloatArray) -> FloatArray:
    """Return how far values lie outside of intervals; 0 where a value is missing, which is no evidence."""
    return np.fmax(np.maximum(low - values, values - high), 0.0)


class Hull(NamedTuple):
    """The box that holds a rule and another one, and of which features it asks nothing."""

    other: int
    lower: FloatArray
    upper: FloatArray
    full: BoolArray


class Simplifier:
    """Rules on the way to becoming fewer and shorter, none of which takes a sample from a rule of another class.

    Boxes only grow, so a sample changes its rule only to one that has just grown.

    Parameters
    ----------
    rules : sequence of Rule
    domain : Domain
    samples : array of shape (n_samples, n_coded_features)
        Coded; their answers stay as they are.
    """

    def __init__(self, rules: Sequence[Rule], domain: Domain, samples: FloatArray) -> None:
        order = by_factor(rules)
        self.rules = [rules[place] for place in order]
        self.domain, self.samples = domain, samples
        self.lower, self.upper = domain.boxes(self.rules)
        self.full = domain.spans(self.lower, self.upper)
        self.low, self.high = domain.levels(self.lower, self.upper)
        self.left_out = np.zeros_like(self.full)
        labels = {label: code for code, label in enumerate(dict.fromkeys(rule.label for rule in self.rules))}
        self.labels = np.array([labels[rule.label] for rule in self.rules])
        self.alive = np.ones(len(self.rules), dtype=bool)
        self.parts = [[place] for place in range(len(self.rules))]
        nearest = distances(self.lower, self.upper, samples)
        self.winner = nearest.argmin(axis=0)
        self.nearest = nearest.min(axis=0)
        self.answers = self.labels[self.winner]
        self.feature_of = np.zeros((samples.shape[1], len(domain.scales)))
        for place, scale in enumerate(domain.scales):
            self.feature_of[scale.positions, place] = 1.0
        self.said: list[str] = []

    def result(self) -> tuple[list[Rule], tuple[str, ...]]:
        """Return the rules that are left, and what was merged and left out."""
        return [self._rule(place) for place in np.flatnonzero(self.alive).tolist()], tuple(self.said)

    def _rule(self, place: int) -> Rule:
        parts = [self.rules[part] for part in self.parts[place]]
        return joined(parts, tuple(self._condition(place, column) for column in range(len(self.domain.scales))))

    def _condition(self, place: int, column: int) -> RuleCondition:
        scale, parts = self.domain.scales[column], self.parts[place]
        if self.left_out[place, column]:
            return scale.whole()
        conditions = [self.rules[part].conditions[column] for part in parts]
        return conditions[0] if len(parts) == 1 else scale.hull(conditions, bool(self.full[place, column]))

    def merge(self) -> None:
        """Merge rules of one class that are neighbours: their levels overlap or adjoin in every feature."""
        for place in range(len(self.rules)):
            refused: list[int] = []
            grown = bool(self.alive[place])
            while grown and len(refused) < NEIGHBOURS:
                grown = False
                for hull in self._hulls(place, refused):
                    grown = self._grow(place, hull)
                    if grown:
                        break
                    refused.append(hull.other)

    def _hulls(self, place: int, refused: list[int]) -> list[Hull]:
        """Return the boxes that hold this rule and a neighbour that comes after it, the smallest first."""
        free = self.alive & (self.labels == self.labels[place])
        free[: place + 1] = False
        free[refused] = False
        others = np.flatnonzero(free)
        touching = (
            self.full[place]
            | self.full[others]
            | ((self.low[others] <= self.high[place] + 1) & (self.low[place] <= self.high[others] + 1))
        )
        others = others[touching.all(axis=1)]
        lower = np.minimum(self.lower[place], self.lower[others])
        upper = np.maximum(self.upper[place], self.upper[others])
        smallest = np.argsort((upper - lower).sum(axis=1), kind="stable")[: NEIGHBOURS - len(refused)]
        others, lower, upper = others[smallest], lower[smallest], upper[smallest]
        full = self.full[place] | self.full[others] | self.domain.spans(lower, upper)
        self.domain.open(lower, upper, full)
        return [Hull(*parts) for parts in zip(others.tolist(), lower, upper, full, strict=True)]

    def _grow(self, place: int, hull: Hull) -> bool:
        """Let a rule swallow another, unless a sample would get another answer, or nothing would be asked of any."""
        if hull.full.all() and not self.full[place].all() and not self._is_last(place, hull.other):
            return False
        if not self._takes_over(place, gaps(hull.lower, hull.upper, self.samples).sum(axis=1)):
            return False
        self.said.append(f"{self._name(place)}: merged with {self._nodes(hull.other)}")
        self.lower[place], self.upper[place], self.full[place] = hull.lower, hull.upper, hull.full
        low, high = self.domain.levels(hull.lower[None], hull.upper[None])
        self.low[place], self.high[place] = low[0], high[0]
        self.left_out[place] |= self.left_out[hull.other]
        self.parts[place] += self.parts[hull.other]
        self.alive[hull.other] = False
        return True

    def leave_out(self) -> None:
        """Leave out conditions, of each rule the widest first."""
        n_coded = np.maximum(self.feature_of.sum(axis=0), 1.0)
        for place in np.flatnonzero(self.alive).tolist():
            low, high = self.lower[place], self.upper[place]
            by_feature = gaps(low, high, self.samples) @ self.feature_of
            distance = by_feature.sum(axis=1)
            widths = (high - low) @ self.feature_of / n_coded
            for column in np.argsort(-widths, kind="stable"):
                if self._may_open(place, column) and self._takes_over(place, distance - by_feature[:, column]):
                    distance -= by_feature[:, column]
                    self._open(place, int(column))

    def _may_open(self, place: int, column: int) -> bool:
        """Tell whether a condition may go: the last one of a rule only where no rule comes after it."""
        asks_nothing_else = int((~self.full[place]).sum()) == 1
        return not self.full[place, column] and (not asks_nothing_else or self._is_last(place))

    def _is_last(self, place: int, other: int | None = None) -> bool:
        """Tell whether no rule, but for another one that goes, comes after a rule."""
        return not any(later != other for later in np.flatnonzero(self.alive[place + 1 :]) + place + 1)

    def _open(self, place: int, column: int) -> None:
        said = phrase(self._condition(place, column), self.domain.scales[column])
        self.said.append(f"{self._name(place)}: left out {said}")
        self.left_out[place, column] = self.full[place, column] = True
        positions = self.domain.scales[column].positions
        self.lower[place, positions], self.upper[place, positions] = 0.0, 1.0

    def _takes_over(self, place: int, distance: FloatArray) -> bool:
        """Give a rule with new distances the samples it is nearest to, unless one would get another answer."""
        nearer = (distance < self.nearest) | ((distance == self.nearest) & (place <= self.winner))
        if (self.answers[nearer] != self.labels[place]).any():
            return False
        self.nearest[nearer], self.winner[nearer] = distance[nearer], place
        return True

    def _name(self, place: int) -> str:
        return f"{self.rules[place].label}, {self._nodes(place)}"

    def _nodes(self, place: int) -> str:
        nodes = sorted(node for part in self.parts[place] for node in self.rules[part].nodes)
        return f"node{'s' if len(nodes) > 1 else ''} {', '.join(map(str, nodes))}"


def simplified(rules: Sequence[Rule], domain: Domain, samples: FloatArray) -> tuple[list[Rule], tuple[str, ...]]:
    """Return fewer and shorter rules with the same answers for some coded samples, and what was merged and left out."""
    if not rules:
        return [], ()
    simplifier = Simplifier(rules, domain, samples)
    simplifier.merge()
    simplifier.leave_out()
    simplifier.merge()
    return simplifier.result()
