"""Columns as bins: where a rule may cut a feature, and the condition that a set of bins stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.rules._model.decimals import short_decimal
from sslart.rules._model.rule import Category, ModelCondition

MAX_CUTS = 64
FEW_NAMES = 3  # so many categories are always listed by name, never as "none of the others"


@dataclass(frozen=True, eq=False)
class Column:
    """One feature in bins: ranges between cuts, or categories; missing values have the last bin.

    Attributes
    ----------
    feature : str
    cuts : array
        Short decimals, increasing; empty for categories.
    categories : tuple or None
    has_missing : bool
        Whether a value is missing in one of the samples.
    """

    feature: str
    cuts: FloatArray
    categories: tuple[Category, ...] | None
    has_missing: bool

    @property
    def n_bins(self) -> int:
        """Number of bins, that of missing values included."""
        return (len(self.cuts) + 1 if self.categories is None else len(self.categories)) + 1

    def bins(self, values: NDArray[Any]) -> IntArray:
        """Return the bin of each value; that of missing values also for categories that are not known."""
        if self.categories is None:
            return np.where(np.isnan(values), self.n_bins - 1, np.searchsorted(self.cuts, values, side="left"))
        place, missing = {category: index for index, category in enumerate(self.categories)}, self.n_bins - 1
        return np.array([place.get(value, missing) for value in values], dtype=np.int64)

    def condition(self, allowed: BoolArray) -> ModelCondition | None:
        """Return the condition that a set of bins stands for; None if every bin that occurs is allowed."""
        known, missing = allowed[:-1], bool(allowed[-1]) and self.has_missing
        if known.all() and (missing or not self.has_missing):
            return None
        if not known.any():
            return ModelCondition(
                self.feature, categories=None if self.categories is None else (), missing=True, only_missing=True
            )
        if self.categories is None:
            first, last = np.flatnonzero(known)[[0, -1]].tolist()
            low = None if first == 0 else float(self.cuts[first - 1])
            high = None if last == len(self.cuts) else float(self.cuts[last])
            return ModelCondition(self.feature, low, high, missing=missing)
        negated = bool(known.sum() > max(FEW_NAMES, len(known) / 2)) or bool(known.all())
        named = tuple(category for category, keep in zip(self.categories, known != negated, strict=True) if keep)
        return ModelCondition(self.feature, categories=named, negated=negated, missing=missing)


def columns_of(table: Table, names: Sequence[str], known_categories: dict[int, list[Category]]) -> list[Column]:
    """Return the columns of a table, with cuts between its values.

    Parameters
    ----------
    table : Table
    names : sequence of str
    known_categories : dict from column to list
        The categories that the model knows; those of the table come after them.
    """
    columns = []
    for place, name in enumerate(names):
        if place in known_categories:
            values = table.categories.get(place, np.full(len(table), None, dtype=object))
            found = dict.fromkeys([*known_categories[place], *(value for value in values if value is not None)])
            has_missing = any(value is None for value in values)
            columns.append(Column(name, np.empty(0), tuple(found), has_missing))
        else:
            numbers = table.values[:, place]
            columns.append(Column(name, _cuts(numbers), None, bool(np.isnan(numbers).any())))
    return columns


def _cuts(values: FloatArray) -> FloatArray:
    """Return short decimals that separate values: all distinct ones if they are few, else about equal shares."""
    values = np.sort(values[~np.isnan(values)])
    distinct = np.unique(values)
    if len(distinct) < 2:
        return np.empty(0)
    if len(distinct) <= MAX_CUTS + 1:
        return np.array([short_decimal(low, high) for low, high in pairwise(distinct.tolist())])
    ranks = (np.arange(1, MAX_CUTS + 1) / (MAX_CUTS + 1)) * (len(values) - 1)
    reach = (len(values) - 1) / (4 * (MAX_CUTS + 1))
    low, high = values[np.floor(ranks - reach).astype(int)], values[np.ceil(ranks + reach).astype(int)]
    above = distinct[np.minimum(np.searchsorted(distinct, low, side="right"), len(distinct) - 1)]
    ends = np.maximum(high, above)  # at least one value lies above each cut
    found = {short_decimal(float(start), float(end)) for start, end in zip(low, ends, strict=True) if start < end}
    return np.array(sorted(found))
