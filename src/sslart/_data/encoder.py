"""Encoding of tables in the unit cube: ranges or ranks, categories, missing values, and the grid.

Every coded value is a multiple of 2⁻³², so that the sums that decide about boxes are exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sslart._data.ranks import AUTO, CATEGORY, GRID, RANGE, RANK, RankScale, RankTable, same_scale
from sslart._data.samples import Table, as_known_texts, is_category
from sslart._data.training import find_outliers
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, column_ranges
from sslart._utils.cache import CachesValues
from sslart._utils.validation import check_bounds, require, saved_array, saved_whole

UNKNOWN = (np.inf, -np.inf)  # range of a feature without a value
MAX_CATEGORIES = 64  # coded per column: best mean of 16 to 256, see `benchmarks/categories.py --tuning`
MIN_CATEGORIES = 8  # coded per column in a table with many such columns
MAX_INDICATORS = 640  # of all columns together, subject to `MIN_CATEGORIES`: memory is boxes times features

ANOTHER = "another category"  # category of samples drawn from boxes that is not among the coded ones
CROWDED = 0.1  # of the range that the middle 80 % take by rank: see `is_crowded`
N_LOOKED_AT = 2000  # samples, which show crowding well enough

Category: TypeAlias = str | bool | int | float | None
Range: TypeAlias = tuple[float, float]


class Feature(NamedTuple):
    """One coded feature: a numeric column, or the indicator of one category of a categorical column."""

    column: int
    category: Category = None


@cache
def numeric_features(n_columns: int) -> tuple[Feature, ...]:
    """Return the features of a table in which every column is numeric."""
    return tuple(Feature(column) for column in range(n_columns))


def constant_places(features: Sequence[Feature], lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return a mask of constant features; all False if no feature varies."""
    n_categories = Counter(feature.column for feature in features if feature.category is not None)
    varies = upper > lower
    if n_categories:
        varies = varies & [n_categories.get(feature.column) != 1 for feature in features]
    return np.asarray(~varies & (lower <= upper) & varies.any())


