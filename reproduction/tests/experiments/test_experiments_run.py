from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reproduction.datasets import DataNotFoundError
from reproduction.experiments import motion
from reproduction.framework.experiment import Check, Experiment, Results, Table, outcome
from reproduction.framework.motion_task import NOISES, QUORUMS, noisy_task, signal_to_noise
from reproduction.framework.protocol import Exam, Record, split, task_and_exam
from reproduction.framework.sets import load
from reproduction.framework.settings import Settings
from reproduction.methods import models as _models
from reproduction.runner import registry as _registry
from reproduction.runner import report as _report
from reproduction.runner import run as running
from reproduction.runner.registry import EXPERIMENTS
from reproduction.runner.run import run, write_records
from reproduction.tests import needs_data

SMALL = ["vigilance", "nodes", "motion_nodes", "rules"]


def toy(work: Callable[[str, int, Settings], list[Record]], datasets: tuple[str, ...] = ("one", "two")) -> Experiment:
    return Experiment(
        name="toy",
        title="A <toy>",
        section="Fig. 0 (line 7)",
        question="Does `it` work?",
        datasets=datasets,
        work=work,
        tables=lambda results: [
            Table("Numbers", ["data", "printed", "measured"], [["one", "7", "8|9"]], quoted=frozenset({1}))
        ],
        checks=lambda results: [Check("numbers are positive", results.mean("one", "m", "x") > 0, "they are", 7)],
        remarks=lambda results: [f"There are {len(results.records)} numbers."],
        reason="none",
        repeats=3,
    )


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Put a toy experiment in the register; return the list of pieces of work that were done."""
    done: list[tuple[str, int]] = []

    def work(dataset: str, seed: int, settings: Settings) -> list[Record]:
        done.append((dataset, seed))
        if dataset == "gone":
            raise DataNotFoundError("ask its owner")
        return [Record(dataset, "m", "x", np.random.RandomState(seed).rand())]

    monkeypatch.setitem(_registry.EXPERIMENTS, "toy", toy(work))
    monkeypatch.setitem(_registry.EXPERIMENTS, "gone", toy(work, ("one", "gone")))
    return done


def test_an_interrupted_run_goes_on_where_it_stopped(toys: list[tuple[str, int]], tmp_path: Path) -> None:
    whole = run(["toy"], tmp_path, Settings())
    assert len(toys) == 6
    pieces = sorted((tmp_path / "pieces" / "toy").iterdir())
    pieces[1].unlink()
    pieces[4].write_text("{half")
    again = run(["toy"], tmp_path, Settings())
    assert len(toys) == 8
    assert again.results["toy"].records == whole.results["toy"].records


def test_other_settings_are_other_results(toys: list[tuple[str, int]], tmp_path: Path) -> None:
    one = run(["toy"], tmp_path, Settings(seed=0), repeats=1)
    other = run(["toy"], tmp_path, Settings(seed=1), repeats=1)
    assert len(toys) == 4
    assert one.results["toy"].records != other.results["toy"].records


def test_data_that_is_not_here_is_named_and_tried_again_next_time(toys: list[tuple[str, int]], tmp_path: Path) -> None:
    done = run(["gone"], tmp_path, Settings(), repeats=1)
    assert done.missing == {("gone", "gone"): "ask its owner"}
    assert "Not run on gone: its files were not on the machine" in _report.as_markdown(done)
    run(["gone"], tmp_path, Settings(), repeats=1)
    assert [dataset for dataset, _ in toys] == ["one", "gone", "gone"]


def test_results_are_tidy(toys: list[tuple[str, int]], tmp_path: Path) -> None:
    write_records(run(["toy"], tmp_path, Settings(), repeats=2), tmp_path)
    with (tmp_path / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    assert {row["dataset"] for row in rows} == {"one", "two"}
    records = json.loads((tmp_path / "results.json").read_text())["records"]
    assert [float(row["value"]) for row in rows] == [record["value"] for record in records]


def test_the_report_marks_what_is_quoted_and_holds_everything(toys: list[tuple[str, int]], tmp_path: Path) -> None:
    done = run(["toy"], tmp_path, Settings())
    _report.write(done, tmp_path)
    page, text = (tmp_path / "report.html").read_text(), (tmp_path / "report.md").read_text()
    assert '<td class="quoted">7</td><td>8|9</td>' in page
    assert "| *7* | 8\\|9 |" in text
    assert "A &lt;toy&gt;" in page
    assert "<code>it</code>" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "| A <toy> | Fig. 0 (line 7) | reproduced | 1 of 1 |" in text
    assert "| numbers are positive | 7 | yes | they are |" in text
    summary = (tmp_path / "summary.md").read_text()
    for written in (page, text, summary):
        assert "In the paper: Fig. 0 (line 7)." in written
        assert "There are 6 numbers." in written
        assert "Where the paper contradicts itself" in written


@pytest.mark.parametrize(
    ("held", "word"), [((), "not run"), ((1, 1, 1, 1, 0), "reproduced"), ((1, 0), "partly"), ((0, 0, 1), "not")]
)
def test_outcomes(held: tuple[int, ...], word: str) -> None:
    assert outcome([Check("", bool(one), "", 1) for one in held]) == word


@pytest.mark.parametrize("name", ["images", "binary", "multiclass", "anomaly", "motion"])
def test_evidence_mapping_is_shown_beside_the_models_of_the_paper_and_no_statement_rests_on_it(name: str) -> None:
    experiment = EXPERIMENTS[name]
    measures = ("accuracy", "F1", "coverage", "correctness", "sensitivity", "specificity")
    conditions = motion.CONDITIONS if name == "motion" else ("",)

    def reached(method: str, value: float) -> list[Record]:
        return [
            Record(dataset, method, measure, value, 0.9, condition)
            for dataset in experiment.datasets
            for measure in measures
            for condition in conditions
        ]

    theirs, ours = reached("WESSL-ART", 50.0) + reached("WESSL-ART (OtM)", 50.0), reached(_models.EVIDENCE, 77.7)
    checks = experiment.checks(Results([*theirs, *ours]))
    assert [check.statement for check in checks] == [check.statement for check in experiment.checks(Results(theirs))]
    assert repr(checks) == repr(experiment.checks(Results(theirs)))
    first, *others = experiment.tables(Results([*theirs, *ours]))
    beside = others[0] if name == "motion" else first
    assert _models.EVIDENCE in [*beside.header, *(row[0] for row in beside.rows)]
    assert any("77.7" in cell for row in beside.rows for cell in row)
    if name in ("binary", "multiclass"):
        assert others[-1].rows[0] == [_models.EVIDENCE, str(len(experiment.datasets)), "0", "0"]


def test_every_experiment_names_its_place_in_the_paper() -> None:
    places = [experiment.section for experiment in EXPERIMENTS.values()]
    assert len(set(places)) == len(places)
    assert all(re.search(r"(Fig\.|Table) \w+ \(lines \d+–\d+", place) for place in places)


@pytest.mark.slow
@needs_data
@pytest.mark.parametrize("name", SMALL)
def test_a_real_run_is_repeatable_bit_for_bit_in_any_number_of_processes(name: str, tmp_path: Path) -> None:
    settings = Settings(quick=True)
    done = [run([name], tmp_path / str(jobs), settings, repeats=1, jobs=jobs).results[name].records for jobs in (1, 2)]
    alike = [[record for record in one if record.measure != "milliseconds"] for one in done]
    assert alike[0] == alike[1]
    assert alike[0]


@needs_data
@pytest.mark.parametrize(
    "name",
    [
        "vigilance",
        "mapping",
        "coverage",
        *(pytest.param(one, marks=pytest.mark.slow) for one in ("multiclass", "motion")),
    ],
)
def test_no_test_label_reaches_a_prediction(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run an experiment with its test labels shuffled before anything is learnt: all predictions stay the same."""
    from reproduction.experiments import mapping, uci, vigilance
    from reproduction.framework import motion_task as _motion

    predictions: list[bytes] = []

    def keep(self: Exam, given: Any) -> dict[str, float]:
        predictions.append(repr(list(given)).encode())
        return {"coverage": 0.0, "correctness": 0.0, "sensitivity": 0.0, "specificity": 0.0, "accuracy": 0.0}

    def shuffled(X: Any, target: Any, rows: Any, seed: int, positive: str | None = None) -> Any:
        target = target.copy()
        target[rows.test] = np.random.RandomState(0).permutation(target[rows.test])
        return task_and_exam(X, target, rows, seed, positive)

    monkeypatch.setattr(Exam, "scores", keep)
    monkeypatch.setattr(Exam, "scores_of_predicted", keep)
    experiment = EXPERIMENTS[name]
    list(experiment.work(experiment.datasets[0], 3, Settings(quick=True)))
    before, predictions[:] = list(predictions), []
    for module in (vigilance, mapping, uci, _motion):
        monkeypatch.setattr(module, "task_and_exam", shuffled)
    list(experiment.work(experiment.datasets[0], 3, Settings(quick=True)))
    assert before
    assert predictions == before


