"""A sample beside a box: one condition per feature, and how far the sample lies outside."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from sslart._data.encoder import Encoder
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

Value = float | int | str | bool
Class = int | str | bool

NO_NODE = -1
BLOCK = 128  # samples whose conditions are worked out together when one of them is looked at


class FeatureMatch(NamedTuple):
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


_condition = partial(tuple.__new__, FeatureMatch)  # as FeatureMatch._make, which checks each length


@dataclass(frozen=True)
class Sight:
    """Samples as one network sees them.

    Attributes
    ----------
    encoder : Encoder
    names : list of str
        Name of each column.
    table : Table
    coded : array of shape (n_samples, n_coded_features)
        Samples in the unit cube, NaN where missing.
    beyond : array of shape (n_samples, n_coded_features)
        How many ranges each value lies beyond the learnt range.
    """

    encoder: Encoder
    names: list[str]
    table: Table
    coded: FloatArray
    beyond: FloatArray

    def distances(self, lower: FloatArray, upper: FloatArray, rows: Any = slice(None)) -> FloatArray:
        """Return the distance to boxes per coded feature, in ranges; 0 where there is no evidence."""
        coded = self.coded[rows]
        outside = np.maximum(lower - coded, coded - upper).clip(min=0.0) + self.beyond[rows]
        return np.where(np.isnan(coded) | (lower > upper), 0.0, outside)

    def of(self, rows: IntArray) -> Sight:
        """Return some of the samples, each as often as it is named."""
        return Sight(self.encoder, self.names, self.table[rows], self.coded[rows], self.beyond[rows])

    def categories(self, column: int) -> tuple[list[int], list[Any]]:
        """Return where the categories of a column are coded, and which they are."""
        features = self.encoder.features
        positions = [position for position, feature in enumerate(features) if feature.column == column]
        return positions, [features[position].category for position in positions]

    @cached_property
    def numeric(self) -> list[int]:
        """The numeric columns."""
        return [column for column in range(len(self.names)) if column not in self.encoder.categorical]

    @cached_property
    def numeric_names(self) -> list[str]:
        """Their names."""
        return [self.names[column] for column in self.numeric]


class Block(NamedTuple):
    """The conditions of several samples: distances and shares per coded feature, and a list per field of the numbers.

    The lists hold one value per sample and numeric column; strings of Python values make no work for its collector.
    """

    distances: FloatArray
    shares: FloatArray
    fields: tuple[list[Any], ...]


@dataclass(frozen=True, eq=False)
class Boxes:
    """One node beside each of several samples.

    Attributes
    ----------
    sight : Sight
        The samples.
    member : int or None
        Which member of an ensemble the nodes belong to.
    classes : tuple
        What the labels stand for.
    nodes, labels, support : arrays of int of length n_samples
        Node and label are -1 for none.
    choices, matches : arrays of length n_samples
    lower, upper : arrays of shape (n_samples, n_coded_features)
        The boxes in the unit cube.
    """

    sight: Sight
    member: int | None
    classes: tuple[Class, ...]
    nodes: IntArray
    labels: IntArray
    support: IntArray
    choices: FloatArray
    matches: FloatArray
    lower: FloatArray
    upper: FloatArray
    _blocks: dict[int, Block] = field(default_factory=dict, repr=False)
    _strange: list[Any] = field(default_factory=list, repr=False)

    def __getitem__(self, row: int) -> Box | None:
        node, label = self.nodes.item(row), self.labels.item(row)
        if node == NO_NODE:
            return None
        return Box(
            node,
            self.member,
            None if label < 0 else self.classes[label],
            self.support.item(row),
            self.choices.item(row),
            self.matches.item(row),
            self,
            row,
        )

    def _block(self, row: int) -> tuple[Block, int]:
        """Return the block that a sample belongs to, and its place there."""
        number, place = divmod(row, BLOCK)
        if number not in self._blocks:
            self._blocks[number] = self._compare(slice(number * BLOCK, (number + 1) * BLOCK))
        return self._blocks[number], place

    def _compare(self, rows: slice) -> Block:
        lower, upper, encoder = self.lower[rows], self.upper[rows], self.sight.encoder
        distances = self.sight.distances(lower, upper, rows)
        total = distances.sum(axis=1, keepdims=True)
        shares = distances / np.where(total > 0, total, 1.0)
        columns = self.sight.numeric
        n = len(columns)  # numeric features come first, in the order of the columns
        values = self.sight.table.values[rows][:, columns]
        low, high, span = encoder.lower[:n], encoder.upper[:n], (encoder.upper - encoder.lower)[:n]
        off, reached, missing = distances[:, :n], (lower <= upper)[:, :n], np.isnan(values)
        known = (low <= high) & ~missing
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = np.where(known, np.maximum(low - values, values - high).clip(0.0, sys.float_info.max), 0.0)
            outside_by = np.where(span > 0, np.minimum(off * span, sys.float_info.max), beyond)
        fields = (
            _listed(values, missing),
            _listed(encoder.decode(lower)[:, :n], ~reached),
            _listed(encoder.decode(upper)[:, :n], ~reached),
            _listed(off == 0, ~(reached & known)),
            np.where(off > 0, outside_by, 0.0).ravel().tolist(),
            shares[:, :n].ravel().tolist(),
            _listed((upper - lower)[:, :n], ~reached),
            (beyond > 0).ravel().tolist(),
        )
        return Block(distances, shares, fields)

    def distance(self, row: int) -> float:
        """Return the L1 distance between a sample and its box, in learnt ranges."""
        block, place = self._block(row)
        return float(block.distances[place].sum())

    def conditions(self, row: int) -> tuple[FeatureMatch, ...]:
        """Return what its box asks of a sample: a condition per column."""
        block, place = self._block(row)
        sight = self.sight
        n = len(sight.numeric)
        value, lower, upper, inside, outside_by, share, width, beyond = (
            listed[place * n : (place + 1) * n] for listed in block.fields
        )
        of_numbers = map(
            _condition,
            zip(
                sight.numeric_names,
                value,
                lower,
                upper,
                [None] * n,
                inside,
                outside_by,
                share,
                width,
                beyond,
                strict=True,
            ),
        )
        if n == len(sight.names):
            return tuple(of_numbers)
        by_column = dict(zip(sight.numeric, of_numbers, strict=True))
        return tuple(
            by_column[column] if column in by_column else self._on_categories(row, column, block, place)
            for column in range(len(sight.names))
        )

    def strangest(self, row: int) -> tuple[str, ...]:
        """Name the features that make up most of a sample's distance, and those beyond the learnt range."""
        names = self.sight.names
        return tuple(names[column] for column, strange in zip(*self._strangest(row), strict=True) if strange)

    def _strangest(self, row: int) -> tuple[list[int], list[bool]]:
        if not self._strange:
            self._strange.extend(self._find_strange())
        orders, strange = self._strange
        return orders[row], strange[row]

    def _find_strange(self) -> tuple[list[list[int]], list[list[bool]]]:
        """Return the columns of each sample, largest share of the distance first, and which of them are strange."""
        sight, n = self.sight, len(self.sight.numeric)
        off = sight.distances(self.lower, self.upper)
        total = off.sum(axis=1, keepdims=True)
        coded_shares = off / np.where(total > 0, total, 1.0)
        shares = np.zeros((len(off), len(sight.names)))
        beyond = np.zeros(shares.shape, dtype=bool)
        shares[:, sight.numeric] = coded_shares[:, :n]
        beyond[:, sight.numeric] = (sight.beyond[:, :n] > 0) & (off[:, :n] > 0)
        for column, given in sight.table.categories.items():
            positions, known = sight.categories(column)
            shares[:, column] = coded_shares[:, positions].sum(axis=1)
            admits = (category_costs(self.lower[:, positions], self.upper[:, positions]) == 0).any(axis=1)
            beyond[:, column] = admits & [value is not None and value not in known for value in given]
        order = np.argsort(-shares, axis=1, kind="stable")
        shares, beyond = np.take_along_axis(shares, order, axis=1), np.take_along_axis(beyond, order, axis=1)
        covered = np.pad(np.cumsum(shares, axis=1)[:, :-1], ((0, 0), (1, 0)))
        return order.tolist(), (((covered < 0.5) & (shares > 0)) | beyond).tolist()

    def _on_categories(self, row: int, column: int, block: Block, place: int) -> FeatureMatch:
        positions, known = self.sight.categories(column)
        given = self.sight.table.categories.get(column)
        value = None if given is None else given[row]
        costs = category_costs(self.lower[row][None, positions], self.upper[row][None, positions])[0]
        admitted = tuple(category for category, cost in zip(known, costs, strict=True) if cost == 0)
        never_met = value is not None and value not in known
        evidence = value is not None and bool(admitted)
        distance = float(block.distances[place, positions].sum())
        return FeatureMatch(
            self.sight.names[column],
            value,
            None,
            None,
            admitted or None,
            distance == 0 and not never_met if evidence else None,
            float(evidence and (distance > 0 or never_met)),
            float(block.shares[place, positions].sum()),
            len(admitted) / len(known) if admitted else None,
            never_met,
        )


