"""Training data of evidence mapping: labelled samples, their groups and blocks, rank scales, and design matrices.

Labels of one group are left out together: duplicates, repeated measurements of one item, or the user's groups. Blocks
are the folds of an outer cross-validation over the selection of settings.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse.csgraph

from sslart._art.backend import gram_matrix, multiply
from sslart._data.ranks import GRID
from sslart._mapping.evidence.settings import MANY_CLASSES, N_BLOCKS, NO_BLOCK
from sslart._mapping.loo_predictions import ANSWERS, GIVEN
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray, equal_rows_share, equal_share
from sslart._utils.cache import CachesValues
from sslart._utils.validation import require, saved_array

MIN_LABELS = 20  # near duplicates are not searched among fewer labels
MAX_SIZE = 10  # labels of one item
MAX_SHARE = 0.2  # of the labels, in one item
MIN_ITEMS = 3  # of each class: the samples of a compact class are not repeated measurements
MAX_EQUAL = 0.15  # share of pairs that agree in a measured feature, as opposed to counts and codes
FACTORS = {2: 6.0, 3: 4.0}  # gap ratio by number of measured features: in few dimensions, gaps occur by chance
FACTOR = 2.5  # gap ratio with more features
MIN_FOUND = ((1.0, 0.3), (0.8, 0.5))  # pairs (part of the ratio, share of labels); for n labels + 1 / sqrt(n) - 0.1
REACH = 0.95  # quantile of the distances within items: closer samples belong to one item too
MAX_BY_CHANCE = 0.01  # expected number of rows equal to a row by chance: above it, equal rows are not duplicates
MAX_SEARCHED = 1000  # labels searched for near duplicates, in quadratic time
MIN_REPEATED = 8  # distinct samples required to conclude that the whole table was repeated
Knots = tuple[FloatArray, FloatArray]
MAX_KNOTS = 256  # of a rank table; of more, evenly spaced ones are kept
Made = TypeVar("Made")


class Cluster(NamedTuple):
    """A cluster of samples: the largest gap within it, and the distance to the nearest other sample."""

    rows: list[int]
    within: float
    apart: float


def near_copies(samples: FloatArray, classes: IntArray, indicator: BoolArray) -> IntArray:
    """Return the item of each labelled sample; without repeated measurements each sample is a separate item.

    A cluster of samples is taken for measurements of one item if the nearest other sample is `FACTOR` times as far away
    as the samples are from each other. By chance there are few such clusters, and fewer in more dimensions. So clusters
    count only if they contain a large share of all labels, or with a smaller factor a larger share. Their distances
    then show the precision of measurements, and clusters of that scale with smaller gaps are found too. Distances use
    measured features only: samples of one category are close without being duplicates, though duplicates agree in their
    categories. The time is O(n² D) for n labels of D features.
    """
    alone = np.arange(len(samples))
    first, of_label = _distinct(samples)
    distinct, n = samples[first], len(first)
    measured = _measured(distinct, indicator)
    if n < MIN_LABELS or measured.sum() < min(FACTORS):
        return alone
    factor = FACTORS.get(int(measured.sum()), FACTOR)
    category = _distinct(distinct[:, ~measured])[1]
    clusters = [
        one
        for one in _clusters(_distances(distinct[:, measured]))
        if len(one.rows) <= min(MAX_SIZE, MAX_SHARE * n) and (category[one.rows] == category[one.rows[0]]).all()
    ]
    few = max(n**-0.5 - 0.1, 0.0)
    if not any(
        _share_of_items(_items(_far_apart(clusters, share * factor), n), classes[first]) >= least + few
        for share, least in MIN_FOUND
    ):
        return alone
    lowest = factor * min(share for share, _ in MIN_FOUND)
    reach = np.quantile([one.within for one in _far_apart(clusters, lowest)], REACH)
    items = _items([one for one in clusters if one.within <= reach or one.apart >= factor * one.within], n)
    return np.asarray(first[items][of_label])


def _far_apart(clusters: list[Cluster], factor: float) -> list[Cluster]:
    return [one for one in clusters if one.apart >= factor * one.within]


def _distinct(samples: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the first row of each distinct sample, and the number of the distinct sample of each row."""
    values = np.where(np.isnan(samples), -1.0, samples)
    _, first, of_label = np.unique(values, axis=0, return_index=True, return_inverse=True)
    return first, of_label.reshape(-1)


def _measured(samples: FloatArray, indicator: BoolArray) -> BoolArray:
    """Return a mask of measured features: numeric features in which few pairs of samples agree."""
    agree = [equal_share(values[~np.isnan(values)]) for values in samples.T]
    return np.asarray(~indicator & (np.array(agree) <= MAX_EQUAL))


