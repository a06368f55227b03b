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

from sslart._mapping.left_out import LeftOut
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.intervals import Estimate

N_RESAMPLES = 200
MAX_SAMPLES = 2000
CLIP = 1e-3
PRIOR_OFFSET, PRIOR_SLOPE = 1.0, 4.0  # how many labels the prior counts, about: offset 0, slope 1
MAX_STEPS = 30
MAX_AT_ONCE = 100_000  # labels of resamples, which bounds the memory
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


def accuracy_over_all(left_out: LeftOut, confidence: FloatArray) -> OverAll | None:
    """Return the accuracy over all samples; None where left-out labels mean nothing.

    Parameters
    ----------
    left_out : LeftOut
        What is predicted for left-out labels.
    confidence : array
        Of the predictions for all samples.
    """
    if left_out.accuracy() is None or not len(confidence):
        return None
    random = np.random.default_rng(0)
    if len(confidence) > MAX_SAMPLES:
        confidence = random.choice(confidence, MAX_SAMPLES, replace=False)
    everywhere = _logit(confidence)
    z, right, weights = _logit(left_out.confidence), left_out.right.astype(np.float64), left_out.weights

    def mean_right(chosen: IntArray) -> FloatArray:
        offset, slope = _fitted(z[chosen], right[chosen], weights[chosen])
        return np.asarray(expit(offset[:, None] + slope[:, None] * everywhere).mean(axis=1))

    value = float(mean_right(np.arange(len(z))[None])[0])
    at_once = max(1, min(N_RESAMPLES, MAX_AT_ONCE // len(z)))
    sizes = [min(at_once, N_RESAMPLES - start) for start in range(0, N_RESAMPLES, at_once)]
    resampled = np.concatenate([mean_right(random.integers(len(z), size=(size, len(z)))) for size in sizes])
    apart = Z95 * np.sqrt(VARIANCE_FACTOR) * float(_logit(resampled).std())
    middle = float(_logit(np.array([value]))[0])
    return OverAll(Estimate(value, float(expit(middle - apart)), float(expit(middle + apart))), resampled)


def _logit(share: FloatArray) -> FloatArray:
    return np.asarray(logit(np.clip(share, CLIP, 1.0 - CLIP)), dtype=np.float64)


def _fitted(z: FloatArray, right: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return offset and slope of the logistic regression of each row, by Newton's method."""
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
    return offset, slope
