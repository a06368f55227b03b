"""Learning curve over the number of labels: measured on subsamples, extrapolated by an inverse power law."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from sslart._mapping.loo_predictions import VARIANCE_FACTOR, LooPredictions
from sslart._mapping.model_view import ModelView, view_of
from sslart._utils.arrays import FloatArray
from sslart._utils.intervals import Estimate
from sslart._utils.validation import check_number, check_whole

if TYPE_CHECKING:
    from sslart._mapping.evidence import EvidenceMapping

SHARES = (0.125, 0.25, 0.5, 0.75)  # of the labels, in subsamples
N_ORDERS = 3  # random orders of the labels
MAX_USED = 800  # labels used, to bound the time
MIN_SUBSET = 4  # labels in a subsample
MIN_LABELS = 20  # with fewer labels the curve cannot be extrapolated
FURTHEST = 10  # extrapolated up to so many times the present labels
EXPONENTS = np.array([0.25, 0.5, 0.75, 1.0])
N_RESAMPLES = 500
ENDS_OF_95, ENDS_OF_80 = (2.5, 97.5), (10.0, 90.0)  # percentiles


@dataclass(frozen=True)
class SubSamples:
    """Correctness of predictions of labels by subsamples of the others."""

    sizes: FloatArray  # number of labels in each subsample; the labels of a group count one
    # (n_orders, n_sizes, n_groups): accuracy on the labels of each group, in each random order; NaN if the group was in
    # the subsample, or was not predicted
    right: FloatArray


def sub_samples_of(view: ModelView, left_out: LooPredictions) -> SubSamples:
    """Measure the predictions of labels by nested subsamples; in an ensemble, with the first member."""
    member = view.members[0]
    mapping, kept = cast("EvidenceMapping", member.mapping), member.kept_labels
    assert kept is not None
    groups = np.unique(left_out.groups, return_inverse=True)[1]
    n_groups = int(groups.max()) + 1
    n_used = min(n_groups, MAX_USED)
    sizes = [size for size in (round(share * n_used) for share in SHARES) if size >= MIN_SUBSET]
    right = np.full((N_ORDERS, len(sizes), n_groups), np.nan)
    random = np.random.RandomState(0)
    coded = member.at_choice.encode(kept[0][left_out.rows])
    for order in range(N_ORDERS):
        place = np.empty(n_groups, dtype=np.int64)
        place[random.permutation(n_groups)] = np.arange(n_groups)
        for number, size in enumerate(sizes):
            inside = place[groups] < size
            others = np.flatnonzero(~inside & (place[groups] < 2 * MAX_USED))
            proba = mapping.proba_by_some(left_out.rows[inside], coded[others])
            hits = view.class_by(proba) == left_out.truth[others]
            n_of = np.bincount(groups[others], minlength=n_groups)
            with np.errstate(invalid="ignore"):  # a group that was not predicted has no share
                right[order, number] = np.bincount(groups[others], hits, n_groups) / n_of
    return SubSamples(np.array(sizes, dtype=np.float64), right)


@dataclass(frozen=True)
class LabelsNeeded:
    """Number of labels needed for an accuracy, with an 80 % interval; `str()` puts it into words.

    Attributes
    ----------
    accuracy : float
        The accuracy wanted.
    n_labels : int
        Present number of labels.
    more, low, high : int or None
        Number of further labels needed, and the ends of the interval; None: more than nine times the present number, or
        no number of labels suffices.
    """

    accuracy: float
    n_labels: int
    more: int | None
    low: int | None
    high: int | None

    def __str__(self) -> str:
        wanted = f"an accuracy of {100 * self.accuracy:g} %"
        far = f"more than {(FURTHEST - 1) * self.n_labels:,}"
        if self.high == 0:
            return f"{wanted} is reached"
        low, high = (far if end is None else f"{end:,}" for end in (self.low, self.high))
        ends = f"80 % interval {low} to {high}"
        if self.more == 0:
            return f"{wanted} is reached on average ({ends} more labels)"
        if self.more is None:
            least = "" if self.low is None else f" ({ends})"
            return f"{wanted} needs {far} more labels{least}, or better features"
        return f"{wanted} needs about {self.more:,} more labels ({ends})"


class PowerLaw(NamedTuple):
    """Power laws a + b·n^−c of the error with n labels, one for each resample, as arrays of equal length."""

    a: FloatArray
    b: FloatArray
    c: FloatArray

    def remaining(self, n_now: float, n: float) -> FloatArray:
        """Return the ratio of the error with n labels to the error with n_now labels."""
        now = self.a + self.b * n_now**-self.c
        return np.asarray(np.where(now > 0, self.a + self.b * n**-self.c, 1.0) / np.where(now > 0, now, 1.0))

    def labels_for(self, n_now: float, share: FloatArray) -> FloatArray:
        """Return the number of labels that reduces the error to this share; infinity if no number does."""
        power = (share * (self.a + self.b * n_now**-self.c) - self.a) / np.maximum(self.b, 1e-12)
        found = np.maximum(power, 1e-30) ** (-1 / self.c)
        return np.where(share >= 1, n_now, np.where(power > 0, found, np.inf))


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Accuracy by number of labels, measured and extrapolated. Returned by `learning_curve`.

    Attributes
    ----------
    n_labels : array of length n_sizes
        Sizes of subsamples of the labels; the labels of a group count one.
    accuracy : array of length n_sizes
        Accuracy of each subsample on the other labels.
    n_now : int
        Present number of labels.
    accuracy_now : float or None
        Leave-one-out accuracy with all of them; None if it cannot be measured.
    why_not : str
        The reason if the curve cannot be extrapolated; else empty.
    """

    n_labels: FloatArray
    accuracy: FloatArray
    n_now: int
    accuracy_now: float | None
    why_not: str = ""
    _errors: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)
    _law: PowerLaw = field(default_factory=lambda: PowerLaw(*np.zeros((3, 0))), repr=False)

    @property
    def n_furthest(self) -> int:
        """The maximum number of labels of the extrapolation."""
        return FURTHEST * self.n_now

    def at(self, n_labels: int) -> Estimate:
        """Return the expected accuracy with `n_labels` labels, with a 95 % interval.

        Parameters
        ----------
        n_labels : int
            From the present number of labels to ten times as many.
        """
        n = check_whole("at", "n_labels", n_labels) or 1
        error = self._error_now()
        if not self.n_now <= n <= self.n_furthest:
            raise ValueError(
                f"n_labels of at must be from {self.n_now}, the number of labels, to {self.n_furthest}, got {n}: "
                "the curve is not continued further."
            )
        remaining = self._law.remaining(self.n_now, n)
        high, low = np.percentile(self._errors * remaining, ENDS_OF_95)
        value = 1.0 - error * float(remaining.mean())
        return Estimate(value, min(1.0 - float(low), value), max(1.0 - float(high), value))

    def labels_for(self, accuracy: float) -> LabelsNeeded:
        """Return the number of further labels needed for an accuracy.

        Parameters
        ----------
        accuracy : float
            Wanted accuracy, in (0, 1].
        """
        wanted = check_number("labels_for", "accuracy", accuracy, 0, 1, open_low=True)
        error = max(self._error_now(), 1e-12)
        middle = self._law.labels_for(self.n_now, np.full_like(self._errors, (1.0 - wanted) / error))
        each = self._law.labels_for(self.n_now, (1.0 - wanted) / self._errors)
        more, low, high = np.median(middle), *np.percentile(each, ENDS_OF_80, method="nearest")
        ends = (more, min(low, more), max(high, more))
        found = [None if one > self.n_furthest else max(0, ceil(one - self.n_now)) for one in ends]
        return LabelsNeeded(wanted, self.n_now, *found)

    def starting_from(self, accuracy: float, resampled: FloatArray) -> LearningCurve:
        """Return the curve rescaled to another accuracy with all labels.

        `resampled`: resamples of this accuracy, any number of them.
        """
        random = np.random.RandomState(0)
        errors = np.maximum(1.0 - resampled, 1e-12)[random.randint(len(resampled), size=len(self._errors))]
        return replace(self, accuracy_now=accuracy, _errors=errors)

    def _error_now(self) -> float:
        if self.why_not or self.accuracy_now is None:
            raise ValueError(f"The learning curve cannot be continued: {self.why_not}.")
        return 1.0 - self.accuracy_now

    def __str__(self) -> str:
        if self.why_not:
            return f"cannot be estimated: {self.why_not}"
        return "; ".join(f"with {times * self.n_now} labels {self.at(times * self.n_now)}" for times in (2, 4))


