"""The contributions of features to the score of one class against another, as data."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._match import Class, Value

FEATURES, GRAPH = "features", "graph"
USUAL_LINES = 8  # more contributions are shown only where the sum would else have another sign than the margin
MOST = 0.9  # of the sum of all absolute amounts: when so much is shown, the list may end


@dataclass(frozen=True, eq=False)
class Contribution:
    """What one feature, or several that go together, add to the evidence.

    Attributes
    ----------
    kind : {"features", "graph"}
        Features; or the graph of boxes, by which samples without a label contribute.
    amount : float
        Above 0 for the predicted class, below 0 against it, compared with an average sample.
    features : tuple of str
        One feature, or several that go together: the largest contribution first. None for the graph.
    values : tuple of number, category or None
        What the sample has in each feature; None where it is missing.
    amounts : tuple of float
        The contribution of each feature; `amount` is their sum.
    """

    kind: str
    amount: float
    features: tuple[str, ...] = ()
    values: tuple[Value | None, ...] = ()
    amounts: tuple[float, ...] = ()


@dataclass(frozen=True, eq=False)
class Evidence:
    """Why one class has a higher score than the next: `base` and all contributions add up to `margin`.

    Attributes
    ----------
    predicted : class
        The prediction; where the model abstains, the class of the highest probability.
    runner_up : class or None
        The class of the next highest score; None where there is no other.
    base : float
        Score of the predicted class less that of the runner-up for an average sample.
    margin : float
        The same for this sample. Of an ensemble, scores are the sums of the weighted probabilities of its members.
    contributions : tuple of Contribution
        What leads from the base to the margin, the largest first.
    probability : float
        What the margin means as a probability: that of the predicted class.
    runner_up_probability : float or None
    """

    predicted: Class
    runner_up: Class | None
    base: float
    margin: float
    contributions: tuple[Contribution, ...]
    probability: float
    runner_up_probability: float | None

    @cached_property
    def shown(self) -> tuple[Contribution, ...]:
        """The contributions to show: few, but together with the base they have the sign of the margin."""
        amounts = np.array([one.amount for one in self.contributions])
        if not len(amounts):
            return ()
        so_far = np.cumsum(np.abs(amounts))
        usual = min(int((so_far < MOST * so_far[-1]).sum()) + 1, USUAL_LINES)
        agrees = (self.base + np.cumsum(amounts)) * self.margin > 0
        enough = np.flatnonzero(agrees[usual - 1 :])
        return self.contributions[: usual + int(enough[0])] if len(enough) else self.contributions

    @property
    def not_shown(self) -> tuple[Contribution, ...]:
        """The contributions that are left out of what is shown."""
        return self.contributions[len(self.shown) :]

    @property
    def rest(self) -> float:
        """The sum of the contributions that are not shown."""
        return float(sum(one.amount for one in self.not_shown))


@dataclass(frozen=True, eq=False)
class EvidenceTable:
    """The contributions to several samples, of one class against another.

    Attributes
    ----------
    table : Table
        The samples.
    names : list of str
        Name of each column.
    classes : list
        Sorted; class indices refer to it.
    groups : array of length n_columns
        Columns of equal number go together.
    predicted, runners_up : arrays of int of length n_samples
        Class indices; a runner-up is -1 where there is no other class.
    bases, margins, of_graph : arrays of length n_samples
    by_column : array of shape (n_samples, n_columns)
    proba : array of shape (n_samples, n_classes)
    """

    table: Table
    names: list[str]
    classes: list[Any]
    groups: IntArray
    predicted: IntArray
    runners_up: IntArray
    bases: FloatArray
    margins: FloatArray
    of_graph: FloatArray
    by_column: FloatArray
    proba: FloatArray

    def __getitem__(self, row: int) -> Evidence:
        predicted, runner_up = self.predicted.item(row), self.runners_up.item(row)
        contributions = self._of_features(row)
        if self.of_graph[row]:
            contributions.append(Contribution(GRAPH, self.of_graph.item(row)))
        contributions.sort(key=lambda one: -abs(one.amount))
        return Evidence(
            self.classes[predicted],
            None if runner_up < 0 else self.classes[runner_up],
            self.bases.item(row),
            self.margins.item(row),
            tuple(contributions),
            self.proba.item(row, predicted),
            None if runner_up < 0 else self.proba.item(row, runner_up),
        )

    def _of_features(self, row: int) -> list[Contribution]:
        amounts = self.by_column[row]
        members: dict[int, list[int]] = {}
        for column in np.argsort(-np.abs(amounts), kind="stable").tolist():
            if amounts[column]:
                members.setdefault(self.groups.item(column), []).append(column)
        return [
            Contribution(
                FEATURES,
                float(amounts[columns].sum()),
                tuple(self.names[column] for column in columns),
                tuple(self._value(row, column) for column in columns),
                tuple(amounts[columns].tolist()),
            )
            for columns in members.values()
        ]

    def _value(self, row: int, column: int) -> Value | None:
        given = self.table.categories.get(column)
        value = self.table.values.item(row, column) if given is None else given[row]
        return None if value is None or value != value else value
