"""A sample compared with a box: per feature, whether the value lies inside the box and how far outside."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart.explain._samples import EncodedSamples

Value = float | int | str | bool
Class = int | str | bool

NO_NODE = -1
BLOCK = 128  # samples that are compared together when one of them is looked at


class FeatureMatch(NamedTuple):
    """One side of a box compared with the value that the sample has in that feature.

    Attributes
    ----------
    feature : str
        Name of the feature.
    value : number, category or None
        What the sample has; None where it is missing.
    lower, upper : float or None
        Side of the box in the user's units; None for a categorical feature, and where the box has met no value.
    categories : tuple or None
        The categories that the box covers; None for a numeric feature, and where the box has met no value.
    inside : bool or None
        Whether the value lies in the box; None where the value or the side is missing.
    outside_by : float
        How far the value lies outside, in the user's units; 1 for a category that the box does not cover.
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


_feature_match = partial(tuple.__new__, FeatureMatch)  # as FeatureMatch._make, which checks each length


class _Comparison(NamedTuple):
    """Several samples compared: distances and shares per coded feature, and one list per field of `FeatureMatch`.

    The lists hold one value per sample and numeric column: plain values make no work for Python's garbage collector.
    """

    distances: FloatArray
    shares: FloatArray
    fields: tuple[list[Any], ...]


