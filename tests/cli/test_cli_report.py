"""`sslart report` writes the page of the library."""

from __future__ import annotations

from pathlib import Path

import pytest

from sslart.cli import main
from tables import iris_model, mixed_model

Captured = pytest.CaptureFixture[str]


def test_the_page_names_samples_and_classes(tmp_path: Path, capsys: Captured) -> None:
    model, out = iris_model(tmp_path), tmp_path / "report.html"
    options = ["--label", "species", "--id", "flower", "--learnt", "--out", str(out)]
    assert main(["report", str(model), str(tmp_path / "iris.csv"), *options]) == 0
    assert str(out) in capsys.readouterr().err
    page = out.read_text(encoding="utf-8")
    assert all(word in page for word in ("flower 5", "virginica", "Limits of this model"))


def test_a_page_on_categories_and_gaps(tmp_path: Path) -> None:
    model, out = mixed_model(tmp_path), tmp_path / "report.html"
    data = str(tmp_path / "mixed.csv")
    assert main(["report", str(model), data, "--label", "kind", "--out", str(out), "--quiet"]) == 0
    assert "colour" in out.read_text(encoding="utf-8")


def test_errors_name_cause_and_cure(tmp_path: Path, capsys: Captured) -> None:
    model, data = str(iris_model(tmp_path)), str(tmp_path / "iris.csv")
    assert main(["report", model, data, "--label", "kind"]) == 1
    assert "no column 'kind'" in capsys.readouterr().err
    assert main(["report", model, data, "--out", str(tmp_path)]) == 1
    assert "is a folder" in capsys.readouterr().err
