"""Threads and memory: parallel work that can be stopped, and the memory available to a call."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

from sslart._utils.stopping import FLAG, StoppedError

if sys.platform != "win32":
    import resource

MIN_VALUES = 1 << 22  # below, starting threads costs more than it saves

Item = TypeVar("Item")
Result = TypeVar("Result")


def run_parallel(work: Callable[[Item, Any], Result], items: Sequence[Item], n_jobs: int | None) -> list[Result]:
    """Apply `work` to each item with `n_jobs` threads as in scikit-learn; return the results in order.

    `work` takes an item and a stop flag, which it must check while it runs: if one item fails or the user interrupts,
    all are stopped before the error is raised.
    """
    stop = stop_flag()
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads == 1:
        return [work(item, stop) for item in items]
    with ThreadPoolExecutor(n_threads) as threads:
        futures = [threads.submit(work, item, stop) for item in items]
        try:
            # a signal delivered to another thread does not wake this one, so wait with a timeout
            while wait(futures, timeout=0.05, return_when=FIRST_EXCEPTION).not_done:
                for future in futures:
                    if future.done():
                        future.result()
            return [future.result() for future in futures]
        except BaseException:
            asked, stop[0] = int(stop[0]), 1
            threads.shutdown(wait=True, cancel_futures=True)
            stop[0] = asked  # the flag of a surrounding block is set only by whom it belongs to
            raise


def stop_flag() -> Any:
    """Return a flag by which another thread can stop work of the backend: an array of one uint8.

    Inside a block of `stopped_by` it is the flag of the block, else a new one.
    """
    flag = FLAG.get()
    if flag is None:
        return np.zeros(1, dtype=np.uint8)
    if flag[0]:
        raise StoppedError
    return np.frombuffer(flag, dtype=np.uint8)


def n_threads(n_jobs: int | None, n_values: int) -> int:
    """Return the number of threads for `n_jobs`, as in scikit-learn, for work on `n_values` values."""
    return 1 if n_values < MIN_VALUES else int(effective_n_jobs(n_jobs))  # little work: avoid even the call of joblib


VARIABLE = "SSLART_MAX_MEMORY"  # environment variable with a limit, such as 2GB
SHARE = 0.8  # of the free memory: estimates are rough, and other programs need some too
UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
CGROUPS = (  # the memory limit of a container, and its usage
    (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory.current")),
    (Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"), Path("/sys/fs/cgroup/memory/memory.usage_in_bytes")),
)


def usable_memory() -> int | None:
    """Return the bytes that a call may use: a share of the free memory or the user's limit; None if unknown."""
    given = os.environ.get(VARIABLE)
    free = [one for one in (_free_in_system(), _free_in_container(), _free_by_limits()) if one is not None]
    usable = [int(SHARE * min(free))] if free else []
    if given:
        usable.append(_bytes_of(given))
    return max(min(usable), 0) if usable else None


def memory_text(n_bytes: float) -> str:
    """Return a number of bytes as text, such as 1.4 GB."""
    if n_bytes < 2**30:
        return f"{max(n_bytes / 2**20, 1):,.0f} MB"
    return f"{n_bytes / 2**30:,.1f} GB"


def _bytes_of(text: str) -> int:
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", text.lower())
    if found is None:
        raise ValueError(f"{VARIABLE} must be a number of bytes such as 2GB or 500MB, got {text!r}.")
    return int(float(found[1]) * UNITS[found[2]])


def _free_in_system() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration, ValueError):
        pass
    try:  # free memory is unknown: assume half of the total
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return None


def _free_in_container() -> int | None:
    for limit, used in CGROUPS:
        try:
            return int(limit.read_text(encoding="ascii")) - int(used.read_text(encoding="ascii"))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return None


def _free_by_limits() -> int | None:
    """Return the unused part of the limit on the address space (`ulimit -v`)."""
    if sys.platform == "win32":
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return None
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return limit - pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None
