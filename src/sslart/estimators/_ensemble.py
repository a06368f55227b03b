"""An ensemble of SSL-ART members: its view, the weights of the votes, and what it predicts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sslart._art.calibration import LeftOut, Measured, NoveltyCalibration
from sslart._art.network import Network
from sslart._data.labels import Labels
from sslart._data.presentations import Presentations
from sslart._data.samples import Table, known_columns
from sslart._data.training import check_has_label
from sslart._mapping.ensemble_votes import MIN_CLASS_WEIGHT, VotingRecord, held_out
from sslart._mapping.member_view import MemberView
from sslart._mapping.model_view import ModelView
from sslart._mapping.parts import LabelledRows, ModelParts, Shared
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.changes import Reader
from sslart._utils.parallel import run_parallel
from sslart._utils.params import check_option, check_whole
from sslart.estimators._base import LATER, random_of_part
from sslart.estimators._guaranteed import GuaranteedClassifier
from sslart.estimators._novelty import NoveltyMixin, calibration_after, settled
from sslart.estimators._published import READER, reads, reads_attribute, shallow_copy
from sslart.estimators._sslart import EVIDENCE, MAPPINGS, SSLART, mapping_in_use

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


class PooledNodes(ABC):
    """The node attributes of an ensemble, from those of its members."""

    estimators_: list[SSLART]

    @abstractmethod
    def _view(self) -> ModelView:
        """Return the view of a model that is known to be fitted."""

    @property
    @reads
    def n_nodes_(self) -> int:
        """Number of prototype nodes over all members."""
        return sum(self._of_members("n_nodes_"))

    @property
    @reads_attribute
    def vigilance_(self) -> float:
        """The vigilance in use, the lowest of the members: see `SSLART`."""
        return float(min(self._of_members("vigilance_")))

    @property
    @reads
    def n_nodes_stage1_(self) -> int:
        """Number of nodes made by unlabelled samples, over all members."""
        return sum(self._of_members("n_nodes_stage1_"))

    @property
    @reads
    def n_labelled_nodes_(self) -> int:
        """Number of nodes that have a label, over all members."""
        return sum(self._of_members("n_labelled_nodes_"))

    @property
    @reads
    def scaling_(self) -> list[str]:
        """How each feature is scaled: "range", "rank", or "category" where it is not a number."""
        scaling: list[str] = self._of_members("scaling_")[0]
        return scaling

    @property
    @reads
    def lower_(self) -> FloatArray:
        """Lower corners of the boxes of all members in the user's units; NaN: not reached yet."""
        return np.concatenate(self._of_members("lower_"))

    @property
    @reads
    def upper_(self) -> FloatArray:
        """Upper corners of the boxes of all members in the user's units; NaN: not reached yet."""
        return np.concatenate(self._of_members("upper_"))

    @property
    @reads
    def support_(self) -> IntArray:
        """How many samples resonated with each node of all members, labelled or not."""
        return np.concatenate(self._of_members("support_"))

    @property
    @reads
    def coded_feature_names_(self) -> list[str]:
        """Name of each column of `lower_` and `upper_`: a feature, or feature=category for a category."""
        check_is_fitted(self)
        return self.estimators_[0].coded_feature_names_

    @property
    @reads
    def counts_(self) -> IntArray:
        """How often each class resonated with each node of all members, in the order of `classes_`."""
        return np.concatenate(self._of_members("counts_"))

    @property
    @reads_attribute
    def node_labels_(self) -> NDArray[Any]:
        """Class of each node of all members; -1 for integer classes and None for others where it has none."""
        return np.concatenate(self._of_members("node_labels_"))

    def _of_members(self, name: str) -> list[Any]:
        check_is_fitted(self)
        return [getattr(member, name) for member in self.estimators_]


