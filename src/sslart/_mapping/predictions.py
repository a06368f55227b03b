"""Predictions for one table of samples: each sample is encoded, searched, and scored once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sslart._art.boxes import NO_LIMIT
from sslart._art.network import Coded
from sslart._data.labels import UNLABELLED, check_has_label
from sslart._data.samples import Table
from sslart._mapping.decision_costs import expected_costs
from sslart._mapping.ensemble_votes import Ballot, vote_on_evidence, vote_on_labels
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from sslart._mapping.model_view import ModelView


@dataclass(frozen=True, eq=False)
class Prediction:
    """Predicted classes and probabilities of samples.

    Attributes
    ----------
    indices : array of length n_samples
        Class index, -1 where the model abstains.
    proba : array of shape (n_samples, n_classes) or None
        Probability of each class, whether the model abstains or not; None where it was not wanted.
    """

    indices: IntArray
    proba: FloatArray | None


@dataclass(frozen=True, eq=False)
class Decisions:
    """Decisions on samples: the one record that the command line, the service and reports are made of.

    Attributes
    ----------
    indices : array of length n_samples
        Class index, -1 where the model abstains.
    proba : array of shape (n_samples, n_classes)
        Probability of each class, whether the model abstains or not.
    familiarity : array of length n_samples
        How well each sample fits what was learnt, from 0 to 1.
    is_novel : array of length n_samples
        Whether it fits so badly that it is flagged as novel.
    """

    indices: IntArray
    proba: FloatArray
    familiarity: FloatArray
    is_novel: BoolArray

    @property
    def abstained(self) -> BoolArray:
        """Mask of samples on which the model abstains."""
        return np.asarray(self.indices == UNLABELLED)

    @property
    def novelty(self) -> FloatArray:
        """Novelty of each sample, from 0 to 1: one minus its familiarity."""
        return np.asarray(1.0 - self.familiarity)

    @property
    def probability(self) -> FloatArray:
        """The probability of each class predicted; where the model abstains, the highest."""
        shown = np.where(self.abstained, self.proba.argmax(axis=1), self.indices)
        return np.asarray(self.proba[np.arange(len(shown)), shown])


class PredictionBatch:
    """Cached predictions for one table of samples: each sample is encoded, searched, and scored once.

    Parameters
    ----------
    view : ModelView
    table : Table
    """

    def __init__(self, view: ModelView, table: Table) -> None:
        check_has_label(view.class_table)
        self.view, self.members, self._table = view, view.members, table
        self._nodes: dict[int, IntArray] = {}
        self._ballots: dict[int, Ballot] = {}
        self._scored: list[FloatArray] | None = None
        self._probas: list[FloatArray] | None = None

    def prediction(self, *, depth: int | None = None, want_proba: bool = False) -> Prediction:
        """Return the predictions, with the model's limit of abstention and the given depth of search."""
        indices, limited = self.decided(self.view.search_depth if depth is None else depth), self.view.limits_confidence
        proba = self.proba() if want_proba or limited else None
        if limited and proba is not None:
            indices = np.where(self.view.is_unsure(indices, proba), UNLABELLED, indices)
        return Prediction(indices, proba)

    def decisions(self, familiar_from: float | None = None) -> Decisions:
        """Return the decisions on the samples; those of less familiarity than given, or than usual, are novel."""
        found, familiarity = self.prediction(want_proba=True), self.familiarity()
        assert found.proba is not None
        least = self.view.novelty_threshold if familiar_from is None else familiar_from
        return Decisions(found.indices, found.proba, familiarity, familiarity < least)

    def familiarity(self) -> FloatArray:
        """Return the familiarity of each sample, mean over the members."""
        return np.asarray(
            np.mean([one.familiarity(coded) for one, coded in zip(self.members, self._encoded, strict=True)], axis=0)
        )

    @cached_property
    def _encoded(self) -> list[Coded]:
        return [member.network.encoded(self._table) for member in self.members]

    @property
    def coded(self) -> list[FloatArray]:
        """The samples as each member codes them."""
        return [coded.values for coded in self._encoded]

    @property
    def scored(self) -> list[FloatArray]:
        """The samples as the evidence of each member codes them: as at the last choice of settings."""
        if self._scored is None:
            chosen = [member.mapping.network_of(member.network) for member in self.members]
            self._scored = [
                self.coded[place] if one.encoder is self.members[place].encoder else one.encode(self._table)
                for place, one in enumerate(chosen)
            ]
        return self._scored

    @property
    def probas(self) -> list[FloatArray]:
        """With evidence, the probabilities by each member, shape (n_samples, n_classes)."""
        if self._probas is None:
            self._probas = [member.evidence_proba(x) for member, x in zip(self.members, self.scored, strict=True)]
        return self._probas

    def nodes(self, depth: int) -> IntArray:
        """Return the labelled box that each member finds within a depth, -1 for none."""
        if depth not in self._nodes:
            found = [member.first_labelled(x, depth) for member, x in zip(self.members, self.coded, strict=True)]
            self._nodes[depth] = np.array(found)
        return self._nodes[depth]

    def all_nodes(self) -> IntArray:
        """Return the labelled box found by each member without a depth limit, continuing a limited search."""
        if NO_LIMIT not in self._nodes and self._nodes:
            nodes = next(iter(self._nodes.values())).copy()
            for own, member, x in zip(nodes, self.members, self.coded, strict=True):
                rest = np.flatnonzero(own == UNLABELLED)
                if rest.size:
                    own[rest] = member.first_labelled(x[rest])
            self._nodes[NO_LIMIT] = nodes
        return self.nodes(NO_LIMIT)

    def ballot(self, depth: int) -> Ballot:
        """Return the votes of an ensemble."""
        if depth not in self._ballots:
            weights, quorum = self.view.vote_weights, self.view.quorum
            assert weights is not None
            if self.view.uses_evidence:
                self._ballots[depth] = vote_on_evidence(
                    self._evidence_indices(depth), np.array(self.probas), weights, quorum
                )
            else:
                nodes = self.all_nodes() if depth == NO_LIMIT else self.nodes(depth)
                votes = [member.label_of(own) for member, own in zip(self.members, nodes, strict=True)]
                self._ballots[depth] = vote_on_labels(np.array(votes), nodes, weights, quorum)
        return self._ballots[depth]

    def _evidence_indices(self, depth: int) -> IntArray:
        """Return the most probable class by each member, -1 where no labelled box lies within the depth."""
        indices: IntArray = np.array([proba.argmax(axis=1) for proba in self.probas])
        if depth != NO_LIMIT:
            indices[self.nodes(depth) == UNLABELLED] = UNLABELLED
        return indices

    def decided(self, depth: int) -> IntArray:
        """Return the class index by which the model decides: with costs, that of the lowest expected cost.

        -1 where it abstains for want of a labelled box.
        """
        indices = self.indices(depth)
        if self.view.decision_costs is None:
            return indices
        return np.where(indices == UNLABELLED, UNLABELLED, self.view.class_by(self.proba()))

    def indices(self, depth: int) -> IntArray:
        """Return the class index that the model predicts without costs, -1 for want of a labelled box."""
        if self.view.is_ensemble:
            return np.asarray(self.ballot(depth).winners)
        if self.view.uses_evidence:
            if self._probas is None and depth == NO_LIMIT and len(self._table) == 1:
                winner = self.members[0].clear_winner(self.scored[0])
                if winner is not None:
                    return np.array([winner])
            indices = self.probas[0].argmax(axis=1)
            return indices if depth == NO_LIMIT else np.asarray(self._evidence_indices(depth)[0])
        return self.members[0].label_of(self.nodes(depth)[0])

    def scores(self) -> FloatArray:
        """Return a finite score of each class: the logarithm of its probability, or its expected cost with a minus.

        The highest score is that of the class which the model predicts; of several that are highest, it gets more.
        """
        costs = self.view.decision_costs
        if costs is not None:
            return -expected_costs(self.proba(), costs)
        scores = np.log(np.maximum(self.proba(), np.finfo(np.float64).eps))
        rows, winners = np.arange(len(scores)), self.indices(NO_LIMIT)
        first = scores.argmax(axis=1)
        tied = first != winners
        scores[rows[tied], winners[tied]] = np.nextafter(scores[rows[tied], first[tied]], np.inf)
        return np.asarray(scores)

    def proba(self) -> FloatArray:
        """Return the probability of each class."""
        if self.view.is_ensemble:
            return self.ballot(NO_LIMIT).proba()
        if self.view.uses_evidence:
            return self.probas[0]
        return self.members[0].shares_of(self.all_nodes()[0])
