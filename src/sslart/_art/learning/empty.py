"""Samples in which no varying feature has a value: they match every box equally, so the first box wins."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._art.learn_result import LearningParams, LearnResult
from sslart._art.nodes import NodesDraft
from sslart._art.reduction.renaming import both
from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import IntArray


def learn_empty(
    nodes: NodesDraft,
    targets: IntArray,
    params: LearningParams,
    learnt: LearnResult,
    *,
    predict_depth: int | None,
    stop: Any,
) -> IntArray | None:
    """Learn such samples; see `Network.learn`.

    Returns
    -------
    array of length n_nodes, or None
        The index now of each node that there was; None where no nodes were joined.
    """
    into, limit = None, params.max_nodes
    for row, target in enumerate(targets.tolist()):
        if nodes.n_nodes:
            learnt.gaps[row] = 0.0
        if predict_depth is not None:
            labels = nodes.labels[: predict_depth or None]
            learnt.predicted[row] = next((label for label in labels.tolist() if label != UNLABELLED), UNLABELLED)
        needs_node = _needs_node(nodes, target, one_to_one=params.one_to_one)
        if limit is not None and nodes.n_nodes + needs_node > limit:
            into = both(into, nodes.make_room(params, learnt, stop))
        learnt.nodes[row] = _learn(nodes, target, needs_node=needs_node)
    nodes.count(len(targets))
    return into


def _needs_node(nodes: NodesDraft, target: int, *, one_to_one: bool) -> bool:
    """Return True if there is no box yet, or if the first box serves another class exclusively."""
    if not nodes.n_nodes:
        return True
    first = int(nodes.labels_of(np.zeros(1, dtype=np.int64))[0])
    return one_to_one and UNLABELLED not in (target, first) and first != target


def _learn(nodes: NodesDraft, target: int, *, needs_node: bool) -> int:
    """Count a sample in the first box, or in a new empty box, and return the index of that box."""
    node = nodes.add_empty() if needs_node else 0
    nodes.n_nodes_stage1 += needs_node and target == UNLABELLED
    nodes.backend_boxes.count(node, target)
    return node
