"""The labelled samples that a model keeps: bounded, fair, and the same however the stream was cut."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sslart._data.samples import Table
from sslart._mapping.evidence.label_reservoir import MAX_CHUNKS, LabelReservoir


def table_of(start: int, end: int) -> Table:
    """Samples whose first value is their number in the stream."""
    numbers = np.arange(start, end)
    colours = np.array([None if number % 5 == 0 else f"c{number % 3}" for number in numbers], dtype=object)
    return Table(np.column_stack([numbers * 1.0, np.full(len(numbers), np.nan)]), {1: colours}, ["number", "colour"])


def kept_of(n: int, cuts: list[int], max_labels: int, seed: int = 3) -> LabelReservoir:
    reservoir = LabelReservoir()
    for start, end in zip([0, *cuts], [*cuts, n], strict=True):
        reservoir = reservoir.adding(table_of(start, end), np.arange(start, end) % 4, max_labels, seed)
        assert len(reservoir) <= max_labels
        assert len(reservoir.chunks) <= MAX_CHUNKS
    return reservoir


def contents(reservoir: LabelReservoir) -> list[Any]:
    whole = reservoir.whole()
    return [
        whole.table.values.tobytes(),
        {column: list(values) for column, values in whole.table.categories.items()},
        whole.codes.tolist(),
        whole.numbers.tolist(),
        reservoir.n_seen,
    ]


@given(n=st.integers(1, 120), max_labels=st.integers(1, 60), seed=st.integers(0, 2**32 - 1), data=st.data())
def test_the_same_samples_are_kept_however_the_stream_is_cut(n: int, max_labels: int, seed: int, data: Any) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    whole = contents(kept_of(n, [], max_labels, seed))
    assert contents(kept_of(n, cuts, max_labels, seed)) == whole
    assert contents(kept_of(n, list(range(1, n)), max_labels, seed)) == whole


@given(n=st.integers(1, 60), max_labels=st.integers(1, 80))
@settings(max_examples=30)
def test_what_is_kept_came_in_this_order_and_belongs_together(n: int, max_labels: int) -> None:
    reservoir = kept_of(n, [n // 2], max_labels)
    whole = reservoir.whole()
    assert len(reservoir) == len(whole.codes) == min(n, max_labels)
    assert reservoir.n_seen == n
    numbers = whole.numbers
    assert (np.diff(numbers) > 0).all()
    np.testing.assert_array_equal(whole.table.values[:, 0], numbers)
    np.testing.assert_array_equal(whole.codes, numbers % 4)
    expected = [None if number % 5 == 0 else f"c{number % 3}" for number in numbers]
    assert whole.table.categories[1].tolist() == expected


def test_the_sample_is_fair() -> None:
    n, max_labels = 400, 100
    times_kept = np.zeros(n)
    for seed in range(200):
        times_kept[kept_of(n, [], max_labels, seed).whole().numbers] += 1
    # of 200 draws each is kept in 50 on average, with a standard deviation of 6.1
    assert np.abs(times_kept - 50).max() < 5 * 6.2
    assert abs(times_kept[: n // 2].sum() / times_kept.sum() - 0.5) < 0.02


def test_no_label_leaves_the_reservoir_as_it_is() -> None:
    reservoir = kept_of(5, [], 10)
    assert reservoir.adding(table_of(5, 5), np.arange(0), 10, 0) is reservoir
    assert len(LabelReservoir()) == 0


def test_new_labels_make_a_new_reservoir() -> None:
    reservoir = kept_of(5, [], 4)
    before = contents(reservoir)
    reservoir.adding(table_of(5, 9), np.zeros(4, dtype=np.int64), 4, 0)
    assert contents(reservoir) == before


def test_a_stretch_without_a_value_in_a_categorical_column_may_come_at_any_time() -> None:
    plain = Table(np.array([[7.0, np.nan]]))  # as a frame that holds numbers and NaN alone is read
    zero = np.zeros(1, dtype=np.int64)
    for tables in ([table_of(0, 2), plain], [plain, table_of(0, 2)]):
        reservoir = LabelReservoir()
        for table in tables:
            reservoir = reservoir.adding(table, zero.repeat(len(table)), 10, 0)
        whole = reservoir.whole().table
        expected = {0.0: None, 1.0: "c1", 7.0: None}
        assert dict(zip(whole.values[:, 0].tolist(), whole.categories[1], strict=True)) == expected


def test_state_comes_back() -> None:
    reservoir = kept_of(70, [3, 20], 40)
    again = LabelReservoir.from_state(reservoir.to_state(), 2, 4)
    assert contents(again) == contents(reservoir)
    assert contents(again.adding(table_of(70, 90), np.arange(70, 90) % 4, 40, 3)) == contents(kept_of(90, [], 40))


def joined_of(sizes: list[int], max_labels: int, seed: int = 3) -> LabelReservoir:
    """Reservoirs of one seed, whose samples follow on one another, joined."""
    starts = np.cumsum([0, *sizes]).tolist()
    reservoirs = [
        LabelReservoir().adding(table_of(start, end), np.arange(start, end) % 4, max_labels, seed)
        for start, end in pairwise(starts)
    ]
    return LabelReservoir.joined(reservoirs, [np.arange(4)] * len(sizes), max_labels)


@settings(max_examples=40)
@given(sizes=st.lists(st.integers(0, 30), min_size=1, max_size=5), max_labels=st.integers(1, 80), data=st.data())
def test_joined_labels_do_not_depend_on_the_order_of_reservoirs(sizes: list[int], max_labels: int, data: Any) -> None:
    starts = np.cumsum([0, *sizes]).tolist()
    parts = [
        LabelReservoir().adding(table_of(start, end), np.arange(start, end) % 4, max_labels, 7)
        for start, end in pairwise(starts)
    ]
    same = [np.array([3, 2, 1, 0])] * len(parts)
    joined = LabelReservoir.joined(parts, same, max_labels)
    assert joined.n_seen == sum(sizes)
    assert len(joined) == min(sum(sizes), max_labels)
    if not len(joined):
        return
    whole = joined.whole()
    assert (np.diff(whole.numbers) > 0).all()
    assert 0 <= whole.numbers[0] <= whole.numbers[-1] < joined.n_seen
    np.testing.assert_array_equal(whole.codes, 3 - whole.table.values[:, 0].astype(int) % 4)
    assert contents(LabelReservoir.from_state(joined.to_state(), 2, 4)) == contents(joined)
    order = data.draw(st.permutations(range(len(parts))))
    assert contents(LabelReservoir.joined([parts[one] for one in order], same, max_labels)) == contents(joined)


def test_a_joined_sample_is_fair_although_seeds_are_equal_and_numbers_come_again() -> None:
    sizes, max_labels = [60, 20, 120], 50
    times_kept = np.zeros(200)
    for seed in range(200):
        times_kept[joined_of(sizes, max_labels, seed).whole().table.values[:, 0].astype(int)] += 1
    assert np.abs(times_kept - 50).max() < 5 * 6.2
    for start, end in ((0, 60), (60, 80), (80, 200)):
        assert abs(times_kept[start:end].mean() - 50) < 5


def test_labels_of_joined_reservoirs_alternate_as_if_the_streams_had_run_side_by_side() -> None:
    numbers = joined_of([10, 20], 100).whole().table.values[:, 0]
    assert (numbers[:15] < 10).sum() == (numbers[15:] < 10).sum() == 5


HOSTILE: dict[str, dict[str, Any]] = {
    "no samples": {
        "values": np.empty((0, 2)),
        "codes": np.empty(0, dtype=np.int64),
        "numbers": np.empty(0, dtype=np.int64),
    },
    "columns too many": {"values": np.zeros((3, 4))},
    "columns of one": {"values": np.zeros(3)},
    "integers for values": {"values": np.zeros((3, 2), dtype=np.int64)},
    "infinite values": {"values": np.full((3, 2), np.inf)},
    "codes too few": {"codes": np.zeros(2, dtype=np.int64)},
    "codes of no class": {"codes": np.array([0, 1, 4])},
    "codes below zero": {"codes": np.array([0, -1, 1])},
    "fractional codes": {"codes": np.zeros(3)},
    "numbers below zero": {"numbers": np.array([-1, 0, 1])},
    "numbers too many": {"numbers": np.arange(4)},
    "keys too few": {"keys": np.arange(2)},
    "a number twice": {"numbers": np.array([0, 1, 1])},
    "numbers not yet drawn": {"n_seen": 2},
    "fractional count": {"n_seen": 3.0},
    "a count without end": {"n_seen": 10**30},
    "column of nowhere": {"categories": {"9": [None] * 3}},
    "column of no number": {"categories": {"x": [None] * 3}},
    "categories too few": {"categories": {"1": [None]}},
    "category of no kind": {"categories": {"1": [{}, None, None]}},
}


@pytest.mark.parametrize("trick", HOSTILE)
def test_hostile_state_is_refused(trick: str) -> None:
    state = kept_of(3, [], 9).to_state()
    LabelReservoir.from_state(state, 2, 4)
    with pytest.raises(ValueError):
        LabelReservoir.from_state({**state, **HOSTILE[trick]}, 2, 4)
