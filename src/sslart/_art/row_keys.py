"""A random key for each sample of a table: the same for samples that agree in every value."""

from __future__ import annotations

from functools import cache
from zlib import crc32

import numpy as np

from sslart._art.backend import backend
from sslart._data.samples import Table
from sslart._utils.random_keys import KeyArray, keys_of_numbers, mixed


def row_keys(table: Table) -> KeyArray:
    """Return a random key for each sample; copies have the same key, in every table and in every session."""
    values = np.ascontiguousarray(table.values)
    keys = np.empty(len(values), dtype=np.uint64)
    backend().row_keys(values, _factors(values.shape[1]), keys)
    for column, categories in table.categories.items():
        codes = {category: crc32(f"{column} {category!r}".encode()) for category in set(categories)}
        keys = mixed(keys ^ mixed(np.array([codes[category] for category in categories], dtype=np.uint64)))
    return keys


@cache
def _factors(n_columns: int) -> KeyArray:
    return keys_of_numbers(np.arange(n_columns), 1) | np.uint64(1)
