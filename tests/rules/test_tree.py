"""Trees that imitate a model: splits, pruning and cuts are the best that plain loops find."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sslart._data.samples import Table
from sslart.rules import _tree
from sslart.rules._model_extraction import Neighbourhood, Region, _decimals, shortened, united
from sslart.rules._tree import MIN_LEAF, Column, Grid, Node, columns_of, grow, prune, refine

EVERY = np.ones(3, dtype=bool)


def grid_of(seed: int, n: int = 40, n_outcomes: int = 3, *, weighted: bool = True) -> Grid:
    """A grid of a column of few numbers with gaps, one without, and categories."""
    random = np.random.RandomState(seed)
    numbers = random.randint(0, 5, size=(n, 2)).astype(float)
    numbers[random.rand(n) < 0.2, 0] = np.nan
    kinds = np.array([*"uvwx"], dtype=object)[random.randint(4, size=n)]
    kinds[random.rand(n) < 0.1] = None
    outcomes = np.where(random.rand(n) < 0.5, numbers[:, 1] > 2, random.randint(n_outcomes, size=n)).astype(np.int64)
    columns = [
        Column("a", np.arange(4) + 0.5, None, True),
        Column("b", np.arange(4) + 0.5, None, False),
        Column("kind", np.empty(0), tuple("uvwx"), True),
    ]
    weights = random.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    table = Table(np.column_stack([numbers, np.full(n, np.nan)]), {2: kinds}, ["a", "b", "kind"])
    return Grid(columns, table, outcomes, n_outcomes, weights)


def sides(grid: Grid, column: int) -> Iterator[np.ndarray]:
    """Yield the sets of bins that may go left: ranges from the lowest, or any categories; missing values anywhere."""
    n, highest = grid.columns[column].n_bins, 1 if grid.columns[column].has_missing else 2
    if grid.columns[column].categories is None:
        lefts = [np.arange(n) <= last for last in range(n - highest)]
    else:
        lefts = [np.isin(np.arange(n), some) for some in chain(*(combinations(range(n), k) for k in range(1, n)))]
    for left in lefts:
        for missing in (False, True):
            yield np.append(left[:-1], missing)


def information(grid: Grid, rows: np.ndarray, weights: np.ndarray) -> float:
    total = np.bincount(grid.outcomes[rows], weights[rows], grid.n_outcomes)
    shares = total[total > 0] / total.sum()
    return float(-total.sum() * (shares * np.log(shares)).sum())


@settings(max_examples=20)
@given(
    seed=st.integers(0, 999), n_outcomes=st.sampled_from([2, 3]), columns=st.sampled_from([(0,), (1,), (0, 1), (2,)])
)
def test_the_best_split_is_that_of_the_most_information(seed: int, n_outcomes: int, columns: tuple[int, ...]) -> None:
    grid = grid_of(seed, n_outcomes=2 if 2 in columns else n_outcomes)
    weights = np.random.RandomState(seed).uniform(0.5, 2.0, len(grid))
    rows = np.arange(len(grid))[::2]
    gains = [0.0]
    for column in columns:
        for side in sides(grid, column):
            left = side[grid.bins[rows, column]]
            if min(weights[rows[left]].sum(), weights[rows[~left]].sum()) >= MIN_LEAF:
                parts = sum(information(grid, own, weights) for own in (rows[left], rows[~left]))
                gains.append(information(grid, rows, weights) - parts)
    split = grid.best_split(rows, np.isin(np.arange(3), columns), weights)
    assert split.gain == pytest.approx(max(gains), abs=1e-8)
    if split.gain > 0:
        left = grid.left(split, rows)
        parts = sum(information(grid, own, weights) for own in (rows[left], rows[~left]))
        assert split.column in columns
        assert information(grid, rows, weights) - parts == pytest.approx(split.gain)


@settings(max_examples=20)
@given(seed=st.integers(0, 999), columns=st.sampled_from([(0,), (1,), (2,), (0, 1, 2)]))
def test_the_best_assignment_is_worth_most(seed: int, columns: tuple[int, ...]) -> None:
    grid = grid_of(seed)
    rows, worth = np.arange(len(grid))[::2], np.random.RandomState(seed).normal(size=len(grid))[::2]
    split = grid.best_assignment(rows, worth, np.isin(np.arange(3), columns))
    both = [side for column in columns for side in sides(grid, column) for side in [(column, side)]]
    turned = [(column, ~side) for column, side in both]
    worths = [worth[side[grid.bins[rows, column]]].sum() for column, side in both + turned]
    assert split.gain == pytest.approx(max(worths))
    assert worth[grid.left(split, rows)].sum() == pytest.approx(split.gain)


def grown(grid: Grid, n_leaves: int = 8, max_features: int = 3) -> Node:
    root = Node(np.arange(len(grid)))
    grow(root, grid, grid.weights, EVERY, n_leaves, max_features)
    return root


def test_a_tree_grows_where_it_gains_most_and_paths_have_few_features() -> None:
    grid = grid_of(3, 200)
    left = []
    for n in range(1, 7):
        leaves = [leaf for leaf, _ in grown(grid, n).leaves()]
        assert len(leaves) == n
        best = max(grid.best_split(leaf.rows, EVERY, grid.weights).gain for leaf in leaves)
        left.append((sum(information(grid, leaf.rows, grid.weights) for leaf in leaves), best))
    for (before, gain), (after, _) in pairwise(left):
        assert before - after == pytest.approx(gain)
        assert gain > 0
    for most in (1, 2):
        assert max(len(features) for _, features in grown(grid, 12, most).leaves()) == most


def prunings(node: Node) -> Iterator[list[np.ndarray]]:
    """Yield the rows of the leaves of every part of a tree that has its root."""
    yield [node.rows]
    if node.split is not None:
        for left in prunings(node.children[0]):
            for right in prunings(node.children[1]):
                yield left + right


@settings(max_examples=20)
@given(seed=st.integers(0, 999), max_rules=st.integers(1, 4), price=st.sampled_from([0.0, 0.7, 3.0]))
def test_what_is_pruned_has_the_lowest_price_of_all_parts(seed: int, max_rules: int, price: float) -> None:
    grid = grid_of(seed)
    root = grown(grid, 5)
    totals = [[grid.totals(rows) for rows in leaves] for leaves in prunings(root)]
    lowest = np.inf
    for default in range(grid.n_outcomes):
        for leaves in totals:
            saved = sorted((float(own.max() - own[default]) for own in leaves), reverse=True)[:max_rules]
            errors = sum(float(own.sum() - own[default]) for own in leaves)
            for n_rules in range(len(saved) + 1):
                lowest = min(lowest, errors - sum(saved[:n_rules]) + price * n_rules)
    default = prune(root, grid, max_rules, price)
    n_rules = sum(leaf.outcome != default for leaf, _ in root.leaves())
    assert n_rules <= max_rules
    errors = grid.weights[root.predict(grid, np.arange(len(grid))) != grid.outcomes].sum()
    assert errors + price * n_rules == pytest.approx(lowest)


@settings(max_examples=20)
@given(seed=st.integers(0, 999), max_features=st.integers(1, 3))
def test_refinement_agrees_no_less_and_every_rule_has_the_outcome_of_most(seed: int, max_features: int) -> None:
    grid = grid_of(seed, 80)
    root = grown(grid, 8, max_features)
    default = prune(root, grid, 4, 0.0)
    before, n_rules = root.fidelity(grid), sum(leaf.outcome != default for leaf, _ in root.leaves())
    refine(root, grid, default, max_features)
    assert root.fidelity(grid) >= before - 1e-12
    assert sum(leaf.outcome != default for leaf, _ in root.leaves()) <= n_rules
    for leaf, features in root.leaves():
        assert leaf.outcome == default or len(features) <= max_features
        assert leaf.outcome in (default, grid.totals(leaf.rows).argmax())
        assert len(leaf.rows) or root.split is None
    np.testing.assert_array_equal(np.sort(np.concatenate([leaf.rows for leaf, _ in root.leaves()])), np.arange(80))


def test_refinement_moves_a_split_and_corrects_an_outcome() -> None:
    grid = grid_of(0, 60, weighted=False)
    grid.outcomes = (grid.bins[:, 1] >= 2).astype(np.int64)
    root = Node(np.arange(60))
    root.cut(_tree.Split(0.0, 1, np.array([True, False, False, False, False, False])), grid)
    root.children[0].outcome, root.children[1].outcome = 0, 1
    refine(root, grid, 0, 1)
    assert root.fidelity(grid) == 1.0
    root = Node(np.arange(60))
    root.cut(_tree.Split(0.0, 1, np.array([True, True, False, False, False, False])), grid)
    root.children[0].outcome, root.children[1].outcome = 0, 2
    refine(root, grid, 0, 1)
    assert root.fidelity(grid) == 1.0
    assert [leaf.outcome for leaf, _ in root.leaves()] == [0, 1]


def columns_of_numbers(values: np.ndarray) -> Column:
    (column,) = columns_of(Table(values[:, None], {}, ["x"]), ["x"], {})
    return column


def test_cuts_lie_between_all_values_where_they_are_few_and_in_equal_shares_where_they_are_many() -> None:
    few = np.repeat(np.arange(_tree.MAX_CUTS + 1.0), 2)
    cuts = columns_of_numbers(few).cuts
    assert len(cuts) == _tree.MAX_CUTS
    assert all(low <= cut < high for cut, (low, high) in zip(cuts, pairwise(np.unique(few)), strict=True))
    many = np.random.RandomState(0).permutation(6500) / 7.0
    cuts = columns_of_numbers(np.append(many, np.nan)).cuts
    assert len(cuts) == _tree.MAX_CUTS
    shares = np.diff(np.searchsorted(np.sort(many), cuts, side="right"), prepend=0, append=6500)
    assert shares.min() >= 50
    assert shares.max() <= 150
    often = np.append(np.zeros(6000), many)  # many are alike: no cut below them, and none twice
    cuts = columns_of_numbers(often).cuts
    assert 20 <= len(cuts) <= _tree.MAX_CUTS
    assert (np.diff(cuts) > 0).all()
    assert (cuts >= 0).all()
    assert (cuts < often.max()).all()


def test_bins_are_ranges_up_to_each_cut_and_the_last_is_of_missing_values() -> None:
    column = Column("x", np.array([1.0, 2.0]), None, True)
    assert column.bins(np.array([0.5, 1.0, 1.5, 2.0, 2.5, np.nan])).tolist() == [0, 0, 1, 1, 2, 3]
    kinds = Column("kind", np.empty(0), ("u", "v"), False)
    assert kinds.bins(np.array(["v", "u", "w", None], dtype=object)).tolist() == [1, 0, 2, 2]
    assert [column.n_bins, kinds.n_bins] == [4, 3]


def line_of(outcomes: list[int]) -> Grid:
    """A grid of one column with a sample in each bin, of these outcomes, and none missing."""
    n = len(outcomes)
    table = Table(np.arange(n, dtype=float)[:, None], {}, ["x"])
    return Grid([Column("x", np.arange(n - 1) + 0.5, None, False)], table, np.array(outcomes), 3, np.ones(n))


def ranges(*bins: str) -> list[Region]:
    """Rules for outcome 1, each with its bins as a text of zeros and ones; the last bin is of missing values."""
    return [Region(1, (np.array([*one]) == "1",)) for one in bins]


def bins_of(regions: list[Region]) -> list[str]:
    return ["".join("01"[int(one)] for one in region.allowed[0]) for region in regions]


def test_a_condition_goes_where_that_costs_no_more_than_its_price() -> None:
    grid = line_of([0, 1, 1, 0, 0, 0])
    for price, expected in ((0.9, "0110000"), (1.0, "1110000"), (2.9, "1110000")):
        assert bins_of(shortened(ranges("0110000"), 0, grid, price)) == [expected]
    assert bins_of(shortened(ranges("0110001"), 0, grid, 1.0)) == ["1110001"]
    grid = line_of([0, 0, 0, 1, 1, 0])
    for price, expected in ((0.9, "0001100"), (1.0, "0001110")):
        assert bins_of(shortened(ranges("0001100"), 0, grid, price)) == [expected]
    grid = line_of([2, 1, 1, 1, 2, 2])  # errors already, as rules that have another outcome than the default
    assert bins_of(shortened(ranges("0111000"), 0, grid, 0.0)) == ["1111000"]
    grid = line_of([1, 1, 0, 1, 1, 0])  # rules stay exclusive, the smaller one is first, and one condition remains
    assert bins_of(shortened(ranges("0100000", "0001100"), 0, grid, 9.0)) == ["1100000", "0001110"]


def test_rules_of_one_outcome_that_differ_in_one_feature_are_one() -> None:
    columns = line_of([0] * 6).columns
    assert bins_of(united(ranges("0110000", "0001000"), columns)) == ["0111000"]
    assert bins_of(united(ranges("0110000", "0000100"), columns)) == ["0110000", "0000100"]


def test_drawn_samples_lie_between_neighbours_or_mix_two_samples() -> None:
    n, random = 300, np.random.default_rng(0)
    line = np.arange(n) + np.random.RandomState(0).uniform(-0.3, 0.3, n)
    values = np.column_stack([line, 2.0 * line, np.arange(n) % 3, np.round(line, 1), np.full(n, np.nan)])
    values[:30, 3] = np.nan
    kinds = np.array([*"uvw"], dtype=object)[np.arange(n) * 3 // n]
    drawing = Neighbourhood(Table(values, {4: kinds}), np.column_stack([line, 2.0 * line]) / line.max())
    drawn = drawing.draw(8000, random)
    first, second, few, rounded = drawn.values.T[:4]
    assert set(few) == {0.0, 1.0, 2.0}
    np.testing.assert_array_equal(np.round(rounded, 1), rounded)
    assert 0.05 < np.isnan(rounded).mean() < 0.15
    assert set(drawn.categories[4]) == {*"uvw"}
    mixed = np.abs(first[:, None] - line).min(axis=1) < 1e-6
    assert mixed.mean() == pytest.approx(0.5, abs=0.03)
    assert (np.abs(second[mixed, None] - 2.0 * line).min(axis=1) < 1e-6).all()
    assert drawing.neighbours.shape == (n, 5)
    assert (drawing.neighbours != np.arange(n)[:, None]).all()
    # between neighbours: five of them on a line lie within five places or so
    apart = np.abs(2.0 * first - second)[~mixed]
    assert apart.max() < 2 * 7
    assert apart.max() > 2 * 2
    assert (np.abs(first[~mixed, None] - line).min(axis=1) < 1).all()
    assert ((kinds[np.abs(first[~mixed, None] - line).argmin(axis=1)]) == drawn.categories[4][~mixed]).mean() > 0.97
    # of two samples: a column in three is that of the second
    of_one = np.abs(2.0 * first[mixed] - second[mixed]) < 1e-6
    assert of_one.mean() == pytest.approx(0.3**2 + 0.7**2, abs=0.04)


def test_decimals_are_those_of_all_values() -> None:
    for values, expected in (
        ([1.0, 20.0], 0),
        ([1.5, 2.0], 1),
        ([0.125, 1.0], 3),
        ([1e-6], 6),
        ([1e-7], None),
        ([], 0),
    ):
        assert _decimals(np.array([*values, np.nan])) == expected
