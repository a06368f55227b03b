"""Drift of features: means and variances over parts of a stream, and an adaptive window of each feature."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from sslart._art.backend import backend
from sslart._data.samples import Table
from sslart._data.stream_sums import BLOCK, COUNT, END, LONG, MAX_VALUE, MIN_SHIFT, MISSING, RARER
from sslart._drift.windows import Buckets
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import CachesValues
from sslart._utils.text import DateName, number_text, printable
from sslart._utils.validation import MAX_COUNT, require, saved_array

MAX_CATEGORIES = 50  # of a column, that are counted, to bound memory
MAX_NAMED = 5  # features in an event
RECENT, TIMES = 1024, 4  # samples before a change used in the comparison, or four times those after it
MIN_CERTAINTY = 4.0  # minimum shift in standard errors, since many features are tested
NOT_COUNTED = -2  # index of a category that is not counted

NEVER = MAX_COUNT  # start of a window that remains empty

Category = tuple[int, str | bool | float]  # column and value


@dataclass(frozen=True)
class FeatureShift:
    """A feature whose mean differs before and after a drift.

    Attributes
    ----------
    name : str
        The feature; for a category feature=category, with its shares as `before` and `after`.
    before, after : float
        The mean in the user's units.
    shift : float
        The difference, in standard deviations of the feature before the drift.
    """

    name: str
    before: float
    after: float
    shift: float

    def __str__(self) -> str:
        distance = f"{abs(self.shift):.1f} standard deviations"
        return f"{printable(self.name)} from {number_text(self.before, 3)} to {number_text(self.after, 3)} ({distance})"

    def to_dict(self) -> dict[str, Any]:
        """Return the shift as plain values."""
        return {"name": self.name, **{name: rounded(getattr(self, name)) for name in ("before", "after", "shift")}}


class FeatureCut(NamedTuple):
    """Windows of features that are cut after sample `end`.

    `starts` are the last samples before the windows, `changes` those before the changes (-1: none), and `excess` the
    differences of the means divided by their limits.
    """

    end: int
    starts: IntArray
    changes: IntArray
    excess: FloatArray


@dataclass(frozen=True, eq=False)
class FeatureHistory(CachesValues):
    """Sums of features over blocks of a stream, in an exponential histogram. Immutable.

    Attributes
    ----------
    first : array of length n_columns
        The first number of each column, as the origin of the others; NaN if there was none.
    categories : tuple of (column, category)
        The counted categories, in order of appearance.
    starts : array of length n_columns + n_categories
        The last sample before the adaptive window of each column and category.
    buckets : Buckets
        Rows of (last sample, samples, values of each column, their sums, the sums of their squares, samples of each
        category).
    """

    first: FloatArray = field(default_factory=lambda: np.empty(0))
    categories: tuple[Category, ...] = ()
    starts: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    buckets: Buckets = field(default_factory=Buckets)

    @cached_property
    def _place_of(self) -> dict[Category, int]:
        return {category: place for place, category in enumerate(self.categories)}

    def reading(self, table: Table) -> tuple[FeatureHistory, IntArray | None]:
        """Add the columns and categories of a table; return the history, and the index of each category.

        Indices are None if there are no categorical columns.
        """
        values, n_columns = table.values, table.values.shape[1]
        first, categories = self.first, self.categories
        if len(first) < n_columns or np.isnan(first).any():
            known = ~np.isnan(values)
            found = np.where(known.any(axis=0), values[known.argmax(axis=0), np.arange(n_columns)], np.nan)
            first = np.concatenate([np.where(np.isnan(first), found[: len(first)], first), found[len(first) :]])
        if not table.categories:
            return self._with(first, categories), None
        n_counted = Counter(column for column, _ in categories)
        new_ones: list[tuple[int, int, Any]] = []  # in the order of the samples, as if they had come one by one
        for column, given in table.categories.items():
            new = [one for one in dict.fromkeys(given) if one is not None and (column, one) not in self._place_of]
            rows = given.tolist() if new else []
            new_ones += [(rows.index(one), column, one) for one in new[: MAX_CATEGORIES - n_counted[column]]]
        categories += tuple((column, one) for _, column, one in sorted(new_ones, key=lambda one: one[:2]))
        history = self._with(first, categories)
        places = np.full(values.shape, MISSING)
        for column, given in table.categories.items():
            of = history._place_of
            places[:, column] = [MISSING if one is None else of.get((column, one), NOT_COUNTED) for one in given]
        return history, places

    def _with(self, first: FloatArray, categories: tuple[Category, ...]) -> FeatureHistory:
        if first is self.first and len(categories) == len(self.categories):
            return self
        buckets, now, after = self.buckets, len(self.first), len(first)
        new = np.zeros(after - now, dtype=np.int64), np.zeros(len(categories) - len(self.categories), dtype=np.int64)
        starts = np.concatenate([self.starts[:now], new[0], self.starts[now:], new[1]])
        if now < after or len(self.categories) < len(categories):
            places = np.append([END, COUNT], places_of_features(2, self, after))
            buckets = buckets.widened(places, 2 + 3 * after + len(categories))
        return FeatureHistory(first, categories, starts, buckets)

    def copy(self, n_more: int) -> FeatureHistory:
        """Return a copy with room for the sums over further blocks."""
        return FeatureHistory(self.first, self.categories, self.starts.copy(), self.buckets.copy(n_more))

    def push(self, blocks: FloatArray) -> tuple[int, FeatureCut | None]:
        """Add the sums over blocks, in place, until the mean of a feature changes; return their number, and the change.

        The window of the feature begins at the change then.
        """
        starts, changes, excess = self.starts.copy(), np.empty_like(self.starts), np.empty(len(self.starts))
        storage, sizes = self.buckets.storage, self.buckets.sizes
        blocks = np.ascontiguousarray(blocks)
        n = backend().drift_features(storage, sizes, blocks, self.category_columns, self.starts, changes, excess)
        if not len(changes) or changes.max() < 0:
            return n, None
        return n, FeatureCut(int(blocks[n - 1, END]), starts, changes, excess)

    def changed(self, cut: FeatureCut, names: Sequence[str]) -> tuple[int, tuple[FeatureShift, ...]]:
        """Return the last sample before a change, and the features that changed there, the largest shift first.

        There are none if only columns of dates have changed: they are not tested again.
        """
        dates = np.array([isinstance(names[column], DateName) for column in self.columns])
        self.starts[dates & (cut.changes >= 0)] = NEVER
        excess = np.where(dates, 0.0, cut.excess)
        most = int(excess.argmax())
        if not excess[most]:
            return 0, ()
        change = int(cut.changes[most])
        return change, self.shifts(int(cut.starts[most]), change, names, most)

    def shifts(
        self, start: int, change: int, names: Sequence[str], most: int | None = None
    ) -> tuple[FeatureShift, ...]:
        """Return the features whose mean differs before and after a change, the largest shift first.

        `most` is the index of a feature known to have changed. `start` and `change` are the last samples before the
        window and before the change. Only the part of a long window next to the change is used. Columns of dates are
        excluded, since time always moves on.
        """
        rows = self.buckets.rows
        begins = np.concatenate([[0.0], rows[:-1, END]])
        start = max(start, change - max(RECENT, int(TIMES * (rows[-1, END] - change))))
        after = begins >= change
        earlier = (rows[:, END] <= change) & (begins >= start)
        if not (earlier.any() and after.any()):
            return ()
        (n_before, mean_before, var_before), (n_after, mean_after, var_after) = (
            self.moments(rows[part].sum(axis=0)) for part in (earlier, after)
        )
        difference = mean_after - mean_before
        error = np.sqrt(var_before / np.maximum(n_before, 1) + var_after / np.maximum(n_after, 1))
        both = np.sqrt((var_before + var_after) / 2 + difference**2 / 4)
        deviation = np.where(var_before > 0, np.sqrt(var_before), both)
        shift = np.divide(difference, deviation, out=np.zeros_like(deviation), where=deviation > 0)
        is_date = np.array([isinstance(names[column], DateName) for column in self.columns])
        moved = (n_before > 1) & (n_after > 1) & ~is_date
        moved &= (np.abs(shift) >= MIN_SHIFT) & (np.abs(difference) > MIN_CERTAINTY * error)
        if most is not None:
            moved[most] = True
        found = np.flatnonzero(moved)
        found = found[np.argsort(-np.abs(shift[found]), kind="stable")][:MAX_NAMED]
        labels = [*names[: len(self.first)], *(f"{names[column]}={printable(one)}" for column, one in self.categories)]
        return tuple(
            FeatureShift(str(labels[place]), mean_before.item(place), mean_after.item(place), shift.item(place))
            for place in found.tolist()
        )

    @property
    def columns(self) -> list[int]:
        """Column of each number and each category, in the order of the moments computed from sums."""
        return [*range(len(self.first)), *self.category_columns.tolist()]

    @property
    def category_columns(self) -> IntArray:
        """The column of each category."""
        return np.array([column for column, _ in self.categories], dtype=np.int64)

    @property
    def origins(self) -> FloatArray:
        """Origin from which the numbers of each column are measured."""
        return np.where(np.isnan(self.first), 0.0, self.first)

    def moments(self, sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return number, mean and variance of each column and category, for sums or each row of sums."""
        n_columns = len(self.first)
        counts, totals, squares = (sums[..., 2 + part * n_columns :][..., :n_columns] for part in range(3))
        if self.categories:
            counts = counts[..., self.columns]
            rest = sums[..., 2 + 3 * n_columns :]
            totals, squares = (np.concatenate([part, rest], axis=-1) for part in (totals, squares))
        n = np.maximum(counts, 1)
        variance = np.maximum(0.0, squares / n - (totals / n) ** 2)
        variance[variance < 1e-12 * squares / n] = 0.0  # a rounding
        return counts, totals / n + np.concatenate([self.origins, np.zeros(len(self.categories))]), variance

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values and arrays."""
        return {
            "first": self.first,
            "categories": [list(category) for category in self.categories],
            "starts": self.starts,
            **self.buckets.to_state(),
        }

    @classmethod
    def from_state(cls, state: Any, n_columns: int, last: int) -> FeatureHistory:
        """Restore the history from a saved state after validating it."""
        first = saved_array(state, "first", np.float64, None)
        require(len(first) <= n_columns and not np.isinf(first).any(), "the features")
        categories = tuple((column, value) for column, value in state["categories"])
        for column, value in categories:
            require(type(column) is int and 0 <= column < n_columns, "the features")
            require(isinstance(value, str | bool | int | float), "the features")
        require(len(set(categories)) == len(categories), "the features")
        buckets = Buckets.from_state(state, 2 + 3 * len(first) + len(categories), last)
        counts, sums, squares = (buckets.rows[:, 2 + part * len(first) :][:, : len(first)] for part in range(3))
        shares = np.concatenate([counts, buckets.rows[:, 2 + 3 * len(first) :]], axis=1)
        require(((shares >= 0) & (shares <= buckets.rows[:, [COUNT]])).all(), "the features")
        require((np.abs(sums) <= counts * MAX_VALUE).all(), "the features")
        require(((squares >= 0) & (squares <= counts * MAX_VALUE**2)).all(), "the features")
        starts = saved_array(state, "starts", np.int64, len(first) + len(categories), low=0, high=MAX_COUNT)
        return cls(first, categories, starts, buckets)


def places_of_features(first: int, history: FeatureHistory, n_columns: int) -> IntArray:
    """Return the indices, starting at `first`, of the sums of a history after adding columns."""
    parts = [part * n_columns + np.arange(len(history.first)) for part in range(3)]
    return first + np.concatenate([*parts, 3 * n_columns + np.arange(len(history.categories))])


def n_read(n_samples: int) -> int:
    """Return the number of samples of a stream whose features have been read."""
    step = BLOCK * (1 if n_samples <= LONG else RARER)
    return n_samples // step * step


def rounded(value: float) -> float:
    """Return a number with six significant digits."""
    return float(f"{value:.6g}")
