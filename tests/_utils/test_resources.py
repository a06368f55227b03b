"""Work side by side: in order, and stopped together."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from sslart._utils.resources import run_parallel


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 4, -1])
def test_results_come_in_order(n_jobs: int | None) -> None:
    assert run_parallel(lambda item, _: item * 10, [3, 1, 2], n_jobs) == [30, 10, 20]


def test_two_threads_work_at_the_same_time() -> None:
    both = threading.Barrier(2, timeout=10)
    assert run_parallel(lambda _, __: both.wait() >= 0, [0, 1], 2) == [True, True]


def test_failure_stops_the_others_before_it_goes_on() -> None:
    finished = []
    both = threading.Barrier(2, timeout=10)

    def work(item: int, stop: Any) -> None:
        both.wait()
        if item == 0:
            raise KeyboardInterrupt
        while not stop[0]:
            time.sleep(0.001)
        finished.append(item)

    with pytest.raises(KeyboardInterrupt):
        run_parallel(work, [0, 1], 2)
    assert finished == [1]


def test_failure_of_a_later_piece_stops_an_earlier_one_at_once() -> None:
    def work(item: int, stop: Any) -> None:
        if item == 1:
            raise ValueError("broken")
        for _ in range(400):
            if stop[0]:
                return
            time.sleep(0.01)

    start = time.perf_counter()
    with pytest.raises(ValueError, match="broken"):
        run_parallel(work, [0, 1], 2)
    assert time.perf_counter() - start < 2