@dataclass(frozen=True, eq=False)
class MatchedBoxes:
    """Several samples, each with one box.

    Attributes
    ----------
    samples : EncodedSamples
    member : int or None
        Which member of an ensemble the nodes belong to.
    classes : list
        Sorted; labels are indices into it.
    nodes, labels, support : arrays of length n_samples
        Node and label are -1 for none.
    counts : array of shape (n_samples, n_classes)
        Labelled samples of each class in the box.
    choices, matches : arrays of length n_samples
    lower, upper : arrays of shape (n_samples, n_coded_features)
        The boxes in the unit cube.
    met : array of bool of shape (n_samples, n_constant)
        Whether the box has met a value of each feature that has shown one value only.
    """

    samples: EncodedSamples
    member: int | None
    classes: list[Any]
    nodes: IntArray
    labels: IntArray
    support: CountArray
    counts: CountArray
    choices: FloatArray
    matches: FloatArray
    lower: FloatArray
    upper: FloatArray
    met: BoolArray
    _blocks: dict[int, _Comparison] = field(default_factory=dict, repr=False)

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

    def _block(self, row: int) -> tuple[_Comparison, int]:
        """Return the block that a sample belongs to, and its place there."""
        number, place = divmod(row, BLOCK)
        if number not in self._blocks:
            self._blocks[number] = self._compare(slice(number * BLOCK, (number + 1) * BLOCK))
        return self._blocks[number], place

    def _compare(self, rows: slice) -> _Comparison:
        lower, upper, encoder = self.lower[rows], self.upper[rows], self.samples.encoder
        distances = self.samples.distances(lower, upper, rows)
        total = distances.sum(axis=1, keepdims=True)
        shares = distances / np.where(total > 0, total, 1.0)
        columns = self.samples.numeric
        n = len(columns)  # numeric features come first, in the order of the columns
        values = self.samples.table.values[rows][:, columns]
        low, high, span = encoder.lower[:n], encoder.upper[:n], (encoder.upper - encoder.lower)[:n]
        off, reached, missing = distances[:, :n], (lower <= upper)[:, :n], np.isnan(values)
        known = (low <= high) & ~missing
        with np.errstate(over="ignore", invalid="ignore"):
            beyond = np.where(known, np.maximum(low - values, values - high).clip(0.0, sys.float_info.max), 0.0)
            outside_by = np.where(span > 0, np.minimum(off * span, sys.float_info.max), beyond)
        sides = encoder.decode(lower)[:, :n], encoder.decode(upper)[:, :n]
        if encoder.ranks is not None:
            by_rank = [place for _, place, _ in encoder.ranks.of(np.arange(n))]
            outside_by[:, by_rank] = np.maximum(sides[0] - values, values - sides[1])[:, by_rank]
        fields = (
            _listed(values, missing),
            _listed(sides[0], ~reached),
            _listed(sides[1], ~reached),
            _listed(off == 0, ~(reached & known)),
            np.where(off > 0, outside_by, 0.0).ravel().tolist(),
            shares[:, :n].ravel().tolist(),
            _listed((upper - lower)[:, :n], ~reached),
            (beyond > 0).ravel().tolist(),
        )
        return _Comparison(distances, shares, fields)

    def distance(self, row: int) -> float:
        """Return the L1 distance between a sample and its box, in learnt ranges."""
        block, place = self._block(row)
        return float(block.distances[place].sum())

    def feature_matches(self, row: int) -> tuple[FeatureMatch, ...]:
        """Compare a sample with its box, column by column."""
        block, place = self._block(row)
        samples = self.samples
        n = len(samples.numeric)
        value, lower, upper, inside, outside_by, share, width, beyond = (
            listed[place * n : (place + 1) * n] for listed in block.fields
        )
        of_numbers = map(
            _feature_match,
            zip(
                samples.numeric_names,
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
        if n == len(samples.names):
            return tuple(of_numbers)
        by_column = dict(zip(samples.numeric, of_numbers, strict=True))
        return tuple(
            by_column[column]
            if column in by_column
            else self._on_constant(row, column)
            if column in samples.constants
            else self._on_categories(row, column, block, place)
            for column in range(len(samples.names))
        )

    def _on_constant(self, row: int, column: int) -> FeatureMatch:
        """Compare a value with the only one that was learnt in its column, which takes no part in any distance."""
        table, known = self.samples.table, self.samples.constants[column]
        is_category = column in self.samples.encoder.categorical
        given = table.categories.get(column) if is_category else table.values[:, column]
        value = None if given is None else given[row : row + 1].tolist()[0]
        value = None if value != value else value
        met = self.met[row, list(self.samples.constants).index(column)]
        side = None if is_category or not met else float(known)
        inside = None if value is None or not met else bool(value == known)
        outside_by = (
            0.0 if inside is not False else abs(value - side) if side is not None and value is not None else 1.0
        )
        covered = (known,) if is_category and met else None
        name = self.samples.names[column]
        return FeatureMatch(name, value, side, side, covered, inside, outside_by, 0.0, 0.0, inside is False)

    def most_distant_features(self, row: int) -> tuple[str, ...]:
        """Return the features that make up most of a sample's distance, and those beyond the learnt range."""
        columns, is_distant = (values[row] for values in self._distant)
        return tuple(self.samples.names[column] for column, yes in zip(columns, is_distant, strict=True) if yes)

    @cached_property
    def _distant(self) -> tuple[list[list[int]], list[list[bool]]]:
        """The columns of each sample, largest share of the distance first, and which of them are distant."""
        samples, n = self.samples, len(self.samples.numeric)
        off = samples.distances(self.lower, self.upper)
        total = off.sum(axis=1, keepdims=True)
        coded_shares = off / np.where(total > 0, total, 1.0)
        shares = np.zeros((len(off), len(samples.names)))
        beyond = np.zeros(shares.shape, dtype=bool)
        shares[:, samples.numeric] = coded_shares[:, :n]
        beyond[:, samples.numeric] = (samples.beyond[:, :n] > 0) & (off[:, :n] > 0)
        for column, given in samples.table.categories.items():
            positions, known = samples.categories(column)
            shares[:, column] = coded_shares[:, positions].sum(axis=1)
            covers = (category_costs(self.lower[:, positions], self.upper[:, positions]) == 0).any(axis=1)
            beyond[:, column] = covers & [value is not None and value not in known for value in given]
        order = np.argsort(-shares, axis=1, kind="stable")
        shares, beyond = np.take_along_axis(shares, order, axis=1), np.take_along_axis(beyond, order, axis=1)
        covered = np.pad(np.cumsum(shares, axis=1)[:, :-1], ((0, 0), (1, 0)))
        return order.tolist(), (((covered < 0.5) & (shares > 0)) | beyond).tolist()

    def _on_categories(self, row: int, column: int, block: _Comparison, place: int) -> FeatureMatch:
        positions, known = self.samples.categories(column)
        given = self.samples.table.categories.get(column)
        value = None if given is None else given[row]
        costs = category_costs(self.lower[row][None, positions], self.upper[row][None, positions])[0]
        covered = tuple(category for category, cost in zip(known, costs, strict=True) if cost == 0)
        never_met = value is not None and value not in known
        comparable = value is not None and bool(covered)
        distance = float(block.distances[place, positions].sum())
        return FeatureMatch(
            self.samples.names[column],
            value,
            None,
            None,
            covered or None,
            distance == 0 and not never_met if comparable else None,
            float(comparable and (distance > 0 or never_met)),
            float(block.shares[place, positions].sum()),
            len(covered) / len(known) if covered else None,
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
    """A box compared with a sample: its label, its support, and a comparison per feature.

    Attributes
    ----------
    node : int
        Index of the node, in its member where the model is an ensemble.
    member : int or None
        Which member of an ensemble it belongs to.
    label : class or None
        Class of the node; None where it has no label.
    support : int
        How many samples the node has learnt; a float where they count less as they age.
    label_counts : dict from class to int
        How many labelled samples of each class are among them; classes without any are left out. Floats where they
        count less as they age.
    choice, match : float
        How the node was ranked for this sample, and how well it fits it.
    feature_matches : tuple of FeatureMatch
        One per feature, in the order of the columns; made anew each time.
    distance : float
        L1 distance between sample and box, in learnt ranges.
    """

    node: int
    member: int | None
    label: Class | None
    support: float
    choice: float
    match: float
    _boxes: MatchedBoxes = field(repr=False)
    _row: int = field(repr=False)

    @property
    def label_counts(self) -> dict[Class, float]:
        """Number of labelled samples of each class learnt by the box; classes without any are omitted."""
        counts = zip(self._boxes.classes, self._boxes.counts[self._row].tolist(), strict=True)
        return {label: n for label, n in counts if n}

    @property
    def distance(self) -> float:
        """L1 distance between sample and box, in learnt ranges."""
        return self._boxes.distance(self._row)

    @property
    def feature_matches(self) -> tuple[FeatureMatch, ...]:
        """One comparison per feature, in the order of the columns."""
        return self._boxes.feature_matches(self._row)

    @property
    def outside(self) -> tuple[FeatureMatch, ...]:
        """The features in which the sample lies outside, largest share of the distance first."""
        return outside_first(self.feature_matches)


def outside_first(matches: tuple[FeatureMatch, ...]) -> tuple[FeatureMatch, ...]:
    """Return the features in which a sample lies outside, largest share of the distance first."""
    return tuple(sorted((match for match in matches if match.inside is False), key=lambda match: -match.share))


def category_costs(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the distance of each category of a column to boxes, shape (n_boxes, n_categories); inf: unreached.

    A category is the corner of the unit cube with a 1 at its own indicator and 0 at all others.
    """
    costs = (1.0 - upper) + lower.sum(axis=1, keepdims=True) - lower
    return np.where((lower > upper).any(axis=1, keepdims=True), np.inf, costs)
