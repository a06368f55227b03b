"""Sums over a stream in bounded memory: the further back, the more blocks of samples one row stands for."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from sslart._art.backend import backend
from sslart._data.saved import require, saved_array
from sslart._data.stream_sums import COUNT, END, MAX_LEVELS, N_OF_LEVEL
from sslart._utils.arrays import FloatArray, IntArray


class Buckets:
    """An exponential histogram: rows of level k are sums over 2^k rows that have been added.

    Only one that nobody else has is changed: `copy` makes such a one.

    Parameters
    ----------
    n_columns : int
        The first column of a row is the number of the last sample that it sums, the others are sums, of which the first
        is how many samples or values there are.
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

    def adding(self, rows: FloatArray) -> Self:
        """Return the histogram after further rows; the result does not depend on how rows are split into calls."""
        other = self.copy(len(rows))
        other.push(rows)
        return other

    def widened(self, places: IntArray, n_columns: int) -> Self:
        """Return the histogram with the present columns at other places among more, which were 0 so far."""
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
        """Return the histogram of a saved state, after checking that it can be one; `last`: of all samples."""
        buckets = cls(n_columns)
        sizes = saved_array(state, "sizes", np.int64, None, low=0, high=N_OF_LEVEL)
        require(len(sizes) <= MAX_LEVELS, "the windows")
        buckets.sizes[: len(sizes)] = sizes
        rows = buckets.storage = saved_array(state, "rows", np.float64, int(sizes.sum()), n_columns)
        require(np.isfinite(rows).all() and (rows[:, COUNT] > 0).all(), "the windows")
        require((rows[:, END] <= last).all() and (np.diff(rows[:, END]) > 0).all(), "the windows")
        return buckets
