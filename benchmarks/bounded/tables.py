"""Tables of the benchmark: long ones to measure time, and others with more boxes than the limit."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from reproduction.datasets import load_unsw_nb15

N_TEST = 5_000
N_FEATURES = 12
Arrays = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class Table:
    """Samples in random order, and their classes as numbers from 0; the last samples are to test with."""

    X: np.ndarray
    y: np.ndarray

    @property
    def n_training(self) -> int:
        return len(self.y) - N_TEST

    def labels(self, n_labels: int, seed: int) -> np.ndarray:
        """Return the classes of so many training samples, -1 for the others."""
        given = np.full(self.n_training, -1)
        chosen = np.random.RandomState(seed).permutation(len(given))[:n_labels]
        given[chosen] = self.y[chosen]
        return given


def uniform(n_samples: int) -> Arrays:
    """Return samples without any clusters, which make very many boxes; four classes by four of the features."""
    X = np.random.RandomState(0).uniform(size=(n_samples, N_FEATURES))
    return X, (X[:, 0] + X[:, 1] > 1).astype(int) + 2 * ((X[:, 2] > 0.5) & (X[:, 3] > 0.3))


def clusters(n_samples: int) -> Arrays:
    """Return four classes of four normal clusters each."""
    random = np.random.RandomState(0)
    centres = random.uniform(-4, 4, size=(16, N_FEATURES))
    cluster = random.randint(len(centres), size=n_samples)
    return centres[cluster] + 1.5 * random.normal(size=(n_samples, N_FEATURES)), cluster % 4


def from_file(name: str, n_samples: int) -> Arrays:
    """Return at most so many samples of a table in the folder SSLART_DATA, drawn at random; its last column is y."""
    import pandas as pd

    found = pd.read_csv(Path(os.environ.get("SSLART_DATA", "")) / name / f"{name}.csv.gz")
    found = found.sample(min(n_samples, len(found)), random_state=0)
    return found.iloc[:, :-1].to_numpy(dtype=float), np.unique(found.iloc[:, -1], return_inverse=True)[1]


def unsw(n_samples: int) -> Arrays:
    """Return network traffic, its numeric features; the classes are the kinds of attack."""
    bunch = load_unsw_nb15()
    X, y = bunch.data.select_dtypes("number").to_numpy(dtype=float), np.asarray(bunch.attack_cat)
    chosen = np.random.RandomState(0).permutation(len(X))[:n_samples]
    return X[chosen], np.unique(y, return_inverse=True)[1][chosen]


SOURCES: dict[str, Callable[[int], Arrays]] = {
    "uniform": uniform,
    "clusters": clusters,
    "covtype": partial(from_file, "covtype"),
    "unsw_nb15": unsw,
    "elec": partial(from_file, "elec"),
}


def table(name: str, n_training: int) -> Table | None:
    """Return a table of at most so many training samples; None where its file is not there."""
    try:
        return Table(*SOURCES[name](n_training + N_TEST))
    except OSError:
        return None
