"""The display of the evidence for one prediction: from an average sample to this one, feature by feature."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sslart.explain import Contribution, Evidence, Explanation, explain
from sslart.plotting import _style as draw
from sslart.plotting._base import Display, an_explanation, at_least_one, one_sample, prediction_title

FOR: dict[str, Any] = {"facecolor": draw.COLOURS[0], "edgecolor": draw.COLOURS[0]}
AGAINST: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.COLOURS[1], "hatch": "////"}
ENDS: dict[str, Any] = {"facecolor": draw.DARK, "edgecolor": draw.DARK}
NAME_LENGTH = 50


@dataclass(eq=False, repr=False)
class EvidenceDisplay(Display):
    """Waterfall chart of the contributions of features to a prediction with evidence mapping.

    It starts from an average sample and ends at this one. Features that go together are one bar. Made by
    `from_estimator` or `from_explanation`.

    Attributes
    ----------
    explanation : Explanation
        What is drawn, in full.
    bars : list of (str, float)
        The average sample, the source and amount of each contribution, and their sum. Amounts above 0 are for the
        predicted class, those below 0 against it.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import EvidenceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = AutoSSLART(random_state=0).fit(X, y)
    >>> display = EvidenceDisplay.from_estimator(model, X.iloc[[0]])
    >>> [name for name, _ in display.bars][0]
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
            How many contributions to draw at most, the largest first; the others are drawn as one. None: as many as
            the text of the explanation shows.
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
        evidence = self.explanation.evidence
        assert evidence is not None
        return evidence

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

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axis, or on a new one."""
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
        axis.use_sticky_edges = False  # else no room is left for the numbers beside the bars
        axis.margins(x=0.16)
        against = "" if evidence.runner_up is None else f" against {draw.short(evidence.runner_up)}"
        axis.set_xlabel(f"score of {draw.short(evidence.predicted)}{against}", fontsize=9)
        draw.set_title(axis, prediction_title(self.explanation), taken=20 + draw.text_width(names, 8))
        return self


def _source(one: Contribution) -> str:
    if not one.features:
        return "similar samples without a label"
    first = f"{draw.short(one.features[0], 32)} = {draw.value_text(one.features[0], one.values[0])}"
    return first if len(one.features) == 1 else f"{first} and {len(one.features) - 1} more"