def learning_curve(model: Any) -> LearningCurve:
    """Return the learning curve of a model over its labels, with its extrapolation.

    Subsamples of the labels predict the others, with the boxes and settings of the model. The inverse power law
    a + b·n^−c, with c from 1/4 to 1, is fitted to their errors, and scaled to the leave-one-out error. The interval is
    a bootstrap over the labels. The estimate is for labels of randomly drawn samples. The time is bounded for any
    number of labels.

    Parameters
    ----------
    model : fitted AutoSSLART, or SSLART or WESSLART with evidence mapping
        Other models store no labelled samples.

    Returns
    -------
    LearningCurve
        With fewer than 20 labels, `why_not` has the reason why there is no estimate.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sslart import AutoSSLART
    >>> from sslart.active import learning_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = y.copy()
    >>> few[[i for i in range(len(y)) if i % 10]] = -1  # keep one label in ten
    >>> curve = learning_curve(AutoSSLART(random_state=0).fit(X, few))
    >>> curve.n_labels
    array([ 7., 14., 28., 43.])
    >>> expected = curve.at(2 * curve.n_now)
    >>> curve.accuracy_now < expected.value < expected.high < 1
    True
    """
    view, nothing = view_of(model), np.zeros(0)
    left_out, stated = view.left_out, view.quality
    if left_out is None or stated.accuracy is None or stated.accuracy.value is None:
        n = 0 if left_out is None else left_out.n_labels
        return LearningCurve(nothing, nothing, n, None, stated.why_not)
    n_measured, now = len(np.unique(left_out.groups)), stated.accuracy.value
    kept = view.members[0].kept_labels
    assert kept is not None
    n = round(n_measured * len(kept[1]) / len(left_out.rows))  # with many labels only some are left out
    if n < MIN_LABELS:
        reason = f"it takes at least {MIN_LABELS} labels, and there are {n}"
        return LearningCurve(nothing, nothing, n, now, reason)
    found = sub_samples_of(view, left_out)
    accuracy = np.nanmean(np.nanmean(found.right, axis=2), axis=0)
    random = np.random.RandomState(0)
    # leave-one-out shares vary more than those of independent samples, as in the interval of the accuracy
    n_right, n_wrong = (share * n_measured / VARIANCE_FACTOR for share in (now, 1.0 - now))
    errors = random.beta(n_wrong + 0.5, n_right + 0.5, size=N_RESAMPLES)
    return LearningCurve(found.sizes, accuracy, n, now, "", errors, _laws(found, random))


