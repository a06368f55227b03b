"""Boxes in explanations: comparison of samples with boxes, and search paths."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from sslart._art.boxes import NO_LIMIT
from sslart._art.geometry import choice_and_match, gaps
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray


@dataclass(frozen=True)
class EncodedSamples:
    """Samples in the user's units and in the unit cube."""

    encoder: Encoder
    names: list[str]
    table: Table
    coded: FloatArray

    @cached_property
    def beyond(self) -> FloatArray:
        """Distance of each value out of the learnt range, in ranges; 1 for a range of width zero."""
        encoder, matrix = self.encoder, self.encoder.matrix(self.table)
        known = encoder.lower <= encoder.upper
        out = ((matrix < encoder.lower) | (matrix > encoder.upper)) & known
        if not out.any():
            return np.zeros_like(self.coded)
        matrix = encoder.on_scale(matrix)
        lower, upper = (np.where(known, end, 0.0) for end in encoder.ends)
        span = upper - lower
        with np.errstate(over="ignore"):
            ranges = np.maximum(lower - matrix, matrix - upper) / np.where(span > 0, span, 1.0)
        return np.where(out, np.where(span > 0, np.minimum(ranges, 1e300 / matrix.shape[1]), 1.0), 0.0)

    def __len__(self) -> int:
        return len(self.coded)

    def distances(self, lower: FloatArray, upper: FloatArray, rows: Any = slice(None)) -> FloatArray:
        """Return the distance to boxes per coded feature, in ranges; 0 if the value or the side is missing."""
        coded = self.coded[rows]
        outside = gaps(coded, lower, upper) + self.beyond[rows]
        return np.where(np.isnan(coded) | (lower > upper), 0.0, outside)

    def categories(self, column: int) -> tuple[list[int], list[Any]]:
        """Return the coded features of a categorical column, and their categories."""
        features = self.encoder.features
        positions = [position for position, feature in enumerate(features) if feature.column == column]
        return positions, [features[position].category for position in positions]

    @property
    def numeric(self) -> list[int]:
        """Numeric columns that vary; their features are the first ones, in this order."""
        return self.encoder.numeric

    @cached_property
    def numeric_names(self) -> list[str]:
        """Names of these columns."""
        return [self.names[column] for column in self.numeric]

    @cached_property
    def constants(self) -> dict[int, float | Any]:
        """The columns that were constant in training, and their value."""
        return {
            feature.column: value if feature.category is None else feature.category
            for feature, value in self.encoder.constant.items()
        }


Value = float | int | str | bool
Class = int | str | bool

NO_NODE = -1
BLOCK = 128  # samples compared at once, when one of them is accessed, for speed


class FeatureMatch(NamedTuple):
    """One side of a box compared with the value that the sample has in that feature.

    Attributes
    ----------
    feature : str
        Name of the feature.
    value : number, category or None
        Value of the sample; None if missing.
    lower, upper : float or None
        Sides of the box in the user's units; None for a categorical feature, and if the box has no value.
    categories : tuple or None
        Categories in the box; None for a numeric feature, and if the box has no value.
    inside : bool or None
        Whether the value is in the box; None if the value or the side is missing.
    outside_by : float
        Distance of the value from the box, in the user's units; 1 for a category that is not in the box.
    share : float
        Share of this feature in the distance between sample and box. Shares sum to one, unless the distance is 0.
    width : float or None
        Share of the learnt range that the box spans; for a categorical feature, of the known categories.
    beyond_range : bool
        Whether the value is out of the learnt range, or an unknown category.
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


_feature_match = partial(tuple.__new__, FeatureMatch)  # FeatureMatch._make without its check of the length, for speed


class _Comparison(NamedTuple):
    """Comparison of several samples: distances and shares per coded feature, and a list per field of `FeatureMatch`.

    The lists have one plain value per sample and numeric column, which Python's garbage collector need not track.
    """

    distances: FloatArray
    shares: FloatArray
    fields: tuple[list[Any], ...]


@dataclass(frozen=True, eq=False)
class MatchedBoxes:
    """Pairs of a sample and a box; node and label are -1 for none. Sides are in the unit cube."""

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
        """Return the comparison of the block of a sample, and the sample's index in it."""
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
        """Compare a value with the only one learnt in a constant column, which is not part of distances."""
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
        """Return the features that make up most of a sample's distance, and those out of the learnt range."""
        columns, is_distant = (values[row] for values in self._distant)
        return tuple(self.samples.names[column] for column, yes in zip(columns, is_distant, strict=True) if yes)

    @cached_property
    def _distant(self) -> tuple[list[list[int]], list[list[bool]]]:
        """The columns of each sample, largest share of the distance first, and flags of distant ones."""
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
    """Return an array as a flat list, None where a value is absent."""
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
        Index of the box; in an ensemble, within its member.
    member : int or None
        Member of an ensemble that has the box.
    label : class or None
        Class of the box; None without a label.
    support : int
        Number of samples learnt by the box; a float with `half_life`.
    choice, match : float
        Choice value, by which boxes are ranked for the sample, and match, the fit of the sample.
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
        """Number of labelled samples of each class learnt by the box; classes without any are omitted.

        Floats with `half_life`.
        """
        counts = zip(self._boxes.classes, self._boxes.counts[self._row].tolist(), strict=True)
        return {label: n for label, n in counts if n}

    @property
    def distance(self) -> float:
        """L1 distance between sample and box, in learnt ranges."""
        return self._boxes.distance(self._row)

    @property
    def feature_matches(self) -> tuple[FeatureMatch, ...]:
        """One comparison per feature, in the order of the columns; computed at each access."""
        return self._boxes.feature_matches(self._row)

    @property
    def outside(self) -> tuple[FeatureMatch, ...]:
        """The features in which the sample is outside the box, largest share of the distance first."""
        return outside_first(self.feature_matches)


