"""A fast path for plain numeric samples, which skips the checks of scikit-learn: they cost more than learning."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._utils.arrays import FloatArray

FEW_ROWS, FEW_VALUES = 64, 4096
MAX_BYTES = 8  # of a number that a double can hold, if not exactly


def plain_array(X: Any) -> FloatArray | None:
    """Return X as the kernel takes it where it is an array, or a short list, of numbers; else None.

    There is at least one sample, none has an infinite value, and each has a value that is not missing.
    """
    if type(X) is list and len(X) <= FEW_ROWS:
        X = _array_of(X)
    if type(X) is not np.ndarray or X.ndim != 2 or not X.size:
        return None
    if X.dtype != np.float64 or not X.flags.c_contiguous:
        if X.dtype.kind not in "fiu" or X.dtype.itemsize > MAX_BYTES:
            return None
        X = np.ascontiguousarray(X, dtype=np.float64)
    return X if _is_complete(X) else None


def _array_of(rows: list[Any]) -> NDArray[Any] | None:
    if not all(type(row) is list for row in rows):
        return None
    try:
        return np.array(rows)
    except ValueError:
        return None


def _is_complete(X: FloatArray) -> bool:
    """Return True if no value is infinite and no sample is empty; False also if checking would take long."""
    if X.size > FEW_VALUES:  # no array of flags for a large table
        with np.errstate(over="ignore", invalid="ignore"):
            return bool(np.isfinite(X.sum()))
    if np.isfinite(X).all():
        return True
    return not np.isinf(X).any() and not np.isnan(X).all(axis=1).any()
