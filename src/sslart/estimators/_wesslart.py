"""WESSLART: SSL-ART members that learn the same samples in different orders."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from sslart._art.calibration import LeftOut, Measured, NoveltyCalibration
from sslart._art.reduction.fading import Fading
from sslart._data.classes import ClassTable
from sslart._data.columns.plan import plan_of
from sslart._data.labels import UNLABELLED, Labels, read_labels
from sslart._data.presentations import Presentations
from sslart._data.samples import Table, read_samples
from sslart._data.saved import MAX_SEED, saved_whole
from sslart._data.training import as_known, read_training
from sslart._drift.monitor import NO_DRIFT, Learnt
from sslart._mapping import evidence
from sslart._mapping.decision_costs import check_costs, cost_matrix
from sslart._mapping.ensemble_votes import VotingRecord, held_out
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.changes import Changes
from sslart._utils.parallel import run_parallel
from sslart._utils.params import check_flag, check_jobs, check_number, check_option, check_whole
from sslart.estimators._ensemble import VOTINGS, Ensemble
from sslart.estimators._novelty import calibration_after, calibration_of, settled, state_of
from sslart.estimators._published import draft_of
from sslart.estimators._sslart import EVIDENCE, SSLART


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
        """Learn afresh, each member in an order of its own, and measure the class weights.

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
        with draft_of(self) as (draft, _):
            draft._check_parameters()
            table, labels = read_training(draft, X, y, groups=groups, sample_weight=sample_weight)
            draft._new_member(0)._check_weights(labels)
            draft._check_validation(validation_set)
            random = check_random_state(draft.random_state)
            apart = draft._held_out(table, labels, random, validation_set)
            training, training_labels = table[~apart], labels[~apart]
            draft._class_table = ClassTable().learning(training_labels)
            draft._check_max_error(draft._class_table.classes)
            cost_matrix(draft._name, draft.decision_costs, draft._class_table.classes)
            validation, validation_labels = table[labels.known], labels[labels.known]
            if validation_set is not None:
                validation, validation_labels = draft._read_validation_set(validation_set, frozenset(table.categories))
            elif apart.any():
                validation, validation_labels = table[apart], labels[apart]
            shown = Presentations(validation_labels.presentations).rows
            validation, validation_labels = validation[shown], validation_labels[shown]

            members = draft._new_members(random)
            measured = run_parallel(
                lambda member, stop: member._fit_table(
                    training,
                    training_labels,
                    member._order(training_labels, member.random_state),
                    stop,
                ),
                members,
                draft.n_jobs,
            )
            draft._take_members(members)
            draft._calibration, draft._drift = calibration_after(None, measured), NO_DRIFT
            if draft._uses_evidence():
                draft._record = VotingRecord.none(len(members), draft._class_table)
            else:
                draft._record = VotingRecord.of_votes(draft._votes(validation), draft._class_table, validation_labels)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, *, groups: Any = None, sample_weight: Any = None
    ) -> Self:
        """Go on learning: labelled and unlabelled samples in the given order, one or many.

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
        with draft_of(self) as (draft, changes):
            draft._check_parameters()
            first = not draft.__sklearn_is_fitted__()
            table, labels, declared = draft._read_stream(X, y, classes, groups, sample_weight)
            draft._new_member(0)._check_weights(labels)
            if first:
                members = draft._new_members(check_random_state(draft.random_state))
            else:
                members = draft._drafts_of_members()
            own_orders = first and draft.bounds is None and draft.shuffle
            orders = {
                id(member): check_random_state(member.random_state).permutation(len(table))
                if own_orders
                else np.arange(len(table))
                for member in members
            }
            known = ClassTable() if first else draft._class_table
            draft._class_table = (known if declared is None else known.declaring(declared)).learning(labels)
            half_life = draft._new_member(0)._learning_params().half_life
            n_before = 0 if first else members[0]._network.nodes.n_samples
            before = NoveltyCalibration.of_stream(len(members)) if first else draft._calibration
            before = settled(before, half_life)
            right, measured, novelty = draft._learn_together(members, table, labels, declared, orders, changes)
            draft._calibration = calibration_after(before, measured)
            draft._take_members(members)
            learnt = Learnt.of_members(novelty, right, draft._class_table.codes(labels))
            draft._watch_for_drift(table, learnt, draft._class_table.seen)
            fading = None if half_life is None else Fading(half_life)
            record = VotingRecord.none(len(members), draft._class_table) if first else draft._record
            counted = right if not draft._uses_evidence() else None
            draft._record = record.after(counted, draft._class_table, labels, fading, n_before)
        return self

    def _learn_together(
        self,
        members: list[SSLART],
        table: Table,
        labels: Labels,
        declared: Labels | None,
        orders: dict[int, IntArray],
        changes: Changes,
    ) -> tuple[BoolArray, list[Measured | LeftOut | None], FloatArray]:
        """Let all members learn samples of a stream; return which each predicted rightly before, fits, mean novelty."""

        def learn(member: SSLART, stop: Any) -> tuple[BoolArray, Measured | LeftOut | None, FloatArray]:
            order = orders[id(member)]
            learnt, measured = member._partial_fit_table(
                table, labels, declared, changes, order, is_member=True, stop=stop
            )
            codes = member._class_table.codes(labels[order])
            right = np.empty(len(order), dtype=bool)
            right[order] = (codes != UNLABELLED) & (learnt.predicted == codes)
            novelty = np.empty(len(order))
            novelty[order] = Learnt.of(learnt, member.vigilance).novelty
            return right, measured, novelty

        right, measured, novelty = zip(*run_parallel(learn, members, self.n_jobs), strict=True)
        return np.array(right), list(measured), np.mean(novelty, axis=0)

    def _check_parameters(self) -> None:
        check_whole(self._name, "n_members", self.n_members)
        self._quorum()
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

    def _read_validation_set(self, validation_set: Any, categorical: frozenset[int]) -> tuple[Table, Labels]:
        try:
            X, y = validation_set
        except (TypeError, ValueError):
            raise ValueError("validation_set must be a pair (X_val, y_val).") from None
        table = read_samples(self, X, reset=False, categorical=categorical)
        labels = as_known(self._class_table, read_labels(y, table))
        self._class_table.check_kind(labels)
        if (self._class_table.codes(labels) == UNLABELLED).all():
            raise ValueError("validation_set has no sample of a class that y has: give the true classes of some.")
        return table[labels.known], labels[labels.known]

    def __sslart_add_columns__(self, is_category: Sequence[bool]) -> None:
        """Add columns to all members: see `ARTEstimator`."""
        with draft_of(self) as (draft, _):
            draft.n_features_in_ += len(is_category)
            draft.estimators_ = draft._drafts_of_members()
            for member in draft.estimators_:
                member._add_columns(is_category)

    def __sslart_state__(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any]:
        members = self.estimators_ if samples else self._members_without_samples()
        promises = promises or self.max_error is not None
        return {
            **super().__sslart_state__(samples=samples, promises=promises),
            "members": [
                {"seed": member.random_state, **member.__sslart_state__(samples=samples, promises=promises)}
                for member in members
            ],
            "successes": self._record.successes,
            "trials": self._record.trials,
            **state_of(self._calibration, self._networks(), samples=samples),
            **self._class_table.to_state(),
        }

    def _members_without_samples(self) -> list[SSLART]:
        """Return drafts of the members without the labelled samples, but with a number for each."""
        drafts = self._drafts_of_members()
        kept = [(member, member._mapping.kept_samples) for member in drafts if member._mapping.uses_evidence]
        known = [(member, table) for member, table in kept if table is not None]
        numbered = evidence.identities([table for _, table in known]) if known else []
        for (member, _), numbers in zip(known, numbered, strict=True):
            member._mapping = member._mapping.without_samples(numbers)  # type: ignore[attr-defined]
        return drafts

    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        super().__sslart_restore__(state)
        self._class_table = ClassTable.from_state(state)
        self._record = VotingRecord.from_state(state, len(state["members"]), len(self._class_table.seen))
        members = [self._new_member(saved_whole(one, "seed", 0, MAX_SEED - 1)) for one in state["members"]]
        for member, member_state in zip(members, state["members"], strict=True):
            member.__sslart_restore__(member_state)
            if (
                set(member._class_table.seen) != set(self._class_table.seen)
                or set(member._class_table.declared) != set(self._class_table.declared)
                or member_state["feature_names_in"] != state["feature_names_in"]
                or member.n_features_in_ != self.n_features_in_
                or plan_of(member) != plan_of(self)
                or member._categorical_columns() != members[0]._categorical_columns()
                or (EVIDENCE in member_state) != (EVIDENCE in state["members"][0])
            ):
                raise ValueError("the members of the model do not fit together")
        self._calibration = calibration_of(state, [member._network for member in members])
        self.estimators_ = members
