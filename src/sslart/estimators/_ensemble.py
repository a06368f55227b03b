"""An ensemble of SSL-ART members: how they are asked, what their votes count, and what they answer together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sslart._art.network import NO_LIMIT
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._data.training import check_has_label
from sslart._mapping.voting import Record, scores
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.parallel import run_parallel
from sslart._utils.params import check_option
from sslart.estimators._base import RawSamplesEstimator
from sslart.estimators._classifier import AbstainingClassifier
from sslart.estimators._pooled import PooledNodes
from sslart.estimators._sslart import MAPPINGS, SSLART

MEMBER_PARAMETERS = (
    "vigilance",
    "choice",
    "learning_rate",
    "mapping",
    "match_tracking",
    "search_depth",
    "families",
    "width",
    "ridge",
    "rank_share",
    "label_memory",
    "bounds",
    "shuffle",
)
VOTINGS = ("weighted", "majority")
MIN_WEIGHT = 1e-3  # of a member for a class, so that some vote always counts


class Ensemble(PooledNodes, AbstainingClassifier, RawSamplesEstimator):
    """Members that have learnt, and their vote."""

    voting: str
    mapping: str
    n_jobs: int | None
    _record: Record

    def _follow(self) -> None:
        """Give the members the parameters that the ensemble has now."""
        for member in self.estimators_:
            for name in MEMBER_PARAMETERS:
                setattr(member, name, getattr(self, name))

    @property
    def class_weights_(self) -> FloatArray:
        """We_c^m of each member (row) for each class (column, in the order of `classes_`)."""
        check_is_fitted(self)
        if self._speaks:
            return np.array([member._class_success() for member in self.estimators_])
        return self._record.weights(self._class_table)

    @property
    def _speaks(self) -> bool:
        """Whether all boxes speak."""
        return check_option("WESSLART", "mapping", self.mapping, MAPPINGS) == "evidence"

    def _votes(self, table: Table, depth: int = NO_LIMIT) -> IntArray:
        """Return the place in `classes_` that each member votes for, shape (n_members, n_samples); -1 for no vote."""
        check_has_label(self._class_table)
        return np.array(self._ask(lambda member, stop: member._answer_places(table, depth, stop)))

    def _ask(self, question: Callable[[SSLART, Any], Any]) -> list[Any]:
        self._follow()
        return run_parallel(question, self.estimators_, self.n_jobs)

    def _scores(self, votes: IntArray) -> FloatArray:
        weighted = check_option("WESSLART", "voting", self.voting, VOTINGS) == "weighted"
        return scores(votes, self.class_weights_ if weighted else np.ones((len(votes), len(self.classes_))))

    def predict(self, X: Any) -> NDArray[Any]:
        """Name the class with the highest score of each sample; the first in `classes_` on ties.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            Classes. A member that abstains casts no vote; where none votes the answer is -1 for integer classes, None
            for others.
        """
        table = self._read(X)
        places = self._sure(self._answer_places(table, self._search_depth()), table)
        return self._answers(places, may_abstain=self._may_abstain())

    def _answer_places(self, table: Table, depth: int) -> IntArray:
        """Return the place in `classes_` of the answer to each sample, -1 where the ensemble abstains."""
        votes, scores = self._poll(table, depth)
        return np.where((votes != UNLABELLED).any(axis=0), scores.argmax(axis=1), UNLABELLED)

    def _poll(self, table: Table, depth: int = NO_LIMIT) -> tuple[IntArray, FloatArray]:
        """Return what each member votes for, and the score of each class."""
        if self._speaks:
            votes, shares = self._evidence_poll(table, depth)
            return votes, shares.sum(axis=0)
        votes = self._votes(table, depth)
        return votes, self._scores(votes)

    def _evidence_poll(self, table: Table, depth: int) -> tuple[IntArray, FloatArray]:
        """Return what each member votes for where all boxes speak, and what it adds to the score of each class.

        That is the probabilities of the members that vote times their weights, shape (n_members, n_samples, n_classes).
        """
        check_has_label(self._class_table)
        told = self._ask(lambda member, stop: member._told(table, depth, stop))
        votes, said = (np.array(those) for those in zip(*told, strict=True))
        said[votes == UNLABELLED] = 0.0
        if check_option("WESSLART", "voting", self.voting, VOTINGS) == "weighted":
            said *= np.maximum(self.class_weights_, MIN_WEIGHT)[:, None]
        return votes, said

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of each class in the score of each sample.

        Never abstains: every member searches on until it finds a labelled node.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to one.
        """
        return self._class_probabilities(self._read(X))

    def _class_probabilities(self, table: Table) -> FloatArray:
        shares = self._poll(table)[1]
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def apply(self, X: Any) -> IntArray:
        """Name the node of each member that answered for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_members)
            Index of the node in its member, -1 where the member abstains.
        """
        table, depth = self._read(X), self._search_depth()
        return np.transpose(self._ask(lambda member, stop: member._answering_nodes(table, depth, stop)))

    def score_samples(self, X: Any) -> FloatArray:
        """Say how well each sample fits what was learnt: the match of its best node, mean over the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            From 0 to 1. Low means novel.
        """
        table = self._read(X)
        matches = self._ask(
            lambda member, stop: member._network.familiarity(table, member._learning_params().choice, stop=stop)
        )
        return np.asarray(np.mean(matches, axis=0))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def _categorical_columns(self) -> frozenset[int]:
        return self.estimators_[0]._categorical_columns()
