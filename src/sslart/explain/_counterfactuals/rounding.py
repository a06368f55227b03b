"""Numbers of few decimals: how finely the data of each column are given, and rounding that never falls short."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._art.network import Network
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

SLACK = 1e-6  # of a step: what the grid of the encoder may lose


def decimals_of(network: Network, n_columns: int) -> IntArray:
    """Return the decimals that numbers of each column are given with, negative for tens, hundreds and so on.

    A step is at most a hundredth of the learnt range, or wider where every side of every box is a multiple of a wider
    one: that is how fine the data are, so that whole numbers stay whole.
    """
    encoder = network.encoder
    decimals = np.zeros(n_columns, dtype=np.int64)
    features = np.array(
        [place for place, feature in enumerate(encoder.features) if feature.category is None], dtype=int
    )
    spans = encoder.upper[features] - encoder.lower[features]
    features, spans = features[spans > 0], spans[spans > 0]
    columns = np.array([encoder.features[place].column for place in features], dtype=int)
    decimals[columns] = np.ceil(2.0 - np.log10(spans)).clip(-300, 300).astype(int)
    boxes = network.nodes.boxes()
    for _ in range(2):
        for nodes in (slice(0, 32), slice(None)):  # a few nodes rule most columns out
            whole = np.ones(len(features), dtype=bool)
            for side, opposite in (boxes, boxes[::-1]):
                values = encoder.decode(side[nodes, features], features)
                with np.errstate(over="ignore", invalid="ignore"):
                    scaled = _scaled(values, decimals[columns] - 1)
                    near = abs(scaled - np.rint(scaled)) <= SLACK
                whole &= (near | ((side - opposite)[nodes, features] * (1 if side is boxes[0] else -1) > 0)).all(axis=0)
            features, columns = features[whole], columns[whole]
        decimals[columns] -= 1
    return decimals


def _scaled(values: FloatArray, decimals: IntArray) -> FloatArray:
    return np.asarray(values * 10.0 ** np.maximum(decimals, 0) / 10.0 ** np.maximum(-decimals, 0))


def _outward(values: FloatArray, up: BoolArray, decimals: IntArray) -> FloatArray:
    """Round up or down to some decimals; what is as good as round stays."""
    scaled = _scaled(values, decimals)
    whole = np.where(up, np.ceil(scaled - SLACK), np.floor(scaled + SLACK))
    return np.asarray(whole * 10.0 ** np.maximum(-decimals, 0) / 10.0 ** np.maximum(decimals, 0) + 0.0)


def snapped(values: FloatArray, up: BoolArray, decimals: IntArray, limits: FloatArray) -> FloatArray:
    """Round outward, though not beyond limits: to more decimals, or not at all, where these are near."""
    snapped = values.copy()
    decimals = np.broadcast_to(decimals, values.shape)
    open_: Any = np.ones(values.shape, dtype=bool)
    for finer in range(3):
        rounded = _outward(values[open_], up[open_], decimals[open_] + finer)
        limit, slack = limits[open_], SLACK * 10.0 ** -(decimals[open_] + finer).astype(float)
        fits = np.where(up[open_], rounded <= limit + slack, rounded >= limit - slack) & np.isfinite(rounded)
        places = np.flatnonzero(open_)
        snapped.ravel()[places[fits]] = rounded[fits]
        open_ = np.zeros(values.size, dtype=bool)
        open_[places[~fits]] = True
        open_ = open_.reshape(values.shape)
        if fits.all():
            break
    return snapped


def between(values: FloatArray, ends: FloatArray, up: BoolArray, decimals: IntArray) -> FloatArray:
    """Round towards the ends, not beyond."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = _outward(values, up, decimals)
    return np.where(np.isfinite(rounded) & np.where(up, rounded < ends, rounded > ends), rounded, ends)
