"""Which of the candidates that reach a goal to offer: few features, small changes, plausible, unlike one another."""

from __future__ import annotations

import numpy as np

from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._counterfactuals.goal import Goal
from sslart.explain._counterfactuals.options import Options

SAME_FEATURE = 0.5  # what a feature that another choice changes as well costs, if it goes elsewhere
IMPLAUSIBLE = 1.0  # what a sample unlike nearly all learnt ones costs: as much as one more feature
MUCH_SMALLER = 0.5
MOST_OF_IT = 0.8


def most_changes(fewest: int) -> int:
    """Return how many features a change may have where another of so few does."""
    return 2 * fewest + 3


class Choice:
    """Which of many candidates to offer: few features, small changes, plausible samples, unlike one another."""

    def __init__(self, goal: Goal, options: Options, found: list[IntArray]) -> None:
        self.candidates: IntArray = np.array(found, dtype=np.int64).reshape(-1, len(options.values))
        self.candidates = np.unique(self.candidates, axis=0)
        self.distances: FloatArray = options.distances(self.candidates)
        self.keys = [options.key(candidate) for candidate in self.candidates]
        self.n_changes: IntArray = np.array([len(key) for key in self.keys], dtype=np.int64)
        self.sizes = [
            {column: options.sizes[column].item(candidate[column]) for column, _ in key}
            for key, candidate in zip(self.keys, self.candidates, strict=True)
        ]
        self.plausible: BoolArray = np.ones(len(self.candidates), dtype=bool)
        if len(self.candidates):
            self.plausible = are_plausible(goal, options, self.candidates)

    def unlike(self, n: int) -> list[int]:
        """Return up to n candidates: first the smallest of the fewest features, then those unlike what was chosen."""
        if not len(self.candidates):
            return []
        chosen = [int(np.lexsort((self.distances, ~self.plausible, self.n_changes))[0])]
        few = self.n_changes <= most_changes(self.n_changes[chosen[0]].item())
        costs = self.n_changes + self.distances + IMPLAUSIBLE * ~self.plausible
        while len(chosen) < n:
            rest = [
                one for one in np.flatnonzero(few).tolist() if all(self._are_unlike(one, other) for other in chosen)
            ]
            if not rest:
                break
            chosen.append(min(rest, key=lambda one: costs[one] + max(self._overlap(one, other) for other in chosen)))
        return chosen

    def _are_unlike(self, one: int, other: int) -> bool:
        """Return whether two candidates differ in features, or in all directions, and not only in a small part."""
        first, second = sorted((self.keys[one], self.keys[other]), key=len)
        fewer, more = sorted((self.sizes[one], self.sizes[other]), key=len)
        if set(first) <= set(second):
            return len(first) < len(second) and all(more[column] <= MUCH_SMALLER * fewer[column] for column in fewer)
        shared = [column for column, _ in set(first) & set(second)]
        if fewer.keys() == more.keys() and shared:
            return False
        return not all(
            sum(sizes[column] for column in shared) > MOST_OF_IT * sum(sizes.values()) for sizes in (fewer, more)
        )

    def _overlap(self, one: int, other: int) -> float:
        """Return how much two candidates have in common, from 0 to 1: of their features, and of how far they go."""
        first, second = dict(self.keys[one]), dict(self.keys[other])
        shared = {
            column: 1.0 if first[column] == second[column] else SAME_FEATURE for column in first.keys() & second.keys()
        }
        features = sum(shared.values()) / min(len(first), len(second))
        sizes = [
            sum(part * sizes[column] for column, part in shared.items()) / max(sum(sizes.values()), 1e-12)
            for sizes in (self.sizes[one], self.sizes[other])
        ]
        return max(features, *sizes)


def are_plausible(goal: Goal, options: Options, candidates: IntArray) -> BoolArray:
    """Return which candidates are like the learnt samples, as a whole and in each new value."""
    return ~(goal.is_novel(options.table_of(candidates)) | options.are_unusual(candidates))
