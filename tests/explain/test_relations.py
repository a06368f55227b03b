"""Relations between columns: which are found, which are not, and what follows from new values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from sslart import SSLART
from sslart._mapping.model_view import ModelView, view_of
from sslart.explain import _relations
from sslart.explain._relations import Relation, relations_of, shortest

Column = Callable[..., Any]


def learnt(X: Any, **parameters: Any) -> ModelView:
    """A model that has a box for each sample; labels are of no interest."""
    return view_of(SSLART(1.0, random_state=0, **parameters).fit(X, np.arange(len(X)) % 2))


def base(n: int = 60, n_columns: int = 2, seed: int = 0) -> np.ndarray:
    """Columns that do not follow from each other: numbers of two decimals, between 1 and 10."""
    random = np.random.RandomState(seed)
    return random.uniform(1, 10, (n, n_columns)).round(2)


def found_with(column: Any, given: np.ndarray) -> list[Relation]:
    return list(relations_of(learnt(np.column_stack([given, column]))))


FUNCTIONS: dict[str, Column] = {
    "copy": lambda a: a,
    "cents": lambda a: 100 * a,
    "line": lambda a: 32 + 1.8 * a,
    "falling line": lambda a: 10 - 3 * a,
    "square": lambda a: a**2,
    "root": np.sqrt,
    "inverse": lambda a: 1 / a,
    "exponential": np.exp,
    "falling exponential": lambda a: 5 * np.exp(-a / 2),
    "logarithm": np.log,
    "falling logarithm": lambda a: 3 - np.log(a),
    "arc": lambda a: a + np.arctan(a),
    "line below zero": lambda a: 2 * a - 50,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_column_that_rises_or_falls_with_another_follows_from_it(name: str) -> None:
    given, function = base(80, 2), FUNCTIONS[name]
    (relation,) = found_with(function(given[:, 0]), given)
    assert (relation.column, relation.bases, relation.is_exact) == (2, (0,), True)
    new = np.sort(base(30, 1, seed=1)[:, 0])
    new = new[(new > given[:, 0].min()) & (new < given[:, 0].max())]
    wanted, reach = function(new), np.ptp(function(given[:, 0]))
    np.testing.assert_allclose(relation.follow([new]), wanted, atol=reach * (0.01 if name == "arc" else 1e-6))
    beyond = np.array([20.0, np.nan])
    followed = relation.follow([beyond])
    assert np.isnan(followed[1])
    if name != "arc":  # beyond what was learnt as well: the formula is known
        np.testing.assert_allclose(followed[0], function(20.0), rtol=1e-4, atol=1e-6)


def test_a_column_of_numbers_below_zero_has_functions_as_well() -> None:
    given = base(80, 2) - 5
    for function in (lambda a: 3 * a + 1, lambda a: a**3):
        (relation,) = found_with(function(given[:, 0]), given)
        assert (relation.column, relation.bases) == (2, (0,))
        np.testing.assert_allclose(relation.follow([given[:, 0]]), function(given[:, 0]), rtol=1e-5, atol=1e-4)


def test_eleven_values_in_the_same_order_may_be_chance() -> None:
    for n_values, is_found in ((11, False), (12, True)):
        given = base(44, 2)
        given[:, 0] = np.arange(44) % n_values
        assert bool(found_with(given[:, 0] ** 3 + given[:, 0], given)) == is_found


def test_what_is_not_exact_or_has_missing_values_elsewhere() -> None:
    given = base(80, 2)
    assert not found_with(2 * given[:, 0] + np.random.RandomState(0).normal(0, 0.05, 80), given)
    assert not found_with(given[:, 0] % 5, given)
    assert not found_with(np.floor(given[:, 0]), given)
    given[::7, 0] = np.nan
    (relation,) = found_with(np.where(np.arange(80) % 5, 3 * given[:, 0], np.nan), given)
    assert (relation.column, relation.bases) == (2, (0,))
    np.testing.assert_allclose(relation.follow([np.array([2.0, 4.0])]), [6, 12], rtol=1e-6)


SUMS: dict[str, tuple[Column, Column]] = {
    # the column made of the others, and which follows: (column, bases)
    "sum": (lambda a, b, c: a + b, lambda x: (3, (0, 1))),
    "weighted": (lambda a, b, c: 2 * a + 0.5 * b + 7, lambda x: (3, (0, 1))),
    "three": (lambda a, b, c: a + b + c, lambda x: (3, (0, 1, 2))),
    "thirds": (lambda a, b, c: a / 3 + b / 3 + c / 3, lambda x: (3, (0, 1, 2))),
    "rest": (lambda a, b, c: a - b, lambda x: (0, (1, 3))),  # the total follows, not its part
    "rest of two": (lambda a, b, c: c - a - b, lambda x: (2, (0, 1, 3))),
    "rest with a factor": (lambda a, b, c: 5 * a - b, lambda x: (0, (1, 3))),
    "negative": (lambda a, b, c: -a - 2 * b, lambda x: (3, (0, 1))),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_and_totals_follow_from_their_parts(name: str) -> None:
    given, (function, expected) = base(60, 3), SUMS[name]
    X = np.column_stack([given, function(*given.T)])
    (relation,) = relations_of(learnt(X))
    assert (relation.column, relation.bases) == expected(X)
    new = base(20, 3, seed=1)
    new = np.column_stack([new, function(*new.T)])
    followed = relation.follow([new[:, one] for one in relation.bases])
    np.testing.assert_allclose(followed, new[:, relation.column], atol=1e-5)
    table = learnt(X).read(np.append(new, new + np.array([0, 0, 0, 1]), axis=0))
    assert relation.holds(table, 20.0).tolist() == [True] * 20 + [False] * 20


def test_sums_of_five_terms_are_found_and_longer_ones_are_not() -> None:
    given = base(60, 6)
    for n, is_found in ((2, True), (5, True), (6, False)):
        found = found_with(given[:, :n].sum(axis=1), given)
        assert [one.bases for one in found] == ([tuple(range(n))] if is_found else [])


def test_sums_need_eight_samples_more_than_there_are_columns() -> None:
    for n, is_found in ((12, False), (13, True), (20, True)):
        given = base(n, 3)
        X = np.column_stack([given, given.sum(axis=1)])
        assert bool(relations_of(learnt(X))) == is_found
    given = base(40, 3)
    given[::2, 0] = np.nan  # samples with a missing value do not count
    assert relations_of(learnt(np.column_stack([given, given.sum(axis=1)])))
    given[5:, 0] = np.nan
    assert not relations_of(learnt(np.column_stack([given, given.sum(axis=1)])))


def test_several_relations_are_found_and_no_base_follows_from_others() -> None:
    a, b, c = base(80, 3).T
    X = np.column_stack([a, b, c, a + b, 10 * c, a + b + c, b * c])
    found = {one.column: one.bases for one in relations_of(learnt(X))}
    assert set(found) == {3, 4, 5, 6}
    assert not {base for bases in found.values() for base in bases} & set(found)
    assert found[4] == (2,)
    assert found[6] == (1, 2)
    constant = np.column_stack([a, b, a + b, np.full(80, 3.0)])
    assert [(one.column, one.bases) for one in relations_of(learnt(constant))] == [(2, (0, 1))]


def test_products_and_squares_follow_from_their_factors() -> None:
    given = base(60, 3) - 5  # a square neither rises nor falls
    for function, bases in (
        (lambda a, b, c: a * c, (0, 2)),
        (lambda a, b, c: b * b, (1, 1)),
        (lambda a, b, c: c * b, (1, 2)),
    ):
        (relation,) = found_with(function(*given.T), given)
        assert (relation.column, relation.bases) == (3, bases)
        new = base(20, 3, seed=1)
        np.testing.assert_allclose(relation.follow([new[:, one] for one in bases]), function(*new.T), rtol=1e-8)
    assert not found_with(given[:, 0] * given[:, 1] * given[:, 2], given)
    assert not found_with(given[:, 0] * given[:, 1] + 0.01 * given[:, 2], given)
    is_high = (given[:, :1] > 0).astype(float)  # its own square
    assert not relations_of(learnt(np.column_stack([is_high, given[:, 1:]])))
    for n, is_found in ((11, False), (12, True)):
        few = base(n, 2, seed=3) - 5
        found = found_with(few[:, 0] * few[:, 1], few)
        assert (([one.bases for one in found]) == [(0, 1)]) == is_found


def test_columns_are_many_where_sums_are_not_looked_for() -> None:
    for n, is_found in ((59, True), (60, False)):
        X = base(90, n)
        assert bool(found_with(X[:, 0] + X[:, 1], X)) == is_found


def coded(n_each: int = 6, n_kinds: int = 3) -> pd.DataFrame:
    """A category, a number, and a code that tells both apart."""
    random = np.random.RandomState(0)
    kinds = random.permutation(np.repeat(np.arange(n_kinds), n_each))
    frame = pd.DataFrame({"kind": np.array([f"k{one}" for one in kinds], dtype=object)})
    frame["noise"] = random.uniform(0, 1, len(kinds))
    frame["code"] = (7.0 * kinds**2) % 11
    return frame


def test_codes_follow_from_what_they_stand_for() -> None:
    frame = coded()
    (relation,) = relations_of(learnt(frame))
    assert (relation.column, relation.bases) == (2, (0,))
    new = np.array(["k2", "k0", "unknown", "k1"], dtype=object)
    np.testing.assert_allclose(relation.follow([new]), [6, 0, np.nan, 7])
    # a group of several codes follows from the code, and not the code from the group
    frame["group"] = np.where(frame["kind"] == "k0", "small", "large")
    found = {one.column: one for one in relations_of(learnt(frame))}
    assert set(found) == {2, 3}
    assert found[3].bases == (0,)
    assert found[3].follow([new]).tolist() == ["large", "small", None, "large"]
    table = learnt(frame).read(frame[:4].assign(group=["small"] * 3 + [None]))
    assert found[3].holds(table, 1.0).tolist() == [one == "k0" for one in frame["kind"][:3]] + [False]
    # numbers that stand for numbers
    numbers = np.column_stack([frame["code"], frame["noise"], frame["code"] % 7])
    (relation,) = relations_of(learnt(numbers))
    assert (relation.column, relation.bases) == (2, (0,))
    assert relation.follow([np.array([6.0, 7.0, 0.0])]).tolist() == [6, 0, 0]


def test_codes_have_five_samples_each_and_are_no_more_than_two_dozen() -> None:
    for n_each, n_kinds, is_found in ((5, 3, True), (4, 3, False), (5, 24, True), (5, 25, False), (9, 2, True)):
        frame = coded(n_each, n_kinds)
        frame["code"] = np.random.RandomState(1).permutation(n_kinds)[frame["kind"].str[1:].astype(int)] * 1.0
        assert bool(relations_of(learnt(frame))) == is_found
    frame = coded()
    frame.loc[frame.index[0], "code"] = 6.0 - frame["code"][0]  # one sample does not agree
    assert not relations_of(learnt(frame))


def test_gaps_of_codes_do_not_count() -> None:
    for mapping in ("evidence", "one-to-many"):
        frame = coded(9)
        frame["kind"] = frame["kind"].where(frame.index % 5 != 0, None)
        frame.loc[frame.index % 7 == 0, "code"] = np.nan
        (relation,) = relations_of(learnt(frame, mapping=mapping))
        assert (relation.column, relation.bases) == (2, (0,))
        assert relation.follow([np.array(["k1", "k2"], dtype=object)]).tolist() == [7, 6]


def test_parts_of_a_date_follow_from_it_and_need_not_hold() -> None:
    days = pd.date_range("2024-01-01", periods=200)
    frame = pd.DataFrame({"day": days, "n": np.random.RandomState(0).rand(200)})
    view = learnt(frame)
    found = relations_of(view)
    assert found
    assert {one.bases for one in found} == {(0,)}
    assert not any(one.is_exact for one in found)
    names = {view.feature_names[one.column]: one for one in found}
    weekday = next(one for name, one in names.items() if name.startswith("weekday"))
    assert weekday.follow([np.array([0.0, 1.0, np.nan])]).tolist() == ["Thursday", "Friday", None]
    table = view.read(frame[:3])
    assert weekday.holds(table, 1.0).all()


def test_wide_boxes_show_copies_as_samples_do() -> None:
    X = base(200, 2)
    X = np.column_stack([X, 10 - 3 * X[:, 0], X[:, 1] ** 2])
    view = view_of(SSLART(0.7, random_state=0).fit(X, np.arange(200) % 2))
    lower, upper = view.members[0].boxes
    assert (lower < upper).any(axis=1).mean() > 0.5
    found = {one.column: one for one in relations_of(view)}
    assert {column: one.bases for column, one in found.items()} == {2: (0,), 3: (1,)}
    np.testing.assert_allclose(found[2].follow([X[:, 0]]), X[:, 2], atol=1e-5)


def test_steps_are_parts_of_the_range() -> None:
    values = np.array([[0.0, -3.0, 7.0], [5.0, np.nan, 7.0], [1e9, -1.0, 7.0]])
    expected = [[0, 0, 0], [0, np.nan, 0], [1e7, 1e7, 0]]
    np.testing.assert_array_equal(_relations._in_steps(values), expected)
    assert _relations._in_steps(values[:0]).shape == (0, 3)


def test_columns_of_one_order_are_those_that_rise_or_fall_with_another() -> None:
    random = np.random.RandomState(0)
    a, b, c = (random.permutation(40) for _ in range(3))
    steps = np.column_stack([a, b, a**2, 90 - b, c, a // 4, a // 4, np.full(40, 3), a % 12, a % 12]).astype(float)
    every = list(range(10))
    assert _relations._in_shared_order(every, steps, 12) == [0, 1, 2, 3, 8, 9]
    assert _relations._in_shared_order([0, 2, 5, 6], steps, 1) == [0, 2, 5, 6]
    steps[5, 0] = steps[5, 2] = steps[7, 3] = np.nan  # missing at the same samples
    assert _relations._in_shared_order(every, steps, 12) == [0, 2, 8, 9]


def test_of_very_many_columns_the_same_copies_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    X = base(80, 5)
    X = np.column_stack([X, X[:, 0] ** 3, 2 - X[:, 1], 100 * X[:, 0], 10 * X[:, 2]])
    expected = {(one.column, one.bases) for one in relations_of(learnt(X))}
    assert expected == {(5, (0,)), (6, (1,)), (7, (0,)), (8, (2,))}
    monkeypatch.setattr(_relations, "MANY_COLUMNS", 3)
    assert {(one.column, one.bases) for one in relations_of(learnt(X))} == expected


def test_numbers_have_as_few_decimals_as_a_tolerance_allows() -> None:
    assert shortest(np.array([0.30000001, 1 / 3]), 1e-6).tolist() == [0.3, 0.333333]
    assert shortest(np.array([12.4, 12.6]), 0.5).tolist() == [12, 13]
    assert shortest(np.array([[1e-12, 1.5]]), np.array([0.0, 0.5])).tolist() == [[1e-12, 2]]
    assert shortest(np.array([1e-13, np.pi]), 0.0).tolist() == [1e-13, np.pi]
