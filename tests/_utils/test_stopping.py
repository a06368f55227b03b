"""Long work in a thread can be stopped by another, and leaves the model as it was."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from sslart import AutoSSLART
from sslart._utils.resources import StoppedError, stop_flag, stopped_by
from sslart.persistence import model_bytes


def test_a_fit_ends_soon_after_another_thread_has_stopped_it() -> None:
    random = np.random.default_rng(0)
    X, y = random.random((40_000, 40)), np.where(np.arange(40_000) % 20 == 0, random.integers(0, 3, 40_000), -1)
    model = AutoSSLART(random_state=0).fit(X[:200], y[:200])
    before, flag, seconds = model_bytes(model), stop_flag(), list[float]()

    def learn() -> None:
        start = time.perf_counter()
        with pytest.raises(StoppedError), stopped_by(flag):
            model.fit(X, y)
        seconds.append(time.perf_counter() - start)

    thread = threading.Thread(target=learn)
    thread.start()
    time.sleep(0.2)
    flag[0] = 1
    thread.join()
    assert seconds
    assert model_bytes(model) == before


def test_outside_of_the_block_the_flag_stops_nothing() -> None:
    flag = stop_flag()
    with stopped_by(flag):
        assert stop_flag() is flag
    flag[0] = 1
    assert stop_flag()[0] == 0
    with pytest.raises(StoppedError), stopped_by(flag):
        pass
