"""Box terms of about the same size in one array, so that distances to many small groups are measured at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from sslart._mapping.evidence.boxes import BoxTerm
from sslart._utils.arrays import FloatArray, IntArray, SingleArray


@dataclass(frozen=True)
class StackedBoxes:
    """Box terms, filled up to the largest of them with boxes of weight zero.

    Attributes
    ----------
    lower, upper : arrays of shape (n_terms, n_features, n_boxes)
        The sides; -inf and inf where no sample has reached the box.
    features : array of shape (n_terms, n_features)
        The features that distances are measured in.
    factors : array of shape (n_terms, n_features)
        What a distance in each of them counts.
    rank_weights : list of float
        The scale of each term.
    rates : array of length n_terms
    weights : array of shape (n_levels, n_terms * n_boxes, n_classes)
    """

    lower: SingleArray
    upper: SingleArray
    features: IntArray
    factors: FloatArray
    rank_weights: list[float]
    rates: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, terms: Sequence[BoxTerm]) -> StackedBoxes:
        """Return terms in one array."""
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
    """Return terms together with those of about the same size: none has twice the boxes or features of another."""

    def size(term: BoxTerm) -> tuple[int, int]:
        n_boxes, n_features = term.group.lower.shape
        return n_boxes.bit_length(), n_features.bit_length()

    ordered = sorted((term for term in terms if len(term.group.boxes)), key=size)
    return [StackedBoxes.of(list(alike)) for _, alike in groupby(ordered, size)]
