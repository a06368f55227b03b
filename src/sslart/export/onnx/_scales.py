"""Samples on the scales of features and of evidence terms, as an ONNX graph: ranks, and values mixed with ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sslart._data.ranks.tables import RankScale
from sslart._mapping.evidence.basis import Term
from sslart._mapping.evidence.design import RankScaler
from sslart.export.onnx._graph import DOUBLE, INT64, Graph, Value


class ScaledSamples:
    """Some samples on every scale that a term has.

    Parameters
    ----------
    graph : Graph
    scaler : RankScaler
    terms : sequence of Term
    values, present : Value of shape (n_samples, n_features)
        Rows of `EncodedSamples`.

    Attributes
    ----------
    present : Value of shape (n_samples, n_features)
        1 where there is a value, else 0, in double precision.
    is_present : Value of shape (n_samples, n_features)
        The same as booleans.
    rank_weights : list of float
        The scales, sorted.
    """

    def __init__(self, graph: Graph, scaler: RankScaler, terms: Sequence[Term], values: Value, present: Value) -> None:
        self.graph, self.present = graph, present
        self.is_present, self.n_features = present > 0.5, len(scaler.knots)
        self.rank_weights = sorted({term.rank_weight for term in terms})
        ranks = _ranks(graph, scaler, values) if any(self.rank_weights) else values
        self._scales = [_blended(graph, scaler, values, ranks, weight) for weight in self.rank_weights]

    def on(self, rank_weight: float) -> Value:
        """Return the samples on one scale."""
        return self._scales[self.rank_weights.index(rank_weight)]

    def on_all(self) -> Value:
        """Return the samples on all scales, one beside the other, shape (n_samples, n_scales * n_features)."""
        return self.graph.join(self._scales, axis=1)


def n_knots(scaler: RankScaler) -> int:
    """Return the most knots that a feature has, at least one."""
    return max((len(knots[0]) for knots in scaler.knots if knots is not None), default=1)


def _ranks(graph: Graph, scaler: RankScaler, x: Value) -> Value:
    """Return the rank of each value, straight between the knots as in `numpy.interp`; 0 where there are no knots."""
    most = n_knots(scaler)
    values, shares, slopes = np.full((3, len(scaler.knots), most), 0.0)
    values[:] = np.inf
    for feature, knots in enumerate(scaler.knots):
        if knots is not None:
            n_own = len(knots[0])
            values[feature, :n_own], shares[feature, :n_own] = knots
            slopes[feature, : n_own - 1] = np.diff(knots[1]) / np.diff(knots[0])
        else:
            values[feature, 0] = 0.0
    reached = (x.reshape(-1, len(values), 1) >= values).cast(DOUBLE).sum(axis=2) - 1.0
    knot = graph.op("Max", reached, 0.0).cast(INT64) + most * np.arange(len(values))
    beyond = graph.op("Max", x - graph.take(values.reshape(-1), knot), 0.0)
    return graph.take(slopes.reshape(-1), knot) * beyond + graph.take(shares.reshape(-1), knot)


def _blended(graph: Graph, scaler: RankScaler, x: Value, ranks: Value, rank_weight: float) -> Value:
    """Return values as a mixture of themselves and their ranks: see `RankScaler.blend`."""
    has_rank: Any = np.array([knots is not None for knots in scaler.knots])
    if rank_weight == 0.0 or not has_rank.any():
        return x
    mixture: Value = x * (1.0 - rank_weight) + ranks * rank_weight
    return graph.where(has_rank, mixture, x)


def on_rank_scale(graph: Graph, ranks: RankScale, n_features: int, matrix: Value) -> Value:
    """Return a matrix in the user's units with positions in place of values, as `RankScale.positions` does."""
    knots, stretches, first = ranks.together(np.arange(n_features))

    def positions(values: Value) -> Sequence[Value]:
        known = graph.where(graph.op("IsNaN", values), 0.0, values)
        reached = (known.reshape(-1, n_features, 1) >= knots).cast(DOUBLE).sum(axis=2).cast(INT64) + first
        start, width, position, length, end = (graph.take(row, reached) for row in stretches)
        on_scale = graph.op("Min", (known - start) / width * length + position, end)
        return [graph.where(graph.op("IsNaN", values), np.nan, on_scale)]

    return graph.in_pieces([matrix], knots.size, positions, [(DOUBLE, n_features)])[0]
