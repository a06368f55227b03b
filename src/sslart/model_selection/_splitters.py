"""Splitters with labelled samples only in test folds; unlabelled ones are in every training part."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import (
    BaseCrossValidator,
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)
from sklearn.utils import check_random_state, indexable

from sslart._data.labels import UNLABELLED, Labels, group_names, read_labels, with_two_classes
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.text import list_text, plural
from sslart._utils.validation import check_flag, check_whole

NO_GROUP = -1


def is_labelled(y: Any) -> BoolArray:
    """Return a mask of labelled samples, by the rules of `fit`.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Classes. -1 among integers, None, NaN and pandas.NA mean unlabelled. If y has only -1 and 1, these are two
        classes, with a warning.

    Returns
    -------
    array of bool of shape (n_samples,)

    Examples
    --------
    >>> from sslart.model_selection import is_labelled
    >>> is_labelled([0, -1, 1, -1])
    array([ True, False,  True, False])
    >>> is_labelled(["cat", None, "dog", float("nan")])
    array([ True, False,  True, False])
    """
    return read_training_labels(y).known


def read_training_labels(y: Any) -> Labels:
    """Validate y as `fit` does; -1 and 1 are two classes if there are no others."""
    return with_two_classes(read_labels(y))


def read_groups(owner: str, groups: Any, known: BoolArray) -> IntArray:
    """Return the number of each sample's group, by sorted name; NO_GROUP for unlabelled samples without one."""
    if groups is None:
        raise ValueError(
            f"{owner} needs groups, one value per sample (such as patient, batch or day): pass groups= to split, "
            "cross_validate or the fit of a search; with metadata routing, params={'groups': groups}."
        )
    names = group_names(groups, known)
    place = {name: number for number, name in enumerate(sorted({*names} - {None}, key=_kind_and_name))}
    return np.array([NO_GROUP if name is None else place[name] for name in names], dtype=np.int64)


def _kind_and_name(name: Any) -> tuple[str, Any]:
    return "" if isinstance(name, int | float) else type(name).__name__, name


class Fold(NamedTuple):
    """One split: the labelled test samples, and all samples left out of training, including these."""

    test: IntArray
    left_out: IntArray


class LabelledSplitter(BaseCrossValidator):
    """Base class of splitters with only labelled samples in the test folds."""

    n_splits: int
    n_repeats = 1

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Return pairs of training and test indices.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Classes; -1, None or NaN where unlabelled.
        groups : array-like of shape (n_samples,), default=None
            The group of each sample. Required by the group splitters, ignored by the others with a warning.

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
        """Return the total number of splits, over all repetitions.

        Parameters
        ----------
        X, y, groups : object
            Ignored.
        """
        return int(self.n_splits) * int(self.n_repeats)

    @property
    def _name(self) -> str:
        return type(self).__name__

    @abstractmethod
    def _folds_of(self, labels: Labels, groups: Any) -> list[Fold]:
        """Return the test fold of each split."""

    def _check_training(self, labels: Labels, folds: list[Fold]) -> None:
        """Raise an error if `fit` would interpret the y of a training part differently from the whole y."""
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
    """Return the test folds of a splitter of scikit-learn on the labelled samples.

    Parameters
    ----------
    splitter : splitter of scikit-learn
    known : array of bool
        Mask of labelled samples.
    codes : array of int
        The class of each labelled sample.
    groups : array of int, default=None
        The group of each labelled sample.
    """
    rows = np.flatnonzero(known)
    with warnings.catch_warnings():  # replaced by a warning that names the classes
        warnings.filterwarnings("ignore", message="The least populated class in y")
        tests = [np.sort(rows[test]) for _, test in splitter.split(np.zeros(len(rows)), codes, groups)]
    return [Fold(test, test) for test in tests]


def check_enough(owner: str, n_splits: int, n_found: int, what: str) -> None:
    """Raise an error if there are fewer labelled samples or groups than splits."""
    if n_found < n_splits:
        cure = f"Give n_splits={n_found}, or label" if n_found > 1 else "Label"
        raise ValueError(
            f"n_splits={n_splits} of {owner} is too many for {plural(n_found, what)}. {cure} more samples."
        )


def codes_of_classes(owner: str, n_splits: int, labels: Labels) -> IntArray:
    """Return the class number of each labelled sample; raise an error or warn if classes have too few labels."""
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
            "class with one label is never predicted correctly, since it is not in the training part. Label more "
            "samples of these classes.",
            UserWarning,
            stacklevel=4,
        )
    return codes


def classes_with_few_labels(labels: Labels, least: int) -> tuple[IntArray, IntArray, list[str]]:
    """Return the class number of each labelled sample, the labels per class, and the classes with too few."""
    classes, codes, counts = np.unique(labels.values[labels.known], return_inverse=True, return_counts=True)
    few = [f"{label!r} ({n})" for label, n in zip(classes.tolist(), counts.tolist(), strict=True) if n < least]
    return codes, counts, few


