"""A random key for each sample of a table: the same for samples that agree in every value."""

from __future__ import annotations

from functools import cache, lru_cache
from zlib import crc32

import numpy as np

from sslart._art.backend import backend
from sslart._data.samples import Table
from sslart._utils.random_keys import KeyArray, keys_of_numbers, mixed, mixed_number


def row_keys(table: Table) -> KeyArray:
    """Return a random key for each sample; copies have the same key, in every table and in every session.

    A missing value has the same key whether its column is known to be categorical or not.
    """
    values = np.ascontiguousarray(table.values)
    keys = np.empty(len(values), dtype=np.uint64)
    backend().row_keys(values, row_factors(values.shape[1]), keys)
    if len(keys) == 1:
        return _with_categories(keys, table)
    for column, categories in table.categories.items():
        known = np.array([category is not None for category in categories], dtype=bool)
        codes = {category: _code(column, category) for category in {*categories[known]}}
        own = np.array([codes[category] for category in categories[known]], dtype=np.uint64)
        keys[known] = mixed(keys[known] ^ own)
    return keys


def _with_categories(keys: KeyArray, table: Table) -> KeyArray:
    """Return the key of a single sample with its categories: plain numbers cost less than arrays."""
    for column, (category,) in table.categories.items():
        if category is not None:
            keys[0] = mixed_number(keys.item(0) ^ _code(column, category))
    return keys


@lru_cache(maxsize=4096)
def _code(column: int, category: str | bool | float) -> int:
    return mixed_number(crc32(f"{column} {_name(category)}".encode()))


def _name(category: str | bool | float) -> str:
    """Return a text that is the same for equal categories: True, 1 and 1.0 are one."""
    if isinstance(category, str):
        return repr(category)
    if category in (0, 1):
        return repr(bool(category))
    return repr(int(category) if isinstance(category, float) and category.is_integer() else category)


@cache
def row_factors(n_columns: int) -> KeyArray:
    """Return an odd number for each column, by which keys of rows are made."""
    return keys_of_numbers(np.arange(n_columns), 1) | np.uint64(1)
