"""The short way by which a model of one network learns a single row: one call of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._art.learning.kept import Kept
from sslart._data.classes import ClassTable
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._drift.blocks import TINY
from sslart._drift.monitor import Learnt
from sslart._mapping.base import Mapping
from sslart._utils.deferred import changed
from sslart.estimators._base import drift_after
from sslart.estimators._fitted import Checked, FittedModel
from sslart.estimators._novelty import settled

NO_CODE = np.array([UNLABELLED])


def after_row(
    before: FittedModel, X: Any, checked: Checked, *, mapping: Mapping | None = None, keeps_box: bool = False
) -> FittedModel | None:
    """Return a model of one network after it has learnt one row of numbers without a label.

    None where the row has to be learnt as others are.

    Parameters
    ----------
    before : FittedModel
    X : object
        As the user gave it.
    checked : Checked
    mapping : Mapping or None
        That of the new model; None: as before.
    keeps_box : bool
        Whether the box of the row is kept, as `labels_`.
    """
    reader, params = before.reader, checked.params
    assert reader is not None
    if type(X) is not np.ndarray or X.shape != (1, reader.n_features_in_) or X.dtype != np.float64 or reader.has_names:
        return None
    calibration = settled(before.calibration, params.half_life)
    if calibration is None:
        return None
    values = np.ascontiguousarray(X)
    row = before.network.row_learned(values, UNLABELLED, params, measure_below=calibration.measure_below)
    if row is None:
        return None
    member, codes = before.members[0], None if keeps_box else NO_CODE
    calibration = calibration.adding_row(row)
    found = Learnt(np.array([row.gap]), max(1.0 - params.vigilance, TINY), codes, codes)
    now = changed(
        member,
        network=row.network,
        mapping=member.mapping if mapping is None else mapping,
        params=params,
        calibration=calibration,
    )
    return changed(
        before,
        members=(now,),
        calibration=calibration,
        drift=drift_after(before.drift, Table(values), found, reader, before.class_table.seen),
        labels=np.array([row.node]) if keeps_box else None,
        checked=checked,
        _made=Kept(),
    )


def is_unlabelled(y: Any, class_table: ClassTable) -> bool:
    """Return whether labels are those of one row without a label, given as an array or a list."""
    if type(y) is np.ndarray:
        return y.shape == (1,) and y.dtype.kind == "i" and y.item(0) == UNLABELLED and not class_table.has_minus_one()
    if type(y) is not list or len(y) != 1:
        return False
    return y[0] is None or (type(y[0]) is int and y[0] == UNLABELLED and not class_table.has_minus_one())
