"""The terms of evidence scores in plain NumPy: boxes, the graph, lines and splines, with their Shapley values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from sslart._utils.arrays import FloatArray, IntArray, SingleArray

Flags = np.ndarray[tuple[int], np.dtype[np.uint8]]


def measure(samples: SingleArray, lower: SingleArray, upper: SingleArray, distances: SingleArray, stop: Flags) -> None:
    """Measure the L1 distance of each sample to each box, over the features that the sample has.

    Parameters
    ----------
    samples : array of shape (n_samples, n_features)
        NaN where missing.
    lower, upper : arrays of shape (n_blocks, n_features, width)
        The sides of the boxes, in blocks; -inf and inf where a box has no side.
    distances : array of shape (n_samples, n_boxes)
        Filled with the distances.
    stop : array of length 1
        Not zero once another thread wants this one to stop.
    """
    distances[:] = 0.0
    for feature in range(samples.shape[1]):
        if stop[0]:
            return
        values = samples[:, feature, None]
        gaps = np.maximum(lower[:, feature].ravel() - values, values - upper[:, feature].ravel())
        distances += np.fmax(gaps, np.float32(0.0))


def nearest_centres(
    samples: FloatArray, centres: FloatArray, missing: FloatArray, nearest: IntArray, stop: Flags
) -> None:
    """Find the centre nearest to each sample, the one of lowest index on ties.

    Parameters
    ----------
    samples : array of shape (n_samples, n_features)
        NaN where missing.
    centres : array of shape (n_centres, n_features)
    missing : array of length n_features
        Replaces a missing value.
    nearest : array of length n_samples
        Filled with the indices.
    stop : array of length 1
        Not zero once another thread wants this one to stop.
    """
    if not len(centres) or centres.shape[1] != samples.shape[1] or missing.shape != samples.shape[1:]:
        raise ValueError("centres must have the shape (n_centres, n_features), missing the length n_features")
    if nearest.shape != samples.shape[:1]:
        raise ValueError("nearest must have the length n_samples")
    single_centres = centres.astype(np.float32)
    single_samples = np.where(np.isnan(samples), missing, samples).astype(np.float32)
    squares = np.zeros(len(centres))
    for by_feature in single_centres.T.astype(np.float64):
        squares += by_feature * by_feature
    products = np.zeros((len(samples), len(centres)), dtype=np.float32)
    for x, c in zip(single_samples.T, single_centres.T, strict=True):
        if stop[0]:
            return
        products += x[:, None] * c
    nearest[:] = ((0.5 * squares).astype(np.float32) - products).argmin(axis=1)  # half the square, less ½|x|²


@dataclass(frozen=True)
class ReferenceTerm(ABC):
    """One summand of the scores; `rank_weight` is how much of each value is its rank: 0 none, 1 all."""

    rank_weight: float

    @abstractmethod
    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        """Return the contribution of the term to the scores, shape (n_samples, n_classes)."""

    @abstractmethod
    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        """Add the Shapley value of each column to `sums`, or, if it has no such values, the term to `graph`."""


@dataclass(frozen=True)
class ReferenceBoxes(ReferenceTerm):
    features: IntArray
    factors: FloatArray
    lower: SingleArray
    upper: SingleArray
    rate: float
    weights: SingleArray

    def _selected(self, samples: FloatArray) -> SingleArray:
        return np.ascontiguousarray(samples[:, self.features] * self.factors, dtype=np.float32)

    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        activations = np.empty((len(samples), self.weights.shape[2]), dtype=np.float32)
        measure(self._selected(samples), self.lower, self.upper, activations, stop)
        np.exp(activations * np.float32(-self.rate), out=activations)
        scores = np.zeros((len(samples), self.weights.shape[1]))
        for level in self.weights:
            for own, row in zip(scores, activations, strict=True):  # a sample does not depend on those beside it
                own += (level * row).sum(axis=1, dtype=np.float64)
            np.multiply(activations, activations, out=activations)
        return scores

    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        own, group_of = np.unique(columns[self.features], return_inverse=True)
        lower, upper = (side.transpose(1, 0, 2).reshape(len(self.features), -1) for side in (self.lower, self.upper))
        nodes, node_weights = np.polynomial.legendre.leggauss((len(own) + 1) // 2)
        for row, sample in enumerate(self._selected(samples).astype(np.float64)):
            gaps = np.fmax(np.maximum(lower - sample[:, None], sample[:, None] - upper), 0.0)
            distances = np.zeros((len(own), lower.shape[1]))
            np.add.at(distances, group_of, gaps)
            for number, level in enumerate(self.weights.astype(np.float64)):
                values = _shapley_values(np.expm1(-self.rate * 2.0**number * distances), nodes, node_weights)
                sums[row, own] += np.einsum("gb,cb->gc", values, level)


def _shapley_values(changes: FloatArray, nodes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return c_j ∫₀¹ Π_{g≠j} (1 + t c_g) dt for each column j and box, by quadrature with nodes on [−1, 1]."""
    values = np.zeros_like(changes)
    for t, weight in zip((1.0 + nodes) / 2.0, weights / 2.0, strict=True):
        factors = 1.0 + t * changes
        before = np.cumprod(np.vstack([np.ones_like(factors[:1]), factors[:-1]]), axis=0)
        after = np.cumprod(np.vstack([np.ones_like(factors[:1]), factors[:0:-1]]), axis=0)[::-1]
        values += weight * before * after
    return np.asarray(values * changes)


@dataclass(frozen=True)
class ReferenceGraph(ReferenceTerm):
    centres: FloatArray
    missing: FloatArray
    outputs: FloatArray

    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        nearest = np.zeros(len(samples), dtype=np.int64)
        nearest_centres(samples, self.centres, self.missing, nearest, stop)
        return np.asarray(self.outputs[nearest])

    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        graph += self.scores(samples, np.zeros(1, dtype=np.uint8))


class AdditiveTerm(ReferenceTerm):
    """A sum over features, each of which is its own Shapley value."""

    @abstractmethod
    def by_feature(self, samples: FloatArray) -> FloatArray:
        """Return the contribution of each feature, shape (n_samples, n_features, n_classes)."""

    def scores(self, samples: FloatArray, stop: Flags) -> FloatArray:
        return np.asarray(self.by_feature(samples).sum(axis=1))

    def contribute(self, samples: FloatArray, columns: IntArray, sums: FloatArray, graph: FloatArray) -> None:
        np.add.at(sums.transpose(1, 0, 2), columns, self.by_feature(samples).transpose(1, 0, 2))


@dataclass(frozen=True)
class ReferenceLines(AdditiveTerm):
    centre: FloatArray
    slopes: FloatArray

    def by_feature(self, samples: FloatArray) -> FloatArray:
        return np.asarray(np.nan_to_num(samples - self.centre)[:, :, None] * self.slopes)


@dataclass(frozen=True)
class ReferenceSplines(AdditiveTerm):
    heights: FloatArray

    def by_feature(self, samples: FloatArray) -> FloatArray:
        last = self.heights.shape[1] - 1
        position = np.clip(np.nan_to_num(samples), 0.0, 1.0) * last
        below = np.minimum(position.astype(np.int64), last - 1)
        part = (position - below)[:, :, None]
        each = np.arange(samples.shape[1])
        values = (1.0 - part) * self.heights[each, below] + part * self.heights[each, below + 1]
        return np.where(np.isnan(samples)[:, :, None], 0.0, values)
