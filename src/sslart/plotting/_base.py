"""Base class of the displays, checks of their arguments, and the title of a prediction."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from sslart._utils.validation import check_whole
from sslart.explain import Explanation
from sslart.plotting import _style as draw


@dataclass(eq=False, repr=False)
class Display:
    """Data that can be drawn on an axis."""

    ax_: Any = field(init=False)
    figure_: Any = field(init=False)

    def _open(self, ax: Any, width: float, height: float) -> Any:
        self.ax_, self.figure_ = draw.canvas(ax, width, height)
        return self.ax_


def at_least_one(name: str, value: Any) -> int:
    """Return a parameter that counts something from one up."""
    return check_whole("the display", name, value) or 1


def an_explanation(explanation: Any) -> Explanation:
    """Return an explanation unchanged, or raise a TypeError with a remedy."""
    if not isinstance(explanation, Explanation):
        kind = type(explanation).__name__
        raise TypeError(
            f"explanation must be one that model.explain(X) gives, such as model.explain(X)[0], got a {kind}."
        )
    return explanation


def one_sample(x: Any) -> Any:
    """Return one sample as a table of one row."""
    if hasattr(x, "to_frame") and hasattr(x, "infer_objects"):
        return x.to_frame().T.infer_objects()
    if not hasattr(x, "columns") and np.asarray(x, dtype=object).ndim == 1:
        return np.asarray(x)[None, :] if hasattr(x, "dtype") else [x]
    if _num_samples(x) != 1:
        raise ValueError(f"x must be one sample, got {_num_samples(x)}: give X[0] of an array, X.iloc[[0]] of a frame.")
    return x


def prediction_title(explanation: Explanation) -> str:
    """Return the prediction and its confidence."""
    if explanation.abstained:
        return "The model abstains"
    return f"Prediction: {draw.short(explanation.prediction, 70)} (confidence {explanation.confidence:.2f})"
