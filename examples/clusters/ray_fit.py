"""Fit a model to Parquet files on a Ray cluster: `python ray_fit.py FOLDER`, with what table.py wrote.

One task per file, twice: what is in it (ranges, categories, classes), then its boxes. Workers keep boxes, not rows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pandas as pd
import ray
from table import FEATURES, LABEL

from sslart import AutoSSLART
from sslart.merging import partitions

FAN_IN = 4  # how many parts one task joins


@ray.remote
def summarised(model: AutoSSLART, path: Path, number: int, wanted: Any) -> Any:
    rows = pd.read_parquet(path)
    return partitions.summary_of(model, rows[FEATURES], rows[LABEL], number=number, wanted=wanted)


@ray.remote
def learnt(model: AutoSSLART, path: Path, number: int, start: Any) -> Any:
    rows = pd.read_parquet(path)
    return partitions.fit_part(model, rows[FEATURES], rows[LABEL], start, number=number)


@ray.remote
def joined(model: AutoSSLART, *parts: Any) -> Any:
    return partitions.join_parts(model, parts)


def fit(model: AutoSSLART, paths: list[Path]) -> AutoSSLART:
    """Return a fitted copy of the model. The same files in the same order give the same model, whatever the cluster."""
    wanted = partitions.wanted_of(model)
    while wanted is not None:  # a second time only where all labels are -1 and 1
        summaries = [summarised.remote(model, path, number, wanted) for number, path in enumerate(paths)]
        summary = partitions.Summary.joined(ray.get(summaries))
        wanted = partitions.second_look(summary)
    start = ray.put(partitions.start_of(model, summary))
    parts = [learnt.remote(model, path, number, start) for number, path in enumerate(paths)]
    while len(parts) > 1:
        parts = [joined.remote(model, *parts[place : place + FAN_IN]) for place in range(0, len(parts), FAN_IN)]
    return partitions.finish(model, ray.get(parts[0]))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    ray.init(num_cpus=2, include_dashboard=False)
    model = fit(AutoSSLART(random_state=0), sorted((folder / "rows").glob("*.parquet")))
    ray.shutdown()
    test = pd.read_parquet(folder / "test.parquet")
    print(model.n_nodes_, "boxes;", f"{model.score(test[FEATURES], test[LABEL]):.3f} right on the test")
