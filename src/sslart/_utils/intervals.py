"""Confidence intervals of shares: Wilson's interval, means and differences of shares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, lgamma, log, sqrt

Z = 1.959963984540054  # 97.5 % quantile of the normal distribution
REJECTED = 20.0  # likelihood ratio against a share that rejects it: a true one reaches it with a probability of 1/20
CLOSE = 1e-9  # accuracy of the ends of a confidence sequence


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


def confidence_sequence(count: float, total: float) -> tuple[float, float]:
    """Return a 95 % interval of a share that holds at every look while observations are added.

    It contains the shares that a mixture of likelihood ratios, with a uniform prior, does not reject (Robbins 1970).

    >>> [round(end, 3) for end in confidence_sequence(36, 40)]
    [0.688, 0.988]
    """
    least = lgamma(count + 1) + lgamma(total - count + 1) - lgamma(total + 2) - log(REJECTED)

    def is_inside(share: float) -> bool:
        terms = ((count, share), (total - count, 1.0 - share))
        return sum(n * log(p) if p > 0 else -inf for n, p in terms if n) >= least

    ends = []
    for end in (0.0, 1.0):
        inside = count / total if total else end
        while abs(end - inside) > CLOSE and not is_inside(end):
            middle = (inside + end) / 2
            inside, end = (middle, end) if is_inside(middle) else (inside, middle)
        ends.append(end)
    return ends[0], ends[1]


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
