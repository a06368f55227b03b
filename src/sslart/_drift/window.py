"""ADWIN: a window over the recent values of a stream, as long as their means do not differ (Bifet & Gavaldà, 2007)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from sslart._data.saved import MAX_COUNT, require, saved_whole
from sslart._drift.buckets import COUNT, END, Buckets
from sslart._utils.arrays import FloatArray

DELTA = 0.002  # bounds the probability of a false alarm, over all series together
MIN_PART = 5  # values on each side of a cut
MIN_VALUES = 10
ROWS_PER_STEP = 64  # a window of so many blocks is checked after each block, one of twice as many after every second
MAX_STEP = 8


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
    n_unchecked : int
        How many blocks have come since the last check.
    """

    buckets: Buckets = field(default_factory=Buckets)
    start: int = 0
    n_unchecked: int = 0

    def adding(self, rows: FloatArray, max_step: int = MAX_STEP) -> tuple[AdaptiveWindow, list[Cut]]:
        """Return the window after further blocks, and where it was cut; the same however many come together."""
        window, cuts = self, []
        while len(rows):
            n_blocks = len(window.buckets.rows) and window._n_blocks()
            step = max(1, min(max_step, n_blocks // ROWS_PER_STEP)) - window.n_unchecked
            own, rows = rows[: max(1, step)], rows[max(1, step) :]
            due = len(own) >= step
            n_unchecked = 0 if due else window.n_unchecked + len(own)
            window = replace(window, buckets=window.buckets.adding(own), n_unchecked=n_unchecked)
            if due:
                window, cut = window._checked()
                cuts += [] if cut is None else [cut]
        return window, cuts

    def _n_blocks(self) -> int:
        return sum(len(rows) << level for level, rows in enumerate(self.buckets.levels))

    def _checked(self) -> tuple[AdaptiveWindow, Cut | None]:
        """Return the window without its oldest rows for as long as two parts of it differ, and the first such cut."""
        window, first = self, None
        while True:
            cut = window._cut()
            if cut is None:
                return window, first
            first = first or cut
            start = int(window.buckets.rows[0, END])
            window = replace(window, buckets=window.buckets.without_oldest(1), start=start)

    def _cut(self) -> Cut | None:
        rows = self.buckets.rows
        sums = rows[:, COUNT:].cumsum(axis=0)
        n, n_series = sums[-1, 0], (sums.shape[1] - 1) // 2
        if n <= MIN_VALUES or len(rows) < 2:
            return None
        older, newer = sums[:-1, :1], n - sums[:-1, :1]
        totals, squares = sums[-1, 1 : 1 + n_series], sums[-1, 1 + n_series :]
        variance = np.maximum(0.0, squares / n - (totals / n) ** 2)
        before = sums[:-1, 1 : 1 + n_series]
        means_differ_by = np.abs(before / older - (totals - before) / newer)
        certainty = np.log(2.0 * np.log(n) * max(1, np.count_nonzero(totals)) / DELTA)
        with np.errstate(divide="ignore"):
            either = 1.0 / (older - MIN_PART + 1.0) + 1.0 / (newer - MIN_PART + 1.0)
        allowed = (older >= MIN_PART) & (newer >= MIN_PART)
        either = np.where(allowed, either, np.inf)
        limits = np.sqrt(2.0 * either * variance * certainty) + 2.0 / 3.0 * certainty * either
        excess = means_differ_by / limits
        place, series = divmod(int(excess.argmax()), n_series)
        if not excess[place, series] > 1.0:
            return None
        return Cut(
            series,
            self.start,
            int(rows[place, END]),
            int(rows[-1, END]),
            sums[place],
            sums[-1] - sums[place],
        )

    def widened(self, n_series: int) -> AdaptiveWindow:
        """Return the window with further series, which were 0 so far."""
        if not self.buckets.levels:
            return self
        now = (self.buckets.levels[0].shape[1] - 2) // 2
        places = np.r_[END, COUNT, 2 : 2 + now, 2 + n_series : 2 + n_series + now]
        return self if now == n_series else replace(self, buckets=self.buckets.widened(places, 2 + 2 * n_series))

    def to_state(self) -> dict[str, Any]:
        """Return what must be saved: numbers and arrays."""
        return {"rows": self.buckets.to_state(), "start": self.start, "n_unchecked": self.n_unchecked}

    @classmethod
    def from_state(cls, state: Any, n_series: int) -> AdaptiveWindow:
        """Return the window of a saved state, after checking that it can be one."""
        buckets = Buckets.from_state(state["rows"], 2 + 2 * n_series)
        require((buckets.rows[:, COUNT] > 0).all() if len(buckets.rows) else True, "the windows")
        start, n_unchecked = (saved_whole(state, name, 0, MAX_COUNT) for name in ("start", "n_unchecked"))
        return cls(buckets, start, n_unchecked)
