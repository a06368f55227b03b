"""Conversion of a fitted classifier to an ONNX model, to be run without Python."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sslart._art.boxes import NO_LIMIT
from sslart._data.labels import UNLABELLED, check_has_label
from sslart._mapping.evidence.readout import Readout
from sslart._mapping.model_view import MemberView, ModelView, view_of
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.files import write_atomically
from sslart._utils.optional import optional
from sslart.export._graph import BOOL, CATEGORIES_DOMAIN, DOUBLE, INT64, STRING, Graph, Value
from sslart.export._inputs import GraphInputs, ScaledSamples, UnitSamples, declare_columns, encoded, n_knots
from sslart.export._terms import depth_limits, first_labelled, parts_of

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["to_onnx"]

OPSET, CATEGORIES_OPSET, IR_VERSION = 17, 2, 8
LABEL, PROBABILITIES, ABSTAINED = OUTPUTS = ("label", "probabilities", "abstained")
NO_INTEGER = np.iinfo(np.int64).min  # label for abstention if -1 is a class
MAX_BYTES = 2**31 - 2**24  # limit of Protocol Buffers, minus a reserve for everything except arrays


def to_onnx(model: Any, path: str | os.PathLike[str] | None = None) -> ModelProto:
    """Convert a fitted classifier to an ONNX model with the same predictions.

    Parameters
    ----------
    model : SSLART, AutoSSLART, WESSLART or FuzzyARTMAP
        Fitted, with at least one learnt label. Later changes of parameters do not affect the ONNX model.
    path : str or path, default=None
        File to write the model to, atomically; None: not written.

    Returns
    -------
    onnx.ModelProto
        Opset 17, IR version 8. Inputs are in the user's units, in double precision:

        - `X` of shape (N, n_features), NaN where missing, if all columns are numeric;
        - else one input of shape (N, 1) per column, with its name: double for a numeric column, string for a
          categorical one; the empty string means missing.

        Outputs:

        - `label`, shape (N,): the class. Integers for integer classes, 0 and 1 for booleans, strings for strings.
          If the model abstains: -1, or the lowest 64-bit integer if -1 is a class; or the empty string.
        - `probabilities`, shape (N, n_classes): as `predict_proba`.
        - `abstained`, shape (N,): whether the model abstains.

        The metadata holds `sslart_version`, `estimator`, `classes`, `feature_names` and `categories` as JSON.

    Raises
    ------
    ImportError
        If onnx is not installed; the extra `onnx` installs it.
    TypeError
        If the model is not a classifier of sslart.
    ValueError
        If the model has categories that are equal as strings, or is larger than an ONNX file can be.

    Notes
    -----
    With one-to-many and one-to-one mapping the result is that of `predict`, bit for bit. Evidence is close: see
    docs/onnx.md. For a sample without any value the ONNX model abstains, with NaN as probabilities. Dates are numbers
    of days since 1970, in local time.

    Examples
    --------
    >>> import onnxruntime
    >>> from sklearn.datasets import load_iris
    >>> import sslart
    >>> X, y = load_iris(return_X_y=True)
    >>> model = sslart.SSLART(random_state=0).fit(X, y)
    >>> session = onnxruntime.InferenceSession(sslart.to_onnx(model).SerializeToString())
    >>> label, probabilities, abstained = session.run(None, {"X": X})
    >>> bool((label == model.predict(X)).all())
    True
    """
    checker = optional("onnx.checker", "onnx")
    view = view_of(model, "a fitted SSLART, AutoSSLART, WESSLART or FuzzyARTMAP")
    check_has_label(view.class_table)
    made = _model_of(view)
    checker.check_model(made)
    if path is not None:
        write_atomically(Path(path), [made.SerializeToString()])
    return made


def _model_of(view: ModelView) -> ModelProto:
    helper = optional("onnx.helper", "onnx")
    graph = Graph(OUTPUTS)
    columns = declare_columns(graph, view.feature_names, [member.encoder for member in view.members], view.reader.plan)
    _declare_outputs(graph, view, predicted(columns, view))
    if graph.n_bytes > MAX_BYTES:
        raise ValueError(
            f"This model has {graph.n_bytes / 2**30:.1f} GiB of arrays, and an ONNX file holds 2 GiB: fit it with "
            "lower vigilance or, of an ensemble, fewer members."
        )
    made: ModelProto = helper.make_model(
        helper.make_graph(graph.nodes, view.name, graph.inputs, graph.outputs, initializer=graph.initializers),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(CATEGORIES_DOMAIN, CATEGORIES_OPSET)],
        ir_version=IR_VERSION,
        producer_name="sslart",
        producer_version=version("sslart"),
    )
    helper.set_model_props(made, _metadata(view, columns))
    return made


def _declare_outputs(graph: Graph, view: ModelView, found: GraphPredictions) -> None:
    """Declare the outputs, including abstention."""
    decided = found.has_value if found.within_depth is None else found.has_value & found.within_depth
    if view.abstain_below is not None:
        decided = decided & ~(found.proba.max(axis=1) < view.abstain_below)
    costs, limits, classes = view.decision_costs, view.confidence_limits, view.classes
    indices = found.indices if costs is None else cheapest(found.proba, costs)
    if limits is not None:
        is_own = indices.reshape(-1, 1).equals(np.arange(len(classes))[None]).cast(DOUBLE)
        decided = decided & ~((found.proba * is_own).sum(axis=1) < graph.take(limits, indices))
    as_text = classes.dtype.kind == "U"
    no_class: Any = "" if as_text else NO_INTEGER if view.class_table.has_minus_one() else UNLABELLED
    names = np.array([*classes.tolist(), no_class], dtype=object if as_text else np.int64)
    label = graph.take(names, graph.where(decided, indices, np.array(len(classes))))
    proba = graph.where(found.has_value.reshape(-1, 1), found.proba, np.nan)
    graph.output(label, LABEL, STRING if as_text else INT64)
    graph.output(proba, PROBABILITIES, DOUBLE, len(classes))
    graph.output(~decided, ABSTAINED, BOOL)


def _metadata(view: ModelView, columns: GraphInputs) -> dict[str, str]:
    return {
        "sslart_version": version("sslart"),
        "estimator": view.name,
        "classes": json.dumps(view.classes.tolist()),
        "feature_names": json.dumps(view.feature_names),
        "categories": json.dumps({str(column): known for column, known in columns.categories.items()}),
    }


@dataclass(frozen=True)
class GraphPredictions:
    """Predictions of a model in the graph."""

    indices: Value  # index of the class in `classes_`
    proba: Value  # as from `predict_proba`, regardless of abstention
    # mask: the search finds a labelled box, in an ensemble for a quorum of members; None: always
    within_depth: Value | None
    has_value: Value  # mask of samples with any value to predict from


def predicted(columns: GraphInputs, view: ModelView) -> GraphPredictions:
    """Return the predictions of any classifier."""
    members = [_by_member(columns, member, view.search_depth) for member in view.members]
    weights = view.vote_weights
    if weights is None:
        return members[0]
    if view.uses_evidence:
        return _by_evidence(members, weights, view.quorum)
    return _by_votes(columns.graph, members, weights, view.quorum)


def _by_member(columns: GraphInputs, member: MemberView, depth: int) -> GraphPredictions:
    graph, samples = columns.graph, encoded(columns, member.encoder)
    if member.readout is not None:
        chosen = member.at_choice
        scored = samples if chosen is member else encoded(columns, chosen.encoder)
        table = member.class_table
        indices, n_classes = np.sort(table.sorted_codes()), len(table.classes)
        proba = evidence_proba(graph, member.readout, indices, n_classes, scored)
        limited = depth_limits(member, depth)
        within_depth = first_labelled(graph, member, depth, samples).within_depth if limited else None
        # only a search for boxes needs a value in a learnt feature
        has_value = ~columns.empty if depth == NO_LIMIT else samples.has_value
        return GraphPredictions(proba.argmax(axis=1), proba, within_depth, has_value)
    found = first_labelled(graph, member, depth, samples)
    shares = member.shares_of(np.arange(member.n_nodes))
    return GraphPredictions(
        graph.take(member.labels, found.boxes), graph.take(shares, found.boxes), found.within_depth, samples.has_value
    )


def _by_votes(graph: Graph, members: list[GraphPredictions], weights: FloatArray, quorum: int) -> GraphPredictions:
    """Return the class with most votes: see `ensemble_votes.vote_on_labels`."""
    n_classes = weights.shape[1]
    votes = [member.indices.reshape(-1, 1).equals(np.arange(n_classes)[None]).cast(DOUBLE) for member in members]

    def scores(votes: list[Value]) -> Value:
        # summed over members in order, as in NumPy, so that ties are the same
        weighted = _sum([vote * own for vote, own in zip(votes, weights, strict=True)])
        some_count = weighted.max(axis=1).reshape(-1, 1) > 0.0
        return graph.where(some_count, weighted, _sum(votes))

    return _together(members, votes, scores, quorum)


def _by_evidence(members: list[GraphPredictions], weights: FloatArray, quorum: int) -> GraphPredictions:
    """Return the class with the highest sum of weighted probabilities: see `ensemble_votes.vote_on_evidence`."""
    shares = [member.proba * own for member, own in zip(members, weights, strict=True)]
    return _together(members, shares, _sum, quorum)


def _together(
    members: list[GraphPredictions], votes: list[Value], scores: Callable[[list[Value]], Value], quorum: int
) -> GraphPredictions:
    """Return the class voted by the members that find a labelled box, and the probabilities of all members."""
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
    return GraphPredictions(of_some.argmax(axis=1), shares, enough_vote, members[0].has_value)


def cheapest(proba: Value, costs: FloatArray) -> Value:
    """Return the class with the lowest expected cost: see `expected_costs`, which sums in the same order."""
    shares = [proba.graph.take(proba, np.array([index]), axis=1) * own[None] for index, own in enumerate(costs)]
    return _sum(shares).argmin(axis=1)


def _sum(values: list[Value]) -> Value:
    return reduce(lambda total, value: total + value, values)


def evidence_proba(graph: Graph, readout: Readout, indices: IntArray, n_classes: int, samples: UnitSamples) -> Value:
    """Return the probability of each class, in the order of `classes_`; 0 for classes without a label.

    `indices`: the index in `classes_` of each class of the readout.
    """
    n_features, n_learnt = len(readout.scaler.knots), len(readout.bias)
    parts = parts_of(readout.terms)

    def scores_of(values: Value, present: Value) -> list[Value]:
        scaled = ScaledSamples(graph, readout.scaler, readout.terms, values, present)
        scores = [part.scores(scaled) for part in parts]
        total: Value = present @ np.zeros((n_features, n_learnt)) + readout.bias  # also for a readout without terms
        for one in scores:
            total = total + one
        return [total]

    cost = max([n_features * max(n_learnt, n_knots(readout.scaler)), *(part.cost for part in parts)])
    scores = graph.in_pieces([samples.values, samples.present], cost, scores_of, [(DOUBLE, n_learnt)])[0]
    shares = graph.op("Softmax", scores * readout.inverse_temperature, axis=1)
    smoothed = shares * (1.0 - readout.smoothing) + readout.smoothing / n_learnt
    return smoothed @ np.eye(n_classes)[indices]