def outside_first(matches: tuple[FeatureMatch, ...]) -> tuple[FeatureMatch, ...]:
    """Return the features in which a sample is outside a box, largest share of the distance first."""
    return tuple(sorted((match for match in matches if match.inside is False), key=lambda match: -match.share))


def category_costs(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the distance of each category of a column to boxes, shape (n_boxes, n_categories); inf if unreached.

    A category is coded by 1 for its own indicator and 0 for all others.
    """
    costs = (1.0 - upper) + lower.sum(axis=1, keepdims=True) - lower
    return np.where((lower > upper).any(axis=1, keepdims=True), np.inf, costs)


class SearchStep(NamedTuple):
    """One box on a search path.

    Attributes
    ----------
    node : int
    choice, match : float
    label : class or None
    skipped_because : str or None
        Reason for continuing with the next box; None for the box that predicts.
    """

    node: int
    choice: float
    match: float
    label: Class | None
    skipped_because: str | None


@dataclass(frozen=True)
class Ranking:
    """The best boxes of several samples, shape (n_samples, depth), best first; labels are class indices or -1."""

    nodes: IntArray
    choices: FloatArray
    matches: FloatArray
    labels: IntArray
    support: IntArray


@dataclass(frozen=True)
class SearchPaths:
    """Search path of each sample: all its boxes, the best one, and the first with a label (else the best)."""

    classes: list[Any]
    rankings: list[Ranking]
    ranking: IntArray
    rows: IntArray
    lengths: IntArray
    best: IntArray
    found: IntArray
    labels: IntArray

    @classmethod
    def empty(cls, n: int, classes: list[Any]) -> SearchPaths:
        """Return empty paths of n samples."""
        ranking, rows, lengths, best, found, labels = np.zeros((6, n), dtype=np.int64)
        return cls(classes, [], ranking, rows, lengths, best, found, labels)

    def add(self, samples: IntArray, rows: IntArray, ranking: Ranking, positions: IntArray, lengths: IntArray) -> None:
        """Store rows of a ranking, given the positions of the boxes found and the lengths of the paths."""
        self.ranking[samples], self.rows[samples], self.lengths[samples] = len(self.rankings), rows, lengths
        self.rankings.append(ranking)
        self.best[samples] = ranking.nodes[rows, 0]
        self.found[samples] = ranking.nodes[rows, positions]
        self.labels[samples] = ranking.labels[rows, positions]

    def best_nodes(self, n: int) -> IntArray | None:
        """Return the n best boxes of each sample, shape (n_samples, n); None if fewer were ranked."""
        if any(ranking.nodes.shape[1] < n for ranking in self.rankings):
            return None
        nodes = np.empty((len(self.rows), n), dtype=np.int64)
        for number, ranking in enumerate(self.rankings):
            own = self.ranking == number
            nodes[own] = ranking.nodes[self.rows[own], :n]
        return nodes

    def _columns(self, sample: int, *names: str) -> list[list[Any]]:
        ranking, row = self.rankings[self.ranking[sample]], self.rows[sample]
        return [getattr(ranking, name)[row, : self.lengths[sample]].tolist() for name in names]

    def steps(self, sample: int) -> tuple[SearchStep, ...]:
        """Return the path of a sample, best box first."""
        columns = self._columns(sample, "nodes", "choices", "matches", "labels")
        return tuple(
            SearchStep(node, choice, match, *((self.classes[label], None) if label >= 0 else (None, "no label")))
            for node, choice, match, label in zip(*columns, strict=True)
        )

    def largest(self, sample: int) -> tuple[int, int]:
        """Return the box on the path with the largest support, the better one on ties, and its support."""
        nodes, support = self._columns(sample, "nodes", "support")
        most = max(support)
        return nodes[support.index(most)], most


FEW_NODES = 8


class MemberProbe:
    """Search for the boxes of one network that explain a table of samples."""

    def __init__(self, member: MemberView, classes: list[Any], names: list[str], table: Table) -> None:
        self.member, self.classes = member, classes
        coded = member.encode(table)
        member.network.check_known_features(coded)
        self.samples = EncodedSamples(member.encoder, names, table, coded)
        self._present: BoolArray = ~np.isnan(self.samples.coded)
        self.n_present: IntArray = self._present.sum(axis=1)

    def _choices(self, rows: IntArray, nodes: IntArray, matches: FloatArray) -> FloatArray:
        """Return the choice T = |A ∧ W| / (α + |W|) of boxes, (n_rows, depth), over the features a sample has."""
        own = self.member.network.nodes
        norms = own.norms[nodes]
        for position in np.flatnonzero(self.n_present[rows] < self._present.shape[1]):
            present = np.tile(self._present[rows[position]], 2)
            norms[position] = own.weights[nodes[position]][:, present].sum(axis=1)
        return np.asarray(matches * self.n_present[rows, None] / (self.member.params.choice + norms))

    def search_paths(self, search_depth: int) -> SearchPaths:
        """Return the boxes searched for each sample, up to the first with a label."""
        n_nodes, n_samples = self.member.n_nodes, len(self.samples)
        limit = n_nodes if search_depth == NO_LIMIT else min(search_depth, n_nodes)
        paths = SearchPaths.empty(n_samples, self.classes)
        rows: IntArray = np.arange(n_samples)
        all_labelled = bool((self.member.labels != UNLABELLED).all())
        depth = 1 if all_labelled else min(FEW_NODES, limit)
        while rows.size:
            nodes, matches = self.member.rank(self.samples.coded[rows], depth=depth)
            labels = self.member.labels[nodes]
            labelled = labels != UNLABELLED
            found = labelled.any(axis=1)
            done = np.flatnonzero(found | (depth == limit))
            choices = self._choices(rows, nodes, matches)
            ranking = Ranking(nodes, choices, matches, labels, self.member.support[nodes])
            positions = np.where(found, labelled.argmax(axis=1), 0)
            lengths = np.where(found, positions + 1, depth)
            paths.add(rows[done], done, ranking, positions[done], lengths[done])
            rows = np.delete(rows, done)
            depth = min(4 * depth, limit)
        return paths

    def other_class(self, indices: IntArray, labels: IntArray | None = None) -> MatchedBoxes:
        """Return the best box of another class than `indices` for each sample (-1 for none).

        `labels`, class indices of all boxes, override their own.
        """
        labels = self.member.labels if labels is None else labels
        nodes = np.full(len(indices), NO_NODE)
        for index in np.unique(indices).tolist():
            rows = np.flatnonzero(indices == index)
            others = np.where(labels == index, UNLABELLED, labels)
            nodes[rows] = self.member.rank(self.samples.coded[rows], labels=others)[0][:, 0]
        return self.matched(nodes)

    def matched(self, nodes: IntArray) -> MatchedBoxes:
        """Return each sample with a box, -1 for none."""
        held = np.maximum(nodes, 0)
        lower, upper = self.member.boxes_of(held)
        choices, matches = choice_and_match(self.samples.coded, lower, upper, self.member.params.choice)
        return MatchedBoxes(
            self.samples,
            self.member.number,
            self.classes,
            nodes,
            self.member.labels[held],
            self.member.support[held],
            self.member.counts[held],
            choices,
            matches,
            lower,
            upper,
            self.member.network.nodes.met[held],
        )

    def most_similar(self, n: int, paths: SearchPaths) -> tuple[MatchedBoxes, ...]:
        """Return the n boxes of highest choice for each sample, best first; from the search paths if long enough."""
        n = min(n, self.member.n_nodes)
        nodes = paths.best_nodes(n)
        if nodes is None:
            nodes = self.member.rank(self.samples.coded, depth=n)[0]
        return tuple(self.matched(column) for column in nodes.T)

    def unlabelled_near(self, rows: IntArray) -> dict[int, tuple[int, int]]:
        """Return the best unlabelled box among the few best ones, and its support, by row."""
        if not rows.size:
            return {}
        nodes = self.member.rank(self.samples.coded[rows], depth=FEW_NODES)[0]
        without = self.member.labels[nodes] == UNLABELLED
        best = nodes[np.arange(len(rows)), without.argmax(axis=1)]
        found = zip(rows.tolist(), best.tolist(), self.member.support[best].tolist(), strict=True)
        return {row: (node, held) for (row, node, held), any_ in zip(found, without.any(axis=1), strict=True) if any_}
