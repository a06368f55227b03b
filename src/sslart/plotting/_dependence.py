"""The display of how the contribution of a feature depends on its value."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.text import list_text, number_text, plural
from sslart.explain import FeatureContributions, contributions_of
from sslart.plotting import _style as draw
from sslart.plotting._base import Display, at_least_one

MAX_CLASSES = 4
MAX_CATEGORIES = 12
N_BINS = 12
STRIP = 0.13  # height of the distribution, as a part of the axis


@dataclass(eq=False, repr=False)
class DependenceDisplay(Display):
    """Contribution of a feature to the score of a class against its value: one point per sample.

    Made by `from_estimator` or `from_contributions`.

    Attributes
    ----------
    contributions : FeatureContributions
        Those of all samples drawn.
    feature : str
    shown : list of class
        The classes drawn: of two classes the second, since the contributions to the first are the opposite; of more,
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
            How many samples to draw; of more, an even spread.
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
        if not isinstance(contributions, FeatureContributions):
            kind = type(contributions).__name__
            raise TypeError(f"contributions must be those that model.contributions(X) gives, got a {kind}.")
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
        return [int(index) for index in draw.most(sizes, MAX_CLASSES)]

    def plot(self, ax: Any = None) -> Self:
        """Draw on the given axis, or on a new one."""
        parts, column, indices = self.contributions, self._column, self._indices
        axis = self._open(ax, 6.4, 4.4)
        name = draw.short(self.feature, 48)
        classes = draw.distinct(parts.classes.tolist(), 30)
        data, own = parts.data[:, column], parts.values[:, column]
        if any(not isinstance(value, float | np.floating) for value in data):
            n_drawn, taken = _draw_categories(axis, data, own, indices)
            axis.set_ylabel(f"{name} (samples)", fontsize=9)
            rare = len({value for value in data if value is not None}) > MAX_CATEGORIES
            set_label, why = axis.set_xlabel, "a rare category, or no value" if rare else "no value"
        else:
            n_drawn, taken = _draw_numbers(axis, data.astype(np.float64), own, indices), 40.0
            axis.set_xlabel(name, fontsize=9)
            set_label, why = axis.set_ylabel, "no value"
        axis.tick_params(labelsize=8)
        single = len(indices) == 1
        set_label(f"contribution to the score of {classes[indices[0]] if single else 'each class'}", fontsize=9)
        below = 6.0 if single else draw.legend_above(axis, draw.class_handles(parts.classes.tolist(), indices))
        missing = f", {len(data) - n_drawn} left out: {why}" if n_drawn < len(data) else ""
        title = f"Contributions of {name}, {plural(len(data), 'sample')}{missing}"
        draw.set_title(axis, title, below=below, taken=taken)
        return self


def _draw_numbers(axis: Any, values: FloatArray, contributions: FloatArray, indices: list[int]) -> int:
    """Draw points, their mean by value, and the distribution of the values; return the number of values."""
    known = ~np.isnan(values)
    values, contributions = values[known], contributions[known]
    axis.axhline(0, color=draw.GREY, linewidth=0.8, zorder=0)
    for index in indices:
        _points(axis, index, values, contributions[:, index])
        look, means = draw.style(index), means_by_value(values, contributions[:, index])
        if len(indices) == 1:
            axis.plot(*means, color=draw.DARK, linewidth=1.4)
        else:
            axis.plot(*means, color="white", linewidth=3.2)
            axis.plot(*means, color=look.colour, linestyle=look.dash, linewidth=1.6)
    if len(values):
        low, high = contributions[:, indices].min(), contributions[:, indices].max()
        span = high - low if high - low > 1e-9 else 1.0
        axis.set_ylim(low - (0.06 + 1.25 * STRIP) * span, high + 0.06 * span)
        heights, edges = np.histogram(values, bins=min(30, max(len(np.unique(values)), 1)))
        axis.bar(
            edges[:-1],
            STRIP * heights / heights.max(),
            np.diff(edges),
            align="edge",
            transform=axis.get_xaxis_transform(),
            facecolor=draw.PALE,
            edgecolor=draw.GREY,
            linewidth=0.5,
            zorder=0,
        )
    return len(values)


def _points(axis: Any, index: int, x: Any, y: Any) -> None:
    look = draw.style(index)
    face = "none" if look.hollow else look.colour
    axis.scatter(x, y, s=13, marker=look.marker, facecolor=face, edgecolor=look.colour, linewidth=0.5, alpha=0.45)


def means_by_value(values: FloatArray, contributions: FloatArray) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the mean value and contribution in bins of about as many samples each."""
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
    categories = list(counts)
    axis.axvline(0, color=draw.GREY, linewidth=0.8, zorder=0)
    for row, category in enumerate(categories):
        held = np.flatnonzero(data == category)
        for place, index in enumerate(indices):
            middle = row + 0.7 * ((place + 0.5) / len(indices) - 0.5)
            own = contributions[held, index]
            _points(axis, index, own, middle + _spread(held, 0.26 / len(indices)))
            reach = 0.32 / len(indices)
            colour = draw.DARK if len(indices) == 1 else draw.style(index).colour
            axis.plot([own.mean()] * 2, [middle - reach, middle + reach], color=colour, linewidth=2.4)
    names = draw.distinct([number_text(category) for category in categories], 28)
    names = [f"{name} ({counts[category]})" for name, category in zip(names, categories, strict=True)]
    axis.set_yticks(range(len(names)), names, fontsize=8)
    axis.set_ylim(len(names) - 0.5, -0.5)
    return sum(counts.values()), 40 + draw.text_width(names, 8)


def _spread(rows: IntArray, reach: float) -> FloatArray:
    """Return a deterministic jitter that separates points."""
    return np.asarray(reach * (2 * ((0.618034 * rows) % 1.0) - 1), dtype=np.float64)
