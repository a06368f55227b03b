"""Options of counterfactuals: the values that features may change to, and the samples that result from changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.encoder import coded_parts, usual_spans
from sslart._data.ranks import GRID
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._contributions import average_amounts
from sslart.explain._relations import Relation, relations_of, shortest

STAY = -1  # the option of a feature that does not change
FEW_VALUES = 12  # a number with at most so many distinct values, each repeated, is a code: only these are offered
TIMES_EACH = 4  # repetitions of each value on average, for a code
MANY = 1000  # maximum number of options of a number
ENOUGH = 20  # minimum number of options within the user's limits; a finer step is used if there are fewer
COARSER, FINER = 4, 3  # range of decimals tried, relative to those of a hundredth of the range
MOST = 0.8  # share of values that need no more decimals than are offered
SLACK = 1e-6  # of a step: rounding to the grid of the encoder
MANY_COLUMNS = 1000  # with more columns predictions are slow: only the most important ones are changed
MOST_MOVED = 24  # number of these columns


@dataclass(frozen=True)
class Limits:
    """The user's limits of changes: fixed columns, ranges of numbers, and allowed categories."""

    fixed: frozenset[int] = frozenset()
    numbers: dict[int, tuple[float, float]] = field(default_factory=dict)
    categories: dict[int, frozenset[Any]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Options:
    """The values that each column may change to: sorted numbers, or categories; empty if the column cannot change."""

    values: list[NDArray[Any]]
    positions: list[FloatArray]  # of numbers, in learnt ranges
    why_not: dict[int, str]
    relations: tuple[Relation, ...]
    spans: FloatArray  # of numeric columns, in the user's units
    limits: Limits = field(default_factory=Limits)

    @cached_property
    def sizes(self) -> IntArray:
        """Number of options of each column."""
        return np.array([len(values) for values in self.values])

    def values_at(self, candidates: IntArray) -> FloatArray:
        """Return the values of numeric options, one per column; meaningless for other columns."""
        return np.asarray(self._numbers[0][self._places, candidates])

    def positions_at(self, candidates: IntArray) -> FloatArray:
        """Return the positions of numeric options."""
        return np.asarray(self._numbers[1][self._places, candidates])

    @cached_property
    def _places(self) -> IntArray:
        """Place of each column among those with options, 0 for the others."""
        return np.where(self.sizes > 0, np.cumsum(self.sizes > 0) - 1, 0)

    @cached_property
    def _numbers(self) -> tuple[FloatArray, FloatArray]:
        """Values and positions of numeric options of the columns with options, NaN where a column has fewer."""
        columns = np.flatnonzero(self.sizes).tolist()
        shape = max(len(columns), 1), max(int(self.sizes.max(initial=0)), 1)
        padded = np.full(shape, np.nan), np.full(shape, np.nan)
        for place, column in enumerate(columns):
            values = self.values[column]
            if values.dtype != object:
                padded[0][place, : len(values)], padded[1][place, : len(values)] = values, self.positions[column]
        return padded


def options_of(view: ModelView, limits: Limits | None = None, sample: Table | None = None) -> Options:
    """Return the values that features may change to; with limits, for one sample."""
    network, names = view.members[0].network, view.feature_names
    if limits is not None and (limits.fixed or limits.numbers or limits.categories):
        assert sample is not None
        return _Maker(view, limits, sample).options()
    readout = view.members[0].readout if is_wide(view) else None
    key = ("options", len(names), view.params.learning_rate == 1, readout)
    return network.get_or_compute(key, lambda: _Maker(view, Limits(), None).options())


def is_wide(view: ModelView) -> bool:
    """Return True if there are so many columns that only the most important ones are changed."""
    return view.uses_evidence and len(view.feature_names) > MANY_COLUMNS


class _Maker:
    """Builder of the options of each column."""

    def __init__(self, view: ModelView, limits: Limits, sample: Table | None) -> None:
        self.view, self.limits, self.sample = view, limits, sample
        self.network, self.encoder = view.members[0].network, view.members[0].encoder

    def options(self) -> Options:
        """Return the options; a dependent column has none, and its bases only values that it can follow.

        With very many columns, only the most important ones have options.
        """
        n_columns, relations = len(self.view.feature_names), relations_of(self.view)
        values: list[NDArray[Any]] = [np.empty(0)] * n_columns
        positions, spans, why_not = [np.empty(0)] * n_columns, np.ones(n_columns), dict[int, str]()
        places = {one.column: place for place, one in enumerate(self.encoder.features) if one.category is None}
        order, left = range(n_columns), n_columns
        if is_wide(self.view):
            amounts = average_amounts(self.view.members[0], n_columns)
            order, left = np.argsort(-amounts, kind="stable").tolist(), MOST_MOVED
        for column in order:
            if column >= self.view.reader.n_features_in_:
                why_not[column] = "part of a date"
            elif column in self.limits.fixed:
                why_not[column] = "fixed"
            elif not left:
                why_not[column] = "not tried"
            elif column in self.encoder.categorical:
                known = self.encoder.categories_of(column)
                allowed = self.limits.categories.get(column, frozenset(known))
                values[column] = np.empty(len(known), dtype=object)
                values[column][:] = known
                values[column] = values[column][[one in allowed for one in known]]
            elif column in places:
                place, limits = places[column], self.limits.numbers.get(column, (-np.inf, np.inf))
                values[column] = self._between(place, *limits)
            left -= len(values[column]) > 0
        spans[list(places)] = (self.encoder.upper - self.encoder.lower)[list(places.values())]
        for relation in relations:
            if len(relation.bases) == 1:
                (base,) = relation.bases
                values[base] = values[base][self._can_follow(relation, values[base])]
        for column, found in enumerate(values):
            if column not in why_not and len(found) < (1 if self.sample is None else 1 + self._has_own(column, found)):
                why_not[column], values[column] = "no other value", found[:0]
            if found.dtype != object and len(found):
                feature, varies = np.array([places[column]]), spans[column] > 0
                positions[column] = coded_parts(self.encoder, found[:, None], feature)[:, 0] if varies else found
        return Options(values, positions, why_not, relations, spans, self.limits)

    @cached_property
    def _sides(self) -> tuple[FloatArray, FloatArray]:
        return self.network.boxes_in_units()

    def _met(self, place: int) -> FloatArray:
        """Return known sample values of a coded feature: of stored labelled samples, and sides of boxes.

        With a learning rate below 1, sides are between values of samples, except those of boxes of width zero and the
        ends of the range.
        """
        fast, member = self.view.params.learning_rate == 1, self.view.members[0]
        kept = member.kept_labels if member.mapping.has_samples else None
        lower, upper = (side[:, place] for side in self._sides)
        ends = np.array([self.encoder.lower[place], self.encoder.upper[place]])
        given = np.empty(0) if kept is None else kept[0].values[:, self.encoder.features[place].column]
        given = given[(given >= ends[0]) & (given <= ends[1])]
        own = ~np.isnan(lower) if fast else lower == upper
        return np.concatenate([given, lower[own], upper[own], ends[: 0 if fast else 2]])

    def _has_own(self, column: int, found: NDArray[Any]) -> bool:
        assert self.sample is not None
        given = self.sample.categories[column][0] if column in self.sample.categories else self.sample.values[0, column]
        return given in found.tolist()

    def _can_follow(self, relation: Relation, values: NDArray[Any]) -> BoolArray:
        """Return a mask of the values of a single base for which the dependent column is within its limits."""
        if not len(values):
            return np.ones(0, dtype=bool)
        following = relation.follow([values])
        return allowed_values(self.view, self.limits, relation.column, following, self.sample)

    def _between(self, place: int, low: float, high: float) -> FloatArray:
        """Return the possible values within the learnt range and two limits, sorted.

        These are the known values if they are few, or else the multiples of a step: the step of the data, such as 1 for
        whole numbers or 25 if all are multiples of 25, or a round multiple of it, to limit the number of options.
        """
        lowest, highest = self.encoder.lower.item(place), self.encoder.upper.item(place)
        met = self._met(place)
        if not len(met) or not lowest <= highest:
            return np.empty(0)
        low, high = max(low, lowest), min(high, highest)
        tolerance = (highest - lowest) * 4 / GRID
        distinct, counts = _distinct(met, tolerance)
        if len(distinct) <= 2 or (len(distinct) <= FEW_VALUES and len(met) >= TIMES_EACH * len(distinct)):
            few = shortest(distinct, tolerance)
            few[distinct == lowest], few[distinct == highest] = lowest, highest
            return np.asarray(few[(few >= low) & (few <= high)])
        span = usual_spans(self.encoder, np.array([place])).item(0)
        decimals = data_decimals(distinct, counts, span)
        whole = np.unique(np.rint(scaled(distinct, decimals)))
        unit = int(np.gcd.reduce(whole.astype(np.int64))) if abs(whole).max(initial=0.0) < 2.0**53 else 1
        steps = [max(unit, 1) * times * 10**power for power in range(FINER + 3) for times in (1, 2, 5)]
        chosen = next((n for n, step in enumerate(steps) if _count(step, decimals, lowest, highest) <= MANY), -1)
        while chosen > 0 and _count(steps[chosen], decimals, low, high) < ENOUGH:
            chosen -= 1
        first, last = _multiples(steps[chosen], decimals, low, high)
        values = from_whole(np.arange(first, last + 1) * steps[chosen], decimals)
        if self.encoder.ranks is not None:  # scaled by rank: more options where samples are dense
            for _, _, table in self.encoder.ranks.of(np.array([place])):
                values = np.union1d(values, from_whole(np.rint(scaled(table.values, decimals)), decimals))
        return np.asarray(values[(values >= low) & (values <= high)])


def allowed_values(
    view: ModelView, limits: Limits, column: int, values: NDArray[Any], sample: Table | None
) -> BoolArray:
    """Return a mask of new values of a column that are within the learnt range and the user's limits."""
    encoder = view.members[0].encoder
    if column in encoder.categorical:
        known = frozenset(encoder.categories_of(column))
        allowed = known & limits.categories.get(column, known)
        given = None if sample is None else sample.categories[column][0]
        if sample is not None and given is None:  # part of a missing date
            return np.ones(len(values), dtype=bool)
        if column in limits.fixed:
            return np.asarray(values == given, dtype=bool)
        is_part = column >= view.reader.n_features_in_ and column not in limits.categories
        return np.array([is_part or one in allowed for one in values.tolist()], dtype=bool)
    if column in limits.fixed:
        assert sample is not None
        return np.asarray(values == sample.values[0, column])
    low, high = limits.numbers.get(column, (-np.inf, np.inf))
    lowest, highest = encoder.range_of(column)
    slack = (highest - lowest) * SLACK
    return np.asarray((values >= max(low, lowest) - slack) & (values <= min(high, highest) + slack))


def _distinct(values: FloatArray, tolerance: float) -> tuple[FloatArray, IntArray]:
    """Return the distinct values and their counts; of values that differ only by rounding, the first one."""
    distinct, first, counts = np.unique(values, return_index=True, return_counts=True)
    starts = np.flatnonzero(np.diff(distinct, prepend=-np.inf) > tolerance)
    groups = np.cumsum(np.diff(distinct, prepend=-np.inf) > tolerance) - 1
    earliest = np.lexsort((first, groups))[np.searchsorted(groups, np.arange(len(starts)))] if len(starts) else starts
    return distinct[earliest], np.add.reduceat(counts, starts)


def data_decimals(distinct: FloatArray, counts: IntArray, span: float) -> int:
    """Return the number of decimals that most values have, negative for tens, hundreds and so on.

    At most three more than steps of a hundredth of the range need: beyond that values are practically continuous.
    """
    if span <= 0:
        return 0
    usual = int(np.clip(np.ceil(2.0 - np.log10(span)), -300, 300))
    weights = np.where(np.arange(len(counts)) == counts.argmax(), 1e-9, counts)  # ignore the mode, such as zero
    for decimals in range(usual - COARSER, usual + FINER):
        units = scaled(distinct, decimals)
        near = np.abs(units - np.rint(units)) <= max(SLACK, scaled(span, decimals) * 4 / GRID)
        if weights[near].sum() >= MOST * weights.sum():
            return decimals
    return usual + FINER


def scaled(values: Any, decimals: int) -> Any:
    """Return numbers in units of their last decimal: 1.25 with two decimals is 125."""
    return values * 10.0**decimals if decimals >= 0 else values / 10.0**-decimals


def from_whole(values: FloatArray, decimals: int) -> FloatArray:
    """Convert numbers back from units of their last decimal: the inverse of `scaled`."""
    return np.asarray(values / 10.0**decimals if decimals >= 0 else values * 10.0**-decimals) + 0.0


def _multiples(step: int, decimals: int, low: float, high: float) -> tuple[float, float]:
    """Return the first and the last multiple of a step between two limits."""
    first, last = (scaled(side, decimals) / step for side in (low, high))
    return np.ceil(first - SLACK), np.floor(last + SLACK)


def _count(step: int, decimals: int, low: float, high: float) -> float:
    first, last = _multiples(step, decimals, low, high)
    return last - first + 1


class ChangeSpace:
    """Samples with the options of their features. A candidate is an array of options, one per column, for a row."""

    def __init__(self, view: ModelView, options: Options, table: Table) -> None:
        self.view, self.options, self.table = view, options, table
        n, n_columns = table.values.shape
        encoder = view.members[0].encoder
        self.columns = np.arange(n_columns)
        self.is_category = np.array([column in table.categories for column in range(n_columns)])
        self.below = np.zeros((n, n_columns), dtype=np.int64)  # number of options below the value of the sample
        self.above = np.zeros((n, n_columns), dtype=np.int64)  # first option above it
        self.own = np.zeros((n, n_columns))  # position of the sample, within the learnt range
        self.movable: BoolArray = np.tile(options.sizes > 0, (n, 1))
        features = [place for place, feature in enumerate(encoder.features) if feature.category is None]
        self.places = np.array(features, dtype=np.int64)
        self.numeric: IntArray = np.array([encoder.features[place].column for place in features], dtype=np.int64)
        self.own[:, self.numeric] = self.positions_of(table)
        for column in np.flatnonzero(options.sizes).tolist():
            if self.is_category[column]:
                known = {category: place for place, category in enumerate(options.values[column].tolist())}
                given = table.categories[column].tolist()
                self.below[:, column] = [known.get(one, STAY) for one in given]
                self.movable[:, column] &= [one is not None for one in given]
            else:
                values, given = options.values[column], table.values[:, column]
                self.below[:, column] = np.searchsorted(values, given)
                self.above[:, column] = np.searchsorted(values, given, side="right")
                self.movable[:, column] &= ~np.isnan(given)
        self.follows = np.zeros((n, len(options.relations)), dtype=bool)
        self.n_following = np.zeros((n, n_columns), dtype=np.int64)  # number of dependent columns of each
        for number, relation in enumerate(options.relations):
            held = relation.holds(table, options.spans.item(relation.column))
            self.follows[:, number] = held
            if relation.column < view.reader.n_features_in_:
                self.n_following[:, np.unique(relation.bases)] += held[:, None]
            absent = np.isnan(relation_values(table, relation)).any(axis=1)
            self.movable[held | absent, relation.column] = False

    def positions_of(self, table: Table) -> FloatArray:
        """Return the positions of the numeric columns in learnt ranges, clipped to the range."""
        encoder, places = self.view.members[0].encoder, self.places
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            values = np.clip(table.values[:, self.numeric], encoder.lower[places], encoder.upper[places])
            wide = encoder.upper[places] > encoder.lower[places]
            return np.where(wide, coded_parts(encoder, values, places), values)

    def table_of(self, rows: IntArray, candidates: IntArray) -> tuple[Table, BoolArray]:
        """Return candidates as samples, and a mask of those with all dependent columns within their limits."""
        moved, options = candidates != STAY, self.options
        numbers = np.where(moved & ~self.is_category, options.values_at(candidates), 0.0)
        values = np.where(moved & ~self.is_category, numbers, self.table.values[rows])
        categories = {column: given[rows] for column, given in self.table.categories.items()}
        for column in categories:
            at = np.flatnonzero(moved[:, column])
            if at.size:
                categories[column][at] = options.values[column][candidates[at, column]]
        valid = np.ones(len(rows), dtype=bool)
        for number, relation in enumerate(options.relations):
            at = np.flatnonzero(moved[:, list(relation.bases)].any(axis=1) & self.follows[rows, number])
            if at.size:
                following = relation.of(values, categories, at)
                target = categories[relation.column] if relation.column in categories else values[:, relation.column]
                target[at] = following
                if len(relation.bases) > 1:
                    valid[at] &= allowed_values(self.view, options.limits, relation.column, following, self.table[:1])
        return Table(values, categories, self.table.names), valid

    def sizes(self, rows: IntArray, candidates: IntArray) -> FloatArray:
        """Return the size of each change, in learnt ranges; 1 for a change of category."""
        moves = np.abs(self.options.positions_at(candidates) - self.own[rows])
        return np.where(candidates == STAY, 0.0, np.where(self.is_category, 1.0, moves))

    def measured(self, rows: IntArray, table: Table) -> tuple[IntArray, FloatArray]:
        """Return the number of features that differ, including dependent ones, and the sum of their changes."""
        before, after = self.table.values[rows], table.values
        n_changes = ((before != after) & ~np.isnan(before)).sum(axis=1)
        with np.errstate(invalid="ignore"):
            moves = np.abs(self.positions_of(table) - self.own[rows][:, self.numeric])
        distances = np.nansum(moves, axis=1)
        for column, given in self.table.categories.items():
            if column < self.view.reader.n_features_in_:
                differs = np.asarray(given[rows] != table.categories[column], dtype=bool)
                n_changes, distances = n_changes + differs, distances + differs
        return n_changes, distances

    def directions(self, row: int, candidate: IntArray) -> tuple[tuple[int, int], ...]:
        """Return the changed columns of a candidate with directions: -1 down, 1 up; for categories, from 2 up."""
        found = []
        for column in np.flatnonzero(candidate != STAY).tolist():
            option = candidate.item(column)
            up = 1 if option >= self.above.item(row, column) else -1
            found.append((column, option + 2 if self.is_category[column] else up))
        return tuple(found)


def relation_values(table: Table, relation: Relation) -> FloatArray:
    """Return the bases of a relation as numbers: NaN where missing, 0 for categories."""
    columns: Sequence[FloatArray] = [
        np.array([np.nan if one is None else 0.0 for one in table.categories[base]])
        if base in table.categories
        else table.values[:, base]
        for base in relation.bases
    ]
    return np.column_stack(columns)
