"""What an explanation consists of: votes, novelty, advice, and all of it together. Plain data, no search."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._contributions import Evidence, Heard
from sslart.explain._flips import Counterfactual, Flips
from sslart.explain._match import NO_NODE, Box, Boxes, Class
from sslart.explain._search_path import SearchStep, Trails


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


@dataclass(frozen=True)
class Novelty:
    """Why a sample matches no node as well as vigilance asks.

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
    threshold : float
        The model's `novelty_threshold_`: all but a twentieth of what was learnt fits better than that.
    """

    familiarity: float
    vigilance: float
    node: int
    features: tuple[str, ...]
    threshold: float

    @property
    def is_novel(self) -> bool:
        """Whether the sample fits worse than nearly all that was learnt."""
        return self.familiarity < self.threshold


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
    novelty_threshold: float
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
    def asked(self) -> tuple[SearchStep, ...]:
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
        """Why the sample matches no node as well as vigilance asks; None where one does."""
        familiarity, vigilance = self._verdict.familiarity.item(self._row), self._verdict.vigilance
        if familiarity >= vigilance:
            return None
        best = self._told.best
        node, features = best.nodes.item(self._place), best.strangest(self._place)
        return Novelty(familiarity, vigilance, node, features, self._verdict.novelty_threshold)

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
