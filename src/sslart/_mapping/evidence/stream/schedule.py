"""When settings are chosen anew: at the same labels and samples, however a stream is cut into calls."""

from __future__ import annotations

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import BoolArray, IntArray

FIRST_SAMPLE = 64  # before it, labels alone decide
GROWTH = 3  # of samples since the last choice; below it labels decide, which then mostly have doubled
GAP, MIN_GAP = 0.72, 4000  # between two choices at most: in half-lives, but no fewer samples, as a choice takes time
LONG = 20_000  # samples, from which on choices are rare enough to be careful
FEW = 64  # labels, up to which each one counts much: half as many choices cost 0.6 points at 1 % labels


def choosing_rows(
    codes: IntArray,
    n_classes: int,
    n_labels: int,
    n_samples: int,
    n_chosen: int,
    half_life: float,
    max_labels: int,
) -> IntArray:
    """Return the rows of a stream after which settings are chosen.

    That is where a class comes for the first time, where labels are 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256,
    ..., and where samples are three times as many as at the choice before. With a half-life, samples are no further
    apart than a part of it, or 4,000. Labels are no further apart than half of those that are kept.

    Parameters
    ----------
    codes : array of length n_samples
        Class codes in the order of their first labels, -1 where unlabelled.
    n_classes, n_labels, n_samples : int
        How many there have been before.
    n_chosen : int
        How many samples there had been at the last choice.
    half_life : float
        In samples; infinite where nothing is forgotten.
    max_labels : int
        How many labels are kept.
    """
    labels_apart = max(max_labels // 2, 1)
    samples_apart = np.inf if half_life == np.inf else max(round(GAP * half_life), MIN_GAP)
    if len(codes) == 1:  # plain numbers cost less than arrays
        code = codes.item(0)
        is_choice = code != UNLABELLED and (code >= n_classes or _has_grown(n_labels + 1, labels_apart))
        is_choice = is_choice or (n_labels > 0 and n_samples + 1 == _next_number(n_chosen, samples_apart))
        return np.zeros(int(is_choice), dtype=np.int64)
    known = codes != UNLABELLED
    labels = n_labels + np.cumsum(known)
    newest = np.maximum.accumulate(np.concatenate([[n_classes - 1], codes]))[:-1]
    by_labels = n_samples + 1 + np.flatnonzero((codes > newest) | (known & _is_choice(labels, labels_apart)))
    numbers: list[int] = []
    last = n_chosen if n_labels else None  # the first label leads to the first choice
    for number in [*by_labels.tolist(), n_samples + len(codes) + 1]:
        while last is not None and (due := _next_number(last, samples_apart)) < number:
            numbers.append(due)
            last = due
        numbers.append(number)
        last = number
    return np.array(numbers[:-1], dtype=np.int64) - n_samples - 1


def _next_number(last: int, longest: float) -> int:
    """Return after how many samples settings are chosen again, where labels lead to no choice before."""
    return int(max(FIRST_SAMPLE, min(GROWTH * last, last + longest), last + 1))


def _is_growth(numbers: IntArray) -> BoolArray:
    """Return a mask of numbers of the form 2ᵏ or 3 · 2ᵏ, from 2 on."""
    thirds = numbers // 3
    power, half_more = ((n > 0) & (n & (n - 1) == 0) for n in (numbers, thirds))
    return np.asarray((numbers > 1) & (power | ((numbers % 3 == 0) & half_more)))


def _is_choice(numbers: IntArray, longest: int) -> BoolArray:
    """Return a mask of numbers at which settings are chosen; `longest`: the largest distance between two."""
    is_power = numbers & (numbers - 1) == 0
    is_growth = np.where(numbers <= FEW, _is_growth(numbers), is_power)
    return np.where(numbers < 2 * longest, is_growth, numbers % longest == 0)


def _has_grown(number: int, longest: int) -> bool:
    """Return the result of `_is_choice` for a single number."""
    if number >= 2 * longest:
        return number % longest == 0
    third = number // 3 if number % 3 == 0 and number <= FEW else 0
    return number > 1 and (number & (number - 1) == 0 or (third > 0 and third & (third - 1) == 0))
