"""The display of feature importances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sslart._utils.optional import optional
from sslart._utils.text import plural
from sslart.explain import FeatureImportances, importances_of
from sslart.explain._text.importances import CLEAR
from sslart.plotting import _style as draw
from sslart.plotting._base import Display, at_least_one

UP, DOWN = "\N{BLACK UP-POINTING TRIANGLE}", "\N{BLACK DOWN-POINTING TRIANGLE}"
GRAPH = "similar samples without a label"
MAX_CLASSES = 5
UNDIRECTED: dict[str, Any] = {"facecolor": "#bdbdbd", "edgecolor": "white", "linewidth": 0}
BY_CATEGORY: dict[str, Any] = {"facecolor": "#bdbdbd", "edgecolor": "white", "hatch": "////", "linewidth": 0}
NOT_DIVIDED: dict[str, Any] = {"facecolor": "white", "edgecolor": draw.GREY, "linewidth": 1.0}

END: dict[str, Any] = {"textcoords": "offset points", "va": "center", "fontsize": 8, "color": draw.DARK}
ON_BAR: dict[str, Any] = {"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.9}


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
    """Bar chart of the importance of each feature for the class scores, with its direction.

    With two classes, the colour of a bar is that of the class whose score higher values raise. With more, a bar has a
    part for each class, or for the five to which features contribute most. Features that the model does not use are not
    drawn. Made by `from_estimator` or `from_importances`.

    Attributes
    ----------
    importances : FeatureImportances
        What is drawn, in full.
    shown : list of str
        The features drawn, the most important first.
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.plotting import ImportanceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = ImportanceDisplay.from_estimator(AutoSSLART(random_state=0).fit(X, y), max_features=2)
    >>> display.shown
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
            Samples to measure on. None: the boxes of the model.
        max_features : int, default=15
            How many features to draw: the most important.
        ax : matplotlib axis, default=None
        """
        most = at_least_one("max_features", max_features)
        return cls.from_importances(importances_of(model, X), max_features=most, ax=ax)

    @classmethod
    def from_importances(cls, importances: FeatureImportances, *, max_features: int = 15, ax: Any = None) -> Self:
        """Draw the result of ``model.feature_importances()``; see `from_estimator`."""
        if not isinstance(importances, FeatureImportances):
            kind = type(importances).__name__
            raise TypeError(f"importances must be those that model.feature_importances() gives, got a {kind}.")
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

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axis, or on a new one."""
        found, columns = self.importances, self._columns
        names = draw.distinct(self.shown, 34)
        if found.graph.any():
            names.append(GRAPH)
        axis = self._open(ax, 7.6, 1.9 + 0.3 * len(names))
        two = len(found.classes) == 2
        handles = _one_colour_each(axis, found, columns) if two else _parts_by_class(axis, found, columns)
        ends = [*found.importances[columns].tolist(), *([found.graph_importance] if found.graph.any() else [])]
        if found.graph.any():
            axis.barh(len(columns), found.graph_importance, height=0.66, **NOT_DIVIDED)
        for row, end in enumerate(ends):
            axis.annotate(f"{end:#.2g}", (end, row), (3, 0), **END)
        axis.set_yticks(range(len(names)), names, fontsize=8)
        axis.set_ylim(len(names) - 0.4, -0.6)
        axis.set_xlim(0, 1.14 * max(*ends, 1e-12))
        axis.tick_params(axis="x", labelsize=8)
        signs = "" if two else f"; {UP} higher values raise the score, {DOWN} lower values do"
        axis.set_xlabel(f"mean absolute contribution{signs}", fontsize=9)
        _set_title(axis, self, names, handles, beside=not two)
        return self


def _set_title(axis: Any, display: ImportanceDisplay, names: list[str], handles: list[Any], *, beside: bool) -> None:
    found = display.importances
    which = draw.part(len(display.shown), len(found.feature_names), "feature", "the most important")
    which = which if display.shown else "the model uses no feature by itself"
    over = plural(found.n_samples, "sample") + (" drawn from the boxes" if found.of_boxes else "")
    taken = 20 + draw.text_width(names, 8)
    below = 6.0
    if handles and beside:
        draw.legend_beside(axis, handles, "score of class")
        taken += 40 + draw.text_width([handle.get_label() for handle in handles], 8)
    elif handles:
        below = draw.legend_above(axis, handles)
    draw.set_title(axis, f"Feature importances over {over}; {which}", below=below, taken=taken)


def _one_colour_each(axis: Any, found: FeatureImportances, columns: list[int]) -> list[Any]:
    """Draw one bar per feature, coloured by the class whose score higher values raise; return the legend."""
    patches = optional("matplotlib.patches", "plot")
    classes = draw.distinct(found.classes.tolist(), 30)
    looks = {}
    for row, column in enumerate(columns):
        name, look = "no single direction", UNDIRECTED
        if found.feature_names[column] in found.by_category:
            name, look = "categories", BY_CATEGORY
        elif np.abs(found.direction[column, 1]) >= CLEAR:
            raised = int(found.direction[column, 1] > 0)
            name, look = f"higher values raise the score of {classes[raised]}", draw.area(raised)
        axis.barh(row, found.importances[column], height=0.66, **look)
        looks[name] = look
    return [patches.Patch(label=name, **looks[name]) for name in sorted(looks, key=_legend_order)]


def _legend_order(name: str) -> tuple[bool, str]:
    return not name.startswith("higher"), name


def _parts_by_class(axis: Any, found: FeatureImportances, columns: list[int]) -> list[Any]:
    """Draw one bar per feature, made of a part per class with a sign for its direction; return the legend."""
    patches = optional("matplotlib.patches", "plot")
    classes = draw.distinct(found.classes.tolist(), 22)
    of_class = found.by_class.sum(axis=0)
    n_learnt = int((of_class > 0).sum())
    named = draw.most(of_class, n_learnt if n_learnt <= MAX_CLASSES + 1 else MAX_CLASSES).tolist()
    longest = float(found.importances.max(initial=found.graph_importance)) or 1.0
    points = (draw.room(axis)[0] - 130) / (1.14 * longest)
    for row, column in enumerate(columns):
        start = 0.0
        for index in named:
            width = float(found.by_class[column, index]) / n_learnt
            axis.barh(row, width, left=start, height=0.66, **draw.area(index))
            sign = _sign(float(found.direction[column, index]))
            if sign and width * points > 11:
                axis.text(start + width / 2, row, sign, ha="center", va="center", fontsize=6, bbox=ON_BAR)
            start += width
        axis.barh(row, max(float(found.importances[column]) - start, 0.0), left=start, height=0.66, **UNDIRECTED)
    handles = [patches.Patch(label=classes[index], **draw.area(index)) for index in named]
    rest = n_learnt - len(named)
    return [*handles, patches.Patch(label=f"{rest} other classes", **UNDIRECTED)] if rest else handles


def _sign(direction: float) -> str:
    return UP if direction >= CLEAR else DOWN if direction <= -CLEAR else ""
