"""The graph of boxes: labels are propagated along it, and leaving one out is what propagating without it gives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sslart._mapping.evidence.design import LabelGroups
from sslart._mapping.evidence.graph import MIN_BOXES, N_NEIGHBOURS, LabelPropagation, ReadBoxes, similarity

EXACT = 1e-9


@settings(max_examples=25)
@given(n=st.integers(MIN_BOXES, 30), seed=st.integers(0, 99), lattice=st.booleans())
def test_similarity_is_symmetric_and_of_norm_one(n: int, seed: int, lattice: bool) -> None:
    centres = np.random.RandomState(seed).rand(n, 2)
    S, neighbours = similarity(np.rint(centres * 3) / 3 if lattice else centres)  # on a lattice some boxes coincide
    np.testing.assert_allclose(S, S.T, rtol=1e-14)
    assert (S >= 0).all()
    assert (np.diag(S) == 0).all()
    assert np.abs(np.linalg.eigvalsh(S)).max() <= 1 + EXACT
    assert neighbours.shape == (n, min(N_NEIGHBOURS, n - 1))
    assert (neighbours != np.arange(n)[:, None]).all()


def cases(seed: int, n_boxes: int, n_labels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.RandomState(seed)
    S = similarity(random.rand(n_boxes, 2) + 9 * (np.arange(n_boxes)[:, None] % 2 * random.randint(2)))[0]
    starts = random.randint(n_boxes, size=n_labels)
    activations = random.rand(n_labels, n_boxes)
    return S, starts, np.eye(3)[random.randint(3, size=n_labels)], activations / activations.sum(axis=1, keepdims=True)


def everywhere(activations: np.ndarray) -> ReadBoxes:
    """Predictions that are read at every box."""
    return ReadBoxes(np.tile(np.arange(activations.shape[1]), (len(activations), 1)), activations)


@settings(max_examples=20)
@given(seed=st.integers(0, 999), n_labels=st.integers(4, 12), reach=st.sampled_from([0.0, 0.2, 0.99]))
def test_without_a_block_is_what_propagation_without_the_block_gives(seed: int, n_labels: int, reach: float) -> None:
    S, starts, targets, activations = cases(seed, 15, n_labels)
    targets = targets * np.random.RandomState(seed).uniform(0.5, 2.0, (n_labels, 1))
    group_of = np.arange(n_labels) // 2
    blocks = [np.flatnonzero(group_of % 2 == block) for block in range(2)]
    read = everywhere(activations)
    found = LabelPropagation(S, reach, starts, targets).left_out_without(read, LabelGroups(group_of), blocks)
    for own, rows in zip(found, blocks, strict=True):
        for one in np.setdiff1d(np.arange(n_labels), rows):
            others = (group_of != group_of[one]) & ~np.isin(np.arange(n_labels), rows)
            if others.any():
                without = LabelPropagation(S, reach, starts[others], targets[others])
                np.testing.assert_allclose(own[one], activations[one] @ without.shares(), atol=1e-6)


@settings(max_examples=30)
@given(
    seed=st.integers(0, 999),
    n_boxes=st.integers(MIN_BOXES, 30),
    n_labels=st.integers(3, 12),
    n_groups=st.integers(2, 12),
    reach=st.sampled_from([0.0, 0.2, 0.9, 0.99]),
)
def test_left_out_is_what_propagation_without_the_group_of_the_label_gives(
    seed: int, n_boxes: int, n_labels: int, n_groups: int, reach: float
) -> None:
    S, starts, targets, activations = cases(seed, n_boxes, n_labels)
    group_of = np.arange(n_labels) % n_groups
    groups, read = LabelGroups(group_of), everywhere(activations)
    found = LabelPropagation(S, reach, starts, targets).left_out(read, groups)
    for one in range(n_labels):
        others = group_of != group_of[one]
        without = LabelPropagation(S, reach, starts[others], targets[others])
        np.testing.assert_allclose(found[one], activations[one] @ without.shares(), atol=EXACT)


@settings(max_examples=25)
@given(seed=st.integers(0, 999), n_labels=st.integers(1, 12), reach=st.sampled_from([0.0, 0.2, 0.99]))
def test_shares_sum_to_one(seed: int, n_labels: int, reach: float) -> None:
    S, starts, targets, activations = cases(seed, 20, n_labels)
    propagated = LabelPropagation(S, reach, starts, targets)
    np.testing.assert_allclose(propagated.shares().sum(axis=1), 1.0)
    assert (propagated.shares() >= 0).all()
    if n_labels > 1:
        np.testing.assert_allclose(
            propagated.left_out(everywhere(activations), LabelGroups(np.arange(n_labels))).sum(axis=1), 1.0
        )


def test_a_label_fills_its_cluster_and_not_the_other() -> None:
    centres = np.vstack([np.random.RandomState(0).rand(20, 2), 50 + np.random.RandomState(1).rand(20, 2)])
    shares = LabelPropagation(similarity(centres)[0], 0.9, np.array([0, 39]), np.eye(2)).shares()
    assert shares[:20].argmax(axis=1).tolist() == [0] * 20
    assert shares[20:].argmax(axis=1).tolist() == [1] * 20


@pytest.mark.parametrize("reach", [0.0, 0.9])
def test_a_box_that_no_label_reaches_holds_the_shares_of_all_labels(reach: float) -> None:
    centres = np.vstack([np.random.RandomState(0).rand(20, 2), 50 + np.random.RandomState(1).rand(20, 2)])
    targets = np.eye(2)[[0, 0, 1]]
    shares = LabelPropagation(similarity(centres)[0], reach, np.array([0, 1, 1]), targets).shares()
    np.testing.assert_allclose(shares[20:], [[2 / 3, 1 / 3]] * 20)
    np.testing.assert_allclose(shares[:2], [[1, 0], [0.5, 0.5]] if reach == 0 else shares[:2])
