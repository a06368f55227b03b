"""Coded features: the column or category of each, their order, and detection of constant ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from sslart._data.samples import Table, is_category
from sslart._utils.arrays import BoolArray, FloatArray

UNKNOWN = (np.inf, -np.inf)  # range of a feature without a value

Category: TypeAlias = str | bool | int | float | None


class Feature(NamedTuple):
    """One coded feature: a numeric column, or the indicator of one category of a categorical column."""

    column: int
    category: Category = None


@cache
def numeric_features(n_columns: int) -> tuple[Feature, ...]:
    """Return the features of a table in which every column is numeric."""
    return tuple(Feature(column) for column in range(n_columns))


def numbers_first(features: Sequence[Feature]) -> list[int]:
    """Return the order of features: numeric ones by column, then categories in order of first appearance."""
    return sorted(
        range(len(features)),
        key=lambda place: np.inf if features[place].category is not None else features[place].column,
    )


def constant_places(features: Sequence[Feature], lower: FloatArray, upper: FloatArray) -> BoolArray:
    """Return a mask of constant features; all False if no feature varies."""
    n_categories = Counter(feature.column for feature in features if feature.category is not None)
    varies = upper > lower
    if n_categories:
        varies = varies & [n_categories.get(feature.column) != 1 for feature in features]
    found = ~varies & (lower <= upper)
    return np.asarray(found & varies.any())


def constants_in(table: Table, constant: Mapping[Feature, float]) -> FloatArray:
    """Return for each sample and constant feature 1 for the value known so far, 0 for another, NaN where missing."""
    shown = np.full((len(table), len(constant)), np.nan)
    for place, ((column, category), value) in enumerate(constant.items()):
        if category is None:
            own = table.values[:, column]
            shown[:, place] = np.where(np.isnan(own), np.nan, own == value)
        elif column in table.categories:
            shown[:, place] = [np.nan if one is None else one == category for one in table.categories[column]]
    return shown


def without_columns(table: Table, columns: Collection[int]) -> Table:
    """Return a table without some columns; those that are left are numbered anew."""
    kept = [column for column in range(table.values.shape[1]) if column not in columns]
    categories = {new: table.categories[old] for new, old in enumerate(kept) if old in table.categories}
    return Table(table.values[:, kept], categories)


def check_kinds(table: Table, categorical: frozenset[int], undecided: Container[int]) -> None:
    """Raise a ValueError where a column is numeric that was categorical before, or the reverse, unless undecided."""
    for column in categorical ^ frozenset(table.categories):
        name = f"Column {(table.names[column] if table.names else column)!r}"
        was, now = ("categorical", "numeric") if column in categorical else ("numeric", "categorical")
        if column in undecided or (now == "numeric" and np.isnan(table.values[:, column]).all()):
            continue
        raise ValueError(
            f"{name} was {was} in the data first learnt and is {now} now. Give it the same type as then: for a "
            "categorical column, the pandas dtype 'category', or strings or booleans."
        )


def are_features_of(
    features: Sequence[Feature], constant: Mapping[Feature, Any], categorical: frozenset[int], n_columns: int
) -> bool:
    """Return True if the features of a saved state are valid for `n_columns` columns."""
    known = (*features, *constant)
    columns = {feature.column for feature in known} | categorical
    return (
        all(type(column) is int for column in columns)
        and len(columns) == n_columns
        and min(columns) == 0
        and max(columns) == n_columns - 1
        and len(set(known)) == len(known)
        and all((feature.category is not None) == (feature.column in categorical) for feature in known)
        and all(is_category(feature.category) for feature in known)
        and len({feature.column for feature in constant} - {feature.column for feature in features}) == len(constant)
        and all(
            type(value) is float and np.isfinite(value) and (one.category is None or value == 1)
            for one, value in constant.items()
        )
    )


def origin_and_span_of(lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return where each range starts and how wide it is; NaN where no value is known yet."""
    known = lower <= upper
    origin = np.where(known, lower, np.nan)
    return origin, np.where(known, upper, np.nan) - origin


def limits_of(bounds: tuple[FloatArray, FloatArray] | None, column: int) -> tuple[float, float]:
    """Return the user's limits of a column, where there are some."""
    if bounds is None or np.isnan(bounds[0][column]):
        return UNKNOWN
    return float(bounds[0][column]), float(bounds[1][column])


def is_range(lower: Any, upper: Any) -> bool:
    """Return True if two values of a saved state are valid ends of a range."""
    return type(lower) is type(upper) is float and lower <= upper and upper - lower < np.inf
