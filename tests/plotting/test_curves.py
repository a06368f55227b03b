"""Coverage against correctness, and growth over a stream."""

import numpy as np
import pytest
from drawn import make, no_figure_is_left_open, wine_model  # noqa: F401

from sslart import SSLART, WESSLART, FuzzyART, FuzzyARTMAP
from sslart.metrics import coverage_correctness_curve
from sslart.plotting import CoverageCorrectnessDisplay, GrowthDisplay


def test_coverage_and_correctness_are_those_of_the_metrics():
    model, X, y = wine_model()
    depths = [1, 3, None]
    curve = coverage_correctness_curve(model, X, y, depths)
    display = CoverageCorrectnessDisplay.from_estimator(model, X, y, depths=depths)
    for line, values in zip(display.ax_.lines, curve[1:], strict=True):
        np.testing.assert_allclose(line.get_ydata(), 100 * values)
    by_depth = {}
    for depth in depths:
        by_depth[depth] = model.set_params(search_depth=depth).predict(X)
    model.set_params(search_depth=None)
    again = CoverageCorrectnessDisplay.from_predictions(y, by_depth)
    np.testing.assert_allclose(again.curve.coverage, curve.coverage)
    np.testing.assert_allclose(again.curve.correctness, curve.correctness)
    for one in (display, again):
        assert "correctness of 178 samples" in one.ax_.get_title(loc="left")


@pytest.mark.parametrize("estimator", [FuzzyART, FuzzyARTMAP, SSLART, WESSLART])
def test_growth_is_that_of_a_clone_that_learns_the_stream(estimator):
    X, y = make(3, 3)
    model = estimator(vigilance=0.7)
    display = GrowthDisplay.from_estimator(model, X, y, batch=10)
    assert not hasattr(model, "n_features_in_")
    assert display.n_samples.tolist() == [10, 20, 30, 36]
    assert (np.diff(display.n_nodes) >= 0).all()
    assert (display.n_labelled_nodes is None) == (estimator is FuzzyART)
    labels = () if estimator is FuzzyART else (y[:10],)
    if estimator is not WESSLART:  # whose members draw their sequences at random
        assert display.n_nodes[0] == estimator(vigilance=0.7).partial_fit(X[:10], *labels).n_nodes_
    assert f"{display.n_nodes[-1]} boxes" in display.ax_.get_title(loc="left")
    assert "after 36 samples" in display.ax_.get_title(loc="left")
    assert all(tick == round(tick) for tick in display.ax_.get_yticks())
    again = GrowthDisplay.from_history(display.n_samples, display.n_nodes)
    assert (again.ax_.lines[0].get_ydata() == display.n_nodes).all()


def test_growth_without_labels_leaves_a_fitted_model_as_it_is():
    model, X, _ = wine_model()
    before = model.n_nodes_
    display = GrowthDisplay.from_estimator(model, X)
    assert display.n_labelled_nodes.tolist() == [0] * len(display.n_samples)
    assert model.n_nodes_ == before
