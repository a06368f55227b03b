"""Training data of evidence: labelled samples, boxes, rank scales, and the design matrices that bases share."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from sslart._data.ranks import GRID
from sslart._mapping.evidence.duplicate_groups import LabelGroups, found_groups
from sslart._mapping.evidence.settings import MANY_CLASSES, N_BLOCKS, NO_BLOCK
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray
from sslart._utils.cache import CachesValues
from sslart._utils.validation import require, saved_array

Knots = tuple[FloatArray, FloatArray]
MAX_KNOTS = 256  # of a table of ranks; of more, evenly spaced ones stay
Made = TypeVar("Made")


@dataclass(frozen=True)
class RankScaler:
    """The share of all samples at or below each value, per coded feature, straight between knots."""

    knots: tuple[Knots | None, ...]  # None for an indicator, and for a feature without spread: these stay as they are

    @classmethod
    def of_boxes(cls, lower: FloatArray, upper: FloatArray, support: IntArray, indicator: BoolArray) -> RankScaler:
        """Return the ranks by boxes: the samples of each are taken as spread evenly over its side."""
        return cls(
            tuple(
                None if indicator[feature] else _knots(lower[:, feature], upper[:, feature], support)
                for feature in range(lower.shape[1])
            )
        )

    def blend(self, coded: FloatArray, rank_weight: float) -> FloatArray:
        """Return coded values as a mixture of themselves (weight 0) and their ranks (weight 1), still in [0, 1]."""
        if rank_weight == 0.0:
            return coded
        blended = coded.copy()
        for feature, knots in enumerate(self.knots):
            if knots is not None:
                values = coded[:, feature]
                blended[:, feature] = (1.0 - rank_weight) * values + rank_weight * _shares_at(values, *knots)
        return blended

    def tables(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the values and the shares of all features, one feature after another, and where each starts."""
        nothing = np.empty(0)
        tables = [(nothing, nothing) if knots is None else knots for knots in self.knots]
        offsets = np.concatenate([[0], np.cumsum([len(values) for values, _ in tables])]).astype(np.int64)
        values, shares = (np.concatenate([nothing, *(table[side] for table in tables)]) for side in (0, 1))
        return offsets, values, shares

    def add_to(self, scorer: Any) -> None:
        """Give the tables to a scorer of the backend."""
        scorer.set_ranks(*self.tables())

    def to_state(self) -> dict[str, Any]:
        """Return the tables as arrays."""
        return dict(zip(("offsets", "values", "shares"), self.tables(), strict=True))

    @classmethod
    def from_state(cls, state: dict[str, Any], n_features: int) -> RankScaler:
        """Return the ranks of a saved state, after checking that they can be some."""
        values = saved_array(state, "values", np.float64, None, low=0, high=1)
        shares = saved_array(state, "shares", np.float64, len(values), low=0, high=1)
        offsets = saved_array(state, "offsets", np.int64, n_features + 1, low=0, high=len(values))
        sizes = np.diff(offsets)
        fits = offsets[0] == 0 and offsets[-1] == len(values) and ((sizes == 0) | (sizes > 1)).all()
        inside = np.ones(max(len(values) - 1, 0), dtype=bool)
        inside[offsets[(offsets > 0) & (offsets < len(values))] - 1] = False  # from one feature to the next
        rises = (np.diff(values)[inside] > 0).all() and (np.diff(shares)[inside] >= 0).all()
        require(fits and rises and (values * GRID % 1 == 0).all(), "the ranks")
        parts = (slice(start, stop) for start, stop in itertools.pairwise(offsets.tolist()))
        return cls(tuple((values[own], shares[own]) if own.stop > own.start else None for own in parts))


