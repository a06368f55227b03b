"""Order and joining of boxes of several networks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tables_in_parts import fitted, parts_of

import sslart
from sslart import SSLART, FuzzyART, FuzzyARTMAP
from sslart.merging._networks import canonical_order, join_apart

GRID = 2.0**-32


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32), n=st.integers(1, 30))
def test_the_order_of_boxes_depends_on_their_content_alone(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    support, weights = random.integers(1, 4, n), random.integers(0, 3, (n, 2)) / 4
    order = canonical_order(support, weights)
    rows = [(-support[row], *weights[row]) for row in order]
    assert rows == sorted(rows)
    shuffled = random.permutation(n)
    again = canonical_order(support[shuffled], weights[shuffled])
    assert [(-support[shuffled][row], *weights[shuffled][row]) for row in again] == rows


def boxes(*sides: tuple[float, float]) -> np.ndarray:
    """Return the weights of boxes in one feature."""
    return np.round(np.array([[low, 1 - high] for low, high in sides]) / GRID) * GRID


def test_boxes_of_a_class_are_joined_up_to_those_of_another_class() -> None:
    weights = boxes((0.0, 0.1), (0.15, 0.2), (0.3, 0.35), (0.5, 0.6), (0.9, 1.0))
    labels = np.array([0, 0, 1, 0, 0])
    joined = join_apart(weights, labels, 0.0)
    assert joined.into.tolist() == [0, 0, 1, 2, 2]
    assert join_apart(weights, np.zeros(5, dtype=np.int64), 0.0).into.tolist() == [0] * 5
    assert join_apart(weights, labels, 0.8).into.tolist() == [0, 0, 1, 2, 3]


def test_a_box_within_one_of_its_class_joins_it_whatever_else_is_there() -> None:
    weights = boxes((0.0, 1.0), (0.4, 0.5), (0.45, 0.55))
    assert join_apart(weights, np.array([0, 0, 1]), 0.0).into.tolist() == [0, 0, 1]


def test_merged_boxes_of_one_to_one_mapping_serve_one_class() -> None:
    for model in (FuzzyARTMAP(), SSLART(0.7, mapping="one-to-one", random_state=0)):
        merged = sslart.merge(fitted(model, parts_of(5, [20, 20, 20], columns="numbers")))
        assert ((merged.counts_ > 0).sum(axis=1) <= 1).all()


def test_max_nodes_holds_for_the_merged_model() -> None:
    parts = parts_of(1, [30, 30, 30])
    models = fitted(SSLART(0.95, max_nodes=25, random_state=0), parts)
    merged = sslart.merge(models)
    assert sum(one.n_nodes_ for one in models) > 25 >= merged.n_nodes_
    assert merged.vigilance_ < 0.95
    assert merged.support_.sum() == 90
    few = SSLART(0.9, mapping="one-to-one", max_nodes=3, random_state=0)
    of_one_class = [clone(few).fit([[n], [n + 1.0]], [n, n]) for n in range(4)]
    with pytest.raises(ValueError, match="max_nodes=3 is too low for the models together"):
        sslart.merge(of_one_class)


def test_supports_that_fade_add() -> None:
    parts = [np.random.default_rng(seed).random((60, 2)) for seed in range(3)]
    models = [FuzzyART(0.8, half_life=20).partial_fit(X) for X in parts]
    merged = sslart.merge(models)
    assert merged.support_.sum() == pytest.approx(sum(one.support_.sum() for one in models))
    assert merged.support_.sum() < 180
    before = merged.support_.sum()
    assert merged.partial_fit(parts[0]).support_.sum() < before + 60


def test_drift_is_watched_for_anew() -> None:
    random = np.random.default_rng(0)
    X = np.concatenate([random.random((400, 2)), random.random((400, 2)) + 3])
    models = [FuzzyART(0.8, bounds=(0, 4)).partial_fit(X) for _ in range(2)]
    assert sslart.merge(models).drift_ == []
