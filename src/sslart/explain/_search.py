"""Whom a model asked about each sample, and what they said: nodes in their order, rivals, votes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from sslart._art.network import NO_LIMIT, Network
from sslart._art.nodes import Nodes
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.estimators._classifier import ARTClassifier
from sslart.estimators._wesslart import WESSLART
from sslart.explain._contributions import Speaking
from sslart.explain._explanation import Ballot
from sslart.explain._match import NO_NODE, Boxes, Sight, look
from sslart.explain._search_path import Ranking, Trails

FEW_NODES = 8


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
        self.network, self.nodes = model._network, model._network.nodes
        self.rule = model._learning_params()
        self.network.encoder.check(table)
        self.sight: Sight = look(self.network.encoder, names, table, self.network._encode(table)[0])
        self._present: BoolArray = ~np.isnan(self.sight.coded)
        self.n_present: IntArray = self._present.sum(axis=1)

    def _rank(self, rows: Any, depth: int) -> tuple[IntArray, FloatArray]:
        return self.network.rank(self.table[rows], self.rule.choice, depth=depth, n_jobs=self.model.n_jobs)

    def _choices(self, rows: IntArray, nodes: IntArray, matches: FloatArray) -> FloatArray:
        """Return T = |A ∧ W| / (α + |W|) of nodes, shape (n_rows, depth), over the features that a sample has."""
        norms = self.nodes.norms[nodes]
        n_features = self._present.shape[1]
        for place in np.flatnonzero(self.n_present[rows] < n_features):
            present = np.tile(self._present[rows[place]], 2)
            norms[place] = self.nodes.weights[nodes[place]][:, present].sum(axis=1)
        return np.asarray(matches * self.n_present[rows, None] / (self.rule.choice + norms))

    def trails(self, search_depth: int) -> Trails:
        """Return the nodes that a prediction asks for each sample, up to the first that has a label."""
        n_nodes, n_samples = self.nodes.n_nodes, len(self.table)
        limit = n_nodes if search_depth == NO_LIMIT else min(search_depth, n_nodes)
        trails = Trails.none(n_samples, self.model._class_table.seen)
        rows: IntArray = np.arange(n_samples)
        all_labelled = bool((self.nodes.labels[:n_nodes] != UNLABELLED).all())
        depth = 1 if all_labelled else min(FEW_NODES, limit)
        while rows.size:
            nodes, matches = self._rank(rows, depth)
            labels = self.nodes.labels[nodes]
            labelled = labels != UNLABELLED
            found = labelled.any(axis=1)
            done = np.flatnonzero(found | (depth == limit))
            choices = self._choices(rows, nodes, matches)
            ranking = Ranking(nodes, choices, matches, labels, self.nodes.support[nodes])
            answering = np.where(found, labelled.argmax(axis=1), 0)
            lengths = np.where(found, answering + 1, depth)
            trails.take(rows[done], done, ranking, answering[done], lengths[done])
            rows = np.delete(rows, done)
            depth = min(4 * depth, limit)
        return trails

    def rivals(self, answers: IntArray, labels: IntArray | None = None) -> Boxes:
        """Return the best labelled node of another class than each sample's answer (a class code, -1 for none).

        `labels` takes the place of those of the nodes.
        """
        labels = self.nodes.labels if labels is None else labels
        nodes = np.full(len(answers), NO_NODE)
        matches = np.zeros(len(answers))
        for answer in np.unique(answers).tolist():
            rows = np.flatnonzero(answers == answer)
            found = self._without_class(answer, labels).rank(
                self.table[rows], self.rule.choice, labelled_only=True, n_jobs=self.model.n_jobs
            )
            nodes[rows], matches[rows] = found[0][:, 0], found[1][:, 0]
        return self.found(nodes, matches)

    def _without_class(self, code: int, labels: IntArray) -> Network:
        """Return the network as it would be had nodes these labels, but none of a class; it shares all other arrays."""
        network, prototypes = object.__new__(Network), object.__new__(Nodes)
        vars(prototypes).update(vars(self.nodes))
        prototypes.labels = np.where(labels == code, UNLABELLED, labels)
        network.encoder, network.nodes = self.network.encoder, prototypes
        return network

    def found(self, nodes: IntArray, matches: FloatArray) -> Boxes:
        """Return each sample beside a node, -1 for none."""
        held = np.maximum(nodes, 0)
        weights = self.nodes.weights[held]
        n_features = self.sight.coded.shape[1]
        rows: IntArray = np.arange(len(nodes))
        return Boxes(
            self.sight,
            self.member,
            self.model._class_table.seen,
            nodes,
            self.nodes.labels[held],
            self.nodes.support[held],
            self._choices(rows, held[:, None], matches[:, None])[:, 0],
            matches,
            weights[:, :n_features],
            1.0 - weights[:, n_features:],
        )

    def beside(self, nodes: IntArray) -> Boxes:
        """Return each sample beside any node, -1 for none."""
        held = np.maximum(nodes, 0)
        spoke = Speaking.of(self.nodes, held, self.member, self.rule.choice, self.model._class_table.seen)
        return dataclasses.replace(spoke.beside(self.sight, held), nodes=nodes)

    def unlabelled_near(self, rows: IntArray) -> dict[int, tuple[int, int]]:
        """Return the best node without a label among the few best, and how many samples it holds, by row."""
        if not rows.size:
            return {}
        nodes = self._rank(rows, FEW_NODES)[0]
        without = self.nodes.labels[nodes] == UNLABELLED
        best = nodes[np.arange(len(rows)), without.argmax(axis=1)]
        found = zip(rows.tolist(), best.tolist(), self.nodes.support[best].tolist(), strict=True)
        return {row: (node, held) for (row, node, held), any_ in zip(found, without.any(axis=1), strict=True) if any_}

    def familiarity(self, best_matches: FloatArray) -> FloatArray:
        """Return what `score_samples` says, from the match of the best nodes."""
        return np.asarray(np.clip(best_matches - self.sight.beyond.sum(axis=1) / self.n_present, 0.0, 1.0))


def cast(model: WESSLART, table: Table, depth: int) -> Ballot:
    """Let an ensemble vote."""
    if model._speaks:
        return _cast_evidence(model, table, depth)
    nodes: IntArray = np.array(model._ask(lambda member, stop: member._answering_nodes(table, depth, stop)))
    votes = np.array([member._places(answering) for member, answering in zip(model.estimators_, nodes, strict=True)])
    scores = model._scores(votes)
    if model.voting == "weighted":
        weights = np.take_along_axis(model.class_weights_, votes, axis=1)
        weights[:, ~(weights * (votes != UNLABELLED)).any(axis=0)] = 1.0
    else:
        weights = np.ones(votes.shape)
    elected, weights = _elected(votes, scores), np.where(votes == UNLABELLED, 0.0, weights)
    return Ballot(nodes, votes, weights, scores, elected, np.where(votes == elected, weights, -1.0))


def _cast_evidence(model: WESSLART, table: Table, depth: int) -> Ballot:
    """Let an ensemble vote in which members have a probability for every class; no node answers alone."""
    votes, shares = model._evidence_poll(table, depth)
    scores = shares.sum(axis=0)
    elected = _elected(votes, scores)
    own, given = (
        np.take_along_axis(shares, np.maximum(places, 0)[:, :, None], axis=2)[:, :, 0]
        for places in (votes, np.broadcast_to(elected, votes.shape))
    )
    silent = votes == UNLABELLED
    nodes = np.full(votes.shape, NO_NODE)
    return Ballot(nodes, votes, np.where(silent, 0.0, own), scores, elected, np.where(silent, -1.0, given))


def _elected(votes: IntArray, scores: FloatArray) -> IntArray:
    return np.where((votes != UNLABELLED).any(axis=0), scores.argmax(axis=1), UNLABELLED)


def answers_of(model: ARTClassifier | WESSLART, table: Table) -> tuple[IntArray, IntArray]:
    """Predict: return the place in `classes_` of each answer, -1 where the model abstains, and who answered.

    That is a node, -1 for none; -1 for every answer that several nodes give: of an ensemble, or where all boxes speak.
    """
    depth = model._search_depth()
    if speaks(model) or isinstance(model, WESSLART):
        return model._sure(model._answer_places(table, depth), table), np.full(len(table), NO_NODE)
    nodes = model._answering_nodes(table, depth)
    return model._sure(model._places(nodes), table), nodes


def speaks(model: Any) -> bool:
    """Tell whether all boxes of a model speak: evidence mapping."""
    return bool(getattr(model, "_speaks", False))
