"""Classifiers of one network: their base, and FuzzyARTMAP with one class per box."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping as Attributes
from dataclasses import replace
from typing import Any, Self

import numpy as np

from sslart._art.boxes import NO_LIMIT
from sslart._art.learning import LearningParams, LearnResult
from sslart._art.network import Network
from sslart._art.novelty import LeftOut, Measured, NoveltyCalibration
from sslart._data.columns import ATTRIBUTE, NO_PLAN
from sslart._data.labels import UNLABELLED, ClassTable, Labels, Presentations
from sslart._data.samples import Table, known_columns
from sslart._data.training import read_training
from sslart._drift.monitor import NO_DRIFT, Measurements
from sslart._mapping.base import CountsMapping, Effort, Mapping
from sslart._mapping.decision_rules import check_costs, cost_matrix
from sslart._mapping.mergeable_state import Shared
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import IntArray
from sslart._utils.validation import check_jobs, check_number
from sslart.estimators._base import ARTEstimator, columns_of, drift_of, random_of_part
from sslart.estimators._classifier import AbstainingClassifier
from sslart.estimators._fitted import Checked, FittedMember, FittedModel, turn_of
from sslart.estimators._learning import (
    NO_CODE,
    FitMeter,
    after_row,
    calibration_after,
    calibration_of,
    code_of_row,
    drift_after,
    settled,
)


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
            found = Measurements.of(learnt, params.vigilance, codes, predicted)
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


class FuzzyARTMAP(ARTClassifier):
    """Fuzzy ARTMAP: a supervised classifier that learns boxes of one class each, in one pass.

    Parameters
    ----------
    vigilance : float, default=0.0
        ρ in [0, 1]: how alike the samples of one box must be. Higher makes more and smaller boxes.
    max_nodes : int or None, default=None
        The most boxes that there may be, from 2 up. Where there is no room for a new box, those that lie closest
        together are joined, and vigilance is lowered by as much as that takes: see `vigilance_`. None: no limit.
    choice : float, default=1e-3
        α > 0: prefers larger boxes as it grows.
    learning_rate : float, default=1.0
        β in (0, 1]: how far a box moves towards a sample; 1 grows it to hold the sample at once.
    match_tracking : float, default=1e-6
        δ ≥ 0: by how much vigilance rises above the match of a box of the wrong class.
    half_life : float or None, default=None
        In `partial_fit`, after how many further samples a sample counts half, from 1 up: supports and counts decrease
        with age, and boxes that no sample has reached for long are dropped. `fit` forgets nothing. None: nothing is
        forgotten.
    bounds : (lower, upper), default=None
        Range of the features where it is known in advance; two numbers, or two sequences with one per feature.
        None takes the range of the data of the first call. Values outside widen it.
    scaling : {"range", "rank"}, default="range"
        How numeric features are scaled to [0, 1]: by their range, as in the paper, or by the rank of a value among
        those of the first call, for features of which most values lie close together and a few far away.
    shuffle : bool, default=False
        Whether `fit` takes the samples in a random order instead of the given one.
    random_state : int, RandomState instance or None, default=None
        Seeds that order.
    n_jobs : int or None, default=None
        How many threads predictions are made in; None is 1, -1 all cores. Results do not depend on it.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_nodes_, n_nodes_stage1_, n_labelled_nodes_ : int
        Number of boxes; all of them are labelled, none is of stage 1.
    vigilance_ : float
        The vigilance in use: lower than `vigilance` where boxes have been joined because of `max_nodes`.
    lower_, upper_ : arrays of shape (n_nodes, n_coded_features)
        The boxes in the user's units.
    counts_ : array of shape (n_nodes, n_classes)
        How many samples of each class each box learnt.
    node_labels_ : array of shape (n_nodes,)
        Class of each box.
    support_ : array of shape (n_nodes,)
        Samples learnt by each box.
    novelty_threshold_ : float
        A sample whose `score_samples` is lower is novel: of samples like those learnt, at most 5 in 100 are.
    drift_ : list of DriftEvent
        The drifts that `partial_fit` has found in a stream since the last `fit`.
    scaling_ : list of str
        How each feature is scaled: "range", "rank", or "category" where it is not a number.
    coded_feature_names_ : list of str
        Names of the columns of `lower_` and `upper_`.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where X had string names.

    Examples
    --------
    >>> from sslart import FuzzyARTMAP
    >>> X = [[0, 0], [1, 1], [9, 9], [10, 10]]
    >>> model = FuzzyARTMAP().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[2, 1], [8, 9]])
    array(['low', 'high'], dtype='<U4')
    >>> model.n_nodes_
    2
    """

    def __init__(
        self,
        vigilance: float = 0.0,
        *,
        max_nodes: int | None = None,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
        match_tracking: float = 1e-6,
        half_life: float | None = None,
        bounds: Any = None,
        scaling: str = "range",
        shuffle: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.vigilance = vigilance
        self.max_nodes = max_nodes
        self.choice = choice
        self.learning_rate = learning_rate
        self.match_tracking = match_tracking
        self.half_life = half_life
        self.bounds = bounds
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _new_mapping(self) -> CountsMapping:
        return CountsMapping(one_to_one=True)

    def _learning_params(self) -> LearningParams:
        tracking = check_number(self._name, "match_tracking", self.match_tracking, 0)
        return self._common_params(tracking, one_to_one=True)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn afresh.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes: integers, strings or booleans, one for every sample.
        """
        with turn_of(self):
            reader = self._first_reader()
            table, labels = read_training(reader, X, y, scaling=self.scaling, gaps=False)
            refuse_gaps(int((~labels.known).sum()))
            checked = self._checked(None)
            model, _ = self._fit_table(known_columns(reader), table, labels, self._order(labels, self.random_state))
            self._publish(replace(model, checked=checked))
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # type: ignore[override]
        """Learn further labelled samples, in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes, one for every sample. New classes may appear at any time.
        classes : array-like, default=None
            Classes to expect, so that `predict_proba` has a column for each from the start.
        """
        return super().partial_fit(X, y, classes)

    def _read_stream(self, *args: Any) -> Any:
        found = super()._read_stream(*args)
        refuse_gaps(int((~found[2].known).sum()))
        return found

    def _restored_mapping(self, *args: Any) -> CountsMapping:
        return self._new_mapping()


def refuse_gaps(n_unlabelled: int) -> None:
    """Raise a ValueError where samples have no label."""
    if n_unlabelled:
        raise ValueError(
            f"y has {n_unlabelled} unlabelled sample(s) (-1, None or NaN). FuzzyARTMAP needs a label for every sample: "
            "use SSLART to learn from unlabelled samples too, or drop them. If -1 is a class, give it another name."
        )