def _listed(values: Any, absent: BoolArray) -> list[Any]:
    """Return an array as one list, None where a value is absent."""
    if absent.any():
        values = values.astype(object)
        values[absent] = None
    listed: list[Any] = values.ravel().tolist()
    return listed


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
    conditions : tuple of FeatureMatch
        One per feature, in the order of the columns; made anew each time.
    distance : float
        L1 distance between sample and box, in learnt ranges.
    """

    node: int
    member: int | None
    label: Class | None
    support: int
    choice: float
    match: float
    _boxes: Boxes = field(repr=False)
    _row: int = field(repr=False)

    @property
    def distance(self) -> float:
        """L1 distance between sample and box, in learnt ranges."""
        return self._boxes.distance(self._row)

    @property
    def conditions(self) -> tuple[FeatureMatch, ...]:
        """One condition per feature, in the order of the columns."""
        return self._boxes.conditions(self._row)

    @property
    def outside(self) -> tuple[FeatureMatch, ...]:
        """The conditions that the sample breaks, largest share of the distance first."""
        return broken(self.conditions)


def broken(conditions: tuple[FeatureMatch, ...]) -> tuple[FeatureMatch, ...]:
    """Return the conditions that a sample breaks, largest share of the distance first."""
    return tuple(sorted((c for c in conditions if c.inside is False), key=lambda c: -c.share))


def category_costs(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return how far each category of a column lies from boxes, shape (n_boxes, n_categories); inf: not reached.

    A category is the corner of the unit cube with a 1 at its own indicator and 0 at all others.
    """
    costs = (1.0 - upper) + lower.sum(axis=1, keepdims=True) - lower
    return np.where((lower > upper).any(axis=1, keepdims=True), np.inf, costs)


def look(encoder: Encoder, names: list[str], table: Table, coded: FloatArray) -> Sight:
    """Return a coded table with all that a box needs to compare itself with its samples."""
    matrix = encoder.matrix(table)
    beyond: FloatArray = np.zeros_like(coded)
    known = encoder.lower <= encoder.upper
    out: BoolArray = ((matrix < encoder.lower) | (matrix > encoder.upper)) & known
    if out.any():
        lower, upper = np.where(known, encoder.lower, 0.0), np.where(known, encoder.upper, 0.0)
        span = upper - lower
        with np.errstate(over="ignore"):
            ranges = np.maximum(lower - matrix, matrix - upper) / np.where(span > 0, span, 1.0)
        beyond = np.where(out, np.where(span > 0, np.minimum(ranges, 1e300 / matrix.shape[1]), 1.0), 0.0)
    return Sight(encoder, names, table, coded, beyond)
