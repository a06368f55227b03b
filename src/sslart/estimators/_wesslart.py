"""WESSLART: a voting ensemble of SSL-ART members that learn the same samples in different orders."""

from __future__ import annotations

from collections.abc import Mapping as Attributes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from sslart._art.boxes import Fading, LearningParams
from sslart._art.novelty import LeftOut, Measured, NoveltyCalibration
from sslart._data.columns import ATTRIBUTE, NO_PLAN
from sslart._data.labels import UNLABELLED, Beside, ClassTable, Labels, Presentations, read_labels
from sslart._data.samples import SampleReader, Table, known_columns, read_samples
from sslart._data.training import read_training
from sslart._drift.monitor import NO_DRIFT, Measurements
from sslart._mapping.ensemble_votes import MIN_CLASS_WEIGHT, VotingRecord, held_out
from sslart._mapping.loo_predictions import identities
from sslart._mapping.mergeable_state import LabelledRows, Shared
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import BoolArray, FloatArray
from sslart._utils.resources import run_parallel
from sslart._utils.validation import (
    MAX_SEED,
    saved_whole,
)
from sslart.estimators._base import LATER, StreamSamples, random_of_part
from sslart.estimators._classifier import GuaranteedClassifier
from sslart.estimators._fitted import (
    Checked,
    FittedMember,
    FittedModel,
    available,
    columns_of,
    drift_and_audit,
    novelty_state,
    state_of,
    turn_of,
)
from sslart.estimators._learning import calibration_after, drift_after, settled
from sslart.estimators._parameters import LABELLED, documented, parameters_of
from sslart.estimators._sslart import SSLART, evidence_of, grouped_by_dependence

# parameters that members do not have
OF_THE_VOTE = {"abstain_below", "max_error", "confidence", "decision_costs", "random_state", "n_jobs"}
MEMBER_PARAMETERS = tuple(name for name in parameters_of(SSLART) if name not in OF_THE_VOTE)

Fits = tuple[Measured | LeftOut | None, ...]  # of the samples of a call, by member


