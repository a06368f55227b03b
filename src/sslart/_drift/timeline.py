"""The measures over a whole stream, in at most so many equal parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sslart._data.saved import MAX_COUNT, require, saved_array, saved_whole
from sslart._drift.buckets import END
from sslart._utils.arrays import FloatArray

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

    rows: FloatArray = field(default_factory=lambda: np.empty((0, 1)))
    n_blocks: int = 0
    width: int = 1

    def adding(self, blocks: FloatArray) -> Timeline:
        """Return the timeline after further blocks, the same however many come together."""
        n_blocks, width = self.n_blocks + len(blocks), self.width
        while -(-n_blocks // width) > MAX_PARTS:
            width *= 2
        n_new = blocks.shape[1] - self.rows.shape[1]
        rows = np.concatenate([np.pad(self.rows, ((0, 0), (0, n_new))), blocks])
        part = np.concatenate(
            [np.arange(len(self.rows)) * self.width, np.arange(self.n_blocks, n_blocks, dtype=np.int64)]
        )
        starts = np.flatnonzero(np.diff(part // width, prepend=-1))
        joined = np.add.reduceat(rows, starts, axis=0)
        joined[:, END] = np.append(rows[starts[1:] - 1, END], rows[-1, END])
        return Timeline(joined, n_blocks, width)

    def to_state(self) -> dict[str, Any]:
        """Return what must be saved: numbers and an array."""
        return {"rows": self.rows, "n_blocks": self.n_blocks, "width": self.width}

    @classmethod
    def from_state(cls, state: Any, n_columns: int) -> Timeline:
        """Return the timeline of a saved state, after checking that it can be one."""
        rows = saved_array(state, "rows", np.float64, None, n_columns, low=0, high=MAX_COUNT)
        n_blocks, width = (saved_whole(state, name, low, MAX_COUNT) for name, low in (("n_blocks", 0), ("width", 1)))
        require(len(rows) == -(-n_blocks // width) <= MAX_PARTS and width & (width - 1) == 0, "the timeline")
        require((np.diff(rows[:, END]) > 0).all(), "the timeline")
        return cls(rows, n_blocks, width)
