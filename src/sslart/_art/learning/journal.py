"""Learning in place: what a call changes is kept, so that it can be undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sslart._utils.arrays import BoolArray, IntArray

if TYPE_CHECKING:
    from sslart._art.nodes import Nodes


class Journal:
    """The former row of the one node that each sample of a call changes, so that a call that fails can be undone.

    Its cost does not grow with the model.

    Parameters
    ----------
    nodes : Nodes
    winners : array of length n_samples
        Gets the node that each sample changes; -1 for samples not begun.
    """

    def __init__(self, nodes: Nodes, winners: IntArray) -> None:
        self._owner, self._winners = nodes, winners
        self._n_nodes, self._n_nodes_stage1, self._n_learnt = nodes.n_nodes, nodes.n_nodes_stage1, nodes.n_learnt
        n_samples = len(winners)
        self.weights = np.empty((n_samples, nodes.weights.shape[1]))
        self.support = np.empty(n_samples, dtype=nodes.support.dtype)
        self.counts = np.empty((n_samples, nodes.n_classes), dtype=nodes.counts.dtype)
        self.met: BoolArray | None = None

    def restore(self) -> None:
        """Put every node back as it was."""
        owner, winners = self._owner, self._winners
        owner.n_nodes, owner.n_nodes_stage1, owner.n_learnt = self._n_nodes, self._n_nodes_stage1, self._n_learnt
        changed = np.flatnonzero((winners >= 0) & (winners < self._n_nodes))[::-1]
        nodes = winners[changed]  # of several rows for one node the last assigned stays: the earliest
        owner.weights[nodes] = self.weights[changed]
        owner.support[nodes] = self.support[changed]
        owner.counts[nodes] = self.counts[changed]
        if self.met is not None:
            owner.met[nodes] = self.met[changed]
        owner.derive(nodes)
