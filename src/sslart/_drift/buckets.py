"""Sums over a stream in bounded memory: the further back, the more blocks of samples one row stands for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.saved import require, saved_array
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.deferred import CachesValues

END, COUNT = 0, 1  # columns of every row: the number of its last sample, and how many values it sums
N_OF_LEVEL = 5  # rows, at most
MAX_LEVELS = 64


@dataclass(frozen=True, eq=False)
class Buckets(CachesValues):
    """An exponential histogram: rows of level k are sums over 2^k rows that have been added. Immutable.

    Attributes
    ----------
    levels : tuple of arrays of shape (n_rows, n_columns)
        The rows of each level, the oldest first. The first column is the number of the last sample that a row sums, the
        others are sums, of which the first is how many values there are.
    """

    levels: tuple[FloatArray, ...] = ()

    def adding(self, rows: FloatArray) -> Buckets:
        """Return the histogram after further rows, the same however many come together."""
        levels = list(self.levels)
        level = 0
        while len(rows):
            own = np.concatenate([levels[level], rows]) if level < len(levels) else rows
            n_pairs = max(0, (len(own) - N_OF_LEVEL + 1) // 2)
            if level == len(levels):
                levels.append(own)
            levels[level] = own[2 * n_pairs :]
            pairs = own[: 2 * n_pairs].reshape(n_pairs, 2, own.shape[1])
            rows = pairs[:, 0] + pairs[:, 1]
            rows[:, END] = pairs[:, 1, END]
            level += 1
        return Buckets(tuple(levels))

    @cached_property
    def rows(self) -> FloatArray:
        """All rows, the oldest first."""
        return np.concatenate(self.levels[::-1]) if self.levels else np.empty((0, 2))

    def without_oldest(self, n_rows: int) -> Buckets:
        """Return the histogram without its oldest rows."""
        levels = list(self.levels)
        while n_rows and levels:
            n_here = min(n_rows, len(levels[-1]))
            levels[-1] = levels[-1][n_here:]
            n_rows -= n_here
            if not len(levels[-1]):
                levels.pop()
        return Buckets(tuple(levels))

    def widened(self, places: IntArray, n_columns: int) -> Buckets:
        """Return the histogram with the present columns at other places among more, which were 0 so far."""
        wider = []
        for rows in self.levels:
            own = np.zeros((len(rows), n_columns))
            own[:, places] = rows
            wider.append(own)
        return Buckets(tuple(wider))

    def to_state(self) -> list[Any]:
        """Return what must be saved: arrays."""
        return list(self.levels)

    @classmethod
    def from_state(cls, state: Any, n_columns: int, last: int) -> Buckets:
        """Return the histogram of a saved state, after checking that it can be one; `last`: of all samples."""
        require(isinstance(state, list) and len(state) <= MAX_LEVELS, "the windows")
        levels = [saved_array({"rows": rows}, "rows", np.float64, None, n_columns) for rows in state]
        require(all(len(rows) <= N_OF_LEVEL and np.isfinite(rows).all() for rows in levels), "the windows")
        buckets = cls(tuple(levels))
        rows = buckets.rows
        known = rows[:, : COUNT + 1]
        require(((known > 0) & (known <= last)).all() and (np.diff(known[:, END]) > 0).all(), "the windows")
        return buckets
