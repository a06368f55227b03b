"""Number of labels of randomly drawn samples that would reach the quality of a model, by simulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from sslart._utils.arrays import FloatArray

MAX_SIMULATED = 600  # samples in a simulation, to bound the time
MIN_SAMPLES = 20  # required for a simulation
N_DRAWS = 3  # random orders that are simulated
MAX_TIMES = 8  # simulated up to so many times the present labels


@dataclass(frozen=True)
class RandomOrder:
    """Number of labels of randomly chosen samples that reach an accuracy."""

    accuracy: float  # the accuracy to reach
    n_labels: int | None  # number of labels that reach it on average; None if more than `n_tried` are needed
    low: int | None  # for the best and the worst of the draws
    high: int | None
    n_tried: int  # maximum number of labels tried; 0 if there are too few samples


def random_order(model: Any, X: Any, n_labels: int, accuracy: float) -> RandomOrder:
    """Estimate the number of labels in random order that would reach an accuracy, by simulation.

    Random samples are labelled with the predictions of the model and used to train a new model of the same kind. Its
    accuracy is its agreement with the model on the other samples.

    `X` (n_samples, n_features): samples to draw from; `n_labels`: number of labels of the model; `accuracy`: the
    accuracy to reach.
    """
    random = np.random.default_rng(0)
    n = min(X.shape[0], MAX_SIMULATED)
    chosen = np.sort(random.choice(X.shape[0], n, replace=False))
    if n < MIN_SAMPLES:
        return RandomOrder(accuracy, None, None, None, 0)
    samples = _safe_indexing(X, chosen)
    truth = np.asarray(model.predict_proba(samples)).argmax(axis=1)
    most = min(MAX_TIMES * n_labels, int(0.8 * n))
    tried = np.geomspace(max(4, n_labels / 2), max(5, most), 6)  # from half of the present labels on
    sizes = sorted({int(one) for one in tried.round()})
    agreement = np.array([[_agreement(model, samples, truth, random, size) for size in sizes] for _ in range(N_DRAWS)])
    needed = [_first_reaching(sizes, one, accuracy) for one in (agreement.mean(axis=0), *agreement)]
    known = [one for one in needed[1:] if one is not None]
    high = max(known) if len(known) == N_DRAWS else None
    return RandomOrder(accuracy, needed[0], min(known, default=None), high, sizes[-1])


def _agreement(model: Any, samples: Any, truth: Any, random: np.random.Generator, size: int) -> float:
    """Return the agreement on the other samples of a model trained with `size` labels."""
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
    """Return the number of labels that reaches an accuracy, interpolated between two sizes."""
    above = np.flatnonzero(accuracy >= wanted)
    if not len(above):
        return None
    at = int(above[0])
    if at == 0:
        return sizes[0]
    before, after = float(accuracy[at - 1]), float(accuracy[at])
    share = (wanted - before) / max(after - before, 1e-12)
    return round(sizes[at - 1] + share * (sizes[at] - sizes[at - 1]))
