"""The display of the reasons for one answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart._utils.arrays import FloatArray, IntArray
from sslart.explain import Box, Explanation, explain
from sslart.plotting import _style as draw
from sslart.plotting._base import Display, an_explanation, at_least_one, one_sample

WINNER: dict[str, Any] = {"color": draw.COLOURS[0]}
RIVAL: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.COLOURS[1], "hatch": "////", "linewidth": 1.0}


@dataclass(eq=False, repr=False)
class ReasonDisplay(Display):
    """Why a sample gets its answer: how far it lies from the box that answered and from the best of another class.

    With evidence mapping, from the boxes that spoke loudest for and against. Made by `from_estimator` or
    `from_explanation`.

    Attributes
    ----------
    explanation : Explanation
        What is drawn, in full.
    feature_names : tuple of str
        All features, in their order.
    distances : array of shape (n_features,)
        To the box that answered (the best one where the model abstains), in learnt ranges of each feature.
    rival_distances : array of shape (n_features,) or None
        To the best-ranked box of another class; None where there is no other class.
    inside_both : bool
        Whether the sample lies in both boxes. Then the narrower box comes first, and widths are drawn.
    shown : array of int
        The features drawn: the farthest first, without those that lie in both boxes; where all do, those in which the
        widths of the boxes differ most.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sslart import FuzzyARTMAP
    >>> from sslart.plotting import ReasonDisplay
    >>> X = [[20, 1], [25, 2], [60, 8], [70, 9]]
    >>> model = FuzzyARTMAP().fit(X, ["young", "young", "old", "old"])
    >>> display = ReasonDisplay.from_estimator(model, [30, 2])
    >>> display.distances.round(2), display.rival_distances.round(2)
    (array([0.1, 0. ]), array([0.6 , 0.75]))
    """

    explanation: Explanation
    max_features: int = 12

    @classmethod
    def from_estimator(cls, model: Any, x: Any, *, max_features: int = 12, ax: Any = None) -> Self:
        """Draw why a fitted classifier gives a sample its answer.

        Parameters
        ----------
        model : FuzzyARTMAP, SSLART or WESSLART
        x : array-like of shape (n_features,) or (1, n_features)
            One sample: a row of an array, or a frame of one row.
        max_features : int, default=12
            How many features to draw at most; see `shown`.
        ax : matplotlib axis, default=None
        """
        return cls.from_explanation(explain(model, one_sample(x))[0], max_features=max_features, ax=ax)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_features: int = 12, ax: Any = None) -> Self:
        """Draw one of the explanations that ``model.explain(X)`` gives; see `from_estimator`."""
        return cls(an_explanation(explanation), at_least_one("max_features", max_features)).plot(ax)

    @property
    def feature_names(self) -> tuple[str, ...]:
        """All features."""
        return tuple(condition.feature for condition in self.explanation.box.conditions)

    @property
    def distances(self) -> FloatArray:
        """Distance to the box that answered, feature by feature."""
        box = self.explanation.box
        return np.array([condition.share * box.distance for condition in box.conditions])

    @property
    def rival_distances(self) -> FloatArray | None:
        """Distance to the best-ranked box of another class, feature by feature."""
        box = self.explanation.rival
        return None if box is None else np.array([condition.share * box.distance for condition in box.conditions])

    @property
    def inside_both(self) -> bool:
        """Whether the sample lies in both boxes."""
        rival = self.rival_distances
        return not (self.distances.any() or (rival is not None and rival.any()))

    @property
    def shown(self) -> IntArray:
        """The features drawn."""
        own, other = self._lengths()
        length = np.maximum(own, own if other is None else other)
        if self.inside_both:
            length = length if other is None else np.abs(own - other)
            return np.argsort(-length, kind="stable")[: self.max_features]
        farthest = np.argsort(-length, kind="stable")[: self.max_features]
        return farthest[length[farthest] > 0]

    def _lengths(self) -> tuple[FloatArray, FloatArray | None]:
        """Return the bars of both boxes, for all features."""
        if not self.inside_both:
            return self.distances, self.rival_distances
        rival = self.explanation.rival
        return _widths(self.explanation.box), None if rival is None else _widths(rival)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on the given axis or one of its own."""
        why, shown = self.explanation, self.shown
        boxes = [why.box] if why.rival is None else [why.box, why.rival]
        axis = self._open(ax, 7.2, 2.4 + 0.38 * len(shown))
        names = draw.distinct(self.feature_names)
        rows = [f"{names[place]} = {draw.value_text(why.box.conditions[place].value)}" for place in shown]
        bars = [lengths[shown] for lengths in self._lengths() if lengths is not None]
        texts = [[self._beside(box, place) for place in shown] for box in boxes]
        _draw_reasons(axis, bars, texts, rows)
        said = "width of the box" if self.inside_both else "distance"
        axis.set_xlabel(f"{said}, in learnt ranges (beside the bars: in units of the feature)", fontsize=9)
        below = draw.legend_above(axis, _handles(boxes, "width" if self.inside_both else "distance"))
        draw.entitle(axis, *self._said(), below=below, taken=20 + draw.text_width(rows, 8))
        return self

    def _beside(self, box: Box, place: int) -> str:
        return _width_text(box.conditions[place]) if self.inside_both else _off_by(box.conditions[place])

    def _said(self) -> list[str]:
        why, shown, total = self.explanation, len(self.shown), len(self.feature_names)
        said = "The model abstains" if why.abstained else f"Answer: {draw.short(why.answer, 70)}"
        sure = "" if why.confidence is None else f" (confidence {why.confidence:.2f})"
        both = "the box" if why.rival is None else "both boxes"
        lines = [said + sure]
        if why.evidence is not None:
            lines.append("All boxes speak; drawn are the loudest for and against")
        own, other = self._lengths()
        if self.inside_both:
            first = why.evidence is None and why.box.member is None and other is not None and own.sum() < other.sum()
            lines.append(f"The sample lies inside {both}" + (": the narrower one comes first" if first else ""))
            lines.append(draw.part(shown, total, "feature", "those whose widths differ most"))
        else:
            far = int((np.maximum(own, own if other is None else other) > 0).sum())
            rest = "other lies" if total - shown == 1 else f"other {total - shown} lie"
            lines.append(
                draw.part(shown, total, "feature", "the farthest" if far > shown else f"the {rest} inside {both}")
            )
        missing = [condition.feature for condition in why.box.conditions if condition.value is None]
        if missing:
            names = ", ".join(draw.short(name) for name in missing[:2])
            lines.append(f"missing, and left out of account: {names if len(missing) <= 2 else len(missing)}")
        return lines


