"""Feature importances with evidence mapping: mean absolute contributions by class, and their direction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView, view_of
from sslart._mapping.quality import NO_FINDING
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.optional import optional
from sslart._utils.text import escape, html_table, list_text, number_text, plural, printable
from sslart.explain._certainty import (
    DIRECTION_LEVEL,
    INTERVALS,
    ORDER_NOT_SETTLED,
    decimals_of,
    half_width,
    is_settled,
)
from sslart.explain._contributions import (
    FeatureContributions,
    contributions_in,
    replicate_parts,
    samples_of_boxes,
)

NO_SPREAD = 1e-9  # tolerance for equal contributions
CLEAR = 0.3  # minimum rank correlation to state a direction
RELEVANT = 0.25  # minimum importance for a class to be named, relative to the highest
MAX_NAMES = 3
MAX_COMPARED = 100  # samples in intervals, evenly spaced: each takes as long as 20 in the importances
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
    half_widths : array of shape (n_features,), or None
        Half the width of the 95 % interval of `importances` over the choice of labelled samples; None where it is not
        known: see the notes of `contributions_of`.
    order_settled : bool or None
        False if other labels may put the second feature before the first; None if that is not known.
    settled_direction : array of shape (n_features, n_classes)
        1 or -1 if `direction` is at least 0.3 in size and its 99 % interval over the choice of labelled samples
        excludes 0; else 0. Where intervals are not known, by its size alone.
    shows_skill : bool
        False if the labels do not show that predictions beat class frequencies: then nothing here is a finding.
    """

    by_class: FloatArray
    direction: FloatArray
    by_category: dict[str, dict[Any, FloatArray]]
    graph: FloatArray
    feature_names: list[str]
    classes: NDArray[Any]
    n_samples: int
    of_boxes: bool
    half_widths: FloatArray | None
    order_settled: bool | None
    settled_direction: IntArray
    shows_skill: bool
    _learnt: BoolArray
    _settled_categories: dict[str, dict[Any, BoolArray]]

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
        for which, sign in (("higher", 1), ("lower", -1)):
            raised = np.flatnonzero(relevant & (self.settled_direction[column] == sign))
            names = [_class_text(self.classes[index]) for index in raised[np.argsort(-by_class[raised], kind="stable")]]
            if names:
                parts.append(f"{which} values: {list_text(names, MAX_NAMES)}")
        is_clear = bool((np.abs(self.direction[column, relevant]).round(2) >= CLEAR).any())
        return "; ".join(parts) or ("no stable direction" if is_clear else "no single direction")

    def _categories_text(self, feature: str) -> str:
        """Return the settled categories of the largest contribution, each with the class whose score it raises most."""
        settled = self._settled_categories[feature]
        highest = {
            category: (amounts.max(), amounts.argmax()) for category, amounts in self.by_category[feature].items()
        }
        raised = sorted(
            (item for item in highest.items() if item[1][0] > 0 and settled[item[0]][item[1][1]]),
            key=lambda item: -item[1][0],
        )
        parts = [f"{number_text(category)}: {_class_text(self.classes[index])}" for category, (_, index) in raised]
        rest = len(parts) - MAX_NAMES
        shown = "; ".join(parts[:MAX_NAMES]) or "no stable direction"
        return f"{shown}; and {rest} more" if rest > 0 else shown

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, one row per feature, the most important first.

        Columns are the importance, its share of all, and for each class the importance and the direction.
        """
        pd = optional("pandas", "data")
        columns = {"importance": self.importances, "share": self.shares}
        if self.half_widths is not None:
            columns["half width"] = self.half_widths
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
            "order_settled": self.order_settled,
            "shows_skill": self.shows_skill,
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
            "half_width": self._half_width(column),
            "share": float(self.shares[column]),
            "raises": self.direction_text(name),
            "by_class": of_classes,
            "categories": categories,
        }

    def _of_classes(self, **amounts: FloatArray) -> list[dict[str, Any]]:
        """Return amounts by class as a list of dicts."""
        columns = zip(self.classes.tolist(), *(values.tolist() for values in amounts.values()), strict=True)
        return [dict(zip(("class", *amounts), column, strict=True)) for column in columns]

    def _half_width(self, column: int) -> float | None:
        return None if self.half_widths is None else float(self.half_widths[column])

    def notes(self) -> list[str]:
        """Return sentences on the intervals, and on the order of the first two features."""
        found = [] if self.half_widths is None else [INTERVALS]
        if self.order_settled is False:
            first, second = (printable(self.feature_names[column]) for column in self.order[:2])
            found.append(ORDER_NOT_SETTLED.format(second, first))
        return found

    def _headline(self) -> str:
        over = plural(self.n_samples, "sample") + (" drawn from the boxes" if self.of_boxes else "")
        found = f"Feature importances: mean absolute contribution to the scores of the classes, over {over}."
        return found if self.shows_skill else f"{NO_FINDING} {found}"

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Return name, importance, share and direction of each feature and of the graph, most important first."""
        parts = [
            (float(self.importances[column]), name, self.direction_text(name), self._half_width(column))
            for column, name in ((column, self.feature_names[column]) for column in self.order.tolist())
        ]
        if self.graph.any():
            graph_words = "the graph of boxes, which is not divided among features"
            parts.append((self.graph_importance, GRAPH, graph_words, None))
        parts.sort(key=lambda part: -part[0])
        total = self.total or 1.0
        return [
            (printable(name), _amount_text(amount, half_width), f"{100 * amount / total:.0f} %", words)
            for amount, name, words, half_width in parts
        ]

    def __str__(self) -> str:
        lines = [HEAD, *self.rows()]
        widths = [max(len(line[column]) for line in lines) for column in range(3)]
        table = (
            "  ".join([name.ljust(widths[0]), value.rjust(widths[1]), share.rjust(widths[2]), words])
            for name, value, share, words in lines
        )
        notes = self.notes()
        return "\n".join([self._headline(), "", *table, *(["", *notes] if notes else [])])

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in self.notes())
        return html_table(HEAD, self.rows(), caption=self._headline(), row_headers=True) + notes


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
    >>> y[np.arange(150) % 3 > 0] = None  # keep one label in three
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
    learnt = np.isin(view.classes, view.class_table.seen)
    importances = by_class[:, learnt].mean(axis=1)
    settled = _settled(view, table, parts, np.argsort(-importances, kind="stable"), learnt)
    return FeatureImportances(
        by_class,
        direction,
        by_category,
        (weights[:, None] * np.abs(parts.graph)).sum(axis=0),
        parts.feature_names,
        parts.classes,
        len(weights),
        of_boxes,
        settled.half_widths,
        settled.order,
        np.where(settled.directions & (np.abs(direction).round(2) >= CLEAR), np.sign(direction), 0.0).astype(np.int64),
        view.shows_skill,
        learnt,
        {name: {one: settled.category(name, one) for one in own} for name, own in by_category.items()},
    )


