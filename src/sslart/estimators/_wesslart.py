"""WESSLART: SSL-ART members that learn the same samples in different orders, and their vote."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping as Attributes
from collections.abc import Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from sslart._art.learning import Fading, LearningParams
from sslart._art.novelty import LeftOut, Measured, NoveltyCalibration
from sslart._data.columns import ATTRIBUTE, NO_PLAN
from sslart._data.labels import UNLABELLED, ClassTable, Labels, Presentations, read_labels
from sslart._data.samples import SampleReader, Table, known_columns, read_samples
from sslart._data.training import read_training
from sslart._drift.monitor import NO_DRIFT, Measurements
from sslart._mapping import evidence
from sslart._mapping.decision_rules import check_costs, cost_matrix
from sslart._mapping.ensemble_votes import MIN_CLASS_WEIGHT, VotingRecord, held_out
from sslart._mapping.mergeable_state import LabelledRows, Shared
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.parallel import run_parallel
from sslart._utils.validation import (
    MAX_SEED,
    check_flag,
    check_jobs,
    check_number,
    check_option,
    check_whole,
    saved_whole,
)
from sslart.estimators._base import LATER, columns_of, columns_state, drift_of, random_of_part
from sslart.estimators._classifier import GuaranteedClassifier
from sslart.estimators._fitted import Checked, FittedMember, FittedModel, available, turn_of
from sslart.estimators._learning import calibration_after, calibration_of, drift_after, settled, state_of
from sslart.estimators._sslart import EVIDENCE, MAPPINGS, SSLART, evidence_of

MEMBER_PARAMETERS = (
    "vigilance",
    "max_nodes",
    "choice",
    "learning_rate",
    "mapping",
    "match_tracking",
    "search_depth",
    "families",
    "bandwidth",
    "ridge",
    "rank_weight",
    "max_labels",
    "half_life",
    "bounds",
    "scaling",
    "shuffle",
)
LABELLED = "labelled"
VOTINGS = ("weighted", "majority")


class Ensemble(GuaranteedClassifier):
    """Members that have learnt, and their vote."""

    n_members: int
    voting: str
    quorum: int
    validation: str | float
    random_state: Any
    mapping: str
    n_jobs: int | None

    @property
    def estimators_(self) -> list[SSLART]:
        """The members, each as a model by itself."""
        model, estimators = self._fitted(), []
        for place, member in enumerate(model.members):
            estimators.append(self._new_member(member.seed or 0))
            estimators[-1]._publish(model.of_member(place))
        return estimators

    def _uses_evidence(self) -> bool:
        return check_option(self._name, "mapping", self.mapping, MAPPINGS) == EVIDENCE

    def _new_member(self, seed: int) -> SSLART:
        return SSLART(random_state=seed, **{name: getattr(self, name) for name in MEMBER_PARAMETERS})

    def _new_view(self, model: FittedModel) -> ModelView:
        assert model.reader is not None
        n_jobs = check_jobs(self._name, self.n_jobs)
        members = tuple(
            MemberView(number, one.network, one.class_table, one.params_in_use, one.mapping, n_jobs)
            for number, one in enumerate(model.members)
        )
        voting = check_option(self._name, "voting", self.voting, VOTINGS)
        return ModelView(
            self._name,
            members,
            lambda: self._vote_weights(model, voting),
            model.class_table,
            model.reader,
            self._search_depth(),
            self._min_probability(),
            self._quorum(len(members)),
            self._cost_matrix(model.class_table, lambda: sum(member.counts.sum(axis=0) for member in members)),
            self._error_levels(model.class_table),
            model.calibration,
        )

    def _quorum(self, n_members: int) -> int:
        quorum = check_whole(self._name, "quorum", self.quorum)
        assert quorum is not None
        if quorum > n_members:
            raise ValueError(
                f"quorum of {self._name} must be at most the number of members, {n_members}, got {quorum}: with more "
                "it would never predict."
            )
        return quorum

    @property
    @available
    def class_weights_(self) -> FloatArray:
        """We_c^m of each member (row) for each class (column, in the order of `classes_`)."""
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

    def _votes(self, members: Sequence[FittedMember], table: Table) -> IntArray:
        """Return the class index that each member votes for, without a limit of the search."""
        views = [
            MemberView(None, one.network, one.class_table, one.params_in_use, one.mapping, self.n_jobs)
            for one in members
        ]
        return np.array([one.label_of(one.first_labelled(one.encode(table))) for one in views])

    def _new_members(self, random: np.random.RandomState) -> list[SSLART]:
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_members)
        return [self._new_member(int(seed)) for seed in seeds]

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise a ValueError where a parameter has a value that it cannot have."""

    def _check_validation(self, validation_set: Any = None) -> None:
        if self._uses_evidence() and (validation_set is not None or self.validation != LABELLED):
            raise ValueError(
                "With mapping='evidence' WESSLART measures its class weights by leave-one-out: leave validation at "
                "'labelled' and give no validation_set."
            )

    def __sslart_check__(self) -> None:
        self._check_parameters()
        self._check_validation()
        self._new_member(0)._learning_params()

    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        members = self._new_members(check_random_state(self.random_state))
        members[0]._check_weights(labels)

        def learn(member: SSLART, stop: Any) -> tuple[FittedMember, Measured | LeftOut | None]:
            order = member._order(labels, random_of_part(member.random_state, number))
            model, measured = member._fit_table(columns, table, labels, order, stop, shared)
            return replace(model.members[0], seed=member.random_state), measured

        learnt, measured = zip(*run_parallel(learn, members, self.n_jobs), strict=True)
        record = VotingRecord.none(len(members), shared.class_table)
        return FittedModel(columns, learnt, shared.class_table, calibration_after(None, measured), record)

    def __sslart_learns_later__(self) -> int:
        return self._new_member(0).__sslart_learns_later__()

    def __sslart_learn_later__(self, columns: Attributes[str, Any], rows: LabelledRows) -> None:
        """Learn the labelled samples of all parts, each member in a different order, and set the vote weights."""
        table, labels = rows.table, rows.labels
        before: FittedModel | None = vars(self).get("_model")
        if before is None:
            estimators = self._new_members(check_random_state(rows.seed))
            known: list[FittedMember | None] = [None] * len(estimators)
        else:
            estimators = [self._new_member(one.seed or 0) for one in before.members]
            known = list(before.members)
        estimators[0]._check_weights(labels)
        apart = np.zeros(len(table), dtype=bool)
        if self.validation != LABELLED:
            try:
                apart = held_out(labels, float(self.validation), table, rows.seed)
            except ValueError:
                if before is None or before.record is None or not before.record.trials.any():
                    raise  # class weights are not known already
        training, training_labels = table[~apart], labels[~apart]
        calibration = None if before is None else settled(before.calibration, None)

        def learn(one: tuple[SSLART, FittedMember | None], stop: Any) -> tuple[FittedMember, Measured | LeftOut | None]:
            estimator, member = one
            random = random_of_part(estimator.random_state, LATER)
            learnt, measured = estimator._learn_labelled(
                member, columns, training, training_labels, random, rows.shared, calibration, stop
            )
            return replace(learnt, seed=estimator.random_state), measured

        pairs = list(zip(estimators, known, strict=True))
        members, measured = zip(*run_parallel(learn, pairs, self.n_jobs), strict=True)
        class_table: ClassTable = members[0].class_table
        tried = labels.known if self.validation == LABELLED else apart
        shown = Presentations(labels[tried].presentations).rows
        record = VotingRecord.of_votes(self._votes(members, table[tried][shown]), class_table, labels[tried][shown])
        if before is not None and before.record is not None:
            record = before.record + record
        self.__sslart_take__(
            FittedModel(columns, members, class_table, calibration_after(calibration, measured), record)
        )