def _shares_at(given: FloatArray, values: FloatArray, shares: FloatArray) -> FloatArray:
    """Interpolate as `numpy.interp` does, with every step rounded, so that all machines give the same bits."""
    place = np.clip(np.searchsorted(values, given, side="right") - 1, 0, len(values) - 2)
    slope = (np.diff(shares) / np.diff(values))[place]
    found = slope * (np.clip(given, values[0], values[-1]) - values[place]) + shares[place]
    return np.where(given >= values[-1], shares[-1], found)


def _knots(lower: FloatArray, upper: FloatArray, support: IntArray) -> Knots | None:
    reached = lower <= upper
    lower, upper, mass = lower[reached], upper[reached], support[reached].astype(np.float64)
    values = np.unique(np.concatenate([lower, upper]))
    if len(values) < 2:
        return None
    first, last = np.searchsorted(values, lower), np.searchsorted(values, upper)
    wide = upper > lower
    density = np.zeros(len(values))
    per_length = mass[wide] / (upper - lower)[wide]
    np.add.at(density, first[wide], per_length)
    np.add.at(density, last[wide], -per_length)
    spread = np.concatenate([[0.0], np.cumsum(np.cumsum(density)[:-1] * np.diff(values))])
    points = np.bincount(first[~wide], mass[~wide], minlength=len(values))
    shares = np.maximum.accumulate(spread + np.cumsum(points) - points / 2)
    span = shares[-1] - shares[0]
    if not span > 0:
        return None
    shares = (shares - shares[0]) / span
    if len(shares) > MAX_KNOTS:
        evenly = np.searchsorted(shares, np.linspace(0.0, 1.0, MAX_KNOTS))
        kept = np.unique(np.concatenate([[0], evenly, [len(shares) - 1]]))
        values, shares = values[kept], shares[kept]
    return values, shares


@dataclass(frozen=True)
class BoxSet:
    """Boxes in the unit cube, shape (n_boxes, n_features), and how many samples each has learnt.

    `n_wanted` is how many should take part at least where there are so many, because classes are many.
    """

    lower: FloatArray
    upper: FloatArray
    support: IntArray
    n_wanted: int = 0

    def first(self, n: int) -> BoxSet:
        """Return the first of the boxes."""
        return replace(self, lower=self.lower[:n], upper=self.upper[:n], support=self.support[:n])


