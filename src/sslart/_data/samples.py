"""Validation and conversion of samples given by the user."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from sslart._data.columns import (
    ATTRIBUTE,
    NO_PLAN,
    ColumnPlan,
    array_of,
    columns_of,
    columns_to_leave_out,
    dtype_name,
    has_columns,
    is_frame,
    is_numeric,
    is_text,
    is_untyped,
    values_of,
)
from sslart._data.dates import days_of, holds_dates, stand_for_months, with_parts
from sslart._data.interpretation import NO_TEXTS, as_known_text, interpreted, known_dates
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.optional import heavy
from sslart._utils.resources import memory_text, usable_memory
from sslart._utils.text import plural, printable_lines
from sslart._utils.validation import require, saved_array

FEW_ROWS, FEW_VALUES = 64, 4096
MAX_BYTES = 8  # item size of numeric types that can be converted to double
PLAIN_TYPES = frozenset({str, bool, int, type(None)})  # types whose only missing value is None
TEXT_OR_NONE = frozenset({str, type(None)})
COLUMN_ATTRIBUTES = ("n_features_in_", "feature_names_in_", ATTRIBUTE)


def plan_of(owner: Any) -> ColumnPlan:
    """Return the column plan of an estimator or a reader of samples."""
    plan: ColumnPlan = getattr(owner, ATTRIBUTE, NO_PLAN)
    return plan


def keep_plan(owner: Any, plan: ColumnPlan) -> None:
    """Store a column plan on a reader of samples, unless it is empty."""
    vars(owner).pop(ATTRIBUTE, None)
    if plan != NO_PLAN:
        setattr(owner, ATTRIBUTE, plan)


@dataclass(frozen=True)
class Table:
    """Samples in the user's units: an array of numbers, and the categorical columns of a frame.

    Attributes
    ----------
    values : array of shape (n_samples, n_columns)
        Numbers, NaN where missing. All NaN in a categorical column.
    categories : mapping from column to an object array of length n_samples
        The values of each categorical column, None where missing.
    names : list of str, or None
        Column names, if the samples have any.
    untyped : frozenset of int
        The columns whose values, not their dtype, determine whether they are categorical.
    n_parts : int
        Number of columns at the end that are parts of dates in other columns.
    """

    values: FloatArray
    categories: Mapping[int, NDArray[np.object_]] = field(default_factory=dict)
    names: list[str] | None = None
    untyped: frozenset[int] = frozenset()
    n_parts: int = 0

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Table:
        if is_all(rows, len(self.values)):
            return self
        categories = {column: values[rows] for column, values in self.categories.items()}
        return Table(self.values[rows], categories, self.names, self.untyped, self.n_parts)

    def has_values(self, column: int) -> bool:
        """Return True if a column has a value that is not missing."""
        if column in self.categories:
            return any(value is not None for value in self.categories[column])
        return not np.isnan(self.values[:, column]).all()

    def first_row_with(self, column: int, category: Any) -> int:
        """Return the first sample with a category; for None, the first with a number in a numeric column."""
        has = ~np.isnan(self.values[:, column]) if category is None else self.categories[column] == category
        return int(np.flatnonzero(has)[0])

    def copy(self) -> Table:
        """Return a deep copy, unaffected by later changes to the user's arrays."""
        categories = {column: values.copy() for column, values in self.categories.items()}
        return replace(self, values=self.values.copy(), categories=categories)


def is_all(rows: Any, n_rows: int) -> bool:
    """Return True if `rows` is a slice that selects all `n_rows` rows."""
    return type(rows) is slice and not rows.start and rows.step is None and rows.stop in (None, n_rows)


