"""Boxes of one encoder in a wider one."""

from __future__ import annotations

import numpy as np

from sslart._data.encoder import GRID, Encoder
from sslart._utils.arrays import FloatArray


def recode_boxes(
    encoder: Encoder, lower: FloatArray, upper: FloatArray, wider: Encoder
) -> tuple[FloatArray, FloatArray]:
    """Express boxes of an encoder in a wider one, rounded outward so that they cover the same region.

    Parameters
    ----------
    encoder : Encoder
    lower, upper : arrays of shape (n_nodes, n_features)
        Boxes in this encoder; lower > upper on a side that no sample has reached yet.
    wider : Encoder
        An encoder made by widening this one.

    Returns
    -------
    tuple of two arrays of shape (n_nodes, n_features of the wider encoder)
    """
    new_lower = np.ones((len(lower), len(wider.features)))
    new_upper = np.zeros_like(new_lower)
    old = slice(0, len(encoder.features))
    new_lower[:, old], new_upper[:, old] = lower, upper
    changed = np.flatnonzero((encoder.lower != wider.lower[old]) | (encoder.upper != wider.upper[old]))
    reached = lower[:, changed] <= upper[:, changed]
    start, span = (values[changed] for values in wider.origin_and_span())
    for sides, new_sides, round_outward, step in (
        (lower, new_lower, np.floor, -1.0),
        (upper, new_upper, np.ceil, 1.0),
    ):
        units = encoder.decode(sides[:, changed], changed)
        coded = np.clip(round_outward((wider.on_scale(units, changed) - start) / span * GRID) / GRID, 0.0, 1.0)
        falls_short = step * wider.decode(coded, changed) < step * units
        new_sides[:, changed] = np.where(reached, coded + falls_short * step / GRID, sides[:, changed])
    for position in range(len(encoder.features), len(wider.features)):
        siblings = [
            place for place, feature in enumerate(encoder.features) if feature.column == wider.features[position].column
        ]
        reached = np.asarray((lower[:, siblings] <= upper[:, siblings]).any(axis=1))
        new_lower[reached, position] = 0.0
    return new_lower, new_upper
