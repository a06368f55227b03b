"""A limit on the number of boxes: where there is no room for a new one, boxes that lie close together are joined."""

from __future__ import annotations

from typing import Any

from sslart._art.joining import Joined, join_boxes
from sslart._art.learn_result import LearningParams
from sslart._utils.arrays import FloatArray, IntArray

FREE = 8  # one in so many is free after boxes have been joined


def with_room(weights: FloatArray, labels: IntArray, params: LearningParams, vigilance: float, stop: Any) -> Joined:
    """Return boxes after enough of them have been joined that an eighth of `max_nodes` is free.

    Parameters
    ----------
    weights : array of shape (n_boxes, 2 * n_features)
    labels : array of length n_boxes
        The class of each box, -1 where it has none: with one-to-one mapping, boxes of unlike classes stay apart.
    params : LearningParams
        With a limit.
    vigilance : float
        The one in use so far.
    stop : array of one uint8
        A flag by which another thread stops the work.
    """
    limit = params.max_nodes
    assert limit is not None
    keys = labels if params.one_to_one else None
    joined = join_boxes(weights, keys, vigilance=vigilance, max_boxes=limit - max(1, limit // FREE), stop=stop)
    if len(joined.weights) >= limit:
        raise ValueError(
            f"max_nodes={limit} is too low: with one-to-one mapping a box serves one class, so that each of the "
            f"{len(set(labels.tolist()) - {-1})} classes needs a box of its own, and a new sample needs room for one "
            f"more. Set max_nodes to at least {len(joined.weights) + 1}, or to None for no limit."
        )
    return joined
