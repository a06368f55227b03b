"""Hard tables learnt under a limit on the address space: ``hard_table.py ROWS,CATEGORIES,LABELS,COLUMNS ...``."""

from __future__ import annotations

import resource
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sslart import AutoSSLART

LIMIT = 2 * 2**30


def table(rows: int, categories: int, labels: int, columns: int) -> tuple[pd.DataFrame, Any]:
    """Return numbers, as many columns of categories, and two classes that one number decides."""
    random = np.random.RandomState(0)
    frame = pd.DataFrame({f"x{one}": random.rand(rows) for one in range(columns)})
    for one in range(columns):
        codes = random.permutation(rows) % categories
        frame[f"c{one}"] = pd.Categorical([f"{one}-{code}" for code in codes])
    y = np.where(frame["x0"] > 0.5, "a", "b").astype(object)
    y[labels:] = None
    return frame, y


def main(labels: int, frame: pd.DataFrame, y: Any) -> None:
    """Fit, predict and explain."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = AutoSSLART(random_state=0).fit(frame, y)
    right = np.mean(model.predict(frame[labels:]) == np.where(frame["x0"][labels:] > 0.5, "a", "b"))
    str(model.explain(frame[:2])[0])
    assert right > 0.9, right
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


if __name__ == "__main__":
    every = [[int(one) for one in sizes.split(",")] for sizes in sys.argv[1:]]
    tables = [table(*sizes) for sizes in every]
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()  # by libraries and tables
    resource.setrlimit(resource.RLIMIT_AS, (taken + LIMIT, taken + LIMIT))
    for sizes, (frame, y) in zip(every, tables, strict=True):
        main(sizes[2], frame, y)
