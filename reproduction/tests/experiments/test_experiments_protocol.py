from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reproduction.framework.protocol import Exam, seed_of, split, task_and_exam
from reproduction.methods import models as _models


def classes(sizes: list[int]) -> np.ndarray:
    return np.repeat([f"class {i}" for i in range(len(sizes))], sizes)


@given(
    sizes=st.lists(st.integers(4, 60), min_size=1, max_size=5),
    test=st.sampled_from([0.1, 0.2, 0.3]),
    labelled=st.sampled_from([0.05, 0.2, 0.9]),
    seed=st.integers(0, 2**16),
)
def test_split_uses_every_row_once_and_labels_every_class(
    sizes: list[int], test: float, labelled: float, seed: int
) -> None:
    target = classes(sizes)
    rows = split(target, np.random.RandomState(seed), test=test, labelled=labelled)
    together = np.concatenate([rows.labelled, rows.unlabelled, rows.test])
    assert sorted(together) == list(range(len(target)))
    assert set(target[rows.labelled]) == set(target)
    for name, size in zip(sorted(set(target)), sizes, strict=True):
        assert (target[rows.test] == name).sum() == max(1, round(test * size))


@given(seed=st.integers(0, 2**16))
def test_groups_stay_whole(seed: int) -> None:
    target = classes([60, 60])
    groups = np.arange(120) // 10
    rows = split(target, np.random.RandomState(seed), test=0.2, labelled=0.25, groups=groups)
    assert not set(groups[rows.test]) & set(groups[np.concatenate([rows.labelled, rows.unlabelled])])
    assert 10 <= len(rows.test) <= 40


def test_a_share_of_the_unlabelled_can_be_left_out() -> None:
    rows = split(classes([90]), np.random.RandomState(0), test=0.0, labelled=0.2, unlabelled=0.6)
    assert (len(rows.labelled), len(rows.unlabelled)) == (18, 54)


@pytest.mark.parametrize("groups", [None, np.arange(90)])
def test_without_a_test_no_row_is_lost(groups: np.ndarray | None) -> None:
    rows = split(classes([50, 40]), np.random.RandomState(0), test=0.0, labelled=0.2, groups=groups)
    assert len(rows.test) == 0
    assert sorted(np.concatenate([rows.labelled, rows.unlabelled])) == list(range(90))


def test_seeds_differ_by_name_and_number_and_stay_the_same() -> None:
    assert len({seed_of(0, "HDC", 1), seed_of(0, "HDC", 2), seed_of(1, "HDC", 1), seed_of(0, "AUS", 1)}) == 4
    assert seed_of(0, "HDC", 1) == seed_of(0, "HDC", 1)


def test_a_task_holds_no_test_label() -> None:
    target = classes([20, 20])
    rows = split(target, np.random.RandomState(0), test=0.2, labelled=0.5)
    X = np.arange(40.0)[:, None]
    task, exam = task_and_exam(X, target, rows, 0)
    assert len(task.y) == len(task.X) == 32
    assert len(task.labelled) == 16
    assert set(task.X_test.ravel()).isdisjoint(task.X.ravel())
    np.testing.assert_array_equal(exam.truth, target[rows.test])
    np.testing.assert_array_equal(task.y[task.labelled], target[task.X[task.labelled, 0].astype(int)])


def test_scores_by_hand() -> None:
    exam = Exam(np.array(["a", "a", "b", "b"], dtype=object), positive="a")
    found = exam.scores(np.array(["a", "b", "b", None], dtype=object))
    assert found == {"accuracy": 50.0, "sensitivity": 50.0, "specificity": 50.0}
    found = exam.scores_of_predicted(np.array(["a", "b", "b", None], dtype=object))
    assert found["coverage"] == 75.0
    assert found["correctness"] == pytest.approx(200 / 3)
    assert (found["sensitivity"], found["specificity"]) == (50.0, 100.0)


def test_shuffled_test_labels_change_the_scores_and_nothing_else() -> None:
    random = np.random.RandomState(0)
    target = classes([60, 60])
    X = random.rand(120, 3) + (target == "class 1")[:, None] * 0.5
    rows = split(target, random, test=0.3, labelled=0.3)
    shuffled = target.copy()
    shuffled[rows.test] = random.permutation(target[rows.test])

    def outcome(labels: np.ndarray) -> tuple[Any, ...]:
        task, exam = task_and_exam(X, labels, rows, 1)
        single, ensemble = _models.single(task, 0.8, "OtO"), _models.ensemble(task, 0.8)
        predictions = [single.predict(task.X_test), *_models.votes(ensemble, task.X_test).values()]
        boxes = [single.lower_, single.counts_, ensemble.upper_, ensemble.class_weights_]
        return [one.tobytes() for one in boxes], [list(one) for one in predictions], exam.scores(predictions[0])

    one, other = outcome(target), outcome(shuffled)
    assert one[:2] == other[:2]
    assert one[2] != other[2]
