"""The classifiers that are one network each: learning in stages, and the view of the model."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping as Attributes
from dataclasses import replace
from typing import Any, Self

import numpy as np

from sslart._art.calibration import LeftOut, Measured, NoveltyCalibration
from sslart._art.learn_result import LearningParams, LearnResult
from sslart._art.network import NO_LIMIT, Network
from sslart._data.classes import ClassTable
from sslart._data.columns.plan import ATTRIBUTE, NO_PLAN
from sslart._data.labels import UNLABELLED, Labels
from sslart._data.presentations import Presentations
from sslart._data.samples import Table
from sslart._drift.monitor import NO_DRIFT, Learnt
from sslart._mapping.base import Effort, Mapping
from sslart._mapping.decision_rules import check_costs, cost_matrix
from sslart._mapping.mergeable_state import Shared
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import IntArray
from sslart._utils.params import check_jobs
from sslart.estimators._base import ARTEstimator, columns_of, drift_after, drift_of, random_of_part
from sslart.estimators._classifier import AbstainingClassifier
from sslart.estimators._fitted import Checked, FittedMember, FittedModel
from sslart.estimators._novelty import FitMeter, calibration_after, calibration_of, settled
from sslart.estimators._published import turn_of
from sslart.estimators._rows import NO_CODE, after_row, code_of_row


class ARTClassifier(AbstainingClassifier, ARTEstimator):
    """Base of the classifiers that are one network each."""

    random_state: Any

    @abstractmethod
    def _new_mapping(self) -> Mapping:
        """Return the mapping of a model that has learnt nothing yet."""

    def _mapping_to_update(self, before: FittedModel) -> Mapping:
        """Return the mapping that continues learning after a parameter has been set."""
        return before.mapping

    def _new_view(self, model: FittedModel) -> ModelView:
        assert model.reader is not None
        one, n_jobs = model.members[0], check_jobs(self._name, self.n_jobs)
        member = MemberView(None, one.network, one.class_table, one.params_in_use, one.mapping, n_jobs)
        return ModelView(
            self._name,
            (member,),
            None,
            model.class_table,
            model.reader,
            self._search_depth(),
            self._min_probability(),
            decision_costs=self._cost_matrix(model.class_table, lambda: member.counts.sum(axis=0)),
            max_error=self._error_levels(model.class_table),
            calibration=model.calibration,
        )

    def _check_prediction_params(self) -> None:
        self._search_depth()
        self._min_probability()
        check_costs(self._name, self.decision_costs)
        self._check_max_error()

    def _check_weights(self, labels: Labels) -> None:
        """Raise a ValueError where samples have weights that the mapping cannot take."""
        weights = labels.weights
        if weights is not None and not self._new_mapping().uses_evidence and (weights != np.rint(weights)).any():
            raise ValueError(
                f"sample_weight of {self._name} must be whole numbers unless mapping='evidence': boxes count samples, "
                "and a weight of 2 is the sample twice. Round the weights, or use evidence mapping, which takes any "
                "weights."
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
        self._check_prediction_params()
        params, mapping = self._learning_params(), self._new_mapping()
        if shared is None:
            encoder = self._first_encoder(table, Presentations(labels.presentations).rows, stream=False)
            shared, choose = Shared(encoder, ClassTable().learning(labels[order])), Effort.CAREFUL
        else:
            choose = Effort.NONE
        class_table = shared.class_table
        cost_matrix(self._name, self.decision_costs, class_table.classes)
        self._check_max_error(class_table.classes)
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
        return FittedModel(columns, (member,), class_table, calibration), measured

    def _partial_fit_table(
        self,
        before: FittedModel | None,
        columns: Attributes[str, Any],
        table: Table,
        labels: Labels,
        declared: Labels | None,
        order: slice | IntArray = slice(None),
        *,
        checked: Checked,
        is_member: bool = False,
        stop: Any = None,
    ) -> tuple[FittedModel, LearnResult, Measured | LeftOut | None]:
        """Learn a table in the given order; return the new model, the result per sample, and the measured fits.

        A member of an ensemble predicts labelled samples as `predict` does before it learns them; others predict them
        by the box that takes them, where that has a label and the mapping has no prediction, and watch for drift.
        """
        params = checked.params
        if before is None:
            self._check_prediction_params()
            mapping, drift, class_table = self._new_mapping(), NO_DRIFT, ClassTable()
            network = Network(self._first_encoder(table, Presentations(labels.presentations).rows, stream=True))
            calibration: NoveltyCalibration | None = NoveltyCalibration.of_stream()
        else:
            mapping = before.mapping if checked is before.checked else self._mapping_to_update(before)
            drift, class_table, network, calibration = (
                before.drift,
                before.class_table,
                before.network,
                before.calibration,
            )
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
                predict_depth=NO_LIMIT,
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
        model = FittedModel(columns, (member,), after, calibration, checked=checked)
        if not is_member:
            model = model.with_reader(self._name, before)
            assert model.reader is not None
            found = Learnt.of(learnt, params.vigilance, codes, predicted)
            model = replace(model, drift=drift_after(drift, table, found, model.reader, after.seen))
        return model, learnt, measured

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, *, groups: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn further labelled and unlabelled samples, in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,), default=None
            Classes; -1, None or NaN where unlabelled. None: all unlabelled. New classes may appear at any time.
        classes : array-like, default=None
            Classes to expect, so that `predict_proba` has a column for each from the start.
        groups, sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`. A group may come in several calls.
        """
        with turn_of(self):
            before: FittedModel | None = vars(self).get("_model")
            checked = self._checked(before)
            if before is not None and classes is None and groups is None and sample_weight is None:
                model = self._after_row(before, X, y, checked)
                if model is not None:
                    self._publish(model, before)
                    return self
            columns, table, labels, declared = self._read_stream(before, X, y, classes, groups, sample_weight)
            self._check_weights(labels)
            model, _, _ = self._partial_fit_table(before, columns, table, labels, declared, checked=checked)
            self._publish(model, before)
        return self

    def _after_row(self, before: FittedModel, X: Any, y: Any, checked: Checked) -> FittedModel | None:
        """Return the model after one row; None where that has to be learnt as others are."""
        classes, mapping = before.class_table, before.mapping
        code = UNLABELLED if y is None else code_of_row(y, classes)
        if checked is not before.checked or code is None:
            return None
        codes = NO_CODE if code == UNLABELLED else np.array([code])
        if mapping.segment(codes, len(classes.seen)).choose is not Effort.NONE:
            return None

        def mapping_after(network: Network, table: Table) -> Mapping:
            if code == UNLABELLED:
                return mapping.after_unlabelled(classes)
            labels = Labels(codes, np.ones(1, dtype=bool))
            return mapping.learned(network, classes, table, codes, labels, choose=Effort.NONE, is_last=True)

        return after_row(before, X, checked, code=code, mapping_after=mapping_after)

    def __sslart_check__(self) -> None:
        super().__sslart_check__()
        self._check_prediction_params()

    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        self._check_weights(labels)
        order = self._order(labels, random_of_part(self.random_state, number))
        return self._fit_table(columns, table, labels, order, shared=shared)[0]

    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        return {**super()._state_of(model, samples=samples, promises=promises), **model.class_table.to_state()}

    def _restored(self, state: dict[str, Any]) -> FittedModel:
        columns = columns_of(state)
        n_columns = columns.get(ATTRIBUTE, NO_PLAN).n_columns(columns["n_features_in_"])
        network, params = (
            Network.from_state(state["network"], n_columns),
            LearningParams.from_state(state["learnt_with"]),
        )
        calibration, class_table = calibration_of(state, [network]), ClassTable.from_state(state)
        counts, may_have_faded = network.nodes.counts, network.nodes.n_learnt is not None
        if len(class_table.seen) != counts.shape[1] or not (may_have_faded or counts.any(axis=0).all()):
            raise ValueError("the classes of the model do not fit its counts")
        mapping = self._restored_mapping(state, network, class_table, params)
        member = FittedMember(network, class_table, mapping, params, calibration)
        return FittedModel(columns, (member,), class_table, calibration, **drift_of(state, n_columns))

    @abstractmethod
    def _restored_mapping(
        self, state: dict[str, Any], network: Network, class_table: ClassTable, params: LearningParams
    ) -> Mapping:
        """Return the mapping of a saved state, after checking that it can be one."""
