"""Copies among labelled samples are left out together: they change neither the choice of settings nor the claim."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from sslart import AutoSSLART
from sslart._mapping.evidence.design import LabelGroups
from sslart._mapping.model_view import view_of


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20))
def test_groups_are_the_labels_of_equal_number(numbers: list[int]) -> None:
    groups = LabelGroups(np.array(numbers))
    expected = sorted(np.flatnonzero(np.array(numbers) == one).tolist() for one in set(numbers))
    assert sorted(rows.tolist() for block in groups.several for rows in block) == [r for r in expected if len(r) > 1]
    order = list(dict.fromkeys(numbers))
    assert groups.numbers.tolist() == [order.index(one) for one in numbers]
    assert groups.weights.sum() == pytest.approx(len(set(numbers)))


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12))
def test_joined_groups_hold_what_either_holds_together(pairs: list[tuple[int, int]]) -> None:
    own, keys = np.array(pairs).T
    found = LabelGroups(own).joined(keys).of_label
    linked = (own[:, None] == own) | ((keys[:, None] == keys) & (keys != 0))
    for _ in pairs:
        linked = linked @ linked
    assert ((found[:, None] == found) == linked).all()


def test_rows_that_agree_in_every_value_are_a_group_missing_values_included() -> None:
    samples = np.random.RandomState(0).rand(6, 3)
    samples[3, 1] = np.nan
    samples[[4, 5]] = samples[[3, 0]]
    assert (
        LabelGroups.of_copies(samples, np.zeros(len(samples), dtype=np.int64)).of_label[3]
        == LabelGroups.of_copies(samples, np.zeros(len(samples), dtype=np.int64)).of_label[4]
    )
    assert len(np.unique(LabelGroups.of_copies(samples, np.zeros(len(samples), dtype=np.int64)).of_label)) == 4


def test_in_a_table_of_few_distinct_values_equal_rows_are_no_copies() -> None:
    samples = np.random.RandomState(0).randint(2, size=(100, 4)).astype(float)
    assert len(np.unique(LabelGroups.of_copies(samples, np.zeros(len(samples), dtype=np.int64)).of_label)) == 100


@given(seed=st.integers(0, 99), times=st.integers(2, 4))
def test_but_where_the_whole_table_comes_several_times_each_copy_is_left_out_with_its_equal(
    seed: int, times: int
) -> None:
    random = np.random.RandomState(seed)
    samples, classes = random.randint(2, size=(60, 4)).astype(float), random.randint(2, size=60)
    order = random.permutation(np.tile(np.arange(60), times))
    groups = LabelGroups.of_copies(samples[order], classes[order])
    assert groups.kind == "copies"
    assert len(np.unique(groups.of_label)) == 60
    for rows in groups.several:
        assert rows.shape[1] == times
        assert (samples[order][rows] == samples[order][rows[:, :1]]).all()
        assert (classes[order][rows] == classes[order][rows[:, :1]]).all()


def split(load: Any, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    X, y = load(return_X_y=True)
    random = np.random.RandomState(seed)
    order = random.permutation(len(y))
    train, test = order[: 2 * len(order) // 3], order[2 * len(order) // 3 :]
    return X[train], np.where(random.rand(len(train)) < 0.15, y[train], -1), X[test], y[test]


@pytest.mark.slow
def test_copies_of_every_labelled_row_change_hardly_anything() -> None:
    changes, claims = [], []
    for load in (load_iris, load_wine, load_breast_cancer):
        for seed, times in ((0, 2), (1, 3)):
            X, y, X_test, y_test = split(load, seed)
            again = np.tile(np.flatnonzero(y >= 0), times - 1)
            once = AutoSSLART(random_state=0).fit(X, y)
            more = AutoSSLART(random_state=0).fit(np.vstack([X, X[again]]), np.append(y, y[again]))
            changes.append(more.score(X_test, y_test) - once.score(X_test, y_test))
            claims.append(more.quality_.accuracy.value - once.quality_.accuracy.value)
            assert view_of(more).left_out.n_labels == (y >= 0).sum()  # type: ignore[union-attr]
    assert abs(np.mean(changes)) < 0.01
    assert np.abs(claims).max() < 0.05


@pytest.mark.slow
def test_learning_a_file_twice_does_not_raise_the_claim() -> None:
    X, y, _, _ = split(load_breast_cancer, 0)
    y = np.where(y < 0, y, np.random.RandomState(0).randint(2, size=len(y)))  # nothing to learn
    model = AutoSSLART(random_state=0).fit(X, y)
    claimed = model.quality_.accuracy.value
    model.partial_fit(X, y)
    assert model.quality_.accuracy.value < max(claimed, 0.5) + 0.2
