"""The display of the reasons for one prediction: how far the sample lies from two boxes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.optional import optional
from sslart._utils.text import list_text
from sslart.explain import Box, Explanation, FeatureMatch, explain
from sslart.explain._text.boxes import short_position_text, side_text
from sslart.plotting import _style as draw
from sslart.plotting._base import Display, an_explanation, at_least_one, one_sample, prediction_title

BOX: dict[str, Any] = {"color": draw.COLOURS[0]}
OPPOSING: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.COLOURS[1], "hatch": "////", "linewidth": 1.0}


@dataclass(eq=False, repr=False)
class ReasonDisplay(Display):
    """Why a class is predicted for a sample: its distance to the box behind the prediction and to the opposing box.

    The opposing box is the best-ranked one of another class. With evidence mapping, no single box decides, and the
    first is the best-ranked box with a label. Made by `from_estimator` or `from_explanation`.

    Attributes
    ----------
    explanation : Explanation
        What is drawn, in full.
    feature_names : tuple of str
        All features, in their order.
    distances : array of shape (n_features,)
        To the box behind the prediction (the best one where the model abstains), in learnt ranges of each feature.
    opposing_distances : array of shape (n_features,) or None
        To the opposing box; None where there is no other class.
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
    >>> display.distances.round(2), display.opposing_distances.round(2)
    (array([0.1, 0. ]), array([0.6 , 0.75]))
    """

    explanation: Explanation
    max_features: int = 12

    @classmethod
    def from_estimator(cls, model: Any, x: Any, *, max_features: int = 12, ax: Any = None) -> Self:
        """Draw why a fitted classifier predicts a class for a sample.

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
        return tuple(match.feature for match in self.explanation.box.feature_matches)

    @property
    def distances(self) -> FloatArray:
        """Distance to the box behind the prediction, feature by feature."""
        return _distances(self.explanation.box)

    @property
    def opposing_distances(self) -> FloatArray | None:
        """Distance to the opposing box, feature by feature."""
        box = self.explanation.opposing_box
        return None if box is None else _distances(box)

    @property
    def inside_both(self) -> bool:
        """True if the sample lies in both boxes."""
        opposing = self.opposing_distances
        return not (self.distances.any() or (opposing is not None and opposing.any()))

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
            return self.distances, self.opposing_distances
        opposing = self.explanation.opposing_box
        return _widths(self.explanation.box), None if opposing is None else _widths(opposing)

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axis, or on a new one."""
        why, shown = self.explanation, self.shown
        boxes = [why.box] if why.opposing_box is None else [why.box, why.opposing_box]
        axis = self._open(ax, 7.2, 2.4 + 0.38 * len(shown))
        names = draw.distinct(self.feature_names)
        matches = why.box.feature_matches
        values = [draw.value_text(match.feature, match.value) for match in matches]
        rows = [f"{names[column]} = {values[column]}" for column in shown]
        bars = [lengths[shown] for lengths in self._lengths() if lengths is not None]
        texts = [[self._bar_text(box.feature_matches[column]) for column in shown] for box in boxes]
        _draw_reasons(axis, bars, texts, rows)
        length = "width of the box" if self.inside_both else "distance"
        axis.set_xlabel(f"{length}, in learnt ranges (beside the bars: in units of the feature)", fontsize=9)
        below = draw.legend_above(axis, _handles(boxes, "width" if self.inside_both else "distance"))
        draw.set_title(axis, *self._title(), below=below, taken=20 + draw.text_width(rows, 8))
        return self

    def _bar_text(self, match: FeatureMatch) -> str:
        """Return the text beside a bar: the side of the box, or how far outside the value lies."""
        return draw.short(side_text(match), 20) if self.inside_both else short_position_text(match)

    def _title(self) -> list[str]:
        why, shown, total = self.explanation, len(self.shown), len(self.feature_names)
        both = "the box" if why.opposing_box is None else "both boxes"
        lines = [prediction_title(why)]
        if why.evidence is not None:
            lines.append("All boxes contribute; drawn are the nearest with a label, and the nearest of another class")
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
        missing = [draw.short(match.feature) for match in why.box.feature_matches if match.value is None]
        if missing:
            lines.append(f"missing values, which add no distance: {list_text(missing, 2)}")
        return lines


def _distances(box: Box) -> FloatArray:
    return np.array([match.share * box.distance for match in box.feature_matches])


def _widths(box: Box) -> FloatArray:
    return np.array([match.width or 0.0 for match in box.feature_matches])


def _handles(boxes: Sequence[Box], what: str) -> list[Any]:
    """Return the names of the two boxes that bars belong to, for a legend."""
    patches = optional("matplotlib.patches", "plot")
    handles = []
    names = draw.distinct(["no label" if box.label is None else f"class {box.label}" for box in boxes], 30)
    totals = [float(_widths(box).sum()) if what == "width" else box.distance for box in boxes]
    digits = next((n for n in range(4, 9) if len({f"{total:.{n}g}" for total in totals}) == len(totals)), 4)
    for box, look, name, total in zip(boxes, (BOX, OPPOSING), names, totals, strict=False):
        member = "" if box.member is None else f" of member {box.member}"
        label = f"box {box.node}{member} ({name}): {what} {total:.{digits}g} in total"
        handles.append(patches.Patch(label=label, **look))
    return handles


def _draw_reasons(ax: Any, bars: Sequence[FloatArray], texts: Sequence[Sequence[str]], names: Sequence[str]) -> None:
    """Draw for each feature a bar for each box, with a text beside it."""
    rows = np.arange(len(names))
    height, shift = (0.7, 0.0) if len(bars) == 1 else (0.38, 0.2)
    longest = max(float(lengths.max(initial=0)) for lengths in bars) or 1.0
    reserved = min(0.6, (draw.text_width([text for side in texts for text in side], 7) + 8) / draw.room(ax)[0])
    for lengths, own, look, where in zip(bars, texts, (BOX, OPPOSING), (rows - shift, rows + shift), strict=False):
        ax.barh(where, lengths, height=height, **look)
        for length, y, text in zip(lengths, where, own, strict=True):
            ax.text(length + 0.01 * longest, y, text, va="center", fontsize=7, color=draw.DARK)
    ax.set_yticks(rows, names, fontsize=8)
    ax.set_ylim(len(names) - 0.45, -0.55)
    ax.set_xlim(0, longest / (1 - reserved))
