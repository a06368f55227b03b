"""What an explanation consists of: boxes, nodes asked, votes, changes, advice. Plain data, no search."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from sslart._conditions import NO_NODE, Box, Boxes, Class, Value
from sslart._testimony import Evidence, Heard
from sslart._validate import UNLABELLED, FloatArray, IntArray, Table


class AskedNode(NamedTuple):
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

    def asked(self, row: int) -> tuple[AskedNode, ...]:
        """Return the nodes asked for a sample, best first."""
        columns = self._asked(row, "nodes", "choices", "matches", "labels")
        return tuple(
            AskedNode(node, choice, match, *((self.classes[label], None) if label >= 0 else (None, "no label")))
            for node, choice, match, label in zip(*columns, strict=True)
        )

    def largest(self, row: int) -> tuple[int, int]:
        """Return the node asked for a sample that has learnt most samples, the better one on ties, and how many."""
        nodes, support = self._asked(row, "nodes", "support")
        most = max(support)
        return nodes[support.index(most)], most


@dataclass(frozen=True)
class Vote:
    """How one member of an ensemble voted.

    Attributes
    ----------
    member : int
    vote : class or None
        None where the member abstained.
    weight : float
        What the vote counts; 0 without a vote. With evidence mapping, times the member's probability for it.
    node : int or None
        The node of the member that answered; None with evidence mapping, where all speak.
    """

    member: int
    vote: Class | None
    weight: float
    node: int | None


class Change(NamedTuple):
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
    _flips: Flips = field(repr=False)
    _row: int = field(repr=False)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The features that differ."""
        return self._flips.changes(self._row)

    @property
    def sample(self) -> tuple[Value | None, ...]:
        """The whole changed sample, one value per column; None where missing."""
        return self._flips.sample(self._row)


@dataclass(frozen=True, eq=False)
class Flips:
    """Samples before and after they were changed so that they get another answer.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    classes : list
    places : array of length n_samples
        The other answer as a place in the classes; -1 where none was found.
    before, after : Table
    """

    names: list[str]
    classes: list[Any]
    places: IntArray
    before: Table
    after: Table

    def __getitem__(self, row: int) -> Counterfactual | None:
        place = self.places.item(row)
        return None if place == UNLABELLED else Counterfactual(self.classes[place], self, row)

    @cached_property
    def _numbers(self) -> tuple[list[int], list[int], list[float], list[float]]:
        """Where in the lists that follow each sample begins; the columns that differ, their values before and after."""
        before, after = self.before.values, self.after.values
        differ = (before != after) & ~np.isnan(before)
        starts = np.concatenate([[0], np.cumsum(differ.sum(axis=1))])
        return starts.tolist(), np.nonzero(differ)[1].tolist(), before[differ].tolist(), after[differ].tolist()

    def changes(self, row: int) -> tuple[Change, ...]:
        """Return what differs in a sample, in the order of the columns."""
        starts, columns, old, new = self._numbers
        own = slice(starts[row], starts[row + 1])
        differing: list[tuple[int, Value, Value]] = list(zip(columns[own], old[own], new[own], strict=True))
        for column, given in self.before.categories.items():
            if given[row] != self.after.categories[column][row]:
                differing.append((column, given[row], self.after.categories[column][row]))
        differing.sort(key=itemgetter(0))
        return tuple(Change(self.names[column], before, after) for column, before, after in differing)

    def sample(self, row: int) -> tuple[Value | None, ...]:
        """Return a changed sample, None where a value is missing."""
        values: list[Any] = [None if value != value else value for value in self.after.values[row].tolist()]
        for column, given in self.after.categories.items():
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
    given : array of shape (n_members, n_samples)
        What each member gives to the answer; -1 where it does not speak for it.
    """

    nodes: IntArray
    votes: IntArray
    weights: FloatArray
    scores: FloatArray
    places: IntArray
    given: FloatArray

    def spokesman(self) -> IntArray:
        """Return the member that gives most to the answer, the first on ties."""
        return np.asarray(self.given.argmax(axis=0))


@dataclass(frozen=True)
class Told:
    """What one network says about samples: the nodes asked, the boxes that answered, of other classes, the best.

    With evidence mapping, `boxes` and `rivals` are the loudest for and against, and `heard` is what all said.
    `near` has the node to label, and its support, of samples whose answer is not sure enough; `elsewhere` has other
    boxes where the answer may be another.
    """

    trails: Trails
    boxes: Boxes
    rivals: Boxes
    best: Boxes
    near: dict[int, tuple[int, int]]
    heard: Heard | None = None
    elsewhere: tuple[Boxes, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What is known about samples beyond that: how they flip, how familiar they are, who voted for what.

    `doubtful` has the highest probability of those that have an answer, but not a sure one; NaN of others.
    """

    flips: Flips
    familiarity: FloatArray
    vigilance: float
    ballot: Ballot | None
    classes: list[Any]
    doubtful: FloatArray
    limit: float | None


