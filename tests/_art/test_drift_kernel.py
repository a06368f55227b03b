"""Sums, windows and means of features by which a stream is watched: kernel and reference have the same bits."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sslart._reference as reference
from sslart._data.stream_sums import BLOCK, FIRST_FEATURE, MAX_LEVELS

LEVELS = np.zeros(MAX_LEVELS, dtype=np.int64)
ONE_ROW = np.ones((1, 6)), LEVELS, np.ones((1, 6))


def kernel() -> Any:
    pytest.importorskip("sslart._kernel")
    return importlib.import_module("sslart._kernel")


@settings(max_examples=40)
@given(seed=st.integers(0, 999), n=st.integers(1, 90), n_columns=st.integers(1, 5), cut=st.integers(0, 90))
def test_sums_are_the_same_in_kernel_and_reference_however_they_are_cut(
    seed: int, n: int, n_columns: int, cut: int
) -> None:
    random = np.random.default_rng(seed)
    values = np.where(random.random((n, n_columns)) < 0.2, np.nan, random.normal(size=(n, n_columns)) * 10.0**300)
    places = random.integers(-2, 3, size=(n, n_columns)) if seed % 2 else None
    gaps = np.where(random.random(n) < 0.1, np.nan, random.random(n))
    codes, predicted = random.integers(-1, 3, size=n), random.integers(-1, 3, size=n)
    wrong = np.where(random.random(n) < 0.3, np.nan, random.random(n)) if seed % 3 else None
    of_predicted = None if wrong is not None else predicted
    first, width = random.normal(size=n_columns), FIRST_FEATURE + 3 * n_columns + 3 + 3
    found = []
    for engine, stops in (
        (kernel(), [n]),
        (reference, [n]),
        (kernel(), [min(cut, n), n]),
        (reference, [min(cut, n), n]),
    ):
        sums, start = np.empty((0, width)), 0
        for stop in stops:
            rows = slice(start, stop)
            after = np.empty((-(-stop // BLOCK), width))
            parts = [None if one is None else one[rows] for one in (codes, of_predicted, wrong)]
            own_places = None if places is None else places[rows]
            assert engine.drift_sums(values[rows], own_places, first, gaps[rows], 0.3, *parts, 3, start, sums, after)
            sums, start = after, stop
        found.append(sums.tobytes())
    assert len(set(found)) == 1
    assert sums[:, 1].sum() == n


@pytest.mark.parametrize(("code", "first", "fits"), [(0, 0.0, True), (1, 0.0, False), (0, np.nan, False)])
def test_what_has_no_column_is_reported(code: int, first: float, fits: bool) -> None:
    for engine in (kernel(), reference):
        before, after = np.empty((0, FIRST_FEATURE + 4)), np.empty((1, FIRST_FEATURE + 4))
        one, none = np.ones(1), None
        arguments = (one[None], none, np.array([first]), one, 1.0, np.array([code]), none, none, 0, 0, before, after)
        assert engine.drift_sums(*arguments) is fits


@settings(max_examples=30)
@given(seed=st.integers(0, 999), n_series=st.integers(1, 4), every=st.integers(1, 9))
def test_windows_are_cut_at_the_same_place_in_kernel_and_reference(seed: int, n_series: int, every: int) -> None:
    random, n = np.random.default_rng(seed), 160
    levels = np.repeat(random.random((4, n_series)), 40, axis=0)
    totals = random.binomial(32, levels).astype(np.float64)
    added = np.concatenate([np.arange(32.0, 32 * n + 1, 32)[:, None], np.full((n, 1), 32.0), totals, totals], axis=1)
    stops = np.arange(every, n + 1, every)
    found: list[list[Any]] = []
    for engine in (kernel(), reference):
        rows, sizes, start = np.zeros((n, added.shape[1])), LEVELS.copy(), np.zeros(1, dtype=np.int64)
        cut, parts, place = np.empty(4, dtype=np.int64), np.empty((2, added.shape[1] - 1)), 0
        found.append([])
        while place < len(stops):
            place = engine.drift_window(rows, sizes, added, stops, place, start, cut, parts)
            found[-1].append((place, cut.tobytes() if cut[0] >= 0 else b"", parts.tobytes() if cut[0] >= 0 else b""))
        found[-1] += [rows[: sizes.sum()].tobytes(), sizes.tobytes(), start.tobytes()]
    assert found[0] == found[1]


@settings(max_examples=30)
@given(seed=st.integers(0, 999), n_columns=st.integers(1, 6), shift=st.sampled_from([0.0, 3.0]))
def test_features_that_moved_are_the_same_in_kernel_and_reference(seed: int, n_columns: int, shift: float) -> None:
    random, n, columns = np.random.default_rng(seed), 60, np.array([0, 0, n_columns - 1])
    counts = random.integers(10, 33, size=(n, n_columns)).astype(np.float64)
    counts[:, 0] *= random.random(n) < 0.8
    means = random.normal(size=(n, n_columns)) * 0.1 + shift * (np.arange(n) >= 50)[:, None]
    shares = np.minimum(random.binomial(10, 0.3, size=(n, 3)), counts[:, columns])
    head = np.stack([np.arange(32.0, 32 * n + 1, 32), np.full(n, 32.0)], axis=1)
    added = np.concatenate([head, counts, means * counts, (means**2 + 0.5) * counts, shares], axis=1)
    found: list[list[Any]] = []
    for engine in (kernel(), reference):
        rows, sizes, starts = np.zeros((n, added.shape[1])), LEVELS.copy(), np.zeros(n_columns + 3, dtype=np.int64)
        changes, excess, taken = np.empty_like(starts), np.empty(len(starts)), 0
        found.append([])
        while taken < n:
            taken += engine.drift_features(rows, sizes, added[taken:], columns, starts, changes, excess)
            if changes.max() >= 0:
                found[-1].append((taken, changes.tobytes(), excess.tobytes()))
        found[-1] += [rows[: sizes.sum()].tobytes(), sizes.tobytes(), starts.tobytes()]
    assert found[0] == found[1]
    assert (len(found[0]) > 3) is (shift > 0)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("drift_push", (np.empty((0, 3)), LEVELS, np.ones((1, 3))), "room"),
        ("drift_push", (np.empty((1, 3)), LEVELS, np.ones((1, 4))), "unlike lengths"),
        ("drift_push", (np.empty((1, 3)), LEVELS[:3], np.ones((1, 3))), "every level"),
        ("drift_push", (np.empty((1, 3)), LEVELS + 1, np.ones((1, 3))), "out of range"),
        ("drift_features", (*ONE_ROW, np.array([1]), LEVELS[:2], LEVELS[:2], np.ones(2)), "no column"),
        ("drift_features", (*ONE_ROW, np.array([0]), LEVELS[:2], LEVELS[:2], np.ones(1)), "unlike lengths"),
    ],
)
def test_kernel_refuses_arrays_that_do_not_fit(name: str, arguments: tuple[Any, ...], message: str) -> None:
    copies = [one.copy() if isinstance(one, np.ndarray) else one for one in arguments]
    with pytest.raises(ValueError, match=message):
        getattr(kernel(), name)(*copies)
