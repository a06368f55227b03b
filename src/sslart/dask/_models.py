"""Base classes of the dask estimators, which accept dask collections and ordinary arrays."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from itertools import chain
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sslart._art.novelty import FALSE_ALARMS
from sslart._data.labels import NO_TRUTH, as_known, read_labels
from sslart._data.samples import Table
from sslart._mapping.model_view import view_of
from sslart.dask._cluster import Tasks, run
from sslart.dask._fit import learnt
from sslart.dask._lazy import Call, Output, forget, labels_output, mapped, on_cluster
from sslart.dask._partitions import Part, is_lazy, partitions_of
from sslart.merging._further import check_can_fade, with_further
from sslart.merging.partitions import finish

FLOAT, BOOL, INT, OBJECT = (np.dtype(kind) for kind in (np.float64, np.bool_, np.int64, object))


class DaskModel:
    """Base of all dask estimators; it precedes an ordinary estimator among the bases of a class."""

    _local: type[Any]

    def to_local(self) -> Any:
        """Return an ordinary model of sslart, which has learnt the same: it saves, explains and exports.

        Returns
        -------
        FuzzyART, FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
            A copy: it does not change if this model goes on learning.
        """
        check_is_fitted(self)
        model = self._unfitted()
        model.__setstate__(copy.deepcopy(self.__getstate__()))
        return model

    def _unfitted(self) -> Any:
        return self._local(**self.get_params(deep=False))  # type: ignore[attr-defined]

    def _take(self, model: Any) -> Self:
        """Become the fitted model that an ordinary one is."""
        forget(self)
        self.__sslart_take__(model.__sslart_parts__())  # type: ignore[attr-defined]
        return self

    def _learn(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        model = self._unfitted()
        return self._take(finish(model, learnt(model, X, y, groups, sample_weight)))

    def _learn_further(self, X: Any, y: Any = None, groups: Any = None, sample_weight: Any = None) -> Self:
        if not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            return self._learn(X, y, groups, sample_weight)
        check_can_fade(self)
        further = learnt(self._unfitted(), X, y, groups, sample_weight, needs_labels=False)
        return self._take(with_further(self.to_local(), further))

    def _mapped(self, X: Any, method: str, output: Output | None = None, **options: Any) -> Any:
        """Return the outcome of a method: lazy for a collection of dask, else at once."""
        if not is_lazy(X):
            return getattr(self._local, method)(self, X, **options)
        check_is_fitted(self)
        if output is None:
            output = labels_output(self)
        return mapped(self, X, Call(method, output, options))

    def predict(self, X: Any) -> Any:
        """Return the class of each sample, or of `FuzzyART` the box of highest choice.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        Series with the index of X, or Array, of dask; array for other samples
            Classes. Where the model abstains: -1 for integer classes, None for others.
        """
        return self._mapped(X, "predict")

    def score_samples(self, X: Any) -> Any:
        """Return the fit of each sample to the model: from 0 to 1, low for novel samples.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        Series with the index of X, or Array, of dask; array for other samples
        """
        return self._mapped(X, "score_samples", Output("familiarity", FLOAT))

    def novelty_pvalues(self, X: Any) -> Any:
        """Return the conformal p-value of each sample: low for samples that are unlike those learnt.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        Series with the index of X, or Array, of dask; array for other samples
        """
        return self._mapped(X, "novelty_pvalues", Output("novelty_pvalue", FLOAT))

    def is_novel(self, X: Any, false_alarms: float = FALSE_ALARMS) -> Any:
        """Return a mask of novel samples, at a stated rate of false alarms.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
        false_alarms : float, default=0.05
            Of samples like the learnt ones, at most this share is flagged.

        Returns
        -------
        Series with the index of X, or Array, of dask; array for other samples
        """
        return self._mapped(X, "is_novel", Output("novel", BOOL), false_alarms=false_alarms)


class DaskClassifier(DaskModel):
    """Base of the classifiers of sslart.dask."""

    classes_: Any

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of each class.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        DataFrame with the index of X, or Array, of dask; array for other samples
            One column per class, in the order of `classes_`.
        """
        return self._per_class(X, "predict_proba")

    def predict_log_proba(self, X: Any) -> Any:
        """Return the natural logarithm of the probability of each class; minus infinity where that is 0.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        DataFrame with the index of X, or Array, of dask; array for other samples
            One column per class, in the order of `classes_`.
        """
        return self._per_class(X, "predict_log_proba")

    def decision_function(self, X: Any) -> Any:
        """Return a finite score of each class; of two classes, one number, above 0 for `classes_[1]`.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        Series, DataFrame or Array of dask; array for other samples
        """
        if is_lazy(X) and len(self.classes_) == 2:
            return self._mapped(X, "decision_function", Output("score", FLOAT))
        return self._per_class(X, "decision_function")

    def explain(self, X: Any) -> Any:
        """Explain each prediction: the reasons for it, the evidence against it, and a change that would alter it.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        Series with the index of X, or Array, of dask, of `Explanation` objects; list for other samples
        """
        return self._mapped(X, "explain", Output("explanation", OBJECT))

    def _per_class(self, X: Any, method: str, dtype: Any = FLOAT, **options: Any) -> Any:
        if not is_lazy(X):
            return self._mapped(X, method, **options)
        check_is_fitted(self)
        return self._mapped(X, method, Output(method, dtype, tuple(self.classes_.tolist())), **options)

    def apply(self, X: Any) -> Any:
        """Return the box that each sample is predicted by, -1 where the model abstains; of an ensemble, of each member.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)

        Returns
        -------
        Series, DataFrame or Array of dask; array for other samples
        """
        if not is_lazy(X):
            return self._mapped(X, "apply")
        view = view_of(self)
        columns = tuple(range(len(view.members))) if view.is_ensemble else None
        return self._mapped(X, "apply", Output("box", INT, columns))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of labelled samples that are predicted rightly; abstention does not count as right.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
        y : Series or Array of dask, or array-like, of shape (n_samples,)
            True classes. Unlabelled samples are left out of account.
        sample_weight : Series or Array of dask, or array-like, of shape (n_samples,), default=None
        """
        if not is_lazy(X):
            return float(self._local.score(self, X, y, sample_weight))
        check_is_fitted(self)
        tasks, parts = Tasks(), partitions_of(X, y, weights=sample_weight)
        shares = run(tasks.tree("score-join", _chained, tasks.each("score", _share, parts, on_cluster(self))))
        total = sum(weight for _, weight in shares)
        if not total:
            raise ValueError(NO_TRUTH)
        return float(sum(share * weight for share, weight in shares) / total)


class PromisingClassifier(DaskClassifier):
    """Base of the dask classifiers that can guarantee their error rate."""

    def predict_set(self, X: Any, coverage: float = 0.9, per_class: bool = False) -> Any:
        """Return for each sample a set of classes that contains the true one with a stated probability.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
        coverage : float, default=0.9
            In (0, 1): at least this share of the sets contain the true class, on average.
        per_class : bool, default=False
            Whether the coverage shall hold for the samples of each class by itself.

        Returns
        -------
        DataFrame with the index of X, or Array, of dask; array for other samples
            Whether each class is in the set, one column per class.
        """
        return self._per_class(X, "predict_set", BOOL, coverage=coverage, per_class=per_class)


def _share(part: Part, number: int, model: Any) -> list[tuple[float, float]]:
    """Return the share of correct predictions for the labelled samples of a partition, and their weight."""
    if not len(part.samples):
        return []
    view = view_of(model)
    labels = as_known(view.class_table, read_labels(part.labels, Table(np.empty((len(part.samples), 1)))))
    weights = np.ones(len(labels.known)) if part.weights is None else np.asarray(part.weights, dtype=np.float64)
    total = float(weights[labels.known].sum())
    if not total:
        return []
    return [(model.score(part.samples, part.labels, part.weights), total)]


def _chained(shares: Iterable[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    return list(chain.from_iterable(shares))
