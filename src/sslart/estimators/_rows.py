"""The short way by which a model of one network learns a single row: one call of the kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sslart._art.network import Network
from sslart._data.labels import UNLABELLED, ClassTable
from sslart._data.samples import Table
from sslart._drift.monitor import TINY, Measurements
from sslart._mapping.base import Mapping
from sslart._utils.cache import Cache, changed
from sslart.estimators._base import drift_after
from sslart.estimators._fitted import Checked, FittedModel
from sslart.estimators._novelty import settled

NO_CODE = np.array([UNLABELLED])
NOT_PLAIN = object()


def after_row(
    before: FittedModel,
    X: Any,
    checked: Checked,
    *,
    code: int | None = None,
    mapping_after: Callable[[Network, Table], Mapping] | None = None,
) -> FittedModel | None:
    """Return a model of one network after it has learnt one row of numbers.

    None where the row has to be learnt as others are.

    Parameters
    ----------
    before : FittedModel
    X : object
        As the user gave it.
    checked : Checked
    code : int or None
        Class code, -1 where unlabelled; None of a model without classes, which keeps the box of the row as `labels_`.
    mapping_after : callable or None
        Returns the mapping of the new model, given the network and the row; None: as before.
    """
    reader, params = before.reader, checked.params
    assert reader is not None
    if type(X) is not np.ndarray or X.shape != (1, reader.n_features_in_) or X.dtype != np.float64 or reader.has_names:
        return None
    calibration = settled(before.calibration, params.half_life)
    if calibration is None:
        return None
    values = np.ascontiguousarray(X)
    is_labelled = code is not None and code != UNLABELLED
    row = before.network.row_learned(
        values,
        UNLABELLED if code is None else code,
        params,
        predicts=is_labelled,
        measure_below=calibration.measure_below,
    )
    if row is None:
        return None
    member, table, calibration = before.members[0], Table(values), calibration.adding_row(row)
    mapping = member.mapping if mapping_after is None else mapping_after(row.network, table)
    codes = predicted = None
    if code is not None:
        codes = predicted = NO_CODE
    if is_labelled:
        codes = np.array([code])
        predicted = np.array([row.predicted]) if mapping.predicted is None else mapping.predicted
    found = Measurements(np.array([row.gap]), max(1.0 - params.vigilance, TINY), codes, predicted)
    now = changed(
        member,
        network=row.network,
        mapping=mapping,
        params=params,
        calibration=calibration,
    )
    return changed(
        before,
        members=(now,),
        calibration=calibration,
        drift=drift_after(before.drift, table, found, reader, before.class_table.seen),
        labels=np.array([row.node]) if code is None else None,
        checked=checked,
        _made=Cache(),
    )


def code_of_row(y: Any, class_table: ClassTable) -> int | None:
    """Return the class code of one label given as an array or a list, -1 where it is none.

    None where that takes more than a look: of other types, and of classes not learnt yet.
    """
    label: Any
    if type(y) is np.ndarray:
        label = y.item(0) if y.shape == (1,) and y.dtype.kind in "iU" else NOT_PLAIN
    else:
        label = y[0] if type(y) is list and len(y) == 1 else NOT_PLAIN
    if label is None or (type(label) is int and label == UNLABELLED and not class_table.has_minus_one()):
        return UNLABELLED
    return class_table.code_of(label) if type(label) in (int, str) else None
