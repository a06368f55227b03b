"""Boxes of one class each, joined: only where the box around them meets no box of another class."""

from __future__ import annotations

import numpy as np

from sslart._art.boxes import Joined, join_boxes
from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

STEP = 0.1
AT_ONCE = 2**20  # comparisons of two boxes in one feature


def join_apart(weights: FloatArray, labels: IntArray, vigilance: float) -> Joined:
    """Join boxes of one class each; boxes without a class join any.

    At a low vigilance the box around two boxes of a class may reach over those of others. Learning prevents that by
    match tracking. Here boxes are joined at lower and lower vigilances, down to the one given, and a union that is
    larger than each of its boxes is taken back where it meets a box of another class.

    Parameters
    ----------
    weights : array of shape (n_boxes, 2 * n_features)
    labels : array of int of length n_boxes
        -1 without a class.
    vigilance : float
        Below which no union falls.
    """
    into = np.arange(len(weights))
    barred = np.zeros(len(weights), dtype=bool)
    for level in (*np.arange(1.0 - STEP, vigilance, -STEP).tolist(), vigilance):
        of_its_own = labels.max(initial=0) + 1 + np.arange(len(labels))
        joined = join_boxes(weights, np.where(barred, of_its_own, labels), vigilance=level)
        union_labels = np.full(len(joined.weights), UNLABELLED)
        np.maximum.at(union_labels, joined.into, labels)
        is_refused = _meets_others(weights, labels, joined, union_labels)[joined.into]
        first = np.unique(joined.into, return_index=True)[1]
        kept, renamed = np.unique(np.where(is_refused, np.arange(len(labels)), first[joined.into]), return_inverse=True)
        whole, unions = is_refused[kept], joined.into[kept]
        weights = np.where(whole[:, None], weights[kept], joined.weights[unions])
        labels = np.where(whole, labels[kept], union_labels[unions])
        barred, into = whole | barred[kept], renamed[into]
    return Joined(into, weights, vigilance)


def _meets_others(weights: FloatArray, labels: IntArray, joined: Joined, union_labels: IntArray) -> BoolArray:
    """Return a mask of unions that have grown beyond each of their boxes and meet a box of another class."""
    sizes = np.bincount(joined.into, minlength=len(joined.weights))
    unions = np.flatnonzero((sizes > 1) & (union_labels != UNLABELLED))
    found = np.zeros(len(joined.weights), dtype=bool)
    classes = np.flatnonzero(labels != UNLABELLED)
    at, other = _pairs_that_meet(joined.weights[unions], weights[classes])
    found[unions[at[union_labels[unions[at]] != labels[classes[other]]]]] = True
    grown = np.zeros(len(joined.weights), dtype=bool)
    grown[joined.into] = True
    grown[joined.into[(joined.weights[joined.into] == weights).all(axis=1)]] = False
    return found & grown


def _pairs_that_meet(some: FloatArray, others: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the pairs of boxes, one of each kind, that have a point in common in every feature that both have."""
    n_features = some.shape[1] // 2
    rows, columns = [], []
    step = max(1, AT_ONCE // max(len(others), 1))
    for start in range(0, len(some), step):
        own = some[start : start + step]
        at, other = np.divmod(np.arange(len(own) * len(others)), max(len(others), 1))
        for feature in range(n_features):
            lower, upper = own[at, feature], 1.0 - own[at, n_features + feature]
            other_lower, other_upper = others[other, feature], 1.0 - others[other, n_features + feature]
            not_reached = (lower > upper) | (other_lower > other_upper)
            meets = not_reached | ((lower <= other_upper) & (other_lower <= upper))
            at, other = at[meets], other[meets]
        rows.append(start + at)
        columns.append(other)
    none = np.empty(0, dtype=np.int64)
    return np.concatenate([none, *rows]), np.concatenate([none, *columns])
