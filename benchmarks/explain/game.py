"""Shapley values of a fitted model by their definition: all subsets of the features, in double precision.

A `Game` takes the terms of a model as the backend takes them, and computes each score from its formula. Of the kernel
it uses nothing.
"""

from __future__ import annotations

import itertools
from math import comb
from typing import Any

import numpy as np

from sslart._mapping.model_view import view_of


class Game:
    """The score of every set of known features; the graph of boxes is left out, as it is not divided among features."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.ranks: list[tuple[np.ndarray, np.ndarray]] = []
        self.boxes: list[tuple[Any, ...]] = []
        self.additive: list[tuple[float, Any]] = []
        self.trees: list[tuple[Any, ...]] = []

    @classmethod
    def of(cls, readout: Any) -> Game:
        game = cls(len(readout.bias))
        readout.scaler.add_to(game)
        for term in readout.terms:
            term.add_to(game)
        return game

    def set_ranks(self, offsets: np.ndarray, values: np.ndarray, shares: np.ndarray) -> None:
        self.ranks = [(values[first:last], shares[first:last]) for first, last in itertools.pairwise(offsets)]

    def add_boxes(self, *arguments: Any) -> None:
        self.boxes.append(arguments)

    def add_graph(self, *arguments: Any) -> None:
        pass

    def add_linear(self, rank_weight: float, centre: np.ndarray, slopes: np.ndarray) -> None:
        self.additive.append((rank_weight, lambda x: (x - centre)[:, None] * slopes))

    def add_splines(self, rank_weight: float, heights: np.ndarray) -> None:
        knots = np.linspace(0.0, 1.0, heights.shape[1])

        def term(x: np.ndarray) -> np.ndarray:
            return np.array([[np.interp(x[f], knots, own) for own in heights[f].T] for f in range(len(x))])

        self.additive.append((rank_weight, term))

    def add_trees(self, *arguments: Any) -> None:
        self.trees.append(arguments)

    def shapley_values(self, sample: np.ndarray, columns: np.ndarray, n: int) -> np.ndarray:
        """Return the Shapley values of the n columns of one coded sample, shape (n, n_classes)."""
        subsets = np.arange(2**n)
        known = (subsets[:, None] >> np.arange(n)) & 1
        worth = self._worth(sample, columns, known.astype(float))
        size = known.sum(axis=1)
        values = np.empty((n, self.n_classes))
        for column in range(n):
            without = subsets[known[:, column] == 0]
            shares = np.array([1.0 / (n * comb(n - 1, k)) for k in range(n)])[size[without]]
            values[column] = shares @ (worth[without | (1 << column)] - worth[without])
        return values

    def _worth(self, sample: np.ndarray, columns: np.ndarray, known: np.ndarray) -> np.ndarray:
        worth = np.zeros((len(known), self.n_classes))
        given = ~np.isnan(sample)
        for rank_weight, term in self.additive:
            parts = np.where(
                given[:, None], np.nan_to_num(term(np.nan_to_num(self._blended(sample, rank_weight)))), 0.0
            )
            worth += known @ _added(parts, columns, known.shape[1])
        for rank_weight, features, factors, lower, upper, rate, weights in self.boxes:
            x = (self._blended(sample, rank_weight)[features] * factors).astype(np.float32).astype(float)
            low, high = (s.astype(float).transpose(1, 0, 2).reshape(len(features), -1) for s in (lower, upper))
            distances = np.nan_to_num(np.maximum(np.maximum(low - x[:, None], x[:, None] - high), 0.0))
            distances = known @ _added(distances, columns[features], known.shape[1])
            for level, of_level in enumerate(weights.astype(float)):
                worth += np.exp(-float(np.float32(rate)) * 2.0**level * distances) @ of_level.T
        for rank_weight, roots, *nodes in self.trees:
            x = self._blended(sample, rank_weight)
            for root in roots.tolist():
                worth += _reached(root, np.ones(len(known)), x, columns, known, *nodes)
        return worth

    def _blended(self, sample: np.ndarray, rank_weight: float) -> np.ndarray:
        blended = sample.copy()
        for feature, (values, shares) in enumerate(self.ranks):
            if len(values) and not np.isnan(sample[feature]):
                rank = np.interp(sample[feature], values, shares)
                blended[feature] = (1.0 - rank_weight) * sample[feature] + rank_weight * rank
        return blended


def _reached(
    node: int,
    weights: np.ndarray,
    x: np.ndarray,
    columns: np.ndarray,
    known: np.ndarray,
    features: np.ndarray,
    thresholds: np.ndarray,
    left: np.ndarray,
    shares: np.ndarray,
    values: np.ndarray,
) -> np.ndarray:
    """Return the values of the leaves below a node, by what share of each set of known columns reaches them."""
    if features[node] < 0:
        return weights[:, None] * values[left[node]]
    value = x[features[node]]
    is_known = known[:, columns[features[node]]] * (not np.isnan(value))
    to_left = is_known * (value <= thresholds[node]) + (1.0 - is_known) * shares[node]
    nodes = (features, thresholds, left, shares, values)
    below = _reached(left[node], weights * to_left, x, columns, known, *nodes)
    return below + _reached(left[node] + 1, weights * (1.0 - to_left), x, columns, known, *nodes)


def _added(parts: np.ndarray, columns: np.ndarray, n_columns: int) -> np.ndarray:
    """Return the sums of the features of each column."""
    sums = np.zeros((n_columns, parts.shape[1]))
    np.add.at(sums, columns, parts)
    return sums


def difference(model: Any, X: Any) -> float:
    """Return the largest difference between `contributions` and the values by all subsets, for some samples."""
    view = view_of(model)
    (member,) = view.members
    coded = member.encode(view.read(X))
    columns = np.array([feature.column for feature in member.encoder.features])
    game = Game.of(member.readout)
    found = model.contributions(X, reference="nothing").values
    expected = [game.shapley_values(sample, columns, found.shape[1]) for sample in coded]
    return float(np.abs(found - np.array(expected)).max())
