"""Support for masked arrays: masked values are missing."""

from __future__ import annotations

import sys
from typing import Any


def without_mask(values: Any) -> Any:
    """Return the values of a masked NumPy array with None where masked; return other values unchanged."""
    masked = sys.modules.get("numpy.ma")  # no masked array can be made without it, and loading it takes time
    if masked is None or not isinstance(values, masked.MaskedArray):
        return values
    plain = masked.getdata(values).astype(object)
    plain[masked.getmaskarray(values)] = None
    return plain
