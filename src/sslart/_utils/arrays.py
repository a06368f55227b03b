"""Types of the arrays that the modules pass around, and the ranges of columns."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CountArray = NDArray[Any]  # of samples: int64, or float64 where samples count less with age
BoolArray = NDArray[np.bool_]

VALUES_AT_ONCE = 1024


def column_ranges(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest value of each column of at least one row; NaN where all are missing."""
    n_rows, n_columns = values.shape
    n_beside = min(VALUES_AT_ONCE // max(n_columns, 1), n_rows) if values.flags.c_contiguous else 1
    if n_beside > 1:  # rows beside each other: loops of NumPy over short rows are slow
        whole = n_rows - n_rows % n_beside
        wide = values[:whole].reshape(whole // n_beside, n_beside * n_columns)
        ends = [one.reduce(wide, axis=0).reshape(n_beside, n_columns) for one in (np.fmin, np.fmax)]
        lowest, highest = (np.concatenate([one, values[whole:]]) for one in ends)
    else:
        lowest = highest = values
    return np.fmin.reduce(lowest, axis=0), np.fmax.reduce(highest, axis=0)
