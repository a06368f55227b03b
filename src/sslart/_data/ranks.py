"""Scaling of numeric features by rank: piecewise linear tables of the empirical distribution of the first call.

A table maps the user's units to positions: 0 for the lowest value of the first call, 1 for the highest, and in between
the share of samples below, interpolated linearly between knots. The scale is extrapolated linearly beyond both ends, so
that a range of positions can widen as a range of values does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.cache import CachesValues
from sslart._utils.validation import require, saved_array

RANGE, RANK, AUTO, CATEGORY = "range", "rank", "auto", "category"
SCALINGS = (RANGE, RANK)

MAX_KNOTS = 256  # a position is exact to 1/256 of the samples
TAIL = 1.0 / 16.0  # share of samples at an end that sets the slope beyond it
FEW = 2**16  # comparisons with knots up to which all features are looked up at once, which is faster
LARGEST = float(np.finfo(np.float64).max)
GRID = 2.0**32
UNCHANGED = np.array([[0.0], [1.0], [0.0], [1.0], [np.inf]])  # the identity: stretch of a feature without a table


@dataclass(frozen=True, eq=False)
class RankTable(CachesValues):
    """The scale of one feature: ascending knots in the user's units, and their positions from 0 to 1."""

    values: FloatArray
    positions: FloatArray

    @classmethod
    def of_values(cls, values: FloatArray) -> RankTable | None:
        """Return the table of some values, NaN where missing; None if fewer than two are distinct.

        Ties have their mean rank.
        """
        distinct, counts = np.unique(values[~np.isnan(values)], return_counts=True)
        if len(distinct) < 2:
            return None
        middle = np.cumsum(counts) - counts / 2.0
        positions = (middle - middle[0]) / (middle[-1] - middle[0])
        return thinned(distinct, positions)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """Widths below and above the table, in units of the feature, that equal the table's length on the scale.

        They follow the slope of the outer samples, so that a long tail stays one, and are at least the range of the
        table, so that no value is farther away on the scale than in ranges.
        """
        values, positions = self.values, self.positions
        low, high = np.searchsorted(positions, TAIL), np.searchsorted(positions, 1.0 - TAIL, side="right") - 1
        width = values[-1] - values[0]
        with np.errstate(over="ignore"):
            below = (values[low] - values[0]) / positions[low]
            above = (values[-1] - values[high]) / (1.0 - positions[high])
        return float(min(max(below, width), LARGEST)), float(min(max(above, width), LARGEST))

    @cached_property
    def stretches(self) -> FloatArray:
        """Linear pieces of the scale from below the first knot to above the last, shape (5, n_knots + 1).

        Rows: start and width in the user's units, start and length in positions, and the end that clips the piece.
        """
        below, above = self.reach
        values, positions = self.values, self.positions
        return np.array(
            [
                np.append(values[0], values),
                np.concatenate([[below], np.diff(values), [above]]),
                np.append(0.0, positions),
                np.concatenate([[1.0], np.diff(positions), [1.0]]),
                np.append(positions, np.inf),
            ]
        )

    def at(self, values: FloatArray) -> FloatArray:
        """Return the positions of values; NaN stays NaN."""
        return _on_stretches(values, self.stretches[:, np.searchsorted(self.values, values, side="right")])

    def value_at(self, coded: FloatArray, lower: float, upper: float) -> FloatArray:
        """Return the values at fractions of the way from `lower` to `upper`, exactly at the knots."""
        values = np.concatenate([[lower], self.values[(self.values > lower) & (self.values < upper)], [upper]])
        knots = np.rint(self.coded(values, lower, upper) * GRID) / GRID
        place = np.clip(np.searchsorted(knots, coded, side="right"), 1, len(knots) - 1)
        start, end = knots[place - 1], knots[place]
        part = np.where(end > start, (coded - start) / np.where(end > start, end - start, 1.0), 1.0)
        between = values[place - 1] + part * (values[place] - values[place - 1])
        inside = np.clip(between, values[place - 1], values[place])
        return np.where(coded >= 1.0, upper, np.where(coded <= 0.0, lower, inside))  # knots may share a code

    def coded(self, values: FloatArray, lower: float, upper: float) -> FloatArray:
        """Return positions rescaled to 0 at `lower` and 1 at `upper`."""
        start, end = self.at(np.array([lower, upper]))
        return np.asarray((self.at(values) - start) / (end - start))

    def beyond_others(self, end: float, others: float) -> float:
        """Return the distance of an extreme value from the others, on the scale of a table made without it.

        `end` is the lowest or highest value, `others` the lowest or highest of the other values.
        """
        is_low = end < others
        kept = self.values[self.values > others] if is_low else self.values[self.values < others]
        if not len(kept):
            return 1.0
        values = np.append(others, kept) if is_low else np.append(kept, others)
        positions = self.at(values)
        without = RankTable(values, (positions - positions[0]) / (positions[-1] - positions[0]))
        return abs(end - others) / without.reach[0 if is_low else 1]


