"""Estimates from actively chosen labels: accuracy over all samples, and labels needed in random order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from sslart._mapping.loo_predictions import VARIANCE_FACTOR as OF_LEFT_OUT
from sslart._mapping.loo_predictions import LooPredictions
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.intervals import Estimate

N_RESAMPLES = 200  # bootstrap resamples of the labels
MAX_SAMPLES = 2000  # unlabelled samples used, to bound the time
CLIP = 1e-3  # confidences are clipped to [CLIP, 1 − CLIP] before the logit
PRIOR_OFFSET, PRIOR_SLOPE = 1.0, 4.0  # weight of the prior (offset 0, slope 1), in labels
MAX_STEPS = 30  # of Newton's method
MAX_AT_ONCE = 1_000_000  # numbers computed at once, to bound memory
Z95 = 1.96  # 97.5 % quantile of the normal distribution
VARIANCE_FACTOR = 6.0  # relative to the bootstrap: labels are chosen, and predicted by nearly the same other labels
MAX_SIMULATED = 600  # samples in a simulation, to bound the time
MIN_SAMPLES = 20  # required for a simulation
N_DRAWS = 3  # random orders that are simulated
MAX_TIMES = 8  # simulated up to so many times the present labels


@dataclass(frozen=True, eq=False)
class PopulationAccuracy:
    """The accuracy over all samples, and its bootstrap resamples."""

    estimate: Estimate  # with a 95 % interval, which is wider than the resamples: see `VARIANCE_FACTOR`
    resampled: FloatArray


def population_accuracy(
    left_out: LooPredictions, confidence: FloatArray, n_open: int, n_labelled: int
) -> PopulationAccuracy | None:
    """Return the accuracy over all samples; None if there is no leave-one-out accuracy.

    `left_out`: leave-one-out predictions of the labels; `confidence`: of the predictions for unlabelled samples, or for
    a random subset; `n_open`, `n_labelled`: numbers of unlabelled and labelled samples. For labelled samples, the
    leave-one-out confidence is used, since the model is overconfident on its training labels.
    """
    if left_out.accuracy() is None:
        return None
    z, right, weights = _logit(left_out.confidence), left_out.right.astype(np.float64), left_out.weights
    everywhere = np.concatenate([_logit(confidence), z])
    open_share = np.full(len(confidence), n_open / max(len(confidence), 1))
    share = np.concatenate([open_share, n_labelled * weights / weights.sum()])
    share /= share.sum()

    def mean_right(chosen: IntArray) -> FloatArray:
        offset, slope, _ = _fitted(z[chosen], right[chosen], weights[chosen])
        return np.asarray(expit(offset[:, None] + slope[:, None] * everywhere) @ share)

    random = np.random.default_rng(0)
    at_once = max(1, min(N_RESAMPLES, MAX_AT_ONCE // len(everywhere)))
    sizes = [min(at_once, N_RESAMPLES - start) for start in range(0, N_RESAMPLES, at_once)]
    resampled = np.concatenate([mean_right(random.integers(len(z), size=(size, len(z)))) for size in sizes])
    value, left_open = _by_all(z, right, weights, everywhere, share)
    by_resamples = float(_logit(resampled).std())
    if by_resamples < left_open:
        more = np.sqrt(left_open**2 - by_resamples**2) * random.standard_normal(N_RESAMPLES)
        resampled = np.asarray(expit(_logit(resampled) + more))
    apart = Z95 * max(np.sqrt(VARIANCE_FACTOR) * by_resamples, np.sqrt(OF_LEFT_OUT) * left_open)
    middle = float(_logit(np.array([value]))[0])
    low, high = float(expit(middle - apart)), float(expit(middle + apart))
    return PopulationAccuracy(Estimate(value, min(low, value), max(high, value)), resampled)


def _by_all(
    z: FloatArray, right: FloatArray, weights: FloatArray, everywhere: FloatArray, share: FloatArray
) -> tuple[float, float]:
    """Return the accuracy by all labels, and the standard deviation of its logit from the regression.

    If all labels are predicted correctly, or all wrongly, resamples are identical: the regression with its prior then
    provides the uncertainty.
    """
    offset, slope, covariance = _fitted(z[None], right[None], weights[None])
    at_each = expit(offset + slope * everywhere)
    value = float(at_each @ share)
    of_each = at_each * (1 - at_each) * share / max(value * (1 - value), CLIP**2)
    towards = np.array([of_each.sum(), of_each @ everywhere])
    return value, float(np.sqrt(towards @ covariance[0] @ towards))


def _logit(share: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(share, CLIP, 1.0 - CLIP)), dtype=np.float64)


def _fitted(z: FloatArray, right: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return offset and slope of the logistic regression of each row, and their covariance, by Newton's method."""
    offset, slope = np.zeros(len(z)), np.ones(len(z))
    for _ in range(MAX_STEPS):
        p = expit(offset[:, None] + slope[:, None] * z)
        apart, curvature = weights * (right - p), weights * p * (1 - p)
        down_offset = apart.sum(axis=1) - PRIOR_OFFSET * offset
        down_slope = (apart * z).sum(axis=1) - PRIOR_SLOPE * (slope - 1.0)
        a, b = curvature.sum(axis=1) + PRIOR_OFFSET, (curvature * z).sum(axis=1)
        c = (curvature * z**2).sum(axis=1) + PRIOR_SLOPE
        both = a * c - b**2
        step_offset, step_slope = (c * down_offset - b * down_slope) / both, (a * down_slope - b * down_offset) / both
        offset, slope = offset + step_offset, slope + step_slope
        if max(np.abs(step_offset).max(), np.abs(step_slope).max()) < 1e-8:
            break
    return offset, slope, np.array([[c, -b], [-b, a]]).transpose(2, 0, 1) / both[:, None, None]


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
