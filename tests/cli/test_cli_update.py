"""`sslart update` goes on learning as `partial_fit` does, and replaces the model whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart._mapping.model_view import view_of
from sslart.cli import main
from tables import fitted, iris, iris_model, mixed_model

Captured = pytest.CaptureFixture[str]

HALF_LIFE = ["--half-life", "20"]


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


@pytest.mark.parametrize("given_to", ["fit", "update"])
def test_a_half_life_is_kept_and_forgets(given_to: str, tmp_path: Path) -> None:
    data = iris(tmp_path)
    path = fitted(data, "--label", "species", "--mapping", "one-to-many", *HALF_LIFE[: 2 * (given_to == "fit")])
    expected, table = sslart.load(path), load_iris(as_frame=True)
    more = HALF_LIFE[: 2 * (given_to == "update")]
    assert main(["update", str(path), str(data), "--label", "species", "--again", "--quiet", *more]) == 0
    model = sslart.load(path)
    assert model.half_life == 20
    labels = pd.read_csv(data)["species"].astype(object)
    expected.set_params(half_life=20).partial_fit(table.data, labels.where(labels.notna(), None))
    assert model.counts_.tolist() == expected.counts_.tolist()
    assert model.support_.sum() < 40


@pytest.mark.slow
def test_it_shows_how_the_accuracy_has_changed(tmp_path: Path, capsys: Captured) -> None:
    """Right labels change little where all is known; wrong ones make the model worse, beyond chance."""
    data, path = load_iris(as_frame=True), iris_model(tmp_path)
    names = data.target_names[data.target]
    model, new = path.read_bytes(), tmp_path / "new.csv"
    found, words = [], []
    for labels in (names[1::5], np.random.default_rng(0).permutation(names)[1::5]):
        path.write_bytes(model)
        data.data[1::5].assign(species=labels).to_csv(new, index=False)
        before = view_of(sslart.load(path)).quality.accuracy
        assert (
            main(["update", str(path), str(new), "--label", "species", "--out", str(tmp_path / "other"), "--json"]) == 0
        )
        found.append(json.loads(capsys.readouterr().out))
        assert main(["update", str(path), str(new), "--label", "species"]) == 0
        printed = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines() if "  " in line)
        after = view_of(sslart.load(path)).quality.accuracy
        assert before is not None
        assert after is not None
        assert found[-1]["quality_before"]["accuracy"] == vars(before)
        assert found[-1]["quality"]["accuracy"] == vars(after)
        assert printed["accuracy before"].strip().startswith(str(before))
        assert printed["accuracy"].strip().startswith(str(after))
        assert f"{100 * found[-1]['change']['value']:+.1f} points" in printed["change"]
        words.append(printed["change"].rpartition(": ")[2].strip())
    assert words == ["no clear change (the interval includes 0)", "the accuracy is lower than before"]
    assert found[0]["change"]["low"] <= 0 <= found[0]["change"]["high"]
    assert found[1]["change"]["high"] < 0


def test_without_an_accuracy_the_reason_is_shown(tmp_path: Path, capsys: Captured) -> None:
    path = fitted(iris(tmp_path), "--label", "species", "--id", "flower", "--mapping", "one-to-many")
    assert main(["update", str(path), str(tmp_path / "iris.csv"), "--label", "species", "--again"]) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("accuracy before "))
    assert "not measured: the model keeps no labelled samples" in line


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
