"""Drift of features to values never seen before, even if each sample by itself is familiar to the model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sslart._art.backend import backend
from sslart._data.stream_sums import END, MARGIN, MIN_OF_MEAN
from sslart._drift.features import FeatureHistory
from sslart._utils.text import DateName

# samples, four times as many in a long stream
EVERY = 256  # after so many features are looked at
AFTER = 128  # at the end of the stream: their mean is compared
APART = 512  # at the end of the stream: not compared with, so that a change lies between
LONG = 16_384


def is_looked_at(end: int) -> bool:
    """Return True if features are checked after `end` samples."""
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
    if end < 2 * apart:
        return None
    ends = rows[:, END]
    begins = np.concatenate([[-np.inf], ends[:-1]])
    n_earlier = int(np.searchsorted(ends, end - apart, side="right"))
    beyond = np.empty(len(history.first) + len(history.categories))
    first_after = int(np.searchsorted(begins, end - after))
    found = backend().drift_beyond(rows, history.origins, history.category_columns, n_earlier, first_after, beyond)
    if not found:
        return None
    beyond[[isinstance(names()[column], DateName) for column in history.columns]] = -1.0
    most = int(beyond.argmax())
    if beyond[most] < 0.0:
        return None
    counts, means = (of[:, most] for of in history.means(rows))
    _, _, variance = history.moments(rows[:n_earlier].sum(axis=0))
    earlier = means[:n_earlier][counts[:n_earlier] >= MIN_OF_MEAN]
    first_later = int(np.searchsorted(begins, end - apart))
    own = means[first_later:]
    inside = np.maximum(own - earlier.max(), earlier.min() - own) <= MARGIN / 2 * np.sqrt(variance[most])
    last = np.flatnonzero(inside & (counts[first_later:] > 0))
    return min(int(ends[first_later:][last[-1]]), end - after) if len(last) else end - apart
