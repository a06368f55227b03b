"""`sslart report` writes the page of the library."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sslart.cli import main
from tables import iris_model, mixed_model

Captured = pytest.CaptureFixture[str]


@pytest.mark.usefixtures("plain_pictures")
def test_the_page_names_samples_and_classes(tmp_path: Path, capsys: Captured) -> None:
    model, out = iris_model(tmp_path), tmp_path / "report.html"
    options = ["--label", "species", "--id", "flower", "--learnt", "--out", str(out)]
    assert main(["report", str(model), str(tmp_path / "iris.csv"), *options]) == 0
    assert str(out) in capsys.readouterr().err
    page = out.read_text(encoding="utf-8")
    assert all(word in page for word in ("flower 5", "virginica", "Limits of this model"))


@pytest.mark.slow
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
    assert main(["report", model, data, "--out", str(tmp_path / "report.pdf")]) == 1
    assert "ends in .html" in capsys.readouterr().err


@pytest.mark.slow
def test_rows_have_the_numbers_that_explain_takes(tmp_path: Path, capsys: Captured) -> None:
    model, data, out = iris_model(tmp_path), tmp_path / "iris.csv", tmp_path / "report.html"
    header, *rows = data.read_text(encoding="utf-8").splitlines()
    blank = "," * header.count(",")
    data.write_text("\n".join([header, rows[60], blank, rows[120]]) + "\n", encoding="utf-8")
    assert main(["report", str(model), str(data), "--out", str(out), "--quiet"]) == 0
    assert "the first is row 2" in capsys.readouterr().err
    page = out.read_text(encoding="utf-8")
    assert re.findall(r'<article id="sample-(\d+)"', page) == ["1", "3"]
    assert main(["explain", str(model), str(data), "--row", "3"]) == 0
    prediction = capsys.readouterr().out.split()[1]
    article = page[page.index('<article id="sample-3"') :]
    assert f"</i>{prediction}</span>" in article[: article.index("</p>")]
