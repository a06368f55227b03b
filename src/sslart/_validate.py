"""The front door: samples, labels and parameters become clean arrays, or an error that says the cure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

UNLABELLED = -1

SingleArray = NDArray[np.float32]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Table:
    """Samples in the user's units: numbers in one array, and the categorical columns of a frame beside it.

    Attributes
    ----------
    values : array of shape (n_samples, n_columns)
        Numbers, NaN where missing. All NaN in a categorical column.
    categories : mapping from column to an object array of length n_samples
        The values of each categorical column, None where missing.
    names : list of str, or None
        Column names, where the samples came with names.
    """

    values: FloatArray
    categories: Mapping[int, NDArray[np.object_]] = field(default_factory=dict)
    names: list[str] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: Any) -> Table:
        return Table(
            self.values[rows], {column: values[rows] for column, values in self.categories.items()}, self.names
        )


def read_samples(estimator: Any, X: Any, *, reset: bool) -> Table:
    """Return X as a `Table`; record or check its width and feature names on the estimator."""
    if _needs_no_check(X) and (reset or _is_as_before(estimator, X)):
        if reset:
            _remember_width(estimator, X.shape[1])
        return Table(X)
    if _is_frame(X):
        categorical = None if reset else estimator._categorical_columns()
        if any(not _is_numeric(column) for _, column in _columns_of(X)):
            columns = [
                _read_column(name, column, None if categorical is None else place in categorical)
                for place, (name, column) in enumerate(_columns_of(X))
            ]
            return _read_mixed_frame(estimator, X, columns, reset)
    try:
        values = validate_data(estimator, X, reset=reset, dtype=np.float64, order="C", ensure_all_finite="allow-nan")
    except ValueError as error:
        if "infinity" in str(error):
            raise ValueError(
                f"{error} Put NaN where the value is not known, or a finite limit where it is very large."
            ) from None
        raise
    return _refuse_empty_rows(Table(values, names=_names_of(estimator)))


def _needs_no_check(X: Any) -> bool:
    """Tell at little cost that X is as the kernel wants it: streams bring samples one at a time."""
    if not (type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2 and X.size > 0 and X.flags.c_contiguous):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(X.sum()))


def _is_as_before(estimator: Any, X: NDArray[Any]) -> bool:
    return X.shape[1] == estimator.n_features_in_ and not hasattr(estimator, "feature_names_in_")


def _remember_width(estimator: Any, n_features: int) -> None:
    estimator.n_features_in_ = n_features
    vars(estimator).pop("feature_names_in_", None)


def _names_of(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _refuse_empty_rows(table: Table) -> Table:
    with np.errstate(over="ignore", invalid="ignore"):
        if not np.isnan(table.values.sum()):
            return table
    empty = np.isnan(table.values).all(axis=1)
    if empty.any():
        for values in table.categories.values():
            empty &= np.array([value is None for value in values], dtype=bool)
    if empty.any():
        rows = np.flatnonzero(empty)
        raise ValueError(
            f"X has {len(rows)} sample(s) without a single value (the first is row {rows[0]}): nothing can be "
            "learnt from such a sample or said about it. Drop these rows."
        )
    return table


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "dtypes")


def _columns_of(frame: Any) -> Iterable[tuple[str, Any]]:
    for position, name in enumerate(frame.columns):
        yield str(name), frame.iloc[:, position] if hasattr(frame, "iloc") else frame[name]


def _dtype_name(column: Any) -> str:
    return str(getattr(column, "dtype", "")).lower()


def _is_numeric(column: Any) -> bool:
    return _dtype_name(column).startswith(("int", "uint", "float", "double"))


def _read_column(name: str, column: Any, categorical: bool | None) -> NDArray[Any]:
    """Return a column as floats (NaN where missing) or, if it is categorical, as objects (None where missing).

    What the column was before decides which of the two it is; else its type, or its values if the type is object.
    """
    values = np.asarray(column)
    if categorical is None:
        categorical = _dtype_name(column).startswith(("categor", "enum", "str", "utf8", "bool"))
    if values.dtype.kind in "iuf" and not categorical:
        return values.astype(np.float64)
    if values.dtype.kind in "mM":
        raise ValueError(
            f"Column {name!r} holds dates or durations. Turn it into numbers first, such as days since a fixed "
            "date, or the hour of the day, or leave it out."
        )
    objects = np.array([_plain(value) for value in values.tolist()], dtype=object)
    known = [value for value in objects if value is not None]
    if not categorical and all(isinstance(value, Real) and not isinstance(value, bool) for value in known):
        return np.array([np.nan if value is None else value for value in objects], dtype=np.float64)
    for value in known:
        if not isinstance(value, str | bool | int | float):
            raise ValueError(
                f"Column {name!r} holds a {type(value).__name__}. A column is numeric, or categorical with "
                "strings, booleans or numbers as categories: convert it, or leave it out."
            )
    return objects


def _plain(value: Any) -> Any:
    """Return a Python scalar, or None for every way to say that a value is missing."""
    if hasattr(value, "item"):
        value = value.item()
    return None if is_missing(value) else value


def is_missing(value: Any) -> bool:
    """Tell whether a value is None, NaN, NaT or pandas.NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def _read_mixed_frame(estimator: Any, X: Any, columns: list[NDArray[Any]], reset: bool) -> Table:
    validate_data(estimator, X, reset=reset, skip_check_array=True)
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
        raise ValueError(
            "Input X contains infinity. Put NaN where the value is not known, or a finite limit where it is very large."
        )
    return _refuse_empty_rows(Table(values, categories, _names_of(estimator)))


