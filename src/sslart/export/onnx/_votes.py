"""Answers as an ONNX graph: what one network says, what an ensemble votes for, and where they abstain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from sslart._art.network import NO_LIMIT
from sslart._utils.arrays import FloatArray
from sslart._utils.params import check_option
from sslart.estimators._classifier import ARTClassifier
from sslart.estimators._ensemble import MIN_WEIGHT, VOTINGS
from sslart.estimators._wesslart import WESSLART
from sslart.explain._search import speaks
from sslart.export.onnx import _evidence as _onnx_evidence
from sslart.export.onnx._graph import DOUBLE, Graph, Value
from sslart.export.onnx._inputs import Columns, coded
from sslart.export.onnx._nodes import Found, labelled_node, limits


@dataclass(frozen=True)
class Answer:
    """What is said of each sample.

    Attributes
    ----------
    places : Value of shape (n_samples,)
        Place of the answer in `classes_`.
    probabilities : Value of shape (n_samples, n_classes)
        As `predict_proba` gives them: without regard to abstention.
    answers : Value of shape (n_samples,), or None
        Whether the search for a labelled node comes to an end; None where it always does.
    has_value : Value of shape (n_samples,)
        Whether the sample has a value to go by.
    """

    places: Value
    probabilities: Value
    answers: Value | None
    has_value: Value


def answer_of(columns: Columns, model: ARTClassifier | WESSLART) -> Answer:
    """Return the answers of any classifier."""
    if isinstance(model, WESSLART):
        members = [_of_network(columns, member) for member in model.estimators_]
        weighted = check_option("WESSLART", "voting", model.voting, VOTINGS) == "weighted"
        weights = model.class_weights_ if weighted else np.ones((len(members), len(model.classes_)))
        return _of_evidence(members, weights) if speaks(model) else _of_votes(columns.graph, members, weights)
    return _of_network(columns, model)


def _of_network(columns: Columns, model: ARTClassifier) -> Answer:
    graph, network, depth = columns.graph, model._network, model._search_depth()
    samples = coded(columns, network.encoder)

    def search() -> Found:
        return labelled_node(graph, network.nodes, model._learning_params().choice, depth, samples)

    if speaks(model):
        readout = model._heard().readout  # type: ignore[attr-defined]
        said = _onnx_evidence.probabilities(
            graph, readout, model._class_table.sorted_codes(), len(model.classes_), samples
        )
        in_reach = search().in_reach if limits(network.nodes, depth) else None
        # only a search by boxes asks for a value in a feature that the model knows
        has_value = ~columns.empty if depth == NO_LIMIT else samples.has_value
        return Answer(said.argmax(axis=1), said, in_reach, has_value)
    found = search()
    counts = model.counts_.astype(np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0)
    places = model._places(np.arange(model.n_nodes_))
    return Answer(graph.take(places, found.nodes), graph.take(shares, found.nodes), found.in_reach, samples.has_value)


def _of_votes(graph: Graph, members: list[Answer], weights: FloatArray) -> Answer:
    """Return the class of most votes: see `sslart._voting.scores`."""
    n_classes = weights.shape[1]
    cast = [member.places.reshape(-1, 1).equals(np.arange(n_classes)[None]).cast(DOUBLE) for member in members]

    def scores(votes: list[Value]) -> Value:
        # one member after the other, as NumPy adds them: a tie stays a tie
        weighted = _sum([vote * own for vote, own in zip(votes, weights, strict=True)])
        some_count = weighted.max(axis=1).reshape(-1, 1) > 0.0
        return graph.where(some_count, weighted, _sum(votes))

    return _together(members, cast, scores)


def _of_evidence(members: list[Answer], weights: FloatArray) -> Answer:
    """Return the class that members together find most probable."""
    shares = [member.probabilities * np.maximum(own, MIN_WEIGHT) for member, own in zip(members, weights, strict=True)]
    return _together(members, shares, _sum)


def _together(members: list[Answer], said: list[Value], scores: Callable[[list[Value]], Value]) -> Answer:
    """Return the answer by scores of what the members say that answer, with probabilities by what all of them say."""
    of_all = scores(said)
    of_some, answers = of_all, [member.answers for member in members if member.answers is not None]
    if answers:
        of_some = scores(
            [
                one if member.answers is None else one * member.answers.cast(DOUBLE).reshape(-1, 1)
                for member, one in zip(members, said, strict=True)
            ]
        )
    some_answer = reduce(lambda a, b: a | b, answers) if len(answers) == len(members) else None
    shares = of_all / of_all.sum(axis=1).reshape(-1, 1)
    return Answer(of_some.argmax(axis=1), shares, some_answer, members[0].has_value)


def _sum(values: list[Value]) -> Value:
    return reduce(lambda total, value: total + value, values)
