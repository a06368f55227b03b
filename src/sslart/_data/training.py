"""Training input of `fit`: samples and labels, and checks for outliers, leaks, duplicate columns and identifiers."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sslart._data.columns import (
    APART,
    CODES,
    GROUPS,
    IDENTIFIER,
    LEAK,
    TWICE,
    ColumnNote,
    ColumnPlan,
    columns_of,
    is_frame,
    is_named_as_id,
    numbers_samples,
)
from sslart._data.labels import NOTHING_BESIDE, Beside, ClassTable, Labels, read_labels, with_arrays, with_two_classes
from sslart._data.ranks import AUTO, RANK
from sslart._data.roles import oddities, units_of
from sslart._data.samples import SampleReader, Table, keep_plan, plan_of, read_samples, rows_without_values
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, column_ranges
from sslart._utils.optional import heavy
from sslart._utils.text import list_text, plural, printable

MIN_COMPARED, MOST_COMPARED = 20, 5000  # rows of either kind in the comparison of labelled and unlabelled rows
MIN_APART = 0.15  # distance of the distributions: a smaller one hardly affects the statement of quality
APART_LEVEL = 0.001  # family-wise level of the tests, so that random labelling hardly ever raises a note
FEW_EXPECTED = 5.0  # expected labelled rows of a category: the usual minimum of the chi-squared test
FACTOR = 1000.0  # ratio of the range with outliers to the range without them
MAX_OUTLIERS = 3  # distinct outlying values
MAX_SHARE = 0.1  # of the samples that have outlying values
MIN_OTHERS = 5  # distinct values that are not outliers
MAX_COMMON = 0.95  # share of the most common other value: a nearly constant column has no usual range
FEW, MANY = 128, 2000  # values checked first in all columns, and then in suspicious ones
N_PARTS = 513  # bins of a range: two of them are wider than 1 / `FACTOR` of it
ROWS_AT_ONCE = 4096

# consequence for the feature, and remedy if the value is correct
BY_RANGE = "that boxes can hardly distinguish them", '; if it is right, scale features by rank: scaling="rank"'
BY_RANK = "the feature is scaled by rank", ""


class Outliers(NamedTuple):
    """Outlying values that span nearly all of the range of a column, and the range of the other values."""

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
    """Return the columns that may have outliers after a quick check of some values."""
    lowest, highest = column_ranges(values)
    columns = np.flatnonzero(lowest < highest)
    columns = columns[~_are_spread(values[:: len(values) // FEW + 1, columns], lowest[columns], highest[columns])]
    columns = columns[~_have_a_usual_value(values, columns, lowest[columns], highest[columns])]
    columns = columns[~_are_spread(values[:: len(values) // MANY + 1, columns], lowest[columns], highest[columns])]
    return list(columns.tolist())


def _are_spread(some: FloatArray, lowest: FloatArray, highest: FloatArray) -> BoolArray:
    """Return a mask of columns whose values fill so many bins of the range that outliers are excluded."""
    with np.errstate(over="ignore", invalid="ignore"):  # a range that overflows has one bin
        part = np.fmax((some - lowest) / (highest - lowest) * (N_PARTS - 1), 0.0).astype(np.intp)
    has_values = np.zeros((len(lowest), N_PARTS), dtype=bool)
    has_values[np.arange(len(lowest)), part] = True
    return np.asarray(has_values.sum(axis=1) >= MAX_OUTLIERS + 3)


def _have_a_usual_value(values: FloatArray, columns: IntArray, lowest: FloatArray, highest: FloatArray) -> BoolArray:
    """Return a mask of columns without outliers, judged by a value near the median that is too common for an outlier.

    In a column with outliers the usual values would be near it: there are no outliers if too few values are near it, or
    nearly all of these are equal to it.
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
    """Return the slice of the ascending distinct values without the outliers; None if there are no outliers."""
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
    """Warn of columns in which a few outliers span nearly all of the range, unless all columns are scaled by rank.

    Row numbers refer to `given`, the user's table, of which `table` has the learnt rows; or rows are named.
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


MIN_LABELS = 30  # with fewer labels a column may predict them all by chance
MIN_OF_CLASS = 3  # labels of a class
NEARLY_PERFECT = 0.99  # mean recall of a column alone that makes it a likely leak
OTHERS_AT_MOST = 0.9  # mean recall of the next best column: a leak stands out
PERFECT = 0.999  # mean recall of a leak if another column is nearly as good
MANY_LABELS = 100  # required in that case
MOST_LABELS = 2000  # labels used, to bound the time
MOST_SAMPLES = 1000  # samples used to find duplicate columns, to bound the time
MOST_COLUMNS = 2000  # columns checked, to bound the time
FEW_VALUES = 50  # distinct values of a numeric column that may be codes of categories
EXACT = 1e-9  # tolerance of rounding
ALIKE = 1e-6  # columns with projections this close are compared value by value: far above rounding
MAY_BE_WRONG = 1.0 - NEARLY_PERFECT + EXACT
N_NEAR = 64  # samples around the median of a column in the quick check for leaks
FIRST_ROWS = 20  # in which most columns are seen not to number the samples


def suspects(table: Table, codes: IntArray, names: Sequence[str], dates: Container[int] = ()) -> Iterator[ColumnNote]:
    """Yield notes on columns that may be leaks, copies, or row numbers.

    Parameters
    ----------
    table : Table
        The columns to check, possibly followed by parts of dates.
    codes : array of length n_samples
        Class codes, -1 where unlabelled.
    names : sequence of str
    dates : container of int
        The columns that hold dates: distinct days do not number the samples.
    """
    if len(names) > MOST_COLUMNS:
        return
    yield from leaks(table, codes, names)
    yield from copies(table, names)
    first = np.sort(table.values[:FIRST_ROWS, : len(names)], axis=0)
    repeats = (np.diff(first, axis=0) == 0).any(axis=0)
    has_fractions = ((first != np.floor(first)) & (first == first)).any(axis=0)
    found = [
        names[column]
        for column in np.flatnonzero(~(repeats | has_fractions)).tolist()
        if column not in table.categories
        and column not in dates
        and numbers_samples(table.values[:, column], names[column])
    ]
    unnamed = [name for name in found if not is_named_as_id(name)]
    for name in found:
        if name not in unnamed or len(unnamed) == 1:  # of several, each is an order, such as a rank
            yield ColumnNote(IDENTIFIER, name, "whole numbers that all differ")


def leaks(table: Table, codes: IntArray, names: Sequence[str]) -> Iterator[ColumnNote]:
    """Yield a note on each likely leak: a column that alone predicts nearly all labels, while the others do not.

    A missing value counts as a value, since a column may be known for one class only.
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
    """Return False for each column that a quick check shows to predict less than `NEARLY_PERFECT` of the labels.

    Of two samples of different classes with the same value, at most one can be right.
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
    if left.any():  # other samples than the pairs, with distinct values
        wrong += _wrong_in_the_middle(values, left, codes, weights)
    for column, categories in table.categories.items():
        if column < n_columns:
            wrong[column] = loss @ (categories[rows[one]] == categories[rows[other]])
    return np.asarray(wrong <= MAY_BE_WRONG)


def _wrong_in_the_middle(values: FloatArray, left: BoolArray, codes: IntArray, weights: FloatArray) -> FloatArray:
    """Return the weight of samples near the median of each column that their nearest neighbour misclassifies."""
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
    different, at = np.unique(table.values[rows, column], return_inverse=True)  # missing values are the last one
    return _mean_recall(at, codes, different)


def _numbered(values: NDArray[Any]) -> IntArray:
    """Return a number for each value, from 0 in the order of first appearance."""
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values.tolist()], dtype=np.int64)


def _mean_recall(at: IntArray, codes: IntArray, different: FloatArray | None = None) -> float:
    """Return the mean recall over classes of predicting each sample by the majority of the others with its value.

    Parameters
    ----------
    at : array of length n_samples
        The number of each sample's value.
    codes : array of length n_samples
    different : array, or None
        The distinct values, ascending: a sample with a unique value is predicted by the nearest value.
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
    decides[shared] = most - 1 > counts.max(axis=1)  # a majority without the sample itself
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
    """Yield a note on each column with the same partition of the samples as another, if either is categorical."""
    found: dict[tuple[int, ...], int] = {}
    for column, name in enumerate(names if table.categories else ()):
        values = table.categories[column] if column in table.categories else table.values[:, column]
        if column not in table.categories and len(np.unique(values[:MOST_SAMPLES])) > FEW_VALUES:
            continue
        places: dict[object, int] = {}
        key = tuple(-1 if one is None or one != one else places.setdefault(one, len(places)) for one in values.tolist())
        if len(places) < 2 or len(key) - key.count(-1) < 2 * len(places):  # a few rows are divided alike by chance
            continue
        other = found.setdefault(key, column)
        if other != column and not {column, other}.isdisjoint(table.categories):
            yield ColumnNote(TWICE, name, f"divides the samples as {names[other]} does")


