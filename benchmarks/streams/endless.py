"""Steps per second and memory of a model that learns one sample at a time, for millions: `make stream-speed`.

Each step predicts one sample and then learns it; a tenth of the samples has a label, and there are ten features. Kinds
of data: "moving", clusters that move all the time, so that new boxes are always needed; "uniform", samples without
clusters, which need the most boxes.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import pieces
from machine import description
from memory import resident_bytes
from sslart import AutoSSLART

N_FEATURES, LABELLED = 10, 0.1
N_STATES, N_CLASSES = 12, 3
AT_ONCE = 10_000
KINDS = ("moving", "uniform")
Block = tuple[np.ndarray, np.ndarray]


def blocks(kind: str, n: int) -> Iterator[Block]:
    """Yield samples and labels, -1 where hidden."""
    random = np.random.default_rng(0)
    shape = N_STATES, N_FEATURES
    centres, phases, speeds = random.uniform(0, 100, shape), random.uniform(0, 6, shape), random.uniform(0.5, 2, shape)
    slope = random.normal(size=N_FEATURES)
    for start in range(0, n, AT_ONCE):
        size = min(AT_ONCE, n - start)
        if kind == "uniform":
            X = random.uniform(0, 100, (size, N_FEATURES))
            y = (X @ slope > 50 * slope.sum()).astype(int)
        else:
            states = random.integers(0, N_STATES, size)
            moment = (start + np.arange(size))[:, None] / 200_000
            moved = 20 * np.sin(speeds[states] * moment + phases[states])  # never the same place twice
            X = centres[states] + moved + random.normal(0, 2, (size, N_FEATURES))
            y = states % N_CLASSES
        yield X, np.where(random.random(size) < LABELLED, y, -1)


def marks(n: int) -> list[int]:
    """Return after how many samples to measure: 10,000, 20,000, 50,000, 100,000 and so on, and at the end."""
    steps = (factor * 10**power for power in range(4, 10) for factor in (1, 2, 5))
    return [*(step for step in steps if step < n), n]


def rows(kind: str, n: int, options: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield steps per second of processor time, memory, and number of boxes at each mark."""
    model = AutoSSLART(random_state=0, **options)
    open_marks = marks(n)
    seen = counted = 0
    seconds = 0.0
    for X, y in blocks(kind, n):
        start = time.process_time()
        position = 0
        if seen == 0:
            position = int(np.argmax(y >= 0)) + 1  # there is no class to predict before the first label
            model.partial_fit(X[:position], y[:position])
        for place in range(position, len(y)):
            model.predict(X[place : place + 1])
            model.partial_fit(X[place : place + 1], y[place : place + 1])
        seconds += time.process_time() - start
        seen += len(y)
        if seen >= open_marks[0]:
            open_marks.pop(0)
            gc.collect()
            found = {
                "seen": seen,
                "rate": (seen - counted) / seconds,
                "megabytes": resident_bytes() / 1e6,
                "boxes": int(model.n_nodes_),
            }
            print(json.dumps({"kind": kind, **found}), flush=True)
            yield found
            counted, seconds = seen, 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=10_000_000)
    parser.add_argument("--kind", choices=KINDS, default="moving")
    parser.add_argument("--half-life", type=int, help="half_life of the model")
    parser.add_argument("--label", help="version of ours; a digest of the sources")
    parser.add_argument("--out", type=Path, default=pieces.ROOT / "results" / "streams")
    arguments = parser.parse_args()
    options = {} if arguments.half_life is None else {"half_life": arguments.half_life}
    found = {
        "label": arguments.label or pieces.version_of_ours(),
        "machine": description(),
        "kind": arguments.kind,
        "options": options,
        "rows": list(rows(arguments.kind, arguments.samples, options)),
    }
    arguments.out.mkdir(parents=True, exist_ok=True)
    path = arguments.out / f"endless-{arguments.kind}.json"
    path.write_text(json.dumps(found))
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