@pytest.mark.slow
@needs_data
def test_every_experiment_has_tables_checks_and_a_figure_that_can_be_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_sets = replace(EXPERIMENTS["multiclass"], datasets=("Wine", "Iris"))
    monkeypatch.setitem(_registry.EXPERIMENTS, "multiclass", two_sets)
    done = run([*SMALL, "coverage", "multiclass"], tmp_path, Settings(quick=True), repeats=1)
    page = _report.as_html(done)
    for name in done.results:
        assert EXPERIMENTS[name].title in page
        assert f'id="{name}"' in page
    assert page.count("data:image/png;base64,") == 3
    assert running.n_repeats(EXPERIMENTS["vigilance"], Settings(), None) == 10


@needs_data
def test_models_without_unlabelled_samples_scale_features_as_the_models_beside_them() -> None:
    bunch = load("HDC")
    rows = split(bunch.target, np.random.RandomState(0), test=0.2, labelled=0.2)
    task, _ = task_and_exam(bunch.data, bunch.target, rows, 0)
    model = _models.without_unlabelled(task, 0.9)
    lower, upper = model.bounds
    np.testing.assert_array_equal(lower, np.nanmin(task.X, axis=0))
    np.testing.assert_array_equal(upper, np.nanmax(task.X, axis=0))
    assert (np.nanmax(task.X[task.labelled], axis=0) < upper).any()
    assert model.n_nodes_stage1_ == 0


