"""Quality of predictions per class and overall, and the guarantees of a model for new samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

from sslart._data.labels import Label, check_has_label
from sslart._mapping.conformal import LEVELS, Guarantees, guarantees_of
from sslart._mapping.model_view import view_of
from sslart._utils.intervals import Estimate, share
from sslart._utils.validation import check_number


@dataclass(frozen=True)
class ClassQuality:
    """Quality of the predictions of one class."""

    label: Label
    n_samples: int  # samples of this class, and how many of them got a prediction
    n_predicted: int
    sensitivity: Estimate  # predicted as this class, among its samples that got a prediction
    specificity: Estimate  # not predicted as this class, among the samples of other classes that got a prediction
    precision: Estimate  # right, among the samples that were predicted as this class


@dataclass(frozen=True)
class Quality:
    """Quality of the predictions for labelled samples."""

    n_samples: int
    accuracy: Estimate  # right predictions among all samples; abstention does not count as right
    coverage: Estimate  # samples with a prediction
    correctness: Estimate  # right predictions among the samples with a prediction
    balanced_accuracy: Estimate  # mean over the classes of what `accuracy` is within each
    classes: tuple[ClassQuality, ...]
    # a row per true class; columns are the predicted classes, and last those where the model abstained
    confusion: tuple[tuple[int, ...], ...]


def mean_share(shares: Sequence[Estimate]) -> Estimate:
    """Return the mean of independent shares; the interval combines theirs by root sum of squares (Newcombe 1998)."""
    known = [(one.value, one.low, one.high) for one in shares if one.value is not None]
    if not known:
        return Estimate(None, None, None)
    mean = sum(value for value, _, _ in known) / len(known)
    below = sqrt(sum((value - (low or 0.0)) ** 2 for value, low, _ in known)) / len(known)
    above = sqrt(sum(((high or 0.0) - value) ** 2 for value, _, high in known)) / len(known)
    return Estimate(mean, max(mean - below, 0.0), min(mean + above, 1.0))


def quality_of(truth: Sequence[Label], predicted: Sequence[Label | None], classes: Sequence[Label]) -> Quality:
    """Compare predictions (None for abstention) with the true classes, which must all be in `classes`."""
    pairs = Counter(zip(truth, predicted, strict=True))
    outcomes = (*classes, None)
    rows = {label: sum(pairs[label, outcome] for outcome in outcomes) for label in classes}
    columns = {outcome: sum(pairs[label, outcome] for label in classes) for outcome in outcomes}
    n, n_abstained = len(truth), columns[None]
    n_right = sum(pairs[label, label] for label in classes)
    by_class = []
    for label in classes:
        own = rows[label] - pairs[label, None]
        others = n - n_abstained - own
        mistaken = columns[label] - pairs[label, label]
        hits = pairs[label, label]
        shares = share(hits, own), share(others - mistaken, others), share(hits, columns[label])
        by_class.append(ClassQuality(label, rows[label], own, *shares))
    return Quality(
        n,
        share(n_right, n),
        share(n - n_abstained, n),
        share(n_right, n - n_abstained),
        mean_share([share(pairs[label, label], rows[label]) for label in classes]),
        tuple(by_class),
        tuple(tuple(pairs[label, outcome] for outcome in outcomes) for label in classes),
    )


def guarantees(model: Any, max_errors: Iterable[float] = LEVELS) -> Guarantees:
    """Return the errors that a model can guarantee with its labels, and the share of samples it answers.

    Nothing is learnt: each label is predicted by the others alone, as `max_error` does.

    Parameters
    ----------
    model : AutoSSLART, or SSLART or WESSLART with evidence mapping
        A fitted classifier. It is not changed.
    max_errors : iterable of float, default=(0.01, 0.02, 0.05, 0.1, 0.2)
        Values of `max_error`.

    Returns
    -------
    Guarantees

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sslart import AutoSSLART
    >>> from sslart.metrics import guarantees
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = guarantees(AutoSSLART(random_state=0).fit(X[::10], y[::10]), [0.01, 0.05])
    >>> found.n_labels, found.levels[0].labels_needed, found.levels[0].is_possible
    (57, 99, False)
    >>> print(found.levels[0].sentence())
    to be right 99 times in 100, it needs at least 99 labels, and there are 57
    """
    view = view_of(model, "a fitted AutoSSLART, SSLART or WESSLART")
    check_has_label(view.class_table)
    levels = [check_number("guarantees", "max_errors", level, 0, 1, open_low=True) for level in max_errors]
    return guarantees_of(view.promises, levels)
