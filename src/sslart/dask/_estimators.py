"""The five estimators for dask DataFrames and Arrays.

Each class inherits the parameters of the ordinary estimator; `over_dask` adds methods with the same arguments, and
their docstrings.
"""

from __future__ import annotations

import copy
import inspect
import re
import weakref
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sslart import estimators
from sslart._data.labels import NO_TRUTH, read_labels
from sslart._mapping.model_view import view_of
from sslart._utils.optional import optional
from sslart.dask._cluster import (
    Partition,
    Tasks,
    arrays,
    checked_samples,
    current_client,
    dask,
    is_frame,
    learnt,
    partitions_of,
    run,
    sent,
)
from sslart.estimators._parameters import documented
from sslart.merging._merge import check_can_fade, with_further
from sslart.merging.partitions import finish

FRAME_UTILS = "dask.dataframe.utils"
FLOAT, BOOL, INT, OBJECT = (np.dtype(kind) for kind in (np.float64, np.bool_, np.int64, object))
ONLY_AT_ONCE = {
    "classes": "classes is not supported for dask collections, whose classes are those of their labels: leave it out.",
    "validation_set": "validation_set is not supported for dask collections: validation=0.2 holds out a fifth of the "
    "labels.",
    **{
        name: f"{name} is not supported for dask collections: call to_local(), and learn such labels by partial_fit."
        for name in ("answers", "at_random")
    },
}
LAZY = """
For a dask DataFrame or Array the result is lazy: a Series or a DataFrame with the index of X, or an Array.
"""
IN_PARTITIONS = """
A dask DataFrame or Array is learnt partition by partition; y, groups and sample_weight must have its partitions.
"""
MERGED = f"""{IN_PARTITIONS.rstrip()}
Its boxes are merged into the model. With a `half_life`, the weight of earlier samples halves after every `half_life`
samples of the collection; samples of one collection count equally.
"""

Class = TypeVar("Class")


@dataclass(frozen=True)
class Output:
    """Description of the output of a method for n samples."""

    name: str  # of the Series for a data frame
    dtype: Any
    columns: tuple[Any, ...] | None = None  # column names; None if there is one value per sample

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
        """The dtype in a data frame, where strings are objects."""
        return object if np.dtype(self.dtype).kind == "U" else self.dtype


@dataclass(frozen=True)
class Call:
    """A method of a model, called on one partition."""

    method: str
    output: Output
    options: Mapping[str, Any]

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
    """Return the outcome of a call for all partitions of X: a lazy Series or DataFrame with its index, or an Array."""
    X, task = checked_samples(X), on_cluster(model)
    if is_frame(X):
        index = optional(FRAME_UTILS, "dask").make_meta(X).index
        return X.map_partitions(call, task, meta=call.output.none(index))
    shape: dict[str, Any] = {"drop_axis": 1}
    if call.output.columns is not None:
        shape = {"chunks": (X.chunks[0], (len(call.output.columns),))}
    return arrays.map_blocks(call, X, task, meta=call.output.none(), dtype=call.output.dtype, name=None, **shape)


def _labels_output(model: Any) -> Output:
    """Return the description of the output of `predict`: classes, or box indices without classes."""
    if not hasattr(model, "classes_"):
        return Output("box", np.dtype(np.int64))
    return Output("class", view_of(model).labels_of(np.zeros(1, dtype=np.int64)).dtype)


def _per_class(name: str, dtype: Any) -> Callable[[Any], Output]:
    return lambda model: Output(name, dtype, tuple(model.classes_.tolist()))


def _score_output(model: Any) -> Output:
    binary = len(model.classes_) == 2
    return Output("score", FLOAT) if binary else _per_class("decision_function", FLOAT)(model)


def _box_output(model: Any) -> Output:
    view = view_of(model)
    return Output("box", INT, tuple(range(len(view.members))) if view.is_ensemble else None)


OUTPUTS: dict[str, Callable[[Any], Output]] = {
    "predict": _labels_output,
    "score_samples": lambda _: Output("familiarity", FLOAT),
    "novelty_pvalues": lambda _: Output("novelty_pvalue", FLOAT),
    "is_novel": lambda _: Output("novel", BOOL),
    "predict_proba": _per_class("predict_proba", FLOAT),
    "predict_log_proba": _per_class("predict_log_proba", FLOAT),
    "decision_function": _score_output,
    "explain": lambda _: Output("explanation", OBJECT),
    "apply": _box_output,
    "predict_set": _per_class("predict_set", BOOL),
}


