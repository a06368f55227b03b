"""Scaling of features by range or by rank, distances in scaled units, and conversion of boxes to a wider encoder."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sslart._data.encoder import Encoder, Feature
from sslart._data.ranks import AUTO, CATEGORY, GRID, RANGE, RANK, RankScale, RankTable, same_scale
from sslart._data.samples import Table
from sslart._data.training import find_outliers
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.validation import check_bounds

CROWDED = 0.1  # of the range that the middle 80 % take by rank: see `is_crowded`
N_LOOKED_AT = 2000  # samples, which show crowding well enough


def first_encoder(
    owner: str, table: Table, shown: slice | IntArray, *, bounds: Any, scaling: str, stream: bool
) -> Encoder:
    """Return the first encoder of an estimator.

    `shown` are the rows of the first table, repeated as often as boxes learn them; `bounds` are the user's; in a stream
    further samples are expected.
    """
    limits = check_bounds(owner, bounds, table.values.shape[1] - table.n_parts)
    if limits is not None:
        unknown = np.full(table.n_parts, np.nan)
        limits = np.append(limits[0], unknown), np.append(limits[1], unknown)
    return scaled_by(scaling, Encoder.first(table, limits, stream=stream), table[shown], limits)


def scaled_by(scaling: str, encoder: Encoder, table: Table, bounds: tuple[FloatArray, FloatArray] | None) -> Encoder:
    """Return the encoder with the scaling that the user wants, given the first table with repeats.

    By rank: all features, or with "auto" those that `is_crowded`. Features with user bounds, with fewer than two
    distinct values, and parts of dates are always scaled by range.
    """
    if scaling == RANGE:
        return encoder
    free = [
        place
        for place, feature in enumerate(encoder.features)
        if feature.category is None
        and feature.column < table.values.shape[1] - table.n_parts
        and (bounds is None or np.isnan(bounds[0][feature.column]))
    ]
    values_of = {place: table.values[:, encoder.features[place].column] for place in free}
    if scaling == AUTO:
        values_of = {place: values for place, values in values_of.items() if is_crowded(values)}
    made = {place: RankTable.of_values(values) for place, values in values_of.items()}
    tables = {place: table for place, table in made.items() if table is not None}
    return replace(encoder, ranks=RankScale(tables)) if tables else encoder


def is_crowded(values: FloatArray) -> bool:
    """Return True if most values lie in a small part of the range, so that boxes can hardly distinguish them.

    Either a few outliers take nearly all of the range, or the middle 80 % of the samples take less than a tenth of the
    range that they take by rank. For an exponential distribution this is a quarter or more; for many counts, amounts
    and durations, a hundredth. A subset of many samples is checked.
    """
    known = values[~np.isnan(values)]
    some = np.sort(known[:: len(known) // N_LOOKED_AT + 1])
    table = RankTable.of_values(some)
    if table is None:
        return any(find_outliers(known[:, None]))
    middle = some[[len(some) // 10, -1 - len(some) // 10]]
    by_range = (middle[1] / 2 - middle[0] / 2) / (known.max() / 2 - known.min() / 2)
    by_rank = np.diff(table.at(middle)).item()
    return bool(by_range < CROWDED * by_rank) or any(find_outliers(known[:, None]))


def scaling_of(encoder: Encoder, n_columns: int) -> list[str]:
    """Return the scaling of each column: by range, by rank, or none because it is categorical."""
    scaling = [CATEGORY if column in encoder.categorical else RANGE for column in range(n_columns)]
    for place in () if encoder.ranks is None else encoder.ranks.tables:
        scaling[encoder.features[place].column] = RANK
    return scaling


MIDDLE = np.array([0.25, 0.75])


def coded_parts(encoder: Encoder, values: FloatArray, features: IntArray) -> FloatArray:
    """Return the coded position of values of some features on their scales, without rounding to the grid."""
    start, span = (ends[features] for ends in encoder.origin_and_span())
    return np.asarray((encoder.on_scale(values, features) - start) / span)


def distances_from(encoder: Encoder, feature: int, start: float, values: FloatArray) -> FloatArray:
    """Return the distance of values of one feature from a first one, in learnt ranges on its scale."""
    span = encoder.origin_and_span()[1].item(feature)
    on_scale = encoder.on_scale(np.append(start, values)[:, None], np.array([feature]))[:, 0]
    return np.asarray(abs(on_scale[1:] - on_scale[0]) / span)


def usual_spans(encoder: Encoder, features: IntArray) -> FloatArray:
    """Return a robust spread of features: their range, or twice the interquartile range if scaled by rank.

    A few outliers may take nearly all of the range of a feature scaled by rank.
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
    """Interpolate between two values of each feature on its scale."""
    values = np.asarray(starts + parts * (ends - starts))
    if encoder.ranks is not None:
        for at, _, table in encoder.ranks.of(features):
            start, end, part = starts.item(at), ends.item(at), parts[at]
            if start < end:
                values[at] = table.value_at(part, start, end)
            elif end < start:
                values[at] = table.value_at(1.0 - part, end, start)
    return values


