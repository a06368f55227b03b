"""Displays of box rules: parallel coordinates, and a heatmap of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from sslart._utils.arrays import FloatArray
from sslart._utils.text import count_text, plural
from sslart.plotting import _base as draw
from sslart.plotting._base import Display, at_least_one, check_type
from sslart.rules import Rule, RuleCondition, RuleSet, rules_of
from sslart.rules._box_rules import Scale, level_text

MAX_WRITTEN = 20  # features: with more, cells are too small for text


def bands(condition: RuleCondition, scale: Scale) -> list[tuple[float, float]]:
    """Return the intervals of its scale that a condition allows, from 0 to 1; one for each category."""
    if condition.full_range:
        return [(0.0, 1.0)]
    if scale.categories is not None:
        n = len(scale.categories)
        indices = sorted(scale.categories.index(one) for one in condition.categories or ())
        return [(index / n, (index + 1) / n) for index in indices] or [(0.0, 1.0)]
    span = scale.high - scale.low
    if not span > 0:
        return [(0.5, 0.5)]
    return [((condition.low_value - scale.low) / span, (condition.high_value - scale.low) / span)]


def band(condition: RuleCondition, scale: Scale) -> tuple[float, float]:
    """Return the lower and upper end of a condition on its scale, both from 0 to 1."""
    stretches = bands(condition, scale)
    return stretches[0][0], stretches[-1][1]


def level_bars(condition: RuleCondition, scale: Scale) -> list[tuple[float, float]]:
    """Return start and length of the bars of a cell, relative to its width; empty if everything is allowed."""
    if condition.full_range:
        return []
    if scale.categories is not None:
        return [(low, high - low) for low, high in bands(condition, scale)]
    n, low, high = len(scale.terms), condition.low_level or 1, condition.high_level or 1
    return [((low - 1) / n, (high - low + 1) / n)]


def feature_spread(rules: Sequence[Rule], scales: Sequence[Scale]) -> FloatArray:
    """Return the spread of the rules in each feature: the variance of their centres, then their narrowness."""
    support = np.array([rule.support for rule in rules], dtype=float)
    pairs = [list(zip(rule.conditions, scales, strict=True)) for rule in rules]
    centres = np.array([[sum(band(*pair)) / 2 for pair in row] for row in pairs])
    excluded = np.array([[scale.excluded_share(condition) for condition, scale in row] for row in pairs])
    variance = (centres - np.average(centres, axis=0, weights=support)) ** 2
    return np.asarray(np.average(variance + 1e-6 * excluded, axis=0, weights=support))


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
    noun: str

    @classmethod
    def _of(cls, rules: Any, max_rules: Any, max_features: Any, ax: Any) -> Self:
        check_type("rules", rules, RuleSet, "a RuleSet, as model.rules(kind='boxes') gives")
        if not rules:
            raise ValueError("There is no rule to draw: lower min_confidence or min_support, or filter less.")
        n_rules, n_features = at_least_one("max_rules", max_rules), at_least_one("max_features", max_features)
        support = np.array([rule.support for rule in rules], dtype=float)
        kept = draw.most(support, n_rules).tolist()
        kept.sort(key=lambda index: (rules.classes.index(rules[index].label), -support[index]))
        features = draw.most(feature_spread(rules, rules.scales), n_features).tolist()
        return cls(
            tuple(rules[index] for index in kept),
            tuple(rules.numbers[index] for index in kept),
            tuple(features),
            tuple(rules.feature_names[column] for column in features),
            len(rules),
            len(rules.scales),
            rules.classes,
            rules.scales,
            rules.noun,
        ).plot(ax)

    def _title(self) -> tuple[str, str]:
        rules = draw.part(len(self.rules), self.n_rules, "rule", "those with most samples")
        n_classes = len({rule.label for rule in self.rules})
        if n_classes < len(self.classes):
            rules += f"; {n_classes} of {plural(len(self.classes), 'class')}"
        features = draw.part(len(self.features), self.n_features, "feature", "those in which rules differ most")
        return rules, features

    def _names(self) -> list[str]:
        every = draw.distinct([scale.feature for scale in self.scales])
        return [every[column] for column in self.features]

    def _cells(self) -> list[list[tuple[RuleCondition, Scale]]]:
        """Return the condition of each rule on each drawn feature, with the scale of the feature."""
        return [[(rule.conditions[column], self.scales[column]) for column in self.features] for rule in self.rules]

    def _labels(self) -> list[tuple[int, str]]:
        """Return the class index and the label text of each rule."""
        names, labels = draw.distinct(self.classes), []
        for number, rule in zip(self.numbers, self.rules, strict=True):
            index = self.classes.index(rule.label)
            labels.append((index, f"{self.noun} {number}: {names[index]} ({count_text(rule.support)})"))
        return labels


@dataclass(eq=False, repr=False)
class RuleParallelDisplay(_RulesDisplay):
    """Parallel coordinates of rules: one bar per rule and feature over the allowed range, joined by lines.

    Bars are side by side in the order of the legend; if a rule has no condition, there is a thin pale line.

    Made by `from_estimator` or `from_rules`.

    Attributes
    ----------
    rules : tuple of Rule
        The drawn rules, sorted by class.
    numbers : tuple of int
        Their numbers in the rule set, as in `RuleSet.to_text`: those of their boxes.
    features, feature_names : tuples of int, of str
        The drawn features, in order.
    n_rules, n_features : int
        Total numbers of rules and features.
    low, high : arrays of shape (n_rules_drawn, n_features_drawn)
        Lower and upper end of each band, 0 to 1 in the learnt range.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sslart import FuzzyARTMAP
    >>> from sslart.plotting import RuleParallelDisplay
    >>> X, y = [[20, 1], [25, 2], [60, 8], [70, 9]], ["young", "young", "old", "old"]
    >>> display = RuleParallelDisplay.from_estimator(FuzzyARTMAP().fit(X, y))
    >>> [(number, rule.label) for number, rule in zip(display.numbers, display.rules)]
    [(1, 'old'), (0, 'young')]
    >>> display.low[:, 0], display.high[:, 0]
    (array([0.8, 0. ]), array([1. , 0.1]))
    """

    @classmethod
    def from_estimator(cls, model: Any, *, max_rules: int = 6, max_features: int = 12, ax: Any = None) -> Self:
        """Draw the rules of a fitted classifier.

        Parameters
        ----------
        model : FuzzyARTMAP, SSLART or WESSLART
        max_rules : int, default=6
            Maximum number of rules to draw, those with most samples.
        max_features : int, default=12
            Maximum number of features to draw, those in which the rules differ most.
        ax : matplotlib axis, default=None
        """
        return cls._of(rules_of(model, kind="boxes"), max_rules, max_features, ax)

    @classmethod
    def from_rules(cls, rules: RuleSet, *, max_rules: int = 6, max_features: int = 12, ax: Any = None) -> Self:
        """Draw rules of boxes, such as ``model.rules(kind="boxes").filter("setosa")``; see `from_estimator`."""
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
        return np.array([[band(*cell) for cell in of_rule] for of_rule in self._cells()])

    def _draw(self, ax: Any) -> None:
        n_rules, n_features = len(self.rules), len(self.features)
        width = 3.4 + max(0.75, 0.25 + 0.09 * n_rules) * max(n_features, 4)
        axis, labels = self._open(ax, min(width, 20.0), max(4.2, 1.2 + 0.2 * n_rules)), self._labels()
        taken = 115 + draw.text_width([*(text for _, text in labels), "box: class (samples)"], 8)
        _draw_parallel(axis, self._cells(), labels)
        draw.feature_ticks(axis, self._names(), taken)
        draw.legend_beside(axis, title="box: class (samples)")
        draw.set_title(axis, *self._title(), taken=taken)


@dataclass(eq=False, repr=False)
class RuleHeatmapDisplay(_RulesDisplay):
    """Heatmap of rules by features: each cell has the allowed levels, as a bar and as text.

    Made by `from_estimator` or `from_rules`.

    Attributes
    ----------
    rules, numbers, features, feature_names, n_rules, n_features
        See `RuleParallelDisplay`.
    cells : list of list of str
        The levels of each cell: "2", "2-3", categories, or "any".
    text_ : array of matplotlib texts of shape (n_rules_drawn, n_features_drawn), or None
        Text of each cell; None if cells are too small for it.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> from sslart.plotting import RuleHeatmapDisplay
    >>> data = load_iris(as_frame=True)
    >>> model = SSLART(vigilance=0.5, random_state=0).fit(data.data, data.target_names[data.target])
    >>> display = RuleHeatmapDisplay.from_rules(model.rules(kind="boxes", levels=3), max_rules=3)
    >>> display.cells[0]
    ['1-2', 'any', '1-2', '1-2']
    """

    text_: Any = field(init=False, default=None)

    @classmethod
    def from_estimator(
        cls, model: Any, *, levels: Any = 5, max_rules: int = 12, max_features: int = 15, ax: Any = None
    ) -> Self:
        """Draw the rules of a fitted classifier.

        Parameters
        ----------
        levels : int or mapping, default=5
            Q: see `sslart.rules.rules_of`.
        model, max_rules, max_features, ax
            See `RuleParallelDisplay.from_estimator`.
        """
        return cls._of(rules_of(model, kind="boxes", levels=levels), max_rules, max_features, ax)

    @classmethod
    def from_rules(cls, rules: RuleSet, *, max_rules: int = 12, max_features: int = 15, ax: Any = None) -> Self:
        """Draw rules of boxes, such as ``model.rules(kind="boxes").filter("setosa")``; see `from_estimator`."""
        return cls._of(rules, max_rules, max_features, ax)

    @property
    def cells(self) -> list[list[str]]:
        """The text of each cell."""
        return [[draw.short(level_text(condition), 14) for condition, _ in of_rule] for of_rule in self._cells()]

    def _draw(self, ax: Any) -> None:
        cells, labels = self.cells, self._labels()
        n_rules, n_features = len(self.rules), len(self.features)
        longest = max(len(cell) for row in cells for cell in row)
        column, row = (0.24, 0.26) if n_features > MAX_WRITTEN else (max(0.62, 0.25 + 0.085 * longest), 0.4)
        axis = self._open(ax, 3.2 + column * max(n_features, 6), 2.1 + row * n_rules)
        taken = 30 + draw.text_width([text for _, text in labels], 8)
        self.text_ = _draw_heatmap(axis, self._cells(), cells, [index for index, _ in labels])
        draw.feature_ticks(axis, self._names(), taken)
        draw.name_rows(axis, [text for _, text in labels], 0.5)
        axis.set_ylabel("box: class (samples)", fontsize=8)
        scales = [self.scales[column] for column in self.features]
        counts = {len(scale.terms) for scale in scales if scale.categories is None}
        levels = f"; levels 1 (low) to {counts.pop()} (high)" if len(counts) == 1 else ""
        draw.set_title(axis, *self._title(), "coloured: what the rule allows" + levels, taken=taken)


def _draw_parallel(
    ax: Any, cells: Sequence[Sequence[tuple[RuleCondition, Scale]]], labels: Sequence[tuple[int, str]]
) -> None:
    """Draw a bar for each rule and feature, with a marker at its centre and a line to the next one."""
    n, scales = len(cells), [scale for _, scale in cells[0]]
    has_terms = any(scale.categories is not None for scale in scales)
    shifts = np.linspace(-0.3, 0.3, n) + 0.07 * has_terms if n > 1 else np.zeros(1)
    wide = min(5.0, 0.4 * draw.room(ax)[0] / max(len(scales), 4) / n)
    size = float(np.clip(1.6 * wide, 2.5, 5.5))
    for column in range(0, len(scales), 2):
        ax.axvspan(column - 0.5, column + 0.5, color=draw.PALE, alpha=0.5, linewidth=0, zorder=0)
    for row, (index, label) in enumerate(labels):
        look = draw.style(index)
        columns, middles = [], []
        for column, (condition, scale) in enumerate(cells[row]):
            x = column + shifts[row]
            if condition.full_range:
                ax.vlines(x, 0, 1, color=look.colour, linewidth=0.6, alpha=0.35)
                continue
            low, high = np.array(bands(condition, scale)).T
            ax.vlines([x] * len(low), low, high, color=look.colour, linewidth=wide, alpha=0.45)
            columns.append(x)
            middles.append((low[len(low) // 2] + high[len(low) // 2]) / 2)
        ax.plot(columns, middles, linewidth=0.9, alpha=0.5, **look.line)
        face = "white" if (row // len(draw.MARKERS)) % 2 else look.colour
        marker: dict[str, Any] = {"marker": draw.MARKERS[row % len(draw.MARKERS)], "markerfacecolor": face}
        ax.plot(columns, middles, linewidth=0, markersize=size, color=look.colour, zorder=3, **marker)
        ax.plot([], [], linewidth=1.2, markersize=5.5, label=label, **look.line, **marker)
    _write_ranges(ax, scales)
    ax.set_ylim(-0.09, 1.09)
    ax.set_xlim(-0.5, len(scales) - 0.5)
    ax.set_yticks([0, 0.5, 1], ["lowest", "middle", "highest"], fontsize=8)
    ax.set_ylabel("value, in the learnt range")


def _write_ranges(ax: Any, scales: Sequence[Scale]) -> None:
    """Write the ends of each scale, or its categories along it, where there is room."""
    width, height = draw.room(ax)
    for column, scale in enumerate(scales):
        if scale.categories is not None:
            n = len(scale.categories)
            length = int(0.7 * height / n / (6.5 * draw.CHARACTER))
            for index, term in enumerate(scale.terms if n <= 5 and width / len(scales) > 40 else ()):
                where = {"rotation": 90, "ha": "center", "va": "center"}
                text = draw.short(term, max(length, 2))
                ax.text(column - 0.41, (index + 0.5) / n, text, fontsize=6.5, color=draw.DARK, **where)
            continue
        ends = [draw.number(scale.low), draw.number(scale.high)]
        if draw.text_width(ends, 7) + 3 < width / len(scales):
            for y, end, side in zip((-0.02, 1.02), ends, ("top", "bottom"), strict=True):
                ax.text(column, y, end, ha="center", va=side, fontsize=7, color=draw.DARK)


def _draw_heatmap(
    ax: Any, cells: Sequence[Sequence[tuple[RuleCondition, Scale]]], texts: list[list[str]], classes: Sequence[int]
) -> Any:
    """Draw the levels of each cell as a bar on a pale track, and as text above it if there is room."""
    n_rules, n_features = len(cells), len(cells[0])
    width, height = draw.room(ax)
    fits = draw.text_width([text for row in texts for text in row], 8) < width / n_features
    written = fits and n_features <= MAX_WRITTEN and height / n_rules > 16
    top, thick = (0.08, 0.28) if written else (-0.28, 0.56)
    drawn = []
    for row, (of_rule, index) in enumerate(zip(cells, classes, strict=True)):
        bars = []
        for column, (condition, scale) in enumerate(of_rule):
            bars += [(column - 0.44 + 0.88 * start, 0.88 * length) for start, length in level_bars(condition, scale)]
            if written:
                look = {"fontsize": 7, "color": draw.GREY} if condition.full_range else {"fontsize": 8}
                drawn.append(ax.text(column, row - 0.15, texts[row][column], ha="center", va="center", **look))
        ax.broken_barh([(column - 0.44, 0.88) for column in range(n_features)], (row + top, thick), color=draw.PALE)
        ax.broken_barh(bars, (row + top, thick), **draw.area(index))
        if row and classes[row - 1] != index:
            ax.axhline(row - 0.5, color=draw.GREY, linewidth=0.9)
    ax.set_xlim(-0.5, n_features - 0.5)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    for artist in (*ax.texts, *ax.collections):  # inside the axis: no extra room in the layout
        artist.set_in_layout(False)
    return np.array(drawn, dtype=object).reshape(n_rules, n_features) if written else None