@dataclass(frozen=True, eq=False, repr=False)
class Account:
    """All that is told about one answer, as data; `sslart.explain.Explanation` says what each part is.

    Parts are made when they are first looked at.
    """

    answer: Class | None
    abstained: bool
    confidence: float | None
    _told: Told
    _place: int
    _verdict: Verdict
    _row: int

    @cached_property
    def box(self) -> Box:
        """The box that answered, or spoke loudest for the answer; the best one where the model abstains."""
        box = self._told.boxes[self._place]
        assert box is not None
        return box

    @cached_property
    def rival(self) -> Box | None:
        """The box that spoke loudest against; else the best-ranked of another class; None where there is none."""
        return self._told.rivals[self._place]

    @cached_property
    def counterfactual(self) -> Counterfactual | None:
        """The smallest change found that gets another answer; None where none was found."""
        return self._verdict.flips[self._row]

    @property
    def asked(self) -> tuple[AskedNode, ...]:
        """The nodes asked, best first, up to the first with a label, or to T; none where all speak."""
        if self._told.heard is not None and (self.unsure is not None or not self.abstained):
            return ()
        return self._told.trails.asked(self._place)

    @property
    def unsure(self) -> tuple[float, float] | None:
        """The highest probability and the limit it does not reach, where the model abstains because of that."""
        highest, limit = self._verdict.doubtful.item(self._row), self._verdict.limit
        return None if limit is None or highest != highest else (highest, limit)

    @cached_property
    def evidence(self) -> Evidence | None:
        """What all boxes and features say for the answer against the runner-up; None for other mappings."""
        heard = self._told.heard
        return None if heard is None else heard[self._place]

    @cached_property
    def advice(self) -> Advice | None:
        """What label would help most, where the model abstains."""
        if not self.abstained:
            return None
        told = self._told
        found = told.trails.largest(self._place) if self.unsure is None else told.near.get(self._place)
        return None if found is None else Advice(found[0], self.box.member, found[1])

    @cached_property
    def novelty(self) -> Novelty | None:
        """Why the sample is unlike all that was learnt; None where it is not."""
        familiarity, vigilance = self._verdict.familiarity.item(self._row), self._verdict.vigilance
        if familiarity >= vigilance:
            return None
        best = self._told.best
        return Novelty(familiarity, vigilance, best.nodes.item(self._place), best.strangest(self._place))

    @cached_property
    def votes(self) -> tuple[Vote, ...] | None:
        """How each member voted; None unless the model is an ensemble."""
        ballot, row, classes = self._verdict.ballot, self._row, self._verdict.classes
        if ballot is None:
            return None
        columns = (ballot.votes[:, row].tolist(), ballot.weights[:, row].tolist(), ballot.nodes[:, row].tolist())
        return tuple(
            Vote(member, None, 0.0, None)
            if place == UNLABELLED
            else Vote(member, classes[place], weight, None if node == NO_NODE else node)
            for member, (place, weight, node) in enumerate(zip(*columns, strict=True))
        )

    @cached_property
    def scores(self) -> dict[Class, float] | None:
        """What the votes add up to; None unless the model is an ensemble."""
        ballot, row, classes = self._verdict.ballot, self._row, self._verdict.classes
        if ballot is None:
            return None
        return dict(zip(classes, ballot.scores[row].tolist(), strict=True))
