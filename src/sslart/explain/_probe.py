"""One network and the samples to explain: the path of its search, boxes of other classes, and boxes to label."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._art.boxes import NO_LIMIT
from sslart._art.geometry import choice_and_match
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._match import NO_NODE, MatchedBoxes
from sslart.explain._samples import EncodedSamples
from sslart.explain._search_path import Ranking, SearchPaths

FEW_NODES = 8


class MemberProbe:
    """A network with a table of samples.

    Parameters
    ----------
    member : MemberView
    classes : list
        Sorted; labels are indices into it.
    names : list of str
        Names of the columns.
    table : Table
    """

    def __init__(self, member: MemberView, classes: list[Any], names: list[str], table: Table) -> None:
        self.member, self.classes = member, classes
        coded = member.encode(table)
        member.network.check_known_features(coded)
        self.samples = EncodedSamples.of(member.encoder, names, table, coded)
        self._present: BoolArray = ~np.isnan(self.samples.coded)
        self.n_present: IntArray = self._present.sum(axis=1)

    def _choices(self, rows: IntArray, nodes: IntArray, matches: FloatArray) -> FloatArray:
        """Return the choice T = |A ∧ W| / (α + |W|) of boxes, (n_rows, depth), over the features a sample has."""
        own = self.member.network.nodes
        norms = own.norms[nodes]
        for position in np.flatnonzero(self.n_present[rows] < self._present.shape[1]):
            present = np.tile(self._present[rows[position]], 2)
            norms[position] = own.weights[nodes[position]][:, present].sum(axis=1)
        return np.asarray(matches * self.n_present[rows, None] / (self.member.params.choice + norms))

    def search_paths(self, search_depth: int) -> SearchPaths:
        """Return the boxes that the search passes for each sample, up to the first that has a label."""
        n_nodes, n_samples = self.member.n_nodes, len(self.samples)
        limit = n_nodes if search_depth == NO_LIMIT else min(search_depth, n_nodes)
        paths = SearchPaths.empty(n_samples, self.classes)
        rows: IntArray = np.arange(n_samples)
        all_labelled = bool((self.member.labels != UNLABELLED).all())
        depth = 1 if all_labelled else min(FEW_NODES, limit)
        while rows.size:
            nodes, matches = self.member.rank(self.samples.coded[rows], depth=depth)
            labels = self.member.labels[nodes]
            labelled = labels != UNLABELLED
            found = labelled.any(axis=1)
            done = np.flatnonzero(found | (depth == limit))
            choices = self._choices(rows, nodes, matches)
            ranking = Ranking(nodes, choices, matches, labels, self.member.support[nodes])
            positions = np.where(found, labelled.argmax(axis=1), 0)
            lengths = np.where(found, positions + 1, depth)
            paths.add(rows[done], done, ranking, positions[done], lengths[done])
            rows = np.delete(rows, done)
            depth = min(4 * depth, limit)
        return paths

    def other_class(self, indices: IntArray, labels: IntArray | None = None) -> MatchedBoxes:
        """Return the best box of another class than that of each sample (a class index, -1 for none).

        `labels`, class indices of all boxes, take the place of their own.
        """
        labels = self.member.labels if labels is None else labels
        nodes = np.full(len(indices), NO_NODE)
        for index in np.unique(indices).tolist():
            rows = np.flatnonzero(indices == index)
            others = np.where(labels == index, UNLABELLED, labels)
            nodes[rows] = self.member.rank(self.samples.coded[rows], labels=others)[0][:, 0]
        return self.matched(nodes)

    def matched(self, nodes: IntArray) -> MatchedBoxes:
        """Return each sample with a box, -1 for none."""
        held = np.maximum(nodes, 0)
        lower, upper = self.member.boxes_of(held)
        choices, matches = choice_and_match(self.samples.coded, lower, upper, self.member.params.choice)
        return MatchedBoxes(
            self.samples,
            self.member.number,
            self.classes,
            nodes,
            self.member.labels[held],
            self.member.support[held],
            self.member.counts[held],
            choices,
            matches,
            lower,
            upper,
            self.member.network.nodes.met[held],
        )

    def most_similar(self, n: int, paths: SearchPaths) -> tuple[MatchedBoxes, ...]:
        """Return the n boxes of highest choice for each sample, best first; from the search, where it went so far."""
        n = min(n, self.member.n_nodes)
        nodes = paths.best_nodes(n)
        if nodes is None:
            nodes = self.member.rank(self.samples.coded, depth=n)[0]
        return tuple(self.matched(column) for column in nodes.T)

    def unlabelled_near(self, rows: IntArray) -> dict[int, tuple[int, int]]:
        """Return the best box without a label among the few best, and how many samples it holds, by row."""
        if not rows.size:
            return {}
        nodes = self.member.rank(self.samples.coded[rows], depth=FEW_NODES)[0]
        without = self.member.labels[nodes] == UNLABELLED
        best = nodes[np.arange(len(rows)), without.argmax(axis=1)]
        found = zip(rows.tolist(), best.tolist(), self.member.support[best].tolist(), strict=True)
        return {row: (node, held) for (row, node, held), any_ in zip(found, without.any(axis=1), strict=True) if any_}

    def familiarity(self, best_matches: FloatArray) -> FloatArray:
        """Return the familiarity as `score_samples` does, from the match of the best boxes."""
        table = self.samples.table
        return self.member.network.less_beyond(table, self.member.encoder.matrix(table), best_matches)
