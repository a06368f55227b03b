"""Boxes that are joined: what unions hold, what they keep to, and the same bits in the kernel and in NumPy."""

from __future__ import annotations

import importlib
import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sslart._reference as reference
from conftest import HAS_KERNEL, lattices, needs_kernel
from sslart._art.backend import use_backend
from sslart._art.boxes import Joined, join_boxes
from sslart._data.ranks import GRID
from sslart._utils.stopping import StoppedError

few = settings(max_examples=25)
cell_sizes = st.sampled_from([2, 3, 5, 128])
vigilances = st.sampled_from([0.0, 0.5, 0.75, 0.9, 0.99, 1.0])


def weights_of(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Weights of boxes with these corners on the grid; NaN on sides that are not reached."""
    weights = np.rint(np.hstack([lower, 1.0 - upper]) * GRID) / GRID
    return np.where(np.isnan(weights), 1.0, weights)


@st.composite
def boxes(draw: Any, max_boxes: int = 40) -> np.ndarray:
    corners = draw(lattices(min_samples=1, max_samples=max_boxes, max_features=4))
    sizes = draw(st.sampled_from([0.0, 0.05, 0.3]))
    return weights_of(corners * (1 - sizes), corners * (1 - sizes) + sizes)


@st.composite
def keyed_boxes(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    weights = draw(boxes())
    keys = draw(st.lists(st.integers(-1, 3), min_size=len(weights), max_size=len(weights)))
    return weights, np.array(keys, dtype=np.int64)


def match_of(weights: np.ndarray) -> np.ndarray:
    """1 - mean side of each box, over the sides that are reached."""
    lower, rest = np.hsplit(weights, 2)
    is_reached = lower + rest <= 1
    extents = np.where(is_reached, 1 - lower - rest, 0).sum(axis=1)
    n_sides = np.maximum(is_reached.sum(axis=1), 1)
    return np.asarray((n_sides - extents) / n_sides)


def assert_unions(weights: np.ndarray, joined: Joined) -> None:
    """Every box that is left is the union of its parts, in the order of the first of them."""
    for box, own in enumerate(joined.weights):
        assert (own == weights[joined.into == box].min(axis=0)).all()
    assert np.unique(joined.into, return_index=True)[1].tolist() == sorted(np.unique(joined.into, return_index=True)[1])
    assert set(joined.into) == set(range(len(joined.weights)))


@few
@given(boxes(), vigilances, cell_sizes)
def test_unions_hold_their_parts_and_keep_to_the_vigilance(
    weights: np.ndarray, vigilance: float, cell_size: int
) -> None:
    joined = join_boxes(weights, vigilance=vigilance, cell_size=cell_size)
    assert_unions(weights, joined)
    assert joined.vigilance == vigilance
    is_union = np.bincount(joined.into) > 1
    assert (match_of(joined.weights)[is_union] >= vigilance).all()


@few
@given(boxes(), vigilances)
def test_in_one_cell_no_two_boxes_are_left_that_could_be_joined(weights: np.ndarray, vigilance: float) -> None:
    left = join_boxes(weights, vigilance=vigilance).weights
    for box in range(len(left)):
        others = np.delete(left, box, axis=0)
        assert (match_of(np.minimum(left[box], others)) < vigilance).all()


@few
@given(keyed_boxes(), vigilances, cell_sizes, st.integers(1, 40))
def test_a_limit_is_reached_and_the_vigilance_that_it_needs_is_returned(
    given_boxes: tuple[np.ndarray, np.ndarray], vigilance: float, cell_size: int, max_boxes: int
) -> None:
    weights, keys = given_boxes
    joined = join_boxes(weights, keys, vigilance=vigilance, max_boxes=max_boxes, cell_size=cell_size)
    assert_unions(weights, joined)
    n_keys = len(set(keys) - {-1})
    assert len(joined.weights) == min(len(weights), max(max_boxes, n_keys))
    is_union = np.bincount(joined.into) > 1
    needed = match_of(joined.weights)[is_union].min(initial=vigilance)
    lower, rest = np.hsplit(weights, 2)
    if (lower + rest <= 1).all():
        assert joined.vigilance == needed
    else:  # a union may get further sides later
        assert joined.vigilance <= needed


@few
@given(keyed_boxes(), vigilances, st.sampled_from([None, 1, 3]), cell_sizes)
def test_boxes_of_unlike_keys_stay_apart(
    given_boxes: tuple[np.ndarray, np.ndarray], vigilance: float, max_boxes: int | None, cell_size: int
) -> None:
    weights, keys = given_boxes
    joined = join_boxes(weights, keys, vigilance=vigilance, max_boxes=max_boxes, cell_size=cell_size)
    for box in range(len(joined.weights)):
        assert len(set(keys[joined.into == box]) - {-1}) <= 1


@needs_kernel
@few
@given(keyed_boxes(), vigilances, st.sampled_from([None, 1, 2, 7, 20]), cell_sizes)
def test_the_kernel_has_the_bits_of_the_textbook(
    given_boxes: tuple[np.ndarray, np.ndarray], vigilance: float, max_boxes: int | None, cell_size: int
) -> None:
    assert_same_bits(*given_boxes, vigilance=vigilance, max_boxes=max_boxes, cell_size=cell_size)


@needs_kernel
def test_the_kernel_has_the_bits_of_the_textbook_for_many_boxes() -> None:
    random = np.random.RandomState(0)
    lower = random.uniform(0, 0.8, size=(400, 5))
    lower[random.uniform(size=lower.shape) < 0.1] = np.nan
    weights = weights_of(lower, lower + random.uniform(0, 0.05, size=lower.shape))
    keys = random.randint(-1, 3, size=len(weights))
    for max_boxes in (None, 300, 40):
        assert_same_bits(weights, keys, vigilance=0.9, max_boxes=max_boxes, cell_size=50)


def assert_same_bits(weights: np.ndarray, keys: np.ndarray, **how: Any) -> None:
    """Every instruction set that this machine has gives what the textbook gives."""
    kernel = importlib.import_module("sslart._kernel")
    with use_backend(reference):
        expected = join_boxes(weights, keys, **how)
    usual = kernel.instruction_set()
    try:
        for name in kernel.instruction_sets():
            kernel.use_instruction_set(name)
            with use_backend(kernel):
                found = join_boxes(weights, keys, **how)
            assert found.vigilance == expected.vigilance
            assert found.into.tolist() == expected.into.tolist()
            assert found.weights.tobytes() == expected.weights.tobytes()
    finally:
        kernel.use_instruction_set(usual)


def test_the_closest_boxes_are_joined_first() -> None:
    corners = np.array([[0.0], [0.5], [1.0], [0.5625], [0.25]])
    joined = join_boxes(weights_of(corners, corners), vigilance=1.0, max_boxes=4)
    assert joined.into.tolist() == [0, 1, 2, 1, 3]
    assert joined.vigilance == 1 - 0.0625


def test_nothing_happens_where_there_are_few_enough_boxes() -> None:
    corners = np.zeros((3, 2))
    joined = join_boxes(weights_of(corners, corners), vigilance=0.0, max_boxes=3)
    assert joined.into.tolist() == [0, 1, 2]


@pytest.mark.skipif(not HAS_KERNEL, reason="the textbook is slow")
def test_another_thread_can_stop_it() -> None:
    corners = np.random.RandomState(0).uniform(size=(60_000, 30))
    stop = np.zeros(1, dtype=np.uint8)
    timer = threading.Timer(0.05, lambda: stop.__setitem__(0, 1))
    timer.start()
    with pytest.raises(StoppedError):
        join_boxes(weights_of(corners, corners), vigilance=0.5, cell_size=60_000, stop=stop)
    timer.join()
