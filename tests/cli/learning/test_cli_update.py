"""`sslart update` goes on learning as `partial_fit` does, and replaces the model whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main
from tables import iris_model, mixed_model

Captured = pytest.CaptureFixture[str]


def test_it_learns_what_the_library_learns(tmp_path: Path, capsys: Captured) -> None:
    path = iris_model(tmp_path)
    expected, data = sslart.load(path), load_iris(as_frame=True)
    y = data.target_names[data.target]
    new = tmp_path / "new.csv"
    data.data.assign(species=y)[1::5].to_csv(new, index=False)
    assert main(["update", str(path), str(new), "--label", "species", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["samples"], summary["labelled"], summary["new_classes"]) == (30, 30, [])
    expected.partial_fit(data.data[1::5], y[1::5])
    assert (sslart.load(path).predict_proba(data.data) == expected.predict_proba(data.data)).all()


def test_new_classes_and_categories_come_in(tmp_path: Path, capsys: Captured) -> None:
    path, new = mixed_model(tmp_path), tmp_path / "new.csv"
    new.write_text("kind,code,colour,size\nhuge,9,green,50\n,1,red,\nhuge,9,green,51\n")
    assert main(["update", str(path), str(new), "--label", "kind"]) == 0
    assert "huge" in capsys.readouterr().out
    assert main(["predict", str(path), str(new)]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith("huge,")


@pytest.mark.parametrize(("cells", "features"), [(("a", "b"), ["x", "k=a", "k=b"]), (("3.5", "4"), ["x", "k"])])
def test_a_column_without_a_value_so_far_becomes_what_the_table_has(
    cells: tuple[str, str], features: list[str], tmp_path: Path
) -> None:
    path, new = tmp_path / "model.sslart", tmp_path / "new.csv"
    empty = pd.DataFrame({"x": [0.1, 0.5], "k": pd.Series([None, None], dtype=object)})
    sslart.save(sslart.SSLART(bounds=(0, 1)).partial_fit(empty, ["no", "yes"]), path)
    new.write_text(f"x,k,y\n0.2,{cells[0]},no\n0.9,{cells[1]},yes\n")
    assert main(["predict", str(path), str(new)]) == 0
    assert main(["update", str(path), str(new), "--label", "y"]) == 0
    assert sslart.load(path).coded_feature_names_ == features


def test_without_labels_boxes_still_grow(tmp_path: Path) -> None:
    path, new, out = mixed_model(tmp_path), tmp_path / "new.csv", tmp_path / "other.sslart"
    before = path.read_bytes()
    new.write_text("size,colour,code\n40,red,1\n")
    assert main(["update", str(path), str(new), "--out", str(out), "--quiet"]) == 0
    assert path.read_bytes() == before
    assert sslart.load(out).n_nodes_ == sslart.load(path).n_nodes_ + 1


def test_a_failure_leaves_the_model_as_it_was(tmp_path: Path, capsys: Captured) -> None:
    path, new = mixed_model(tmp_path), tmp_path / "new.csv"
    before = path.read_bytes()
    new.write_text("size,colour,code,kind\n1,red,1,small\nbig,red,1,large\n")
    assert main(["update", str(path), str(new), "--label", "kind"]) == 1
    assert "'big' in row 2" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mixed.csv", "mixed.sslart", "new.csv"]


def test_labels_are_of_the_kind_that_the_model_knows(tmp_path: Path, capsys: Captured) -> None:
    path, new = tmp_path / "model.sslart", tmp_path / "new.csv"
    sslart.save(sslart.SSLART(random_state=0).fit([[0, 0], [1, 1]], [3, 4]), path)
    new.write_text("a,b,kind\n0,1,5\n1,0,\n")
    assert main(["update", str(path), str(new), "--label", "kind"]) == 0
    assert sslart.load(path).classes_.tolist() == [3, 4, 5]
    new.write_text("a,b,kind\n0,1,five\n")
    assert main(["update", str(path), str(new), "--label", "kind"]) == 1
    assert "not of the kind" in capsys.readouterr().err