def _laws(found: SubSamples, random: np.random.RandomState) -> PowerLaw:
    """Return power laws fitted to the errors of resampled labels and orders, each with a random exponent."""
    n_orders, n_sizes, n_groups = found.right.shape
    is_known = ~np.isnan(found.right)
    wrong, known = np.where(is_known, 1.0 - found.right, 0.0), is_known.astype(np.float64)
    errors, weights = np.empty((N_RESAMPLES, n_sizes)), np.empty((N_RESAMPLES, n_sizes))
    for number in range(N_RESAMPLES):
        times = np.bincount(random.randint(n_groups, size=n_groups), minlength=n_groups).astype(np.float64)
        orders = random.randint(n_orders, size=n_orders)
        weights[number] = (known[orders] @ times).sum(axis=0)
        errors[number] = (wrong[orders] @ times).sum(axis=0) / np.maximum(weights[number], 1.0)
    exponents = EXPONENTS[random.randint(len(EXPONENTS), size=N_RESAMPLES)]
    return _fitted(errors, weights, found.sizes ** -exponents[:, None], exponents)


def _fitted(errors: FloatArray, weights: FloatArray, powers: FloatArray, exponents: FloatArray) -> PowerLaw:
    """Return a, b ≥ 0 of the errors a + b·powers, by weighted least squares for each row."""
    total = weights.sum(axis=1)
    mean_error, mean_power = ((weights * one).sum(axis=1) / total for one in (errors, powers))
    apart = powers - mean_power[:, None]
    b = (weights * apart * errors).sum(axis=1) / (weights * apart**2).sum(axis=1)
    a = mean_error - b * mean_power
    through_zero = (weights * powers * errors).sum(axis=1) / (weights * powers**2).sum(axis=1)
    is_flat = b < 0
    b = np.where(is_flat, 0.0, np.where(a < 0, through_zero, b))
    return PowerLaw(np.where(is_flat, mean_error, np.maximum(a, 0.0)), b, exponents)
