"""The rules of a report: those with most samples, each with its narrowest conditions first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sslart._data.classes import Label
from sslart._utils.text import count_text, printable
from sslart.explain._text.evidence import amount_text
from sslart.rules import Rule, RuleSet
from sslart.rules._box_rules import Scale, condition_text


@dataclass(frozen=True)
class RuleLine:
    """One rule, ready to be shown.

    Attributes
    ----------
    number : int
        Number in the rule set: that of its box, or in an ensemble of its place.
    label : class
    confidence : float
    n_own, n_labelled : str
        Number of labelled samples of its class, and of all labelled samples.
    support : float
        Number of samples.
    n_members : int
        Members of an ensemble that have it.
    others : tuple of (class, share)
        The other classes among its labelled samples.
    conditions : tuple of (column, feature, words)
        The narrowest first.
    evidence : tuple of (class, amount)
        What its box adds to the score of each class, the highest first; empty without evidence mapping, and for a box
        without a weight.
    """

    number: int
    label: Label
    confidence: float
    n_own: str
    n_labelled: str
    support: float
    n_members: int
    others: tuple[tuple[Label, float], ...]
    conditions: tuple[tuple[int, str, str], ...]
    evidence: tuple[tuple[Label, str], ...]


def rule_lines(rules: RuleSet, most: int) -> list[RuleLine]:
    """Return the rules with most samples, in the order of the rule set."""
    largest = sorted(range(len(rules)), key=lambda index: -rules[index].support)[:most]
    return [_line(rules.numbers[index], rules[index], rules.scales) for index in sorted(largest)]


def _line(number: int, rule: Rule, scales: Sequence[Scale]) -> RuleLine:
    pairs = zip(rule.conditions, scales, strict=True)
    shown = [(column, *pair) for column, pair in enumerate(pairs) if not pair[0].full_range]
    shown.sort(key=lambda one: -one[2].excluded_share(one[1]))
    evidence = sorted((rule.evidence or {}).items(), key=lambda item: -item[1])
    return RuleLine(
        number,
        rule.label,
        rule.confidence,
        count_text(rule.counts[rule.label]),
        count_text(rule.n_labelled),
        rule.support,
        rule.n_members,
        tuple((label, share) for label, share in rule.confidences.items() if share and label != rule.label),
        tuple(
            (
                column,
                condition.feature,
                condition_text(condition, scale).removeprefix(f"{printable(condition.feature)} "),
            )
            for column, condition, scale in shown
        ),
        tuple((label, amount_text(amount)) for label, amount in evidence),
    )


def rule_numbers(rules: RuleSet) -> dict[int, int]:
    """Return the number of the rule that each box is part of."""
    return {node: number for number, rule in zip(rules.numbers, rules, strict=True) for node in rule.nodes}
