"""Speed-up of ART ranking and evidence scoring by two threads, and their cost where there is little work.

Run it on a quiet machine with at least two cores: `python benchmarks/threads.py [--turns 15]`. Both sides of a ratio
are measured in turns within one run. Ratios are of the least times: other programs on the machine can only make a call
slower. With --realtime (Linux, as root) they wait while a call is measured.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, make_classification

import sslart._kernel as kernel
from sslart import SSLART, AutoSSLART

BATCHES = (1, 10, 100, 1000, 10_000)
MIN_SECONDS = 2e-3  # of one measurement: short calls are repeated

Call = Callable[[int | None], Any]


@contextmanager
def scheduled(realtime: bool) -> Iterator[None]:
    """Let other programs wait, on request; threads that are started meanwhile have the same priority."""
    if realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        yield
    finally:
        if realtime:
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def seconds(call: Call, n_jobs: int | None) -> float:
    """Return the seconds that one call takes."""
    n_calls, taken = 1, 0.0
    while True:
        start = time.perf_counter()
        for _ in range(n_calls):
            call(n_jobs)
        taken = time.perf_counter() - start
        if taken >= MIN_SECONDS:
            return taken / n_calls
        n_calls *= 4


def compare(
    call: Call, first: int | None, second: int | None, turns: int, realtime: bool = False
) -> tuple[float, float]:
    """Return the least time of the first, and how many times faster the second is."""
    call(first), call(second)
    times = []
    for _ in range(turns):
        with scheduled(realtime):
            times.append((seconds(call, first), seconds(call, second)))
    least = np.array(times).min(axis=0)
    return float(least[0]), float(least[0] / least[1])


def ranking(n_samples: int) -> tuple[str, Call]:
    """SSLART.predict: the search for the best nodes, 30 features, about 1800 nodes."""
    X, y = make_classification(5000 + n_samples, 30, n_informative=10, random_state=0)
    labels = np.where(np.arange(5000) % 10 == 0, y[:5000], -1)
    model = SSLART(0.8, random_state=0).fit(X[:5000], labels)
    rows = X[5000:]

    def predict(n_jobs: int | None) -> Any:
        return model.set_params(n_jobs=n_jobs).predict(rows)

    return f"SSLART.predict, {model.n_nodes_} nodes", predict


def evidence(n_samples: int) -> tuple[str, Call]:
    """AutoSSLART.predict_proba on breast-cancer data."""
    X, y = load_breast_cancer(return_X_y=True)
    random = np.random.RandomState(0)
    model = AutoSSLART(random_state=0).fit(X, np.where(random.rand(len(y)) < 0.2, y, -1))
    rows = X[random.randint(len(X), size=n_samples)]

    def predict(n_jobs: int | None) -> Any:
        return model.set_params(n_jobs=n_jobs).predict_proba(rows)

    return "AutoSSLART.predict_proba", predict


def scorer(n_samples: int) -> tuple[str, Call]:
    """The kernel's scorer alone: terms of every kind in the size of a fitted AutoSSLART."""
    n_features, n_classes, n_boxes = 30, 3, 320
    random = np.random.RandomState(0)
    terms = kernel.Scorer(np.zeros(n_classes))
    tables = np.sort(random.rand(n_features, 128), axis=1)
    terms.set_ranks(
        np.arange(n_features + 1) * 128, tables.ravel(), np.tile(np.linspace(0, 1, 128), (n_features, 1)).ravel()
    )
    for group in range(10):
        lower = random.rand(n_boxes // 16, n_features, 16).astype(np.float32)
        weights = random.normal(size=(2, n_classes, n_boxes)).astype(np.float32)
        features, factors = np.arange(n_features), np.ones(n_features)
        terms.add_boxes(0.5 * (group % 3), features, factors, lower, lower + np.float32(0.1), 1.0, weights)
    centres = random.rand(1000, n_features)
    terms.add_graph(0.5, centres, centres.mean(axis=0), random.normal(size=(1000, n_classes)))
    terms.add_linear(1.0, np.full(n_features, 0.5), random.normal(size=(n_features, n_classes)))
    terms.add_splines(0.0, random.normal(size=(n_features, 17, n_classes)))
    rows, scores = random.rand(n_samples, n_features), np.empty((n_samples, n_classes))
    stop = np.zeros(1, dtype=np.uint8)

    def score(n_jobs: int | None) -> None:
        terms.scores(rows, scores, n_jobs or 1, stop)

    return "kernel.Scorer.scores", score


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=15, help="how often both sides of a ratio are measured")
    parser.add_argument("--realtime", action="store_true", help="let other programs wait while a call is measured")
    options = vars(parser.parse_args())
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {kernel.instruction_set()}\n")
    print("| work | samples | one thread | 2 threads: times faster | n_jobs=1: times faster than n_jobs=None |")
    print("|---|---|---|---|---|")
    for case in (ranking, evidence, scorer):
        for n_samples in BATCHES:
            name, call = case(n_samples)
            alone, faster = compare(call, 1, 2, **options)
            unthreaded = compare(call, None, 1, **options)[1]
            print(f"| {name} | {n_samples} | {1e3 * alone:.3f} ms | {faster:.2f} | {unthreaded:.2f} |", flush=True)


if __name__ == "__main__":
    main()
