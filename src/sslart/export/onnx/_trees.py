"""Decision trees in an ONNX graph, level by level: the share of a sample that reaches each node."""

from __future__ import annotations

import numpy as np

from sslart._art.trees import LEAF
from sslart._mapping.evidence.families import TreeTerm
from sslart.export.onnx._graph import DOUBLE, Value
from sslart.export.onnx._scales import ScaledSamples


def tree_scores(term: TreeTerm, samples: ScaledSamples) -> Value:
    """Return the sum of the leaves that each sample reaches, shape (n_samples, n_classes).

    A node passes on what reaches it to its left child where the value is at most the threshold, else to the right one;
    where the value is missing, to both by their shares.
    """
    graph, forest = samples.graph, term.forest
    values, is_present = samples.on(term.rank_weight), samples.is_present
    n_features, n_classes = samples.n_features, forest.values.shape[1]
    scores = samples.present @ np.zeros((n_features, n_classes))
    nodes, reached = forest.roots, samples.present @ np.zeros((n_features, len(forest.roots))) + 1.0
    while len(nodes):
        is_leaf = forest.features[nodes] == LEAF
        if is_leaf.any():
            at_leaves = graph.take(reached, np.flatnonzero(is_leaf), axis=1)
            scores = scores + at_leaves @ forest.values[forest.left[nodes[is_leaf]]]
        inner = nodes[~is_leaf]
        if not len(inner):
            break
        features = forest.features[inner]
        goes_left = ~(graph.take(values, features, axis=1) > forest.thresholds[inner])
        share = graph.where(graph.take(is_present, features, axis=1), goes_left.cast(DOUBLE), forest.shares[inner])
        at_inner = graph.take(reached, np.flatnonzero(~is_leaf), axis=1)
        reached = graph.join([at_inner * share, at_inner * (1.0 - share)], axis=1)
        nodes = np.concatenate([forest.left[inner], forest.left[inner] + 1])
    return scores
