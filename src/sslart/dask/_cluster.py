"""Work on a cluster: partitions of dask collections, tasks with names in a fixed tree, and distributed fitting."""

from __future__ import annotations

import uuid
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

from sslart._utils.optional import optional
from sslart.estimators._fitted import FittedModel
from sslart.merging import partitions

dask: Any = optional("dask", "dask")
arrays: Any = optional("dask.array", "dask")
frames: Any = optional("dask.dataframe", "dask")

FAN_IN = 4  # results merged by one task
RETRIES = 2  # of a failed task, such as after a transient read error


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
        """Return one task that merges all parts by a tree reduction, in order.

        The tree depends only on the number of parts, so the result does not depend on scheduling or retries.
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
    """Compute a task on the cluster of the current client, or with the configured dask scheduler."""
    return task.compute(retries=RETRIES) if current_client() is not None else task.compute()


def current_client() -> Any:
    """Return the current client; None if tasks run in this process."""
    if dask.base.get_scheduler() is None or "distributed" not in dask.base.get_scheduler().__module__:
        return None
    return optional("distributed", "dask").get_client()


def sent(value: Any, what: str) -> Any:
    """Return a task for a value that is sent to the cluster once, and to each worker once.

    If a worker is lost, the scheduler can send the value again.
    """
    name = f"sslart-{what}-{uuid.uuid4().hex}"
    task = dask.delayed(value, name=name, traverse=False)
    client = current_client()
    if client is None:
        return task
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Sending large graph")
        return client.persist(task)


class Partition(NamedTuple):
    """Samples of one partition with labels, groups and weights, named as in `fit`."""

    X: Any
    y: Any = None
    groups: Any = None
    sample_weight: Any = None


def is_frame(X: Any) -> bool:
    """Return True if X is a dask data frame."""
    return isinstance(X, frames.DataFrame)


def checked_samples(X: Any) -> Any:
    """Return X as a data frame, or as an array with whole rows per chunk; raise an error with a remedy."""
    if is_frame(X):
        return X
    if not isinstance(X, arrays.Array):
        raise TypeError(
            f"X must be a DataFrame or an Array of dask, got a {type(X).__name__}. dask.dataframe.from_delayed and "
            "dask.array.from_delayed create one from other objects."
        )
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got an Array of shape {X.shape}: use X.reshape(-1, 1).")
    return X.rechunk({1: -1}) if X.numblocks[1] > 1 else X


def partitions_of(X: Any, **beside: Any) -> list[Any]:
    """Return one task per partition, with a `Partition` as its result, given columns with the same partitions as X."""
    X = checked_samples(X)
    beside = {name: _checked_column(name, one, X) for name, one in beside.items()}
    names = [name for name, one in beside.items() if one is not None]
    given = [beside[name] for name in names]
    if all(isinstance(one, frames.Series) for one in given) and is_frame(X):
        # one expression, so that dask reads each file once
        together = frames.map_partitions(
            _part, X, *given, names=names, meta=("part", object), enforce_metadata=False, align_dataframes=False
        )
        return list(together.to_delayed())
    columns = [_tasks(one) for one in (X, *given)]
    make = dask.delayed(_part, pure=False)
    return [make(*pieces, names=names) for pieces in zip(*columns, strict=True)]


def _part(X: Any, *given: Any, names: list[str]) -> Partition:
    return Partition(X, **dict(zip(names, given, strict=True)))


def _checked_column(name: str, column: Any, X: Any) -> Any:
    """Return a column aligned with the partitions of the samples, or raise an error with a remedy."""
    if column is None:
        return None
    if isinstance(column, frames.DataFrame) and len(column.columns) == 1:
        column = column[column.columns[0]]
    if isinstance(column, arrays.Array) and column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if not isinstance(column, frames.Series | arrays.Array) or column.ndim != 1:
        raise TypeError(
            f"{name} must be a Series or an Array of dask with one dimension where X is a collection of dask, got a "
            f"{type(column).__name__}. Take it from the table that X comes from, or make it with "
            "dask.array.from_array(values, chunks=X.chunks[0])."
        )
    if isinstance(column, arrays.Array) and isinstance(X, arrays.Array):
        same_length = len(set(map(_length, (column, X)))) == 1
        if column.chunks[0] != X.chunks[0] and same_length and _length(X) is not None:
            return column.rechunk((X.chunks[0],))
    if column.npartitions != (X.npartitions if is_frame(X) else X.numblocks[0]):
        raise ValueError(
            f"{name} has {column.npartitions} partitions and X has {X.npartitions}: both must be cut at the same rows. "
            f"Take {name} from the table that X comes from, or give both known chunk sizes, such as by "
            "compute_chunk_sizes()."
        )
    return column


def _length(array: Any) -> int | None:
    """Return the length of an array; None if it is unknown."""
    return int(array.shape[0]) if array.shape[0] == array.shape[0] else None


def _tasks(collection: Any) -> list[Any]:
    if isinstance(collection, arrays.Array):
        return list(collection.to_delayed(optimize_graph=False).ravel())
    return list(collection.to_delayed())


def learnt(
    estimator: Any, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None, *, needs_labels: bool = True
) -> FittedModel:
    """Return the merged state of all partitions of a table, for `finish`; dask reads the table twice.

    With `needs_labels`, at least one label is required.
    """
    parts, tasks = partitions_of(X, y=y, groups=groups, sample_weight=sample_weight), Tasks()
    wanted: partitions.Wanted | None = partitions.wanted_of(estimator)
    while wanted is not None:
        found = tasks.each("scan", _summary, parts, estimator, wanted)
        summary = run(tasks.tree("scan-join", partitions.Summary.joined, found))
        wanted = partitions.second_look(summary)
    start = sent(partitions.start_of(estimator, summary, needs_labels=needs_labels), "start")
    found = tasks.each("learn", _learnt, parts, estimator, start)
    joined: FittedModel = run(tasks.tree("merge", partial(partitions.join_parts, estimator), found))
    return joined


def _summary(part: Partition, number: int, estimator: Any, wanted: partitions.Wanted) -> partitions.Summary:
    return partitions.summary_of(estimator, **part._asdict(), number=number, wanted=wanted)


def _learnt(part: Partition, number: int, estimator: Any, start: partitions.Start) -> FittedModel | None:
    return partitions.fit_part(estimator, **part._asdict(), number=number, start=start)