@dataclass(frozen=True)
class LabelledSet(CachesValues):
    """Labelled samples and boxes."""

    samples: FloatArray  # (n_labels, n_features): in the unit cube, NaN where missing
    classes: IntArray  # class of each: an index into the classes learnt so far, sorted
    n_classes: int
    boxes: BoxSet
    indicator: BoolArray  # which features stand for a category
    seed: int
    weights: FloatArray | None = None  # how much each sample counts in the regression; None: one each
    group_keys: IntArray | None = None  # samples of one key are left out together; 0 stands for no group
    # how much each class counts; balanced: in inverse proportion to the weights of its labels
    class_weights: FloatArray | str | None = None
    rows: IntArray | None = None  # which of the labels that are kept; None: all
    # random keys of the samples, the same for copies; None: blocks are dealt out in the order of the labels
    keys: KeyArray | None = None
    # the block in which each label had part in a choice before, `NO_BLOCK` where it had none; None: no label had
    block_of: IntArray | None = None
    column_of: IntArray | None = None  # the column of the user that each feature stands for; None: each is its own
    # which labels are left out together; None: that follows from the samples and the keys of groups
    given_groups: LabelGroups | None = None

    @cached_property
    def groups(self) -> LabelGroups:
        """Groups of labels that are left out jointly."""
        if self.given_groups is not None:
            return self.given_groups
        return found_groups(self.samples, self.classes, self.indicator, self.group_keys)

    @cached_property
    def blocks(self) -> IntArray:
        """The block of each label: settings are chosen without a block to predict its labels.

        A block has whole groups, dealt out by their keys, so that the order of labels does not matter. Up to `N_BLOCKS`
        groups, each is a block.
        """
        groups = self.groups.numbers
        blocks = self._places_of_groups % N_BLOCKS
        if self.block_of is not None:
            known = np.flatnonzero(self.block_of != NO_BLOCK)[::-1]
            blocks[groups[known]] = self.block_of[known]  # of several labels of a group, the first one decides
        return np.asarray(blocks[groups])

    @cached_property
    def _places_of_groups(self) -> IntArray:
        """The place of each group in an order that follows from the keys of its samples."""
        groups = self.groups.numbers
        n_groups = int(groups.max(initial=-1)) + 1
        if self.keys is None:
            return np.arange(n_groups)
        lowest = np.full(n_groups, np.iinfo(np.uint64).max)
        np.minimum.at(lowest, groups, self.keys)
        return np.argsort(np.argsort(lowest, kind="stable"), kind="stable")

    @cached_property
    def row_weights(self) -> FloatArray:
        """Weight of each label in the regression: its sample weight times the factor of its class."""
        return self._sample_weights * self.class_factors[self.classes]

    @cached_property
    def class_factors(self) -> FloatArray:
        """Weight factor of each class."""
        if self.class_weights is None:
            return np.ones(self.n_classes)
        if not isinstance(self.class_weights, str):
            return self.class_weights
        totals = np.bincount(self.classes, self._sample_weights, self.n_classes)
        return np.asarray(totals.sum() / (max((totals > 0).sum(), 1) * np.where(totals > 0, totals, np.inf)))

    @property
    def _sample_weights(self) -> FloatArray:
        return np.ones(len(self.classes)) if self.weights is None else self.weights

    @property
    def ridge_weights(self) -> FloatArray | None:
        """The same, None where each counts one."""
        return None if self.weights is None and self.class_weights is None else self.row_weights

    @cached_property
    def counts(self) -> FloatArray:
        """Weight of each label in validation: a group counts as one label, and no sample counts more than once."""
        counts = self.groups.weights
        if self.weights is not None:
            counts = counts * np.minimum(self.weights, 1.0)
        if self.class_weights is None:
            return counts
        weighted = counts * self.class_factors[self.classes]
        return np.asarray(weighted * counts.sum() / weighted.sum())

    @property
    def has_many_classes(self) -> bool:
        """True if there are so many classes that settings are chosen on a subset of them."""
        return self.n_classes > MANY_CLASSES

    @property
    def targets(self) -> FloatArray:
        """One-hot classes."""
        return np.eye(self.n_classes)[self.classes]

    def subset(self, size: int) -> LabelledSet:
        """Return a stratified subset of at most `size` labels, with at least one label of each class."""
        if len(self.classes) <= size:
            return self
        random = np.random.RandomState(self.seed)
        order = random.permutation(len(self.classes))
        rank = np.empty(len(order))
        for index in np.unique(self.classes):
            own = order[self.classes[order] == index]
            rank[own] = (np.arange(len(own)) + 0.5 * (np.arange(len(own)) > 0)) / len(own)
        return self._of_rows(np.sort(np.argsort(rank, kind="stable")[:size]))

    def drawn(self, size: int) -> LabelledSet:
        """Return a random subset of at most `size` labels in whole groups, regardless of their classes."""
        if len(self.classes) <= size:
            return self
        groups, places = self.groups.numbers, self._places_of_groups
        n_labels = np.cumsum(np.bincount(places[groups]))
        return self.restricted(np.flatnonzero(n_labels[places[groups]] <= size))

    def restricted(self, rows: IntArray) -> LabelledSet:
        """Return the set restricted to `rows`, with the groups of the whole set."""
        return replace(self._of_rows(rows), given_groups=self.groups.of_rows(rows))

    def with_boxes(self, boxes: BoxSet) -> LabelledSet:
        """Return the set with other boxes."""
        return replace(self, boxes=boxes, given_groups=self.groups)

    def of_classes(self, rows: IntArray) -> LabelledSet:
        """Return the set with some labels, as if there were no other classes than theirs."""
        known, classes = np.unique(self.classes[rows], return_inverse=True)
        weights = self.class_weights
        return replace(
            self._of_rows(rows),
            classes=classes,
            n_classes=len(known),
            class_weights=weights[known] if isinstance(weights, np.ndarray) else weights,
        )

    def _of_rows(self, rows: IntArray) -> LabelledSet:
        return replace(
            self,
            samples=self.samples[rows],
            classes=self.classes[rows],
            weights=None if self.weights is None else self.weights[rows],
            group_keys=None if self.group_keys is None else self.group_keys[rows],
            rows=rows,
            given_groups=None,
            keys=None if self.keys is None else self.keys[rows],
            block_of=self.blocks[rows],
        )


