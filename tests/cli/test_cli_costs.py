"""`sslart fit --cost` and `sslart predict --cost` decide as the library does with decision_costs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer

import sslart
from sslart.cli import main
from sslart.cli._options import read_costs

Captured = pytest.CaptureFixture[str]
SAMPLES = load_breast_cancer(as_frame=True).data.iloc[:240, :5]
LABELS = np.array(["ill", "healthy"], dtype=object)[load_breast_cancer().target[:240]]
ILL_MISSED = {("ill", "healthy"): 20.0}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.csv"
    SAMPLES.assign(label=np.where(np.arange(240) % 4 == 0, LABELS, None)).to_csv(path, index=False)
    return path


def model_of(data: Path, *options: str) -> Path:
    out = data.with_name("model.sslart")
    assert main(["fit", str(data), "--label", "label", "--out", str(out), *options]) == 0
    return out


def predicted(data: Path, model: Path, *options: str) -> pd.DataFrame:
    out = data.with_name("out.csv")
    assert main(["predict", str(model), str(data), "--out", str(out), "--quiet", *options]) == 0
    return pd.read_csv(out)


@pytest.mark.parametrize("kind", [[], ["--mapping", "one-to-many"], ["--members", "2"]], ids=str)
def test_costs_reach_the_model_and_its_predictions(data: Path, kind: list[str], capsys: Captured) -> None:
    model = model_of(data, *kind, "--cost", "ill:healthy=20")
    assert "the class with the lowest expected cost" in capsys.readouterr().out
    loaded = sslart.load(model)
    assert loaded.decision_costs == ILL_MISSED
    rows = predicted(data, model)
    assert rows["class"].tolist() == loaded.predict(SAMPLES).tolist()
    own = (loaded.classes_ == rows["class"].to_numpy()[:, None]).argmax(axis=1)
    np.testing.assert_allclose(rows["probability"], loaded.predict_proba(SAMPLES)[np.arange(240), own], atol=1e-6)


def test_costs_of_predict_take_the_place_of_those_of_the_model(data: Path) -> None:
    model = model_of(data, "--cost", "healthy:ill=20", "--quiet")
    for option, costs in (("ill:healthy=20", ILL_MISSED), ("balanced", "balanced")):
        expected = sslart.load(model).set_params(decision_costs=costs).predict(SAMPLES).tolist()
        assert predicted(data, model, "--cost", option)["class"].tolist() == expected


def test_json_has_the_costs_as_they_were_given(data: Path, capsys: Captured) -> None:
    model_of(data, "--cost", "ill:healthy=20", "--cost", "healthy:ill=0.5", "--json")
    assert json.loads(capsys.readouterr().out)["settings"]["decision_costs"] == ["ill:healthy=20", "healthy:ill=0.5"]


def test_explanations_of_the_command_line_name_the_costs(data: Path, capsys: Captured) -> None:
    model = model_of(data, "--cost", "ill:healthy=20", "--quiet")
    assert main(["explain", str(model), str(data), "--row", "3"]) == 0
    assert "It has the lowest expected cost: " in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["ill:healthy"], "does not end with = and a number"),
        (["ill:healthy=much"], "does not end with = and a number"),
        (["ill:healthy=inf"], "does not end with = and a number"),
        (["ill:well=2"], r"does not name two classes separated by a colon.* The classes are healthy, ill"),
        (["ill=2"], "does not name two classes separated by a colon"),
        (["ill:healthy=2", "ill:healthy=3"], "the cost of this pair of classes is given twice"),
        (["balanced", "ill:healthy=3"], "--cost balanced sets all costs"),
    ],
)
def test_what_cannot_be_read_is_refused_with_the_cure(options: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_costs(options, ["healthy", "ill"])


def test_names_of_classes_may_hold_colons_and_equals_signs() -> None:
    assert read_costs(["a:b:c=d=2"], ["a:b", "c=d"]) == {("a:b", "c=d"): 2.0}
    assert read_costs(["1:0=2.5"], [0, 1]) == {(1, 0): 2.5}
    with pytest.raises(ValueError, match="can be read as several pairs of classes"):
        read_costs(["a:b:c=2"], ["a", "b:c", "a:b", "c"])
