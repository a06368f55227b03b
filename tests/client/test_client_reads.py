"""Reading requests of a client agree with the model itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pandas as pd
import polars as pl
import pytest
from service import flowers, rows_of

import sslart
from sslart import SSLART
from sslart.client import Client, Prediction, Predictions, WrongRequestError
from sslart.server import serve

FLOWERS = flowers().drop(columns="species")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serve(tmp_path_factory.mktemp("store")) as service, Client(service.url) as found:
        found.fit("flowers", flowers(), label="species")
        yield found


@pytest.fixture(scope="module")
def local(client: Client) -> Any:
    return client.load("flowers")


def as_answered(value: float) -> float:
    return round(float(value), 6)


def test_predictions_are_those_of_the_loaded_model_bit_for_bit(client: Client, local: Any) -> None:
    found = client.predict("flowers", FLOWERS)
    assert found.classes == local.predict(FLOWERS).tolist()
    expected = [[as_answered(one) for one in row] for row in local.predict_proba(FLOWERS)]
    assert [list(one.probabilities.values()) for one in found] == expected
    assert [one.novelty for one in found] == [as_answered(1 - one) for one in local.score_samples(FLOWERS)]
    assert len(found) == 150
    assert isinstance(found, Predictions)
    assert isinstance(found[0], Prediction)


def test_the_loaded_model_is_the_model_of_the_service(client: Client, local: Any, tmp_path: Path) -> None:
    sslart.save(local, tmp_path / "model.sslart")
    assert (tmp_path / "model.sslart").read_bytes() == client.export("flowers")
    assert client.state("flowers").digest == client.state("flowers").digest
    assert client.state("flowers").sequence == client.predict("flowers", FLOWERS[:1]).sequence


@pytest.mark.parametrize(
    "samples",
    [
        rows_of(flowers()),
        FLOWERS,
        FLOWERS.astype(object),
        FLOWERS.astype("Float64"),
        pl.from_pandas(FLOWERS),
        [dict(zip(FLOWERS.columns, row, strict=True)) for row in FLOWERS.to_numpy()],
    ],
    ids=["dicts", "frame", "objects", "nullable", "polars", "numpy numbers"],
)
def test_samples_of_every_kind_are_predicted_alike(client: Client, samples: Any) -> None:
    assert client.predict("flowers", samples) == client.predict("flowers", FLOWERS)


def test_gaps_of_every_kind_are_missing_values(client: Client) -> None:
    expected = client.predict("flowers", [{**rows_of(flowers())[0], "petal_length": None}])
    for gap in (float("nan"), np.nan, pd.NA, pd.NaT, np.float32("nan")):
        assert client.predict("flowers", [{**rows_of(flowers())[0], "petal_length": gap}]) == expected


def test_an_array_is_predicted_by_a_model_whose_features_have_no_names(client: Client, tmp_path: Path) -> None:
    X, y = FLOWERS.to_numpy(), np.array([0, 1, 2]).repeat(50)
    model = SSLART(random_state=0).fit(X, y)
    sslart.save(model, tmp_path / "model.sslart")
    assert client.fit("plain", tmp_path / "model.sslart").state == "done"
    assert client.predict("plain", X).classes == model.predict(X).tolist()
    assert client.features("plain") == dict.fromkeys(["x0", "x1", "x2", "x3"], "number")
    with pytest.raises(WrongRequestError, match="'x0'"):
        client.predict("flowers", X)


def test_more_rows_than_one_request_holds_come_back_in_order(client: Client) -> None:
    many = pd.concat([FLOWERS] * 15, ignore_index=True)
    found, expected = client.predict("flowers", many), client.predict("flowers", FLOWERS).predictions
    assert found.predictions == expected * 15


def test_predictions_as_a_frame(client: Client) -> None:
    frame = client.predict("flowers", FLOWERS[:2], abstain_below=1.0).to_frame()
    assert list(frame) == ["class", "probability", "abstained", "novelty", "novel"]
    assert frame["class"].tolist() == [None, None]
    assert frame["abstained"].tolist() == [True, True]


def test_explanations_are_those_of_the_loaded_model(client: Client, local: Any) -> None:
    found = client.explain("flowers", FLOWERS[:120])
    expected = local.explain(FLOWERS[:120])
    assert [one.pop("text") for one in found] == [str(one) for one in expected]
    assert found == [json.loads(json.dumps(one.to_dict())) for one in expected]
    assert client.predict("flowers", FLOWERS[:1], explain=True)[0].explanation is not None


def test_contributions_rules_importances_and_changes_are_those_of_the_loaded_model(client: Client, local: Any) -> None:
    assert client.contributions("flowers", FLOWERS[:3])["values"] == local.contributions(FLOWERS[:3]).values.tolist()
    assert client.rules("flowers", max_rules=3)["text"] == local.rules(FLOWERS, max_rules=3).to_text()
    assert client.importance("flowers")["text"] == str(local.feature_importances())
    options = {"fixed": ["sepal_width"], "ranges": {"petal_length": (1, 5)}, "n": 2}
    expected = local.counterfactual(FLOWERS[:1], "versicolor", **options)
    assert client.counterfactual("flowers", rows_of(flowers())[0], "versicolor", **options)["text"] == str(expected)
    assert client.drift("flowers") == []


def test_a_model_is_described(client: Client) -> None:
    found = client.model("flowers")
    assert (found["rows"], found["classes"]) == (150, ["setosa", "versicolor", "virginica"])
    assert "flowers" in [one["name"] for one in client.models()]
    assert client.features("flowers") == dict.fromkeys(FLOWERS.columns, "number")


@pytest.mark.slow
def test_exports_for_other_programs(client: Client) -> None:
    assert onnx.load_model_from_string(client.export("flowers", "onnx")).graph.node
    assert client.export("flowers", "report").startswith(b"<!doctype html>")


@pytest.mark.parametrize(
    ("samples", "problem"),
    [
        ([], "No rows given"),
        ({"sepal_length": 1}, "a list of dicts"),
        ("rows", "a list of dicts"),
        ([[1, 2, 3, 4]], "a list of dicts"),
        (np.zeros(4), "1 dimensions"),
        ([{"sepal_length": float("inf")}], "Row 0 has infinity in 'sepal_length'"),
        (FLOWERS.iloc[:1, [0, 0]], "two columns with the same name"),
    ],
)
def test_samples_that_are_none_are_refused_with_the_cure(client: Client, samples: Any, problem: str) -> None:
    with pytest.raises((ValueError, TypeError), match=problem):
        client.predict("flowers", samples)


def test_studies_are_those_of_the_service(client: Client, tmp_path: Path) -> None:
    assert [one["name"] for one in client.columns("flowers")["columns"]] == [*FLOWERS.columns, "species"]
    found = client.trust("flowers", group="petal_width")
    assert found["accuracy"] == client.model("flowers")["summary"]["accuracy"]
    assert found["groups"]["column"] == "petal_width"
    assert client.dependence("flowers", "petal_width")["n_samples"] == 150
    assert client.similar("flowers", FLOWERS.iloc[5].to_dict(), n=1)["cases"][0]["row"] == 5
    rule = client.rules("flowers")["rules"][0]
    assert client.cover("flowers", rule["conditions"], label=rule["label"], n=3)["n_rows"] >= 3
    assert "nothing is kept" in client.trial("flowers", {0: "virginica", 1: None})["text"]
    assert b"CASE" in client.export("flowers", "rules_sql")


def test_a_table_is_watched_once(client: Client) -> None:
    client.fit("watched", flowers(), label="species")
    assert client.watch("watched")["n_rows"] == 0
    found = client.watch_table("watched", FLOWERS, key="monday")
    again = client.watch_table("watched", FLOWERS, key="monday")
    assert [(one["first"], one["last"]) for one in (found, again)] == [(150, 299), (150, 299)]
    assert client.watch("watched", last=10)["n_rows"] == 10
