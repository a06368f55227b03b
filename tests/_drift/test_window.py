"""The adaptive window is ADWIN: river's finds the same changes, however the values come together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sslart._drift.windows import MAX_PARTS, AdaptiveWindow, Buckets, Timeline


def rows_of(values: np.ndarray, block: int = 1) -> np.ndarray:
    """Return blocks of values as an adaptive window takes them."""
    blocks = values.reshape(-1, block)
    ends = np.arange(block, len(values) + 1, block)
    return np.stack([ends, np.full(len(blocks), block), blocks.sum(axis=1), (blocks**2).sum(axis=1)], axis=1)


def values_of(seed: int, levels: tuple[float, ...], n_each: int, *, binary: bool) -> np.ndarray:
    random, means = np.random.default_rng(seed), np.repeat(levels, n_each)
    if binary:
        return (random.random(len(means)) < means).astype(np.float64)
    return np.clip(random.normal(means, 0.1), 0, 1)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_river_finds_the_same_changes_at_the_same_values_and_keeps_the_same_window(seed: int, binary: bool) -> None:
    drift = pytest.importorskip("river._river_rust.drift")
    values = values_of(seed, (0.1, 0.5, 0.3, 0.3), 400, binary=binary)
    theirs = drift.AdaptiveWindowing(delta=0.002, clock=1, max_buckets=5, min_window_length=5, grace_period=10)
    window, found, found_by_river = AdaptiveWindow(), [], []
    for row, value in zip(rows_of(values), values.tolist(), strict=True):
        window, cuts = window.adding(row[np.newaxis], np.array([1]))
        found += [cut.end for cut in cuts]
        found_by_river += [int(row[0])] if theirs.update(value) else []
        assert window.buckets.rows[:, 1].sum() == theirs.get_width()
    assert found == found_by_river != []


def test_blocks_find_the_change_where_it_is() -> None:
    window, cuts = AdaptiveWindow(), []
    for row in rows_of(values_of(0, (0.2, 0.6), 3200, binary=True), block=32):
        window, found = window.adding(row[np.newaxis], np.array([1]))
        cuts += found
    assert cuts[0].change == 3200
    assert 3200 < cuts[0].end <= 3200 + 64
    assert window.start >= 3100


@settings(max_examples=20)
@given(seed=st.integers(0, 99), cuts=st.lists(st.integers(0, 300), max_size=6))
def test_sums_do_not_depend_on_how_rows_come_together(seed: int, cuts: list[int]) -> None:
    rows = rows_of(np.random.default_rng(seed).integers(0, 9, size=300) / 8)
    buckets, timeline = Buckets(4), Timeline()
    for part in np.split(rows, sorted(cuts)):
        buckets = buckets.copy(len(part))
        buckets.push(part)
        timeline = timeline.adding(part) if len(part) else timeline
    at_once = Buckets(4).copy(len(rows))
    at_once.push(rows)
    assert buckets.rows.tobytes() == at_once.rows.tobytes()
    assert timeline.rows.tobytes() == Timeline().adding(rows).rows.tobytes()
    np.testing.assert_allclose(buckets.rows[:, 1:].sum(axis=0), rows[:, 1:].sum(axis=0))


def test_memory_grows_with_the_logarithm_of_the_stream() -> None:
    buckets, timeline = Buckets(4), Timeline()
    for start in range(0, 1_000_000, 10_000):
        rows = rows_of(np.zeros(10_000))
        rows[:, 0] += start
        buckets = buckets.copy(len(rows))
        buckets.push(rows)
        timeline = timeline.adding(rows)
    assert len(buckets.rows) < 100
    assert len(timeline.rows) <= MAX_PARTS
    assert timeline.rows[-1, 0] == 1_000_000
