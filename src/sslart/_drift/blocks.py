"""Samples of a stream before they are summed, and the sums over blocks of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sslart._art.learn_result import LearnResult
from sslart._data.labels import UNLABELLED
from sslart._drift.buckets import COUNT, END
from sslart._drift.features import Values
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

BLOCK = 32  # samples that are summed
# after how many samples windows are checked, from which sample of a stream on
STEPS = ((0, BLOCK), (1024, 4 * BLOCK), (16_384, 8 * BLOCK))
MAX_CLASSES = 100  # whose shares are watched; further ones count as one

TINY = 1e-300
GRID = 2.0**20  # multiples of 1 / GRID add up exactly, in any order

# columns of the sums over a block, after the number of its last sample and the number of samples
ROOTS, NOVEL, N_PREDICTED, WRONG, WRONG_SQUARES, N_LABELLED, FIRST_CLASS = range(2, 9)


class Learnt(NamedTuple):
    """What was found of samples before they were learnt.

    Attributes
    ----------
    novelty : array of length n_samples
        From 0 for a sample that lies in its box to 1 for one that no box can take.
    codes : array of int
        Class codes, -1 where unlabelled.
    wrong : array
        Whether, or how much, the prediction was wrong; NaN where nothing was predicted.
    """

    novelty: FloatArray
    codes: IntArray
    wrong: FloatArray

    @classmethod
    def of(cls, learnt: LearnResult, vigilance: float, codes: IntArray | None = None) -> Learnt:
        """Return what a network has found of samples, given its vigilance and their class codes; None: no labels."""
        novelty = np.fmin(learnt.gaps / max(1.0 - vigilance, TINY), 1.0)  # NaN: no box could take the sample
        if codes is None or not len(learnt.predicted):
            n = len(novelty)
            return cls(novelty, np.full(n, UNLABELLED) if codes is None else codes, np.full(n, np.nan))
        return cls(novelty, codes, np.where(learnt.predicted == UNLABELLED, np.nan, learnt.predicted != codes))

    @classmethod
    def of_members(cls, novelty: FloatArray, right: BoolArray, codes: IntArray) -> Learnt:
        """Return what the members of an ensemble have found on average, given which samples each predicted rightly."""
        return cls(novelty, codes, np.where(codes == UNLABELLED, np.nan, 1.0 - right.mean(axis=0)))


class Chunk(NamedTuple):
    """Samples in succession: what was found of them, and their values."""

    learnt: Learnt
    values: Values

    def rows(self, rows: slice) -> Chunk:
        """Return some of the samples."""
        (novelty, codes, wrong), (numbers, places) = self
        return Chunk(
            Learnt(novelty[rows].copy(), codes[rows].copy(), wrong[rows].copy()),
            Values(numbers[rows].copy(), places[rows].copy()),
        )


def n_complete(n_samples: int) -> int:
    """Return how many samples of a stream windows have taken account of."""
    step = next(step for start, step in reversed(STEPS) if n_samples >= start)
    return n_samples // step * step


def are_checked(ends: IntArray) -> BoolArray:
    """Return after which of the blocks that end with some samples windows are checked."""
    starts, steps = np.transpose(STEPS)
    return np.asarray(ends % steps[np.searchsorted(starts, ends, side="right") - 1] == 0)


def joined(chunks: Sequence[Chunk], n_columns: int) -> Chunk:
    """Return samples that came in several parts; columns that a part did not have are missing in it."""
    if len(chunks) == 1:
        return chunks[0]
    if not chunks:
        none = np.empty(0)
        nothing = Values(np.empty((0, n_columns)), np.empty((0, 0), dtype=np.int64))
        return Chunk(Learnt(none, none.astype(np.int64), none), nothing)
    values = [chunk.values for chunk in chunks]
    if len({(one.numbers.shape[1], one.places.shape[1]) for one in values}) > 1:
        values = [one.wider(n_columns) for one in values]
    novelty, codes, wrong = map(np.concatenate, zip(*(chunk.learnt for chunk in chunks), strict=True))
    numbers, places = map(np.concatenate, zip(*values, strict=True))
    return Chunk(Learnt(novelty, codes, wrong), Values(numbers, places))


def block_sums(learnt: Learnt, ends: IntArray, n_classes: int) -> FloatArray:
    """Return the sums over blocks of samples, a row for each; for so many classes, or for those that there are."""
    codes = np.minimum(learnt.codes, MAX_CLASSES - 1)
    n_classes = max(n_classes, int(codes.max(initial=UNLABELLED)) + 1)
    n_blocks = len(ends)
    sums = np.zeros((n_blocks, FIRST_CLASS + n_classes))
    sums[:, END], sums[:, COUNT] = ends, BLOCK
    novelty = learnt.novelty.reshape(n_blocks, BLOCK)
    sums[:, ROOTS], sums[:, NOVEL] = _on_grid(np.sqrt(novelty)).sum(axis=1), _on_grid(novelty).sum(axis=1)
    labelled = np.flatnonzero(codes != UNLABELLED)
    if len(labelled):
        wrong, predicted = learnt.wrong.reshape(n_blocks, BLOCK), ~np.isnan(learnt.wrong).reshape(n_blocks, BLOCK)
        wrong = _on_grid(np.where(predicted, wrong, 0.0))
        sums[:, N_PREDICTED] = predicted.sum(axis=1)
        sums[:, WRONG], sums[:, WRONG_SQUARES] = wrong.sum(axis=1), _on_grid(wrong * wrong).sum(axis=1)
        places = (labelled // BLOCK) * n_classes + codes[labelled]
        classes = sums[:, FIRST_CLASS:]
        classes[:] = np.bincount(places, minlength=n_blocks * n_classes).reshape(n_blocks, n_classes)
        sums[:, N_LABELLED] = classes.sum(axis=1)
    return sums


def series_of(sums: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return what each window gets of the sums: last sample, number of values, totals and squares, by kind of drift."""
    classes = np.arange(FIRST_CLASS, sums.shape[1])  # of zeros and ones the squares are the same
    return (
        sums[:, [END, COUNT, ROOTS, NOVEL]],
        sums[:, [END, N_PREDICTED, WRONG, WRONG_SQUARES]],
        sums[:, np.concatenate([[END, N_LABELLED], classes, classes])],
    )


def _on_grid(values: FloatArray) -> FloatArray:
    return np.asarray(np.rint(values * GRID) / GRID)
