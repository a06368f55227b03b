"""Joining boxes that lie close together: as far as a vigilance allows, or until few enough are left.

The work is done by the backend: the compiled kernel, or `sslart._reference.joining`, which is its specification.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sslart._art.backend import backend
from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.parallel import StoppedError, stop_flag

CELL_SIZE = 128  # boxes that are compared with each other
NO_LIMIT = 0


class Joined(NamedTuple):
    """Boxes after some of them have been joined.

    Attributes
    ----------
    into : array of int of length n_boxes
        The number of the box that each of the former boxes is part of now. Boxes are in the order of their first part.
    weights : array of shape (n_joined, 2 * n_features)
    vigilance : float
        The vigilance that every union reaches: the one given, or the lowest that was needed.
    """

    into: IntArray
    weights: FloatArray
    vigilance: float


def join_boxes(
    weights: FloatArray,
    keys: IntArray | None = None,
    *,
    vigilance: float,
    max_boxes: int | None = None,
    cell_size: int = CELL_SIZE,
    stop: Any = None,
) -> Joined:
    """Join boxes with those that lie closest to them.

    The union of two boxes is the smallest box that holds both: the elementwise minimum of their weights. Its match is
    1 - extent / n_sides, with the sum of its sides and the number of features in which it has a side: what a sample
    that makes a box so large would have. Boxes are joined in rounds. In a round each box finds the partner with
    which its union has the highest match, the first on ties. These pairs are joined in the order of their match, then
    of their boxes, unless a box of the pair has been joined in this round already.

    Without `max_boxes`, only unions whose match reaches the vigilance are made, until there is none. With it, unions
    are made until so few boxes are left: in each round those that reach the vigilance, and the better half of the pairs
    in any case, by which the vigilance is lowered. More boxes are left only where the keys allow no fewer.

    Partners are looked for among boxes of the same cell. Cells are made by cutting the boxes in two, and each part
    again, by their centres in the feature in which these differ most; the places of the cuts alternate between rounds.

    Parameters
    ----------
    weights : array of shape (n_boxes, 2 * n_features)
        W = (u, 1 - v) of the boxes [u, v] on the grid; (1, 1) on a side not reached yet.
    keys : array of int of length n_boxes, or None
        Boxes of unlike keys are never joined; -1 is like any key. None: all are alike.
    vigilance : float
    max_boxes : int or None
        At least 1.
    cell_size : int
        How many boxes a cell has at most. It grows where that is needed to reach `max_boxes`.
    stop : array of one uint8, or None
        A flag by which another thread stops the work.
    """
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    keys = np.full(len(weights), UNLABELLED) if keys is None else np.ascontiguousarray(keys, dtype=np.int64)
    stop = stop_flag() if stop is None else stop
    into, joined, needed = np.empty(len(weights), dtype=np.int64), np.empty_like(weights), np.array([vigilance])
    n_joined = backend().join(
        weights,
        keys,
        into,
        joined,
        needed,
        max_boxes=NO_LIMIT if max_boxes is None else max_boxes,
        cell_size=cell_size,
        stop=stop,
    )
    if stop[0]:
        raise StoppedError
    return Joined(into, joined[:n_joined].copy(), float(needed[0]))
