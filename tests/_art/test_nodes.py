"""Boxes of a network: versions that share what they have in common, and their saved states."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from conftest import HAS_KERNEL
from sslart._art.backend import REFERENCE, use_backend
from sslart._art.boxes import NetworkBoxes

BACKENDS = ["sslart._kernel", REFERENCE] if HAS_KERNEL else [REFERENCE]


def filled(n_nodes: int = 5, n_features: int = 2, n_classes: int = 3) -> NetworkBoxes:
    random = np.random.RandomState(0)
    lower = random.randint(0, 4, size=(n_nodes, n_features)) / 8
    counts = random.randint(0, 3, size=(n_nodes, n_classes))
    return NetworkBoxes.from_state(
        {
            "weights": np.hstack([lower, 1 - lower - 0.25]),
            "support": counts.sum(axis=1) + 1,
            "counts": counts,
            "n_nodes_stage1": 1,
        }
    )


def state_of(nodes: NetworkBoxes) -> list[bytes]:
    arrays = (nodes.weights, nodes.norms, nodes.support, nodes.counts, nodes.labels)
    return [array.tobytes() for array in arrays] + [bytes([nodes.n_nodes_stage1])]


@pytest.mark.parametrize("name", BACKENDS)
def test_a_draft_changes_nothing_that_is_published(name: str) -> None:
    with use_backend(importlib.import_module(name)):
        nodes = filled(400)
        before = state_of(nodes)
        drafts = [nodes.draft(), nodes.draft()]
        for number, draft in enumerate(drafts):
            draft.add_classes(5 + number)
            for box in range(0, 400, 7):
                draft.backend_boxes.count(box, 4)
            draft.fade(0.5)
            draft.add_empty()
            assert draft.n_nodes == 401
        assert state_of(nodes) == before
        again = drafts[0].published()
        state = state_of(again)
        again.draft().backend_boxes.count(0, 0)
        assert state_of(again) == state
        with pytest.raises(ValueError, match="make a draft"):
            again.backend_boxes.count(0, 0)


@pytest.mark.parametrize("name", BACKENDS)
def test_parts_are_those_of_the_whole(name: str) -> None:
    with use_backend(importlib.import_module(name)):
        nodes, some = filled(300), np.array([299, 0, 7, 7])
        np.testing.assert_array_equal(nodes.weights_of(some), nodes.weights[some])
        np.testing.assert_array_equal(nodes.support_of(some), nodes.support[some])
        np.testing.assert_array_equal(nodes.counts_of(some), nodes.counts[some])
        np.testing.assert_array_equal(nodes.labels_of(some), nodes.labels[some])


def test_norms_and_labels_follow_from_weights_and_counts() -> None:
    nodes = filled()
    np.testing.assert_array_equal(nodes.norms, nodes.weights.sum(axis=1))
    for counts, label in zip(nodes.counts, nodes.labels, strict=True):
        assert label == (counts.argmax() if counts.any() else -1)


@pytest.mark.parametrize(
    "change",
    [
        {"weights": np.ones((5, 3))},
        {"weights": np.ones((4, 4))},
        {"weights": np.ones((5, 4), dtype=np.float32)},
        {"weights": np.full((5, 4), 0.1)},
        {"support": np.zeros(5, dtype=np.int64)},
        {"support": np.ones((5, 1), dtype=np.int64)},
        {"counts": np.full((5, 3), -1)},
        {"counts": np.full((5, 3), 100)},
        {"n_nodes_stage1": -1},
        {"n_nodes_stage1": 2.0},
    ],
)
def test_states_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="of the model"):
        NetworkBoxes.from_state({**filled().to_state(), **change})
