"""Comparison of methods over data sets: wins, ties and losses, and the bootstrap interval of a mean."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from sklearn.utils import check_random_state

from sslart._utils.arrays import FloatArray
from sslart._utils.validation import check_number, check_whole


class WinTieLoss(NamedTuple):
    """Numbers of data sets on which a method was better than, equal to, and worse than another one."""

    wins: int
    ties: int
    losses: int


def win_tie_loss(scores: Any, *, tolerance: float = 0.0) -> dict[Any, WinTieLoss]:
    """Count wins, ties and losses of each method against all others over data sets.

    Parameters
    ----------
    scores : array-like of shape (n_datasets, n_methods), data frame, or mapping from method to scores
        Higher is better. Comparisons with NaN are skipped.
    tolerance : float, default=0.0
        Scores that differ by no more are a tie.

    Returns
    -------
    dict from method to WinTieLoss
        By name of the method, or by column if `scores` has no names.

    Examples
    --------
    >>> from sslart.metrics import win_tie_loss
    >>> win_tie_loss({"a": [90.1, 80.0], "b": [88.0, 80.0], "c": [91.0, 70.0]})["a"]
    WinTieLoss(wins=2, ties=1, losses=1)
    """
    methods, values = _read_scores(scores)
    tolerance = check_number("win_tie_loss", "tolerance", tolerance, 0)
    left, right = values[:, :, None], values[:, None, :]
    # two scores a tolerance apart are a tie even if the last bit of their difference is larger
    margin = tolerance + 1e-12 * np.maximum(np.abs(left), np.abs(right))
    compared = ~np.isnan(left - right) & ~np.eye(len(methods), dtype=bool)
    counts = zip(
        (compared & (left - right > margin)).sum(axis=(0, 2)).tolist(),
        (compared & (np.abs(left - right) <= margin)).sum(axis=(0, 2)).tolist(),
        (compared & (right - left > margin)).sum(axis=(0, 2)).tolist(),
        strict=True,
    )
    return {method: WinTieLoss(*three) for method, three in zip(methods, counts, strict=True)}


class Interval(NamedTuple):
    """The two ends of an interval."""

    low: float
    high: float


def bootstrap_interval(
    values: Any, *, level: float = 0.95, n_resamples: int = 10_000, random_state: Any = 0
) -> Interval:
    """Return the percentile bootstrap interval of a mean.

    Parameters
    ----------
    values : array-like of shape (n_values,)
        Such as the accuracies of the repetitions of an experiment. From a single value, or equal ones, both ends are
        that value.
    level : float, default=0.95
        Confidence level in (0, 1).
    n_resamples : int, default=10_000
    random_state : int, RandomState instance or None, default=0

    Examples
    --------
    >>> from sslart.metrics import bootstrap_interval
    >>> low, high = bootstrap_interval([83.1, 84.0, 82.2, 85.3, 81.9])
    >>> round(low, 1), round(high, 1)
    (82.3, 84.4)
    """
    numbers = _read_numbers("values", values, 1)
    if not np.isfinite(numbers).all():
        raise ValueError("values has NaN or infinity: leave out the repetitions without a result.")
    level = check_number("bootstrap_interval", "level", level, 0, 1, open_low=True)
    if level == 1:
        raise ValueError("level of bootstrap_interval must be below 1, such as 0.95.")
    resamples = check_whole("bootstrap_interval", "n_resamples", n_resamples)
    if (numbers == numbers[0]).all():
        return Interval(float(numbers[0]), float(numbers[0]))
    interval = stats.bootstrap(  # type: ignore[attr-defined]
        (numbers,),
        np.mean,
        confidence_level=level,
        n_resamples=resamples,
        batch=max(1, 10_000_000 // len(numbers)),
        method="percentile",
        random_state=check_random_state(random_state),
    ).confidence_interval
    return Interval(float(interval.low), float(interval.high))


def _read_scores(scores: Any) -> tuple[list[Any], FloatArray]:
    if isinstance(scores, Mapping):
        columns = [_read_numbers(f"scores of {method!r}", values, 1) for method, values in scores.items()]
        if len({len(column) for column in columns}) != 1:
            raise ValueError("scores must have one value per data set for every method; NaN where there is none.")
        methods, values = list(scores), np.column_stack(columns)
    else:
        values = _read_numbers("scores", scores, 2)
        methods = list(scores.columns) if hasattr(scores, "columns") else list(range(values.shape[1]))
    if len(methods) < 2:
        raise ValueError("scores must have at least two methods to compare.")
    if np.isinf(values).any():
        raise ValueError("scores has infinity: put NaN where a method has no score.")
    return methods, values


def _read_numbers(name: str, values: Any, n_dimensions: int) -> NDArray[np.float64]:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, NaN where there is none.") from None
    if numbers.ndim != n_dimensions or numbers.size == 0:
        shape = "a sequence of numbers" if n_dimensions == 1 else "a table with a row per data set, a column per method"
        raise ValueError(f"{name} must be {shape}, and not empty; got shape {numbers.shape}.")
    return numbers
