"""The geometry of boxes in the unit cube: gaps, distances, choice, match and centres.

A box is given by its lower and upper corners, with lower > upper on a side that no sample has reached. A value that is
missing (NaN), or a side that is not reached, is no evidence: it adds nothing to any sum. `docs/model.md` has the
formulas; `reference.py` and the kernel compute the same from the weights.
"""

from __future__ import annotations

import numpy as np

from sslart._utils.arrays import BoolArray, FloatArray

# Weight of the size of a box (its mean side length) in the familiarity of a sample; the distance to the box has 1.
# Chosen by `python -m trust.unseen_classes choosing`; a power of two, so that equal fits are equal bit for bit. The
# kernel and the reference have the same constant.
SIZE_SHARE = 0.125


def gaps(samples: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the distance of each value from its side of the box; 0 inside it, and on sides without evidence."""
    outside = np.fmax(np.maximum(lower - samples, samples - upper), 0.0)
    return np.where(lower <= upper, outside, 0.0)


def distances(samples: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the L1 distance of each sample (row) to each box (column)."""
    total = np.zeros((len(samples), len(lower)))
    for values, low, high in zip(samples.T, lower.T, upper.T, strict=True):
        total += gaps(values[:, None], low, high)
    return total


def box_norms(present: BoolArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return |W| = n_features − size of each box over the features present in its sample.

    `present` marks these. A feature in which the box has no value counts as W = (1, 1).
    """
    sides = np.where(lower <= upper, lower + 1.0 - upper, 2.0)
    return np.asarray(np.where(present, sides, 0.0).sum(axis=-1))


def choice_and_match(
    samples: FloatArray, lower: FloatArray, upper: FloatArray, choice: float
) -> tuple[FloatArray, FloatArray]:
    """Return the choice T = |A ∧ W| / (α + |W|) and the match |A ∧ W| / |A| of each sample with its box.

    All have the shape (n_samples, n_features). A sample without a value matches every box.
    """
    present = ~np.isnan(samples)
    values = np.where(present, samples, 0.0)
    reached = lower <= upper
    below, above = np.where(reached, lower, 1.0), np.where(reached, 1.0 - upper, 1.0)
    common = np.where(present, np.minimum(values, below) + np.minimum(1.0 - values, above), 0.0).sum(axis=-1)
    norms = np.where(present, below + above, 0.0).sum(axis=-1)
    n_present = present.sum(axis=-1)
    return np.asarray(common / (choice + norms)), np.where(n_present > 0, common / np.maximum(n_present, 1), 1.0)


def centres(lower: FloatArray, upper: FloatArray, unreached: float = np.nan) -> FloatArray:
    """Return the centre of each box; `unreached` in features in which it has no value."""
    return np.where(lower <= upper, (lower + upper) / 2, unreached)