class _KFold(LabelledSplitter):
    """Base class of k-fold splitters: the labelled samples are split by a splitter of scikit-learn."""

    _rule: Any  # the splitter of scikit-learn
    _stratified: bool
    _for_groups: str  # the splitter to use for groups

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        self.n_splits, self.shuffle, self.random_state = n_splits, shuffle, random_state
        self._splitter()  # raises an error for wrong parameters

    def _splitter(self) -> Any:
        return self._rule(n_splits=self.n_splits, shuffle=self.shuffle, random_state=self.random_state)

    def _folds_of(self, labels: Labels, groups: Any) -> list[Fold]:
        self._refuse_groups(groups, self._for_groups)
        zeros = np.zeros(int(labels.known.sum()), dtype=np.int64)
        check_enough(self._name, self.n_splits, len(zeros), "labelled sample")
        codes = codes_of_classes(self._name, self.n_splits, labels) if self._stratified else zeros
        return folds_by(self._splitter(), labels.known, codes)


class LabelledKFold(_KFold):
    """K-fold cross-validation of the labelled samples; unlabelled ones are in every training part.

    Folds are those of `sklearn.model_selection.KFold` on the labelled samples alone.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up.
    shuffle : bool, default=False
        Whether the labelled samples are put into random order before they are split.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order.

    See Also
    --------
    StratifiedLabelledKFold : Stratified folds; the recommended splitter.
    GroupLabelledKFold : No group is both in training and in test.

    Examples
    --------
    >>> from sslart.model_selection import LabelledKFold
    >>> X, y = [[0], [1], [2], [3], [4], [5]], [0, 1, -1, 0, -1, 1]
    >>> for train, test in LabelledKFold(2).split(X, y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 4] [3 5]
    """

    _rule = KFold
    _stratified = False
    _for_groups = "GroupLabelledKFold"


class StratifiedLabelledKFold(_KFold):
    """Stratified k-fold cross-validation of the labelled samples; unlabelled ones are in every training part.

    Folds are those of `sklearn.model_selection.StratifiedKFold` on the labelled samples alone.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up; at least one class must have as many labels.
    shuffle : bool, default=False
        Whether to shuffle the labelled samples of each class before splitting.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order.

    See Also
    --------
    RepeatedStratifiedLabelledKFold : The same several times, in different orders.
    StratifiedGroupLabelledKFold : The same with groups that are never split.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sslart import SSLART
    >>> from sslart.model_selection import StratifiedLabelledKFold
    >>> X, y = load_iris(return_X_y=True)
    >>> y[[row for row in range(150) if row % 4]] = -1  # 38 labels
    >>> folds = StratifiedLabelledKFold(5, shuffle=True, random_state=0)
    >>> cross_val_score(SSLART(random_state=0), X, y, cv=folds, scoring="accuracy").round(2)
    array([1.  , 0.88, 0.88, 1.  , 1.  ])
    """

    _rule = StratifiedKFold
    _stratified = True
    _for_groups = "StratifiedGroupLabelledKFold"


class _GroupKFold(_KFold):
    """Base class of the group splitters."""

    _stratified = False
    __metadata_request__split = {"groups": True}  # type: ignore[dict-item]  # noqa: RUF012

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None, whole_groups: bool = False
    ) -> None:
        super().__init__(n_splits, shuffle=shuffle, random_state=random_state)
        self.whole_groups = check_flag(self._name, "whole_groups", whole_groups)

    def _folds_of(self, labels: Labels, groups: Any) -> list[Fold]:
        numbers = read_groups(self._name, groups, labels.known)
        labelled = numbers[labels.known]
        check_enough(self._name, self.n_splits, len(np.unique(labelled)), "labelled group")
        codes = codes_of_classes(self._name, self.n_splits, labels) if self._stratified else np.zeros_like(labelled)
        folds = folds_by(self._splitter(), labels.known, codes, labelled)
        if not all(len(fold.test) for fold in folds):
            raise ValueError(
                f"{self._name} leaves a test fold empty: a few groups hold most of the labels. Give fewer n_splits, or "
                "use GroupLabelledKFold."
            )
        if not self.whole_groups:
            return folds
        return [Fold(fold.test, np.flatnonzero(np.isin(numbers, numbers[fold.test]))) for fold in folds]


class GroupLabelledKFold(_GroupKFold):
    """K-fold cross-validation in which no group has labels both in training and in test.

    Test folds have labelled samples only; unlabelled ones are in every training part, unless `whole_groups` is True.
    Folds are those of `sklearn.model_selection.GroupKFold` on the labelled samples alone, of about equal size.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up; there must be as many groups with labels.
    shuffle : bool, default=False
        Whether to shuffle the groups before splitting.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order.
    whole_groups : bool, default=False
        Whether to leave unlabelled samples of the groups in the test fold out of training too. True measures the
        quality for groups without any learnt sample.

    Examples
    --------
    >>> from sslart.model_selection import GroupLabelledKFold
    >>> X, y = [[0], [1], [2], [3], [4], [5]], ["a", "b", None, "a", None, "b"]
    >>> patients = ["Ann", "Ann", "Ann", "Bob", "Bob", "Bob"]
    >>> for train, test in GroupLabelledKFold(2).split(X, y, patients):
    ...     print(train, test)
    [0 1 2 4] [3 5]
    [2 3 4 5] [0 1]
    >>> for train, test in GroupLabelledKFold(2, whole_groups=True).split(X, y, patients):
    ...     print(train, test)
    [0 1 2] [3 5]
    [3 4 5] [0 1]
    """

    _rule = GroupKFold


