"""Features whose values lie where they never were: also where each sample by itself is familiar to the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sslart._drift.buckets import END
from sslart._drift.features import FeatureHistory
from sslart._utils.text import DateName

# samples, four times as many in a long stream
EVERY = 256  # after so many features are looked at
AFTER = 128  # at the end of the stream: their mean is compared
APART = 512  # at the end of the stream: not compared with, so that a change lies between
LONG = 16_384
MARGIN = 1.0  # standard deviations that the mean lies beyond the means of all earlier parts
MIN_VALUES = 16


def is_looked_at(end: int) -> bool:
    """Return whether features are looked at after so many samples."""
    return end % (EVERY * _times(end)) == 0


def _times(end: int) -> int:
    return 1 if end <= LONG else 4


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
    rows, after, apart = history.buckets.rows, AFTER * _times(end), APART * _times(end)
    begins = np.concatenate([[0.0], rows[:-1, END]])
    earlier, later = rows[:, END] <= end - apart, begins >= end - apart
    if end < 2 * apart or not earlier.any():
        return None
    counts, means = history.means(rows)
    n, _, variance = history.moments(rows[earlier].sum(axis=0))
    n_after, mean_after, _ = history.moments(rows[begins >= end - after].sum(axis=0))
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
    return min(int(rows[later, END][last[-1]]), end - after) if len(last) else end - apart
