"""Boxes as an ONNX graph: the labelled box of highest choice, and whether it lies within the search depth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sslart._art.network import NO_LIMIT
from sslart._data.labels import UNLABELLED
from sslart._mapping.model_view import MemberView
from sslart.export.onnx._graph import BOOL, DOUBLE, INT64, Graph, Value
from sslart.export.onnx._inputs import EncodedSamples


@dataclass(frozen=True)
class Found:
    """Result of the search for boxes.

    Attributes
    ----------
    nodes : Value of shape (n_samples,)
        The labelled box of highest choice, the lowest index on ties.
    within_depth : Value of shape (n_samples,), or None
        Whether it is among the T best of all boxes; None where T does not limit the search.
    """

    nodes: Value
    within_depth: Value | None


def depth_limits(member: MemberView, depth: int) -> bool:
    """Return True if T can end the search before a labelled box is found."""
    return depth != NO_LIMIT and depth < member.n_nodes and bool((member.labels == UNLABELLED).any())


def first_labelled(graph: Graph, member: MemberView, depth: int, samples: EncodedSamples) -> Found:
    """Search for the labelled box that each sample is predicted by.

    All sums are over multiples of 2⁻³² and so are exact: choices are those of `sslart._reference`, bit for bit, and
    ties are ties here too.
    """
    nodes = member.network.nodes
    n_nodes, n_features = nodes.n_nodes, nodes.n_features
    labelled = member.labels != UNLABELLED
    limited = depth_limits(member, depth)
    searched = np.arange(n_nodes) if limited else np.flatnonzero(labelled)
    weights = np.ascontiguousarray(nodes.weights[searched].T)  # boxes side by side: ONNX Runtime is fastest this way
    both_sides = weights[:n_features] + weights[n_features:]

    def choices_of(values: Value, present: Value) -> Value:
        code = graph.join([values, present - values], axis=1).reshape(-1, 2 * n_features, 1)
        return graph.op("Min", code, weights).sum(axis=1) / (present @ both_sides + member.params.choice)

    def best(values: Value, present: Value) -> list[Value]:
        return [choices_of(values, present).argmax(axis=1)]

    def best_within_depth(values: Value, present: Value) -> list[Value]:
        choices = choices_of(values, present)
        of_labelled = graph.where(labelled, choices, -1.0)
        node, highest = of_labelled.argmax(axis=1), of_labelled.max(axis=1).reshape(-1, 1)
        comes_before = (choices > highest) | (choices.equals(highest) & (node.reshape(-1, 1) > searched))
        return [node, comes_before.cast(DOUBLE).sum(axis=1) < float(depth)]

    rows, cost = [samples.values, samples.present], weights.size
    if limited:
        node, within_depth = graph.in_pieces(rows, cost, best_within_depth, [(INT64,), (BOOL,)])
        return Found(node, within_depth)
    return Found(graph.take(searched, graph.in_pieces(rows, cost, best, [(INT64,)])[0]), None)
