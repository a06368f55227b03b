"""Nodes as an ONNX graph: the labelled node of highest choice, and whether the search comes so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._art.network import NO_LIMIT
from sslart._art.nodes import Nodes
from sslart._data.labels import UNLABELLED
from sslart.export.onnx._graph import BOOL, DOUBLE, INT64, Graph, Value
from sslart.export.onnx._inputs import Coded


@dataclass(frozen=True)
class Found:
    """What the search gives.

    Attributes
    ----------
    nodes : Value of shape (n_samples,)
        The labelled node of highest choice, the lowest on ties.
    in_reach : Value of shape (n_samples,), or None
        Whether it is among the T best of all nodes; None where T does not limit the search.
    """

    nodes: Value
    in_reach: Value | None


def limits(prototypes: Nodes, depth: int) -> bool:
    """Tell whether T can keep the search from a labelled node."""
    n_nodes = prototypes.n_nodes
    return depth != NO_LIMIT and depth < n_nodes and bool((prototypes.labels[:n_nodes] == UNLABELLED).any())


def labelled_node(graph: Graph, prototypes: Nodes, choice: float, depth: int, samples: Coded) -> Found:
    """Search for the node that answers for each sample.

    All sums are over multiples of 2⁻³² and so are exact: choices are those of `sslart._reference`, bit for bit, and
    ties are ties here too.
    """
    n_nodes, n_features = prototypes.n_nodes, prototypes.n_features
    labelled = prototypes.labels[:n_nodes] != UNLABELLED
    limited = limits(prototypes, depth)
    asked = np.arange(n_nodes) if limited else np.flatnonzero(labelled)
    weights = np.ascontiguousarray(prototypes.weights[asked].T)  # nodes side by side: ONNX Runtime is quickest so
    both_sides = weights[:n_features] + weights[n_features:]

    def choices_of(x: Value, present: Value) -> Value:
        code = graph.join([x, present - x], axis=1).reshape(-1, 2 * n_features, 1)
        return graph.op("Min", code, weights).sum(axis=1) / (present @ both_sides + choice)

    def best(x: Value, present: Value) -> list[Value]:
        return [choices_of(x, present).argmax(axis=1)]

    def best_in_reach(x: Value, present: Value) -> list[Value]:
        choices = choices_of(x, present)
        of_labelled = graph.where(labelled, choices, -1.0)
        node, highest = of_labelled.argmax(axis=1), of_labelled.max(axis=1).reshape(-1, 1)
        comes_before = (choices > highest) | (choices.equals(highest) & (node.reshape(-1, 1) > asked))
        return [node, comes_before.cast(DOUBLE).sum(axis=1) < float(depth)]

    rows, cost = [samples.values, samples.present], weights.size
    if limited:
        node, in_reach = graph.in_pieces(rows, cost, best_in_reach, [(INT64,), (BOOL,)])
        return Found(node, in_reach)
    return Found(graph.take(asked, graph.in_pieces(rows, cost, best, [(INT64,)])[0]), None)
