"""Sums over a stream in bounded memory: exponential histograms, ADWIN windows, and a timeline for plots."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple, Self

import numpy as np

from sslart._art.backend import backend
from sslart._data.stream_sums import COUNT, END, FIRST_FEATURE, MAX_LEVELS, N_OF_LEVEL
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.validation import MAX_COUNT, require, saved_array, saved_whole


class Buckets:
    """An exponential histogram: rows of level k are sums over 2^k added rows.

    The first column of a row is the number of its last sample, the others are sums, of which the first is the number of
    samples or values. It is mutable, so that shared ones must be copied before a change.
    """

    def __init__(self, n_columns: int = 2) -> None:
        self.storage = np.empty((0, n_columns))
        self.sizes = np.zeros(MAX_LEVELS, dtype=np.int64)  # rows of each level, the newest level first

    @property
    def rows(self) -> FloatArray:
        """All rows, the oldest first."""
        return self.storage[: int(self.sizes.sum())]

    def copy(self, n_more: int = 0) -> Self:
        """Return a copy with room for further rows."""
        rows, other = self.rows, type(self)(self.storage.shape[1])
        other.storage = np.empty((len(rows) + min(n_more, MAX_LEVELS * N_OF_LEVEL), rows.shape[1]))
        other.storage[: len(rows)] = rows
        other.sizes = self.sizes.copy()
        return other

    def push(self, rows: FloatArray) -> None:
        """Add rows."""
        backend().drift_push(self.storage, self.sizes, np.ascontiguousarray(rows))

    def widened(self, places: IntArray, n_columns: int) -> Self:
        """Return the histogram with the present columns moved to `places`, and further ones that are 0 so far."""
        rows, other = self.rows, type(self)(n_columns)
        other.storage, other.sizes = np.zeros((len(rows), n_columns)), self.sizes
        other.storage[:, places] = rows
        return other

    def __getstate__(self) -> dict[str, Any]:
        return {"storage": self.rows, "sizes": self.sizes}

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: arrays."""
        n_levels = int(np.flatnonzero(self.sizes)[-1]) + 1 if self.sizes.any() else 0
        return {"rows": self.rows, "sizes": self.sizes[:n_levels]}

    @classmethod
    def from_state(cls, state: Any, n_columns: int, last: int) -> Self:
        """Restore the histogram from a saved state after validating it."""
        buckets = cls(n_columns)
        sizes = saved_array(state, "sizes", np.int64, None, low=0, high=N_OF_LEVEL)
        require(len(sizes) <= MAX_LEVELS, "the windows")
        buckets.sizes[: len(sizes)] = sizes
        rows = buckets.storage = saved_array(state, "rows", np.float64, int(sizes.sum()), n_columns)
        require(np.isfinite(rows).all() and (rows[:, COUNT] > 0).all(), "the windows")
        require((rows[:, END] <= last).all() and (np.diff(rows[:, END]) > 0).all(), "the windows")
        return buckets


class Cut(NamedTuple):
    """A split of a window into two parts whose means differ.

    `series` has the most significant difference; `start`, `change` and `end` are the numbers of the last samples before
    the window, before the change, and of all; `before` and `after` are the sums of the two parts: number of values,
    then sums and sums of squares of every series.
    """

    series: int
    start: int
    change: int
    end: int
    before: FloatArray
    after: FloatArray


@dataclass(frozen=True, eq=False)
class AdaptiveWindow:
    """An adaptive window (ADWIN) over series of values in [0, 1], which is cut if the mean of one changes. Immutable.

    Values are sums over blocks; see Bifet & Gavaldà, 2007, for blocks of one value. Several series share one window and
    the probability of a false alarm (Bonferroni). Rows are last sample, number of values, sums and sums of squares;
    `start` is the number of the last sample before the window.
    """

    buckets: Buckets = field(default_factory=lambda: Buckets(4))
    start: int = 0

    def adding(self, rows: FloatArray, stops: IntArray) -> tuple[AdaptiveWindow, list[Cut]]:
        """Return the window after further blocks, and its cuts.

        The window is checked after each number of blocks in `stops`, the last one after all of them. Older rows are
        dropped while parts differ; the first difference is a cut.
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
        """Return the window with further series that are 0 so far."""
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
        """Restore the window from a saved state after validating it."""
        buckets = Buckets.from_state(state, 2 + 2 * n_series, last)
        sums = buckets.rows[:, COUNT + 1 :]
        require(((sums >= 0) & (sums <= buckets.rows[:, [COUNT]])).all(), "the windows")
        return cls(buckets, saved_whole(state, "start", -MAX_COUNT, last))


MAX_PARTS = 200  # points of a plot; even, so that parts can be merged in pairs


@dataclass(frozen=True, eq=False)
class Timeline:
    """Sums over equal parts of a stream; if there are too many, they are merged in pairs. Immutable.

    `rows` have the number of the last sample, then sums; the last part may be incomplete. A part has `width` of the
    `n_blocks` blocks so far.
    """

    rows: FloatArray = field(default_factory=lambda: np.empty((0, FIRST_FEATURE)))
    n_blocks: int = 0
    width: int = 1

    def adding(self, blocks: FloatArray) -> Timeline:
        """Return the timeline after further blocks; the result does not depend on how blocks are split into calls."""
        n_before, n_blocks, width, rows = self.n_blocks, self.n_blocks + len(blocks), self.width, self.rows
        if n_blocks > MAX_PARTS * width:
            factor = 2
            while n_blocks > MAX_PARTS * width * factor:
                factor *= 2
            rows = _summed(rows, np.arange(0, len(rows), factor)) if len(rows) else rows
            width *= factor
        n_begun = n_before % width
        new = _summed(blocks, np.unique(np.maximum(0, np.arange(-n_begun, len(blocks), width))))
        if n_begun:
            new[0, END + 1 :] += rows[-1, END + 1 :]
            rows = rows[:-1]
        return Timeline(np.concatenate([rows, new]) if len(rows) else new, n_blocks, width)

    def widened(self, n_columns: int) -> Timeline:
        """Return the timeline with `n_columns` columns; the new ones are zero so far."""
        n_new = n_columns - self.rows.shape[1]
        return self if not n_new else Timeline(np.pad(self.rows, ((0, 0), (0, n_new))), self.n_blocks, self.width)

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: numbers and an array."""
        return {"rows": self.rows, "n_blocks": self.n_blocks, "width": self.width}

    @classmethod
    def from_state(cls, state: Any, n_columns: int) -> Timeline:
        """Restore the timeline from a saved state after validating it."""
        rows = saved_array(state, "rows", np.float64, None, n_columns, low=0, high=MAX_COUNT)
        n_blocks, width = (saved_whole(state, name, low, MAX_COUNT) for name, low in (("n_blocks", 0), ("width", 1)))
        require(len(rows) == -(-n_blocks // width) <= MAX_PARTS and width & (width - 1) == 0, "the timeline")
        require((np.diff(rows[:, END]) > 0).all(), "the timeline")
        return cls(rows, n_blocks, width)


def _summed(rows: FloatArray, starts: IntArray) -> FloatArray:
    """Return the sums over rows from each start to the next; for the first column, the last value."""
    sums = np.add.reduceat(rows, starts, axis=0)
    sums[:, END] = rows[np.append(starts[1:], len(rows)) - 1, END]
    return np.asarray(sums)
