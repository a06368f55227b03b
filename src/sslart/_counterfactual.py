"""The smallest change found that gives a sample another answer, for many samples at once.

Each sample moves towards the box of its rival, the best node of another class: the features that gain most first,
as few as are needed, the last of them no further than needed. Whatever is returned has been predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._conditions import Sight, category_costs
from sslart._explanation import Counterfactual
from sslart._reasons import Found
from sslart._validate import UNLABELLED, BoolArray, FloatArray, IntArray, Table

AIMS = ("nearest", "far", "centre")
PREFIX_ROUNDS = 8
DROP_ROUNDS = 1
DROP_ROUNDS_OF_FEW = 2
AMOUNT_ROUNDS = 3
FEW_CHANGES = 3
AMOUNT_ROUNDS_OF_FEW = 8


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


def moves_towards(sight: Sight, choice: float, winner: Found, rival: Found, aim: str) -> Moves:
    """Return the moves into the rival's box: to its nearest point, to the side far from the winner, or its centre."""
    moves = no_moves(sight.table)
    coding, coded = sight.coding, sight.coded
    present = ~np.isnan(coded)
    sight = replace(sight, beyond=np.zeros_like(coded))  # as predictions see it: values beyond the range are clipped
    now_rival, now_winner = (sight.distances(found.lower, found.upper) for found in (rival, winner))
    rate_rival, rate_winner = (
        1.0 / (choice + np.where(present, found.lower + 1.0 - found.upper, 0.0).sum(axis=1))[:, None]
        for found in (rival, winner)
    )
    aims = _aims(coded, winner, rival, aim)
    then_winner = np.maximum(winner.lower - aims, aims - winner.upper).clip(min=0.0)
    then_winner[winner.lower > winner.upper] = 0.0
    gains = now_rival * rate_rival - (now_winner - then_winner) * rate_winner
    gains[~present | (rival.lower > rival.upper) | (aims == coded) | (rival.nodes < 0)[:, None]] = 0.0
    numeric = [place for place, feature in enumerate(coding.features) if feature.category is None]
    columns = [coding.features[place].column for place in numeric]
    moves.gains[:, columns] = gains[:, numeric]
    moves.targets[:, columns] = coding.decode(aims)[:, numeric]
    moves.starts[:, columns] = np.clip(sight.table.values[:, columns], coding.lower[numeric], coding.upper[numeric])
    for column, values in sight.table.categories.items():
        places = [place for place, feature in enumerate(coding.features) if feature.column == column]
        if not places:
            continue
        cost_rival, cost_winner = (category_costs(f.lower[:, places], f.upper[:, places]) for f in (rival, winner))
        cost_winner[np.isinf(cost_winner)] = 0.0
        then = (now_rival[:, places].sum(axis=1, keepdims=True) - cost_rival) * rate_rival
        gain = then - (now_winner[:, places].sum(axis=1, keepdims=True) - cost_winner) * rate_winner
        best = gain.argmax(axis=1)
        known = np.array([coding.features[place].category for place in places], dtype=object)
        missing = np.array([value is None for value in values], dtype=bool)
        stays = missing | (known[best] == values) | (rival.nodes < 0)
        moves.categories[column][:] = np.where(stays, values, known[best])
        moves.gains[:, column] = np.where(stays, 0.0, gain.max(axis=1))
    return moves


def _aims(coded: FloatArray, winner: Found, rival: Found, aim: str) -> FloatArray:
    if aim == "nearest":
        return np.clip(coded, rival.lower, np.maximum(rival.lower, rival.upper))
    if aim == "centre":
        return (rival.lower + rival.upper) / 2
    below, above = winner.lower - rival.lower, rival.upper - winner.upper
    return np.where(above > below, rival.upper, rival.lower)