def same_scale(one: RankTable | None, other: RankTable | None) -> bool:
    """Return True if two rank tables are equal, or both None."""
    if one is None or other is None:
        return one is other
    return one is other or (np.array_equal(one.values, other.values) and np.array_equal(one.positions, other.positions))


def thinned(values: FloatArray, positions: FloatArray) -> RankTable:
    """Return the table of knots; of more than `MAX_KNOTS`, evenly spaced ones on the scale."""
    if len(values) > MAX_KNOTS:
        evenly = np.searchsorted(positions, np.linspace(0.0, 1.0, MAX_KNOTS))
        kept = np.unique(np.minimum(evenly, len(values) - 1))
        values, positions = values[kept], positions[kept]
    return RankTable(values, positions)


def _on_stretches(values: FloatArray, stretches: FloatArray) -> FloatArray:
    start, width, position, length, end = stretches
    with np.errstate(over="ignore"):
        return np.asarray(np.minimum(position + (values - start) / width * length, end))


@dataclass(frozen=True, eq=False)
class RankScale(CachesValues):
    """The scales of the features that have a table, by the place of the feature among the coded features."""

    tables: Mapping[int, RankTable]

    def of(self, features: IntArray) -> Iterator[tuple[int, int, RankTable]]:
        """Yield the tables of some features: index among these features, index among all, and the table."""
        for at, place in enumerate(features.tolist()):
            if place in self.tables:
                yield at, place, self.tables[place]

    def positions(self, matrix: FloatArray, features: IntArray | None = None) -> FloatArray:
        """Replace values in the user's units by positions, for features that have a table."""
        positions = matrix.copy()
        places, (knots, stretches, first) = self._places, self._together
        if features is None and len(matrix) * knots.size <= FEW:
            values = matrix[:, places]
            reached = (values[:, :, None] >= knots).sum(axis=2)
            positions[:, places] = _on_stretches(values, stretches[:, first + reached])
            return positions
        for at, _, table in self.of(np.arange(matrix.shape[1]) if features is None else features):
            positions[:, at] = table.at(matrix[:, at])
        return positions

    @cached_property
    def _places(self) -> IntArray:
        return np.array(list(self.tables), dtype=np.int64)

    @cached_property
    def _together(self) -> tuple[FloatArray, FloatArray, IntArray]:
        return self.together(self._places)

    def together(self, features: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
        """Return the scales of features as arrays; a feature without a table has one piece, the identity.

        Returns
        -------
        knots : array of shape (n_features, n_knots), infinite where a table has fewer
        stretches : array of shape (5, n_stretches), see `RankTable.stretches`
        first : array of int of length n_features, the index of each feature's first piece
        """
        tables = [self.tables.get(place) for place in features.tolist()]
        n_knots = [0 if table is None else len(table.values) for table in tables]
        knots = np.full((len(tables), max(n_knots)), np.inf)
        for row, table in zip(knots, tables, strict=True):
            if table is not None:
                row[: len(table.values)] = table.values
        stretches = [UNCHANGED if table is None else table.stretches for table in tables]
        return knots, np.concatenate(stretches, axis=1), np.cumsum([0, *n_knots[:-1]]) + np.arange(len(tables))

    def taking(self, places: Sequence[int]) -> RankScale | None:
        """Return the scales of a subset of features in the given order; None if none has a table."""
        tables = {new: self.tables[old] for new, old in enumerate(places) if old in self.tables}
        return RankScale(tables) if tables else None

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: arrays."""
        tables = list(self.tables.values())
        return {
            "places": np.array(list(self.tables), dtype=np.int64),
            "n_knots": np.array([len(table.values) for table in tables], dtype=np.int64),
            "values": np.concatenate([table.values for table in tables]),
            "positions": np.concatenate([table.positions for table in tables]),
        }

    @classmethod
    def from_state(
        cls, state: Mapping[str, Any], lower: FloatArray, upper: FloatArray, indicator: BoolArray
    ) -> RankScale:
        """Restore the scales from a saved state after validating it."""
        places = saved_array(state, "places", np.int64, None)
        n_knots = saved_array(state, "n_knots", np.int64, len(places), low=2, high=MAX_KNOTS)
        require(len(places) and len(set(places.tolist())) == len(places), "the scales")
        require(set(places.tolist()) <= set(np.flatnonzero(~indicator).tolist()), "the scales")
        n_all, ends = int(n_knots.sum()), np.cumsum(n_knots)[:-1]
        values, positions = (saved_array(state, name, np.float64, n_all) for name in ("values", "positions"))
        tables = {}
        for place, own, own_positions in zip(
            places.tolist(), np.split(values, ends), np.split(positions, ends), strict=True
        ):
            with np.errstate(over="ignore", invalid="ignore"):
                ascending = (np.diff(own) > 0).all() and (np.diff(own_positions) > 0).all()
                require(ascending and np.isfinite(own[-1] - own[0]), "the scales")
            require(own_positions[0] == 0.0 and own_positions[-1] == 1.0, "the scales")
            require(lower[place] <= own[0] and own[-1] <= upper[place], "the scales")
            tables[place] = RankTable(own, own_positions)
        return cls(tables)