class _Settled(NamedTuple):
    """Intervals of importances, and what is settled by them."""

    half_widths: FloatArray | None
    order: bool | None
    directions: BoolArray  # (n_features, n_classes)
    categories: dict[tuple[str, Any], BoolArray] | None  # a mask of classes; None if nothing is known

    def category(self, name: str, category: Any) -> BoolArray:
        """Return a mask of the classes for which the mean contribution of a category is settled."""
        if self.categories is None:
            return np.ones(self.directions.shape[1], dtype=bool)
        return self.categories.get((name, category), np.zeros(self.directions.shape[1], dtype=bool))


def _settled(
    view: ModelView, table: Table, parts: FeatureContributions, order: IntArray, learnt: BoolArray
) -> _Settled:
    """Compare contributions with those by regressions without some labels, on at most `MAX_COMPARED` samples."""
    rows = np.unique(np.linspace(0, len(table) - 1, MAX_COMPARED).astype(np.int64))
    some = table[rows]
    found = replicate_parts(view, [member.at_choice.encode(some) for member in view.members])
    values, data = parts.values[rows], parts.data[rows]
    if found is None:
        return _Settled(None, None, np.ones(values.shape[1:], dtype=bool), None)
    found = found[:, :, :-1]
    importances = np.abs(found).mean(axis=1)[:, :, learnt].mean(axis=2)
    first_two = importances[:, order[:2]]
    own = np.abs(values).mean(axis=0)[order[:2]][:, learnt].mean(axis=1)
    directions = np.zeros(values.shape[1:], dtype=bool)
    categories: dict[tuple[str, Any], BoolArray] = {}
    for column, name in enumerate(parts.feature_names):
        if column in view.members[0].encoder.categorical:
            for category in dict.fromkeys(one for one in data[:, column] if one is not None):
                has = data[:, column] == category
                means = found[:, has, column].mean(axis=1)
                categories[name, category] = is_settled(values[has, column].mean(axis=0), means, DIRECTION_LEVEL)
        else:
            ranks = _centred_ranks(some.values[:, column])
            slopes = np.einsum("n,rnk->rk", ranks, found[:, :, column])
            directions[column] = is_settled(ranks @ values[:, column], slopes, DIRECTION_LEVEL)
    is_order = bool(is_settled(own[0] - own[1], first_two[:, 0] - first_two[:, 1])) if len(own) > 1 else None
    return _Settled(half_width(importances), is_order, directions, categories)


def _centred_ranks(values: FloatArray) -> FloatArray:
    """Return the ranks of values minus their mean, 0 for missing ones."""
    known = ~np.isnan(values)
    ranks = np.zeros(len(values))
    if known.any():
        ranks[known] = rankdata(values[known])
        ranks[known] -= ranks[known].mean()
    return ranks


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


def _amount_text(amount: float, half_width: float | None) -> str:
    """Return an importance with its interval, in settled decimals."""
    if half_width is None:
        return number_text(amount, 3)
    n = decimals_of(half_width)
    return f"{amount:.{n}f} ± {half_width:.{n}f}"


def _class_text(label: Any) -> str:
    """Return the name of a class, or "class 1" if it could be taken for a value of the feature."""
    name = printable(label)
    return name if any(character.isalpha() for character in name) else f"class {name}"
