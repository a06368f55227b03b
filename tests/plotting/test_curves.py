"""Displays of curves: coverage and correctness, growth, learning curve, guarantees."""

from __future__ import annotations

import numpy as np
import pytest
from drawn import make, no_figure_is_left_open, wine_model  # noqa: F401
from sklearn.datasets import load_iris

from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP
from sslart.active import learning_curve
from sslart.metrics import coverage_correctness_curve, guarantees
from sslart.plotting import CoverageCorrectnessDisplay, GrowthDisplay, GuaranteeDisplay, LearningCurveDisplay


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


X, Y = load_iris(return_X_y=True)


def fitted(every):
    return AutoSSLART(random_state=0).fit(X, np.where(np.arange(150) % every == 0, Y, -1))


def test_what_is_drawn_is_the_curve():
    model = fitted(5)
    curve = learning_curve(model)
    display = LearningCurveDisplay.from_estimator(model)
    expected, now, some = display.ax_.lines
    assert expected.get_xdata()[[0, -1]].tolist() == [30, 120]
    assert expected.get_ydata()[-1] == pytest.approx(100 * curve.at(120).value)
    assert (now.get_xdata()[0], now.get_ydata()[0]) == (30, pytest.approx(100 * curve.accuracy_now))
    assert some.get_xdata().tolist() == curve.n_labels.tolist()
    assert some.get_ydata() == pytest.approx(100 * curve.accuracy)
    assert "there are 30" in display.ax_.get_title(loc="left")


def test_an_accuracy_that_is_wanted_is_marked_and_answered():
    curve = learning_curve(fitted(5))
    display = LearningCurveDisplay.from_curve(curve, accuracy=0.6)
    assert display.ax_.lines[-1].get_ydata()[0] == pytest.approx(60)
    assert "An accuracy of 60 % is reached" in display.ax_.get_title(loc="left")


def test_without_a_curve_the_reason_is_given():
    with pytest.raises(ValueError, match="it takes at least 10 labels, and there are 8"):
        LearningCurveDisplay.from_estimator(fitted(20))


def overlapping(n):
    random = np.random.RandomState(0)
    y = random.randint(2, size=n)
    return random.normal(size=(n, 2)) + 1.5 * y[:, None], y


def test_points_and_steps_are_those_of_the_guarantees():
    model = AutoSSLART(random_state=0).fit(*overlapping(120))
    display = GuaranteeDisplay.from_estimator(model, max_errors=[0.001, 0.1, 0.2, 0.4])
    found = guarantees(model, [0.001, 0.1, 0.2, 0.4])
    assert display.guarantees == found
    assert display.ax_.get_xticks() == pytest.approx([0.1, 10, 20, 40])
    steps, on_average, *points = display.ax_.lines
    assert on_average.get_label() == "on average"
    place = np.searchsorted(on_average.get_xdata(), 20 + 1e-6, side="right") - 1
    assert on_average.get_ydata()[place] == pytest.approx(100 * found.levels[2].on_average.share)
    drawn = [(one.get_xdata()[0], one.get_ydata()[0]) for one in points]
    possible = [one for one in found.levels if one.is_possible]
    assert drawn == [(100 * one.max_error, 100 * one.certain.share) for one in possible]
    assert len(possible) < 4
    for x, y in drawn:  # each point lies on the steps
        place = np.searchsorted(steps.get_xdata(), x + 1e-6, side="right") - 1
        assert steps.get_ydata()[place] == pytest.approx(y)
    assert "promised with 120 labels" in display.ax_.get_title(loc="left")
    assert display.max_errors[0] == pytest.approx(found.smallest_error)


def test_where_nothing_can_be_promised_all_is_hatched():
    X, y = np.random.RandomState(0).rand(12, 2), np.arange(12) % 2
    display = GuaranteeDisplay.from_estimator(AutoSSLART(random_state=0).fit(X, y), max_errors=[0.01])
    assert len(display.ax_.lines) == 2
    (area,) = display.ax_.patches
    assert area.get_width() == pytest.approx(min(100 * display.guarantees.smallest_error, 25))


def test_a_model_without_labels_is_refused():
    with pytest.raises(ValueError, match="need evidence mapping"):
        GuaranteeDisplay.from_estimator(SSLART(random_state=0).fit(*overlapping(30)))
