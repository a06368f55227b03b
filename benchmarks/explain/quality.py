"""Checks of explanations on one data set: they add up, and the parts shown have the sign of the prediction."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from accuracy import sets
from explain.game import difference
from sslart import WESSLART, AutoSSLART

MAX_ROWS = 200
MAX_COLUMNS = 12  # for all subsets
ROWS_OF_SUBSETS = 3
N_MEMBERS = 3
WITHOUT_ENSEMBLE = ("USPS", "MNIST")  # minutes each


@dataclass(frozen=True)
class Quality:
    """Findings on one data set.

    Attributes
    ----------
    dataset : str
    n_rows, n_columns : int
        Samples explained, and their features.
    incomplete : float
        The largest difference between the sum of the contributions and the score, of a single model.
    incomplete_ensemble : float or None
        The same of an ensemble.
    from_subsets : float or None
        The largest difference from Shapley values by all subsets; None where there are too many features.
    right_sign : float
        The share of rows whose base and shown contributions add up to the sign of the margin.
    lines, many_lines : float
        How many contributions are shown: the mean, and the 95th percentile.
    shown : float
        The share of the sum of all absolute contributions that is shown, mean over the rows.
    """

    dataset: str
    n_rows: int
    n_columns: int
    incomplete: float
    incomplete_ensemble: float | None
    from_subsets: float | None
    right_sign: float
    lines: float
    many_lines: float
    shown: float


def quality(dataset: str, max_rows: int = MAX_ROWS) -> Quality:
    """Fit on a data set with few labels, as `make accuracy` does, and explain samples of its test."""
    task, _ = sets.task(dataset, 0)
    X = task.X_test[:max_rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples that no label reaches
        model = AutoSSLART(random_state=0).fit(task.X, task.y)
        ensemble = None
        if dataset not in WITHOUT_ENSEMBLE:
            ensemble = WESSLART(mapping="evidence", n_members=N_MEMBERS, random_state=0).fit(task.X, task.y)
    n_columns = np.shape(X)[1]
    few = n_columns <= MAX_COLUMNS
    right, lines, shown = signs(model, X)
    return Quality(
        dataset,
        len(X),
        n_columns,
        incompleteness(model, X),
        None if ensemble is None else incompleteness(ensemble, X),
        difference(model, X[:ROWS_OF_SUBSETS]) if few else None,
        right,
        float(np.mean(lines)),
        float(np.percentile(lines, 95)),
        shown,
    )


def incompleteness(model: Any, X: Any) -> float:
    """Return the largest difference between a score and the base plus all contributions."""
    parts = model.contributions(X)
    total = parts.base + parts.values.sum(axis=1) + parts.graph
    return float(np.abs(total - parts.scores)[np.isfinite(parts.scores)].max())


def signs(model: Any, X: Any) -> tuple[float, list[int], float]:
    """Return the share of rows whose shown terms have the sign of the margin, their numbers, and what they cover."""
    evidence = [explanation.evidence for explanation in model.explain(X)]
    evidence = [one for one in evidence if one is not None]
    right = [(one.base + sum(term.amount for term in one.shown)) * one.margin > 0 for one in evidence]
    sizes = [(_size(one.shown), _size(one.contributions)) for one in evidence]
    covered = [part / whole for part, whole in sizes if whole > 0]
    return float(np.mean(right)), [len(one.shown) for one in evidence], float(np.mean(covered))


def _size(contributions: Any) -> float:
    return float(sum(abs(one.amount) for one in contributions))
