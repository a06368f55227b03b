"""`sslart fit` with columns that tell how rows were labelled, and which are set aside as an audit."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import sslart
from sslart.cli import main

Captured = pytest.CaptureFixture[str]
IRIS = load_iris(as_frame=True)
NAMES = IRIS.target_names[IRIS.target]
NUMBER = np.arange(len(NAMES))


def written(path: Path, **columns: Any) -> str:
    """Write the table with some labels and further columns."""
    labels = np.where(NUMBER % 3 > 0, NAMES, "")
    pd.DataFrame(IRIS.data).assign(species=labels, **columns).to_csv(path, index=False)
    return str(path)


def fitted(path: Path, capsys: Captured, *options: str, **columns: Any) -> tuple[Any, dict[str, Any]]:
    """Return the model of `sslart fit`, and what it prints as JSON."""
    data, out = written(path / "iris.csv", **columns), str(path / "model.sslart")
    assert main(["fit", data, "--label", "species", "--out", out, "--json", *options]) == 0
    return sslart.load(out), json.loads(capsys.readouterr().out)


def test_labels_of_chosen_rows_are_learnt_but_do_not_measure(tmp_path: Path, capsys: Captured) -> None:
    chosen = np.where(NUMBER % 2 == 0, "yes", "")
    model, printed = fitted(tmp_path, capsys, "--chosen", "chosen", chosen=chosen)
    assert "chosen" not in model.feature_names_in_
    assert (model.quality_.n_labels, model.quality_.n_chosen) == (50, 50)
    assert "50 samples drawn at random" in json.dumps(printed)


@pytest.mark.parametrize("mapping", ["evidence", "one-to-many"])
def test_rows_of_the_audit_are_never_learnt(mapping: str, tmp_path: Path, capsys: Captured) -> None:
    aside = NUMBER % 5 == 3
    options = ["--audit", "aside", "--mapping", mapping]
    model, printed = fitted(tmp_path, capsys, *options, aside=np.where(aside, "yes", ""))
    assert "aside" not in model.feature_names_in_
    n_labelled = int((aside & (NUMBER % 3 > 0)).sum())
    assert model.quality_.n_labels == n_labelled
    assert f"on an audit of {n_labelled} samples, never learnt" in json.dumps(printed)
    rows = aside & (NUMBER % 3 > 0)
    assert model.quality_.accuracy.value == pytest.approx(model.score(IRIS.data[rows], NAMES[rows]))
    assert model.support_.sum() == (~aside).sum()
    updated = ["update", str(tmp_path / "model.sslart"), str(tmp_path / "iris.csv"), "--label", "species"]
    assert main(updated) == 0
    assert sslart.load(tmp_path / "model.sslart").support_.sum() == (~aside).sum()


def test_a_column_that_is_not_there_is_named(tmp_path: Path, capsys: Captured) -> None:
    data = written(tmp_path / "iris.csv")
    assert main(["fit", data, "--label", "species", "--audit", "aside", "--out", str(tmp_path / "m.sslart")]) == 1
    assert "aside" in capsys.readouterr().err
