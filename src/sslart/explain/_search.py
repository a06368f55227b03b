"""The search for counterfactuals: small changes of samples that lead to another prediction, for many samples at once.

1. Single features. All options are tried if there are few, else those that bring background samples nearest to the
   wanted class. A change that succeeds is made as small as possible by bisection.
2. If no single feature succeeds: pairs of the features with the largest gains, then more of them together.
3. If these fail: points in near boxes of the wanted class.
Unnecessary changes are removed, and the others are made as small as possible. The same steps find the counterfactual of
explanations, and the further ones of a what-if. Every result is verified by a prediction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sslart._art.boxes import NO_LIMIT
from sslart._art.geometry import box_norms, choice_and_match, gaps
from sslart._data.labels import UNLABELLED
from sslart._mapping.decision_rules import expected_costs
from sslart._mapping.model_view import ModelView, PredictionBatch
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.explain._contributions import predictions_at_centres, samples_of_boxes
from sslart.explain._options import STAY, ChangeSpace, Options, is_wide

# budgets of the search, which trade time for the size of changes
PROBED_VALUES = 360  # values per sample in probes of single features: fewer probes with many features
FEWEST_PROBES, MOST_PROBES = 12, 96  # probes per sample; if there are no more options in total, all are tried
COARSE, MOST_COARSE = 8, 64  # options of a feature with estimated effects: per probe and feature, and maximum
SPREAD, MOST_SPREAD = 480, 38  # options of all features together, and of one, if no probe succeeds
DAYS = 7  # days around a date that are all tried, since weekdays are periodic
EFFECTS = 6000  # predictions used to estimate the effects of options
ENDS = 2  # values of each column, with very many columns
PAIRED = 6  # features tried in pairs
MANY_PAIRED = 12  # features tried in pairs, for a what-if
LEVELS, MANY_LEVELS = 10, 24  # options per feature of a pair, for a what-if, and if changes must be plausible
WIDE, MANY_WIDE = 2, 6  # pairs tried at several options per feature, and those for a what-if
TOGETHER = (3, 4, 5, 6, 8, 11, 15, 20, 30, 50, 100, 200, 500)  # numbers of features changed together
FEW = 3  # if more features are needed, boxes of the wanted class are tried as well
REDUCED = 36  # features of the pairs of a sample that are made smaller, three pairs at most
NEAR_BOXES, WAYS = 32, 8  # boxes compared, and points in them that are tried
ROWS = 1024  # samples searched at once, fewer with many features or classes
CLOSE = 1 / 24  # tolerance of the bisection of one of several features, relative to its change
NEVER = -1e9  # margin of a class that is not wanted
LEAST = 1e-9  # lower limit of probabilities in logarithms
BLOCK = 2_000_000  # values of candidates predicted at once, to bound memory


# probes of single features: indices of rows, columns, options, and expected margins
Probes = tuple[IntArray, IntArray, IntArray, FloatArray]


class Found(NamedTuple):
    """Candidates that lead to a wanted class, with the rows they belong to."""

    rows: IntArray
    candidates: IntArray

    @classmethod
    def joined(cls, parts: list[Found], n_columns: int) -> Found:
        """Concatenate candidates."""
        none = cls(np.empty(0, dtype=np.int64), np.empty((0, n_columns), dtype=np.int64))
        return cls(*(np.concatenate(one) for one in zip(none, *parts, strict=True)))


class Search:
    """The search for changes of samples that lead to a wanted class: `wanted` is a mask, (n_samples, n_classes).

    `plausible`: changed samples must be as near to the data as 95 % of the learnt samples are. `movable`: mask of the
    features that may change, (n_samples, n_columns); None: those of the space.
    """

    def __init__(
        self, space: ChangeSpace, wanted: BoolArray, *, plausible: bool = False, movable: BoolArray | None = None
    ) -> None:
        self.space, self.view, self.options = space, space.view, space.options
        self.wanted, self.plausible = wanted, plausible
        self.movable = space.movable if movable is None else movable
        self.n_columns = len(space.columns)

    def predict(self, rows: IntArray, candidates: IntArray, *, by_box: bool = False) -> tuple[BoolArray, FloatArray]:
        """Return a mask of candidates that reach a wanted class, and the margin of each wanted class over the others.

        If one box decides, margins are differences of choice values with `by_box`, or else 0.
        """
        n_rows = max(BLOCK // self.n_columns, 1)
        if len(rows) > n_rows:
            blocks = [slice(start, start + n_rows) for start in range(0, len(rows), n_rows)]
            reached, margins = zip(
                *(self.predict(rows[at], candidates[at], by_box=by_box) for at in blocks), strict=True
            )
            return np.concatenate(reached), np.concatenate(margins)
        table, valid = self.space.table_of(rows, candidates)
        batch, wanted = PredictionBatch(self.view, table), self.wanted[rows]
        scores = class_scores(self.view, batch.proba()) if self.view.uses_evidence or self.view.is_ensemble else None
        indices = batch.prediction().indices
        reached = valid & (indices != UNLABELLED) & wanted[np.arange(len(rows)), indices]
        if self.plausible and reached.any():
            at = np.flatnonzero(reached)
            reached[at] = self.view.score_samples(table[at]) >= self.view.novelty_threshold
        if scores is None:  # one box decides: its margins take two more searches
            scores = self._box_scores(batch.coded[0], wanted) if by_box else np.zeros(wanted.shape)
        others = np.where(wanted, -np.inf, scores).max(axis=1, keepdims=True)
        return reached, np.where(wanted, scores - np.where(np.isfinite(others), others, 0.0), NEVER)

    def _box_scores(self, coded: FloatArray, wanted: BoolArray) -> FloatArray:
        """Return the choice of the best box of the wanted classes, and of the best other box, for each class."""
        member, scores = self.view.members[0], np.empty(wanted.shape)
        labels = member.labels
        for mask in np.unique(wanted, axis=0):
            own, is_wanted = np.flatnonzero((wanted == mask).all(axis=1)), (labels != UNLABELLED) & mask[labels]
            is_other = ~is_wanted & ((labels != UNLABELLED) | (self.view.search_depth != NO_LIMIT))
            for boxes, classes in ((is_wanted, mask), (is_other, ~mask)):
                nodes = member.rank(coded[own], labels=np.where(boxes, 0, UNLABELLED))[0][:, 0]
                choices, _ = choice_and_match(coded[own], *member.boxes_of(np.maximum(nodes, 0)), member.params.choice)
                scores[np.ix_(own, classes)] = np.where(nodes == UNLABELLED, 0.0, choices)[:, None]
        return scores

    def first(self) -> Found:
        """Return the best change of each sample: the fewest features, then the smallest size."""
        found = [self.shortest(self._tried(rows)) for rows in self._blocks()]
        return Found.joined(found, self.n_columns)

    def all_changes(self) -> Found:
        """Return the best change of each sample and all others found in the search, including pairs."""
        return Found.joined([self._tried(rows, want_all=True) for rows in self._blocks()], self.n_columns)

    def _blocks(self) -> Iterator[IntArray]:
        open_ = np.flatnonzero(self.movable.any(axis=1) & self.wanted.any(axis=1))
        n = min(max(BLOCK // self.wanted.shape[1] // self.n_columns, 64), ROWS)
        yield from (open_[start : start + n] for start in range(0, len(open_), n))

    def shortest(self, found: Found) -> Found:
        """Return the candidate with the fewest features for each row, and of these the smallest."""
        table, _ = self.space.table_of(*found)
        n_changes, distances = self.space.measured(found.rows, table)
        order = np.lexsort((*found.candidates.T, distances, n_changes, found.rows))
        best = order[np.unique(found.rows[order], return_index=True)[1]]
        return Found(found.rows[best], found.candidates[best])

    def _tried(self, rows: IntArray, *, want_all: bool = False) -> Found:
        """Return changes of some rows: of single features, else of pairs, of more features, or into near boxes."""
        if not rows.size:
            return Found.joined([], self.n_columns)
        singles, alone = self._singles(rows, by_box=want_all)
        found, without = [singles], np.setdiff1d(rows, singles.rows)
        paired = rows
        if not want_all:
            columns = (singles.candidates != STAY).argmax(axis=1)
            paired = without[:0] if self.view.uses_one_box else self._longer(rows, singles.rows, columns)
        of_pairs = alone.of(np.searchsorted(rows, paired))
        has_single = np.isin(paired, singles.rows)[:, None] & (self.space.n_following[paired] > 0)
        of_pairs.gains[has_single] = -np.inf  # pairs with dependent features are not shorter than a single one
        found.append(self._pairs(paired, of_pairs, want_all=want_all))
        open_ = np.setdiff1d(without, found[-1].rows)
        if self.view.uses_evidence:
            more = self._together(open_, alone.of(np.searchsorted(rows, open_)))
            found.append(more)
            open_ = np.setdiff1d(open_, more.rows[(more.candidates != STAY).sum(axis=1) <= FEW])
        if not is_wide(self.view):  # there a way into a box changes hundreds of columns: it takes long, and is not read
            found.append(self._into_boxes(open_))
        return Found.joined(found, self.n_columns)

    def _longer(self, rows: IntArray, found: IntArray, columns: IntArray) -> IntArray:
        """Return the rows without a change of one column, or only with one that has two dependent columns."""
        return np.setdiff1d(rows, found[self.space.n_following[found, columns] < 2])

    # single features

    def _singles(self, rows: IntArray, *, by_box: bool) -> tuple[Found, Alone]:
        """Return changes of one feature, and the gain of each feature alone."""
        _, start = self.predict(rows, np.full((len(rows), self.n_columns), STAY), by_box=by_box)
        probes = self._probes(rows, start)
        reached, margins = self._predict_single(rows, probes, by_box=by_box)
        probed, columns = probes[0][reached], probes[1][reached]
        more = self._anywhere(rows, np.searchsorted(rows, self._longer(rows, rows[probed], columns)))
        found = self._predict_single(rows, more, by_box=by_box)
        probed, columns, options, expected = (np.concatenate(both) for both in zip(probes, more, strict=True))
        reached, margins = np.concatenate([reached, found[0]]), np.concatenate([margins, found[1]])
        gains = margins - start[probed] + 1e-3 * expected[:, None]
        alone = Alone.none(start, self.n_columns)
        above = self.space.above[rows[probed], columns]
        for index in np.flatnonzero((start > NEVER).any(axis=0)).tolist():
            order = np.argsort(gains[:, index], kind="stable")
            place, column, option = probed[order], columns[order], options[order]
            alone.gains[place, column, index] = gains[order, index]  # the last one, which is the highest, stays
            alone.best[place, column, index, 0] = option
            best = alone.best[place, column, index, 0]
            other = ((option >= above[order]) != (best >= above[order])) | (
                self.space.is_category[column] & (option != best)
            )
            alone.best[place[other], column[other], index, 1] = option[other]  # the best in the other direction
        alone.best.swapaxes(1, 2)[start <= NEVER] = STAY  # classes wanted for other rows only
        return self._nearest(rows, probed, columns, options, reached), alone

    def _predict_single(self, rows: IntArray, probes: Probes, *, by_box: bool) -> tuple[BoolArray, FloatArray]:
        probed, columns, options, _ = probes
        candidates = np.full((len(probed), self.n_columns), STAY)
        candidates[np.arange(len(probed)), columns] = options
        return self.predict(rows[probed], candidates, by_box=by_box)

    def _probes(self, rows: IntArray, start: FloatArray) -> Probes:
        """Return the options of single features with the highest expected gain, and the days around dates."""
        effects = effects_of(self.view, self.options)
        movable = self.movable[rows][:, effects.columns]
        movable &= effects.options != self._own_options(rows, effects.columns)
        n = n_probes(self.n_columns)
        if len(effects.columns) == self.options.sizes.sum() and len(effects.columns) <= n:
            places, which = np.nonzero(movable)
            return places, effects.columns[which], effects.options[which], np.zeros(len(places))
        expected = effects.margins(self.space, rows, self.wanted[rows], start)
        expected[~movable] = NEVER
        best = np.argsort(-expected, axis=1, kind="stable")[:, :n]
        expected = np.take_along_axis(expected, best, axis=1)
        places = np.repeat(np.arange(len(rows)), best.shape[1])
        kept = (expected > NEVER).ravel()
        which = best.ravel()[kept]
        parts: list[tuple[NDArray[Any], ...]] = [
            (places[kept], effects.columns[which], effects.options[which], expected.ravel()[kept])
        ]
        for column in {one.bases[0] for one in self.options.relations if not one.is_exact}:  # dates
            near = np.arange(1, DAYS + 1)
            options = np.hstack(
                [self.space.below[rows, column][:, None] - near, self.space.above[rows, column][:, None] + near - 1]
            )
            usable = self.movable[rows, column][:, None] & (options >= 0) & (options < self.options.sizes[column])
            places, which = np.nonzero(usable)
            parts.append((places, np.full(len(places), column), options[usable], np.zeros(len(places))))
        places, columns, options, expected = (np.concatenate(part) for part in zip(*parts, strict=True))
        return places, columns, options, expected

    def _anywhere(self, rows: IntArray, places: IntArray) -> Probes:
        """Return evenly spread options of single features, for the rows at some places."""
        n = 0 if is_wide(self.view) else min(max(SPREAD // self.n_columns, COARSE), MOST_SPREAD)
        spread = spread_options(self.options.sizes, n)
        some, columns, which = np.nonzero(self.movable[rows[places]][:, :, None] & (spread != STAY))
        return places[some], columns, spread[columns, which], np.zeros(len(some))

    def _own_options(self, rows: IntArray, columns: IntArray) -> IntArray:
        """Return the options equal to the present values of samples; -1 for none."""
        below, above = self.space.below[rows][:, columns], self.space.above[rows][:, columns]
        return np.where(self.space.is_category[columns] | (below < above), below, STAY)

    def _nearest(
        self, rows: IntArray, probed: IntArray, columns: IntArray, options: IntArray, reached: BoolArray
    ) -> Found:
        """Return the smallest successful change of each feature and direction, by bisection."""
        below, above = self.space.below[rows[probed], columns], self.space.above[rows[probed], columns]
        category = self.space.is_category[columns]
        up = options >= above
        steps = np.where(category, 1, np.where(up, options - above + 1, below - options))
        ways = np.where(category, options + 2, up)
        order = np.lexsort((steps, ways, columns, probed))
        key = np.stack([probed, columns, ways])[:, order]
        starts = np.flatnonzero(np.append(True, (key[:, 1:] != key[:, :-1]).any(axis=0))) if len(order) else order
        hits = np.where(reached[order], np.arange(len(order)), len(order))
        hits = np.minimum.reduceat(hits, starts) if len(starts) else starts
        ends = np.append(starts[1:], len(order))
        some = hits < ends
        first, enough = hits[some], order[hits[some]]
        before = np.where(first > starts[some], steps[order[np.maximum(first - 1, 0)]], 0)
        candidates = np.full((len(enough), self.n_columns), STAY)
        candidates[np.arange(len(enough)), columns[enough]] = options[enough]
        found = Found(rows[probed[enough]], candidates)
        return self._nearer(found, columns[enough], before)

    def _nearer(self, found: Found, columns: IntArray, too_few: IntArray | int = 0, part: float = 0.0) -> Found:
        """Make the change of one feature of each candidate as small as possible, up to a tolerance `part`.

        Root finding: steps by interpolation of margins, and every third time bisection.
        """
        rows, candidates = found.rows, found.candidates.copy()
        each, below, above = np.arange(len(rows)), self.space.below[rows, columns], self.space.above[rows, columns]
        options = candidates[each, columns]
        up, number = options >= above, (options != STAY) & ~self.space.is_category[columns]
        enough = np.where(number, np.where(up, options - above + 1, below - options), 0)
        few = np.broadcast_to(too_few, enough.shape).copy()
        close = np.maximum(part * enough, 1)
        high, low, turn = np.full(len(rows), np.nan), np.full(len(rows), np.nan), 0
        while (open_ := np.flatnonzero(enough - few > close)).size:
            width = (enough - few)[open_]
            share = np.full(len(open_), 0.5)
            if turn % 3:
                with np.errstate(invalid="ignore", divide="ignore"):
                    limit = low[open_] / (low[open_] - high[open_])
                limit = limit + np.where(limit < 0.5, 0.1, -0.1)  # overshoot, so that both ends of the bracket converge
                share = np.where(np.isfinite(limit), np.clip(limit, 0.0, 1.0), 0.5)
            step = few[open_] + np.clip(np.rint(share * width).astype(np.int64), 1, width - 1)
            tried = candidates[open_]
            at = np.where(up[open_], above[open_] - 1 + step, below[open_] - step)
            tried[np.arange(len(open_)), columns[open_]] = at
            reached, of_classes = self.predict(rows[open_], tried)
            margins = of_classes.max(axis=1)
            hit, missed = open_[reached], open_[~reached]
            candidates[hit], enough[hit], high[hit] = tried[reached], step[reached], margins[reached]
            few[missed], low[missed] = step[~reached], margins[~reached]
            turn += 1
        return Found(rows, candidates)

    # several features

    def _pairs(self, rows: IntArray, alone: Alone, *, want_all: bool) -> Found:
        """Return changes of two of the features with the largest gains: at their best options, else around them."""
        many = want_all or self.plausible  # more options: those that gain most may lead away from the data
        n = min(MANY_PAIRED if many else PAIRED, self.n_columns)
        if n < 2 or not rows.size:
            return Found.joined([], self.n_columns)
        one, other = np.array(list(combinations(range(n), 2))).T
        leading = np.argsort(-alone.gains, axis=1, kind="stable")[:, :n]
        together = np.take_along_axis(alone.gains, leading, axis=1)
        expected = (alone.start[:, None] + together[:, one] + together[:, other]).reshape(len(rows), -1)
        chosen = np.argsort(-expected, axis=1, kind="stable")[:, : len(one)]
        pair, index = chosen // alone.n_classes, chosen % alone.n_classes
        each = np.arange(len(rows))[:, None]
        columns = leading[each, one[pair], index], leading[each, other[pair], index]
        options = [alone.best[each, column, index] for column in columns]
        found = self._of_two(rows, columns, [both[:, :, :1] for both in options])
        if many:
            most = MANY_LEVELS if self.plausible else LEVELS
            coarse = spread_options(self.options.sizes, max(min(6 * most // self.n_columns, most), 4))
            columns = columns[0][:, :MANY_WIDE], columns[1][:, :MANY_WIDE]
            every = [
                np.where(self.movable[rows[:, None], column][:, :, None], coarse[column], STAY) for column in columns
            ]
            found = Found.joined([found, self._of_two(rows, columns, every)], self.n_columns)
        elif (at := np.flatnonzero(~np.isin(rows, found.rows))).size:
            columns = columns[0][at, :WIDE], columns[1][at, :WIDE]
            wide = [
                self._around(rows[at], column, both[at, :WIDE]) for column, both in zip(columns, options, strict=True)
            ]
            found = Found.joined([found, self._of_two(rows[at], columns, wide)], self.n_columns)
        return self._reduced(self._some(found, MANY_PAIRED if many else min(max(REDUCED // self.n_columns, 1), 3)))

    def _around(self, rows: IntArray, columns: IntArray, best: IntArray) -> IntArray:
        """Return options of columns: the best in each direction, one half-way to the best, and the farthest."""
        end = best[:, :, :1]
        above, below = (side[rows[:, None], columns][:, :, None] for side in (self.space.above, self.space.below))
        half = np.where(end >= above, above + end, below + end) // 2
        far = np.where(end >= above, self.options.sizes[columns][:, :, None] - 1, 0)
        held = (end == STAY) | self.space.is_category[columns][:, :, None]
        return np.concatenate([best, np.where(held, STAY, np.concatenate([half, far], axis=2))], axis=2)

    def _of_two(self, rows: IntArray, columns: Sequence[IntArray], options: Sequence[IntArray]) -> Found:
        """Return the successful changes of pairs of columns, shape (n_rows, n_pairs), to any of their options."""
        n = options[0].shape[2]
        ends = np.repeat(options[0], n, axis=2), np.tile(options[1], n)
        candidates = np.full((*ends[0].shape, self.n_columns), STAY)
        for column, end in zip(columns, ends, strict=True):
            np.put_along_axis(
                candidates, np.broadcast_to(column[:, :, None, None], (*end.shape, 1)), end[..., None], axis=3
            )
        usable = (ends[0] != STAY) & (ends[1] != STAY)
        places = np.broadcast_to(np.arange(len(rows))[:, None, None], usable.shape)[usable]
        reached, _ = self.predict(rows[places], candidates[usable])
        return Found(rows[places[reached]], candidates[usable][reached])

    def _some(self, found: Found, n: int) -> Found:
        """Return the n candidates with the smallest changes for each row."""
        changed = (found.candidates != STAY).sum(axis=1)
        order = np.lexsort((self.space.sizes(*found).sum(axis=1), changed, found.rows))
        rows = found.rows[order]
        kept = order[np.arange(len(order)) - np.searchsorted(rows, rows) < n]
        return Found(found.rows[kept], found.candidates[kept])

    def _together(self, rows: IntArray, alone: Alone) -> Found:
        """Return changes of more features: the fewest of those with the largest gains that succeed."""
        gains = np.where(alone.best[..., 0] == STAY, 0.0, np.maximum(alone.gains, 0.0))
        order = np.argsort(-gains, axis=1, kind="stable")
        margins = alone.start[:, None] + np.cumsum(np.take_along_axis(gains, order, axis=1), axis=1)
        needed = (margins < 0).sum(axis=1) - 1e-12 * margins[:, -1]
        numbers = [n for n in TOGETHER if n <= self.n_columns]
        parts, each = [], np.arange(len(rows))
        for index in np.argsort(needed, axis=1, kind="stable")[:, :2].T:  # two classes
            ranks, best = np.argsort(order[each, :, index], axis=1), alone.best[each, :, index, 0]
            usable = (best != STAY).sum(axis=1)
            for fewer, n in zip((1, *numbers), numbers, strict=False):
                at = np.flatnonzero(usable > fewer)
                parts.append(Found(rows[at], np.where(ranks[at] < n, best[at], STAY)))
        every = Found.joined(parts, self.n_columns)
        reached, _ = self.predict(*every)
        return self._reduced(self._some(Found(every.rows[reached], every.candidates[reached]), 1))

    def _fewest(self, rows: IntArray, wide: IntArray, ranks: IntArray) -> Found:
        """Reduce candidates to the fewest of their changes, by rank, that reach a wanted class, by bisection."""
        enough, few = (wide != STAY).sum(axis=1), np.zeros(len(rows), dtype=np.int64)
        at = np.flatnonzero(enough)
        reached, _ = self.predict(rows[at], wide[at])
        rows, wide, ranks, enough, few = (one[at[reached]] for one in (rows, wide, ranks, enough, few))
        while (open_ := np.flatnonzero(enough - few > 1)).size:
            half = (enough + few)[open_] // 2
            reached, _ = self.predict(rows[open_], np.where(ranks[open_] < half[:, None], wide[open_], STAY))
            enough[open_[reached]], few[open_[~reached]] = half[reached], half[~reached]
        return Found(rows, np.where(ranks < enough[:, None], wide, STAY))

    def _into_boxes(self, rows: IntArray) -> Found:
        """Return changes that lead into near boxes of a wanted class, of the features with the largest gain of choice.

        Only the boxes are tried that need the fewest features to win against the best other box.
        """
        parts: list[Found] = []
        for number, member in enumerate(self.view.members if rows.size else ()):
            labels, coded = self._labels(number), member.encode(self.space.table[rows])
            for mask in np.unique(self.wanted[rows], axis=0):
                own = np.flatnonzero((self.wanted[rows] == mask).all(axis=1))
                is_wanted = (labels != UNLABELLED) & mask[labels]
                nodes, against = (
                    member.rank(coded[own], depth=depth, labels=np.where(some, 0, UNLABELLED))[0]
                    for some, depth in ((is_wanted, NEAR_BOXES), (~is_wanted, 1))
                )
                parts.append(self._towards(number, rows[own], coded[own], nodes, against[:, 0]))
        every = Found.joined(parts, self.n_columns)
        return self._reduced(self._some(every, 1))

    def _towards(self, number: int, rows: IntArray, coded: FloatArray, nodes: IntArray, against: IntArray) -> Found:
        """Return the changes of each row into those of some boxes that need the fewest features."""
        member = self.view.members[number]
        sides, other = member.boxes_of(np.maximum(nodes, 0)), member.boxes_of(np.maximum(against, 0))
        lower, upper = (np.concatenate([side, side], axis=1) for side in sides)  # nearest points, and centres
        x, half = coded[:, None], nodes.shape[1]
        points = np.clip(x, lower, np.maximum(lower, upper))
        points[:, half:] = (lower + upper)[:, half:] / 2
        points = np.where((lower > upper) | np.isnan(x), x, points)
        present, low, high = ~np.isnan(coded), other[0][:, None], other[1][:, None]
        rates = 1.0 / (member.params.choice + box_norms(present[:, None], lower, upper))[:, :, None]
        rate = 1.0 / (member.params.choice + box_norms(present, *other))[:, None, None]
        choices = (1.0 / rates[:, :, 0] - member.params.choice - np.nansum(gaps(x, lower, upper), axis=2)) * rates[
            :, :, 0
        ]
        best = (1.0 / rate[:, 0] - member.params.choice - np.nansum(gaps(coded, *other), axis=1)[:, None]) * rate[:, 0]
        gains = gaps(x, lower, upper) * rates + (gaps(points, low, high) - gaps(x, low, high)) * rate
        columns = np.array([feature.column for feature in member.encoder.features])
        by_column = np.zeros((*gains.shape[:2], self.n_columns))
        for place, column in enumerate(columns.tolist()):
            by_column[:, :, column] += np.nan_to_num(gains[:, :, place])
        by_column = np.where(self.movable[rows][:, None], by_column, 0.0)
        gained = np.cumsum(-np.sort(-np.maximum(by_column, 0.0), axis=2), axis=2)
        needed = np.where(against >= 0, 1.0, 0.0)[:, None] * (best - choices)
        number_of = (gained < needed[:, :, None]).sum(axis=2) + 1.0
        number_of[:, :half][nodes < 0] = number_of[:, half:][nodes < 0] = np.inf
        leading = np.argsort(number_of, axis=1, kind="stable")[:, :WAYS]
        places, ways = np.repeat(np.arange(len(rows)), leading.shape[1]), leading.ravel()
        candidates = self._at_points(
            number, rows[places], points[places, ways], lower[places, ways], upper[places, ways]
        )
        candidates[~np.isfinite(number_of[places, ways])] = STAY
        ranks = np.argsort(np.argsort(-np.where(candidates == STAY, -np.inf, by_column[places, ways]), axis=1), axis=1)
        return self._fewest(rows[places], candidates, ranks)

    def _labels(self, number: int) -> IntArray:
        """Return the class index predicted by each box of a member, -1 for none."""
        member = self.view.members[number]
        return predictions_at_centres(self.view, member) if self.view.uses_evidence else member.labels

    def _at_points(
        self, number: int, rows: IntArray, points: FloatArray, lower: FloatArray, upper: FloatArray
    ) -> IntArray:
        """Return the options nearest to points in boxes, as candidates; a value that is nearer itself stays."""
        encoder, options, table = self.view.members[number].encoder, self.options, self.space.table
        candidates = np.full((len(rows), self.n_columns), STAY)
        units = encoder.decode(points)
        for place, feature in enumerate(encoder.features):
            column, known = feature.column, options.values[feature.column]
            if feature.category is not None or not len(known):
                continue
            wanted = units[:, place]
            right = np.clip(np.searchsorted(known, wanted), 0, len(known) - 1)
            left = np.maximum(right - 1, 0)
            nearest = np.where(abs(known[left] - wanted) <= abs(known[right] - wanted), left, right)
            own = table.values[rows, column]
            stays = (abs(own - wanted) <= abs(known[nearest] - wanted)) | (known[nearest] == own)
            candidates[:, column] = np.where(stays | (lower[:, place] > upper[:, place]), STAY, nearest)
        for column in table.categories:
            known = options.values[column].tolist()
            at = {one.category: place for place, one in enumerate(encoder.features) if one.column == column}
            if not known or not all(category in at for category in known):
                continue
            places = [at[category] for category in known]
            covered = np.where(lower[:, places] <= upper[:, places], lower[:, places] + upper[:, places], 0.0)
            own_option = self.space.below[rows, column]
            holds = np.take_along_axis(covered, np.maximum(own_option, 0)[:, None], axis=1)[:, 0] > 0
            stays = (covered.max(axis=1) == 0) | ((own_option >= 0) & holds)
            candidates[:, column] = np.where(stays, STAY, covered.argmax(axis=1))
        return np.where(self.movable[rows], candidates, STAY)

    def _reduced(self, found: Found) -> Found:
        """Remove unnecessary changes of candidates, and make the others as small as possible by bisection."""
        dropped = self._dropped(found)
        sizes = self.space.sizes(*dropped)
        order = np.argsort(-sizes, axis=1, kind="stable")
        for turn in range(int((dropped.candidates != STAY).sum(axis=1).max(initial=0))):
            dropped = self._nearer(dropped, order[:, turn], part=CLOSE)
        return self._dropped(dropped)

    def _dropped(self, found: Found) -> Found:
        """Undo unnecessary changes, the largest first, until every change is necessary."""
        candidates, open_ = found.candidates.copy(), np.flatnonzero((found.candidates != STAY).sum(axis=1) > 1)
        while open_.size:
            places, columns = np.nonzero(candidates[open_] != STAY)
            without = candidates[open_[places]]
            without[np.arange(len(places)), columns] = STAY
            some = (without != STAY).any(axis=1)
            places, without = places[some], without[some]
            reached = np.flatnonzero(self.predict(found.rows[open_[places]], without)[0])
            left = self.space.sizes(found.rows[open_[places[reached]]], without[reached]).sum(axis=1)
            order = reached[np.lexsort((left, places[reached]))]
            best = order[np.unique(places[order], return_index=True)[1]]
            open_ = open_[places[best]]
            candidates[open_] = without[best]
        return Found(found.rows, candidates)


def spread_options(sizes: IntArray, most: IntArray | int) -> IntArray:
    """Return evenly spread options of each column, at most `most`, shape (n_columns, n_options)."""
    numbers = np.minimum(sizes, most)
    found = np.full((len(sizes), numbers.max(initial=1)), STAY)
    for column in np.flatnonzero(numbers).tolist():
        found[column, : numbers[column]] = np.linspace(0, sizes[column] - 1, numbers[column]).astype(np.int64)
    return found


def n_probes(n_columns: int) -> int:
    """Return the number of probes of single features for a sample."""
    return min(max(PROBED_VALUES // n_columns, FEWEST_PROBES), MOST_PROBES)


def class_scores(view: ModelView, proba: FloatArray) -> FloatArray:
    """Return scores: the logarithms of probabilities, or negative expected costs."""
    if view.decision_costs is not None:
        return -expected_costs(proba, view.decision_costs)
    return np.log(np.maximum(proba, LEAST))


class Alone(NamedTuple):
    """Margins of samples towards each class, the gain of each feature alone, and its best options.

    Shapes are (n_rows, n_classes), (n_rows, n_columns, n_classes), and (n_rows, n_columns, n_classes, 2): the best
    option, and the best in the other direction.
    """

    start: FloatArray
    gains: FloatArray
    best: IntArray

    @classmethod
    def none(cls, start: FloatArray, n_columns: int) -> Alone:
        """Return empty gains of samples."""
        shape = len(start), n_columns, start.shape[1]
        return cls(start, np.full(shape, -np.inf), np.full((*shape, 2), STAY))

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.start.shape[1])

    def of(self, places: IntArray) -> Alone:
        """Return the gains of some samples."""
        return Alone(self.start[places], self.gains[places], self.best[places])


class Effects(NamedTuple):
    """Mean scores of background samples with one feature set to an option, one row per option tried."""

    columns: IntArray
    options: IntArray
    scores: FloatArray

    def margins(self, space: ChangeSpace, rows: IntArray, wanted: BoolArray, start: FloatArray) -> FloatArray:
        """Return the expected margin of a wanted class for each option, shape (n_rows, n_options)."""
        own = np.empty((len(rows), len(self.columns)), dtype=np.int64)  # the tried option nearest to the present value
        for column in np.unique(self.columns).tolist():
            at = np.flatnonzero(self.columns == column)
            if space.is_category[column]:
                match = space.below[rows, column][:, None] == self.options[at]
            else:
                positions = space.options.positions[column][self.options[at]]
                match = -np.abs(space.own[rows, column][:, None] - positions)
            own[:, at] = at[match.argmax(axis=1)][:, None]
        expected = np.full(own.shape, -np.inf)
        for mask in np.unique(wanted, axis=0):
            of_mask = np.flatnonzero((wanted == mask).all(axis=1))
            others = 0.0 if mask.all() else self.scores[:, ~mask].max(axis=1)
            for index in np.flatnonzero(mask).tolist():
                towards = self.scores[:, index] - others
                margins = start[of_mask, index][:, None] + towards[None] - towards[own[of_mask]]
                expected[of_mask] = np.maximum(expected[of_mask], margins)
        return expected


def effects_of(view: ModelView, options: Options) -> Effects:
    """Return the effects of the options of a model, of some if there are many; cached."""

    def made() -> Effects:
        sizes, n_all = options.sizes, n_probes(len(options.sizes))
        has_all = sizes.sum() <= n_all
        n_each = np.minimum(sizes, sizes.sum() if has_all else np.clip(2 * n_all // len(sizes), COARSE, MOST_COARSE))
        if is_wide(view):
            n_each = np.minimum(sizes, ENDS)
        spread = spread_options(sizes, n_each)
        columns, which = np.nonzero(spread != STAY)
        chosen = spread[columns, which]
        if has_all:
            return Effects(columns, chosen, np.zeros((len(columns), len(view.classes))))
        table = samples_of_boxes(view)
        most = 2 if is_wide(view) else max(EFFECTS // max(len(columns), 1), 2)
        table = table[np.unique(np.linspace(0, len(table) - 1, min(most, len(table))).astype(np.int64))]
        space = ChangeSpace(view, options, table)
        n = len(table)
        rows = np.tile(np.arange(n), len(columns))
        scores = np.zeros((len(columns), len(view.classes)))
        for start in range(0, len(columns), max(BLOCK // (n * len(sizes)), 1)):
            own = slice(start, start + max(BLOCK // (n * len(sizes)), 1))
            n_own = len(columns[own])
            candidates = np.full((n_own * n, len(sizes)), STAY)
            candidates[np.arange(n_own * n), np.repeat(columns[own], n)] = np.repeat(chosen[own], n)
            changed, _ = space.table_of(rows[: n_own * n], candidates)
            scores[own] = class_scores(view, view.predict_proba(changed)).reshape(n_own, n, -1).mean(axis=1)
        return Effects(columns, chosen, scores)

    key = ("effects", options, *(member.readout for member in view.members))
    costs = None if view.decision_costs is None else view.decision_costs.tobytes()
    return view.members[0].network.get_or_compute((*key, costs), made)
