"""The display of the evidence for one prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sslart._utils.text import plural
from sslart.explain import Contribution, Explanation, explain
from sslart.plotting import _style as draw
from sslart.plotting._base import Display, an_explanation, at_least_one, one_sample, prediction_title

FOR: dict[str, Any] = {"facecolor": draw.COLOURS[0], "edgecolor": draw.COLOURS[0]}
AGAINST: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.COLOURS[1], "hatch": "////"}
TOTAL: dict[str, Any] = {"facecolor": draw.DARK, "edgecolor": draw.DARK}


@dataclass(eq=False, repr=False)
class EvidenceDisplay(Display):
    """The contributions of boxes and features to a prediction with evidence mapping, for it and against it.

    Made by `from_estimator` or `from_explanation`.

    Attributes
    ----------
    explanation : Explanation
        What is drawn, in full.
    bars : list of (str, float)
        Source and amount of each contribution, above 0 for the predicted class, below 0 against it; the last is their
        sum.
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
    >>> [name for name, _ in display.bars][-1]
    'total'
    >>> amounts = [amount for _, amount in display.bars]
    >>> abs(sum(amounts[:-1]) - amounts[-1]) < 1e-6
    True
    """

    explanation: Explanation
    max_contributions: int = 10

    @classmethod
    def from_estimator(cls, model: Any, x: Any, *, max_contributions: int = 10, ax: Any = None) -> Self:
        """Draw the contributions to the prediction of a fitted classifier with evidence mapping.

        Parameters
        ----------
        model : AutoSSLART, or SSLART or WESSLART with mapping="evidence"
        x : array-like of shape (n_features,) or (1, n_features)
            One sample: a row of an array, or a frame of one row.
        max_contributions : int, default=10
            How many boxes and features to draw at most, the largest contributions first; the others are drawn as one.
        ax : matplotlib axis, default=None
        """
        return cls.from_explanation(explain(model, one_sample(x))[0], max_contributions=max_contributions, ax=ax)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_contributions: int = 10, ax: Any = None) -> Self:
        """Draw one of the explanations that ``model.explain(X)`` gives; see `from_estimator`."""
        if an_explanation(explanation).evidence is None:
            raise ValueError(
                "Only a model with evidence mapping has evidence: use AutoSSLART, or mapping='evidence'. For other "
                "models there is ReasonDisplay."
            )
        return cls(explanation, at_least_one("max_contributions", max_contributions)).plot(ax)

    @property
    def bars(self) -> list[tuple[str, float]]:
        """Source and amount of each contribution, and their sum."""
        evidence = self.explanation.evidence
        assert evidence is not None
        sources = [one for one in evidence.contributions if one.kind != "bias"]
        named = [one for one in sources if one.kind in ("box", "feature")][: self.max_contributions]
        rest = [one for one in sources if one not in named]
        bars = [(_source(one), one.amount) for one in named]
        if rest:
            bars.append(("all other boxes and features", sum(one.amount for one in rest)))
        bars += [("bias", one.amount) for one in evidence.contributions if one.kind == "bias"]
        return [*bars, ("total", evidence.margin)]

    def plot(self, ax: Any = None) -> Self:
        """Draw, on the given axis or one of its own."""
        bars, evidence = self.bars, self.explanation.evidence
        assert evidence is not None
        axis = self._open(ax, 7.2, 1.6 + 0.32 * len(bars))
        names = [draw.short(name, 44) for name, _ in bars]
        for row, (_, amount) in enumerate(bars):
            look = TOTAL if row == len(bars) - 1 else FOR if amount >= 0 else AGAINST
            drawn = axis.barh(row, amount, height=0.62, linewidth=1.0, **look)
            axis.bar_label(drawn, fmt="%+.2f", padding=3, fontsize=8)
        axis.axvline(0, color=draw.DARK, linewidth=0.8)
        axis.set_yticks(range(len(bars)), names, fontsize=8)
        axis.tick_params(axis="x", labelsize=8)
        axis.invert_yaxis()
        axis.margins(x=0.16)
        against = "" if evidence.runner_up is None else f" against {draw.short(evidence.runner_up)}"
        axis.set_xlabel(f"contribution to {draw.short(evidence.predicted)}{against}", fontsize=9)
        draw.set_title(axis, prediction_title(self.explanation), taken=20 + draw.text_width(names, 8))
        return self


def _source(one: Contribution) -> str:
    if one.box is None:
        return f"{draw.short(one.feature, 32)} = {draw.value_text(one.value)}"
    label = "no label" if one.box.label is None else f"class {draw.short(one.box.label, 20)}"
    return f"box {one.box.node} ({label}, {plural(one.box.support, 'sample')})"
