"""The nodes that were asked for the answer to each sample, best first. Plain data, no search."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._match import Class


class SearchStep(NamedTuple):
    """A node asked for its label, in its turn.

    Attributes
    ----------
    node : int
    choice, match : float
    label : class or None
    passed_on : str or None
        Why the next node was asked; None for the node that answered.
    """

    node: int
    choice: float
    match: float
    label: Class | None
    passed_on: str | None


@dataclass(frozen=True)
class Ranking:
    """The best nodes of several samples, shape (n_samples, depth), best first; labels are codes, -1 for none."""

    nodes: IntArray
    choices: FloatArray
    matches: FloatArray
    labels: IntArray
    support: IntArray


@dataclass(frozen=True)
class Trails:
    """The nodes asked for each sample: all of them, the best, and the one that answered (the best, if none did).

    Attributes
    ----------
    classes : tuple
        What the labels stand for.
    rankings : list of Ranking
    ranking, places, lengths : arrays of int of length n_samples
        In which ranking, in which row of it, and how many of that row were asked.
    best, winners, answers : arrays of int of length n_samples
        Two nodes, and the label of the second, -1 for none.
    best_matches, winner_matches : arrays of length n_samples
    """

    classes: tuple[Class, ...]
    rankings: list[Ranking]
    ranking: IntArray
    places: IntArray
    lengths: IntArray
    best: IntArray
    best_matches: FloatArray
    winners: IntArray
    winner_matches: FloatArray
    answers: IntArray

    @classmethod
    def none(cls, n: int, classes: tuple[Class, ...]) -> Trails:
        """Return room for the trails of n samples."""
        ranking, places, lengths, best, winners, answers = np.zeros((6, n), dtype=np.int64)
        best_matches, winner_matches = np.zeros((2, n))
        return cls(classes, [], ranking, places, lengths, best, best_matches, winners, winner_matches, answers)

    def take(self, rows: IntArray, places: IntArray, ranking: Ranking, answering: IntArray, lengths: IntArray) -> None:
        """Take down rows of a ranking, given where in it the answering nodes stand and how many were asked."""
        self.ranking[rows], self.places[rows], self.lengths[rows] = len(self.rankings), places, lengths
        self.rankings.append(ranking)
        self.best[rows], self.best_matches[rows] = ranking.nodes[places, 0], ranking.matches[places, 0]
        self.winners[rows] = ranking.nodes[places, answering]
        self.winner_matches[rows] = ranking.matches[places, answering]
        self.answers[rows] = ranking.labels[places, answering]

    def _asked(self, row: int, *names: str) -> list[list[Any]]:
        """Return some columns of the nodes asked for a sample, best first."""
        ranking, place = self.rankings[self.ranking[row]], self.places[row]
        return [getattr(ranking, name)[place, : self.lengths[row]].tolist() for name in names]

    def asked(self, row: int) -> tuple[SearchStep, ...]:
        """Return the nodes asked for a sample, best first."""
        columns = self._asked(row, "nodes", "choices", "matches", "labels")
        return tuple(
            SearchStep(node, choice, match, *((self.classes[label], None) if label >= 0 else (None, "no label")))
            for node, choice, match, label in zip(*columns, strict=True)
        )

    def largest(self, row: int) -> tuple[int, int]:
        """Return the node asked for a sample that has learnt most samples, the better one on ties, and how many."""
        nodes, support = self._asked(row, "nodes", "support")
        most = max(support)
        return nodes[support.index(most)], most
