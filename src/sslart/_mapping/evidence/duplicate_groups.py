"""Duplicates among labelled samples, which are left out together: copies, and repeated measurements of one item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse.csgraph

from sslart._art.algebra import gram_matrix, multiply
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, equal_rows_share, equal_share
from sslart._utils.cache import CachesValues

MIN_LABELS = 20  # of fewer labels no near copies are looked for
MAX_SIZE = 10  # labels of one item
MAX_SHARE = 0.2  # of the labels, in one item
MIN_ITEMS = 3  # of each class: where classes are compact, their samples are no copies of one item
MAX_EQUAL = 0.15  # share of the pairs that agree in a feature which is measured, not counted or coded
FACTORS = {2: 6.0, 3: 4.0}  # by number of measured features: in few dimensions, gaps come by chance
FACTOR = 2.5  # with more of them
MIN_FOUND = ((1.0, 0.3), (0.8, 0.5))  # share of the factor, and of the labels; of few labels more, by 1 / sqrt(n) - 0.1
REACH = 0.95  # quantile of the distances within items: what is as close belongs together too
MAX_BY_CHANCE = 0.01  # expected number of other rows that equal a row; above it, equal rows are no copies
MAX_SEARCHED = 1000  # labels among which near copies are looked for
MIN_REPEATED = 8  # distinct samples, of which none would come once if a table is taken to come more than once


class Cluster(NamedTuple):
    """Samples that lie together: the largest gap between them, and the distance to the nearest other sample."""

    rows: list[int]
    within: float
    apart: float


def near_copies(samples: FloatArray, classes: IntArray, indicator: BoolArray) -> IntArray:
    """Return the item of each labelled sample; without repeated measurements each sample is a separate item.

    A cluster of samples is taken for measurements of one item where the nearest other sample is `FACTOR` times as far
    as they are from each other. By chance there are few such clusters, and fewer in more dimensions. So clusters count
    only where they hold a good share of all labels, or with a smaller factor a larger share. Their distances then show
    how exact measurements are, and clusters of that scale that lie less far apart are found too. Distances are those of
    features that are measured: samples of one category lie together without being copies, though copies agree in their
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
    """Yield all clusters of single linkage but the last, which holds all samples; smaller ones before larger ones."""
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
    """Return the first row of the item of each sample: that of the largest cluster which holds it."""
    items = np.arange(n)
    for one in clusters:
        items[one.rows] = min(one.rows)
    return items


def _share_of_items(items: IntArray, classes: IntArray) -> float:
    """Return the share of the samples that are not alone in their item, without those of compact classes.

    A class of very few items is a compact class, whose samples are no copies of each other.
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
    # {"single", "copies", "near copies", "given"}: what makes labels a group; given: by the user, and copies of what
    # the user gave
    kind: str = "single"

    @classmethod
    def of_copies(cls, samples: FloatArray, classes: IntArray) -> LabelGroups:
        """Return groups of samples that agree in every value, where that cannot be chance.

        In a table of few distinct values, different samples often agree. Two are then no copies of one sample, and what
        is learnt from one is rightly used for the other. But where each sample comes with its class twice, four times
        and so on, and none comes once, the whole table was learnt twice: each is then a group with one of its equals.
        """
        values = np.where(np.isnan(samples), -1.0, samples)
        _, groups = np.unique(values, axis=0, return_inverse=True)
        groups = groups.reshape(-1)
        if len(groups) == groups.max(initial=-1) + 1:
            return cls(np.arange(len(samples)))
        if len(values) * equal_rows_share(values) <= MAX_BY_CHANCE:
            return cls(groups, "copies")
        return cls._of_a_repeated_table(np.unique([groups, classes], axis=1, return_inverse=True)[1].reshape(-1))

    @classmethod
    def _of_a_repeated_table(cls, equals: IntArray) -> LabelGroups:
        """Return the groups where all numbers of equal samples have a common divisor: how often a table was learnt."""
        sizes = np.bincount(equals)
        times = int(np.gcd.reduce(sizes))
        if times == 1 or len(sizes) < MIN_REPEATED:
            return cls(np.arange(len(equals)))
        order = np.argsort(equals, kind="stable")
        within = np.arange(len(equals)) - np.repeat(np.cumsum(sizes) - sizes, sizes)  # place among its equals
        groups = np.empty(len(equals), dtype=np.int64)
        groups[order] = equals[order] * len(equals) + within // times
        return cls(groups, "copies")

    def of_rows(self, rows: IntArray) -> LabelGroups:
        """Return the groups of some labels."""
        return LabelGroups(self.of_label[rows], self.kind)

    def joined(self, keys: IntArray) -> LabelGroups:
        """Return groups in which labels of the same key are together too; 0 stands for no key."""
        own = np.where(keys == 0, -1 - np.arange(len(keys)), keys)
        _, of_key = np.unique(own, return_inverse=True)
        _, of_group = np.unique(self.of_label, return_inverse=True)
        n, n_groups = len(keys), int(of_group.max(initial=-1)) + 1
        links = scipy.sparse.coo_array((np.ones(n), (of_group, n_groups + of_key)), shape=(n_groups + n, n_groups + n))
        return LabelGroups(scipy.sparse.csgraph.connected_components(links, directed=False)[1][of_group], "given")

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


def found_groups(samples: FloatArray, classes: IntArray, indicator: BoolArray, keys: IntArray | None) -> LabelGroups:
    """Return the groups to leave out: the user's groups and copies if groups are given, else near copies.

    `indicator` marks the features that stand for a category; `keys` are those of the user's groups, 0 for none.
    """
    copies = LabelGroups.of_copies(samples, classes)
    if keys is not None and keys.any():
        return copies.joined(keys)
    items = np.arange(len(samples)) if len(samples) > MAX_SEARCHED else near_copies(samples, classes, indicator)
    return copies if (items == np.arange(len(items))).all() else LabelGroups(items, "near copies")
