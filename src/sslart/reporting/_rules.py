"""The rules of a report: those with most samples, their conditions with the most telling first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sslart._data.classes import Label
from sslart.explain._format_evidence import amount
from sslart.plotting._style import asked_share
from sslart.rules import RuleSet
from sslart.rules._format import phrase
from sslart.rules._scales import Rule, Scale


@dataclass(frozen=True)
class RuleLine:
    """One rule, ready to be shown.

    Attributes
    ----------
    number : int
        Place in the rule set, from 1.
    label : class
    confidence : float
    n_own, n_labelled, support, n_members : int
        Labelled samples of its class, all labelled samples, all samples, and members of an ensemble that hold it.
    others : tuple of (class, share)
        The other classes among its labelled samples.
    conditions : tuple of (column, feature, words)
        The narrowest first.
    evidence : tuple of (class, amount)
        What its box says, the most first; empty where it says nothing, or boxes do not speak.
    """

    number: int
    label: Label
    confidence: float
    n_own: int
    n_labelled: int
    support: int
    n_members: int
    others: tuple[tuple[Label, float], ...]
    conditions: tuple[tuple[int, str, str], ...]
    evidence: tuple[tuple[Label, str], ...]


def rule_lines(rules: RuleSet, most: int) -> list[RuleLine]:
    """Return the rules with most samples, in the order of the rule set."""
    scales = rules._domain.scales
    largest = sorted(range(len(rules)), key=lambda place: -rules[place].support)[:most]
    return [_line(place + 1, rules[place], scales) for place in sorted(largest)]


def _line(number: int, rule: Rule, scales: Sequence[Scale]) -> RuleLine:
    pairs = zip(rule.conditions, scales, strict=True)
    asked = [(place, *pair) for place, pair in enumerate(pairs) if not pair[0].full_range]
    asked.sort(key=lambda one: -asked_share(one[1], one[2]))
    return RuleLine(
        number,
        rule.label,
        rule.confidence,
        rule.counts[rule.label],
        rule.n_labelled,
        rule.support,
        rule.n_members,
        tuple((label, part) for label, part in rule.confidences.items() if part and label != rule.label),
        tuple(
            (place, condition.feature, phrase(condition, scale).removeprefix(f"{condition.feature} "))
            for place, condition, scale in asked
        ),
        tuple((label, amount(said)) for label, said in sorted((rule.evidence or {}).items(), key=lambda one: -one[1])),
    )


def rule_numbers(rules: RuleSet) -> dict[int, int]:
    """Return the number of the rule that each node is part of."""
    return {node: number for number, rule in enumerate(rules, start=1) for node in rule.nodes}
