"""Intervals for shares of samples."""

from __future__ import annotations

from math import sqrt

Z = 1.959963984540054  # a normal variable lies within ±Z with probability 0.95


def wilson(count: int, total: int) -> tuple[float, float]:
    """Return the 95 % interval of a share by Wilson's formula; (0, 1) where there is nothing to count.

    Examples
    --------
    >>> from sslart._utils.intervals import wilson
    >>> [round(end, 3) for end in wilson(9, 10)]
    [0.596, 0.982]
    """
    if not total:
        return 0.0, 1.0
    share, weight = count / total, Z**2 / total
    middle, spread = share + weight / 2, Z * sqrt(share * (1 - share) / total + weight / (4 * total))
    low, high = (middle - spread) / (1 + weight), (middle + spread) / (1 + weight)
    return (0.0 if count == 0 else low), (1.0 if count == total else high)