@needs_data
def test_noise_of_human_motion_is_on_a_tenth_of_the_labelled_samples() -> None:
    clean, labels, features = (noisy_task(5, noise)[0] for noise in NOISES)
    n_noisy = round(0.1 * len(clean.labelled))
    np.testing.assert_array_equal(labels.X, clean.X)
    np.testing.assert_array_equal(features.y, clean.y)
    assert n_noisy == (labels.y != clean.y).sum() == (features.X != clean.X).any(axis=1).sum()
    assert set(np.flatnonzero((features.X != clean.X).any(axis=1))) <= set(clean.labelled)
    rounding = 1e-12 * np.ptp(clean.X, axis=0)
    assert (clean.X.max(axis=0) + rounding >= features.X).all()
    assert (clean.X.min(axis=0) - rounding <= features.X).all()


@needs_data
def test_clipping_removes_part_of_the_noise() -> None:
    ratios = [signal_to_noise(seed) for seed in range(20)]
    assert np.mean(ratios) == pytest.approx(10.625, abs=0.001)


@needs_data
def test_a_majority_as_quorum_predicts_fewer_samples_and_both_votes_the_same_ones() -> None:
    task, exam = noisy_task(1, "noise-free")
    model = _models.ensemble(task, 0.9)
    one, most = (_models.votes(model, task.X_test, 2, quorum) for quorum in QUORUMS)
    covered = [exam.scores_of_predicted(found["WESSL-ART"])["coverage"] for found in (one, most)]
    assert covered[0] > covered[1] > 0
    for found in (one, most):
        abstained = [[label is None for label in vote] for vote in found.values()]
        assert abstained[0] == abstained[1]


@needs_data
def test_rules_of_heart_cleveland_are_shown_as_a_table_and_in_the_same_words(tmp_path: Path) -> None:
    done = run(["rules"], tmp_path, Settings(), repeats=1)
    levels, words, *_ = EXPERIMENTS["rules"].tables(done.results["rules"])
    assert len(levels.rows) == len(words.rows) == 4
    for row, (name, text) in zip(levels.rows, words.rows, strict=True):
        asked = [feature for feature, cell in zip(levels.header[1:14], row[1:14], strict=True) if cell != "any"]
        assert name == row[0]
        assert [part.split(" is ")[0] for part in text[3:].split(", Then")[0].split(", AND ")] == asked
        assert text.endswith(f"with confidence estimate={max(row[14:])}.")
