"""Decision trees that imitate a model: samples in bins, splits, growth, pruning, refinement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.rules._model_rules import Category, ModelCondition, short_decimal

MAX_CUTS = 64
FEW_NAMES = 3  # so many categories are always listed by name, never as "none of the others"


@dataclass(frozen=True, eq=False)
class Column:
    """One feature in bins: ranges between cuts, or categories; missing values have the last bin.

    Attributes
    ----------
    feature : str
    cuts : array
        Short decimals, increasing; empty for categories.
    categories : tuple or None
    has_missing : bool
        Whether a value is missing in one of the samples.
    """

    feature: str
    cuts: FloatArray
    categories: tuple[Category, ...] | None
    has_missing: bool

    @property
    def n_bins(self) -> int:
        """Number of bins, that of missing values included."""
        return (len(self.cuts) + 1 if self.categories is None else len(self.categories)) + 1

    def bins(self, values: NDArray[Any]) -> IntArray:
        """Return the bin of each value; that of missing values also for categories that are not known."""
        if self.categories is None:
            return np.where(np.isnan(values), self.n_bins - 1, np.searchsorted(self.cuts, values, side="left"))
        place, missing = {category: index for index, category in enumerate(self.categories)}, self.n_bins - 1
        return np.array([place.get(value, missing) for value in values], dtype=np.int64)

    def condition(self, allowed: BoolArray) -> ModelCondition | None:
        """Return the condition that a set of bins stands for; None if every bin that occurs is allowed."""
        known, missing = allowed[:-1], bool(allowed[-1]) and self.has_missing
        if known.all() and (missing or not self.has_missing):
            return None
        if not known.any():
            return ModelCondition(
                self.feature, categories=None if self.categories is None else (), missing=True, only_missing=True
            )
        if self.categories is None:
            first, last = np.flatnonzero(known)[[0, -1]].tolist()
            low = None if first == 0 else float(self.cuts[first - 1])
            high = None if last == len(self.cuts) else float(self.cuts[last])
            return ModelCondition(self.feature, low, high, missing=missing)
        negated = bool(known.sum() > max(FEW_NAMES, len(known) / 2)) or bool(known.all())
        named = tuple(category for category, keep in zip(self.categories, known != negated, strict=True) if keep)
        return ModelCondition(self.feature, categories=named, negated=negated, missing=missing)


def columns_of(table: Table, names: Sequence[str], known_categories: dict[int, list[Category]]) -> list[Column]:
    """Return the columns of a table, with cuts between its values.

    Parameters
    ----------
    table : Table
    names : sequence of str
    known_categories : dict from column to list
        The categories that the model knows; those of the table come after them.
    """
    columns = []
    for place, name in enumerate(names):
        if place in known_categories:
            values = table.categories.get(place, np.full(len(table), None, dtype=object))
            found = dict.fromkeys([*known_categories[place], *(value for value in values if value is not None)])
            has_missing = any(value is None for value in values)
            columns.append(Column(name, np.empty(0), tuple(found), has_missing))
        else:
            numbers = table.values[:, place]
            columns.append(Column(name, _cuts(numbers), None, bool(np.isnan(numbers).any())))
    return columns


def _cuts(values: FloatArray) -> FloatArray:
    """Return short decimals that separate values: all distinct ones if they are few, else about equal shares."""
    values = np.sort(values[~np.isnan(values)])
    distinct = np.unique(values)
    if len(distinct) < 2:
        return np.empty(0)
    if len(distinct) <= MAX_CUTS + 1:
        return np.array([short_decimal(low, high) for low, high in pairwise(distinct.tolist())])
    ranks = (np.arange(1, MAX_CUTS + 1) / (MAX_CUTS + 1)) * (len(values) - 1)
    reach = (len(values) - 1) / (4 * (MAX_CUTS + 1))
    low, high = values[np.floor(ranks - reach).astype(int)], values[np.ceil(ranks + reach).astype(int)]
    above = distinct[np.minimum(np.searchsorted(distinct, low, side="right"), len(distinct) - 1)]
    ends = np.maximum(high, above)  # at least one value lies above each cut
    found = {short_decimal(float(start), float(end)) for start, end in zip(low, ends, strict=True) if start < end}
    return np.array(sorted(found))


MAX_NAMED = 6  # categories on the smaller side of a split
MIN_GAIN = 1e-9


class Split(NamedTuple):
    """A split of a column: a mask of the bins that go left."""

    column: int
    left: BoolArray


class Gain(NamedTuple):
    """Gain of the best split; the split is None if nothing is gained."""

    amount: float
    split: Split | None


NO_GAIN = Gain(0.0, None)


class Grid:
    """Samples in bins, their weights, and the outcome that the model predicts for each.

    Parameters
    ----------
    columns : sequence of Column
    table : Table
    outcomes : array of length n_samples
        Index of what the model predicts: a class, or after the last class that it abstains.
    n_outcomes : int
    weights : array of length n_samples
    """

    def __init__(
        self, columns: Sequence[Column], table: Table, outcomes: IntArray, n_outcomes: int, weights: FloatArray
    ) -> None:
        self.columns, self.outcomes, self.n_outcomes, self.weights = columns, outcomes, n_outcomes, weights
        names = [table.categories.get(place, table.values[:, place]) for place in range(len(columns))]
        self.bins = np.column_stack([column.bins(values) for column, values in zip(columns, names, strict=True)])
        sizes = np.array([column.n_bins for column in columns])
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.flat = self.bins + self.starts[:-1]
        self.column_of = np.repeat(np.arange(len(columns)), sizes)
        self.is_category = np.array([column.categories is not None for column in columns])
        self.has_missing = np.array([column.has_missing for column in columns])
        self.missing = self.starts[1:] - 1
        may_cut = ~self.is_category[self.column_of]
        may_cut[self.missing] = False
        may_cut[self.missing - 1] = False  # nothing known lies above the last bin
        for column in np.flatnonzero(self.has_missing & ~self.is_category):
            may_cut[self.missing[column] - 1] = True  # but missing values do
        self.may_cut: BoolArray = may_cut

    def __len__(self) -> int:
        return len(self.outcomes)

    def totals(self, rows: IntArray) -> FloatArray:
        """Return the weight of each outcome among some samples."""
        return np.asarray(np.bincount(self.outcomes[rows], self.weights[rows], self.n_outcomes), dtype=np.float64)

    def left(self, split: Split, rows: IntArray) -> BoolArray:
        """Tell which samples go left."""
        return np.asarray(split.left[self.bins[rows, split.column]])

    def best_split(self, rows: IntArray, allowed: BoolArray, min_weight: float, weights: FloatArray) -> Gain:
        """Return the split of some samples that gains most information about the outcome.

        Parameters
        ----------
        rows : array of int
        allowed : array of length n_columns
            The columns that may be split.
        min_weight : float
            What each side must have at least.
        weights : array of length n_samples
        """
        by_bin = self._by_outcome(rows, weights)
        total = by_bin[: self.starts[1]].sum(axis=0)
        base = float(_information(total))
        cumulated = np.cumsum(by_bin, axis=0)
        before = np.vstack([np.zeros(self.n_outcomes), cumulated])[self.starts[:-1]]
        left = np.maximum(cumulated - before[self.column_of], 0.0)
        cuts = np.flatnonzero(self.may_cut & allowed[self.column_of])
        best = NO_GAIN
        missing = by_bin[self.missing]
        for with_missing in (False, True):
            places = cuts[self.has_missing[self.column_of[cuts]]] if with_missing else cuts
            side = left[places] + (missing[self.column_of[places]] if with_missing else 0.0)
            amounts = self._gains(base, side, total, min_weight)
            if len(places) and amounts.max() > best.amount + MIN_GAIN:
                place = int(places[amounts.argmax()])
                best = Gain(float(amounts.max()), self._cut(place, with_missing))
        for column in np.flatnonzero(self.is_category & allowed).tolist():
            best = max(best, self._best_categories(column, by_bin, base, total, min_weight), key=_amount)
        return best

    def _by_outcome(self, rows: IntArray, weights: FloatArray) -> FloatArray:
        flat = self.flat[rows] * self.n_outcomes + self.outcomes[rows, None]
        of_value = np.repeat(weights[rows], len(self.columns))
        size = int(self.starts[-1]) * self.n_outcomes
        by_bin = np.bincount(flat.ravel(), of_value, size).reshape(-1, self.n_outcomes)
        return np.asarray(by_bin, dtype=np.float64)

    @staticmethod
    def _gains(base: float, left: FloatArray, total: FloatArray, min_weight: float) -> FloatArray:
        right = np.maximum(total - left, 0.0)
        enough = (left.sum(axis=1) >= min_weight) & (right.sum(axis=1) >= min_weight)
        return np.where(enough, base - _information(left) - _information(right), 0.0)

    def _cut(self, place: int, with_missing: bool) -> Split:
        column = int(self.column_of[place])
        bins = np.arange(self.starts[column], self.starts[column + 1]) <= place
        bins[-1] = with_missing
        return Split(column, bins)

    def _best_categories(
        self, column: int, by_bin: FloatArray, base: float, total: FloatArray, min_weight: float
    ) -> Gain:
        """Return the best split of a column into two sets of categories, in the order of the share of an outcome."""
        own = by_bin[self.starts[column] : self.starts[column + 1]]
        weight = own.sum(axis=1)
        present = np.flatnonzero(weight > 0)
        best = NO_GAIN
        if len(present) < 2:
            return best
        n_left = np.arange(1, len(present))
        few = np.minimum(n_left, len(present) - n_left) <= MAX_NAMED
        outcomes = np.flatnonzero(total > 0) if (total > 0).sum() > 2 else np.flatnonzero(total > 0)[:1]
        for outcome in outcomes:
            order = present[np.argsort(-own[present, outcome] / weight[present], kind="stable")]
            amounts = self._gains(base, np.cumsum(own[order], axis=0)[:-1], total, min_weight) * few
            most = int(amounts.argmax())
            if amounts[most] > best.amount + MIN_GAIN:
                bins = np.zeros(len(own), dtype=bool)
                bins[order[: most + 1]] = True
                best = Gain(float(amounts[most]), Split(column, bins))
        return best

    def best_assignment(self, rows: IntArray, worth: FloatArray, allowed: BoolArray) -> Gain:
        """Return the split for which the samples that go left are worth most.

        Parameters
        ----------
        rows : array of int
        worth : array of the same length
            What each is worth on the left; negative where it belongs to the right.
        allowed : array of length n_columns
        """
        of_value = np.repeat(worth, len(self.columns))
        by_bin = np.bincount(self.flat[rows].ravel(), of_value, minlength=int(self.starts[-1]))
        cumulated = np.concatenate([[0.0], np.cumsum(by_bin)])
        left = cumulated[1:] - cumulated[self.starts[:-1]][self.column_of]
        missing = by_bin[self.missing]
        known = cumulated[self.missing] - cumulated[self.starts[:-1]]
        cuts = np.flatnonzero(self.may_cut & allowed[self.column_of])
        best = Gain(-np.inf, None)
        for turned in (False, True):
            own = self.column_of[cuts]
            amounts = (known[own] - left[cuts] if turned else left[cuts]) + np.maximum(missing[own], 0.0)
            if len(cuts) and amounts.max() > best.amount:
                place = int(cuts[amounts.argmax()])
                split = self._cut(place, with_missing=False)
                bins = ~split.left if turned else split.left
                bins[-1] = missing[split.column] > 0
                best = Gain(float(amounts.max()), Split(split.column, bins))
        for column in np.flatnonzero(self.is_category & allowed).tolist():
            worth_of_bins = by_bin[self.starts[column] : self.starts[column + 1]]
            bins = worth_of_bins > 0
            amount = float(worth_of_bins[bins].sum())
            if amount > best.amount and min(bins.sum(), (~bins).sum()) <= MAX_NAMED:
                best = Gain(amount, Split(column, bins))
        return best


def _information(weights: FloatArray) -> FloatArray:
    """Return the entropy of outcomes times their weight, in the last axis."""
    total = weights.sum(axis=-1)
    return np.asarray(_x_log_x(total) - _x_log_x(weights).sum(axis=-1))


def _x_log_x(values: FloatArray) -> FloatArray:
    return values * np.log(np.where(values > 0, values, 1.0))


def _amount(gain: Gain) -> float:
    return gain.amount


@dataclass(eq=False)
class Node:
    """A node of the tree; a leaf until it has a split.

    Attributes
    ----------
    rows : array of int
        The samples that reach it.
    split : Split or None
    children : tuple of two nodes, or None
        Where the samples go, left first.
    outcome : int
        What a leaf predicts.
    gain : Gain or None
        The best split of a leaf, once it is known.
    """

    rows: IntArray
    split: Split | None = None
    children: tuple[Node, Node] | None = None
    outcome: int = 0
    gain: Gain | None = None

    def cut(self, split: Split, grid: Grid) -> None:
        """Split a leaf into two leaves."""
        left = grid.left(split, self.rows)
        self.split, self.children = split, (Node(self.rows[left]), Node(self.rows[~left]))

    def close(self, outcome: int) -> None:
        """Turn a node into a leaf."""
        self.split, self.children, self.outcome, self.gain = None, None, outcome, None

    def refill(self, rows: IntArray, grid: Grid) -> None:
        """Redistribute samples from this node down to the leaves."""
        self.rows, self.gain = rows, None
        if self.split is not None and self.children is not None:
            left = grid.left(self.split, rows)
            for child, own in zip(self.children, (rows[left], rows[~left]), strict=True):
                child.refill(own, grid)

    def predict(self, grid: Grid, rows: IntArray) -> IntArray:
        """Return the outcome of the leaf that each sample reaches."""
        if self.split is None or self.children is None:
            return np.full(len(rows), self.outcome)
        left = grid.left(self.split, rows)
        outcomes = np.empty(len(rows), dtype=np.int64)
        outcomes[left] = self.children[0].predict(grid, rows[left])
        outcomes[~left] = self.children[1].predict(grid, rows[~left])
        return outcomes

    def leaves(self, features: frozenset[int] = frozenset()) -> Iterator[tuple[Node, frozenset[int]]]:
        """Yield the leaves from left to right, each with the features on its path below this node."""
        if self.split is None or self.children is None:
            yield self, features
        else:
            for child in self.children:
                yield from child.leaves(features | {self.split.column})

    def fidelity(self, grid: Grid) -> float:
        """Return the fidelity: the weighted share of samples on which the tree agrees with the model."""
        every = np.arange(len(grid))
        return float(np.average(self.predict(grid, every) == grid.outcomes, weights=grid.weights))


@dataclass(frozen=True)
class Growth:
    """Limits and procedure of growing a tree.

    Attributes
    ----------
    max_leaves : int
    max_features : int
        How many features a path may have.
    min_weight : float
        What a leaf must have at least.
    """

    max_leaves: int
    max_features: int
    min_weight: float

    def grow(self, root: Node, grid: Grid, weights: FloatArray, candidates: BoolArray) -> None:
        """Split the leaf that gains most, again and again.

        Parameters
        ----------
        root : Node
        grid : Grid
        weights : array of length n_samples
            Take the place of those of the grid.
        candidates : array of length n_columns
            The features that take part.
        """
        leaves = list(root.leaves())
        while len(leaves) < self.max_leaves:
            for leaf, features in leaves:
                if leaf.gain is None:
                    allowed = candidates & within(features, self.max_features, len(candidates))
                    leaf.gain = grid.best_split(leaf.rows, allowed, self.min_weight, weights)
            gains = [0.0 if leaf.gain is None else leaf.gain.amount for leaf, _ in leaves]
            place = int(np.argmax(gains))
            leaf, features = leaves[place]
            if leaf.gain is None or leaf.gain.split is None:
                return
            split = leaf.gain.split
            leaf.cut(split, grid)
            leaves[place : place + 1] = [(child, features | {split.column}) for child in leaf.children or ()]


def within(features: frozenset[int], most: int, n_columns: int) -> BoolArray:
    """Tell which features may follow on a path: all while there is room, then only those it has already."""
    allowed = np.full(n_columns, len(features) < most)
    allowed[list(features)] = True
    return allowed


MIN_DIFFERENCE = 1e-9


class _Costs(NamedTuple):
    """Minimal errors below a node by number of rules, and the number of rules to the left; -1: a leaf."""

    errors: FloatArray
    rules_left: IntArray
    children: tuple[_Costs, _Costs] | None


def prune(root: Node, grid: Grid, max_rules: int, price: float) -> int:
    """Prune a tree in place to at most `max_rules` leaves of non-default outcomes; return the default outcome.

    The part that is kept has the fewest errors of all parts of the tree with as many rules, for the best choice of the
    default. A further rule must save errors of at least its price, by weight.
    """
    totals: dict[int, FloatArray] = {}
    _add_totals(root, grid, totals)
    prices = price * np.arange(max_rules + 1)
    choices = []
    for outcome in np.flatnonzero(totals[id(root)]).tolist():
        costs = _costs(root, outcome, max_rules, totals)
        n_rules = int((costs.errors + prices).argmin())
        choices.append((costs.errors[n_rules] + prices[n_rules], outcome, n_rules, costs))
    _, default, n_rules, best = min(choices, key=lambda choice: choice[:2])
    _cut(root, best, n_rules, default, totals)
    return default


def _add_totals(node: Node, grid: Grid, totals: dict[int, FloatArray]) -> None:
    totals[id(node)] = grid.totals(node.rows)
    for child in node.children or ():
        _add_totals(child, grid, totals)


def _costs(node: Node, default: int, max_rules: int, totals: dict[int, FloatArray]) -> _Costs:
    weights = totals[id(node)]
    errors = np.full(max_rules + 1, weights.sum() - weights.max())
    errors[0] = weights.sum() - weights[default]
    rules_left = np.full(max_rules + 1, -1)
    if node.children is None:
        return _Costs(errors, rules_left, None)
    left, right = (_costs(child, default, max_rules, totals) for child in node.children)
    for n_rules in range(max_rules + 1):
        both = left.errors[: n_rules + 1] + right.errors[n_rules::-1]
        place = int(both.argmin())
        if both[place] < errors[n_rules] - MIN_DIFFERENCE:
            errors[n_rules], rules_left[n_rules] = both[place], place
    return _Costs(errors, rules_left, (left, right))


def _cut(node: Node, costs: _Costs, n_rules: int, default: int, totals: dict[int, FloatArray]) -> None:
    n_left = int(costs.rules_left[n_rules])
    if n_left < 0 or costs.children is None or node.children is None:
        weights = totals[id(node)]
        is_default = n_rules == 0 or weights[default] >= weights.max() - MIN_DIFFERENCE
        node.close(default if is_default else int(weights.argmax()))
        return
    for child, own, rules in zip(node.children, costs.children, (n_left, n_rules - n_left), strict=True):
        _cut(child, own, rules, default, totals)


MAX_SWEEPS = 8
MIN_DIFFERENCE = 1e-9


def refine(root: Node, grid: Grid, default: int, max_features: int) -> None:
    """Improve splits and outcomes of a tree in place, as long as it agrees with the model more often.

    The number of leaves with an outcome other than the default does not rise, nor does the number of features on the
    path to one of them rise above `max_features`.
    """
    for _ in range(MAX_SWEEPS):
        changed = False
        for node, above in reversed(_inner_nodes(root)):
            changed |= _choose_split(node, above, grid, default, max_features)
        for leaf, _ in root.leaves():
            if leaf.outcome != default and len(leaf.rows):
                leaf.outcome = int(grid.totals(leaf.rows).argmax())
        _collapse(root, grid)
        if not changed:
            return


def _inner_nodes(node: Node, above: frozenset[int] = frozenset()) -> list[tuple[Node, frozenset[int]]]:
    """Return the inner nodes, parents first, each with the features on the path to it."""
    if node.split is None or node.children is None:
        return []
    below = above | {node.split.column}
    return [(node, above), *(one for child in node.children for one in _inner_nodes(child, below))]


def _choose_split(node: Node, above: frozenset[int], grid: Grid, default: int, max_features: int) -> bool:
    """Choose the best split of a node for its present subtrees; return True if it changed."""
    if node.split is None or node.children is None or not len(node.rows):
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
                allowed &= within(features, max_features, len(grid.columns))
    gain = grid.best_assignment(node.rows[matters], worth[matters], allowed)
    if gain.split is None or gain.amount <= present + MIN_DIFFERENCE * (1 + abs(present)):
        return False
    node.split = gain.split
    node.refill(node.rows, grid)
    return True


def _collapse(node: Node, grid: Grid) -> None:
    """Remove splits that send no sample to one side, or whose leaves have the same outcome."""
    if node.children is None:
        return
    for child in node.children:
        _collapse(child, grid)
    left, right = node.children
    if not len(left.rows) or not len(right.rows):
        kept = right if len(right.rows) else left
        node.split, node.children, node.outcome = kept.split, kept.children, kept.outcome
    elif left.children is None and right.children is None and left.outcome == right.outcome:
        node.close(left.outcome)
