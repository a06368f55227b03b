"""Data of the active learning benchmark: sets of the accuracy benchmark with few classes, their halves and splits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from accuracy.sets import OTHER_CHECKING, OTHER_TUNING, UCI_CHECKING, UCI_TUNING, load
from reproduction.framework.protocol import seed_of

MANY_CLASSES = ("letter", "movement_libras", "vowel", "texture")  # over ten: 50 labels are fewer than five each
HALVES = {
    "tuning": tuple(name for name in (*UCI_TUNING, *OTHER_TUNING) if name not in MANY_CLASSES),
    "checking": tuple(name for name in (*UCI_CHECKING, *OTHER_CHECKING) if name not in MANY_CLASSES),
}
SETS = (*HALVES["tuning"], *HALVES["checking"])

N_REPEATS = 4
POOL_SHARE = 0.6
MAX_POOL, MAX_TEST = 400, 600


@dataclass(frozen=True)
class Split:
    """Samples that may be labelled, with the labels that answer, and samples to judge the model by."""

    X: Any
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    seed: int


def split(name: str, repeat: int) -> Split:
    """Return the samples of a set in one repetition, the same for every strategy."""
    X, y = load(name)
    seed = seed_of(0, name, repeat)
    rows = np.random.RandomState(seed).permutation(len(y))
    n_pool = min(MAX_POOL, round(POOL_SHARE * len(y)))
    pool, test = rows[:n_pool], rows[n_pool:][:MAX_TEST]
    return Split(_safe_indexing(X, pool), y[pool], _safe_indexing(X, test), y[test], seed)
