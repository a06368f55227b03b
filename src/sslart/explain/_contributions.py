"""What boxes and features say for an answer against the runner-up, as data: the terms of a sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._art.nodes import Nodes
from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._match import NO_NODE, Box, Boxes, Class, Sight, Value

BOX, FEATURE, OTHERS, BIAS = "box", "feature", "other boxes", "bias"


@dataclass(frozen=True, eq=False)
class Contribution:
    """One part of the evidence.

    Attributes
    ----------
    kind : {"box", "feature", "other boxes", "bias"}
        A box; a feature by itself; all boxes together that have no term of their own; what is said before any of them.
    amount : float
        For the answer above 0, against it below.
    box : Box or None
        The box that says it.
    feature : str or None
        The feature that says it.
    value : number, category or None
        What the sample has there.
    n_boxes : int
        How many boxes say it.
    """

    kind: str
    amount: float
    box: Box | None = None
    feature: str | None = None
    value: Value | None = None
    n_boxes: int = 0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Why one class has a higher score than the next.

    Attributes
    ----------
    winner : class
        The answer; where the model abstains, the class it would have named.
    runner_up : class or None
        The class of the next highest score; None where there is no other.
    margin : float
        Score of the winner less that of the runner-up; the terms add up to it.
    member : int or None
        Which member of an ensemble speaks.
    terms : tuple of Contribution
        The largest first.
    """

    winner: Class
    runner_up: Class | None
    margin: float
    member: int | None
    terms: tuple[Contribution, ...]

    def amount_of(self, box: Box | None) -> float | None:
        """Return what a box says; None where it has no term."""
        if box is None:
            return None
        return next((term.amount for term in self.terms if term.box is not None and term.box.node == box.node), None)


@dataclass(frozen=True, eq=False)
class Speaking:
    """The nodes of one network that spoke, as they were then.

    Attributes
    ----------
    member : int or None
    choice : float
        α.
    classes : tuple
        What the labels stand for.
    nodes : array of int, increasing
    weights, labels, support : arrays
        Of these nodes.
    """

    member: int | None
    choice: float
    classes: tuple[Class, ...]
    nodes: IntArray
    weights: FloatArray
    labels: IntArray
    support: IntArray

    @classmethod
    def of(
        cls, prototypes: Nodes, nodes: IntArray, member: int | None, choice: float, classes: tuple[Class, ...]
    ) -> Speaking:
        """Take down some nodes, each once; -1 is none."""
        nodes = np.unique(nodes[nodes != NO_NODE])
        return cls(
            member,
            choice,
            classes,
            nodes,
            prototypes.weights[nodes],
            prototypes.labels[nodes],
            prototypes.support[nodes],
        )

    def beside(self, sight: Sight, nodes: IntArray) -> Boxes:
        """Return each sample beside one of the nodes."""
        at = np.searchsorted(self.nodes, nodes)
        weights, n_features = self.weights[at], sight.coded.shape[1]
        lower, above = weights[:, :n_features], weights[:, n_features:]
        present = ~np.isnan(sight.coded)
        coded = np.where(present, sight.coded, 0.0)
        common = np.where(present, np.minimum(coded, lower) + np.minimum(1.0 - coded, above), 0.0).sum(axis=1)
        norms = np.where(present, lower + above, 0.0).sum(axis=1)
        return Boxes(
            sight,
            self.member,
            self.classes,
            nodes,
            self.labels[at],
            self.support[at],
            common / (self.choice + norms),
            common / present.sum(axis=1),
            lower,
            1.0 - above,
        )


@dataclass(frozen=True, eq=False)
class Heard:
    """What one network says about several samples.

    Attributes
    ----------
    sight : Sight
        The samples.
    classes : list
        Sorted, as places refer to them.
    winners, runners_up : arrays of int of length n_samples
        Places of classes; a runner-up is -1 where there is no other class.
    margins, biases, others : arrays of length n_samples
    n_others : array of int of length n_samples
        How many boxes spoke that have no term of their own.
    nodes, amounts : arrays of shape (n_samples, n_boxes)
        The boxes that have one, the loudest first; -1 for none.
    features : array of shape (n_samples, n_columns)
    speaking : Speaking
    """

    sight: Sight
    classes: list[Any]
    winners: IntArray
    runners_up: IntArray
    margins: FloatArray
    biases: FloatArray
    others: FloatArray
    n_others: IntArray
    nodes: IntArray
    amounts: FloatArray
    features: FloatArray
    speaking: Speaking

    def loudest(self, sign: int) -> IntArray:
        """Return the node that speaks loudest for (1) or against (-1) each answer; -1 where none does."""
        said = sign * self.amounts
        return np.where((said > 0).any(axis=1), self.nodes[np.arange(len(said)), said.argmax(axis=1)], NO_NODE)

    def __getitem__(self, row: int) -> Evidence:
        runner_up = self.runners_up.item(row)
        terms = [*self._boxes(row), *self._features(row)]
        if self.n_others[row]:
            terms.append(Contribution(OTHERS, self.others.item(row), n_boxes=self.n_others.item(row)))
        terms.append(Contribution(BIAS, self.biases.item(row)))
        terms.sort(key=lambda term: -abs(term.amount))
        return Evidence(
            self.classes[self.winners[row]],
            None if runner_up < 0 else self.classes[runner_up],
            self.margins.item(row),
            self.speaking.member,
            tuple(terms),
        )

    def _boxes(self, row: int) -> list[Contribution]:
        nodes = self.nodes[row][self.nodes[row] != NO_NODE]
        boxes = self.speaking.beside(self.sight.of(np.full(len(nodes), row)), nodes)
        amounts = self.amounts[row, : len(nodes)].tolist()
        return [Contribution(BOX, amount, box=boxes[place], n_boxes=1) for place, amount in enumerate(amounts)]

    def _features(self, row: int) -> list[Contribution]:
        said, table = self.features[row], self.sight.table
        terms = []
        for column in np.flatnonzero(said).tolist():
            given = table.categories.get(column)
            value = table.values[row, column].item() if given is None else given[row]
            terms.append(Contribution(FEATURE, said.item(column), feature=self.sight.names[column], value=value))
        return terms