@documented
class WESSLART(GuaranteedClassifier):
    """WESSL-ART: a weighted vote over SSL-ART members trained on different sequences of the same samples.

    The vote of a member for a class is weighted by its accuracy on that class. Members differ only in the order of
    samples.

    Notes
    -----
    By default the class weights are measured on training samples, so they are optimistic. At a high vigilance they are
    close to one, and the weighted vote seldom differs from the majority vote. `validation` or `validation_set` measures
    them on samples that no member learns.

    In a stream every labelled sample is first predicted by each member and then learnt. The resulting counts per class
    are added to those of `fit`: after `fit` with ``validation="labelled"`` the weights mix predictions of training
    samples with predictions of new ones. They are based on new samples only if learning starts with `partial_fit`, or
    if `fit` measures them on held-out samples.

    All members learn the stream in its order; they differ by `fit`, or by the first call of `partial_fit`, which each
    member learns in a different order unless `bounds` makes the result independent of how the stream is split.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sslart import WESSLART
    >>> X, y = load_wine(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(len(y)) if i % 5]] = -1  # keep one label in five
    >>> model = WESSLART(vigilance=0.8, random_state=0).fit(X, few)
    >>> model.predict(X[::60])
    array([0, 1, 1])
    >>> model.predict_proba(X[:1]).round(2)
    array([[1., 0., 0.]])
    """

    __metadata_request__fit = __metadata_request__partial_fit = {"groups": True}  # noqa: RUF012

    def __init__(
        self,
        n_members: int = 7,
        *,
        voting: str = "weighted",
        quorum: int = 1,
        validation: str | float = "labelled",
        n_jobs: int | None = None,
        vigilance: float = 0.9,
        max_nodes: int | None = None,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
        mapping: str = "one-to-many",
        match_tracking: float = 1e-6,
        search_depth: int | None = None,
        abstain_below: float | None = None,
        max_error: float | dict[Any, float] | None = None,
        confidence: float | None = 0.9,
        decision_costs: Any = None,
        families: Any = None,
        bandwidth: float | None = None,
        ridge: float | None = None,
        rank_weight: float | None = None,
        max_labels: int = 50_000,
        half_life: float | str | None = None,
        bounds: Any = None,
        scaling: str = "range",
        shuffle: bool = True,
        random_state: Any = None,
    ) -> None:
        self._set(locals())

    def fit(
        self,
        X: Any,
        y: Any,
        validation_set: Any = None,
        *,
        groups: Any = None,
        sample_weight: Any = None,
        answers: Any = None,
        at_random: Any = None,
    ) -> Self:
        """Fit from scratch, each member in a different order, and estimate the class weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes: integers, strings or booleans; -1, None or NaN where unlabelled.
        validation_set : (X_val, y_val), default=None
            Samples that no member learns, to measure the class weights; overrides `validation`.
        groups, sample_weight, answers, at_random : array-like of shape (n_samples,), default=None
            Groups of dependent samples, sample weights, and the origin of labels: see `SSLART.fit`.
        """
        with turn_of(self):
            checked, reader = self._checked(None), SampleReader(self._name)
            beside = Beside(groups, sample_weight, answers, at_random)
            table, labels = read_training(reader, X, y, scaling=self.scaling, beside=beside)
            self._check_weights(labels)
            self._check_validation(validation_set)
            random = check_random_state(self.random_state)
            apart = self._held_out(table, labels, random, validation_set)
            training, training_labels = table[~apart], labels[~apart]
            class_table = ClassTable().learning(training_labels)
            self._check_classes(class_table)
            validation, validation_labels = table[labels.known], labels[labels.known]
            if validation_set is not None:
                validation, validation_labels = read_validation_set(reader, table, class_table, validation_set)
            elif apart.any():
                validation, validation_labels = table[apart], labels[apart]
            columns, estimators = known_columns(reader), self._new_members(random)
            members, measured = self._fit_members(
                estimators, columns, training, training_labels, [one.random_state for one in estimators]
            )
            record = VotingRecord.none(len(members), class_table)
            if not self._uses_evidence():
                record = self._record(members, validation, validation_labels, class_table)
            calibration = calibration_after(None, measured)
            model = FittedModel(columns, members, class_table, calibration, record, checked=checked)
            self._publish(grouped_by_dependence(model, training_labels))
        return self

    def _fit_members(
        self,
        estimators: Sequence[SSLART],
        columns: Attributes[str, Any],
        table: Table,
        labels: Labels,
        random_states: Sequence[Any],
        shared: Shared | None = None,
    ) -> tuple[tuple[FittedMember, ...], Fits]:
        """Fit members to a table from scratch, each in a different order; return them and the measured fits."""

        def learn(place: int, stop: Any) -> tuple[FittedMember, Measured | LeftOut | None]:
            one = estimators[place]
            order = one._order(labels, random_states[place])
            model, measured = one._fit_table(columns, table, labels, order, stop, shared)
            return replace(model.members[0], seed=one.random_state), measured

        members, measured = zip(*run_parallel(learn, range(len(estimators)), self._check("n_jobs")), strict=True)
        return members, measured

    def _after_samples(self, before: FittedModel | None, samples: StreamSamples, checked: Checked) -> FittedModel:
        columns, table, labels, declared = samples
        members = self._members_to_update(before, self.random_state)
        own_orders = before is None and self.bounds is None and self.shuffle
        known = ClassTable() if before is None else before.class_table
        class_table = (known if declared is None else known.declaring(declared)).learning(labels)
        half_life = checked.params.half_life
        n_before = 0 if before is None else before.network.nodes.n_samples
        calibration = NoveltyCalibration.of_stream(len(members)) if before is None else before.calibration
        calibration = settled(calibration, half_life)
        orders = [
            check_random_state(member.random_state).permutation(len(table)) if own_orders else np.arange(len(table))
            for member in members
        ]

        def learn(place: int, stop: Any) -> tuple[FittedMember, Measured | LeftOut | None, BoolArray, FloatArray]:
            """Return a member, and the fits, correct predictions and novelty of the samples before it learnt them."""
            estimator, order = members[place], orders[place]
            own = None if before is None else before.of_member(place)
            model, learnt, measured = estimator._learn_stream(own, samples, checked, order, is_member=True, stop=stop)
            codes = model.class_table.codes(labels[order])
            right, novelty = np.empty(len(order), dtype=bool), np.empty(len(order))
            right[order] = (codes != UNLABELLED) & (learnt.predicted == codes)
            novelty[order] = Measurements.of(learnt, checked.params.vigilance).novelty
            return replace(model.members[0], seed=estimator.random_state), measured, right, novelty

        learnt = run_parallel(learn, range(len(members)), self._check("n_jobs"))
        fitted, measured, rights, novelties = zip(*learnt, strict=True)
        calibration, right = calibration_after(calibration, measured), np.array(rights)
        fading = None if half_life is None else Fading(half_life)
        record = VotingRecord.none(len(members), class_table) if before is None else before.record
        assert record is not None
        record = record.after(None if self._uses_evidence() else right, class_table, labels, fading, n_before)
        model = FittedModel(columns, fitted, class_table, calibration, record, checked=checked)
        model = model.with_reader(self._name, before)
        assert model.reader is not None
        found = Measurements.of_members(np.mean(novelties, axis=0), right, class_table.codes(labels))
        drift = NO_DRIFT if before is None else before.drift
        drift = drift_after(drift, table, found, model.reader, class_table.seen)
        return replace(model, drift=drift)

    def _check_weights(self, labels: Labels) -> None:
        self._new_member(0)._check_weights(labels)

    def _learning_params(self) -> LearningParams:
        self._check_parameters(predicts=False)
        self._check_parameters(predicts=True)
        return self._new_member(0)._learning_params()

    def _check_parameters(self, *, predicts: bool) -> None:
        super()._check_parameters(predicts=predicts)
        if predicts:
            self._quorum(self._check("n_members"))

    def __sslart_check__(self) -> None:
        super().__sslart_check__()
        self._check_validation()

    def _check_validation(self, validation_set: Any = None) -> None:
        if self._uses_evidence() and (validation_set is not None or self.validation != LABELLED):
            raise ValueError(
                "With mapping='evidence' WESSLART measures its class weights by leave-one-out: leave validation at "
                "'labelled' and give no validation_set."
            )

    @property
    def estimators_(self) -> list[SSLART]:
        """The members, each as a single model."""
        model, estimators = self._fitted(), []
        for place, member in enumerate(model.members):
            estimators.append(self._new_member(member.seed or 0))
            estimators[-1]._publish(model.of_member(place))
        return estimators

    def _new_member(self, seed: int) -> SSLART:
        return SSLART(random_state=seed, **{name: getattr(self, name) for name in MEMBER_PARAMETERS})

    def _new_members(self, random: np.random.RandomState) -> list[SSLART]:
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_members)
        return [self._new_member(int(seed)) for seed in seeds]

    def _members_to_update(self, before: FittedModel | None, random_state: Any) -> list[SSLART]:
        """Return estimators for the members of a model, or new ones if there is no model."""
        if before is None:
            return self._new_members(check_random_state(random_state))
        return [self._new_member(one.seed or 0) for one in before.members]

    def _decisions(self, model: FittedModel, members: tuple[MemberView, ...]) -> dict[str, Any]:
        voting = self._check("voting")
        return {
            **super()._decisions(model, members),
            "weigh_votes": lambda: self._vote_weights(model, voting),
            "quorum": self._quorum(len(members)),
        }

    def _quorum(self, n_members: int) -> int:
        quorum: int = self._check("quorum")
        if quorum > n_members:
            raise ValueError(
                f"quorum of {self._name} must be at most the number of members, {n_members}, got {quorum}: with more "
                "it would never predict."
            )
        return quorum

    @property
    @available
    def class_weights_(self) -> FloatArray:
        """We_c^m, shape (n_members, n_classes): accuracy of member m on the validation samples of class c.

        For a class without samples, the accuracy over all classes.
        """
        return self._class_weights(self._fitted())

    def _class_weights(self, model: FittedModel) -> FloatArray:
        if model.mapping.uses_evidence:
            return np.array([evidence_of(self._name, one.mapping).loo_recall() for one in model.members])
        assert model.record is not None
        return model.record.weights(model.class_table)

    def _vote_weights(self, model: FittedModel, voting: str) -> FloatArray:
        """Return the vote weight of each member for each class."""
        if voting != "weighted":
            return np.ones((len(model.members), len(model.class_table.classes)))
        weights = self._class_weights(model)
        return np.maximum(weights, MIN_CLASS_WEIGHT) if model.mapping.uses_evidence else weights

    def _record(
        self, members: Sequence[FittedMember], table: Table, labels: Labels, class_table: ClassTable
    ) -> VotingRecord:
        """Return the counts of correct votes of the members on labelled samples, without a limit of search depth."""
        shown = Presentations(labels.presentations).rows
        table, labels, n_jobs = table[shown], labels[shown], self._check("n_jobs")
        views = [one.view(None, n_jobs) for one in members]
        votes = np.array([one.label_of(one.first_labelled(one.encode(table))) for one in views])
        return VotingRecord.of_votes(votes, class_table, labels)

    def _held_out(self, table: Table, labels: Labels, random: np.random.RandomState, validation_set: Any) -> BoolArray:
        if validation_set is not None or isinstance(self.validation, str):
            return np.zeros(len(labels.known), dtype=bool)
        return held_out(labels, float(self.validation), table, int(random.randint(np.iinfo(np.int32).max)))

    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        assert model.record is not None
        promises = promises or self.max_error is not None
        whole = model if samples else without_samples(model)
        return {
            **state_of(model, samples=samples),
            "members": [
                {
                    "seed": one.seed,
                    **self._new_member(one.seed or 0)._state_of(
                        whole.of_member(place), samples=samples, promises=promises
                    ),
                }
                for place, one in enumerate(model.members)
            ],
            "successes": model.record.successes,
            "trials": model.record.trials,
            **novelty_state(model, samples=samples),
            **model.class_table.to_state(),
        }

    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        estimators = self._new_members(check_random_state(self.random_state))
        self._check_weights(labels)
        random_states = [random_of_part(one.random_state, number) for one in estimators]
        members, measured = self._fit_members(estimators, columns, table, labels, random_states, shared)
        record = VotingRecord.none(len(members), shared.class_table)
        return FittedModel(columns, members, shared.class_table, calibration_after(None, measured), record)

    def __sslart_learns_later__(self) -> int:
        return self._new_member(0).__sslart_learns_later__()

    def __sslart_learn_later__(self, columns: Attributes[str, Any], rows: LabelledRows) -> None:
        """Learn the labelled samples of all parts, each member in a different order, and set the vote weights."""
        table, labels = rows.table, rows.labels
        before: FittedModel | None = vars(self).get("_model")
        estimators = self._members_to_update(before, rows.seed)
        self._check_weights(labels)
        apart = np.zeros(len(table), dtype=bool)
        if self.validation != LABELLED:
            try:
                apart = held_out(labels, float(self.validation), table, rows.seed)
            except ValueError:
                if before is None or before.record is None or not before.record.trials.any():
                    raise  # class weights are not known yet
        training, training_labels = table[~apart], labels[~apart]
        calibration = None if before is None else settled(before.calibration, None)

        def learn(place: int, stop: Any) -> tuple[FittedMember, Measured | LeftOut | None]:
            estimator = estimators[place]
            member = None if before is None else before.members[place]
            random = random_of_part(estimator.random_state, LATER)
            learnt, measured = estimator._learn_labelled(
                member, columns, training, training_labels, random, rows.shared, calibration, stop
            )
            return replace(learnt, seed=estimator.random_state), measured

        members, measured = zip(*run_parallel(learn, range(len(estimators)), self._check("n_jobs")), strict=True)
        class_table: ClassTable = members[0].class_table
        tried = labels.known if self.validation == LABELLED else apart
        record = self._record(members, table[tried], labels[tried], class_table)
        if before is not None and before.record is not None:
            record = before.record + record
        self.__sslart_take__(
            FittedModel(columns, members, class_table, calibration_after(calibration, measured), record)
        )

    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        (columns, n_columns), class_table = columns_of(state), ClassTable.from_state(state)
        record = VotingRecord.from_state(state, len(state["members"]), len(class_table.seen))
        seeds = [saved_whole(one, "seed", 0, MAX_SEED - 1) for one in state["members"]]
        models = [self._new_member(seed)._restored(one) for seed, one in zip(seeds, state["members"], strict=True)]
        plan, first = columns.get(ATTRIBUTE, NO_PLAN), models[0]
        for model in models:
            if (
                set(model.class_table.seen) != set(class_table.seen)
                or set(model.class_table.declared) != set(class_table.declared)
                or model.names != state["feature_names_in"]
                or model.n_features != columns["n_features_in_"]
                or model.plan != plan
                or model.encoder.categorical != first.encoder.categorical
                or model.mapping.uses_evidence != first.mapping.uses_evidence
            ):
                raise ValueError("the members of the model do not fit together")
        calibration = NoveltyCalibration.from_state(state["novelty"], [model.network for model in models])
        members = tuple(replace(one.members[0], seed=seed) for one, seed in zip(models, seeds, strict=True))
        further = drift_and_audit(state, n_columns)
        self.__sslart_take__(FittedModel(columns, members, class_table, calibration, record, **further))


def read_validation_set(
    reader: SampleReader, table: Table, class_table: ClassTable, validation_set: Any
) -> tuple[Table, Labels]:
    """Validate a validation set and return its labelled samples."""
    try:
        X, y = validation_set
    except (TypeError, ValueError):
        raise ValueError("validation_set must be a pair (X_val, y_val).") from None
    own = read_samples(reader, X, reset=False, categorical=frozenset(table.categories))
    labels = read_labels(y, len(own), classes=class_table)
    class_table.check_kind(labels)
    if (class_table.codes(labels) == UNLABELLED).all():
        raise ValueError("validation_set has no sample of a class that y has: give the true classes of some.")
    return own[labels.known], labels[labels.known]


def without_samples(model: FittedModel) -> FittedModel:
    """Return an ensemble without its labelled samples, but with a number for each that is the same in all members."""
    kept = [one.mapping.kept_samples for one in model.members]
    tables = [table for table in kept if table is not None]
    if len(tables) < len(kept):
        return model
    members = tuple(
        replace(one, mapping=one.mapping.without_samples(numbers))  # type: ignore[attr-defined]
        for one, numbers in zip(model.members, identities(tables), strict=True)
    )
    return replace(model, members=members)