class DesignMatrices:
    """A labelled set with cached values that its bases share."""

    def __init__(self, labelled: LabelledSet) -> None:
        self.labelled, self.boxes = labelled, labelled.boxes
        boxes = labelled.boxes
        self.scaler = RankScaler.of_boxes(boxes.lower, boxes.upper, boxes.support, labelled.indicator)
        self.known_labels: BoolArray = np.ones(len(labelled.classes), dtype=bool)
        self._made: dict[Any, Any] = {}
        self._samples_on: dict[float, FloatArray] = {}
        self._boxes_on: dict[tuple[float, int], tuple[FloatArray, FloatArray]] = {}

    def hiding(self, hidden: BoolArray) -> DesignMatrices:
        """Return the same samples and boxes where some labels are not known: no function may depend on them."""
        other = copy.copy(self)
        other.known_labels, other._made = ~hidden, {}
        return other

    def of_part(self, labelled: LabelledSet) -> DesignMatrices:
        """Return design matrices of some of the samples and of the first boxes, on the same scales."""
        other = copy.copy(self)
        other.labelled, other.boxes, other._made, other._samples_on = labelled, labelled.boxes, {}, {}
        other.known_labels = np.ones(len(labelled.classes), dtype=bool)
        return other

    @property
    def n_features(self) -> int:
        """Number of coded features."""
        return int(self.labelled.samples.shape[1])

    def get_or_compute(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return the cached value of a key; compute it on first use."""
        if key not in self._made:
            self._made[key] = make()
        made: Made = self._made[key]
        return made

    def samples_on(self, rank_weight: float) -> FloatArray:
        """Return the labelled samples on a scale."""
        if rank_weight not in self._samples_on:
            self._samples_on[rank_weight] = self.scaler.blend(self.labelled.samples, rank_weight)
        return self._samples_on[rank_weight]

    def boxes_on(self, rank_weight: float, n_boxes: int) -> tuple[FloatArray, FloatArray]:
        """Return the lower and upper corners of the first boxes on a scale; unreached sides are unchanged."""
        key = rank_weight, min(n_boxes, len(self.boxes.lower))  # parts with fewer boxes share what is made
        if key not in self._boxes_on:
            lower, upper = self.boxes.lower[:n_boxes], self.boxes.upper[:n_boxes]
            reached = lower <= upper
            low, high = (self.scaler.blend(side, rank_weight) for side in (lower, upper))
            self._boxes_on[key] = np.where(reached, low, lower), np.where(reached, high, upper)
        return self._boxes_on[key]


def places_in_class(classes: IntArray) -> IntArray:
    """Return the place of each label among those of its class, from 0."""
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes)
    places = np.empty(len(classes), dtype=np.int64)
    places[order] = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places


def feature_means(samples: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the mean of each feature over the samples that have it; the middle of the range where none has."""
    known = ~np.isnan(samples)
    if weights is None:
        return np.where(known.any(axis=0), np.nansum(samples, axis=0) / np.maximum(known.sum(axis=0), 1), 0.5)
    totals, sums = ((weights[:, None] * values).sum(axis=0) for values in (known, np.nan_to_num(samples)))
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), 0.5)
