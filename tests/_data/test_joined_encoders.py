"""Encoders of several models joined: ranges, categories, constants and scales, the same in every order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sslart._data.columns import LEAK, TWICE, ColumnNote, ColumnPlan
from sslart._data.encoder import Encoder, Feature
from sslart._data.joining import Shown, joined_encoder, joined_plan, joined_table
from sslart._data.ranks import MAX_KNOTS, RankTable
from sslart._data.samples import Table

NAMES = ["a", "b", "c"]


def encoder_of(
    values: Any, categories: dict[int, list[Any]] | None = None, untyped: frozenset[int] = frozenset()
) -> Encoder:
    """Return the encoder of a first table."""
    columns = {place: np.array(given, dtype=object) for place, given in (categories or {}).items()}
    return Encoder.first(Table(np.array(values, dtype=np.float64), columns, None, untyped), None, stream=False)


def joined(*encoders: Encoder) -> Encoder:
    return joined_encoder(encoders, [1.0] * len(encoders), NAMES)


def test_ranges_reach_from_the_lowest_to_the_highest_value() -> None:
    found = joined(encoder_of([[0, 5], [1, 6]]), encoder_of([[-2, 5.5], [0.5, np.nan]]))
    assert found.lower.tolist() == [-2, 5]
    assert found.upper.tolist() == [1, 6]


def test_a_feature_that_is_constant_in_each_varies_where_the_values_differ() -> None:
    same = joined(encoder_of([[0, 5], [1, 5]]), encoder_of([[3, 5], [2, 5]]))
    assert same.constant == {Feature(1): 5.0}
    other = joined(encoder_of([[0, 5], [1, 5]]), encoder_of([[3, 6], [2, 6]]))
    assert other.features == (Feature(0), Feature(1))
    assert not other.constant


def test_categories_are_sorted_by_type_and_value() -> None:
    first = encoder_of([[0, np.nan], [1, np.nan]], {1: ["b", 2]})
    second = encoder_of([[0, np.nan], [1, np.nan]], {1: [True, "a"]})
    for found in (joined(first, second), joined(second, first)):
        assert found.features == (Feature(0), Feature(1, True), Feature(1, 2), Feature(1, "a"), Feature(1, "b"))


def test_a_column_without_a_value_takes_the_kind_that_others_show() -> None:
    nothing = encoder_of([[0, np.nan], [1, np.nan]], {1: [None, None]}, frozenset({1}))
    assert nothing.undecided
    numbers, names = encoder_of([[0, 3], [1, 4]]), encoder_of([[0, np.nan], [1, np.nan]], {1: ["u", "v"]})
    assert joined(nothing, numbers).features == (Feature(0), Feature(1))
    assert joined(nothing, names).features == (Feature(0), Feature(1, "u"), Feature(1, "v"))
    assert joined(nothing, nothing).undecided == nothing.undecided
    gaps = encoder_of([[0, np.nan], [1, np.nan]])  # numeric by its type
    assert joined(gaps, names).features == (Feature(0), Feature(1, "u"), Feature(1, "v"))
    with pytest.raises(ValueError, match="'b' is categorical in one part of the data and numeric in another"):
        joined(numbers, names)


def test_a_range_beyond_double_precision_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'a' spans -1e[+]308 to 1e[+]308"):
        joined(encoder_of([[-1e308], [0]]), encoder_of([[1e308], [0]]))


@given(seed=st.integers(0, 2**32), sizes=st.lists(st.integers(2, 400), min_size=1, max_size=4), data=st.data())
def test_a_joined_scale_is_close_to_that_of_all_samples(seed: int, sizes: list[int], data: Any) -> None:
    random = np.random.default_rng(seed)
    parts = [np.round(random.lognormal(size=size) * random.choice([1, 5]), 3) for size in sizes]
    models = [Shown(float(len(part)), part.min(), part.max(), RankTable.of_values(part)) for part in parts]
    found = joined_table(models)
    if found is None:
        return
    assert len(found.values) <= MAX_KNOTS
    assert (np.diff(found.values) > 0).all()
    assert (np.diff(found.positions) > 0).all()
    assert found.positions[[0, -1]].tolist() == [0, 1]
    whole = np.concatenate(parts)
    assert found.values[[0, -1]].tolist() == [whole.min(), whole.max()]
    exact = RankTable.of_values(whole)
    assert exact is not None
    np.testing.assert_allclose(found.at(whole), exact.at(whole), atol=0.02 + 2 / min(sizes))
    order = data.draw(st.permutations(range(len(models))))
    again = joined_table([models[place] for place in order])
    assert again is not None
    assert again.positions.tobytes() == found.positions.tobytes()


def test_a_scale_that_all_share_stays_as_it_is() -> None:
    table = RankTable.of_values(np.array([0.0, 1.0, 5.0]))
    copy = RankTable.of_values(np.array([0.0, 1.0, 5.0]))
    assert joined_table([Shown(3.0, 0.0, 5.0, table), Shown(9.0, -1.0, 5.0, copy)]) is table


def test_a_model_without_a_scale_counts_as_spread_over_its_range() -> None:
    crowded = RankTable.of_values(np.append(np.linspace(0, 1, 50), 100.0))
    found = joined_table([Shown(51.0, 0.0, 100.0, crowded), Shown(51.0, 0.0, 1.0, None), Shown(10.0, 7.0, 7.0, None)])
    assert found is not None
    assert found.at(np.array([0.5])) == pytest.approx([0.5 * 102 / 112], abs=0.02)


def test_plans_agree_or_name_the_column() -> None:
    notes = (ColumnNote(TWICE, "b", "x"), ColumnNote(LEAK, "a", "1"))
    one, other = ColumnPlan((0,), (2,), notes[:1], (), (0,)), ColumnPlan((0,), (2,), notes[1:], (), ())
    for plans in ([one, other], [other, one]):
        assert joined_plan(plans, NAMES) == ColumnPlan((0,), (2,), notes[::-1], (), ())
    for changed, message in (
        (ColumnPlan((), (2,)), "'a' holds dates in one part"),
        (ColumnPlan((0,), ()), "'c' is left out in one part"),
        (ColumnPlan((0,), (2,), (), (0,)), "'a' has dates with the day before the month in one part"),
    ):
        with pytest.raises(ValueError, match=message):
            joined_plan([one, changed], NAMES)
