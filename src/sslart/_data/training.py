"""Training input of the classifiers: samples and labels of `fit` and `partial_fit`, and saved classes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from sslart._data.classes import ClassTable
from sslart._data.columns.outliers import warn_of_outliers
from sslart._data.columns.plan import keep_plan, plan_of
from sslart._data.columns.suspects import suspects
from sslart._data.groups import group_keys, read_sample_weight
from sslart._data.labels import Labels, read_labels
from sslart._data.samples import SampleReader, Table, read_samples


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
) -> tuple[Table, Labels]:
    """Return the samples and labels of a `fit`; at least one sample must be labelled.

    `scaling` is that of the estimator. With `gaps`, samples may be unlabelled, so that -1 is ambiguous where 1 is the
    only other label. Samples of weight 0 are left out. `row_names` are for warnings; None: rows are counted.
    """
    if y is None:
        raise ValueError(
            f"{reader.owner} requires y to be passed, but the target y is None. Give labels, with -1 or "
            "None where unlabelled."
        )
    table = read_samples(reader, X, reset=True, leave_out=True)
    labels = read_labels(y, table)
    labels = with_two_classes(labels, warn=gaps)
    if not labels.known.any():
        raise ValueError(
            "y has no labelled sample: -1, None and NaN mean unlabelled. Label at least one sample, or learn from "
            "unlabelled samples alone with partial_fit(X), or cluster with FuzzyART."
        )
    learnt, labels = with_groups_and_weights(table, labels, groups, sample_weight)
    warn_of_outliers(learnt, table, scaling, row_names)
    _take_notes(reader, learnt, labels)
    return learnt, labels


def _take_notes(reader: SampleReader, table: Table, labels: Labels) -> None:
    """Add notes on suspicious columns to the column plan of a reader."""
    plan, n_given = plan_of(reader), table.values.shape[1] - table.n_parts
    names = table.names or [f"x{column}" for column in range(n_given)]
    codes = ClassTable().learning(labels).codes(labels)
    found = tuple(suspects(table, codes, names[:n_given], plan.dates))
    keep_plan(reader, replace(plan, notes=plan.notes + found))


def with_groups_and_weights(table: Table, labels: Labels, groups: Any, sample_weight: Any) -> tuple[Table, Labels]:
    """Return samples and labels with the groups and weights that the user gave, without samples of weight 0."""
    if groups is not None:
        labels = replace(labels, groups=group_keys(groups, labels.known))
    if sample_weight is None:
        return table, labels
    weights = read_sample_weight(sample_weight, labels.known)
    labels = replace(labels, weights=weights)
    kept = weights > 0
    return (table, labels) if kept.all() else (table[kept], labels[kept])


def with_two_classes(labels: Labels, *, warn: bool = True) -> Labels:
    """Return the labels with -1 as a class if -1 and 1 are the only values.

    On request warn of it, unless None or NaN marks unlabelled samples, so that -1 can only be a class.
    """
    if not labels.are_plus_and_minus_one():
        return labels
    with_minus_one = labels.with_class_minus_one()
    if warn and with_minus_one.known.all():
        warnings.warn(
            "y holds -1 and 1 only, which are taken for two classes. If -1 means unlabelled here, write None or "
            "NaN instead.",
            UserWarning,
            stacklevel=4,
        )
    return with_minus_one


def read_stream_labels(table: Table, y: Any, classes: Any, known: ClassTable) -> tuple[Labels, Labels | None]:
    """Return the labels and the announced classes of a `partial_fit` of a model that knows some classes already."""
    declared = None
    if classes is not None:
        announced = np.atleast_1d(np.asarray(classes, dtype=object)) if np.isscalar(classes) else classes
        declared = read_labels(announced, Table(np.empty((len(announced), 1)))).with_class_minus_one()
        known = known.declaring(declared)
    return Labels.none(len(table)) if y is None else as_known(known, read_labels(y, table)), declared


def as_known(table: ClassTable, labels: Labels) -> Labels:
    """Return labels as a model reads them for which -1 may be a class."""
    return labels.with_class_minus_one() if table.has_minus_one() else labels


def check_has_label(table: ClassTable) -> None:
    """Raise NotFittedError while no labelled sample has been learnt."""
    if not table.seen:
        raise NotFittedError(
            "No labelled sample has been learnt yet, so there is no class to predict. Call partial_fit(X, y) with at "
            "least one label first; score_samples works without."
        )
