"""Array types, column ranges, hashing, and the probability that values or rows are equal by chance."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

SingleArray = NDArray[np.float32]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
CountArray = NDArray[Any]  # numbers of samples: int64, or float64 if samples decay
BoolArray = NDArray[np.bool_]
KeyArray = NDArray[np.uint64]  # hashes

VALUES_AT_ONCE = 1024  # length of a row that NumPy reduces at full speed
# constants of splitmix64
STEP = 0x9E3779B97F4A7C15
FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ALL_BITS = 2**64 - 1


def column_ranges(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lowest and the highest value of each column of at least one row; NaN where all are missing."""
    n_rows, n_columns = values.shape
    n_beside = min(VALUES_AT_ONCE // max(n_columns, 1), n_rows) if values.flags.c_contiguous else 1
    if n_beside > 1:  # several rows side by side, since NumPy's loops over short rows are slow
        whole = n_rows - n_rows % n_beside
        wide = values[:whole].reshape(whole // n_beside, n_beside * n_columns)
        ends = [one.reduce(wide, axis=0).reshape(n_beside, n_columns) for one in (np.fmin, np.fmax)]
        lowest, highest = (np.concatenate([one, values[whole:]]) for one in ends)
    else:
        lowest = highest = values
    return np.fmin.reduce(lowest, axis=0), np.fmax.reduce(highest, axis=0)


def keys_of_numbers(numbers: IntArray, seed: int) -> KeyArray:
    """Return a pseudo-random key for each number, determined by the number and the seed."""
    return mixed(numbers.astype(np.uint64) + np.uint64(seed * STEP % 2**64))


def mixed(keys: KeyArray) -> KeyArray:
    """Return hashes of keys; every bit depends on all bits of a key (splitmix64)."""
    if keys.size == 1:  # Python integers are faster than arrays of one
        return np.full(keys.shape, mixed_number(keys.item()), dtype=np.uint64)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(FACTORS[0])
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(FACTORS[1])
    return keys ^ (keys >> np.uint64(31))


def mixed_number(key: int) -> int:
    """Return the hash of a single key, as `mixed` does."""
    key = (key ^ (key >> 30)) * FACTORS[0] & ALL_BITS
    key = (key ^ (key >> 27)) * FACTORS[1] & ALL_BITS
    return key ^ (key >> 31)


def equal_share(values: FloatArray) -> float:
    """Return the share of all pairs of values that are equal; one for fewer than two values.

    >>> import numpy as np
    >>> equal_share(np.array([1.0, 1.0, 2.0, 3.0])) == 1 / 6
    True
    """
    n = len(values)
    if n < 2:
        return 1.0
    counts = np.unique(values, return_counts=True)[1]
    return float((counts * (counts - 1)).sum()) / (n * (n - 1))


def equal_rows_share(rows: FloatArray) -> float:
    """Return the expected share of pairs of rows that agree in every value, if columns were independent.

    Each distinct row counts once, so that duplicates do not inflate the frequencies of values. Missing values must be
    encoded as a number.
    """
    return prod(equal_share(column) for column in np.unique(rows, axis=0).T)
