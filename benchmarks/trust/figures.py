"""Means over data sets and shares of splits, and how they are printed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Result = dict[str, Any]
Value = Callable[[Result], float | None]
LIMIT = 2.0  # standard errors: what is nearer than that may be chance


@dataclass(frozen=True)
class Mean:
    """A mean over data sets, each of which counts once, with its standard error over the sets."""

    value: float
    error: float
    n_sets: int

    def percent(self, sign: bool = False) -> str:
        if np.isnan(self.value):
            return ""
        error = "" if np.isnan(self.error) else f" ± {100 * self.error:.1f}"
        return f"{100 * self.value:{'+' if sign else ''}.1f}{error}"

    def at_least(self, level: float) -> bool:
        """Return True if the mean reaches a level, but for chance."""
        return self.value >= level - LIMIT * self.error

    def at_most(self, level: float) -> bool:
        """Return True if the mean does not exceed a level, but for chance; a mean of nothing does not."""
        return not self.value > level + LIMIT * self.error


def by_set(results: Iterable[Result], value: Value) -> dict[str, float]:
    """Return the mean of a value over the splits of each set; splits without it, and sets without any, are left out."""
    found: dict[str, list[float]] = {}
    for result in results:
        one = value(result)
        if one is not None:
            found.setdefault(result["dataset"], []).append(one)
    return {name: float(np.mean(values)) for name, values in found.items()}


def mean(results: Iterable[Result], value: Value) -> Mean:
    return mean_of(list(by_set(results, value).values()))


def mean_of(values: Sequence[float]) -> Mean:
    if not values:
        return Mean(np.nan, np.nan, 0)
    error = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return Mean(float(np.mean(values)), float(error), len(values))


def share(results: Iterable[Result], true: Callable[[Result], bool]) -> float:
    """Return the share of the splits for which something holds; NaN of none."""
    found = [true(result) for result in results]
    return float(np.mean(found)) if found else np.nan


def count(results: Iterable[Result], true: Callable[[Result], bool]) -> str:
    """Return of how many splits something holds, in words."""
    found = [true(result) for result in results]
    return f"{sum(found):,} of {len(found):,}"


def percent(value: float) -> str:
    return "" if np.isnan(value) else f"{100 * value:.1f}"


def claimed(results: Iterable[Result]) -> list[Result]:
    """Return the splits for which an accuracy is printed."""
    return [result for result in results if result["claim"] is not None]


def at(*path: str) -> Callable[[Result], Any]:
    """Return a function that follows keys into a result; None where one of them has no value."""

    def follow(result: Result) -> Any:
        found: Any = result
        for key in path:
            found = None if found is None else found.get(key)
        return found

    return follow


def too_high(truth: str = "accuracy") -> Value:
    """Return a function: by how much the printed accuracy exceeds what is found; None where none is printed."""
    return lambda one: None if one["claim"] is None else one["claim"] - one[truth]


def ratio(results: Iterable[Result], part: Value, whole: Value) -> Mean:
    """Return the sum of the parts divided by that of the wholes, such as wrong answers among answers.

    Every set counts by its wholes; the standard error is that of a ratio, over the sets.
    """
    known = [one for one in results if whole(one) is not None]
    parts, wholes = by_set(known, part), by_set(known, whole)
    total = sum(wholes.values())
    if not total:
        return Mean(np.nan, np.nan, len(wholes))
    value = sum(parts.values()) / total
    residuals = [parts[name] - value * wholes[name] for name in wholes]
    return Mean(value, float(np.sqrt(np.sum(np.square(residuals))) / total), len(wholes))
