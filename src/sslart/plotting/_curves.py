"""Displays of curves: coverage and correctness, growth, learning curve, guarantees."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from sslart._data.labels import read_labels
from sslart._mapping.conformal import LEVELS, Guarantees, certainty_text
from sslart._mapping.model_view import view_of
from sslart._utils.arrays import FloatArray
from sslart._utils.text import plural
from sslart.active import LearningCurve, learning_curve
from sslart.metrics import (
    CoverageCorrectness,
    correctness_score,
    coverage_correctness_curve,
    coverage_score,
    guarantees,
)
from sslart.plotting import _base as draw
from sslart.plotting._base import Display, at_least_one

DEPTHS = (1, 2, 3, 5, 10, None)
TIMES = 4  # the learning curve is drawn up to four times the present labels
N_DRAWN = 40  # points of that curve
WIDEST = 0.25  # upper limit of the error axis, unless a larger level is marked


@dataclass(eq=False, repr=False)
class CoverageCorrectnessDisplay(Display):
    """Coverage and correctness of predictions by search depth T.

    Made by `from_estimator` or `from_predictions`.

    Attributes
    ----------
    curve : CoverageCorrectness
        `depths`, `coverage` and `correctness`.
    n_samples : int or None
        Number of labelled samples in the evaluation.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sslart.plotting import CoverageCorrectnessDisplay
    >>> by_depth = {1: ["a", None, None, "b"], None: ["a", "b", "a", "b"]}
    >>> display = CoverageCorrectnessDisplay.from_predictions(["a", "a", "a", "b"], by_depth)
    >>> display.curve.coverage, display.curve.correctness
    (array([0.5, 1. ]), array([1.  , 0.75]))
    """

    curve: CoverageCorrectness
    n_samples: int | None = None

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, depths: Iterable[int | None] = DEPTHS, ax: Any = None
    ) -> Self:
        """Draw the curve of a fitted model; see `sslart.metrics.coverage_correctness_curve`.

        Parameters
        ----------
        model : SSLART or WESSLART
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True classes. Unlabelled samples are ignored.
        depths : iterable of int or None, default=(1, 2, 3, 5, 10, None)
            Values of `search_depth`; None searches until a box with a label is found.
        ax : matplotlib axis, default=None
        """
        return cls(coverage_correctness_curve(model, X, y, depths), int(read_labels(y).known.sum())).plot(ax)

    @classmethod
    def from_predictions(cls, y_true: Any, y_pred: Mapping[int | None, Any], *, ax: Any = None) -> Self:
        """Draw the curve of given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
        y_pred : mapping from search depth to array-like of shape (n_samples,)
            Predictions at each search depth.
        ax : matplotlib axis, default=None
        """
        if not isinstance(y_pred, Mapping) or not y_pred:
            raise ValueError("y_pred must map each search depth to its predictions, such as {1: y_1, None: y_all}.")
        scores = (coverage_score, correctness_score)
        curves = [np.array([score(y_true, predicted) for predicted in y_pred.values()]) for score in scores]
        return cls(CoverageCorrectness(tuple(y_pred), *curves), _num_samples(y_true)).plot(ax)

    def _draw(self, ax: Any) -> None:
        axis = self._open(ax, 5.8, 4.0)
        depths, coverage, correctness = self.curve
        lines = {
            "coverage: samples with a prediction, % of samples": 100 * coverage,
            "correctness: right predictions, % of predictions": 100 * correctness,
        }
        draw.draw_lines(axis, range(len(depths)), list(lines.items()))
        axis.set_xticks(range(len(depths)), ["no limit" if depth is None else str(depth) for depth in depths])
        axis.set(xlabel="search depth T, boxes", ylabel="%", ylim=(-3, 103))
        below = draw.legend_above(axis)
        of = "" if self.n_samples is None else f" of {plural(self.n_samples, 'sample')}"
        draw.set_title(axis, f"Coverage and correctness{of}, by search depth", below=below)


@dataclass(eq=False, repr=False)
class GrowthDisplay(Display):
    """Growth of the number of boxes over a stream.

    Made by `from_estimator` or `from_history`.

    Attributes
    ----------
    n_samples, n_nodes : arrays of shape (n_batches,)
        Samples learnt and boxes after each batch.
    n_labelled_nodes : array of shape (n_batches,) or None
        Number of boxes with a label; None for a model without labels.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import FuzzyART
    >>> from sslart.plotting import GrowthDisplay
    >>> display = GrowthDisplay.from_estimator(FuzzyART(vigilance=0.8), load_iris().data, batch=50)
    >>> display.n_samples
    array([ 50, 100, 150])
    >>> bool((display.n_nodes[1:] >= display.n_nodes[:-1]).all())
    True
    """

    n_samples: NDArray[np.int64]
    n_nodes: NDArray[np.int64]
    n_labelled_nodes: NDArray[np.int64] | None = None

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any = None, *, batch: int | None = None, ax: Any = None) -> Self:
        """Draw the growth of a clone of the model that learns a stream by `partial_fit`; the model is unchanged.

        Parameters
        ----------
        model : FuzzyART, FuzzyARTMAP, SSLART or WESSLART
            Fitted or not; only its parameters are used.
        X : array-like of shape (n_samples, n_features)
            The stream, in order.
        y : array-like of shape (n_samples,), default=None
            Classes; -1, None or NaN where unlabelled.
        batch : int, default=None
            Samples per call; None: a fiftieth of the stream.
        ax : matplotlib axis, default=None
        """
        if not hasattr(model, "__sslart_view__"):
            raise TypeError(
                f"GrowthDisplay takes an estimator of sslart, got a {type(model).__name__}. Of a pipeline give the "
                "last step, and X as that step gets it."
            )
        total = int(_num_samples(X))
        size = max(1, -(-total // 50)) if batch is None else at_least_one("batch", batch)
        if y is not None and _num_samples(y) != total:
            raise ValueError(f"X has {total} samples and y {_num_samples(y)}: give one label, or -1, for each sample.")
        growing, takes_labels = clone(model), is_classifier(model)
        history = []
        for start in range(0, total, size):
            rows = np.arange(start, min(start + size, total))
            given = () if y is None or not takes_labels else (_safe_indexing(y, rows),)
            growing.partial_fit(_safe_indexing(X, rows), *given)
            history.append((rows[-1] + 1, growing.n_nodes_, growing.n_labelled_nodes_ if takes_labels else 0))
        seen, nodes, labelled = np.array(history, dtype=np.int64).T
        return cls(seen, nodes, labelled if takes_labels else None).plot(ax)

    @classmethod
    def from_history(cls, n_samples: Any, n_nodes: Any, n_labelled_nodes: Any = None, *, ax: Any = None) -> Self:
        """Draw numbers recorded while a model learnt.

        Parameters
        ----------
        n_samples, n_nodes : array-like of int
            Samples learnt so far, and boxes at that time.
        n_labelled_nodes : array-like of int, default=None
        ax : matplotlib axis, default=None
        """
        given = [np.asarray(one) for one in (n_samples, n_nodes, n_labelled_nodes) if one is not None]
        if any(one.ndim != 1 or len(one) != len(given[0]) or not len(one) for one in given):
            raise ValueError("A history needs one number of samples and one of boxes at each time: give equal lengths.")
        return cls(*given).plot(ax)

    def _draw(self, ax: Any) -> None:
        axis = self._open(ax, 5.8, 4.0)
        nodes, seen = int(self.n_nodes[-1]), int(self.n_samples[-1])
        lines, labelled = [("boxes", self.n_nodes)], ""
        if self.n_labelled_nodes is not None:
            lines.append(("boxes with a label", self.n_labelled_nodes))
            labelled = f", {int(self.n_labelled_nodes[-1])} with a label,"
        draw.draw_lines(axis, self.n_samples, lines, markers=len(self.n_samples) <= 25)
        axis.locator_params(axis="y", integer=True, steps=[1, 2, 5, 10])
        axis.set(xlabel="samples learnt", ylabel="boxes")
        axis.set(xlim=(0, 1.02 * np.max(self.n_samples)), ylim=(0, max(1.0, 1.08 * np.max(self.n_nodes))))
        below = draw.legend_above(axis)
        draw.set_title(axis, f"{plural(nodes, 'box')}{labelled} after {plural(seen, 'sample')}", below=below)


@dataclass(eq=False, repr=False)
class LearningCurveDisplay(Display):
    """Accuracy by number of labels: on subsamples of the labels, with all of them, and extrapolated.

    Made by `from_estimator` or `from_curve`.

    Attributes
    ----------
    curve : LearningCurve
    accuracy : float or None
        The wanted accuracy, which is marked.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import LearningCurveDisplay
    >>> model = AutoSSLART(random_state=0).fit(*load_iris(return_X_y=True))
    >>> LearningCurveDisplay.from_estimator(model, accuracy=0.99).curve.n_now
    149
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
            A wanted accuracy, in (0, 1]: the title has the number of further labels that it needs.
        ax : matplotlib axis, default=None
        """
        return cls.from_curve(learning_curve(model), accuracy=accuracy, ax=ax)

    @classmethod
    def from_curve(cls, curve: LearningCurve, *, accuracy: float | None = None, ax: Any = None) -> Self:
        """Draw the result of `sslart.active.learning_curve`; see `from_estimator`."""
        if curve.why_not:
            raise ValueError(f"There is no learning curve to draw: {curve.why_not}.")
        return cls(curve, accuracy).plot(ax)

    def _draw(self, ax: Any) -> None:
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
        look = {"color": draw.GREY, "marker": draw.style(1).marker, "markersize": 4, "linewidth": 1.0, "linestyle": ":"}
        axis.plot(curve.n_labels, 100 * curve.accuracy, label="some of the labels, on the others", **look)
        lines = [f"Accuracy by number of labels; there are {curve.n_now}"]
        if self.accuracy is not None:
            axis.axhline(100 * self.accuracy, color=draw.DARK, linewidth=0.8)
            lines.append(str(curve.labels_for(self.accuracy)).capitalize())
        lowest = min(float(low.min()), 100 * float(curve.accuracy.min()), 100 * (self.accuracy or 1.0))
        ticks = sorted({*curve.n_labels.astype(int).tolist()[::2], curve.n_now, 2 * curve.n_now, TIMES * curve.n_now})
        axis.set_xscale("log")
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.minorticks_off()
        axis.set(xlabel="labels (logarithmic scale)", ylabel="right predictions, % of samples")
        axis.set_ylim(max(-3.0, lowest - 5.0), 103)
        axis.grid(alpha=0.3)
        draw.set_title(axis, *lines, below=draw.legend_above(axis))


@dataclass(eq=False, repr=False)
class GuaranteeDisplay(Display):
    """Share of samples that a model answers, by the limit of error of its answers (`max_error`).

    Solid: limits that hold for this model with certainty. Dotted: limits that hold on average.

    Made by `from_estimator`.

    Attributes
    ----------
    guarantees : Guarantees
        The guarantees at the marked levels.
    max_errors, answered : arrays
        The steps of the curve that holds with certainty: levels, and the share of samples answered from each level on.
    max_errors_on_average, answered_on_average : arrays
        The same for limits that hold on average.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import GuaranteeDisplay
    >>> display = GuaranteeDisplay.from_estimator(AutoSSLART(random_state=0).fit(*load_iris(return_X_y=True)))
    >>> display.guarantees.n_labels
    149
    >>> bool((np.diff(display.answered) > 0).all())
    True
    """

    guarantees: Guarantees
    max_errors: FloatArray
    answered: FloatArray
    max_errors_on_average: FloatArray
    answered_on_average: FloatArray

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
        steps = []
        for certainty in (found.certainty, None):
            levels, answered = promises.curve(certainty).steps()
            steps += [levels, answered / promises.n_labels]
        return cls(found, *steps).plot(ax)

    def _draw(self, ax: Any) -> None:
        axis = self._open(ax, 5.8, 3.6)
        end = 100 * max([WIDEST, *(1.1 * one.max_error for one in self.guarantees.levels)])
        look, least = draw.style(0), 100 * self.guarantees.smallest_error
        certainty = certainty_text(self.guarantees.certainty)
        for levels, shares, line, label in (
            (self.max_errors, self.answered, "-", f"with {certainty}"),
            (self.max_errors_on_average, self.answered_on_average, ":", "on average"),
        ):
            if len(levels):
                ends = 100 * np.append(levels, 1.0), 100 * np.append(shares, shares[-1])
                axis.step(*ends, where="post", color=look.colour, linewidth=1.6, linestyle=line, label=label)
        axis.axvspan(0, min(least, end), facecolor=draw.PALE, edgecolor=draw.GREY, hatch="///", linewidth=0)
        for one in [level for level in self.guarantees.levels if level.is_possible]:
            x, y = 100 * one.max_error, 100 * one.certain.share
            axis.plot([x], [y], color=look.colour, marker=look.marker, markersize=5)
            away, side = (5, "bottom") if y < 12 else (-6, "top")
            axis.annotate(f"{y:.0f} %", (x, y), (4, away), textcoords="offset points", va=side, fontsize=8)
        axis.set(xlim=(0, end), ylim=(0, 104), xticks=[100 * one.max_error for one in self.guarantees.levels])
        axis.xaxis.set_major_formatter("{x:g}")
        axis.set(xlabel="max_error: wrong predictions, % of those made", ylabel="predictions made, % of samples")
        axis.grid(alpha=0.3)
        labels = plural(self.guarantees.n_labels, self.guarantees.unit)
        draw.set_title(axis, f"What can be promised with {labels}; hatched: nothing", below=draw.legend_above(axis))
