"""Evidence as an ONNX graph: the scores of all terms, added up, and scores as probabilities."""

from __future__ import annotations

import numpy as np

from sslart._mapping.evidence.readout import Readout
from sslart._utils.arrays import IntArray
from sslart.export.onnx._graph import DOUBLE, Graph, Value
from sslart.export.onnx._inputs import EncodedSamples
from sslart.export.onnx._scales import ScaledSamples, n_knots
from sslart.export.onnx._terms import parts_of


def evidence_proba(graph: Graph, readout: Readout, indices: IntArray, n_classes: int, samples: EncodedSamples) -> Value:
    """Return the probability of each class, in the order of `classes_`.

    Parameters
    ----------
    graph : Graph
    readout : Readout
    indices : array of int
        The index in `classes_` of each class of the readout.
    n_classes : int
        How many classes there are, those without a label yet included: their probability is 0.
    samples : EncodedSamples
    """
    n_features, n_learnt = len(readout.scaler.knots), len(readout.bias)
    parts = parts_of(readout.terms)

    def scores_of(values: Value, present: Value) -> list[Value]:
        scaled = ScaledSamples(graph, readout.scaler, readout.terms, values, present)
        scores = [part.scores(scaled) for part in parts]
        total: Value = present @ np.zeros((n_features, n_learnt)) + readout.bias  # there may be no part at all
        for one in scores:
            total = total + one
        return [total]

    cost = max([n_features * max(n_learnt, n_knots(readout.scaler)), *(part.cost for part in parts)])
    scores = graph.in_pieces([samples.values, samples.present], cost, scores_of, [(DOUBLE, n_learnt)])[0]
    shares = graph.op("Softmax", scores * readout.inverse_temperature, axis=1)
    smoothed = shares * (1.0 - readout.smoothing) + readout.smoothing / n_learnt
    return smoothed @ np.eye(n_classes)[indices]
