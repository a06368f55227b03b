"""Contenders: each is fitted in a separate process and scored on held-out rows."""

from __future__ import annotations

import resource
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import numpy as np
import pyarrow.parquet as pq
from distributed import get_task_stream

import sslart
import sslart.dask
from cluster import peers
from cluster.data import FEATURES, LABEL, Table
from cluster.workers import MB, cluster, cpu_seconds, peaks, processes, seconds_by_task
from long_file import measured
from memory import peak_bytes
from sslart.dask._cluster import FAN_IN

OURS = "sslart.dask.AutoSSLART"
ONE_PROCESS = "AutoSSLART.partial_fit"
COMMAND = "sslart update"
ALL_LABELS = "dask + SGDClassifier.partial_fit, all labels"
Found = dict[str, Any]


@dataclass(frozen=True)
class Setting:
    """A table, and the workers that learn it."""

    table: Table
    n_workers: int
    limit_mb: int


def on_cluster(setting: Setting, fit: Callable[[], Any]) -> Found:
    """Return the measurements of `fit` on a cluster: seconds, those of its tasks, memory, and accuracy."""
    with cluster(setting.n_workers, setting.limit_mb) as client:
        before, cpu_before = processes(client), cpu_seconds(client)
        with get_task_stream(client) as stream:
            start = time.time()
            model = fit()
            end = time.time()
        last = max((part["stop"] for task in stream.data for part in task["startstops"]), default=start)
        found = {
            "seconds": end - start,
            "cpu_seconds": cpu_seconds(client) - cpu_before,
            "seconds_after_tasks": end - last,
            "tasks": seconds_by_task(stream.data),
            "workers_lost": len(before - processes(client)),
            **peaks(client),
        }
    return found | scored(model, setting.table)


def scored(model: Any, table: Table) -> Found:
    """Return the accuracy on the rows held out, and the number of boxes where there are any."""
    rows, y = table.held_out()
    X = rows if hasattr(model, "feature_names_in_") else rows.to_numpy()
    boxes = {"boxes": int(model.n_nodes_)} if hasattr(model, "n_nodes_") else {}
    return {"accuracy": float(np.mean(np.asarray(model.predict(X), object) == y)), **boxes}


def ours_on_cluster(setting: Setting) -> Found:
    def fit() -> Any:
        rows = dd.read_parquet([str(part) for part in setting.table.parts])
        return sslart.dask.AutoSSLART(random_state=0).fit(rows[FEATURES], rows[LABEL]).to_local()

    return on_cluster(setting, fit) | {"fan_in": FAN_IN}


def ours_in_one_process(setting: Setting) -> Found:
    """`partial_fit`, part by part."""
    start, cpu_before = time.time(), time.process_time()
    model = sslart.AutoSSLART(random_state=0)
    for path in setting.table.parts:
        rows = pq.read_table(path).to_pandas()
        model.partial_fit(rows[FEATURES], rows[LABEL])
    model.predict(rows[FEATURES][:1])  # settings are chosen by the first call that needs them
    found: Found = {"seconds": time.time() - start, "cpu_seconds": time.process_time() - cpu_before}
    found["client_mb"] = round(peak_bytes() / MB)
    return found | scored(model, setting.table)


def ours_by_command(setting: Setting) -> Found:
    """`sslart fit` on the first part, and `sslart update` with each further one."""
    seconds, most = 0.0, 0.0
    with tempfile.TemporaryDirectory() as name:
        path = str(Path(name) / "model.sslart")
        for place, part in enumerate(setting.table.parts):
            words = ("update", path, str(part)) if place else ("fit", str(part), "--out", path)
            taken, memory = measured(*words, "--label", LABEL, "--quiet")
            seconds, most = seconds + taken, max(most, memory)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = {"seconds": seconds, "cpu_seconds": used.ru_utime + used.ru_stime, "client_mb": round(most)}
        return found | scored(sslart.load(path), setting.table)


CONTENDERS: dict[str, Callable[[Setting], Found]] = {
    OURS: ours_on_cluster,
    ONE_PROCESS: ours_in_one_process,
    COMMAND: ours_by_command,
    "dask + SGDClassifier.partial_fit": lambda s: on_cluster(s, lambda: peers.incremental(s.table.parts)),
    ALL_LABELS: lambda s: on_cluster(s, lambda: peers.incremental(s.table.parts, s.table.classes)),
    "dask + random forest": lambda s: on_cluster(s, lambda: peers.forest(s.table.parts)),
}


def measure(name: str, setting: Setting) -> Found:
    """Measure one contender."""
    return CONTENDERS[name](setting)


def in_own_process(name: str, setting: Setting) -> Found:
    """Measure one contender in a new process, so that its memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, name, setting).result()
