"""Extraction of box rules from a model: one rule per labelled box, simplification, and lookup for predictions."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sslart._art.geometry import distances, gaps
from sslart._data.labels import UNLABELLED, Label, check_has_label
from sslart._mapping.evidence.boxes import PackedBoxes
from sslart._mapping.model_view import MemberView, ModelView, PredictionBatch, view_of
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.text import printable
from sslart._utils.validation import check_number
from sslart.rules._box_rules import (
    DEFAULT_LEVELS,
    Domain,
    Rule,
    RuleCondition,
    condition_text,
    precedence,
    scales_of,
)
from sslart.rules._rule_sets import RuleSet

USAGE_SHARE = 0.5  # γ of Carpenter and Tan
MAX_NEIGHBOURS = 16  # nearest rules that a rule is tried to be merged with
NO_RULE = -1
ROWS_PER_PART = 2048


def box_rules_of(model: Any, levels: Any, terms: Any, min_confidence: Any, min_support: Any, simplify: Any) -> RuleSet:
    """Return one rule per labelled box: see `sslart.rules.rules_of`."""
    view = view_of(model, "a fitted classifier of sslart to make rules of")
    domain = domain_of(view, levels, terms)
    if domain.uses_evidence and simplify is not False:
        raise ValueError(
            "simplify keeps the prediction of the nearest rule, but with mapping='evidence' no single rule decides a "
            "prediction: all boxes contribute. Leave simplify at False, or fit with mapping='one-to-many'."
        )
    confidence = check_number("rules", "min_confidence", min_confidence, 0, 1)
    support = check_number("rules", "min_support", min_support, 0)
    samples = None if simplify is False else _read_simplify(view, simplify)
    rules = RuleSet(tuple(_extract(view, domain)), domain).filter(min_confidence=confidence, min_support=support)
    if samples is None or not rules:
        return rules
    fewer = Simplifier(rules, domain, samples)
    fewer.merge()
    fewer.leave_out()
    fewer.merge()
    return RuleSet(tuple(fewer.remaining()), domain, tuple(fewer.log))


def domain_of(view: ModelView, levels: Any, terms: Any) -> Domain:
    check_has_label(view.class_table)
    encoder = view.members[0].encoder
    scales = scales_of(encoder, view.feature_names, levels, terms)
    return Domain(encoder, scales, view.classes, len(view.members), view.reader, view.uses_evidence)


def _read_simplify(view: ModelView, simplify: Any) -> FloatArray:
    """Return the labelled samples of `simplify=(X, y)`, coded."""
    try:
        X, y = simplify
    except (TypeError, ValueError):
        raise ValueError(
            "simplify must be False or a pair of labelled samples: simplify=(X, y), such as those the model has "
            "learnt. The model does not keep them, and without them it is not known which predictions would change."
        ) from None
    table = view.read(X)
    labels = view.read_labels(y, table)
    if not labels.known.any():
        raise ValueError("simplify=(X, y) has no labelled sample in y: give the classes of some samples.")
    return view.members[0].encode(table[labels.known])


class BoxGroups(NamedTuple):
    """The labelled boxes of a model in the order of their rules; equal boxes of an ensemble are grouped."""

    nodes: list[IntArray]  # numbered over all members
    member_of: list[IntArray]
    lower: FloatArray
    upper: FloatArray
    labels: IntArray  # class indices
    counts: CountArray
    support: CountArray
    factors: FloatArray


def box_groups(view: ModelView, domain: Domain) -> BoxGroups:
    """Return the labelled boxes of a model, by decreasing confidence factor, then decreasing support."""
    members = view.members
    member_of = np.repeat(np.arange(len(members)), [member.n_nodes for member in members])
    labels = np.concatenate([member.labels for member in members])
    nodes = np.flatnonzero(labels != UNLABELLED)
    member_of, labels = member_of[nodes], labels[nodes]
    lower, upper = (np.concatenate(sides)[nodes] for sides in zip(*(member.boxes for member in members), strict=True))
    counts = np.concatenate([member.counts for member in members])[nodes]
    support = np.concatenate([member.support for member in members])[nodes]
    groups = [np.array([index]) for index in range(len(nodes))]
    if view.is_ensemble:
        groups = _equal_rows(_readings(domain, lower, upper, labels))
        lower = np.array([lower[group].min(axis=0) for group in groups])  # (1, 0) in features without a value
        upper = np.array([upper[group].max(axis=0) for group in groups])
        counts = np.array([counts[group].sum(axis=0) for group in groups])
        support = np.array([support[group].sum() for group in groups])
        labels = labels[[group[0] for group in groups]]
    own = counts[np.arange(len(labels)), labels]
    factors = _confidence_factors(own, own / counts.sum(axis=1), labels)
    order = np.lexsort((-support, -factors))
    in_order = [groups[index] for index in order]
    return BoxGroups(
        [nodes[group] for group in in_order],
        [member_of[group] for group in in_order],
        lower[order],
        upper[order],
        labels[order],
        counts[order],
        support[order],
        factors[order],
    )


def _extract(view: ModelView, domain: Domain) -> list[Rule]:
    """Return the rules of all labelled boxes; equal rules of an ensemble are merged."""
    found, classes = box_groups(view, domain), domain.classes.tolist()
    evidence = np.concatenate([_inside_contributions(member) for member in view.members])
    return [
        Rule(
            classes[found.labels[place]],
            conditions,
            dict(zip(classes, found.counts[place].tolist(), strict=True)),
            found.support[place].item(),
            float(found.factors[place]),
            tuple(found.nodes[place].tolist()),
            tuple(np.unique(found.member_of[place]).tolist()),
            _mean_evidence(evidence[found.nodes[place]], found.member_of[place], classes),
        )
        for place, conditions in enumerate(domain.conditions(found.lower, found.upper))
    ]


def _inside_contributions(member: MemberView) -> FloatArray:
    """Return the scores that samples inside each box get, (n_nodes, n_classes).

    NaN if the box has no weight, or has changed since the last selection of settings.
    """
    contributions = np.full((member.n_nodes, len(member.class_table.classes)), np.nan)
    readout, chosen = member.readout, member.at_choice
    if readout is not None:
        own = readout.inside_contributions()
        weighted = ~np.isnan(own[:, 0])
        nodes, found = readout.nodes[weighted], member.class_table.with_unseen(own[weighted])
        if chosen is not member:
            there = np.flatnonzero(nodes < member.n_nodes)
            before, now = (np.hstack(one.network.boxes_in_units(nodes[there])) for one in (chosen, member))
            same = before.shape == now.shape and (np.nan_to_num(before) == np.nan_to_num(now)).all(axis=1)
            there = there[same] if np.ndim(same) else there[:0]
            nodes, found = nodes[there], found[there]
        contributions[nodes] = found
    return contributions


def _mean_evidence(contributions: FloatArray, members: IntArray, classes: list[Label]) -> dict[Label, float] | None:
    """Return the total evidence of the boxes of a rule, averaged over its members; None if no box has a weight."""
    if np.isnan(contributions).all():
        return None
    total = np.nansum(contributions, axis=0) / len(np.unique(members))
    return dict(zip(classes, total.tolist(), strict=True))


def _confidence_factors(own: IntArray, confidence: FloatArray, labels: IntArray) -> FloatArray:
    """Return the confidence factor of each rule, given its labels of its class, their share, and its class."""
    most, best = np.zeros(labels.max() + 1), np.zeros(labels.max() + 1)
    np.maximum.at(most, labels, own)
    np.maximum.at(best, labels, confidence)
    return np.asarray(USAGE_SHARE * own / most[labels] + (1 - USAGE_SHARE) * confidence / best[labels])


def _readings(domain: Domain, lower: FloatArray, upper: FloatArray, labels: IntArray) -> IntArray:
    """Return a row of numbers for each box, equal for boxes with the same text: class, levels and categories."""
    full: BoolArray = domain.spans(lower, upper)
    low, high = domain.levels(lower, upper)
    allowed = [
        (upper[:, scale.positions] > 0) & ~full[:, [column]]
        for column, scale in enumerate(domain.scales)
        if scale.categories is not None
    ]
    return np.column_stack([labels, np.where(full, 0, low), np.where(full, 0, high), *allowed])


def _equal_rows(rows: IntArray) -> list[IntArray]:
    """Return the indices of equal rows, group by group."""
    groups = defaultdict(list)
    for index, row in enumerate(rows):
        groups[row.tobytes()].append(index)
    return list(map(np.array, groups.values()))


class Hull(NamedTuple):
    """The bounding box of two rules, and the features in which it spans the whole range."""

    other: int
    lower: FloatArray
    upper: FloatArray
    full: BoolArray


class Simplifier:
    """Simplification of rules by merging and by dropping conditions, without changing the prediction of any sample.

    Boxes only grow, so that a sample can only move to the rule that has just grown.
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

    def remaining(self) -> list[Rule]:
        """Return the rules that are left."""
        return [self._rule(index) for index in np.flatnonzero(self.kept).tolist()]

    def _rule(self, index: int) -> Rule:
        """Return a merged rule: the sum of counts and supports, and the highest confidence factor."""
        parts = [self.rules[part] for part in self.parts[index]]
        return Rule(
            parts[0].label,
            tuple(self._condition(index, column) for column in range(len(self.domain.scales))),
            {label: sum(part.counts[label] for part in parts) for label in parts[0].counts},
            sum(part.support for part in parts),
            max(part.confidence_factor for part in parts),
            tuple(sorted(node for part in parts for node in part.nodes)),
            tuple(sorted({member for part in parts for member in part.members})),
        )

    def _condition(self, index: int, column: int) -> RuleCondition:
        scale, parts = self.domain.scales[column], self.parts[index]
        if self.left_out[index, column]:
            return scale.whole()
        conditions = [self.rules[part].conditions[column] for part in parts]
        return conditions[0] if len(parts) == 1 else scale.hull(conditions, bool(self.full[index, column]))

    def merge(self) -> None:
        """Merge neighbouring rules of one class, whose levels overlap or adjoin in every feature."""
        for index in range(len(self.rules)):
            refused: list[int] = []
            grown = bool(self.kept[index])
            while grown and len(refused) < MAX_NEIGHBOURS:
                hulls = self._hulls(index, refused)
                place = next((place for place, hull in enumerate(hulls) if self._grow(index, hull)), None)
                refused += [hull.other for hull in hulls[:place]]
                grown = place is not None

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
        """Merge a rule into another one, unless a prediction changes or a rule before the last loses all conditions."""
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
        """Drop conditions, the widest of each rule first."""
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
        """Return True if a condition may be dropped; the only one of a rule only if the rule is the last."""
        is_only_condition = int((~self.full[index]).sum()) == 1
        return not self.full[index, column] and (not is_only_condition or self._is_last(index))

    def _is_last(self, index: int, other: int | None = None) -> bool:
        """Return True if no rule follows this one, except for one about to be merged."""
        return not any(later != other for later in np.flatnonzero(self.kept[index + 1 :]) + index + 1)

    def _open(self, index: int, column: int) -> None:
        scale = self.domain.scales[column]
        text = condition_text(self._condition(index, column), scale)
        self.log.append(f"{self._name(index)}: left out {text}")
        self.left_out[index, column] = self.full[index, column] = True
        self.lower[index, scale.positions], self.upper[index, scale.positions] = 0.0, 1.0

    def _takes_over(self, index: int, distance: FloatArray) -> bool:
        """Reassign samples to a rule with new distances; return False if a prediction would change."""
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


