"""FuzzyART: one-pass clustering into boxes."""

from __future__ import annotations

from collections.abc import Mapping as Attributes
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from sslart._art.boxes import NO_LIMIT
from sslart._art.learning import LearningParams, LearnResult
from sslart._art.network import Network
from sslart._art.novelty import LeftOut, Measured, NoveltyCalibration
from sslart._data.encoder import Encoder
from sslart._data.labels import UNLABELLED, ClassTable, Labels, Presentations
from sslart._data.outliers import warn_of_outliers
from sslart._data.samples import SampleReader, Table, known_columns, read_samples
from sslart._data.scaling import first_encoder
from sslart._drift.monitor import NO_DRIFT, Measurements
from sslart._mapping.base import CountsMapping, Effort, Mapping
from sslart._mapping.mergeable_state import Shared
from sslart._utils.arrays import IntArray
from sslart._utils.cache import changed
from sslart._utils.validation import check_half_life
from sslart.estimators._base import RawSamplesEstimator, StreamSamples, random_of_part
from sslart.estimators._fitted import (
    Checked,
    FittedMember,
    FittedModel,
    columns_of,
    drift_of,
    novelty_state,
    state_of,
    turn_of,
)
from sslart.estimators._learning import FitMeter, after_row, calibration_after, drift_after, settled
from sslart.estimators._parameters import documented


class ARTEstimator(RawSamplesEstimator):
    """Base of the estimators that are one network each."""

    match_tracking = 0.0
    _has_classes = False

    def _one_to_one(self) -> bool:
        """Return True if a box serves one class only."""
        return False

    def _new_mapping(self) -> Mapping:
        """Return the mapping of a model that has learnt nothing yet."""
        return CountsMapping(self._one_to_one())

    def _mapping_to_update(self, before: FittedModel) -> Mapping:
        """Return the mapping that continues learning after a parameter has been set."""
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
        """Return the encoder to start with; `shown`: the rows of the table, each as often as boxes learn it."""
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
        """Return a model that has learnt a table afresh, and how well its samples fitted.

        The order has the unlabelled samples before the labelled ones. Of a part of a table, `shared` is common to all
        parts; no settings are chosen then.
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

        A member of an ensemble predicts labelled samples as `predict` does before it learns them; others predict them
        by the box that takes them, where that has a label and the mapping has no prediction, and watch for drift.
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
        """Return the box of each sample, as a model without classes keeps it, given the order of learning."""
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
        """Return the model of a saved state, after checking that it can be one."""
        columns, n_columns = columns_of(state)
        network = Network.from_state(state["network"], n_columns)
        params = LearningParams.from_state(state["learnt_with"])
        calibration = NoveltyCalibration.from_state(state["novelty"], [network])
        class_table = self._restored_classes(state, network)
        mapping = self._restored_mapping(state, network, class_table, params)
        member = FittedMember(network, class_table, mapping, params, calibration)
        return FittedModel(columns, (member,), class_table, calibration, drift=drift_of(state, n_columns))

    def _restored_classes(self, state: dict[str, Any], network: Network) -> ClassTable:
        return ClassTable()

    def _restored_mapping(
        self, state: dict[str, Any], network: Network, class_table: ClassTable, params: LearningParams
    ) -> Mapping:
        """Return the mapping of a saved state, after checking that it can be one."""
        return self._new_mapping()


@documented
class FuzzyART(ClusterMixin, ARTEstimator):
    """Fuzzy ART: clusters samples into boxes in one pass, online, with no number of clusters to set.

    Examples
    --------
    >>> from sslart import FuzzyART
    >>> X = [[0, 0], [1, 1], [9, 9], [10, 10]]
    >>> art = FuzzyART(vigilance=0.8).fit(X)
    >>> art.labels_
    array([0, 0, 1, 1])
    >>> art.lower_, art.upper_
    (array([[0., 0.],
           [9., 9.]]), array([[ 1.,  1.],
           [10., 10.]]))
    >>> art.score_samples([[0, 1], [5, 5]]).round(2)
    array([0.9, 0.5])
    """

    def __init__(
        self,
        vigilance: float = 0.75,
        *,
        max_nodes: int | None = None,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
        half_life: float | None = None,
        bounds: Any = None,
        scaling: str = "range",
        shuffle: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self._set(locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples afresh.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        with turn_of(self):
            checked, reader = self._checked(None), SampleReader(self._name)
            table = read_samples(reader, X, reset=True, leave_out=True)
            warn_of_outliers(table, table, self.scaling)
            labels = Labels.none(len(table))
            order = self._order(labels, self.random_state)
            model, _ = self._fit_table(known_columns(reader), table, labels, order)
            self._publish(replace(model, checked=checked))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn further samples, in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        with turn_of(self):
            before: FittedModel | None = vars(self).get("_model")
            checked = self._checked(before)
            model = None if before is None else after_row(before, X, checked)
            if model is None:
                columns, table = self._read_further(before, X)
                samples = StreamSamples(columns, table, Labels.none(len(table)))
                model, _, _ = self._learn_stream(before, samples, checked)
            self._publish(model, before)
        return self

    @property
    def labels_(self) -> IntArray:
        """Box of each sample of the last call that learnt; -1 where it was dropped since, by `half_life`."""
        labels = self._fitted().labels
        if labels is None:
            raise AttributeError("A model that was loaded or merged has no labels_: they belong to the samples learnt.")
        return labels.copy()

    def predict(self, X: Any) -> IntArray:
        """Return the index of the box of highest choice for each sample, without learning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        view = self.__sslart_view__()
        table, member = view.read(X), view.members[0]
        return member.network.rank(table, member.params.choice, n_jobs=member.n_jobs)[0][:, 0]
