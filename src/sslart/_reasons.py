"""Whom a model asked about each sample, and what they said: nodes in their order, rivals, votes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._classifier import ARTClassifier
from sslart._conditions import Box, Sight, look
from sslart._explanation import Ballot, Ranking, Trail
from sslart._network import NO_LIMIT, Network
from sslart._prototypes import Prototypes
from sslart._validate import UNLABELLED, BoolArray, FloatArray, IntArray, Table
from sslart._wesslart import WESSLART

FIRST_DEPTHS = (1, 8)
NO_NODE = -1


@dataclass(frozen=True)
class Found:
    """One node per sample, -1 for none, with its choice and match, and its box in the unit cube."""

    nodes: IntArray
    choices: FloatArray
    matches: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True)
class Trails:
    """The nodes asked for each sample: all of them, the best, and the one that answered (the best, if none did)."""

    of_sample: list[Any]
    best: IntArray
    best_matches: FloatArray
    winners: IntArray
    winner_matches: FloatArray
    answers: IntArray

    @classmethod
    def none(cls, n: int) -> Trails:
        """Return room for the trails of n samples."""
        return cls([None] * n, np.zeros(n, np.int64), np.zeros(n), np.zeros(n, np.int64), np.zeros(n), np.zeros(n, int))

    def take(self, rows: IntArray, places: IntArray, ranking: Ranking, answering: IntArray, lengths: IntArray) -> None:
        """Take down rows of a ranking, given where in it the answering nodes stand and how many were asked."""
        self.best[rows], self.best_matches[rows] = ranking.nodes[places, 0], ranking.matches[places, 0]
        self.winners[rows] = ranking.nodes[places, answering]
        self.winner_matches[rows] = ranking.matches[places, answering]
        self.answers[rows] = ranking.labels[places, answering]
        for row, place, length in zip(rows.tolist(), places.tolist(), lengths.tolist(), strict=True):
            self.of_sample[row] = Trail(ranking, place, length)


class Witness:
    """One network, asked about the samples of a table.

    Parameters
    ----------
    model : ARTClassifier
    member : int or None
        Its place in an ensemble.
    names : list of str
        Names of the columns.
    table : Table
    """

    def __init__(self, model: ARTClassifier, member: int | None, names: list[str], table: Table) -> None:
        self.model, self.member, self.table = model, member, table
        self.network, self.prototypes = model._network, model._network.prototypes
        self.rule = model._rule()
        self.network.coding.check(table)
        self.sight: Sight = look(self.network.coding, names, table, self.network._encode(table)[0])
        self._present: BoolArray = ~np.isnan(self.sight.coded)
        self.n_present: IntArray = self._present.sum(axis=1)

    def _rank(self, rows: Any, depth: int) -> tuple[IntArray, FloatArray]:
        return self.network.rank(self.table[rows], self.rule.choice, depth=depth, n_jobs=self.model.n_jobs)

    def _choices(self, rows: IntArray, nodes: IntArray, matches: FloatArray) -> FloatArray:
        """Return T = |A ∧ W| / (α + |W|) of nodes, shape (n_rows, depth), over the features that a sample has."""
        norms = self.prototypes.norms[nodes]
        n_features = self._present.shape[1]
        for place in np.flatnonzero(self.n_present[rows] < n_features):
            present = np.tile(self._present[rows[place]], 2)
            norms[place] = self.prototypes.weights[nodes[place]][:, present].sum(axis=1)
        return np.asarray(matches * self.n_present[rows, None] / (self.rule.choice + norms))

    def trails(self, search_depth: int) -> Trails:
        """Return the nodes that a prediction asks for each sample, up to the first that has a label."""
        n_nodes, n_samples = self.prototypes.n_nodes, len(self.table)
        limit = n_nodes if search_depth == NO_LIMIT else min(search_depth, n_nodes)
        trails = Trails.none(n_samples)
        rows: IntArray = np.arange(n_samples)
        depths = iter(FIRST_DEPTHS)
        depth = 0
        while rows.size:
            depth = min(next(depths, 4 * depth), limit)
            nodes, matches = self._rank(rows, depth)
            labels = self.prototypes.labels[nodes]
            labelled = labels != UNLABELLED
            found = labelled.any(axis=1)
            done = np.flatnonzero(found | (depth == limit))
            choices = self._choices(rows, nodes, matches)
            ranking = Ranking(nodes, choices, matches, labels, self.model._table.seen)
            answering = np.where(found, labelled.argmax(axis=1), 0)
            lengths = np.where(found, answering + 1, depth)
            trails.take(rows[done], done, ranking, answering[done], lengths[done])
            rows = np.delete(rows, done)
        return trails

    def rivals(self, answers: IntArray) -> Found:
        """Return the best labelled node of another class than each sample's answer (a class code, -1 for none)."""
        nodes = np.full(len(answers), NO_NODE)
        matches = np.zeros(len(answers))
        for answer in np.unique(answers).tolist():
            rows = np.flatnonzero(answers == answer)
            found = self._without_class(answer).rank(
                self.table[rows], self.rule.choice, labelled_only=True, n_jobs=self.model.n_jobs
            )
            nodes[rows], matches[rows] = found[0][:, 0], found[1][:, 0]
        return self.found(nodes, matches)

    def _without_class(self, code: int) -> Network:
        """Return the network as it would be had the nodes of a class no label; it shares all arrays but that."""
        network, prototypes = object.__new__(Network), object.__new__(Prototypes)
        vars(prototypes).update(vars(self.prototypes))
        labels = self.prototypes.labels
        prototypes.labels = np.where(labels == code, UNLABELLED, labels)
        network.coding, network.prototypes = self.network.coding, prototypes
        return network

    def found(self, nodes: IntArray, matches: FloatArray) -> Found:
        """Return nodes with their choice and their box."""
        held = np.maximum(nodes, 0)
        weights = self.prototypes.weights[held]
        n_features = self.sight.coded.shape[1]
        rows: IntArray = np.arange(len(nodes))
        return Found(
            nodes,
            self._choices(rows, held[:, None], matches[:, None])[:, 0],
            matches,
            weights[:, :n_features],
            1.0 - weights[:, n_features:],
        )

    def boxes(self, found: Found) -> list[Box | None]:
        """Return each sample beside the node found for it; None where there is none."""
        held = np.maximum(found.nodes, 0)
        seen, member, sight = self.model._table.seen, self.member, self.sight
        corners = (found.lower, found.upper)
        columns = zip(
            found.nodes.tolist(),
            self.prototypes.labels[held].tolist(),
            self.prototypes.support[held].tolist(),
            found.choices.tolist(),
            found.matches.tolist(),
            strict=True,
        )
        return [
            None
            if node == NO_NODE
            else Box(node, member, seen[label] if label >= 0 else None, support, choice, match, sight, row, corners)
            for row, (node, label, support, choice, match) in enumerate(columns)
        ]

    def familiarity(self, best_matches: FloatArray) -> FloatArray:
        """Return what `score_samples` says, from the match of the best nodes."""
        return np.asarray(np.clip(best_matches - self.sight.beyond.sum(axis=1) / self.n_present, 0.0, 1.0))