class RuleNumbers:
    """Lookup of the numbers of box rules for predictions, without building the rules of `rules_of(kind="boxes")`.

    If one box decides a prediction, it is the rule of that box. In an ensemble or with evidence mapping, it is the
    nearest rule of the predicted class.
    """

    def __init__(self, view: ModelView) -> None:
        if view.uses_one_box:
            return
        found = box_groups(view, domain_of(view, DEFAULT_LEVELS, None))
        single = len(view.members) == 1
        numbers = np.array([own[0] for own in found.nodes]) if single else np.arange(1, len(found.nodes) + 1)
        self._of_class = [
            (label, numbers[own], PackedBoxes.of(found.lower[own], found.upper[own]))
            for label in np.unique(found.labels).tolist()
            for own in [found.labels == label]
        ]

    def __call__(self, batch: PredictionBatch, indices: IntArray) -> IntArray:
        """Return the number of the rule for each sample, given its predicted class index; -1 for -1."""
        if batch.view.uses_one_box:
            return np.where(indices == UNLABELLED, NO_RULE, batch.all_nodes()[0])
        numbers = np.full(len(indices), NO_RULE)
        for label, own, boxes in self._of_class:
            rows = np.flatnonzero(indices == label)
            for start in range(0, len(rows), ROWS_PER_PART):
                part = rows[start : start + ROWS_PER_PART]
                numbers[part] = own[boxes.distances(batch.coded[0][part]).argmin(axis=1)]
        return numbers
