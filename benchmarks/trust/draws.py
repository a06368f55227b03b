"""Data of the trust benchmark: random labels of a set, and their perturbations."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from accuracy import sets
from reproduction.framework.protocol import rows_of, seed_of

TRAINING_SHARE, MAX_TRAINING, MAX_TEST = 1 / 3, 1000, 1400
ROWS_PER_LABEL = 6  # a set must have so many rows for each label, so that the test part is at least four times as large
READINGS, READING_NOISE = 5, 0.02
SHIFT = 0.5
KEPT_OF_RARER = 0.2
STREAMS = ("weather", "elec")  # rows in the order of time


@dataclass(frozen=True)
class Draw:
    """Training samples of a model, and those that it is examined on.

    Attributes
    ----------
    X, y : training samples and labels
        None where a sample has no label.
    X_test, truth : samples that the model does not see, and their classes
    seed : int
    groups : array or None
        Which training samples belong together.
    noisy_truth : array or None
        The test labels with as many errors as the training labels, where these have errors.
    """

    X: Any
    y: np.ndarray
    X_test: Any
    truth: np.ndarray
    seed: int
    groups: np.ndarray | None = None
    noisy_truth: np.ndarray | None = None

    @property
    def labelled(self) -> np.ndarray:
        return np.flatnonzero([label is not None for label in self.y])


def available_streams() -> tuple[str, ...]:
    return tuple(name for name in STREAMS if _stream_path(name).exists())


def _stream_path(name: str) -> Path:
    return Path(os.environ.get("SSLART_DATA", ".")) / name / f"{name}.csv.gz"


@lru_cache(maxsize=1)
def load(name: str) -> tuple[Any, np.ndarray]:
    """Return samples and classes of a set, in the order of time where it is a stream."""
    if name not in STREAMS:
        return sets.load(name)
    import pandas as pd

    frame = pd.read_csv(_stream_path(name))
    return frame.iloc[:, :-1], frame.iloc[:, -1].to_numpy().astype(str)


@lru_cache
def most_labels(name: str) -> int:
    """Return the most labels that may be drawn from a set so that enough rows are left for the test."""
    return len(load(name)[1]) // ROWS_PER_LABEL


def draw(name: str, n_labels: int, repeat: int) -> Draw:
    """Return training samples, of which the last `n_labels` have a label, and test samples; all drawn at random."""
    X, y = load(name)
    seed = seed_of(0, "trust", name, n_labels, repeat)
    rows = np.random.RandomState(seed).permutation(len(y))
    n_training = min(int(TRAINING_SHARE * len(y)), MAX_TRAINING)
    return _divided(X, y, rows[:n_training], rows[n_training:][:MAX_TEST], n_labels, seed)


def draw_in_time(name: str, n_labels: int, repeat: int) -> Draw:
    """Return training samples of the first fifth of a stream and test samples of the last fifth."""
    X, y = load(name)
    seed = seed_of(0, "time", name, n_labels, repeat)
    random = np.random.RandomState(seed)
    fifth = len(y) // 5
    first, last = random.permutation(fifth), len(y) - fifth + random.permutation(fifth)
    return _divided(X, y, first[:MAX_TRAINING], last[:MAX_TEST], n_labels, seed)


def _divided(X: Any, y: np.ndarray, training: np.ndarray, test: np.ndarray, n_labels: int, seed: int) -> Draw:
    labels = np.full(len(training), None, dtype=object)
    labels[-n_labels:] = y[training[-n_labels:]]
    return Draw(rows_of(X, training), labels, rows_of(X, test), y[test].astype(object), seed)


def noise(n_features: int, n_labels: int, n_classes: int, repeat: int) -> Draw:
    """Return features of pure noise: uniform, without any relation to the classes."""
    seed = seed_of(0, "noise", n_features, repeat)
    random = np.random.RandomState(seed)
    n_test = 1000
    y = random.randint(n_classes, size=n_labels + n_test).astype(str).astype(object)
    X = random.uniform(size=(len(y), n_features))
    return Draw(X[:n_labels], y[:n_labels], X[n_labels:], y[n_labels:], seed)


# what is done to a draw

Change = Callable[[Draw], Draw]


def unchanged(given: Draw) -> Draw:
    return given


def twice(given: Draw) -> Draw:
    """Every labelled row stands in the table twice."""
    rows = np.concatenate([np.arange(len(given.y)), given.labelled])
    return replace(given, X=rows_of(given.X, rows), y=given.y[rows])


def readings(given: Draw) -> Draw:
    """Every item is measured with an error; the labelled ones five times."""
    random = np.random.RandomState(given.seed)
    rows = np.concatenate([np.arange(len(given.y)), *[given.labelled] * (READINGS - 1)])
    scale = READING_NOISE * _spans(given.X)
    return replace(
        given,
        X=_with_errors(rows_of(given.X, rows), scale, random),
        y=given.y[rows],
        X_test=_with_errors(given.X_test, scale, random),
    )


def readings_in_groups(given: Draw) -> Draw:
    """The same, and the model gets the item of each reading."""
    rows = np.concatenate([np.arange(len(given.y)), *[given.labelled] * (READINGS - 1)])
    return replace(readings(given), groups=rows)


def wrong_labels(share: float) -> Change:
    """Return a change that gives a share of the labels another class."""

    def change(given: Draw) -> Draw:
        random = np.random.RandomState(given.seed)
        classes = sorted({*given.truth, *given.y[given.labelled]})
        y = given.y.copy()
        y[given.labelled] = _some_wrong(y[given.labelled], classes, share, random)
        return replace(given, y=y, noisy_truth=_some_wrong(given.truth, classes, share, random))

    return change


def shifted(given: Draw) -> Draw:
    """Every number of the test samples is moved, up or down, by half a standard deviation of its feature."""
    random = np.random.RandomState(given.seed)
    spread = np.array([SHIFT * np.nanstd(column) for column in _columns(given.X)])
    return replace(given, X_test=_moved(given.X_test, spread * random.choice([-1.0, 1.0], size=len(spread))))


def other_shares(given: Draw) -> Draw:
    """Keep only a fifth of the test samples of half of the classes."""
    random = np.random.RandomState(given.seed)
    classes = random.permutation(sorted(set(given.truth)))
    rarer = np.isin(given.truth.astype(str), classes[: len(classes) // 2])
    kept = np.flatnonzero(~rarer | (random.uniform(size=len(rarer)) < KEPT_OF_RARER))
    return replace(given, X_test=rows_of(given.X_test, kept), truth=given.truth[kept])


def _some_wrong(labels: np.ndarray, classes: list[str], share: float, random: np.random.RandomState) -> np.ndarray:
    wrong = random.uniform(size=len(labels)) < share
    others = [random.choice([one for one in classes if one != label]) for label in labels[wrong]]
    labels = labels.copy()
    labels[wrong] = others
    return labels


def _columns(X: Any) -> list[np.ndarray]:
    """Return the columns that are numbers, in their order."""
    if not hasattr(X, "iloc"):
        return list(X.T)
    return [X[name].to_numpy(dtype=float) for name in X.select_dtypes("number")]


def _spans(X: Any) -> np.ndarray:
    return np.array([np.nanmax(column) - np.nanmin(column) for column in _columns(X)])


def _with_errors(X: Any, scale: np.ndarray, random: np.random.RandomState) -> Any:
    return _moved(X, scale * random.standard_normal((len(X), len(scale))))


def _moved(X: Any, by: np.ndarray) -> Any:
    """Return samples with something added to the columns that are numbers."""
    if not hasattr(X, "iloc"):
        return X + by
    by = np.broadcast_to(by, (len(X), by.shape[-1]))
    numbers = list(X.select_dtypes("number"))
    return X.assign(**{name: X[name].astype(float) + by[:, place] for place, name in enumerate(numbers)})
