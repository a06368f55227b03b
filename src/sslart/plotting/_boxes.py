"""The display of boxes over two features."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from sslart._art.geometry import centres
from sslart._data.labels import UNLABELLED
from sslart._mapping.model_view import ModelView, view_of
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.optional import optional
from sslart.plotting import _base as draw
from sslart.plotting._base import Display, at_least_one
from sslart.rules._box_rules import known_names

MAX_SAMPLES = 3000  # drawn
MIN_SIDES = 6  # distinct sides of a feature: with fewer, boxes would be drawn on top of each other
MAX_CORRELATION = 0.98  # squared correlation over more than 10 boxes, above which a feature is redundant


@dataclass(eq=False, repr=False)
class BoxesDisplay(Display):
    """The boxes of a model over two of its features, with samples.

    Made by `from_estimator`.

    Attributes
    ----------
    feature_names : tuple of two str
    nodes : array of shape (n_boxes,)
        The boxes drawn: rows of the model's `lower_` and `upper_`.
    lower, upper : arrays of shape (n_boxes, 2)
        Their sides in the two features, in the user's units.
    labels : list of class or None
        Their classes.
    n_nodes : int
        Number of boxes of the model.
    samples : array of shape (n_samples, 2)
    sample_labels : list of class or None
    classes : list of class
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sslart import FuzzyARTMAP
    >>> from sslart.plotting import BoxesDisplay
    >>> X, y = [[20, 1], [25, 2], [60, 8], [70, 9]], ["young", "young", "old", "old"]
    >>> display = BoxesDisplay.from_estimator(FuzzyARTMAP().fit(X, y), X, y)
    >>> display.labels
    ['young', 'old']
    >>> display.upper
    array([[25.,  2.],
           [70.,  9.]])
    """

    feature_names: tuple[str, str]
    nodes: IntArray
    lower: FloatArray
    upper: FloatArray
    labels: list[Any]
    n_nodes: int
    samples: FloatArray
    sample_labels: list[Any]
    classes: list[Any]

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any = None, y: Any = None, *, features: Any = None, max_boxes: int = 20, ax: Any = None
    ) -> Self:
        """Draw the boxes of a fitted model.

        Parameters
        ----------
        model : FuzzyART, FuzzyARTMAP, SSLART or WESSLART
            Fitted.
        X : array-like of shape (n_samples, n_features), default=None
            Samples to draw beside the boxes.
        y : array-like of shape (n_samples,), default=None
            Their classes; -1, None or NaN where unlabelled.
        features : two names or column numbers, default=None
            None: the two that separate the boxes of different classes best; features with few values, and those
            strongly correlated with another, come last.
        max_boxes : int, default=20
            Maximum number of boxes to draw: those with most samples.
        ax : matplotlib axis, default=None
        """
        view = view_of(model, "a fitted model of sslart", any_estimator=True)
        n = at_least_one("max_boxes", max_boxes)
        if y is not None and X is None:
            raise ValueError("y has the classes of samples, but there are no samples: give X as well.")
        boxes, names, classes = _NumericBoxes.of(view), view.feature_names, view.classes.tolist()
        if features is None:
            pair = _most_different(boxes)
        else:
            pair = [boxes.columns.index(column) for column in _two_columns(features, names, boxes.categorical)]
        columns = [boxes.columns[one] for one in pair]
        lower, upper = boxes.lower[:, pair], boxes.upper[:, pair]
        reached = ~(np.isnan(lower) | np.isnan(upper)).any(axis=1)
        nodes = np.flatnonzero(reached)[draw.most(boxes.support[reached].astype(float), n)]
        samples: FloatArray = np.empty((0, 2))
        sample_labels: list[Any] = []
        if X is not None:
            table = view.read(X)
            samples, sample_labels = table.values[:, columns], [None] * len(table)
            if y is not None:
                sample_labels = view.read_labels(y, table).plain()
        others = {label for label in sample_labels if label is not None} - set(classes)
        return cls(
            (names[columns[0]], names[columns[1]]),
            nodes,
            lower[nodes],
            upper[nodes],
            [None if index == UNLABELLED else classes[index] for index in boxes.labels[nodes].tolist()],
            len(boxes.support),
            samples,
            sample_labels,
            classes + sorted(others, key=str),
        ).plot(ax)

    def _draw(self, ax: Any) -> None:
        axis = self._open(ax, 7.0, 4.6)
        of_boxes, of_samples = _indices(self.labels, self.classes), _indices(self.sample_labels, self.classes)
        step = max(1, -(-len(self.samples) // MAX_SAMPLES))
        drawn = len(self.samples[::step])
        if drawn:
            _draw_samples(axis, self.samples[::step], of_samples[::step])
        _draw_boxes(axis, self.lower, self.upper, of_boxes)
        handles = draw.class_handles(self.classes, [*of_boxes, *of_samples])
        draw.legend_beside(axis, handles)
        axis.set_xlabel(draw.short(self.feature_names[0], 60))
        axis.set_ylabel(draw.short(self.feature_names[1], 44))
        samples = draw.part(drawn, len(self.samples), "sample", f"one in {step}") if drawn else ""
        if drawn and UNLABELLED in of_samples:
            samples += f"; {int((of_samples != UNLABELLED).sum())} with a label"
        taken = 110 + draw.text_width([handle.get_label() for handle in handles], 8)
        boxes = draw.part(len(self.nodes), self.n_nodes, "box", "those with most samples")
        draw.set_title(axis, boxes, samples, taken=taken)


class _NumericBoxes(NamedTuple):
    """The boxes of all members in the numeric features, in the user's units; labels are class indices or -1."""

    columns: list[int]
    categorical: frozenset[int]
    lower: FloatArray
    upper: FloatArray
    span: FloatArray
    support: IntArray
    labels: IntArray

    @classmethod
    def of(cls, view: ModelView) -> _NumericBoxes:
        members, encoder = view.members, view.members[0].encoder
        numeric = [position for position, feature in enumerate(encoder.features) if feature.category is None]
        sides = zip(*(member.network.boxes_in_units() for member in members), strict=True)
        lower, upper = (np.concatenate(side)[:, numeric] for side in sides)
        return cls(
            [encoder.features[position].column for position in numeric],
            encoder.categorical,
            lower,
            upper,
            (encoder.upper - encoder.lower)[numeric],
            np.concatenate([member.support for member in members]),
            np.concatenate([member.labels for member in members]),
        )


