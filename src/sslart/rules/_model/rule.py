"""A rule of the model as data: conditions in the user's units, a class, and how far it can be trusted."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.labels import Label
from sslart._utils.arrays import BoolArray
from sslart._utils.intervals import wilson

Category = str | bool | int | float


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
        The categories that are meant; None for a numeric feature.
    negated : bool
        Whether the value must be none of `categories`, instead of one of them.
    missing : bool
        Whether a missing value meets the condition too.
    only_missing : bool
        Whether nothing but a missing value meets the condition.
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
        """Tell for each value of the feature whether it meets the condition; NaN or None where it is missing."""
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
        """The share; NaN where there is nothing to count."""
        return self.count / self.total if self.total else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Lower and upper end of the interval; (0, 1) where there is nothing to count.

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
    """If all conditions hold, the model most often predicts this class.

    Attributes
    ----------
    number : int
        Its number in the rule set, from 1.
    label : class or None
        The class; None where the model most often abstains.
    conditions : tuple of ModelCondition
        At most one per feature; empty for the default rule.
    is_default : bool
        Whether the rule is for all samples that meet no other rule.
    n_covered : int
        How many samples the rule covers, of those that the rules were chosen for.
    coverage : float
        Their share.
    n_agreeing : int
        For how many of them the model predicts the class of the rule.
    right : Share
        Of the labelled samples that the rule covers, those that have its class.
    """

    number: int
    label: Label | None
    conditions: tuple[ModelCondition, ...]
    is_default: bool
    n_covered: int
    coverage: float
    n_agreeing: int
    right: Share

    @property
    def agreement(self) -> float:
        """Share of the samples that the rule covers for which the model predicts its class; NaN without a sample."""
        return self.n_agreeing / self.n_covered if self.n_covered else float("nan")


def share_text(value: float) -> str:
    """Return a share in per cent, never rounded to 0 or 100 if it is neither.

    Examples
    --------
    >>> from sslart.rules._model.rule import share_text
    >>> share_text(0.5), share_text(0.9996), share_text(1.0), share_text(float("nan"))
    ('50 %', '99.9 %', '100 %', 'unknown')
    """
    if isnan(value):
        return "unknown"
    if value in (0.0, 1.0):
        return f"{100 * value:.0f} %"
    digits = 0 if 0.1 <= value <= 0.9 else 1
    return f"{min(max(100 * value, 0.1), 99.9):.{digits}f} %"
