from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from reproduction.framework.compare import agree
from reproduction.methods import tuning
from reproduction.methods.competitors import SEMI_SUPERVISED
from reproduction.methods.lapsvm import LapSVM
from reproduction.paper import value
from reproduction.tests import needs_data
from reproduction.tests.experiments.semi_supervised import accuracy_on_moons, moons, summary_of


def with_settings_of_the_demo(X: np.ndarray, y: np.ndarray, gamma_i: float = 1.0) -> LapSVM:
    """Train with the settings of the authors' package lapsvmp for two moons: width 0.35, γ_A 1e-5, γ_I 1, NN 6."""
    unit = tuning.median_distance(tuning.squared_distances(X, X))
    return LapSVM(widths=(0.35 / unit,), gammas_a=(1e-5,), gamma_i=gamma_i).fit(X, y)


def test_one_label_per_class_separates_two_moons() -> None:
    # Belkin, Niyogi and Sindhwani, 2006, figure 2: all samples right for enough smoothness, not for γ_I = 0
    assert accuracy_on_moons(with_settings_of_the_demo, n_labelled=1) > 0.99
    assert accuracy_on_moons(lambda X, y: with_settings_of_the_demo(X, y, gamma_i=0.0), n_labelled=1) < 0.9


def test_the_solution_minimises_the_primal_cost() -> None:
    X, y, _ = moons(6, seed=0)
    X, y = X[::4], y[::4]
    y[:8], y[8:] = [0, 1, 0, 1, 1, 0, 1, 0], -1  # labels that no smooth function fits, so that there are errors
    model = LapSVM(widths=(0.5,), gammas_a=(0.05,)).fit(X, y)
    K = tuning.gaussian(tuning.squared_distances(X, X), model.width_)
    L = tuning.laplacian(X, 6).toarray()
    signs, rows = np.where(y[y >= 0] == 1, 1.0, -1.0), np.flatnonzero(y >= 0)

    def cost(point: np.ndarray) -> tuple[float, np.ndarray]:
        alpha, b = point[:-1], point[-1]
        f = K @ alpha
        loss = np.maximum(0.0, 1 - signs * (f[rows] + b))
        slope = np.zeros(len(X))
        slope[rows] = -2 * signs * loss
        gradient = K @ (slope + 2 * 0.05 * alpha + 2 * L @ f)
        return float(loss @ loss + 0.05 * alpha @ f + f @ L @ f), np.append(gradient, slope.sum())

    direct = minimize(cost, np.zeros(len(X) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 50_000})
    ours, gradient = cost(np.append(model.alpha_[:, 0], model.intercept_))
    assert direct.fun > 0.1
    assert ours <= direct.fun * (1 + 1e-6)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("dataset", ["Seeds", "Zoo"])
def test_the_accuracy_is_the_printed_one(dataset: str) -> None:
    # On Iris (88) and Wine (94) it is 3 to 6 points above what the paper prints, as are the other methods on Iris.
    printed = value("EnsmCompare", dataset, "LAPSVMp", "accuracy")
    assert printed is not None
    assert agree(printed, summary_of(SEMI_SUPERVISED["LapSVM"], dataset))