def read_training(
    reader: SampleReader,
    X: Any,
    y: Any,
    *,
    scaling: str,
    gaps: bool = True,
    beside: Beside = NOTHING_BESIDE,
    row_names: Sequence[str] | None = None,
    read_texts: bool = True,
) -> tuple[Table, Labels]:
    """Validate the samples and labels of a `fit`; at least one sample must be labelled.

    With `gaps`, samples may be unlabelled, so that -1 is ambiguous if 1 is the only other label. Samples of weight 0,
    and those without any value, are dropped. `row_names` are used in warnings; None: row numbers. `read_texts` is as in
    `read_samples`.
    """
    if y is None:
        raise ValueError(
            f"{reader.owner} requires y to be passed, but the target y is None. Give labels, with -1 or "
            "None where unlabelled."
        )
    table = read_samples(reader, X, reset=True, leave_out=True, read_texts=read_texts, blank_rows=True)
    labels = with_two_classes(read_labels(y, len(table)), warn=gaps)
    if not labels.known.any():
        raise ValueError(
            "y has no labelled sample: -1, None, NaN and blank text mean unlabelled. Label at least one sample, or "
            "learn from unlabelled samples alone with partial_fit(X), or cluster with FuzzyART."
        )
    plan, n_given = plan_of(reader), table.values.shape[1] - table.n_parts
    names = table.names or [f"x{column}" for column in range(n_given)]
    if beside.groups is None:
        others = {names[column]: _values_left_out(X, column) for column in plan.left_out}
        labels = replace(labels, units=units_of(table, labels, names[:n_given], plan.dates, others))
    learnt, labels = with_arrays(table, labels, beside)
    blank = rows_without_values(learnt)
    if blank is not None:
        given = rows_without_values(table)
        assert given is not None
        first = np.flatnonzero(given)[0]
        warnings.warn(
            f"{plural(int(blank.sum()), 'sample')} of X without a single value: nothing can be learnt from such a row, "
            f"and it is left out. The first is row {first}.",
            UserWarning,
            stacklevel=4,
        )
        learnt, labels = learnt[~blank], labels[~blank]
        if not labels.known.any():
            raise ValueError("No labelled sample has a value in any column: label at least one that has.")
    warn_of_outliers(learnt, table, scaling, row_names)
    codes = ClassTable().learning(labels).codes(labels)
    apart = labelled_apart(learnt, labels, names[:n_given]) if gaps else ()
    notes = (*plan.notes, *notes_on(learnt, codes, names[:n_given], plan), *apart)
    keep_plan(reader, replace(plan, notes=notes))
    likely = {one.column for one in notes if one.topic == GROUPS}
    return learnt, replace(labels, units=tuple(one for one in labels.units if one.is_likely(likely)))


