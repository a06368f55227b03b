"""The five estimators over dask DataFrames and Arrays."""

from __future__ import annotations

from typing import Any, Self

from sslart.dask._models import DaskClassifier, DaskModel, PromisingClassifier
from sslart.dask._partitions import is_lazy
from sslart.estimators import _fuzzy_art, _fuzzy_artmap, _sslart, _wesslart
from sslart.estimators import _sslart as _auto

NO_CLASSES = (
    "classes is for samples that are no collection of dask: the classes of a collection are those of its labels. Leave "
    "it out."
)


class FuzzyART(DaskModel, _fuzzy_art.FuzzyART):
    """`sslart.FuzzyART` over dask DataFrames and Arrays: clusters samples into boxes, partition by partition.

    Every partition is clustered by itself, and the boxes of all are merged: two boxes are joined where the box around
    both obeys the vigilance. The same partitions give the same bits, whatever the workers.

    Its parameters and attributes are those of `sslart.FuzzyART`, but for `labels_`, of which `predict` takes the place.
    Methods return collections of dask for collections of dask, computed when they are needed.

    Examples
    --------
    >>> import dask, dask.array
    >>> from sslart.dask import FuzzyART
    >>> X = dask.array.from_array([[0, 0], [1, 1], [9, 9], [10, 10]], chunks=(2, 2))
    >>> with dask.config.set(scheduler="synchronous"):
    ...     art = FuzzyART(vigilance=0.8).fit(X)
    ...     art.predict(X).compute()
    array([0, 0, 1, 1])
    >>> art.to_local()
    FuzzyART(vigilance=0.8)
    """

    _local = _fuzzy_art.FuzzyART

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples afresh.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        return self._learn(X) if is_lazy(X) else super().fit(X)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn further samples; the state learnt from a dask collection is merged into the model.

        With a `half_life`, what was learnt before counts less by then: by half for each so many samples of the
        collection. Samples of one collection count alike.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        return self._learn_further(X) if is_lazy(X) else super().partial_fit(X)

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Cluster the samples afresh, and return the box of highest choice for each.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
        y : ignored
        **kwargs
            None.

        Returns
        -------
        Series with the index of X, or Array, of dask; array for other samples
        """
        return self.fit(X).predict(X) if is_lazy(X) else super().fit_predict(X, **kwargs)  # type: ignore[no-untyped-call]


class FuzzyARTMAP(DaskClassifier, _fuzzy_artmap.FuzzyARTMAP):
    """`sslart.FuzzyARTMAP` over dask DataFrames and Arrays: boxes of one class each, learnt partition by partition.

    Every partition is learnt by itself, and the boxes of all are merged: two boxes of one class are joined where the
    box around both obeys the vigilance. The same partitions give the same bits, whatever the workers. Boxes of unlike
    partitions may overlap, so that accuracy can differ from that of one machine: `SSLART` with
    ``mapping="one-to-one"`` learns all labels, up to `max_labels`, with the boxes of all partitions.

    Its parameters and attributes are those of `sslart.FuzzyARTMAP`. Methods return collections of dask for collections
    of dask, computed when they are needed.

    Examples
    --------
    >>> import dask, dask.array
    >>> from sslart.dask import FuzzyARTMAP
    >>> X = dask.array.from_array([[0, 0], [1, 1], [9, 9], [10, 10]], chunks=(2, 2))
    >>> y = dask.array.from_array(["low", "low", "high", "high"], chunks=2)
    >>> with dask.config.set(scheduler="synchronous"):
    ...     model = FuzzyARTMAP().fit(X, y)
    ...     model.predict(X).compute()
    array(['low', 'low', 'high', 'high'], dtype='<U4')
    """

    _local = _fuzzy_artmap.FuzzyARTMAP

    def fit(self, X: Any, y: Any) -> Self:
        """Learn afresh.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : Series or Array of dask, or array-like, of shape (n_samples,)
            Classes: integers, strings or booleans, one for every sample.
        """
        return self._learn(X, y) if is_lazy(X) else super().fit(X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # type: ignore[override]
        """Learn further samples; the state learnt from a dask collection is merged into the model.

        With a `half_life`, what was learnt before counts less by then: by half for each so many samples of the
        collection. Samples of one collection count alike.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : Series or Array of dask, or array-like, of shape (n_samples,)
            Classes, one for every sample.
        classes : array-like, default=None
            Classes to expect, where X is no collection of dask.
        """
        if not is_lazy(X):
            return super().partial_fit(X, y, classes)
        if classes is not None:
            raise ValueError(NO_CLASSES)
        return self._learn_further(X, y)


class _SemiSupervised(PromisingClassifier):
    """The methods of classifiers that learn from labels with gaps."""

    def fit(self, X: Any, y: Any, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Learn afresh: boxes from all samples, partition by partition, and classes from the labelled ones.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : Series or Array of dask, or array-like, of shape (n_samples,)
            Classes: integers, strings or booleans; -1, None or NaN where unlabelled. With the partitions of X.
        groups, sample_weight : Series or Array of dask, or array-like, of shape (n_samples,), default=None
            What samples belong together, and how much each counts: see `sslart.SSLART.fit`.
        """
        if is_lazy(X):
            return self._learn(X, y, groups, sample_weight)
        self._local.fit(self, X, y, groups=groups, sample_weight=sample_weight)
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, *, groups: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn further samples; the state learnt from a dask collection is merged into the model.

        With a `half_life`, what was learnt before counts less by then: by half for each so many samples of the
        collection. Samples of one collection count alike.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : Series or Array of dask, or array-like, of shape (n_samples,), default=None
            Classes; -1, None or NaN where unlabelled. None: all unlabelled.
        classes : array-like, default=None
            Classes to expect, where X is no collection of dask.
        groups, sample_weight : Series or Array of dask, or array-like, of shape (n_samples,), default=None
            As in `fit`.
        """
        if not is_lazy(X):
            self._local.partial_fit(self, X, y, classes, groups=groups, sample_weight=sample_weight)
            return self
        if classes is not None:
            raise ValueError(NO_CLASSES)
        return self._learn_further(X, y, groups, sample_weight)


class SSLART(_SemiSupervised, _sslart.SSLART):
    """`sslart.SSLART` over dask DataFrames and Arrays: a semi-supervised classifier for tables of any length.

    Every partition is learnt by itself, and the boxes of all are merged: two boxes are joined where the box around both
    obeys the vigilance. Labelled samples are gathered, and the client learns them last, with the boxes of all
    partitions; with evidence mapping it computes weights from them. The same partitions give the same bits, whatever
    the workers.

    Its parameters and attributes are those of `sslart.SSLART`, but that `max_labels` limits with every mapping how many
    labelled samples are gathered, of more a fair sample, with at least one of each class; other mappings learn the rest
    without their labels. Methods return collections of dask for collections of dask, computed when they are needed.

    Examples
    --------
    >>> import dask, dask.array
    >>> from sklearn.datasets import load_iris
    >>> from sslart.dask import SSLART
    >>> X, y = load_iris(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(150) if i % 10]] = -1  # keep one label in ten
    >>> X, y, few = (dask.array.from_array(one, chunks=50) for one in (X, y, few))
    >>> with dask.config.set(scheduler="synchronous"):
    ...     model = SSLART(vigilance=0.8, random_state=0).fit(X, few)
    ...     model.score(X, y) > 0.8
    True
    """

    _local = _sslart.SSLART


class AutoSSLART(_SemiSupervised, _auto.AutoSSLART):
    """`sslart.AutoSSLART` over dask DataFrames and Arrays: the estimator to start with, for tables of any length.

    Every partition is learnt by itself, unlabelled samples first, and the boxes of all are merged: two boxes are joined
    where the box around both obeys the vigilance. Labelled samples are gathered, a fair sample of at most `max_labels`,
    and the client chooses all settings by leave-one-out. The same partitions give the same bits, whatever the workers.

    Its parameters and attributes are those of `sslart.AutoSSLART`. Methods return collections of dask for collections
    of dask, computed when they are needed.

    Examples
    --------
    >>> import dask, dask.dataframe
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sslart.dask import AutoSSLART
    >>> frame = load_breast_cancer(as_frame=True).frame
    >>> frame["few"] = frame["target"].where(frame.index % 20 == 0)  # keep one label in twenty
    >>> table = dask.dataframe.from_pandas(frame, npartitions=3)
    >>> X = table.drop(columns=["target", "few"])
    >>> with dask.config.set(scheduler="synchronous"):
    ...     model = AutoSSLART(random_state=0).fit(X, table["few"])
    ...     model.score(X, table["target"]) > 0.93
    True
    >>> model.to_local()
    AutoSSLART(random_state=0)
    """

    _local = _auto.AutoSSLART


class WESSLART(_SemiSupervised, _wesslart.WESSLART):
    """`sslart.WESSLART` over dask DataFrames and Arrays: an ensemble for tables of any length.

    In every partition each member learns the samples in an order of its own, and the boxes of each member are merged
    with those that it has made in other partitions. Labelled samples are gathered, and the client learns them last and
    measures the class weights: see `sslart.dask.SSLART`. The same partitions give the same bits, whatever the workers.

    Its parameters and attributes are those of `sslart.WESSLART`, but that `max_labels` limits with every mapping how
    many labelled samples are gathered. Methods return collections of dask for collections of dask, computed when they
    are needed.

    Examples
    --------
    >>> import dask, dask.array
    >>> from sklearn.datasets import load_wine
    >>> from sslart.dask import WESSLART
    >>> X, y = load_wine(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(len(y)) if i % 5]] = -1  # keep one label in five
    >>> X, y, few = (dask.array.from_array(one, chunks=60) for one in (X, y, few))
    >>> with dask.config.set(scheduler="synchronous"):
    ...     model = WESSLART(3, vigilance=0.8, random_state=0).fit(X, few)
    ...     model.score(X, y) > 0.8
    True
    """

    _local = _wesslart.WESSLART

    def fit(self, X: Any, y: Any, validation_set: Any = None, *, groups: Any = None, sample_weight: Any = None) -> Self:
        """Fit from scratch, each member in a different order, and estimate the class weights.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : Series or Array of dask, or array-like, of shape (n_samples,)
            Classes: integers, strings or booleans; -1, None or NaN where unlabelled. With the partitions of X.
        validation_set : (X_val, y_val), default=None
            Samples that no member learns, to measure the class weights on, where X is no collection of dask.
        groups, sample_weight : Series or Array of dask, or array-like, of shape (n_samples,), default=None
            What samples belong together, and how much each counts: see `sslart.SSLART.fit`.
        """
        if not is_lazy(X):
            return _wesslart.WESSLART.fit(self, X, y, validation_set, groups=groups, sample_weight=sample_weight)
        if validation_set is not None:
            raise ValueError(
                "validation_set is for samples that are no collection of dask. Of a collection, validation=0.2 holds a "
                "fifth of the labels out."
            )
        return self._learn(X, y, groups, sample_weight)
