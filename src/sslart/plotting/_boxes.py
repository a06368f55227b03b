"""The display of boxes over two features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sslart._data.labels import UNLABELLED, read_labels
from sslart._data.training import as_known
from sslart._utils.arrays import FloatArray, IntArray
from sslart.estimators._base import ARTEstimator
from sslart.estimators._wesslart import WESSLART
from sslart.plotting import _style as draw
from sslart.plotting._base import LAST_STEP, Display, at_least_one
from sslart.rules._scales import known

MAX_SAMPLES = 3000
FINE = 6  # sides: features of fewer values make boxes that lie on one another
SAME = 0.98  # squared correlation, over more than 10 boxes: two features of which one is enough


@dataclass(eq=False, repr=False)
class BoxesDisplay(Display):
    """The boxes of a model over two of its features, with samples.

    Made by `from_estimator`.

    Attributes
    ----------
    feature_names : tuple of two str
    nodes : array of shape (n_boxes,)
        The nodes drawn: rows of the model's `lower_` and `upper_`.
    lower, upper : arrays of shape (n_boxes, 2)
        Their sides over the two features, in the user's units.
    labels : list of class or None
        Their classes.
    n_nodes : int
        How many nodes the model has.
    samples : array of shape (n_samples, 2)
    sample_labels : list of class or None
    classes : list of class
    ax_, figure_
        Where it was drawn.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import SSLART
    >>> from sslart.plotting import BoxesDisplay
    >>> data = load_iris(as_frame=True)
    >>> model = SSLART(vigilance=0.5, random_state=0).fit(data.data, data.target_names[data.target])
    >>> display = BoxesDisplay.from_estimator(model, data.data, data.target_names[data.target])
    >>> display.feature_names
    ('petal length (cm)', 'petal width (cm)')
    >>> display.labels
    ['virginica', 'setosa', 'versicolor', 'virginica', 'setosa']
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
            None: the two by which the boxes of different classes lie furthest apart; features of few values, and
            such as say the same twice, come last.
        max_boxes : int, default=20
            How many boxes to draw: those with most samples.
        ax : matplotlib axis, default=None
        """
        if not isinstance(model, ARTEstimator | WESSLART):
            raise TypeError(f"BoxesDisplay draws a fitted model of sslart, got a {type(model).__name__}. {LAST_STEP}")
        check_is_fitted(model)
        known_classes = getattr(model, "_class_table", None)
        n = at_least_one("max_boxes", max_boxes)
        if y is not None and X is None:
            raise ValueError("y says the classes of samples, but there are none: give X as well.")
        encoder = getattr(model, "estimators_", [model])[0]._network.encoder
        names = _names_of(model)
        numeric = [place for place, one in enumerate(encoder.features) if one.column not in encoder.categorical]
        lower, upper, support = model.lower_, model.upper_, model.support_
        classes: list[Any] = [] if known_classes is None else known_classes.classes.tolist()
        labels: list[Any] = [None] * len(lower)
        if classes:
            labels = [
                label if label in classes else None for label in getattr(model, "node_labels_", np.empty(0)).tolist()
            ]
        columns = [encoder.features[place].column for place in numeric]
        if features is None:
            span = (encoder.upper - encoder.lower)[numeric]
            pair = _most_telling(lower[:, numeric], upper[:, numeric], span, support, _places(labels, classes))
        else:
            pair = [columns.index(column) for column in _two_columns(features, names, encoder.categorical)]
        places = [numeric[one] for one in pair]
        lower, upper = lower[:, places], upper[:, places]
        whole = ~(np.isnan(lower) | np.isnan(upper)).any(axis=1)
        nodes = np.flatnonzero(whole)[draw.most(support[whole].astype(float), n)]
        samples: FloatArray = np.empty((0, 2))
        sample_labels: list[Any] = []
        if X is not None:
            table = model._read(X)
            samples, sample_labels = encoder.matrix(table)[:, places], [None] * len(table)
            if y is not None:
                read = read_labels(y, table)
                read = read if known_classes is None else as_known(known_classes, read)
                pairs = zip(read.values.tolist(), read.known.tolist(), strict=True)
                sample_labels = [value if labelled else None for value, labelled in pairs]
        others = {label for label in sample_labels if label is not None} - set(classes)
        shown = (names[columns[pair[0]]], names[columns[pair[1]]])
        return cls(
            shown,
            nodes,
            lower[nodes],
            upper[nodes],
            [labels[node] for node in nodes],
            len(support),
            samples,
            sample_labels,
            classes + sorted(others, key=str),
        ).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw, on the given axis or one of its own."""
        axis = self._open(ax, 7.0, 4.6)
        places, of_samples = _places(self.labels, self.classes), _places(self.sample_labels, self.classes)
        step = max(1, -(-len(self.samples) // MAX_SAMPLES))
        if len(self.samples):
            _draw_samples(axis, self.samples[::step], of_samples[::step])
        _draw_boxes(axis, self.lower, self.upper, places)
        handles = draw.class_handles(self.classes, [*places, *of_samples])
        draw.legend_beside(axis, handles)
        axis.set_xlabel(draw.short(self.feature_names[0], 60))
        axis.set_ylabel(draw.short(self.feature_names[1], 44))
        drawn = len(self.samples[::step])
        samples = draw.part(drawn, len(self.samples), "sample", f"one in {step}") if drawn else ""
        if drawn and UNLABELLED in of_samples:
            samples += f"; {int((of_samples != UNLABELLED).sum())} with a label"
        taken = 110 + draw.text_width([handle.get_label() for handle in handles], 8)
        draw.entitle(
            axis, draw.part(len(self.nodes), self.n_nodes, "box", "those with most samples"), samples, taken=taken
        )
        return self


def _draw_boxes(ax: Any, lower: FloatArray, upper: FloatArray, places: IntArray) -> None:
    """Draw boxes over two features as rectangles, those with a label above those without."""
    from matplotlib.patches import Rectangle

    alpha = min(0.12, max(0.02, 0.8 / max(len(lower), 1)))
    for low, high, place in zip(lower, upper, places.tolist(), strict=True):
        look, bare = draw.style(place), place == UNLABELLED
        outline = {"fill": False, "edgecolor": look.colour, "linestyle": look.dash, "linewidth": 0.8 if bare else 1.3}
        shapes = [outline] if bare else [{"facecolor": look.colour, "edgecolor": "none", "alpha": alpha}, outline]
        if (low == high).all():
            ax.plot(*low, marker=look.marker, markersize=3.5, markerfacecolor="none", color=look.colour, zorder=1.5)
        for shape in shapes:
            ax.add_patch(Rectangle(tuple(low), *(high - low), zorder=1 if bare else 1.5, joinstyle="round", **shape))
    ax.update_datalim(np.concatenate([lower, upper]))
    ax.margins(0.05)
    ax.autoscale_view()


def _draw_samples(ax: Any, samples: FloatArray, places: IntArray) -> None:
    """Draw samples as marks, one shape and colour per class, small dots for those without a label."""
    for place in np.unique(places).tolist():
        own, look = samples[places == place], draw.style(place)
        if place == UNLABELLED:
            ax.scatter(*own.T, s=7, c=draw.GREY, alpha=0.5, linewidths=0, zorder=2)
            continue
        face, edge, line = ("none", look.colour, 0.8) if look.hollow else (look.colour, "white", 0.4)
        ax.scatter(*own.T, s=22, marker=look.marker, facecolors=face, edgecolors=edge, linewidths=line, zorder=2.5)


def _names_of(model: Any) -> list[str]:
    names = getattr(model, "feature_names_in_", None)
    return [f"x{column}" for column in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def _places(labels: Sequence[Any], classes: Sequence[Any]) -> IntArray:
    places = {label: place for place, label in enumerate(classes)}
    found = [UNLABELLED if label is None else places[label] for label in labels]
    return np.array(found, dtype=np.int64)


def _two_columns(features: Any, names: list[str], categorical: Iterable[int]) -> list[int]:
    """Return the columns of two numeric features."""
    wished = [] if isinstance(features, str) or not np.iterable(features) else list(features)
    if len(wished) != 2:
        raise ValueError(f"features must be two names or column numbers, got {features!r}. {known(names)}")
    columns = []
    for one in wished:
        if isinstance(one, str) and one in names:
            columns.append(names.index(one))
        elif isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < len(names):
            columns.append(int(one))
        else:
            raise ValueError(f"The model has no feature {one!r}. {known(names)}")
    for column in columns:
        if column in set(categorical):
            raise ValueError(
                f"Boxes are drawn over numbers, and {names[column]!r} is categorical: name another feature."
            )
    if columns[0] == columns[1]:
        raise ValueError(f"features names {names[columns[0]]!r} twice: name two different ones.")
    return columns


def _most_telling(
    lower: FloatArray, upper: FloatArray, span: FloatArray, support: NDArray[np.int64], places: IntArray
) -> list[int]:
    """Return the two features, in their order, whose box centres differ most from class to class, or else at all."""
    if lower.shape[1] < 2:
        raise ValueError("Boxes are drawn over two numeric features, and the model has fewer: draw its rules instead.")
    centres = (lower + upper) / 2 / np.where(span > 0, span, 1.0)
    weights = np.where(np.isnan(centres), 0.0, support[:, None].astype(float))
    centres = np.where(np.isnan(centres), 0.0, centres)
    mean = (weights * centres).sum(axis=0) / np.maximum(weights.sum(axis=0), 1e-300)
    total: FloatArray = (weights * (centres - mean) ** 2).sum(axis=0)
    between: FloatArray = np.zeros_like(total)
    for place in np.unique(places[places != UNLABELLED]):
        own = weights[places == place]
        sums = own.sum(axis=0)
        between += sums * ((own * centres[places == place]).sum(axis=0) / np.maximum(sums, 1e-300) - mean) ** 2
    several = len(np.unique(places[places != UNLABELLED])) > 1
    apart = between if several else total
    coarse = np.array([len(np.unique(sides)) < FINE for sides in np.concatenate([lower, upper]).T])
    apart = apart - coarse * (1.0 + apart.max())
    first = int(apart.argmax())
    off = np.sqrt(weights) * (centres - mean)
    same = (off * off[:, [first]]).sum(axis=0) ** 2 > SAME * total * total[first]
    if len(lower) > 10:
        apart = apart - same * (2.0 + 2 * abs(apart).max())
    apart[first] = np.inf
    return [int(place) for place in draw.most(apart, 2)]
