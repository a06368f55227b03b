"""Masked arrays: what is masked is missing."""

from __future__ import annotations

import sys
from typing import Any


def without_mask(values: Any) -> Any:
    """Return values with None in the place of what a masked array of NumPy masks; all else as it is."""
    masked = sys.modules.get("numpy.ma")  # no masked array can be made without it, and loading it takes time
    if masked is None or not isinstance(values, masked.MaskedArray):
        return values
    plain = masked.getdata(values).astype(object)
    plain[masked.getmaskarray(values)] = None
    return plain
