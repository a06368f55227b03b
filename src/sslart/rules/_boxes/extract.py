"""Rules of a classifier: one per labelled box; those of an ensemble that read the same are one."""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import numpy as np

from sslart._data.classes import Label
from sslart._data.labels import UNLABELLED
from sslart._data.training import check_has_label
from sslart._mapping.model_view import MemberView, ModelView, view_of
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.params import check_number
from sslart.rules._boxes.domain import Domain
from sslart.rules._boxes.rule import Rule
from sslart.rules._boxes.rule_set import RuleSet
from sslart.rules._boxes.scales import scales_of
from sslart.rules._boxes.simplify import simplified

USAGE_SHARE = 0.5  # γ of Carpenter and Tan


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
    every = RuleSet(tuple(_extract(view, domain)), domain)
    rules = every.filter(min_confidence=confidence, min_support=support)
    if samples is None:
        return rules
    fewer, dropped = simplified(list(rules), domain, samples)
    return RuleSet(tuple(fewer), domain, dropped)


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
    """The labelled boxes of a model, those of an ensemble in groups that read the same: a rule each, in their order.

    Attributes
    ----------
    nodes, member_of : lists of arrays
        The boxes of each group, numbered through all members, and the members they are of.
    lower, upper : arrays of shape (n_groups, n_features)
    labels : array of length n_groups
        Class indices.
    counts : array of shape (n_groups, n_classes)
    support, factors : arrays of length n_groups
        Number of samples, and confidence factor.
    """

    nodes: list[IntArray]
    member_of: list[IntArray]
    lower: FloatArray
    upper: FloatArray
    labels: IntArray
    counts: CountArray
    support: CountArray
    factors: FloatArray


def box_groups(view: ModelView, domain: Domain) -> BoxGroups:
    """Return the labelled boxes of a model, by falling confidence factor, then falling support."""
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
        lower = np.array([lower[group].min(axis=0) for group in groups])  # a side not reached yet is (1, 0)
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
    """Return the rules of all labelled boxes, those of an ensemble merged where they read the same."""
    found, classes = box_groups(view, domain), domain.classes.tolist()
    evidence = np.concatenate([_inside_contributions(member) for member in view.members])
    return [
        Rule(
            classes[label],
            conditions,
            dict(zip(classes, counts.tolist(), strict=True)),
            support.item(),
            float(factor),
            tuple(nodes.tolist()),
            tuple(np.unique(member_of).tolist()),
            _mean_evidence(evidence[nodes], member_of, classes),
        )
        for nodes, member_of, label, counts, support, factor, conditions in zip(
            found.nodes,
            found.member_of,
            found.labels,
            found.counts,
            found.support,
            found.factors,
            domain.conditions(found.lower, found.upper),
            strict=True,
        )
    ]


def _inside_contributions(member: MemberView) -> FloatArray:
    """Return the score each box adds inside it, (n_nodes, n_classes).

    NaN where it has no weight, or has changed since settings were chosen.
    """
    contributions = np.full((member.n_nodes, len(member.class_table.classes)), np.nan)
    readout, chosen = member.readout, member.at_choice
    if readout is not None:
        own = readout.inside_contributions()
        weighted = ~np.isnan(own[:, 0])
        nodes, found = readout.nodes[weighted], member.class_table.with_unseen(own[weighted])
        if chosen is not member:
            there = np.flatnonzero(nodes < member.n_nodes)
            before, now = chosen.network.boxes_in_units_of(nodes[there]), member.network.boxes_in_units_of(nodes[there])
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
    """Return the confidence factor of each rule, given its number of samples of its class, share, and class."""
    most, best = np.zeros(labels.max() + 1), np.zeros(labels.max() + 1)
    np.maximum.at(most, labels, own)
    np.maximum.at(best, labels, confidence)
    return np.asarray(USAGE_SHARE * own / most[labels] + (1 - USAGE_SHARE) * confidence / best[labels])


def _readings(domain: Domain, lower: FloatArray, upper: FloatArray, labels: IntArray) -> IntArray:
    """Return a row of numbers for each box, equal where boxes read the same: class, levels and categories."""
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
    return [np.array(group) for group in groups.values()]
