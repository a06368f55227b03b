"""Access to data frames (pandas, polars, and others): columns, values, and types."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_frame(X: Any) -> bool:
    """Return True if X has columns with types of their own."""
    # of the class first: pandas computes the types when an instance is looked at
    return hasattr(X, "columns") and (hasattr(type(X), "dtypes") or hasattr(X, "dtypes"))


def columns_of(frame: Any) -> list[tuple[str, Any]]:
    """Return the (name, column) pairs of a pandas frame, where names may repeat, or of a polars frame."""
    pairs = frame.items() if hasattr(frame, "items") else ((name, frame[name]) for name in frame.columns)
    return [(str(name), column) for name, column in pairs]


def has_columns(frame: Any, names: Sequence[str] | None, n_columns: int) -> bool:
    """Return True if a frame has these columns in this order, or `n_columns` unnamed ones if `names` is None."""
    columns = frame.columns
    if names is None:
        return type(columns) is range and len(columns) == n_columns
    return (columns.tolist() if hasattr(columns, "tolist") else list(columns)) == names


def values_of(X: Any, names: Sequence[str]) -> NDArray[Any] | None:
    """Return the values of a pandas frame with columns of these names, of any type; of anything else None."""
    pandas = sys.modules.get("pandas")  # no frame can be made without it, and loading it takes time
    if pandas is None or type(X) is not pandas.DataFrame or not has_columns(X, names, len(names)):
        return None
    values: NDArray[Any] = X.to_numpy()
    return values


def array_of(column: Any) -> NDArray[Any]:
    """Return the values of a column."""
    # the same as by NumPy, which first looks for other protocols: that takes several times as long for few rows
    return column.to_numpy() if type(column).__module__.startswith("pandas.") else np.asarray(column)


def dtype_name(column: Any) -> str:
    """Return the name of the type of a column in lower case; empty where it has none."""
    dtype = getattr(column, "dtype", "")
    return _numpy_name(dtype) if isinstance(dtype, np.dtype) else str(dtype).lower()


@cache
def _numpy_name(dtype: np.dtype[Any]) -> str:
    return str(dtype).lower()


def is_numeric(column: Any) -> bool:
    """Return True if a column has a numeric type."""
    return dtype_name(column).startswith(("int", "uint", "float", "double"))


def is_untyped(column: Any) -> bool:
    """Return True if the type of a column does not determine the type of its values."""
    return dtype_name(column).startswith(("object", "null"))
