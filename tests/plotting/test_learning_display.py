"""The learning curve, as a picture."""

import numpy as np
import pytest
from drawn import no_figure_is_left_open  # noqa: F401
from sklearn.datasets import load_iris

from sslart import AutoSSLART
from sslart.active import learning_curve
from sslart.plotting import LearningCurveDisplay

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
    with pytest.raises(ValueError, match="it takes at least 20 labels, and there are 15"):
        LearningCurveDisplay.from_estimator(fitted(10))
