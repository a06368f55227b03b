"""`--group` names a column whose rows are held out together; every command that learns knows it from the model."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import sslart
from sslart._mapping.model_view import view_of
from sslart.cli import main
from tables import write

Captured = pytest.CaptureFixture[str]


def wine(folder: Path, name: str = "wine.csv", *, noise: bool = False) -> Path:
    """Write wine from 30 cellars; with noise, each cellar has one class, and no wine tells which."""
    frame = load_wine(as_frame=True).frame.sample(frac=1, random_state=0, ignore_index=True)
    cellar = np.arange(178) % 30
    kinds = np.random.RandomState(0).randint(3, size=30)[cellar] if noise else frame["target"]
    frame["target"] = np.array(["a", "b", "c"])[kinds]
    frame.insert(3, "cellar", [f"C{one:02d}" for one in cellar])
    return write(frame, folder / name)


def fit(data: Path, capsys: Captured, *options: str) -> dict[str, object]:
    capsys.readouterr()
    arguments = ["fit", str(data), "--label", "target", "--out", str(data.with_suffix(".sslart")), "--json"]
    assert main([*arguments, *options]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_the_group_is_no_feature_and_is_passed_on(tmp_path: Path, capsys: Captured) -> None:
    data = wine(tmp_path)
    found = fit(data, capsys, "--group", "cellar")
    frame = pd.read_csv(data)
    samples = frame.drop(columns=["target", "cellar"])
    expected = sslart.AutoSSLART(random_state=0).fit(samples, frame["target"], groups=frame["cellar"])
    model = sslart.load(data.with_suffix(".sslart"))
    assert model.feature_names_in_.tolist() == samples.columns.tolist()
    assert (model.predict_proba(samples) == expected.predict_proba(samples)).all()
    assert found["quality"]["how"] == "leave-one-group-out"
    assert found["quality"]["together"] == {"kind": "given", "n_labels": 178, "n_groups": 30}


@pytest.mark.slow
def test_the_table_of_columns_names_it_with_its_number_of_groups(tmp_path: Path, capsys: Captured) -> None:
    data = wine(tmp_path)
    assert main(["fit", str(data), "--label", "target", "--group", "cellar", "--out", str(tmp_path / "m.sslart")]) == 0
    printed = capsys.readouterr().out
    (line,) = (line for line in printed.splitlines() if line.startswith("cellar"))
    assert line.split() == ["cellar", "group", "0", "30", "groups,", "30", "with", "labels"]
    assert "left out together" in printed


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), marks=pytest.mark.slow),
        ("--mapping", "one-to-many"),
        ("--mapping", "one-to-one", "--members", "3"),
    ],
)
def test_groups_that_have_one_class_do_not_raise_the_claim(
    tmp_path: Path, capsys: Captured, options: tuple[str, ...]
) -> None:
    data = wine(tmp_path, noise=True)
    accuracy = fit(data, capsys, "--group", "cellar", *options)["quality"]["accuracy"]
    assert isinstance(accuracy, dict)
    assert accuracy["total"] == 30
    assert accuracy["value"] < 0.62


def test_copies_of_a_row_are_held_out_together(tmp_path: Path, capsys: Captured) -> None:
    random = np.random.RandomState(0)
    frame = pd.DataFrame(random.rand(60, 4), columns=list("wxyz")).assign(target=random.choice(["a", "b"], 60))
    data = write(pd.concat([frame] * 3), tmp_path / "thrice.csv")
    found = fit(data, capsys, "--mapping", "one-to-one")
    assert isinstance(found["quality"]["accuracy"], dict)
    assert found["quality"]["accuracy"]["total"] == 60
    assert found["quality"]["accuracy"]["value"] < 0.75
    assert found["quality"]["together"] == {"kind": "copies", "n_labels": 180, "n_groups": 60}


@pytest.mark.slow
def test_update_and_watch_know_the_column(tmp_path: Path, capsys: Captured) -> None:
    frame = pd.read_csv(wine(tmp_path))
    first = write(frame[:90], tmp_path / "first.csv")
    fit(first, capsys, "--group", "cellar")
    model = str(first.with_suffix(".sslart"))
    assert main(["update", model, str(write(frame[90:140], tmp_path / "second.csv")), "--label", "target"]) == 0
    assert main(["watch", model, str(write(frame[140:], tmp_path / "third.csv")), "--label", "target", "--quiet"]) == 0
    left_out = view_of(sslart.load(model)).left_out
    assert left_out is not None
    assert left_out.kind == "given"
    assert len(np.unique(left_out.groups)) == 30
    assert len(left_out.groups) == 178
    assert main(["predict", model, str(tmp_path / "third.csv"), "--out", str(tmp_path / "p.csv")]) == 0


def test_label_passes_the_group_of_a_row_on(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = pd.read_csv(wine(tmp_path))
    frame.loc[60:, "target"] = None
    data = write(frame, tmp_path / "few.csv")
    fit(data, capsys, "--group", "cellar")
    model = str(data.with_suffix(".sslart"))
    monkeypatch.setattr("sys.stdin", io.StringIO("a\na\nq\n"))
    assert main(["label", model, str(data), "--label", "target"]) == 0
    left_out = view_of(sslart.load(model)).left_out
    assert left_out is not None
    assert len(left_out.groups) == 62
    assert len(np.unique(left_out.groups)) == 30


def test_a_labelled_row_without_a_group_is_named(tmp_path: Path, capsys: Captured) -> None:
    data = wine(tmp_path)
    frame = pd.read_csv(data)
    frame.loc[4:5, "cellar"] = None
    write(frame, data)
    assert main(["fit", str(data), "--label", "target", "--group", "cellar", "--out", str(tmp_path / "m")]) == 1
    assert "blank in 2 labelled row(s); the first is row 5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--group", "vineyard"], "has no column 'vineyard'"),
        (["--group", "target"], "cannot be the label"),
        (["--group", "cellar", "--ignore", "cellar"], "name it once"),
        (["--group", "cellar", "--id", "cellar"], "name it once"),
    ],
)
def test_columns_that_cannot_be_the_group_are_refused(
    tmp_path: Path, capsys: Captured, options: list[str], words: str
) -> None:
    assert main(["fit", str(wine(tmp_path)), "--label", "target", *options]) == 1
    assert words in capsys.readouterr().err


def test_few_large_groups_are_not_measured_and_the_reason_is_given(tmp_path: Path, capsys: Captured) -> None:
    frame = pd.read_csv(wine(tmp_path))
    frame["cellar"] = frame["target"]
    data = write(frame, tmp_path / "large.csv")
    for options in ((), ("--mapping", "one-to-many")):
        found = fit(data, capsys, "--group", "cellar", *options)
        assert found["quality"]["accuracy"] is None
        assert found["quality"]["why_not"]
