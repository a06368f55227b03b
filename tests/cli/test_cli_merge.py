"""`sslart merge` makes one model file of several."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main
from tables import iris_model

Captured = pytest.CaptureFixture[str]


def halves(folder: Path, *options: str) -> list[str]:
    """Fit a model to each of two halves of iris, of which one row in five has a label."""
    data, paths = load_iris(as_frame=True), []
    names = data.target_names[data.target].astype(object)
    names[[row for row in range(150) if row % 5]] = None
    frame = data.data.assign(species=names)
    for number in range(2):
        frame[frame.index // 5 % 2 == number].to_csv(folder / "part.csv", index=False)
        paths.append(str(folder / f"{number}.sslart"))
        fit = ["fit", str(folder / "part.csv"), "--label", "species", "--out", paths[-1], "--quiet", *options]
        assert main(fit) == 0
    return paths


def test_it_writes_what_the_library_makes(tmp_path: Path, capsys: Captured) -> None:
    paths, out = halves(tmp_path), tmp_path / "both.sslart"
    capsys.readouterr()
    assert main(["merge", *paths, "--out", str(out), "--json"]) == 0
    found, models = json.loads(capsys.readouterr().out), [sslart.load(path) for path in paths]
    merged = sslart.load(out)
    X = load_iris(as_frame=True).data
    assert (merged.predict_proba(X) == sslart.merge(models).predict_proba(X)).all()
    assert (found["models"], found["samples"], found["boxes"]) == (2, 150, merged.n_nodes_)
    assert found["boxes_before"] == sum(model.n_nodes_ for model in models)
    assert main(["merge", *reversed(paths), "--out", str(tmp_path / "other"), "--quiet"]) == 0
    assert (sslart.load(tmp_path / "other").lower_ == merged.lower_).all()


def test_rows_that_were_learnt_are_recognised_after_merging(tmp_path: Path, capsys: Captured) -> None:
    paths, out = halves(tmp_path, "--mapping", "one-to-many"), str(tmp_path / "both.sslart")
    assert main(["merge", *paths, "--out", out]) == 0
    printed = capsys.readouterr().out
    assert "models merged" in printed
    assert "rows learnt 150" in " ".join(printed.split())
    assert main(["update", out, str(tmp_path / "part.csv"), "--label", "species", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 0


def test_rows_learnt_by_two_models_are_noted(tmp_path: Path, capsys: Captured) -> None:
    path = str(iris_model(tmp_path))
    assert main(["merge", path, path, "--out", str(tmp_path / "twice.sslart")]) == 0
    assert "150 rows learnt by several models" in capsys.readouterr().err


def test_what_cannot_be_merged_is_named_by_its_file(tmp_path: Path, capsys: Captured) -> None:
    options = ["--mapping", "one-to-many", "--quiet"]
    paths = [*halves(tmp_path, *options)[:1], str(tmp_path / "lower.sslart")]
    table = str(tmp_path / "part.csv")
    assert main(["fit", table, "--label", "species", "--out", paths[1], "--vigilance", "0.8", *options]) == 0
    capsys.readouterr()
    out = tmp_path / "both.sslart"
    assert main(["merge", *paths, "--out", str(out)]) == 1
    assert f"vigilance is 0.9 in {paths[0]} and 0.8 in {paths[1]}" in capsys.readouterr().err
    assert not out.exists()
    assert main(["merge", *paths, "--out", paths[0]]) == 1
    assert "would be overwritten" in capsys.readouterr().err
    assert main(["merge", paths[0], "--out", "-"]) == 1
