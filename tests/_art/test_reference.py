"""The reference does what the paper does: checked against the paper's search cycle, written out in exact fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sslart._reference as reference
from conftest import lattices
from sslart import FuzzyART
from sslart._art.backend import use_backend
from sslart._data.ranks import GRID


def search_cycle(samples: np.ndarray, vigilance: float, choice: float) -> tuple[list[int], list[list[Fraction]]]:
    """Fuzzy ART by the letter: take the best, test vigilance, switch it off, repeat; fast learning."""
    alpha, rho = Fraction(choice), Fraction(vigilance)
    nodes: list[list[Fraction]] = []
    winners = []
    for x in samples:
        sample = [Fraction(float(np.rint(value * GRID)) / GRID) for value in x]
        A = sample + [1 - value for value in sample]
        switched_off: set[int] = set()
        while True:
            active = [j for j in range(len(nodes)) if j not in switched_off]
            if not active:
                nodes.append(A)
                winners.append(len(nodes) - 1)
                break
            overlap = {j: sum(map(min, A, nodes[j])) for j in active}
            # the model compares choice and match in double precision, after exact sums
            J = max(active, key=lambda j: (float(overlap[j]) / (float(alpha) + float(sum(nodes[j]))), -j))
            if float(overlap[J]) / len(sample) >= float(rho):
                nodes[J] = list(map(min, A, nodes[J]))
                winners.append(J)
                break
            switched_off.add(J)
    return winners, nodes


@given(
    samples=lattices(max_samples=25, max_features=4, missing=False), vigilance=st.sampled_from([0, 0.5, 0.75, 0.9, 1])
)
def test_one_scan_finds_what_the_search_cycle_finds(samples: np.ndarray, vigilance: float) -> None:
    with use_backend(reference):
        model = FuzzyART(vigilance, bounds=(0, 1)).fit(samples)
    winners, nodes = search_cycle(samples, vigilance, 1e-3)
    assert model.labels_.tolist() == winners
    weights = model._model.network.nodes.weights
    assert [[Fraction(value) for value in row] for row in weights] == nodes


def test_box_geometry_gives_choice_and_match() -> None:
    W = np.array([[0.25, 0.5, 0.5, 0.25]])  # the box [0.25, 0.5] x [0.5, 0.75]
    A, present = reference.complement_code(np.array([0.0, 1.0]))
    choices, matches = reference.choice_and_match(A, present, W, 0.5)
    distance, norm = 0.25 + 0.25, 1.5
    assert choices == pytest.approx((norm - distance) / (0.5 + norm))
    assert matches == pytest.approx((norm - distance) / 2)


def test_missing_value_is_no_evidence() -> None:
    W = np.array([[0.25, 0.5, 0.5, 0.25]])
    A, present = reference.complement_code(np.array([np.nan, 0.5]))
    choices, matches = reference.choice_and_match(A, present, W, 0.0)
    assert choices == [1.0]
    assert matches == [0.75]
    np.testing.assert_array_equal(reference.adapted(A, present, W[0], 1.0), W[0])


def test_side_not_reached_yet_takes_the_first_value_whatever_the_learning_rate() -> None:
    W_J = np.array([0.5, 1.0, 0.5, 1.0])
    A, present = reference.complement_code(np.array([0.5, 0.25]))
    np.testing.assert_array_equal(reference.adapted(A, present, W_J, 0.5), [0.5, 0.25, 0.5, 0.75])


def test_match_tracking_passes_over_a_node_of_another_class_and_those_that_match_less() -> None:
    choices, matches = np.array([0.9, 0.8, 0.7]), np.array([0.8, 0.7, 0.9])
    labels = np.array([0, 1, 1])
    find = reference.resonating_node
    assert find(choices, matches, labels, 1, 0.5, 1e-6, one_to_one=True) == 2
    assert find(choices, matches, labels, 1, 0.5, 1e-6, one_to_one=False) == 0
    assert find(choices, matches, labels, 2, 0.5, 1e-6, one_to_one=True) == reference.NO_NODE
    assert find(choices, matches, np.array([0, 1, -1]), 2, 0.5, 1e-6, one_to_one=True) == 2


def test_node_that_failed_stays_out_even_without_a_rise_of_vigilance() -> None:
    choices, matches, labels = np.array([0.9, 0.8]), np.array([0.8, 0.8]), np.array([0, 1])
    assert reference.resonating_node(choices, matches, labels, 1, 0.5, 0.0, one_to_one=True) == 1


def test_match_equal_to_vigilance_passes() -> None:
    assert FuzzyART(0.5, bounds=(0, 1)).fit([[0.0], [0.5]]).n_nodes_ == 1
    assert FuzzyART(1.0, bounds=(0, 1)).fit([[0.5], [0.5]]).n_nodes_ == 1


def test_ties_go_to_the_lowest_node() -> None:
    model = FuzzyART(1.0, bounds=(0, 1)).fit([[0.0], [1.0]])
    assert model.predict([[0.5]]) == [0]


def test_search_depth_counts_the_nodes_asked() -> None:
    choices, labels = np.array([0.9, 0.8, 0.7]), np.array([-1, -1, 4])
    assert reference.predicting_node(choices, labels, 2) == reference.NO_NODE
    assert reference.predicting_node(choices, labels, 3) == 2
    assert reference.predicting_node(choices, labels, 0) == 2
