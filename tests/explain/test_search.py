"""The steps of the search for counterfactuals, each against plain loops on decisions that are known."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

from conftest import name_of
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._mapping.model_view import ModelView, view_of
from sslart.explain import _options, _search
from sslart.explain._contributions import average_amounts
from sslart.explain._options import STAY, ChangeSpace, options_of
from sslart.explain._search import NEVER, Alone, Effects, Found, Search

N_VALUES = 40


def grid_of(n_rows: int = 12, n_numbers: int = 4, *, with_kind: bool = False) -> ChangeSpace:
    """Samples of whole numbers from 0 to 39, all of which are options, and perhaps a category."""
    random = np.random.RandomState(0)
    frame = pd.DataFrame({f"n{one}": random.permutation(120) % N_VALUES for one in range(n_numbers)}).astype(float)
    if with_kind:
        frame["kind"] = np.array([*"uvwx"], dtype=object)[random.randint(4, size=120)]
    view = view_of(SSLART(0.95, random_state=0).fit(frame, np.arange(120) % 3))
    space = ChangeSpace(view, options_of(view), view.read(frame[:n_rows]))
    assert space.options.sizes.tolist() == [N_VALUES] * n_numbers + [4] * with_kind
    return space


class Known(Search):
    """A search in which the decisions on values are given: a function of values, which returns margins of a class.

    The first class is wanted; it is reached where its margin is above 0.
    """

    def __init__(self, space: ChangeSpace, margin: Callable[[np.ndarray], np.ndarray], **options: Any) -> None:
        wanted = np.zeros((len(space.table), 3), dtype=bool)
        wanted[:, 0] = True
        super().__init__(space, wanted, **options)
        self.margin, self.n_calls, self.n_tried = margin, 0, 0

    def predict(self, rows: Any, candidates: Any, *, by_box: bool = False) -> tuple[np.ndarray, np.ndarray]:
        self.n_calls, self.n_tried = self.n_calls + 1, self.n_tried + len(rows)
        margins = np.full((len(rows), 3), NEVER)
        margins[:, 0] = self.margin(self.values(rows, candidates))
        return margins[:, 0] > 0, margins

    def values(self, rows: Any, candidates: Any) -> np.ndarray:
        """Return the values of candidates: options of numbers are their values, categories are numbered."""
        own = np.where(self.space.is_category, self.space.below[rows], np.nan_to_num(self.space.table.values[rows]))
        return np.where(candidates == STAY, own, candidates)


def of_column(n_columns: int, column: int, options: Any) -> np.ndarray:
    candidates = np.full((len(options), n_columns), STAY)
    candidates[:, column] = options
    return candidates


@pytest.mark.parametrize("shape", ["straight", "steep", "flat", "stepped"])
@pytest.mark.parametrize("up", [False, True])
def test_a_change_comes_as_near_as_is_enough_in_few_steps(shape: str, up: bool) -> None:
    space = grid_of(40)
    limits = np.random.RandomState(1).randint(0, N_VALUES, 40) + 0.5
    of_row = {tuple(row): limit for row, limit in zip(space.table.values[:, 1:].tolist(), limits, strict=True)}

    def margin(values: np.ndarray) -> np.ndarray:
        way = values[:, 0] - np.array([of_row[tuple(row)] for row in values[:, 1:].tolist()])
        way = way if up else -way
        shapes = {"straight": way, "steep": np.sign(way) * way**4, "stepped": np.sign(way)}
        return shapes.get(shape, np.where(way > 0, way, way * 1e-6))

    search, own = Known(space, margin), space.table.values[:, 0]
    rows = np.flatnonzero((own < limits) & (limits < 39) if up else (own > limits))
    end = N_VALUES - 1 if up else 0
    found = search._nearer(Found(rows, of_column(4, 0, np.full(len(rows), end))), np.zeros(len(rows), dtype=int))
    nearest = np.ceil(limits[rows]) if up else np.floor(limits[rows])
    assert found.rows.tolist() == rows.tolist()
    assert found.candidates[:, 0].tolist() == nearest.tolist()
    assert (found.candidates[:, 1:] == STAY).all()
    assert search.n_calls <= {"straight": 7, "stepped": 14}.get(shape, 16)
    # what is known not to be enough is not tried again
    known, search.n_calls, search.n_tried = np.abs(nearest - own[rows]).astype(int) - 1, 0, 0
    again = search._nearer(Found(rows, of_column(4, 0, nearest.astype(int))), np.zeros(len(rows), dtype=int), known)
    assert again.candidates[:, 0].tolist() == nearest.tolist()
    assert search.n_calls == 0
    # to a part of its way
    close = search._nearer(
        Found(rows, of_column(4, 0, np.full(len(rows), end))), np.zeros(len(rows), dtype=int), part=0.25
    )
    beyond = np.abs(close.candidates[:, 0] - nearest)
    assert (beyond + 1 <= np.maximum(0.25 * np.abs(end - own[rows]), 1)).all()
    assert beyond.max() > 0


def test_the_nearest_of_what_was_tried_is_found_for_each_feature_and_direction() -> None:
    space = grid_of(20, 3, with_kind=True)

    def margin(values: np.ndarray) -> np.ndarray:
        return np.maximum(np.abs(values[:, :3] - 20).max(axis=1) - 14.5, np.where(values[:, 3] == 2, 0.5, -1))

    search, own = Known(space, margin), space.table.values[:, :3]
    rows = np.flatnonzero(margin(search.values(np.arange(20), np.full((20, 4), STAY))) <= 0)
    tried = [(place, column, option) for place in range(len(rows)) for column in range(3) for option in range(0, 40, 3)]
    tried += [(place, 3, option) for place in range(len(rows)) for option in range(4)]
    tried = [
        (place, column, option) for place, column, option in tried if column == 3 or own[rows[place], column] != option
    ]
    order = np.random.RandomState(0).permutation(len(tried))
    probed, columns, options = np.array(tried)[order].T
    reached, _ = search._predict_single(rows, (probed, columns, options, np.zeros(len(probed))), by_box=False)
    found = search._nearest(rows, probed, columns, options, reached)
    changed = sorted(
        (int(row), column, int(candidate[column]))
        for row, candidate in zip(found.rows, found.candidates, strict=True)
        for column in np.flatnonzero(candidate != STAY)
    )
    assert (np.sum(found.candidates != STAY, axis=1) == 1).all()
    assert changed == sorted(
        [(row, column, end) for row in rows.tolist() for column in range(3) for end in (5, 35)]
        + [(row, 3, 2) for row in rows.tolist()]
    )
    nothing = search._nearest(rows, probed, columns, options, np.zeros(len(probed), dtype=bool))
    assert len(nothing.rows) == 0
    none = np.empty(0, dtype=np.int64)
    assert len(search._nearest(rows, none, none, none, none.astype(bool)).rows) == 0


def weights_of(values: np.ndarray) -> np.ndarray:
    return values[:, :4] @ np.array([1.0, -0.6, 0.3, 0.1])


def test_single_features_are_changed_where_one_is_enough_and_what_each_gains_is_kept() -> None:
    space = grid_of(30, 4, with_kind=True)
    search = Known(space, lambda values: weights_of(values) - 30 + 5 * (values[:, 4] == 1))
    start = weights_of(search.values(np.arange(30), np.full((30, 5), STAY))) - 30 + 5 * (space.below[:, 4] == 1)
    rows = np.flatnonzero(start <= 0)
    found, alone = search._singles(rows, by_box=False)
    own = space.table.values[rows]
    np.testing.assert_allclose(alone.start[:, 0], start[rows])
    assert (alone.start[:, 1:] == NEVER).all()
    wanted = {}
    for place, row in enumerate(rows.tolist()):
        for column, weight in enumerate([1.0, -0.6, 0.3, 0.1]):
            best = weight * (39 - own[place, column] if weight > 0 else -own[place, column])
            if best == 0:
                continue
            if row not in found.rows:  # then options from the first to the last were tried
                assert alone.gains[place, column, 0] == pytest.approx(best, abs=0.1)
                assert alone.best[place, column, 0, 0] == (39 if weight > 0 else 0)
            other = alone.best[place, column, 0, 1]
            assert other == STAY or (other > own[place, column]) == (weight < 0)
            if start[row] + best > 0:
                steps = int(np.floor(-start[row] / abs(weight) + 1e-9)) + 1
                wanted[row, column] = own[place, column] + steps * np.sign(weight)
        if space.below[row, 4] != 1 and start[row] > -5:
            wanted[row, 4] = 1
    changed = {
        (int(row), column): candidate[column]
        for row, candidate in zip(found.rows, found.candidates, strict=True)
        for column in np.flatnonzero(candidate != STAY).tolist()
    }
    assert changed.items() <= wanted.items()
    assert {row for row, _ in changed} == {row for row, _ in wanted}
    assert len(changed) > 0.7 * len(wanted)
    assert (alone.best[:, :, 1:] == STAY).all()
    some = alone.of(np.array([1, 0]))
    assert some.start[:, 0].tolist() == start[rows[[1, 0]]].tolist()
    np.testing.assert_array_equal(some.gains, alone.gains[[1, 0]])
    np.testing.assert_array_equal(some.best, alone.best[[1, 0]])
    assert some.n_classes == 3


def test_a_single_feature_is_found_in_a_narrow_window_where_all_options_are_tried() -> None:
    space = grid_of(10, 4)
    for place in (3, 17, 38):
        search = Known(space, lambda values, place=place: np.where((values == place).any(axis=1), 1.0, -1.0))
        rows = np.flatnonzero(~(space.table.values == place).any(axis=1))
        found, _ = search._singles(rows, by_box=False)
        assert set(found.rows.tolist()) == set(rows.tolist())
        assert (found.candidates.max(axis=1) == place).all()


@pytest.mark.parametrize("plausible", [False, True])
def test_two_features_are_changed_where_two_are_enough(plausible: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    space = grid_of(30, 6)
    search = Known(space, lambda values: values[:, 2] - values[:, 4] + 0.3 * values[:, 0] - 35, plausible=plausible)
    start = np.full((30, 6), STAY)
    rows = np.flatnonzero(~search.predict(np.arange(30), start)[0])
    single, alone = search._singles(rows, by_box=False)
    rows_of_two = np.setdiff1d(rows, single.rows)
    assert len(rows_of_two) > 8
    asked, some = list[int](), search._some
    monkeypatch.setattr(search, "_some", lambda found, n: asked.append(n) or some(found, n))
    for want_all in (False, True):
        found = search._pairs(rows_of_two, alone.of(np.searchsorted(rows, rows_of_two)), want_all=want_all)
        assert set(found.rows.tolist()) == set(rows_of_two.tolist())
        assert search.predict(*found)[0].all()
        assert ((found.candidates != STAY).sum(axis=1) == 2).mean() > 0.9
        for row, candidate in zip(found.rows, found.candidates, strict=True):
            for column in np.flatnonzero(candidate != STAY):  # one step less or no change at all is not enough
                less = candidate.copy()
                less[column] = STAY
                assert not search.predict(np.array([row]), less[None])[0].any()
    assert asked == [12 if plausible else 3, 12]  # candidates that are made smaller
    assert len(search._pairs(rows[:0], alone.of(rows[:0]), want_all=False).rows) == 0


def test_pairs_are_tried_near_their_best_and_beyond_where_gains_mislead() -> None:
    space = grid_of(30, 4)

    def margin(values: np.ndarray) -> np.ndarray:  # both must be in the middle, where each alone gains nothing
        return 6.5 - np.abs(values[:, 0] - 20) - np.abs(values[:, 1] - 20)

    search = Known(space, margin)
    rows = np.flatnonzero(np.abs(space.table.values[:, :2] - 20).min(axis=1) > 6)
    assert len(rows) > 4
    single, alone = search._singles(rows, by_box=False)
    assert not len(single.rows)
    found = search._pairs(rows, alone, want_all=False)
    assert set(found.rows.tolist()) == set(rows.tolist())
    assert (found.candidates[:, 2:] == STAY).all()


def test_two_features_of_two_are_changed() -> None:
    space = grid_of(30, 2)
    search = Known(space, lambda values: values.sum(axis=1) - 70)
    rows = np.flatnonzero(space.table.values.max(axis=1) < 31)
    _, alone = search._singles(rows, by_box=False)
    assert set(search._pairs(rows, alone, want_all=False).rows.tolist()) == set(rows.tolist())


def test_options_around_the_best_are_half_way_and_the_farthest() -> None:
    space = grid_of(4, 3, with_kind=True)
    search = Known(space, weights_of)
    own = space.table.values[:, :3].astype(int)
    for column in range(3):
        for row, end in product(range(4), (0, 9, 21, 39)):
            if end == own[row, column]:
                continue
            found = search._around(np.array([row]), np.array([[column]]), np.array([[[end, STAY]]]))[0, 0]
            up = end > own[row, column]
            half = (own[row, column] + (1 if up else 0) + end) // 2
            assert found.tolist() == [end, STAY, half, 39 if up else 0]
    assert search._around(np.array([0]), np.array([[3]]), np.array([[[2, 1]]]))[0, 0].tolist() == [2, 1, STAY, STAY]
    assert search._around(np.array([0]), np.array([[1]]), np.array([[[STAY, 5]]]))[0, 0].tolist() == [
        STAY,
        5,
        STAY,
        STAY,
    ]


def test_all_combinations_of_two_columns_are_tried() -> None:
    space = grid_of(3, 4)
    search = Known(space, lambda values: np.where((values[:, 0] == 7) & (values[:, 2] == 9), 1.0, -1.0))
    columns = np.array([[0, 0], [2, 1], [0, 3]]), np.array([[2, 1], [0, 3], [2, 1]])
    first = np.where(columns[0] == 0, 7, 9)[:, :, None] + np.array([0, 1, 2])
    second = np.where(columns[1] == 0, 7, 9)[:, :, None] + np.array([2, 1, 0])
    second[0, 1, 2] = STAY
    found = search._of_two(np.arange(3), columns, [first, second])
    assert found.rows.tolist() == [0, 1, 2]
    assert found.candidates.tolist() == [[7, STAY, 9, STAY]] * 3
    assert search.n_tried == 3 * 2 * 9 - 3


def test_more_features_are_moved_together_where_two_are_not_enough() -> None:
    space = grid_of(30, 9)
    search = Known(space, lambda values: values.sum(axis=1) - 9 * 39 + 100)
    rows = np.arange(30)
    _, alone = search._singles(rows, by_box=False)
    alone.best[..., 1] = STAY
    found = search._together(rows, alone)
    assert found.rows.tolist() == rows.tolist()
    for row, candidate in zip(found.rows, found.candidates, strict=True):
        gains = np.sort(39 - space.table.values[row])[::-1]
        fewest = int(np.argmax(np.cumsum(gains) + space.table.values[row].sum() - 9 * 39 + 100 > 0)) + 1
        assert fewest <= (candidate != STAY).sum() <= fewest + 1
    assert search.predict(*found)[0].all()


@pytest.mark.parametrize("n_needed", [1, 2, 3, 5, 8])
def test_as_few_changes_of_the_first_ranks_are_made_as_are_enough(n_needed: int) -> None:
    space = grid_of(20, 8)
    search = Known(space, lambda values: (values == 39).sum(axis=1) - n_needed + 0.5)
    rows = np.flatnonzero((space.table.values != 39).all(axis=1))
    ranks = np.argsort(np.random.RandomState(0).rand(len(rows), 8), axis=1)
    n_wide = np.arange(len(rows)) % 9
    wide = np.where(ranks < n_wide[:, None], 39, STAY)
    found = search._fewest(rows, wide, ranks)
    assert found.rows.tolist() == rows[n_wide >= n_needed].tolist()
    assert found.candidates.tolist() == np.where(ranks[n_wide >= n_needed] < n_needed, 39, STAY).tolist()


def test_no_change_is_left_that_is_not_needed_and_large_ones_go_first() -> None:
    space = grid_of(30, 6)
    random = np.random.RandomState(0)
    candidates = np.where(random.rand(30, 6) < 0.8, random.randint(0, N_VALUES, (30, 6)), STAY)
    search = Known(space, lambda values: values[:, :3].sum(axis=1) - values[:, 3:].sum(axis=1) + 5)
    reached = search.predict(np.arange(30), candidates)[0]
    given = Found(np.flatnonzero(reached), candidates[reached])
    found = search._dropped(given)
    assert found.rows.tolist() == given.rows.tolist()
    assert search.predict(*found)[0].all()
    n_dropped = 0
    for row, before, after in zip(*given, found.candidates, strict=True):
        assert ((after == STAY) | (after == before)).all()
        n_dropped += int((after != before).sum())
        for column in np.flatnonzero(after != STAY) if (after != STAY).sum() > 1 else []:
            without = after.copy()
            without[column] = STAY
            assert not search.predict(np.array([row]), without[None])[0].any()
    assert n_dropped > 20
    # of two that are each enough, the smaller one stays; the last change always does
    anything = Known(space, lambda values: np.ones(len(values)))
    both = of_column(6, 0, [39])
    both[0, 1] = int(space.table.values[0, 1]) + (1 if space.table.values[0, 1] < 39 else -1)
    left = anything._dropped(Found(np.array([0]), both)).candidates[0]
    assert np.flatnonzero(left != STAY).tolist() == [1 if space.table.values[0, 0] < 37 else 0]
    reduced = search._reduced(given)
    assert search.predict(*reduced)[0].all()
    assert (space.sizes(*reduced) <= space.sizes(*given) + 1e-9).all()
    assert space.sizes(*reduced).sum() < 0.8 * space.sizes(*found).sum()


def test_the_smallest_candidates_of_each_sample_are_kept() -> None:
    space = grid_of(6, 4)
    search, random = Known(space, weights_of), np.random.RandomState(0)
    rows = random.randint(6, size=60)
    candidates = np.where(random.rand(60, 4) < 0.6, random.randint(0, N_VALUES, (60, 4)), STAY)
    every = [
        ((candidate != STAY).sum(), space.sizes(np.array([row]), candidate[None]).sum(), place)
        for place, (row, candidate) in enumerate(zip(rows, candidates, strict=True))
    ]
    for n in (1, 3):
        kept = [place for row in range(6) for _, _, place in sorted(one for one in every if rows[one[2]] == row)[:n]]
        found = search._some(Found(rows, candidates), n)
        assert found.rows.tolist() == rows[kept].tolist()
        assert found.candidates.tolist() == candidates[kept].tolist()
    shortest = search.shortest(Found(rows, candidates))
    table, _ = space.table_of(rows, candidates)
    sizes = list(zip(*(one.tolist() for one in space.measured(rows, table)), strict=True))
    for row, candidate in zip(shortest.rows, shortest.candidates, strict=True):
        table, _ = space.table_of(np.array([row]), candidate[None])
        (own,) = zip(*(one.tolist() for one in space.measured(np.array([row]), table)), strict=True)
        assert own == min(size for size, other in zip(sizes, rows, strict=True) if other == row)
    assert shortest.rows.tolist() == np.unique(rows).tolist()


def test_spread_options_reach_from_the_first_to_the_last() -> None:
    found = _search.spread_options(np.array([0, 1, 5, 100]), 4)
    assert found.tolist() == [[STAY] * 4, [0, *[STAY] * 3], [0, 1, 2, 4], [0, 33, 66, 99]]
    assert _search.spread_options(np.array([3, 9]), np.array([3, 2])).tolist() == [[0, 1, 2], [0, 8, STAY]]
    assert _search.spread_options(np.array([0, 0]), 4).shape == (2, 1)
    assert [_search.n_probes(n) for n in (1, 3, 4, 10, 30, 31, 1000)] == [96, 96, 90, 36, 12, 12, 12]


def test_the_margin_that_an_option_is_expected_to_lead_to_is_the_difference_to_the_own_one() -> None:
    space = grid_of(5, 2, with_kind=True)
    columns, options = np.array([0, 0, 0, 2, 2, 1, 1]), np.array([0, 20, 39, 1, 3, 10, 30])
    scores = np.random.RandomState(0).normal(size=(7, 3))
    effects, start = Effects(columns, options, scores), np.random.RandomState(1).normal(size=(5, 3))
    wanted = np.array([[1, 0, 0], [1, 1, 0], [1, 1, 1], [0, 0, 1], [1, 0, 0]], dtype=bool)
    rows = np.array([4, 3, 2, 1, 0])
    found = effects.margins(space, rows, wanted, start)
    for place, row in enumerate(rows):
        towards = {
            index: scores[:, index] - (scores[:, ~wanted[place]].max(axis=1) if not wanted[place].all() else 0.0)
            for index in np.flatnonzero(wanted[place])
        }
        for option, column in enumerate(columns):
            at = np.flatnonzero(columns == column)
            if column == 2:
                near = at[np.argmax(space.below[row, 2] == options[at])]
            else:
                near = at[np.argmin(np.abs(space.table.values[row, column] - options[at]))]
            expected = max(start[place, index] + own[option] - own[near] for index, own in towards.items())
            assert found[place, option] == pytest.approx(expected)


def related_frame() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.RandomState(0)
    frame = pd.DataFrame({f"n{one}": random.permutation(150) % 50 for one in range(3)}).astype(float)
    frame["kind"] = np.array([*"uvw"], dtype=object)[random.randint(3, size=150)]
    frame["twice"] = 2 * frame["n0"]
    y = np.where(frame["n0"] + frame["n1"] > 60, "high", np.where(frame["kind"] == "u", "odd", "low")).astype(object)
    return frame, np.where(np.arange(150) % 4 < 2, y, None)


MODELS = [
    AutoSSLART(random_state=0),
    AutoSSLART(decision_costs=[[0, 1, 5], [2, 0, 1], [3, 1, 0]], random_state=0),
    SSLART(0.85, random_state=0),
    SSLART(0.9, search_depth=2, random_state=0),
    WESSLART(3, vigilance=0.85, random_state=0),
]


def view_of_frame(model: Any) -> tuple[ModelView, ChangeSpace, pd.DataFrame]:
    frame, y = related_frame()
    view = view_of(model.fit(frame, y))
    return view, ChangeSpace(view, options_of(view), view.read(frame[:25])), frame


@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_decisions_of_the_search_are_predictions_and_margins_their_scores(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, space, frame = view_of_frame(model)
    random, n_classes = np.random.RandomState(0), len(view.classes)
    rows = random.randint(25, size=200)
    candidates = np.where(space.movable[rows] & (random.rand(200, 5) < 0.5), random.randint(0, 3, (200, 5)), STAY)
    wanted = random.rand(25, n_classes) < 0.5
    wanted[0], wanted[1] = True, [True, *[False] * (n_classes - 1)]
    search = Search(space, wanted)
    table, valid = space.table_of(rows, candidates)
    X = pd.DataFrame(table.values, columns=frame.columns).assign(kind=table.categories[3])
    predicted, proba = model.predict(X), model.predict_proba(X)
    indices = np.array([-1 if one is None else list(view.classes).index(one) for one in predicted])
    expected = valid & (indices >= 0) & wanted[rows, indices]
    for by_box in (False, True):
        reached, margins = search.predict(rows, candidates, by_box=by_box)
        assert reached.tolist() == expected.tolist()
        assert (margins[~wanted[rows]] == NEVER).all()
        if view.uses_evidence or view.is_ensemble:
            scores = _search.class_scores(view, proba)
            assert scores.argmax(axis=1).tolist() == indices.tolist()
            if view.decision_costs is None:
                np.testing.assert_allclose(scores, np.log(np.maximum(proba, 1e-9)))
            for place, row in enumerate(rows):
                others = scores[place, ~wanted[row]].max(initial=-np.inf)
                own = scores[place] - (others if np.isfinite(others) else 0.0)
                np.testing.assert_allclose(margins[place, wanted[row]], own[wanted[row]], atol=1e-9)
        elif not by_box:
            assert (margins[wanted[rows]] == 0).all() if not wanted[rows].all(axis=1).any() else True
        else:
            member, coded = view.members[0], view.members[0].encode(table)
            for place in range(0, 200, 10):
                mask = wanted[rows[place]]
                choices = _choices(member, coded[place])
                is_wanted = (member.labels >= 0) & mask[member.labels]
                is_other = ~is_wanted & (
                    (member.labels >= 0) | (view.search_depth != -1 and model.search_depth is not None)
                )
                best = choices[is_wanted].max(initial=0.0) - (
                    choices[is_other].max(initial=0.0) if not mask.all() else 0.0
                )
                np.testing.assert_allclose(margins[place, mask], best, atol=1e-9)
    monkeypatch.setattr(_search, "BLOCK", 5 * 37)  # 37 candidates at once
    for whole, part in zip(search.predict(rows, candidates), search.predict(rows, candidates), strict=True):
        np.testing.assert_allclose(whole, part)
    assert search.predict(rows, candidates)[0].tolist() == expected.tolist()
    plausible, _ = Search(space, wanted, plausible=True).predict(rows, candidates)
    assert plausible.tolist() == (expected & (model.score_samples(X) >= model.novelty_threshold_)).tolist()
    assert plausible.sum() < expected.sum()


def _choices(member: Any, x: np.ndarray) -> np.ndarray:
    """Return the choice of every box for one coded sample."""
    lower, upper = member.boxes
    samples = np.repeat(x[None], len(lower), axis=0)
    return _search.choice_and_match(samples, lower, upper, member.params.choice)[0]


@pytest.mark.parametrize("model", [SSLART(0.8, random_state=0), AutoSSLART(random_state=0)], ids=name_of)
def test_the_way_into_a_box_is_that_of_the_features_by_which_its_choice_gains_most(
    model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    view, space, _ = view_of_frame(model)
    wanted = np.arange(len(view.classes)) == (np.arange(25) % len(view.classes))[:, None]
    search, member = Search(space, wanted), view.members[0]
    labels, coded = search._labels(0), member.encode(space.table)
    calls: list[tuple[Any, ...]] = []
    monkeypatch.setattr(search, "_fewest", lambda *given: calls.append(given) or Found(*given[:2]))
    points_of: list[tuple[Any, ...]] = []
    at_points = search._at_points
    monkeypatch.setattr(search, "_at_points", lambda *given: points_of.append(given) or at_points(*given))
    rows = np.arange(25)
    nodes = np.array([np.flatnonzero((labels >= 0) & wanted[row][labels])[:6] for row in rows])
    against = np.array([np.argmax(np.where(labels >= 0, _choices(member, coded[row]), -1)) for row in rows])
    search._towards(0, rows, coded, nodes, against)
    ((found_rows, candidates, ranks),) = calls
    ((_, _, points, lower, upper),) = points_of
    columns = np.array([feature.column for feature in member.encoder.features])
    n_checked = 0
    for row in rows:
        x, versus = coded[row], _box(member, against[row])
        ways = []
        for centre in (False, True):
            for node in nodes[row]:
                low, high = _box(member, node)
                point = (low + high) / 2 if centre else np.clip(x, low, np.maximum(low, high))
                point = np.where((low > high) | np.isnan(x), x, point)
                alone = np.array(
                    [_ahead(member, np.where(columns == column, point, x), (low, high), versus) for column in range(5)]
                ) - _ahead(member, x, (low, high), versus)
                alone = np.where(space.movable[row], np.maximum(alone, 0), 0)
                order, start = np.argsort(-alone, kind="stable"), _ahead(member, x, (low, high), versus)
                number = int((np.cumsum(alone[order]) < -start - 1e-12).sum()) + 1
                ways.append((number, point, low, high, alone))
        leading = sorted(range(len(ways)), key=lambda place: ways[place][0])[:8]
        own = np.flatnonzero(found_rows == row)
        assert len(own) == len(leading)
        for at, place in zip(own, leading, strict=True):
            _, point, low, high, alone = ways[place]
            np.testing.assert_allclose(points[at], point, atol=1e-12)
            np.testing.assert_allclose(lower[at], low)
            np.testing.assert_allclose(upper[at], high)
            moved = np.flatnonzero(candidates[at] != STAY)
            by_rank = moved[np.argsort(ranks[at, moved])]
            assert (np.diff(alone[by_rank]) < 1e-9).all()
            assert sorted(ranks[at, moved].tolist()) == list(range(len(moved)))
            n_checked += len(moved)
    assert n_checked > 100


def _box(member: Any, node: int) -> tuple[np.ndarray, np.ndarray]:
    return member.boxes[0][node], member.boxes[1][node]


def _ahead(member: Any, x: np.ndarray, box: Any, other: Any) -> float:
    """Return by how much the choice of a box is above that of another one for a point."""
    choices = [
        _search.choice_and_match(x[None], side[0][None], side[1][None], member.params.choice)[0][0]
        for side in (box, other)
    ]
    return float(choices[0] - choices[1])


def test_points_in_boxes_become_the_categories_that_they_allow() -> None:
    view, space, _ = view_of_frame(SSLART(0.8, random_state=0))
    search, encoder = Search(space, np.ones((25, 3), dtype=bool)), view.members[0].encoder
    places = [place for place, one in enumerate(encoder.features) if one.column == 3]
    names = [encoder.features[place].category for place in places]
    n = len(encoder.features)
    rows = np.arange(25)
    for covered in product([False, True], repeat=3):
        lower, upper = np.zeros((25, n)), np.zeros((25, n))
        for place, is_in in zip(places, covered, strict=True):
            upper[:, place] = float(is_in)
        found = search._at_points(0, rows, (lower + upper) / 2, lower, upper)[:, 3]
        for row in rows:
            own = space.table.categories[3][row]
            allowed = [name for name, is_in in zip(names, covered, strict=True) if is_in]
            if own in allowed or not allowed:
                assert found[row] == STAY
            else:
                assert space.options.values[3][found[row]] in allowed
    lower[:, places], upper[:, places] = 1.0, 0.0  # no sample of the box has a category
    assert set(search._at_points(0, rows, np.zeros((25, n)), lower, upper)[:, 3].tolist()) == {STAY}
    lower, upper = np.zeros((25, n)), np.ones((25, n))
    upper[:, places], lower[:, places[1]], upper[:, places[1]] = 1.0, 1.0, 1.0  # in one corner of two
    found = search._at_points(0, rows, (lower + upper) / 2, lower, upper)[:, 3]
    assert set(found.tolist()) == {STAY}


def test_rows_are_searched_in_blocks_where_something_may_move(monkeypatch: pytest.MonkeyPatch) -> None:
    _, space, _ = view_of_frame(SSLART(0.85, random_state=0))
    wanted = np.ones((25, 3), dtype=bool)
    wanted[4] = False
    movable = space.movable.copy()
    movable[7] = False
    search = Search(space, wanted, movable=movable)
    assert [block.tolist() for block in search._blocks()] == [[row for row in range(25) if row not in (4, 7)]]
    wide = Search(
        ChangeSpace(space.view, space.options, space.table[np.arange(25).repeat(60)]), wanted.repeat(60, axis=0)
    )
    assert [len(block) for block in wide._blocks()] == [1024, 1440 - 1024]
    monkeypatch.setattr(_search, "BLOCK", 3 * 5 * 100)
    assert [len(block) for block in wide._blocks()] == [100] * 14 + [40]
    monkeypatch.setattr(_search, "BLOCK", 3 * 5 * 10)
    assert [len(block) for block in wide._blocks()] == [64] * 22 + [32]


def test_effects_of_options_are_means_over_samples_of_boxes() -> None:
    view, space, _ = view_of_frame(AutoSSLART(random_state=0))
    effects = _search.effects_of(view, space.options)
    assert _search.effects_of(view, space.options) is effects
    sizes = space.options.sizes
    spread = _search.spread_options(sizes, np.minimum(sizes, 28))
    assert [(int(column), int(option)) for column, option in zip(effects.columns, effects.options, strict=True)] == [
        (column, option) for column in range(5) for option in spread[column].tolist() if option != STAY
    ]
    assert effects.scores.shape == (len(effects.columns), 3)
    table = _search.samples_of_boxes(view)
    n = min(max(6000 // len(effects.columns), 2), len(table))
    table = table[np.unique(np.linspace(0, len(table) - 1, n).astype(np.int64))]
    of_boxes = ChangeSpace(view, space.options, table)
    for place in range(0, len(effects.columns), 7):
        candidates = of_column(5, effects.columns[place], np.full(len(table), effects.options[place]))
        changed, _ = of_boxes.table_of(np.arange(len(table)), candidates)
        expected = np.log(np.maximum(view.predict_proba(changed), 1e-9)).mean(axis=0)
        np.testing.assert_allclose(effects.scores[place], expected)
    few = view_of(SSLART(0.8, mapping="evidence", random_state=0).fit([[0.0, 1], [1, 2], [2, 1], [3, 2]], [0, 1, 0, 1]))
    every = _search.effects_of(few, options_of(few))
    assert (every.scores == 0).all()
    assert len(every.columns) == options_of(few).sizes.sum()


def test_effects_are_the_same_whatever_is_computed_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = related_frame()
    for block in (_search.BLOCK, 3000, 1):
        monkeypatch.setattr(_search, "BLOCK", block)
        view = view_of(SSLART(0.9, mapping="evidence", random_state=0).fit(frame, y))
        found = _search.effects_of(view, options_of(view))
        if block == 2_000_000:
            expected = found
        np.testing.assert_allclose(found.scores, expected.scores, atol=1e-12)


def test_of_very_many_columns_those_that_count_most_are_moved_to_their_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    view, space, _ = view_of_frame(AutoSSLART(random_state=0))
    monkeypatch.setattr(_options, "MANY_COLUMNS", 4)
    monkeypatch.setattr(_options, "MOST_MOVED", 2)
    amounts = np.where(space.options.sizes > 0, average_amounts(view.members[0], 5), -1)
    options = options_of(view)
    assert np.flatnonzero(options.sizes).tolist() == sorted(np.argsort(amounts)[-2:].tolist())
    assert set(options.why_not.values()) <= {"not tried", "no other value", "follows"}
    space, effects = ChangeSpace(view, options, space.table), _search.effects_of(view, options)
    expected = [
        (column, option) for column in np.flatnonzero(options.sizes) for option in (0, int(options.sizes[column]) - 1)
    ]
    assert list(zip(effects.columns.tolist(), effects.options.tolist(), strict=True)) == expected
    search = Search(space, np.ones((25, 3), dtype=bool))
    assert len(search._anywhere(np.arange(25), np.arange(25))[0]) == 0


def test_single_options_that_are_tried_are_those_expected_to_gain_most_and_days_near_dates() -> None:
    days = pd.date_range("2024-01-01", periods=200)
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"day": days, **{f"n{one}": random.permutation(200) for one in range(4)}})
    view = view_of(AutoSSLART(random_state=0).fit(frame, (frame["n0"] + frame["n1"] > 200).astype(int)))
    space = ChangeSpace(view, options_of(view), view.read(frame[20:190:17]))
    wanted = np.tile([False, True], (10, 1))
    search, rows = Search(space, wanted), np.arange(10)
    _, start = search.predict(rows, np.full((10, space.table.values.shape[1]), STAY))
    places, columns, options, expected = search._probes(rows, start)
    effects = _search.effects_of(view, space.options)
    margins = effects.margins(space, rows, wanted, start)
    n = _search.n_probes(space.table.values.shape[1])
    for row in rows:
        own = [(columns[at], options[at]) for at in np.flatnonzero(places == row)]
        is_own = effects.options == search._own_options(rows, effects.columns)[row]
        usable = np.flatnonzero(space.movable[row, effects.columns] & ~is_own)
        best = usable[np.argsort(-margins[row, usable], kind="stable")][:n]
        assert own[: len(best)] == [(effects.columns[at], effects.options[at]) for at in best]
        np.testing.assert_allclose(expected[places == row][: len(best)], margins[row, best])
        day = space.below[row, 0]
        near = [*range(day - 7, day), *range(day + 1, day + 8)]
        assert sorted(option for _, option in own[len(best) :]) == [one for one in near if 0 <= one < 200]
    assert (expected[-5:] == 0).all()
    everywhere = search._anywhere(rows, np.array([2, 5]))
    assert set(everywhere[0].tolist()) == {2, 5}
    n_each = min(max(480 // space.table.values.shape[1], 8), 38)
    counts = np.bincount(everywhere[1][everywhere[0] == 2], minlength=5)
    assert counts[:5].tolist() == np.minimum(space.options.sizes[:5], n_each).tolist()
    assert (everywhere[3] == 0).all()


def test_nothing_found_and_nothing_gained_have_the_shape_of_what_is() -> None:
    assert [Found.joined([], 3).candidates.shape, Found.joined([], 3).rows.shape] == [(0, 3), (0,)]
    none = Alone.none(np.zeros((2, 3)), 4)
    assert (none.gains == -np.inf).all()
    assert none.gains.shape == (2, 4, 3)
    assert (none.best == STAY).all()
    assert none.best.shape == (2, 4, 3, 2)