def _draw_boxes(ax: Any, lower: FloatArray, upper: FloatArray, labels: IntArray) -> None:
    """Draw boxes over two features as rectangles, those with a label above those without."""
    patches = optional("matplotlib.patches", "plot")
    alpha = min(0.12, max(0.02, 0.8 / max(len(lower), 1)))
    for low, high, label in zip(lower, upper, labels.tolist(), strict=True):
        look, bare = draw.style(label), label == UNLABELLED
        outline = {"fill": False, "edgecolor": look.colour, "linestyle": look.dash, "linewidth": 0.8 if bare else 1.3}
        shapes = [outline] if bare else [{"facecolor": look.colour, "edgecolor": "none", "alpha": alpha}, outline]
        if (low == high).all():
            ax.plot(*low, marker=look.marker, markersize=3.5, markerfacecolor="none", color=look.colour, zorder=1.5)
        for shape in shapes:
            place: dict[str, Any] = {"zorder": 1 if bare else 1.5, "joinstyle": "round"}
            ax.add_patch(patches.Rectangle(tuple(low), *(high - low), **place, **shape))
    ax.update_datalim(np.concatenate([lower, upper]))
    ax.margins(0.05)
    ax.autoscale_view()


def _draw_samples(ax: Any, samples: FloatArray, labels: IntArray) -> None:
    """Draw samples as markers, one shape and colour per class, small dots for those without a label."""
    for label in np.unique(labels).tolist():
        own, look = samples[labels == label], draw.style(label)
        if label == UNLABELLED:
            ax.scatter(*own.T, s=7, c=draw.GREY, alpha=0.5, linewidths=0, zorder=2)
            continue
        face, edge, line = ("none", look.colour, 0.8) if look.hollow else (look.colour, "white", 0.4)
        ax.scatter(*own.T, s=22, marker=look.marker, facecolors=face, edgecolors=edge, linewidths=line, zorder=2.5)


def _indices(labels: Sequence[Any], classes: Sequence[Any]) -> IntArray:
    """Return the index of each label in the classes, -1 for None."""
    indices = {label: index for index, label in enumerate(classes)}
    return np.array([UNLABELLED if label is None else indices[label] for label in labels], dtype=np.int64)


def _two_columns(features: Any, names: list[str], categorical: Collection[int]) -> list[int]:
    chosen = [] if isinstance(features, str) or not np.iterable(features) else list(features)
    if len(chosen) != 2:
        raise ValueError(f"features must be two names or column numbers, got {features!r}. {known_names(names)}")
    columns = []
    for one in chosen:
        if isinstance(one, str) and one in names:
            columns.append(names.index(one))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < len(names):
            columns.append(int(one))
        else:
            raise ValueError(f"The model has no feature {one!r}. {known_names(names)}")
    text = next((names[column] for column in columns if column in categorical), None)
    if text is not None:
        raise ValueError(f"Boxes are drawn over numbers, and {text!r} is categorical: give another feature.")
    if columns[0] == columns[1]:
        raise ValueError(f"features has {names[columns[0]]!r} twice: give two different ones.")
    return columns


def _most_different(boxes: _NumericBoxes) -> list[int]:
    """Return the two features whose box centres differ most between classes, or else overall, in column order."""
    if boxes.lower.shape[1] < 2:
        raise ValueError("Boxes are drawn over two numeric features, and the model has fewer: draw its rules instead.")
    middles = centres(boxes.lower, boxes.upper) / np.where(boxes.span > 0, boxes.span, 1.0)
    weights = np.where(np.isnan(middles), 0.0, boxes.support[:, None].astype(float))
    middles = np.where(np.isnan(middles), 0.0, middles)
    mean = _mean(middles, weights)
    total: FloatArray = (weights * (middles - mean) ** 2).sum(axis=0)
    difference: FloatArray = np.zeros_like(total)  # between classes
    labels = np.unique(boxes.labels[boxes.labels != UNLABELLED])
    for label in labels:
        own = boxes.labels == label
        difference += weights[own].sum(axis=0) * (_mean(middles[own], weights[own]) - mean) ** 2
    if len(labels) < 2:
        difference = total
    coarse = np.array([len(np.unique(sides)) < MIN_SIDES for sides in np.concatenate([boxes.lower, boxes.upper]).T])
    difference = difference - coarse * (1.0 + difference.max())
    first = int(difference.argmax())
    deviation = np.sqrt(weights) * (middles - mean)
    products = (deviation * deviation[:, [first]]).sum(axis=0)
    correlated = products**2 > MAX_CORRELATION * total * total[first]
    if len(middles) > 10:
        difference = difference - correlated * (2.0 + 2 * abs(difference).max())
    difference[first] = np.inf
    return [int(index) for index in draw.most(difference, 2)]


def _mean(values: FloatArray, weights: FloatArray) -> FloatArray:
    return np.asarray((weights * values).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300))
