"""Packed boxes: the kernel measures what the reference measures, and scores alike on every instruction set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import sslart._reference
from conftest import HAS_KERNEL, lattices, needs_kernel
from sslart._art.backend import backend, use_backend
from sslart._mapping.evidence.boxes import WIDTH, PackedBoxes, padded

TOLERANCE = 2e-6  # of a score, relative to the sum of all weights: float32 adds up some hundred terms


def kernel() -> Any:
    import sslart._kernel

    return sslart._kernel


def no_stop() -> np.ndarray:
    return np.zeros(1, dtype=np.uint8)


@contextmanager
def on(module: ModuleType, instruction_set: str | None = None) -> Iterator[None]:
    """Use this backend, and this instruction set of the kernel."""
    usual = kernel().instruction_set() if instruction_set else None
    try:
        if instruction_set:
            kernel().use_instruction_set(instruction_set)
        with use_backend(module):
            yield
    finally:
        if usual:
            kernel().use_instruction_set(usual)


def every_instruction_set() -> list[str]:
    return kernel().instruction_sets() if HAS_KERNEL else []


def scores_of(
    boxes: PackedBoxes, samples: np.ndarray, rate: float, weights: np.ndarray, bias: float = 0.0
) -> np.ndarray:
    """Scores of samples by boxes alone, in the backend in use."""
    n_features, n_classes = samples.shape[1], weights.shape[1]
    scorer = backend().Scorer(np.full(n_classes, bias))
    features = np.arange(n_features)
    scorer.add_boxes(0.0, features, np.ones(n_features), boxes.lower, boxes.upper, rate, padded(weights))
    scores = np.full((len(samples), n_classes), np.nan)
    scorer.scores(np.ascontiguousarray(samples, dtype=np.float64), scores, 1, no_stop())
    return scores


@st.composite
def boxes_and_samples(draw: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Boxes, some with sides not reached, and samples, some with values missing; on a lattice, or anywhere."""
    samples = draw(lattices(max_samples=7, max_features=6))
    n_boxes, n_features = draw(st.sampled_from([1, 2, 15, 16, 17, 33])), samples.shape[1]
    random = np.random.RandomState(draw(st.integers(0, 999)))
    ends = random.rand(2, n_boxes, n_features)
    if draw(st.booleans()):
        ends = np.rint(ends * 4) / 4
    lower, upper = ends.min(axis=0), ends.max(axis=0)
    unreached = random.rand(n_boxes, n_features) < draw(st.sampled_from([0.0, 0.3]))
    return np.where(unreached, 1.0, lower), np.where(unreached, 0.0, upper), samples


@needs_kernel
@given(case=boxes_and_samples())
def test_distances_are_those_of_the_reference_bit_for_bit(case: Any) -> None:
    lower, upper, samples = case
    boxes = PackedBoxes.of(lower, upper)
    with on(sslart._reference):
        expected = boxes.distances(samples)
    for name in every_instruction_set():
        with on(kernel(), name):
            assert boxes.distances(samples).tobytes() == expected.tobytes(), name


@settings(max_examples=30)
@given(case=boxes_and_samples())
def test_distance_is_the_way_to_the_box_over_what_both_have(case: Any) -> None:
    lower, upper, samples = case
    found = PackedBoxes.of(lower, upper).distances(samples)
    assert found.shape == (len(samples), len(lower))
    nearest = np.clip(samples[:, None], lower, np.maximum(lower, upper))
    gaps = np.where(lower <= upper, np.abs(samples[:, None] - nearest), 0.0)
    np.testing.assert_allclose(found, np.nansum(gaps, axis=2), atol=1e-6)


@needs_kernel
@given(
    case=boxes_and_samples(),
    rate=st.sampled_from([1e-3, 0.3, 4.0, 1e3, 1e30]),
    shape=st.tuples(st.integers(1, 6), st.integers(1, 4)),
)
def test_scores_are_those_of_the_reference_and_alike_on_every_instruction_set(
    case: Any, rate: float, shape: tuple[int, int]
) -> None:
    lower, upper, samples = case
    boxes = PackedBoxes.of(lower, upper)
    weights = np.random.RandomState(len(lower)).normal(size=(*shape, len(lower)))
    with on(sslart._reference):
        expected = scores_of(boxes, samples, rate, weights)
    found = []
    for name in every_instruction_set():
        with on(kernel(), name):
            found.append(scores_of(boxes, samples, rate, weights))
    # an activation below float32 is the smallest there is in the kernel, and zero here
    np.testing.assert_allclose(found[0], expected, rtol=0, atol=TOLERANCE * np.abs(weights).sum())
    assert len({scores.tobytes() for scores in found}) == 1


