"""The graph of boxes: how similar boxes are, and labels propagated along clusters and manifolds.

Unlabelled boxes carry labels on as labelled ones do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sslart._art.algebra import Cholesky, gram_matrix, multiply
from sslart._mapping.evidence.copies import LabelGroups
from sslart._utils.arrays import FloatArray, IntArray

N_NEIGHBOURS = 7  # of each box in the graph; the distance of the last scales similarities
UNREACHED = 1e-12  # sum of shares below which no label has reached a box, but for rounding
MIN_BOXES = 4


def similarity(centres: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return S and the nearest boxes of each box: S is their self-tuned similarity, symmetric, of norm one."""
    n_boxes = len(centres)
    n_neighbours = min(N_NEIGHBOURS, n_boxes - 1)
    distances, neighbours = _nearest(centres, n_neighbours)
    scale = distances[:, -1] + 1e-9  # of each box: the distance to the last of its neighbours
    near = np.exp(-(distances**2) / (scale[:, None] * scale[neighbours]))
    S = np.zeros((n_boxes, n_boxes))
    np.put_along_axis(S, neighbours, near, axis=1)
    S = np.maximum(S, S.T)
    root = np.sqrt(S.sum(axis=1)) + 1e-12
    return np.asarray(S / root[:, None] / root), np.asarray(neighbours)


def _nearest(centres: FloatArray, n_neighbours: int) -> tuple[FloatArray, IntArray]:
    """Return the distances to the nearest other centres of each, and which they are, nearest first."""
    products = gram_matrix(centres)
    squares = np.diagonal(products)
    apart = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)
    np.fill_diagonal(apart, np.inf)
    nearest = np.sort(np.argpartition(apart, n_neighbours - 1, axis=1)[:, :n_neighbours], axis=1)
    order = np.argsort(np.take_along_axis(apart, nearest, axis=1), axis=1, kind="stable")
    nearest = np.take_along_axis(nearest, order, axis=1)
    return np.sqrt(np.take_along_axis(apart, nearest, axis=1)), nearest


class ReadBoxes(NamedTuple):
    """The boxes that the prediction for each sample is read at, and the share of each in it: (n_samples, n_read)."""

    boxes: IntArray
    shares: FloatArray


class LabelPropagation:
    """Labels propagated over the graph, and the share of each class that every box then holds.

    Parameters
    ----------
    S : array of shape (n_boxes, n_boxes)
    reach : float
        a in [0, 1): how far labels are propagated, (I − aS)⁻¹.
    boxes : array of length n_labels
        The box that each label starts from.
    targets : array of shape (n_labels, n_classes)
        Indicators of the classes, times the weights of the labels.
    """

    def __init__(self, S: FloatArray, reach: float, boxes: IntArray, targets: FloatArray) -> None:
        self.targets = targets
        starts, self.start_of = np.unique(boxes, return_inverse=True)
        from_start = np.zeros((len(S), len(starts)))
        from_start[starts, np.arange(len(starts))] = 1.0
        system = np.eye(len(S)) - reach * S
        self.received = Cholesky(system, overwrite=True).solve(from_start)
        labels = np.zeros((len(starts), targets.shape[1]))
        np.add.at(labels, self.start_of, targets)
        self.held = np.maximum(multiply(self.received, labels), 0.0)

    def shares(self) -> FloatArray:
        """Return the share of each class in each box, shape (n_boxes, n_classes)."""
        return _normalised(self.held, _shares_of(self.targets.sum(axis=0)))

    def left_out(self, read: ReadBoxes, groups: LabelGroups) -> FloatArray:
        """Return leave-group-out predictions of each label, read at boxes."""
        held, otherwise = self._without_group(read, groups)
        return np.asarray(np.einsum("na,nak->nk", read.shares, _normalised(held, _shares_of(otherwise)[:, None])))

    def left_out_without(self, read: ReadBoxes, groups: LabelGroups, blocks: Sequence[IntArray]) -> FloatArray:
        """Return leave-group-out predictions of each label, each also without one block of labels.

        The result has the shape (n_blocks, n_labels, n_classes), without meaning for the labels of the block itself.
        """
        held, otherwise = self._without_group(read, groups)
        found = np.empty((len(blocks), *self.targets.shape))
        for block, own in zip(blocks, found, strict=True):
            received = self.received[read.boxes[:, :, None], self.start_of[block]]
            removed = multiply(received.reshape(-1, len(block)), self.targets[block]).reshape(held.shape)
            rest = np.maximum(held - removed, 0.0)
            others = np.maximum(otherwise - self.targets[block].sum(axis=0), 0.0)
            own[:] = np.einsum("na,nak->nk", read.shares, _normalised(rest, _shares_of(others)[:, None]))
        return found

    def _without_group(self, read: ReadBoxes, groups: LabelGroups) -> tuple[FloatArray, FloatArray]:
        """Return the mass at boxes without each label's group, (n_labels, n_read, n_classes), and other targets."""
        received = self.received[read.boxes, self.start_of[:, None]]
        removed = received[:, :, None] * self.targets[:, None]
        own = self.targets.copy()
        for rows in groups.several:
            received = self.received[read.boxes[rows][..., None], self.start_of[rows][:, None, None]]
            removed[rows] = np.einsum("gmrs,gsc->gmrc", received, self.targets[rows])
            own[rows] = self.targets[rows].sum(axis=1, keepdims=True)
        held = np.maximum(self.held[read.boxes] - removed, 0.0)
        return held, np.maximum(self.targets.sum(axis=0) - own, 0.0)


def _shares_of(totals: FloatArray) -> FloatArray:
    """Return totals per class as shares; 0 throughout where there are none."""
    sums = totals.sum(axis=-1, keepdims=True)
    return np.asarray(totals / np.where(sums > UNREACHED, sums, 1.0))


def _normalised(held: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Return shares that sum to one; a box that no label has reached has the shares of all labels."""
    sums = held.sum(axis=-1, keepdims=True)
    reached = sums > UNREACHED
    return np.where(reached, held / np.where(reached, sums, 1.0), otherwise)
