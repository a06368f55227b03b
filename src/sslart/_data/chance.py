"""Rates of chance agreement between values and rows of a table."""

from __future__ import annotations

from math import prod

import numpy as np

from sslart._utils.arrays import FloatArray


def equal_share(values: FloatArray) -> float:
    """Return the share of all pairs of values that are equal; one for fewer than two values.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart._data.chance import equal_share
    >>> equal_share(np.array([1.0, 1.0, 2.0, 3.0])) == 1 / 6
    True
    """
    n = len(values)
    if n < 2:
        return 1.0
    counts = np.unique(values, return_counts=True)[1]
    return float((counts * (counts - 1)).sum()) / (n * (n - 1))


def equal_rows_share(rows: FloatArray) -> float:
    """Return the share of all pairs of rows that would agree in every value by chance, if columns were independent.

    Copies would make values look more frequent than they are, so each distinct row counts once. A missing value must
    have a number of its own.
    """
    return prod(equal_share(column) for column in np.unique(rows, axis=0).T)
