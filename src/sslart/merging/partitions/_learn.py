"""Second pass over all partitions: each learns boxes separately, and the results are merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from sslart._data.labels import Labels
from sslart._mapping.mergeable_state import LabelledRows
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.random_keys import keys_of_numbers
from sslart.estimators._fitted import FittedModel
from sslart.merging._novelty import measured_samples
from sslart.merging._parts import finished, joined_parts
from sslart.merging.partitions._rows import numbers_of
from sslart.merging.partitions._start import Start
from sslart.merging.partitions._summary import read_beside


def fit_part(
    estimator: Any, X: Any, y: Any, start: Start, *, number: int, groups: Any = None, sample_weight: Any = None
) -> FittedModel | None:
    """Return the state learnt from one partition: boxes and labelled rows; None without a sample.

    Settings of evidence are not chosen yet, and where boxes count classes, labelled rows are not learnt yet: see
    `finish`.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    X : DataFrame or array of shape (n_samples, n_features)
    y, groups, sample_weight : array-like of shape (n_samples,), or None
    start : Start
    number : int
        Of the partition: 0, 1, 2, ...
    """
    if not len(X):
        return None
    table, numbers = start.reader.read(X), numbers_of(number, len(X))
    labels, _, weights, keys = read_beside(table, y, groups, sample_weight, start.shared.class_table.has_minus_one())
    if groups is not None:
        labels = replace(labels, groups=keys)
    if sample_weight is not None:
        labels = replace(labels, weights=weights)
        table, labels, numbers = table[weights > 0], labels[weights > 0], numbers[weights > 0]
    if not len(table):
        return None
    model = clone(estimator).set_params(random_state=start.seed)
    labelled, max_later = None, model.__sslart_learns_later__()
    if max_later:
        later = _learnt_later(labels, numbers, start, max_later)
        if later.any():
            labelled = LabelledRows(table[later], labels[later], numbers[later], start.shared, start.seed)
        table, labels = table[~later], replace(labels, known=np.zeros(len(later), dtype=bool))[~later]
        if not len(table):
            return FittedModel(start.columns, (), start.shared.class_table, None, labelled=labelled)
    columns = dict(start.columns)
    parts: FittedModel = model.__sslart_part__(columns, table, labels, start.shared, number)
    measured = measured_samples(parts.calibration, table, parts.members[0].network.encoder)
    return replace(parts, measured=measured, labelled=labelled)


def _learnt_later(labels: Labels, numbers: IntArray, start: Start, n_wanted: int) -> BoolArray:
    """Return a mask of rows learnt with labels at the end: all labelled ones, or a fair sample of every class.

    Which rows these are depends on nothing but the table, so that every partition can find its own.
    """
    if start.n_labelled <= n_wanted:
        return labels.known
    share = np.uint64(n_wanted / start.n_labelled * 2.0**64)
    is_first = np.isin(numbers, np.fromiter(start.first_of_classes, dtype=np.int64))
    return labels.known & ((keys_of_numbers(numbers, start.seed) < share) | is_first)


def join_parts(estimator: Any, parts: Sequence[FittedModel | None]) -> FittedModel | None:
    """Merge the states learnt from several partitions.

    Boxes depend on which parts are joined first: the same tree of parts gives the same bits.
    """
    known = [one for one in parts if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    labelled = LabelledRows.joined([one.labelled for one in known if one.labelled is not None])
    known = [one for one in known if one.members] or known[:1]
    joined = known[0]
    if len(known) > 1:
        vigilance, max_nodes, choice = estimator.vigilance, estimator.max_nodes, estimator.choice
        joined = joined_parts(known, vigilance, max_nodes, choice, estimator.learning_rate)
    return replace(joined, labelled=labelled)


def finish(estimator: Any, parts: FittedModel) -> Any:
    """Return a fitted copy of an estimator, given the merged state of all partitions.

    With evidence, settings are chosen now. With other mappings, the boxes of all partitions learn the labelled rows
    now, as in the second stage of `fit`.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    parts : FittedModel
        Of all partitions.
    """
    model = clone(estimator)
    if parts.members:
        model.__sslart_take__(finished(parts))
    if parts.labelled is not None:
        model.__sslart_learn_later__(parts.columns, parts.labelled)
    return model
