"""Several unlike changes of one sample that lead to another prediction: few features first, small changes first.

Every value that occurs is tried in each feature alone, then pairs of features, then the ways into the nearest boxes of
the wanted class, one feature after the other. What is found loses the changes that are not needed, and the others
become as small as they can be. All decisions are predictions of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._counterfactuals.box_points import points_of_boxes
from sslart.explain._counterfactuals.goal import Goal
from sslart.explain._counterfactuals.options import STAY, Options

WORK = 1e9  # sides of boxes that the predictions of one search may look at, about
FEWEST_TRIALS, MOST_TRIALS = 5000, 40000
FEWEST_VALUES, MOST_VALUES = 4, 16  # of a feature; the second in pairs
BLOCK = 4_000_000  # values in a block of candidates
MOST_BOXES = 1000
N_WAYS = 12


class SeveralChanges:
    """The search for candidates that reach a goal; `found` has them, each with only the changes that it needs.

    Parameters
    ----------
    goal : Goal
    options : Options
    """

    def __init__(self, goal: Goal, options: Options) -> None:
        self.goal, self.options = goal, options
        n_sides = sum(member.n_nodes * member.network.nodes.n_features for member in goal.view.members)
        self.trials = int(np.clip(WORK / n_sides, FEWEST_TRIALS, MOST_TRIALS))
        self.unchanged: IntArray = np.full(len(options.values), STAY)
        self.found: list[IntArray] = []
        self.nearest: dict[tuple[int, int], int] = {}  # by column and direction: the option found for it alone

    def _reached(self, candidates: IntArray) -> BoolArray:
        return self.goal.reached(self.options.table_of(candidates))

    def _with(self, columns: IntArray, options: IntArray) -> IntArray:
        """Return the sample with one change each."""
        candidates = np.tile(self.unchanged, (len(columns), 1))
        candidates[np.arange(len(columns)), columns] = options
        return candidates

    def _alone(self, measure: Callable[[Table], NDArray[Any]], columns: IntArray, options: IntArray) -> NDArray[Any]:
        """Return what a measure gives for the sample with one change each, block by block."""
        n_rows = max(BLOCK // len(self.unchanged), 1)
        blocks = [slice(start, start + n_rows) for start in range(0, len(columns), n_rows)]
        return np.concatenate(
            [measure(self.options.table_of(self._with(columns[rows], options[rows]))) for rows in blocks]
        )

    def try_single_features(self) -> None:
        """Find in each feature and direction the nearest value that reaches the goal."""
        ways = [(column, way) for column in self.options.movable for way in self.options.ways(column)]
        share = min(1.0, self.trials / 2 / sum(len(way) for _, way in ways))
        tried = [way[_evenly(len(way), max(round(share * len(way)), FEWEST_VALUES))] for _, way in ways]
        columns = np.repeat([column for column, _ in ways], [len(way) for way in tried])
        reached = self._alone(self.goal.reached, columns, np.concatenate(tried))
        start = 0
        for (column, way), some in zip(ways, tried, strict=True):
            hits = np.flatnonzero(reached[start : start + len(some)])
            start += len(some)
            if not hits.size:
                continue
            first = some.item(hits[0])
            between = [] if hits[0] == 0 else [some.item(hits[0] - 1)]
            option = self._refined(column, way, first, between)
            self.nearest[column, self.options.direction(column, option)] = option
            self.found.append(self._with(np.array([column]), np.array([option]))[0])

    def _refined(self, column: int, way: IntArray, reached: int, not_reached: Sequence[int]) -> int:
        """Return the nearest value that reaches the goal, of those between two that were tried."""
        places = {option: place for place, option in enumerate(way.tolist())}
        after = places[not_reached[0]] + 1 if not_reached else 0
        rest = way[after : places[reached]]
        if not rest.size:
            return reached
        hits = np.flatnonzero(self._reached(self._with(np.full(len(rest), column), rest)))
        return rest.item(hits[0]) if hits.size else reached

    def try_pairs(self) -> None:
        """Find pairs of features that reach the goal where neither does alone."""
        chosen = self._some_values
        most = max((len(values) for values in chosen.values()), default=1)
        n_columns = int(0.5 + np.sqrt(0.25 + 2 * (self.trials / 4 / most**2)))
        pairs = list(combinations(sorted(list(chosen)[: max(n_columns, 2)]), 2))
        if not pairs:
            return
        candidates = []
        for first, second in pairs:
            one, other = np.meshgrid(chosen[first], chosen[second], indexing="ij")
            block = np.tile(self.unchanged, (one.size, 1))
            block[:, first], block[:, second] = one.ravel(), other.ravel()
            candidates.append(block)
        every = np.concatenate(candidates)
        self._keep(every[self._reached(every)])

    @cached_property
    def _some_values(self) -> dict[int, IntArray]:
        """Some values of each column that do not reach the goal alone; columns and values that come nearest first.

        Where a value further on does, those up to half the way: otherwise a pair would be that change over again.
        """
        n_pairs = max(len(self.options.movable) * (len(self.options.movable) - 1) // 2, 1)
        most = int(np.clip(np.sqrt(self.trials / 4 / n_pairs), FEWEST_VALUES, MOST_VALUES))
        values: list[IntArray] = []
        for column in self.options.movable:
            ways = self.options.ways(column)
            some = []
            for way in ways:
                alone = self.nearest.get((column, self.options.direction(column, way.item(0))))
                before = way if alone is None else self._before_half(column, alone)
                some.append(before[_evenly(len(before), max(most // len(ways), 1))])
            values.append(np.concatenate(some))
        columns = self.options.movable
        owners = np.repeat(columns, [len(own) for own in values])
        if not len(owners):
            return {}
        margins = self._alone(self.goal.margins, owners, np.concatenate(values))
        best: dict[int, tuple[float, IntArray]] = {}
        for column, own in zip(columns, values, strict=True):
            of_column = margins[owners == column]
            if own.size:
                order = np.argsort(-of_column, kind="stable")[:most]
                best[column] = of_column.max().item(), own[order]
        return {column: best[column][1] for column in sorted(best, key=lambda one: -best[one][0])}

    def try_more_features(self, without: Set[int]) -> None:
        """Change one feature after the other, that which gains most first, but some not at all.

        The ways lead into near boxes that reach the goal, and to the best value that each feature has alone.
        """
        ends = self._ends(without)
        states = np.tile(self.unchanged, (len(ends), 1))
        for _ in range(len(self.options.movable)):
            rows, columns = np.nonzero((ends != STAY) & (states == STAY))
            if not rows.size:
                break
            steps = states[rows]
            steps[np.arange(len(rows)), columns] = ends[rows, columns]
            table = self.options.table_of(steps)
            reached, margins = self.goal.reached(table), self.goal.margins(table)
            margins[reached] = np.inf
            distances = self.options.distances(steps)
            order = np.lexsort((distances, -margins, rows))
            best = order[np.unique(rows[order], return_index=True)[1]]
            done = reached[best]
            self._keep(steps[best[done]])
            ends, states = ends[rows[best[~done]]], steps[best[~done]]

    def _ends(self, without: Set[int]) -> IntArray:
        """Return where to go: candidates that reach the goal and leave some columns as they are, or go half the way."""
        members = self.goal.view.members
        points = [points_of_boxes(member, self.options, MOST_BOXES // len(members) + 1) for member in members]
        every: IntArray = np.concatenate(points)
        every[:, list(without)] = STAY
        every = np.unique(every, axis=0)
        every = every[np.argsort(self.options.distances(every), kind="stable")]
        every = np.concatenate([self._best_alone(without), every])
        ends: list[IntArray] = [self._that_reach(every)]
        for (column, _), option in self.nearest.items():
            half = self._before_half(column, option)
            if column in without and len(half):
                every[:, column] = half[-1]
                ends.append(self._that_reach(every))
                every[:, column] = STAY
        return np.concatenate(ends)

    def _that_reach(self, candidates: IntArray) -> IntArray:
        """Return some candidates that reach the goal: the first, and those that change fewest features."""
        hits = np.flatnonzero(self._reached(candidates))
        fewest = hits[np.argsort((candidates[hits] != STAY).sum(axis=1), kind="stable")]
        some: IntArray = np.unique(np.concatenate([hits[:N_WAYS], fewest[:N_WAYS]]))
        return candidates[some]

    def _before_half(self, column: int, option: int) -> IntArray:
        """Return the options of a column up to half the way to one of them: a change that is much smaller."""
        way = next(way for way in self.options.ways(column) if option in way)
        return way[: (way.tolist().index(option) + 1) // 2]

    def _best_alone(self, without: Set[int]) -> IntArray:
        """Return candidates: all columns but some at the value that is nearest to the goal by itself; and half-way."""
        best, half = self.unchanged.copy(), self.unchanged.copy()
        for column, values in self._some_values.items():
            if column not in without:
                best[column] = values[0]
                before = self._before_half(column, values.item(0))
                half[column] = before[-1] if len(before) else values[0]
        return np.array([best, half])

    def _keep(self, candidates: IntArray) -> None:
        """Keep of candidates that change the same features in the same direction the smallest, made smaller still."""
        smallest: dict[tuple[tuple[int, int], ...], IntArray] = {}
        for place in np.argsort(self.options.distances(candidates), kind="stable"):
            smallest.setdefault(self.options.key(candidates[place]), candidates[place])
        if smallest:
            kept = list(smallest.values())[: 4 * N_WAYS]
            self.found += list(self._dropped(self._shrunk(self._dropped(np.array(kept)))))

    def _dropped(self, candidates: IntArray) -> IntArray:
        """Take back changes that are not needed, largest first, until every change is."""
        candidates, open_ = candidates.copy(), np.arange(len(candidates))
        while open_.size:
            rows, columns = np.nonzero(candidates[open_] != STAY)
            without = candidates[open_][rows]
            without[np.arange(len(rows)), columns] = STAY
            reached = np.flatnonzero(self._reached(without) & (without != STAY).any(axis=1))
            order = reached[np.lexsort((self.options.distances(without[reached]), rows[reached]))]
            best = order[np.unique(rows[order], return_index=True)[1]]
            open_ = open_[rows[best]]
            candidates[open_] = without[best]
        return candidates

    def _shrunk(self, candidates: IntArray) -> IntArray:
        """Bring each change as near to the present value as halving finds, the largest change first."""
        candidates, each = candidates.copy(), np.arange(len(candidates))
        sizes = np.array([self._sizes(candidate) for candidate in candidates])
        order = np.argsort(-sizes, axis=1, kind="stable")
        for turn in range(int((sizes > 0).sum(axis=1).max(initial=0))):
            columns = order[:, turn]
            options = candidates[each, columns]
            changes = (sizes[each, columns] > 0) & (options != STAY)
            enough = np.where(changes, self.options.steps(columns, options), 0)
            too_few, below = np.zeros_like(enough), self.options.below[columns]
            up = options >= below
            while (open_ := np.flatnonzero(enough - too_few > 1)).size:
                half = (enough + too_few)[open_] // 2
                tried = candidates[open_]
                nearer = np.where(up, below - 1, below)[open_] + np.where(up[open_], half, -half)
                tried[np.arange(len(open_)), columns[open_]] = nearer
                reached = self._reached(tried)
                candidates[open_[reached]] = tried[reached]
                enough[open_[reached]], too_few[open_[~reached]] = half[reached], half[~reached]
        return candidates

    def _sizes(self, candidate: IntArray) -> FloatArray:
        sizes = np.zeros(len(candidate))
        for column in np.flatnonzero(candidate != STAY):
            sizes[column] = max(self.options.sizes[column].item(candidate[column]), 1e-12)
        return sizes


def _evenly(n: int, most: int) -> IntArray:
    """Return at most so many of n places, evenly spread, the last among them."""
    if n <= most:
        return np.arange(n)
    return np.unique(np.rint(np.arange(1, most + 1) * (n / most)).astype(np.int64) - 1)
