"""Rules of a model as data, text and tables: ranges and categories, coverage, agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from math import floor, isnan, log10, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.encoder import Category
from sslart._data.labels import Label
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.intervals import wilson
from sslart._utils.text import DateName, Day, category_text, plural, printable

MAX_DIGITS = 20  # of a decimal that separates two values
NO_PREDICTION = "no prediction"
HEAD = ("No.", "class", "conditions", "covers", "agrees with the model", "right, of labelled")


@dataclass(frozen=True)
class ModelCondition:
    """Condition of a rule on one feature: a range, or a set of categories.

    A missing value meets a condition only where `missing` is true.

    Attributes
    ----------
    feature : str
        Name of the feature.
    low, high : float or None
        A value must be above `low` and at most `high`; None for no limit.
    categories : tuple or None
        Categories of the condition; None for a numeric feature.
    negated : bool
        Whether the value must not be in `categories`, instead of in it.
    missing : bool
        Whether missing values meet the condition too.
    only_missing : bool
        Whether only missing values meet the condition.
    """

    feature: str
    low: float | None = None
    high: float | None = None
    categories: tuple[Category, ...] | None = None
    negated: bool = False
    missing: bool = False
    only_missing: bool = False

    @property
    def n_bounds(self) -> int:
        """Number of comparisons in the condition: two for a range with both ends, otherwise one."""
        return 2 if self.low is not None and self.high is not None else 1

    def holds_for(self, values: NDArray[Any]) -> BoolArray:
        """Return a mask of the values of the feature that meet the condition; NaN or None are missing values."""
        if values.dtype == object:
            known = np.array([value is not None for value in values], dtype=bool)
            named = set(self.categories or ())
            met = np.array([(value in named) != self.negated for value in values], dtype=bool)
        else:
            known = ~np.isnan(values)
            met = known.copy()
            if self.low is not None:
                met &= values > self.low
            if self.high is not None:
                met &= values <= self.high
        return np.where(known, met & (not self.only_missing), self.missing)


@dataclass(frozen=True)
class Share:
    """A share of labelled samples, with its 95 % interval by Wilson's formula.

    Attributes
    ----------
    count, total : int
    """

    count: int
    total: int

    @property
    def value(self) -> float:
        """The share; NaN if `total` is 0."""
        return self.count / self.total if self.total else nan

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end of the interval; (0, 1) if `total` is 0.

        Examples
        --------
        >>> from sslart.rules import Share
        >>> low, high = Share(1, 1).interval
        >>> round(low, 2), round(high, 2)
        (0.21, 1.0)
        """
        return wilson(self.count, self.total)


@dataclass(frozen=True)
class ModelRule:
    """If-then rule that agrees with a model: if all conditions hold, the model mostly predicts this class.

    Attributes
    ----------
    number : int
        Number in the rule set, from 1.
    label : class or None
        The class; None if the model mostly abstains.
    conditions : tuple of ModelCondition
        At most one per feature; empty for the default rule.
    is_default : bool
        Whether the rule is for all samples that meet no other rule.
    n_covered : int
        Number of samples covered by the rule, among those used to extract the rules.
    coverage : float
        Their share.
    n_held_out : int
        How many of them were held out: the rules were made without them.
    n_agreeing : int
        For how many of these the model predicts the class of the rule.
    right : Share
        Of the labelled samples that the rule covers, those that have its class; labels that are left out together
        count one.
    """

    number: int
    label: Label | None
    conditions: tuple[ModelCondition, ...]
    is_default: bool
    n_covered: int
    coverage: float
    n_held_out: int
    n_agreeing: int
    right: Share

    @property
    def agreement(self) -> float:
        """Share of `n_held_out` for which the model predicts the class of the rule; NaN without a sample."""
        return self.n_agreeing / self.n_held_out if self.n_held_out else nan


def first_met(antecedents: Sequence[Sequence[ModelCondition]], names: Sequence[str], table: Table) -> IntArray:
    """Return the index of the antecedent that each sample meets; the last one is for the rest."""
    places = np.full(len(table), len(antecedents) - 1)
    for place, conditions in enumerate(antecedents[:-1]):
        met = np.ones(len(table), dtype=bool)
        for condition in conditions:
            column = names.index(condition.feature)
            met &= condition.holds_for(table.categories.get(column, table.values[:, column]))
        places[met] = place
    return places


def short_decimal(low: float, high: float) -> float:
    """Return the number with the fewest decimals from `low` up to, but not including, `high`; then the most central.

    The printed number is then exactly the number used in comparisons.

    Examples
    --------
    >>> from sslart.rules._model_rules import short_decimal
    >>> short_decimal(2.0, 3.0), short_decimal(0.62, 0.871), short_decimal(5.2, 5.3)
    (2.0, 0.7, 5.2)
    """
    middle = (Decimal(repr(float(low))) + Decimal(repr(float(high)))) / 2
    first = floor(log10(high - low)) + 1 if high - low > 0 else 0
    for exponent in range(first, first - MAX_DIGITS, -1):
        step = Decimal(1).scaleb(exponent)
        near = [(middle / step).to_integral_value(way) * step for way in (ROUND_FLOOR, ROUND_CEILING)]
        inside = [value for value in near if low <= float(value) < high]
        if inside:
            return float(min(inside, key=lambda value: abs(value - middle))) + 0.0
    return low


def number_repr(value: float) -> str:
    """Return a number as text that is exact in Python and SQL and short for a reader.

    Examples
    --------
    >>> from sslart.rules._model_rules import number_repr
    >>> number_repr(2.0), number_repr(0.1), number_repr(1e-7)
    ('2', '0.1', '1e-07')
    """
    return repr(float(value)).removesuffix(".0")


