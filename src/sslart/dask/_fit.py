"""Distributed fitting of all partitions of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sslart.dask._cluster import Tasks, run, sent
from sslart.dask._partitions import Part, partitions_of
from sslart.estimators._fitted import FittedModel
from sslart.merging.partitions import (
    Start,
    Summary,
    Wanted,
    fit_part,
    join_parts,
    second_look,
    start_of,
    summary_of,
    wanted_of,
)


def learnt(
    estimator: Any, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None, *, needs_labels: bool = True
) -> FittedModel:
    """Return the merged state of all partitions of a table, for `finish`; dask reads the table twice.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    X : DataFrame or Array of dask
    y, groups, sample_weight : Series or Array of dask, or None
    needs_labels : bool
        Whether a classifier must get a label at least.
    """
    parts, tasks = partitions_of(X, y, groups, sample_weight), Tasks()
    wanted: Wanted | None = wanted_of(estimator)
    while wanted is not None:
        found = tasks.each("scan", _summary, parts, estimator, wanted)
        summary = run(tasks.tree("scan-join", Summary.joined, found))
        wanted = second_look(summary)
    start = sent(start_of(estimator, summary, needs_labels=needs_labels), "start")
    found = tasks.each("learn", _learnt, parts, estimator, start)
    joined: FittedModel = run(tasks.tree("merge", _joined, found, estimator))
    return joined


def _summary(part: Part, number: int, estimator: Any, wanted: Wanted) -> Summary:
    return summary_of(
        estimator,
        part.samples,
        part.labels,
        number=number,
        wanted=wanted,
        groups=part.groups,
        sample_weight=part.weights,
    )


def _learnt(part: Part, number: int, estimator: Any, start: Start) -> Any:
    return fit_part(
        estimator,
        part.samples,
        part.labels,
        start,
        number=number,
        groups=part.groups,
        sample_weight=part.weights,
    )


def _joined(parts: Sequence[Any], estimator: Any) -> Any:
    return join_parts(estimator, parts)
