"""Long work in a thread can be stopped by another, and leaves the model as it was."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

from sslart import AutoSSLART, FuzzyART
from sslart._utils.resources import stop_flag
from sslart._utils.stopping import StoppedError, stopped_by, stopped_by_ctrl_c
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
        assert np.shares_memory(stop_flag(), flag)
    flag[0] = 1
    assert stop_flag()[0] == 0
    with pytest.raises(StoppedError), stopped_by(flag):
        pass


def test_ctrl_c_that_python_drops_stops_the_next_step() -> None:
    handler = signal.getsignal(signal.SIGINT)
    model, X = FuzzyART(), np.random.default_rng(0).random((20, 2))

    def fit() -> None:
        with suppress(StoppedError):  # as in a finaliser
            signal.raise_signal(signal.SIGINT)
        model.fit(X)

    with pytest.raises(StoppedError), stopped_by_ctrl_c():
        fit()
    assert not hasattr(model, "labels_")
    with pytest.raises(StoppedError), stopped_by_ctrl_c(), suppress(StoppedError):  # there is no next step
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is handler
    model.fit(X)


def test_ctrl_c_in_generated_code_ends_with_the_exit_code() -> None:
    """Python ends by the signal, and not with the code, after a KeyboardInterrupt in code that comes from a string."""
    program = """
import signal, sys
from sslart._utils.stopping import StoppedError, stopped_by_ctrl_c
try:
    with stopped_by_ctrl_c():
        exec("signal.raise_signal(signal.SIGINT)")
except StoppedError:
    sys.exit(130)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 130
