"""Work on a cluster: tasks with names, in a fixed tree, and objects that every task gets."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from sslart._utils.optional import optional

dask: Any = optional("dask", "dask")

FAN_IN = 4  # results that one task puts together
RETRIES = 2  # of a task that fails, such as where a file cannot be read for a moment


class Tasks:
    """Tasks of one call, with a common prefix in their names."""

    def __init__(self) -> None:
        self._token = uuid.uuid4().hex

    def each(self, what: str, function: Callable[..., Any], parts: Sequence[Any], *shared: Any) -> list[Any]:
        """Return one task per part, which calls the function with the part, its number, and the shared arguments."""
        work = dask.delayed(function, pure=False, traverse=False)
        return [
            work(part, number, *shared, dask_key_name=self._name(what, number)) for number, part in enumerate(parts)
        ]

    def tree(self, what: str, join: Callable[..., Any], parts: Sequence[Any], *shared: Any) -> Any:
        """Return one task for all parts, which are joined by fours in their order, and the results again.

        The tree depends on nothing but the number of parts, so that the result does not depend on which task is done
        first, or is done twice.
        """
        work = dask.delayed(join, pure=False, traverse=False)
        level, number = list(parts), 0
        while len(level) > 1 or not number:
            groups = [level[start : start + FAN_IN] for start in range(0, len(level), FAN_IN)]
            level = []
            for group in groups:
                level.append(work(group, *shared, dask_key_name=self._name(what, number)))
                number += 1
        return level[0]

    def _name(self, what: str, number: int) -> str:
        return f"sslart-{what}-{self._token}-{number}"


def run(task: Any) -> Any:
    """Return the result of a task: by the cluster of the present client, else by the scheduler that dask is set to."""
    return task.compute(retries=RETRIES) if current_client() is not None else task.compute()


def current_client() -> Any:
    """Return the client that tasks go to; None where they stay in this process."""
    if dask.base.get_scheduler() is None or "distributed" not in dask.base.get_scheduler().__module__:
        return None
    return optional("distributed", "dask").get_client()


def sent(value: Any, what: str) -> Any:
    """Return a task for a value that is sent to the cluster once, and once to each worker.

    A worker that is lost takes no value with it: the scheduler can send it again.
    """
    name = f"sslart-{what}-{uuid.uuid4().hex}"
    task = dask.delayed(value, name=name, traverse=False)
    client = current_client()
    if client is None:
        return task
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.persist(task)
