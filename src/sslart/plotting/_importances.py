"""Displays of features: importance, and dependence of contributions on a value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from sslart._utils.arrays import FloatArray
from sslart._utils.text import list_text, number_text, plural
from sslart.explain import FeatureContributions, FeatureImportances, contributions_of, importances_of
from sslart.plotting import _base as draw
from sslart.plotting._base import Display, at_least_one, check_type

UP, DOWN = "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DOWN-POINTING TRIANGLE}"
GRAPH = "similar samples without a label"
MAX_CLASSES = 5  # with their own parts in the bars; others are combined
MAX_CURVES = 4  # classes in a dependence plot
MAX_CATEGORIES = 12  # drawn, the most frequent ones
N_BINS = 12  # of the mean curve
STRIP = 0.13  # height of the histogram, relative to the axis
UNDIRECTED: dict[str, Any] = {"facecolor": "#bdbdbd", "edgecolor": "white", "linewidth": 0}
BY_CATEGORY: dict[str, Any] = {"facecolor": "#bdbdbd", "edgecolor": "white", "hatch": "////", "linewidth": 0}
NOT_DIVIDED: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.GREY, "linewidth": 1.0}

END: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8, "color": draw.DARK}
ON_BAR: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.9}


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
    """Bar chart of the importance of each feature for the class scores, with its direction.

    With two classes, the colour of a bar is that of the class whose score increases with the value. With more classes,
    a bar has a part for each class, or for the five with the largest contributions. Unused features are not drawn. Made
    by `from_estimator` or `from_importances`.

    Attributes
    ----------
    importances : FeatureImportances
        All importances.
    shown : list of str
        The features drawn, the most important first.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import ImportanceDisplay
    >>> model = AutoSSLART(random_state=0).fit(*load_iris(return_X_y=True, as_frame=True))
    >>> ImportanceDisplay.from_estimator(model, max_features=2).shown
    ['petal width (cm)', 'petal length (cm)']
    """

    importances: FeatureImportances
    max_features: int = 15

    @classmethod
    def from_estimator(cls, model: Any, X: Any = None, *, max_features: int = 15, ax: Any = None) -> Self:
        """Draw the importances of a fitted classifier with evidence mapping; see `sslart.explain.importances_of`.

        Parameters
        ----------
        model : AutoSSLART, or SSLART or WESSLART with mapping="evidence"
        X : array-like of shape (n_samples, n_features), default=None
            Samples to average over. None: samples drawn from the boxes of the model.
        max_features : int, default=15
            Maximum number of features to draw, the most important ones.
        ax : matplotlib axis, default=None
        """
        most = at_least_one("max_features", max_features)
        return cls.from_importances(importances_of(model, X), max_features=most, ax=ax)

    @classmethod
    def from_importances(cls, importances: FeatureImportances, *, max_features: int = 15, ax: Any = None) -> Self:
        """Draw the result of ``model.feature_importances()``; see `from_estimator`."""
        check_type("importances", importances, FeatureImportances, "those that model.feature_importances() gives")
        return cls(importances, at_least_one("max_features", max_features)).plot(ax)

    @property
    def shown(self) -> list[str]:
        """The features drawn."""
        return [self.importances.feature_names[column] for column in self._columns]

    @property
    def _columns(self) -> list[int]:
        found = self.importances
        used = [column for column in found.order.tolist() if found.importances[column] > 0]
        return used[: self.max_features] if used or found.graph.any() else found.order.tolist()[: self.max_features]

    def _draw(self, ax: Any) -> None:
        found, columns, shown = self.importances, self._columns, self.shown
        names, ends = draw.distinct(shown, 34), found.importances[columns].tolist()
        if found.graph.any():
            names, ends = [*names, GRAPH], [*ends, found.graph_importance]
        axis = self._open(ax, 7.6, 1.9 + 0.3 * len(names))
        two = len(found.classes) == 2
        handles = _one_colour_each(axis, found, columns) if two else _parts_by_class(axis, found, columns)
        if found.graph.any():
            axis.barh(len(columns), found.graph_importance, height=0.66, **NOT_DIVIDED)
        for row, end in enumerate(ends):
            axis.annotate(f"{end:#.2g}", (end, row), (3, 0), **END)
        draw.name_rows(axis, names, 0.6)
        axis.set_xlim(0, 1.14 * max(*ends, 1e-12))
        axis.tick_params(axis="x", labelsize=8)
        signs = "" if two else f"; {UP} higher values raise the score, {DOWN} lower values do"
        axis.set_xlabel(f"mean absolute contribution{signs}", fontsize=9)
        below, taken = 6.0, 20 + draw.text_width(names, 8)
        if handles and not two:
            draw.legend_beside(axis, handles, "score of class")
            taken += 40 + draw.text_width([handle.get_label() for handle in handles], 8)
        elif handles:
            below = draw.legend_above(axis, handles)
        which = draw.part(len(shown), len(found.feature_names), "feature", "the most important")
        which = which if shown else "the model uses no feature by itself"
        over = plural(found.n_samples, "sample") + (" drawn from the boxes" if found.of_boxes else "")
        draw.set_title(axis, f"Feature importances over {over}; {which}", below=below, taken=taken)


def _one_colour_each(axis: Any, found: FeatureImportances, columns: list[int]) -> list[Any]:
    """Draw one bar per feature, coloured by the class whose score higher values raise; return the legend."""
    classes = draw.distinct(found.classes.tolist(), 30)
    looks = {}
    for row, column in enumerate(columns):
        name, look = "no stable direction", UNDIRECTED
        if found.feature_names[column] in found.by_category:
            name, look = "categories", BY_CATEGORY
        elif found.settled_direction[column, 1]:
            raised = int(found.settled_direction[column, 1] > 0)
            name, look = f"higher values raise the score of {classes[raised]}", draw.area(raised)
        axis.barh(row, found.importances[column], height=0.66, **look)
        looks[name] = look
    directed_first = sorted(looks, key=lambda name: (not name.startswith("higher"), name))
    return [draw.patch(name, **looks[name]) for name in directed_first]


def _parts_by_class(axis: Any, found: FeatureImportances, columns: list[int]) -> list[Any]:
    """Draw one bar per feature, with a part per class and a sign of its direction; return the legend."""
    classes = draw.distinct(found.classes.tolist(), 22)
    of_class = found.by_class.sum(axis=0)
    n_learnt = int((of_class > 0).sum())
    named = draw.most(of_class, n_learnt if n_learnt <= MAX_CLASSES + 1 else MAX_CLASSES).tolist()
    longest = float(found.importances.max(initial=found.graph_importance)) or 1.0
    points = (draw.room(axis)[0] - 130) / (1.14 * longest)
    for row, column in enumerate(columns):
        start = 0.0
        for index in named:
            width, direction = float(found.by_class[column, index]) / n_learnt, found.settled_direction[column, index]
            axis.barh(row, width, left=start, height=0.66, **draw.area(index))
            if direction and width * points > 11:
                where = {"ha": "center", "va": "center", "bbox": ON_BAR}
                axis.text(start + width / 2, row, UP if direction > 0 else DOWN, fontsize=6, **where)
            start += width
        axis.barh(row, max(float(found.importances[column]) - start, 0.0), left=start, height=0.66, **UNDIRECTED)
    handles = [draw.patch(classes[index], **draw.area(index)) for index in named]
    rest = n_learnt - len(named)
    return [*handles, draw.patch(f"{rest} other classes", **UNDIRECTED)] if rest else handles


@dataclass(eq=False, repr=False)
class DependenceDisplay(Display):
    """Contribution of a feature to class scores by value: one point per sample.

    Made by `from_estimator` or `from_contributions`.

    Attributes
    ----------
    contributions : FeatureContributions
        Contributions of all drawn samples.
    feature : str
    shown : list of class
        The drawn classes: with two classes the second, since contributions to the first are the negative; with more,
        those to which the feature contributes most.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import DependenceDisplay
    >>> data = load_iris(as_frame=True)
    >>> model = AutoSSLART(random_state=0).fit(data.data, data.target_names[data.target])
    >>> display = DependenceDisplay.from_estimator(model, data.data, "petal width (cm)")
    >>> sorted(display.shown)
    ['setosa', 'versicolor', 'virginica']
    """

    contributions: FeatureContributions
    feature: str
    classes: Any = None

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, feature: Any, *, classes: Any = None, max_samples: int = 500, ax: Any = None
    ) -> Self:
        """Draw the contributions of one feature of a fitted classifier with evidence mapping.

        Parameters
        ----------
        model : AutoSSLART, or SSLART or WESSLART with mapping="evidence"
        X : array-like of shape (n_samples, n_features)
            Samples, labelled or not.
        feature : str or int
            Name or column number.
        classes : iterable of class, default=None
            The classes to draw; None: see `shown`.
        max_samples : int, default=500
            Maximum number of samples to draw; of more, evenly spaced ones.
        ax : matplotlib axis, default=None
        """
        n, most = _num_samples(X), at_least_one("max_samples", max_samples)
        if n > most:
            X = _safe_indexing(X, np.linspace(0, n - 1, most).astype(np.int64))
        return cls.from_contributions(contributions_of(model, X), feature, classes=classes, ax=ax)

    @classmethod
    def from_contributions(
        cls, contributions: FeatureContributions, feature: Any, *, classes: Any = None, ax: Any = None
    ) -> Self:
        """Draw one feature of the result of ``model.contributions(X)``; see `from_estimator`."""
        check_type("contributions", contributions, FeatureContributions, "those that model.contributions(X) gives")
        names = contributions.feature_names
        if isinstance(feature, int | np.integer) and 0 <= feature < len(names):
            feature = names[feature]
        if feature not in names:
            raise ValueError(f"There is no feature {feature!r}: choose one of {list_text(names, 20)}.")
        wanted = None if classes is None else list(classes)
        unknown = [one for one in wanted or [] if one not in contributions.classes.tolist()]
        if unknown or wanted == []:
            known = list_text([repr(one) for one in contributions.classes.tolist()], 20)
            raise ValueError(f"classes must be one or more of {known}, got {wanted}.")
        return cls(contributions, feature, wanted).plot(ax)

    @property
    def shown(self) -> list[Any]:
        """The classes drawn."""
        labels = self.contributions.classes.tolist()
        return [labels[index] for index in self._indices]

    @property
    def _column(self) -> int:
        return self.contributions.feature_names.index(self.feature)

    @property
    def _indices(self) -> list[int]:
        labels = self.contributions.classes.tolist()
        if self.classes is not None:
            return [labels.index(one) for one in self.classes]
        if len(labels) == 2:
            return [1]
        sizes = np.abs(self.contributions.values[:, self._column]).mean(axis=0)
        return [int(index) for index in draw.most(sizes, MAX_CURVES)]

    def _draw(self, ax: Any) -> None:
        parts, column, indices = self.contributions, self._column, self._indices
        axis = self._open(ax, 6.4, 4.4)
        name, labels = draw.short(self.feature, 48), parts.classes.tolist()
        data, own = parts.data[:, column], parts.values[:, column]
        why, single = "no value", len(indices) == 1
        score = f"contribution to the score of {draw.distinct(labels, 30)[indices[0]] if single else 'each class'}"
        if any(not isinstance(value, float | np.floating) for value in data):
            n_drawn, taken = _draw_categories(axis, data, own, indices)
            x_name, y_name = score, f"{name} (samples)"
            if len({value for value in data if value is not None}) > MAX_CATEGORIES:
                why = "a rare category, or no value"
        else:
            n_drawn, taken = _draw_numbers(axis, data.astype(np.float64), own, indices), 40.0
            x_name, y_name = name, score
        axis.set_xlabel(x_name, fontsize=9)
        axis.set_ylabel(y_name, fontsize=9)
        axis.tick_params(labelsize=8)
        below = 6.0 if single else draw.legend_above(axis, draw.class_handles(labels, indices))
        missing = f", {len(data) - n_drawn} left out: {why}" if n_drawn < len(data) else ""
        title = f"Contributions of {name}, {plural(len(data), 'sample')}{missing}"
        draw.set_title(axis, title, below=below, taken=taken)


def _draw_numbers(axis: Any, values: FloatArray, contributions: FloatArray, indices: list[int]) -> int:
    """Draw points, their mean by value, and the distribution of the values; return the number of values."""
    known = ~np.isnan(values)
    values, contributions = values[known], contributions[known]
    axis.axhline(0, color=draw.GREY, linewidth=0.8, zorder=0)
    for index in indices:
        _points(axis, index, values, contributions[:, index])
        means = means_by_value(values, contributions[:, index])
        if len(indices) == 1:
            axis.plot(*means, color=draw.DARK, linewidth=1.4)
        else:
            axis.plot(*means, color="white", linewidth=3.2)
            axis.plot(*means, linewidth=1.6, **draw.style(index).line)
    if len(values):
        low, high = contributions[:, indices].min(), contributions[:, indices].max()
        span = high - low if high - low > 1e-9 else 1.0
        axis.set_ylim(low - (0.06 + 1.25 * STRIP) * span, high + 0.06 * span)
        heights, edges = np.histogram(values, bins=min(30, max(len(np.unique(values)), 1)))
        look = {"facecolor": draw.PALE, "edgecolor": draw.GREY, "linewidth": 0.5, "zorder": 0}
        where = {"align": "edge", "transform": axis.get_xaxis_transform()}
        axis.bar(edges[:-1], STRIP * heights / heights.max(), np.diff(edges), **where, **look)
    return len(values)


def _points(axis: Any, index: int, x: Any, y: Any) -> None:
    look = draw.style(index)
    face = "none" if look.hollow else look.colour
    axis.scatter(x, y, s=13, marker=look.marker, facecolor=face, edgecolor=look.colour, linewidth=0.5, alpha=0.45)


def means_by_value(values: FloatArray, contributions: FloatArray) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the mean value and contribution in bins of about equal numbers of samples."""
    levels = np.unique(values)
    if len(levels) > N_BINS:
        levels = np.unique(np.quantile(values, np.linspace(0, 1, N_BINS + 1)[:-1]))
    bins = np.searchsorted(levels, values, side="right") - 1
    counts = np.bincount(bins, minlength=len(levels))
    used = counts > 0
    x, y = (np.bincount(bins, one, len(levels))[used] / counts[used] for one in (values, contributions))
    return x, y


