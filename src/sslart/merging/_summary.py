"""First pass over all partitions of a table: ranges, categories, classes, and representative rows.

Summaries of partitions can be joined. The result does not depend on the order of partitions or of joins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sslart._data.columns import PARTS
from sslart._data.labels import Labels, group_keys, read_labels, read_sample_weight
from sslart._data.samples import SampleReader, Table, concatenated, plan_of, read_samples
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray, keys_of_numbers
from sslart._utils.text import plural, printable

ROWS_IN_PARTITION = 2**40  # maximum: the number of a row is its partition times this, plus its index in the partition


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows, ascending by number."""

    samples: Any  # a frame, or an array, as they were given
    labels: NDArray[np.object_]  # classes as plain values, None where unlabelled
    groups: IntArray  # keys of the groups, 0 for none
    weights: FloatArray
    numbers: IntArray  # partition and index of each row as one number

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: BoolArray | IntArray) -> Rows:
        samples = taken(self.samples, rows)
        return Rows(samples, self.labels[rows], self.groups[rows], self.weights[rows], self.numbers[rows])

    @property
    def labelled(self) -> BoolArray:
        """Mask of labelled rows."""
        return np.array([label is not None for label in self.labels], dtype=bool)

    def names(self) -> list[str]:
        """Return the location of each row, for messages."""
        places = zip(*np.divmod(self.numbers, ROWS_IN_PARTITION), strict=True)
        return [f"{row} of partition {partition}" for partition, row in places]

    def among(self, numbers: Iterable[int]) -> BoolArray:
        """Return a mask of the rows with one of these numbers."""
        return np.isin(self.numbers, np.fromiter(numbers, dtype=np.int64))


def taken(samples: Any, rows: BoolArray | IntArray) -> Any:
    """Return some rows of a frame of pandas or polars, or of an array."""
    if hasattr(samples, "iloc"):
        return samples.iloc[rows]
    if hasattr(samples, "filter") and hasattr(samples, "columns"):
        return samples[np.flatnonzero(rows) if rows.dtype == bool else rows]
    return samples[rows]


def joined_rows(parts: Sequence[Rows]) -> Rows:
    """Merge the rows of several disjoint parts."""
    if len(parts) == 1:
        return parts[0]
    parts = sorted(parts, key=lambda part: int(part.numbers[0]))
    arrays = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("labels", "groups", "weights", "numbers")
    )
    rows = Rows(concatenated([part.samples for part in parts]), *arrays)
    return rows if (np.diff(rows.numbers) > 0).all() else rows[np.argsort(rows.numbers)]


def lowest(keys: KeyArray, n: int) -> BoolArray:
    """Return a mask of the n rows with the lowest random keys: a uniform sample."""
    kept = np.ones(len(keys), dtype=bool)
    if len(keys) > n:
        kept[np.argsort(keys, kind="stable")[n:]] = False
    return kept


def numbers_of(number: int, n_rows: int) -> IntArray:
    """Return the number of each row of a partition."""
    return number * ROWS_IN_PARTITION + np.arange(n_rows, dtype=np.int64)


MAX_CATEGORIES = 10_000  # of one column, to bound memory
MAX_SAMPLED = 20_000  # sampled rows, which determine ranks, dates and texts
MIN_SAMPLED = 500  # sampled rows, for any number of columns
SAMPLED_CELLS = 2**22  # in sampled rows, to bound memory
MOST_WITH_LIMITS = 1000  # with more columns, the rows with minima and maxima are not stored

Name = tuple[str, Any]  # type and value of a class, so that True and 1 differ
ColumnKey = tuple[int, int]  # given column, and part of a date or `WHOLE`
WHOLE = -1


class Limit(NamedTuple):
    """The negative minimum or the maximum of a column, and the first row that has it."""

    value: float
    number: int


class Wanted(NamedTuple):
    """Requested contents of a summary.

    Attributes
    ----------
    seed : int
        Seed of the random keys of rows.
    n_labelled : int
        Maximum number of stored labelled rows.
    version : str
        Version of sslart, the same on all machines.
    minus_one_is_class : bool
        Whether -1 is a class instead of unlabelled.
    """

    seed: int
    n_labelled: int
    version: str
    minus_one_is_class: bool = False


