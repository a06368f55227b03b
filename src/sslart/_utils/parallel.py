"""Independent pieces of work side by side in threads, stopped together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np
from joblib import effective_n_jobs

MIN_VALUES = 1 << 22  # below, a thread costs more than it saves

Item = TypeVar("Item")
Result = TypeVar("Result")


_STOP: ContextVar[Any] = ContextVar("stop", default=None)


class StoppedError(Exception):
    """Raised in a thread whose work has been stopped by another thread."""


@contextmanager
def stopped_by(flag: Any) -> Iterator[None]:
    """Stop the work in the block as soon as another thread sets a flag of `stop_flag`.

    The block then ends with a `StoppedError`; a model that was learning is as it was before.
    """
    token = _STOP.set(flag)
    try:
        yield
        if flag[0]:
            raise StoppedError
    finally:
        _STOP.reset(token)


def run_parallel(work: Callable[[Item, Any], Result], items: Sequence[Item], n_jobs: int | None) -> list[Result]:
    """Return the result of the work on each item, in order, with `n_jobs` threads as in scikit-learn.

    The work takes an item and a stop flag that it must heed while it runs: if one piece fails or the user interrupts,
    all are stopped, and have stopped before the error goes on.
    """
    stop = stop_flag()
    n_threads = min(effective_n_jobs(n_jobs), len(items))
    if n_threads == 1:
        return [work(item, stop) for item in items]
    with ThreadPoolExecutor(n_threads) as threads:
        futures = [threads.submit(work, item, stop) for item in items]
        try:
            # a signal that reaches another thread first does not wake this one: look up now and then
            while wait(futures, timeout=0.05, return_when=FIRST_EXCEPTION).not_done:
                for future in futures:
                    if future.done():
                        future.result()
            return [future.result() for future in futures]
        except BaseException:
            stop[0] = 1
            threads.shutdown(wait=True, cancel_futures=True)
            raise


def stop_flag() -> Any:
    """Return a flag by which another thread can stop work of the backend: an array of one uint8.

    It is that of `stopped_by`, where this thread is in such a block, else a new one.
    """
    flag = _STOP.get()
    if flag is None:
        return np.zeros(1, dtype=np.uint8)
    if flag[0]:
        raise StoppedError
    return flag


def n_threads(n_jobs: int | None, n_values: int) -> int:
    """Return the number of threads for `n_jobs`, as scikit-learn counts them, where work reads `n_values` values."""
    return 1 if n_values < MIN_VALUES else int(effective_n_jobs(n_jobs))  # little work: not even a call of joblib
