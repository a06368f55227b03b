"""Rank scaling from the boxes: the distribution of all samples, labelled or not, feature by feature."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.ranks import GRID
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.validation import require, saved_array

Knots = tuple[FloatArray, FloatArray]

MAX_KNOTS = 256  # of a table of ranks; of more, evenly spaced ones stay
FEW_SAMPLES = 4  # as lists they cost less than as arrays


@dataclass(frozen=True)
class RankScaler:
    """The share of all samples at or below each value, per coded feature, straight between knots.

    Attributes
    ----------
    knots : tuple of (values, shares) or None
        None for an indicator, and for a feature without spread: these stay as they are.
    """

    knots: tuple[Knots | None, ...]

    @classmethod
    def of_boxes(cls, lower: FloatArray, upper: FloatArray, support: IntArray, indicator: BoolArray) -> RankScaler:
        """Return the ranks by boxes: the samples of each are taken as spread evenly over its side."""
        return cls(
            tuple(
                None if indicator[feature] else _knots(lower[:, feature], upper[:, feature], support)
                for feature in range(lower.shape[1])
            )
        )

    def blend(self, coded: FloatArray, rank_weight: float) -> FloatArray:
        """Return coded values as a mixture of themselves (weight 0) and their ranks (weight 1), still in [0, 1]."""
        if rank_weight == 0.0:
            return coded
        if len(coded) <= FEW_SAMPLES:
            return np.array([self._blended(row, rank_weight) for row in coded.tolist()]).reshape(coded.shape)
        blended = coded.copy()
        for feature, knots in enumerate(self.knots):
            if knots is not None:
                values = coded[:, feature]
                blended[:, feature] = (1.0 - rank_weight) * values + rank_weight * _shares_at(values, *knots)
        return blended

    def _blended(self, row: list[float], rank_weight: float) -> list[float]:
        return [
            value if knots is None else (1.0 - rank_weight) * value + rank_weight * _share_at(value, *knots)
            for value, knots in zip(row, self._knot_lists, strict=True)
        ]

    @cached_property
    def _knot_lists(self) -> list[tuple[list[float], list[float]] | None]:
        return [None if knots is None else (knots[0].tolist(), knots[1].tolist()) for knots in self.knots]

    def __getstate__(self) -> dict[str, Any]:
        return {"knots": self.knots}

    def tables(self) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the values and the shares of all features, one feature after another, and where each starts."""
        nothing = np.empty(0)
        tables = [(nothing, nothing) if knots is None else knots for knots in self.knots]
        offsets = np.concatenate([[0], np.cumsum([len(values) for values, _ in tables])]).astype(np.int64)
        values, shares = (np.concatenate([nothing, *(table[side] for table in tables)]) for side in (0, 1))
        return offsets, values, shares

    def add_to(self, scorer: Any) -> None:
        """Give the tables to a scorer of the backend."""
        scorer.set_ranks(*self.tables())

    def to_state(self) -> dict[str, Any]:
        """Return the tables as arrays."""
        return dict(zip(("offsets", "values", "shares"), self.tables(), strict=True))

    @classmethod
    def from_state(cls, state: dict[str, Any], n_features: int) -> RankScaler:
        """Return the ranks of a saved state, after checking that they can be some."""
        values = saved_array(state, "values", np.float64, None, low=0, high=1)
        shares = saved_array(state, "shares", np.float64, len(values), low=0, high=1)
        offsets = saved_array(state, "offsets", np.int64, n_features + 1, low=0, high=len(values))
        sizes = np.diff(offsets)
        fits = offsets[0] == 0 and offsets[-1] == len(values) and ((sizes == 0) | (sizes > 1)).all()
        inside = np.ones(max(len(values) - 1, 0), dtype=bool)
        inside[offsets[(offsets > 0) & (offsets < len(values))] - 1] = False  # from one feature to the next
        rises = (np.diff(values)[inside] > 0).all() and (np.diff(shares)[inside] >= 0).all()
        require(fits and rises and (values * GRID % 1 == 0).all(), "the ranks")
        parts = (slice(start, stop) for start, stop in itertools.pairwise(offsets.tolist()))
        return cls(tuple((values[own], shares[own]) if own.stop > own.start else None for own in parts))


def _shares_at(given: FloatArray, values: FloatArray, shares: FloatArray) -> FloatArray:
    """Interpolate as `numpy.interp` does, with every step rounded, so that all machines give the same bits."""
    place = np.clip(np.searchsorted(values, given, side="right") - 1, 0, len(values) - 2)
    slope = (np.diff(shares) / np.diff(values))[place]
    found = slope * (np.clip(given, values[0], values[-1]) - values[place]) + shares[place]
    return np.where(given >= values[-1], shares[-1], found)


def _share_at(value: float, values: list[float], shares: list[float]) -> float:
    """Interpolate a single value as `_shares_at` does."""
    place = bisect_right(values, value) - 1
    if value != value:
        return value
    if place < 0 or place == len(values) - 1 or values[place] == value:
        return shares[max(place, 0)]
    slope = (shares[place + 1] - shares[place]) / (values[place + 1] - values[place])
    return slope * (value - values[place]) + shares[place]


def _knots(lower: FloatArray, upper: FloatArray, support: IntArray) -> Knots | None:
    reached = lower <= upper
    lower, upper, mass = lower[reached], upper[reached], support[reached].astype(np.float64)
    values = np.unique(np.concatenate([lower, upper]))
    if len(values) < 2:
        return None
    first, last = np.searchsorted(values, lower), np.searchsorted(values, upper)
    wide = upper > lower
    density = np.zeros(len(values))
    per_length = mass[wide] / (upper - lower)[wide]
    np.add.at(density, first[wide], per_length)
    np.add.at(density, last[wide], -per_length)
    spread = np.concatenate([[0.0], np.cumsum(np.cumsum(density)[:-1] * np.diff(values))])
    points = np.bincount(first[~wide], mass[~wide], minlength=len(values))
    shares = np.maximum.accumulate(spread + np.cumsum(points) - points / 2)
    span = shares[-1] - shares[0]
    if not span > 0:
        return None
    shares = (shares - shares[0]) / span
    if len(shares) > MAX_KNOTS:
        evenly = np.searchsorted(shares, np.linspace(0.0, 1.0, MAX_KNOTS))
        kept = np.unique(np.concatenate([[0], evenly, [len(shares) - 1]]))
        values, shares = values[kept], shares[kept]
    return values, shares