def share_text(value: float) -> str:
    """Return a share in percent, rounded to 0 or 100 only if it is exactly that.

    Examples
    --------
    >>> from sslart.rules._model_rules import share_text
    >>> share_text(0.5), share_text(0.9996), share_text(1.0), share_text(float("nan"))
    ('50 %', '99.9 %', '100 %', 'unknown')
    """
    if isnan(value):
        return "unknown"
    if value in (0.0, 1.0):
        return f"{100 * value:.0f} %"
    digits = 0 if 0.1 <= value <= 0.9 else 1
    return f"{min(max(100 * value, 0.1), 99.9):.{digits}f} %"


def condition_text(condition: ModelCondition) -> str:
    """Return a condition in words: "2.5 < width ≤ 4", "colour is red or blue", "age ≤ 30 or missing"."""
    name, low, high = printable(condition.feature), condition.low, condition.high
    if condition.only_missing:
        return f"{name} is missing"
    if condition.categories:
        named = " or ".join(map(category_text, condition.categories))
        text = f"{name} is {'not ' if condition.negated else ''}{named}"
    elif high is not None:
        text = f"{'' if low is None else f'{_limit(condition, low)} < '}{name} ≤ {_limit(condition, high)}"
    else:
        text = f"{name} is known" if low is None else f"{name} > {_limit(condition, low)}"
    return f"{text} or missing" if condition.missing else text


def _limit(condition: ModelCondition, value: float) -> str:
    return str(Day(value)) if isinstance(condition.feature, DateName) else number_repr(value)


def conditions_text(rule: ModelRule, *, alone: bool) -> str:
    """Return the conditions of a rule in one line; those of the default rule as "otherwise", or "in every case"."""
    if rule.conditions:
        return ", and ".join(map(condition_text, rule.conditions))
    return "in every case" if alone else "otherwise"


def label_text(rule: ModelRule) -> str:
    """Return the class of a rule."""
    return NO_PREDICTION if rule.label is None else printable(rule.label)


def right_text(share: Share) -> str:
    """Return a share of labelled samples with its interval, such as "9 of 10 (90 %, 95 % interval 60 % to 98 %)"."""
    if not share.total:
        return "none labelled"
    low, high = (share_text(end) for end in share.interval)
    value = "" if share.total == 1 else f"{share_text(share.value)}, "
    return f"{share.count} of {share.total} ({value}95 % interval {low} to {high})"


def covers_text(rule: ModelRule, n_samples: int, *, about: bool) -> str:
    """Return a text on the number of samples that a rule covers."""
    return f"{'about ' if about else ''}{rule.n_covered} of {n_samples} samples ({share_text(rule.coverage)})"


def _agrees_text(rule: ModelRule) -> str:
    if not rule.n_held_out:
        return "not measured"
    return f"{rule.n_agreeing} of {rule.n_held_out} held out ({share_text(rule.agreement)})"


def rule_text(rule: ModelRule, n_samples: int, *, alone: bool, about: bool) -> str:
    """Return the text of a rule, with its coverage and accuracy."""
    conditions = conditions_text(rule, alone=alone)
    sentence = f"if {conditions}, then" if rule.conditions else conditions
    right = f"labelled samples: {rule.right.total}"
    if rule.label is not None:
        right = f"right on labelled samples: {right_text(rule.right)}"
    return (
        f"Rule {rule.number}: {sentence} {label_text(rule)}\n"
        f"   covers {covers_text(rule, n_samples, about=about)}; the model agrees: {_agrees_text(rule)}\n"
        f"   {right}"
    )


def rule_cells(rule: ModelRule, n_samples: int, *, alone: bool, about: bool) -> list[str]:
    """Return one row of the table below `HEAD`."""
    return [
        str(rule.number),
        label_text(rule),
        conditions_text(rule, alone=alone),
        covers_text(rule, n_samples, about=about),
        _agrees_text(rule),
        plural(rule.right.total, "label") if rule.label is None else right_text(rule.right),
    ]


def rule_values(rule: ModelRule) -> dict[str, Any]:
    """Return a rule as plain values that JSON can hold."""
    return {
        "number": rule.number,
        "label": rule.label,
        "is_default": rule.is_default,
        "conditions": [_condition_values(condition) for condition in rule.conditions],
        "n_covered": rule.n_covered,
        "coverage": rule.coverage,
        "n_held_out": rule.n_held_out,
        "n_agreeing": rule.n_agreeing,
        "agreement": rule.agreement if rule.n_held_out else None,
        "n_labelled": rule.right.total,
        "n_right": rule.right.count,
        "right_interval": list(rule.right.interval),
    }


def _condition_values(condition: ModelCondition) -> dict[str, Any]:
    values: dict[str, Any] = {"feature": condition.feature, "text": condition_text(condition)}
    if condition.categories is not None:
        values |= {"categories": list(condition.categories), "negated": condition.negated}
    else:
        values |= {"above": condition.low, "at_most": condition.high}
    return {**values, "missing": condition.missing, "only_missing": condition.only_missing}


def bounds(condition: ModelCondition) -> dict[str, Any]:
    """Return a condition as cells of a table, by the name of their column."""
    name = condition.feature
    missing = {f"{name} missing": "only" if condition.only_missing else "yes"} if condition.missing else {}
    if condition.categories is not None:
        named = "|".join(map(str, condition.categories))
        return {f"{name} {'is not' if condition.negated else 'is'}": named, **missing}
    limits = {f"{name} above": condition.low, f"{name} at most": condition.high}
    given = {place: limit for place, limit in limits.items() if limit is not None}
    return {**given, **missing} or {f"{name} missing": "no"}
