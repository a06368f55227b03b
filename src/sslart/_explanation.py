"""What an explanation consists of: boxes, nodes asked, votes, changes, advice. Plain data, no search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._conditions import Box, Class, Value
from sslart._validate import UNLABELLED, FloatArray, IntArray, Table


@dataclass(frozen=True)
class AskedNode:
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
    classes: tuple[Class, ...]


@dataclass(frozen=True, eq=False)
class Trail:
    """The nodes asked for one sample: the first few of a row of a ranking."""

    ranking: Ranking
    row: int
    length: int

    @property
    def nodes(self) -> IntArray:
        """The nodes asked, best first."""
        return np.asarray(self.ranking.nodes[self.row, : self.length])

    def as_nodes(self) -> tuple[AskedNode, ...]:
        """Return one `AskedNode` per node."""
        ranking, asked = self.ranking, (self.row, slice(0, self.length))
        columns = (ranking.nodes, ranking.choices, ranking.matches, ranking.labels)
        return tuple(
            AskedNode(node, choice, match, *((ranking.classes[label], None) if label >= 0 else (None, "no label")))
            for node, choice, match, label in zip(*(column[asked].tolist() for column in columns), strict=True)
        )


@dataclass(frozen=True)
class Vote:
    """How one member of an ensemble voted.

    Attributes
    ----------
    member : int
    vote : class or None
        None where the member abstained.
    weight : float
        What the vote counts; 0 without a vote.
    node : int or None
        The node of the member that answered.
    """

    member: int
    vote: Class | None
    weight: float
    node: int | None


@dataclass(frozen=True)
class Change:
    """One feature of a counterfactual: from what to what."""

    feature: str
    before: Value
    after: Value


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """A changed sample that gets another answer; the model was asked.

    Attributes
    ----------
    answer : class
        What the model answers for the changed sample.
    changes : tuple of Change
        The features that differ.
    sample : tuple
        The whole changed sample, one value per column; None where missing.
    """

    answer: Class
    _names: list[str]
    _row: int
    _before: Table
    _after: Table

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The features that differ."""
        pairs = zip(self._names, row_of(self._before, self._row), self.sample, strict=True)
        return tuple(Change(name, old, new) for name, old, new in pairs if old != new)  # type: ignore[arg-type]

    @cached_property
    def sample(self) -> tuple[Value | None, ...]:
        """The whole changed sample, one value per column; None where missing."""
        return row_of(self._after, self._row)


def row_of(table: Table, row: int) -> tuple[Value | None, ...]:
    """Return one sample of a table, None where a value is missing."""
    values: list[Any] = [None if value != value else value for value in table.values[row].tolist()]
    for column, given in table.categories.items():
        values[column] = given[row]
    return tuple(values)


@dataclass(frozen=True)
class Novelty:
    """Why a sample is unlike all that was learnt.

    Attributes
    ----------
    familiarity : float
        What `score_samples` says: the match of the best node, less the way beyond the learnt range.
    vigilance : float
        What the model asks for.
    node : int
        The best node.
    features : tuple of str
        The features that make up most of the distance to that node, and those beyond the learnt range.
    """

    familiarity: float
    vigilance: float
    node: int
    features: tuple[str, ...]


@dataclass(frozen=True)
class Advice:
    """What label would help where a model abstains.

    Attributes
    ----------
    node : int
        The unlabelled node, among those asked, that holds most samples.
    member : int or None
        Which member of an ensemble it belongs to.
    support : int
        How many samples it holds.
    """

    node: int
    member: int | None
    support: int


@dataclass(frozen=True)
class Ballot:
    """The votes of an ensemble.

    Attributes
    ----------
    nodes : array of shape (n_members, n_samples)
        The node that answered, -1 for none.
    votes : array of shape (n_members, n_samples)
        Place in `classes_`, -1 for no vote.
    weights : array of shape (n_members, n_samples)
        What each vote counts.
    scores : array of shape (n_samples, n_classes)
    places : array of shape (n_samples,)
        Place of the answer in `classes_`, -1 where no member votes.
    """

    nodes: IntArray
    votes: IntArray
    weights: FloatArray
    scores: FloatArray
    places: IntArray

    def spokesman(self) -> IntArray:
        """Return the member of greatest weight among those that voted for the answer, the first on ties."""
        return np.asarray(np.where(self.votes == self.places, self.weights, -1.0).argmax(axis=0))


@dataclass(frozen=True, eq=False, repr=False)
class Account:
    """All that is told about one answer, as data; `sslart.explain.Explanation` says what each part is."""

    answer: Class | None
    abstained: bool
    confidence: float | None
    box: Box
    rival: Box | None
    counterfactual: Counterfactual | None
    advice: Advice | None
    _trail: Trail
    _unlike: tuple[float, float, Box] | None
    _ballot: tuple[Ballot, int, list[Any]] | None

    @cached_property
    def asked(self) -> tuple[AskedNode, ...]:
        """The nodes asked, best first, up to the first with a label, or to T."""
        return self._trail.as_nodes()

    @cached_property
    def novelty(self) -> Novelty | None:
        """Why the sample is unlike all that was learnt; None where it is not."""
        if self._unlike is None:
            return None
        familiarity, vigilance, box = self._unlike
        names, covered = [], 0.0
        for condition in box.outside:
            if covered < 0.5 and condition.share > 0:
                names.append(condition.feature)
                covered += condition.share
            elif condition.beyond_range:
                names.append(condition.feature)
        return Novelty(familiarity, vigilance, box.node, tuple(names))

    @cached_property
    def votes(self) -> tuple[Vote, ...] | None:
        """How each member voted; None unless the model is an ensemble."""
        if self._ballot is None:
            return None
        ballot, row, classes = self._ballot
        columns = (ballot.votes[:, row].tolist(), ballot.weights[:, row].tolist(), ballot.nodes[:, row].tolist())
        return tuple(
            Vote(member, None, 0.0, None) if place == UNLABELLED else Vote(member, classes[place], weight, node)
            for member, (place, weight, node) in enumerate(zip(*columns, strict=True))
        )

    @cached_property
    def scores(self) -> dict[Class, float] | None:
        """What the votes add up to; None unless the model is an ensemble."""
        if self._ballot is None:
            return None
        ballot, row, classes = self._ballot
        return dict(zip(classes, ballot.scores[row].tolist(), strict=True))
