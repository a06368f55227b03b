"""Samples count less as they age: by half after each half-life."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from sslart._data.saved import MAX_COUNT

PERIODS = 16  # in a half-life: after each, all supports and counts are multiplied by the same factor
LEAST_SUPPORT = 1 / 16  # a box with less is dropped: that of one sample, after four half-lives


@dataclass(frozen=True)
class Fading:
    """Exponential decay of supports and counts, applied once per period.

    Parameters
    ----------
    half_life : float
        After how many samples a sample counts half; at least 1.
    """

    half_life: float

    @property
    def period(self) -> int:
        """Number of samples between two decays."""
        return max(1, round(min(self.half_life / PERIODS, MAX_COUNT)))

    @property
    def factor(self) -> float:
        """Factor by which supports and counts are multiplied at each decay."""
        return math.exp2(-self.period / self.half_life)

    def is_due(self, n_before: int, n_samples: int) -> bool:
        """Return True if a decay is due within the next `n_samples` samples, after `n_before` earlier ones."""
        return n_before // self.period < (n_before + n_samples) // self.period


def pieces(rows: slice, fading: Fading | None, n_before: int | None) -> Iterator[tuple[slice, bool]]:
    """Cut rows where supports and counts fade; yield each piece, and whether they fade after it.

    The number of samples learnt is read once, so that it may grow meanwhile.

    Parameters
    ----------
    rows : slice
        Of the samples to learn next.
    fading : Fading or None
        None: nothing fades.
    n_before : int or None
        How many samples have been learnt before; None: they are not counted, and nothing fades.
    """
    if fading is None or n_before is None:
        yield rows, False
        return
    start, n_until = rows.start, fading.period - n_before % fading.period
    while rows.stop - start >= n_until:
        yield slice(start, start + n_until), True
        start, n_until = start + n_until, fading.period
    if start < rows.stop:
        yield slice(start, rows.stop), False
