"""Boxes of one encoder in a wider one."""

from __future__ import annotations

import numpy as np

from sslart._data.columns.features import Feature
from sslart._data.encoder import GRID, Encoder
from sslart._data.ranks.tables import RankTable, same_scale
from sslart._utils.arrays import BoolArray, FloatArray, IntArray


def recode_boxes(
    encoder: Encoder, lower: FloatArray, upper: FloatArray, met: BoolArray, wider: Encoder
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Express boxes of an encoder in a wider one, rounded outward so that they cover the same region.

    Parameters
    ----------
    encoder : Encoder
    lower, upper : arrays of shape (n_nodes, n_features)
        Boxes in this encoder; lower > upper on a side that no sample has reached yet.
    met : array of shape (n_nodes, n_constant)
        Whether each box has met a value of each constant feature of this encoder.
    wider : Encoder
        An encoder made by widening this one, or joined from it and others. Constant features may have become features,
        or features constant.

    Returns
    -------
    tuple of three arrays
        The same in the wider encoder.
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
        differ |= [not same_scale(_scale_of(encoder, one), _scale_of(wider, other)) for one, other in before_and_after]
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


def _scale_of(encoder: Encoder, place: int) -> RankTable | None:
    return None if encoder.ranks is None else encoder.ranks.tables.get(place)


def _coded_outward(encoder: Encoder, units: FloatArray, features: IntArray, step: float) -> FloatArray:
    """Return sides of boxes in the user's units as coded values: the lower sides (-1) or the upper ones (1)."""
    start, span = (values[features] for values in encoder.origin_and_span())
    whole = np.floor if step < 0 else np.ceil
    coded = np.clip(whole((encoder.on_scale(units, features) - start) / span * GRID) / GRID, 0.0, 1.0)
    falls_short = step * encoder.decode(coded, features) < step * units
    return np.clip(coded + falls_short * step / GRID, 0.0, 1.0)
