"""Learning curve over the number of labels: a prior from many tables, updated by sub-samples of a table's labels.

The log-odds of the accuracy are a straight line over the logarithm of the number of labels. Level and slope have a
normal distribution, whose mean depends on the numbers of labels and classes; it was fitted to tables on which models
with more and more labels were measured (`learning_curves.json` names them and the command). The accuracies of
sub-samples, and the left-out accuracy with all labels, have normal errors: so has the posterior.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from math import ceil, log
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
MIN_LABELS = 10  # with fewer labels the prior has no tables
MAX_LABELS = 200  # the prior of more labels is that of so many: it has no tables with more
FURTHEST = 10  # extrapolated up to so many times the present labels
N_PATHS = 1000  # drawn from the posterior
RARE = 0.002  # least share of errors for which log-odds are linearised
N_STEPS = 40  # to the mode of the posterior
CERTAIN = 0.95  # probability from which on an accuracy is called reached, or out of reach
ENDS_OF_95, ENDS_OF_80 = (2.5, 97.5), (10.0, 90.0)  # percentiles


def sub_samples_of(view: ModelView, left_out: LooPredictions) -> tuple[FloatArray, FloatArray]:
    """Return the sizes of nested subsamples of the labels, and their accuracies; in an ensemble, of the first member.

    Each predicts the other labels that were drawn at random; the labels of a group count as one. The accuracy is the
    mean over random orders; NaN where there are no others.
    """
    member = view.members[0]
    mapping, kept = cast("EvidenceMapping", member.mapping), member.kept_labels
    assert kept is not None
    groups = np.unique(left_out.groups, return_inverse=True)[1]
    is_drawn = np.ones(len(groups), dtype=bool) if left_out.at_random is None else left_out.at_random
    n_groups = int(groups.max()) + 1
    n_used = min(n_groups, MAX_USED)
    sizes = [size for size in (round(share * n_used) for share in SHARES) if size >= MIN_SUBSET]
    right, known = np.zeros(len(sizes)), np.zeros(len(sizes))
    random = np.random.RandomState(0)
    coded = member.at_choice.encode(kept[0][left_out.rows])
    for _ in range(N_ORDERS):
        place = np.empty(n_groups, dtype=np.int64)
        place[random.permutation(n_groups)] = np.arange(n_groups)
        for number, size in enumerate(sizes):
            inside = place[groups] < size
            others = np.flatnonzero(~inside & is_drawn & (place[groups] < 2 * MAX_USED))
            if len(others):
                hits = view.class_by(mapping.proba_by_some(left_out.rows[inside], coded[others]))
                weights = left_out.weights[others]
                right[number] += weights @ (hits == left_out.truth[others])
                known[number] += weights.sum()
    return np.array(sizes, dtype=np.float64), np.where(known > 0, right / np.maximum(known, 1e-12), np.nan)


class Observed(NamedTuple):
    """Measured accuracies of a model, and the numbers that the prior depends on."""

    n_labels: int
    n_classes: int
    n_measured: int  # labels that the accuracies are measured on
    sizes: FloatArray  # number of labels of each accuracy; the last is that of all labels
    accuracy: FloatArray  # NaN where it was not measured

    @property
    def features(self) -> FloatArray:
        """The features of the prior."""
        return np.array([1.0, log(min(self.n_labels, MAX_LABELS) / 50), log(self.n_classes / 2)])

    @property
    def design(self) -> FloatArray:
        """The weights of level and slope in the log-odds of each accuracy, (n_sizes, 2)."""
        return np.column_stack([np.ones(len(self.sizes)), np.log(self.sizes / self.n_labels)])

    def linearised(self, line: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-odds of each accuracy to first order around a line, and their standard deviation.

        The deviation is that of independent labels. These are the working responses of logistic regression: accuracies
        of 0 and 1 have finite ones.
        """
        expected = self.design @ line
        p = np.clip(1.0 / (1.0 + np.exp(-expected)), RARE, 1.0 - RARE)
        return expected + (self.accuracy - p) / (p * (1.0 - p)), 1.0 / np.sqrt(self.n_measured * p * (1.0 - p))