class Ensemble(PooledNodes, GuaranteedClassifier, NoveltyMixin):
    """Members that have learnt, and their vote."""

    n_members: int
    voting: str
    quorum: int
    validation: str | float
    random_state: Any
    mapping: str
    n_jobs: int | None
    _record: VotingRecord
    _calibration: NoveltyCalibration | None

    def _uses_evidence(self) -> bool:
        return check_option(self._name, "mapping", self.mapping, MAPPINGS) == EVIDENCE

    def _new_member(self, seed: int) -> SSLART:
        return SSLART(random_state=seed, **{name: getattr(self, name) for name in MEMBER_PARAMETERS})

    def _view(self) -> ModelView:
        """Return the view: the members as if they had the parameters of the ensemble."""
        self._uses_evidence()
        params = self._new_member(0)._learning_params()
        mappings = [mapping_in_use(self._name, self.mapping, member._mapping) for member in self.estimators_]
        members = (
            MemberView(
                number,
                mapping.network_of(member._network),
                member._class_table,
                params.lowered_to(member._network.nodes.vigilance),
                mapping,
                self.n_jobs,
                member._network,
                vars(self).get(READER),
            )
            for number, (member, mapping) in enumerate(zip(self.estimators_, mappings, strict=True))
        )
        return ModelView(
            self._name,
            tuple(members),
            self._vote_weights,
            self._class_table,
            self._reader(),
            self._search_depth(),
            self._min_probability(),
            self._quorum(),
            self._cost_matrix(),
            self._error_levels(),
            self._calibration,
        )

    def _quorum(self) -> int:
        quorum = check_whole(self._name, "quorum", self.quorum)
        assert quorum is not None
        n_members = len(self.estimators_) if self.__sklearn_is_fitted__() else self.n_members
        if quorum > n_members:
            raise ValueError(
                f"quorum of {self._name} must be at most the number of members, {n_members}, got {quorum}: with more "
                "it would never predict."
            )
        return quorum

    @property
    @reads_attribute
    def class_weights_(self) -> FloatArray:
        """We_c^m of each member (row) for each class (column, in the order of `classes_`)."""
        check_is_fitted(self)
        if self._uses_evidence():
            return np.array([member._evidence().loo_recall() for member in self.estimators_])
        return self._record.weights(self._class_table)

    def _vote_weights(self) -> FloatArray:
        """Return what the vote of each member counts for each class."""
        if check_option(self._name, "voting", self.voting, VOTINGS) != "weighted":
            return np.ones((len(self.estimators_), len(self.classes_)))
        weights = self.class_weights_
        return np.maximum(weights, MIN_CLASS_WEIGHT) if self._uses_evidence() else weights

    @reads
    def apply(self, X: Any) -> IntArray:
        """Return the node of each member that each sample is predicted by.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_members)
            Index of the node in its member, -1 where the member abstains.
        """
        table, depth = self._read(X), self._search_depth()
        check_has_label(self._class_table)
        members = [member.as_learnt() for member in self._view().members]
        return np.transpose([member.first_labelled(member.encode(table), depth) for member in members])

    @reads
    def score_samples(self, X: Any) -> FloatArray:
        """Return how well each sample fits what was learnt: the match of its best node, mean over the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            From 0 to 1. Low means novel.
        """
        table = self._read(X)
        return self._view().score_samples(table)

    def _votes(self, table: Table) -> IntArray:
        """Return the class index that each member votes for, without a limit of the search."""
        members = self._view().members
        return np.array([member.label_of(member.first_labelled(member.encode(table))) for member in members])

    def _new_members(self, random: np.random.RandomState) -> list[SSLART]:
        seeds = random.randint(np.iinfo(np.int32).max, size=self.n_members)
        return [self._new_member(int(seed)) for seed in seeds]

    def _take_members(self, members: list[SSLART]) -> None:
        for member in members:
            vars(member).update(known_columns(self))
        self.estimators_ = members

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

    def __sslart_part__(self, table: Table, labels: Labels, shared: Shared, number: int) -> ModelParts:
        members = self._new_members(check_random_state(self.random_state))
        members[0]._check_weights(labels)

        def learn(member: SSLART, stop: Any) -> Measured | LeftOut | None:
            order = member._order(labels, random_of_part(member.random_state, number))
            return member._fit_table(table, labels, order, stop, shared)

        self._class_table = shared.class_table
        self._calibration = calibration_after(None, run_parallel(learn, members, self.n_jobs))
        self._take_members(members)
        self._record = VotingRecord.none(len(members), shared.class_table)
        return self.__sslart_parts__()

    def __sslart_learns_later__(self) -> int:
        return self._new_member(0).__sslart_learns_later__()

    def __sslart_learn_later__(self, rows: LabelledRows) -> None:
        """Learn the labelled samples of all parts of a table, each member in an order of its own, and weigh votes."""
        table, labels = rows.table, rows.labels
        is_fitted = self.__sklearn_is_fitted__()
        members = self.estimators_ if is_fitted else self._new_members(check_random_state(rows.seed))
        members[0]._check_weights(labels)
        apart = np.zeros(len(table), dtype=bool)
        if self.validation != LABELLED:
            try:
                apart = held_out(labels, float(self.validation), table, rows.seed)
            except ValueError:
                if not (is_fitted and self._record.trials.any()):  # class weights are known already
                    raise
        training, training_labels = table[~apart], labels[~apart]
        before = settled(self._calibration, None) if is_fitted else None

        def learn(member: SSLART, stop: Any) -> Measured | LeftOut | None:
            random = random_of_part(member.random_state, LATER)
            return member._learn_labelled(training, training_labels, random, rows.shared, before, stop)

        self._calibration = calibration_after(before, run_parallel(learn, members, self.n_jobs))
        self._class_table = members[0]._class_table
        self._take_members(members)
        tried = labels.known if self.validation == LABELLED else apart
        shown = Presentations(labels[tried].presentations).rows
        votes = self._votes(table[tried][shown])
        record = VotingRecord.of_votes(votes, self._class_table, labels[tried][shown])
        self._record = self._record + record if is_fitted else record

    def __sslart_parts__(self) -> ModelParts:
        members = []
        for member in self._drafts_of_members():
            (own,) = member.__sslart_parts__().members
            members.append(replace(own, seed=member.random_state))
        return ModelParts(known_columns(self), tuple(members), self._class_table, self._calibration, self._record)

    def __sslart_take__(self, parts: ModelParts) -> None:
        assert parts.record is not None
        members = []
        for one in parts.members:
            assert one.seed is not None
            members.append(self._new_member(one.seed))
            members[-1].__sslart_take__(ModelParts(parts.columns, (one,), one.class_table, one.calibration))
        vars(self).update(parts.columns)
        self._class_table, self._calibration, self._record = parts.class_table, parts.calibration, parts.record
        self.estimators_ = members

    def _drafts_of_members(self) -> list[SSLART]:
        """Return drafts of the members, with the parameters that the ensemble has now."""
        drafts = [shallow_copy(member) for member in self.estimators_]
        for member in drafts:
            for name in MEMBER_PARAMETERS:
                setattr(member, name, getattr(self, name))
        return drafts

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def _held_by(self, reader: Reader) -> dict[str, Any]:
        members = [shallow_copy(member) for member in self.estimators_]
        for member in members:
            vars(member).update(member._held_by(reader))
        return {"estimators_": members}

    def _networks(self) -> list[Network]:
        return [member._network for member in vars(self).get("estimators_", ())]

    def _categorical_columns(self) -> frozenset[int]:
        return self.estimators_[0]._categorical_columns()
