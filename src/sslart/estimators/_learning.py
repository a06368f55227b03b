"""Learning with one network: tables within the available memory, streams, and a fast path for single rows."""

from __future__ import annotations

import math
import os
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Attributes
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from sslart._art.backend import encode, row_keys
from sslart._art.boxes import NO_LIMIT, LearningParams, LearnResult
from sslart._art.jackknife import left_out_fits
from sslart._art.network import MAX_CELLS, Network
from sslart._art.novelty import LeftOut, Measured, NoveltyCalibration
from sslart._data.encoder import Encoder, first_encoder
from sslart._data.labels import UNLABELLED, ClassTable, Labels, Presentations
from sslart._data.samples import SampleReader, Table
from sslart._drift.monitor import NO_DRIFT, TINY, DriftMonitor, Measurements, StreamNames
from sslart._mapping.base import CountsMapping, Effort, FitSize, Mapping
from sslart._mapping.mergeable_state import Shared
from sslart._mapping.model_view import clear_winner
from sslart._utils.arrays import BoolArray, IntArray, KeyArray
from sslart._utils.cache import Cache, changed
from sslart._utils.resources import VARIABLE, memory_text, usable_memory
from sslart._utils.text import plural
from sslart._utils.validation import check_half_life
from sslart.estimators._base import RawSamplesEstimator, StreamSamples, random_of_part
from sslart.estimators._fitted import (
    Checked,
    FittedMember,
    FittedModel,
    columns_of,
    drift_and_audit,
    novelty_state,
    state_of,
)


