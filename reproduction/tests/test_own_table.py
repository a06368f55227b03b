"""Experiments on a table of one's own: what is read of it, which refuse it, and what their report shows."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from reproduction.__main__ import main
from reproduction.framework.own_table import OwnTable
from reproduction.framework.settings import Settings
from reproduction.runner.registry import EXPERIMENTS
from reproduction.runner.run import refusal

VARIANT = "reproduction.tests.own_models:High"


def cancer(folder: Path, *, words: bool = False) -> Path:
    data = load_breast_cancer(as_frame=True)
    frame = data.data.iloc[:200, :5].assign(y=data.target_names[data.target[:200]])
    if words:
        frame["size"] = np.where(frame["mean radius"] > 14, "large", "small")
    path = folder / ("words.csv" if words else "cancer.csv")
    frame.to_csv(path, index=False)
    return path


def flowers(folder: Path) -> Path:
    data = load_iris(as_frame=True)
    path = folder / "flowers.csv"
    data.data.assign(y=data.target_names[data.target]).to_csv(path, index=False)
    return path


def run(names: list[str], path: Path, out: Path, *more: str) -> int:
    return main(
        ["run", *names, "--quick", "--repeats", "1", "--data", str(path), "--label", "y", "--out", str(out), *more]
    )


def test_rows_without_a_class_are_left_out_and_the_rarer_class_is_positive(tmp_path: Path) -> None:
    frame = pd.read_csv(cancer(tmp_path))
    frame.loc[:9, "y"] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    table = OwnTable.of(tmp_path / "gaps.csv", "y")
    bunch = table.load()
    assert bunch.data.shape == (190, 5)
    rarer = frame["y"].value_counts().idxmin()
    assert table.positive == rarer
    assert OwnTable.of(flowers(tmp_path), "y").positive is None


def test_words_are_categories_and_columns_can_be_left_out(tmp_path: Path) -> None:
    path = cancer(tmp_path, words=True)
    assert str(OwnTable.of(path, "y").load().data["size"].dtype) in ("category", "object", "str")
    assert OwnTable.of(path, "y", ignore=["size"]).load().data.shape == (200, 5)


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("x,y\n" + "1,a\n" * 9, {}, "has one class only"),
        ("x,y\n" + "1,a\n2,a\n" * 5 + "3,b\n", {}, r"fewer than 5 rows of the classes 'b' \(1\)"),
        ("x,y\n" + "1,a\n2,b\n" * 9, {"positive": "c"}, "--positive names one of two classes.*give one of these"),
        ("x,y\n" + "1,a\n2,b\n3,c\n" * 9, {"positive": "c"}, "--positive names one of two classes.*leave it out"),
        ("x,z\n1,a\n", {}, "no column 'y'"),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_an_unsuitable_table_is_refused_with_the_cause(
    content: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        OwnTable.of(path, "y", **options)


def test_experiments_refuse_tables_that_they_cannot_take_and_say_why(tmp_path: Path) -> None:
    two, three = Settings(table=OwnTable.of(cancer(tmp_path), "y")), Settings(table=OwnTable.of(flowers(tmp_path), "y"))
    words = Settings(table=OwnTable.of(cancer(tmp_path, words=True), "y"))
    by_nature = {"images", "motion", "motion_nodes"}
    assert {name for name in EXPERIMENTS if refusal(name, two)} == by_nature | {"multiclass"}
    assert {name for name in EXPERIMENTS if refusal(name, three)} == by_nature | {"binary", "anomaly"}
    assert {name for name in EXPERIMENTS if refusal(name, words)} == by_nature | {"multiclass", "coverage", "rules"}
    assert "run multiclass" in refusal("binary", three)
    assert "large sets of images" in refusal("images", two)
    assert "recorded movements" in refusal("motion", two)


def test_the_group_of_the_uci_sets_takes_the_experiment_that_fits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["uci"], cancer(tmp_path), out, "--model", VARIANT) == 0
    captured = capsys.readouterr()
    assert captured.out == "binary        run on a table of your own\n"
    assert "left out: experiment 'multiclass'" in captured.err
    report = (out / "report.md").read_text()
    assert "--data cancer.csv --label y" in report
    assert "no statement of the paper" in report
    assert "contradicts itself" not in report
    assert "printed" not in report.split("## ", 1)[1].split("### ", 1)[1]
    with (out / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["dataset"] for row in rows} == {"cancer.csv"}
    assert any(row["method"] == VARIANT and 50 < float(row["value"]) <= 100 for row in rows)


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("vigilance", "accuracy"),
        ("mapping", "accuracy"),
        ("incremental", "accuracy"),
        ("ensembles", "accuracy"),
        ("nodes", "nodes, stage 1"),
        pytest.param("anomaly", "F1", marks=pytest.mark.slow),
        pytest.param("coverage", "coverage", marks=pytest.mark.slow),
        ("rules", "confidence, setosa"),
    ],
)
def test_every_experiment_that_can_runs_on_a_table_with_a_model(name: str, measure: str, tmp_path: Path) -> None:
    path = cancer(tmp_path) if name in ("anomaly", "coverage") else flowers(tmp_path)
    assert run([name], path, tmp_path / "out", "--model", VARIANT) == 0
    records = json.loads((tmp_path / "out" / "results.json").read_text())["records"]
    of_variant = [one for one in records if VARIANT in (one["method"], one["condition"])]
    assert measure in {one["measure"] for one in of_variant}
    assert VARIANT in (tmp_path / "out" / "report.md").read_text()
    assert (tmp_path / "out" / "report.html").stat().st_size > 1000


def test_a_changed_table_is_run_again(tmp_path: Path) -> None:
    path, out = flowers(tmp_path), tmp_path / "out"
    assert run(["rules"], path, out) == 0
    before = json.loads((out / "results.json").read_text())["records"]
    path.write_text("\n".join(path.read_text().splitlines()[:-10]) + "\n")
    assert run(["rules"], path, out) == 0
    assert json.loads((out / "results.json").read_text())["records"] != before


@pytest.mark.parametrize("arguments", [["--data", "x.csv"], ["--label", "y"], ["--positive", "a"], ["--ignore", "b"]])
def test_data_and_label_go_together(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["run", "uci", *arguments])
    assert stop.value.code == 2
    assert "go together" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["uci"], tmp_path / "none.csv", tmp_path) == 1
    assert "There is no file" in capsys.readouterr().err
