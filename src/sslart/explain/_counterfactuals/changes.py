"""What would change a prediction: samples before and after, and in what they differ. Plain data, no search."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._utils.arrays import IntArray
from sslart._utils.text import DatePart
from sslart.explain import _what_if_text as text
from sslart.explain._boxes import Class, Value


class Change(NamedTuple):
    """One feature of a counterfactual: from what to what."""

    feature: str
    before: Value
    after: Value


@dataclass(frozen=True, eq=False)
class Counterfactual:
    """A changed sample with another prediction, which the model has been run on.

    Attributes
    ----------
    prediction : class
        What the model predicts for the changed sample.
    changes : tuple of Change
        The features that differ; of a date itself, not of its hour, weekday and month, which follow from it.
    sample : tuple
        The whole changed sample, one value per column; None where missing.
    confidence : float or None
        Probability of that class. This and what follows are None in an `Explanation`.
    distance : float or None
        Sum of the changes, each in parts of the learnt range of its feature; 1 for a change of category.
    plausible : bool or None
        False where the changed sample is unlike nearly all learnt samples, as a whole or in a new value, and more so
        than the given sample.
    """

    prediction: Class
    _table: CounterfactualTable = field(repr=False)
    _row: int = field(repr=False)
    confidence: float | None = None
    distance: float | None = None
    plausible: bool | None = None

    @property
    def changes(self) -> tuple[Change, ...]:
        """The features that differ."""
        return self._table.changes(self._row)

    @property
    def sample(self) -> tuple[Value | None, ...]:
        """The whole changed sample, one value per column; None where missing."""
        return self._table.sample(self._row)

    def __str__(self) -> str:
        return text.change_line(self)


@dataclass(frozen=True, eq=False)
class CounterfactualTable:
    """Samples before and after they were changed so that the prediction becomes another.

    Attributes
    ----------
    names : list of str
        Names of the columns.
    classes : list
    indices : array of length n_samples
        Class index of the other prediction; -1 where none was found.
    before, after : Table
    """

    names: list[str]
    classes: list[Any]
    indices: IntArray
    before: Table
    after: Table

    def __getitem__(self, row: int) -> Counterfactual | None:
        index = self.indices.item(row)
        return None if index == UNLABELLED else Counterfactual(self.classes[index], self, row)

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
            if isinstance(self.names[column], DatePart):  # the change of the date says it
                continue
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
