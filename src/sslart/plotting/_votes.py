"""The display of the votes for one prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import _num_samples

from sslart._data.labels import read_labels
from sslart._data.samples import Table
from sslart._utils.text import plural
from sslart.explain import Explanation, Vote, explain
from sslart.plotting import _style as draw
from sslart.plotting._base import Display, an_explanation, at_least_one, one_sample


@dataclass(eq=False, repr=False)
class VotesDisplay(Display):
    """Votes of an ensemble for one sample: one stacked bar per class, by weight of each vote.

    Made by `from_estimator`, `from_explanation` or `from_predictions`.

    Attributes
    ----------
    votes : tuple of Vote
        One per member: its vote, and what that counts.
    scores : dict from class to float
        The sum of the votes for each class; with evidence mapping, of the weighted probabilities.
    prediction : class or None
        What the ensemble predicts; None where it abstains.
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
    >>> [vote.vote for vote in display.votes]
    [0, 1, 0, 1, 0, 0, 0]
    """

    votes: tuple[Vote, ...]
    scores: Mapping[Any, float]
    prediction: Any
    max_classes: int = 12
    _uses_evidence: bool = False  # then the probabilities of a member count for all classes, not for one

    @classmethod
    def from_estimator(cls, model: Any, x: Any, *, max_classes: int = 12, ax: Any = None) -> Self:
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
            What each vote counts; None: 1.
        classes : iterable of class, default=None
            All classes; None: those with a vote.
        max_classes : int, default=12
        ax : matplotlib axis, default=None
        """
        read = read_labels(y_pred, Table(np.empty((_num_samples(y_pred), 1))))
        labels = [one if known else None for one, known in zip(read.values.tolist(), read.known.tolist(), strict=True)]
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

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axis, or on a new one."""
        shown, classes = self.shown, list(self.scores)
        axis = self._open(ax, 6.8, 1.7 + 0.4 * len(shown))
        names = draw.distinct(classes, 30)
        rows = []
        for label in shown:
            own = [vote for vote in self.votes if vote.vote is not None and vote.vote == label]
            rows.append((classes.index(label), own, self.prediction is not None and label == self.prediction))
        row_names = [names[index] for index, *_ in rows]
        _draw_votes(axis, rows, row_names)
        what = "score: the sum of the votes (numbers in the bars: members)"
        if self._uses_evidence:
            what = "probability times weight of the members that predict the class (numbers: members)"
        axis.set_xlabel(what, fontsize=9)
        n_abstained = sum(vote.vote is None for vote in self.votes)
        title = f"Prediction: {draw.short(self.prediction, 70)} (solid bar)"
        if self.prediction is None:
            title = "The ensemble abstains" if n_abstained < len(self.votes) else "All members abstain"
        without = f", {n_abstained} without a vote" if n_abstained else ""
        which = draw.part(len(shown), len(classes), "class", "those with the highest score")
        draw.set_title(
            axis,
            title,
            f"{plural(len(self.votes), 'member')}{without}; {which}",
            taken=20 + draw.text_width(row_names, 8),
        )
        return self


def _draw_votes(ax: Any, rows: Sequence[tuple[int, Sequence[Vote], bool]], names: Sequence[str]) -> None:
    """Draw one bar per class, made of the votes of its members; each vote shows the number of its member."""
    total = max([sum(vote.weight for vote in votes) for _, votes, _ in rows] + [1e-9])
    points = draw.room(ax)[0] / (1.15 * total)
    for row, (index, votes, is_predicted) in enumerate(rows):
        start, tint = 0.0, draw.style(index).colour
        hatch = draw.OPEN_HATCHES[index // len(draw.COLOURS) % len(draw.OPEN_HATCHES)]
        look: dict[str, Any] = {"facecolor": "white", "edgecolor": tint, "hatch": hatch}
        if is_predicted:
            look = {"facecolor": tint, "edgecolor": "white"}
        for vote in votes:
            ax.barh(row, vote.weight, left=start, height=0.7, linewidth=1.2, **look)
            if vote.weight * points > draw.text_width([str(vote.member)], 7) + 4:
                box = {"facecolor": "white", "edgecolor": "none", "pad": 1, "alpha": 0.9}
                middle = start + vote.weight / 2
                ax.text(middle, row, str(vote.member), ha="center", va="center", fontsize=7, bbox=box)
            start += vote.weight
        ax.text(start + 0.01 * total, row, draw.number(start), va="center", fontsize=8, color=draw.DARK)
    ax.set_yticks(range(len(rows)), names, fontsize=8)
    ax.set_ylim(len(rows) - 0.45, -0.55)
    ax.set_xlim(0, 1.15 * total)
