"""`WithUnlabelled`: a meta-estimator that adds given unlabelled samples in every fit."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn._config import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from sslart._data.labels import UNLABELLED, read_labels, with_two_classes
from sslart._data.samples import concatenated, without_mask


def _method_of_inner(name: str, returned: str) -> Any:
    """Return a method that delegates to the fitted classifier, available if the classifier has it."""

    def method(self: WithUnlabelled, X: Any) -> NDArray[Any]:
        return np.asarray(self._fitted(name)(X))

    def check(model: WithUnlabelled) -> bool:
        getattr(getattr(model, "estimator_", model.estimator), name)
        return True

    method.__name__, method.__qualname__ = name, f"WithUnlabelled.{name}"
    method.__doc__ = f"""Return {returned}.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        """
    return available_if(check)(method)


class WithUnlabelled(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Meta-estimator with built-in unlabelled samples: `fit` takes labelled samples only.

    For tools of scikit-learn that would take -1 or None in y for a class: `CalibratedClassifierCV`,
    `TunedThresholdClassifierCV`, `StackingClassifier`, `cross_val_predict`. They split the labelled samples, and every
    fit also learns the unlabelled ones.

    Parameters
    ----------
    estimator : classifier
        A semi-supervised classifier of sslart or scikit-learn (-1 means unlabelled), or a pipeline that ends with one.
    unlabelled : array-like or frame of shape (n_unlabelled, n_features)
        Unlabelled samples with the same features as those passed to `fit`.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier, with all its methods.
    classes_ : array
        The classes, sorted.

    See Also
    --------
    StratifiedLabelledKFold : Splits samples with and without labels, for scorers and searches.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import TunedThresholdClassifierCV
    >>> from sslart import SSLART
    >>> from sslart.model_selection import WithUnlabelled
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = WithUnlabelled(SSLART(random_state=0), unlabelled=X[100:400])
    >>> tuned = TunedThresholdClassifierCV(model, scoring="f1", random_state=0).fit(X[:100], y[:100])
    >>> tuned.score(X[400:], y[400:]) > 0.85
    True
    """

    def __init__(self, estimator: Any, unlabelled: Any) -> None:
        self.estimator = estimator
        self.unlabelled = unlabelled

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier to labelled samples and the unlabelled ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Labelled samples.
        y : array-like of shape (n_samples,)
            The class of each.
        groups : array-like of shape (n_samples,), default=None
            Passed to `fit` of the classifier if given; unlabelled samples have no group.
        sample_weight : array-like of shape (n_samples,), default=None
            Passed to `fit` of the classifier if given; unlabelled samples have weight 1.
        """
        check_consistent_length(X, y)
        n = len(self.unlabelled)
        further: dict[str, Any] = {}
        if groups is not None:
            check_consistent_length(X, groups)
            further["groups"] = np.array([*np.asarray(without_mask(groups), dtype=object), *[None] * n], dtype=object)
        if sample_weight is not None:
            check_consistent_length(X, sample_weight)
            further["sample_weight"] = np.append(np.asarray(without_mask(sample_weight), dtype=np.float64), np.ones(n))
        classifier = clone(self.estimator)
        self.estimator_ = classifier.fit(
            _stacked(X, self.unlabelled), _with_gaps(y, n), **_named_for(classifier, further)
        )
        return self

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        check_is_fitted(self, "estimator_")
        return np.asarray(self.estimator_.classes_)

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        check_is_fitted(self, "estimator_")
        return int(self.estimator_.n_features_in_)

    predict = _method_of_inner("predict", "the class of each sample, as the classifier predicts it")
    predict_proba = _method_of_inner("predict_proba", "the probability of each class")
    predict_log_proba = _method_of_inner("predict_log_proba", "the logarithm of the probability of each class")
    decision_function = _method_of_inner("decision_function", "the scores of the classes")

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the score of the classifier, such as its accuracy.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), default=None
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self._fitted("score")(X, y, **weights))

    def _fitted(self, method: str) -> Any:
        check_is_fitted(self, "estimator_")
        return getattr(self.estimator_, method)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[no-untyped-call]
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags


def _named_for(classifier: Any, further: dict[str, Any]) -> dict[str, Any]:
    """Prefix arguments of `fit` with the last step of a pipeline, unless metadata routing is enabled."""
    if not hasattr(classifier, "steps") or get_config()["enable_metadata_routing"]:
        return further
    return {f"{classifier.steps[-1][0]}__{name}": value for name, value in further.items()}


def _stacked(labelled: Any, unlabelled: Any) -> Any:
    """Concatenate labelled and unlabelled samples with the same features."""
    both = [part if hasattr(part, "columns") else np.asarray(without_mask(part)) for part in (labelled, unlabelled)]
    names = [list(part.columns) if hasattr(part, "columns") else part.shape[1:] for part in both]
    if names[0] != names[1] or type(both[0]) is not type(both[1]):
        raise ValueError(
            f"X has the features {names[0]} and unlabelled {names[1]}. Give both as arrays, or both as frames, with "
            "the same features in the same order; steps that change features belong into a pipeline inside "
            "WithUnlabelled."
        )
    return concatenated(both)


def _with_gaps(y: Any, n_unlabelled: int) -> NDArray[Any]:
    """Append unlabelled values to y: -1, or None if -1 is a class."""
    labels = with_two_classes(read_labels(y), warn=False)
    if not labels.known.all():
        raise ValueError(
            f"y has {(~labels.known).sum()} sample(s) without a label (-1, None or NaN). Pass them as unlabelled= to "
            "WithUnlabelled, and labelled samples only to fit: sslart.model_selection.is_labelled(y) finds them."
        )
    values = labels.values
    if values.dtype.kind == "i" and UNLABELLED not in values and set(values.tolist()) != {1}:
        return np.append(values, np.full(n_unlabelled, UNLABELLED))
    return np.array([*values.tolist(), *[None] * n_unlabelled], dtype=object)
