"""Measures over a whole stream, in a bounded number of equal parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sslart._data.saved import MAX_COUNT, require, saved_array, saved_whole
from sslart._data.stream_sums import END, FIRST_FEATURE
from sslart._utils.arrays import FloatArray, IntArray

MAX_PARTS = 200  # even


@dataclass(frozen=True, eq=False)
class Timeline:
    """Sums over equal parts of a stream; where there are too many, two become one. Immutable.

    Attributes
    ----------
    rows : array of shape (n_parts, n_columns)
        Number of the last sample, then sums. The last part may be incomplete.
    n_blocks : int
        How many blocks there have been.
    width : int
        How many blocks are a part.
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
        """Return the timeline of a saved state, after checking that it can be one."""
        rows = saved_array(state, "rows", np.float64, None, n_columns, low=0, high=MAX_COUNT)
        n_blocks, width = (saved_whole(state, name, low, MAX_COUNT) for name, low in (("n_blocks", 0), ("width", 1)))
        require(len(rows) == -(-n_blocks // width) <= MAX_PARTS and width & (width - 1) == 0, "the timeline")
        require((np.diff(rows[:, END]) > 0).all(), "the timeline")
        return cls(rows, n_blocks, width)


def _summed(rows: FloatArray, starts: IntArray) -> FloatArray:
    """Return the sums over rows from each start to the next; of the first column, the last value."""
    sums = np.add.reduceat(rows, starts, axis=0)
    sums[:, END] = rows[np.append(starts[1:], len(rows)) - 1, END]
    return np.asarray(sums)
