"""The arrays of the nodes: they grow, they are saved, and a journal takes changes back."""

from __future__ import annotations

import numpy as np
import pytest

from sslart._art.learning.journal import Journal
from sslart._art.nodes import Nodes


def filled(n_nodes: int = 5, n_features: int = 2, n_classes: int = 3) -> Nodes:
    random = np.random.RandomState(0)
    lower = random.randint(0, 4, size=(n_nodes, n_features)) / 8
    counts = random.randint(0, 3, size=(n_nodes, n_classes))
    return Nodes.from_state(
        {
            "weights": np.hstack([lower, 1 - lower - 0.25]),
            "support": counts.sum(axis=1) + 1,
            "counts": counts,
            "n_nodes_stage1": 1,
        }
    )


def state_of(nodes: Nodes) -> list[bytes]:
    used = slice(0, nodes.n_nodes)
    arrays = (nodes.weights, nodes.norms, nodes.support, nodes.counts, nodes.labels)
    return [array[used].tobytes() for array in arrays] + [bytes([nodes.n_nodes_stage1])]


def test_growing_and_trimming_keep_the_nodes() -> None:
    nodes = filled()
    before = state_of(nodes)
    nodes.grow(1)
    assert nodes.capacity > 5
    assert state_of(nodes) == before
    nodes.trim()
    assert nodes.capacity == 5
    assert state_of(nodes) == before


def test_growth_is_amortised() -> None:
    nodes = Nodes(2)
    sizes = set()
    for _ in range(12):
        nodes.grow(1)
        sizes.add(nodes.capacity)
    assert len(sizes) == 12
    assert nodes.capacity > 10**5


def test_room_for_a_batch_is_made_at_once() -> None:
    nodes = Nodes(2)
    nodes.grow(500)
    assert nodes.capacity == 500
    nodes.grow(10**6)
    assert nodes.capacity == 1024


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
        Nodes.from_state({**filled().to_state(), **change})


@pytest.mark.parametrize("n_samples", [3, 9])
def test_journal_takes_changes_back(n_samples: int) -> None:
    nodes = filled()
    before = state_of(nodes)
    winners = np.full(n_samples, -1)
    journal = Journal(nodes, winners)
    nodes.grow(3)
    for sample, node in enumerate([2, 5, 2]):
        winners[sample] = node
        journal.weights[sample] = nodes.weights[node]
        journal.support[sample] = nodes.support[node]
        journal.counts[sample] = nodes.counts[node]
        nodes.weights[node] = 0.0
        nodes.support[node] += 1
        nodes.counts[node] += 7
    nodes.n_nodes, nodes.n_nodes_stage1 = 6, 2
    journal.restore()
    assert state_of(nodes) == before
