"""`sslart explain` and `sslart what-if` explain one row, and offer changes of it, as the library does."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart import SSLART
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


def what_if(model: Path, table: Path, *options: str) -> int:
    return main(["what-if", str(model), str(table), *options])


def test_the_changes_are_those_of_the_library(tmp_path: Path, capsys: Captured) -> None:
    model, X = iris_model(tmp_path), load_iris(as_frame=True).data
    assert what_if(model, tmp_path / "iris.csv", "--row", "70") == 0
    assert capsys.readouterr().out == f"{sslart.load(model).counterfactual(X.iloc[69])}\n"
    limits = ["--range", "petal width (cm)=1:2", "--range", "sepal width (cm)=:4", "--fixed", "petal length (cm)"]
    assert what_if(model, tmp_path / "iris.csv", "--row", "1", "--target", "versicolor", "--n", "2", *limits) == 0
    ranges = {"petal width (cm)": (1, 2), "sepal width (cm)": (None, 4)}
    wanted = sslart.load(model).counterfactual(X.iloc[0], "versicolor", ["petal length (cm)"], ranges, 2)
    assert capsys.readouterr().out == f"{wanted}\n"
    assert len(wanted) == 2


def test_categories_are_limited_and_programs_can_read_it(tmp_path: Path, capsys: Captured) -> None:
    model, table = mixed_model(tmp_path), tmp_path / "mixed.csv"
    options = ["--row", "2", "--json", "--n", "8", "--fixed", "code,size", "--range", "colour=red,blue"]
    assert what_if(model, table, *options) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["prediction"] in ("large", "small")
    for one in found["counterfactuals"]:
        assert [(change["feature"], change["after"] in ("red", "blue")) for change in one["changes"]] == [
            ("colour", True)
        ]
    assert found["note"]
    assert what_if(model, table, "--row", "2", "--plausible") == 0
    assert "implausible" not in capsys.readouterr().out


def test_whole_numbers_as_classes_and_columns_without_names_are_understood(tmp_path: Path, capsys: Captured) -> None:
    X, y = load_iris(return_X_y=True)
    sslart.save(SSLART(random_state=0).fit(X, y), tmp_path / "plain.sslart")
    np.savetxt(tmp_path / "plain.csv", X, delimiter=",", header="a,b,c,d", comments="")
    assert (
        what_if(tmp_path / "plain.sslart", tmp_path / "plain.csv", "--row", "1", "--target", "1", "--fixed", "x2") == 0
    )
    out = capsys.readouterr().out
    assert "leads to 1:" in out or "lead to 1" in out
    assert " x2 " not in out.partition("\n")[2]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--row", "151"], "150 rows"),
        (["--row", "1", "--target", "tulip"], "target 'tulip' is not a class"),
        (["--row", "1", "--target", "setosa"], "already"),
        (["--row", "1", "--fixed", "petal"], "which the model has not learnt"),
        (["--row", "1", "--range", "petal=1:2"], "does not start with COLUMN="),
        (["--row", "1", "--range", "petal width (cm)=1"], "has one limit"),
        (["--row", "1", "--range", "petal width (cm)=a:b"], "not a number"),
        (["--row", "1", "--range", "petal width (cm)=90:99"], "holds no value that was learnt"),
    ],
    ids=str,
)
def test_a_mistake_is_refused_with_the_cure(options: list[str], message: str, tmp_path: Path, capsys: Captured) -> None:
    assert what_if(iris_model(tmp_path), tmp_path / "iris.csv", *options) == 1
    assert message in capsys.readouterr().err
