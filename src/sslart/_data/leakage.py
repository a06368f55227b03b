"""Detection of suspicious columns: target leaks, copies, and identifiers."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.columns import IDENTIFIER, LEAK, TWICE, ColumnNote, numbers_samples
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

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
ALIKE = 1e-6  # columns whose projections differ by no more are compared value by value: far above all rounding
MAY_BE_WRONG = 1.0 - NEARLY_PERFECT + EXACT
N_NEAR = 64  # samples, about, in the middle of a column
FIRST_ROWS = 20  # in which most columns show that they number no samples


def suspects(table: Table, codes: IntArray, names: Sequence[str], dates: Container[int] = ()) -> Iterator[ColumnNote]:
    """Yield notes on columns that may be leaks, copies, or row numbers.

    Parameters
    ----------
    table : Table
        The columns to look at, and then perhaps parts of dates.
    codes : array of length n_samples
        Class codes, -1 where unlabelled.
    names : sequence of str
    dates : container of int
        The columns that hold dates: days that all differ number no samples.
    """
    if len(names) > MOST_COLUMNS:
        return
    yield from leaks(table, codes, names)
    yield from copies(table, names)
    first = np.sort(table.values[:FIRST_ROWS, : len(names)], axis=0)
    repeats = (np.diff(first, axis=0) == 0).any(axis=0)
    has_fractions = ((first != np.floor(first)) & (first == first)).any(axis=0)
    for column in np.flatnonzero(~(repeats | has_fractions)).tolist():
        is_number = column not in table.categories and column not in dates
        if is_number and numbers_samples(table.values[:, column], names[column]):
            yield ColumnNote(IDENTIFIER, names[column], "whole numbers that all differ")


def leaks(table: Table, codes: IntArray, names: Sequence[str]) -> Iterator[ColumnNote]:
    """Yield a note on each column that alone gives nearly every class, where the others do not, or every one.

    That a value is missing counts as a value: what is known of one class only gives the class away.
    """
    of_class = np.bincount(codes + 1)
    counted = np.flatnonzero((codes >= 0) & (of_class[codes + 1] >= MIN_OF_CLASS))
    counted = counted[:: len(counted) // MOST_LABELS + 1]
    own = np.unique(codes[counted], return_inverse=True)[1]
    if len(counted) < MIN_LABELS or not own.any():
        return
    shares = np.zeros(len(names))
    may_leak = _may_leak(table, len(names), counted, own)
    shares[may_leak] = [_share_of(table, column, counted, own) for column in np.flatnonzero(may_leak).tolist()]
    if not (shares >= NEARLY_PERFECT).any():
        return
    shares[~may_leak] = [_share_of(table, column, counted, own) for column in np.flatnonzero(~may_leak).tolist()]
    others = shares[shares < NEARLY_PERFECT]
    stand_out = bool(len(others)) and others.max() <= OTHERS_AT_MOST
    least = NEARLY_PERFECT if stand_out else PERFECT if len(counted) >= MANY_LABELS else np.inf
    for column in np.flatnonzero(shares >= least).tolist():
        by_gaps = _mean_recall(_is_missing(table, column)[counted].astype(np.int64), own) >= least
        how = ", by where it is missing" if by_gaps else ""
        yield ColumnNote(LEAK, names[column], f"alone gives {100 * shares[column]:.0f} % of the classes{how}")


def _may_leak(table: Table, n_columns: int, rows: IntArray, codes: IntArray) -> BoolArray:
    """Return False for each column that is quickly seen to give less than `NEARLY_PERFECT` of the classes.

    Of two samples of unlike classes that have the same value, one at most is counted as right.
    """
    order, half = np.argsort(codes, kind="stable"), len(codes) // 2
    one, other = order[:half], order[half : 2 * half]
    unlike = codes[one] != codes[other]
    one, other = one[unlike], other[unlike]
    n_of_class = np.bincount(codes)
    weights = 1.0 / (len(n_of_class) * n_of_class[codes])
    loss = np.minimum(weights[one], weights[other])
    values = table.values[rows, :n_columns]
    wrong = loss @ (values[one] == values[other])
    left = wrong <= MAY_BE_WRONG
    if left.any():  # other samples than the pairs: each has a value of its own
        wrong += _wrong_in_the_middle(values, left, codes, weights)
    for column, categories in table.categories.items():
        if column < n_columns:
            wrong[column] = loss @ (categories[rows[one]] == categories[rows[other]])
    return np.asarray(wrong <= MAY_BE_WRONG)


def _wrong_in_the_middle(values: FloatArray, left: BoolArray, codes: IntArray, weights: FloatArray) -> FloatArray:
    """Return for each column that is left the weight of samples near its median whose nearest value misleads."""
    some = np.sort(values[:: len(values) // N_NEAR + 1], axis=0)
    middle, half = len(some) // 2, max(1, len(some) * N_NEAR // (2 * len(values)))
    lowest = np.where(left, some[max(middle - half, 0)], np.inf)
    is_near = (values >= lowest) & (values <= some[min(middle + half, len(some) - 1)])
    row, column = np.divmod(np.flatnonzero(is_near), values.shape[1])
    value = values[row, column]
    order = np.lexsort((value, column))
    column, row, value = column[order], row[order], value[order]
    code, is_next = codes[row], column[1:] == column[:-1]
    with np.errstate(over="ignore"):
        gaps = np.diff(value)
    repeats = is_next & (gaps == 0)
    is_single = ~(np.append(False, repeats) | np.append(repeats, False))
    inner = 1 + np.flatnonzero(is_next[:-1] & is_next[1:])
    nearest = inner + np.where(gaps[inner - 1] <= gaps[inner], -1, 1)
    wrong = inner[is_single[inner] & is_single[nearest] & (code[inner] != code[nearest])]
    return np.bincount(column[wrong], weights[row[wrong]], values.shape[1]).astype(np.float64)


def _share_of(table: Table, column: int, rows: IntArray, codes: IntArray) -> float:
    if column in table.categories:
        return _mean_recall(_numbered(table.categories[column][rows]), codes)
    different, at = np.unique(table.values[rows, column], return_inverse=True)  # missing values come last, as one
    return _mean_recall(at, codes, different)


def _numbered(values: NDArray[Any]) -> IntArray:
    """Return a number for each value, from 0 in the order of first appearance."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values.tolist()], dtype=np.int64)


