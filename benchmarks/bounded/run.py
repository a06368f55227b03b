"""Measure time and accuracy with a limit on the number of boxes, and write docs/bounded.md: `make bounded`.

Times are seconds of one processor, by `time.process_time`. Fits without and with the limit take turns.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import pieces
from bounded import report, tables
from bounded.report import Fit
from sslart import AutoSSLART

N_LABELS = 400
N_LONG, N_LONG_QUICK = 1_250_000, 250_000  # training samples
N_SHORT = 100_000
LONG = ("uniform", "clusters", "covtype")
LIMITS = (None, 20_000, 10_000, 1_000)
SEEDS, SEEDS_QUICK = 3, 1
DEFAULT = AutoSSLART().max_nodes


def measured(name: str, table: tables.Table, limit: int | None, seed: int) -> Fit:
    """Fit one model, and predict the samples to test with."""
    n = table.n_training
    labels = table.labels(N_LABELS, seed)
    start = time.process_time()
    model = AutoSSLART(max_nodes=limit, random_state=seed).fit(table.X[:n], labels)
    seconds = time.process_time() - start
    accuracy = float(np.mean(model.predict(table.X[n:]) == table.y[n:]))
    n_features = table.X.shape[1]
    return Fit(name, n, n_features, limit, seed, seconds, model.n_nodes_, model.vigilance_, 100 * accuracy)


def fits(names: Sequence[str], n_training: int, limits: Sequence[int | None], n_seeds: int) -> Iterator[Fit]:
    """Yield fits with each limit in turn, on each table and for each draw of labels."""
    for name in names:
        table = tables.table(name, n_training)
        if table is None:
            print(f"{name} is not in the folder that SSLART_DATA names: left out", file=sys.stderr)
            continue
        for seed in range(n_seeds):
            for limit in limits:
                found = measured(name, table, limit, seed)
                print(found, flush=True)
                yield found


def main(line: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help=f"{N_LONG_QUICK:,} samples, fewer draws; print, write none"
    )
    parser.add_argument("--page", type=Path, default=pieces.ROOT / "docs" / "bounded.md")
    arguments = parser.parse_args(line)
    quick = arguments.quick
    with threadpool_limits(1):
        long = list(fits(LONG, N_LONG_QUICK if quick else N_LONG, (None, DEFAULT), 1))
        short = list(fits(tuple(tables.SOURCES), N_SHORT, LIMITS, SEEDS_QUICK if quick else SEEDS))
    command = shlex.join(["python", "-m", "bounded.run", *(sys.argv[1:] if line is None else line)])
    text = report.page(long, short, N_LABELS, command)
    pieces.show_or_write(text, None if quick else arguments.page)


if __name__ == "__main__":
    main()
