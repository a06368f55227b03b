"""Binned samples with the predictions of the model, and the best split of a subset of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.rules._model.columns import Column

MAX_NAMED = 6  # categories on the smaller side of a split
MIN_GAIN = 1e-9


class Split(NamedTuple):
    """A split of a column: a mask of the bins that go left."""

    column: int
    left: BoolArray


class Gain(NamedTuple):
    """Gain of the best split; the split is None if nothing is gained."""

    amount: float
    split: Split | None


NO_GAIN = Gain(0.0, None)


class Grid:
    """Samples in bins, their weights, and the outcome that the model predicts for each.

    Parameters
    ----------
    columns : sequence of Column
    table : Table
    outcomes : array of length n_samples
        Index of what the model predicts: a class, or after the last class that it abstains.
    n_outcomes : int
    weights : array of length n_samples
    """

    def __init__(
        self, columns: Sequence[Column], table: Table, outcomes: IntArray, n_outcomes: int, weights: FloatArray
    ) -> None:
        self.columns, self.outcomes, self.n_outcomes, self.weights = columns, outcomes, n_outcomes, weights
        names = [table.categories.get(place, table.values[:, place]) for place in range(len(columns))]
        self.bins = np.column_stack([column.bins(values) for column, values in zip(columns, names, strict=True)])
        sizes = np.array([column.n_bins for column in columns])
        self.starts = np.concatenate([[0], np.cumsum(sizes)])
        self.flat = self.bins + self.starts[:-1]
        self.column_of = np.repeat(np.arange(len(columns)), sizes)
        self.is_category = np.array([column.categories is not None for column in columns])
        self.has_missing = np.array([column.has_missing for column in columns])
        self.missing = self.starts[1:] - 1
        may_cut = ~self.is_category[self.column_of]
        may_cut[self.missing] = False
        may_cut[self.missing - 1] = False  # nothing known lies above the last bin
        for column in np.flatnonzero(self.has_missing & ~self.is_category):
            may_cut[self.missing[column] - 1] = True  # but missing values do
        self.may_cut: BoolArray = may_cut

    def __len__(self) -> int:
        return len(self.outcomes)

    def totals(self, rows: IntArray) -> FloatArray:
        """Return the weight of each outcome among some samples."""
        return np.asarray(np.bincount(self.outcomes[rows], self.weights[rows], self.n_outcomes), dtype=np.float64)

    def left(self, split: Split, rows: IntArray) -> BoolArray:
        """Tell which samples go left."""
        return np.asarray(split.left[self.bins[rows, split.column]])

    def best_split(self, rows: IntArray, allowed: BoolArray, min_weight: float, weights: FloatArray) -> Gain:
        """Return the split of some samples that gains most information about the outcome.

        Parameters
        ----------
        rows : array of int
        allowed : array of length n_columns
            The columns that may be split.
        min_weight : float
            What each side must have at least.
        weights : array of length n_samples
        """
        by_bin = self._by_outcome(rows, weights)
        total = by_bin[: self.starts[1]].sum(axis=0)
        base = float(_information(total))
        cumulated = np.cumsum(by_bin, axis=0)
        before = np.vstack([np.zeros(self.n_outcomes), cumulated])[self.starts[:-1]]
        left = np.maximum(cumulated - before[self.column_of], 0.0)
        cuts = np.flatnonzero(self.may_cut & allowed[self.column_of])
        best = NO_GAIN
        missing = by_bin[self.missing]
        for with_missing in (False, True):
            places = cuts[self.has_missing[self.column_of[cuts]]] if with_missing else cuts
            side = left[places] + (missing[self.column_of[places]] if with_missing else 0.0)
            amounts = self._gains(base, side, total, min_weight)
            if len(places) and amounts.max() > best.amount + MIN_GAIN:
                place = int(places[amounts.argmax()])
                best = Gain(float(amounts.max()), self._cut(place, with_missing))
        for column in np.flatnonzero(self.is_category & allowed).tolist():
            best = max(best, self._best_categories(column, by_bin, base, total, min_weight), key=_amount)
        return best

    def _by_outcome(self, rows: IntArray, weights: FloatArray) -> FloatArray:
        flat = self.flat[rows] * self.n_outcomes + self.outcomes[rows, None]
        of_value = np.repeat(weights[rows], len(self.columns))
        size = int(self.starts[-1]) * self.n_outcomes
        by_bin = np.bincount(flat.ravel(), of_value, size).reshape(-1, self.n_outcomes)
        return np.asarray(by_bin, dtype=np.float64)

    @staticmethod
    def _gains(base: float, left: FloatArray, total: FloatArray, min_weight: float) -> FloatArray:
        right = np.maximum(total - left, 0.0)
        enough = (left.sum(axis=1) >= min_weight) & (right.sum(axis=1) >= min_weight)
        return np.where(enough, base - _information(left) - _information(right), 0.0)

    def _cut(self, place: int, with_missing: bool) -> Split:
        column = int(self.column_of[place])
        bins = np.arange(self.starts[column], self.starts[column + 1]) <= place
        bins[-1] = with_missing
        return Split(column, bins)

    def _best_categories(
        self, column: int, by_bin: FloatArray, base: float, total: FloatArray, min_weight: float
    ) -> Gain:
        """Return the best split of a column into two sets of categories, in the order of the share of an outcome."""
        own = by_bin[self.starts[column] : self.starts[column + 1]]
        weight = own.sum(axis=1)
        present = np.flatnonzero(weight > 0)
        best = NO_GAIN
        if len(present) < 2:
            return best
        n_left = np.arange(1, len(present))
        few = np.minimum(n_left, len(present) - n_left) <= MAX_NAMED
        outcomes = np.flatnonzero(total > 0) if (total > 0).sum() > 2 else np.flatnonzero(total > 0)[:1]
        for outcome in outcomes:
            order = present[np.argsort(-own[present, outcome] / weight[present], kind="stable")]
            amounts = self._gains(base, np.cumsum(own[order], axis=0)[:-1], total, min_weight) * few
            most = int(amounts.argmax())
            if amounts[most] > best.amount + MIN_GAIN:
                bins = np.zeros(len(own), dtype=bool)
                bins[order[: most + 1]] = True
                best = Gain(float(amounts[most]), Split(column, bins))
        return best

    def best_assignment(self, rows: IntArray, worth: FloatArray, allowed: BoolArray) -> Gain:
        """Return the split for which the samples that go left are worth most.

        Parameters
        ----------
        rows : array of int
        worth : array of the same length
            What each is worth on the left; negative where it belongs to the right.
        allowed : array of length n_columns
        """
        of_value = np.repeat(worth, len(self.columns))
        by_bin = np.bincount(self.flat[rows].ravel(), of_value, minlength=int(self.starts[-1]))
        cumulated = np.concatenate([[0.0], np.cumsum(by_bin)])
        left = cumulated[1:] - cumulated[self.starts[:-1]][self.column_of]
        missing = by_bin[self.missing]
        known = cumulated[self.missing] - cumulated[self.starts[:-1]]
        cuts = np.flatnonzero(self.may_cut & allowed[self.column_of])
        best = Gain(-np.inf, None)
        for turned in (False, True):
            own = self.column_of[cuts]
            amounts = (known[own] - left[cuts] if turned else left[cuts]) + np.maximum(missing[own], 0.0)
            if len(cuts) and amounts.max() > best.amount:
                place = int(cuts[amounts.argmax()])
                split = self._cut(place, with_missing=False)
                bins = ~split.left if turned else split.left
                bins[-1] = missing[split.column] > 0
                best = Gain(float(amounts.max()), Split(split.column, bins))
        for column in np.flatnonzero(self.is_category & allowed).tolist():
            worth_of_bins = by_bin[self.starts[column] : self.starts[column + 1]]
            bins = worth_of_bins > 0
            amount = float(worth_of_bins[bins].sum())
            if amount > best.amount and min(bins.sum(), (~bins).sum()) <= MAX_NAMED:
                best = Gain(amount, Split(column, bins))
        return best


def _information(weights: FloatArray) -> FloatArray:
    """Return the entropy of outcomes times their weight, in the last axis."""
    total = weights.sum(axis=-1)
    return np.asarray(_x_log_x(total) - _x_log_x(weights).sum(axis=-1))


def _x_log_x(values: FloatArray) -> FloatArray:
    return values * np.log(np.where(values > 0, values, 1.0))


def _amount(gain: Gain) -> float:
    return gain.amount
