"""The contributions of features to the score of one class against another, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sslart._data.samples import Table
from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain._match import Class, Value

FEATURES, GRAPH = "features", "graph"
USUAL_LINES = 8  # more contributions are shown only where the sum would else have another sign than the margin
MOST = 0.9  # of the sum of all absolute amounts: when so much is shown, the list may end


class Contribution(NamedTuple):
    """Contribution of one feature, or of several correlated features, to the evidence.

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
        The prediction; where the model abstains, what it would predict otherwise.
    runner_up : class or None
        The class of the next highest score; None where there is no other.
    base : float
        Score of the predicted class less that of the runner-up for an average sample.
    margin : float
        The same for this sample. Of an ensemble, scores are the sums of the weighted probabilities of its members.
    probability : float
        What the margin means as a probability: that of the predicted class.
    runner_up_probability : float or None
    contributions : tuple of Contribution
        What leads from the base to the margin, the largest first.
    shown : tuple of Contribution
        Those to show: few, but together with the base they have the sign of the margin.
    not_shown : tuple of Contribution
        The others.
    rest : float
        The sum of the others.
    """

    predicted: Class
    runner_up: Class | None
    base: float
    margin: float
    probability: float
    runner_up_probability: float | None
    _table: EvidenceTable = field(repr=False)
    _row: int = field(repr=False)

    @cached_property
    def shown(self) -> tuple[Contribution, ...]:
        """The contributions to show: few, but together with the base they have the sign of the margin."""
        return self._table.contributions(self._row, shown=True)

    @cached_property
    def not_shown(self) -> tuple[Contribution, ...]:
        """Contributions omitted from the display."""
        return self._table.contributions(self._row, shown=False)

    @property
    def contributions(self) -> tuple[Contribution, ...]:
        """Contributions from the base to the margin, the largest first."""
        return self.shown + self.not_shown

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
        return Evidence(
            self.classes[predicted],
            None if runner_up < 0 else self.classes[runner_up],
            self.bases.item(row),
            self.margins.item(row),
            self.proba.item(row, predicted),
            None if runner_up < 0 else self.proba.item(row, runner_up),
            self,
            row,
        )

    @cached_property
    def _columns_of(self) -> list[list[int]]:
        """Columns of each group; the last entry is the graph, which has no columns."""
        return [*(np.flatnonzero(self.groups == group).tolist() for group in np.unique(self.groups)), []]

    @cached_property
    def _lists(self) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
        """The groups of each sample, the largest first, their amounts, how many are not 0, and how many to show."""
        amounts = np.empty((len(self.bases), len(self._columns_of)))
        for place, columns in enumerate(self._columns_of):
            amounts[:, place] = self.by_column[:, columns].sum(axis=1) if columns else self.of_graph
        order = np.argsort(-np.abs(amounts), axis=1, kind="stable")
        amounts = np.take_along_axis(amounts, order, axis=1)
        so_far = np.cumsum(np.abs(amounts), axis=1)
        n_all = (amounts != 0).sum(axis=1)
        usual = np.minimum((so_far < MOST * so_far[:, -1:]).sum(axis=1) + 1, USUAL_LINES)
        agrees = (self.bases[:, None] + np.cumsum(amounts, axis=1)) * self.margins[:, None] > 0
        agrees &= np.arange(1, amounts.shape[1] + 1) >= usual[:, None]
        n_shown = np.where(agrees.any(axis=1), agrees.argmax(axis=1) + 1, n_all)
        n_shown = np.where(n_shown >= n_all - 1, n_all, n_shown)  # a single one that is left out takes a line as well
        return order, amounts, n_all, n_shown

    def contributions(self, row: int, *, shown: bool) -> tuple[Contribution, ...]:
        """Return the contributions to a sample that are shown, or those that are not; the largest first."""
        order, amounts, n_all, n_shown = self._lists
        places = slice(0, n_shown[row]) if shown else slice(n_shown[row], n_all[row])
        by_column, values = self.by_column[row].tolist(), self.table.values[row].tolist()
        names, categories = self.names, self.table.categories
        found = []
        for place, amount in zip(order[row, places].tolist(), amounts[row, places].tolist(), strict=True):
            columns = self._columns_of[place]
            if len(columns) > 1:
                columns = sorted(columns, key=lambda column: -abs(by_column[column]))
            found.append(
                Contribution(
                    FEATURES if columns else GRAPH,
                    amount,
                    tuple([names[column] for column in columns]),
                    tuple([categories[c][row] if c in categories else _or_none(values[c]) for c in columns]),
                    tuple([by_column[column] for column in columns]),
                )
            )
        return tuple(found)


def _or_none(value: float) -> float | None:
    return None if value != value else value
