"""The values that are offered for each feature, within which limits, and how a change of them is measured."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sslart import SSLART
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView, view_of
from sslart.explain import _options
from sslart.explain._options import STAY, ChangeSpace, Limits, Options, options_of

UNEVEN = np.array([0.0, 3, 4, 7, 11, 12, 13, 20, 21, 30, 35, 36, 41])


def learnt(*columns: Any, **parameters: Any) -> ModelView:
    """A model that has a box for each sample, and keeps samples that are few; labels are of no interest."""
    X = np.column_stack(columns).astype(float)
    mapping = "evidence" if len(X) <= 120 else "one-to-many"
    model = SSLART(1.0, mapping=mapping, random_state=0, **parameters)
    return view_of(model.fit(X, np.arange(len(X)) % 2))


def within(view: ModelView, sample: Any, **limits: Any) -> Options:
    return options_of(view, Limits(**limits), view.read(sample))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.arange(100), np.arange(100)),
        (np.arange(-50, 50), np.arange(-50, 50)),
        (np.arange(1000), np.arange(1000)),
        (np.arange(1999), np.arange(0, 1999, 2)),  # one more than a thousand at a step of 2
        (np.arange(2001), np.arange(0, 2001, 5)),
        (3 + np.arange(300) * 37, np.arange(20, 3 + 299 * 37, 20)),
        (np.arange(200) * 25, np.arange(200) * 25),
        (np.arange(2400) * 25, np.arange(480) * 125),
        (1000 * np.arange(1, 300), 1000 * np.arange(1, 300)),
        (np.arange(300) / 10, np.arange(300) / 10),
        (np.arange(300) / 8, np.arange(300) * 125 / 1000),
        (np.where(np.arange(200) % 2, 0, np.arange(200) * 0.25), np.arange(0, 100) * 0.5),
        (np.arange(300) * 2e-9, np.arange(300) * 2e-9),
        (np.append(np.arange(84), np.arange(20) + 0.5), np.arange(84)),
        (np.append(np.arange(78), np.arange(24) + 0.5), np.arange(155) / 2),
        # few values, many times each, and none between
        (np.repeat([36, 60], 5), [36, 60]),
        ([36, 60], [36, 60]),
        (np.repeat([1, 2.5, 99], 4), [1, 2.5, 99]),
        (np.repeat(np.arange(12) ** 2, 4), np.arange(12) ** 2),
        (np.arange(12) ** 2, np.arange(122)),
        (np.repeat(UNEVEN, 9), np.arange(42)),
        (np.repeat([0.1 + 0.2, 0.3, 0.7, 1.1], 4), [0.3, 0.7, 1.1]),
    ],
)
def test_offered_are_the_multiples_of_the_step_of_the_data_or_the_few_values_that_occur(
    values: Any, expected: Any
) -> None:
    view = learnt(np.random.RandomState(0).permutation(np.asarray(values, dtype=float)))
    found = options_of(view).values[0]
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


def test_continuous_numbers_have_a_thousand_options_at_most_and_hundreds_at_least() -> None:
    for scale, step in ((1.0, 1e-3), (3e-7, 5e-10), (40.0, 0.05), (2e9, 2e6)):
        values = np.random.RandomState(1).rand(400) * scale
        found = options_of(learnt(values)).values[0]
        assert 390 < len(found) <= 1000
        np.testing.assert_allclose(np.diff(found), step, rtol=1e-6)
        np.testing.assert_allclose(found / step, np.rint(found / step), atol=1e-6)
        assert values.min() <= found[0] < values.min() + step
        assert values.max() - step < found[-1] <= values.max()


def test_values_lie_close_together_where_samples_do() -> None:
    values = np.append(np.arange(200) / 10, [1e4, 2e4, 5e4])
    view = learnt(np.tile(values, 2), scaling="rank")
    found = options_of(view).values[0]
    assert np.isin(values, found).all()
    assert len(found) < 1300


def test_within_narrow_limits_values_are_finer_until_there_are_twenty() -> None:
    view = learnt(np.arange(3001))
    assert options_of(view).values[0].tolist() == list(range(0, 3001, 5))
    for limits, expected in (
        ((1000, 1100), range(1000, 1101, 5)),
        ((1000, 1095), range(1000, 1096, 5)),
        ((1000, 1094), range(1000, 1095, 2)),
        ((1000.5, 1038.5), range(1001, 1039)),
        ((1000, 1008), range(1000, 1009)),
        ((-9, 3), range(4)),
        ((2999.5, 9e9), [3000]),
    ):
        assert within(view, [[500.0]], numbers={0: limits}).values[0].tolist() == list(expected)


def test_limits_fix_columns_and_name_categories_and_what_is_the_sample_alone_is_no_option() -> None:
    frame = pd.DataFrame({"kind": [*"uvw"] * 20, "n": np.arange(60.0), "same": 1.0})
    view = view_of(SSLART(0.9, random_state=0).fit(frame, np.arange(60) % 2))
    assert options_of(view) is options_of(view, Limits()) is options_of(view)
    every = options_of(view)
    assert [values.tolist() for values in every.values] == [[*"uvw"], list(range(60)), []]
    assert every.sizes.tolist() == [3, 60, 0]
    assert every.why_not == {2: "no other value"}
    assert every.spans.tolist() == [1.0, 59.0, 1.0]
    np.testing.assert_allclose(every.positions[1], np.arange(60) / 59, atol=1e-6)
    candidates = np.column_stack([np.zeros(60), np.arange(60), np.full(60, STAY)]).astype(np.int64)
    np.testing.assert_allclose(every.values_at(candidates)[:, 1], np.arange(60), atol=1e-6)
    np.testing.assert_allclose(every.positions_at(candidates)[:, 1], np.arange(60) / 59, atol=1e-6)
    fixed = within(view, frame[:1], fixed=frozenset({1}))
    assert fixed.sizes.tolist() == [3, 0, 0]
    assert fixed.why_not == {1: "fixed", 2: "no other value"}
    for kinds, n in (({"u"}, 0), ({"v"}, 1), ({"u", "w"}, 2)):
        found = within(view, frame[:1], categories={0: frozenset(kinds)})
        assert found.sizes[0] == n
        assert (found.why_not.get(0) == "no other value") == (n == 0)
    for limits, n in (((0, 0), 0), ((1, 1), 1), ((0, 1), 2)):
        assert within(view, frame[:1], numbers={1: limits}).sizes[1] == n


def test_what_a_value_may_be_is_what_was_learnt_within_the_limits() -> None:
    frame = pd.DataFrame({"kind": [*"uvw"] * 20, "n": np.arange(60.0)})
    view = view_of(SSLART(0.9, random_state=0).fit(frame, np.arange(60) % 2))
    sample, values = view.read(frame[:1]), np.array([-1.0, -1e-5, 0.0, 10.0, 59.0, 59.00001, 60.0])
    kinds = np.array(["u", "v", "x"], dtype=object)

    def allowed(column: int, values: Any, **limits: Any) -> list[bool]:
        return _options.allowed_values(view, Limits(**limits), column, values, sample).tolist()

    assert allowed(1, values) == [False, True, True, True, True, True, False]
    assert allowed(1, values, numbers={1: (0.5, 20.0)}) == [False, False, False, True, False, False, False]
    assert allowed(1, values, numbers={1: (-5.0, 90.0)}) == [False, True, True, True, True, True, False]
    assert allowed(1, values, fixed=frozenset({1})) == (values == 0).tolist()
    assert allowed(0, kinds) == [True, True, False]
    assert allowed(0, kinds, categories={0: frozenset({"v", "w"})}) == [False, True, False]
    assert allowed(0, kinds, fixed=frozenset({0})) == [True, False, False]
    missing = view.read(frame[:1].assign(kind=None))
    assert _options.allowed_values(view, Limits(), 0, kinds, missing).all()


def test_a_base_takes_the_values_for_which_what_follows_is_within_the_limits() -> None:
    numbers = np.arange(60.0)
    view = learnt(numbers, 2 * numbers + 1, np.random.RandomState(0).permutation(60))
    assert options_of(view).values[0].tolist() == numbers.tolist()
    found = within(view, [[5.0, 11.0, 3.0]], numbers={1: (15.0, 31.0)})
    assert found.values[0].tolist() == list(range(7, 16))
    found = within(view, [[5.0, 11.0, 3.0]], fixed=frozenset({1}))
    assert found.values[0].tolist() == []
    assert found.why_not[0] == "no other value"


@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_values_that_were_met_are_those_of_labelled_samples_and_of_boxes_that_show_them(rate: float) -> None:
    random = np.random.RandomState(0)
    X = random.rand(80, 2).round(3)
    for mapping in ("evidence", "one-to-many"):
        model = SSLART(0.8, mapping=mapping, learning_rate=rate, random_state=0)
        view = view_of(model.fit(X, np.where(np.arange(80) % 4 == 0, np.arange(80) % 3, -1)))
        lower, upper = view.members[0].network.boxes_in_units()
        maker = _options._Maker(view, Limits(), None)
        for column, found in enumerate(map(maker._met, range(X.shape[1]))):
            shown = np.ones(len(lower), dtype=bool) if rate == 1 else (lower == upper)[:, column]
            wanted = [lower[shown, column], upper[shown, column]]
            wanted += [X[::4, column]] if mapping == "evidence" else []
            wanted += [] if rate == 1 else [[X[:, column].min(), X[:, column].max()]]
            np.testing.assert_allclose(np.sort(found), np.sort(np.concatenate(wanted)), atol=1e-9)


@pytest.mark.parametrize(
    ("values", "counts", "span", "decimals"),
    [
        ([1, 2, 3], [1, 1, 1], 0.0, 0),
        ([1, 2, 3], [1, 1, 1], 2.0, 0),
        ([10, 20, 40], [1, 1, 1], 30.0, -1),
        ([500, 900, 12000], [1, 1, 1], 11500.0, -2),
        ([1, 2, 3, 4, 5, 6.5], [1] * 6, 5.5, 0),  # the first counts as the commonest, four of the five others are whole
        ([1, 2, 3, 4, 5.5, 6.5], [1] * 6, 5.5, 1),
        ([0, 0.25, 0.5, 0.75], [90, 1, 1, 1], 0.75, 2),
        ([0, 1, 2.5], [1, 8, 2], 2.5, 1),
        ([0, 1, 2.5], [8, 8, 2], 2.5, 0),
        ([0.123456789, 0.31415926, 0.987654321], [1, 1, 1], 0.87, 6),
        ([0.12345, 0.31415, 0.98765], [1, 1, 1], 1.0, 5),
        ([0.1234567, 0.3141592, 0.9876543], [1, 1, 1], 1.0, 5),
        ([1e-9, 3e-9, 7e-9], [1, 1, 1], 6e-9, 9),
    ],
)
def test_decimals_are_those_of_four_values_in_five(values: Any, counts: Any, span: float, decimals: int) -> None:
    assert _options.data_decimals(np.array(values, dtype=float), np.array(counts), span) == decimals


def test_numbers_and_units_of_their_last_decimal() -> None:
    assert (_options.scaled(1.25, 2), _options.scaled(1200.0, -2), _options.scaled(7.0, 0)) == (125, 12, 7)
    assert _options.from_whole(np.array([125.0, -0.0]), 2).tolist() == [1.25, 0.0]
    assert _options.from_whole(np.array([12.0]), -2).tolist() == [1200]
    assert _options.from_whole(np.array([7.0]), 0).tolist() == [7]
    assert not np.signbit(_options.from_whole(np.array([-0.0]), 1)).any()
    assert _options._multiples(5, 0, 2.0, 20.0) == (1, 4)
    assert _options._multiples(5, 0, 5.0 + 1e-6, 20.0 - 1e-6) == (1, 4)
    assert _options._count(5, 1, 2.0, 3.0) == 3
    distinct, counts = _options._distinct(np.array([0.30000001, 0.3, 5.0, 0.3, 7.0]), 1e-6)
    assert (distinct.tolist(), counts.tolist()) == ([0.30000001, 5.0, 7.0], [3, 1, 1])
    assert _options._distinct(np.empty(0), 0.1)[0].tolist() == []


def mixed_space() -> tuple[ChangeSpace, pd.DataFrame]:
    """Samples of numbers, a category and a column that follows, with gaps and values that were never learnt."""
    frame = pd.DataFrame({"n": np.arange(60.0), "kind": [*"uvw"] * 20, "m": np.arange(60.0) * 7 % 60})
    frame["n twice"] = 2 * frame["n"]
    view = view_of(SSLART(0.9, mapping="evidence", random_state=0).fit(frame, np.arange(60) % 2))
    given = frame[:6].copy()
    given["n"], given["kind"] = [3.0, 3.5, -2.0, np.nan, 70.0, 5.0], ["u", "w", None, "v", "v", "u"]
    given["n twice"] = [6.0, 7.0, -4.0, 8.0, 140.0, 99.0]
    return ChangeSpace(view, options_of(view), view.read(given)), given


def test_a_space_knows_where_samples_lie_among_the_options_and_what_may_move() -> None:
    space, _ = mixed_space()
    assert space.is_category.tolist() == [False, True, False, False]
    assert space.below[[0, 1, 2, 4, 5], 0].tolist() == [3, 4, 0, 60, 5]
    assert space.above[[0, 1, 2, 4, 5], 0].tolist() == [4, 4, 0, 60, 6]
    assert space.below[:, 1].tolist() == [0, 2, STAY, 1, 1, 0]
    np.testing.assert_allclose(space.own[[0, 1, 2, 4], 0], [3 / 59, 3.5 / 59, 0, 1], atol=1e-6)
    assert space.movable[:, 0].tolist() == [True, True, True, False, True, True]
    assert space.movable[:, 1].tolist() == [True, True, False, True, True, True]
    assert space.movable[:, 2].all()
    assert space.follows[:, 0].tolist() == [True, True, True, False, True, False]
    assert space.movable[:, 3].tolist() == [False, False, False, False, False, True]
    assert space.n_following.tolist() == [[int(one), 0, 0, 0] for one in space.follows[:, 0]]


def test_candidates_are_the_samples_with_their_options_and_what_follows() -> None:
    space, given = mixed_space()
    rows = np.array([0, 1, 5, 5, 2])
    candidates = np.array(
        [[10, 1, STAY, STAY], [STAY] * 4, [10, STAY, 7, STAY], [STAY, 2, STAY, 4], [0, STAY, 0, STAY]]
    )
    table, valid = space.table_of(rows, candidates)
    expected = [[10, 0, 20], [3.5, 7, 7], [10, 7, 99], [5, 35, 8], [0, 0, 0]]
    assert table.values[:, [0, 2, 3]].tolist() == expected
    assert table.categories[1].tolist() == ["v", "w", "u", "w", None]
    assert valid.all()
    positions = np.nan_to_num(space.own[rows])
    np.testing.assert_allclose(
        space.sizes(rows, candidates),
        [
            [10 / 59 - positions[0, 0], 1, 0, 0],
            [0, 0, 0, 0],
            [10 / 59 - positions[2, 0], 0, abs(7 / 59 - positions[2, 2]), 0],
            [0, 1, 0, abs(8 / 118 - positions[3, 3])],
            [0, 0, positions[4, 2], 0],
        ],
        atol=1e-6,
    )
    n_changes, distances = space.measured(rows, table)
    assert n_changes.tolist() == [3, 0, 2, 2, 3]
    moves = [7 / 59 + 1 + 14 / 118, 0, 5 / 59 + 28 / 59, 1 + 91 / 118, 14 / 59]
    np.testing.assert_allclose(distances, moves, atol=1e-6)
    assert space.directions(0, candidates[0]) == ((0, 1), (1, 3))
    assert space.directions(5, candidates[2]) == ((0, 1), (2, -1))
    assert space.directions(5, np.array([4, STAY, STAY, STAY])) == ((0, -1),)
    assert given["n"].tolist()[0] == space.table.values[0, 0] == 3


def test_what_follows_from_two_columns_must_be_within_what_was_learnt() -> None:
    random = np.random.RandomState(0)
    X = random.randint(0, 20, (80, 2)).astype(float)
    view = learnt(X[:, 0], X[:, 1], X.sum(axis=1))
    (relation,) = options_of(view).relations
    assert (relation.column, relation.bases) == (2, (0, 1))
    highest = int(X.sum(axis=1).max())
    space = ChangeSpace(view, options_of(view), view.read([[10.0, 10.0, 20.0], [10.0, np.nan, 20.0]]))
    assert space.n_following.tolist() == [[1, 1, 0], [0, 0, 0]]
    candidates = np.array([[19, 19, STAY], [19, STAY, STAY]])
    table, valid = space.table_of(np.array([0, 0]), candidates)
    assert table.values[:, 2].tolist() == [38, 29]
    assert valid.tolist() == [highest >= 38, highest >= 29]
    assert not space.movable[:, 2].any()
    assert _options.relation_values(space.table, relation).tolist()[0] == [10, 10]


def test_parts_of_a_date_are_no_columns_that_follow_in_the_eyes_of_a_user() -> None:
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=120), "n": np.arange(120.0) * 7 % 120})
    view = view_of(SSLART(0.9, random_state=0).fit(frame, np.arange(120) % 2))
    options = options_of(view)
    space = ChangeSpace(view, options, view.read(frame[:3]))
    assert len(options.relations) == len(options.why_not) > 0
    assert set(options.why_not.values()) == {"part of a date"}
    assert not space.n_following.any()
    assert space.follows.all()
    later = np.full((1, len(options.values)), STAY)
    later[0, 0] = 37
    table, valid = space.table_of(np.array([0]), later)
    assert valid.all()
    expected = view.read(frame[37:38])
    assert [values[0] for values in table.categories.values()] == [v[0] for v in expected.categories.values()]
    n_changes, _ = space.measured(np.array([0]), table)
    assert n_changes.tolist() == [1]


def test_numbers_for_categories_are_zero_and_missing_ones_are_not() -> None:
    relation = _options.Relation(1, (0,), lambda bases: bases[0])
    table = Table(np.full((2, 1), np.nan), {0: np.array(["u", None], dtype=object)})
    np.testing.assert_array_equal(_options.relation_values(table, relation), [[0.0], [np.nan]])