class Search:
    """The search over all samples of a table; asks the model for whole batches, and keeps what flipped.

    Parameters
    ----------
    table : Table
    answers : array of length n_samples
        The present answers as places in `classes_`, -1 for none.
    ask : callable
        Predicts a table, as such places.
    duel : bool
        Whether winner and rival alone tell how few features can be enough, as in a single network; an ensemble has
        several of each.
    """

    def __init__(self, table: Table, answers: IntArray, ask: Callable[[Table], IntArray], *, duel: bool) -> None:
        self.table, self.answers, self.ask, self.duel = table, answers, ask, duel
        self.values = table.values.copy()
        self.categories = {column: values.copy() for column, values in table.categories.items()}
        self.found = np.full(len(table), UNLABELLED)
        self.moves = no_moves(table)
        self.is_number = np.array([column not in table.categories for column in range(table.values.shape[1])])

    def try_full(self, rows: IntArray, moves: Moves, own: IntArray) -> None:
        """Try the whole way of the `own` rows of some moves, for the given rows of the table."""
        movable = (moves.gains[own] > 0).any(axis=1)
        rows, own = rows[movable], own[movable]
        if rows.size:
            self.moves.take(rows, moves, own)
            self._attempt(rows, moves.gains[own] > 0)

    def _attempt(self, rows: IntArray, moved: BoolArray, last: Any = None, amounts: Any = None) -> BoolArray:
        """Predict rows with the marked features moved, the last one by a part; keep and tell which ones flip."""
        moves = self.moves
        values = np.where(moved & self.is_number, moves.targets[rows], self.table.values[rows])
        if last is not None:
            at = np.arange(len(rows)), last
            start, end = moves.starts[rows, last], moves.targets[rows, last]
            values[at] = np.where(amounts == 1.0, end, start + amounts * (end - start))
        categories = {
            column: np.where(moved[:, column], moves.categories[column][rows], given[rows])
            for column, given in self.table.categories.items()
        }
        places = self.ask(Table(values, categories, self.table.names))
        flips = (places != UNLABELLED) & (places != self.answers[rows])
        kept = rows[flips]
        self.found[kept] = places[flips]
        self.values[kept] = values[flips]
        for column, candidate in categories.items():
            self.categories[column][kept] = candidate[flips]
        return np.asarray(flips)

    def shrink(self, deficits: FloatArray) -> None:
        """Make what flipped smaller. `deficits`: by how much the winner's choice exceeds the rival's."""
        rows = np.flatnonzero(self.found != UNLABELLED)
        if not rows.size:
            return
        gains = np.where(self.moves.gains[rows] > 0, self.moves.gains[rows], 0.0)
        order = np.argsort(-gains, axis=1, kind="stable")
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(order.shape[1])[None, :], axis=1)
        gained = np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1)
        needed = self._fewest(rows, ranks, (gained < deficits[rows, None]).sum(axis=1) + 1, (gains > 0).sum(axis=1))
        moved = ranks < needed[:, None]
        self._drop(rows, order, needed, moved)
        self._least(rows, moved, order[np.arange(len(rows)), needed - 1])

    def _fewest(self, rows: IntArray, ranks: IntArray, guess: IntArray, most: IntArray) -> IntArray:
        """Find how many features, of those that gain most, are enough; starts at a guess, then halves."""
        few, enough = np.zeros_like(most), most.copy()
        if self.duel:
            few = np.minimum(guess, most) - 1
        for turn in range(PREFIX_ROUNDS):
            open_ = np.flatnonzero(enough - few > 1)
            if not open_.size:
                break
            number = (few + enough) // 2
            if turn == 0:
                number = np.clip(guess, 1, most - 1)
            elif turn == 1:
                number = np.where(few == guess, guess + 1, np.where(enough == guess, guess - 1, number))
                number = np.clip(number, few + 1, np.maximum(enough - 1, few + 1))
            number = number[open_]
            flips = self._attempt(rows[open_], ranks[open_] < number[:, None])
            enough[open_[flips]] = number[flips]
            few[open_[~flips]] = number[~flips]
        return enough

    def _drop(self, rows: IntArray, order: IntArray, needed: IntArray, moved: BoolArray) -> None:
        """Leave out, one at a time, features that turn out not to be needed: those that gain least first."""
        for turn in range(2, 2 + DROP_ROUNDS_OF_FEW):
            open_ = np.flatnonzero((needed >= turn) & ((turn < 2 + DROP_ROUNDS) | (needed <= FEW_CHANGES)))
            if not open_.size:
                break
            without = moved[open_].copy()
            without[np.arange(len(open_)), order[open_, needed[open_] - turn]] = False
            flips = self._attempt(rows[open_], without)
            moved[open_[flips]] = without[flips]

    def _least(self, rows: IntArray, moved: BoolArray, last: IntArray) -> None:
        """Find how far the last feature must go, by halving; more closely where few features change."""
        short, enough = np.zeros(len(rows)), np.ones(len(rows))
        number = self.is_number[last]
        few = moved.sum(axis=1) <= FEW_CHANGES
        for turn in range(AMOUNT_ROUNDS_OF_FEW):
            open_ = np.flatnonzero(number & (few if turn >= AMOUNT_ROUNDS else True))
            if not open_.size:
                break
            amount = (short + enough)[open_] / 2
            flips = self._attempt(rows[open_], moved[open_], last[open_], amount)
            enough[open_[flips]], short[open_[~flips]] = amount[flips], amount[~flips]

    def results(self, names: list[str], classes: list[Any]) -> list[Counterfactual | None]:
        """Return what was found, as data."""
        after = Table(self.values, self.categories, self.table.names)
        return [
            None if place == UNLABELLED else Counterfactual(classes[place], names, row, self.table, after)
            for row, place in enumerate(self.found.tolist())
        ]
