"""Samples of a stream, and the sums over blocks of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sslart._art.learn_result import LearnResult
from sslart._data.labels import UNLABELLED
from sslart._data.stream_sums import (
    BLOCK,
    END,
    FIRST_FEATURE,
    MAX_CLASSES,
    N_LABELLED,
    N_PREDICTED,
    NOVEL,
    WRONG_SQUARES,
)
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

# after how many samples windows are checked, from which sample of a stream on
STEPS = ((0, BLOCK), (1024, 4 * BLOCK), (4096, 8 * BLOCK), (16_384, 16 * BLOCK))
FIRST_CLASS = FIRST_FEATURE  # column of the first class where there are none of features

TINY = 1e-300


class Learnt(NamedTuple):
    """Measurements of samples, taken before they were learnt.

    Attributes
    ----------
    gaps : array of length n_samples
        How far each lay from its box; NaN where no box could take it.
    room : float
        The gap of a sample that is as novel as can be.
    codes : array of int, or None
        Class codes, -1 where unlabelled. None: there are no classes.
    predicted : array of int, or None
        Codes of the predicted classes, -1 where nothing was predicted.
    wrong : array, or None
        In place of `predicted`: how much the prediction was wrong; NaN where nothing was predicted.
    """

    gaps: FloatArray
    room: float = 1.0
    codes: IntArray | None = None
    predicted: IntArray | None = None
    wrong: FloatArray | None = None

    @classmethod
    def of(
        cls,
        learnt: LearnResult,
        vigilance: float,
        codes: IntArray | None = None,
        better: Sequence[tuple[slice, IntArray]] = (),
    ) -> Learnt:
        """Return the measurements of samples by a network.

        Parameters
        ----------
        learnt : LearnResult
        vigilance : float
        codes : array or None
            Class codes of the samples; None: no labels.
        better : sequence of (rows, codes)
            What was predicted for some of the samples by other means.
        """
        predicted = learnt.predicted if codes is not None and len(learnt.predicted) else None
        if better and predicted is not None:
            predicted = predicted.copy()
            for rows, own in better:
                predicted[rows] = own
        return cls(learnt.gaps, max(1.0 - vigilance, TINY), codes, predicted)

    @property
    def novelty(self) -> FloatArray:
        """From 0 for a sample that lies in its box to 1 for one that no box can take."""
        return np.fmin(self.gaps / self.room, 1.0)

    @classmethod
    def of_members(cls, novelty: FloatArray, right: BoolArray, codes: IntArray) -> Learnt:
        """Return the measurements averaged over the members of an ensemble, given the correct predictions of each."""
        return cls(novelty, 1.0, codes, None, np.where(codes == UNLABELLED, np.nan, 1.0 - right.mean(axis=0)))

    def rows(self, rows: slice) -> Learnt:
        """Return the measurements of the given rows."""
        codes, predicted = (None if one is None else one[rows] for one in (self.codes, self.predicted))
        return Learnt(self.gaps[rows], self.room, codes, predicted, None if self.wrong is None else self.wrong[rows])


class Shape(NamedTuple):
    """Numbers of columns, categories, and classes that sums cover."""

    n_columns: int = 0
    n_categories: int = 0
    n_classes: int = 0

    @property
    def width(self) -> int:
        """The number of columns of the sums."""
        return FIRST_FEATURE + 3 * self.n_columns + self.n_categories + self.n_classes

    def places(self, wider: Shape) -> IntArray:
        """Return the columns, in wider sums, of the columns of these."""
        numbers = [FIRST_FEATURE + part * wider.n_columns + np.arange(self.n_columns) for part in range(3)]
        first_category = FIRST_FEATURE + 3 * wider.n_columns
        categories = first_category + np.arange(self.n_categories)
        classes = first_category + wider.n_categories + np.arange(self.n_classes)
        return np.concatenate([np.arange(FIRST_FEATURE), *numbers, categories, classes])

    def widened(self, sums: FloatArray, wider: Shape) -> FloatArray:
        """Return sums with further columns, which were 0 so far."""
        if self == wider:
            return sums
        rows = np.zeros((len(sums), wider.width))
        rows[:, self.places(wider)] = sums
        return rows


def series_of(measured: FloatArray) -> list[FloatArray]:
    """Return the input of each window: last sample, number of values, totals, and squares, by kind.

    Parameters
    ----------
    measured : array
        Last sample, samples, measures, labels of each class.
    """
    novelty = measured[:, : NOVEL + 1]
    if not measured[:, N_LABELLED].any():
        return [novelty]
    ends, classes = measured[:, : END + 1], measured[:, FIRST_CLASS:]  # of zeros and ones the squares are the same
    errors = np.concatenate([ends, measured[:, N_PREDICTED : WRONG_SQUARES + 1]], axis=1)
    return [novelty, errors, np.concatenate([ends, measured[:, N_LABELLED:], classes], axis=1)]


def step_after(n_samples: int) -> int:
    """Return the number of samples between two checks of the windows, after `n_samples` samples."""
    return next(step for start, step in reversed(STEPS) if n_samples >= start)


def n_complete(n_samples: int) -> int:
    """Return the number of samples of a stream that the windows have processed."""
    step = step_after(n_samples)
    return n_samples // step * step


def checks_between(start: int, end: int) -> IntArray:
    """Return after which samples windows are checked, from the one after a check to another one."""
    checks, now = [], start
    while now < end:
        now += step_after(now)
        checks.append(now)
    return np.array(checks)


def n_classes_of(codes: IntArray | None) -> int:
    """Return the number of classes counted for these codes."""
    return 0 if codes is None else min(int(codes.max(initial=UNLABELLED)) + 1, MAX_CLASSES)
