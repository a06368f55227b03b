"""Numbers of few decimals: how finely the data of each column are given, and rounding that never falls short."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._art.network import Network
from sslart._data.ranks import GRID
from sslart._data.scaling import usual_spans
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

SLACK = 1e-6  # of a step: what the grid of the encoder may lose
FINER = 3  # decimals
MOST = 0.8


def decimals_of(network: Network, n_columns: int) -> IntArray:
    """Return the decimals that numbers of each column are given with, negative for tens, hundreds and so on.

    A step is at most a hundredth of the learnt range, or wider where every side of every box is a multiple of a wider
    one: that is how fine the data are, so that whole numbers stay whole.
    """
    decimals = np.zeros(n_columns, dtype=np.int64)
    features, spans = _numbers(network)
    columns = _columns(network, features)
    decimals[columns] = np.ceil(2.0 - np.log10(spans)).clip(-300, 300).astype(int)
    for _ in range(2):
        features = features[_are_multiples(network, features, decimals[_columns(network, features)] - 1)]
        decimals[_columns(network, features)] -= 1
    return decimals


def data_decimals(network: Network, n_columns: int, values: list[FloatArray]) -> IntArray:
    """Return the decimals that most values of each column have.

    At most three more than `decimals_of` gives: what needs still more is as good as continuous. `values`: of each coded
    feature.
    """
    decimals = decimals_of(network, n_columns)
    features, spans = _numbers(network)
    columns = _columns(network, features)
    for place, column, span in zip(features.tolist(), columns.tolist(), spans.tolist(), strict=True):
        distinct, counts = np.unique(values[place], return_counts=True)
        counts = np.where(np.arange(len(counts)) == counts.argmax(), 1e-9, counts)  # such as the zeros of an amount
        first, last = decimals.item(column) - 2, decimals.item(column) + FINER
        found = (
            one
            for one in range(first, last)
            if counts[_are_whole(scaled(distinct, one), scaled(span, one))].sum() >= MOST * counts.sum()
        )
        decimals[column] = next(found, last)
    return decimals


def learnt_values(network: Network, *, fast: bool) -> list[FloatArray]:
    """Return values that samples have had in each coded feature: the sides of boxes.

    `fast`: whether the learning rate is 1. Otherwise sides lie between values of samples, except those of boxes
    without a width and the ends of the range.
    """
    lower, upper = network.boxes_in_units()
    of_samples = ~np.isnan(lower) if fast else lower == upper
    ends = np.array([network.encoder.lower, network.encoder.upper])[: 0 if fast else 2]
    return [
        np.concatenate([lower[of_samples[:, place], place], upper[of_samples[:, place], place], ends[:, place]])
        for place in range(lower.shape[1])
    ]


def _are_whole(units: FloatArray, span: float) -> BoolArray:
    """Return which values are whole numbers, up to what the grid of the encoder loses of a range so wide."""
    return np.asarray(abs(units - np.rint(units)) <= max(SLACK, span * 4 / GRID))


def _numbers(network: Network) -> tuple[IntArray, FloatArray]:
    """Return the numeric features of more than one value, and over how many units they spread."""
    encoder = network.encoder
    features = np.array(
        [place for place, feature in enumerate(encoder.features) if feature.category is None], dtype=np.int64
    )
    spans = usual_spans(encoder, features)
    return features[spans > 0], spans[spans > 0]


def _columns(network: Network, features: IntArray) -> IntArray:
    return np.array([network.encoder.features[place].column for place in features], dtype=np.int64)


def _are_multiples(network: Network, features: IntArray, decimals: IntArray) -> BoolArray:
    """Return for each feature whether every side of every box has no more than the given decimals."""
    encoder, boxes = network.encoder, network.nodes.boxes()
    whole = np.ones(len(features), dtype=bool)
    for nodes in (slice(0, 32), slice(None)):  # a few nodes rule most columns out
        rows = np.flatnonzero(whole)
        lower, upper = (side[nodes][:, features[rows]] for side in boxes)
        for side in (lower, upper):
            with np.errstate(over="ignore", invalid="ignore"):
                units = _scaled(encoder.decode(side, features[rows]), decimals[rows])
                near = abs(units - np.rint(units)) <= SLACK
            whole[rows] &= (near | (lower > upper)).all(axis=0)
    return whole


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


def as_whole(values: FloatArray, decimals: int) -> FloatArray:
    """Return numbers of so many decimals as whole numbers: 1.25 with two decimals is 125."""
    return np.asarray(np.rint(scaled(values, decimals)))


def scaled(values: Any, decimals: int) -> Any:
    """Return numbers in units of their last decimal."""
    return values * 10.0**decimals if decimals >= 0 else values / 10.0**-decimals


def from_whole(values: FloatArray, decimals: int) -> FloatArray:
    """Return the numbers that `as_whole` has been given."""
    return np.asarray(values / 10.0**decimals if decimals >= 0 else values * 10.0**-decimals) + 0.0
