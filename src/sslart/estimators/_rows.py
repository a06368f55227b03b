"""The short way by which a model of one network learns a single row: one call of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._art.learn_result import LearningParams
from sslart._art.network import RowLearnt
from sslart._data.classes import ClassTable
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._drift.blocks import TINY
from sslart._drift.monitor import Learnt
from sslart._mapping.base import Mapping
from sslart._utils.arrays import FloatArray, IntArray
from sslart.estimators._base import drift_after
from sslart.estimators._fitted import Checked, FittedMember, FittedModel
from sslart.estimators._novelty import settled

NO_CODE = np.array([UNLABELLED])


def row_learned(
    before: FittedModel, X: Any, params: LearningParams, target: int = UNLABELLED, *, predicts: bool = False
) -> RowLearnt | None:
    """Return what one row of numbers makes of a model; None where it has to be learnt as others are."""
    reader = before.reader
    assert reader is not None
    if (
        type(X) is not np.ndarray
        or X.shape != (1, reader.n_features_in_)
        or X.dtype != np.float64
        or not X.flags.c_contiguous
        or reader.has_names
        or before.calibration is None
    ):
        return None
    calibration = settled(before.calibration, params.half_life)
    assert calibration is not None
    return before.network.row_learned(X, target, params, predicts=predicts, measure_below=calibration.measure_below)


def after_row(
    before: FittedModel,
    X: FloatArray,
    row: RowLearnt,
    checked: Checked,
    *,
    mapping: Mapping | None = None,
    labels: IntArray | None = None,
) -> FittedModel:
    """Return a model of one network after it has learnt one row, without a label where it has classes.

    `mapping` and `labels` are those of the new model; None: as before.
    """
    member, params = before.members[0], checked.params
    calibration = settled(before.calibration, params.half_life)
    assert calibration is not None
    assert before.reader is not None
    calibration = calibration.adding_row(row)
    codes = None if labels is not None else NO_CODE
    found = Learnt(np.array([row.gap]), max(1.0 - params.vigilance, TINY), codes, codes)
    drift = drift_after(before.drift, Table(X), found, before.reader, before.class_table.seen)
    now = FittedMember(
        row.network, member.class_table, member.mapping if mapping is None else mapping, params, calibration
    )
    return FittedModel(
        before.columns,
        (now,),
        before.class_table,
        calibration,
        drift=drift,
        labels=labels,
        checked=checked,
        reader=before.reader,
    )


def is_unlabelled(y: Any, class_table: ClassTable) -> bool:
    """Return whether labels are those of one row without a label, given as an array or a list."""
    if type(y) is np.ndarray:
        return y.shape == (1,) and y.dtype.kind == "i" and y.item(0) == UNLABELLED and not class_table.has_minus_one()
    if type(y) is not list or len(y) != 1:
        return False
    return y[0] is None or (type(y[0]) is int and y[0] == UNLABELLED and not class_table.has_minus_one())