class Prior(NamedTuple):
    """Distribution of learning curves over tables, and of the errors of measured accuracies."""

    mean: FloatArray  # (n_features, 2): level and slope by features
    covariance: FloatArray  # (2, 2)
    bias: FloatArray  # of the log-odds of each accuracy: of the subsamples, and with all labels
    noise: FloatArray  # their covariance, relative to that of independent labels
    misfit: float  # standard deviation of log-odds from a straight line

    def posterior(self, observed: Observed) -> tuple[FloatArray, FloatArray]:
        """Return mean and covariance of level and slope, given the accuracies."""
        mean, known = observed.features @ self.mean, ~np.isnan(observed.accuracy)
        place = np.arange(len(self.bias) - len(known), len(self.bias))[known]
        design = observed.design[known]
        spread, line = design @ self.covariance, mean
        for _ in range(N_STEPS):
            log_odds, scale = (one[known] for one in observed.linearised(line))
            variance = self.noise[np.ix_(place, place)] * np.outer(scale, scale) + self.misfit**2 * np.eye(len(place))
            gain = np.linalg.solve(spread @ design.T + variance, spread).T
            line = (line + mean + gain @ (log_odds - self.bias[place] - design @ mean)) / 2  # half a step: no cycles
        return line, self.covariance - gain @ spread


@cache
def shipped_prior() -> Prior:
    """Return the prior that the package contains."""
    found = json.loads(files("sslart.active").joinpath("learning_curves.json").read_text("utf-8"))
    mean, covariance, bias, noise = (np.array(found[name]) for name in Prior._fields[:-1])
    return Prior(mean, covariance, bias, noise, found["misfit"])


class Paths(NamedTuple):
    """Learning curves drawn from the posterior: log-odds of the accuracy, and their slope over the log of labels."""

    level: FloatArray
    slope: FloatArray

    @classmethod
    def drawn(cls, mean: FloatArray, covariance: FloatArray) -> Paths:
        """Draw curves; none of them falls."""
        values = np.random.RandomState(0).standard_normal((N_PATHS, 2)) @ np.linalg.cholesky(covariance).T + mean
        return cls(values[:, 0], np.maximum(values[:, 1], 1e-9))

    def accuracy(self, times: float) -> FloatArray:
        """Return the accuracy with so many times the labels."""
        return np.asarray(1.0 / (1.0 + np.exp(-self.level - self.slope * log(times))))

    def times_for(self, accuracy: float) -> FloatArray:
        """Return the multiple of the labels for an accuracy: 1 where it is reached, infinity beyond the curve."""
        gap = np.log(accuracy / max(1.0 - accuracy, 1e-12)) - self.level
        power = np.maximum(gap, 0.0) / self.slope
        return np.where(power > log(FURTHEST), np.inf, np.exp(np.minimum(power, log(FURTHEST))))


@dataclass(frozen=True)
class LabelsNeeded:
    """Number of labels needed for an accuracy, with an 80 % interval; `str()` puts it into words.

    Attributes
    ----------
    accuracy : float
        The accuracy wanted.
    n_labels : int
        Present number of labels.
    more : int or None
        Number of further labels: the median, if the accuracy is not reached yet and can be with ten times the labels. 0
        if it is reached with a probability of at least 95 %; None if it is out of reach with such a probability.
    low, high : int or None
        Ends of the 80 % interval; 0: reached; None: more than nine times the present number, or no number suffices.
    reached : float
        Probability that the accuracy is reached.
    """

    accuracy: float
    n_labels: int
    more: int | None
    low: int | None
    high: int | None
    reached: float

    def __str__(self) -> str:
        wanted = f"an accuracy of {100 * self.accuracy:g} %"
        far = f"more than {(FURTHEST - 1) * self.n_labels:,}"
        if self.more == 0:
            return f"{wanted} is reached (probability {100 * self.reached:.0f} %)"
        if self.more is None:
            return f"{wanted} needs {far} more labels, or better features"
        low, high = (far if end is None else f"{end:,}" for end in (self.low, self.high))
        needed = f"about {self.more:,} more labels (80 % interval {low} to {high}"
        if self.reached >= 0.5:
            return f"{wanted} is probably reached (probability {100 * self.reached:.0f} %); if not, it needs {needed})"
        already = f"; probability that it is reached: {100 * self.reached:.0f} %" if self.low == 0 else ""
        return f"{wanted} needs {needed}{already})"


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
    _errors: FloatArray = field(default_factory=lambda: np.zeros(0), repr=False)  # draws of the present error
    _paths: Paths = field(default_factory=lambda: Paths(*np.zeros((2, 0))), repr=False)

    @property
    def n_furthest(self) -> int:
        """The maximum number of labels of the extrapolation."""
        return FURTHEST * self.n_now

    def at(self, n_labels: int) -> Estimate:
        """Return the expected accuracy with `n_labels` labels, with a 95 % interval.

        It starts from the leave-one-out accuracy.

        Parameters
        ----------
        n_labels : int
            From the present number of labels to ten times as many.
        """
        n, now = check_whole("at", "n_labels", n_labels) or 1, self._now()
        if not self.n_now <= n <= self.n_furthest:
            raise ValueError(
                f"n_labels of at must be from {self.n_now}, the number of labels, to {self.n_furthest}, got {n}: "
                "the curve is not continued further."
            )
        remaining = (1.0 - self._paths.accuracy(n / self.n_now)) / (1.0 - self._paths.accuracy(1.0))
        high, low = np.percentile(self._errors * remaining, ENDS_OF_95)
        value = 1.0 - (1.0 - now) * float(remaining.mean())
        return Estimate(value, min(1.0 - float(low), value), max(1.0 - float(high), value))

    def labels_for(self, accuracy: float) -> LabelsNeeded:
        """Return the number of further labels needed for an accuracy.

        The present accuracy is uncertain, too: leave-one-out accuracies that are high for so few labels are taken as
        partly luck, so that the number may be larger than the one with which `at` reaches the accuracy.

        Parameters
        ----------
        accuracy : float
            Wanted accuracy, in (0, 1].
        """
        wanted = check_number("labels_for", "accuracy", accuracy, 0, 1, open_low=True)
        self._now()
        times = self._paths.times_for(wanted)
        reached, far = float((times == 1.0).mean()), float(np.isinf(times).mean())
        low, high = np.percentile(times, ENDS_OF_80, method="nearest")
        between = times[(times > 1.0) & np.isfinite(times)]
        if max(reached, far) < CERTAIN and len(between):
            more = float(np.median(between))
        else:
            more = 1.0 if reached >= far else np.inf
        ends = (more, min(low, more), max(high, more))
        number, least, most = (None if np.isinf(one) else ceil(round(self.n_now * (one - 1), 6)) for one in ends)
        return LabelsNeeded(wanted, self.n_now, number, least, most, reached)

    def _now(self) -> float:
        if self.why_not or self.accuracy_now is None:
            raise ValueError(f"The learning curve cannot be continued: {self.why_not}.")
        return self.accuracy_now

    def __str__(self) -> str:
        if self.why_not:
            return f"cannot be estimated: {self.why_not}"
        return "; ".join(f"with {times * self.n_now} labels {self.at(times * self.n_now)}" for times in (2, 4))


