"""The values that each feature of one sample may take: numbers on the grid of the data, and categories learnt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._art.network import Network
from sslart._data.dates import parts_of
from sslart._data.samples import Table
from sslart._data.scaling import distances_from
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._counterfactuals.limits import Limits
from sslart.explain._counterfactuals.rounding import (
    FINER,
    SLACK,
    as_whole,
    data_decimals,
    from_whole,
    learnt_values,
    scaled,
)

STAY = -1  # the option of a feature that does not change
FEW_VALUES = 12  # a number that has no more values than this, many times each, takes these and none between them
TIMES_EACH = 4
UNUSUAL = 0.01  # share of the samples at either end of a number
MANY = 1000  # values of a number
ENOUGH = 20  # within the limits that a user gave; finer ones are taken where there are fewer


@dataclass(frozen=True, eq=False)
class Options:
    """One sample and what its features may change to. A candidate is an array of options, one per column.

    Attributes
    ----------
    table : Table
        The sample, one row.
    values : list of arrays, one per column
        The values that the column may take: sorted numbers, or categories. Empty where it cannot change.
    sizes : list of arrays, one per column
        How large the change to each value is, in learnt ranges; 1 for a change of category.
    usual : list of arrays, one per column
        Whether nearly all learnt samples lie around each value; True for categories.
    below : array of length n_columns
        How many of the values lie below the present one; 0 for categories.
    why_not : dict from column to str
        Why a column cannot change.
    parts : dict from column to range
        The columns that hold the parts of each date: they change with it.
    """

    table: Table
    values: list[NDArray[Any]]
    sizes: list[FloatArray]
    usual: list[BoolArray]
    below: IntArray
    why_not: dict[int, str]
    parts: dict[int, range]

    @cached_property
    def movable(self) -> list[int]:
        """The columns that can change."""
        return [column for column, values in enumerate(self.values) if len(values)]

    @cached_property
    def is_category(self) -> BoolArray:
        """Whether each column is categorical."""
        return np.array([column in self.table.categories for column in range(len(self.values))])

    def table_of(self, candidates: IntArray) -> Table:
        """Return candidates, shape (n_candidates, n_columns), as samples."""
        n = len(candidates)
        values = np.repeat(self.table.values, n, axis=0)
        categories = {column: np.repeat(given, n) for column, given in self.table.categories.items()}
        for column in self.movable:
            rows = np.flatnonzero(candidates[:, column] != STAY)
            if rows.size:
                target = categories[column] if column in categories else values[:, column]
                target[rows] = self.values[column][candidates[rows, column]]
        for column, parts in self.parts.items():
            rows = np.flatnonzero(candidates[:, column] != STAY)
            for part, words in zip(parts, parts_of(values[rows, column]), strict=True):
                if self.table.categories[part][0] is not None:
                    categories[part][rows] = words
        return Table(values, categories, self.table.names)

    def distances(self, candidates: IntArray) -> FloatArray:
        """Return the sum of the changes of each candidate, in learnt ranges."""
        total = np.zeros(len(candidates))
        for column in self.movable:
            total += np.append(self.sizes[column], 0.0)[candidates[:, column]]
        return total

    def are_unusual(self, candidates: IntArray) -> BoolArray:
        """Return which candidates have a new value beyond those of nearly all learnt samples."""
        unusual = np.zeros(len(candidates), dtype=bool)
        for column in self.movable:
            unusual |= ~np.append(self.usual[column], True)[candidates[:, column]]
        return unusual

    def direction(self, column: int, option: int) -> int:
        """Return where an option leads: -1 down, 1 up; for categories, a number of its own from 2 up."""
        if self.is_category[column]:
            return option + 2
        return -1 if option < self.below[column] else 1

    def key(self, candidate: IntArray) -> tuple[tuple[int, int], ...]:
        """Return which columns a candidate changes, and in which direction."""
        changed = np.flatnonzero(candidate != STAY).tolist()
        return tuple((column, self.direction(column, candidate.item(column))) for column in changed)

    def steps(self, columns: IntArray, options: IntArray) -> IntArray:
        """Return how many values away from the present one options of columns are; 1 for categories."""
        below = self.below[columns]
        steps = np.where(options < below, below - options, options - below + 1)
        return np.where(self.is_category[columns], 1, steps)

    def ways(self, column: int) -> list[IntArray]:
        """Return the options of a column by direction, each the nearest first."""
        if self.is_category[column]:
            return [np.array([option]) for option in range(len(self.values[column]))]
        below, n = self.below.item(column), len(self.values[column])
        return [way for way in (np.arange(below)[::-1], np.arange(below, n)) if len(way)]


def options_of(view: ModelView, table: Table, limits: Limits, *, only_usual: bool) -> Options:
    """Return what each feature of a sample may change to: values that occur, within the limits of the user.

    The parts of a date change with it, and never alone.

    `only_usual`: without numbers beyond those of nearly all learnt samples.
    """
    names, network, n_given = view.feature_names, view.members[0].network, view.reader.n_features_in_
    parts = view.reader.plan.parts_of_dates(n_given)
    values: list[NDArray[Any]] = [np.empty(0) for _ in names]
    sizes: list[FloatArray] = [np.empty(0) for _ in names]
    usual: list[BoolArray] = [np.empty(0, dtype=bool) for _ in names]
    below = np.zeros(len(names), dtype=np.int64)
    why_not: dict[int, str] = {}
    fast = view.params.learning_rate == 1
    numbers = network.get_or_compute(
        ("occurring values", len(names), fast), lambda: _Occurring(network, len(names), fast=fast)
    )
    for column in range(len(names)):
        is_category = column in network.encoder.categorical
        given = table.categories[column][0] if column in table.categories else table.values.item(0, column)
        if column in limits.fixed:
            why_not[column] = "fixed"
        elif column >= n_given:
            why_not[column] = "part of a date"
        elif given is None or given != given:
            why_not[column] = "missing"
        elif not is_category and column not in network.encoder.numeric:
            why_not[column] = "no other value"
        elif is_category:
            known = network.encoder.categories_of(column)
            allowed = limits.categories.get(column, frozenset(known))
            values[column] = _objects([one for one in known if one in allowed and one != given])
            sizes[column] = np.ones(len(values[column]))
            usual[column] = np.ones(len(values[column]), dtype=bool)
        else:
            low, high = limits.numbers.get(column, (-np.inf, np.inf))
            first, last = (min(numbers.usual[0][column], given), max(numbers.usual[1][column], given))
            if only_usual:
                low, high = max(low, first), min(high, last)
            occurring = numbers.between(column, low, high)
            occurring = occurring[_are_allowed(occurring, table, parts.get(column, ()), limits)]
            values[column] = occurring[occurring != given]
            nearest = min(max(given, numbers.lower[column]), numbers.upper[column])
            sizes[column] = numbers.sizes(column, values[column], nearest)
            usual[column] = (values[column] >= first) & (values[column] <= last)
            below[column] = np.searchsorted(values[column], given)
        if column not in why_not and not len(values[column]):
            why_not[column] = "no other value"
    return Options(table, values, sizes, usual, below, why_not, parts)


def _are_allowed(days: FloatArray, table: Table, parts: Sequence[int], limits: Limits) -> BoolArray:
    """Return which dates have parts within the limits of the user, of the columns that hold these parts."""
    allowed = np.ones(len(days), dtype=bool)
    for column, words in zip(parts, parts_of(days) if parts else (), strict=True):
        given = table.categories[column][0]
        if given is not None and column in limits.fixed:
            allowed &= words == given
        elif given is not None and column in limits.categories:
            allowed &= np.array([one in limits.categories[column] for one in words], dtype=bool)
    return allowed


def _objects(values: list[Any]) -> NDArray[np.object_]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class _Occurring:
    """The values that numeric columns take in what a network has learnt.

    A column has the values that were met, where these are few, or else the multiples of a step: that of the data, such
    as 1 for whole numbers or 25 where all are multiples of 25, or a round multiple of it, so that values are not many.
    """

    def __init__(self, network: Network, n_columns: int, *, fast: bool) -> None:
        encoder, values = network.encoder, learnt_values(network, fast=fast)
        decimals = data_decimals(network, n_columns, values)
        lower, upper = network.boxes_in_units()
        support = network.nodes.support[: len(lower)]
        self.lower, self.upper = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        self.usual = self.lower.copy(), self.upper.copy()
        self.few: dict[int, FloatArray] = {}
        self.units: dict[int, tuple[int, int]] = {}  # step of the data, as a whole number and its decimals
        self.encoder, self.places = encoder, dict[int, int]()
        for place, feature in enumerate(encoder.features):
            if feature.category is not None:
                continue
            column = feature.column
            self.places[column] = place
            self.lower[column], self.upper[column] = encoder.lower[place], encoder.upper[place]
            self.usual[0][column] = _end(lower[:, place], support)
            self.usual[1][column] = -_end(-upper[:, place], support)
            met = values[place]
            whole = np.unique(as_whole(met, decimals.item(column)))
            if len(whole) <= FEW_VALUES and len(met) >= TIMES_EACH * len(whole):
                self.few[column] = from_whole(whole, decimals.item(column))
            step = np.gcd.reduce(whole.astype(np.int64)) if abs(whole).max(initial=0.0) < 2.0**53 else 1
            self.units[column] = max(int(step), 1), decimals.item(column)

    def sizes(self, column: int, values: FloatArray, start: float) -> FloatArray:
        """Return how far values lie from where a sample starts, in learnt ranges, or units where there is no width."""
        if not self.lower[column] < self.upper[column]:
            return np.asarray(abs(values - start))
        return distances_from(self.encoder, self.places[column], start, values)

    def between(self, column: int, low: float, high: float) -> FloatArray:
        """Return the values that occur within the learnt range and two limits, sorted."""
        lowest, highest = self.lower.item(column), self.upper.item(column)
        if column in self.few:
            few = self.few[column]
            return np.asarray(few[(few >= max(low, lowest)) & (few <= min(high, highest))])
        unit, decimals = self.units[column]
        steps = [unit * times * 10**power for power in range(FINER + 3) for times in (1, 2, 5)]
        chosen = next((n for n, step in enumerate(steps) if self._count(step, decimals, lowest, highest) <= MANY), -1)
        low, high = max(low, lowest), min(high, highest)
        while chosen > 0 and self._count(steps[chosen], decimals, low, high) < ENOUGH:
            chosen -= 1
        first, last = _multiples(steps[chosen], decimals, low, high)
        values = from_whole(np.arange(first, last + 1) * steps[chosen], decimals)
        if self.encoder.ranks is not None:  # values lie close together where samples do
            for _, _, table in self.encoder.ranks.of(np.array([self.places[column]])):
                values = np.union1d(values, from_whole(as_whole(table.values, decimals), decimals))
        return np.asarray(values[(values >= low) & (values <= high)])

    @staticmethod
    def _count(step: int, decimals: int, low: float, high: float) -> float:
        first, last = _multiples(step, decimals, low, high)
        return last - first + 1


def _end(sides: FloatArray, support: IntArray) -> float:
    """Return the side below which a hundredth of the samples of boxes lie; infinity where there is none."""
    order = np.argsort(sides, kind="stable")
    order = order[~np.isnan(sides[order])]
    if not len(order):
        return np.inf
    passed = np.cumsum(support[order])
    return sides.item(order[np.searchsorted(passed, UNUSUAL * passed[-1])])


def _multiples(step: int, decimals: int, low: float, high: float) -> tuple[float, float]:
    """Return the first and the last multiple of a step between two limits."""
    first, last = (scaled(side, decimals) / step for side in (low, high))
    return np.ceil(first - SLACK), np.floor(last + SLACK)
