"""Certainty of contributions: standard errors over the choice of labelled samples, and what is settled by them."""

from __future__ import annotations

from math import floor, log10

import numpy as np
from scipy.special import stdtrit

from sslart._utils.arrays import BoolArray, FloatArray

LEVEL = 0.95  # of intervals
DIRECTION_LEVEL = 0.99  # of a direction, as many are stated at once
WIDENING = 1.5  # settings depend on labels as well; measured by benchmarks/explain/certainty.py
MAX_DECIMALS = 3
ORDER_NOT_SETTLED = "Order not settled: other labels may put {} before {}."
INTERVALS = "± is a 95 % interval over the choice of labelled samples, with the settings of this model."


def standard_error(replicates: FloatArray) -> FloatArray:
    """Return the delete-a-group jackknife standard error over the first axis, widened as measured."""
    n = len(replicates)
    return np.asarray(WIDENING * np.sqrt((n - 1) * replicates.var(axis=0)))


def half_width(replicates: FloatArray, level: float = LEVEL) -> FloatArray:
    """Return half the width of the interval of a value, given its replicates on the first axis."""
    return np.asarray(stdtrit(len(replicates) - 1, (1 + level) / 2) * standard_error(replicates))


def decimals_of(half_width: float | None) -> int:
    """Return the number of decimals up to the first significant digit of the standard error; 3 if not known."""
    if half_width is None or half_width < 10.0**-MAX_DECIMALS:
        return MAX_DECIMALS
    return max(min(-floor(log10(half_width / 2)), MAX_DECIMALS), 0)


def is_settled(values: FloatArray, replicates: FloatArray, level: float = LEVEL) -> BoolArray:
    """Return a mask of values whose interval excludes 0."""
    return np.asarray(np.abs(values) > half_width(replicates, level))
