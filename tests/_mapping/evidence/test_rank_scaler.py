"""Ranks from the boxes: the mass of all samples, feature by feature."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.stats import rankdata

from sslart._mapping.evidence.design import RankScaler

numbers = np.array([False])
corners = hnp.arrays(
    np.float64, st.tuples(st.integers(2, 20), st.just(2)), elements=st.integers(0, 12).map(lambda k: k / 12)
)


def scaler_of(sides: np.ndarray, support: np.ndarray | None = None) -> RankScaler:
    lower, upper = sides.min(axis=1, keepdims=True), sides.max(axis=1, keepdims=True)
    return RankScaler.of_boxes(
        lower, upper, np.ones(len(sides), dtype=np.int64) if support is None else support, numbers
    )


@given(sides=corners, seed=st.integers(0, 99))
def test_ranks_rise_from_zero_to_one(sides: np.ndarray, seed: int) -> None:
    scaler = scaler_of(sides, np.random.RandomState(seed).randint(1, 9, len(sides)))
    if scaler.knots[0] is None:
        assert len(np.unique(sides)) == 1
        return
    values, shares = scaler.knots[0]
    assert (np.diff(values) > 0).all()
    assert (np.diff(shares) >= 0).all()
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert (values[0], values[-1]) == (sides.min(), sides.max())


@given(points=hnp.arrays(np.float64, st.integers(2, 30), elements=st.integers(0, 9).map(lambda k: k / 9)))
def test_ranks_of_points_are_middle_ranks(points: np.ndarray) -> None:
    if len(np.unique(points)) < 2:
        return
    found = scaler_of(np.column_stack([points, points])).blend(points[:, None], 1.0)[:, 0]
    middle = rankdata(points)
    np.testing.assert_allclose(found, (middle - middle.min()) / (middle.max() - middle.min()), atol=1e-12)


@given(sides=corners)
def test_a_box_of_n_samples_counts_as_n_boxes_of_one(sides: np.ndarray) -> None:
    support = 1 + np.arange(len(sides)) % 3
    joined, apart = scaler_of(sides, support), scaler_of(np.repeat(sides, support, axis=0))
    at = np.linspace(0, 1, 30)[:, None]
    np.testing.assert_allclose(joined.blend(at, 1.0), apart.blend(at, 1.0), atol=1e-12)


def test_samples_are_spread_evenly_over_their_box() -> None:
    scaler = scaler_of(np.array([[0.0, 0.5], [0.5, 1.0]]), np.array([3, 1]))
    np.testing.assert_allclose(scaler.blend(np.array([[0.25], [0.5], [0.75]]), 1.0)[:, 0], [0.375, 0.75, 0.875])


@given(sides=corners, rank_weight=st.floats(0, 1))
def test_blend_is_between_values_and_ranks_and_keeps_their_order(sides: np.ndarray, rank_weight: float) -> None:
    scaler = scaler_of(sides)
    at = np.linspace(0, 1, 40)[:, None]
    blended = scaler.blend(at, rank_weight)
    np.testing.assert_allclose(blended, (1 - rank_weight) * at + rank_weight * scaler.blend(at, 1.0), atol=1e-12)
    assert (np.diff(blended[:, 0]) >= -1e-15).all()
    assert blended.min() >= 0.0
    assert blended.max() <= 1.0


def test_weight_zero_changes_nothing() -> None:
    coded = np.random.RandomState(0).rand(9, 1)
    assert scaler_of(np.array([[0.0, 0.1], [0.1, 1.0]])).blend(coded, 0.0) is coded


@pytest.mark.parametrize("rank_weight", [0.0, 0.5, 1.0])
def test_missing_stays_missing(rank_weight: float) -> None:
    coded = np.array([[np.nan], [0.3]])
    blended = scaler_of(np.array([[0.0, 0.1], [0.1, 1.0]])).blend(coded, rank_weight)
    assert np.isnan(blended).tolist() == [[True], [False]]


def test_indicators_and_features_without_spread_stay_as_they_are() -> None:
    lower = np.array([[0.0, 0.2, 0.4, 1.0], [1.0, 0.3, 0.4, 1.0], [1.0, 0.9, 0.4, 1.0]])
    upper = np.array([[0.0, 0.2, 0.4, 0.0], [1.0, 0.3, 0.4, 0.0], [1.0, 0.9, 0.4, 0.0]])  # no box reaches the last
    scaler = RankScaler.of_boxes(lower, upper, np.array([1, 2, 5]), np.array([True, False, False, False]))
    assert [knots is None for knots in scaler.knots] == [True, False, True, True]
    coded = np.random.RandomState(0).rand(9, 4)
    changed = (scaler.blend(coded, 1.0) != coded).any(axis=0)
    assert changed.tolist() == [False, True, False, False]


def test_a_side_not_reached_has_no_mass() -> None:
    lower, upper = np.array([[0.0], [0.5], [1.0]]), np.array([[0.0], [0.5], [0.0]])
    with_it = RankScaler.of_boxes(lower, upper, np.array([1, 2, 50]), numbers)
    without = RankScaler.of_boxes(lower[:2], upper[:2], np.array([1, 2]), numbers)
    at = np.linspace(0, 1, 9)[:, None]
    np.testing.assert_array_equal(with_it.blend(at, 1.0), without.blend(at, 1.0))


@given(
    sides=corners,
    values=hnp.arrays(np.float64, st.integers(5, 30), elements=st.floats(-0.5, 1.5) | st.just(np.nan)),
    on_knots=st.booleans(),
    weight=st.sampled_from([0.5, 1.0]),
)
def test_few_samples_are_blended_as_many_are(
    sides: np.ndarray, values: np.ndarray, on_knots: bool, weight: float
) -> None:
    scaler, column = scaler_of(sides), (sides.ravel()[:, None] if on_knots else values[:, None]).repeat(3, axis=0)
    alone = np.concatenate([scaler.blend(column[row : row + 1], weight) for row in range(len(column))])
    assert scaler.blend(column, weight).tobytes() == alone.tobytes()
    if scaler.knots[0] is not None:
        ranks = np.interp(column, *scaler.knots[0])
        np.testing.assert_allclose(alone, (1.0 - weight) * column + weight * ranks, rtol=1e-14, atol=1e-15)
