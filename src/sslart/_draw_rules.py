"""The displays of rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart import _draw as draw
from sslart._draw_base import Display, at_least_one
from sslart._levels import Rule, Scale
from sslart._validate import FloatArray
from sslart.rules import RuleSet, rules_of


@dataclass(eq=False, repr=False)
class _RulesDisplay(Display):
    rules: tuple[Rule, ...]
    numbers: tuple[int, ...]
    features: tuple[int, ...]
    feature_names: tuple[str, ...]
    n_rules: int
    n_features: int
    classes: tuple[Any, ...]
    scales: tuple[Scale, ...]

    @classmethod
    def _of(cls, rules: Any, max_rules: Any, max_features: Any, ax: Any) -> Self:
        if not isinstance(rules, RuleSet):
            raise TypeError(f"rules must be a RuleSet, as model.rules() gives, got a {type(rules).__name__}.")
        if not rules:
            raise ValueError("There is no rule to draw: lower min_confidence or min_support, or filter less.")
        n_rules, n_features = at_least_one("max_rules", max_rules), at_least_one("max_features", max_features)
        support = np.array([rule.support for rule in rules], dtype=float)
        kept = draw.most(support, n_rules).tolist()
        kept.sort(key=lambda place: (rules.classes.index(rules[place].label), -support[place]))
        scales = rules._domain.scales
        features = draw.most(draw.worth(rules, scales), n_features).tolist()
        return cls(
            tuple(rules[place] for place in kept),
            tuple(place + 1 for place in kept),
            tuple(features),
            tuple(rules.feature_names[place] for place in features),
            len(rules),
            len(scales),
            rules.classes,
            scales,
        )._drawn(ax)

    def _drawn(self, ax: Any) -> Self:
        return self.plot(ax)  # type: ignore[attr-defined, no-any-return]

    def _said(self) -> str:
        rules = draw.part(len(self.rules), self.n_rules, "rule", "most samples first")
        features = draw.part(len(self.features), self.n_features, "feature", "those in which rules differ most")
        return f"{rules}\n{features}"

    def _class_places(self) -> list[int]:
        return [self.classes.index(rule.label) for rule in self.rules]

    def _labels(self) -> list[str]:
        return [
            f"Rule {number}: {draw.short(rule.label, 20)} ({rule.support})"
            for number, rule in zip(self.numbers, self.rules, strict=True)
        ]


@dataclass(eq=False, repr=False)
class RuleParallelDisplay(_RulesDisplay):
    """Rules in parallel coordinates: each a band across the features, as wide as what it allows.

    Made by `from_estimator` or `from_rules`.

    Attributes
    ----------
    rules : tuple of Rule
        The rules drawn, class by class.
    numbers : tuple of int
        Their numbers in the rule set, from 1, as `RuleSet.to_text` counts them.
    features, feature_names : tuples of int, of str
        The features drawn, in their order.
    n_rules, n_features : int
        How many there are.
    low, high : arrays of shape (n_rules_drawn, n_features_drawn)
        From where to where each band reaches, 0 to 1 in the learnt range.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> from sslart.plotting import RuleParallelDisplay
    >>> data = load_iris(as_frame=True)
    >>> model = SSLART(vigilance=0.5, random_state=0).fit(data.data, data.target_names[data.target])
    >>> display = RuleParallelDisplay.from_estimator(model, max_rules=3)
    >>> [(number, rule.label) for number, rule in zip(display.numbers, display.rules)]
    [(2, 'setosa'), (1, 'versicolor'), (3, 'virginica')]
    >>> display.low[:, 2].round(2)
    array([0.  , 0.42, 0.49])
    """

    @classmethod
    def from_estimator(cls, model: Any, *, max_rules: int = 6, max_features: int = 12, ax: Any = None) -> Self:
        """Draw the rules of a fitted classifier.

        Parameters
        ----------
        model : FuzzyARTMAP, SSLART or WESSLART
        max_rules : int, default=6
            How many rules to draw: those with most samples.
        max_features : int, default=12
            How many features to draw: those in which the rules differ most.
        ax : matplotlib axis, default=None
        """
        return cls._of(rules_of(model), max_rules, max_features, ax)

    @classmethod
    def from_rules(cls, rules: RuleSet, *, max_rules: int = 6, max_features: int = 12, ax: Any = None) -> Self:
        """Draw some rules, such as ``model.rules(simplify=(X, y)).filter("setosa")``; see `from_estimator`."""
        return cls._of(rules, max_rules, max_features, ax)

    @property
    def low(self) -> FloatArray:
        """Lower ends of the bands."""
        return self._bands()[..., 0]

    @property
    def high(self) -> FloatArray:
        """Upper ends of the bands."""
        return self._bands()[..., 1]

    def _bands(self) -> FloatArray:
        return np.array(
            [[draw.band(rule.conditions[place], self.scales[place]) for place in self.features] for rule in self.rules]
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw, on the given axis or one of its own."""
        axis = self._open(ax, min(4.0 + 0.75 * max(len(self.features), 4), 18), 4.2)
        scales = [self.scales[place] for place in self.features]
        draw.draw_parallel(axis, self.low, self.high, scales, self._class_places(), self._labels())
        draw.feature_ticks(axis, self.feature_names)
        draw.beside(axis, "rule: class (samples)")
        draw.entitle(axis, self._said())
        return self


