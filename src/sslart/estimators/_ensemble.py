"""An ensemble of SSL-ART members: its view, vote weights, and predictions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping as Attributes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sslart._art.calibration import LeftOut, Measured
from sslart._data.classes import ClassTable
from sslart._data.labels import Labels
from sslart._data.presentations import Presentations
from sslart._data.samples import Table
from sslart._mapping.ensemble_votes import MIN_CLASS_WEIGHT, VotingRecord, held_out
from sslart._mapping.mergeable_state import LabelledRows, Shared
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.parallel import run_parallel
from sslart._utils.params import check_jobs, check_option, check_whole
from sslart.estimators._base import LATER, random_of_part
from sslart.estimators._fitted import FittedMember, FittedModel
from sslart.estimators._guaranteed import GuaranteedClassifier
from sslart.estimators._novelty import calibration_after, settled
from sslart.estimators._published import available
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
