"""From a model to drafts of its rules: samples of boxes, the choice of a tree, wider and united conditions."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest

from sslart import SSLART, WESSLART, AutoSSLART
from sslart._data.encoder import ANOTHER
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView, view_of
from sslart.rules import _model_extraction
from sslart.rules._model_extraction import Neighbourhood, Region, _union, _wider, shortened
from sslart.rules._tree import Column, Grid


class OfNoRules:
    """Stands for a tree: notes what it is grown, pruned and refined by, and agrees as often as it is told to."""

    made: ClassVar[list[OfNoRules]] = []
    agreeing: ClassVar[list[tuple[float, float]]] = []

    def __init__(self, rows: np.ndarray) -> None:
        self.rows, self.calls = rows, dict[str, Any]()
        self.made.append(self)

    def fidelity(self, grid: Any) -> float:
        return self.agreeing[self.made.index(self)][grid.is_held_out]


@pytest.mark.parametrize(
    ("n", "n_columns", "n_trees"),
    [(100, 3, 12), (100, 4, 12), (9000, 50, 9), (9000, 100, 4), (9000, 200, 2), (9000, 1000, 2)],
)
def test_the_tree_that_agrees_most_often_is_chosen_of_some(
    n: int, n_columns: int, n_trees: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    class OfSamples(SimpleNamespace):
        def __len__(self) -> int:
            return n

    weights = np.random.RandomState(0).uniform(0.5, 1.5, n)
    trained = OfSamples(columns=[None] * n_columns, weights=weights, is_held_out=False)
    held_out = OfSamples(is_held_out=True)
    monkeypatch.setattr(OfNoRules, "made", [])
    monkeypatch.setattr(OfNoRules, "agreeing", [(0.9, 0.7), (0.8, 0.9), *[(0.84, 0.84)] * 10])
    monkeypatch.setattr(_model_extraction, "Node", OfNoRules)
    monkeypatch.setattr(_model_extraction, "grow", lambda root, *rest: root.calls.update(grow=rest))
    monkeypatch.setattr(_model_extraction, "refine", lambda root, *rest: root.calls.update(refine=rest))

    def prune(root: OfNoRules, *rest: Any) -> int:
        root.calls["prune"] = rest
        return 10 + OfNoRules.made.index(root)

    monkeypatch.setattr(_model_extraction, "prune", prune)
    best, default = _model_extraction._best_tree(trained, held_out, 7, 5)  # type: ignore[arg-type]
    made: list[Any] = OfNoRules.made
    assert (best, default) == (made[1], 11)
    assert len(made) == n_trees
    random = np.random.default_rng(1)
    for number, tree in enumerate(made):
        assert tree.rows.tolist() == list(range(n))
        grid, own, candidates, n_leaves, n_features = tree.calls["grow"]
        assert (grid, n_leaves, n_features) == (trained, 28, 5)
        drawn = random.exponential(size=n) if number else np.ones(n)
        np.testing.assert_allclose(own, weights * drawn)
        some = random.random(n_columns) < 0.7 if number else np.ones(n_columns, dtype=bool)
        assert candidates.tolist() == (some.tolist() if n_columns > 3 else [True] * 3)
        assert tree.calls["prune"] == (trained, 6, max(1.0, 0.002 * weights.sum()))
        assert tree.calls["refine"] == (trained, 10 + number, 5)


NUMBER = Column("n", np.arange(4) + 0.5, None, True)
WHOLE = Column("m", np.arange(3) + 0.5, None, False)
KIND = Column("kind", np.empty(0), tuple("uvw"), False)


def masks(column: Column) -> list[np.ndarray]:
    """Sets of bins that a rule may allow: ranges of numbers, any categories; missing values or not."""
    every = [np.array(one) for one in product([False, True], repeat=column.n_bins)]
    places = [np.flatnonzero(one[:-1]) for one in every]
    is_number = column.categories is None
    return [
        one
        for one, known in zip(every, places, strict=True)
        if len(known) and (not is_number or known[-1] - known[0] < len(known))
    ]


@pytest.mark.parametrize("column", [NUMBER, WHOLE, KIND], ids=lambda one: one.feature)
def test_a_wider_condition_is_none_or_has_one_end_less(column: Column) -> None:
    n = column.n_bins - 1
    for allowed in masks(column):
        expected = []
        if not column.occurring(allowed).all():
            expected.append([True] * (n + 1))
            known = np.flatnonzero(allowed[:-1])
            if column.categories is None and known[0] > 0 and known[-1] < n - 1:
                expected.append([place <= known[-1] for place in range(n)] + [allowed[-1]])
                expected.append([place >= known[0] for place in range(n)] + [allowed[-1]])
        assert [one.tolist() for one in _wider(allowed, column)] == expected
    missing = np.arange(n + 1) == n
    if column is NUMBER:
        assert [one.tolist() for one in _wider(missing, column)] == [[True] * (n + 1)]


def cells(region: Region, columns: list[Column]) -> set[tuple[int, ...]]:
    """Return the combinations of bins that occur and that a rule allows."""
    return set(
        product(
            *(
                np.flatnonzero(column.occurring(one)).tolist()
                for column, one in zip(columns, region.allowed, strict=True)
            )
        )
    )


@pytest.mark.parametrize("columns", [[WHOLE, KIND], [KIND, NUMBER]], ids=lambda both: both[0].feature)
def test_two_rules_become_the_one_that_covers_the_same(columns: list[Column]) -> None:
    random, n_united = np.random.RandomState(0), 0
    every = [masks(column) for column in columns]
    for _ in range(600):
        one, other = (Region(1, tuple(some[random.randint(len(some))] for some in every)) for _ in range(2))
        if random.rand() < 0.8:  # else few of them are alike in a column
            other = other.with_bins(0, one.allowed[0])
        found, both = _union(one, other, columns), cells(one, columns) | cells(other, columns)
        assert _union(one, other._replace(outcome=0), columns) is None
        differing = [
            place
            for place, column in enumerate(columns)
            if column.occurring(one.allowed[place]).tolist() != column.occurring(other.allowed[place]).tolist()
        ]
        known = np.flatnonzero((one.allowed[differing[0]] | other.allowed[differing[0]])[:-1]) if differing else []
        has_gap = (
            len(differing) == 1 and columns[differing[0]].categories is None and known[-1] - known[0] >= len(known)
        )
        assert (found is None) == (len(differing) != 1 or has_gap)
        if found is not None:
            n_united += 1
            assert found.outcome == 1
            assert cells(found, columns) == both
    assert n_united > 100


def test_shortened_rules_exclude_each_other_and_cost_no_more_than_conditions_are_worth() -> None:
    columns, names = [NUMBER, KIND, WHOLE], ["n", "kind", "m"]
    n_shorter = 0
    for seed in range(40):
        random = np.random.RandomState(seed)
        numbers = np.column_stack([random.randint(5, size=80), np.full(80, np.nan), random.randint(4, size=80)]).astype(
            float
        )
        numbers[random.rand(80) < 0.1, 0] = np.nan
        table = Table(numbers, {1: np.array([*"uvw"], dtype=object)[random.randint(3, size=80)]}, names)
        grid = Grid(columns, table, random.randint(3, size=80), 3, random.uniform(0.5, 1.5, 80))
        every = [
            Region(1 + seed % 2, tuple(own[random.randint(len(own))] for own in map(masks, columns))) for _ in range(6)
        ]
        regions: list[Region] = []
        for one in every:
            if one.has_conditions(columns) and all(one.excludes(other, columns) for other in regions):
                regions.append(one)
        price = random.choice([0.0, 1.0, 3.0])
        found = shortened(regions, 0, grid, price)
        for place, (before, after) in enumerate(zip(regions, found, strict=True)):
            n_widened = sum(
                old.tolist() != new.tolist() for old, new in zip(before.allowed, after.allowed, strict=True)
            )
            n_shorter += n_widened
            gained = after.met(grid) & ~before.met(grid)
            assert (before.met(grid) <= after.met(grid)).all()
            lost = grid.weights[gained] @ (
                (grid.outcomes[gained] == 0).astype(float) - (grid.outcomes[gained] == before.outcome)
            )
            assert lost <= price * n_widened + 1e-9
            assert after.has_conditions(columns)
            assert all(after.excludes(other, columns) for other in found[:place])
    assert n_shorter > 40


def mixed() -> tuple[pd.DataFrame, np.ndarray]:
    random = np.random.RandomState(0)
    frame = pd.DataFrame({"size": random.normal(5, 2, 90), "kind": random.choice(["u", "v", "w"], 90)})
    frame["other"] = random.rand(90)
    frame["kind"] = frame["kind"].astype(object).where(frame.index % 9 != 0, None)
    frame.loc[::8, "size"] = np.nan
    return frame, np.where(frame["kind"] == "u", "yes", "no")


def view_of_boxes(model: Any) -> ModelView:
    frame, y = mixed()
    return view_of(model.fit(frame, np.where(np.arange(90) % 3 == 0, y, None)))


@pytest.mark.parametrize(
    ("model", "sizes"), [(SSLART(0.7, random_state=0), [90]), (WESSLART(3, vigilance=0.7, random_state=0), [90] * 3)]
)
def test_samples_of_boxes_are_as_many_as_they_have_learnt_and_lie_in_them(model: Any, sizes: list[int]) -> None:
    view = view_of_boxes(model)
    table = _model_extraction._box_samples(view, np.random.default_rng(0))
    assert len(table) == sum(sizes)
    start = 0
    for member, size in zip(view.members, sizes, strict=True):
        boxes = np.repeat(np.arange(member.n_nodes), member.support)
        inside(view, table[start : start + size], *member.boxes_of(boxes))
        start += size
    numbers = table.values[:, 2]
    assert len(np.unique(numbers)) > 0.5 * len(numbers)  # points, not middles


def inside(view: ModelView, table: Table, lower: np.ndarray, upper: np.ndarray) -> None:
    """Check that numbers lie in boxes, and that categories are among those that they allow."""
    coded, encoder = view.members[0].encode(table), view.members[0].encoder
    for place, feature in enumerate(encoder.features):
        reached = lower[:, place] <= upper[:, place]
        if feature.category is None:
            assert np.isnan(coded[~reached, place]).all()
            assert (coded[reached, place] >= lower[reached, place] - 1e-6).all()
            assert (coded[reached, place] <= upper[reached, place] + 1e-6).all()
        else:
            own = table.categories[feature.column] == feature.category
            assert (upper[own, place] > 0).all()
            assert reached[own].all()
            assert not ((upper[:, place] > 0) & (lower[:, place] == 1) & reached & ~own).any()
    given = table.categories[1]
    places = [place for place, feature in enumerate(encoder.features) if feature.column == 1]
    is_reached = (lower[:, places] <= upper[:, places]).any(axis=1)
    assert [one is not None for one in given] == is_reached.tolist()


def test_many_samples_of_boxes_are_fewer_in_proportion() -> None:
    X = np.repeat([[0.0], [1.0]], [4500, 1500], axis=0)
    model = SSLART(0.9, shuffle=False, random_state=0).fit(X, X[:, 0].astype(int))
    values = _model_extraction._box_samples(view_of(model), np.random.default_rng(0)).values
    assert np.unique(values, return_counts=True)[1].tolist() == [1500, 500]


def test_a_box_that_allows_no_known_category_has_another() -> None:
    X = pd.DataFrame({"kind": ["u", "v", "u", "v"], "size": [1.0, 2.0, 3.0, 4.0]})
    view = view_of(SSLART(0.9, random_state=0).fit(X, [0, 1, 0, 1]))
    member = view.members[0]
    lower, upper = (side.copy() for side in member.boxes)
    at = [place for place, feature in enumerate(member.encoder.features) if feature.category is not None]
    lower[:, at] = upper[:, at] = 0.0

    class Member:
        encoder = member.encoder

        def boxes_of(self, boxes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            return lower[boxes], upper[boxes]

    table = _model_extraction._points_of(Member(), view, np.arange(len(lower)), None)  # type: ignore[arg-type]
    assert set(table.categories[0].tolist()) == {ANOTHER}


def test_labels_of_a_model_are_those_it_keeps_or_the_middles_of_its_boxes() -> None:
    frame, y = mixed()
    labels = np.where(np.arange(90) % 3 == 0, y, None)
    view = view_of(AutoSSLART(random_state=0).fit(frame, labels))
    kept = _model_extraction._kept_labels(view)
    assert kept.counts.sum() == 30
    assert kept.counts.sum(axis=0).tolist() == [(labels == one).sum() for one in view.classes]
    for model, n_members in ((SSLART(0.7, random_state=0), 1), (WESSLART(3, vigilance=0.7, random_state=0), 3)):
        view = view_of_boxes(model)
        kept = _model_extraction._kept_labels(view)
        assert kept.counts.sum(axis=0).tolist() == [n_members * (labels == one).sum() for one in view.classes]
        middles = []
        for member in view.members:
            lower, upper = (side[member.labels >= 0] for side in member.boxes)
            middles.append(member.encoder.decode(np.where(lower > upper, 0.0, (lower + upper) / 2))[:, 0])
            middles[-1][(lower > upper)[:, 0]] = np.nan
        assert member.encoder.features[0].column == 0
        np.testing.assert_allclose(kept.table.values[:, 0], np.concatenate(middles))


def test_trees_see_the_samples_for_half_and_as_many_drawn_ones() -> None:
    frame, y = mixed()
    some = np.where(np.arange(90) % 3 == 0, np.random.RandomState(1).permutation(y), None)
    view = view_of(SSLART(0.5, mapping="one-to-many", abstain_below=0.9, random_state=0).fit(frame, some))
    table = view.read(frame)
    trained, held_out = _model_extraction._grids(view, table, np.random.default_rng(0))
    assert (len(trained), len(held_out)) == (4090, 4000)
    np.testing.assert_allclose(trained.weights, np.repeat([0.5, 90 / 8000], [90, 4000]))
    assert (held_out.weights == 1).all()
    assert trained.columns is held_out.columns
    predicted = view.predict(table).indices
    assert (predicted == -1).any()
    assert trained.outcomes[:90].tolist() == np.where(predicted == -1, 2, predicted).tolist()
    assert trained.n_outcomes == held_out.n_outcomes == 3


def test_a_fifth_of_the_samples_tests_and_at_most_so_many_make_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    frame, y = mixed()
    view = view_of(SSLART(0.5, random_state=0).fit(frame, y))
    table = view.read(frame)
    for limit, n_made in ((5000, 72), (72, 72), (60, 60)):
        monkeypatch.setattr(_model_extraction, "MAX_GIVEN", limit)
        made, tested = _model_extraction._parts(view, table, np.random.default_rng(0))
        assert (len(set(made)), len(set(tested))) == (n_made, 18)
        assert not set(made) & set(tested)
    for n, n_held_out in ((24, 0), (25, 5)):
        assert len(_model_extraction._parts(view, table[np.arange(n)], np.random.default_rng(0))[1]) == n_held_out


def test_drawn_samples_are_those_of_plain_loops() -> None:
    random = np.random.RandomState(0)
    values = random.normal(size=(40, 4)).round(2)
    values[:, 1], values[:6, 2], values[:, 3] = random.randint(0, 10, 40), np.nan, np.nan  # ten values are few
    kinds = np.array([*"uvw"], dtype=object)[random.randint(3, size=40)]
    drawing = Neighbourhood(Table(values, {3: kinds}), values[:, :3])
    drawn = drawing.draw(500, np.random.default_rng(3))
    same = np.random.default_rng(3)
    first = same.integers(40, size=500)
    near = drawing.neighbours[first, same.integers(5, size=500)]
    is_near = same.random(500) < 0.5
    second = np.where(is_near, near, same.integers(40, size=500))
    way = same.random((500, 4))
    for row, (one, other) in enumerate(zip(first, second, strict=True)):
        for column in range(3):
            share = way[row, column]
            takes_second = share > 0.5 if is_near[row] else share < 0.3
            expected = values[other if takes_second else one, column]
            between = values[one, column] + (values[other, column] - values[one, column]) * share
            if is_near[row] and column != 1 and not np.isnan(between):
                expected = round(between, 2)
            assert drawn.values[row, column] == pytest.approx(expected, nan_ok=True)
        share = way[row, 3]
        takes_second = share > 0.5 if is_near[row] else share < 0.3
        assert drawn.categories[3][row] == kinds[other if takes_second else one]
    eleven = Neighbourhood(Table(np.arange(33.0)[:, None] % 11, {}), np.arange(33.0)[:, None] / 33)
    assert eleven.is_discrete.tolist() == [False]


def test_neighbours_leave_out_the_sample_itself_and_fill_what_is_missing() -> None:
    coded = np.array([[0.0], [0.45], [np.nan], [0.56], [1.0]])
    drawing = Neighbourhood(Table(coded, {}), coded)
    assert drawing.neighbours.shape == (5, 4)
    assert drawing.neighbours[2].tolist() == [1, 3, 0, 4] or drawing.neighbours[2].tolist() == [1, 3, 4, 0]
    alone = Neighbourhood(Table(coded[:1], {}), coded[:1])
    assert alone.neighbours.tolist() == [[0]]
    assert alone.draw(3, np.random.default_rng(0)).values.tolist() == [[0.0]] * 3


def test_rules_and_conditions_are_limited_to_twelve_and_four_where_nothing_is_said() -> None:
    assert _model_extraction._limits(None, None) == (12, 4)
    assert _model_extraction._limits(1, 1) == (1, 1)
    for wrong in ((0, 4), (4, 0)):
        with pytest.raises(ValueError, match="whole number from 1"):
            _model_extraction._limits(*wrong)


@pytest.mark.parametrize(("n", "n_held_out"), [(24, 0), (25, 5), (100, 20), (104, 20)])
def test_one_sample_in_five_tests_the_rules_where_that_is_five(
    n: int, n_held_out: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = np.arange(n, dtype=float)[:, None]
    view = view_of(SSLART(0.9, random_state=0).fit(X, np.arange(n) % 2))
    table = view.read(X)
    made, tested = _model_extraction._parts(view, table, np.random.default_rng(0))
    assert len(tested) == n_held_out
    assert sorted([*made, *tested]) == list(range(n))
    assert (np.diff(made) > 0).all()
    monkeypatch.setattr(_model_extraction, "MAX_GIVEN", 15)
    some, again = _model_extraction._parts(view, table, np.random.default_rng(0))
    assert again.tolist() == tested.tolist()
    assert len(some) == 15
    assert (np.diff(some) > 0).all()
    assert set(some) <= set(made)


def test_copies_and_samples_of_a_group_stay_together_and_count_one_together() -> None:
    random = np.random.RandomState(0)
    X, groups = random.rand(60, 2), np.arange(60) // 3
    y = np.where(np.arange(60) % 6 < 3, "a", "b").astype(object)
    y[40:] = None
    view = view_of(AutoSSLART(random_state=0).fit(X, y, groups=groups))
    both = view.read(np.concatenate([X, X[50:52]]))
    units = _model_extraction._units(view, both)
    same = units[:, None] == units
    of_group = groups[:40, None] == groups[:40]
    np.testing.assert_array_equal(same[:40, :40], of_group)
    assert same[50:52, 60:].tolist() == [[True, False], [False, True]]
    assert same.sum() == 13 * 9 + 1 + 20 - 2 + 2 * 4
    made, tested = _model_extraction._parts(view, both, np.random.default_rng(0))
    assert not set(units[made]) & set(units[tested])
    kept = _model_extraction._kept_labels(view).counts
    np.testing.assert_allclose(kept[:39], np.eye(2)[(np.arange(39) % 6 >= 3).astype(int)] / 3)
    np.testing.assert_allclose(kept[39], [0.0, 1.0])
    codes = np.where(np.arange(62) < 50, -1, 0)
    labelled = _model_extraction._with_codes(view, both, codes)
    assert len(labelled.table) == 12
    np.testing.assert_allclose(labelled.counts[:, 0], [0.5, 0.5, *[1.0] * 8, 0.5, 0.5])
    assert not labelled.counts[:, 1].any()
