"""The graph of boxes: how similar boxes are, and labels propagated along clusters and manifolds.

Unlabelled boxes carry labels on as labelled ones do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.linalg

from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.optional import heavy

N_NEIGHBOURS = 7
UNREACHED = 1e-12
MIN_BOXES = 4


def similarity(centres: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return S and the nearest boxes of each box: S is their self-tuned similarity, symmetric, of norm one."""
    n_boxes = len(centres)
    n_neighbours = min(N_NEIGHBOURS, n_boxes - 1)
    search = heavy("sklearn.neighbors").NearestNeighbors(n_neighbors=n_neighbours, algorithm="brute").fit(centres)
    distances, neighbours = search.kneighbors()
    scale = distances[:, -1] + 1e-9  # of each box: the distance to the last of its neighbours
    near = np.exp(-(distances**2) / (scale[:, None] * scale[neighbours]))
    S = np.zeros((n_boxes, n_boxes))
    np.put_along_axis(S, neighbours, near, axis=1)
    S = np.maximum(S, S.T)
    root = np.sqrt(S.sum(axis=1)) + 1e-12
    return np.asarray(S / root[:, None] / root), np.asarray(neighbours)


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
    """

    def __init__(self, S: FloatArray, reach: float, boxes: IntArray, targets: FloatArray) -> None:
        self.targets = targets
        starts, self.start_of = np.unique(boxes, return_inverse=True)
        from_start = np.zeros((len(S), len(starts)))
        from_start[starts, np.arange(len(starts))] = 1.0
        system = np.eye(len(S)) - reach * S
        self.received = scipy.linalg.solve(system, from_start, assume_a="pos", overwrite_a=True, check_finite=False)
        labels = np.zeros((len(starts), targets.shape[1]))
        np.add.at(labels, self.start_of, targets)
        self.held = np.maximum(self.received @ labels, 0.0)

    def shares(self) -> FloatArray:
        """Return the share of each class in each box, shape (n_boxes, n_classes)."""
        return self._normalised(self.held, self.targets.mean(axis=0))

    def left_out(self, activations: FloatArray, groups: Sequence[IntArray]) -> FloatArray:
        """Return what is predicted for each label without it and those of its group.

        `activations`: of each box by each labelled sample.
        """
        found = np.empty_like(self.targets)
        total = self.targets.sum(axis=0)
        for labels in groups:
            held = self.held.copy()
            for label in labels.tolist():
                index = int(self.targets[label].argmax())
                held[:, index] = np.maximum(held[:, index] - self.received[:, self.start_of[label]], 0.0)
            others = (total - self.targets[labels].sum(axis=0)) / max(len(self.targets) - len(labels), 1)
            found[labels] = activations[labels] @ self._normalised(held, others)
        return found

    @staticmethod
    def _normalised(held: FloatArray, otherwise: FloatArray) -> FloatArray:
        """Return shares that sum to one; a box that no label has reached has the shares of all labels."""
        sums = held.sum(axis=1, keepdims=True)
        reached = sums > UNREACHED
        return np.where(reached, held / np.where(reached, sums, 1.0), otherwise)
