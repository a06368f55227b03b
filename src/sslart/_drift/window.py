"""ADWIN: a window over the recent values of a stream, as long as their means do not differ (Bifet & Gavaldà, 2007)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sslart._data.saved import require, saved_whole
from sslart._drift.buckets import COUNT, END, Buckets
from sslart._utils.arrays import FloatArray

DELTA = 0.002  # bounds the probability of a false alarm, over all series together
MIN_PART = 5  # values on each side of a cut
MIN_VALUES = 10
TINY = 1e-9  # in place of too few values, so that the limit is far away


class Cut(NamedTuple):
    """Where a window falls into two parts whose means differ.

    Attributes
    ----------
    series : int
        The series whose means differ most clearly.
    start, change, end : int
        Numbers of the last sample before the window, of the last sample before the change, and of the last sample.
    before, after : arrays
        The sums of the two parts: how many values, then totals and squares of every series.
    """

    series: int
    start: int
    change: int
    end: int
    before: FloatArray
    after: FloatArray


@dataclass(frozen=True, eq=False)
class AdaptiveWindow:
    """A window over one series of values in [0, 1] or several, which is cut where the mean of one has changed.

    Immutable. Values come as sums over blocks; it is ADWIN where a block is one value. Of several series each is tested
    at its share of `DELTA`, and one window is common to all.

    Attributes
    ----------
    buckets : Buckets
        Rows of (last sample, number of values, totals, squares).
    start : int
        Number of the last sample before the window.
    """

    buckets: Buckets = field(default_factory=Buckets)
    start: int = 0

    def adding(self, rows: FloatArray) -> tuple[AdaptiveWindow, Cut | None]:
        """Return the window after further blocks, and where it was cut; older rows go for as long as parts differ."""
        window, first = AdaptiveWindow(self.buckets.adding(rows), self.start), None
        while (cut := window._cut()) is not None:
            first = first or cut
            window = AdaptiveWindow(window.buckets.without_oldest(1), int(window.buckets.rows[0, END]))
        return window, first

    def _cut(self) -> Cut | None:
        rows = self.buckets.rows
        sums = rows[:, COUNT:].cumsum(axis=0)
        n, n_series = sums.item(-1, 0), (sums.shape[1] - 1) // 2
        if n <= MIN_VALUES or len(rows) < 2:
            return None
        totals, squares = sums[-1, 1 : 1 + n_series], sums[-1, 1 + n_series :]
        variance = np.maximum(0.0, squares / n - (totals / n) ** 2)
        certainty = math.log(2.0 * math.log(n) * max(1, int(np.count_nonzero(totals))) / DELTA)
        older, before = sums[:-1, :1], sums[:-1, 1 : 1 + n_series]
        newer = n - older
        either = 1.0 / np.maximum(older - (MIN_PART - 1), TINY) + 1.0 / np.maximum(newer - (MIN_PART - 1), TINY)
        limits = np.sqrt(either * (2.0 * certainty * variance)) + either * (2.0 / 3.0 * certainty)
        excess = np.abs(before / older - (totals - before) / newer) / limits
        place, series = divmod(int(excess.argmax()), n_series)
        if not excess[place, series] > 1.0:
            return None
        change, end = int(rows[place, END]), int(rows[-1, END])
        return Cut(series, self.start, change, end, sums[place], sums[-1] - sums[place])

    def widened(self, n_series: int) -> AdaptiveWindow:
        """Return the window with further series, which were 0 so far."""
        if not self.buckets.levels:
            return self
        now = (self.buckets.levels[0].shape[1] - 2) // 2
        places = np.r_[END, COUNT, 2 : 2 + now, 2 + n_series : 2 + n_series + now]
        return self if now == n_series else AdaptiveWindow(self.buckets.widened(places, 2 + 2 * n_series), self.start)

    def to_state(self) -> dict[str, Any]:
        """Return what must be saved: numbers and arrays."""
        return {"rows": self.buckets.to_state(), "start": self.start}

    @classmethod
    def from_state(cls, state: Any, n_series: int, last: int) -> AdaptiveWindow:
        """Return the window of a saved state, after checking that it can be one; `last`: of all samples."""
        buckets = Buckets.from_state(state["rows"], 2 + 2 * n_series, last)
        sums = buckets.rows[:, COUNT + 1 :]
        require(((sums >= 0) & (sums <= buckets.rows[:, [COUNT]])).all(), "the windows")
        return cls(buckets, saved_whole(state, "start", 0, last))