@dataclass(eq=False, repr=False)
class RuleHeatmapDisplay(_RulesDisplay):
    """Rules by features: in each cell the levels that the rule allows, as a bar and in figures.

    Made by `from_estimator` or `from_rules`.

    Attributes
    ----------
    rules, numbers, features, feature_names, n_rules, n_features
        See `RuleParallelDisplay`.
    cells : list of list of str
        What is written in each cell: "2", "2–3", categories, or "any".
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> from sslart.plotting import RuleHeatmapDisplay
    >>> data = load_iris(as_frame=True)
    >>> model = SSLART(vigilance=0.5, random_state=0).fit(data.data, data.target_names[data.target])
    >>> display = RuleHeatmapDisplay.from_rules(model.rules(levels=3), max_rules=3)
    >>> display.cells[0]
    ['1–2', 'any', '1–2', '1–2']
    """

    @classmethod
    def from_estimator(
        cls, model: Any, *, levels: Any = 5, max_rules: int = 12, max_features: int = 15, ax: Any = None
    ) -> Self:
        """Draw the rules of a fitted classifier.

        Parameters
        ----------
        model : FuzzyARTMAP, SSLART or WESSLART
        levels : int or mapping, default=5
            Q: see `sslart.rules.rules_of`.
        max_rules : int, default=12
            How many rules to draw: those with most samples.
        max_features : int, default=15
            How many features to draw: those in which the rules differ most.
        ax : matplotlib axis, default=None
        """
        return cls._of(rules_of(model, levels), max_rules, max_features, ax)

    @classmethod
    def from_rules(cls, rules: RuleSet, *, max_rules: int = 12, max_features: int = 15, ax: Any = None) -> Self:
        """Draw some rules, such as ``model.rules(simplify=(X, y)).filter("setosa")``; see `from_estimator`."""
        return cls._of(rules, max_rules, max_features, ax)

    @property
    def cells(self) -> list[list[str]]:
        """What is written in each cell."""
        return [[draw.level_text(rule.conditions[place]) for place in self.features] for rule in self.rules]

    def plot(self, ax: Any = None) -> Self:
        """Draw, on the given axis or one of its own."""
        axis = self._open(ax, 3.2 + 0.62 * max(len(self.features), 6), 1.9 + 0.4 * len(self.rules))
        draw.draw_heatmap(axis, self.rules, self.features, self.scales, self._class_places())
        draw.feature_ticks(axis, self.feature_names)
        axis.set_yticks(range(len(self.rules)), self._labels(), fontsize=8)
        counts = {len(self.scales[place].terms) for place in self.features if self.scales[place].categories is None}
        said = f"; levels from 1 to {counts.pop()}" if len(counts) == 1 else ""
        draw.entitle(axis, self._said() + said)
        return self
