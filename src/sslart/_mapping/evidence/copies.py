"""Copies among labelled samples: rows that agree in every value, which are left out together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse.csgraph

from sslart._mapping.evidence.near_copies import near_copies
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, equal_rows_share
from sslart._utils.cache import CachesValues

MAX_BY_CHANCE = 0.01  # expected number of other rows that equal a row; above it, equal rows are no copies
MAX_SEARCHED = 1000  # labels among which near copies are looked for
MIN_REPEATED = 8  # distinct samples, of which none would come once if a table is taken to come more than once


@dataclass(frozen=True, eq=False)
class LabelGroups(CachesValues):
    """Groups of labelled samples that are left out jointly.

    Attributes
    ----------
    of_label : array of int of length n_labels
        The group of each label.
    kind : {"single", "copies", "near copies", "given"}
        What makes labels a group; given: by the user, and copies of what the user gave.
    """

    of_label: IntArray
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

    Parameters
    ----------
    samples : array of shape (n_labels, n_features)
        In the unit cube, NaN where missing.
    classes : array of length n_labels
    indicator : array of bool, length n_features
        Which features stand for a category.
    keys : array of int of length n_labels, or None
        Samples of one key are one group of the user's; 0 stands for no group.
    """
    copies = LabelGroups.of_copies(samples, classes)
    if keys is not None and keys.any():
        return copies.joined(keys)
    items = np.arange(len(samples)) if len(samples) > MAX_SEARCHED else near_copies(samples, classes, indicator)
    return copies if (items == np.arange(len(items))).all() else LabelGroups(items, "near copies")
