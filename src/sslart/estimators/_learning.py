"""Steps of learning: fits are measured before samples are learnt, and a single row takes a short way."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sslart._art.backend import encode, row_keys
from sslart._art.jackknife import left_out_fits
from sslart._art.learning import LearningParams, LearnResult
from sslart._art.network import Network
from sslart._art.novelty import LeftOut, Measured, NoveltyCalibration
from sslart._data.columns import NO_PLAN
from sslart._data.labels import UNLABELLED, ClassTable
from sslart._data.samples import SampleReader, Table
from sslart._drift.monitor import TINY, DriftMonitor, Measurements, StreamNames
from sslart._mapping.base import Mapping
from sslart._mapping.model_view import clear_winner
from sslart._utils.arrays import BoolArray, IntArray, KeyArray
from sslart._utils.cache import Cache, changed
from sslart.estimators._fitted import Checked, FittedModel


class FitMeter:
    """Measures how well the samples of one call, in the order of learning, fit before they are learnt.

    `calibration` decides which samples are measured; None: none is. `afresh`: nothing was learnt before and the range
    is that of these samples: then they are left out in turn, after all of them have been learnt, those of one of the
    `groups` together (0: of none).
    """

    def __init__(
        self,
        table: Table,
        calibration: NoveltyCalibration | None,
        *,
        afresh: bool,
        groups: IntArray | None = None,
    ) -> None:
        self._table, self._afresh, self._groups = table, afresh, groups
        self._keys: KeyArray | None = None
        self._wanted: BoolArray | None = None
        if calibration is not None and not afresh:
            self._keys = row_keys(table)
            self._wanted = calibration.wanted(self._keys)

    def wanted(self, rows: slice = slice(None)) -> BoolArray | None:
        """Return a mask of the samples to measure before they are learnt; None: none."""
        return None if self._wanted is None else self._wanted[rows]

    def measured(self, network: Network, learnt: LearnResult, params: LearningParams) -> Measured | LeftOut | None:
        """Return the measured fits, after the samples have been learnt."""
        if self._afresh:
            fits = left_out_fits(network, self._table, learnt.nodes, params, self._groups)
            return LeftOut(fits, len(self._table))
        return None if self._keys is None else Measured(self._keys, learnt.fits, learnt.into)


def calibration_after(
    before: NoveltyCalibration | None, members: Sequence[Measured | LeftOut | None]
) -> NoveltyCalibration | None:
    """Return the calibration updated with the fits each member measured in a call; None if there is none."""
    left_out = [one for one in members if isinstance(one, LeftOut)]
    if left_out:
        return NoveltyCalibration.of_left_out(left_out)
    measured = [one for one in members if isinstance(one, Measured)]
    return before.adding(measured) if before is not None and measured else None


def settled(calibration: NoveltyCalibration | None, half_life: float | None) -> NoveltyCalibration | None:
    """Return a calibration that no longer depends on the network that it was measured by, before that changes."""
    if calibration is None:
        return None
    calibration.earlier.get()
    return calibration.fading(half_life)


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

    None where the row has to be learnt as others are. `code` is that of its class, -1 where unlabelled; None of a model
    without classes, which keeps the box of the row as `labels_`. `mapping_after` returns the mapping of the new model,
    given the network and the row; None: as before.
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


def winner_of_row(model: FittedModel, X: Any) -> int | None:
    """Return the class index that evidence gives one row of numbers, as `PredictionBatch.indices` does.

    None where that takes more than a look: of other input, of models of several networks or without evidence, and where
    scores are so close that probabilities decide.
    """
    reader, members = model.reader, model.members
    if type(X) is not np.ndarray or X.dtype != np.float64 or len(members) != 1 or reader is None:
        return None
    if X.shape != (1, reader.n_features_in_) or reader.has_names or model.plan is not NO_PLAN:
        return None
    member, classes = members[0], model.class_table
    scoring, encoder = member.mapping.scoring, member.mapping.network_of(member.network).encoder
    columns = encoder.numeric_columns
    if scoring is None or columns is None or not classes.seen or len(classes.seen) != len(classes.classes):
        return None
    if not math.isfinite(np.add.reduce(X[0])):  # a value is missing or infinite
        return None
    coded, _ = encode(encoder, X if encoder.is_plain else X.take(columns.features, axis=1))
    return clear_winner(scoring.scores(coded))


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


def drift_after(
    drift: DriftMonitor, table: Table, learnt: Measurements, reader: SampleReader, classes: Any
) -> DriftMonitor:
    """Return the monitor of drift after samples have been learnt, given the classes by code."""
    return drift.after(learnt, table, StreamNames(lambda: reader.feature_names, classes))
