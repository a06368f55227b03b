"""Distances between values of a feature on the scale of its encoder."""

from __future__ import annotations

import numpy as np

from sslart._data.encoder import Encoder
from sslart._utils.arrays import FloatArray, IntArray

MIDDLE = np.array([0.25, 0.75])


def coded_parts(encoder: Encoder, values: FloatArray, features: IntArray) -> FloatArray:
    """Return the coded position of each value on its scale, without rounding to the grid.

    Parameters
    ----------
    encoder : Encoder
    values : array of shape (n_samples, n_features)
        In the user's units.
    features : array of int of length n_features
    """
    start, span = (ends[features] for ends in encoder.origin_and_span())
    return np.asarray((encoder.on_scale(values, features) - start) / span)


def distances_from(encoder: Encoder, feature: int, start: float, values: FloatArray) -> FloatArray:
    """Return the distance of values of one feature from a first one, in learnt ranges on its scale."""
    span = encoder.origin_and_span()[1].item(feature)
    on_scale = encoder.on_scale(np.append(start, values)[:, None], np.array([feature]))[:, 0]
    return np.asarray(abs(on_scale[1:] - on_scale[0]) / span)


def usual_spans(encoder: Encoder, features: IntArray) -> FloatArray:
    """Return over how many units the values of features usually spread: their range, or twice that of the middle half.

    The middle half where a feature is scaled by rank: a few values may take nearly all of its range.
    """
    spans = encoder.upper[features] - encoder.lower[features]
    if encoder.ranks is not None:
        for at, _, table in encoder.ranks.of(features):
            low, high = table.value_at(MIDDLE, table.values.item(0), table.values.item(-1)).tolist()
            spans[at] = min(2.0 * (high - low), spans[at]) if high > low else spans[at]
    return np.asarray(spans)


def on_the_way(
    encoder: Encoder, features: IntArray, starts: FloatArray, ends: FloatArray, parts: FloatArray
) -> FloatArray:
    """Return for each feature the value at a part of the way from one value to another, as its scale measures it."""
    values = np.asarray(starts + parts * (ends - starts))
    if encoder.ranks is not None:
        for at, _, table in encoder.ranks.of(features):
            start, end, part = starts.item(at), ends.item(at), parts[at]
            if start < end:
                values[at] = table.value_at(part, start, end)
            elif end < start:
                values[at] = table.value_at(1.0 - part, end, start)
    return values
