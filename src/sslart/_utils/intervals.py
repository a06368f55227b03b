"""Confidence intervals of shares: Wilson's interval, means and differences of shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

Z = 1.959963984540054  # 97.5 % quantile of the normal distribution


@dataclass(frozen=True)
class Estimate:
    """A share with its 95 % interval; `count` of `total`, unless it is a mean of shares. None if there are no data."""

    value: float | None
    low: float | None
    high: float | None
    count: int | None = None
    total: int | None = None

    def __str__(self) -> str:
        if self.value is None or self.low is None or self.high is None:
            return "nothing to count"
        return f"{100 * self.value:.1f} % (95 % interval {100 * self.low:.1f} to {100 * self.high:.1f} %)"


def wilson(count: float, total: float) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share; (0, 1) if `total` is 0.

    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    if not total:
        return 0.0, 1.0
    share, weight = count / total, Z**2 / total
    middle, spread = share + weight / 2, Z * sqrt(share * (1 - share) / total + weight / (4 * total))
    low, high = (middle - spread) / (1 + weight), (middle + spread) / (1 + weight)
    return (0.0 if count == 0 else low), (1.0 if count == total else high)


def share(count: int, total: int) -> Estimate:
    """Return a share with its Wilson interval."""
    if total == 0:
        return Estimate(None, None, None, count, total)
    return Estimate(count / total, *wilson(count, total), count, total)


def mean_share(shares: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent shares; the interval combines theirs by root sum of squares (Newcombe 1998)."""
    known = [(one.value, one.low, one.high) for one in shares if one.value is not None]
    if not known:
        return Estimate(None, None, None)
    mean = sum(value for value, _, _ in known) / len(known)
    below = sqrt(sum((value - (low or 0.0)) ** 2 for value, low, _ in known)) / len(known)
    above = sqrt(sum(((high or 0.0) - value) ** 2 for value, _, high in known)) / len(known)
    return Estimate(mean, max(mean - below, 0.0), min(mean + above, 1.0))


def difference(first: Estimate, second: Estimate) -> Estimate | None:
    """Return the second share minus the first, with Newcombe's 95 % interval; None if either is unknown.

    >>> found = difference(share(8, 20), share(18, 20))
    >>> round(found.value, 2), round(found.low, 2), round(found.high, 2)
    (0.5, 0.21, 0.7)
    """
    ends = first.value, first.low, first.high, second.value, second.low, second.high
    if None in ends:
        return None
    old, old_low, old_high, new, new_low, new_high = (end or 0.0 for end in ends)
    below, above = (
        sqrt((new - new_low) ** 2 + (old_high - old) ** 2),
        sqrt((new_high - new) ** 2 + (old - old_low) ** 2),
    )
    return Estimate(new - old, new - old - below, new - old + above)
