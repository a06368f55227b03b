"""Splitters: test folds hold labelled samples only, and are what scikit-learn's splitters make of these alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import model_selection as sk
from sklearn.base import clone

from sslart import model_selection as cv

Y = np.array([0, 1, -1, 2, 0, -1, 1, 2, -1, 0, 1, 2, 0, 1, 2, -1])
GROUPS = np.array(list("aabbccddeeffgghh"))
WITHOUT_GROUPS = [
    cv.LabelledKFold(3),
    cv.StratifiedLabelledKFold(3, shuffle=True, random_state=0),
    cv.RepeatedStratifiedLabelledKFold(n_splits=2, n_repeats=3, random_state=0),
    cv.StratifiedLabelledShuffleSplit(4, test_size=0.3, random_state=0),
]
WITH_GROUPS = [cv.GroupLabelledKFold(3), cv.StratifiedGroupLabelledKFold(3, shuffle=True, random_state=0)]
ALL = [*WITHOUT_GROUPS, *WITH_GROUPS]


def groups_for(splitter: Any, groups: Any = GROUPS) -> Any:
    return groups if "Group" in type(splitter).__name__ else None


def splits_of(splitter: Any, y: Any, groups: Any = GROUPS) -> list[tuple[list[int], list[int]]]:
    found = splitter.split(np.zeros((len(y), 1)), y, groups_for(splitter, groups))
    return [(train.tolist(), test.tolist()) for train, test in found]


def labels(n_classes: int, n_of_each: int) -> Any:
    """Labels with gaps in any order, at least n_of_each of every class."""
    needed = [label for label in range(n_classes) for _ in range(n_of_each)]
    more = st.lists(st.integers(-1, n_classes - 1), max_size=30)
    return more.flatmap(lambda rest: st.permutations(needed + rest)).map(np.array)


def groups_of(y: Any) -> Any:
    """Seven groups, each of which has labels."""
    numbers = st.permutations(range(7)).map(lambda order: np.resize(order, len(y)))
    return numbers.map(lambda groups: groups[np.argsort(np.argsort(y == -1, kind="stable"))])


@pytest.mark.parametrize("splitter", ALL, ids=repr)
@given(data=st.data())
def test_unlabelled_samples_are_in_every_training_part_and_in_no_test_fold(splitter: Any, data: Any) -> None:
    y = data.draw(labels(3, 4))
    rows = set(range(len(y)))
    splits = splits_of(splitter, y, data.draw(groups_of(y)))
    assert len(splits) == splitter.get_n_splits()
    for train, test in splits:
        assert test
        assert (y[test] != -1).all()
        assert set(train) | set(test) == rows
        assert not set(train) & set(test)


@pytest.mark.parametrize("splitter", [splitter for splitter in ALL if "KFold(" in repr(splitter)], ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_test_folds_hold_every_labelled_sample_once(splitter: Any, seed: int) -> None:
    order = np.random.RandomState(seed).permutation(len(Y))
    tested = Counter(row for _, test in splits_of(splitter, Y[order], GROUPS[order]) for row in test)
    repeats = getattr(splitter, "n_repeats", 1)
    assert tested == dict.fromkeys(np.flatnonzero(Y[order] != -1).tolist(), repeats)


@given(y=labels(3, 4), n_splits=st.integers(2, 4), shuffle=st.booleans())
def test_stratified_folds_have_equal_numbers_of_each_class_within_one(y: Any, n_splits: int, shuffle: bool) -> None:
    splitter = cv.StratifiedLabelledKFold(n_splits, shuffle=shuffle, random_state=0 if shuffle else None)
    counts = np.array([np.bincount(y[test], minlength=3) for _, test in splits_of(splitter, y)])
    assert np.ptp(counts, axis=0).max() <= 1


@pytest.mark.parametrize("splitter", WITH_GROUPS, ids=repr)
@given(data=st.data())
def test_groups_are_never_split(splitter: Any, data: Any) -> None:
    y = data.draw(labels(2, 6))
    y[y != -1] += 2  # with classes 0 and 1, a training part could be left with -1 and 1
    groups = data.draw(groups_of(y))
    splits, whole = splits_of(type(splitter)(2), y, groups), type(splitter)(2, whole_groups=True)
    for train, test in splits:
        labelled = [row for row in train if y[row] != -1]
        assert not set(groups[labelled]) & set(groups[test])
    for (train, test), (fewer, same) in zip(splits, splits_of(whole, y, groups), strict=True):
        assert same == test
        assert fewer == [row for row in train if groups[row] not in groups[test]]


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (cv.LabelledKFold(4), sk.KFold(4)),
        (cv.LabelledKFold(3, shuffle=True, random_state=7), sk.KFold(3, shuffle=True, random_state=7)),
        (cv.StratifiedLabelledKFold(3), sk.StratifiedKFold(3)),
        (
            cv.StratifiedLabelledKFold(2, shuffle=True, random_state=7),
            sk.StratifiedKFold(2, shuffle=True, random_state=7),
        ),
        (cv.GroupLabelledKFold(3), sk.GroupKFold(3)),
        (cv.GroupLabelledKFold(3, shuffle=True, random_state=7), sk.GroupKFold(3, shuffle=True, random_state=7)),
        (cv.StratifiedGroupLabelledKFold(3), sk.StratifiedGroupKFold(3)),
        (
            cv.RepeatedStratifiedLabelledKFold(n_splits=3, n_repeats=4, random_state=7),
            sk.RepeatedStratifiedKFold(n_splits=3, n_repeats=4, random_state=7),
        ),
        (
            cv.StratifiedLabelledShuffleSplit(5, test_size=4, random_state=7),
            sk.StratifiedShuffleSplit(5, test_size=4, random_state=7),
        ),
    ],
    ids=repr,
)
def test_folds_are_those_of_scikit_learn_on_the_labelled_samples_alone(ours: Any, theirs: Any) -> None:
    rows = np.flatnonzero(Y != -1)
    groups = groups_for(ours)
    by_hand = theirs.split(rows[:, None], Y[rows], None if groups is None else groups[rows])
    assert [test for _, test in splits_of(ours, Y)] == [sorted(rows[test].tolist()) for _, test in by_hand]
    assert ours.get_n_splits() == theirs.get_n_splits(rows[:, None], Y[rows], groups)


NAMES = np.array(["cat", "dog", "owl", None], dtype=object)[Y]


@pytest.mark.parametrize(
    "y",
    [
        Y.tolist(),
        pd.Series(Y, index=np.arange(len(Y)) + 100),
        np.where(Y == -1, np.nan, Y.astype(float)),
        np.where(Y == -1, None, Y),
        pd.array(np.where(Y == -1, None, Y), dtype="Int64"),
        NAMES,
        NAMES.tolist(),
        pd.Series(NAMES),
        pd.Series(NAMES, dtype="string"),
        pd.Series(NAMES, dtype="category"),
        ["cat" if name == "cat" else float("nan") if name is None else name for name in NAMES],
    ],
    ids=lambda y: f"{type(y).__name__} {getattr(y, 'dtype', '')}",
)
@pytest.mark.parametrize("splitter", ALL, ids=repr)
def test_gaps_are_read_as_the_estimators_read_them(splitter: Any, y: Any) -> None:
    assert cv.is_labelled(y).tolist() == (Y != -1).tolist()
    assert splits_of(splitter, y) == splits_of(splitter, Y)


def test_minus_one_and_one_are_two_classes_with_a_warning() -> None:
    y = np.array([-1, 1, 1, -1, 1, -1])
    with pytest.warns(UserWarning, match="treated as two classes. If -1 means unlabelled here, write None"):
        splits = splits_of(cv.StratifiedLabelledKFold(3), y)
    assert sorted(row for _, test in splits for row in test) == [0, 1, 2, 3, 4, 5]
    assert all(sorted(y[test]) == [-1, 1] for _, test in splits)
    with pytest.warns(UserWarning, match="two classes"):
        assert cv.is_labelled(y).all()


def test_a_training_part_that_fit_would_misread_is_refused() -> None:
    zeros_first = np.array([0, 0, 1, 1, -1, -1])
    with pytest.raises(ValueError, match=r"leaves 1 as the only class .* -1 and 1 alone is read as two classes"):
        splits_of(cv.LabelledKFold(2), zeros_first)
    assert len(splits_of(cv.LabelledKFold(2), np.array([0, 0, 1, 1, np.nan]))) == 2
    assert len(splits_of(cv.StratifiedLabelledKFold(2), zeros_first)) == 2
    with (
        pytest.warns(UserWarning, match="two classes"),
        pytest.raises(ValueError, match=r"leaves -1 as the only class .* a y of -1 alone is read as unlabelled"),
    ):
        splits_of(cv.LabelledKFold(2), np.array([1, 1, -1, -1]))


@pytest.mark.parametrize(
    "groups", [GROUPS.tolist(), pd.Series(GROUPS), np.repeat(range(8), 2), [*range(5), *"abcdefghijk"]]
)
def test_groups_may_be_of_any_kind(groups: Any) -> None:
    for train, test in splits_of(cv.GroupLabelledKFold(3), Y, groups):
        of = {row: list(groups)[row] for row in range(len(Y))}
        assert not {of[row] for row in train if Y[row] != -1} & {of[row] for row in test}


def test_an_unlabelled_sample_needs_no_group_but_a_labelled_one_does() -> None:
    groups = GROUPS.astype(object)
    groups[Y == -1] = None
    for splitter in (cv.GroupLabelledKFold(3), cv.GroupLabelledKFold(3, whole_groups=True)):
        assert all(set(np.flatnonzero(Y == -1)) <= set(train) for train, _ in splits_of(splitter, Y, groups))
    groups[[0, 1]] = np.nan
    with pytest.raises(ValueError, match=r"missing \(None or NaN\) for 2 labelled sample\(s\). Name their group"):
        splits_of(cv.GroupLabelledKFold(3), Y, groups)


@pytest.mark.parametrize(
    ("splitter", "y", "message"),
    [
        (cv.LabelledKFold(), None, r"LabelledKFold needs y.*call split\(X, y\)"),
        (cv.LabelledKFold(), [None] * 16, "no labelled sample.*needs two labels or more"),
        (cv.LabelledKFold(), [0, 1, 2] + [-1] * 13, r"n_splits=5 of .* for 3 labelled samples\. Give n_splits=3"),
        (cv.LabelledKFold(2), [0] + [-1] * 15, r"too many for 1 labelled sample\. Label more samples"),
        (cv.StratifiedLabelledKFold(), [0, 0, 1, 1, 1, 1] + [-1] * 10, r"0 \(2\), 1 \(4\)\. Give n_splits=4 or less"),
        (cv.StratifiedLabelledKFold(2), ["a", "b"] + [None] * 14, r"'a' \(1\), 'b' \(1\)\. Use LabelledKFold"),
        (cv.StratifiedLabelledShuffleSplit(), ["a", "a", "b"] + [None] * 13, r"two labels or more of every.*'b' \(1\)"),
        (cv.GroupLabelledKFold(), [0, 1, 0, 1] + [-1] * 12, r"too many for 2 labelled groups\. Give n_splits=2"),
    ],
    ids=lambda value: repr(value)[:40],
)  # fmt: skip
def test_too_few_labels_are_refused_with_a_cure(splitter: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        splitter.split(np.zeros((16, 1)), y, groups_for(splitter))


def test_classes_with_fewer_labels_than_folds_are_named() -> None:
    y = np.array(["a"] * 6 + ["b"] * 2 + ["c"] + [None] * 4, dtype=object)
    with pytest.warns(UserWarning, match=r"n_splits=3 are missing in some test folds: 'b' \(2\), 'c' \(1\)\."):
        splits = splits_of(cv.StratifiedLabelledKFold(3), y)
    assert all((y[test] == "a").sum() == 2 for _, test in splits)


def test_groups_are_asked_for_or_refused_by_name() -> None:
    X = np.zeros((16, 1))
    for splitter in WITH_GROUPS:
        with pytest.raises(ValueError, match=f"{type(splitter).__name__} needs groups, one value per sample"):
            splitter.split(X, Y)
    for splitter in WITHOUT_GROUPS:
        with pytest.warns(UserWarning, match=rf"{type(splitter).__name__} ignores groups: use \w*GroupLabelledKFold"):
            splitter.split(X, Y, GROUPS)


def test_a_fold_without_labels_is_refused() -> None:
    y, groups = np.array([1, 0, 0, 0, 1, 0, 1, 0, 0, None]), np.array([3, 3, 2, 2, 1, 0, 3, 3, 3, 4])
    with (
        pytest.warns(UserWarning, match=r"missing in some test folds: 1 \(3\)"),
        pytest.raises(ValueError, match="StratifiedGroupLabelledKFold leaves a test fold empty"),
    ):
        splits_of(cv.StratifiedGroupLabelledKFold(4), y, groups)


@pytest.mark.parametrize("kind", [cv.LabelledKFold, cv.StratifiedLabelledKFold, cv.GroupLabelledKFold])
def test_parameters_are_checked_and_shown(kind: Any) -> None:
    with pytest.raises(ValueError, match="n_splits=2 or more"):
        kind(1)
    with pytest.raises(ValueError, match="random_state"):
        kind(3, random_state=0)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        kind(2).split(np.zeros((3, 1)), [0, 1], [0, 1])
    shown = repr(kind(3, shuffle=True, random_state=0))
    assert shown.startswith(f"{kind.__name__}(n_splits=3, random_state=0, shuffle=True")
    assert repr(clone(kind(3), safe=False)) == repr(kind(3))


def test_repetitions_are_checked() -> None:
    with pytest.raises(ValueError, match="n_repeats of RepeatedStratifiedLabelledKFold must be a whole number"):
        cv.RepeatedStratifiedLabelledKFold(n_repeats=0)
    with pytest.raises(ValueError, match="whole_groups of GroupLabelledKFold must be True or False"):
        cv.GroupLabelledKFold(whole_groups="yes")
