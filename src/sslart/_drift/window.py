"""ADWIN: a window over the recent values of a stream, as long as their means do not differ (Bifet & Gavaldà, 2007)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sslart._art.backend import backend
from sslart._data.saved import MAX_COUNT, require, saved_whole
from sslart._data.stream_sums import COUNT, END
from sslart._drift.buckets import Buckets
from sslart._utils.arrays import FloatArray, IntArray


class Cut(NamedTuple):
    """A split of a window into two parts whose means differ.

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
    at its share of the probability of a false alarm, and one window is common to all.

    Attributes
    ----------
    buckets : Buckets
        Rows of (last sample, number of values, totals, squares).
    start : int
        Number of the last sample before the window.
    """

    buckets: Buckets = field(default_factory=lambda: Buckets(4))
    start: int = 0

    def adding(self, rows: FloatArray, stops: IntArray) -> tuple[AdaptiveWindow, list[Cut]]:
        """Return the window after further blocks, and where it was cut.

        Parameters
        ----------
        rows : array of shape (n_blocks, 2 + 2 · n_series)
        stops : array of int
            After how many of the blocks the window is checked, ascending, the last one after all of them. Older rows
            are dropped for as long as parts differ; where they differed first is a cut.
        """
        if not len(rows):
            return self, []
        buckets, start, n_sums = self.buckets.copy(len(rows)), np.array([self.start]), rows.shape[1] - 1
        cuts, next_stop, place, parts = [], 0, np.empty(4, dtype=np.int64), np.empty((2, n_sums))
        rows, window = np.ascontiguousarray(rows), backend().drift_window
        while next_stop < len(stops):
            next_stop = window(buckets.storage, buckets.sizes, rows, stops, next_stop, start, place, parts)
            if place[0] >= 0:
                series, before, change, end = place.tolist()
                cuts.append(Cut(series, before, change, end, *parts.copy()))
        return AdaptiveWindow(buckets, start.item()), cuts

    def widened(self, n_series: int) -> AdaptiveWindow:
        """Return the window with further series, which were 0 so far."""
        now = (self.buckets.storage.shape[1] - 2) // 2
        if now == n_series:
            return self
        if not self.buckets.sizes.any():
            return AdaptiveWindow(Buckets(2 + 2 * n_series), self.start)
        places = np.r_[END, COUNT, 2 : 2 + now, 2 + n_series : 2 + n_series + now]
        return AdaptiveWindow(self.buckets.widened(places, 2 + 2 * n_series), self.start)

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: numbers and arrays."""
        return {**self.buckets.to_state(), "start": self.start}

    @classmethod
    def from_state(cls, state: Any, n_series: int, last: int) -> AdaptiveWindow:
        """Return the window of a saved state, after checking that it can be one; `last`: of all samples."""
        buckets = Buckets.from_state(state, 2 + 2 * n_series, last)
        sums = buckets.rows[:, COUNT + 1 :]
        require(((sums >= 0) & (sums <= buckets.rows[:, [COUNT]])).all(), "the windows")
        return cls(buckets, saved_whole(state, "start", -MAX_COUNT, last))