def _values_left_out(X: Any, column: int) -> NDArray[Any]:
    """Return the values of a column that is not used as a feature."""
    return np.asarray(columns_of(X)[column][1] if is_frame(X) else X[:, column], dtype=object)


def labelled_apart(table: Table, labels: Labels, names: Sequence[str]) -> Iterator[ColumnNote]:
    """Yield a note on each column whose distribution differs between labelled and unlabelled rows.

    Kolmogorov-Smirnov test for numbers, chi-squared test for categories, with Bonferroni correction over the columns.
    The rows of a group count one.
    """
    rows = [_one_per_group(np.flatnonzero(own), labels.groups) for own in (labels.known, ~labels.known)]
    if min(map(len, rows)) < MIN_COMPARED:
        return
    rows = [own[np.linspace(0, len(own) - 1, min(len(own), MOST_COMPARED)).astype(np.int64)] for own in rows]
    for column, name in enumerate(names):
        if column in table.categories:
            distance, p_value, detail = _apart_by_category(*(table.categories[column][own] for own in rows))
        else:
            values = [table.values[own, column] for own in rows]
            distance, p_value, detail = _apart_by_number(*(own[~np.isnan(own)] for own in values))
        if distance >= MIN_APART and p_value * len(names) <= APART_LEVEL:
            yield ColumnNote(APART, name, detail)