class FitMeter:
    """Measurement of the fits of the samples of one call, in the order of learning, for the novelty calibration.

    `calibration` selects the samples to measure; None: no sample. `afresh`: nothing was learnt before and the range is
    that of these samples. Then fits are jackknife fits, after all samples have been learnt, with the samples of one of
    the `groups` left out together (0: no group).
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
        """Return a mask of the samples to measure before they are learnt; None for no sample."""
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
    """Return the calibration updated with the fits measured by each member in a call; None if there is none."""
    left_out = [one for one in members if isinstance(one, LeftOut)]
    if left_out:
        return NoveltyCalibration.of_left_out(left_out)
    measured = [one for one in members if isinstance(one, Measured)]
    return before.adding(measured) if before is not None and measured else None


def settled(calibration: NoveltyCalibration | None, half_life: float | None) -> NoveltyCalibration | None:
    """Return the calibration with all deferred values computed, before the network changes."""
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
    """Return a single model after learning one row of numbers by the fast path; None if that is not possible.

    `code` is the class code, -1 where unlabelled; None for a model without classes, which stores the box of the row as
    `labels_`. `mapping_after` returns the mapping of the new model, given the network and the row; None: unchanged.
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
    """Return the class index predicted by evidence for one row of numbers, by the fast path.

    None for other input, for ensembles and models without evidence mapping, and if scores are almost equal.
    """
    reader, members, plan = model.reader, model.members, model.plan
    if type(X) is not np.ndarray or X.dtype != np.float64 or len(members) != 1 or reader is None:
        return None
    if X.shape != (1, reader.n_features_in_) or reader.has_names or plan.dates or plan.left_out:
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
    """Return the class code of one label given as an array or a list, -1 if unlabelled.

    None for other types, and for classes not learnt yet.
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
    """Return the drift monitor after samples have been learnt, given the classes by code."""
    return drift.after(learnt, table, StreamNames(lambda: reader.feature_names, classes))


DOUBLE = 8  # bytes
PER_SIDE = 1.3 * 2 * DOUBLE  # bytes of a box per feature: two sides, and the search's copy; see docs/benchmarks.md
ALWAYS_FREE = 2**25  # bytes: a smaller fit is not checked, which would take longer than the fit
FEW_BOXES, FEW_LABELS = 200, 2000  # lower limits of the reduction: a smaller fit would be a different model


def memory_of(size: FitSize, mapping: Mapping) -> float:
    """Return the memory of a fit in bytes: coded samples, boxes, and mapping."""
    n_values = size.n_samples * size.n_features
    coding = DOUBLE * (n_values + 2 * min(MAX_CELLS, n_values))
    return coding + PER_SIDE * size.n_boxes * size.n_features + mapping.memory(size)


class FitLimits(NamedTuple):
    """Maximum numbers of boxes and labels of a fit; None: as set by the parameters."""

    max_nodes: int | None = None
    max_labels: int | None = None


def limits_by_memory(
    owner: str, size: FitSize, mapping: Mapping, encoder: Encoder, names: Sequence[str] | None
) -> FitLimits:
    """Return limits that keep a fit within the available memory, with a warning if they change it.

    Raises a ValueError if memory is too small even for the lowest limits.
    """
    wanted = memory_of(size, mapping)
    if wanted <= ALWAYS_FREE and VARIABLE not in os.environ:
        return FitLimits()  # looking up the free memory would take longer than a small fit
    usable = usable_memory()
    if usable is None or wanted <= usable:
        return FitLimits()
    least, limits = wanted, FitLimits()
    for n_labels in _halves(size.n_labels, FEW_LABELS):
        for n_boxes in _halves(size.n_boxes, FEW_BOXES):
            fewer = size._replace(n_labels=n_labels, n_boxes=n_boxes)
            limits = FitLimits(
                n_boxes if n_boxes < size.n_boxes else None, n_labels if n_labels < size.n_labels else None
            )
            least = memory_of(fewer, mapping)
            if least <= usable:
                break
        if least <= usable:
            break
    need = (
        f"{owner} needs about {memory_text(wanted)} of memory for {plural(size.n_samples, 'row')} with "
        f"{plural(size.n_features, 'feature')}, and {memory_text(usable)} may be used"
    )
    if least > usable:
        raise ValueError(
            f"{need}, which is too little even with fewer boxes. {_widest(encoder, names)}Learn fewer rows at once (by "
            f"partial_fit, or sslart.dask), leave columns out, free memory, or set {VARIABLE} if more may be used."
        )
    done = {"max_nodes": f"{limits.max_nodes} boxes are learnt", "max_labels": f"{limits.max_labels} labels are used"}
    set_by = [name for name, n in limits._asdict().items() if n is not None]
    warnings.warn(
        f"{need}: at most {' and '.join(done[name] for name in set_by)}. Set {' and '.join(set_by)} to have the same "
        "model on every machine.",
        UserWarning,
        stacklevel=4,
    )
    return limits


def _halves(n: int, least: int) -> list[int]:
    """Return a number and its repeated halves, down to a lower limit."""
    found = [n]
    while found[-1] // 2 >= least:
        found.append(found[-1] // 2)
    return found


def _widest(encoder: Encoder, names: Sequence[str] | None) -> str:
    """Return a sentence on the column with most features; empty if each column is one feature."""
    n_features = Counter(feature.column for feature in encoder.features)
    column, most = n_features.most_common(1)[0]
    if most == 1:
        return ""
    name = repr(names[column]) if names and column < len(names) else f"number {column}"
    return f"Column {name} alone makes {most} of the features, one for each of its categories. "


class ARTEstimator(RawSamplesEstimator):
    """Base class of the estimators with a single network."""

    match_tracking = 0.0
    _has_classes = False

    def _one_to_one(self) -> bool:
        """Return True for one-to-one mapping, in which a box contains one class only."""
        return False

    def _new_mapping(self) -> Mapping:
        """Return an empty mapping by the current parameters."""
        return CountsMapping(self._one_to_one())

    def _mapping_to_update(self, before: FittedModel) -> Mapping:
        """Return the mapping to update, with parameters set since the last call."""
        return before.mapping

    def _learning_params(self) -> LearningParams:
        self._check_parameters(predicts=False)
        self._check("n_jobs")
        half_life = self._checked_half_life()
        return LearningParams(
            self._check("vigilance"),
            self._check("choice"),
            self._check("learning_rate"),
            self._check("match_tracking"),
            self._one_to_one(),
            None if isinstance(half_life, str) else half_life,
            self._check("max_nodes"),
        )

    def _checked_half_life(self) -> float | str | None:
        return check_half_life(self._name, self.half_life, allow_auto=self._uses_evidence())

    def _order(self, labels: Labels, random_state: Any) -> slice | IntArray:
        """Return the order in which `fit` learns samples."""
        return check_random_state(random_state).permutation(len(labels.known)) if self.shuffle else slice(None)

    def _first_encoder(self, table: Table, shown: slice | IntArray = slice(None), *, stream: bool) -> Encoder:
        """Return the first encoder; `shown`: the rows of the table, repeated as often as boxes learn them."""
        return first_encoder(
            self._name, table, shown, bounds=self.bounds, scaling=self._check("scaling"), stream=stream
        )

    def _fit_table(
        self,
        columns: Attributes[str, Any],
        table: Table,
        labels: Labels,
        order: slice | IntArray,
        stop: Any = None,
        shared: Shared | None = None,
    ) -> tuple[FittedModel, Measured | LeftOut | None]:
        """Fit a table from scratch; return the model and the fits of its samples.

        The order has the unlabelled samples before the labelled ones. For a part of a table, `shared` is common to all
        parts, and no settings are selected.
        """
        self._check_parameters(predicts=True)
        params, mapping = self._learning_params(), self._new_mapping()
        if shared is None:
            encoder = self._first_encoder(table, Presentations(labels.presentations).rows, stream=False)
            shared, choose = Shared(encoder, ClassTable().learning(labels[order])), Effort.CAREFUL
        else:
            choose = Effort.NONE
        class_table = shared.class_table
        self._check_classes(class_table)
        mapping.check_classes(self._name, class_table)
        params, mapping = self._within_memory(params, mapping, shared, table, labels)
        codes = class_table.codes(labels)
        shown = Presentations(labels[order].presentations)
        in_order, groups = table[order][shown.rows], labels[order][shown.rows].groups
        network, learnt = Network(shared.encoder).learned(
            in_order, codes[order][shown.rows], len(class_table.seen), replace(params, half_life=None), stop=stop
        )
        measured = FitMeter(in_order, None, afresh=True, groups=groups).measured(network, learnt, params)
        mapping = mapping.learned(
            network, class_table, table, codes, labels, choose=choose, is_last=True, in_order=False
        )
        calibration = calibration_after(None, [measured])
        member = FittedMember(network, class_table, mapping, params, calibration)
        model = FittedModel(columns, (member,), class_table, calibration, labels=self._boxes_of(learnt, order))
        return model, measured

    def _within_memory(
        self, params: LearningParams, mapping: Mapping, shared: Shared, table: Table, labels: Labels
    ) -> tuple[LearningParams, Mapping]:
        """Return the parameters and the mapping of a fit, with fewer boxes or labels if memory is short."""
        n_labels = min(int(labels.known.sum()), mapping.max_labels)
        size = FitSize(
            len(table),
            len(shared.encoder.features),
            len(table) if params.max_nodes is None else min(len(table), params.max_nodes),
            n_labels,
            len(shared.class_table.seen),
        )
        limits = limits_by_memory(self._name, size, mapping, shared.encoder, table.names)
        if limits.max_nodes is not None:
            params = replace(params, max_nodes=limits.max_nodes)
        return params, mapping if limits.max_labels is None else mapping.keeping(limits.max_labels)

    def _learn_stream(
        self,
        before: FittedModel | None,
        samples: StreamSamples,
        checked: Checked,
        order: slice | IntArray = slice(None),
        *,
        is_member: bool = False,
        stop: Any = None,
    ) -> tuple[FittedModel, LearnResult, Measured | LeftOut | None]:
        """Learn samples in the given order; return the new model, the result per sample, and the measured fits.

        A member of an ensemble predicts labelled samples as `predict` does before learning them. A single model uses
        the prediction of its mapping, or else the label of the box that learns the sample, and monitors drift.
        """
        columns, table, labels, declared = samples
        params = checked.params
        if before is None:
            self._check_parameters(predicts=True)
            mapping, drift, class_table = self._new_mapping(), NO_DRIFT, ClassTable()
            network = Network(self._first_encoder(table, Presentations(labels.presentations).rows, stream=True))
            calibration: NoveltyCalibration | None = NoveltyCalibration.of_stream()
        else:
            mapping = before.mapping if checked is before.checked else self._mapping_to_update(before)
            drift, class_table, calibration = before.drift, before.class_table, before.calibration
            network = before.network
        table, labels = table[order], labels[order]
        after = (class_table if declared is None else class_table.declaring(declared)).learning(labels)
        codes = after.codes(labels)
        calibration = settled(calibration, params.half_life)
        shown = Presentations(labels.presentations)
        shown_table, shown_codes = table[shown.rows], codes[shown.rows]
        groups = labels[shown.rows].groups
        meter = FitMeter(shown_table, calibration, afresh=before is None and self.bounds is None, groups=groups)
        results, predicted = [], list[tuple[slice, IntArray]]()
        n_seen, end = len(class_table.seen), 0
        while end < len(codes):
            segment, choose = mapping.segment(codes[end:], n_seen)
            rows = slice(end, end + segment.stop)
            end = rows.stop
            if n_seen < len(after.seen):
                n_seen = max(n_seen, int(codes[rows].max(initial=UNLABELLED)) + 1)
            known = after.first(n_seen)
            own = shown.of(rows)
            network, result = network.learned(
                shown_table[own],
                shown_codes[own],
                n_seen,
                params,
                predict_depth=NO_LIMIT if self._has_classes else None,
                predict_by_first=not is_member,
                measured=meter.wanted(own),
                stop=stop,
            )
            results.append(result)
            mapping = mapping.learned(
                network, known, table[rows], codes[rows], labels[rows], choose=choose, is_last=end == len(codes)
            )
            if mapping.predicted is not None:
                predicted.append((rows, mapping.predicted))
        learnt = LearnResult.joined(results)
        measured = meter.measured(network, learnt, params)
        calibration = calibration_after(calibration, [measured])
        learnt = learnt.of(shown.first)
        member = FittedMember(network, after, mapping, params, calibration)
        boxes = self._boxes_of(learnt, order)
        model = FittedModel(columns, (member,), after, calibration, labels=boxes, checked=checked)
        if not is_member:
            model = model.with_reader(self._name, before)
            assert model.reader is not None
            found = Measurements.of(learnt, params.vigilance, codes if self._has_classes else None, predicted)
            model = changed(model, drift=drift_after(drift, table, found, model.reader, after.seen))
        return model, learnt, measured

    def _boxes_of(self, learnt: LearnResult, order: slice | IntArray) -> IntArray | None:
        """Return the box of each sample in the original order, for a model without classes."""
        if self._has_classes:
            return None
        boxes = np.empty(len(learnt.nodes), dtype=np.int64)
        boxes[order] = learnt.nodes
        return boxes

    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        order = self._order(labels, random_of_part(self.random_state, number))
        return replace(self._fit_table(columns, table, labels, order, shared=shared)[0], labels=None)

    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        return {
            **state_of(model, samples=samples),
            "network": model.network.to_state(),
            "learnt_with": model.members[0].params.to_state(),
            **novelty_state(model, samples=samples),
        }

    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        self.__sslart_take__(self._restored(state))

    def _restored(self, state: dict[str, Any]) -> FittedModel:
        """Restore the model from a saved state after validating it."""
        columns, n_columns = columns_of(state)
        network = Network.from_state(state["network"], n_columns)
        params = LearningParams.from_state(state["learnt_with"])
        calibration = NoveltyCalibration.from_state(state["novelty"], [network])
        class_table = self._restored_classes(state, network)
        mapping = self._restored_mapping(state, network, class_table, params)
        member = FittedMember(network, class_table, mapping, params, calibration)
        return FittedModel(columns, (member,), class_table, calibration, **drift_and_audit(state, n_columns))

    def _restored_classes(self, state: dict[str, Any], network: Network) -> ClassTable:
        return ClassTable()

    def _restored_mapping(
        self, state: dict[str, Any], network: Network, class_table: ClassTable, params: LearningParams
    ) -> Mapping:
        """Restore the mapping from a saved state after validating it."""
        return self._new_mapping()
