"""FuzzyARTMAP: one class per box, a label for every sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from sklearn.datasets import load_iris

from conftest import lattices
from sslart import SSLART, FuzzyARTMAP


@given(samples=lattices(min_samples=3, missing=False))
def test_every_training_sample_is_learnt(samples: np.ndarray) -> None:
    # one pass, fast learning: what was just learnt is predicted correctly, and no box mixes classes
    y = np.arange(len(samples)) % 3
    model = FuzzyARTMAP(bounds=(0, 1))
    for sample, label in zip(samples, y, strict=True):
        model.partial_fit(sample[None], [label])
        assert ((model.counts_ > 0).sum(axis=1) == 1).all()
    assert model.n_labelled_nodes_ == model.n_nodes_
    assert model.n_nodes_stage1_ == 0


def test_is_supervised_one_to_one_ssl_art() -> None:
    X, y = load_iris(return_X_y=True)
    one = FuzzyARTMAP(0.5).fit(X, y)
    other = SSLART(0.5, mapping="one-to-one", shuffle=False).fit(X, y)
    np.testing.assert_array_equal(one.lower_, other.lower_)
    assert one.score(X, y) > 0.9


def test_vigilance_zero_makes_few_boxes() -> None:
    X, y = load_iris(return_X_y=True)
    assert FuzzyARTMAP().fit(X, y).n_nodes_ < FuzzyARTMAP(0.9).fit(X, y).n_nodes_


@pytest.mark.parametrize("y", [[0, -1, 1], ["a", None, "b"], [0.0, np.nan, 1.0]])
def test_gaps_are_refused_with_the_cure(y: list[Any]) -> None:
    X = [[0], [1], [2]]
    for learn in (FuzzyARTMAP().fit, FuzzyARTMAP().partial_fit):
        with pytest.raises(ValueError, match="use SSLART"):
            learn(X, y)


@pytest.mark.parametrize("y", [None, [None], [-1]], ids=str)
def test_a_single_row_without_a_label_is_refused_too(y: Any) -> None:
    model = FuzzyARTMAP().fit([[0], [1], [2]], [0, 1, 1])
    with pytest.raises(ValueError, match="use SSLART"):
        model.partial_fit([[1]], y)
    assert model.support_.sum() == 3


def test_plus_and_minus_one_are_two_classes_without_ado() -> None:
    assert FuzzyARTMAP().fit([[0], [1]], [-1, 1]).classes_.tolist() == [-1, 1]


def test_shuffle_is_seeded() -> None:
    X, y = load_iris(return_X_y=True)
    boxes = [FuzzyARTMAP(0.8, shuffle=True, random_state=seed).fit(X, y).lower_.tobytes() for seed in (0, 0, 1)]
    assert boxes[0] == boxes[1] != boxes[2]
