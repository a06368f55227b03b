from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso

from reproduction.methods import tuning
from reproduction.methods.ssbls import SSBLS, sparse_autoencoder
from reproduction.tests.experiments.semi_supervised import accuracy_on_moons, moons


def test_smoothness_over_the_graph_helps_on_two_moons() -> None:
    # what manifold regularisation is for: with four labels per class, more right predictions than without the graph
    with_graph = accuracy_on_moons(lambda X, y: SSBLS(costs=(1e8,), ratios=(0.1,)).fit(X, y), n_labelled=4, n_seeds=10)
    without = accuracy_on_moons(lambda X, y: SSBLS(costs=(1e8,), ratios=(0.0,)).fit(X, y), n_labelled=4, n_seeds=10)
    assert with_graph > without + 0.05


def test_output_weights_solve_the_least_squares_problem() -> None:
    X, y, _ = moons(5, seed=0)
    model = SSBLS(costs=(20.0,), ratios=(0.3,)).fit(X, y)
    A, rows = model.nodes(X), np.flatnonzero(y >= 0)
    W = -tuning.laplacian(X, 6).toarray()
    first, second = np.nonzero(np.triu(W, 1))
    differences = np.sqrt(W[first, second])[:, None] * (A[first] - A[second])
    system = np.vstack([np.eye(A.shape[1]), np.sqrt(20.0) * A[rows], np.sqrt(20.0 * 0.3) * differences])
    goal = np.zeros(len(system))
    goal[A.shape[1] : A.shape[1] + len(rows)] = np.sqrt(20.0) * np.where(y[rows] == 1, 1.0, -1.0)
    direct = np.linalg.lstsq(system, goal, rcond=None)[0]
    np.testing.assert_allclose(model.weights_[:, 0], direct, rtol=1e-6, atol=1e-8)


def test_the_sparse_autoencoder_converges_to_the_lasso() -> None:
    random = np.random.RandomState(0)
    features, inputs = random.uniform(-1, 1, (40, 6)), random.rand(40, 3)
    lasso = Lasso(alpha=0.5 / 40, fit_intercept=False, tol=1e-10, max_iter=100_000).fit(features, inputs)
    found = sparse_autoencoder(features, inputs, penalty=0.5, n_steps=5000)
    np.testing.assert_allclose(found, lasso.coef_.T, atol=1e-6)


def test_the_seed_decides_the_nodes() -> None:
    X, y, _ = moons(5, seed=0)
    one, same, other = (SSBLS(random_state=seed).fit(X, y).decision_function(X) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert not np.allclose(one, other)


@pytest.mark.parametrize("n_enhancement", [20, 150])
def test_there_are_as_many_nodes_as_wanted(n_enhancement: int) -> None:
    X, y, _ = moons(5, seed=0)
    assert SSBLS(4, 5, n_enhancement).fit(X, y).nodes(X).shape == (200, 20 + n_enhancement)
