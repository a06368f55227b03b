"""`sslart explain` explains one row as the library does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main
from tables import iris_model, mixed_model

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