def _draw_categories(axis: Any, data: NDArray[Any], contributions: FloatArray, indices: list[int]) -> tuple[int, float]:
    """Draw a strip of points and their mean for each category; return the number of values and the room for names."""
    counts = dict(Counter(value for value in data if value is not None).most_common(MAX_CATEGORIES))
    axis.axvline(0, color=draw.GREY, linewidth=0.8, zorder=0)
    for row, category in enumerate(counts):
        rows = np.flatnonzero(data == category)
        jitter = 2 * ((0.618034 * rows) % 1.0) - 1  # deterministic low-discrepancy jitter
        for place, index in enumerate(indices):
            middle = row + 0.7 * ((place + 0.5) / len(indices) - 0.5)
            own = contributions[rows, index]
            _points(axis, index, own, middle + 0.26 / len(indices) * jitter)
            reach = 0.32 / len(indices)
            colour = draw.DARK if len(indices) == 1 else draw.style(index).colour
            axis.plot([own.mean()] * 2, [middle - reach, middle + reach], color=colour, linewidth=2.4)
    texts = draw.distinct([number_text(category) for category in counts], 28)
    names = [f"{text} ({n})" for text, n in zip(texts, counts.values(), strict=True)]
    draw.name_rows(axis, names, 0.5)
    return sum(counts.values()), 40 + draw.text_width(names, 8)
