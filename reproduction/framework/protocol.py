"""Protocol of all experiments: seeds, splits, tasks without test labels, and records of measurements.

A `Task` is all that a method ever sees: training samples, the training labels it may use, and test samples. The test
labels stay with the `Exam`, which only scores.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart import metrics

IntArray = NDArray[np.int64]
Labels = NDArray[Any]

VIGILANCES = (0.9, 0.8)  # as the paper prints it, and as its node counts suggest


@dataclass(frozen=True)
class Record:
    """One measured number.

    Attributes
    ----------
    dataset, method, measure : str
        On what, by what, of what.
    value : float
    vigilance : float or None
        ρ, where the method has one.
    condition : str
        What else was varied, such as "T=2, label noise".
    repeat : int
        Number of the repetition.
    """

    dataset: str
    method: str
    measure: str
    value: float
    vigilance: float | None = None
    condition: str = ""
    repeat: int = 0


@dataclass(frozen=True)
class Task:
    """Input of a method: samples, labels (None where hidden), test samples, and a seed."""

    X: Any
    y: Labels
    X_test: Any
    seed: int

    @property
    def labelled(self) -> IntArray:
        """Rows of the training samples that have a label."""
        return np.flatnonzero(np.array([label is not None for label in self.y]))


@dataclass(frozen=True)
class Exam:
    """The test labels, and the class that counts as positive where there are two."""

    truth: Labels
    positive: str | None = None

    def scores(self, predicted: Labels) -> dict[str, float]:
        """Return accuracy, and for two classes sensitivity and specificity, in percent; an abstention is wrong."""
        found = {"accuracy": 100.0 * float(np.mean(predicted == self.truth))}
        if self.positive is not None:
            found["sensitivity"] = 100.0 * float(np.mean(predicted[self.truth == self.positive] == self.positive))
            negative = self.truth != self.positive
            found["specificity"] = 100.0 * float(np.mean(predicted[negative] == self.truth[negative]))
        return found

    def scores_of_predicted(self, predicted: Labels) -> dict[str, float]:
        """Return coverage, and correctness, sensitivity and specificity among the predicted samples, in percent."""
        found = {
            "coverage": metrics.coverage_score(self.truth, predicted),
            "correctness": metrics.correctness_score(self.truth, predicted),
        }
        if self.positive is not None:
            found["sensitivity"] = metrics.sensitivity_score(self.truth, predicted, pos_label=self.positive)
            found["specificity"] = metrics.specificity_score(self.truth, predicted, pos_label=self.positive)
        return {name: 100.0 * value for name, value in found.items()}


@dataclass(frozen=True)
class Split:
    """Rows of a data set: with label, without, and for the test."""

    labelled: IntArray
    unlabelled: IntArray
    test: IntArray


def seed_of(seed: int, *names: object) -> int:
    """Return a seed for one piece of work, independent of which other pieces are done and in which order."""
    text = "/".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "little")


def split(
    target: Labels,
    random: np.random.RandomState,
    *,
    test: float,
    labelled: float,
    unlabelled: float | None = None,
    groups: Labels | None = None,
) -> Split:
    """Divide the rows of a data set, class by class, so that every class keeps its share.

    Parameters
    ----------
    target : array of class names
    random : RandomState
    test : float
        Share of all rows for the test, at least one of each class; 0: no test.
    labelled : float
        Share of the other rows that keep their label, at least one of each class.
    unlabelled : float or None
        Share of the other rows that are used without label; None: all that are left.
    groups : array or None
        Rows of one group are never divided between training and test.
    """
    tests = _test_rows(target, random, test, groups)
    with_label: list[IntArray] = []
    without: list[IntArray] = []
    for name in np.unique(target):
        rows = random.permutation(np.flatnonzero((target == name) & ~tests))
        n_labelled = min(len(rows), max(1, round(labelled * len(rows))))
        n_used = len(rows) if unlabelled is None else n_labelled + round(unlabelled * len(rows))
        with_label.append(rows[:n_labelled])
        without.append(rows[n_labelled:n_used])
    return Split(
        random.permutation(np.concatenate(with_label)),
        random.permutation(np.concatenate(without)),
        np.flatnonzero(tests),
    )


def _test_rows(target: Labels, random: np.random.RandomState, share: float, groups: Labels | None) -> NDArray[np.bool_]:
    tests = np.zeros(len(target), dtype=bool)
    if share == 0:
        return tests
    for name in np.unique(target):
        rows = np.flatnonzero(target == name)
        wanted = max(1, round(share * len(rows)))
        if groups is None:
            tests[random.permutation(rows)[:wanted]] = True
            continue
        for group in random.permutation(np.unique(groups[rows])):
            members = np.flatnonzero(groups == group)
            if tests[rows].sum() + len(members) // 2 <= wanted:
                tests[members] = True
    return tests


def rows_of(X: Any, rows: IntArray) -> Any:
    """Return rows of an array or a frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def task_and_exam(X: Any, target: Labels, rows: Split, seed: int, positive: str | None = None) -> tuple[Task, Exam]:
    """Return the input of a method for a divided data set, and the test labels."""
    training = np.concatenate([rows.unlabelled, rows.labelled])
    y = np.full(len(training), None, dtype=object)
    y[len(rows.unlabelled) :] = target[rows.labelled]
    return Task(rows_of(X, training), y, rows_of(X, rows.test), seed), Exam(target[rows.test].astype(object), positive)


def records(
    dataset: str, method: str, found: dict[str, float], *, vigilance: float | None = None, condition: str = ""
) -> Iterable[Record]:
    """Return one record per measure."""
    return [Record(dataset, method, measure, value, vigilance, condition) for measure, value in found.items()]
