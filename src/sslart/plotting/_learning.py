"""The display of the learning curve: accuracy by number of labels, measured and expected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart.active import LearningCurve, learning_curve
from sslart.plotting import _style as draw
from sslart.plotting._base import Display

TIMES = 4  # the curve is drawn to so many times as many labels
N_DRAWN = 40


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """Accuracy by number of labels: on sub-samples of the labels, with all of them, and with more.

    Made by `from_estimator` or `from_curve`.

    Attributes
    ----------
    curve : LearningCurve
    accuracy : float or None
        The accuracy wanted, which is marked.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import LearningCurveDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(AutoSSLART(random_state=0).fit(X[::10], y[::10]), accuracy=0.95)
    >>> display.curve.n_now
    57
    """

    curve: LearningCurve
    accuracy: float | None = None

    @classmethod
    def from_estimator(cls, model: Any, *, accuracy: float | None = None, ax: Any = None) -> Self:
        """Draw the learning curve of a fitted model; see `sslart.active.learning_curve`.

        Parameters
        ----------
        model : AutoSSLART, or SSLART or WESSLART with evidence mapping
        accuracy : float, default=None
            An accuracy that is wanted, in (0, 1]: the title has how many more labels it needs.
        ax : matplotlib axis, default=None
        """
        return cls.from_curve(learning_curve(model), accuracy=accuracy, ax=ax)

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, accuracy: float | None = None, ax: Any = None) -> Self:
        """Draw a learning curve.

        Parameters
        ----------
        curve : LearningCurve
        accuracy : float, default=None
        ax : matplotlib axis, default=None
        """
        if curve.why_not:
            raise ValueError(f"There is no learning curve to draw: {curve.why_not}.")
        return cls(curve, accuracy).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axis, or on a new one."""
        axis = self._open(ax, 5.8, 4.4)
        curve, now = self.curve, draw.style(0)
        numbers = np.unique(np.geomspace(curve.n_now, TIMES * curve.n_now, N_DRAWN).round().astype(np.int64))
        expected = [curve.at(int(n)) for n in numbers]
        value, low, high = (
            100 * np.array([getattr(one, name) for one in expected]) for name in ("value", "low", "high")
        )
        axis.fill_between(numbers, low, high, color=now.colour, alpha=0.15, linewidth=0, label="95 % interval")
        axis.plot(numbers, value, color=now.colour, linestyle="--", linewidth=1.6, label="expected with more labels")
        axis.plot(numbers[:1], value[:1], color=now.colour, marker="o", linestyle="", label="all labels, leave-one-out")
        axis.plot(
            curve.n_labels,
            100 * curve.accuracy,
            color=draw.GREY,
            marker=draw.style(1).marker,
            markersize=4,
            linewidth=1.0,
            linestyle=":",
            label="some of the labels, on the others",
        )
        lines = [f"Accuracy by number of labels; there are {curve.n_now}"]
        if self.accuracy is not None:
            axis.axhline(100 * self.accuracy, color=draw.DARK, linewidth=0.8)
            lines.append(str(curve.labels_for(self.accuracy)).capitalize())
        self._set_axes(axis, low)
        draw.set_title(axis, *lines, below=draw.legend_above(axis))
        return self

    def _set_axes(self, axis: Any, low: Any) -> None:
        curve = self.curve
        axis.set_xscale("log")
        ticks = sorted({*curve.n_labels.astype(int).tolist()[::2], curve.n_now, 2 * curve.n_now, TIMES * curve.n_now})
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.minorticks_off()
        axis.set_xlabel("labels (logarithmic scale)")
        axis.set_ylabel("right predictions, % of samples")
        lowest = min(float(low.min()), 100 * float(curve.accuracy.min()), 100 * (self.accuracy or 1.0))
        axis.set_ylim(max(-3.0, lowest - 5.0), 103)
        axis.grid(alpha=0.3)
