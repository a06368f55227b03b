"""Feature contributions with evidence mapping: exact Shapley values of the scores, as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.labels import check_has_label
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView, view_of
from sslart._utils.arrays import FloatArray
from sslart._utils.optional import optional
from sslart._utils.validation import check_option
from sslart.explain._score_contributions import score_contributions

AVERAGE, NOTHING = "average", "nothing"


@dataclass(frozen=True, eq=False)
class FeatureContributions:
    """Contributions of each feature of each sample to the score of each class.

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
        The scores of the model. The class of the highest score is the prediction, unless the model abstains. Those of
        an ensemble are the sums of the probabilities by its members, each times the weight of its vote.
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

        The graph of boxes, where the model has that part, is its last feature. Needs the extra `shap`.
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
    model : AutoSSLART, or SSLART or WESSLART with mapping="evidence"
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
    the mean contribution over samples drawn from the boxes is subtracted from it.

    The score of an ensemble is a sum of probabilities, which are not additive in the features. Within each member, the
    contributions to its scores are carried over to its probabilities: all grow together from nothing to what they are,
    and each gets what it adds to the probability on the way (the value of Aumann and Shapley). With two classes, this
    divides the change of the probability in proportion to the contributions. All members vote here, whatever
    `search_depth` is.

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
    view = view_of(model, "a fitted AutoSSLART, or SSLART or WESSLART with mapping='evidence'")
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
    coded = [member.at_choice.encode(table) for member in view.members]
    parts = score_contributions(view, coded, to_average=reference == AVERAGE)
    return FeatureContributions(
        parts.by_column,
        parts.base[0],
        parts.of_graph,
        parts.scores,
        view.classes,
        view.feature_names,
        _data_of(table),
    )


def _data_of(table: Table) -> NDArray[Any]:
    if not table.categories:
        return table.values.copy()
    data = table.values.astype(object)
    for column, values in table.categories.items():
        data[:, column] = values
    return data