def _origin_and_span(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the start and the width of each range; NaN where no value is known yet."""
    known = lower <= upper
    origin = np.where(known, lower, np.nan)
    return origin, np.where(known, upper, np.nan) - origin


class NumericColumns(NamedTuple):
    """Columns of the coded and of the constant features of an encoder without categories, and the constant values."""

    features: IntArray
    constant: IntArray
    constants: FloatArray


@dataclass(frozen=True)
class Encoder(CachesValues):
    """Encoder of tables in the unit cube. Immutable: data out of its range lead to a new, wider encoder.

    Attributes
    ----------
    features : tuple of Feature
        The coded features. New categories are appended.
    categorical : frozenset of int
        The columns that are categorical, or undecided.
    lower, upper : arrays of length n_features
        Range of each coded feature in the user's units; (inf, -inf) while no value is known.
    undecided : mapping from column to (lower, upper)
        The columns that are not known to be numeric or categorical yet, with their range if they are numeric. They have
        no feature.
    constant : mapping from Feature to float
        The features that have been constant so far, with their value: 1 for the only category of a column. They are not
        in `features` and are ignored until a second value is seen. If all features are constant, they are in `features`
        nevertheless, so that there are some.
    ranks : RankScale or None
        The features that are scaled by rank. All others are scaled by their range.
    max_categories : int
        The maximum number of coded categories per column: the most frequent ones of the first table, or the first ones
        of a stream. All others count as one, "none of these", so that memory does not grow with their number.
    """

    features: tuple[Feature, ...]
    categorical: frozenset[int]
    lower: FloatArray
    upper: FloatArray
    undecided: Mapping[int, Range] = field(default_factory=dict)
    constant: Mapping[Feature, float] = field(default_factory=dict)
    ranks: RankScale | None = None
    max_categories: int = MAX_CATEGORIES

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len({feature.column for feature in (*self.features, *self.constant)} | self.categorical)

    @classmethod
    def of_columns(cls, table: Table, undecided: Mapping[int, Range] | None = None) -> Encoder:
        """Return an encoder of the columns of a table, without any range or category yet."""
        features, undecided = numeric_features(table.values.shape[1]), undecided or {}
        categorical = frozenset(table.categories) | frozenset(undecided)
        if categorical:
            features = tuple(feature for feature in features if feature.column not in categorical)
        unknown = np.full(len(features), np.inf)
        return cls(features, categorical, unknown, -unknown, undecided)

    @classmethod
    def first(cls, table: Table, bounds: tuple[FloatArray, FloatArray] | None, *, stream: bool) -> Encoder:
        """Return the first encoder: the user's bounds where given, else the ranges of the first table.

        With bounds, a stream learns categories, and the kinds of columns without a dtype, sample by sample, so that the
        result does not depend on how it is split into calls.
        """
        shown = table[:1] if stream and bounds is not None else table
        undecided = {column: _limits(bounds, column) for column in table.untyped if not shown.has_values(column)}
        start = cls.of_columns(table, undecided)
        if not stream or bounds is None:
            start = replace(start, max_categories=_max_categories(table))._with_new_features(table, by_frequency=True)
        if bounds is None:
            return start.covering(table)
        lower, upper = (side[[feature.column for feature in start.features]] for side in bounds)
        from_table = np.isnan(lower) | np.array(
            [feature.category is not None for feature in start.features], dtype=bool
        )
        if from_table.any():
            wider = start._covering_all(table)
            known = [wider.features.index(feature) for feature in start.features]
            lower = np.where(from_table, wider.lower[known], lower)
            upper = np.where(from_table, wider.upper[known], upper)
        return start._with_range(lower, upper)._without_constants()

    def with_columns(self, is_category: Sequence[bool], bounds: tuple[FloatArray, FloatArray] | None) -> Encoder:
        """Return the encoder with further columns without values; `bounds`: the user's for all columns, NaN if none."""
        first = self.n_columns
        numeric = [first + place for place, category in enumerate(is_category) if not category]
        categorical = {first + place for place, category in enumerate(is_category) if category}
        limits = {Feature(column): _limits(bounds, column) for column in numeric}
        return replace(self, categorical=self.categorical | categorical)._with_features(limits)

    def covering(self, table: Table) -> Encoder:
        """Return the encoder widened to all values and categories of a table."""
        return self._covering_all(table)._without_constants()

    def _covering_all(self, table: Table) -> Encoder:
        """Return the encoder widened to a table, with the constant features among its features."""
        wider = self.with_constants._with_new_features(table)
        numeric = wider.numeric
        values = table.values if len(numeric) == table.values.shape[1] else table.values.take(numeric, axis=1)
        lowest, highest = column_ranges(values)
        lower, upper = wider.lower.copy(), wider.upper.copy()  # for indicators always 0 and 1
        lower[: len(numeric)] = np.fmin(lower[: len(numeric)], lowest)
        upper[: len(numeric)] = np.fmax(upper[: len(numeric)], highest)
        return wider._with_range(lower, upper)

    def _with_range(self, lower: FloatArray, upper: FloatArray) -> Encoder:
        with np.errstate(over="ignore"):
            too_wide = np.isinf(upper - lower) & (upper >= lower)
        if too_wide.any():
            feature = int(np.flatnonzero(too_wide)[0])
            raise ValueError(
                f"Feature {feature} spans {lower[feature]:g} to {upper[feature]:g}, wider than double precision can "
                "hold: rescale it."
            )
        return replace(self, lower=lower, upper=upper)

    def _with_new_features(self, table: Table, *, by_frequency: bool = False) -> Encoder:
        """Add the new categories of a table, and the undecided columns that turn out to be numeric.

        Of more new categories than `max_categories` allows, the first ones are coded, or the most frequent ones.
        """
        n_known = Counter(feature.column for feature in self.features)
        known = set(self.features) if table.categories else ()
        numbers = [column for column in self.undecided if column not in table.categories and table.has_values(column)]
        new: dict[Feature, Range] = {Feature(column): self.undecided[column] for column in numbers}
        for column, values in table.categories.items():
            room = self.max_categories - n_known[column]
            if room <= 0:
                continue
            met = [one for one in dict.fromkeys(values) if one is not None and Feature(column, one) not in known]
            if by_frequency and len(met) > room:
                often = Counter(values.tolist())
                met = sorted(sorted(met, key=lambda one: -often[one])[:room], key=met.index)
            new.update((Feature(column, value), (0.0, 1.0)) for value in met[:room])
        if not new:
            return self
        decided = {feature.column for feature in new}
        undecided = {column: limits for column, limits in self.undecided.items() if column not in decided}
        categorical = self.categorical.difference(numbers)
        return replace(self, categorical=categorical, undecided=undecided)._with_features(new)

    def _with_features(self, new: Mapping[Feature, Range]) -> Encoder:
        """Return the encoder with further features and their ranges."""
        if not new:
            return self
        lower, upper = np.transpose(list(new.values()))
        features = self.features + tuple(new)
        both = np.concatenate([self.lower, lower]), np.concatenate([self.upper, upper])
        is_category = [feature.category is not None for feature in features]  # at the end, by first appearance
        order = sorted(range(len(features)), key=lambda at: np.inf if is_category[at] else features[at].column)
        return replace(self, features=features, lower=both[0], upper=both[1])._taking(order)

    def _taking(self, places: Sequence[int]) -> Encoder:
        """Return the encoder with some of the features, in another order."""
        return replace(
            self,
            features=tuple(self.features[place] for place in places),
            lower=self.lower[places],
            upper=self.upper[places],
            ranks=None if self.ranks is None else self.ranks.taking(places),
        )

    @property
    def with_constants(self) -> Encoder:
        """The encoder with the constant features among its features."""
        return self._whole if self.constant else self

    @cached_property
    def _whole(self) -> Encoder:
        # never the encoder itself: skops cannot write an object that refers to itself
        ranges = {
            one: (0.0, 1.0) if one.category is not None else (value, value) for one, value in self.constant.items()
        }
        return replace(self, constant={})._with_features(ranges)

    def _without_constants(self) -> Encoder:
        """Return the encoder with constant features set aside, unless all are constant."""
        aside = constant_places(self.features, self.lower, self.upper)
        if not aside.any():
            return self
        constant = {self.features[place]: self.upper.item(place) for place in np.flatnonzero(aside)}
        return replace(self._taking(np.flatnonzero(~aside).tolist()), constant=constant)

    def check(self, table: Table) -> None:
        """Raise a ValueError if a column changed from numeric to categorical, or the reverse."""
        for column in self.categorical ^ frozenset(table.categories) if self.categorical or table.categories else ():
            name = f"Column {(table.names[column] if table.names else column)!r}"
            was, now = ("categorical", "numeric") if column in self.categorical else ("numeric", "categorical")
            if column in self.undecided or (now == "numeric" and np.isnan(table.values[:, column]).all()):
                continue
            raise ValueError(
                f"{name} was {was} in the data learnt first and is {now} now. Give it the same type as then: for a "
                "categorical column, the pandas dtype 'category', or strings or booleans."
            )

    @cached_property
    def is_plain(self) -> bool:
        """True if the coded features are exactly the columns, in their order."""
        return not (self.categorical or self.constant) and self.features == numeric_features(len(self.features))

    @cached_property
    def numeric_columns(self) -> NumericColumns | None:
        """The columns of the features and of the constant ones; None where a column is categorical."""
        if self.categorical:
            return None
        return NumericColumns(
            np.array([feature.column for feature in self.features], dtype=np.int64),
            np.array([feature.column for feature in self.constant], dtype=np.int64),
            np.array(list(self.constant.values()), dtype=np.float64),
        )

    def with_known_texts(self, table: Table) -> Table:
        """Replace each unknown category by its text where that text is a known category."""
        return as_known_texts(table, self.categories_of)

    def categories_of(self, column: int) -> list[Category]:
        """Return the coded categories of a column; [None] for a numeric column."""
        return [one.category for one in (*self.features, *self.constant) if one.column == column]

    def range_of(self, column: int) -> tuple[float, float]:
        """Return the range of a numeric column; (inf, -inf) where it has no value yet."""
        whole = self.with_constants
        place = whole.features.index(Feature(column))
        return whole.lower.item(place), whole.upper.item(place)

    @cached_property
    def numeric(self) -> list[int]:
        """Columns of the numeric features, which precede all others."""
        return [feature.column for feature in self.features if feature.category is None]

    def matrix(self, table: Table) -> FloatArray:
        """Return one column per coded feature, in the user's units; indicators are 0 or 1, NaN where missing."""
        if self.is_plain:
            return table.values
        if self.numeric_columns is not None:
            return table.values.take(self.numeric_columns.features, axis=1)
        matrix = np.zeros((len(table), len(self.features)))
        positions: dict[int, dict[str | bool | float, int]] = {column: {} for column in table.categories}
        for position, (column, category) in enumerate(self.features):
            if category is None or column not in positions:
                matrix[:, position] = table.values[:, column]
            else:
                positions[column][category] = position
        for column, of_category in positions.items():
            values = table.categories[column]
            place_of: dict[Any, int] = {**of_category, None: -2}
            found = np.fromiter(map(place_of.get, values.tolist(), repeat(-1)), np.int64, len(values))
            rows = np.flatnonzero(found >= 0)
            matrix[rows, found[rows]] = 1.0
            missing = np.flatnonzero(found == -2)
            if len(missing):
                matrix[np.ix_(missing, np.array([*of_category.values()], dtype=np.int64))] = np.nan
        return matrix

    def rows_beyond(self, matrix: FloatArray) -> BoolArray:
        """Return a mask of samples, in the user's units, with a value outside the range of its feature."""
        return np.asarray(((matrix < self.lower) | (matrix > self.upper)).any(axis=1))

    def beyond(self, table: Table) -> tuple[FloatArray, IntArray]:
        """Return the total distance of each sample out of range, in ranges, and its number of values."""
        matrix = self.on_scale(self.matrix(table))
        lower, span = self.origin_and_span()
        present = ~np.isnan(matrix - lower)
        with np.errstate(over="ignore"):
            outside = np.maximum(lower - matrix, matrix - self.ends[1]).clip(min=0.0)
            ranges = np.where(span > 0, outside / np.where(span > 0, span, 1.0), outside > 0)
        return np.where(present, ranges, 0.0).sum(axis=1), present.sum(axis=1)

    def decode(self, coded: FloatArray, features: slice | IntArray = slice(None)) -> FloatArray:
        """Return coded values, of all features or of some, in the user's units."""
        lower, span = (values[features] for values in _origin_and_span(self.lower, self.upper))
        # lower + span may differ from upper by rounding
        units = np.where(coded == 1.0, self.upper[features], lower + coded * span)
        if self.ranks is not None:
            for at, place, table in self.ranks.of(np.arange(len(self.features))[features]):
                units[..., at] = table.value_at(coded[..., at], self.lower.item(place), self.upper.item(place))
        return units

    def on_scale(self, matrix: FloatArray, features: IntArray | None = None) -> FloatArray:
        """Convert values in the user's units to the scales of their features: positions for those scaled by rank."""
        return matrix if self.ranks is None else self.ranks.positions(matrix, features)

    def scale_of(self, place: int) -> RankTable | None:
        """Return the rank table of a coded feature; None if it is not scaled by rank."""
        return None if self.ranks is None else self.ranks.tables.get(place)

    @cached_property
    def ends(self) -> tuple[FloatArray, FloatArray]:
        """The range of each feature on its scale, which coding maps to [0, 1]."""
        if self.ranks is None:
            return self.lower, self.upper
        lower, upper = self.on_scale(np.array([self.lower, self.upper]))
        return lower, upper

    @cached_property
    def knows_all_ranges(self) -> bool:
        """True if every feature has a known range."""
        return bool((self.lower <= self.upper).all())

    def origin_and_span(self) -> tuple[FloatArray, FloatArray]:
        """Return the start and the width of each feature on its scale; NaN where no value is known yet."""
        return _origin_and_span(*self.ends)

    def segments(self, table: Table) -> Iterator[tuple[slice, Encoder]]:
        """Split a table where a sample is out of the encoder's range; yield each segment with its encoder.

        The encoder widens sample by sample, so that the segments do not depend on how a stream is split into tables.
        """
        widening = self._rows_that_widen(table)
        if not widening:
            yield slice(0, len(table)), self
            return
        starts = sorted({0, *widening})
        encoder = self
        for start, end in zip(starts, [*starts[1:], len(table)], strict=True):
            if start in widening:
                encoder = encoder.covering(table[start : start + 1])
            yield slice(start, end), encoder

    def knows_features(self, table: Table) -> bool:
        """Return True if a table has no new category, no newly decided column, and no new value of a constant."""
        if not (self.constant or self.undecided or table.categories):
            return True
        known = self.with_constants
        if known._with_new_features(table) is not known:
            return False
        return not (self._constants_in(table) == 0).any()

    def _constants_in(self, table: Table) -> FloatArray:
        """Compare samples with the constant features: 1 for the known value, 0 for another, NaN where missing."""
        shown = np.full((len(table), len(self.constant)), np.nan)
        for place, ((column, category), value) in enumerate(self.constant.items()):
            if category is None:
                own = table.values[:, column]
                shown[:, place] = np.where(np.isnan(own), np.nan, own == value)
            elif column in table.categories:
                shown[:, place] = [np.nan if one is None else one == category for one in table.categories[column]]
        return shown

    def has_constants(self, table: Table) -> BoolArray:
        """Return a mask of values in the constant features that are not missing, (n_samples, n_constant)."""
        return ~np.isnan(self._constants_in(table))

    def n_off_constants(self, table: Table) -> IntArray:
        """Return the number of constant features in which each sample has a new value."""
        return np.asarray((self._constants_in(table) == 0).sum(axis=1))

    def varying(self, table: Table) -> Table:
        """Return a table without the columns that have no feature."""
        kept = sorted({feature.column for feature in self.features})
        if len(kept) == table.values.shape[1]:
            return table
        categories = {new: table.categories[old] for new, old in enumerate(kept) if old in table.categories}
        return Table(table.values[:, kept], categories)

    def _rows_that_widen(self, table: Table) -> set[int]:
        before = self.with_constants
        full = before._with_new_features(table)
        rows = {table.first_row_with(*feature) for feature in set(full.features).difference(before.features)}
        matrix = full.matrix(table)
        if (matrix < full.lower).any() or (matrix > full.upper).any():
            lowest = np.fmin.accumulate(np.vstack([full.lower, matrix]))
            highest = np.fmax.accumulate(np.vstack([full.upper, matrix]))
            widened = (lowest[1:] < lowest[:-1]) | (highest[1:] > highest[:-1])
            rows.update(np.flatnonzero(widened.any(axis=1)).tolist())
        return rows

    def names(self, column_names: list[str] | None) -> list[str]:
        """Return a name for each coded feature: the column's, or column=category."""
        return [
            (column_names[column] if column_names else f"x{column}") + ("" if category is None else f"={category}")
            for column, category in self.features
        ]

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values and arrays."""
        undecided = sorted(self.undecided.items())
        return {
            "features": [list(feature) for feature in self.features],
            "categorical": sorted(self.categorical),
            "lower": self.lower,
            "upper": self.upper,
            **({"undecided": {str(column): list(limits) for column, limits in undecided}} if undecided else {}),
            **({"constant": [[*one, value] for one, value in self.constant.items()]} if self.constant else {}),
            **({} if self.ranks is None else {"ranks": self.ranks.to_state()}),
            "max_categories": self.max_categories,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int) -> Encoder:
        """Restore the encoder from a saved state after validating it."""
        features = tuple(Feature(*feature) for feature in state["features"])
        categorical = frozenset(state["categorical"])
        constant = {Feature(*feature): value for *feature, value in state.get("constant", [])}
        known_features = (*features, *constant)
        columns = {feature.column for feature in known_features} | categorical
        fits = (
            all(type(column) is int for column in columns)
            and len(columns) == n_columns > 0  # before a set of as many as a file claims is made
            and columns == set(range(n_columns))
            and len(set(known_features)) == len(known_features)
            and all((feature.category is not None) == (feature.column in categorical) for feature in known_features)
            and all(is_category(feature.category) for feature in known_features)
            and len({one.column for one in constant} - {one.column for one in features}) == len(constant)
            and all(
                type(value) is float and np.isfinite(value) and (one.category is None or value == 1)
                for one, value in constant.items()
            )
        )
        if not fits:
            raise ValueError("the features of the model are not features of its columns")
        lower, upper = (saved_array(state, name, np.float64, len(features)) for name in ("lower", "upper"))
        indicator = np.array([feature.category is not None for feature in features], dtype=bool)
        with np.errstate(over="ignore", invalid="ignore"):
            known = (lower <= upper) & np.isfinite(upper - lower) & (~indicator | ((lower == 0) & (upper == 1)))
        require((known | (~indicator & (lower == np.inf) & (upper == -np.inf))).all(), "the ranges")
        undecided = {int(column): tuple(limits) for column, limits in state.get("undecided", {}).items()}
        decided = {feature.column for feature in (*features, *constant)}
        require(undecided.keys() <= categorical - decided, "the columns")
        require(all(limits == UNKNOWN or _is_range(*limits) for limits in undecided.values()), "the ranges")
        ranks = None
        if "ranks" in state:
            ranks = RankScale.from_state(state["ranks"], lower, upper, indicator)
        most = saved_whole(state, "max_categories", MIN_CATEGORIES, MAX_CATEGORIES)
        n_categories = Counter(feature.column for feature in known_features if feature.category is not None)
        require(max(n_categories.values(), default=0) <= most, "the number of categories")
        return cls(features, categorical, lower, upper, undecided, constant, ranks, most)


def _max_categories(table: Table) -> int:
    """Return the number of categories coded per column, so that all indicators together are not too many."""
    sizes = np.array([len(set(values.tolist()) - {None}) for values in table.categories.values()])
    for most in range(MAX_CATEGORIES, MIN_CATEGORIES, -1):
        if np.minimum(sizes, most).sum() <= MAX_INDICATORS:
            return most
    return MIN_CATEGORIES


def _limits(bounds: tuple[FloatArray, FloatArray] | None, column: int) -> Range:
    """Return the user's bounds of a column; unknown where there are none."""
    if bounds is None or np.isnan(bounds[0][column]):
        return UNKNOWN
    return float(bounds[0][column]), float(bounds[1][column])


def _is_range(lower: Any, upper: Any) -> bool:
    return type(lower) is type(upper) is float and lower <= upper and upper - lower < np.inf


def first_encoder(
    owner: str, table: Table, shown: slice | IntArray, *, bounds: Any, scaling: str, stream: bool
) -> Encoder:
    """Return the first encoder of an estimator.

    `shown` are the rows of the first table, repeated as often as boxes learn them; `bounds` are the user's; in a stream
    further samples are expected.
    """
    limits = check_bounds(owner, bounds, table.values.shape[1] - table.n_parts)
    if limits is not None:
        unknown = np.full(table.n_parts, np.nan)
        limits = np.append(limits[0], unknown), np.append(limits[1], unknown)
    return scaled_by(scaling, Encoder.first(table, limits, stream=stream), table[shown], limits)


def scaled_by(scaling: str, encoder: Encoder, table: Table, bounds: tuple[FloatArray, FloatArray] | None) -> Encoder:
    """Return the encoder with the scaling that the user wants, given the first table with repeats.

    By rank: all features, or with "auto" those that `is_crowded`. Features with user bounds, with fewer than two
    distinct values, and parts of dates are always scaled by range.
    """
    if scaling == RANGE:
        return encoder
    free = [
        place
        for place, feature in enumerate(encoder.features)
        if feature.category is None
        and feature.column < table.values.shape[1] - table.n_parts
        and (bounds is None or np.isnan(bounds[0][feature.column]))
    ]
    values_of = {place: table.values[:, encoder.features[place].column] for place in free}
    if scaling == AUTO:
        values_of = {place: values for place, values in values_of.items() if is_crowded(values)}
    made = {place: RankTable.of_values(values) for place, values in values_of.items()}
    tables = {place: table for place, table in made.items() if table is not None}
    return replace(encoder, ranks=RankScale(tables)) if tables else encoder


def is_crowded(values: FloatArray) -> bool:
    """Return True if most values lie in a small part of the range, so that boxes can hardly distinguish them.

    Either a few outliers take nearly all of the range, or the middle 80 % of the samples take less than a tenth of the
    range that they take by rank. For an exponential distribution this is a quarter or more; for many counts, amounts
    and durations, a hundredth. A subset of many samples is checked.
    """
    known = values[~np.isnan(values)]
    some = np.sort(known[:: len(known) // N_LOOKED_AT + 1])
    table = RankTable.of_values(some)
    if table is None:
        return any(find_outliers(known[:, None]))
    middle = some[[len(some) // 10, -1 - len(some) // 10]]
    by_range = (middle[1] / 2 - middle[0] / 2) / (known.max() / 2 - known.min() / 2)
    by_rank = np.diff(table.at(middle)).item()
    return bool(by_range < CROWDED * by_rank) or any(find_outliers(known[:, None]))


def scaling_of(encoder: Encoder, n_columns: int) -> list[str]:
    """Return the scaling of each column: by range, by rank, or none because it is categorical."""
    scaling = [CATEGORY if column in encoder.categorical else RANGE for column in range(n_columns)]
    for place in () if encoder.ranks is None else encoder.ranks.tables:
        scaling[encoder.features[place].column] = RANK
    return scaling


MIDDLE = np.array([0.25, 0.75])


def coded_parts(encoder: Encoder, values: FloatArray, features: IntArray) -> FloatArray:
    """Return the coded position of values of some features on their scales, without rounding to the grid."""
    start, span = (ends[features] for ends in encoder.origin_and_span())
    return np.asarray((encoder.on_scale(values, features) - start) / span)


def usual_spans(encoder: Encoder, features: IntArray) -> FloatArray:
    """Return a robust spread of features: their range, or twice the interquartile range if scaled by rank.

    A few outliers may take nearly all of the range of a feature scaled by rank.
    """
    spans = encoder.upper[features] - encoder.lower[features]
    if encoder.ranks is not None:
        for at, _, table in encoder.ranks.of(features):
            low, high = table.value_at(MIDDLE, table.values.item(0), table.values.item(-1)).tolist()
            spans[at] = min(2.0 * (high - low), spans[at]) if high > low else spans[at]
    return np.asarray(spans)


def recode_boxes(
    encoder: Encoder, lower: FloatArray, upper: FloatArray, met: BoolArray, wider: Encoder
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Express boxes of an encoder in a wider one, rounded outward so that they cover the same region.

    Parameters
    ----------
    encoder : Encoder
    lower, upper : arrays of shape (n_boxes, n_features)
        Boxes in this encoder; lower > upper in features without a value yet.
    met : array of shape (n_boxes, n_constant)
        Mask: True if a box has learnt a value of a constant feature of this encoder.
    wider : Encoder
        A widened version of `encoder`, or joined from it and others. Features that were constant may vary now.
    """
    places = {feature: place for place, feature in enumerate(encoder.features)}
    kept = np.array([place for place, feature in enumerate(wider.features) if feature in places], dtype=np.int64)
    old = np.array([places[wider.features[place]] for place in kept], dtype=np.int64)
    new_lower = np.ones((len(lower), len(wider.features)))
    new_upper = np.zeros_like(new_lower)
    new_lower[:, kept], new_upper[:, kept] = lower[:, old], upper[:, old]
    differ = (encoder.lower[old] != wider.lower[kept]) | (encoder.upper[old] != wider.upper[kept])
    if encoder.ranks is not wider.ranks:
        before_and_after = zip(old.tolist(), kept.tolist(), strict=True)
        differ |= [not same_scale(encoder.scale_of(one), wider.scale_of(other)) for one, other in before_and_after]
    changed, before = kept[differ], old[differ]
    reached = lower[:, before] <= upper[:, before]
    for sides, new_sides, step in ((lower, new_lower, -1.0), (upper, new_upper, 1.0)):
        units = encoder.decode(sides[:, before], before)
        new_sides[:, changed] = np.where(reached, _coded_outward(wider, units, changed, step), sides[:, before])
    constant = {feature: place for place, feature in enumerate(encoder.constant)}

    def has_met(feature: Feature) -> BoolArray:
        """Return a mask of boxes that have learnt a value of a feature."""
        if feature in constant:
            return met[:, constant[feature]]
        place = places.get(feature)
        return np.zeros(len(lower), dtype=bool) if place is None else np.asarray(lower[:, place] <= upper[:, place])

    for place in np.setdiff1d(np.arange(len(wider.features)), kept):
        column = wider.features[place].column
        siblings = [has_met(one) for one in (*constant, *places) if one.column == column]
        if siblings:
            boxes = np.any(siblings, axis=0)
            value, at = np.array([[encoder.constant.get(wider.features[place], 0.0)]]), np.array([place])
            new_lower[boxes, place] = _coded_outward(wider, value, at, -1.0)
            new_upper[boxes, place] = _coded_outward(wider, value, at, 1.0)
    new_met = np.zeros((len(lower), len(wider.constant)), dtype=bool)
    for place, feature in enumerate(wider.constant):
        new_met[:, place] = has_met(feature)
    return new_lower, new_upper, new_met


def _coded_outward(encoder: Encoder, units: FloatArray, features: IntArray, step: float) -> FloatArray:
    """Return sides of boxes in the user's units as coded values: the lower sides (-1) or the upper ones (1)."""
    start, span = (values[features] for values in encoder.origin_and_span())
    whole = np.floor if step < 0 else np.ceil
    coded = np.clip(whole((encoder.on_scale(units, features) - start) / span * GRID) / GRID, 0.0, 1.0)
    falls_short = step * encoder.decode(coded, features) < step * units
    return np.clip(coded + falls_short * step / GRID, 0.0, 1.0)
