"""Several threads in the kernel at once get what one thread gets; `make sanitize-threads` looks for races there."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from conftest import needs_kernel
from sslart import SSLART

N_THREADS = 4
RACE = """
import threading
import numpy as np
from sslart import _kernel
samples = np.random.rand(200_000, 8)
shared, lower, upper = np.empty_like(samples), np.zeros(8), np.ones(8)
threads = [threading.Thread(target=_kernel.encode, args=(samples, lower, upper, shared)) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""

HELD = """
import threading
from sslart import FuzzyART
model, waiting = FuzzyART().fit([[0.0], [1.0]]), threading.Event()
threading.Thread(target=lambda held: waiting.wait(), args=(model,), daemon=True).start()
"""
SANITIZED = "libtsan" in os.environ.get("LD_PRELOAD", "")

pytestmark = needs_kernel


def at_once(work: Callable[[], Any]) -> list[Any]:
    """Return the results of several threads that do the same work at the same time."""
    with ThreadPoolExecutor(N_THREADS) as pool:
        return [result.result() for result in [pool.submit(work) for _ in range(N_THREADS)]]


@pytest.mark.skipif(not SANITIZED, reason="for `make sanitize-threads`")
def test_the_sanitizer_finds_a_race_that_is_there() -> None:
    done = subprocess.run([sys.executable, "-c", RACE], capture_output=True, text=True)
    assert "ThreadSanitizer: data race" in done.stderr
    assert done.returncode != 0


@pytest.mark.parametrize("mapping", ["one-to-many", "evidence"])
def test_threads_predict_together_what_one_predicts_alone(mapping: str) -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(3000, 16), random.randint(0, 3, 3000)
    how = (
        {"families": ["box", "linear"], "bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5}
        if mapping == "evidence"
        else {}
    )
    few = np.where(np.arange(3000) < 300, y, -1)
    model = SSLART(0.95, mapping=mapping, bounds=(0, 1), n_jobs=N_THREADS, random_state=0, **how).fit(X, few)
    expected = model.predict_proba(X)
    fresh = pickle.loads(pickle.dumps(model))  # nothing that the kernel keeps of boxes is there yet
    for found in at_once(lambda: fresh.predict_proba(X)):
        np.testing.assert_array_equal(found, expected)


def test_threads_that_learn_models_of_their_own_learn_what_one_learns() -> None:
    X = np.random.RandomState(0).rand(2000, 8)
    y = np.arange(2000) % 3

    def learn() -> Any:
        return SSLART(0.9, bounds=(0, 1), random_state=0).fit(X, y)

    expected = learn()
    for model in at_once(learn):
        np.testing.assert_array_equal(model.support_, expected.support_)
        np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))


@pytest.mark.slow
@pytest.mark.skipif(SANITIZED, reason="with a sanitizer, what is held at the end is listed")
def test_a_thread_that_holds_a_model_when_python_ends_causes_no_message() -> None:
    done = subprocess.run([sys.executable, "-c", HELD], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
