"""Feature contributions with evidence mapping: exact Shapley values of the scores, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._art.geometry import centres
from sslart._data.samples import Table
from sslart._data.training import check_has_label
from sslart._mapping.evidence.readout import ScoreParts
from sslart._mapping.model_view import MemberView, ModelView, view_of
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.optional import optional
from sslart._utils.params import check_option

AVERAGE, NOTHING = "average", "nothing"
MAX_BACKGROUND = 500


@dataclass(frozen=True, eq=False)
class FeatureContributions:
    """What each feature of each sample adds to the score of each class.

    `base + values.sum(axis=1) + graph` is `scores`, for every sample and class.

    Attributes
    ----------
    values : array of shape (n_samples, n_features, n_classes)
        The Shapley value of each feature; that of a categorical feature is one value for the whole column.
    base : array of shape (n_classes,)
        The scores that contributions start from: those of an average sample, or of a sample without any value.
    graph : array of shape (n_samples, n_classes)
        What the graph of boxes adds, which is not divided among features; 0 where the model has no such part.
    scores : array of shape (n_samples, n_classes)
        The scores of the model. The class of the highest score is the prediction, unless the model abstains.
    classes : array of shape (n_classes,)
    feature_names : list of str
    data : array of shape (n_samples, n_features)
        The samples, NaN or None where missing.
    """

    values: FloatArray
    base: FloatArray
    graph: FloatArray
    scores: FloatArray
    classes: NDArray[Any]
    feature_names: list[str]
    data: NDArray[Any]

    def to_shap(self) -> Any:
        """Return the contributions as a `shap.Explanation`, so that the plots of shap show them.

        The graph of boxes, where the model has that part, is its last feature. Needs ``pip install "sslart[shap]"``.
        """
        shap = optional("shap", "shap")
        values, names, data = self.values, self.feature_names, self.data
        if self.graph.any():
            values = np.concatenate([values, self.graph[:, None]], axis=1)
            names = [*names, "graph of boxes"]
            data = np.concatenate([data, np.full((len(data), 1), np.nan).astype(data.dtype)], axis=1)
        base = np.tile(self.base, (len(values), 1))
        return shap.Explanation(values, base, data, feature_names=names, output_names=self.classes.tolist())


def contributions_of(model: Any, X: Any, reference: str = AVERAGE) -> FeatureContributions:
    """Divide the scores of samples among their features.

    Parameters
    ----------
    model : AutoSSLART, or SSLART with mapping="evidence"
        A fitted classifier. It is not changed.
    X : array-like of shape (n_samples, n_features)
        Raw features; NaN where a value is missing.
    reference : {"average", "nothing"}, default="average"
        What a sample is compared with: the average over what was learnt, or a sample of which no value is known.

    Returns
    -------
    FeatureContributions

    Notes
    -----
    A model with evidence mapping has a score for every subset of the features: a missing value adds no distance to any
    box. The contribution of a feature is its Shapley value in that game, computed exactly. With reference="average",
    the mean contribution over the boxes, each counted as often as it has learnt samples, is subtracted from it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.explain import contributions_of
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoSSLART(random_state=0).fit(X, np.where(np.arange(150) % 10 == 0, y, -1))
    >>> parts = contributions_of(model, X[:2])
    >>> parts.values.shape
    (2, 4, 3)
    >>> bool(np.allclose(parts.base + parts.values.sum(axis=1) + parts.graph, parts.scores, atol=1e-5))
    True
    """
    view = view_of(model, "a fitted AutoSSLART, or SSLART with mapping='evidence'")
    check_option("contributions", "reference", reference, (AVERAGE, NOTHING))
    return contributions_in(view, view.read(X), reference)


def contributions_in(view: ModelView, table: Table, reference: str = AVERAGE) -> FeatureContributions:
    """Divide the scores of samples that have been read; see `contributions_of`."""
    check_has_label(view.class_table)
    if not view.uses_evidence:
        raise ValueError(
            f"Contributions of features are those of evidence mapping; this {view.name} predicts by single boxes. "
            "explain(X) names the box behind each prediction, and AutoSSLART or mapping='evidence' has contributions."
        )
    if view.is_ensemble:
        raise ValueError(
            f"The members of this {view.name} have contributions of their own: call contributions(X) of one of "
            "estimators_."
        )
    (member,) = view.members
    coded = member.encode(table)
    parts = _parts(member, coded, len(view.feature_names))
    if reference == AVERAGE:
        average = member.network.once(("average parts", member.readout), lambda: _average_parts(view, member))
        parts = ScoreParts(
            parts.base + average.by_column.sum(axis=0) + average.of_graph,
            parts.by_column - average.by_column,
            parts.of_graph - average.of_graph,
        )
    return FeatureContributions(
        member.class_table.with_unseen(parts.by_column.reshape(-1, parts.by_column.shape[2])).reshape(
            *parts.by_column.shape[:2], -1
        ),
        member.class_table.with_unseen(parts.base[None], fill=-np.inf)[0],
        member.class_table.with_unseen(parts.of_graph),
        member.scores(coded),
        view.classes,
        view.feature_names,
        _data_of(table),
    )


def _parts(member: MemberView, coded: FloatArray, n_columns: int) -> ScoreParts:
    assert member.readout is not None
    columns: IntArray = np.array([feature.column for feature in member.encoder.features], dtype=np.int64)
    return member.readout.contributions(coded, columns, n_columns, member.n_jobs)


def _average_parts(view: ModelView, member: MemberView) -> ScoreParts:
    """Return the mean parts over the boxes, weighted by their samples; of many boxes, over some of them."""
    nodes, weights = background(member)
    parts = _parts(member, centres(*member.boxes_of(nodes)), len(view.feature_names))
    return ScoreParts(
        parts.base, np.tensordot(weights, parts.by_column, axes=1), np.tensordot(weights, parts.of_graph, axes=1)
    )


def background(member: MemberView) -> tuple[IntArray, FloatArray]:
    """Return boxes that stand for all samples learnt, and their weights, which sum to one.

    All boxes, weighted by their samples; of many, some of equal weight.
    """
    support = np.cumsum(member.support, dtype=np.float64)
    if member.n_nodes <= MAX_BACKGROUND:
        return np.arange(member.n_nodes), member.support / support[-1]
    evenly = (np.arange(MAX_BACKGROUND) + 0.5) / MAX_BACKGROUND
    return np.searchsorted(support, evenly * support[-1]), np.full(MAX_BACKGROUND, 1.0 / MAX_BACKGROUND)


def _data_of(table: Table) -> NDArray[Any]:
    if not table.categories:
        return table.values.copy()
    data = table.values.astype(object)
    for column, values in table.categories.items():
        data[:, column] = values
    return data
