"""Training input of the classifiers: samples and labels of `fit`, with warnings and notes on suspicious columns."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sslart._data.columns import CODES, GROUPS, IDENTIFIER, ColumnNote, ColumnPlan, keep_plan, plan_of
from sslart._data.labels import ClassTable, Labels, read_labels, with_groups_and_weights, with_two_classes
from sslart._data.leakage import suspects
from sslart._data.outliers import warn_of_outliers
from sslart._data.roles import oddities
from sslart._data.samples import SampleReader, Table, read_samples, rows_without_values
from sslart._utils.arrays import IntArray
from sslart._utils.text import plural


def read_training(
    reader: SampleReader,
    X: Any,
    y: Any,
    *,
    scaling: str,
    gaps: bool = True,
    groups: Any = None,
    sample_weight: Any = None,
    row_names: Sequence[str] | None = None,
    read_texts: bool = True,
) -> tuple[Table, Labels]:
    """Return the samples and labels of a `fit`; at least one sample must be labelled.

    `scaling` is that of the estimator. With `gaps`, samples may be unlabelled, so that -1 is ambiguous where 1 is the
    only other label. Samples of weight 0 and those without a single value are left out. `row_names` are for warnings;
    None: rows are counted. `read_texts`: as in `read_samples`.
    """
    if y is None:
        raise ValueError(
            f"{reader.owner} requires y to be passed, but the target y is None. Give labels, with -1 or "
            "None where unlabelled."
        )
    table = read_samples(reader, X, reset=True, leave_out=True, read_texts=read_texts, blank_rows=True)
    labels = with_two_classes(read_labels(y, len(table)), warn=gaps)
    if not labels.known.any():
        raise ValueError(
            "y has no labelled sample: -1, None, NaN and blank text mean unlabelled. Label at least one sample, or "
            "learn from unlabelled samples alone with partial_fit(X), or cluster with FuzzyART."
        )
    learnt, labels = with_groups_and_weights(table, labels, groups, sample_weight)
    blank = rows_without_values(learnt)
    if blank is not None:
        given = rows_without_values(table)
        assert given is not None
        first = np.flatnonzero(given)[0]
        warnings.warn(
            f"{plural(int(blank.sum()), 'sample')} of X without a single value: nothing can be learnt from such a row, "
            f"and it is left out. The first is row {first}.",
            UserWarning,
            stacklevel=4,
        )
        learnt, labels = learnt[~blank], labels[~blank]
        if not labels.known.any():
            raise ValueError("No labelled sample has a value in any column: label at least one that has.")
    warn_of_outliers(learnt, table, scaling, row_names)
    plan, n_given = plan_of(reader), learnt.values.shape[1] - learnt.n_parts
    names = learnt.names or [f"x{column}" for column in range(n_given)]
    codes = ClassTable().learning(labels).codes(labels)
    keep_plan(reader, replace(plan, notes=(*plan.notes, *notes_on(learnt, codes, names[:n_given], plan))))
    return learnt, labels


def notes_on(table: Table, codes: IntArray, names: Sequence[str], plan: ColumnPlan) -> list[ColumnNote]:
    """Return notes on the columns that are learnt from, each with one role at most.

    Parameters
    ----------
    table : Table
    codes : array of length n_samples
        Class codes, -1 where unlabelled.
    names : sequence of str
        Names of the columns that were given.
    plan : ColumnPlan
    """
    found = [*suspects(table, codes, names, plan.dates), *oddities(table, names, plan.dates)]
    left_out = {names[column] for column in plan.left_out}
    identifiers = {note.column for note in found if note.topic == IDENTIFIER}
    return [
        note
        for note in found
        if note.column not in left_out and not (note.topic in (GROUPS, CODES) and note.column in identifiers)
    ]