def _widths(box: Box) -> FloatArray:
    return np.array([condition.width or 0.0 for condition in box.conditions])


def _width_text(condition: Any) -> str:
    if condition.value is None:
        return "missing"
    if condition.categories is not None:
        return draw.short("|".join(map(str, condition.categories)), 16)
    if condition.lower is None:
        return "not known"
    return f"{draw.number(condition.lower)} to {draw.number(condition.upper)}"


def _off_by(condition: Any) -> str:
    """Return how far a sample is off one side of a box, in the units of the feature."""
    if condition.inside is None:
        return "not known"
    if condition.inside:
        return "inside"
    return draw.number(condition.outside_by) if condition.categories is None else "other category"


def _handles(boxes: Sequence[Box], what: str) -> list[Any]:
    """Name the two boxes that bars belong to."""
    from matplotlib.patches import Patch

    handles = []
    names = draw.distinct(["no label" if box.label is None else box.label for box in boxes], 30)
    totals = [float(_widths(box).sum()) if what == "width" else box.distance for box in boxes]
    digits = next((n for n in range(4, 9) if len({f"{total:.{n}g}" for total in totals}) == len(totals)), 4)
    for box, look, name, total in zip(boxes, (WINNER, RIVAL), names, totals, strict=False):
        member = "" if box.member is None else f" of member {box.member}"
        handles.append(Patch(label=f"box {box.node}{member} ({name}): {what} {total:.{digits}g} in all", **look))
    return handles


def _draw_reasons(ax: Any, bars: Sequence[FloatArray], texts: Sequence[Sequence[str]], names: Sequence[str]) -> None:
    """Draw for each feature a bar for each box, with words beside it."""
    rows = np.arange(len(names))
    height, shift = (0.7, 0.0) if len(bars) == 1 else (0.38, 0.2)
    longest = max(float(lengths.max(initial=0)) for lengths in bars) or 1.0
    reserved = min(0.6, (draw.text_width([text for side in texts for text in side], 7) + 8) / draw.room(ax)[0])
    for lengths, said, look, where in zip(bars, texts, (WINNER, RIVAL), (rows - shift, rows + shift), strict=False):
        ax.barh(where, lengths, height=height, **look)
        for length, y, text in zip(lengths, where, said, strict=True):
            ax.text(length + 0.01 * longest, y, text, va="center", fontsize=7, color=draw.DARK)
    ax.set_yticks(rows, names, fontsize=8)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.set_xlim(0, longest / (1 - reserved))
