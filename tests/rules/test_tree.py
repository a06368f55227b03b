"""Trees that imitate a model: splits, pruning and cuts are the best that plain loops find."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sslart._data.samples import Table
from sslart.rules import _tree
from sslart.rules._model_extraction import Neighbourhood, Region, _decimals, shortened, united
from sslart.rules._model_rules import short_decimal
from sslart.rules._tree import Column, Grid, Node, Split, columns_of, grow, prune, refine

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
            if min(weights[rows[left]].sum(), weights[rows[~left]].sum()) >= 1:
                parts = sum(information(grid, own, weights) for own in (rows[left], rows[~left]))
                gains.append(information(grid, rows, weights) - parts)
    split = grid.best_split(rows, np.isin(np.arange(3), columns), weights)
    assert split.gain == pytest.approx(max(gains), abs=1e-8)
    if split.gain > 0:
        left = grid.left(split, rows)
        parts = sum(information(grid, own, weights) for own in (rows[left], rows[~left]))
        assert split.column in columns
        assert information(grid, rows, weights) - parts == pytest.approx(split.gain)
        assert grid.columns[split.column].has_missing or not split.left[-1]


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
@given(
    seed=st.integers(0, 999),
    max_rules=st.integers(0, 4),
    price=st.sampled_from([0.0, 0.7, 3.0]),
    weighted=st.booleans(),
)
def test_what_is_pruned_has_the_lowest_price_of_all_parts(
    seed: int, max_rules: int, price: float, weighted: bool
) -> None:
    grid = grid_of(seed, weighted=weighted)
    root = grown(grid, 5)
    totals = [[grid.totals(rows) for rows in leaves] for leaves in prunings(root)]
    prices = {}
    for default in range(grid.n_outcomes):
        for leaves in totals:
            saved = sorted((float(own.max() - own[default]) for own in leaves), reverse=True)[:max_rules]
            errors = sum(float(own.sum() - own[default]) for own in leaves)
            for n_rules in range(len(saved) + 1):
                paid = round(errors - sum(saved[:n_rules]) + price * n_rules, 9)
                prices[default, n_rules] = min(prices.get((default, n_rules), np.inf), paid)
    lowest = min(prices.values())
    default = prune(root, grid, max_rules, price)
    n_rules = sum(leaf.outcome != default for leaf, _ in root.leaves())
    # of those with the lowest price, the first default and the fewest rules
    assert (default, n_rules) == min(one for one, paid in prices.items() if paid == lowest)
    errors = grid.weights[root.predict(grid, np.arange(len(grid))) != grid.outcomes].sum()
    assert errors + price * n_rules == pytest.approx(lowest)
    for node, _ in root.walk():  # no split is left that gains nothing
        assert len({child.outcome if child.split is None else -1 for child in node.children}) != 1 or any(
            child.split is not None for child in node.children
        )


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
    root.cut(Split(0.0, 1, np.array([True, False, False, False, False, False])), grid)
    root.children[0].outcome, root.children[1].outcome = 0, 1
    refine(root, grid, 0, 1)
    assert root.fidelity(grid) == 1.0
    root = Node(np.arange(60))
    root.cut(Split(0.0, 1, np.array([True, True, False, False, False, False])), grid)
    root.children[0].outcome, root.children[1].outcome = 0, 2
    refine(root, grid, 0, 1)
    assert root.fidelity(grid) == 1.0
    assert [leaf.outcome for leaf, _ in root.leaves()] == [0, 1]


def best_choice(node: Node, above: frozenset[int], grid: Grid, default: int, max_features: int) -> float:
    """The weight of the samples on which a node agrees with the model, for the best split: brute force."""
    allowed = set(range(3))
    for child in node.children:
        for leaf, features in child.leaves(above):
            if leaf.outcome != default and len(features) >= max_features:
                allowed &= features
    truth, weights = grid.outcomes[node.rows], grid.weights[node.rows]
    left, right = (child.predict(grid, node.rows) == truth for child in node.children)
    lefts = [side[grid.bins[node.rows, column]] for column in allowed for side in sides(grid, column)]
    return max((weights @ np.where(one, left, right) for goes in lefts for one in (goes, ~goes)), default=-np.inf)


@settings(max_examples=30)
@given(seed=st.integers(0, 999), max_features=st.integers(1, 3), n_leaves=st.integers(2, 7))
def test_a_split_is_chosen_anew_where_another_agrees_more_often(seed: int, max_features: int, n_leaves: int) -> None:
    grid, random = grid_of(seed, 60), np.random.RandomState(seed)
    root = grown(grid, n_leaves, max_features)
    for leaf, _ in root.leaves():
        leaf.outcome = random.randint(3)
    nodes = [(node, above) for node, above in root.walk() if node.split is not None]
    node, above = nodes[random.randint(len(nodes))]

    def agreeing() -> float:
        return float(grid.weights[node.rows] @ (node.predict(grid, node.rows) == grid.outcomes[node.rows]))

    before, best, split = agreeing(), best_choice(node, above, grid, 0, max_features), node.split
    changed = _tree._choose_split(node, above, grid, 0, max_features)
    assert changed == (best > before + 1e-9)
    assert agreeing() == pytest.approx(max(best, before))
    assert changed or node.split is split
    for one, _ in root.walk():  # every sample is where the splits send it
        if one.split is not None:
            left = grid.left(one.split, one.rows)
            np.testing.assert_array_equal(one.children[0].rows, one.rows[left])
            np.testing.assert_array_equal(one.children[1].rows, one.rows[~left])


@pytest.mark.parametrize(("changes", "n_sweeps"), [([False], 1), ([True, True, False], 3), ([True] * 20, 8)])
def test_refinement_goes_on_until_no_split_changes(
    changes: list[bool], n_sweeps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = grid_of(0, 60)
    root, left = grown(grid, 2), iter(changes)
    monkeypatch.setattr(_tree, "_collapse", lambda node: None)
    monkeypatch.setattr(_tree, "_choose_split", lambda node, *_: node is root and next(left))
    refine(root, grid, 0, 3)
    assert len(list(left)) == len(changes) - n_sweeps


@settings(max_examples=20)
@given(seed=st.integers(0, 999), n_outcomes=st.sampled_from([1, 2, 3]))
def test_a_tree_collapses_to_the_splits_that_tell_outcomes_apart(seed: int, n_outcomes: int) -> None:
    grid, random = grid_of(seed, 60), np.random.RandomState(seed)
    root = grown(grid, 8)
    for leaf, _ in root.leaves():
        leaf.outcome = random.randint(n_outcomes)
    root.refill(np.arange(0, 60, 4), grid)  # some splits send no sample to one side
    before = root.predict(grid, root.rows)
    _tree._collapse(root)
    np.testing.assert_array_equal(root.predict(grid, root.rows), before)
    for node, _ in root.walk():
        if node.split is not None:
            left, right = node.children
            assert len(left.rows)
            assert len(right.rows)
            assert left.split is not None or right.split is not None or left.outcome != right.outcome


def kinds_of(seed: int, n: int, n_kinds: int, n_outcomes: int) -> Grid:
    """A grid of one column of many categories, some without a sample, whose outcomes differ in their shares."""
    random = np.random.RandomState(seed)
    shares = random.dirichlet(np.full(n_outcomes, 0.5), n_kinds)
    kinds = np.sort(random.permutation(n_kinds)[: n_kinds - 2])[random.randint(n_kinds - 2, size=n)]
    outcomes = np.array([random.choice(n_outcomes, p=shares[kind]) for kind in kinds])
    names = tuple(f"k{kind}" for kind in range(n_kinds))
    table = Table(np.full((n, 1), np.nan), {0: np.array(names, dtype=object)[kinds]}, ["kind"])
    return Grid([Column("kind", np.empty(0), names, False)], table, outcomes, n_outcomes, random.uniform(0.2, 1, n))


@settings(max_examples=20)
@given(
    seed=st.integers(0, 999),
    n=st.sampled_from([40, 150]),
    n_kinds=st.sampled_from([3, 4, 8, 16, 20]),
    n_outcomes=st.sampled_from([2, 3]),
)
def test_categories_are_split_in_the_order_of_an_outcome_with_six_at_one_side(
    seed: int, n: int, n_kinds: int, n_outcomes: int
) -> None:
    grid = kinds_of(seed, n, n_kinds, n_outcomes)
    rows = np.arange(len(grid))
    by_kind = [rows[grid.bins[:, 0] == kind] for kind in range(n_kinds)]
    gains = [0.0]
    for outcome in range(n_outcomes):
        present = [own for own in by_kind if len(own)]
        shares = [-grid.totals(own)[outcome] / grid.weights[own].sum() for own in present]
        order = [present[place] for place in np.argsort(shares, kind="stable")]
        for first in range(1, len(order)):
            left, right = np.concatenate(order[:first]), np.concatenate(order[first:])
            if min(first, len(order) - first) <= 6 and min(grid.weights[left].sum(), grid.weights[right].sum()) >= 1:
                parts = sum(information(grid, own, grid.weights) for own in (left, right))
                gains.append(information(grid, rows, grid.weights) - parts)
    split = grid.best_split(rows, np.ones(1, dtype=bool), grid.weights)
    assert split.gain == pytest.approx(max(gains), abs=1e-9)
    if split.gain > 0:
        left = grid.left(split, rows)
        parts = sum(information(grid, own, grid.weights) for own in (rows[left], rows[~left]))
        assert information(grid, rows, grid.weights) - parts == pytest.approx(split.gain)


def test_a_split_names_six_categories_at_most_and_needs_two() -> None:
    names, every = tuple("abcdefghijklmnopqrst"), np.ones(1, dtype=bool)
    table = Table(np.full((40, 1), np.nan), {0: np.array([*names, *names], dtype=object)}, ["kind"])
    grid = Grid([Column("kind", np.empty(0), names, False)], table, np.arange(40) % 2, 2, np.ones(40))
    for n_left, is_found in ((1, True), (6, True), (7, False), (14, False), (15, True), (20, True)):
        split = grid.best_assignment(np.arange(40), np.where(grid.bins[:, 0] < n_left, 1.0, -1.0), every)
        assert split.left.tolist() == ([kind < n_left for kind in range(21)] if is_found else [])
        assert split.gain == (2 * n_left if is_found else -np.inf)
    assert grid.best_split(np.array([3, 23]), every, grid.weights) is _tree.NO_SPLIT


def test_each_side_of_a_split_weighs_one_sample_at_least() -> None:
    for weight, is_found in ((0.9, False), (1.0, True)):
        grid = line_of([0, 1, 1, 1])
        split = grid.best_split(np.arange(4), np.ones(1, dtype=bool), np.array([weight, 1.0, 1.0, 1.0]))
        assert split.left.tolist() == ([True, False, False, False, False] if is_found else [True, True, *[False] * 3])


def test_a_tree_grows_by_the_weights_and_features_it_is_given_until_nothing_is_gained() -> None:
    grid = grid_of(5, 120)
    for column in range(3):
        root = Node(np.arange(len(grid)))
        grow(root, grid, grid.weights, np.arange(3) == column, 4, 3)
        assert {node.split.column for node, _ in root.walk() if node.split is not None} == {column}
    root, weights = Node(np.arange(len(grid))), grid.weights * np.where(grid.bins[:, 1] < 2, 1.0, 1e-3)
    grow(root, grid, weights, EVERY, 2, 3)
    assert root.split is not None
    assert root.split.gain == grid.best_split(root.rows, EVERY, weights).gain
    pure = np.flatnonzero(grid.outcomes == 1)
    root = Node(pure)
    grow(root, grid, grid.weights, EVERY, 4, 3)
    assert root.split is None


@pytest.mark.parametrize("has_missing", [False, True])
@pytest.mark.parametrize("n_kinds", [None, 1, 2, 4, 5, 6, 7, 8])
def test_a_condition_holds_for_the_bins_that_are_allowed(n_kinds: int | None, has_missing: bool) -> None:
    names = tuple("stuvwxyz"[: n_kinds or 0])
    column = Column("x", np.array([1.0, 2.0, 5.0]), None if n_kinds is None else names, has_missing)
    values = np.array(
        [0.0, 1.5, 3.0, 6.0, np.nan] if n_kinds is None else [*names, None], dtype=float if n_kinds is None else object
    )
    for mask in product([False, True], repeat=column.n_bins):
        allowed, known = np.array(mask), np.flatnonzero(mask[:-1])
        if n_kinds is None and len(known) and known[-1] - known[0] >= len(known):
            continue  # not a range
        if not column.occurring(allowed).any():
            continue
        condition, occurring = column.condition(allowed), column.occurring(allowed)
        if occurring.all():
            assert condition is None
            continue
        assert condition is not None
        assert condition.feature == "x"
        assert condition.holds_for(values)[: len(occurring)].tolist() == occurring.tolist()
        assert condition.missing == (has_missing and bool(allowed[-1])) or not len(known)
        assert condition.only_missing == (not len(known))
        if n_kinds is None:
            assert condition.categories is None
            assert not len(known) or ((condition.low is None) == allowed[0] and (condition.high is None) == allowed[-2])
        elif len(known):  # three are named, and more where they are no more than half
            assert condition.negated == (len(known) > max(3, n_kinds / 2) or len(known) == n_kinds)


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


@pytest.mark.parametrize(("n_alike", "place"), [(0, 0), (1, 300), (200, 300), (900, 300), (900, -2), (900, -1)])
def test_many_cuts_are_the_shortest_decimals_within_a_quarter_of_a_share(n_alike: int, place: int) -> None:
    random = np.random.RandomState(n_alike)
    values = np.sort(random.gamma(2.0, 10.0, 700))
    values = np.sort(np.append(values, np.full(n_alike, values[place])))
    share, expected = (len(values) - 1) / 65, set()
    for number in range(1, 65):
        low = values[int(np.floor((number - 0.25) * share))]
        high = values[int(np.ceil((number + 0.25) * share))]
        end = max(high, min(values[values > low], default=low))
        expected |= {short_decimal(float(low), float(end))} if low < end else set()
    assert columns_of_numbers(random.permutation(values)).cuts.tolist() == sorted(expected)


def test_columns_have_the_known_categories_first_and_tell_what_is_missing() -> None:
    values = np.array([[1.0, np.nan], [2.0, np.nan], [4.0, np.nan]])
    for gap in (False, True):
        values[0, 0] = np.nan if gap else 1.0
        kinds = np.array(["new", None if gap else "b", "a"], dtype=object)
        number, kind = columns_of(Table(values, {1: kinds}, ["n", "kind"]), ["n", "kind"], {1: ("b", "a")})
        assert (number.feature, number.categories, number.has_missing) == ("n", None, gap)
        assert number.cuts.tolist() == ([3.0] if gap else [1.0, 3.0])
        assert (kind.feature, kind.categories, kind.has_missing) == ("kind", ("b", "a", "new"), gap)
        assert not len(kind.cuts)
    (absent,) = columns_of(Table(values[:, :1], {}, ["kind"]), ["kind"], {0: ("b", "a")})
    assert (absent.categories, absent.has_missing) == (("b", "a"), True)


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
