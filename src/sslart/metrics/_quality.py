"""How good the answers of a report are: shares with intervals, per class and in all, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from scipy import stats

from sslart._data.classes import Label

LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A share with its 95 % interval; None where there was nothing to count.

    Attributes
    ----------
    value, low, high : float or None
    count, total : int or None
        So many out of so many; None for a mean of shares.
    """

    value: float | None
    low: float | None
    high: float | None
    count: int | None = None
    total: int | None = None


@dataclass(frozen=True)
class ClassQuality:
    """How one class is recognised.

    Attributes
    ----------
    label : class
    n_samples, n_answered : int
        Samples of this class, and how many of them got an answer.
    sensitivity : Estimate
        Recognised, among the samples of this class that got an answer.
    specificity : Estimate
        Not taken for this class, among the samples of other classes that got an answer.
    precision : Estimate
        Right, among the samples that were taken for this class.
    """

    label: Label
    n_samples: int
    n_answered: int
    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate


@dataclass(frozen=True)
class Quality:
    """How good the answers to labelled samples are.

    Attributes
    ----------
    n_samples : int
    accuracy : Estimate
        Right answers among all samples; no answer is no right answer.
    coverage : Estimate
        Samples with an answer.
    correctness : Estimate
        Right answers among the samples with an answer.
    balanced_accuracy : Estimate
        Mean over the classes of what `accuracy` is within each.
    classes : tuple of ClassQuality
    confusion : tuple of tuple of int
        A row per true class; columns are the answers, class by class, and last no answer.
    """

    n_samples: int
    accuracy: Estimate
    coverage: Estimate
    correctness: Estimate
    balanced_accuracy: Estimate
    classes: tuple[ClassQuality, ...]
    confusion: tuple[tuple[int, ...], ...]


def share(count: int, total: int) -> Estimate:
    """Return a share with its Wilson interval."""
    if total == 0:
        return Estimate(None, None, None, count, total)
    test = stats.binomtest(count, total)  # type: ignore[attr-defined]
    interval = test.proportion_ci(LEVEL, method="wilson")
    return Estimate(count / total, float(interval.low), float(interval.high), count, total)


def mean_share(shares: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent shares, its interval from theirs by squaring and adding (Newcombe 1998)."""
    known = [(one.value, one.low, one.high) for one in shares if one.value is not None]
    if not known:
        return Estimate(None, None, None)
    mean = sum(value for value, _, _ in known) / len(known)
    below = sqrt(sum((value - (low or 0.0)) ** 2 for value, low, _ in known)) / len(known)
    above = sqrt(sum(((high or 0.0) - value) ** 2 for value, _, high in known)) / len(known)
    return Estimate(mean, max(mean - below, 0.0), min(mean + above, 1.0))


def quality_of(truth: Sequence[Label], answers: Sequence[Label | None], classes: Sequence[Label]) -> Quality:
    """Judge answers, None where there is none, by the true classes, all of which are among `classes`."""
    pairs = Counter(zip(truth, answers, strict=True))
    rows = {label: sum(pairs[label, answer] for answer in (*classes, None)) for label in classes}
    columns = {answer: sum(pairs[label, answer] for label in classes) for answer in (*classes, None)}
    n, n_silent = len(truth), columns[None]
    n_right = sum(pairs[label, label] for label in classes)
    judged = []
    for label in classes:
        own = rows[label] - pairs[label, None]
        others = n - n_silent - own
        mistaken = columns[label] - pairs[label, label]
        judged.append(
            ClassQuality(
                label,
                rows[label],
                own,
                share(pairs[label, label], own),
                share(others - mistaken, others),
                share(pairs[label, label], columns[label]),
            )
        )
    return Quality(
        n,
        share(n_right, n),
        share(n - n_silent, n),
        share(n_right, n - n_silent),
        mean_share([share(pairs[label, label], rows[label]) for label in classes]),
        tuple(judged),
        tuple(tuple(pairs[label, answer] for answer in (*classes, None)) for label in classes),
    )
