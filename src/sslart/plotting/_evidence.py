"""The display of the evidence for one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from sslart.explain import Explanation, explain
from sslart.plotting import _style as draw
from sslart.plotting._base import Display, an_explanation, at_least_one, one_sample

FOR: dict[str, Any] = {"facecolor": draw.COLOURS[0], "edgecolor": draw.COLOURS[0]}
AGAINST: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.COLOURS[1], "hatch": "////"}
SUM: dict[str, Any] = {"facecolor": "#333333", "edgecolor": "#333333"}


@dataclass(eq=False, repr=False)
class EvidenceDisplay(Display):
    """What speaks for an answer and what against it, where all boxes speak: features, boxes, and their sum.

    Made by `from_estimator` or `from_explanation`.

    Attributes
    ----------
    explanation : Explanation
        What is drawn, in full.
    bars : list of (str, float)
        What is drawn: who speaks, and how much for the answer; below 0 is against it. They add up to the last.
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
    'all together'
    >>> amounts = [amount for _, amount in display.bars]
    >>> abs(sum(amounts[:-1]) - amounts[-1]) < 1e-6
    True
    """

    explanation: Explanation
    max_terms: int = 10

    @classmethod
    def from_estimator(cls, model: Any, x: Any, *, max_terms: int = 10, ax: Any = None) -> Self:
        """Draw what speaks for and against the answer of a fitted classifier with evidence mapping.

        Parameters
        ----------
        model : AutoSSLART, or SSLART or WESSLART with mapping="evidence"
        x : array-like of shape (n_features,) or (1, n_features)
            One sample: a row of an array, or a frame of one row.
        max_terms : int, default=10
            How many boxes and features to draw at most, the loudest first; the others are drawn as one.
        ax : matplotlib axis, default=None
        """
        return cls.from_explanation(explain(model, one_sample(x))[0], max_terms=max_terms, ax=ax)

    @classmethod
    def from_explanation(cls, explanation: Explanation, *, max_terms: int = 10, ax: Any = None) -> Self:
        """Draw one of the explanations that ``model.explain(X)`` gives; see `from_estimator`."""
        if an_explanation(explanation).evidence is None:
            raise ValueError(
                "Only a model with evidence mapping has evidence: use AutoSSLART, or mapping='evidence'. For other "
                "models there is ReasonDisplay."
            )
        return cls(explanation, at_least_one("max_terms", max_terms)).plot(ax)

    @property
    def bars(self) -> list[tuple[str, float]]:
        """Who speaks, and how much for the answer."""
        evidence = self.explanation.evidence
        assert evidence is not None
        voices = sorted((term for term in evidence.terms if term.kind != "bias"), key=lambda term: -abs(term.amount))
        named = [term for term in voices if term.kind in ("box", "feature")][: self.max_terms]
        rest = [term for term in voices if term not in named]
        bars = [(_named(term), term.amount) for term in named]
        if rest:
            bars.append(("all other boxes and features", sum(term.amount for term in rest)))
        bars += [("before any of them", term.amount) for term in evidence.terms if term.kind == "bias"]
        return [*bars, ("all together", evidence.margin)]

    def plot(self, ax: Any = None) -> Self:
        """Draw, on the given axis or one of its own."""
        why, bars = self.explanation, self.bars
        assert why.evidence is not None
        axis = self._open(ax, 7.2, 1.6 + 0.32 * len(bars))
        names = [draw.short(name, 44) for name, _ in bars]
        for place, (_, amount) in enumerate(bars):
            look = SUM if place == len(bars) - 1 else FOR if amount >= 0 else AGAINST
            drawn = axis.barh(place, amount, height=0.62, linewidth=1.0, **look)
            axis.bar_label(drawn, fmt="%+.2f", padding=3, fontsize=8)
        axis.axvline(0, color="#333333", linewidth=0.8)
        axis.set_yticks(range(len(bars)), names, fontsize=8)
        axis.tick_params(axis="x", labelsize=8)
        axis.invert_yaxis()
        axis.margins(x=0.16)
        for side in ("top", "right"):
            axis.spines[side].set_visible(False)
        winner, other = draw.short(why.evidence.winner), why.evidence.runner_up
        against = "" if other is None else f", against {draw.short(other)}"
        axis.set_xlabel(f"evidence for {winner}{against}", fontsize=9)
        said = "The model abstains" if why.abstained else f"Answer: {draw.short(why.answer, 70)}"
        sure = "" if why.confidence is None else f" (confidence {why.confidence:.2f})"
        draw.entitle(axis, said + sure, taken=20 + draw.text_width(names, 8))
        return self


def _named(term: Any) -> str:
    if term.kind == "feature":
        return f"{draw.short(term.feature, 32)} = {draw.value_text(term.value)}"
    label = "no label" if term.box.label is None else term.box.label
    return f"box {term.box.node} ({draw.short(label, 20)}, {draw.plural(term.box.support, 'sample')})"
