"""Timing on a shared machine: contenders take turns, and what counts is the median of the ratios of each turn."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any


def seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def processor_seconds(work: Callable[[], Any]) -> float:
    """Return the processor time of a short call, which other programs on the machine change little."""
    start = time.process_time()
    work()
    return time.process_time() - start


def in_turns(
    work: dict[str, Callable[[], Any]],
    turns: int,
    budget: float = float("inf"),
    measure: Callable[[Callable[[], Any]], float] = seconds,
) -> dict[str, list[float]]:
    """Return the seconds that each contender took in each turn; no further turn once the budget (s) is spent."""
    taken: dict[str, list[float]] = {name: [] for name in work}
    start = time.perf_counter()
    for turn in range(turns):
        if turn and time.perf_counter() - start > budget:
            break
        for name, run in work.items():
            taken[name].append(measure(run))
    return taken


def ratio(taken: dict[str, list[float]], slower: str, faster: str) -> float:
    """Return the speed of one contender relative to another: median over the turns."""
    return statistics.median(a / b for a, b in zip(taken[slower], taken[faster], strict=True))


def median(values: list[float]) -> float:
    return statistics.median(values)
