"""Conversion of box search and evidence terms to an ONNX graph: one function per class of terms.

A new family of evidence needs one function here, and one line in `CONVERTERS`. The function takes all terms of its
class, so that it may combine them. Distances are computed in single precision, as in the backend; scores are summed in
double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from sslart._art.boxes import NO_LIMIT
from sslart._art.trees import LEAF
from sslart._data.labels import UNLABELLED
from sslart._mapping.evidence.basis import Term
from sslart._mapping.evidence.boxes import BoxTerm
from sslart._mapping.evidence.families import N_KNOTS, LinearTerm, SplineTerm, TreeTerm
from sslart._mapping.evidence.graph import GraphTerm
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import FloatArray, IntArray, SingleArray
from sslart.export._graph import BOOL, DOUBLE, FLOAT, INT64, Graph, Value
from sslart.export._inputs import ScaledSamples, UnitSamples


@dataclass(frozen=True)
class FoundBoxes:
    """Result of the search for boxes."""

    boxes: Value  # the labelled box of highest choice, the lowest index on ties
    within_depth: Value | None  # mask: it is among the T best boxes; None if T does not limit the search


def depth_limits(member: MemberView, depth: int) -> bool:
    """Return True if T can end the search before a labelled box is found."""
    return depth != NO_LIMIT and depth < member.n_nodes and bool((member.labels == UNLABELLED).any())


def first_labelled(graph: Graph, member: MemberView, depth: int, samples: UnitSamples) -> FoundBoxes:
    """Search for the labelled box that predicts each sample.

    All sums are over multiples of 2⁻³² and so are exact: choices are those of `sslart._reference`, bit for bit,
    including ties.
    """
    boxes = member.network.nodes
    n_boxes, n_features = boxes.n_nodes, boxes.n_features
    labelled = member.labels != UNLABELLED
    limited = depth_limits(member, depth)
    searched = np.arange(n_boxes) if limited else np.flatnonzero(labelled)
    weights = np.ascontiguousarray(boxes.weights[searched].T)  # boxes in columns: the fastest layout in ONNX Runtime
    both_sides = weights[:n_features] + weights[n_features:]

    def choices_of(values: Value, present: Value) -> Value:
        code = graph.join([values, present - values], axis=1).reshape(-1, 2 * n_features, 1)
        return graph.op("Min", code, weights).sum(axis=1) / (present @ both_sides + member.params.choice)

    def best(values: Value, present: Value) -> list[Value]:
        return [choices_of(values, present).argmax(axis=1)]

    def best_within_depth(values: Value, present: Value) -> list[Value]:
        choices = choices_of(values, present)
        of_labelled = graph.where(labelled, choices, -1.0)
        box, highest = of_labelled.argmax(axis=1), of_labelled.max(axis=1).reshape(-1, 1)
        comes_before = (choices > highest) | (choices.equals(highest) & (box.reshape(-1, 1) > searched))
        return [box, comes_before.cast(DOUBLE).sum(axis=1) < float(depth)]

    rows, cost = [samples.values, samples.present], weights.size
    if limited:
        box, within_depth = graph.in_pieces(rows, cost, best_within_depth, [(INT64,), (BOOL,)])
        return FoundBoxes(box, within_depth)
    return FoundBoxes(graph.take(searched, graph.in_pieces(rows, cost, best, [(INT64,)])[0]), None)


class ScorePart(NamedTuple):
    """One summand of the scores."""

    cost: int  # elements needed for one sample
    scores: Callable[[ScaledSamples], Value]  # adds the part to the graph, shape (n_samples, n_classes)


def parts_of(terms: Sequence[Term]) -> list[ScorePart]:
    """Convert terms to parts of a graph, in the order of their classes."""
    by_class: dict[type[Term], list[Term]] = {}
    for term in terms:
        by_class.setdefault(type(term), []).append(term)
    unknown = [kind.__name__ for kind in by_class if kind not in CONVERTERS]
    if unknown:
        raise NotImplementedError(f"to_onnx cannot convert a {unknown[0]}: add a function to {__name__}.CONVERTERS.")
    return [part for kind, own in by_class.items() for part in CONVERTERS[kind](own)]


def _box_scores(boxes: StackedBoxes, samples: ScaledSamples) -> Value:
    graph, (n_terms, n_features, n_boxes) = samples.graph, boxes.lower.shape
    scale = np.array([samples.rank_weights.index(weight) for weight in boxes.rank_weights])[:, None]
    values = graph.take(samples.on_all(), boxes.features + scale * samples.n_features, axis=1) * boxes.factors
    is_present = graph.take(samples.is_present, boxes.features, axis=1)
    # a missing value becomes inf or -inf, so that it adds no distance
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


def _graph_part(term: GraphTerm) -> ScorePart:
    centres = term.centres.astype(np.float32)
    doubled, norms = np.ascontiguousarray(-2.0 * centres.T), np.einsum("ij,ij->i", centres, centres)

    def scores(samples: ScaledSamples) -> Value:
        graph = samples.graph
        values = graph.where(samples.is_present, samples.on(term.rank_weight), term.missing_values).cast(FLOAT)
        # the squared distance, without the part that is equal for all boxes
        return graph.take(term.outputs(), (values @ doubled + norms).argmin(axis=1))

    return ScorePart(len(term.boxes), scores)


def _linear_part(term: LinearTerm) -> ScorePart:
    def scores(samples: ScaledSamples) -> Value:
        return ((samples.on(term.rank_weight) - term.centre) * samples.present) @ term.slopes

    return ScorePart(term.slopes.size, scores)


def _spline_part(term: SplineTerm) -> ScorePart:
    n_features, n_knots, n_classes = term.heights.shape

    def scores(samples: ScaledSamples) -> Value:
        graph = samples.graph
        position = samples.on(term.rank_weight) * float(N_KNOTS - 1)
        below = graph.op("Min", position.cast(INT64), np.array(N_KNOTS - 2))
        part_way = (position - below.cast(DOUBLE)).reshape(-1, n_features, 1)
        heights, at = term.heights.reshape(-1, n_classes), below + n_knots * np.arange(n_features)
        curves = (1.0 - part_way) * graph.take(heights, at) + part_way * graph.take(heights, at + np.array(1))
        return (curves * samples.present.reshape(-1, n_features, 1)).sum(axis=1)

    return ScorePart(n_features * n_classes, scores)


def _each(part: Callable[[Any], ScorePart]) -> Callable[[list[Any]], list[ScorePart]]:
    return lambda terms: [part(term) for term in terms]


@dataclass(frozen=True)
class StackedBoxes:
    """Box terms, padded to equal size with boxes of weight zero."""

    lower: SingleArray  # (n_terms, n_features, n_boxes); -inf where no sample has reached the box
    upper: SingleArray
    features: IntArray  # (n_terms, n_features): the features used in distances
    factors: FloatArray  # their weights
    rank_weights: list[float]  # the scale of each term
    rates: FloatArray
    weights: FloatArray  # (n_levels, n_terms * n_boxes, n_classes)

    @classmethod
    def of(cls, terms: Sequence[BoxTerm]) -> StackedBoxes:
        """Stack terms."""
        n_levels, n_classes, n_boxes = np.max([term.weights.shape for term in terms], axis=0)
        n_features = max(len(term.group.features) for term in terms)
        lower = np.full((len(terms), n_features, n_boxes), -np.inf, dtype=np.float32)
        upper = -lower
        features = np.zeros((len(terms), n_features), dtype=np.int64)
        factors = np.zeros((len(terms), n_features))
        weights = np.zeros((n_levels, len(terms), n_boxes, n_classes))
        for place, term in enumerate(terms):
            group, (own_boxes, own_features) = term.group, term.group.lower.shape
            reached = group.lower <= group.upper
            lower[place, :own_features, :own_boxes] = np.where(reached, group.lower, -np.inf).T
            upper[place, :own_features, :own_boxes] = np.where(reached, group.upper, np.inf).T
            features[place, :own_features], factors[place, :own_features] = group.features, group.factors
            single = term.weights.astype(np.float32)  # as the backend has them
            weights[: len(single), place, :own_boxes] = single.transpose(0, 2, 1)
        return cls(
            lower,
            upper,
            features,
            factors,
            [term.rank_weight for term in terms],
            np.array([term.rate for term in terms]),
            weights.reshape(n_levels, -1, n_classes),
        )


def stacked_by_size(terms: Iterable[BoxTerm]) -> list[StackedBoxes]:
    """Stack terms of similar size: none has more than twice the boxes or features of another in its stack."""

    def size(term: BoxTerm) -> tuple[int, int]:
        n_boxes, n_features = term.group.lower.shape
        return n_boxes.bit_length(), n_features.bit_length()

    ordered = sorted((term for term in terms if len(term.group.boxes)), key=size)
    return [StackedBoxes.of(list(alike)) for _, alike in groupby(ordered, size)]


def tree_scores(term: TreeTerm, samples: ScaledSamples) -> Value:
    """Return the sum of the leaf values that each sample reaches, shape (n_samples, n_classes).

    The weight of a sample at a node goes to the left child if the value is at most the threshold, else to the right
    one; if the value is missing, to both by their shares.
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


CONVERTERS: dict[type[Term], Callable[[list[Any]], list[ScorePart]]] = {
    BoxTerm: lambda terms: [ScorePart(one.lower.size, partial(_box_scores, one)) for one in stacked_by_size(terms)],
    GraphTerm: _each(_graph_part),
    LinearTerm: _each(_linear_part),
    SplineTerm: _each(_spline_part),
    TreeTerm: _each(lambda term: ScorePart(len(term.forest.features), partial(tree_scores, term))),
}