def recode_boxes(
    encoder: Encoder, lower: FloatArray, upper: FloatArray, met: BoolArray, wider: Encoder
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Express boxes of an encoder in a wider one, rounded outward so that they cover the same region.

    Parameters
    ----------
    encoder : Encoder
    lower, upper : arrays of shape (n_boxes, n_features)
        Boxes in this encoder; lower > upper in features without a value yet.
    met : array of shape (n_boxes, n_constant)
        Mask: True if a box has learnt a value of a constant feature of this encoder.
    wider : Encoder
        A widened version of `encoder`, or joined from it and others. Features that were constant may vary now.
    """
    places = {feature: place for place, feature in enumerate(encoder.features)}
    kept = np.array([place for place, feature in enumerate(wider.features) if feature in places], dtype=np.int64)
    old = np.array([places[wider.features[place]] for place in kept], dtype=np.int64)
    new_lower = np.ones((len(lower), len(wider.features)))
    new_upper = np.zeros_like(new_lower)
    new_lower[:, kept], new_upper[:, kept] = lower[:, old], upper[:, old]
    differ = (encoder.lower[old] != wider.lower[kept]) | (encoder.upper[old] != wider.upper[kept])
    if encoder.ranks is not wider.ranks:
        before_and_after = zip(old.tolist(), kept.tolist(), strict=True)
        differ |= [not same_scale(encoder.scale_of(one), wider.scale_of(other)) for one, other in before_and_after]
    changed, before = kept[differ], old[differ]
    reached = lower[:, before] <= upper[:, before]
    for sides, new_sides, step in ((lower, new_lower, -1.0), (upper, new_upper, 1.0)):
        units = encoder.decode(sides[:, before], before)
        new_sides[:, changed] = np.where(reached, _coded_outward(wider, units, changed, step), sides[:, before])
    constant = {feature: place for place, feature in enumerate(encoder.constant)}

    def has_met(feature: Feature) -> BoolArray:
        """Return a mask of boxes that have learnt a value of a feature."""
        if feature in constant:
            return met[:, constant[feature]]
        place = places.get(feature)
        return np.zeros(len(lower), dtype=bool) if place is None else np.asarray(lower[:, place] <= upper[:, place])

    for place in np.setdiff1d(np.arange(len(wider.features)), kept):
        column = wider.features[place].column
        siblings = [has_met(one) for one in (*constant, *places) if one.column == column]
        if siblings:
            boxes = np.any(siblings, axis=0)
            value, at = np.array([[encoder.constant.get(wider.features[place], 0.0)]]), np.array([place])
            new_lower[boxes, place] = _coded_outward(wider, value, at, -1.0)
            new_upper[boxes, place] = _coded_outward(wider, value, at, 1.0)
    new_met = np.zeros((len(lower), len(wider.constant)), dtype=bool)
    for place, feature in enumerate(wider.constant):
        new_met[:, place] = has_met(feature)
    return new_lower, new_upper, new_met


def _coded_outward(encoder: Encoder, units: FloatArray, features: IntArray, step: float) -> FloatArray:
    """Return sides of boxes in the user's units as coded values: the lower sides (-1) or the upper ones (1)."""
    start, span = (values[features] for values in encoder.origin_and_span())
    whole = np.floor if step < 0 else np.ceil
    coded = np.clip(whole((encoder.on_scale(units, features) - start) / span * GRID) / GRID, 0.0, 1.0)
    falls_short = step * encoder.decode(coded, features) < step * units
    return np.clip(coded + falls_short * step / GRID, 0.0, 1.0)