class StratifiedGroupLabelledKFold(_GroupKFold):
    """Stratified k-fold cross-validation in which groups are never split.

    Test folds have labelled samples only; unlabelled ones are in every training part, unless `whole_groups` is True.
    Folds are those of `sklearn.model_selection.StratifiedGroupKFold` on the labelled samples alone.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up; there must be as many groups with labels, and as many labels of a class.
    shuffle, random_state, whole_groups
        See `GroupLabelledKFold`.

    Examples
    --------
    >>> from sslart.model_selection import StratifiedGroupLabelledKFold
    >>> X, y = [[0], [1], [2], [3], [4], [5], [6]], [0, 1, -1, 0, 1, 0, 1]
    >>> batches = ["A", "A", "B", "C", "C", "D", "D"]
    >>> for train, test in StratifiedGroupLabelledKFold(2).split(X, y, batches):
    ...     print(train, test)
    [2 3 4] [0 1 5 6]
    [0 1 2 5 6] [3 4]
    """

    _rule = StratifiedGroupKFold
    _stratified = True


class RepeatedStratifiedLabelledKFold(LabelledSplitter):
    """Repeated `StratifiedLabelledKFold` in different random orders, to reduce the variance with few labels.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up; at least one class must have as many labels.
    n_repeats : int, default=10
        Number of repetitions.
    random_state : int, RandomState instance or None, default=None
        Seed of the random orders.

    Examples
    --------
    >>> from sslart.model_selection import RepeatedStratifiedLabelledKFold
    >>> X, y = [[0], [1], [2], [3], [4]], [0, 1, -1, 0, 1]
    >>> folds = RepeatedStratifiedLabelledKFold(n_splits=2, n_repeats=2, random_state=0)
    >>> for train, test in folds.split(X, y):
    ...     print(train, test)
    [0 2 4] [1 3]
    [1 2 3] [0 4]
    [1 2 3] [0 4]
    [0 2 4] [1 3]
    """

    def __init__(self, *, n_splits: int = 5, n_repeats: int = 10, random_state: Any = None) -> None:
        check_whole(type(self).__name__, "n_repeats", n_repeats)
        self.n_splits, self.n_repeats, self.random_state = n_splits, n_repeats, random_state
        StratifiedKFold(n_splits)  # raises an error for a wrong number

    def _folds_of(self, labels: Labels, groups: Any) -> list[Fold]:
        self._refuse_groups(groups, "StratifiedGroupLabelledKFold")
        check_enough(self._name, self.n_splits, int(labels.known.sum()), "labelled sample")
        codes = codes_of_classes(self._name, self.n_splits, labels)
        random = check_random_state(self.random_state)
        found: list[Fold] = []
        for _ in range(self.n_repeats):
            splitter = StratifiedKFold(self.n_splits, shuffle=True, random_state=random)
            found += folds_by(splitter, labels.known, codes)
        return found


class StratifiedLabelledShuffleSplit(LabelledSplitter):
    """Repeated stratified random splits of the labelled samples; unlabelled ones are in every training part.

    Test parts are those of `sklearn.model_selection.StratifiedShuffleSplit` on the labelled samples alone.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float or int, default=0.2
        Share of the labelled samples in the test part, or their number: at least one of each class.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Examples
    --------
    >>> from sslart.model_selection import StratifiedLabelledShuffleSplit
    >>> X, y = [[0], [1], [2], [3], [4]], [0, 1, -1, 0, 1]
    >>> draws = StratifiedLabelledShuffleSplit(n_splits=2, test_size=0.5, random_state=0)
    >>> for train, test in draws.split(X, y):
    ...     print(train, test)
    [1 2 3] [0 4]
    [0 1 2] [3 4]
    """

    def __init__(self, n_splits: int = 10, *, test_size: Any = 0.2, random_state: Any = None) -> None:
        check_whole(type(self).__name__, "n_splits", n_splits)
        self.n_splits, self.test_size, self.random_state = n_splits, test_size, random_state

    def _folds_of(self, labels: Labels, groups: Any) -> list[Fold]:
        self._refuse_groups(groups, "StratifiedGroupLabelledKFold")
        codes, _, few = classes_with_few_labels(labels, 2)
        if few:
            raise ValueError(
                f"{self._name} needs two labels or more of every class, one to learn from and one to test; these have "
                f"one: {list_text(few)}. Label more samples of them."
            )
        draws = StratifiedShuffleSplit(self.n_splits, test_size=self.test_size, random_state=self.random_state)
        return folds_by(draws, labels.known, codes)
