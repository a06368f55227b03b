"""Measurements of a long stream: independent of how it is split into calls, in bounded memory."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from sslart._data.samples import Table
from sslart._drift.monitor import NO_DRIFT, DriftMonitor, Measurements, StreamNames

CONTEXT = StreamNames(lambda: ["a", "b", "c"], ["yes", "no"])


def after(monitor: DriftMonitor, seed: int, n: int, sizes: list[int]) -> DriftMonitor:
    """Return a monitor after so many samples of a stream that changes twice near its end, in parts of given sizes."""
    random = np.random.default_rng(seed)
    X, novelty, codes = random.normal(size=(n, 3)), random.random(n), random.integers(-1, 2, size=n)
    wrong = np.where(codes >= 0, random.random(n) < 0.2, np.nan)
    X[n - 8192 :, 1] += 3
    novelty[n - 2048 :] = 1 - novelty[n - 2048 :] / 4
    for rows in np.split(np.arange(n), np.cumsum(sizes)):
        if len(rows):
            monitor = monitor.after(
                Measurements(novelty[rows], codes=codes[rows], wrong=wrong[rows]), Table(X[rows]), CONTEXT
            )
    return monitor


@pytest.mark.parametrize("sizes", [[20_000], [1] * 200 + [31, 1000, 127], [5000, 11_383, 2, 300], [16_384, 255]])
def test_a_long_stream_is_the_same_however_it_is_cut(sizes: list[int]) -> None:
    whole, cut = after(NO_DRIFT, 0, 20_480, []), after(NO_DRIFT, 0, 20_480, sizes)
    assert {event.kind for event in whole.events} == {"novelty", "features"}
    assert cut.events == whole.events
    assert pickle.dumps(cut.to_state()) == pickle.dumps(whole.to_state())


def test_what_is_kept_of_a_stream_has_a_limit() -> None:
    monitor, sizes = NO_DRIFT, []
    for seed in range(6):
        monitor = after(monitor, seed, 32_768, [])
        sizes.append(len(pickle.dumps(monitor)))
    assert monitor.n_samples == 196_608
    assert max(sizes) < 50_000
    assert len(monitor.events) < 100
