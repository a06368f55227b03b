"""Joining boxes in plain NumPy: the specification of that in the compiled kernel. `join_boxes` has the rules."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sslart._data.encoder import GRID
from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

Flags = np.ndarray[tuple[int], np.dtype[np.uint8]]
PARTS = (2, 3)  # a cut leaves one of so many parts below it: in even rounds, and in odd ones


def join(
    weights: FloatArray,
    keys: IntArray,
    into: IntArray,
    joined: FloatArray,
    vigilance: FloatArray,
    *,
    max_boxes: int,
    cell_size: int,
    stop: Flags,
) -> int:
    """Join boxes, and return how many there are then.

    Parameters
    ----------
    weights : array of shape (n_boxes, 2 * n_features)
    keys : array of length n_boxes
        Boxes of unlike keys are not joined; -1 is like any.
    into : array of length n_boxes
        Filled with the new number of each box.
    joined : array of shape (n_boxes, 2 * n_features)
        Its first rows are filled with the boxes as they are then.
    vigilance : array of length 1
        The match that unions need; with `max_boxes` it is lowered to what they have.
    max_boxes : int
        0: no limit.
    cell_size : int
    stop : array of length 1
    """
    W, own_keys = weights.copy(), keys.copy()
    into[:] = np.arange(len(W))
    n_round = n_fruitless = 0
    while (not max_boxes or len(W) > max_boxes) and not stop[0]:
        n_wanted = len(W) - max_boxes if max_boxes else len(W)
        pairs = sorted(closest_pairs(W, own_keys, PARTS[n_round % 2], cell_size))
        lowest = vigilance[0]
        if max_boxes and pairs:  # the better half in any case
            lowest = min(lowest, -pairs[len(pairs) // 2][0])
        target = np.arange(len(W))
        is_joined = np.zeros(len(W), dtype=bool)
        for minus_match, first, second in pairs:
            if n_wanted and -minus_match >= lowest and not is_joined[first] and not is_joined[second]:
                W[first] = np.minimum(W[first], W[second])
                own_keys[first] = max(own_keys[first], own_keys[second])
                target[second] = first
                is_joined[first] = is_joined[second] = True
                vigilance[0] = min(vigilance[0], -minus_match)
                n_wanted -= 1
        is_kept = target == np.arange(len(W))
        into[:] = (np.cumsum(is_kept) - 1)[target][into]
        W, own_keys = W[is_kept], own_keys[is_kept]
        n_round += 1
        n_fruitless = n_fruitless + 1 if is_kept.all() else 0
        if n_fruitless and len(W) <= cell_size:
            break
        if n_fruitless == len(PARTS):
            if not max_boxes:
                break
            cell_size, n_fruitless = 2 * cell_size, 0
    joined[: len(W)] = W
    return len(W)


def closest_pairs(W: FloatArray, keys: IntArray, parts: int, cell_size: int) -> set[tuple[float, int, int]]:
    """Return (minus the match of the union, first box, second box) of each box and its closest partner."""
    pairs = set()
    for cell in cells(W, np.arange(len(W)), parts, cell_size):
        for box in cell:
            found = match_of_unions(W[box], W[cell])
            found[(cell == box) | ~are_alike(keys[box], keys[cell])] = -np.inf
            best = int(found.argmax())
            if found[best] >= 0:
                pairs.add((-float(found[best]), int(min(box, cell[best])), int(max(box, cell[best]))))
    return pairs


def are_alike(key: int, keys: IntArray) -> BoolArray:
    """Return a mask of keys that are compatible with a box of the given key for joining."""
    return np.asarray((keys == key) | (keys == UNLABELLED) | (key == UNLABELLED))


def match_of_unions(w: FloatArray, W: FloatArray) -> FloatArray:
    """Return the match of the union of one box with each of several: 1 less its mean side, over the sides reached."""
    unions = np.minimum(w, W)
    lower, rest = np.hsplit(unions, 2)
    is_reached = lower + rest <= 1.0
    n_sides = is_reached.sum(axis=1)
    overlap = ((lower + rest) * is_reached).sum(axis=1)
    return np.asarray(np.where(n_sides == 0, 1.0, overlap / np.maximum(n_sides, 1)))


def cells(W: FloatArray, boxes: IntArray, parts: int, cell_size: int) -> Iterator[IntArray]:
    """Yield the boxes of each cell, ascending: cut in two by the centres, until there are few enough."""
    if len(boxes) <= cell_size:
        yield boxes
        return
    lower, rest = np.hsplit(W[boxes], 2)
    centres = ((lower + (1.0 - rest)) * GRID).astype(np.int64)  # twice; whole numbers, so that every sum is exact
    spread = np.abs(centres - centres.sum(axis=0) // len(boxes)).sum(axis=0)
    order = np.argsort(centres[:, spread.argmax()], kind="stable")
    cut = len(boxes) // parts
    for part in (order[:cut], order[cut:]):
        yield from cells(W, np.sort(boxes[part]), parts, cell_size)
