"""The way of a sample into the box of its rival: where each feature would go, what that gains, how far is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._art.network import Network
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._match import Boxes, Sight, category_costs
from sslart.explain._rounding import between, snapped

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
        How much the rival's choice gains on the winner's; 0 or less where the feature had better stay.
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


def moves_towards(sight: Sight, choice: float, winner: Boxes, rival: Boxes, aim: str, decimals: IntArray) -> Moves:
    """Return the moves into the rival's box: to its nearest point, to the side far from the winner, or its centre.

    Numbers go a little further into the box, to one of few decimals, where it is wide enough.
    """
    moves = no_moves(sight.table)
    encoder, coded, columns = sight.encoder, sight.coded, sight.numeric
    present = ~np.isnan(coded)
    now_rival, now_winner = (
        np.where(present & (boxes.lower <= boxes.upper), _gaps(coded, boxes.lower, boxes.upper), 0.0)
        for boxes in (rival, winner)  # as predictions see it: values beyond the range are clipped
    )
    rate_rival, rate_winner = (_rates(boxes, present, choice)[:, None] for boxes in (rival, winner))
    numbers = slice(0, len(columns))
    low, high = encoder.lower[numbers], encoder.upper[numbers]
    aims = _aims(coded, winner, rival, aim)[:, numbers]
    lower, upper = (encoder.decode(side)[:, numbers] for side in (rival.lower, rival.upper))
    exact = encoder.decode(aims, np.arange(len(columns)))
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        starts = np.clip(sight.table.values[:, columns], low, high)
        up = exact > starts
        targets = snapped(exact, up, decimals[columns], np.where(up, upper, lower))
        aims = np.where(targets == exact, aims, np.clip((targets - low) / (high - low), 0.0, 1.0))
    then_winner = _gaps(aims, winner.lower[:, numbers], winner.upper[:, numbers])
    then_winner[(winner.lower > winner.upper)[:, numbers]] = 0.0
    gains = now_rival[:, numbers] * rate_rival - (now_winner[:, numbers] - then_winner) * rate_winner
    stays = ~present | (rival.lower > rival.upper) | (rival.nodes < 0)[:, None]
    gains[stays[:, numbers] | (aims == coded[:, numbers])] = 0.0
    moves.gains[:, columns], moves.targets[:, columns], moves.starts[:, columns] = gains, targets, starts
    for column, values in sight.table.categories.items():
        places = [place for place, feature in enumerate(encoder.features) if feature.column == column]
        if not places:
            continue
        cost_rival, cost_winner = (category_costs(f.lower[:, places], f.upper[:, places]) for f in (rival, winner))
        cost_winner[np.isinf(cost_winner)] = 0.0
        then = (now_rival[:, places].sum(axis=1, keepdims=True) - cost_rival) * rate_rival
        gain = then - (now_winner[:, places].sum(axis=1, keepdims=True) - cost_winner) * rate_winner
        best = gain.argmax(axis=1)
        known = np.array([encoder.features[place].category for place in places], dtype=object)
        missing = np.array([value is None for value in values], dtype=bool)
        unmoved = missing | (known[best] == values) | (rival.nodes < 0)
        moves.categories[column][:] = np.where(unmoved, values, known[best])
        moves.gains[:, column] = np.where(unmoved, 0.0, gain.max(axis=1))
    return moves


def _gaps(coded: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    return np.maximum(lower - coded, coded - upper).clip(min=0.0)


def _rates(boxes: Boxes, present: BoolArray, choice: float) -> FloatArray:
    """Return what a step towards each box adds to its choice."""
    return np.asarray(1.0 / (choice + np.where(present, boxes.lower + 1.0 - boxes.upper, 0.0).sum(axis=1)))


def _aims(coded: FloatArray, winner: Boxes, rival: Boxes, aim: str) -> FloatArray:
    if aim == "nearest":
        return np.clip(coded, rival.lower, np.maximum(rival.lower, rival.upper))
    if aim == "centre":
        return (rival.lower + rival.upper) / 2
    below, above = winner.lower - rival.lower, rival.upper - winner.upper
    return np.where(above > below, rival.upper, rival.lower)


class Path:
    """The way of each sample into its rival's box: one feature after the other, those that gain most first.

    Parameters
    ----------
    sight : Sight
    network : Network
    choice : float
    rival : Boxes
    moves : Moves
    decimals : array of length n_columns
    """

    def __init__(
        self, sight: Sight, network: Network, choice: float, rival: Boxes, moves: Moves, decimals: IntArray
    ) -> None:
        self.moves, self.choice, self.decimals, self.encoder = moves, choice, decimals, sight.encoder
        self.order, _, self.most = by_gain(moves.gains)
        self.ranks = np.empty_like(self.order)
        np.put_along_axis(self.ranks, self.order, np.arange(self.order.shape[1])[None, :], axis=1)
        self.now, self.present = sight.coded, ~np.isnan(sight.coded)
        self.then, _ = network._encode(Table(moves.targets, moves.categories, sight.table.names))
        self.rival = rival
        self.columns = np.array([feature.column for feature in sight.encoder.features])
        self.positions = np.full(len(sight.names), -1)  # of numeric columns
        self.positions[sight.numeric] = np.arange(len(sight.numeric))

    def _gains(self, rows: IntArray, lower: FloatArray, upper: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return the choice of a box for each row, what each column adds to it on the way, and what a step adds."""
        present = self.present[rows]
        rate = 1.0 / (self.choice + np.where(present, lower + 1.0 - upper, 0.0).sum(axis=1))
        counts = present & (lower <= upper)
        now, then = (np.where(counts, _gaps(coded[rows], lower, upper), 0.0) for coded in (self.now, self.then))
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
        """Return how far to go before each rival beats an opponent, given by its box: at least so many columns.

        Returns
        -------
        number : array of int
            How many columns are moved; 0 where no way is far enough.
        last : array of int
            The last of them.
        ends : array
            Where it goes to.
        """
        sides = self.rival.lower[rows], self.rival.upper[rows]
        choice_rival, for_rival, rate_rival = self._gains(rows, *sides)
        choice_other, for_other, rate_other = self._gains(rows, lower, upper)
        missing = choice_other - choice_rival + TIE
        order, each = self.order[rows], np.arange(len(rows))
        gained = np.cumsum(np.take_along_axis(for_rival - for_other, order, axis=1), axis=1)
        ranks = np.arange(order.shape[1])
        enough = (gained >= missing[:, None]) & (ranks >= number[:, None] - 1) & (ranks < self.most[rows, None])
        number = np.where(enough.any(axis=1), enough.argmax(axis=1) + 1, 0)
        last = order[each, number - 1]
        missing = missing - np.where(number > 1, gained[each, number - 2], 0.0)
        ends = self.moves.targets[rows, last]
        at = np.flatnonzero((self.positions[last] >= 0) & (number > 0))
        place = at, self.positions[last[at]]
        part = self._part(
            (self.now[rows[at], place[1]], self.then[rows[at], place[1]]),
            (lower[place], upper[place], rate_other[at]),
            (sides[0][place], sides[1][place], rate_rival[at]),
            missing[at],
        )
        start, end = self.moves.starts[rows[at], last[at]], ends[at]
        ends[at] = between(start + part * (end - start), end, end > start, self.decimals[last[at]])
        return number, last, ends

    @staticmethod
    def _part(way: tuple[Any, Any], other: tuple[Any, ...], rival: tuple[Any, ...], missing: FloatArray) -> FloatArray:
        """Return which part of the way in one feature is enough; boxes are given by two sides and their rate."""
        start, end = way[0][:, None], way[1][:, None]
        corners = np.column_stack([*way, *other[:2], *rival[:2]])  # between these the gain is straight
        parts = np.sort(np.clip((corners - start) / (end - start), 0.0, 1.0), axis=1)
        gain = np.zeros_like(parts)
        for (lower, upper, rate), sign in ((rival, 1.0), (other, -1.0)):
            off = _gaps(start + parts * (end - start), lower[:, None], upper[:, None])
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