def _one_per_group(rows: IntArray, groups: IntArray | None) -> IntArray:
    """Return the first row of each group, and all rows without one."""
    if groups is None:
        return rows
    keys = np.where(groups[rows] == 0, -1 - rows, groups[rows])
    return rows[np.sort(np.unique(keys, return_index=True)[1])]


def _apart_by_number(first: FloatArray, second: FloatArray) -> tuple[float, float, str]:
    """Return the Kolmogorov-Smirnov distance between two samples, its p-value, and the medians in words."""
    if min(len(first), len(second)) < MIN_COMPARED:
        return 0.0, 1.0, ""
    at = np.unique(np.concatenate([first, second]))
    shares = [np.searchsorted(np.sort(own), at, side="right") / len(own) for own in (first, second)]
    distance = float(np.abs(shares[0] - shares[1]).max())
    p_value = float(
        heavy("scipy.special").kolmogorov(distance * np.sqrt(len(first) * len(second) / (len(first) + len(second))))
    )
    return distance, p_value, f"median {np.median(first):.4g} where labelled, {np.median(second):.4g} elsewhere"


def _apart_by_category(first: NDArray[Any], second: NDArray[Any]) -> tuple[float, float, str]:
    """Return the total variation distance of two samples of categories, its p-value, and the largest difference."""
    values, codes = np.unique(np.concatenate([first, second]).astype(str), return_inverse=True)
    counts = np.array([np.bincount(own, minlength=len(values)) for own in np.split(codes, [len(first)])])
    rare = counts.sum(axis=0) * len(first) < FEW_EXPECTED * len(codes)  # pooled, so that the test holds
    if rare.any():
        counts = np.column_stack([counts[:, ~rare], counts[:, rare].sum(axis=1)])
    shares = counts / counts.sum(axis=1, keepdims=True)
    if counts.shape[1] < 2:
        return 0.0, 1.0, ""
    expected = counts.sum(axis=0) * counts.sum(axis=1, keepdims=True) / counts.sum()
    p_value = float(heavy("scipy.special").chdtrc(counts.shape[1] - 1, ((counts - expected) ** 2 / expected).sum()))
    largest = int(np.abs(shares[0] - shares[1]).argmax())
    words = [*values[~rare].tolist(), "others"][largest]
    labelled, others = (100 * shares[:, largest]).tolist()
    detail = f"{printable(words)} in {labelled:.0f} % of the labelled rows, {others:.0f} % elsewhere"
    return float(np.abs(shares[0] - shares[1]).sum() / 2), p_value, detail


def notes_on(table: Table, codes: IntArray, names: Sequence[str], plan: ColumnPlan) -> list[ColumnNote]:
    """Return notes on the feature columns, at most one role for each.

    Parameters
    ----------
    table : Table
    codes : array of length n_samples
        Class codes, -1 where unlabelled.
    names : sequence of str
        Names of the columns that were given.
    plan : ColumnPlan
    """
    found = [*suspects(table, codes, names, plan.dates), *oddities(table, names, plan.dates)]
    left_out = {names[column] for column in plan.left_out}
    identifiers = {note.column for note in found if note.topic == IDENTIFIER}
    return [
        note
        for note in found
        if note.column not in left_out and not (note.topic in (GROUPS, CODES) and note.column in identifiers)
    ]