def over_dask(cls: Class) -> Class:
    """Add the methods of the ordinary estimator, extended to dask collections, to a dask estimator."""
    local = cls.__bases__[-1]  # type: ignore[attr-defined]
    cls._local = local  # type: ignore[attr-defined]
    for name, output in OUTPUTS.items():
        if hasattr(local, name):
            setattr(cls, name, _lazy(getattr(local, name), output))
    for name, note in (("fit", IN_PARTITIONS), ("partial_fit", MERGED)):
        setattr(cls, name, _learning(getattr(local, name), note, further=name == "partial_fit"))
    return documented(cls)


def _lazy(own: Callable[..., Any], output: Callable[[Any], Output]) -> Callable[..., Any]:
    """Return a method that is lazy for dask collections and ordinary for other samples."""

    @wraps(own)
    def method(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not dask.is_dask_collection(X):
            return own(self, X, *args, **kwargs)
        check_is_fitted(self)
        _, _, *options = inspect.signature(own).bind(self, X, *args, **kwargs).arguments.items()
        return mapped(self, X, Call(own.__name__, output(self), dict(options)))

    method.__doc__ = _doc(own, LAZY)
    return method


def _learning(own: Callable[..., Any], note: str, *, further: bool) -> Callable[..., Any]:
    """Return a method that learns dask collections by partitions, and other samples in the ordinary way."""

    @wraps(own)
    def method(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not dask.is_dask_collection(X):
            own(self, X, *args, **kwargs)
            return self
        given = inspect.signature(own).bind(self, X, *args, **kwargs).arguments
        for name, reason in ONLY_AT_ONCE.items():
            if given.get(name) is not None:
                raise ValueError(reason)
        y = given.get("y") if hasattr(self, "predict_proba") else None  # FuzzyART ignores it
        return self._learn(X, y, given.get("groups"), given.get("sample_weight"), further=further)

    method.__doc__ = _doc(own, note)
    return method


def _doc(own: Callable[..., Any], note: str) -> str | None:
    """Return the docstring of a method for dask collections, without examples."""
    if own.__doc__ is None:
        return None
    summary, rest = inspect.cleandoc(own.__doc__).split("\n\n", 1)
    rest = re.sub(r"^X : array-like of", "X : DataFrame or Array of dask, or array-like, of", rest, flags=re.MULTILINE)
    rest = re.sub(
        r"^(y|groups|sample_weight)(.*) : array-like",
        r"\1\2 : Series or Array of dask, or array-like",
        rest,
        flags=re.MULTILINE,
    )
    return f"{summary}\n{note}\n{rest}".split("\n\nExamples\n---")[0]


_sent: weakref.WeakKeyDictionary[Any, tuple[dict[str, Any], Any, Any]] = weakref.WeakKeyDictionary()


def on_cluster(model: Any) -> Any:
    """Return a task with the ordinary model; an unchanged model is sent only once."""
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


class DaskModel:
    """Base class of all dask estimators, to be listed before the ordinary estimator."""

    _local: type[Any]

    def to_local(self) -> Any:
        """Return the fitted model as an ordinary estimator, to be saved, explained or exported.

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
        """Take over the fitted state of an ordinary model."""
        _sent.pop(self, None)  # the previous state
        self.__sslart_take__(model.__sslart_parts__())  # type: ignore[attr-defined]
        return self

    def _learn(self, X: Any, y: Any, groups: Any, sample_weight: Any, *, further: bool) -> Self:
        model = self._unfitted()
        if not further or not self.__sklearn_is_fitted__():  # type: ignore[attr-defined]
            return self._take(finish(model, learnt(model, X, y, groups, sample_weight)))
        check_can_fade(self)
        parts = learnt(model, X, y, groups, sample_weight, needs_labels=False)
        return self._take(with_further(self.to_local(), parts))


class DaskClassifier(DaskModel):
    """Base of the classifiers of sslart.dask."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the labelled samples; abstentions count as wrong.

        Parameters
        ----------
        X : DataFrame or Array of dask, or array-like, of shape (n_samples, n_features)
        y : Series or Array of dask, or array-like, of shape (n_samples,)
            True classes. Unlabelled samples are ignored.
        sample_weight : Series or Array of dask, or array-like, of shape (n_samples,), default=None
        """
        if not dask.is_dask_collection(X):
            return float(self._local.score(self, X, y, sample_weight))
        check_is_fitted(self)
        tasks, parts = Tasks(), partitions_of(X, y=y, sample_weight=sample_weight)
        shares = run(tasks.tree("score-join", _chained, tasks.each("score", _share, parts, on_cluster(self))))
        total = sum(weight for _, weight in shares)
        if not total:
            raise ValueError(NO_TRUTH)
        return float(sum(share * weight for share, weight in shares) / total)


def _share(part: Partition, number: int, model: Any) -> list[tuple[float, float]]:
    """Return the share of correct predictions for the labelled samples of a partition, and their weight."""
    if not len(part.X):
        return []
    labels = read_labels(part.y, len(part.X), classes=view_of(model).class_table)
    weights = np.ones(len(labels.known)) if part.sample_weight is None else np.asarray(part.sample_weight, float)
    total = float(weights[labels.known].sum())
    if not total:
        return []
    return [(model.score(part.X, part.y, part.sample_weight), total)]


def _chained(shares: Iterable[list[tuple[float, float]]]) -> list[tuple[float, float]]:
    return list(chain.from_iterable(shares))


@over_dask
class FuzzyART(DaskModel, estimators.FuzzyART):
    """`sslart.FuzzyART` for dask DataFrames and Arrays: clustering into boxes, partition by partition.

    Every partition is clustered separately, and the boxes of all are merged: two boxes are merged if the box around
    both satisfies the vigilance. The result depends on the partitions but not on the workers, bit for bit.

    `labels_` is not set for a collection; use `predict`.

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

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Cluster the samples and return the best box of each.

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
        return self.fit(X).predict(X) if dask.is_dask_collection(X) else super().fit_predict(X, **kwargs)


@over_dask
class FuzzyARTMAP(DaskClassifier, estimators.FuzzyARTMAP):
    """`sslart.FuzzyARTMAP` for dask DataFrames and Arrays: boxes of one class each, learnt partition by partition.

    Every partition is learnt separately, and the boxes of all are merged: two boxes of one class are merged if the box
    around both satisfies the vigilance. The result depends on the partitions but not on the workers, bit for bit. Boxes
    of different partitions may overlap, so that accuracy can differ from that on one machine: `SSLART` with
    ``mapping="one-to-one"`` learns all labels, up to `max_labels`, with the boxes of all partitions.

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


@over_dask
class SSLART(DaskClassifier, estimators.SSLART):
    """`sslart.SSLART` for dask DataFrames and Arrays: a semi-supervised classifier for tables of any length.

    Every partition is learnt separately, and the boxes of all are merged: two boxes are merged if the box around both
    satisfies the vigilance. Labelled samples are gathered, and the client learns them last, with the boxes of all
    partitions; with evidence mapping it computes weights from them. The result depends on the partitions but not on the
    workers, bit for bit.

    `max_labels` limits the number of gathered labelled samples with every mapping; of more, a random sample is used,
    with at least one of each class. Mappings other than evidence learn the rest as unlabelled samples.

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


@over_dask
class AutoSSLART(DaskClassifier, estimators.AutoSSLART):
    """`sslart.AutoSSLART` for dask DataFrames and Arrays: the estimator to start with, for tables of any length.

    Every partition is learnt separately, unlabelled samples first, and the boxes of all are merged: two boxes are
    merged if the box around both satisfies the vigilance. A random sample of at most `max_labels` labelled samples is
    gathered, and the client selects all settings by leave-one-out. The result depends on the partitions but not on the
    workers, bit for bit.

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


@over_dask
class WESSLART(DaskClassifier, estimators.WESSLART):
    """`sslart.WESSLART` for dask DataFrames and Arrays: an ensemble for tables of any length.

    In every partition each member learns the samples in a different order, and its boxes are merged with those of the
    other partitions. Labelled samples are gathered, and the client learns them last and measures the class weights: see
    `sslart.dask.SSLART`. The result depends on the partitions but not on the workers, bit for bit.

    `max_labels` limits the number of gathered labelled samples with every mapping.

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
