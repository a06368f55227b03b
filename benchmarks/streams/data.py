"""Streams of the benchmark: five for evaluation, others for tuning."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from river.datasets import synth

from reproduction.datasets import load_tep, load_unsw_nb15

N_SAMPLES, WHOLE = 20_000, 1_000_000
N_SHORT = 5_000  # for methods that take too long
MAX_GENERATED = 100_000  # of streams that would never end


@dataclass(frozen=True)
class Stream:
    """Samples in the order of time, and their classes as numbers from 0."""

    name: str
    X: np.ndarray
    y: np.ndarray

    @property
    def n_classes(self) -> int:
        return int(self.y.max()) + 1


def labelled(n: int, share: float, seed: int) -> np.ndarray:
    """Return a mask of labelled samples: those that CapyMOA's `prequential_ssl_evaluation` draws with this seed."""
    drawn: np.ndarray = np.random.RandomState(seed).random_sample(n) < share
    return drawn


# ------------------------------------------------------------------------------------------------------ real streams


def _table(name: str, n: int) -> tuple[Any, Any]:
    """Return the first samples of a table in the folder SSLART_DATA, whose last column is the class."""
    import pandas as pd

    path = Path(os.environ.get("SSLART_DATA", "")) / name / f"{name}.csv.gz"
    if not path.exists():
        raise FileNotFoundError(
            f"{name}/{name}.csv.gz is not in the folder that the environment variable SSLART_DATA names. Its table is "
            f"skmultiflow/data/datasets/{name}.csv in the wheels of scikit-multiflow 0.4.1: gzip it and put it there."
        )
    table = pd.read_csv(path, nrows=n)
    return table.iloc[:, :-1].to_numpy(dtype=float), table.iloc[:, -1].to_numpy()


def _unsw(n: int) -> tuple[Any, Any]:
    """Network traffic in the order of its file, its numeric features; the classes are the kinds of attack."""
    bunch = load_unsw_nb15()
    return bunch.data.select_dtypes("number").to_numpy(dtype=float)[:n], np.asarray(bunch.attack_cat)[:n]


def _tep(n: int) -> tuple[Any, Any]:
    """A plant, one test run after another: normal, and from the 161st row of each run on with another fault."""
    bunch = load_tep(subset="test")
    return np.asarray(bunch.data, dtype=float)[:n], np.asarray(bunch.target)[:n]


# -------------------------------------------------------------------------------------------------------- generators


def _rows(source: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    pairs = list(islice(source, n))
    return np.array([[float(v) for v in x.values()] for x, _ in pairs]), np.array([int(y) for _, y in pairs])


def _in_turn(make: Callable[[int], Any], variants: Iterable[int], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return equal parts of several concepts, one after another: abrupt drift."""
    order = list(variants)
    sizes = [len(part) for part in np.array_split(np.arange(n), len(order))]
    parts = [_rows(make(variant), size) for variant, size in zip(order, sizes, strict=True)]
    return np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])


def _sea(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Four concepts one after another; a tenth of the labels is wrong."""
    return _in_turn(lambda variant: synth.SEA(variant, noise=0.1, seed=seed + variant), range(4), n)


def _hyperplane(n: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """A hyperplane in ten dimensions that turns a little with every sample; 5 % of the labels are wrong."""
    return _rows(synth.Hyperplane(seed, n_features=10, n_drift_features=10, mag_change=0.001), n)


def _led(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Digits of seven segments, of which none, seven and three have changed places with irrelevant features."""
    return _in_turn(lambda k: synth.LEDDrift(k + 1, 0.1, irrelevant_features=True, n_drift_features=k), (0, 7, 3), n)


def _rbf(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Five classes of 50 clusters that move all the time."""
    return _rows(synth.RandomRBFDrift(3, 4, n_classes=5, n_features=10, n_centroids=50, change_speed=0.001), n)


def _agrawal(n: int) -> tuple[np.ndarray, np.ndarray]:
    return _in_turn(lambda k: synth.Agrawal(k, seed=k + 1, perturbation=0.05), (0, 3, 6, 1), n)


def _mixed(n: int) -> tuple[np.ndarray, np.ndarray]:
    return _in_turn(lambda k: synth.Mixed(k % 2, seed=k + 1), range(3), n)


def _sine(n: int) -> tuple[np.ndarray, np.ndarray]:
    return _in_turn(lambda k: synth.Sine(k, seed=k + 1, has_noise=True), range(4), n)


def _stagger(n: int) -> tuple[np.ndarray, np.ndarray]:
    return _in_turn(lambda k: synth.STAGGER(k % 3, seed=k + 1), range(4), n)


REAL = ("elec", "weather", "covtype", "UNSW-NB15", "TEP")
# What ours does is chosen on the tuning streams, and judged on the others.
CHECKING: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "elec": partial(_table, "elec"),
    "weather": partial(_table, "weather"),
    "covtype": partial(_table, "covtype"),
    "SEA": _sea,
    "hyperplane": _hyperplane,
}
TUNING: dict[str, Callable[[int], tuple[Any, Any]]] = {
    "LED": _led,
    "moving clusters": _rbf,
    "Agrawal": _agrawal,
    "Mixed": _mixed,
    "Sine": _sine,
    "STAGGER": _stagger,
    "UNSW-NB15": _unsw,
    "TEP": _tep,
    "SEA, other seed": partial(_sea, seed=101),
    "hyperplane, other seed": partial(_hyperplane, seed=101),
}


@lru_cache(maxsize=16)
def stream(name: str, n: int = N_SAMPLES) -> Stream:
    """Return the first `n` samples of a stream, fewer where it ends before.

    The concepts of a generated stream share its length among them.
    """
    X, y = (CHECKING | TUNING)[name](n if name in REAL else min(n, MAX_GENERATED))
    return Stream(name, X, np.unique(y, return_inverse=True)[1])
