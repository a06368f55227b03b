"""Dask and scikit-learn without sslart: `partial_fit` over partitions, or a forest on the labelled rows alone.

`partial_fit` goes over the partitions one after the other, as `Incremental` of dask-ml does it: each is learnt by a
task that takes the model of the one before, so that partitions are loaded in parallel, and learnt in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pyarrow.parquet as pq
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from cluster.data import FEATURES, LABEL, N_CLASSES, names_of

Rows = tuple[np.ndarray, np.ndarray]


def labelled_rows(part: Path, classes: Path | None = None) -> Rows:
    """Return the labelled rows of a part and their labels; all rows where the file of all classes is given."""
    frame = pq.read_table(part).to_pandas()
    labels = frame[LABEL] if classes is None else pq.read_table(classes).to_pandas()[LABEL]
    has_label = labels.notna().to_numpy()
    return frame[FEATURES].to_numpy()[has_label], labels.to_numpy(object)[has_label]


def first_model(rows: Rows) -> Pipeline:
    """Return a linear model that has learnt nothing, after a scaler that has learnt the first part."""
    return make_pipeline(StandardScaler().fit(rows[0]), SGDClassifier(random_state=0))


def step(model: Pipeline, rows: Rows) -> Pipeline:
    """Return a model that has learnt a part too."""
    model = deepcopy(model)  # a task must not change what it is given
    X, y = rows
    if len(y):
        model[-1].partial_fit(model[0].transform(X), y, classes=names_of(np.arange(N_CLASSES)))
    return model


def incremental(parts: Sequence[Path], classes: Sequence[Path] | None = None) -> Any:
    """Return the model after one pass over the labelled rows, or over all rows where the classes of all are given."""
    load, learn = dask.delayed(labelled_rows), dask.delayed(step)
    rows = [load(*pair) for pair in zip(parts, classes or [None] * len(parts), strict=True)]
    model = dask.delayed(first_model)(rows[0])
    for one in rows:
        model = learn(model, one)
    return model.compute()


def forest(parts: Sequence[Path]) -> Any:
    """Return a random forest fitted on this machine to the labelled rows of all parts, which the workers gather."""
    found = dask.compute(*[dask.delayed(labelled_rows)(part) for part in parts])
    X, y = (np.concatenate(column) for column in zip(*found, strict=True))
    return RandomForestClassifier(random_state=0).fit(X, y)
