"""`sslart watch` prints drifts as lines of JSON between the predictions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sslart import SSLART, save
from sslart.cli import main


def rows(n: int) -> pd.DataFrame:
    random = np.random.default_rng(0)
    centres, own = random.random((12, 3)), random.integers(12, size=n)
    frame = pd.DataFrame(centres[own] + random.normal(scale=0.04, size=(n, 3)), columns=["heat", "flow", "noise"])
    return frame.assign(state=np.array(["good", "worn", "old"])[own % 3])


@pytest.mark.parametrize("learn", ["familiar", "none"])
def test_watch_prints_a_drift_with_the_row_and_the_features_that_moved(
    learn: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, data, frame = tmp_path / "model.sslart", tmp_path / "rows.csv", rows(1000)
    save(SSLART(vigilance=0.8, random_state=0).fit(frame[["heat", "flow", "noise"]], frame["state"]), model)
    frame.loc[500:, "flow"] += 2
    text = frame.to_csv(index=False).splitlines()
    text.insert(100, "bad")
    data.write_text("\n".join(text))
    assert main(["watch", str(model), str(data), "--label", "state", "--learn", learn]) == 0
    output = capsys.readouterr()
    lines = [json.loads(line) for line in output.out.splitlines()]
    drifts = [line["drift"] for line in lines if "drift" in line]
    assert [line["row"] for line in lines if "row" in line] == [n for n in range(1, 1002) if n != 100]
    first = next(drift for drift in drifts if drift["kind"] == "novelty")
    assert 501 < first["row"] <= 501 + 96
    assert abs(first["since"] - 502) <= 32
    assert first["before"] < 0.2 < first["after"]
    assert [feature["name"] for feature in first["features"]] == ["flow"]
    assert first["description"].startswith(f"Since row {first['since']} rows fit the model worse")
    assert f"{len(drifts)} drift" in output.err
    assert lines.index({"drift": first}) > [line.get("row") for line in lines].index(first["row"])
