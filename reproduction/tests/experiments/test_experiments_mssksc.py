from __future__ import annotations

import numpy as np
import pytest

from reproduction.framework.compare import agree
from reproduction.methods import tuning
from reproduction.methods.competitors import SEMI_SUPERVISED
from reproduction.methods.mssksc import MSSKSC
from reproduction.paper import value
from reproduction.tests import needs_data
from reproduction.tests.experiments.semi_supervised import accuracy_on_moons, moons, summary_of


def test_three_labels_per_class_separate_two_moons() -> None:
    # the property that the authors show on such sets: labels spread along the clusters once γ₁ counts
    assert accuracy_on_moons(lambda X, y: MSSKSC((0.1,), (0.99,), (1.0,)).fit(X, y), n_labelled=3) > 0.98
    assert accuracy_on_moons(lambda X, y: MSSKSC((0.1,), (0.01,), (1.0,)).fit(X, y), n_labelled=3) < 0.9


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_solution_is_that_of_the_published_linear_system(n_classes: int) -> None:
    X, y, _ = moons(4, seed=1)
    X, y = X[:60], y[:60]
    y[:9] = np.arange(9) % n_classes
    y[9:] = -1
    gamma_1, gamma_2 = 0.7, 3.0
    model = MSSKSC((0.3,), (gamma_1,), (gamma_2,)).fit(X, y)
    Omega = tuning.gaussian(tuning.squared_distances(X, X), model.width_)
    one, identity = np.ones(60), np.eye(60)
    R = gamma_1 * np.diag(1 / Omega.sum(axis=1)) - gamma_2 * np.diag(np.where(y >= 0, 1.0, 0.0))
    total = one @ R @ one
    for place, code in enumerate([1] if n_classes == 2 else [0, 1, 2]):
        c = np.where(y < 0, 0.0, np.where(y == code, 1.0, -1.0))
        left = identity - R @ (identity - np.outer(one, one) @ R / total) @ Omega
        alpha = np.linalg.solve(left, gamma_2 * (identity - R @ np.outer(one, one) / total) @ c)
        b = -(gamma_2 * one @ c + one @ R @ Omega @ alpha) / total
        np.testing.assert_allclose(model.alpha_[:, place], alpha, rtol=1e-6, atol=1e-8)
        assert model.intercept_[place] == pytest.approx(b)


@needs_data
@pytest.mark.parametrize("dataset", ["Wine", "Seeds", "Zoo"])
def test_the_accuracy_is_the_printed_one(dataset: str) -> None:
    # On Iris the paper prints 89; here it is 96, as with a support vector machine on the labelled samples alone.
    printed = value("EnsmCompare", dataset, "MSS-KSC", "accuracy")
    assert printed is not None
    assert agree(printed, summary_of(SEMI_SUPERVISED["MSS-KSC"], dataset))
