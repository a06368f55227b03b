"""Detection of labelled samples, with the same reading of y as the estimators."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._data.labels import Labels, read_labels, with_two_classes
from sslart._data.samples import Table
from sslart._utils.arrays import BoolArray


def is_labelled(y: Any) -> BoolArray:
    """Return a mask of labelled samples, as `fit` of the estimators reads them.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes. -1 among integers, None, NaN and pandas.NA mean unlabelled. Where y holds -1 and 1 only, these are two
        classes, and there is a warning.

    Returns
    -------
    array of bool of shape (n_samples,)

    Examples
    --------
    >>> from sslart.model_selection import is_labelled
    >>> is_labelled([0, -1, 1, -1])
    array([ True, False,  True, False])
    >>> is_labelled(["cat", None, "dog", float("nan")])
    array([ True, False,  True, False])
    """
    return read_training_labels(y).known


def read_training_labels(y: Any) -> Labels:
    """Return y as `fit` reads it, with -1 and 1 as two classes where there are no others."""
    return with_two_classes(read_labels(y, Table(np.empty((len(y), 1)))))
