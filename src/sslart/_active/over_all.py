"""Accuracy over all samples, where the labels were not drawn at random: left-out labels, weighted by confidence.

Questions are about samples of which the model is not sure, so that the share of left-out labels that are predicted
rightly is lower than over all samples. How often a prediction is right at a given confidence is taken from the left-out
labels (logistic regression on the logit of the confidence, with a weak prior that confidence is right), and averaged
over the confidence of all samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from sslart._mapping.left_out import VARIANCE_FACTOR as OF_LEFT_OUT
from sslart._mapping.left_out import LeftOut
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.intervals import Estimate

N_RESAMPLES = 200
MAX_SAMPLES = 2000
CLIP = 1e-3
PRIOR_OFFSET, PRIOR_SLOPE = 1.0, 4.0  # how many labels the prior counts, about: offset 0, slope 1
MAX_STEPS = 30
MAX_AT_ONCE = 1_000_000  # numbers, which bounds the memory
Z95 = 1.96
VARIANCE_FACTOR = 6.0  # against the resamples: labels that were chosen, and predicted by nearly the same others


@dataclass(frozen=True, eq=False)
class OverAll:
    """The accuracy over all samples, and that by resamples of the labels.

    Attributes
    ----------
    estimate : Estimate
        With a 95 % interval, which is wider than the resamples are.
    resampled : array
    """

    estimate: Estimate
    resampled: FloatArray


def accuracy_over_all(left_out: LeftOut, confidence: FloatArray, n_open: int, n_labelled: int) -> OverAll | None:
    """Return the accuracy over all samples; None where left-out labels mean nothing.

    Parameters
    ----------
    left_out : LeftOut
        What is predicted for left-out labels.
    confidence : array
        Of the predictions for the samples without a label, or for some of them that were drawn at random.
    n_open, n_labelled : int
        How many samples have no label, and how many have one. Of these, the confidence counts that they get when their
        label is left out: with it the model is too sure.
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
    return OverAll(Estimate(value, min(low, value), max(high, value)), resampled)


def _by_all(
    z: FloatArray, right: FloatArray, weights: FloatArray, everywhere: FloatArray, share: FloatArray
) -> tuple[float, float]:
    """Return the accuracy by all labels, and the standard deviation of its logit that the regression leaves open.

    Few labels that are all right, or all wrong, are so in every resample: the prior alone leaves something open there.
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
