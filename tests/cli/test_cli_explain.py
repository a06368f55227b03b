"""`sslart explain` explains one row as the library does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main
from tables import iris, iris_model, mixed_model

Captured = pytest.CaptureFixture[str]


def test_the_explanation_is_that_of_the_library(tmp_path: Path, capsys: Captured) -> None:
    model = iris_model(tmp_path)
    assert main(["explain", str(model), str(tmp_path / "iris.csv"), "--row", "70"]) == 0
    (expected,) = sslart.load(model).explain(load_iris(as_frame=True).data[69:70])
    assert capsys.readouterr().out == f"{expected}\n"


@pytest.mark.parametrize("row", ["1", "4", "120"])
def test_it_can_be_read_by_programs(row: str, tmp_path: Path, capsys: Captured) -> None:
    assert main(["explain", str(mixed_model(tmp_path)), str(tmp_path / "mixed.csv"), "--row", row, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["prediction"] in ("large", "small")


def test_a_row_that_is_not_there_is_refused(tmp_path: Path, capsys: Captured) -> None:
    assert main(["explain", str(iris_model(tmp_path)), str(tmp_path / "iris.csv"), "--row", "151"]) == 1
    assert "150 rows" in capsys.readouterr().err
    with pytest.raises(SystemExit) as stop:
        main(["explain", "model.sslart", "iris.csv", "--row", "0"])
    assert stop.value.code == 2


def test_global_importances_are_those_of_the_library(tmp_path: Path, capsys: Captured) -> None:
    file, table = iris_model(tmp_path), str(tmp_path / "iris.csv")
    model = sslart.load(file)
    assert main(["explain", str(file), "--global"]) == 0
    assert capsys.readouterr().out == f"{model.feature_importances()}\n"
    assert main(["explain", str(file), table, "--global", "--json"]) == 0
    expected = model.feature_importances(load_iris(as_frame=True).data).to_dict()
    assert json.loads(capsys.readouterr().out) == expected


@pytest.mark.parametrize("options", [[], ["iris.csv"], ["--row", "1"], ["iris.csv", "--row", "1", "--global"]])
def test_one_row_and_all_rows_are_told_apart(options: list[str], capsys: Captured) -> None:
    assert main(["explain", "model.sslart", *options]) == 1
    error = capsys.readouterr().err
    assert "--row" in error
    assert "--global" in error


def test_a_model_that_predicts_by_single_boxes_has_no_importances(tmp_path: Path, capsys: Captured) -> None:
    table, file = str(iris(tmp_path)), str(tmp_path / "boxes.sslart")
    assert main(["fit", table, "--label", "species", "--id", "flower", "--mapping", "one-to-many", "--out", file]) == 0
    assert "most important" not in capsys.readouterr().out
    assert main(["explain", file, "--global"]) == 1
    assert "--mapping evidence" in capsys.readouterr().err