@dataclass(frozen=True)
class Labels:
    """Class labels and which samples have one.

    Attributes
    ----------
    values : array of length n_samples
        Labels as integers, booleans or strings. Where `known` is False: -1 if the user wrote that, else anything.
    known : boolean array of length n_samples
        Which samples are labelled.
    """

    values: NDArray[Any]
    known: BoolArray

    def __getitem__(self, rows: Any) -> Labels:
        return Labels(self.values[rows], self.known[rows])

    @classmethod
    def none(cls, n_samples: int) -> Labels:
        """Return the labels of samples that have none."""
        return cls(np.zeros(n_samples, dtype=np.int64), np.zeros(n_samples, dtype=bool))

    def with_class_minus_one(self) -> Labels:
        """Return the labels with -1 taken for a class like any other."""
        return Labels(self.values, self.known | self._minus_one())

    def _minus_one(self) -> BoolArray:
        # a sample without a label has the value 0, so every -1 was written by the user
        return np.asarray((self.values == UNLABELLED) & (self.values.dtype.kind == "i"))

    def are_plus_and_minus_one(self) -> bool:
        """Tell whether y is in the {-1, 1} convention of two classes: with -1 unlabelled, one class would be left."""
        named = self.values[self.known | self._minus_one()]
        return bool(self._minus_one().any()) and set(np.unique(named).tolist()) == {UNLABELLED, 1}


def read_labels(y: Any, table: Table) -> Labels:
    """Return y as `Labels`: -1 among integers, None, NaN and pandas.NA mean unlabelled."""
    array = np.asarray(y) if isinstance(getattr(y, "dtype", None), np.dtype) else _array_of_list(y)
    array = column_or_1d(array, warn=True, dtype=array.dtype)
    check_consistent_length(table.values, array)
    if array.dtype == object:
        array, known = _read_objects(array)
    elif array.dtype.kind == "f":
        array, known = _read_floats(array)
    else:
        known = np.ones(len(array), dtype=bool)
    if array.dtype.kind == "u":
        array = _integers(array.tolist())
        return Labels(array, known)
    if array.dtype.kind not in "ibU":
        raise ValueError(
            f"Unknown label type: {array.dtype}. Labels are integers, strings or booleans; -1, None or NaN mean "
            "unlabelled."
        )
    if array.dtype.kind == "i":
        known &= array != UNLABELLED
    return Labels(array, known)


def _array_of_list(y: Any) -> NDArray[Any]:
    # np.asarray would turn the NaN of ["a", nan] into the string "nan", and large integers beside a NaN into floats
    values = y.to_list() if hasattr(y, "to_list") else y.tolist() if hasattr(y, "tolist") else y
    array = np.asarray(values)
    return array if array.dtype.kind in "iub" else np.array(values, dtype=object)


def _read_floats(values: NDArray[Any]) -> tuple[NDArray[Any], BoolArray]:
    known = ~np.isnan(values)
    if np.isinf(values).any():
        raise ValueError(_INFINITE_LABEL)
    if (values[known] != np.rint(values[known])).any():
        check_classification_targets(values[known])
    return _integers([int(value) for value in np.where(known, values, 0).tolist()]), known


_INFINITE_LABEL = "Input y contains infinity: a label is a class, or NaN where it is not known."


def _integers(values: list[int]) -> NDArray[np.int64]:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        raise ValueError(
            "y has an integer beyond 64 bits as a class. Give such classes as strings, with None where unlabelled."
        ) from None


