"""Drift of features: means and variances over parts of a stream, and means out of their earlier range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from sslart._art.backend import backend
from sslart._data.samples import Table
from sslart._data.stream_sums import COUNT, END, MARGIN, MAX_VALUE, MIN_OF_MEAN, MISSING
from sslart._drift.windows import Buckets
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import CachesValues
from sslart._utils.text import DateName, number_text, printable
from sslart._utils.validation import require, saved_array

MAX_CATEGORIES = 50  # of a column, that are counted, to bound memory
MAX_NAMED = 5  # features in an event
RECENT, TIMES = 1024, 4  # samples before a change used in the comparison, or four times those after it
MIN_SHIFT = 0.25  # minimum shift in standard deviations, so that small changes are not reported
MIN_CERTAINTY = 4.0  # minimum shift in standard errors, since many features are tested
NOT_COUNTED = -2  # index of a category that is not counted

# numbers of samples, four times as large in a long stream
EVERY = 256  # interval of checks
AFTER = 128  # last samples, whose mean is compared with earlier ones
APART = 512  # last samples that are excluded from the earlier ones, so that a change is in between
LONG = 16_384  # samples of a long stream

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


@dataclass(frozen=True, eq=False)
class FeatureHistory(CachesValues):
    """Sums of features over blocks of a stream, in an exponential histogram. Immutable.

    Attributes
    ----------
    first : array of length n_columns
        The first number of each column, as the origin of the others; NaN if there was none.
    categories : tuple of (column, category)
        The counted categories, in order of appearance.
    buckets : Buckets
        Rows of (last sample, samples, values of each column, their sums, the sums of their squares, samples of each
        category).
    """

    first: FloatArray = field(default_factory=lambda: np.empty(0))
    categories: tuple[Category, ...] = ()
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
        buckets, after = self.buckets, len(first)
        if len(self.first) < after or len(self.categories) < len(categories):
            places = np.append([END, COUNT], places_of_features(2, self, after))
            buckets = buckets.widened(places, 2 + 3 * after + len(categories))
        return FeatureHistory(first, categories, buckets)

    def after(self, buckets: Buckets) -> FeatureHistory:
        """Return the history with new sums."""
        return FeatureHistory(self.first, self.categories, buckets)

    def shifts(self, start: int, change: int, names: Sequence[str]) -> tuple[FeatureShift, ...]:
        """Return the features whose mean differs before and after a change, the largest shift first.

        `start` and `change` are the last samples before the window and before the change. Only the part of a long
        window next to the change is used. Columns of dates are excluded, since time always moves on.
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
        return cls(first, categories, buckets)


def places_of_features(first: int, history: FeatureHistory, n_columns: int) -> IntArray:
    """Return the indices, starting at `first`, of the sums of a history after adding columns."""
    parts = [part * n_columns + np.arange(len(history.first)) for part in range(3)]
    return first + np.concatenate([*parts, 3 * n_columns + np.arange(len(history.categories))])


def is_looked_at(end: int) -> bool:
    """Return True if features are checked after `end` samples."""
    return end % (EVERY * _times(end)) == 0


def _times(end: int) -> int:
    return 1 if end <= LONG else 4


def feature_change(history: FeatureHistory, end: int, names: Callable[[], Sequence[str]]) -> int | None:
    """Return the last sample before the mean of a feature left the range of its earlier means; None if none did.

    Columns of dates are excluded.
    """
    rows, after, apart = history.buckets.rows, AFTER * _times(end), APART * _times(end)
    if end < 2 * apart:
        return None
    ends = rows[:, END]
    begins = np.concatenate([[-np.inf], ends[:-1]])
    n_earlier = int(np.searchsorted(ends, end - apart, side="right"))
    beyond = np.empty(len(history.first) + len(history.categories))
    first_after = int(np.searchsorted(begins, end - after))
    found = backend().drift_beyond(rows, history.origins, history.category_columns, n_earlier, first_after, beyond)
    if not found:
        return None
    beyond[[isinstance(names()[column], DateName) for column in history.columns]] = -1.0
    most = int(beyond.argmax())
    if beyond[most] < 0.0:
        return None
    counts, means, _ = (of[:, most] for of in history.moments(rows))
    _, _, variance = history.moments(rows[:n_earlier].sum(axis=0))
    earlier = means[:n_earlier][counts[:n_earlier] >= MIN_OF_MEAN]
    first_later = int(np.searchsorted(begins, end - apart))
    own = means[first_later:]
    inside = np.maximum(own - earlier.max(), earlier.min() - own) <= MARGIN / 2 * np.sqrt(variance[most])
    last = np.flatnonzero(inside & (counts[first_later:] > 0))
    return min(int(ends[first_later:][last[-1]]), end - after) if len(last) else end - apart


def rounded(value: float) -> float:
    """Return a number with six significant digits."""
    return float(f"{value:.6g}")
