"""Predictions as an ONNX graph: of one network, and of an ensemble by the votes of its members."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sslart._art.network import NO_LIMIT
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import FloatArray
from sslart.export.onnx._evidence import evidence_proba
from sslart.export.onnx._graph import DOUBLE, Graph, Value
from sslart.export.onnx._inputs import Columns, encoded
from sslart.export.onnx._nodes import depth_limits, first_labelled


@dataclass(frozen=True)
class Predicted:
    """Predictions of a model in the graph.

    Attributes
    ----------
    indices : Value of shape (n_samples,)
        Index of the class in `classes_`.
    proba : Value of shape (n_samples, n_classes)
        As `predict_proba` gives them: without regard to abstention.
    within_depth : Value of shape (n_samples,), or None
        Whether the search finds a labelled box, in an ensemble that of as many members as the quorum demands; None
        where it always does.
    has_value : Value of shape (n_samples,)
        Whether the sample has a value to predict from.
    """

    indices: Value
    proba: Value
    within_depth: Value | None
    has_value: Value


def predicted(columns: Columns, view: ModelView) -> Predicted:
    """Return the predictions of any classifier."""
    members = [_by_member(columns, member, view.search_depth) for member in view.members]
    weights = view.vote_weights
    if weights is None:
        return members[0]
    if view.uses_evidence:
        return _by_evidence(members, weights, view.quorum)
    return _by_votes(columns.graph, members, weights, view.quorum)


def _by_member(columns: Columns, member: MemberView, depth: int) -> Predicted:
    graph, samples = columns.graph, encoded(columns, member.encoder)
    if member.readout is not None:
        chosen = member.at_choice
        scored = samples if chosen is member else encoded(columns, chosen.encoder)
        table = member.class_table
        indices, n_classes = np.sort(table.sorted_codes()), len(table.classes)
        proba = evidence_proba(graph, member.readout, indices, n_classes, scored)
        limited = depth_limits(member, depth)
        within_depth = first_labelled(graph, member, depth, samples).within_depth if limited else None
        # only a search for boxes needs a value in a feature that the model has learnt
        has_value = ~columns.empty if depth == NO_LIMIT else samples.has_value
        return Predicted(proba.argmax(axis=1), proba, within_depth, has_value)
    found = first_labelled(graph, member, depth, samples)
    shares = member.shares_of(np.arange(member.n_nodes))
    return Predicted(
        graph.take(member.labels, found.nodes), graph.take(shares, found.nodes), found.within_depth, samples.has_value
    )


def _by_votes(graph: Graph, members: list[Predicted], weights: FloatArray, quorum: int) -> Predicted:
    """Return the class of most votes: see `vote_on_labels` of the votes."""
    n_classes = weights.shape[1]
    votes = [member.indices.reshape(-1, 1).equals(np.arange(n_classes)[None]).cast(DOUBLE) for member in members]

    def scores(votes: list[Value]) -> Value:
        # one member after the other, as NumPy adds them: a tie stays a tie
        weighted = _sum([vote * own for vote, own in zip(votes, weights, strict=True)])
        some_count = weighted.max(axis=1).reshape(-1, 1) > 0.0
        return graph.where(some_count, weighted, _sum(votes))

    return _together(members, votes, scores, quorum)


def _by_evidence(members: list[Predicted], weights: FloatArray, quorum: int) -> Predicted:
    """Return the class of the highest sum of weighted probabilities: see `vote_on_evidence` of the votes."""
    shares = [member.proba * own for member, own in zip(members, weights, strict=True)]
    return _together(members, shares, _sum, quorum)


def _together(
    members: list[Predicted], votes: list[Value], scores: Callable[[list[Value]], Value], quorum: int
) -> Predicted:
    """Return the class by the members that find a labelled box, and the probabilities by all members."""
    of_all = scores(votes)
    of_some, limits = of_all, [member.within_depth for member in members if member.within_depth is not None]
    if limits:
        of_some = scores(
            [
                vote if member.within_depth is None else vote * member.within_depth.cast(DOUBLE).reshape(-1, 1)
                for member, vote in zip(members, votes, strict=True)
            ]
        )
    enough_vote = None
    n_always = len(members) - len(limits)
    if n_always < quorum:
        n_within_depth = _sum([limit.cast(DOUBLE) for limit in limits])
        enough_vote = n_within_depth > quorum - n_always - 0.5
    shares = of_all / of_all.sum(axis=1).reshape(-1, 1)
    return Predicted(of_some.argmax(axis=1), shares, enough_vote, members[0].has_value)


def cheapest(proba: Value, costs: FloatArray) -> Value:
    """Return the class of the lowest expected cost: see `expected_costs`, which adds up in the same order."""
    shares = [proba.graph.take(proba, np.array([index]), axis=1) * own[None] for index, own in enumerate(costs)]
    return _sum(shares).argmin(axis=1)


def _sum(values: list[Value]) -> Value:
    return reduce(lambda total, value: total + value, values)
