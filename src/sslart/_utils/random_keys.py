"""Random keys determined by content alone: the lowest keys are the same sample in every order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sslart._utils.arrays import IntArray

KeyArray = NDArray[np.uint64]
STEP = 0x9E3779B97F4A7C15
FACTORS = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
ALL_BITS = 2**64 - 1


def keys_of_numbers(numbers: IntArray, seed: int) -> KeyArray:
    """Return a random key for each number: the same whenever it is drawn."""
    return mixed(numbers.astype(np.uint64) + np.uint64(seed * STEP % 2**64))


def mixed(keys: KeyArray) -> KeyArray:
    """Return hashed keys; every bit depends on all bits of the given ones (splitmix64)."""
    if keys.size == 1:  # plain numbers cost less than arrays
        return np.full(keys.shape, mixed_number(keys.item()), dtype=np.uint64)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(FACTORS[0])
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(FACTORS[1])
    return keys ^ (keys >> np.uint64(31))


def mixed_number(key: int) -> int:
    """Return the hash of a single key, as `mixed` does."""
    key = (key ^ (key >> 30)) * FACTORS[0] & ALL_BITS
    key = (key ^ (key >> 27)) * FACTORS[1] & ALL_BITS
    return key ^ (key >> 31)
