"""The displays of one answer: its reasons, and the votes for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart import _draw as draw
from sslart._draw_base import Display, an_explanation, at_least_one, one_sample
from sslart._validate import FloatArray, IntArray
from sslart._wesslart import WESSLART
from sslart.explain import Box, Explanation, explain


@dataclass(eq=False, repr=False)
class ReasonDisplay(Display):
    """Why a sample gets its answer: how far it lies from the box that answered and from the best of another class.

    Made by `from_estimator` or `from_explanation`.

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
    shown : array of int
        The features drawn, the farthest first; without those that lie in both boxes, unless all do.
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
            How many features to draw: those with the largest distance to either box.
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
    def shown(self) -> IntArray:
        """The features drawn."""
        rival = self.rival_distances
        greatest = self.distances if rival is None else np.maximum(self.distances, rival)
        farthest = np.argsort(-greatest, kind="stable")[: self.max_features]
        return farthest[greatest[farthest] > 0] if greatest.any() else farthest

    def plot(self, ax: Any = None) -> Self:
        """Draw, on the given axis or one of its own."""
        why, shown, rival = self.explanation, self.shown, self.rival_distances
        axis = self._open(ax, 7.2, 1.9 + 0.38 * len(shown))
        own = why.box.conditions
        other = None if why.rival is None else why.rival.conditions
        offs = [(draw.off_by(own[place]), "" if other is None else draw.off_by(other[place])) for place in shown]
        names = [f"{draw.short(own[place].feature)} = {draw.value_text(own[place].value)}" for place in shown]
        draw.draw_reasons(axis, self.distances[shown], None if rival is None else rival[shown], offs, names)
        draw.box_legend(axis, _way_to(why.box), None if why.rival is None else _way_to(why.rival))
        said = "The model abstains" if why.abstained else f"Answer: {draw.short(why.answer)}"
        sure = "" if why.confidence is None else f" (confidence {why.confidence:.2f})"
        draw.entitle(axis, said + sure, draw.part(len(shown), len(own), "feature", "the farthest first"))
        return self


@dataclass(eq=False, repr=False)
class VotesDisplay(Display):
    """The votes of an ensemble for one sample: one bar per class, made of what each vote counts.

    Made by `from_estimator` or `from_explanation`.

    Attributes
    ----------
    explanation : Explanation
        What is drawn, in full: see its `votes` and `scores`.
    shown : tuple of class
        The classes drawn, the highest score first.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sslart import WESSLART
    >>> from sslart.plotting import VotesDisplay
    >>> X, y = load_wine(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(len(y)) if i % 5]] = -1  # keep one label in five
    >>> display = VotesDisplay.from_estimator(WESSLART(vigilance=0.8, random_state=0).fit(X, few), X[1])
    >>> display.shown
    (0, 1, 2)
    >>> [vote.vote for vote in display.explanation.votes]
    [0, 1, 0, 1, 0, 0, 0]
    """

    explanation: Explanation
    max_classes: int = 12

    @classmethod
    def from_estimator(cls, model: WESSLART, x: Any, *, max_classes: int = 12, ax: Any = None) -> Self:
        """Draw how the members of a fitted ensemble vote on a sample.

        Parameters
        ----------
        model : WESSLART
        x : array-like of shape (n_features,) or (1, n_features)
            One sample: a row of an array, or a frame of one row.
        max_classes : int, default=12
            How many classes to draw: those with the highest score.
        ax : matplotlib axis, default=None
        """
        return cls.from_explanation(explain(model, one_sample(x))[0], max_classes=max_classes, ax=ax)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_classes: int = 12, ax: Any = None) -> Self:
        """Draw one of the explanations that ``model.explain(X)`` gives; see `from_estimator`."""
        if an_explanation(explanation).votes is None:
            raise ValueError("A single model does not vote: give a fitted WESSLART, or draw a ReasonDisplay.")
        return cls(explanation, at_least_one("max_classes", max_classes)).plot(ax)

    @property
    def shown(self) -> tuple[Any, ...]:
        """The classes drawn."""
        scores = self.explanation.scores or {}
        return tuple(sorted(scores, key=lambda label: -scores[label])[: self.max_classes])

    def plot(self, ax: Any = None) -> Self:
        """Draw, on the given axis or one of its own."""
        why, shown = self.explanation, self.shown
        votes, classes = why.votes or (), list(why.scores or {})
        axis = self._open(ax, 6.8, 1.6 + 0.4 * len(shown))
        rows = [
            (
                draw.short(label),
                classes.index(label),
                [(vote.member, vote.weight) for vote in votes if vote.vote is not None and vote.vote == label],
                not why.abstained and label == why.answer,
            )
            for label in shown
        ]
        draw.draw_votes(axis, rows)
        axis.set_xlabel("score: what the votes of the numbered members count")
        silent = sum(vote.vote is None for vote in votes)
        said = "All members abstain" if why.abstained else f"Answer: {draw.short(why.answer)}"
        abstain = f"; {silent} without a vote" if silent else ""
        which = draw.part(len(shown), len(classes), "class", "highest score first")
        draw.entitle(axis, said, f"{draw.plural(len(votes), 'member')}{abstain}; {which}")
        return self


def _way_to(box: Box) -> str:
    whose = "no label" if box.label is None else draw.short(box.label)
    member = "" if box.member is None else f" of member {box.member}"
    return f"to box {box.node}{member} ({whose}): {draw.number(box.distance)} in all"
