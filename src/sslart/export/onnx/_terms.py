"""The terms of evidence as parts of an ONNX graph: one function per class of terms.

A new family of evidence needs one function here, and one line in `CONVERTERS`. The function takes all terms of its
class, so that it may put several of them into one part. Distances are measured in single precision, as the backend
does; scores are added up in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sslart._mapping.evidence.basis import Term
from sslart._mapping.evidence.boxes import BoxTerm
from sslart._mapping.evidence.families import N_KNOTS, LinearTerm, SplineTerm, TreeTerm
from sslart._mapping.evidence.graph import GraphTerm
from sslart.export.onnx._box_groups import StackedBoxes, stacked_by_size
from sslart.export.onnx._graph import DOUBLE, FLOAT, INT64, Value
from sslart.export.onnx._scales import ScaledSamples
from sslart.export.onnx._trees import tree_scores


class Part(NamedTuple):
    """One summand of the scores.

    Attributes
    ----------
    cost : int
        How many elements are held at once for one sample.
    scores : callable
        Adds the part to the graph: takes the samples and returns its scores, shape (n_samples, n_classes).
    """

    cost: int
    scores: Callable[[ScaledSamples], Value]


def parts_of(terms: Sequence[Term]) -> list[Part]:
    """Return terms as parts of a graph, in the order of their classes."""
    by_class: dict[type[Term], list[Term]] = {}
    for term in terms:
        by_class.setdefault(type(term), []).append(term)
    unknown = [kind.__name__ for kind in by_class if kind not in CONVERTERS]
    if unknown:
        raise NotImplementedError(f"to_onnx cannot convert a {unknown[0]}: add a function to {__name__}.CONVERTERS.")
    return [part for kind, own in by_class.items() for part in CONVERTERS[kind](own)]


def _box_parts(terms: list[BoxTerm]) -> list[Part]:
    def part(boxes: StackedBoxes) -> Part:
        return Part(boxes.lower.size, lambda samples: _box_scores(boxes, samples))

    return [part(boxes) for boxes in stacked_by_size(terms)]


def _box_scores(boxes: StackedBoxes, samples: ScaledSamples) -> Value:
    graph, (n_terms, n_features, n_boxes) = samples.graph, boxes.lower.shape
    scale = np.array([samples.rank_weights.index(weight) for weight in boxes.rank_weights])[:, None]
    values = graph.take(samples.on_all(), boxes.features + scale * samples.n_features, axis=1) * boxes.factors
    is_present = graph.take(samples.is_present, boxes.features, axis=1)
    # a missing value lies between all sides, and so adds no distance
    below, above = (
        graph.where(is_present, values, missing).cast(FLOAT).reshape(-1, n_terms, n_features, 1)
        for missing in (np.inf, -np.inf)
    )
    gaps = graph.op("Max", boxes.lower - below, above - boxes.upper, np.float32(0.0))
    by_term = graph.op("Exp", gaps.sum(axis=2).cast(DOUBLE) * -boxes.rates[:, None])
    activations = by_term.reshape(-1, n_terms * n_boxes)
    scores: Value = activations @ boxes.weights[0]
    for weights in boxes.weights[1:]:
        activations = activations * activations
        scores = scores + activations @ weights
    return scores


def _graph_parts(terms: list[GraphTerm]) -> list[Part]:
    def part(term: GraphTerm) -> Part:
        centres = term.centres.astype(np.float32)
        doubled, norms = np.ascontiguousarray(-2.0 * centres.T), np.einsum("ij,ij->i", centres, centres)

        def scores(samples: ScaledSamples) -> Value:
            graph = samples.graph
            values = graph.where(samples.is_present, samples.on(term.rank_weight), term.missing_values).cast(FLOAT)
            # the squared distance, less what is the same for all boxes
            return graph.take(term.outputs(), (values @ doubled + norms).argmin(axis=1))

        return Part(len(term.boxes), scores)

    return [part(term) for term in terms]


def _linear_parts(terms: list[LinearTerm]) -> list[Part]:
    def part(term: LinearTerm) -> Part:
        def scores(samples: ScaledSamples) -> Value:
            return ((samples.on(term.rank_weight) - term.centre) * samples.present) @ term.slopes

        return Part(term.slopes.size, scores)

    return [part(term) for term in terms]


def _spline_parts(terms: list[SplineTerm]) -> list[Part]:
    def part(term: SplineTerm) -> Part:
        n_features, n_knots, n_classes = term.heights.shape

        def scores(samples: ScaledSamples) -> Value:
            graph = samples.graph
            position = samples.on(term.rank_weight) * float(N_KNOTS - 1)
            below = graph.op("Min", position.cast(INT64), np.array(N_KNOTS - 2))
            part_way = (position - below.cast(DOUBLE)).reshape(-1, n_features, 1)
            heights, at = term.heights.reshape(-1, n_classes), below + n_knots * np.arange(n_features)
            curves = (1.0 - part_way) * graph.take(heights, at) + part_way * graph.take(heights, at + np.array(1))
            return (curves * samples.present.reshape(-1, n_features, 1)).sum(axis=1)

        return Part(n_features * n_classes, scores)

    return [part(term) for term in terms]


def _tree_parts(terms: list[TreeTerm]) -> list[Part]:
    def part(term: TreeTerm) -> Part:
        return Part(len(term.forest.features), lambda samples: tree_scores(term, samples))

    return [part(term) for term in terms]


CONVERTERS: dict[type[Term], Callable[[list[Any]], list[Part]]] = {
    BoxTerm: _box_parts,
    GraphTerm: _graph_parts,
    LinearTerm: _linear_parts,
    SplineTerm: _spline_parts,
    TreeTerm: _tree_parts,
}