def read_samples(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    categorical: frozenset[int] | None = None,
    undecided: Container[int] = (),
    first_decides: bool = False,
    leave_out: bool = False,
    read_texts: bool = True,
    blank_rows: bool = False,
) -> Table:
    """Return X as a `Table`; record or check its width and feature names on the estimator.

    Parameters
    ----------
    estimator : estimator
    X : array-like of shape (n_samples, n_features)
    reset : bool
        Whether to record the width and the names.
    categorical : frozenset of int or None
        The columns learnt as categorical; None if nothing has been learnt yet.
    undecided : container of int
        Those of them that had neither a dtype nor a value so far: their first value decides.
    first_decides : bool
        Whether the first value of a column without a dtype decides whether it is categorical, as in a stream. Else all
        its values do.
    leave_out : bool
        Whether to leave out text columns that are identifiers or free text, with a warning. Columns of the pandas dtype
        "category" are always used.
    read_texts : bool
        With `leave_out`, whether to parse text columns of dates, or of numbers with units, and to leave out columns of
        whole numbers that number samples. Not where X is a sample of more rows.
    blank_rows : bool
        Whether to accept rows without any value, if others have values.
    """
    plan, names = (NO_PLAN, None) if reset else (plan_of(estimator), _names_of(estimator))
    if not (plan.dates or plan.left_out or (names and categorical)):
        plain = plain_array(X if names is None else values_of(X, names))
        if plain is not None and reset:
            estimator.n_features_in_ = plain.shape[1]
            vars(estimator).pop("feature_names_in_", None)
            keep_plan(estimator, NO_PLAN)
        if plain is not None and plain.shape[1] == estimator.n_features_in_:
            return Table(plain, names=names)
    X = without_mask(dense(X))
    given = columns_of(X) if is_frame(X) else []
    if any(not is_numeric(column) for _, column in given):
        columns: list[NDArray[Any]] = []
        dates, texts = [], dict(plan.texts)
        for position, (name, column) in enumerate(given):
            before = None if categorical is None or position in undecided else position in categorical
            if position in plan.left_out:
                columns.append(_all_missing(len(column)))
            elif (moments := _known_text_dates(name, column, position, plan)) is not None:
                dates.append(position)
                columns.append(moments)
            elif holds_dates(column):
                if not reset and position not in plan.dates:
                    raise ValueError(
                        f"Column {name!r} holds dates, and held none in the data learnt first. Give it the same type "
                        "as then, or the dtype datetime64 from the first sample on."
                    )
                dates.append(position)
                columns.append(days_of(column, name))
            else:
                columns.append(_read_column(name, column, before, first_decides or position in undecided))
                if position in texts:
                    columns[-1] = as_known_text(name, columns[-1], texts[position])
                if position in plan.dates:
                    _check_is_missing(name, columns[-1])
        found = interpreted(given, columns) if leave_out and read_texts else NO_TEXTS
        for position, values in found.columns.items():
            columns[position] = values
        dates = sorted([*dates, *found.dates])
        untyped = frozenset(
            position for position, (_, column) in enumerate(given) if is_untyped(column) and position not in dates
        )
        notes = columns_to_leave_out(given, columns, numbers=read_texts) if leave_out else {}
        for position in notes:
            columns[position] = _all_missing(len(columns[position]))
        table = _mixed_table(estimator, X, columns, untyped, reset, blank_rows)
        if reset:
            monthly = tuple(one for one in dates if leave_out and stand_for_months(table.values[:, one]))
            plan = ColumnPlan(
                tuple(dates),
                tuple(notes),
                (
                    *notes.values(),
                    *(one for one in found.notes if one.column not in {note.column for note in notes.values()}),
                ),
                found.day_first,
                monthly,
                tuple((column, how) for column, how in found.texts if column not in notes),
            )
            keep_plan(estimator, plan)
        return with_parts(table, plan.dates, plan.monthly)
    try:
        values = _validated(estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
    except ValueError as error:
        if "infinity" in str(error):
            raise ValueError(_about_infinity(np.asarray(X, dtype=np.float64), [name for name, _ in given])) from None
        raise
    if reset:
        notes = columns_to_leave_out(given, list(values.T), numbers=read_texts) if leave_out and given else {}
        plan = ColumnPlan(left_out=tuple(notes), notes=tuple(notes.values()))
        keep_plan(estimator, plan)
    for position in plan.dates:
        _check_is_missing(plan.names(_known_names(estimator))[position], values[:, position])
    if plan.left_out:
        values = values.copy()  # of the user's array
        values[:, plan.left_out] = np.nan
    empty = {position: _all_missing(len(values)) for position in plan.left_out}
    table = _refuse_empty_rows(Table(values, empty, names=_names_of(estimator)), blank_rows)
    return with_parts(table, plan.dates, plan.monthly)


def plain_array(X: Any) -> FloatArray | None:
    """Return X as a double array if it is an array, or a short list, of valid numbers; else None.

    A fast path for streams and single rows: the checks of scikit-learn cost more than learning. Valid means at least
    one sample, no infinite value, and no sample without any value.
    """
    if type(X) is list and len(X) <= FEW_ROWS and all(type(row) is list for row in X):
        try:
            X = np.array(X)
        except ValueError:
            return None
    if type(X) is not np.ndarray or X.ndim != 2 or not X.size:
        return None
    if X.dtype != np.float64 or not X.flags.c_contiguous:
        if X.dtype.kind not in "fiu" or X.dtype.itemsize > MAX_BYTES:
            return None
        X = np.ascontiguousarray(X, dtype=np.float64)
    if X.size > FEW_VALUES:  # no array of flags for a large table
        with np.errstate(over="ignore", invalid="ignore"):
            return X if np.isfinite(X.sum()) else None
    is_complete = np.isfinite(X).all() or not (np.isinf(X).any() or np.isnan(X).all(axis=1).any())
    return X if is_complete else None


def dense(X: Any) -> Any:
    """Return a sparse matrix as an array, if memory allows it; return other values unchanged."""
    sparse = sys.modules.get("scipy.sparse")  # if it is not imported, X is not a sparse matrix
    if sparse is None or not sparse.issparse(X):
        return X
    n_bytes, usable = 8 * math.prod(X.shape), usable_memory()
    if usable is not None and n_bytes > usable:
        raise ValueError(
            f"X is sparse, of shape {X.shape}: as an array it takes {memory_text(n_bytes)}, and {memory_text(usable)} "
            "may be used. Reduce the number of columns first, such as with sklearn.decomposition.TruncatedSVD or "
            "sklearn.feature_selection.VarianceThreshold, or learn fewer rows at once by partial_fit."
        )
    return X.astype(np.float64).toarray()


def without_mask(values: Any) -> Any:
    """Return the values of a masked NumPy array with None where masked; return other values unchanged."""
    masked = sys.modules.get("numpy.ma")  # if it is not imported, this is not a masked array
    if masked is None or not isinstance(values, masked.MaskedArray):
        return values
    plain = masked.getdata(values).astype(object)
    plain[masked.getmaskarray(values)] = None
    return plain


def spread(values: NDArray[Any], known: BoolArray | None, fill: float | bool) -> NDArray[Any]:
    """Expand values of the samples in a mask to all samples, with `fill` for the others."""
    if known is None:
        return values
    every = np.full((len(known), *values.shape[1:]), fill, dtype=values.dtype)
    every[known] = values
    return every


def concatenated(parts: Sequence[Any]) -> Any:
    """Return the rows of several parts as one array or frame, of pandas or polars."""
    if not is_frame(parts[0]):
        return np.concatenate([without_mask(part) for part in parts])
    return heavy(type(parts[0]).__module__.partition(".")[0]).concat(parts)


class SampleReader(BaseEstimator):
    """Reader of samples for a fitted model, or for the first samples that a model learns.

    Parameters
    ----------
    owner : str
        Class of the estimator, for messages.
    n_features : int
    names : array of str or None
        Names of the columns, if the learnt samples had names.
    categorical : frozenset of int
    plan : ColumnPlan
    as_known : callable, default=None
        Function that converts categories of another type to those learnt; None: no conversion.
    undecided : container of int
        The categorical columns that had neither a dtype nor a value so far: their first value decides.
    """

    def __init__(
        self,
        owner: str,
        n_features: int = 0,
        names: Any = None,
        categorical: frozenset[int] = frozenset(),
        plan: ColumnPlan = NO_PLAN,
        as_known: Callable[[Table], Table] | None = None,
        undecided: Container[int] = (),
    ) -> None:
        self.owner, self.categorical, self.plan, self.as_known = owner, categorical, plan, as_known
        self.n_features, self.names, self.undecided = n_features, names, undecided
        keep_plan(self, plan)
        self.n_features_in_ = n_features
        if names is not None:
            self.feature_names_in_ = names
        self._takes_arrays = names is None and not (plan.dates or plan.left_out)

    @property
    def feature_names(self) -> list[str]:
        """Name of each column: as given, else x0, x1, ...; then the parts of dates."""
        return self.plan.names(_known_names(self))

    @property
    def has_names(self) -> bool:
        """True if the learnt samples had column names."""
        return hasattr(self, "feature_names_in_")

    def read_known(self, X: Any) -> tuple[Table, BoolArray | None]:
        """Return the samples with any value as a table, and their mask; the mask is None if all have one."""
        table = self.read(X, blank_rows=True)
        blank = None if type(X) is Table else rows_without_values(table)
        if blank is None:
            return table, None
        warnings.warn(
            f"{plural(int(blank.sum()), 'sample')} of X without a single value: nothing can be predicted for such a "
            "row, so the model abstains.",
            UserWarning,
            stacklevel=4,
        )
        return table[~blank], ~blank

    def read(self, X: Any, *, blank_rows: bool = False) -> Table:
        """Validate samples and return them as a table; a `Table` is returned unchanged.

        Rows without any value raise an error, or with `blank_rows` are accepted if others have values.
        """
        if type(X) is Table:
            return X
        if type(X) is np.ndarray and self._takes_arrays:  # fast path for streams and single rows
            values = plain_array(X)
            if values is not None and values.shape[1] == self.n_features_in_:
                return Table(values)
        table = read_samples(
            self, X, reset=False, categorical=self.categorical, undecided=self.undecided, blank_rows=blank_rows
        )
        return table if self.as_known is None else self.as_known(table)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[no-untyped-call]
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def known_columns(reader: SampleReader) -> dict[str, Any]:
    """Return the attributes of a reader that describe its columns."""
    return {name: value for name, value in vars(reader).items() if name in COLUMN_ATTRIBUTES}


def _validated(estimator: Any, X: Any, **options: Any) -> Any:
    """Validate X with scikit-learn; make every character of column names in its errors visible."""
    try:
        return validate_data(estimator, X, **options)
    except ValueError as error:
        message = printable_lines(str(error))
        if isinstance(estimator, SampleReader):
            message = message.replace(SampleReader.__name__, estimator.owner)
        if message == str(error):
            raise
        raise ValueError(message) from None


def _known_text_dates(name: str, column: Any, position: int, plan: ColumnPlan) -> FloatArray | None:
    """Return the dates in a text column learnt as dates; None for any other column."""
    if position not in plan.dates or not is_text(column):
        return None
    cells = [None if is_missing(value) else value for value in array_of(column).tolist()]
    if not all(cell is None or isinstance(cell, str) for cell in cells):
        return None
    return known_dates(name, cells, day_first=position in plan.day_first)


def _names_of(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _known_names(estimator: Any) -> list[str]:
    return _names_of(estimator) or [f"x{column}" for column in range(estimator.n_features_in_)]


def _all_missing(n: int) -> NDArray[np.object_]:
    return np.full(n, None, dtype=object)


def _check_is_missing(name: Any, values: NDArray[Any]) -> None:
    """Raise a ValueError if a column learnt as dates has other values."""
    if not all(is_missing(value) for value in values.tolist()):
        raise ValueError(
            f"Column {name!r} held dates in the data learnt first. Convert it to the dtype datetime64, such as with "
            "pandas.to_datetime."
        )


def _about_infinity(values: FloatArray, names: Sequence[str]) -> str:
    rows, columns = np.nonzero(np.isinf(values))
    name = repr(names[columns[0]]) if names else str(columns[0])
    return (
        f"Input X contains infinity: {plural(len(rows), 'value')}, the first in column {name}, row {rows[0]}, counted "
        "from 0. Put NaN where the value is not known, or a finite limit where it is very large."
    )


def rows_without_values(table: Table) -> BoolArray | None:
    """Return a mask of the samples without any value; None if there are none."""
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isnan(table.values.sum()):
            return None
    empty = np.isnan(table.values).all(axis=1)
    if empty.any():
        for values in table.categories.values():
            empty &= np.array([value is None for value in values], dtype=bool)
    return np.asarray(empty) if empty.any() else None


def _refuse_empty_rows(table: Table, blank_rows: bool) -> Table:
    empty = rows_without_values(table)
    if empty is not None and not (blank_rows and not empty.all()):
        rows = np.flatnonzero(empty)
        raise ValueError(
            f"X has {len(rows)} sample(s) without a single value (the first is row {rows[0]}): nothing can be "
            "learnt from such a sample or predicted for it. Drop these rows."
        )
    return table


def _read_column(name: str, column: Any, categorical: bool | None, first_decides: bool) -> NDArray[Any]:
    """Return a column as floats (NaN where missing) or, if it is categorical, as objects (None where missing).

    The kind learnt before takes precedence, then the dtype, then the values.
    """
    values = array_of(column)
    decided = categorical is not None or not is_untyped(column)
    if categorical is None:
        categorical = dtype_name(column).startswith(("categor", "enum", "str", "utf8", "bool"))
    if values.dtype.kind in "iuf" and not categorical:
        return values.astype(np.float64)
    if values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values / np.timedelta64(1, "s"))
    listed = values.tolist()
    if not PLAIN_TYPES.issuperset(map(type, listed)):
        listed = [plain_value(value) for value in listed]
    elif categorical:
        return np.array(values, dtype=object)
    known = [value for value in listed if value is not None]
    if not categorical and all(map(_is_number, known)):
        return np.array([np.nan if value is None else value for value in listed], dtype=np.float64)
    if first_decides and not decided and _is_number(known[0]):
        other = next(value for value in known if not _is_number(value))
        raise ValueError(
            f"Column {name!r} has the number {known[0]!r} first, and {other!r} later. Give all its values as strings, "
            "or the column the pandas dtype 'category', from the first sample on."
        )
    for value in known:
        if not isinstance(value, str | bool | int | float):
            raise ValueError(
                f"Column {name!r} holds a {type(value).__name__}. A column is numeric, or categorical with "
                "strings, booleans or numbers as categories: convert it, or leave it out."
            )
    return np.array(listed, dtype=object)


def _mixed_table(
    estimator: Any, X: Any, columns: list[NDArray[Any]], untyped: frozenset[int], reset: bool, blank_rows: bool
) -> Table:
    """Return the table of a frame with categorical columns, after checking its column names."""
    if reset or not has_columns(X, _names_of(estimator), estimator.n_features_in_):
        _validated(estimator, X, reset=reset, skip_check_array=True)
    if len(columns[0]) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    values = np.full((len(columns[0]), len(columns)), np.nan)
    categories = {}
    for position, column in enumerate(columns):
        if column.dtype == object:
            categories[position] = column
        else:
            values[:, position] = column
    if np.isinf(values).any():
        raise ValueError(_about_infinity(values, [name for name, _ in columns_of(X)]))
    return _refuse_empty_rows(Table(values, categories, _names_of(estimator), untyped), blank_rows)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def plain_value(value: Any) -> Any:
    """Return a Python scalar, or None for any missing value."""
    if hasattr(value, "item") and not is_missing(value):
        value = value.item()
    return None if is_missing(value) else value


def is_missing(value: Any) -> bool:
    """Return True if a value is None, NaN, NaT, pandas.NA, or numpy.ma.masked."""
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def is_category(value: Any) -> bool:
    """Return True if a value can be a category, or None where it is missing."""
    return value is None or (isinstance(value, str | bool | int | float) and not is_missing(value))


def table_state(table: Table) -> dict[str, Any]:
    """Return samples as plain values, to save."""
    categories = {str(column): list(values) for column, values in table.categories.items()}
    return {"values": table.values, "categories": categories}


def table_from_state(state: Mapping[str, Any], n_columns: int) -> Table:
    """Restore samples from a saved state after validating them."""
    values = saved_array(state, "values", np.float64, None, n_columns)
    categories = {int(column): np.array([*given], dtype=object) for column, given in state["categories"].items()}
    require(len(values) and not np.isinf(values).any(), "the labelled samples")
    for column, given in categories.items():
        fits = given.shape == (len(values),) and 0 <= column < n_columns and np.isnan(values[:, column]).all()
        require(fits and all(is_category(one) for one in given), "the categories of labelled samples")
    return Table(values, categories)


def as_known_texts(table: Table, known_in: Callable[[int], Collection[Any]]) -> Table:
    """Replace each unknown category by its text where that text is a known category.

    A column may have been learnt from a file as text and come as booleans or numbers later. Known texts are those
    learnt (`known_in` returns the categories of a column) and those of earlier samples of the table, so that the result
    does not depend on how a stream is split.
    """
    changed = {}
    for column, values in table.categories.items():
        if TEXT_OR_NONE.issuperset(map(type, values)):
            continue
        texts: dict[tuple[type, Any], str] = {}
        met = set(known_in(column))
        for kind, value in dict.fromkeys((type(one), one) for one in values):
            text = str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)  # as in a file
            if value is not None and value not in met:
                if text in met:
                    texts[kind, value] = text
                else:
                    met.add(value)
        if texts:
            changed[column] = np.array([texts.get((type(one), one), one) for one in values], dtype=object)
    return replace(table, categories={**table.categories, **changed}) if changed else table