def _mean_recall(at: IntArray, codes: IntArray, different: FloatArray | None = None) -> float:
    """Return the mean share of each class that most other samples of the same value have.

    Parameters
    ----------
    at : array of length n_samples
        The number of each sample's value.
    codes : array of length n_samples
    different : array, or None
        The values, ascending: a sample that has one alone is counted by the class of the nearest value.
    """
    n_classes, size = codes.max() + 1, np.bincount(at)
    shared = size > 1
    place = (np.cumsum(shared) - 1)[at] * n_classes + codes
    counts = np.bincount(place[shared[at]], minlength=shared.sum() * n_classes).reshape(-1, n_classes)
    leading, decides = np.empty(len(size), dtype=np.int64), np.zeros(len(size), dtype=bool)
    leading[at] = codes
    leading[shared] = counts.argmax(axis=1)
    most = counts.max(axis=1)
    counts[np.arange(len(counts)), leading[shared]] = 0
    decides[shared] = most - 1 > counts.max(axis=1)  # most of the others, but for the sample itself, are of one class
    if different is not None:
        with np.errstate(over="ignore"):
            gaps = np.nan_to_num(np.diff(different), nan=np.inf, posinf=np.inf)
        nearest = np.arange(len(size)) + np.where(np.append(np.inf, gaps) <= np.append(gaps, np.inf), -1, 1)
        alone = ~(shared | np.isnan(different))
        leading, decides = np.where(alone, leading[np.clip(nearest, 0, len(size) - 1)], leading), decides | alone
    right = decides[at] & (leading[at] == codes)
    return float((np.bincount(codes, right) / np.bincount(codes)).mean())


def _is_missing(table: Table, column: int) -> BoolArray:
    if column in table.categories:
        return np.array([value is None for value in table.categories[column]], dtype=bool)
    return np.isnan(table.values[:, column])


def copies(table: Table, names: Sequence[str]) -> Iterator[ColumnNote]:
    """Yield a note on each numeric column that is a copy of another, or perfectly correlated with it."""
    values = table.values[:: len(table) // MOST_SAMPLES + 1, : len(names)]
    gaps = np.isnan(values)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        n_known = np.maximum(len(values) - np.count_nonzero(gaps, axis=0), 1)
        means = np.where(gaps, 0.0, values).sum(axis=0) / n_known
        away = np.where(gaps, 0.0, values - means)
        spread = np.sqrt(np.einsum("ij,ij->j", away, away) / n_known)
        keys = np.abs(np.random.default_rng(0).standard_normal(len(away)) @ away) / spread
    usable = (n_known >= 3) & np.isfinite(spread) & (spread > EXACT * np.abs(means)) & (spread > 0)
    usable[[column for column in table.categories if column < len(names)]] = False
    order = np.flatnonzero(usable)[np.argsort(keys[usable], kind="stable")]
    first: dict[int, int] = {}
    close = np.flatnonzero(np.diff(keys[order]) <= ALIKE)
    for one, other in zip(order[close].tolist(), order[close + 1].tolist(), strict=True):
        left, right = away[:, one] / spread[one], away[:, other] / spread[other]
        if (gaps[:, one] == gaps[:, other]).all() and min(abs(left - right).max(), abs(left + right).max()) < EXACT:
            first[other] = first.setdefault(one, one)
    of_group: dict[int, list[int]] = {}
    for column, leader in first.items():
        of_group.setdefault(leader, []).append(column)
    found = {column: min(group) for group in of_group.values() for column in group if column > min(group)}
    for column, original in sorted(found.items()):
        is_copy = np.array_equal(values[:, original], values[:, column], equal_nan=True)
        what = "a copy of" if is_copy else "perfectly correlated with"
        yield ColumnNote(TWICE, names[column], f"{what} {names[original]}")
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
