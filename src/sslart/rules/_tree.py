"""Surrogate decision trees: binned samples, splits, growth, pruning, refinement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sslart._data.encoder import Category
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.rules._model_rules import ModelCondition, short_decimal

MAX_CUTS = 64
FEW_NAMES = 3  # up to so many categories are listed by name, never as "none of the others"
MAX_NAMED = 6  # maximum number of categories on the smaller side of a split, for readable rules
MIN_DIFFERENCE = 1e-9  # differences of gains and errors below it are rounding
MIN_LEAF = 1.0  # minimum weight of the samples in a leaf
MAX_SWEEPS = 8  # of refinement; mostly fewer are needed


@dataclass(frozen=True, eq=False)
class Column:
    """One binned feature: ranges between cuts, or categories; the last bin is for missing values.

    Cuts are increasing short decimals. `has_missing`: whether any sample has a missing value.
    """

    feature: str
    cuts: FloatArray
    categories: tuple[Category, ...] | None
    has_missing: bool

    @property
    def n_bins(self) -> int:
        """Number of bins, including that of missing values."""
        return (len(self.cuts) + 1 if self.categories is None else len(self.categories)) + 1

    def bins(self, values: NDArray[Any]) -> IntArray:
        """Return the bin of each value; unknown categories get the bin of missing values."""
        if self.categories is None:
            return np.where(np.isnan(values), self.n_bins - 1, np.searchsorted(self.cuts, values, side="left"))
        place, missing = {category: index for index, category in enumerate(self.categories)}, self.n_bins - 1
        return np.array([place.get(value, missing) for value in values], dtype=np.int64)

    def occurring(self, bins: BoolArray) -> BoolArray:
        """Return a mask of bins without that of missing values, if none is missing."""
        return bins if self.has_missing else bins[:-1]

    def condition(self, allowed: BoolArray) -> ModelCondition | None:
        """Return the condition of a set of allowed bins; None if every occurring bin is allowed."""
        if self.occurring(allowed).all():
            return None
        known, missing = allowed[:-1], bool(allowed[-1]) and self.has_missing
        if not known.any():
            categories = None if self.categories is None else ()
            return ModelCondition(self.feature, categories=categories, missing=True, only_missing=True)
        if self.categories is None:
            first, last = np.flatnonzero(known)[[0, -1]].tolist()
            low = None if first == 0 else float(self.cuts[first - 1])
            high = None if last == len(self.cuts) else float(self.cuts[last])
            return ModelCondition(self.feature, low, high, missing=missing)
        negated = bool(known.sum() > max(FEW_NAMES, len(known) / 2)) or bool(known.all())
        named = tuple(category for category, keep in zip(self.categories, known != negated, strict=True) if keep)
        return ModelCondition(self.feature, categories=named, negated=negated, missing=missing)


def columns_of(table: Table, names: Sequence[str], known: Mapping[int, Sequence[Category]]) -> list[Column]:
    """Return the binned columns of a table: categories known to the model and then others, or cuts between values."""
    columns = []
    for place, name in enumerate(names):
        if place in known:
            values = table.categories.get(place, np.full(len(table), None, dtype=object))
            found = dict.fromkeys([*known[place], *(value for value in values if value is not None)])
            columns.append(Column(name, np.empty(0), tuple(found), any(value is None for value in values)))
        else:
            numbers = table.values[:, place]
            columns.append(Column(name, _cuts(numbers), None, bool(np.isnan(numbers).any())))
    return columns


def _cuts(values: FloatArray) -> FloatArray:
    """Return short decimals as cuts: between all distinct values if they are few, else about equal shares."""
    values = np.sort(values[~np.isnan(values)])
    distinct = np.unique(values)
    if len(distinct) <= MAX_CUTS + 1:
        return np.array([short_decimal(low, high) for low, high in pairwise(distinct.tolist())])
    ranks = (np.arange(1, MAX_CUTS + 1) / (MAX_CUTS + 1)) * (len(values) - 1)
    reach = (len(values) - 1) / (4 * (MAX_CUTS + 1))
    low, high = values[np.floor(ranks - reach).astype(int)], values[np.ceil(ranks + reach).astype(int)]
    above = distinct[np.minimum(np.searchsorted(distinct, low, side="right"), len(distinct) - 1)]
    ends = np.maximum(high, above)  # at least one value lies above each cut
    found = {short_decimal(float(start), float(end)) for start, end in zip(low, ends, strict=True) if start < end}
    return np.array(sorted(found))


class Split(NamedTuple):
    """A split of a column by a mask of the bins that go left, and its gain."""

    gain: float
    column: int
    left: BoolArray


NO_SPLIT = Split(0.0, -1, np.empty(0, dtype=bool))


class Grid:
    """Binned samples with weights, and the outcome predicted by the model for each.

    Outcomes are class indices; the index after the last class is abstention.
    """

    def __init__(
        self, columns: Sequence[Column], table: Table, outcomes: IntArray, n_outcomes: int, weights: FloatArray
    ) -> None:
        self.columns, self.outcomes, self.n_outcomes, self.weights = columns, outcomes, n_outcomes, weights
        values = [table.categories.get(place, table.values[:, place]) for place in range(len(columns))]
        self.bins = np.column_stack([column.bins(own) for column, own in zip(columns, values, strict=True)])
        sizes = np.array([column.n_bins for column in columns])
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.flat = self.bins + self.starts[:-1]
        self.column_of = np.repeat(np.arange(len(columns)), sizes)
        self.is_category = np.array([column.categories is not None for column in columns])
        self.has_missing = np.array([column.has_missing for column in columns])
        self.missing = self.starts[1:] - 1
        self.may_cut: BoolArray = ~self.is_category[self.column_of]
        self.may_cut[self.missing] = False
        self.may_cut[self.missing - 1] = self.has_missing & ~self.is_category  # only missing values are above it

    def __len__(self) -> int:
        return len(self.outcomes)

    def totals(self, rows: IntArray) -> FloatArray:
        """Return the weight of each outcome among some samples."""
        return np.asarray(np.bincount(self.outcomes[rows], self.weights[rows], self.n_outcomes), dtype=np.float64)

    def left(self, split: Split, rows: IntArray) -> BoolArray:
        """Return a mask of the samples that go left."""
        return np.asarray(split.left[self.bins[rows, split.column]])

    def best_split(self, rows: IntArray, allowed: BoolArray, weights: FloatArray) -> Split:
        """Return the split of some samples with the highest information gain, in the allowed columns."""
        flat = self.flat[rows] * self.n_outcomes + self.outcomes[rows, None]
        size = int(self.starts[-1]) * self.n_outcomes
        counted = np.bincount(flat.ravel(), np.repeat(weights[rows], len(self.columns)), size)
        by_bin: FloatArray = np.asarray(counted.reshape(-1, self.n_outcomes), dtype=np.float64)
        total = by_bin[: self.starts[1]].sum(axis=0)
        cumulated = np.cumsum(by_bin, axis=0)
        before = np.vstack([np.zeros(self.n_outcomes), cumulated])[self.starts[:-1]]
        left = np.maximum(cumulated - before[self.column_of], 0.0)
        cuts = np.flatnonzero(self.may_cut & allowed[self.column_of])
        best = NO_SPLIT
        for with_missing in (False, True):
            places = cuts[self.has_missing[self.column_of[cuts]]] if with_missing else cuts
            side = left[places] + (by_bin[self.missing][self.column_of[places]] if with_missing else 0.0)
            gains = _gains(side, total)
            if len(places) and gains.max() > best.gain + MIN_DIFFERENCE:
                best = self._cut(int(places[gains.argmax()]), with_missing, float(gains.max()))
        for column in np.flatnonzero(self.is_category & allowed).tolist():
            own = by_bin[self.starts[column] : self.starts[column + 1]]
            best = max(best, _best_categories(column, own, total), key=attrgetter("gain"))
        return best

    def _cut(self, place: int, with_missing: bool, gain: float) -> Split:
        """Return the split after a bin, given by its index over all columns."""
        column = int(self.column_of[place])
        bins = np.arange(self.starts[column], self.starts[column + 1]) <= place
        bins[-1] = with_missing
        return Split(gain, column, bins)

    def best_assignment(self, rows: IntArray, worth: FloatArray, allowed: BoolArray) -> Split:
        """Return the split that maximises the total worth of the samples that go left."""
        of_value = np.repeat(worth, len(self.columns))
        by_bin = np.bincount(self.flat[rows].ravel(), of_value, minlength=int(self.starts[-1]))
        cumulated = np.concatenate([[0.0], np.cumsum(by_bin)])
        left = cumulated[1:] - cumulated[self.starts[:-1]][self.column_of]
        missing = by_bin[self.missing]
        known = cumulated[self.missing] - cumulated[self.starts[:-1]]
        cuts = np.flatnonzero(self.may_cut & allowed[self.column_of])
        best = NO_SPLIT._replace(gain=-np.inf)
        for turned in (False, True):
            own = self.column_of[cuts]
            gains = (known[own] - left[cuts] if turned else left[cuts]) + np.maximum(missing[own], 0.0)
            if len(cuts) and gains.max() > best.gain:
                best = self._cut(int(cuts[gains.argmax()]), False, float(gains.max()))
                bins = ~best.left if turned else best.left
                bins[-1] = missing[best.column] > 0
                best = best._replace(left=bins)
        for column in np.flatnonzero(self.is_category & allowed).tolist():
            worth_of_bins = by_bin[self.starts[column] : self.starts[column + 1]]
            bins = worth_of_bins > 0
            gain = float(worth_of_bins[bins].sum())
            if gain > best.gain and min(bins.sum(), (~bins).sum()) <= MAX_NAMED:
                best = Split(gain, column, bins)
        return best


def _best_categories(column: int, by_bin: FloatArray, total: FloatArray) -> Split:
    """Return the best split of a column into two sets of categories, sorted by the share of an outcome."""
    weight = by_bin.sum(axis=1)
    present = np.flatnonzero(weight > 0)
    best = NO_SPLIT
    if len(present) < 2:
        return best
    n_left = np.arange(1, len(present))
    few = np.minimum(n_left, len(present) - n_left) <= MAX_NAMED
    outcomes = np.flatnonzero(total > 0)
    for outcome in outcomes if len(outcomes) > 2 else outcomes[:1]:  # with two outcomes the orders are the same
        order = present[np.argsort(-by_bin[present, outcome] / weight[present], kind="stable")]
        gains = _gains(np.cumsum(by_bin[order], axis=0)[:-1], total) * few
        most = int(gains.argmax())
        if gains[most] > best.gain + MIN_DIFFERENCE:
            bins = np.zeros(len(by_bin), dtype=bool)
            bins[order[: most + 1]] = True
            best = Split(float(gains[most]), column, bins)
    return best


def _gains(left: FloatArray, total: FloatArray) -> FloatArray:
    """Return the information gain of splits, given the outcomes on the left; 0 if a side has too few samples."""
    right = np.maximum(total - left, 0.0)
    enough = (left.sum(axis=1) >= MIN_LEAF) & (right.sum(axis=1) >= MIN_LEAF)
    return np.where(enough, float(_information(total)) - _information(left) - _information(right), 0.0)


def _information(weights: FloatArray) -> FloatArray:
    """Return the entropy of outcomes times their weight, over the last axis."""
    total = weights.sum(axis=-1)
    return np.asarray(_x_log_x(total) - _x_log_x(weights).sum(axis=-1))


def _x_log_x(values: FloatArray) -> FloatArray:
    return values * np.log(np.where(values > 0, values, 1.0))


@dataclass(eq=False)
class Node:
    """A node of the tree with the samples that reach it; a leaf with an outcome until it is split.

    `best` is the best split of a leaf, once computed.
    """

    rows: IntArray
    split: Split | None = None
    children: tuple[Node, ...] = ()
    outcome: int = 0
    best: Split | None = None

    def cut(self, split: Split, grid: Grid) -> None:
        """Split a leaf into two leaves."""
        left = grid.left(split, self.rows)
        self.split, self.children = split, (Node(self.rows[left]), Node(self.rows[~left]))

    def close(self, outcome: int) -> None:
        """Turn a node into a leaf."""
        self.split, self.children, self.outcome, self.best = None, (), outcome, None

    def refill(self, rows: IntArray, grid: Grid) -> None:
        """Redistribute samples from this node down to the leaves."""
        self.rows, self.best = rows, None
        if self.split is not None:
            left = grid.left(self.split, rows)
            for child, own in zip(self.children, (left, ~left), strict=True):
                child.refill(rows[own], grid)

    def predict(self, grid: Grid, rows: IntArray) -> IntArray:
        """Return the outcome of the leaf that each sample reaches."""
        outcomes = np.full(len(rows), self.outcome)
        if self.split is not None:
            left = grid.left(self.split, rows)
            for child, own in zip(self.children, (left, ~left), strict=True):
                outcomes[own] = child.predict(grid, rows[own])
        return outcomes

    def walk(self, above: frozenset[int] = frozenset()) -> Iterator[tuple[Node, frozenset[int]]]:
        """Yield this node and all below it, parents first and left to right, each with the features on its path."""
        yield self, above
        if self.split is not None:
            for child in self.children:
                yield from child.walk(above | {self.split.column})

    def leaves(self, above: frozenset[int] = frozenset()) -> list[tuple[Node, frozenset[int]]]:
        """Return the leaves, each with the features on its path."""
        return [(node, features) for node, features in self.walk(above) if node.split is None]

    def fidelity(self, grid: Grid) -> float:
        """Return the fidelity: the weighted share of samples on which the tree agrees with the model."""
        every = np.arange(len(grid))
        return float(np.average(self.predict(grid, every) == grid.outcomes, weights=grid.weights))


def grow(
    root: Node, grid: Grid, weights: FloatArray, candidates: BoolArray, max_leaves: int, max_features: int
) -> None:
    """Grow a tree best-first, by repeatedly splitting the leaf with the highest gain.

    A path has a limited number of the candidate features; `weights` override those of the grid.
    """
    leaves = root.leaves()
    while len(leaves) < max_leaves:
        for leaf, features in leaves:
            if leaf.best is None:
                allowed = candidates & _within(features, max_features, len(candidates))
                leaf.best = grid.best_split(leaf.rows, allowed, weights)
        splits = [leaf.best or NO_SPLIT for leaf, _ in leaves]
        place = int(np.argmax([split.gain for split in splits]))
        (leaf, features), split = leaves[place], splits[place]
        if split is NO_SPLIT:
            return
        leaf.cut(split, grid)
        leaves[place : place + 1] = [(child, features | {split.column}) for child in leaf.children]


def _within(features: frozenset[int], most: int, n_columns: int) -> BoolArray:
    """Return a mask of features allowed further down a path: all, or at the limit only those it already has."""
    allowed = np.full(n_columns, len(features) < most)
    allowed[list(features)] = True
    return allowed


class _Costs(NamedTuple):
    """Minimal errors below a node by number of rules, and the number of rules to the left; -1: a leaf."""

    errors: FloatArray
    rules_left: IntArray
    children: tuple[_Costs, ...]


def prune(root: Node, grid: Grid, max_rules: int, price: float) -> int:
    """Prune a tree in place to at most `max_rules` leaves of non-default outcomes; return the default outcome.

    Leaves of the default outcome need no rule. The result has the fewest errors of all subtrees with as many rules, for
    the best default outcome. A further rule must save errors of at least its price.
    """
    totals = {id(node): grid.totals(node.rows) for node, _ in root.walk()}
    prices = price * np.arange(max_rules + 1)
    choices = []
    for outcome in np.flatnonzero(totals[id(root)]).tolist():
        costs = _costs(root, outcome, max_rules, totals)
        n_rules = int((costs.errors + prices).argmin())
        choices.append((costs.errors[n_rules] + prices[n_rules], outcome, n_rules, costs))
    _, default, n_rules, best = min(choices, key=lambda choice: choice[:2])
    _keep(root, best, n_rules, default, totals)
    return default


def _costs(node: Node, default: int, max_rules: int, totals: dict[int, FloatArray]) -> _Costs:
    weights = totals[id(node)]
    errors = np.full(max_rules + 1, weights.sum() - weights.max())
    errors[0] = weights.sum() - weights[default]
    rules_left = np.full(max_rules + 1, -1)
    children = tuple(_costs(child, default, max_rules, totals) for child in node.children)
    for n_rules in range(max_rules + 1 if children else 0):
        both = children[0].errors[: n_rules + 1] + children[1].errors[n_rules::-1]
        place = int(both.argmin())
        if both[place] < errors[n_rules] - MIN_DIFFERENCE:
            errors[n_rules], rules_left[n_rules] = both[place], place
    return _Costs(errors, rules_left, children)


def _keep(node: Node, costs: _Costs, n_rules: int, default: int, totals: dict[int, FloatArray]) -> None:
    """Reduce a tree to its best subtree with a number of rules."""
    n_left = int(costs.rules_left[n_rules])
    if n_left < 0:
        weights = totals[id(node)]
        is_default = n_rules == 0 or weights[default] >= weights.max() - MIN_DIFFERENCE
        node.close(default if is_default else int(weights.argmax()))
        return
    for child, own, rules in zip(node.children, costs.children, (n_left, n_rules - n_left), strict=True):
        _keep(child, own, rules, default, totals)


def refine(root: Node, grid: Grid, default: int, max_features: int) -> None:
    """Improve splits and outcomes of a tree in place, as long as it agrees with the model more often.

    Each split is optimised for its present subtrees: tree alternating optimisation (M. A. Carreira-Perpinan and P.
    Tavallali, Alternating optimization of decision trees, NeurIPS 2018). The number of leaves with an outcome other
    than the default does not increase, nor the number of features on the path to one of them above `max_features`.
    """
    for _ in range(MAX_SWEEPS):
        changed = False
        for node, above in reversed(list(root.walk())):
            changed |= _choose_split(node, above, grid, default, max_features)
        for leaf, _ in root.leaves():
            if leaf.outcome != default and len(leaf.rows):
                leaf.outcome = int(grid.totals(leaf.rows).argmax())
        _collapse(root)
        if not changed:
            return


def _choose_split(node: Node, above: frozenset[int], grid: Grid, default: int, max_features: int) -> bool:
    """Choose the best split of a node for its present subtrees; return True if it changed."""
    if node.split is None or not len(node.rows):
        return False
    truth, weights = grid.outcomes[node.rows], grid.weights[node.rows]
    right_if_left, right_if_right = (child.predict(grid, node.rows) == truth for child in node.children)
    worth = weights * (right_if_left.astype(float) - right_if_right)
    matters = np.flatnonzero(worth)
    if not len(matters):
        return False
    present = float(worth[grid.left(node.split, node.rows)].sum())
    allowed: BoolArray = np.ones(len(grid.columns), dtype=bool)
    for child in node.children:
        for leaf, features in child.leaves(above):
            if leaf.outcome != default:
                allowed &= _within(features, max_features, len(grid.columns))
    split = grid.best_assignment(node.rows[matters], worth[matters], allowed)
    if split.gain <= present + MIN_DIFFERENCE * (1 + abs(present)):
        return False
    node.split = split
    node.refill(node.rows, grid)
    return True


def _collapse(node: Node) -> None:
    """Remove splits that send no sample to one side, or whose leaves have the same outcome."""
    if node.split is None:
        return
    for child in node.children:
        _collapse(child)
    left, right = node.children
    if not len(left.rows) or not len(right.rows):
        kept = right if len(right.rows) else left
        node.split, node.children, node.outcome = kept.split, kept.children, kept.outcome
    elif left.split is None and right.split is None and left.outcome == right.outcome:
        node.close(left.outcome)
