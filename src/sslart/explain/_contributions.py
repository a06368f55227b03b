"""The contributions of boxes and features to the score of one class against another, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._art.geometry import choice_and_match
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._match import NO_NODE, Box, Class, MatchedBoxes, Value
from sslart.explain._samples import EncodedSamples

BOX, FEATURE, OTHERS, BIAS = "box", "feature", "other boxes", "bias"


@dataclass(frozen=True, eq=False)
class Contribution:
    """One part of the evidence.

    Attributes
    ----------
    kind : {"box", "feature", "other boxes", "bias"}
        A box; a feature alone; all boxes together that have no contribution of their own here; the bias.
    amount : float
        Above 0 for the predicted class, below 0 against it.
    box : Box or None
        The box that contributes.
    feature : str or None
        The feature that contributes.
    value : number, category or None
        What the sample has in the feature.
    n_boxes : int
        How many boxes contribute.
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
    predicted : class
        The prediction; where the model abstains, the class of the highest probability.
    runner_up : class or None
        The class of the next highest score; None where there is no other.
    margin : float
        Score of the predicted class less that of the runner-up; the contributions add up to it.
    member : int or None
        Which member of an ensemble the contributions come from.
    contributions : tuple of Contribution
        The largest first.
    """

    predicted: Class
    runner_up: Class | None
    margin: float
    member: int | None
    contributions: tuple[Contribution, ...]

    def amount_of(self, box: Box | None) -> float | None:
        """Return the contribution of a box; None where it has none of its own."""
        if box is None:
            return None
        own = (one.amount for one in self.contributions if one.box is not None and one.box.node == box.node)
        return next(own, None)


@dataclass(frozen=True, eq=False)
class BoxSnapshot:
    """Some boxes of one network, copied, so that an explanation stays as it is when the model learns.

    Attributes
    ----------
    member : int or None
    choice : float
        α.
    classes : list
        Sorted; labels are indices into it.
    nodes : array of int, increasing
    lower, upper, labels, support : arrays
        Of these boxes.
    """

    member: int | None
    choice: float
    classes: list[Any]
    nodes: IntArray
    lower: FloatArray
    upper: FloatArray
    labels: IntArray
    support: IntArray

    @classmethod
    def of(cls, member: MemberView, nodes: IntArray, classes: list[Any]) -> BoxSnapshot:
        """Copy some boxes, each once; -1 is none."""
        nodes = np.unique(nodes[nodes != NO_NODE])
        return cls(
            member.number,
            member.params.choice,
            classes,
            nodes,
            *member.boxes_of(nodes),
            member.labels[nodes],
            member.support[nodes],
        )

    def matched(self, samples: EncodedSamples, nodes: IntArray) -> MatchedBoxes:
        """Return each sample with one of the boxes."""
        at = np.searchsorted(self.nodes, nodes)
        lower, upper = self.lower[at], self.upper[at]
        choices, matches = choice_and_match(samples.coded, lower, upper, self.choice)
        return MatchedBoxes(
            samples,
            self.member,
            self.classes,
            nodes,
            self.labels[at],
            self.support[at],
            choices,
            matches,
            lower,
            upper,
        )


@dataclass(frozen=True, eq=False)
class EvidenceTable:
    """The contributions within one network to several samples.

    Attributes
    ----------
    samples : EncodedSamples
    classes : list
        Sorted; class indices refer to it.
    predicted, runners_up : arrays of int of length n_samples
        Class indices; a runner-up is -1 where there is no other class.
    margins, biases, others : arrays of length n_samples
    n_others : array of int of length n_samples
        How many boxes contribute that are not listed.
    nodes, amounts : arrays of shape (n_samples, n_boxes)
        The listed boxes, the largest contribution first; -1 for none.
    features : array of shape (n_samples, n_columns)
    boxes : BoxSnapshot
        All boxes that are listed for any sample.
    """

    samples: EncodedSamples
    classes: list[Any]
    predicted: IntArray
    runners_up: IntArray
    margins: FloatArray
    biases: FloatArray
    others: FloatArray
    n_others: IntArray
    nodes: IntArray
    amounts: FloatArray
    features: FloatArray
    boxes: BoxSnapshot

    def largest(self, sign: int) -> IntArray:
        """Return the box that contributes most for (1) or against (-1) each prediction; -1 where none does."""
        amounts = sign * self.amounts
        rows = np.arange(len(amounts))
        return np.where((amounts > 0).any(axis=1), self.nodes[rows, amounts.argmax(axis=1)], NO_NODE)

    def __getitem__(self, row: int) -> Evidence:
        runner_up = self.runners_up.item(row)
        contributions = [*self._of_boxes(row), *self._of_features(row)]
        if self.n_others[row]:
            contributions.append(Contribution(OTHERS, self.others.item(row), n_boxes=self.n_others.item(row)))
        contributions.append(Contribution(BIAS, self.biases.item(row)))
        contributions.sort(key=lambda one: -abs(one.amount))
        return Evidence(
            self.classes[self.predicted[row]],
            None if runner_up < 0 else self.classes[runner_up],
            self.margins.item(row),
            self.boxes.member,
            tuple(contributions),
        )

    def _of_boxes(self, row: int) -> list[Contribution]:
        nodes = self.nodes[row][self.nodes[row] != NO_NODE]
        boxes = self.boxes.matched(self.samples.rows(np.full(len(nodes), row)), nodes)
        amounts = self.amounts[row, : len(nodes)].tolist()
        return [Contribution(BOX, amount, box=boxes[position], n_boxes=1) for position, amount in enumerate(amounts)]

    def _of_features(self, row: int) -> list[Contribution]:
        amounts, table = self.features[row], self.samples.table
        contributions = []
        for column in np.flatnonzero(amounts).tolist():
            given = table.categories.get(column)
            value = table.values[row, column].item() if given is None else given[row]
            name = self.samples.names[column]
            contributions.append(Contribution(FEATURE, amounts.item(column), feature=name, value=value))
        return contributions
