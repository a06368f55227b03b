"""The boxes that a search passes for each sample, best first, up to the first that has a label. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._match import Class


class SearchStep(NamedTuple):
    """One box on the path of a search.

    Attributes
    ----------
    node : int
    choice, match : float
    label : class or None
    skipped_because : str or None
        Why the search went on to the next box; None for the box that the prediction comes from.
    """

    node: int
    choice: float
    match: float
    label: Class | None
    skipped_because: str | None


@dataclass(frozen=True)
class Ranking:
    """The best boxes of several samples, shape (n_samples, depth), best first; labels are class indices or -1."""

    nodes: IntArray
    choices: FloatArray
    matches: FloatArray
    labels: IntArray
    support: IntArray


@dataclass(frozen=True)
class SearchPaths:
    """The path of the search for each sample: all its boxes, the best, and the first with a label (else the best).

    Attributes
    ----------
    classes : list
        Sorted; labels are indices into it.
    rankings : list of Ranking
    ranking, rows, lengths : arrays of int of length n_samples
        In which ranking, in which row of it, and how long the path is.
    best, found, labels : arrays of int of length n_samples
        Two boxes, and the label of the second, -1 for none.
    best_matches : array of length n_samples
    """

    classes: list[Any]
    rankings: list[Ranking]
    ranking: IntArray
    rows: IntArray
    lengths: IntArray
    best: IntArray
    best_matches: FloatArray
    found: IntArray
    labels: IntArray

    @classmethod
    def empty(cls, n: int, classes: list[Any]) -> SearchPaths:
        """Return room for the paths of n samples."""
        ranking, rows, lengths, best, found, labels = np.zeros((6, n), dtype=np.int64)
        return cls(classes, [], ranking, rows, lengths, best, np.zeros(n), found, labels)

    def add(self, samples: IntArray, rows: IntArray, ranking: Ranking, positions: IntArray, lengths: IntArray) -> None:
        """Store rows of a ranking, given the positions of the boxes found, and how long the paths are."""
        self.ranking[samples], self.rows[samples], self.lengths[samples] = len(self.rankings), rows, lengths
        self.rankings.append(ranking)
        self.best[samples], self.best_matches[samples] = ranking.nodes[rows, 0], ranking.matches[rows, 0]
        self.found[samples] = ranking.nodes[rows, positions]
        self.labels[samples] = ranking.labels[rows, positions]

    def best_nodes(self, n: int) -> IntArray | None:
        """Return the n best boxes of each sample, shape (n_samples, n); None where fewer were ranked."""
        if any(ranking.nodes.shape[1] < n for ranking in self.rankings):
            return None
        nodes = np.empty((len(self.rows), n), dtype=np.int64)
        for number, ranking in enumerate(self.rankings):
            own = self.ranking == number
            nodes[own] = ranking.nodes[self.rows[own], :n]
        return nodes

    def _columns(self, sample: int, *names: str) -> list[list[Any]]:
        ranking, row = self.rankings[self.ranking[sample]], self.rows[sample]
        return [getattr(ranking, name)[row, : self.lengths[sample]].tolist() for name in names]

    def steps(self, sample: int) -> tuple[SearchStep, ...]:
        """Return the path of a sample, best box first."""
        columns = self._columns(sample, "nodes", "choices", "matches", "labels")
        return tuple(
            SearchStep(node, choice, match, *((self.classes[label], None) if label >= 0 else (None, "no label")))
            for node, choice, match, label in zip(*columns, strict=True)
        )

    def largest(self, sample: int) -> tuple[int, int]:
        """Return the box on the path that has learnt most samples, the better one on ties, and how many."""
        nodes, support = self._columns(sample, "nodes", "support")
        most = max(support)
        return nodes[support.index(most)], most
