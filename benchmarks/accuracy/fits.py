"""Measure the time of AutoSSLART.fit against a random forest, for docs/accuracy.md: part of `make accuracy`.

Each contender has one thread, and what counts is its processor time, which other work on the machine hardly changes.
`--before` takes the Python of an environment with an older sslart, which takes its turns on the largest data.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from accuracy.contenders import OURS, ours_named
from accuracy.sets import synthetic
from pieces import ROOT, one_thread_each, version_of_ours
from timing import in_turns, median, ratio

# samples, features, labels
SIZES = (
    *((10_000, 30, n_labelled) for n_labelled in (100, 500, 1_000, 5_000)),
    (100_000, 50, 1_000),
)
Size = tuple[int, int, int]


def seconds_of(work: Callable[[], Any]) -> float:
    """Return the seconds of processor time that this process spent on `work`."""
    start = time.process_time()
    work()
    return time.process_time() - start


def fit_ours(name: str, size: Size) -> Callable[[], float]:
    X, y = synthetic(*size[:2])
    labels = np.where(np.arange(len(y)) < size[2], y.astype(object), None)  # the samples are in random order
    return lambda: seconds_of(lambda: ours_named(name)(random_state=0, n_jobs=1).fit(X, labels))


def fit_forest(size: Size) -> Callable[[], float]:
    X, y = (part[: size[2]] for part in synthetic(*size[:2]))
    return lambda: seconds_of(lambda: RandomForestClassifier(200, random_state=0, n_jobs=1).fit(X, y))


def fit_before(python: str, name: str, size: Size) -> float:
    """Return the seconds that the sslart of another environment takes; measured there, without its start."""
    command = [python, "-W", "ignore", "-m", "accuracy.fits", "--ours", name, "--once", *map(str, size)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True, cwd=ROOT / "benchmarks").stdout)


def row_of(ours: str, size: Size, turns: int, budget: float, before: str | None) -> dict[str, Any]:
    work = {"ours": fit_ours(ours, size), "forest": fit_forest(size)}
    if before is not None and size == max(SIZES):
        work["before"] = partial(fit_before, before, ours, size)
    taken = in_turns(work, turns, budget, measure=lambda run: run())
    n_samples, n_features, n_labelled = size
    return {
        "work": f"{n_samples:,} × {n_features}, {n_labelled:,} labels",
        "ours": median(taken["ours"]),
        "forest": median(taken["forest"]),
        "times_the_forest": ratio(taken, "ours", "forest"),
        "share_of_before": ratio(taken, "ours", "before") if "before" in taken else None,
        "turns": len(taken["ours"]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ours", default="auto")
    parser.add_argument("--label", help="version of ours")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--budget", type=float, default=120.0, help="seconds after which no further turn starts")
    parser.add_argument("--before", metavar="PYTHON", help="of an environment with an older sslart")
    parser.add_argument("--once", type=int, nargs=3, metavar="N", help="print the seconds of one fit of such a size")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "accuracy")
    arguments = parser.parse_args()
    one_thread_each()
    with threadpool_limits(1):
        if arguments.once:
            print(fit_ours(arguments.ours, tuple(arguments.once))())
            return
        rows = []
        for size in SIZES:
            rows.append(row_of(arguments.ours, size, arguments.turns, arguments.budget, arguments.before))
            print(rows[-1], flush=True)
    found = {
        "name": OURS.get(arguments.ours, arguments.ours),
        "label": arguments.label or version_of_ours(),
        "rows": rows,
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "fits.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
