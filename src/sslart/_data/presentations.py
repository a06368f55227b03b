"""Repeated learning of rows, by sample weight."""

from __future__ import annotations

import numpy as np

from sslart._utils.arrays import IntArray


class Presentations:
    """The rows of a table in the order in which boxes learn them, with repeats in succession.

    Parameters
    ----------
    times : array of int of length n_rows, or None
        How often each row comes, at least once; None: once each.
    """

    def __init__(self, times: IntArray | None) -> None:
        self._starts: IntArray | None = None
        self.rows: slice | IntArray = slice(None)
        self.first: slice | IntArray = slice(None)
        if times is not None and (times > 1).any():
            self._starts = np.append(0, np.cumsum(times))
            self.rows, self.first = np.repeat(np.arange(len(times)), times), self._starts[:-1]

    def of(self, rows: slice) -> slice:
        """Return the presentations of some rows in succession."""
        if self._starts is None:
            return rows
        return slice(int(self._starts[rows.start or 0]), int(self._starts[rows.stop]))
