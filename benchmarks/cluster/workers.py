"""Two worker processes with a memory limit, and their peak memory."""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dask.utils import key_split
from distributed import Client, LocalCluster

from memory import peak_bytes

MB = 10**6


@contextmanager
def cluster(n_workers: int, limit_mb: int) -> Iterator[Client]:
    """Start worker processes of one thread each; a worker that passes its limit is killed and started again."""
    with (
        LocalCluster(
            n_workers=n_workers, threads_per_worker=1, memory_limit=limit_mb * MB, dashboard_address=None
        ) as local,
        Client(local) as client,
    ):
        yield client


def processes(client: Client) -> set[int]:
    """Return the process ids of the workers."""
    return set(client.run(os.getpid).values())


def cpu_seconds(client: Client) -> float:
    """Return the processor seconds that the workers, as far as none was lost, and this process have used so far."""
    return sum(client.run(time.process_time).values()) + time.process_time()


def peaks(client: Client) -> dict[str, Any]:
    """Return the highest resident memory of each worker since it started and of this process, in MB."""
    return {
        "worker_mb": sorted(round(one / MB) for one in client.run(peak_bytes).values()),
        "client_mb": round(peak_bytes() / MB),
    }


def seconds_by_task(stream: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the number of runs of each kind of task, and the seconds that workers computed it, from a task stream."""
    found: dict[str, dict[str, float]] = defaultdict(lambda: {"tasks": 0, "seconds": 0.0})
    for task in stream:
        kind = found[key_split(task["key"])]
        kind["tasks"] += 1
        kind["seconds"] += sum(s["stop"] - s["start"] for s in task["startstops"] if s["action"] == "compute")
    return dict(found)
