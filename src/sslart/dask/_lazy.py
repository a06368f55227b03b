"""Methods of a fitted model on dask collections: lazy, partition by partition."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sslart._mapping.model_view import view_of
from sslart._utils.optional import optional
from sslart.dask._cluster import current_client, sent
from sslart.dask._partitions import arrays, checked_samples, is_frame

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
