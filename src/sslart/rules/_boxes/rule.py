"""A rule as data: conditions on features, a class, and how well the labels support it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sslart._data.labels import Label

Category = str | bool | int | float | None


@dataclass(frozen=True)
class RuleCondition:
    """Condition of a rule on one feature.

    Attributes
    ----------
    feature : str
        Name of the feature.
    low_level, high_level : int or None
        First and last level that the box reaches, counted from 1; None for a categorical feature.
    low_value, high_value : float
        Sides of the box in the user's units; NaN for a categorical feature, and where no sample has reached the box.
    terms : tuple of str
        The term of each level from the first to the last, or the name of each category.
    full_range : bool
        Whether the condition always holds: the box spans all levels, categories or values, or has no value here yet.
    categories : tuple or None
        The categories that the box allows; None for a numeric feature.
    """

    feature: str
    low_level: int | None
    high_level: int | None
    low_value: float
    high_value: float
    terms: tuple[str, ...]
    full_range: bool
    categories: tuple[Category, ...] | None = None


@dataclass(frozen=True)
class Rule:
    """One box with a label: if all conditions hold, then the label.

    Attributes
    ----------
    label : int, bool or str
        The class that the rule predicts.
    conditions : tuple of RuleCondition
        One per feature, in the order of the features.
    counts : dict from class to int
        Number of labelled samples of each class that the box has learnt; floats where they count less as they age.
    support : int
        Number of samples that the box has learnt, labelled and unlabelled; a float where they count less as they age.
    confidence_factor : float
        Usage and accuracy of the rule among those of its class, from 0 to 1: see `sslart.rules.rules_of`.
    nodes : tuple of int
        The boxes that the rule is made of: rows of the model's `lower_`, `upper_` and `counts_`.
    members : tuple of int
        The members of the ensemble that have the rule: indices in `estimators_`; (0,) for a single model.
    evidence : dict from class to float, or None
        With evidence mapping, what the box adds to the score of each class for a sample inside it; in an ensemble, the
        mean over these members. None for other mappings, and for a box without a weight.
    """

    label: Label
    conditions: tuple[RuleCondition, ...]
    counts: Mapping[Label, float] = field(hash=False)
    support: float
    confidence_factor: float
    nodes: tuple[int, ...]
    members: tuple[int, ...] = (0,)
    evidence: Mapping[Label, float] | None = field(default=None, hash=False)

    @property
    def n_labelled(self) -> float:
        """Number of labelled samples that the box has learnt."""
        return sum(self.counts.values())

    @property
    def n_members(self) -> int:
        """Number of members of an ensemble that have the rule; 1 for a single model."""
        return len(self.members)

    @property
    def confidences(self) -> dict[Label, float]:
        """The share of each class among the labelled samples of the box."""
        total = self.n_labelled
        return {label: count / total for label, count in self.counts.items()}

    @property
    def confidence(self) -> float:
        """Share of the rule's class among the samples of the box."""
        return self.confidences[self.label]


def joined(rules: Sequence[Rule], conditions: tuple[RuleCondition, ...]) -> Rule:
    """Return several rules of one class as one: counts and supports added, the highest confidence factor."""
    return Rule(
        rules[0].label,
        conditions,
        {label: sum(rule.counts[label] for rule in rules) for label in rules[0].counts},
        sum(rule.support for rule in rules),
        max(rule.confidence_factor for rule in rules),
        tuple(sorted(node for rule in rules for node in rule.nodes)),
        tuple(sorted({member for rule in rules for member in rule.members})),
    )
