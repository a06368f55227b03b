"""Tasks for the tests of semi-supervised methods: two moons, two Gaussians, and the sets of the paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_moons

from reproduction.framework.experiment import Record, Results, Summary
from reproduction.framework.protocol import records, seed_of, split, task_and_exam
from reproduction.framework.sets import load
from reproduction.methods.competitors import Method


def moons(n_labelled: int, seed: int, noise: float = 0.06) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return 200 samples, their classes with so many per class and else -1, and all classes."""
    X, truth = make_moons(200, noise=noise, random_state=seed)
    return X, hidden(truth, n_labelled), truth


def hidden(truth: np.ndarray, n_labelled: int) -> np.ndarray:
    y = np.full(len(truth), -1)
    for code in np.unique(truth):
        rows = np.flatnonzero(truth == code)[:n_labelled]
        y[rows] = code
    return y


def accuracy_on_moons(fitted: Callable[[np.ndarray, np.ndarray], object], n_labelled: int, n_seeds: int = 5) -> float:
    found = []
    for seed in range(n_seeds):
        X, y, truth = moons(n_labelled, seed)
        found.append(np.mean(fitted(X, y).predict(X) == truth))  # type: ignore[attr-defined]
    return float(np.mean(found))


def summary_of(method: Method, dataset: str, labelled: float = 0.25, n_repeats: int = 10) -> Summary:
    """Return the accuracy under the protocol of the paper: 80 % for learning, so many of them labelled."""
    found: list[Record] = []
    bunch = load(dataset)
    for repeat in range(n_repeats):
        seed = seed_of(0, dataset, repeat)
        rows = split(bunch.target, np.random.RandomState(seed), test=0.2, labelled=labelled)
        task, exam = task_and_exam(bunch.data, bunch.target, rows, seed)
        found += records(dataset, "method", exam.scores(method(task)))
    summary = Results(found).summary(dataset, "method", "accuracy")
    assert summary is not None
    return summary