@dataclass(frozen=True, eq=False)
class Summary:
    """Summary of one or several partitions.

    Attributes
    ----------
    wanted : Wanted
    n_rows, n_labelled, n_minus_one : int
    columns : (int, int, tuple of str)
        The first partition, the number of its columns, and their names if there are any.
    limits : mapping from (column, side) to Limit
        Side 0: the negative minimum of a numeric column; side 1: the maximum. For categorical columns, the first row
        with a value.
    categories : mapping from column to a set of values, or None
        Values of each column that is categorical, or has no dtype; None: more than `MAX_CATEGORIES`.
    is_category : mapping from column to bool
        Kind of each column by its dtype or values; no entry if neither determines it.
    typed : frozenset of int
        The columns with a categorical dtype.
    classes : mapping from names to int
        All labels, with the number of the first row of each.
    rows : Rows or None
        Uniform samples of all rows and of the labelled ones, and the rows of `limits`; None without rows.
    problem : (int, str) or None
        The first partition that cannot be read, and the reason.
    """

    wanted: Wanted
    n_rows: int = 0
    n_labelled: int = 0
    n_minus_one: int = 0
    columns: tuple[int, int, tuple[str, ...]] = (0, 0, ())
    limits: Mapping[tuple[int, int], Limit] = field(default_factory=dict)
    categories: Mapping[ColumnKey, frozenset[Any] | None] = field(default_factory=dict)
    is_category: Mapping[int, bool] = field(default_factory=dict)
    typed: frozenset[int] = frozenset()
    classes: Mapping[Name, int] = field(default_factory=dict)
    rows: Rows | None = None
    problem: tuple[int, str] | None = None

    @classmethod
    def joined(cls, summaries: Sequence[Summary]) -> Summary:
        """Join summaries of different partitions."""
        problems = [one.problem for one in summaries if one.problem is not None]
        if problems:
            return cls(summaries[0].wanted, problem=min(problems))
        known = sorted((one for one in summaries if one.rows is not None), key=lambda one: one.columns)
        if len(known) < 2:
            return known[0] if known else summaries[0]
        for one in known:
            if one.columns[1:] != known[0].columns[1:]:
                return cls(known[0].wanted, problem=(one.columns[0], _about_columns(one, known[0])))
        limits: dict[tuple[int, int], Limit] = {}
        categories: dict[ColumnKey, frozenset[Any] | None] = {}
        is_category: dict[int, bool] = {}
        classes: dict[Name, int] = {}
        for one in known:
            for name, first in one.classes.items():
                classes[name] = min(first, classes.get(name, first))
            for place, limit in one.limits.items():
                # the first row on ties
                limits[place] = max(limit, limits.get(place, limit), key=lambda one: (one.value, -one.number))
            for column, names in one.categories.items():
                categories[column] = _united(categories.get(column, frozenset()), names)
            for given, found in one.is_category.items():
                is_category[given] = found or is_category.get(given, False)
        joined = cls(
            known[0].wanted,
            sum(one.n_rows for one in known),
            sum(one.n_labelled for one in known),
            sum(one.n_minus_one for one in known),
            known[0].columns,
            limits,
            categories,
            is_category,
            frozenset[int]().union(*(one.typed for one in known)),
            classes,
        )
        return _keeping(joined, joined_rows([one.rows for one in known if one.rows is not None]))

    @property
    def n_sampled(self) -> int:
        """Maximum size of the uniform sample of all rows."""
        assert self.rows is not None
        return min(MAX_SAMPLED, max(MIN_SAMPLED, SAMPLED_CELLS // self.columns[1]))

    def sampled(self) -> Any:
        """Return a mask of the stored rows in the uniform sample of all rows."""
        assert self.rows is not None
        return lowest(self._keys(), self.n_sampled)

    def kept_labels(self) -> Any:
        """Return a mask of the stored rows in the uniform sample of labelled rows."""
        assert self.rows is not None
        labelled, keys = self.rows.labelled, self._keys()
        labelled[labelled] = lowest(keys[labelled], min(self.wanted.n_labelled, self.n_sampled))
        return labelled

    @property
    def keeps_limits(self) -> bool:
        """True if the rows with the minimum and maximum of each column are stored: unless there are many columns."""
        return self.columns[1] <= MOST_WITH_LIMITS

    def at_limits(self) -> Any:
        """Return a mask of the stored rows that have a minimum or maximum, or determine the kind of a column."""
        assert self.rows is not None
        wanted = self.limits.items()
        return self.rows.among(
            limit.number for (column, _), limit in wanted if self.keeps_limits or (column, WHOLE) in self.categories
        )

    def _keys(self) -> Any:
        assert self.rows is not None
        return keys_of_numbers(self.rows.numbers, self.wanted.seed)


def _keeping(summary: Summary, rows: Rows) -> Summary:
    """Return a summary with the rows that it must store."""
    whole = replace(summary, rows=rows)
    return replace(whole, rows=rows[whole.sampled() | whole.kept_labels() | whole.at_limits()])


def _about_columns(one: Summary, other: Summary) -> str:
    own, others = (
        ", ".join(map(printable, names)) or plural(n_columns, "column")
        for _, n_columns, names in (one.columns, other.columns)
    )
    return f"its columns ({own}) are not those of partition {other.columns[0]} ({others}). Give all the same columns."


def _united(some: frozenset[Any] | None, others: frozenset[Any] | None) -> frozenset[Any] | None:
    if some is None or others is None or len(some | others) > MAX_CATEGORIES:
        return None
    return some | others


def summary_of(
    estimator: Any, X: Any, y: Any = None, *, number: int, wanted: Wanted, groups: Any = None, sample_weight: Any = None
) -> Summary:
    """Return the summary of one partition.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    X : DataFrame or array of shape (n_samples, n_features)
    y, groups, sample_weight : array-like of shape (n_samples,), or None
    number : int
        Number of the partition, from 0.
    wanted : Wanted
    """
    if wanted.version != version("sslart"):
        cure = f"install sslart {wanted.version} there too"
        return Summary(wanted, problem=(number, f"it was read by a machine with sslart {version('sslart')}: {cure}."))
    if not len(X):
        return Summary(wanted)
    try:
        return _summary(SampleReader(type(estimator).__name__), X, y, number, wanted, groups, sample_weight)
    except (TypeError, ValueError) as error:
        return Summary(wanted, problem=(number, str(error)))


def _summary(
    reader: SampleReader, X: Any, y: Any, number: int, wanted: Wanted, groups: Any, sample_weight: Any
) -> Summary:
    table = read_samples(reader, X, reset=True)
    labels, n_minus_one, weights, keys = read_beside(table, y, groups, sample_weight, wanted.minus_one_is_class)
    counted = weights > 0
    if not counted.any():
        return Summary(wanted)
    numbers = numbers_of(number, len(table))
    typed = frozenset(place for place, dtype in enumerate(getattr(X, "dtypes", ())) if str(dtype) == "category")
    rows = Rows(_without_category_types(X, typed), np.array(labels.plain(), dtype=object), keys, weights, numbers)
    if not counted.all():
        table, rows = table[counted], rows[counted]
    given, places = rows.labels[rows.labelled].tolist(), rows.numbers[rows.labelled].tolist()
    summary = Summary(
        wanted,
        len(rows),
        len(given),
        n_minus_one,
        (number, X.shape[1], tuple(map(str, getattr(X, "columns", ())))),
        *_found_in(table, plan_of(reader).dates, rows.numbers),
        typed,
        {(type(one).__name__, one): first for one, first in zip(given[::-1], places[::-1], strict=True)},
    )
    return _keeping(summary, rows)


def read_beside(
    table: Table, y: Any, groups: Any, sample_weight: Any, minus_one_is_class: bool
) -> tuple[Labels, int, FloatArray, IntArray]:
    """Return the labels of a partition, how many are -1, the weight of each sample, and the keys of their groups."""
    labels = Labels.none(len(table)) if y is None else read_labels(y, len(table))
    n_minus_one = int((labels.with_class_minus_one().known & ~labels.known).sum())
    if minus_one_is_class:
        labels = labels.with_class_minus_one()
    keys = np.zeros(len(table), dtype=np.int64) if groups is None else group_keys(groups, labels.known)
    if sample_weight is None:
        return labels, n_minus_one, np.ones(len(table)), keys
    # of one partition all weights may be 0
    weights = read_sample_weight(np.append(sample_weight, 1.0), np.append(labels.known, True))[:-1]
    return labels, n_minus_one, weights, keys


def _without_category_types(X: Any, typed: frozenset[int]) -> Any:
    """Return samples with plain values instead of pandas categories, which may differ between partitions."""
    names = [X.columns[place] for place in typed]
    return X.astype(dict.fromkeys(names, object)) if names else X


def _found_in(
    table: Table, dates: Sequence[int], numbers: IntArray
) -> tuple[dict[tuple[int, int], Limit], dict[ColumnKey, frozenset[Any] | None], dict[int, bool]]:
    """Return the limits, categories and kinds of the columns of a partition."""
    n_given = table.values.shape[1] - table.n_parts
    limits: dict[tuple[int, int], Limit] = {}
    categories: dict[ColumnKey, frozenset[Any] | None] = {}
    is_category: dict[int, bool] = {}
    for column in range(n_given):
        has_values = table.has_values(column)
        if column in table.categories:
            if has_values:
                first = next(row for row, value in enumerate(table.categories[column]) if value is not None)
                limits[column, 0] = Limit(0.0, int(numbers[first]))
            categories[column, WHOLE] = _different(table.categories[column].tolist())
        elif has_values:
            own = table.values[:, column]
            for side, values in enumerate((-own, own)):
                row = int(np.nanargmax(values))
                limits[column, side] = Limit(float(values[row]), int(numbers[row]))
            if column in table.untyped:
                categories[column, WHOLE] = _different(
                    int(value) if value.is_integer() else value for value in own[~np.isnan(own)].tolist()
                )
        if has_values or column not in table.untyped:
            is_category[column] = column in table.categories
    for place, column in enumerate(dates):
        for part in range(len(PARTS)):
            own_part = table.categories[n_given + place * len(PARTS) + part]
            categories[column, part] = _different(own_part.tolist())
    return limits, categories, is_category


def _different(values: Iterable[Any]) -> frozenset[Any] | None:
    different = frozenset(values) - {None}
    return different if len(different) <= MAX_CATEGORIES else None
