"""The value of a label: by how much it lowers the uncertainty about all samples.

Samples are points of a Gaussian process whose covariance decreases with their L1 distance. A label of one lowers the
variance of all others near it. The value of a label is the sum of what it takes off the variances, each weighted by
the number of samples that the point stands for and by the uncertainty of the prediction there, times the squared
uncertainty at the sample itself. Without a label all predictions are equally uncertain, and samples among many
others come first; as predictions become certain, what is left are samples between the classes with others around.

A model is also certain where it knows nothing, and a class that has no label yet may be there. Every third label is
therefore chosen without regard to the predictions: in turn a sample drawn at random, which finds a class whose samples
are unlike each other, and the sample of most value if all predictions were equally uncertain, which finds clusters.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.spatial.distance import cdist

from sslart._utils.arrays import BoolArray, FloatArray, IntArray

REACH = 0.5  # of the mean distance between two samples: over which covariance falls to 1/e
NOISE = 0.05  # variance of a label
EXPLORE_EVERY = 3  # labels, of which the last one is chosen without regard to the predictions,
DRAW_EVERY = 2 * EXPLORE_EVERY  # and of so many labels one in the middle at random
MIN_UNCERTAINTY = 1e-3  # so that where every prediction is certain, the label that serves most samples comes first
MISSING = 0.5  # stands for a missing value: the middle of the range
MAX_ONE_BY_ONE = 100  # labels of a batch, each chosen with regard to those before it


def uncertainty(proba: FloatArray | None, n: int) -> FloatArray:
    """Return one minus the margin between the two most probable classes of each sample; one without two classes."""
    if proba is None or proba.shape[1] < 2:
        return np.ones(n)
    highest = np.sort(proba, axis=1)
    return np.asarray(1.0 - highest[:, -1] + highest[:, -2])


@dataclass(frozen=True, eq=False)
class Points:
    """Coded samples, and how many samples each stands for.

    Attributes
    ----------
    coded : array of shape (n_points, n_features)
        No value is missing.
    mass : array of length n_points
    """

    coded: FloatArray
    mass: FloatArray

    @classmethod
    def of(cls, coded: FloatArray, mass: FloatArray) -> Points:
        """Return points of samples that may have missing values (NaN): these are in the middle of the range."""
        return cls(np.nan_to_num(coded, nan=MISSING), mass)

    @cached_property
    def apart(self) -> FloatArray:
        """The L1 distance between each two points."""
        return _distances(self.coded, self.coded)

    @cached_property
    def mean_distance(self) -> float:
        """The mean distance between two of the samples that the points stand for."""
        return float(self.mass @ self.apart @ self.mass) / max(float(self.mass.sum()) ** 2, 1e-12)

    def in_order(
        self, unsure: FloatArray, free: BoolArray, labelled: FloatArray, n: int, alike: IntArray | None = None
    ) -> IntArray:
        """Return the points to label next, the most valuable first, each chosen as if those before had their labels.

        Parameters
        ----------
        unsure : array of length n_points
            Uncertainty of the predictions, from 0 to 1.
        free : array of bool of length n_points
            Which points may be chosen.
        labelled : array of shape (n_labelled, n_features)
            Coded samples that have a label.
        n : int
            How many to return; fewer where there are no more.
        alike : array of int of length n_points, default=None
            Of points with one number at most one is returned; None: each has its own.
        """
        alike = np.arange(len(free)) if alike is None else alike
        covariance = self._covariance(np.nan_to_num(labelled, nan=MISSING))
        at_first = np.maximum(covariance.diagonal(), 1e-9)
        left, chosen = free.copy(), list[int]()
        while left.any() and len(chosen) < n:
            number = len(labelled) + len(chosen) + 1
            doubts = unsure + MIN_UNCERTAINTY if number % EXPLORE_EVERY else np.ones(len(unsure))
            variance = np.maximum(covariance.diagonal(), 0.0)
            taken_off = ((self.mass * doubts) @ covariance**2) / (variance + NOISE)
            own = doubts * variance / at_first  # as variance falls within a batch, so does uncertainty
            value = np.where(left, own**2 * taken_off, -np.inf)
            if len(chosen) >= MAX_ONE_BY_ONE:
                best_first = np.argsort(-value, kind="stable")[: int(left.sum())]
                rest = best_first[np.sort(np.unique(alike[best_first], return_index=True)[1])][: n - len(chosen)]
                return np.array([*chosen, *rest.tolist()], dtype=np.int64)
            best = self._drawn(left, number) if number % DRAW_EVERY == EXPLORE_EVERY else int(value.argmax())
            chosen.append(best)
            left &= alike != alike[best]
            covariance -= np.outer(covariance[:, best], covariance[best]) / (variance[best] + NOISE)
        return np.array(chosen, dtype=np.int64)

    def _drawn(self, left: BoolArray, number: int) -> int:
        """Return one of the points that are left, as a sample drawn at random would be; the same one for a number."""
        weights = np.where(left, self.mass, 0.0)
        if not weights.any():
            weights = left.astype(np.float64)
        return int(np.random.default_rng(number).choice(len(left), p=weights / weights.sum()))

    def _covariance(self, labelled: FloatArray) -> FloatArray:
        """Return the covariance of the points, given that some samples have a label."""
        reach = REACH * self.mean_distance or 1.0
        covariance = np.exp(-self.apart / reach)
        if len(labelled):
            across = np.exp(-_distances(self.coded, labelled) / reach)
            own = np.exp(-_distances(labelled, labelled) / reach) + NOISE * np.eye(len(labelled))
            covariance -= across @ np.linalg.solve(own, across.T)
        return np.asarray(covariance)


def _distances(samples: FloatArray, others: FloatArray) -> FloatArray:
    return np.asarray(cdist(samples, others, "cityblock"))
