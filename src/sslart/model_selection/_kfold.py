"""K-fold cross-validation of labelled samples, with the unlabelled ones in every training part."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from sslart._data.labels import Labels
from sslart._utils.validation import check_flag
from sslart.model_selection._groups import read_groups
from sslart.model_selection._splitter import (
    Fold,
    LabelledSplitter,
    check_enough,
    codes_of_classes,
    folds_by,
)


class _KFold(LabelledSplitter):
    """Base of the splitters by folds: the labelled samples are split as a splitter of scikit-learn does it."""

    _rule: Any  # the splitter of scikit-learn

    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None) -> None:
        self.n_splits, self.shuffle, self.random_state = n_splits, shuffle, random_state
        self._splitter()  # raises an error for wrong parameters

    def _splitter(self) -> Any:
        return self._rule(n_splits=self.n_splits, shuffle=self.shuffle, random_state=self.random_state)


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
    StratifiedLabelledKFold : Every fold has its share of every class. The one to start with.
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

    def _folds_of(self, labels: Labels, groups: Any) -> list[Fold]:
        self._refuse_groups(groups, "GroupLabelledKFold")
        n_labelled = int(labels.known.sum())
        check_enough(self._name, self.n_splits, n_labelled, "labelled sample")
        return folds_by(self._splitter(), labels.known, np.zeros(n_labelled, dtype=np.int64))


class StratifiedLabelledKFold(_KFold):
    """K-fold cross-validation in which every test fold has its share of the labels of every class.

    Test folds hold labelled samples only; unlabelled ones are in every training part. Folds are those of
    `sklearn.model_selection.StratifiedKFold` on the labelled samples alone.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up; at least one class must have so many labels.
    shuffle : bool, default=False
        Whether the labelled samples of each class are put into random order before they are split.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order.

    See Also
    --------
    RepeatedStratifiedLabelledKFold : The same several times, in other orders.
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

    def _folds_of(self, labels: Labels, groups: Any) -> list[Fold]:
        self._refuse_groups(groups, "StratifiedGroupLabelledKFold")
        check_enough(self._name, self.n_splits, int(labels.known.sum()), "labelled sample")
        codes = codes_of_classes(self._name, self.n_splits, labels)
        return folds_by(self._splitter(), labels.known, codes)


class _GroupKFold(_KFold):
    """Base of the splitters of groups."""

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

    Test folds hold labelled samples only; unlabelled ones are in every training part, unless `whole_groups` is True.
    Folds are those of `sklearn.model_selection.GroupKFold` on the labelled samples alone, of about equal size.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up; there must be so many groups with labels.
    shuffle : bool, default=False
        Whether groups are put into random order before they are split.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order.
    whole_groups : bool, default=False
        Whether unlabelled samples of the groups in the test fold are left out of training too. True measures how good
        predictions are for groups of which no sample at all has been learnt.

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
    """K-fold cross-validation in which groups are never split, and folds have classes as even as that allows.

    Test folds hold labelled samples only; unlabelled ones are in every training part, unless `whole_groups` is True.
    Folds are those of `sklearn.model_selection.StratifiedGroupKFold` on the labelled samples alone.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up; there must be so many groups with labels, and so many labels of a class.
    shuffle : bool, default=False
        Whether groups are put into random order before they are split.
    random_state : int, RandomState instance or None, default=None
        Seed of the random order.
    whole_groups : bool, default=False
        Whether unlabelled samples of the groups in the test fold are left out of training too. True measures how good
        predictions are for groups of which no sample at all has been learnt.

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
