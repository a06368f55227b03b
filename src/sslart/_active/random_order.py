"""Labels needed in random order, by simulation: the model's own predictions stand in for the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from sslart._utils.arrays import FloatArray

MAX_SAMPLES = 600
MIN_SAMPLES = 20
N_DRAWS = 3
MAX_TIMES = 8  # as many labels as there are


@dataclass(frozen=True)
class RandomOrder:
    """Number of labels of randomly chosen samples that reach an accuracy.

    Attributes
    ----------
    accuracy : float
        The accuracy to reach.
    n_labels : int or None
        How many labels reach it on average; None where the most that were tried do not.
    low, high : int or None
        With the best and the worst of the draws.
    n_tried : int
        The most labels that were tried; 0 where there are too few samples.
    """

    accuracy: float
    n_labels: int | None
    low: int | None
    high: int | None
    n_tried: int


def random_order(model: Any, X: Any, n_labels: int, accuracy: float) -> RandomOrder:
    """Return the number of labels in random order that would reach an accuracy.

    Samples are drawn at random, get the class that the model predicts now, and teach a new model of the same kind; how
    often it agrees with the model on the other samples is its accuracy. As the present model is not always right, and
    as it was taught by labels that were chosen, this is an estimate.

    Parameters
    ----------
    model : fitted classifier
    X : array-like of shape (n_samples, n_features)
        Samples to draw from.
    n_labels : int
        How many labels the model has.
    accuracy : float
        The accuracy to reach.
    """
    random = np.random.default_rng(0)
    n = min(_n_rows(X), MAX_SAMPLES)
    chosen = np.sort(random.choice(_n_rows(X), n, replace=False))
    if n < MIN_SAMPLES:
        return RandomOrder(accuracy, None, None, None, 0)
    samples = _safe_indexing(X, chosen)
    truth = np.asarray(model.predict_proba(samples)).argmax(axis=1)
    sizes = _sizes(n_labels, n)
    agreement = np.array([[_agreement(model, samples, truth, random, size) for size in sizes] for _ in range(N_DRAWS)])
    needed = [_first_reaching(sizes, one, accuracy) for one in (agreement.mean(axis=0), *agreement)]
    known = [one for one in needed[1:] if one is not None]
    high = max(known) if len(known) == N_DRAWS else None
    return RandomOrder(accuracy, needed[0], min(known, default=None), high, sizes[-1])


def _n_rows(X: Any) -> int:
    return int(X.shape[0])


def _sizes(n_labels: int, n_samples: int) -> list[int]:
    """Return numbers of labels to try, from half as many as there are."""
    most = min(MAX_TIMES * n_labels, int(0.8 * n_samples))
    found = np.geomspace(max(4, n_labels / 2), max(5, most), 6)
    return sorted({int(one) for one in found.round()})


def _agreement(model: Any, samples: Any, truth: Any, random: np.random.Generator, size: int) -> float:
    drawn = random.choice(len(truth), size, replace=False)
    labels = np.full(len(truth), None, dtype=object)
    labels[drawn] = truth[drawn]
    rest = np.setdiff1d(np.arange(len(truth)), drawn)
    if len(np.unique(truth[drawn])) < 2:
        return float((truth[rest] == truth[drawn][0]).mean())
    taught = clone(model).fit(samples, labels)
    best = np.asarray(taught.predict_proba(samples)).argmax(axis=1)
    return float((taught.classes_[best[rest]].astype(np.int64) == truth[rest]).mean())


def _first_reaching(sizes: list[int], accuracy: FloatArray, wanted: float) -> int | None:
    """Return from how many labels on an accuracy is reached, between two sizes in proportion."""
    above = np.flatnonzero(accuracy >= wanted)
    if not len(above):
        return None
    at = int(above[0])
    if at == 0:
        return sizes[0]
    before, after = float(accuracy[at - 1]), float(accuracy[at])
    share = (wanted - before) / max(after - before, 1e-12)
    return round(sizes[at - 1] + share * (sizes[at] - sizes[at - 1]))