def _read_objects(values: NDArray[np.object_]) -> tuple[NDArray[Any], BoolArray]:
    plain = [_plain(value) for value in values.tolist()]
    known = np.array([value is not None for value in plain], dtype=bool)
    kinds = {_kind(value) for value in plain if value is not None}
    if not kinds:
        return np.zeros(len(plain), dtype=np.int64), known
    if len(kinds) > 1:
        raise ValueError(
            f"Labels of several kinds in y: {', '.join(sorted(kinds))}. Give all classes as strings, or all as "
            "integers."
        )
    kind = kinds.pop()
    if kind == "string":
        return np.array([value if value is not None else "" for value in plain], dtype=str), known
    if kind == "boolean":
        return np.array([bool(value) for value in plain]), known
    if kind == "number":
        if any(isinstance(value, float) and not np.isfinite(value) for value in plain if value is not None):
            raise ValueError(_INFINITE_LABEL)
        if any(value is not None and value != int(value) for value in plain):
            check_classification_targets(np.array([value for value in plain if value is not None], dtype=np.float64))
        return _integers([0 if value is None else int(value) for value in plain]), known
    raise ValueError(
        f"Unknown label type: {kind}. Labels are integers, strings or booleans; -1, None or NaN mean unlabelled."
    )


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    return "number" if isinstance(value, Real) else type(value).__name__


def check_number(
    owner: str, name: str, value: Any, low: float, high: float | None = None, *, open_low: bool = False
) -> float:
    """Return a parameter as a float, or raise a ValueError that says its range."""
    inside = (
        isinstance(value, Real)
        and not isinstance(value, bool | np.bool_)
        and -1e300 < value < 1e300  # type: ignore[operator]
        and (float(value) > low if open_low else float(value) >= low)
        and (high is None or float(value) <= high)
        and np.isfinite(float(value))
    )
    if not inside:
        limits = f"{'(' if open_low else '['}{low:g}, {'inf)' if high is None else f'{high:g}]'}"
        raise ValueError(f"{name} of {owner} must be a number in {limits}, got {value!r}.")
    return float(value)


def check_whole(owner: str, name: str, value: Any, *, or_none: bool = False) -> int | None:
    """Return a parameter that counts something from one up, or None where that is allowed."""
    if value is None and or_none:
        return None
    if not isinstance(value, Integral) or isinstance(value, bool) or not 0 < int(value) < 2**31:
        raise ValueError(
            f"{name} of {owner} must be a whole number from 1 up, below 2**31{', or None' if or_none else ''}, got "
            f"{value!r}."
        )
    return int(value)


def check_flag(owner: str, name: str, value: Any) -> bool:
    """Return a parameter that is on or off."""
    if not isinstance(value, bool | np.bool_) and value not in (0, 1):
        raise ValueError(f"{name} of {owner} must be True or False, got {value!r}.")
    return bool(value)


def check_jobs(owner: str, value: Any) -> int | None:
    """Return a number of threads as scikit-learn counts them."""
    if value is not None and (not isinstance(value, Integral) or isinstance(value, bool) or value == 0):
        raise ValueError(f"n_jobs of {owner} must be None, a number of threads, or -1 for all cores, got {value!r}.")
    return None if value is None else int(value)


def check_option(owner: str, name: str, value: Any, options: tuple[str, ...]) -> str:
    """Return a parameter that names one of several options."""
    if not isinstance(value, str) or value not in options:
        raise ValueError(f"{name} of {owner} must be one of {', '.join(map(repr, options))}, got {value!r}.")
    return value


def check_bounds(owner: str, bounds: Any, n_columns: int) -> tuple[FloatArray, FloatArray] | None:
    """Return (lower, upper) as two arrays with a value per column, or None; NaN where a limit is not known."""
    if bounds is None:
        return None
    cure = (
        f"bounds of {owner} must be (lower, upper), each a number or one number per feature ({n_columns}), with "
        "lower <= upper; NaN in both where the limits of a feature are not known"
    )
    try:
        lower, upper = (np.broadcast_to(np.asarray(side, dtype=np.float64), n_columns).copy() for side in bounds)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{cure}. Got {bounds!r}.") from error
    unknown = np.isnan(lower) | np.isnan(upper)
    if (np.isnan(lower) != np.isnan(upper)).any() or np.isinf(lower).any() or np.isinf(upper).any():
        raise ValueError(f"{cure}. Got {bounds!r}.")
    if (lower[~unknown] > upper[~unknown]).any():
        column = int(np.flatnonzero(lower > upper)[0])
        raise ValueError(f"{cure}. Feature {column} has {lower[column]:g} > {upper[column]:g}.")
    return lower, upper
