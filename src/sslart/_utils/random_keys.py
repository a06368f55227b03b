"""Random keys that depend on nothing but what they stand for: the lowest keys are the same sample in every order."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from sslart._utils.arrays import FloatArray, IntArray

KeyArray = NDArray[np.uint64]
STEP = 0x9E3779B97F4A7C15


def keys_of_numbers(numbers: IntArray, seed: int) -> KeyArray:
    """Return a random key for each number: the same whenever it is drawn."""
    return mixed(numbers.astype(np.uint64) + np.uint64(seed * STEP % 2**64))


def keys_of_rows(matrix: FloatArray) -> KeyArray:
    """Return a random key for each row: the same for rows that agree in every value."""
    bits = (matrix + 0.0).view(np.uint64)  # -0.0 is 0.0
    bits ^= bits >> np.uint64(29)
    bits *= _factors(matrix.shape[1])
    return mixed(bits.sum(axis=1, dtype=np.uint64))


@cache
def _factors(n_columns: int) -> KeyArray:
    return keys_of_numbers(np.arange(n_columns), 1) | np.uint64(1)


def mixed(keys: KeyArray) -> KeyArray:
    """Return keys of which every bit depends on all bits of the given ones (splitmix64)."""
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
