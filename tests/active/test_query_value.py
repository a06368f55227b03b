"""The value of a label: how it orders samples."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart.active._queries import DRAW_EVERY, EXPLORE_EVERY, MAX_ONE_BY_ONE, Points, uncertainty

NO_LABEL = np.empty((0, 2))


def in_order(
    points: FloatArray, mass: FloatArray, unsure: FloatArray, free: BoolArray, labelled: FloatArray, n: int
) -> IntArray:
    return Points.of(points, mass).in_order(unsure, free, labelled, n)


@given(st.integers(1, 30), st.integers(0, 3), st.integers(1, 40), st.integers(0, 2**31 - 1))
@settings(max_examples=30, deadline=None)
def test_every_free_point_is_returned_once_and_no_other(n_points: int, n_labelled: int, n: int, seed: int) -> None:
    random = np.random.RandomState(seed)
    points = np.where(random.uniform(size=(n_points, 2)) < 0.1, np.nan, random.randint(4, size=(n_points, 2)) / 3)
    free, mass = random.uniform(size=n_points) < 0.7, random.randint(3, size=n_points).astype(float)
    order = in_order(points, mass, random.uniform(size=n_points), free, random.uniform(size=(n_labelled, 2)), n)
    assert len(order) == min(n, free.sum())
    assert len(set(order.tolist())) == len(order)
    assert free[order].all()


def test_the_point_in_the_middle_of_many_comes_first_and_then_the_next_cluster() -> None:
    points = np.array([[0.1, 0.1], [0.2, 0.1], [0.1, 0.2], [0.15, 0.15], [0.8, 0.9], [0.9, 0.9], [0.5, 0.0]])
    order = in_order(points, np.ones(7), np.ones(7), np.ones(7, dtype=bool), NO_LABEL, 2)
    assert order[0] == 3
    assert order[1] in (4, 5)


def test_a_point_beside_a_label_comes_later() -> None:
    points = np.array([[0.1, 0.1], [0.9, 0.9]])
    order = in_order(points, np.ones(2), np.ones(2), np.ones(2, dtype=bool), np.array([[0.1, 0.12]]), 2)
    assert order.tolist() == [1, 0]


def test_the_uncertain_point_comes_first_where_all_else_is_equal() -> None:
    points = np.array([[0.1, 0.1], [0.9, 0.9]])
    assert in_order(points, np.ones(2), np.array([0.1, 0.9]), np.ones(2, dtype=bool), NO_LABEL, 1).tolist() == [1]


def test_every_sixth_label_is_chosen_as_if_the_predictions_were_not_known() -> None:
    labelled = np.array([[0.1, 0.1], [0.12, 0.1], [0.1, 0.12], [0.11, 0.1]])
    points = np.array([[0.1, 0.2], [0.2, 0.1], [0.9, 0.9], [0.9, 0.8]])
    unsure = np.array([1.0, 1.0, 0.0, 0.0])  # certain, but far from all labels
    free = np.ones(4, dtype=bool)
    assert len(labelled) + 1 == EXPLORE_EVERY - 1
    assert in_order(points, np.ones(4), unsure, free, labelled, 1).tolist()[0] in (2, 3)
    assert in_order(points, np.ones(4), unsure, free, labelled[1:], 2).tolist()[0] in (0, 1)
    assert in_order(points, np.ones(4), unsure, free, labelled[1:], 2).tolist()[1] in (2, 3)


@given(st.integers(1, 60), st.integers(0, 200), st.integers(0, 2**31 - 1))
@settings(max_examples=30, deadline=None)
def test_reserved_points_are_only_drawn_and_in_their_order(n: int, n_labels: int, seed: int) -> None:
    random = np.random.RandomState(seed)
    n_points = random.randint(1, 2 * MAX_ONE_BY_ONE)
    points, free = random.uniform(size=(n_points, 2)), random.uniform(size=n_points) < 0.9
    reserve = random.permutation(n_points)[: random.randint(n_points + 1)].tolist()
    order = Points.of(points, np.ones(n_points)).in_order(np.ones(n_points), free, NO_LABEL, n, None, reserve, n_labels)
    assert len(order) == min(n, free.sum())
    assert len(set(order.tolist())) == len(order)
    drawn = [one for one in order.tolist() if one in reserve]
    assert drawn == [one for one in reserve if free[one]][: len(drawn)]
    has_others = np.cumsum(~np.isin(order, reserve)) < (free & ~np.isin(np.arange(n_points), reserve)).sum()
    for place, one in enumerate(order.tolist()):
        if one in reserve and has_others[place]:
            assert (n_labels + place + 1) % DRAW_EVERY == 0


def test_a_batch_longer_than_the_one_by_one_choice_has_all_points() -> None:
    n = MAX_ONE_BY_ONE + 30
    points = np.random.RandomState(0).uniform(size=(n, 2))
    order = in_order(points, np.ones(n), np.ones(n), np.ones(n, dtype=bool), NO_LABEL, n)
    assert sorted(order.tolist()) == list(range(n))


def test_equal_samples_have_an_order_too() -> None:
    order = in_order(np.zeros((3, 2)), np.ones(3), np.ones(3), np.ones(3, dtype=bool), np.zeros((1, 2)), 3)
    assert order.tolist() == [0, 1, 2]


def test_uncertainty_is_one_minus_the_margin_and_one_where_no_two_classes_are_known() -> None:
    assert uncertainty(np.array([[0.5, 0.5, 0.0], [0.7, 0.1, 0.2]]), 2).round(9).tolist() == [1.0, 0.5]
    assert uncertainty(None, 2).tolist() == [1.0, 1.0]
    assert uncertainty(np.ones((2, 1)), 2).tolist() == [1.0, 1.0]


def test_the_mean_distance_is_that_of_the_samples_which_points_stand_for() -> None:
    points = np.array([[0.0, 0.0], [1.0, np.nan]])
    assert Points.of(points, np.array([1.0, 1.0])).mean_distance == 0.75
    assert Points.of(points, np.array([3.0, 1.0])).mean_distance == 2 * 3 * 1.5 / 16
