"""The way of a sample into a box of another class: where each feature would go, what that gains, how far is enough."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._art.geometry import box_norms, gaps
from sslart._art.network import Network
from sslart._data.samples import Table
from sslart._data.scaling import coded_parts, on_the_way
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._boxes import EncodedSamples, MatchedBoxes, category_costs
from sslart.explain._counterfactuals.rounding import between, snapped

TIE = 1e-9


@dataclass(frozen=True)
class Moves:
    """Where each feature of each sample would go, and what that gains.

    Attributes
    ----------
    starts, targets : arrays of shape (n_samples, n_columns)
        From where to where, in the user's units.
    categories : dict from column to an object array of length n_samples
        The category to take.
    gains : array of shape (n_samples, n_columns)
        How much the choice of the target box gains on that of the current box; 0 or less where the feature stays.
    """

    starts: FloatArray
    targets: FloatArray
    categories: dict[int, NDArray[np.object_]]
    gains: FloatArray

    def take(self, rows: IntArray, other: Moves, other_rows: IntArray) -> None:
        """Put rows of other moves in place of rows here."""
        for name in ("starts", "targets", "gains"):
            getattr(self, name)[rows] = getattr(other, name)[other_rows]
        for column, values in other.categories.items():
            self.categories[column][rows] = values[other_rows]


def no_moves(table: Table) -> Moves:
    """Return moves that leave every sample where it is."""
    categories = {column: values.copy() for column, values in table.categories.items()}
    return Moves(table.values.copy(), table.values.copy(), categories, np.zeros_like(table.values))


def moves_towards(
    samples: EncodedSamples,
    choice: float,
    current: MatchedBoxes,
    target: MatchedBoxes,
    aim: str,
    decimals: IntArray,
    held: Collection[int] = (),
) -> Moves:
    """Return the moves into the target box: to its nearest point, to the side far from the current box, or its centre.

    Numbers go a little further into the box, to one of few decimals, where it is wide enough. The columns of `held`
    stay as they are.
    """
    moves = no_moves(samples.table)
    encoder, coded, columns = samples.encoder, samples.coded, samples.numeric
    present = ~np.isnan(coded)
    now_target, now_current = (
        gaps(coded, boxes.lower, boxes.upper)  # as predictions use them: values beyond the range are clipped
        for boxes in (target, current)
    )
    rate_target, rate_current = (_rates(boxes, present, choice)[:, None] for boxes in (target, current))
    numbers = slice(0, len(columns))
    low, high = encoder.lower[numbers], encoder.upper[numbers]
    aims = _aims(coded, current, target, aim)[:, numbers]
    lower, upper = (encoder.decode(side)[:, numbers] for side in (target.lower, target.upper))
    exact = encoder.decode(aims, np.arange(len(columns)))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        starts = np.clip(samples.table.values[:, columns], low, high)
        up = exact > starts
        targets = snapped(exact, up, decimals[columns], np.where(up, upper, lower))
        coded_targets = np.clip(coded_parts(encoder, targets, np.arange(len(columns))), 0.0, 1.0)
        aims = np.where(targets == exact, aims, coded_targets)
    then_current = gaps(aims, current.lower[:, numbers], current.upper[:, numbers])
    gains = now_target[:, numbers] * rate_target - (now_current[:, numbers] - then_current) * rate_current
    stays = ~present | (target.lower > target.upper) | (target.nodes < 0)[:, None]
    gains[stays[:, numbers] | (aims == coded[:, numbers])] = 0.0
    moves.gains[:, columns], moves.targets[:, columns], moves.starts[:, columns] = gains, targets, starts
    for column, values in samples.table.categories.items():
        places = [place for place, feature in enumerate(encoder.features) if feature.column == column]
        if not places:
            continue
        cost_target, cost_current = (category_costs(f.lower[:, places], f.upper[:, places]) for f in (target, current))
        cost_current[np.isinf(cost_current)] = 0.0
        then = (now_target[:, places].sum(axis=1, keepdims=True) - cost_target) * rate_target
        gain = then - (now_current[:, places].sum(axis=1, keepdims=True) - cost_current) * rate_current
        best = gain.argmax(axis=1)
        known = np.array([encoder.features[place].category for place in places], dtype=object)
        missing = np.array([value is None for value in values], dtype=bool)
        unmoved = missing | (known[best] == values) | (target.nodes < 0)
        moves.categories[column][:] = np.where(unmoved, values, known[best])
        moves.gains[:, column] = np.where(unmoved, 0.0, gain.max(axis=1))
    moves.gains[:, list(held)] = 0.0
    return moves


def _rates(boxes: MatchedBoxes, present: BoolArray, choice: float) -> FloatArray:
    """Return what a step towards each box adds to its choice."""
    return np.asarray(1.0 / (choice + box_norms(present, boxes.lower, boxes.upper)))


def _aims(coded: FloatArray, current: MatchedBoxes, target: MatchedBoxes, aim: str) -> FloatArray:
    if aim == "nearest":
        return np.clip(coded, target.lower, np.maximum(target.lower, target.upper))
    if aim == "centre":
        return (target.lower + target.upper) / 2
    below, above = current.lower - target.lower, target.upper - current.upper
    return np.where(above > below, target.upper, target.lower)


class Path:
    """The way of each sample into its target box: one feature after the other, those that gain most first.

    Parameters
    ----------
    samples : EncodedSamples
    network : Network
    choice : float
    target : MatchedBoxes
    moves : Moves
    decimals : array of length n_columns
    """

    def __init__(
        self,
        samples: EncodedSamples,
        network: Network,
        choice: float,
        target: MatchedBoxes,
        moves: Moves,
        decimals: IntArray,
    ) -> None:
        self.moves, self.choice, self.decimals, self.encoder = moves, choice, decimals, samples.encoder
        self.order, _, self.most = by_gain(moves.gains)
        self.ranks = np.empty_like(self.order)
        np.put_along_axis(self.ranks, self.order, np.arange(self.order.shape[1])[None, :], axis=1)
        self.now, self.present = samples.coded, ~np.isnan(samples.coded)
        self.then = network.encode(Table(moves.targets, moves.categories, samples.table.names))
        self.target = target
        self.columns = np.array([feature.column for feature in samples.encoder.features])
        self.positions = np.full(len(samples.names), -1)  # of numeric columns
        self.positions[samples.numeric] = np.arange(len(samples.numeric))

    def _gains(self, rows: IntArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the choice of a box for each row, what each column adds to it on the way, and what a step adds."""
        present = self.present[rows]
        rate = 1.0 / (self.choice + box_norms(present, lower, upper))
        now, then = (np.where(present, gaps(coded[rows], lower, upper), 0.0) for coded in (self.now, self.then))
        norm = 1.0 / rate - self.choice
        gained = now - then
        if gained.shape[1] != len(self.positions) or (self.positions < 0).any():
            by_column = np.zeros((len(rows), len(self.positions)))
            np.add.at(by_column.T, self.columns, gained.T)
            gained = by_column
        return (norm - now.sum(axis=1)) * rate, gained * rate[:, None], rate

    def least(
        self, rows: IntArray, lower: FloatArray, upper: FloatArray, number: IntArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """Return how far to go before each target has a higher choice than another box: at least so many columns.

        Returns
        -------
        number : array of int
            How many columns are moved; 0 where no way is far enough.
        last : array of int
            The last of them.
        ends : array
            Where it goes to.
        """
        sides = self.target.lower[rows], self.target.upper[rows]
        choice_target, for_target, rate_target = self._gains(rows, *sides)
        choice_other, for_other, rate_other = self._gains(rows, lower, upper)
        missing = choice_other - choice_target + TIE
        order, each = self.order[rows], np.arange(len(rows))
        gained = np.cumsum(np.take_along_axis(for_target - for_other, order, axis=1), axis=1)
        ranks = np.arange(order.shape[1])
        enough = (gained >= missing[:, None]) & (ranks >= number[:, None] - 1) & (ranks < self.most[rows, None])
        number = np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, 0)
        last = order[each, number - 1]
        missing = missing - np.where(number > 1, gained[each, np.maximum(number - 2, 0)], 0.0)
        ends = self.moves.targets[rows, last]
        at = np.flatnonzero((self.positions[last] >= 0) & (number > 0))
        place = at, self.positions[last[at]]
        part = self._part(
            (self.now[rows[at], place[1]], self.then[rows[at], place[1]]),
            (lower[place], upper[place], rate_other[at]),
            (sides[0][place], sides[1][place], rate_target[at]),
            missing[at],
        )
        start, end = self.moves.starts[rows[at], last[at]], ends[at]
        reached = on_the_way(self.encoder, place[1], start, end, part)
        ends[at] = between(reached, end, end > start, self.decimals[last[at]])
        return number, last, ends

    @staticmethod
    def _part(way: tuple[Any, Any], other: tuple[Any, ...], target: tuple[Any, ...], missing: FloatArray) -> FloatArray:
        """Return which part of the way in one feature is enough; boxes are given by two sides and their rate."""
        start, end = way[0][:, None], way[1][:, None]
        corners = np.column_stack([*way, *other[:2], *target[:2]])  # between these the gain is straight
        length = np.where(end != start, end - start, 1.0)  # a step may be shorter than the grid of the encoder
        parts = np.sort(np.clip((corners - start) / length, 0.0, 1.0), axis=1)
        gain = np.zeros_like(parts)
        for (lower, upper, rate), sign in ((target, 1.0), (other, -1.0)):
            off = gaps(start + parts * (end - start), lower[:, None], upper[:, None])
            gain += np.where(lower <= upper, sign * rate, 0.0)[:, None] * (off[:, :1] - off)
        enough = gain >= missing[:, None]
        enough[:, -1] = True
        each, after = np.arange(len(parts)), np.maximum(enough.argmax(axis=1), 1)
        before = each, after - 1
        rise = gain[each, after] - gain[before]
        share = np.clip((missing - gain[before]) / np.where(rise > 0, rise, 1.0), 0.0, 1.0)
        return np.asarray(parts[before] + share * (parts[each, after] - parts[before]))


def by_gain(gains: FloatArray) -> tuple[IntArray, FloatArray, IntArray]:
    """Return the features of each sample, those that gain most first, what they gain together, and how many gain."""
    gains = np.maximum(gains, 0.0)
    order = np.argsort(-gains, axis=1, kind="stable")
    return order, np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1), (gains > 0).sum(axis=1)
