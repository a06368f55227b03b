"""Label noise and feature noise, to study the robustness of models."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array, column_or_1d

from sslart._utils.arrays import FloatArray
from sslart._utils.validation import check_flag, check_number

__all__ = ["add_white_noise", "switch_labels"]


def switch_labels(y: Any, share: float = 0.1, *, random_state: Any = None) -> NDArray[Any]:
    """Replace the class of a share of the labelled samples by another class, drawn uniformly.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes; -1 (among integers), None or NaN where unlabelled. Unlabelled samples are unchanged.
    share : float, default=0.1
        Share of the labelled samples to switch, from 0 to 1, rounded to whole samples.
    random_state : int, RandomState instance or None, default=None
        Random seed of the samples and their new classes.

    Returns
    -------
    array of shape (n_samples,)
        A copy with the switched labels.

    Examples
    --------
    >>> from sslart.datasets import switch_labels
    >>> switch_labels(["a", "a", "b", "b", "b"], 0.4, random_state=0).tolist()
    ['b', 'a', 'a', 'b', 'b']
    """
    share = check_number("switch_labels", "share", share, 0, 1)
    random = check_random_state(random_state)
    noisy = np.asarray(column_or_1d(np.array(y, copy=True)))
    known = np.flatnonzero([_is_label(label) for label in noisy.tolist()])
    classes = np.unique(noisy[known])
    if len(classes) < 2:
        raise ValueError("switch_labels needs labels of at least two classes: there is no other class to switch to.")
    chosen = random.permutation(known)[: round(share * len(known))]
    steps = random.randint(1, len(classes), size=len(chosen))
    noisy[chosen] = classes[(np.searchsorted(classes, noisy[chosen]) + steps) % len(classes)]
    return noisy


def _is_label(label: Any) -> bool:
    is_minus_one = isinstance(label, int) and not isinstance(label, bool) and label == -1
    return not (label is None or label != label or is_minus_one)


def add_white_noise(
    X: Any, snr_db: float = 10.0, *, share: float = 1.0, clip: bool = True, random_state: Any = None
) -> FloatArray:
    """Add Gaussian white noise to the features of a share of the samples, at a given signal-to-noise ratio.

    Signal and noise are measured with every feature of `X` scaled to [0, 1]: the power of a sample is the mean square
    of its scaled values, and the variance of its noise is that power divided by 10^(snr_db / 10).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Numbers; missing values (NaN) stay missing. A constant feature gets no noise.
    snr_db : float, default=10
        Signal-to-noise ratio in decibels.
    share : float, default=1
        Share of the samples that gets noise, from 0 to 1, rounded to whole samples.
    clip : bool, default=True
        Whether to clip values to the range of their feature in `X`. This removes part of the noise, so the resulting
        ratio is somewhat higher than `snr_db`.
    random_state : int, RandomState instance or None, default=None
        Random seed of the samples and the noise.

    Returns
    -------
    array of shape (n_samples, n_features)
        A copy with noise.

    Examples
    --------
    >>> import numpy as np
    >>> from sslart.datasets import add_white_noise
    >>> X = np.random.RandomState(0).uniform(size=(1000, 4))
    >>> noise = add_white_noise(X, 10, clip=False, random_state=0) - X
    >>> round(10 * np.log10((X**2).mean() / (noise**2).mean()))
    10
    """
    snr_db = check_number("add_white_noise", "snr_db", snr_db, -1000, 1000)
    share = check_number("add_white_noise", "share", share, 0, 1)
    check_flag("add_white_noise", "clip", clip)
    random = check_random_state(random_state)
    noisy = check_array(X, dtype=np.float64, copy=True, ensure_all_finite="allow-nan")
    chosen = random.permutation(len(noisy))[: round(share * len(noisy))]
    known = ~np.isnan(noisy)
    lower = np.where(known, noisy, np.inf).min(axis=0)
    span = np.where(known, noisy, -np.inf).max(axis=0) - lower
    with np.errstate(invalid="ignore"):
        unit = (noisy[chosen] - lower) / np.where(span > 0, span, 1.0)
    n_known = np.maximum(known[chosen].sum(axis=1, keepdims=True), 1)
    power = np.nansum(unit**2, axis=1, keepdims=True) / n_known
    deviation = np.sqrt(power / 10.0 ** (snr_db / 10.0))
    unit = unit + np.where(span > 0, deviation * random.standard_normal(unit.shape), 0.0)
    noisy[chosen] = lower + span * (np.clip(unit, 0.0, 1.0) if clip else unit)
    return np.asarray(noisy)
