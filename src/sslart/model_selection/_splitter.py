"""Base of the splitters: labelled samples are split, unlabelled ones are in every training part."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import indexable

from sslart._data.labels import UNLABELLED, Labels
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.text import list_text, plural
from sslart.model_selection._labelled import read_training_labels


class Fold(NamedTuple):
    """The rows of one split: the labelled samples to test, and all that are left out of training, these included."""

    test: IntArray
    left_out: IntArray


class LabelledSplitter(BaseCrossValidator):
    """Base of splitters with only labelled samples in the test folds."""

    n_splits: int

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Return pairs of training and test indices.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes; -1, None or NaN where unlabelled.
        groups : array-like of shape (n_samples,), default=None
            The group of each sample. Needed by the splitters of groups, ignored by the others with a warning.

        Yields
        ------
        train : array of int
            All unlabelled samples, and the labelled ones outside the test fold.
        test : array of int
            Labelled samples.
        """
        if y is None:
            raise ValueError(f"{self._name} needs y, to know which samples are labelled: call split(X, y).")
        _, y, groups = indexable(X, y, groups)
        labels = read_training_labels(y)
        if not labels.known.any():
            raise ValueError(
                "y has no labelled sample: -1, None and NaN mean unlabelled. Cross-validation needs two labels or more."
            )
        folds = self._folds_of(labels, groups)
        self._check_training(labels, folds)
        return ((np.flatnonzero(_outside(len(labels.known), fold.left_out)), fold.test) for fold in folds)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits.

        Parameters
        ----------
        X, y, groups : object
            Ignored.
        """
        return int(self.n_splits)

    @property
    def _name(self) -> str:
        return type(self).__name__

    @abstractmethod
    def _folds_of(self, labels: Labels, groups: Any) -> list[Fold]:
        """Return the test fold of each split."""

    def _check_training(self, labels: Labels, folds: list[Fold]) -> None:
        """Raise an error where a training part has a y that `fit` reads in another way than the whole."""
        two_classes = labels.are_plus_and_minus_one()
        for number, fold in enumerate(folds):
            part = labels[_outside(len(labels.known), fold.left_out)]
            if two_classes and (part.values == UNLABELLED).all():
                left, reading = -1, "a y of -1 alone is read as unlabelled"
            elif not two_classes and part.are_plus_and_minus_one():
                left, reading = 1, "a y of -1 and 1 alone is read as two classes"
            else:
                continue
            raise ValueError(
                f"Split {number} of {self._name} leaves {left} as the only class to learn from, and {reading}. Give "
                "the classes as strings, with None where unlabelled, or use a stratified splitter with two labels or "
                "more of every class."
            )

    def _refuse_groups(self, groups: Any, instead: str) -> None:
        if groups is not None:
            warnings.warn(f"{self._name} ignores groups: use {instead}.", UserWarning, stacklevel=4)


def _outside(n_samples: int, left_out: IntArray) -> BoolArray:
    inside = np.ones(n_samples, dtype=bool)
    inside[left_out] = False
    return inside


def folds_by(splitter: Any, known: BoolArray, codes: IntArray, groups: IntArray | None = None) -> list[Fold]:
    """Return the test folds that a splitter of scikit-learn makes of the labelled samples.

    Parameters
    ----------
    splitter : splitter of scikit-learn
    known : array of bool
        Which samples are labelled.
    codes : array of int
        The class of each labelled sample.
    groups : array of int, default=None
        The group of each labelled sample.
    """
    rows = np.flatnonzero(known)
    with warnings.catch_warnings():  # classes with few labels are warned of by name
        warnings.filterwarnings("ignore", message="The least populated class in y")
        tests = [np.sort(rows[test]) for _, test in splitter.split(np.zeros(len(rows)), codes, groups)]
    return [Fold(test, test) for test in tests]


def check_enough(owner: str, n_splits: int, n_found: int, what: str) -> None:
    """Raise an error where there are fewer labelled samples or groups than splits."""
    if n_found < n_splits:
        cure = f"Give n_splits={n_found}, or label" if n_found > 1 else "Label"
        raise ValueError(
            f"n_splits={n_splits} of {owner} is too many for {plural(n_found, what)}. {cure} more samples."
        )


def codes_of_classes(owner: str, n_splits: int, labels: Labels) -> IntArray:
    """Return the class of each labelled sample as a number, or an error or a warning where classes have few labels."""
    codes, counts, few = classes_with_few_labels(labels, n_splits)
    if len(few) == len(counts):
        most = int(counts.max())
        cure = f"Give n_splits={most} or less" if most > 1 else "Use LabelledKFold"
        raise ValueError(
            f"n_splits={n_splits} of {owner} is more than the labels of any class: {list_text(few)}. {cure}, or label "
            "more samples."
        )
    if few:
        warnings.warn(
            f"Classes with fewer labels than n_splits={n_splits} are missing in some test folds: {list_text(few)}. A "
            "class with one label is never predicted rightly, since it is not in the training part. Label more samples "
            "of these classes.",
            UserWarning,
            stacklevel=4,
        )
    return codes


def classes_with_few_labels(labels: Labels, least: int) -> tuple[IntArray, IntArray, list[str]]:
    """Return the class number of each labelled sample, the labels per class, and the classes with too few."""
    classes, codes, counts = np.unique(labels.values[labels.known], return_inverse=True, return_counts=True)
    few = [f"{label!r} ({n})" for label, n in zip(classes.tolist(), counts.tolist(), strict=True) if n < least]
    return codes, counts, few