def cast(model: WESSLART, table: Table, depth: int) -> Ballot:
    """Let an ensemble vote."""
    nodes: IntArray = np.array(model._ask(lambda member, stop: member._answering_nodes(table, depth, stop)))
    votes = np.array([member._places(answering) for member, answering in zip(model.estimators_, nodes, strict=True)])
    scores = model._scores(votes)
    if model.voting == "weighted":
        weights = np.take_along_axis(model.class_weights_, votes, axis=1)
        weights[:, ~(weights * (votes != UNLABELLED)).any(axis=0)] = 1.0
    else:
        weights = np.ones(votes.shape)
    return Ballot(nodes, votes, np.where(votes == UNLABELLED, 0.0, weights), scores, _elected(votes, scores))


def _elected(votes: IntArray, scores: FloatArray) -> IntArray:
    return np.where((votes != UNLABELLED).any(axis=0), scores.argmax(axis=1), UNLABELLED)


def places_of(model: ARTClassifier | WESSLART, table: Table) -> IntArray:
    """Predict: return the place in `classes_` of each answer, -1 where the model abstains."""
    depth = model._search_depth()
    if isinstance(model, WESSLART):
        votes = model._votes(table, depth)
        return _elected(votes, model._scores(votes))
    return model._places(model._answering_nodes(table, depth))
