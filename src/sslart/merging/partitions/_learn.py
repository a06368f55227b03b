"""A second pass over all partitions: each learns boxes by itself, and what they have learnt is merged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.base import clone

from sslart._mapping.parts import ModelParts
from sslart.merging._novelty import measured_samples
from sslart.merging._parts import finished, joined_parts
from sslart.merging.partitions._start import Start
from sslart.merging.partitions._summary import read_beside


def fit_part(
    estimator: Any, X: Any, y: Any, start: Start, *, number: int, groups: Any = None, sample_weight: Any = None
) -> ModelParts | None:
    """Return what one partition has learnt: boxes, counts and labels; None without a sample.

    Settings of evidence are not chosen yet: see `finish`.

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
    table = start.reader.read(X)
    labels, _, weights, keys = read_beside(table, y, groups, sample_weight, start.shared.class_table.has_minus_one())
    if groups is not None:
        labels = replace(labels, groups=keys)
    if sample_weight is not None:
        labels = replace(labels, weights=weights)
        table, labels = table[weights > 0], labels[weights > 0]
    if not len(table):
        return None
    model = clone(estimator).set_params(random_state=start.seed)
    vars(model).update(start.columns)
    parts: ModelParts = model.__sslart_part__(table, labels, start.shared, number)
    return replace(parts, measured=measured_samples(parts.calibration, table, parts.members[0].network.encoder))


def join_parts(estimator: Any, parts: Sequence[ModelParts | None]) -> ModelParts | None:
    """Return what several partitions have learnt as one.

    Boxes depend on which parts are joined first: the same tree of parts gives the same bits.
    """
    known = [one for one in parts if one is not None]
    if len(known) < 2:
        return known[0] if known else None
    vigilance, max_nodes, choice = estimator.vigilance, estimator.max_nodes, estimator.choice
    return joined_parts(known, vigilance, max_nodes, choice, estimator.learning_rate)


def finish(estimator: Any, parts: ModelParts) -> Any:
    """Return a copy of an estimator that has learnt what all partitions have; with evidence, settings are chosen now.

    Parameters
    ----------
    estimator : estimator
        Not fitted.
    parts : ModelParts
        Of all partitions.
    """
    model = clone(estimator)
    model.__sslart_take__(finished(parts))
    return model
