"""A sample beside a box: one condition per feature, and how far the sample lies outside."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sslart._coding import Coding
from sslart._validate import BoolArray, FloatArray, Table

Value = float | int | str | bool
Class = int | str | bool


class Condition(NamedTuple):
    """What one box asks of one feature, beside the value that the sample has.

    Attributes
    ----------
    feature : str
        Name of the feature.
    value : number, category or None
        What the sample has; None where it is missing.
    lower, upper : float or None
        Side of the box in the user's units; None for a categorical feature, and where the box has met no value.
    categories : tuple or None
        The categories that the box admits; None for a numeric feature, and where the box has met no value.
    inside : bool or None
        Whether the value lies in the box; None where there is no evidence: value or side missing.
    outside_by : float
        How far the value lies outside, in the user's units; 1 for a category that the box does not admit.
    share : float
        Part of this feature in the distance between sample and box. All shares sum to one where there is a distance.
    width : float or None
        Part of the learnt range that the box spans; for a categorical feature, of the known categories.
    beyond_range : bool
        Whether the value lies beyond all that was learnt, or is a category never met.
    """

    feature: str
    value: Value | None
    lower: float | None
    upper: float | None
    categories: tuple[Value, ...] | None
    inside: bool | None
    outside_by: float
    share: float
    width: float | None
    beyond_range: bool


@dataclass(frozen=True)
class Sight:
    """Samples as one network sees them.

    Attributes
    ----------
    coding : Coding
    names : list of str
        Name of each column.
    table : Table
    coded : array of shape (n_samples, n_coded_features)
        Samples in the unit cube, NaN where missing.
    beyond : array of shape (n_samples, n_coded_features)
        How many ranges each value lies beyond the learnt range.
    """

    coding: Coding
    names: list[str]
    table: Table
    coded: FloatArray
    beyond: FloatArray

    def distances(self, lower: FloatArray, upper: FloatArray, rows: Any = slice(None)) -> FloatArray:
        """Return the distance to boxes per coded feature, in ranges; 0 where there is no evidence."""
        coded = self.coded[rows]
        outside = np.maximum(lower - coded, coded - upper).clip(min=0.0) + self.beyond[rows]
        return np.where(np.isnan(coded) | (lower > upper), 0.0, outside)


@dataclass(frozen=True, eq=False)
class Box:
    """A node beside a sample: its label, its support, and a condition per feature.

    Attributes
    ----------
    node : int
        Index of the node, in its member where the model is an ensemble.
    member : int or None
        Which member of an ensemble it belongs to.
    label : class or None
        Class of the node; None where it has no label.
    support : int
        How many samples the node has learnt.
    choice, match : float
        How the node was ranked for this sample, and how well it fits it.
    conditions : tuple of Condition
        One per feature, in the order of the columns.
    distance : float
        L1 distance between sample and box, in learnt ranges.
    """

    node: int
    member: int | None
    label: Class | None
    support: int
    choice: float
    match: float
    _sight: Sight
    _row: int
    _corners: tuple[FloatArray, FloatArray]

    @property
    def _lower(self) -> FloatArray:
        return np.asarray(self._corners[0][self._row])

    @property
    def _upper(self) -> FloatArray:
        return np.asarray(self._corners[1][self._row])

    @cached_property
    def _distances(self) -> FloatArray:
        return self._sight.distances(self._lower, self._upper, self._row)

    @property
    def distance(self) -> float:
        """L1 distance between sample and box, in learnt ranges."""
        return float(self._distances.sum())

    @cached_property
    def conditions(self) -> tuple[Condition, ...]:
        """One condition per feature, in the order of the columns."""
        distances, coding = self._distances, self._sight.coding
        total = float(distances.sum())
        shares = distances / total if total > 0 else np.zeros_like(distances)
        by_column = dict(
            zip(
                (feature.column for feature in coding.features),
                zip(
                    (self._lower <= self._upper).tolist(),
                    coding.decode(self._lower).tolist(),
                    coding.decode(self._upper).tolist(),
                    (self._upper - self._lower).tolist(),
                    distances.tolist(),
                    shares.tolist(),
                    coding.lower.tolist(),
                    coding.upper.tolist(),
                    strict=True,
                ),
                strict=True,
            )
        )
        values = self._sight.table.values[self._row].tolist()
        return tuple(
            self._on_categories(column, shares)
            if column in coding.categorical
            else _on_number(name, values[column], *by_column[column])
            for column, name in enumerate(self._sight.names)
        )

    @property
    def outside(self) -> tuple[Condition, ...]:
        """The conditions that the sample breaks, largest share of the distance first."""
        return tuple(sorted((c for c in self.conditions if c.inside is False), key=lambda c: -c.share))

    def _on_categories(self, column: int, shares: FloatArray) -> Condition:
        places = [place for place, feature in enumerate(self._sight.coding.features) if feature.column == column]
        given = self._sight.table.categories.get(column)
        value = None if given is None else given[self._row]
        known = [self._sight.coding.features[place].category for place in places]
        costs = category_costs(self._lower[None, places], self._upper[None, places])[0]
        admitted = tuple(category for category, cost in zip(known, costs, strict=True) if cost == 0)
        never_met = value is not None and value not in known
        evidence = value is not None and bool(admitted)
        distance = float(self._distances[places].sum())
        return Condition(
            self._sight.names[column],
            value,
            None,
            None,
            admitted or None,  # type: ignore[arg-type]
            distance == 0 and not never_met if evidence else None,
            float(evidence and (distance > 0 or never_met)),
            float(shares[places].sum()),
            len(admitted) / len(known) if admitted else None,
            never_met,
        )


def _on_number(
    name: str,
    value: float,
    reached: bool,
    lower: float,
    upper: float,
    width: float,
    distance: float,
    share: float,
    lowest: float,
    highest: float,
) -> Condition:
    """Return the condition of a numeric feature whose learnt range goes from the lowest to the highest value."""
    missing = value != value
    known = lowest <= highest and not missing
    beyond = min(max(lowest - value, value - highest, 0.0), sys.float_info.max) if known else 0.0
    span = highest - lowest
    return Condition(
        name,
        None if missing else value,
        lower if reached else None,
        upper if reached else None,
        None,
        distance == 0 if reached and known else None,
        (min(distance * span, sys.float_info.max) if span > 0 else beyond) if distance > 0 else 0.0,
        share,
        width if reached else None,
        beyond > 0,
    )


def category_costs(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return how far each category of a column lies from boxes, shape (n_boxes, n_categories); inf: not reached.

    A category is the corner of the unit cube with a 1 at its own indicator and 0 at all others.
    """
    costs = (1.0 - upper) + lower.sum(axis=1, keepdims=True) - lower
    return np.where((lower > upper).any(axis=1, keepdims=True), np.inf, costs)


def look(coding: Coding, names: list[str], table: Table, coded: FloatArray) -> Sight:
    """Return a coded table with all that a box needs to compare itself with its samples."""
    matrix = coding.matrix(table)
    beyond: FloatArray = np.zeros_like(coded)
    known = coding.lower <= coding.upper
    out: BoolArray = ((matrix < coding.lower) | (matrix > coding.upper)) & known
    if out.any():
        lower, upper = np.where(known, coding.lower, 0.0), np.where(known, coding.upper, 0.0)
        span = upper - lower
        with np.errstate(over="ignore"):
            ranges = np.maximum(lower - matrix, matrix - upper) / np.where(span > 0, span, 1.0)
        beyond = np.where(out, np.where(span > 0, np.minimum(ranges, 1e300 / matrix.shape[1]), 1.0), 0.0)
    return Sight(coding, names, table, coded, beyond)