class WESSLART(Ensemble):
    """WESSL-ART: a weighted vote over SSL-ART members trained on different sequences of the same samples.

    Each member weighs its vote for a class by its success on that class. Members differ by their sample sequence only.

    Parameters
    ----------
    n_members : int, default=7
        M: how many members vote.
    voting : {"weighted", "majority"}, default="weighted"
        Whether a vote counts We_c^m (WESSL-ART) or one (VESSL-ART).
    quorum : int, default=1
        How many members must vote before the ensemble predicts; where fewer do, it abstains. It matters with
        `search_depth`, without which every member votes on every sample.
    validation : "labelled" or float, default="labelled"
        What `fit` measures We_c^m on: the labelled training samples, or a share of them in (0, 1) that is held out
        (stratified by class) and learnt by no member. A `validation_set` given to `fit` takes its place. With evidence
        mapping it is "labelled", and each sample is predicted by the others alone.
    n_jobs : int or None, default=None
        How many threads members learn and predict in; None is 1, -1 all cores. Results do not depend on it.
    vigilance, max_nodes, choice, learning_rate, mapping, match_tracking, search_depth, bounds, scaling, shuffle
        ρ, the most boxes, α, β, the mapping, δ, T, the range and the scaling of every member: see `SSLART`. Without
        `shuffle` all members are alike.
    half_life : float, "auto" or None, default=None
        In `partial_fit`, after how many further samples a sample counts half in the boxes of every member, and in the
        class weights: see `SSLART`.
    abstain_below : float or None, default=None
        `predict` abstains where the highest probability is below this.
    max_error : float, dict from class to float, or None, default=None
        In (0, 1]: `predict` abstains so that at most this share of the samples that it does predict are wrong, on
        average over training sets and new samples like the labelled ones; from a dict, of those predicted as a class,
        and it does not abstain from other classes. It needs evidence mapping, and enough labels.
    decision_costs : array-like of shape (n_classes, n_classes), dict, "balanced" or None, default=None
        What predictions cost: `predict` returns the class of the lowest expected cost by `predict_proba`. Rows are true
        classes and columns predicted ones, in the order of `classes_`. In a dict from (true, predicted) to the cost,
        wrong predictions not named cost 1 and right ones 0. "balanced": a wrong prediction costs the more, the rarer
        its true class is among the labels, for a high balanced accuracy. None: the most probable class is predicted.
    families, bandwidth, ridge, rank_weight, max_labels
        Evidence mapping of every member: see `SSLART`.
    random_state : int, RandomState instance or None, default=None
        Seeds the sequences of the members and the samples held out.

    Attributes
    ----------
    estimators_ : list of SSLART
        The members.
    class_weights_ : array of shape (n_members, n_classes)
        We_c^m: share of the validation samples of class c that member m got right. Where a class had none, the share
        over all classes.
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_nodes_, n_nodes_stage1_, n_labelled_nodes_ : int
        Number of boxes over all members, of those made by unlabelled samples, and of those with a label.
    vigilance_ : float
        The lowest vigilance in use: see `SSLART`.
    lower_, upper_ : arrays of shape (n_nodes, n_coded_features)
        The boxes of all members in the user's units, member after member.
    counts_ : array of shape (n_nodes, n_classes)
        F^OtM: how often each class resonated with each box.
    node_labels_ : array of shape (n_nodes,)
        Class of each box; -1 or None where it has none.
    support_ : array of shape (n_nodes,)
        Samples learnt by each box, labelled or not.
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

    Notes
    -----
    By default the class weights are measured on samples that the members have learnt, so they are optimistic. At a high
    vigilance they are close to one, and the weighted vote seldom differs from the majority vote. `validation` or
    `validation_set` measures them on samples that no member learns.

    In a stream every labelled sample is first predicted by each member and then learnt, and two counts per class are
    kept. These counts are added to those of `fit`, in one record: after `fit` with ``validation="labelled"`` the
    weights mix predictions of samples learnt before with predictions of new ones. They come from new samples alone if
    learning starts with `partial_fit`, or if `fit` measures them on held-out samples.

    All members see the stream in its own order; they differ by what they learnt in `fit`, or in the first call of
    `partial_fit`, which each member takes in an order of its own unless `bounds` makes the result independent of how
    the stream is cut.

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
        self.n_members = n_members
        self.voting = voting
        self.quorum = quorum
        self.validation = validation
        self.n_jobs = n_jobs
        self.vigilance = vigilance
        self.max_nodes = max_nodes
        self.choice = choice
        self.learning_rate = learning_rate
        self.mapping = mapping
        self.match_tracking = match_tracking
        self.search_depth = search_depth
        self.abstain_below = abstain_below
        self.max_error = max_error
        self.decision_costs = decision_costs
        self.families = families
        self.bandwidth = bandwidth
        self.ridge = ridge
        self.rank_weight = rank_weight
        self.max_labels = max_labels
        self.half_life = half_life
        self.bounds = bounds
        self.scaling = scaling
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: Any, validation_set: Any = None, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Fit from scratch, each member in a different order, and estimate the class weights.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes: integers, strings or booleans; -1, None or NaN where unlabelled.
        validation_set : (X_val, y_val), default=None
            Samples that no member learns, to measure the class weights on; takes the place of `validation`.
        groups, sample_weight : array-like of shape (n_samples,), default=None
            What samples belong together, and how much each counts: see `SSLART.fit`.
        """
        with turn_of(self):
            self._check_parameters()
            checked, reader = self._checked(None), self._first_reader()
            table, labels = read_training(
                reader, X, y, scaling=self.scaling, groups=groups, sample_weight=sample_weight
            )
            self._new_member(0)._check_weights(labels)
            self._check_validation(validation_set)
            random = check_random_state(self.random_state)
            apart = self._held_out(table, labels, random, validation_set)
            training, training_labels = table[~apart], labels[~apart]
            class_table = ClassTable().learning(training_labels)
            self._check_max_error(class_table.classes)
            cost_matrix(self._name, self.decision_costs, class_table.classes)
            validation, validation_labels = table[labels.known], labels[labels.known]
            if validation_set is not None:
                validation, validation_labels = read_validation_set(reader, table, class_table, validation_set)
            elif apart.any():
                validation, validation_labels = table[apart], labels[apart]
            shown = Presentations(validation_labels.presentations).rows
            validation, validation_labels = validation[shown], validation_labels[shown]
            columns = known_columns(reader)

            def learn(member: SSLART, stop: Any) -> tuple[FittedMember, Measured | LeftOut | None]:
                order = member._order(training_labels, member.random_state)
                model, measured = member._fit_table(columns, training, training_labels, order, stop)
                return replace(model.members[0], seed=member.random_state), measured

            members, measured = zip(*run_parallel(learn, self._new_members(random), self.n_jobs), strict=True)
            if self._uses_evidence():
                record = VotingRecord.none(len(members), class_table)
            else:
                record = VotingRecord.of_votes(self._votes(members, validation), class_table, validation_labels)
            calibration = calibration_after(None, measured)
            self._publish(FittedModel(columns, members, class_table, calibration, record, checked=checked))
        return self

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
            columns, table, labels, declared = self._read_stream(before, X, y, classes, groups, sample_weight)
            self._new_member(0)._check_weights(labels)
            if before is None:
                members = self._new_members(check_random_state(self.random_state))
            else:
                members = [self._new_member(one.seed or 0) for one in before.members]
            own_orders = before is None and self.bounds is None and self.shuffle
            orders = [
                check_random_state(member.random_state).permutation(len(table)) if own_orders else np.arange(len(table))
                for member in members
            ]
            known = ClassTable() if before is None else before.class_table
            class_table = (known if declared is None else known.declaring(declared)).learning(labels)
            half_life = checked.params.half_life
            n_before = 0 if before is None else before.network.nodes.n_samples
            calibration = NoveltyCalibration.of_stream(len(members)) if before is None else before.calibration
            calibration = settled(calibration, half_life)

            own = (
                [None] * len(members) if before is None else [before.of_member(place) for place in range(len(members))]
            )

            def learn(place: int, stop: Any) -> MemberLearnt:
                order = orders[place]
                return learn_member(members[place], own[place], columns, table, labels, declared, order, checked, stop)

            learnt = run_parallel(learn, range(len(members)), check_jobs(self._name, self.n_jobs))
            calibration = calibration_after(calibration, [one.measured for one in learnt])
            right = np.array([one.right for one in learnt])
            fading = None if half_life is None else Fading(half_life)
            record = VotingRecord.none(len(members), class_table) if before is None else before.record
            assert record is not None
            record = record.after(None if self._uses_evidence() else right, class_table, labels, fading, n_before)
            fitted = tuple(one.member for one in learnt)
            model = FittedModel(columns, fitted, class_table, calibration, record, checked=checked)
            model = model.with_reader(self._name, before)
            assert model.reader is not None
            novelty = np.mean([one.novelty for one in learnt], axis=0)
            found = Measurements.of_members(novelty, right, class_table.codes(labels))
            drift = NO_DRIFT if before is None else before.drift
            drift = drift_after(drift, table, found, model.reader, class_table.seen)
            self._publish(replace(model, drift=drift), before)
        return self

    def _learning_params(self) -> LearningParams:
        self._check_parameters()
        return self._new_member(0)._learning_params()

    def _check_parameters(self) -> None:
        check_whole(self._name, "n_members", self.n_members)
        self._quorum(self.n_members)
        check_option(self._name, "voting", self.voting, VOTINGS)
        check_flag(self._name, "shuffle", self.shuffle)
        check_jobs(self._name, self.n_jobs)
        self._min_probability()
        check_costs(self._name, self.decision_costs)
        self._check_max_error()
        if not (isinstance(self.validation, Real) and not isinstance(self.validation, bool)):
            if self.validation != "labelled":
                raise ValueError(
                    f"validation of WESSLART must be 'labelled' or a share in (0, 1), got {self.validation!r}."
                )
        elif check_number(self._name, "validation", self.validation, 0, 1, open_low=True) == 1:
            raise ValueError("validation of WESSLART must leave samples to learn from: a share below 1, got 1.")

    def _held_out(self, table: Table, labels: Labels, random: np.random.RandomState, validation_set: Any) -> BoolArray:
        if validation_set is not None or isinstance(self.validation, str):
            return np.zeros(len(labels.known), dtype=bool)
        return held_out(labels, float(self.validation), table, int(random.randint(np.iinfo(np.int32).max)))

    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        assert model.record is not None
        promises = promises or self.max_error is not None
        whole = model if samples else without_samples(model)
        return {
            **columns_state(model, samples=samples),
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
            **state_of(model.calibration, [one.network for one in model.members], samples=samples),
            **model.class_table.to_state(),
        }

    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        columns, class_table = columns_of(state), ClassTable.from_state(state)
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
        calibration = calibration_of(state, [model.network for model in models])
        members = tuple(replace(one.members[0], seed=seed) for one, seed in zip(models, seeds, strict=True))
        n_columns = plan.n_columns(columns["n_features_in_"])
        more = drift_of(state, n_columns)
        self.__sslart_take__(FittedModel(columns, members, class_table, calibration, record, **more))


