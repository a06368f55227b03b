"""Values that take nearly all of the range of a column, so that the others can hardly be distinguished."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sslart._data.ranks import AUTO, RANK
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, column_ranges
from sslart._utils.text import list_text, printable

FACTOR = 1000.0  # how much wider the range is with the outliers than without them
MAX_OUTLIERS = 3  # different values
MAX_SHARE = 0.1  # of the samples that have them
MIN_OTHERS = 5
MAX_COMMON = 0.95  # share of the most common of the other values: a column that is nearly constant has no usual range
FEW, MANY = 128, 2000  # values of a column to look at: of all columns, and of those that seem odd
N_PARTS = 513  # of a range: two of them are more than one part in `FACTOR`
ROWS_AT_ONCE = 4096

# what follows for the feature, and what to do if such a value is right
BY_RANGE = "that boxes can hardly distinguish them", '; if it is right, scale features by rank: scaling="rank"'
BY_RANK = "the feature is scaled by rank", ""


class Outliers(NamedTuple):
    """Values that take nearly all of the range of a column, and the range of its other values."""

    column: int
    values: FloatArray
    lowest: float
    highest: float


def find_outliers(values: FloatArray) -> Iterator[Outliers]:
    """Yield the outliers of each column that has some; `values` are numbers, NaN where missing."""
    if len(values) <= MIN_OTHERS:
        return
    for column in _that_may_have_outliers(values):
        own = values[:, column]
        different, counts = np.unique(own[~np.isnan(own)], return_counts=True)
        found = _usual_values(different, counts)
        if found is not None:
            usual = different[found]
            others = np.concatenate([different[: found.start], different[found.stop :]])
            yield Outliers(column, others, float(usual[0]), float(usual[-1]))


def _that_may_have_outliers(values: FloatArray) -> list[int]:
    """Return the columns but those in which it is soon seen that there are no outliers."""
    lowest, highest = column_ranges(values)
    columns = np.flatnonzero(lowest < highest)
    columns = columns[~_are_spread(values[:: len(values) // FEW + 1, columns], lowest[columns], highest[columns])]
    columns = columns[~_have_a_usual_value(values, columns, lowest[columns], highest[columns])]
    columns = columns[~_are_spread(values[:: len(values) // MANY + 1, columns], lowest[columns], highest[columns])]
    return list(columns.tolist())


def _are_spread(some: FloatArray, lowest: FloatArray, highest: FloatArray) -> BoolArray:
    """Return a mask of columns with values in so many parts of the range that three remain without outliers."""
    with np.errstate(over="ignore", invalid="ignore"):  # a range that no double holds has one part
        part = np.fmax((some - lowest) / (highest - lowest) * (N_PARTS - 1), 0.0).astype(np.intp)
    has_values = np.zeros((len(lowest), N_PARTS), dtype=bool)
    has_values[np.arange(len(lowest)), part] = True
    return np.asarray(has_values.sum(axis=1) >= MAX_OUTLIERS + 3)


def _have_a_usual_value(values: FloatArray, columns: IntArray, lowest: FloatArray, highest: FloatArray) -> BoolArray:
    """Return a mask of columns with a value too common for an outlier and, unless it is one, no outliers.

    The values that are no outliers would be near it: too few are, or nearly all of these are the value itself.
    """
    value = np.sort(values[:: len(values) // FEW + 1, columns], axis=0)
    value = value[len(value) // 2, :, None]
    near = (highest / 2 - lowest / 2)[:, None] / FACTOR
    n_known, n_equal, n_near = np.zeros((3, len(columns)))
    for start in range(0, len(values) if len(columns) else 0, ROWS_AT_ONCE):
        own = np.ascontiguousarray(values[start : start + ROWS_AT_ONCE, columns].T)
        for count, found in ((n_known, own == own), (n_equal, own == value), (n_near, abs(own / 2 - value / 2) < near)):
            count += [np.count_nonzero(row) for row in found]
    most = np.maximum(MAX_SHARE * n_known, 1)
    return np.asarray((n_equal > most) & ((n_near < n_known - most) | (n_equal > MAX_COMMON * n_near)))


def _usual_values(different: FloatArray, counts: IntArray) -> slice | None:
    """Return the slice of the distinct values, ascending, that are no outliers; None if there are no outliers."""
    n, total = len(different), int(counts.sum())
    small = (different[-1] / 2 - different[0] / 2) / FACTOR
    for n_outliers in range(1, min(MAX_OUTLIERS, n - 2) + 1):
        for n_low in range(n_outliers + 1):
            usual = slice(n_low, n - n_outliers + n_low)
            n_usual = int(counts[usual].sum())
            if (
                n_usual >= MIN_OTHERS
                and total - n_usual <= max(MAX_SHARE * total, 1)
                and counts[usual].max() <= MAX_COMMON * n_usual
                and different[usual.stop - 1] / 2 - different[n_low] / 2 < small
            ):
                return usual
    return None


def warn_of_outliers(table: Table, given: Table, scaling: str, rows_of_given: Sequence[str] | None = None) -> None:
    """Warn of columns in which a few values take nearly all of the range, unless all columns are scaled by rank.

    Rows are counted in `given`, as the user gave them, of which `table` has those that are learnt; or they have names.
    """
    if scaling == RANK:
        return
    outcome, cure = BY_RANK if scaling == AUTO else BY_RANGE
    for found in find_outliers(table.values):
        column = found.column
        name = f"x{column}" if table.names is None else printable(table.names[column])
        rows = np.flatnonzero(np.isin(given.values[:, column], found.values)).tolist()
        names = [str(row) if rows_of_given is None else rows_of_given[row] for row in rows]
        warnings.warn(
            f"Feature {name} has outliers that take nearly all of its range: "
            f"{list_text([f'{value:g}' for value in found.values])}, in {'row' if len(rows) == 1 else 'rows'} "
            f"{list_text(names)}, counted from 0. All other values lie from {found.lowest:g} to "
            f"{found.highest:g}, so {outcome}. Correct such a value, or leave it empty (NaN) if it stands for a "
            f"missing one{cure}.",
            UserWarning,
            stacklevel=4,
        )
