"""Scales by rank: monotone, on the grid, back to the same units, and wider without loss."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sslart._art.backend import encode
from sslart._data import ranks as tables
from sslart._data.encoder import Encoder, is_crowded, recode_boxes, scaled_by
from sslart._data.ranks import GRID, MAX_KNOTS, RANK, RankScale, RankTable
from sslart._data.samples import Table

finite = st.floats(-1e9, 1e9, allow_nan=False, width=32)
columns = hnp.arrays(np.float64, st.tuples(st.integers(2, 30), st.just(1)), elements=finite).filter(
    lambda column: len(np.unique(column)) > 1
)


def first(values: np.ndarray) -> Encoder:
    table = Table(values)
    return scaled_by(RANK, Encoder.first(table, None, stream=False), table, None)


def test_a_position_is_the_share_of_samples_below_with_the_middle_rank_for_copies() -> None:
    table = RankTable.of_values(np.array([5.0, 1.0, 1.0, 1.0, 7.0, np.nan, 100.0]))
    assert table is not None
    assert table.values.tolist() == [1.0, 5.0, 7.0, 100.0]
    np.testing.assert_allclose(table.positions, [0.0, 0.5, 0.75, 1.0])
    np.testing.assert_allclose(table.at(np.array([3.0, 6.0, 53.5, np.nan])), [0.25, 0.625, 0.875, np.nan])


def test_there_is_no_table_where_values_do_not_differ() -> None:
    assert RankTable.of_values(np.array([3.0, 3.0, np.nan])) is None
    assert RankTable.of_values(np.array([np.nan])) is None


def test_of_many_values_a_table_keeps_some_knots_at_their_ranks() -> None:
    values = np.sort(np.random.RandomState(0).lognormal(sigma=3, size=10_000))
    table = RankTable.of_values(values)
    assert table is not None
    assert len(table.values) <= MAX_KNOTS
    assert np.abs(table.at(values) - np.linspace(0, 1, 10_000)).max() < 1.0 / MAX_KNOTS


def test_beyond_its_ends_a_scale_goes_on_as_the_outer_samples_do_and_never_faster_than_the_range() -> None:
    even = RankTable.of_values(np.arange(101.0))
    assert even is not None
    np.testing.assert_allclose(even.at(np.array([-50.0, 200.0])), [-0.5, 2.0])
    tail = RankTable.of_values(np.append(np.arange(100.0), [1000.0, 2000.0, 4000.0]))
    assert tail is not None
    assert 1.0 < tail.at(np.array([8000.0])) < 1.2
    gap = RankTable.of_values(np.append(np.arange(100.0), 99.0001))
    assert gap is not None
    assert gap.at(np.array([99.0001 + 50])) <= 1.51


@example(values=np.array([[0.0], [5e-324], [1.0]]), others=np.array([[5e-324], [-1.0]]))
@given(values=columns, others=columns)
def test_codes_are_monotone_on_the_grid_and_come_back(values: np.ndarray, others: np.ndarray) -> None:
    encoder = first(values).covering(Table(others))
    samples = np.sort(np.concatenate([values, others]), axis=0)
    coded, beyond = encode(encoder, samples)
    assert not beyond
    assert ((coded >= 0) & (coded <= 1)).all()
    np.testing.assert_array_equal(coded * GRID, np.rint(coded * GRID))
    assert (np.diff(coded, axis=0) >= 0).all()
    again, _ = encode(encoder, encoder.decode(coded))
    assert np.abs(again - coded).max() <= 1.0 / GRID


@given(values=columns)
def test_values_of_the_first_call_come_back_without_any_rounding(values: np.ndarray) -> None:
    encoder = first(values)
    coded, _ = encode(encoder, values)
    np.testing.assert_array_equal(encoder.decode(coded), values)


@example(values=np.array([[1e-9], [0.0]]), more=np.array([[9.0], [0.0]]), corners=0)  # two values share a code
@given(values=columns, more=columns, corners=st.integers(0, 2**31))
def test_recoded_boxes_cover_what_they_covered(values: np.ndarray, more: np.ndarray, corners: int) -> None:
    encoder = first(values)
    wider = encoder.covering(Table(more))
    sides = np.random.RandomState(corners).randint(0, GRID + 1, size=(2, 20, 1)) / GRID
    lower, upper = sides.min(axis=0), sides.max(axis=0)
    lower[0], upper[0] = 1.0, 0.0  # a side not reached yet
    lower[1], upper[1] = 0.0, 1.0
    new_lower, new_upper, _ = recode_boxes(encoder, lower, upper, np.empty((20, 0), dtype=bool), wider)
    assert (wider.decode(new_lower)[1:] <= encoder.decode(lower)[1:]).all()
    assert (wider.decode(new_upper)[1:] >= encoder.decode(upper)[1:]).all()
    assert (new_lower[0], new_upper[0]) == (1.0, 0.0)
    np.testing.assert_array_equal(new_lower * GRID, np.rint(new_lower * GRID))
    exact, _ = encode(wider, encoder.decode(lower))
    assert (exact[1:] - new_lower[1:]).max() <= 2.0 / GRID


def test_few_samples_and_many_have_the_same_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.RandomState(0)
    values = random.lognormal(sigma=2, size=(500, 4))
    values[:, 2] = random.randint(0, 3, size=500)
    values[random.rand(500, 4) < 0.1] = np.nan
    encoder = first(values)
    samples = np.concatenate([values, 3 * values, -values])
    whole, _ = encode(encoder, samples)
    alone = np.concatenate([encode(encoder, samples[row : row + 1])[0] for row in range(0, len(samples), 7)])
    np.testing.assert_array_equal(whole[::7], alone)
    monkeypatch.setattr(tables, "FEW", 2**40)
    np.testing.assert_array_equal(encode(encoder, samples)[0], whole)


def test_a_value_so_little_beyond_that_its_position_is_not_is_beyond() -> None:
    encoder = first(np.array([[0.0], [1.0], [1e9]]))
    assert encode(encoder, np.array([[np.nextafter(1e9, 2e9)]]))[1]


@pytest.mark.parametrize(
    ("values", "crowded"),
    [
        (np.random.RandomState(0).rand(500), False),
        (np.random.RandomState(0).randn(5000), False),
        (np.random.RandomState(0).exponential(size=2000), False),
        (np.repeat([0.0, 1.0], 50), False),
        (np.append(np.zeros(950), np.arange(50.0)), False),
        (np.random.RandomState(0).lognormal(sigma=3, size=300), True),
        (np.random.RandomState(0).standard_cauchy(1000), True),
        (np.append(np.arange(50.0) % 2, 1e6), True),
        (np.full(9, np.nan), False),
        (np.empty(0), False),
    ],
)
def test_values_crowd_where_most_lie_close_together_and_a_few_far_away(values: np.ndarray, crowded: bool) -> None:
    assert is_crowded(values) == is_crowded(-values) == crowded


def saved(encoder: Encoder) -> dict[str, Any]:
    assert encoder.ranks is not None
    return encoder.ranks.to_state()


def test_a_saved_scale_is_the_same() -> None:
    encoder = first(np.random.RandomState(0).lognormal(size=(400, 3))).covering(Table(np.full((1, 3), 99.0)))
    again = Encoder.from_state(encoder.to_state(), 3)
    samples = np.random.RandomState(1).lognormal(sigma=3, size=(50, 3))
    np.testing.assert_array_equal(encode(again, samples)[0], encode(encoder, samples)[0])
    assert "ranks" not in replace(encoder, ranks=None).to_state()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("places", lambda places: np.array([0, 0])),
        ("places", lambda places: np.array([0, 9])),
        ("n_knots", lambda n_knots: n_knots - 1),
        ("n_knots", lambda n_knots: np.array([1, n_knots.sum() - 1])),
        ("values", lambda values: values[::-1].copy()),
        ("values", lambda values: np.where(values == values.max(), np.inf, values)),
        ("values", lambda values: values + 50.0),
        ("values", lambda values: np.full_like(values, np.nan)),
        ("values", lambda values: values.astype(np.float32)),
        ("positions", lambda positions: positions / 2),
        ("positions", lambda positions: np.round(positions)),
    ],
)
def test_a_damaged_scale_is_refused(name: str, change: Any) -> None:
    encoder = first(np.random.RandomState(0).rand(9, 2))
    state = saved(encoder)
    indicator = np.zeros(2, dtype=bool)
    assert RankScale.from_state(state, encoder.lower, encoder.upper, indicator).tables.keys() == {0, 1}
    with pytest.raises(ValueError, match="of the model"):
        RankScale.from_state({**state, name: change(state[name])}, encoder.lower, encoder.upper, indicator)
    with pytest.raises(ValueError, match="the scales of the model"):
        RankScale.from_state(state, encoder.lower, encoder.upper, ~indicator)
