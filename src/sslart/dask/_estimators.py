"""The five estimators over dask DataFrames and Arrays."""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sslart._art.novelty import FALSE_ALARMS
from sslart._data.labels import NO_TRUTH, read_labels
from sslart._mapping.model_view import view_of
from sslart._utils.optional import optional
from sslart.dask._cluster import (
    Part,
    Tasks,
    arrays,
    checked_samples,
    current_client,
    is_frame,
    is_lazy,
    learnt,
    partitions_of,
    run,
    sent,
)
from sslart.estimators import _fuzzy_art, _fuzzy_artmap, _sslart, _wesslart
from sslart.estimators import _sslart as _auto
from sslart.merging._merge import check_can_fade, with_further
from sslart.merging.partitions import finish

FRAME_UTILS = "dask.dataframe.utils"


@dataclass(frozen=True)
class Output:
    """Description of the output of a method for n samples.

    Attributes
    ----------
    name : str
        Of the Series for a data frame.
    dtype : dtype
    columns : tuple or None
        Names of the columns; None: there is one value for each sample.
    """

    name: str
    dtype: Any
    columns: tuple[Any, ...] | None = None

    def of(self, values: Any, index: Any = None) -> Any:
        """Return values as an array, or with the index of a data frame as a Series or a DataFrame."""
        if index is None:
            return values
        pandas = optional("pandas", "dask")
        if self.columns is None:
            return pandas.Series(values, index=index, name=self.name, dtype=self.frame_dtype)
        return pandas.DataFrame(values, index=index, columns=list(self.columns))

    def none(self, index: Any = None) -> Any:
        """Return the output for no sample."""
        shape = (0,) if self.columns is None else (0, len(self.columns))
        return self.of(np.empty(shape, dtype=self.dtype), index)

    @property
    def frame_dtype(self) -> Any:
        """The type in a data frame, where texts are objects."""
        return object if np.dtype(self.dtype).kind == "U" else self.dtype


@dataclass(frozen=True)
class Call:
    """A method of a model, called on one partition."""

    method: str
    output: Output
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def __name__(self) -> str:
        """Name of the tasks."""
        return f"sslart-{self.method.replace('_', '-')}"

    def __call__(self, samples: Any, model: Any) -> Any:
        """Apply the method to the samples of a partition."""
        index = getattr(samples, "index", None)
        if not len(samples):
            return self.output.none(index)
        found = getattr(model, self.method)(samples, **self.options)
        if isinstance(found, list):
            values = np.empty(len(found), dtype=object)
            values[:] = found
            found = values
        return self.output.of(np.asarray(found).astype(self.output.dtype, copy=False), index)


def mapped(model: Any, X: Any, call: Call) -> Any:
    """Return the outcome of a call for all partitions of X, computed when it is needed.

    Parameters
    ----------
    model : fitted estimator of sslart.dask
    X : DataFrame or Array of dask
    call : Call

    Returns
    -------
    Series or DataFrame with the index of X for a data frame, else Array
    """
    X, task = checked_samples(X), on_cluster(model)
    if is_frame(X):
        index = optional(FRAME_UTILS, "dask").make_meta(X).index
        return X.map_partitions(call, task, meta=call.output.none(index))
    shape: dict[str, Any] = {"drop_axis": 1}
    if call.output.columns is not None:
        shape = {"chunks": (X.chunks[0], (len(call.output.columns),))}
    return arrays.map_blocks(call, X, task, meta=call.output.none(), dtype=call.output.dtype, name=None, **shape)


def labels_output(model: Any) -> Output:
    """Return the description of the output of `predict`: classes, or box indices without classes."""
    if not hasattr(model, "classes_"):
        return Output("box", np.dtype(np.int64))
    return Output("class", view_of(model).labels_of(np.zeros(1, dtype=np.int64)).dtype)


_sent: weakref.WeakKeyDictionary[Any, tuple[dict[str, Any], Any, Any]] = weakref.WeakKeyDictionary()


def on_cluster(model: Any) -> Any:
    """Return a task for the ordinary model; an unchanged model is sent once."""
    client, attributes = current_client(), dict(vars(model))
    known = _sent.get(model)
    if known is not None:
        before, where, task = known
        is_same = before.keys() == attributes.keys() and all(before[name] is attributes[name] for name in before)
        if is_same and where is client:
            return task
    task = sent(model.to_local(), "model")
    _sent[model] = (attributes, client, task)
    return task


def forget(model: Any) -> None:
    """Forget the sent copy of a model that is about to learn."""
    _sent.pop(model, None)


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
    labels = read_labels(part.labels, len(part.samples), classes=view.class_table)
    weights = np.ones(len(labels.known)) if part.weights is None else np.asarray(part.weights, dtype=np.float64)
    total = float(weights[labels.known].sum())
    if not total:
        return []
    return [(model.score(part.samples, part.labels, part.weights), total)]


def _chained(shares: Iterable[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    return list(chain.from_iterable(shares))


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
