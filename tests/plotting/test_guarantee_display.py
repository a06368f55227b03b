"""The display of guarantees."""

import numpy as np
import pytest
from drawn import no_figure_is_left_open  # noqa: F401

from sslart import SSLART, AutoSSLART
from sslart.metrics import guarantees
from sslart.plotting import GuaranteeDisplay


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
    steps, *points = display.ax_.lines
    drawn = [(one.get_xdata()[0], one.get_ydata()[0]) for one in points]
    possible = [one for one in found.levels if one.is_possible]
    assert drawn == [(100 * one.max_error, 100 * one.answered) for one in possible]
    assert len(possible) < 4
    for x, y in drawn:  # each point lies on the steps
        place = np.searchsorted(steps.get_xdata(), x + 1e-6, side="right") - 1
        assert steps.get_ydata()[place] == pytest.approx(y)
    assert "promised with 120 labels" in display.ax_.get_title(loc="left")
    assert display.max_errors[0] == pytest.approx(found.smallest_error)


def test_where_nothing_can_be_promised_all_is_hatched():
    X, y = np.random.RandomState(0).rand(12, 2), np.arange(12) % 2
    display = GuaranteeDisplay.from_estimator(AutoSSLART(random_state=0).fit(X, y), max_errors=[0.01])
    assert len(display.ax_.lines) == 1
    (area,) = display.ax_.patches
    assert area.get_width() == pytest.approx(min(100 * display.guarantees.smallest_error, 25))


def test_a_model_without_labels_is_refused():
    with pytest.raises(ValueError, match="need evidence mapping"):
        GuaranteeDisplay.from_estimator(SSLART(random_state=0).fit(*overlapping(30)))