def learning_curve(model: Any) -> LearningCurve:
    """Return the learning curve of a model over its labels, with its extrapolation.

    The prior is that of many tables on which models with more and more labels were measured. It is updated by the
    leave-one-out accuracy and by the accuracies of subsamples of the labels on the others, with the boxes and settings
    of the model. The estimate is for labels of randomly drawn samples. The time is bounded for any number of labels.

    Parameters
    ----------
    model : fitted AutoSSLART, or SSLART or WESSLART with evidence mapping
        Other models store no labelled samples.

    Returns
    -------
    LearningCurve
        With fewer than 10 labels, `why_not` has the reason why there is no estimate.

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
    observed = observed_of(view, left_out, stated.accuracy.value)
    if observed.n_labels < MIN_LABELS:
        reason = f"it takes at least {MIN_LABELS} labels, and there are {observed.n_labels}"
        return LearningCurve(nothing, nothing, observed.n_labels, stated.accuracy.value, reason)
    return continued(observed, shipped_prior())


def continued(observed: Observed, prior: Prior) -> LearningCurve:
    """Return the learning curve of measured accuracies."""
    now, known = float(observed.accuracy[-1]), ~np.isnan(observed.accuracy[:-1])
    # leave-one-out shares vary more than those of independent samples, as in the interval of the accuracy
    n_right, n_wrong = (share * observed.n_measured / VARIANCE_FACTOR for share in (now, 1.0 - now))
    errors = np.random.RandomState(1).beta(n_wrong + 0.5, n_right + 0.5, size=N_PATHS)
    paths = Paths.drawn(*prior.posterior(observed))
    sizes, accuracy = observed.sizes[:-1][known], observed.accuracy[:-1][known]
    return LearningCurve(sizes, accuracy, observed.n_labels, now, "", errors, paths)


def observed_of(view: ModelView, left_out: LooPredictions, accuracy: float) -> Observed:
    """Return the measured accuracies of a model; `accuracy`: that of leave-one-out."""
    kept, n_groups = view.members[0].kept_labels, len(np.unique(left_out.groups))
    assert kept is not None
    n = round(n_groups * len(kept[1]) / len(left_out.rows))  # with many labels only some are left out
    sizes, accuracies = sub_samples_of(view, left_out)
    return Observed(
        n,
        len(np.unique(left_out.truth)),
        len(np.unique(left_out.drawn.groups)),
        np.append(sizes, n),
        np.append(accuracies, accuracy),
    )
