"""Profile of a fit, and the speed of the scan compared with the memory bandwidth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import sslart._kernel as kernel
from data import digits, mixture
from sslart import FuzzyART
from timing import median, seconds

TURNS = 30


@contextmanager
def watched(owner: Any, name: str, taken: dict[str, float]) -> Iterator[None]:
    """Add to `taken` the time that a function of the kernel takes."""
    function = getattr(owner, name)

    def call(*arguments: Any, **named: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments, **named)
        taken[name] = taken.get(name, 0.0) + time.perf_counter() - start
        return result

    setattr(owner, name, call)
    try:
        yield
    finally:
        setattr(owner, name, function)


def fit_times(model: FuzzyART, X: np.ndarray) -> tuple[float, float, float]:
    """Return the seconds of a fit, those of the learning kernel, and those of encoding."""
    taken: dict[str, float] = {}
    with watched(kernel.Boxes, "learn", taken), watched(kernel, "encode", taken):
        whole = seconds(lambda: model.fit(X))
    return whole, taken["learn"], taken["encode"]


def read_speed(n_bytes: int) -> float:
    """Return the bytes a second that this machine reads from a buffer that it reads again and again."""
    buffer = np.zeros(n_bytes, dtype=np.uint8)
    n_reads = max(1, 2**28 // n_bytes)

    def read() -> None:
        for _ in range(n_reads):
            buffer.max()

    return n_reads * n_bytes / min(seconds(read) for _ in range(5))


def lines() -> list[str]:
    """Return one line of Markdown per data set."""
    found = []
    for name, (X, _) in {"digits 1797×64": digits(), "mixture 5000×32": mixture(5000)}.items():
        model = FuzzyART(0.9, bounds=(0, 1))
        runs = [fit_times(model, X) for _ in range(TURNS)]
        whole, learn, encode = (median([run[i] for run in runs]) for i in range(3))
        known = np.maximum.accumulate(model.labels_) + 1  # nodes there were at each sample
        n_bytes = 2 * X.shape[1] * float(known.sum())
        limit = read_speed(2 * X.shape[1] * model.n_nodes_)
        found.append(
            f"- fit FuzzyART, {name}: {1e3 * whole:.2f} ms, of which the learning kernel {1e3 * learn:.2f}, encoding "
            f"{1e3 * encode:.2f}, Python {1e3 * (whole - learn - encode):.2f}. The coarse boxes of all samples are "
            f"{n_bytes / 1e6:.0f} MB: {n_bytes / learn / 1e9:.0f} GB/s, blocks left early included. This machine "
            f"reads a buffer of that size again and again at {limit / 1e9:.0f} GB/s."
        )
    return found


if __name__ == "__main__":
    print("\n".join(lines()))
