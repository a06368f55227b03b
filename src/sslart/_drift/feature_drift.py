"""Features whose values lie where they never were: also where each sample by itself is familiar to the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sslart._drift.buckets import END
from sslart._drift.features import FeatureHistory
from sslart._utils.text import DateName

EVERY = 256  # samples after which features are looked at
AFTER = 128  # samples at the end of the stream: their mean is compared
APART = 512  # samples at the end of the stream that are not compared with, so that a change lies between
MARGIN = 1.0  # standard deviations that the mean lies beyond the means of all earlier parts
MIN_VALUES = 16


def feature_change(history: FeatureHistory, end: int, names: Callable[[], Sequence[str]]) -> int | None:
    """Return the last sample before the mean of a feature has left the range of its earlier means; None: none has.

    Parameters
    ----------
    history : FeatureHistory
    end : int
        The last sample of the stream.
    names : callable
        Returns the names of the columns. Those that hold dates are left out.
    """
    rows = history.buckets.rows
    begins = np.concatenate([[0.0], rows[:-1, END]])
    earlier, later = rows[:, END] <= end - APART, begins >= end - APART
    if end < 2 * APART or not earlier.any():
        return None
    counts, means = history.means(rows)
    n, _, variance = history.moments(rows[earlier].sum(axis=0))
    n_after, mean_after, _ = history.moments(rows[begins >= end - AFTER].sum(axis=0))
    known = (counts >= MIN_VALUES) & earlier[:, np.newaxis]
    lowest, highest = np.where(known, means, np.inf).min(axis=0), np.where(known, means, -np.inf).max(axis=0)
    deviation = np.sqrt(variance)
    beyond = np.maximum(mean_after - highest, lowest - mean_after)
    left = (n >= APART // 2) & (n_after >= MIN_VALUES) & known.any(axis=0) & (beyond > MARGIN * deviation)
    if not left.any():
        return None
    left &= [not isinstance(names()[column], DateName) for column in history.columns]
    if not left.any():
        return None
    most = int(np.where(left, beyond / np.maximum(deviation, 1e-300), -1.0).argmax())
    own = means[later, most]
    inside = np.maximum(own - highest[most], lowest[most] - own) <= MARGIN / 2 * deviation[most]
    last = np.flatnonzero(inside & (counts[later, most] > 0))
    return min(int(rows[later, END][last[-1]]), end - AFTER) if len(last) else end - APART