def _distances(samples: FloatArray) -> FloatArray:
    """Return the distance between any two samples: the root mean square over the features that both have."""
    known = (~np.isnan(samples)).astype(float)
    values = np.where(np.isnan(samples), 0.0, samples)
    squares = multiply(values**2, known.T)
    total = np.maximum(squares + squares.T - 2.0 * gram_matrix(values), 0.0)
    n_shared = gram_matrix(known)
    found: FloatArray = np.sqrt(np.divide(total, n_shared, out=np.ones_like(total), where=n_shared > 0))
    np.fill_diagonal(found, 0.0)
    return found


def _clusters(apart: FloatArray) -> Iterator[Cluster]:
    """Yield all single-linkage clusters except the one of all samples, smaller ones before larger ones."""
    of_row = np.arange(len(apart))
    clusters: dict[int, Cluster] = {}  # of several samples, by one of them
    for length, row, other in sorted(_spanning_tree(apart)):
        merged: list[list[int]] = []
        names = int(of_row[row]), int(of_row[other])
        for name in names:
            own = clusters.pop(name, None)
            merged.append([name] if own is None else own.rows)
            if own is not None:
                yield Cluster(own.rows, own.within, length)
        of_row[merged[1]] = names[0]
        clusters[names[0]] = Cluster(merged[0] + merged[1], length, 0.0)


def _spanning_tree(apart: FloatArray) -> Iterator[tuple[float, int, int]]:
    """Yield the edges of the minimum spanning tree, by Prim's algorithm."""
    nearest, source = apart[0].copy(), np.zeros(len(apart), dtype=np.int64)
    nearest[0] = np.inf
    outside = np.arange(len(apart)) != 0
    for _ in range(len(apart) - 1):
        row = int(nearest.argmin())
        yield float(nearest[row]), int(source[row]), row
        outside[row], nearest[row] = False, np.inf
        closer = apart[row] < nearest
        closer &= outside
        np.copyto(nearest, apart[row], where=closer)
        source[closer] = row


def _items(clusters: list[Cluster], n: int) -> IntArray:
    """Return the first row of the item of each sample: of the largest cluster that contains it."""
    items = np.arange(n)
    for one in clusters:
        items[one.rows] = min(one.rows)
    return items


def _share_of_items(items: IntArray, classes: IntArray) -> float:
    """Return the share of samples that share an item, without compact classes.

    A class of very few items is a compact class, not a set of repeated measurements.
    """
    is_shared = np.bincount(items, minlength=len(items))[items] > 1
    for label in np.unique(classes):
        own = classes == label
        if len(np.unique(items[own])) < MIN_ITEMS:
            is_shared &= ~own
    return float(is_shared.mean())


