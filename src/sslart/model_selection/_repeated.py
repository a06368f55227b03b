"""Splits of labelled samples that are drawn several times."""

from __future__ import annotations

from typing import Any

from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.utils import check_random_state

from sslart._data.labels import Labels
from sslart._utils.text import list_text
from sslart._utils.validation import check_whole
from sslart.model_selection._splitter import (
    Fold,
    LabelledSplitter,
    check_enough,
    classes_with_few_labels,
    codes_of_classes,
    folds_by,
)


class RepeatedStratifiedLabelledKFold(LabelledSplitter):
    """`StratifiedLabelledKFold` several times, in other random orders: few labels make single folds rough.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds, from 2 up; at least one class must have so many labels.
    n_repeats : int, default=10
        How many times all labelled samples are split.
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

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits, of all repetitions together.

        Parameters
        ----------
        X, y, groups : object
            Ignored.
        """
        return int(self.n_splits) * int(self.n_repeats)

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
    """Draw a share of the labelled samples for the test, several times; all other samples are in training.

    Test parts hold labelled samples only, with classes in the same shares as all labels. They are those of
    `sklearn.model_selection.StratifiedShuffleSplit` on the labelled samples alone.

    Parameters
    ----------
    n_splits : int, default=10
        How many times a test part is drawn.
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
