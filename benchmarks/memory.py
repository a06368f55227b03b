"""Print the memory of a model beyond the data, as a multiple of 16 · nodes · features bytes (Linux)."""

from __future__ import annotations

import gc
import resource
from pathlib import Path

import numpy as np

from sslart import FuzzyART

N_SAMPLES, N_FEATURES = 40_000, 64


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def peak_bytes() -> int:
    # not ru_maxrss, which a child process inherits from its parent
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def main() -> None:
    X = np.random.RandomState(0).rand(N_SAMPLES, N_FEATURES)
    FuzzyART(1.0).fit(X[:200]).predict(X[:200])  # what the first call loads stays out of account
    gc.collect()
    before = resident_bytes()
    model = FuzzyART(1.0).fit(X[: N_SAMPLES // 2])
    model.predict(X[:1])
    labels = model.labels_.nbytes
    gc.collect()
    peak = peak_bytes()
    size = 16 * model.n_nodes_ * N_FEATURES
    print((resident_bytes() - before - labels) / size, (peak - before) / size)


if __name__ == "__main__":
    main()
