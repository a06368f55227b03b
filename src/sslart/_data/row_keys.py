"""A key for each sample of a table: the same for samples that agree in every value, and for nothing else but chance."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from sslart._data.samples import Table
from sslart._utils.random_keys import KeyArray, keys_of_rows, mixed


def row_keys(table: Table) -> KeyArray:
    """Return a random key for each sample; copies have the same key, in every table and in every session."""
    keys = keys_of_rows(np.ascontiguousarray(table.values))
    for column, values in table.categories.items():
        codes = {value: crc32(f"{column} {value!r}".encode()) for value in set(values)}
        keys = mixed(keys ^ mixed(np.array([codes[value] for value in values], dtype=np.uint64)))
    return keys
