"""Updates of box indices after boxes have been dropped or joined."""

from __future__ import annotations

import numpy as np

from sslart._utils.arrays import IntArray

NO_BOX = -1  # in place of the index of a dropped box
DROPPED = -2  # in a record of how well samples fitted, where -1 is a sample that was not measured


def renamed(boxes: IntArray, into: IntArray | None, dropped: int = NO_BOX) -> IntArray:
    """Return box indices after a change; negative ones are unchanged.

    Parameters
    ----------
    boxes : array
    into : array or None
        The index after the change of each box that there was before, -1 where it was dropped. None: no change.
    dropped : int
        What stands for a box that was dropped.
    """
    if into is None:
        return boxes
    after = into[np.maximum(boxes, 0)]
    after[after == NO_BOX] = dropped
    return np.where(boxes < 0, boxes, after)


def both(first: IntArray | None, second: IntArray | None) -> IntArray | None:
    """Return two changes, one after the other, as one."""
    if first is None or second is None:
        return second if first is None else first
    return renamed(first, second)
