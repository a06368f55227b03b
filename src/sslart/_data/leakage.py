"""Detection of suspicious columns: target leaks, copies, and identifiers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.columns import IDENTIFIER, LEAK, TWICE, ColumnNote, numbers_samples
from sslart._data.samples import Table, without_columns
from sslart._utils.arrays import FloatArray, IntArray

MIN_LABELS = 30  # fewer labels show no leak
MIN_OF_CLASS = 3
NEARLY_PERFECT = 0.99
OTHERS_AT_MOST = 0.9  # what a column alone may reach that is no leak, if another one is
PERFECT = 0.999  # what a column alone must reach where another one is nearly as good
MANY_LABELS = 100  # so many show that it is no chance
MOST_LABELS = 2000  # that are looked at
MOST_SAMPLES = 1000
MOST_COLUMNS = 2000
FEW_VALUES = 50  # of a numeric column that may stand for categories
EXACT = 1e-9


def suspects(table: Table, codes: IntArray, names: Sequence[str], dates: Container[int] = ()) -> Iterator[ColumnNote]:
    """Yield notes on columns that may be leaks, copies, or row numbers.

    Parameters
    ----------
    table : Table
    codes : array of length n_samples
        Class codes, -1 where unlabelled.
    names : sequence of str
    dates : container of int
        The columns that hold dates: days that all differ number no samples.
    """
    if len(names) > MOST_COLUMNS:
        return
    table = without_columns(table, range(len(names), table.values.shape[1]))
    yield from leaks(table, codes, names)
    yield from copies(table, names)
    for column, name in enumerate(names):
        is_number = column not in table.categories and column not in dates
        if is_number and numbers_samples(table.values[:, column], name):
            yield ColumnNote(IDENTIFIER, name, "whole numbers that all differ")


def leaks(table: Table, codes: IntArray, names: Sequence[str]) -> Iterator[ColumnNote]:
    """Yield a note on each column that alone gives nearly every class, where the others do not, or every one.

    That a value is missing counts as a value: what is known of one class only gives the class away.
    """
    n_of_class = Counter(codes[codes >= 0].tolist())
    counted = np.flatnonzero([code >= 0 and n_of_class[code] >= MIN_OF_CLASS for code in codes.tolist()])
    counted = counted[:: len(counted) // MOST_LABELS + 1]
    if len(counted) < MIN_LABELS or len(np.unique(codes[counted])) < 2:
        return
    own = np.unique(codes[counted], return_inverse=True)[1]
    shares = np.array([_share(table, column, counted, own) for column in range(table.values.shape[1])])
    others = shares[shares < NEARLY_PERFECT]
    stand_out = bool(len(others)) and others.max() <= OTHERS_AT_MOST
    least = NEARLY_PERFECT if stand_out else PERFECT if len(counted) >= MANY_LABELS else np.inf
    for column in np.flatnonzero(shares >= least).tolist():
        by_gaps = _by_value(_is_missing(table, column)[counted], own) >= least
        how = ", by where it is missing" if by_gaps else ""
        yield ColumnNote(LEAK, names[column], f"alone gives {100 * shares[column]:.0f} % of the classes{how}")


def _share(table: Table, column: int, rows: IntArray, codes: IntArray) -> float:
    if column in table.categories:
        return _by_value(table.categories[column][rows], codes)
    return _by_neighbours(table.values[rows, column], codes)


def _is_missing(table: Table, column: int) -> NDArray[Any]:
    if column in table.categories:
        return np.array([value is None for value in table.categories[column]], dtype=bool)
    return np.isnan(table.values[:, column])


def _by_neighbours(values: FloatArray, codes: IntArray) -> float:
    """Return the mean share of each class that most samples of the same value have, or else of the nearest value."""
    different, at = np.unique(values, return_inverse=True)  # missing values come last, as one
    if len(different) < 2:
        return 0.0
    n_classes = codes.max() + 1
    counts = np.bincount(at * n_classes + codes, minlength=len(different) * n_classes).reshape(-1, n_classes)
    leading, total = counts.argmax(axis=1), counts.sum(axis=1)
    most = np.take_along_axis(counts, leading[:, None], axis=1)[:, 0]
    np.put_along_axis(counts, leading[:, None], 0, axis=1)
    decides = most - 1 > counts.max(axis=1)  # most of the others, but for the sample itself, are of one class
    right = (leading[at] == codes) & decides[at]
    with np.errstate(over="ignore"):
        gaps = np.nan_to_num(np.diff(different), nan=np.inf, posinf=np.inf)
    nearest = np.where(np.append(np.inf, gaps) <= np.append(gaps, np.inf), -1, 1) + np.arange(len(different))
    nearest = np.clip(nearest, 0, len(different) - 1)
    alone = (total[at] == 1) & ~np.isnan(values)
    right = np.where(alone, leading[nearest[at]] == codes, right)
    return _mean_recall(right, codes)


def _by_value(values: NDArray[Any], codes: IntArray) -> float:
    """Return the mean share of each class that most other samples of the same value have."""
    counts: dict[object, Counter[int]] = {}
    for value, code in zip(values.tolist(), codes.tolist(), strict=True):
        counts.setdefault(value, Counter())[code] += 1
    right = np.zeros(len(codes))
    for place, (value, code) in enumerate(zip(values.tolist(), codes.tolist(), strict=True)):
        own = counts[value]
        others = max((n for other, n in own.items() if other != code), default=0)
        right[place] = own[code] - 1 > others
    return _mean_recall(right, codes)


def _mean_recall(right: FloatArray, codes: IntArray) -> float:
    return float((np.bincount(codes, right) / np.bincount(codes)).mean())


def copies(table: Table, names: Sequence[str]) -> Iterator[ColumnNote]:
    """Yield a note on each numeric column that is a copy of another, or perfectly correlated with it."""
    numeric = [column for column in range(table.values.shape[1]) if column not in table.categories]
    values = table.values[:: len(table) // MOST_SAMPLES + 1, numeric]
    with np.errstate(over="ignore", invalid="ignore"):
        standard, usable = _standardised(values)
        keys = (np.nan_to_num(standard).T * np.random.default_rng(0).standard_normal(len(standard))).sum(axis=1)
    gaps = np.isnan(values)
    order = [place for place in np.argsort(keys, kind="stable").tolist() if usable[place]]
    first: dict[int, int] = {}
    for one, other in pairwise(order):
        same = (gaps[:, one] == gaps[:, other]).all() and np.nanmax(abs(standard[:, one] - standard[:, other])) < EXACT
        if same:
            first[other] = first.get(one, one)
    for place, original in sorted(first.items()):
        low, high = sorted((place, original))
        is_copy = np.array_equal(values[:, low], values[:, high], equal_nan=True)
        what = "a copy of" if is_copy else "perfectly correlated with"
        yield ColumnNote(TWICE, names[numeric[high]], f"{what} {names[numeric[low]]}")
    yield from _copied_categories(table, names)


def _copied_categories(table: Table, names: Sequence[str]) -> Iterator[ColumnNote]:
    """Yield a note on each column that partitions the samples as another does, if either is categorical."""
    found: dict[tuple[int, ...], int] = {}
    for column, name in enumerate(names if table.categories else ()):
        values = table.categories[column] if column in table.categories else table.values[:, column]
        if column not in table.categories and len(np.unique(values[:MOST_SAMPLES])) > FEW_VALUES:
            continue
        places: dict[object, int] = {}
        key = tuple(-1 if one is None or one != one else places.setdefault(one, len(places)) for one in values.tolist())
        if len(places) < 2:
            continue
        other = found.setdefault(key, column)
        if other != column and not {column, other}.isdisjoint(table.categories):
            yield ColumnNote(TWICE, name, f"divides the samples as {names[other]} does")


def _standardised(values: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return columns with mean 0, spread 1 and a first value above 0, and which of them vary by more than rounding."""
    known = ~np.isnan(values)
    n_known = np.maximum(known.sum(axis=0), 1)
    means = np.where(known, values, 0.0).sum(axis=0) / n_known
    away = values - means
    spread = np.sqrt((np.where(known, away, 0.0) ** 2).sum(axis=0) / n_known)
    usable = (n_known >= 3) & np.isfinite(spread) & (spread > 1e-9 * np.abs(means)) & (spread > 0)
    standard = away / np.where(usable, spread, 1.0)
    leading = np.take_along_axis(
        standard, np.nanargmax(np.where(known, abs(standard) > 1e-3, -1.0), axis=0)[None], axis=0
    )
    return standard * np.where(leading < 0, -1.0, 1.0), usable
