"""The smallest change found that leads to another prediction, for many samples at once.

Each sample moves towards a target box, the best box of another class: the features that gain most first, as few as are
needed, the last of them no further than needed. Whatever is returned has been predicted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._boxes import MatchedBoxes
from sslart.explain._counterfactuals.changes import CounterfactualTable
from sslart.explain._counterfactuals.moves import Moves, Path, by_gain, no_moves
from sslart.explain._counterfactuals.rounding import between

AIMS = ("nearest", "far", "centre")
PREFIX_ROUNDS = 8
DROP_ROUNDS = 1
DROP_ROUNDS_OF_FEW = 2
AMOUNT_ROUNDS = 3
FEW_CHANGES = 3
AMOUNT_ROUNDS_OF_FEW = 8
PATH_ROUNDS = 4

Predict = Callable[[Table], tuple[IntArray, IntArray]]


class Search:
    """The search over all samples of a table; predicts whole batches, and keeps the samples whose prediction changed.

    Parameters
    ----------
    table : Table
    indices : array of length n_samples
        Class indices of the present predictions, -1 for none.
    decimals : array of length n_columns
        How finely to give numbers.
    predict : callable
        Returns such indices for a table, and the box that each prediction comes from, -1 for none.
    by_one_box : bool
        Whether the current box and the target alone determine how few features can be enough: the model predicts by
        one box.
    """

    def __init__(
        self,
        table: Table,
        indices: IntArray,
        decimals: IntArray,
        predict: Predict,
        *,
        by_one_box: bool,
    ) -> None:
        self.table, self.indices, self.decimals = table, indices, decimals
        self.predict, self.by_one_box = predict, by_one_box
        self.values = table.values.copy()
        self.categories = {column: values.copy() for column, values in table.categories.items()}
        self.found = np.full(len(table), UNLABELLED)
        self.settled = np.zeros(len(table), dtype=bool)
        self.moves = no_moves(table)
        self.is_number = np.array([column not in table.categories for column in range(table.values.shape[1])])

    def try_least(self, path: Path, current: MatchedBoxes, boxes: tuple[FloatArray, FloatArray]) -> None:
        """Go as far on a path as the current box demands, then as far as the box does that is found there, and so on.

        `boxes`: those of all nodes. Where the prediction changes, no shorter way on the path is known to do.
        """
        self.moves = path.moves
        rows: IntArray = np.flatnonzero(path.most > 0)
        lower, upper = current.lower[rows], current.upper[rows]
        number: IntArray = np.ones(len(rows), dtype=np.int64)
        for _ in range(PATH_ROUNDS):
            number, last, ends = path.least(rows, lower, upper, number)
            can = np.flatnonzero(number > 0)
            if not can.size:
                break
            rows, number = rows[can], number[can]
            changed, nodes = self._attempt(rows, path.ranks[rows] < number[:, None], last[can], ends[can])
            self.settled[rows[changed]] = True
            open_ = np.flatnonzero(~changed & (nodes >= 0))
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
        """Predict rows with some features moved, the last to an end; keep those that change, return them and boxes."""
        moves = self.moves
        values = np.where(moved & self.is_number, moves.targets[rows], self.table.values[rows])
        if last is not None:
            numbers = np.flatnonzero(self.is_number[last])
            values[numbers, last[numbers]] = ends[numbers]
        categories = {
            column: np.where(moved[:, column], moves.categories[column][rows], given[rows])
            for column, given in self.table.categories.items()
        }
        indices, nodes = self.predict(Table(values, categories, self.table.names))
        changed = (indices != UNLABELLED) & (indices != self.indices[rows])
        kept = rows[changed]
        self.found[kept] = indices[changed]
        self.values[kept] = values[changed]
        for column, candidate in categories.items():
            self.categories[column][kept] = candidate[changed]
        return np.asarray(changed), nodes

    def shrink(self, deficits: FloatArray) -> None:
        """Make the changes smaller. `deficits`: the choice of the current box less that of the target."""
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
        if self.by_one_box:
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
            changed, _ = self._attempt(rows[open_], ranks[open_] < number[:, None])
            enough[open_[changed]] = number[changed]
            few[open_[~changed]] = number[~changed]
        return enough

    def _drop(self, rows: IntArray, order: IntArray, needed: IntArray, moved: BoolArray) -> None:
        """Leave out, one at a time, features that turn out not to be needed: those that gain least first."""
        for turn in range(2, 2 + DROP_ROUNDS_OF_FEW):
            open_ = np.flatnonzero((needed >= turn) & ((turn < 2 + DROP_ROUNDS) | (needed <= FEW_CHANGES)))
            if not open_.size:
                break
            without = moved[open_].copy()
            without[np.arange(len(open_)), order[open_, needed[open_] - turn]] = False
            changed, _ = self._attempt(rows[open_], without)
            moved[open_[changed]] = without[changed]

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
            changed, _ = self._attempt(rows[open_], moved[open_], last[open_], ends[open_])
            enough[open_[changed]], short[open_[~changed]] = ends[open_[changed]], ends[open_[~changed]]

    def results(self, names: list[str], classes: list[Any]) -> CounterfactualTable:
        """Return the changes found, as data."""
        return CounterfactualTable(
            names, classes, self.found, self.table, Table(self.values, self.categories, self.table.names)
        )
