"""The smallest change found that gives a sample another answer, for many samples at once.

Each sample moves towards the box of its rival, the best node of another class: the features that gain most first,
as few as are needed, the last of them no further than needed. Whatever is returned has been predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._flips import Flips
from sslart.explain._match import Boxes
from sslart.explain._moves import Moves, Path, by_gain, no_moves
from sslart.explain._rounding import between

AIMS = ("nearest", "far", "centre")
PREFIX_ROUNDS = 8
DROP_ROUNDS = 1
DROP_ROUNDS_OF_FEW = 2
AMOUNT_ROUNDS = 3
FEW_CHANGES = 3
AMOUNT_ROUNDS_OF_FEW = 8
DUELS = 4

Ask = Callable[[Table], tuple[IntArray, IntArray]]


class Search:
    """The search over all samples of a table; asks the model for whole batches, and keeps what flipped.

    Parameters
    ----------
    table : Table
    answers : array of length n_samples
        The present answers as places in `classes_`, -1 for none.
    decimals : array of length n_columns
        How finely to give numbers.
    ask : callable
        Predicts a table, as such places; also tells which node of the network answered.
    duel : bool
        Whether winner and rival alone tell how few features can be enough, as in a single network; an ensemble has
        several of each.
    """

    def __init__(
        self,
        table: Table,
        answers: IntArray,
        decimals: IntArray,
        ask: Ask,
        *,
        duel: bool,
    ) -> None:
        self.table, self.answers, self.decimals, self.ask, self.duel = table, answers, decimals, ask, duel
        self.values = table.values.copy()
        self.categories = {column: values.copy() for column, values in table.categories.items()}
        self.found = np.full(len(table), UNLABELLED)
        self.settled = np.zeros(len(table), dtype=bool)
        self.moves = no_moves(table)
        self.is_number = np.array([column not in table.categories for column in range(table.values.shape[1])])

    def try_least(self, path: Path, winner: Boxes, boxes: tuple[FloatArray, FloatArray]) -> None:
        """Go as far on a path as the winner demands, then as far as the node does that answers there, and so on.

        `boxes`: those of all nodes. Where the answer flips, no shorter way on the path is known to do.
        """
        self.moves = path.moves
        rows: IntArray = np.flatnonzero(path.most > 0)
        lower, upper = winner.lower[rows], winner.upper[rows]
        number: IntArray = np.ones(len(rows), dtype=np.int64)
        for _ in range(DUELS):
            number, last, ends = path.least(rows, lower, upper, number)
            can = np.flatnonzero(number > 0)
            if not can.size:
                break
            rows, number = rows[can], number[can]
            flips, nodes = self._attempt(rows, path.ranks[rows] < number[:, None], last[can], ends[can])
            self.settled[rows[flips]] = True
            open_ = np.flatnonzero(~flips & (nodes >= 0))
            rows, number, nodes = rows[open_], number[open_], nodes[open_]
            lower, upper = boxes[0][nodes], boxes[1][nodes]

    def try_full(self, rows: IntArray, moves: Moves, own: IntArray) -> None:
        """Try the whole way of the `own` rows of some moves, for the given rows of the table."""
        movable = (moves.gains[own] > 0).any(axis=1)
        rows, own = rows[movable], own[movable]
        if rows.size:
            self.moves.take(rows, moves, own)
            self._attempt(rows, moves.gains[own] > 0)

    def _attempt(
        self, rows: IntArray, moved: BoolArray, last: Any = None, ends: Any = None
    ) -> tuple[BoolArray, IntArray]:
        """Predict rows with some features moved, the last to a given end; keep what flips, tell which and the nodes."""
        moves = self.moves
        values = np.where(moved & self.is_number, moves.targets[rows], self.table.values[rows])
        if last is not None:
            numbers = np.flatnonzero(self.is_number[last])
            values[numbers, last[numbers]] = ends[numbers]
        categories = {
            column: np.where(moved[:, column], moves.categories[column][rows], given[rows])
            for column, given in self.table.categories.items()
        }
        places, nodes = self.ask(Table(values, categories, self.table.names))
        flips = (places != UNLABELLED) & (places != self.answers[rows])
        kept = rows[flips]
        self.found[kept] = places[flips]
        self.values[kept] = values[flips]
        for column, candidate in categories.items():
            self.categories[column][kept] = candidate[flips]
        return np.asarray(flips), nodes

    def shrink(self, deficits: FloatArray) -> None:
        """Make what flipped smaller. `deficits`: by how much the winner's choice exceeds the rival's."""
        rows = np.flatnonzero((self.found != UNLABELLED) & ~self.settled)
        if not rows.size:
            return
        order, gained, most = by_gain(self.moves.gains[rows])
        ranks = np.empty_like(order)
        np.put_along_axis(ranks, order, np.arange(order.shape[1])[None, :], axis=1)
        needed = self._fewest(rows, ranks, (gained < deficits[rows, None]).sum(axis=1) + 1, most)
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
            flips, _ = self._attempt(rows[open_], ranks[open_] < number[:, None])
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
            flips, _ = self._attempt(rows[open_], without)
            moved[open_[flips]] = without[flips]

    def _least(self, rows: IntArray, moved: BoolArray, last: IntArray) -> None:
        """Find how far the last feature must go, by halving; more closely where few features change."""
        short, enough = self.moves.starts[rows, last].copy(), self.moves.targets[rows, last].copy()
        up, decimals = enough > short, self.decimals[last]
        number = self.is_number[last]
        few = moved.sum(axis=1) <= FEW_CHANGES
        for turn in range(AMOUNT_ROUNDS_OF_FEW):
            ends = between(short + (enough - short) / 2, enough, up, decimals)
            open_ = np.flatnonzero(number & (ends != enough) & (few if turn >= AMOUNT_ROUNDS else True))
            if not open_.size:
                break
            flips, _ = self._attempt(rows[open_], moved[open_], last[open_], ends[open_])
            enough[open_[flips]], short[open_[~flips]] = ends[open_[flips]], ends[open_[~flips]]

    def results(self, names: list[str], classes: list[Any]) -> Flips:
        """Return what was found, as data."""
        return Flips(names, classes, self.found, self.table, Table(self.values, self.categories, self.table.names))
