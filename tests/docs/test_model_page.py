"""The statements of docs/model.md about the paper's text hold: taken literally, it makes the nodes stated there."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from sslart import SSLART, WESSLART, FuzzyART

PAGE = (Path(__file__).parents[2] / "docs" / "model.md").read_text(encoding="utf-8")
UNLABELLED = -1
SEEDS = range(12)


def learnt_literally(
    X: NDArray[np.float64],
    y: NDArray[np.int64],
    rho: float,
    alpha: float = 1e-3,
    *,
    uncommitted: bool = False,
    rho_ab: float | None = None,
    delta: float = 1e-6,
) -> NDArray[np.float64]:
    """Return the weights of all committed nodes, learnt node by node as the paper's text has it, with β = 1.

    With `uncommitted`, a node of weight one in every element takes part in each search (lines 336 to 338). With
    `rho_ab`, the map field is tested (Eq. 10) and match tracking follows where it fails (Eq. 12).
    """
    D, n_classes = X.shape[1], int(y.max()) + 1
    W, W_ab = np.empty((0, 2 * D)), np.empty((0, n_classes))
    for x, k in zip(X, y, strict=True):
        A = np.concatenate([x, 1 - x])
        searched = np.vstack([W, np.ones((int(uncommitted), 2 * D))])
        T = np.minimum(A, searched).sum(axis=1) / (alpha + searched.sum(axis=1))
        winner, rho_a = len(W), rho
        while (T >= 0).any():
            best = int(T.argmax())
            match = np.minimum(A, searched[best]).sum() / A.sum()
            if match >= rho_a:
                if best == len(W) or rho_ab is None or k == UNLABELLED:
                    winner = best
                    break
                Y_b = np.eye(n_classes)[k]
                if np.minimum(Y_b, W_ab[best]).sum() / Y_b.sum() >= rho_ab:
                    winner = best
                    break
                rho_a = match + delta
            T[best] = -1.0
        if winner == len(W):
            W, W_ab = np.vstack([W, np.ones(2 * D)]), np.vstack([W_ab, np.ones(n_classes)])
        W[winner] = np.minimum(A, W[winner])
        if k != UNLABELLED:
            W_ab[winner] = np.minimum(np.eye(n_classes)[k], W_ab[winner])
    return W


def a_task(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return samples on a coarse grid, so that sums are exact; unlabelled ones come first."""
    random = np.random.RandomState(seed)
    n_features = random.randint(2, 7)
    X = random.randint(0, 65, size=(60, n_features)) / 64
    return X, np.concatenate([np.full(30, UNLABELLED), random.randint(0, 3, size=30)])


def weights_of(model: FuzzyART | SSLART) -> NDArray[np.float64]:
    return np.hstack([model.lower_, 1 - model.upper_])


def limit(n_features: int, alpha: float) -> float:
    """Return the vigilance from which on an uncommitted node loses to every node that passes."""
    return (alpha + n_features) / (alpha + 2 * n_features)


def same_with_an_uncommitted_node(seed: int, rho: float, alpha: float) -> bool:
    X, y = a_task(seed)
    with_it = learnt_literally(X, y, rho, alpha, uncommitted=True)
    ours = weights_of(FuzzyART(rho, choice=alpha, bounds=(0, 1), shuffle=False).fit(X))
    assert np.array_equal(ours, learnt_literally(X, y, rho, alpha))  # without it: Algorithm 1
    return np.array_equal(ours, with_it)


@pytest.mark.parametrize(("above", "alpha"), [*product([0.0, 0.02, 0.1, 0.3], [1e-9, 1e-3, 1.0])])
def test_from_its_limit_on_an_uncommitted_node_in_the_search_changes_nothing(above: float, alpha: float) -> None:
    for seed in SEEDS:
        rho = min(limit(a_task(seed)[0].shape[1], alpha) + above + 1e-12, 1.0)
        assert same_with_an_uncommitted_node(seed, rho, alpha)


@pytest.mark.parametrize("rho", [0.1, 0.2, 0.3, 0.4])
def test_below_one_half_an_uncommitted_node_in_the_search_makes_other_nodes(rho: float) -> None:
    assert not all(same_with_an_uncommitted_node(seed, rho, 1e-3) for seed in SEEDS)


def test_with_the_default_choice_the_limit_is_one_half() -> None:
    assert all(0.5 < limit(n_features, 1e-3) < 0.5003 for n_features in range(1, 2000))
    assert "(α + D) / (α + 2D)" in PAGE


@pytest.mark.parametrize("rho_ab", [1e-9, 0.25, 0.5, 1.0])
def test_every_map_field_vigilance_above_zero_acts_alike(rho_ab: float) -> None:
    for seed, rho in product(SEEDS, [0.0, 0.4, 0.7]):
        X, y = a_task(seed)
        ours = SSLART(rho, mapping="one-to-one", bounds=(0, 1), shuffle=False).fit(X, y)
        assert np.array_equal(weights_of(ours), learnt_literally(X, y, rho, rho_ab=rho_ab))


def test_a_small_choice_prefers_the_smallest_box_that_holds_a_sample_and_zero_is_refused() -> None:
    model = FuzzyART(0.0, choice=1e-9, bounds=(0, 1)).fit([[0.25], [0.75]])  # one box
    model.set_params(vigilance=1.0).partial_fit([[0.5]])  # and a point inside it
    assert np.hstack([model.lower_, model.upper_]).tolist() == [[0.25, 0.75], [0.5, 0.5]]
    assert model.predict([[0.5]]).tolist() == [1]
    with pytest.raises(ValueError, match="all boxes that contain a sample tie"):
        model.set_params(choice=0).partial_fit([[0.5]])


def test_class_weights_of_fit_and_of_a_stream_are_counted_together() -> None:
    random = np.random.RandomState(0)
    X, y = random.rand(120, 3), random.randint(0, 3, size=120)
    model = WESSLART(3, vigilance=0.6, random_state=0).fit(X[:60], y[:60])
    assert (model.class_weights_ < 1).any()
    in_class = y == np.arange(3)[:, None]
    right = model.class_weights_ * in_class[:, :60].sum(axis=1)
    for x, label in zip(X[60:], y[60:], strict=True):
        for number, member in enumerate(model.estimators_):
            right[number, label] += member.predict([x])[0] == label  # before it is learnt
        model.partial_fit([x], [label])
    np.testing.assert_allclose(model.class_weights_, right / in_class.sum(axis=1))
