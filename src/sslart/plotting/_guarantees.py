"""Display of the guarantees of a model: share of answered samples against the guaranteed error."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart._mapping.conformal import LEVELS, Guarantees
from sslart._mapping.model_view import view_of
from sslart._utils.arrays import FloatArray
from sslart._utils.text import plural
from sslart.metrics import guarantees
from sslart.plotting import _style as draw
from sslart.plotting._base import Display

WIDEST = 0.25  # the largest error drawn, unless a larger one is marked


@dataclass(eq=False, repr=False)
class GuaranteeDisplay(Display):
    """Share of samples that a model answers, by the guaranteed error of its answers (`max_error`).

    Made by `from_estimator`.

    Attributes
    ----------
    guarantees : Guarantees
        What is promised at the levels that are marked.
    max_errors, answered : arrays
        The levels from which on more samples are answered, and the share answered then.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import GuaranteeDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = GuaranteeDisplay.from_estimator(AutoSSLART(random_state=0).fit(X[::10], y[::10]))
    >>> display.guarantees.n_labels
    57
    >>> bool((np.diff(display.answered) > 0).all())
    True
    """

    guarantees: Guarantees
    max_errors: FloatArray
    answered: FloatArray

    @classmethod
    def from_estimator(cls, model: Any, *, max_errors: Iterable[float] = LEVELS, ax: Any = None) -> Self:
        """Draw the guarantees of a fitted model; see `sslart.metrics.guarantees`.

        Parameters
        ----------
        model : AutoSSLART, or SSLART or WESSLART with evidence mapping
        max_errors : iterable of float, default=(0.01, 0.02, 0.05, 0.1, 0.2)
            Levels to mark.
        ax : matplotlib axis, default=None
        """
        found = guarantees(model, max_errors)
        promises = view_of(model).promises
        levels, answered = promises.curve().steps()
        return cls(found, levels, answered / promises.n_labels).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axis, or on a new one."""
        axis = self._open(ax, 5.8, 3.6)
        possible = [one for one in self.guarantees.levels if one.is_possible]
        end = 100 * max([WIDEST, *(1.1 * one.max_error for one in self.guarantees.levels)])
        look, least = draw.style(0), 100 * self.guarantees.smallest_error
        if len(self.max_errors):
            levels, shares = 100 * np.append(self.max_errors, 1.0), 100 * np.append(self.answered, self.answered[-1])
            axis.step(levels, shares, where="post", color=look.colour, linewidth=1.6)
        axis.axvspan(0, min(least, end), facecolor=draw.PALE, edgecolor=draw.GREY, hatch="///", linewidth=0)
        for one in possible:
            x, y = 100 * one.max_error, 100 * one.answered
            axis.plot([x], [y], color=look.colour, marker=look.marker, markersize=5)
            above = y < 12
            axis.annotate(
                f"{y:.0f} %",
                (x, y),
                xytext=(4, 5 if above else -6),
                textcoords="offset points",
                va="bottom" if above else "top",
                fontsize=8,
            )
        axis.set_xlim(0, end)
        axis.set_ylim(0, 104)
        axis.set_xticks([100 * one.max_error for one in self.guarantees.levels])
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set_xlabel("max_error: wrong predictions, % of those made")
        axis.set_ylabel("predictions made, % of samples")
        axis.grid(alpha=0.3)
        labels = plural(self.guarantees.n_labels, "label")
        draw.set_title(axis, f"What can be promised with {labels}; hatched: nothing")
        return self
