"""The arrays of the nodes: they grow, they are saved, and a journal takes changes back."""

from __future__ import annotations

import numpy as np
import pytest

from sslart._art.nodes import Journal, Nodes


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


def state_of(prototypes: Nodes) -> list[bytes]:
    used = slice(0, prototypes.n_nodes)
    arrays = (prototypes.weights, prototypes.norms, prototypes.support, prototypes.counts, prototypes.labels)
    return [array[used].tobytes() for array in arrays] + [bytes([prototypes.n_nodes_stage1])]


def test_growing_and_trimming_keep_the_nodes() -> None:
    prototypes = filled()
    before = state_of(prototypes)
    prototypes.grow(1)
    assert prototypes.capacity > 5
    assert state_of(prototypes) == before
    prototypes.trim()
    assert prototypes.capacity == 5
    assert state_of(prototypes) == before


def test_growth_is_amortised() -> None:
    prototypes = Nodes(2)
    sizes = set()
    for _ in range(12):
        prototypes.grow(1)
        sizes.add(prototypes.capacity)
    assert len(sizes) == 12
    assert prototypes.capacity > 10**5


def test_room_for_a_batch_is_made_at_once() -> None:
    prototypes = Nodes(2)
    prototypes.grow(500)
    assert prototypes.capacity == 500
    prototypes.grow(10**6)
    assert prototypes.capacity == 1024


def test_norms_and_labels_follow_from_weights_and_counts() -> None:
    prototypes = filled()
    np.testing.assert_array_equal(prototypes.norms, prototypes.weights.sum(axis=1))
    for counts, label in zip(prototypes.counts, prototypes.labels, strict=True):
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


@pytest.mark.parametrize(("n_samples", "reshapes"), [(3, False), (9, False), (3, True)])
def test_journal_takes_changes_back(n_samples: int, reshapes: bool) -> None:
    prototypes = filled()
    before = state_of(prototypes)
    journal = Journal(prototypes, n_samples, reshapes)
    assert journal.by_sample == (n_samples == 3 and not reshapes)
    prototypes.grow(3)
    winners = np.array([2, 5, 2, *[-1] * (n_samples - 3)])
    for sample, node in enumerate(winners[winners >= 0]):
        if journal.by_sample:
            journal.weights[sample] = prototypes.weights[node]
            journal.support[sample] = prototypes.support[node]
            journal.counts[sample] = prototypes.counts[node]
        prototypes.weights[node] = 0.0
        prototypes.support[node] += 1
        prototypes.counts[node] += 7
    prototypes.n_nodes, prototypes.n_nodes_stage1 = 6, 2
    if reshapes:
        prototypes.add_classes(4)
    journal.take_back(winners)
    assert state_of(prototypes) == before
