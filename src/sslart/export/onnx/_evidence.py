"""Evidence as an ONNX graph: what all boxes and features say about a sample, added up.

Distances are measured in single precision, as the engine does; what is said is added up in double.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._mapping.evidence.rank_scaler import Ranks
from sslart._mapping.evidence.readout import N_KNOTS, Curves, Line, Readout, Web
from sslart._utils.arrays import IntArray
from sslart.export.onnx._box_groups import Choruses, side_by_side
from sslart.export.onnx._graph import DOUBLE, FLOAT, INT64, Graph, Value
from sslart.export.onnx._inputs import Coded


def probabilities(graph: Graph, readout: Readout, places: IntArray, n_classes: int, samples: Coded) -> Value:
    """Return the probability of each class, in the order of `classes_`.

    Parameters
    ----------
    graph : Graph
    readout : Readout
    places : array of int
        The place in `classes_` of each class of the readout.
    n_classes : int
        How many classes there are, those without a label yet included: their probability is 0.
    samples : Coded
    """

    def scores_of(x: Value, present: Value) -> list[Value]:
        return [_Hearing(graph, readout, x, present).scores()]

    scores = graph.in_pieces(
        [samples.values, samples.present], _cost(readout), scores_of, [(DOUBLE, len(readout.bias))]
    )[0]
    shares = graph.op("Softmax", scores * readout.sharpness, axis=1)
    found = shares * (1.0 - readout.doubt) + readout.doubt / len(readout.bias)
    return found @ np.eye(n_classes)[places]


class _Hearing:
    """Some samples while all that speak are heard.

    Parameters
    ----------
    graph : Graph
    readout : Readout
    x, present : Value of shape (n_samples, n_features)
        Rows of `Coded`.
    """

    def __init__(self, graph: Graph, readout: Readout, x: Value, present: Value) -> None:
        self.graph, self.readout, self.present = graph, readout, present
        self.is_present, self.n_features = present > 0.5, len(readout.ranks.knots)
        speaking: list[Any] = [*(part.chorus for part in readout.parts), *readout.webs, *readout.lines, *readout.curves]
        self.shares = sorted({one.share for one in speaking})
        ranked = _ranked(graph, readout.ranks, x) if any(self.shares) else x
        self.scales = [_blended(graph, readout.ranks, x, ranked, share) for share in self.shares]

    def on(self, share: float) -> Value:
        """Return the samples on a scale."""
        return self.scales[self.shares.index(share)]

    def scores(self) -> Value:
        """Return the evidence for each class."""
        readout = self.readout
        said = [
            *(self.of_choruses(choruses) for choruses in side_by_side(readout.parts)),
            *(self.of_web(web) for web in readout.webs),
            *(self.of_line(line) for line in readout.lines),
            *(self.of_curves(curves) for curves in readout.curves),
        ]
        nothing = np.zeros((self.n_features, len(readout.bias)))
        total: Value = self.present @ nothing + readout.bias  # there may be no one to speak
        for one in said:
            total = total + one
        return total

    def of_choruses(self, choruses: Choruses) -> Value:
        """Return what the boxes of some choruses say."""
        graph = self.graph
        n_choruses, n_heard, n_boxes = choruses.lower.shape
        scale = np.array([self.shares.index(share) for share in choruses.shares])[:, None]
        every = graph.join(self.scales, axis=1)
        seen = graph.take(every, choruses.features + scale * self.n_features, axis=1) * choruses.factors
        is_present = graph.take(self.is_present, choruses.features, axis=1)
        # a missing value lies between all sides, and so adds no distance
        below, above = (
            graph.where(is_present, seen, nowhere).cast(FLOAT).reshape(-1, n_choruses, n_heard, 1)
            for nowhere in (np.inf, -np.inf)
        )
        gaps = graph.op("Max", choruses.lower - below, above - choruses.upper, np.float32(0.0))
        fallen_off = graph.op("Exp", gaps.sum(axis=2).cast(DOUBLE) * -choruses.rates[:, None])
        strengths = fallen_off.reshape(-1, n_choruses * n_boxes)
        said: Value = strengths @ choruses.weights[0]
        for weights in choruses.weights[1:]:
            strengths = strengths * strengths
            said = said + strengths @ weights
        return said

    def of_web(self, web: Web) -> Value:
        """Return what the box of the nearest centre says, and its neighbours."""
        middle, doubled, norms = web._ways
        samples = self.graph.where(self.is_present, self.on(web.share), middle).cast(FLOAT)
        return self.graph.take(web.smoothed(), (samples @ doubled + norms).argmin(axis=1))

    def of_line(self, line: Line) -> Value:
        """Return what the trends say."""
        return ((self.on(line.share) - line.centre) * self.present) @ line.slopes

    def of_curves(self, curves: Curves) -> Value:
        """Return what the curves say."""
        graph, (n_features, n_knots, n_classes) = self.graph, curves.heights.shape
        position = self.on(curves.share) * float(N_KNOTS - 1)
        below = graph.op("Min", position.cast(INT64), np.array(N_KNOTS - 2))
        part = (position - below.cast(DOUBLE)).reshape(-1, n_features, 1)
        heights, at = curves.heights.reshape(-1, n_classes), below + n_knots * np.arange(n_features)
        said = (1.0 - part) * graph.take(heights, at) + part * graph.take(heights, at + np.array(1))
        return (said * self.present.reshape(-1, n_features, 1)).sum(axis=1)


def _cost(readout: Readout) -> int:
    """Return how many elements are held at once for a sample."""
    of_choruses = [choruses.lower.size for choruses in side_by_side(readout.parts)]
    of_webs = [len(web.boxes) for web in readout.webs]
    of_features = len(readout.ranks.knots) * max(len(readout.bias), _n_knots(readout.ranks))
    return max([of_features, *of_choruses, *of_webs])


def _ranked(graph: Graph, ranks: Ranks, x: Value) -> Value:
    """Return the rank of each value, straight between the knots, as `numpy.interp` has it; 0 where there are none."""
    n_knots = _n_knots(ranks)
    values, shares, slopes = np.full((3, len(ranks.knots), n_knots), 0.0)
    values[:] = np.inf
    for feature, knots in enumerate(ranks.knots):
        if knots is not None:
            n_own = len(knots[0])
            values[feature, :n_own], shares[feature, :n_own] = knots
            slopes[feature, : n_own - 1] = np.diff(knots[1]) / np.diff(knots[0])
        else:
            values[feature, 0] = 0.0
    reached = (x.reshape(-1, len(values), 1) >= values).cast(DOUBLE).sum(axis=2) - 1.0
    knot = graph.op("Max", reached, 0.0).cast(INT64) + n_knots * np.arange(len(values))
    beyond = graph.op("Max", x - graph.take(values.reshape(-1), knot), 0.0)
    return graph.take(slopes.reshape(-1), knot) * beyond + graph.take(shares.reshape(-1), knot)


def _n_knots(ranks: Ranks) -> int:
    return max((len(knots[0]) for knots in ranks.knots if knots is not None), default=1)


def _blended(graph: Graph, ranks: Ranks, x: Value, ranked: Value, share: float) -> Value:
    """Return values as a mixture of themselves and their ranks: see `Ranks.blend`."""
    has_rank: Any = np.array([knots is not None for knots in ranks.knots])
    if share == 0.0 or not has_rank.any():
        return x
    mixture: Value = x * (1.0 - share) + ranked * share
    return graph.where(has_rank, mixture, x)
