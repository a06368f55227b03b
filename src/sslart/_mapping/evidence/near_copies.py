"""Near copies among labelled samples: measurements of one item, far closer to each other than to any other sample."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sslart._art.algebra import gram_matrix, multiply
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, equal_share

MIN_LABELS = 20  # of fewer labels no near copies are looked for
MAX_SIZE = 10  # labels of one item
MAX_SHARE = 0.2  # of the labels, in one item
MIN_ITEMS = 3  # of each class: where classes are compact, their samples are no copies of one item
MAX_EQUAL = 0.15  # share of the pairs that agree in a feature which is measured, not counted or coded
FACTORS = {2: 6.0, 3: 4.0}  # by number of measured features: in few dimensions, gaps come by chance
FACTOR = 2.5  # with more of them
MIN_FOUND = ((1.0, 0.3), (0.8, 0.5))  # share of the factor, and of the labels; of few labels more, by 1 / sqrt(n) - 0.1
REACH = 0.95  # quantile of the distances within items: what is as close belongs together too


class Cluster(NamedTuple):
    """Samples that lie together: the largest gap between them, and the distance to the nearest other sample."""

    rows: list[int]
    within: float
    apart: float


def near_copies(samples: FloatArray, classes: IntArray, indicator: BoolArray) -> IntArray:
    """Return the item of each labelled sample; without repeated measurements each sample is a separate item.

    A cluster of samples is taken for measurements of one item where the nearest other sample is `FACTOR` times as far
    as they are from each other. By chance there are few such clusters, and fewer in more dimensions. So clusters count
    only where they hold a good share of all labels, or with a smaller factor a larger share. Their distances then show
    how exact measurements are, and clusters of that scale that lie less far apart are found too. Distances are those of
    features that are measured: samples of one category lie together without being copies, though copies agree in their
    categories. The time is O(n² D) for n labels of D features.

    Parameters
    ----------
    samples : array of shape (n_labels, n_features)
        In the unit cube, NaN where missing.
    classes : array of length n_labels
    indicator : array of bool, length n_features
        Which features stand for a category.
    """
    alone = np.arange(len(samples))
    first, of_label = _distinct(samples)
    distinct, n = samples[first], len(first)
    measured = _measured(distinct, indicator)
    if n < MIN_LABELS or measured.sum() < min(FACTORS):
        return alone
    factor = FACTORS.get(int(measured.sum()), FACTOR)
    category = _distinct(distinct[:, ~measured])[1]
    clusters = [
        one
        for one in _clusters(_distances(distinct[:, measured]))
        if len(one.rows) <= min(MAX_SIZE, MAX_SHARE * n) and (category[one.rows] == category[one.rows[0]]).all()
    ]
    few = max(n**-0.5 - 0.1, 0.0)
    if not any(
        _share_of_items(_items(_far_apart(clusters, share * factor), n), classes[first]) >= least + few
        for share, least in MIN_FOUND
    ):
        return alone
    lowest = factor * min(share for share, _ in MIN_FOUND)
    reach = np.quantile([one.within for one in _far_apart(clusters, lowest)], REACH)
    items = _items([one for one in clusters if one.within <= reach or one.apart >= factor * one.within], n)
    return np.asarray(first[items][of_label])


def _far_apart(clusters: list[Cluster], factor: float) -> list[Cluster]:
    return [one for one in clusters if one.apart >= factor * one.within]


def _distinct(samples: FloatArray) -> tuple[IntArray, IntArray]:
    """Return the first row of each distinct sample, and the number of the distinct sample of each row."""
    values = np.where(np.isnan(samples), -1.0, samples)
    _, first, of_label = np.unique(values, axis=0, return_index=True, return_inverse=True)
    return first, of_label.reshape(-1)


def _measured(samples: FloatArray, indicator: BoolArray) -> BoolArray:
    """Return a mask of measured features: numeric features in which few pairs of samples agree."""
    agree = [equal_share(values[~np.isnan(values)]) for values in samples.T]
    return np.asarray(~indicator & (np.array(agree) <= MAX_EQUAL))


def _distances(samples: FloatArray) -> FloatArray:
    """Return the distance between any two samples: the root mean square over the features that both have."""
    known = (~np.isnan(samples)).astype(float)
    values = np.where(np.isnan(samples), 0.0, samples)
    squares = multiply(values**2, known.T)
    total = np.maximum(squares + squares.T - 2.0 * gram_matrix(values), 0.0)
    n_shared = gram_matrix(known)
    found: FloatArray = np.sqrt(np.divide(total, n_shared, out=np.ones_like(total), where=n_shared > 0))
    np.fill_diagonal(found, 0.0)
    return found


def _clusters(apart: FloatArray) -> Iterator[Cluster]:
    """Yield all clusters of single linkage but the last, which holds all samples; smaller ones before larger ones."""
    of_row = np.arange(len(apart))
    clusters: dict[int, Cluster] = {}  # of several samples, by one of them
    for length, row, other in sorted(_spanning_tree(apart)):
        merged: list[list[int]] = []
        names = int(of_row[row]), int(of_row[other])
        for name in names:
            own = clusters.pop(name, None)
            merged.append([name] if own is None else own.rows)
            if own is not None:
                yield Cluster(own.rows, own.within, length)
        of_row[merged[1]] = names[0]
        clusters[names[0]] = Cluster(merged[0] + merged[1], length, 0.0)


def _spanning_tree(apart: FloatArray) -> Iterator[tuple[float, int, int]]:
    """Yield the edges of the minimum spanning tree, by Prim's algorithm."""
    nearest, source = apart[0].copy(), np.zeros(len(apart), dtype=np.int64)
    nearest[0] = np.inf
    outside = np.arange(len(apart)) != 0
    for _ in range(len(apart) - 1):
        row = int(nearest.argmin())
        yield float(nearest[row]), int(source[row]), row
        outside[row], nearest[row] = False, np.inf
        closer = apart[row] < nearest
        closer &= outside
        np.copyto(nearest, apart[row], where=closer)
        source[closer] = row


def _items(clusters: list[Cluster], n: int) -> IntArray:
    """Return the first row of the item of each sample: that of the largest cluster which holds it."""
    items = np.arange(n)
    for one in clusters:
        items[one.rows] = min(one.rows)
    return items


def _share_of_items(items: IntArray, classes: IntArray) -> float:
    """Return the share of the samples that are not alone in their item, without those of compact classes.

    A class of very few items is a compact class, whose samples are no copies of each other.
    """
    is_shared = np.bincount(items, minlength=len(items))[items] > 1
    for label in np.unique(classes):
        own = classes == label
        if len(np.unique(items[own])) < MIN_ITEMS:
            is_shared &= ~own
    return float(is_shared.mean())
