"""Contenders of the accuracy benchmark, and the measurement of one contender on one task."""

from __future__ import annotations

import importlib
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from accuracy import tabpfn_v1
from accuracy.sets import IMAGES, MANY_LABELS, OTHER, UCI
from reproduction.framework.protocol import Exam, Task
from reproduction.methods.competitors import codes_of, prepared
from sslart import WESSLART

N_BINS = 15


@dataclass(frozen=True)
class Method:
    """A classifier, and what it is given.

    Attributes
    ----------
    make : callable
        Returns the estimator, untrained.
    samples : str
        As which kind of `Samples`.
    unlabelled : bool
        Whether it learns from the samples without label too.
    probabilities : bool
        Whether its probabilities are evaluated.
    own_labels : bool
        Whether it takes the labels as they are, None where hidden; otherwise numbers, -1 where hidden.
    """

    make: Callable[[], Any]
    samples: str = "unit"
    unlabelled: bool = False
    probabilities: bool = False
    own_labels: bool = False


class Samples:
    """Training and test samples of a task, in each preparation that methods need; all learnt from training only."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.codes, self.classes = codes_of(task)

    @property
    def raw(self) -> tuple[Any, Any]:
        return self.task.X, self.task.X_test

    @cached_property
    def unit(self) -> tuple[np.ndarray, np.ndarray]:
        """Gaps filled, in [0, 1], categories as indicators."""
        return prepared(self.task)

    @cached_property
    def standard(self) -> tuple[np.ndarray, np.ndarray]:
        """The same with mean 0 and standard deviation 1."""
        training, test = self.unit
        scaler = StandardScaler().fit(training)
        return scaler.transform(training), scaler.transform(test)


def _spreading() -> Any:
    return LabelSpreading(kernel="knn", n_neighbors=7)


def _self_training() -> Any:
    return SelfTrainingClassifier(RandomForestClassifier(random_state=0))


def _catboost() -> Any:
    options = {"random_seed": 0, "thread_count": 1, "verbose": False, "allow_writing_files": False}
    return importlib.import_module("catboost").CatBoostClassifier(**options)


def _ensemble() -> Any:
    return WESSLART(vigilance=0.9, mapping="one-to-many", random_state=0)


_LOGISTIC = partial(LogisticRegression, max_iter=1000, random_state=0)
_SVM = partial(SVC, random_state=0)
_FOREST = Method(partial(RandomForestClassifier, random_state=0), probabilities=True)

FOREST = "random forest"
RIVALS = {
    "label spreading": Method(_spreading, unlabelled=True),
    "self-training": Method(_self_training, unlabelled=True),
    "SVM": Method(_SVM, "standard"),
    "logistic regression": Method(_LOGISTIC, "standard", probabilities=True),
    FOREST: _FOREST,
    "extra trees": Method(partial(ExtraTreesClassifier, random_state=0), probabilities=True),
    "gradient boosting": Method(partial(GradientBoostingClassifier, random_state=0), probabilities=True),
    "CatBoost": Method(_catboost, probabilities=True),
}
# measured on request, and only on the sets within its limits
TABPFN = tabpfn_v1.NAME
_TABPFN = Method(tabpfn_v1.make, probabilities=True)
BEYOND_TABPFN = ("letter", "movement_libras", "splice", "texture", "vowel")
IMAGE_RIVALS = {
    "label spreading, min-max": Method(_spreading, "unit", unlabelled=True),
    "label spreading, standard": Method(_spreading, "standard", unlabelled=True),
    "label spreading, raw": Method(_spreading, "raw", unlabelled=True),
    "SVM, min-max": Method(_SVM, "unit"),
    "SVM, standard": Method(_SVM, "standard"),
    FOREST: _FOREST,
}
LARGE_FOREST = "random forest (200 trees)"
MANY_LABEL_RIVALS = {LARGE_FOREST: Method(partial(RandomForestClassifier, 200, random_state=0), probabilities=True)}
# what the paper would have used; not a rival
REFERENCE = {
    "WESSLART": Method(_ensemble, "raw", unlabelled=True, probabilities=True, own_labels=True),
}
OURS = {"auto": "sslart:AutoSSLART"}


def rivals(dataset: str, with_tabpfn: bool = False) -> dict[str, Method]:
    """Return the contenders that are measured on a set beside ours."""
    if dataset in IMAGES:
        return IMAGE_RIVALS
    if dataset in MANY_LABELS:
        return MANY_LABEL_RIVALS
    found = {**RIVALS, **REFERENCE} if dataset in UCI else dict(RIVALS)
    return {**found, TABPFN: _TABPFN} if with_tabpfn and takes_tabpfn(dataset) else found


def takes_tabpfn(dataset: str) -> bool:
    """Return True if TabPFN v1 can learn from a set: its rows, features and classes are within its limits."""
    return dataset in (*UCI, *OTHER) and dataset not in BEYOND_TABPFN


def ours_named(name: str) -> Callable[..., Any]:
    """Return the class behind a short name of `OURS`, or behind "module:name"."""
    module, _, attribute = OURS.get(name, name).partition(":")
    return getattr(importlib.import_module(module), attribute)


def ours(name: str) -> Method:
    """Return our method: raw samples in, labels with gaps, and nothing set but the seed."""
    make = partial(ours_named(name), random_state=0)
    return Method(make, "raw", unlabelled=True, probabilities=True, own_labels=True)


def calibration_error(probabilities: np.ndarray, right: np.ndarray, n_bins: int = N_BINS) -> float:
    """Return the expected calibration error of the top probability: bins of equal width, weighted by their samples."""
    bins = np.minimum((probabilities * n_bins).astype(int), n_bins - 1)
    weights = np.bincount(bins, minlength=n_bins)
    gaps = np.bincount(bins, weights=right - probabilities, minlength=n_bins)
    return float(np.abs(gaps).sum() / weights.sum())


def samples_for(method: Method, samples: Samples) -> tuple[Any, Any, Any]:
    """Return the samples and labels that a method learns from, and the samples that it is tested on."""
    training, test = getattr(samples, method.samples)
    labels = samples.task.y if method.own_labels else samples.codes
    if not method.unlabelled:
        rows = samples.codes >= 0
        training, labels = training[rows], labels[rows]
    return training, labels, test


def measure(method: Method, samples: Samples, exam: Exam) -> dict[str, float | None]:
    """Return accuracy (%), expected calibration error (%), and seconds of `fit` and `predict`.

    The rivals' filling of gaps and scaling is not timed.
    """
    training, labels, test = samples_for(method, samples)
    model = method.make()
    with warnings.catch_warnings(), np.errstate(all="ignore"):  # samples that no label reaches; iterations spent
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(training, labels)
        fitted = time.perf_counter()
        predicted = np.ravel(model.predict(test))  # CatBoost returns a column
        finished = time.perf_counter()
        probabilities = model.predict_proba(test) if method.probabilities else None
    found = {
        "accuracy": exam.scores(_names(predicted, method, samples))["accuracy"],
        "calibration": None,
        "fit": fitted - start,
        "predict": finished - fitted,
    }
    if probabilities is not None:
        top = _names(model.classes_[probabilities.argmax(axis=1)], method, samples)
        found["calibration"] = 100.0 * calibration_error(probabilities.max(axis=1), top == exam.truth)
    return found


def _names(predicted: np.ndarray, method: Method, samples: Samples) -> np.ndarray:
    if method.own_labels:
        return np.asarray(predicted, dtype=object)
    return np.where(predicted >= 0, samples.classes[np.maximum(predicted, 0)], None)
