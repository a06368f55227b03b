"""Feature importances with evidence mapping: mean absolute contributions by class, and their direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView, view_of
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.optional import optional
from sslart._utils.text import html_table, list_text, number_text, plural, printable
from sslart.explain._contributions import contributions_in, samples_of_boxes

NO_SPREAD = 1e-9  # tolerance for equal contributions
CLEAR = 0.3  # minimum rank correlation to state a direction
RELEVANT = 0.25  # minimum importance for a class to be named, relative to the highest
MAX_NAMES = 3
GRAPH = "(similar samples without a label)"
HEAD = ("feature", "importance", "share", "which values raise the score of which class")


@dataclass(frozen=True, eq=False)
class FeatureImportances:
    """Importance of each feature for the class scores, and its direction.

    ``str()`` gives a table, the most important feature first. All arrays have the order of `feature_names`.

    Attributes
    ----------
    by_class : array of shape (n_features, n_classes)
        Mean absolute contribution of each feature to the score of each class.
    direction : array of shape (n_features, n_classes)
        Correlation between the rank of the value of a numeric feature and its contribution, from -1 to 1: near 1,
        higher values raise the score of the class; near -1, lower values raise it; near 0 neither. NaN for categories.
    by_category : dict from feature name to dict from category to array of shape (n_classes,)
        Mean contribution of each category of a categorical feature: above 0, the category raises the score of the
        class.
    graph : array of shape (n_classes,)
        Mean absolute contribution of the graph of boxes, which is not divided among features; 0 if the model has no
        graph.
    feature_names : list of str
    classes : array of shape (n_classes,)
    n_samples : int
        Number of samples, or of boxes, that the mean is over.
    of_boxes : bool
        Whether the samples were drawn from the boxes.
    """

    by_class: FloatArray
    direction: FloatArray
    by_category: dict[str, dict[Any, FloatArray]]
    graph: FloatArray
    feature_names: list[str]
    classes: NDArray[Any]
    n_samples: int
    of_boxes: bool
    _learnt: BoolArray

    @property
    def importances(self) -> FloatArray:
        """Mean of `by_class` over the classes that were learnt, shape (n_features,)."""
        return np.asarray(self.by_class[:, self._learnt].mean(axis=1))

    @property
    def order(self) -> IntArray:
        """The features by their index, the most important first."""
        return np.argsort(-self.importances, kind="stable")

    @property
    def graph_importance(self) -> float:
        """The mean of `graph` over the classes that were learnt."""
        return float(self.graph[self._learnt].mean())

    @property
    def total(self) -> float:
        """The sum of all importances, that of the graph included."""
        return float(self.importances.sum()) + self.graph_importance

    @property
    def shares(self) -> FloatArray:
        """The importances, divided by their sum and the importance of the graph."""
        return np.asarray(self.importances / (self.total or 1.0))

    def direction_text(self, feature: str) -> str:
        """Return a short text on which values of a feature raise the score of which class."""
        column = self.feature_names.index(feature)
        by_class = self.by_class[column]
        if not by_class.any():
            return "not used"
        if feature in self.by_category:
            return self._categories_text(feature)
        relevant = by_class >= RELEVANT * by_class.max()
        parts = []
        for which, sign in (("higher", 1.0), ("lower", -1.0)):
            signed = (sign * self.direction[column]).round(2)
            raised = np.flatnonzero(relevant & (signed >= CLEAR))
            names = [_class_text(self.classes[index]) for index in raised[np.argsort(-by_class[raised], kind="stable")]]
            if names:
                parts.append(f"{which} values: {list_text(names, MAX_NAMES)}")
        return "; ".join(parts) or "no single direction"

    def _categories_text(self, feature: str) -> str:
        """Return the categories of the largest contribution, each with the class whose score it raises most."""
        highest = {
            category: (amounts.max(), amounts.argmax()) for category, amounts in self.by_category[feature].items()
        }
        raised = sorted((item for item in highest.items() if item[1][0] > 0), key=lambda item: -item[1][0])
        parts = [f"{number_text(category)}: {_class_text(self.classes[index])}" for category, (_, index) in raised]
        rest = len(parts) - MAX_NAMES
        shown = "; ".join(parts[:MAX_NAMES]) or "no single direction"
        return f"{shown}; and {rest} more" if rest > 0 else shown

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row per feature, the most important first.

        Columns are the importance, its share of all, and for each class the importance and the direction.
        """
        pd = optional("pandas", "data")
        columns = {"importance": self.importances, "share": self.shares}
        for index, label in enumerate(self.classes.tolist()):
            columns[f"importance for {label}"] = self.by_class[:, index]
            columns[f"direction for {label}"] = self.direction[:, index]
        return pd.DataFrame(columns, index=pd.Index(self.feature_names, name="feature")).iloc[self.order]

    def to_dict(self) -> dict[str, Any]:
        """Return the importances as plain values that JSON knows, the most important feature first."""
        graph = None
        if self.graph.any():
            graph = {
                "importance": self.graph_importance,
                "share": self.graph_importance / self.total,
                "by_class": self._of_classes(importance=self.graph),
            }
        return {
            "mean_over": "samples drawn from the boxes" if self.of_boxes else "samples",
            "n": self.n_samples,
            "features": [self._feature_dict(column) for column in self.order.tolist()],
            "graph": graph,
        }

    def _feature_dict(self, column: int) -> dict[str, Any]:
        name, by_class, categories = self.feature_names[column], self.by_class[column], None
        if name in self.by_category:
            of_classes = self._of_classes(importance=by_class)
            categories = [
                {"category": category, "by_class": self._of_classes(contribution=amounts)}
                for category, amounts in self.by_category[name].items()
            ]
        else:
            of_classes = self._of_classes(importance=by_class, direction=self.direction[column])
        return {
            "feature": name,
            "importance": float(self.importances[column]),
            "share": float(self.shares[column]),
            "raises": self.direction_text(name),
            "by_class": of_classes,
            "categories": categories,
        }

    def _of_classes(self, **amounts: FloatArray) -> list[dict[str, Any]]:
        """Return amounts by class as a list of dicts."""
        columns = zip(self.classes.tolist(), *(values.tolist() for values in amounts.values()), strict=True)
        return [dict(zip(("class", *amounts), column, strict=True)) for column in columns]

    def _headline(self) -> str:
        over = plural(self.n_samples, "sample") + (" drawn from the boxes" if self.of_boxes else "")
        return f"Feature importances: mean absolute contribution to the scores of the classes, over {over}."

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return name, importance, share and direction of each feature and of the graph, most important first."""
        parts = [
            (float(self.importances[column]), name, self.direction_text(name))
            for column, name in ((column, self.feature_names[column]) for column in self.order)
        ]
        if self.graph.any():
            parts.append((self.graph_importance, GRAPH, "the graph of boxes, which is not divided among features"))
        parts.sort(key=lambda part: -part[0])
        total = self.total or 1.0
        return [
            (printable(name), number_text(amount, 3), f"{100 * amount / total:.0f} %", words)
            for amount, name, words in parts
        ]

    def __str__(self) -> str:
        lines = [HEAD, *self.rows()]
        widths = [max(len(line[column]) for line in lines) for column in range(3)]
        table = (
            "  ".join([name.ljust(widths[0]), value.rjust(widths[1]), share.rjust(widths[2]), words])
            for name, value, share, words in lines
        )
        return "\n".join([self._headline(), "", *table])

    def _repr_html_(self) -> str:
        return html_table(HEAD, self.rows(), caption=self._headline(), row_headers=True)


def importances_of(model: Any, X: Any = None) -> FeatureImportances:
    """Return the importance of each feature for the scores of a model, and its direction.

    Parameters
    ----------
    model : AutoSSLART, or SSLART or WESSLART with mapping="evidence"
        A fitted classifier. It is not changed.
    X : array-like of shape (n_samples, n_features), default=None
        Samples to average over, labelled or not. None: samples drawn from the boxes of the model, in proportion to
        their supports; for an ensemble, from the boxes of the first member.

    Returns
    -------
    FeatureImportances

    Notes
    -----
    The importance of a feature is the mean absolute value of its contributions, which are exact Shapley values against
    an average sample: see `contributions_of`. It describes the model, not causes of a class. Features with the same
    information share their importance.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.explain import importances_of
    >>> data = load_iris(as_frame=True)
    >>> y = data.target_names[data.target].astype(object)
    >>> y[np.arange(150) % 10 > 0] = None  # keep one label in ten
    >>> model = AutoSSLART(random_state=0).fit(data.data, y)
    >>> found = importances_of(model)
    >>> found.feature_names[found.order[0]]
    'petal width (cm)'
    >>> found.direction_text("petal width (cm)")
    'higher values: virginica; lower values: setosa'
    """
    view = view_of(model, "a fitted classifier with mapping='evidence', such as AutoSSLART")
    if X is not None:
        table = view.read(X)
        return _importances(view, table, of_boxes=False)
    readouts = tuple(member.readout for member in view.members)
    votes = None if view.vote_weights is None else view.vote_weights.tobytes()
    return view.members[0].network.get_or_compute(
        ("importances", readouts, votes), lambda: _importances(view, samples_of_boxes(view), of_boxes=True)
    )


def _importances(view: ModelView, table: Table, *, of_boxes: bool) -> FeatureImportances:
    parts = contributions_in(view, table)
    weights = np.full(len(table), 1.0 / len(table))
    by_class = (weights[:, None, None] * np.abs(parts.values)).sum(axis=0)
    direction = np.full(by_class.shape, np.nan)
    by_category: dict[str, dict[Any, FloatArray]] = {}
    for column, name in enumerate(parts.feature_names):
        if column in view.members[0].encoder.categorical:
            by_category[name] = _by_category(parts.data[:, column], parts.values[:, column], weights)
        else:
            direction[column] = _rank_correlations(table.values[:, column], parts.values[:, column], weights)
    return FeatureImportances(
        by_class,
        direction,
        by_category,
        (weights[:, None] * np.abs(parts.graph)).sum(axis=0),
        parts.feature_names,
        parts.classes,
        len(weights),
        of_boxes,
        np.isin(view.classes, view.class_table.seen),
    )


def _by_category(values: NDArray[Any], contributions: FloatArray, weights: FloatArray) -> dict[Any, FloatArray]:
    """Return the mean contributions of each category, the most frequent category first."""
    shares = {
        category: float(weights[values == category].sum())
        for category in dict.fromkeys(one for one in values if one is not None)
    }
    return {
        category: weights[values == category] @ contributions[values == category] / share
        for category, share in sorted(shares.items(), key=lambda item: -item[1])
        if share > 0
    }


def _rank_correlations(values: FloatArray, contributions: FloatArray, weights: FloatArray) -> FloatArray:
    """Return the correlation of ranks of values with the contributions to each class; 0 where either is constant."""
    known = ~np.isnan(values)
    if not known.any() or not weights[known].sum():
        return np.zeros(contributions.shape[1])
    weights = weights[known] / weights[known].sum()
    columns = np.column_stack([rankdata(values[known]), contributions[known]])
    columns -= weights @ columns
    spread = np.sqrt(weights @ columns**2)
    together = (weights * columns[:, 0]) @ columns[:, 1:]
    varies = (spread[0] > 0) & (spread[1:] > NO_SPREAD)
    return np.asarray(np.divide(together, spread[0] * spread[1:], out=np.zeros_like(together), where=varies))


def _class_text(label: Any) -> str:
    """Return the name of a class, or "class 1" if it could be taken for a value of the feature."""
    name = printable(label)
    return name if any(character.isalpha() for character in name) else f"class {name}"