@settings(max_examples=30)
@given(case=boxes_and_samples(), rate=st.sampled_from([0.3, 4.0]))
def test_a_score_is_the_sum_over_boxes_and_levels(case: Any, rate: float) -> None:
    lower, upper, samples = case
    boxes = PackedBoxes.of(lower, upper)
    weights = np.random.RandomState(len(lower)).normal(size=(3, 2, len(lower)))
    distances = boxes.distances(samples).astype(np.float64)
    expected = sum(np.exp(-rate * 2**level * distances) @ weights[level].T for level in range(3))
    atol = TOLERANCE * np.abs(weights).sum()
    np.testing.assert_allclose(scores_of(boxes, samples, rate, weights), expected, rtol=0, atol=atol)


@needs_kernel
@given(distances=hnp.arrays(np.float32, st.integers(1, 40), elements=st.floats(0, 100, width=32)))
def test_activation_falls_off_as_the_exponential(distances: np.ndarray) -> None:
    # one feature, boxes at zero: the sample is its own distance, and one weight reads one activation
    boxes = PackedBoxes.of(np.zeros((1, 1)), np.zeros((1, 1)))
    with on(kernel()):
        found = scores_of(boxes, distances[:, None], 0.5, np.ones((1, 1, 1)))[:, 0]
    np.testing.assert_allclose(found, np.exp(-0.5 * distances.astype(np.float64)), rtol=4e-6, atol=1e-37)


def test_boxes_add_to_the_bias() -> None:
    boxes = PackedBoxes.of(np.zeros((3, 1)), np.zeros((3, 1)))
    assert scores_of(boxes, np.zeros((1, 1)), 1.0, np.ones((1, 1, 3)), bias=5.0).tolist() == [[8.0]]


@needs_kernel
def test_samples_two_by_two_or_alone_are_scored_alike() -> None:
    random = np.random.RandomState(0)
    ends = random.rand(2, 37, 5)
    boxes = PackedBoxes.of(ends.min(axis=0), ends.max(axis=0))
    samples, weights = random.rand(9, 5), random.normal(size=(2, 3, 37))
    with on(kernel()):
        alone = np.vstack([scores_of(boxes, sample[None], 2.0, weights) for sample in samples])
        assert scores_of(boxes, samples[:8], 2.0, weights).tobytes() == alone[:8].tobytes()
        assert scores_of(boxes, samples, 2.0, weights).tobytes() == alone.tobytes()


@pytest.mark.parametrize("n_boxes", [1, 15, 16, 17, 48])
def test_boxes_that_fill_up_the_last_block_contribute_nothing(n_boxes: int) -> None:
    weights = padded(np.ones((2, n_boxes)))
    assert weights.shape == (2, -(-n_boxes // WIDTH) * WIDTH)
    assert weights.sum() == 2 * n_boxes
    boxes = PackedBoxes.of(np.zeros((n_boxes, 1)), np.zeros((n_boxes, 1)))
    assert boxes.n_boxes == n_boxes
    assert scores_of(boxes, np.zeros((1, 1)), 1.0, np.ones((1, 1, n_boxes))).tolist() == [[n_boxes]]


@needs_kernel
def test_kernel_stops_in_the_middle_of_long_work() -> None:
    sides = np.zeros((1024, 64, WIDTH), dtype=np.float32)
    samples = np.ones((24, 64), dtype=np.float32)
    stopped = np.ones(1, dtype=np.uint8)
    distances = np.full((24, 1024 * WIDTH), -1.0, dtype=np.float32)
    kernel().measure(samples, sides, sides, distances, stopped)
    assert (distances[-1] == -1.0).all()
    kernel().measure(samples, sides, sides, distances, no_stop())
    assert (distances == 64.0).all()


@needs_kernel
@pytest.mark.parametrize(
    "change",
    [
        {"samples": np.zeros((2, 4), dtype=np.float32)},
        {"lower": np.zeros((1, 3, 8), dtype=np.float32)},
        {"upper": np.zeros((2, 3, WIDTH), dtype=np.float32)},
        {"distances": np.zeros((2, 8), dtype=np.float32)},
        {"distances": np.zeros((3, WIDTH), dtype=np.float32)},
        {"stop": np.zeros(0, dtype=np.uint8)},
    ],
    ids=str,
)
def test_kernel_refuses_arrays_that_do_not_fit(change: dict[str, Any]) -> None:
    arguments: dict[str, Any] = {
        "samples": np.zeros((2, 3), dtype=np.float32),
        "lower": np.zeros((1, 3, WIDTH), dtype=np.float32),
        "upper": np.zeros((1, 3, WIDTH), dtype=np.float32),
        "distances": np.zeros((2, WIDTH), dtype=np.float32),
        "stop": no_stop(),
    }
    kernel().measure(**arguments)
    with pytest.raises(ValueError):
        kernel().measure(**{**arguments, **change})
