"""Values that take nearly all of the range of a column, so that the others can hardly be distinguished."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sslart._data.ranks.tables import AUTO, RANK
from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.text import list_text, printable

FACTOR = 1000.0  # how much wider the range is with the outliers than without them
MAX_OUTLIERS = 3  # different values
MAX_SHARE = 0.1  # of the samples that have them
MIN_OTHERS = 5
MAX_COMMON = 0.95  # share of the most common of the other values: a column that is nearly constant has no usual range
N_LOOKED_AT = 2000

# what follows for the feature, and what to do if such a value is right
BY_RANGE = "that boxes can hardly distinguish them", '; if it is right, scale features by rank: scaling="rank"'
BY_RANK = "the feature is scaled by rank", ""


class Outliers(NamedTuple):
    """Values that take nearly all of the range of a column.

    Attributes
    ----------
    column : int
    values : array
    lowest, highest : float
        Range of the other values.
    """

    column: int
    values: FloatArray
    lowest: float
    highest: float


def find_outliers(values: FloatArray) -> Iterator[Outliers]:
    """Yield the outliers of each column that has some; `values` are numbers, NaN where missing."""
    for column, own in enumerate(values.T):
        known = own[~np.isnan(own)]
        if len(known) > MIN_OTHERS and _may_have_outliers(known):
            different, counts = np.unique(known, return_counts=True)
            found = _usual_values(different, counts)
            if found is not None:
                usual = different[found]
                others = np.concatenate([different[: found.start], different[found.stop :]])
                yield Outliers(column, others, float(usual[0]), float(usual[-1]))


def _may_have_outliers(known: FloatArray) -> bool:
    """Return False where some of the values show that all but a few have a good part of the range."""
    some = np.unique(known[:: len(known) // N_LOOKED_AT + 1])
    rest = some[MAX_OUTLIERS : len(some) - MAX_OUTLIERS]
    return len(rest) < 2 or _is_small_part(rest, known.min(), known.max())


def _is_small_part(ascending: FloatArray, lowest: float, highest: float) -> bool:
    """Return whether values have less than one part in `FACTOR` of a range."""
    return bool(ascending[-1] / 2 - ascending[0] / 2 < (highest / 2 - lowest / 2) / FACTOR)


def _usual_values(different: FloatArray, counts: IntArray) -> slice | None:
    """Return which of the different values, ascending, are no outliers; None where there are no outliers."""
    n, total = len(different), int(counts.sum())
    for n_outliers in range(1, min(MAX_OUTLIERS, n - 2) + 1):
        for n_low in range(n_outliers + 1):
            usual = slice(n_low, n - n_outliers + n_low)
            n_usual = int(counts[usual].sum())
            if (
                n_usual >= MIN_OTHERS
                and total - n_usual <= max(MAX_SHARE * total, 1)
                and counts[usual].max() <= MAX_COMMON * n_usual
                and _is_small_part(different[usual], different[0], different[-1])
            ):
                return usual
    return None


def warn_of_outliers(table: Table, given: Table, scaling: str, rows_of_given: Sequence[str] | None = None) -> None:
    """Warn of columns in which a few values take nearly all of the range, unless all columns are scaled by rank.

    `table` has the samples that are learnt, `given` those that the user gave, in which rows are counted, unless they
    have names.
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