class MemberLearnt(NamedTuple):
    """A member after it has learnt samples of a stream, with its predictions and fits before learning.

    Attributes
    ----------
    member : FittedMember
    right : array of bool of length n_samples
        Which samples it predicted rightly.
    measured : Measured, LeftOut or None
        How well they fitted.
    novelty : array of length n_samples
    """

    member: FittedMember
    right: BoolArray
    measured: Measured | LeftOut | None
    novelty: FloatArray


def learn_member(
    estimator: SSLART,
    before: FittedModel | None,
    columns: Attributes[str, Any],
    table: Table,
    labels: Labels,
    declared: Labels | None,
    order: IntArray,
    checked: Checked,
    stop: Any,
) -> MemberLearnt:
    """Return one member of an ensemble after it has learnt samples of a stream, in the given order."""
    model, learnt, measured = estimator._partial_fit_table(
        before, columns, table, labels, declared, order, checked=checked, is_member=True, stop=stop
    )
    codes = model.class_table.codes(labels[order])
    right = np.empty(len(order), dtype=bool)
    right[order] = (codes != UNLABELLED) & (learnt.predicted == codes)
    novelty = np.empty(len(order))
    novelty[order] = Measurements.of(learnt, checked.params.vigilance).novelty
    return MemberLearnt(replace(model.members[0], seed=estimator.random_state), right, measured, novelty)


def read_validation_set(
    reader: SampleReader, table: Table, class_table: ClassTable, validation_set: Any
) -> tuple[Table, Labels]:
    """Return the labelled samples of a validation set."""
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
    """Return an ensemble without its labelled samples, but with a number for each, the same in all members."""
    kept = [one.mapping.kept_samples for one in model.members]
    tables = [table for table in kept if table is not None]
    if len(tables) < len(kept):
        return model
    members = tuple(
        replace(one, mapping=one.mapping.without_samples(numbers))  # type: ignore[attr-defined]
        for one, numbers in zip(model.members, evidence.identities(tables), strict=True)
    )
    return replace(model, members=members)
