"""Displays of one prediction: distances to boxes, evidence by feature, votes of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart._data.labels import read_labels
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.text import list_text, plural
from sslart.explain import Box, Contribution, Evidence, Explanation, Vote, explain
from sslart.explain._text import short_position_text, side_text
from sslart.plotting import _base as draw
from sslart.plotting._base import Display, an_explanation, at_least_one, one_sample, prediction_title

BOX: dict[str, Any] = {"color": draw.COLOURS[0]}
OPPOSING: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.COLOURS[1], "hatch": "////", "linewidth": 1.0}
FOR: dict[str, Any] = {"facecolor": draw.COLOURS[0], "edgecolor": draw.COLOURS[0]}
AGAINST: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.COLOURS[1], "hatch": "////"}
ENDS: dict[str, Any] = {"facecolor": draw.DARK, "edgecolor": draw.DARK}
NAME_LENGTH = 50


@dataclass(eq=False, repr=False)
class ReasonDisplay(Display):
    """Reason of a prediction: distances of the sample, by feature, to the deciding box and to the opposing box.

    The opposing box is the best-ranked one of another class. With evidence mapping, which uses all boxes, the first one
    is the best-ranked box with a label. Made by `from_estimator` or `from_explanation`.

    Attributes
    ----------
    explanation : Explanation
        The complete explanation.
    feature_names : tuple of str
        All features, in order.
    distances : array of shape (n_features,)
        Distances to the deciding box (the best one if the model abstains), in learnt ranges of each feature.
    opposing_distances : array of shape (n_features,) or None
        Distances to the opposing box; None if there is no other class.
    inside_both : bool
        Whether the sample is inside both boxes. Then widths are drawn, the narrower box first.
    shown : array of int
        The drawn features: the largest distances first, without features inside both boxes; if all are, those in which
        the widths of the boxes differ most.
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
        """Draw the reason of a prediction by a fitted classifier.

        Parameters
        ----------
        model : FuzzyARTMAP, SSLART or WESSLART
        x : array-like of shape (n_features,) or (1, n_features)
            One sample: a row of an array, or a frame of one row.
        max_features : int, default=12
            Maximum number of features to draw; see `shown`.
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
        """Distance to the deciding box by feature."""
        return _distances(self.explanation.box)

    @property
    def opposing_distances(self) -> FloatArray | None:
        """Distance to the opposing box by feature."""
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

    def _draw(self, ax: Any) -> None:
        why, shown = self.explanation, self.shown
        boxes = [why.box] if why.opposing_box is None else [why.box, why.opposing_box]
        axis = self._open(ax, 7.2, 2.4 + 0.38 * len(shown))
        names = draw.distinct(self.feature_names)
        matches = why.box.feature_matches
        rows = [f"{names[at]} = {draw.value_text(matches[at].feature, matches[at].value)}" for at in shown]
        bars = [lengths[shown] for lengths in self._lengths() if lengths is not None]
        text = (lambda match: draw.short(side_text(match), 20)) if self.inside_both else short_position_text
        texts = [[text(box.feature_matches[column]) for column in shown] for box in boxes]
        _draw_reasons(axis, bars, texts, rows)
        length = "width of the box" if self.inside_both else "distance"
        axis.set_xlabel(f"{length}, in learnt ranges (beside the bars: in units of the feature)", fontsize=9)
        below = draw.legend_above(axis, _handles(boxes, "width" if self.inside_both else "distance"))
        draw.set_title(axis, *self._title(), below=below, taken=20 + draw.text_width(rows, 8))

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
    """Return the legend handles of the two boxes."""
    names = draw.distinct(["no label" if box.label is None else f"class {box.label}" for box in boxes], 30)
    totals = [float(_widths(box).sum()) if what == "width" else box.distance for box in boxes]
    digits = next((n for n in range(4, 9) if len({f"{total:.{n}g}" for total in totals}) == len(totals)), 4)
    handles = []
    for box, look, name, total in zip(boxes, (BOX, OPPOSING), names, totals, strict=False):
        member = "" if box.member is None else f" of member {box.member}"
        handles.append(draw.patch(f"box {box.node}{member} ({name}): {what} {total:.{digits}g} in total", **look))
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
    draw.name_rows(ax, names, 0.55)
    ax.set_xlim(0, longest / (1 - reserved))


@dataclass(eq=False, repr=False)
class EvidenceDisplay(Display):
    """Waterfall chart of the contributions of features to a prediction with evidence mapping.

    It starts from an average sample and ends at this one. Correlated features are one bar. Made by `from_estimator` or
    `from_explanation`.

    Attributes
    ----------
    explanation : Explanation
        The complete explanation.
    bars : list of (str, float)
        The average sample, the source and amount of each contribution, and their sum. Positive amounts are for the
        predicted class, negative ones against it.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import EvidenceDisplay
    >>> model = AutoSSLART(random_state=0).fit(*load_iris(return_X_y=True))
    >>> display = EvidenceDisplay.from_estimator(model, [5.1, 3.5, 1.4, 0.2])
    >>> display.bars[0][0]
    'average sample'
    >>> amounts = [amount for _, amount in display.bars]
    >>> abs(sum(amounts[:-1]) - amounts[-1]) < 1e-5
    True
    """

    explanation: Explanation
    max_contributions: int | None = None

    @classmethod
    def from_estimator(cls, model: Any, x: Any, *, max_contributions: int | None = None, ax: Any = None) -> Self:
        """Draw the contributions to the prediction of a fitted classifier with evidence mapping.

        Parameters
        ----------
        model : AutoSSLART, or SSLART or WESSLART with mapping="evidence"
        x : array-like of shape (n_features,) or (1, n_features)
            One sample: a row of an array, or a frame of one row.
        max_contributions : int, default=None
            Maximum number of contributions to draw, the largest first; the others are drawn as one. None: as many as
            in the text of the explanation.
        ax : matplotlib axis, default=None
        """
        return cls.from_explanation(explain(model, one_sample(x))[0], max_contributions=max_contributions, ax=ax)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, max_contributions: int | None = None, ax: Any = None
    ) -> Self:
        """Draw one of the explanations that ``model.explain(X)`` gives; see `from_estimator`."""
        if an_explanation(explanation).evidence is None:
            raise ValueError(
                "Only a model with evidence mapping has evidence: use AutoSSLART, or mapping='evidence'. For other "
                "models there is ReasonDisplay."
            )
        most = None if max_contributions is None else at_least_one("max_contributions", max_contributions)
        return cls(explanation, most).plot(ax)

    @property
    def _evidence(self) -> Evidence:
        assert self.explanation.evidence is not None
        return self.explanation.evidence

    @property
    def bars(self) -> list[tuple[str, float]]:
        """The average sample, the source and amount of each contribution, and their sum."""
        evidence = self._evidence
        n = len(evidence.shown) if self.max_contributions is None else self.max_contributions
        bars = [("average sample", evidence.base)]
        bars += [(_source(one), one.amount) for one in evidence.contributions[:n]]
        rest = evidence.contributions[n:]
        if rest:
            n_features = sum(len(one.features) for one in rest)
            bars.append((f"all other features ({n_features})", sum(one.amount for one in rest)))
        return [*bars, ("sum", evidence.margin)]

    def _draw(self, ax: Any) -> None:
        bars, evidence = self.bars, self._evidence
        axis = self._open(ax, 7.2, 1.7 + 0.32 * len(bars))
        names = draw.distinct([name for name, _ in bars], NAME_LENGTH)
        reached = 0.0
        for row, (_, amount) in enumerate(bars):
            is_end = row in (0, len(bars) - 1)
            start = 0.0 if is_end else reached
            look = ENDS if is_end else FOR if amount >= 0 else AGAINST
            drawn = axis.barh(row, amount, left=start, height=0.62, linewidth=1.0, **look)
            axis.bar_label(drawn, labels=[f"{amount:+.2f}"], padding=3, fontsize=8)
            reached = start + amount
            if row < len(bars) - 1:
                axis.plot([reached, reached], [row - 0.31, row + 1.31], color=draw.GREY, linewidth=0.8)
        axis.axvline(0, color=draw.DARK, linewidth=0.8)
        axis.set_yticks(range(len(bars)), names, fontsize=8)
        axis.tick_params(axis="x", labelsize=8)
        axis.invert_yaxis()
        axis.use_sticky_edges = False  # to leave room for the numbers beside the bars
        axis.margins(x=0.16)
        against = "" if evidence.runner_up is None else f" against {draw.short(evidence.runner_up)}"
        axis.set_xlabel(f"score of {draw.short(evidence.predicted)}{against}", fontsize=9)
        draw.set_title(axis, prediction_title(self.explanation), taken=20 + draw.text_width(names, 8))


def _source(one: Contribution) -> str:
    if not one.features:
        return "similar samples without a label"
    first = f"{draw.short(one.features[0], 32)} = {draw.value_text(one.features[0], one.values[0])}"
    return first if len(one.features) == 1 else f"{first} and {len(one.features) - 1} more"


@dataclass(eq=False, repr=False)
class VotesDisplay(Display):
    """Votes of an ensemble for one sample: one stacked bar per class, by weight of each vote.

    Made by `from_estimator`, `from_explanation` or `from_predictions`.

    Attributes
    ----------
    votes : tuple of Vote
        One per member: its vote and weight.
    scores : dict from class to float
        The sum of the votes for each class; with evidence mapping, of the weighted probabilities.
    prediction : class or None
        Prediction of the ensemble; None if it abstains.
    shown : tuple of class
        The drawn classes, the highest score first.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sslart.plotting import VotesDisplay
    >>> display = VotesDisplay.from_predictions(["ill", "well", "ill", None], weights=[0.9, 0.5, 0.8, 0.7])
    >>> display.shown, display.prediction
    (('ill', 'well'), 'ill')
    >>> [(vote.vote, vote.weight) for vote in display.votes]
    [('ill', 0.9), ('well', 0.5), ('ill', 0.8), (None, 0.0)]
    """

    votes: tuple[Vote, ...]
    scores: Mapping[Any, float]
    prediction: Any
    max_classes: int = 12
    _uses_evidence: bool = False  # whether the probabilities of a member count for all classes, not only for its vote

    @classmethod
    def from_estimator(cls, model: Any, x: Any, *, max_classes: int = 12, ax: Any = None) -> Self:
        """Draw the votes of the members of a fitted ensemble on a sample.

        Parameters
        ----------
        model : WESSLART
        x : array-like of shape (n_features,) or (1, n_features)
            One sample: a row of an array, or a frame of one row.
        max_classes : int, default=12
            Maximum number of classes to draw, those with the highest scores.
        ax : matplotlib axis, default=None
        """
        return cls.from_explanation(explain(model, one_sample(x))[0], max_classes=max_classes, ax=ax)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_classes: int = 12, ax: Any = None) -> Self:
        """Draw one of the explanations that ``model.explain(X)`` gives; see `from_estimator`."""
        why = an_explanation(explanation)
        if why.votes is None or why.scores is None:
            raise ValueError("A single model does not vote: give a fitted WESSLART, or draw a ReasonDisplay.")
        most = at_least_one("max_classes", max_classes)
        prediction = None if why.abstained else why.prediction
        return cls(why.votes, why.scores, prediction, most, why.evidence is not None).plot(ax)

    @classmethod
    def from_predictions(
        cls, y_pred: Any, weights: Any = None, *, classes: Any = None, max_classes: int = 12, ax: Any = None
    ) -> Self:
        """Draw the predictions of several models for one sample.

        Parameters
        ----------
        y_pred : array-like of shape (n_members,)
            The prediction of each; -1, None or NaN for those that abstain.
        weights : array-like of shape (n_members,), default=None
            Weight of each vote; None: 1.
        classes : iterable of class, default=None
            All classes; None: those with a vote.
        max_classes : int, default=12
        ax : matplotlib axis, default=None
        """
        labels = read_labels(y_pred).plain()
        counts = [1.0] * len(labels) if weights is None else np.asarray(weights, dtype=float).tolist()
        if not labels or len(counts) != len(labels):
            raise ValueError(f"y_pred has {len(labels)} votes and weights {len(counts)}: give one of each per member.")
        given = {one for one in labels if one is not None}
        known = sorted(given) if classes is None else list(classes)
        if given - set(known):
            raise ValueError(
                f"{sorted(given - set(known), key=str)} got a vote and are not among the classes: add them."
            )
        pairs = list(zip(labels, counts, strict=True))
        votes = [Vote(i, one, 0.0 if one is None else weight, None) for i, (one, weight) in enumerate(pairs)]
        scores = {label: sum(vote.weight for vote in votes if vote.vote == label) for label in known}
        prediction = max(given, key=lambda label: (scores[label], -known.index(label))) if given else None
        return cls(tuple(votes), scores, prediction, at_least_one("max_classes", max_classes)).plot(ax)

    @property
    def shown(self) -> tuple[Any, ...]:
        """The classes drawn."""
        return tuple(sorted(self.scores, key=lambda label: -self.scores[label])[: self.max_classes])

    def _draw(self, ax: Any) -> None:
        shown, classes = self.shown, list(self.scores)
        axis = self._open(ax, 6.8, 1.7 + 0.4 * len(shown))
        every = draw.distinct(classes, 30)
        names = [every[classes.index(label)] for label in shown]
        of_classes = [[vote for vote in self.votes if vote.vote is not None and vote.vote == label] for label in shown]
        total = max([sum(vote.weight for vote in votes) for votes in of_classes] + [1e-9])
        points = draw.room(axis)[0] / (1.15 * total)
        for row, (label, votes) in enumerate(zip(shown, of_classes, strict=True)):
            end = _draw_votes(axis, row, votes, self._look(classes.index(label)), points)
            axis.text(end + 0.01 * total, row, draw.number(end), va="center", fontsize=8, color=draw.DARK)
        draw.name_rows(axis, names, 0.55)
        axis.set_xlim(0, 1.15 * total)
        what = "score: the sum of the votes (numbers in the bars: members)"
        if self._uses_evidence:
            what = "probability times weight of the members that predict the class (numbers: members)"
        axis.set_xlabel(what, fontsize=9)
        n_abstained = sum(vote.vote is None for vote in self.votes)
        title = f"Prediction: {draw.short(self.prediction, 70)} (solid bar)"
        if self.prediction is None:
            title = "The ensemble abstains" if n_abstained < len(self.votes) else "All members abstain"
        members = plural(len(self.votes), "member") + (f", {n_abstained} without a vote" if n_abstained else "")
        which = draw.part(len(shown), len(classes), "class", "those with the highest score")
        draw.set_title(axis, title, f"{members}; {which}", taken=20 + draw.text_width(names, 8))

    def _look(self, index: int) -> dict[str, Any]:
        """Return the style of the bar of a class: solid if it is predicted."""
        colour = draw.style(index).colour
        if self.prediction is not None and list(self.scores)[index] == self.prediction:
            return {"facecolor": colour, "edgecolor": "white"}
        hatch = draw.OPEN_HATCHES[index // len(draw.COLOURS) % len(draw.OPEN_HATCHES)]
        return {"facecolor": "white", "edgecolor": colour, "hatch": hatch}


def _draw_votes(ax: Any, row: int, votes: Sequence[Vote], look: dict[str, Any], points: float) -> float:
    """Draw the votes for a class, each with the number of its member, in a bar; return its length."""
    start = 0.0
    for vote in votes:
        ax.barh(row, vote.weight, left=start, height=0.7, linewidth=1.2, **look)
        if vote.weight * points > draw.text_width([str(vote.member)], 7) + 4:
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.9}
            where = {"ha": "center", "va": "center", "bbox": box}
            ax.text(start + vote.weight / 2, row, str(vote.member), fontsize=7, **where)
        start += vote.weight
    return start
