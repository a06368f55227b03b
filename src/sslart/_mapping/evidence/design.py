"""What evidence is learnt from: labelled samples among boxes, and the bases that are made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.rank_scaler import RankScaler
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

Made = TypeVar("Made")


@dataclass(frozen=True)
class BoxSet:
    """Boxes in the unit cube, shape (n_boxes, n_features), and how many samples each has learnt."""

    lower: FloatArray
    upper: FloatArray
    support: IntArray

    def first(self, n: int) -> BoxSet:
        """Return the first of the boxes."""
        return BoxSet(self.lower[:n], self.upper[:n], self.support[:n])


@dataclass(frozen=True)
class LabelledSet:
    """Labelled samples and boxes.

    Attributes
    ----------
    samples : array of shape (n_labels, n_features)
        In the unit cube, NaN where missing.
    classes : array of length n_labels
        Class of each: an index into the classes learnt so far, sorted.
    n_classes : int
    boxes : BoxSet
    indicator : array of bool, length n_features
        Which features stand for a category.
    seed : int
    copies_together : bool
        Whether copies of a sample are left out together.
    rows : array of int of length n_labels, or None
        Which of the labels that are kept; None: all.
    """

    samples: FloatArray
    classes: IntArray
    n_classes: int
    boxes: BoxSet
    indicator: BoolArray
    seed: int
    copies_together: bool = True
    rows: IntArray | None = None

    @cached_property
    def groups(self) -> LabelGroups:
        """Which labels are left out together."""
        if self.copies_together:
            return LabelGroups.of_copies(self.samples)
        return LabelGroups(np.arange(len(self.classes)))

    @property
    def targets(self) -> FloatArray:
        """One-hot classes."""
        return np.eye(self.n_classes)[self.classes]

    def subset(self, size: int) -> LabelledSet:
        """Return the set with at most so many labels, each class in proportion, at least one of each."""
        if len(self.classes) <= size:
            return self
        random = np.random.RandomState(self.seed)
        order = random.permutation(len(self.classes))
        rank = np.empty(len(order))
        for index in np.unique(self.classes):
            own = order[self.classes[order] == index]
            rank[own] = (np.arange(len(own)) + 0.5 * (np.arange(len(own)) > 0)) / len(own)
        rows = np.sort(np.argsort(rank, kind="stable")[:size])
        return replace(self, samples=self.samples[rows], classes=self.classes[rows], rows=rows)


class DesignMatrices:
    """A labelled set with what its bases share; everything is computed once.

    Parameters
    ----------
    labelled : LabelledSet
    """

    def __init__(self, labelled: LabelledSet) -> None:
        self.labelled, self.boxes = labelled, labelled.boxes
        boxes = labelled.boxes
        self.scaler = RankScaler.of_boxes(boxes.lower, boxes.upper, boxes.support, labelled.indicator)
        self._made: dict[Any, Any] = {}

    @property
    def n_features(self) -> int:
        """Number of coded features."""
        return int(self.labelled.samples.shape[1])

    def once(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return what is made for a key, made the first time."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def samples_on(self, rank_weight: float) -> FloatArray:
        """Return the labelled samples on a scale."""
        return self.scaler.blend(self.labelled.samples, rank_weight)

    def boxes_on(self, rank_weight: float) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners of the boxes on a scale; sides not reached stay as they are."""
        lower, upper = self.boxes.lower, self.boxes.upper
        reached = lower <= upper
        return (
            np.where(reached, self.scaler.blend(lower, rank_weight), lower),
            np.where(reached, self.scaler.blend(upper, rank_weight), upper),
        )


def feature_means(samples: FloatArray) -> FloatArray:
    """Return the mean of each feature over the samples that have it; the middle of the range where none has."""
    known = ~np.isnan(samples)
    return np.where(known.any(axis=0), np.nansum(samples, axis=0) / np.maximum(known.sum(axis=0), 1), 0.5)