@dataclass(frozen=True, eq=False)
class LabelGroups(CachesValues):
    """Groups of labelled samples that are left out jointly."""

    of_label: IntArray  # the group of each label
    # {"single", "copies", "near copies", "given", "answers"}: the reason of the groups; given: by the user, joined with
    # duplicates; answers: joined labels of one answer
    kind: str = "single"

    @classmethod
    def of_copies(cls, samples: FloatArray, classes: IntArray) -> LabelGroups:
        """Return groups of samples that agree in every value, unless that may be chance.

        In a table of few distinct values, different samples often agree: they are not duplicates, and one may be used
        to predict the other. But if each sample occurs with its class twice, four times and so on, and none once, the
        whole table was learnt twice: each sample is then a group with one of its equals.
        """
        values, groups = np.where(np.isnan(samples), -1.0, samples), _distinct(samples)[1]
        if len(groups) == groups.max(initial=-1) + 1:
            return cls(np.arange(len(samples)))
        if len(values) * equal_rows_share(values) <= MAX_BY_CHANCE:
            return cls(groups, "copies")
        return cls._of_a_repeated_table(np.unique([groups, classes], axis=1, return_inverse=True)[1].reshape(-1))

    @classmethod
    def _of_a_repeated_table(cls, equals: IntArray) -> LabelGroups:
        """Return the groups of a repeated table, if the numbers of equal samples have a common divisor."""
        sizes = np.bincount(equals)
        times = int(np.gcd.reduce(sizes))
        if times == 1 or len(sizes) < MIN_REPEATED:
            return cls(np.arange(len(equals)))
        return cls(equals * len(equals) + places_in_class(equals) // times, "copies")

    def of_rows(self, rows: IntArray) -> LabelGroups:
        """Return the groups of some labels."""
        return LabelGroups(self.of_label[rows], self.kind)

    def joined(self, keys: IntArray, kind: str = GIVEN) -> LabelGroups:
        """Join groups that contain labels with the same key; 0 stands for no key."""
        own = np.where(keys == 0, -1 - np.arange(len(keys)), keys)
        _, of_key = np.unique(own, return_inverse=True)
        _, of_group = np.unique(self.of_label, return_inverse=True)
        n, n_groups = len(keys), int(of_group.max(initial=-1)) + 1
        links = scipy.sparse.coo_array((np.ones(n), (of_group, n_groups + of_key)), shape=(n_groups + n, n_groups + n))
        return LabelGroups(scipy.sparse.csgraph.connected_components(links, directed=False)[1][of_group], kind)

    @cached_property
    def numbers(self) -> IntArray:
        """Group number of each label; groups are numbered in order of first appearance."""
        _, first, inverse = np.unique(self.of_label, return_index=True, return_inverse=True)
        return np.argsort(np.argsort(first))[inverse]

    @cached_property
    def weights(self) -> FloatArray:
        """Weight of each label in sums over labels; the weights of a group sum to one."""
        _, inverse, sizes = np.unique(self.of_label, return_inverse=True, return_counts=True)
        return np.asarray(1.0 / sizes[inverse])

    @cached_property
    def several(self) -> list[IntArray]:
        """The labels of groups of more than one, shape (n_groups, size): an array for each size."""
        _, inverse, sizes = np.unique(self.of_label, return_inverse=True, return_counts=True)
        order = np.argsort(inverse, kind="stable")
        starts = np.cumsum(sizes) - sizes
        return [
            order[starts[sizes == size][:, None] + np.arange(size)] for size in np.unique(sizes).tolist() if size > 1
        ]


def found_groups(
    samples: FloatArray,
    classes: IntArray,
    indicator: BoolArray,
    keys: IntArray | None = None,
    answers: IntArray | None = None,
) -> LabelGroups:
    """Return the groups to leave out: the user's groups and duplicates if groups are given, else near duplicates.

    `indicator` marks indicator features of categories; `keys` are those of the user's groups, 0 for none. Labels of one
    answer are joined to these; `answers` are their keys, 0 for none.
    """
    if answers is not None and answers.any():
        groups = found_groups(samples, classes, indicator, keys)
        return groups.joined(answers, GIVEN if groups.kind == GIVEN else ANSWERS)
    copies = LabelGroups.of_copies(samples, classes)
    if keys is not None and keys.any():
        return copies.joined(keys)
    items = np.arange(len(samples)) if len(samples) > MAX_SEARCHED else near_copies(samples, classes, indicator)
    return copies if (items == np.arange(len(items))).all() else LabelGroups(items, "near copies")


@dataclass(frozen=True)
class RankScaler:
    """Empirical distribution function of each coded feature, piecewise linear between knots."""

    knots: tuple[Knots | None, ...]  # None for an indicator or a constant feature, which are not changed

    @classmethod
    def of_boxes(cls, lower: FloatArray, upper: FloatArray, support: IntArray, indicator: BoolArray) -> RankScaler:
        """Estimate the distribution from boxes, assuming samples to be uniform within each box."""
        return cls(
            tuple(
                None if indicator[feature] else _knots(lower[:, feature], upper[:, feature], support)
                for feature in range(lower.shape[1])
            )
        )

    def blend(self, coded: FloatArray, rank_weight: float) -> FloatArray:
        """Interpolate between coded values (weight 0) and their ranks (weight 1); results are in [0, 1]."""
        if rank_weight == 0.0:
            return coded
        blended = coded.copy()
        for feature, knots in enumerate(self.knots):
            if knots is not None:
                values = coded[:, feature]
                blended[:, feature] = (1.0 - rank_weight) * values + rank_weight * _shares_at(values, *knots)
        return blended

    def tables(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the offsets of the features in concatenated tables, and the values and shares of the tables."""
        nothing = np.empty(0)
        tables = [(nothing, nothing) if knots is None else knots for knots in self.knots]
        offsets = np.concatenate([[0], np.cumsum([len(values) for values, _ in tables])]).astype(np.int64)
        values, shares = (np.concatenate([nothing, *(table[side] for table in tables)]) for side in (0, 1))
        return offsets, values, shares

    def add_to(self, scorer: Any) -> None:
        """Pass the tables to a scorer of the backend."""
        scorer.set_ranks(*self.tables())

    def to_state(self) -> dict[str, Any]:
        """Return the tables as arrays."""
        return dict(zip(("offsets", "values", "shares"), self.tables(), strict=True))

    @classmethod
    def from_state(cls, state: dict[str, Any], n_features: int) -> RankScaler:
        """Restore the ranks from a saved state after validating it."""
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
    """Interpolate like `numpy.interp`, but with the same rounding on all machines (no fused operations)."""
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
    """Boxes in the unit cube, (n_boxes, n_features), and their support; with many classes `n_wanted` are used."""

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
    indicator: BoolArray  # mask of indicator features of categories
    seed: int
    weights: FloatArray | None = None  # sample weights; None: all one
    group_keys: IntArray | None = None  # samples with the same key are left out together; 0 for no group
    # class weights; balanced: inversely proportional to the total weight of the labels
    class_weights: FloatArray | str | None = None
    rows: IntArray | None = None  # indices among the stored labels; None: all
    # hashes of the samples; None: blocks are assigned in the order of the labels
    keys: KeyArray | None = None
    # the block of each label in an earlier selection, `NO_BLOCK` if it was not used; None: no earlier selection
    block_of: IntArray | None = None
    column_of: IntArray | None = None  # the user's column of each feature; None: one feature per column
    # groups of labels that are left out together; None: derived from the samples and the keys of groups
    given_groups: LabelGroups | None = None
    answer_keys: IntArray | None = None  # samples with the same key have a label by one answer; 0 for one of its own

    @cached_property
    def groups(self) -> LabelGroups:
        """Groups of labels that are left out jointly."""
        if self.given_groups is not None:
            return self.given_groups
        return found_groups(self.samples, self.classes, self.indicator, self.group_keys, self.answer_keys)

    @cached_property
    def blocks(self) -> IntArray:
        """The block of each label: its prediction uses settings selected without its block.

        Blocks consist of whole groups, assigned by their keys, so that the order of labels does not matter. Up to
        `N_BLOCKS` groups, each group is a block.
        """
        groups = self.groups.numbers
        blocks = self._places_of_groups % N_BLOCKS
        if self.block_of is not None:
            known = np.flatnonzero(self.block_of != NO_BLOCK)[::-1]
            blocks[groups[known]] = self.block_of[known]  # of several labels of a group, the first one decides
        return np.asarray(blocks[groups])

    @cached_property
    def _places_of_groups(self) -> IntArray:
        """Rank of each group in an order given by the keys of its samples."""
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
        """The row weights, or None if all are one."""
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
        """True if there are so many classes that settings are selected on a subset of them."""
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
        """Return the set restricted to `rows`, and to their classes."""
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
            answer_keys=None if self.answer_keys is None else self.answer_keys[rows],
            rows=rows,
            given_groups=None,
            keys=None if self.keys is None else self.keys[rows],
            block_of=self.blocks[rows],
        )


class DesignMatrices:
    """A labelled set with a cache of values that bases share."""

    def __init__(self, labelled: LabelledSet) -> None:
        self.labelled, self.boxes = labelled, labelled.boxes
        boxes = labelled.boxes
        self.scaler = RankScaler.of_boxes(boxes.lower, boxes.upper, boxes.support, labelled.indicator)
        self.known_labels: BoolArray = np.ones(len(labelled.classes), dtype=bool)
        self._made: dict[Any, Any] = {}
        self._samples_on: dict[float, FloatArray] = {}
        self._boxes_on: dict[tuple[float, int], tuple[FloatArray, FloatArray]] = {}

    def hiding(self, hidden: BoolArray) -> DesignMatrices:
        """Return the same samples and boxes with some labels hidden, so that no function depends on them."""
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
        """Return the corners of the first boxes on a scale; sides of features without a value are unchanged."""
        key = rank_weight, min(n_boxes, len(self.boxes.lower))  # subsets with fewer boxes share the entry
        if key not in self._boxes_on:
            lower, upper = self.boxes.lower[:n_boxes], self.boxes.upper[:n_boxes]
            reached = lower <= upper
            low, high = (self.scaler.blend(side, rank_weight) for side in (lower, upper))
            self._boxes_on[key] = np.where(reached, low, lower), np.where(reached, high, upper)
        return self._boxes_on[key]


def places_in_class(classes: IntArray) -> IntArray:
    """Return the index of each label among the labels of its class."""
    order = np.argsort(classes, kind="stable")
    sizes = np.bincount(classes)
    places = np.empty(len(classes), dtype=np.int64)
    places[order] = np.arange(len(classes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return places


def feature_means(samples: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the mean of each feature without missing values; the middle of the range if all are missing."""
    known = ~np.isnan(samples)
    if weights is None:
        return np.where(known.any(axis=0), np.nansum(samples, axis=0) / np.maximum(known.sum(axis=0), 1), 0.5)
    totals, sums = ((weights[:, None] * values).sum(axis=0) for values in (known, np.nan_to_num(samples)))
    return np.where(totals > 0, sums / np.where(totals > 0, totals, 1.0), 0.5)
