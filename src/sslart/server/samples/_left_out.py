"""Assignment of the left-out labels of a model to rows of the store."""

from __future__ import annotations

from collections import defaultdict, deque

import numpy as np

from sslart._art.row_keys import row_keys
from sslart._data.samples import Table
from sslart._mapping.loo_predictions import LooPredictions
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import IntArray

NOT_FOUND = -1


def kept_samples(view: ModelView) -> Table:
    """Return the labelled samples that `LooPredictions.rows` refers to."""
    kept = (member.mapping.kept_labels for member in view.members if member.mapping.left_out is not None)
    return next(one[0] for one in kept if one is not None)


def places_of(left_out: LooPredictions, view: ModelView, samples: Table, labels: IntArray) -> IntArray:
    """Return where the sample of each left-out label is; -1 where none of the samples has its values and its label.

    Parameters
    ----------
    left_out : LooPredictions
    view : ModelView
    samples : Table
        Of the store, as the model reads them.
    labels : array of int
        The class index of each sample, -1 where it has no label.
    """
    labelled = np.flatnonzero(labels >= 0)
    waiting: dict[tuple[int, int], deque[int]] = defaultdict(deque)
    keys = row_keys(samples[labelled]) if len(labelled) else np.zeros(0, dtype=np.uint64)
    for place, key, label in zip(labelled.tolist(), keys.tolist(), labels[labelled].tolist(), strict=True):
        waiting[key, label].append(place)
    wanted = row_keys(kept_samples(view)[left_out.rows]) if len(left_out.rows) else np.zeros(0, dtype=np.uint64)
    found = []
    for key, label in zip(wanted.tolist(), left_out.truth.tolist(), strict=True):
        own = waiting.get((key, label))
        found.append(own.popleft() if own else NOT_FOUND)
    return np.array(found, dtype=np.int64)
