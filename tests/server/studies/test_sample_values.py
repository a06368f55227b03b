"""All samples of a model over HTTP: values for a map, boxes and searches agree with the model and with each other."""

from __future__ import annotations

import io
import json
from typing import Any
from urllib.parse import unquote

import httpx
import numpy as np
import pandas as pd
import pytest
from service import application, fit_flowers, flowers, rows_of

import sslart
from sslart.server.studies import _boxes

PATH = "/v1/models/flowers"
QUANTITIES = ("row", "position", "class", "probability", "novelty", "novel", "disagreement", "label", "box")


def values(client: httpx.Client, quantity: str, path: str = PATH, **params: Any) -> Any:
    answer = client.get(f"{path}/values/{quantity}", params=params)
    assert answer.status_code == 200, answer.text
    return np.load(io.BytesIO(answer.content), allow_pickle=False)


def search(client: httpx.Client, path: str = PATH, **body: Any) -> dict[str, Any]:
    answer = client.post(f"{path}/search", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def loaded_model(client: httpx.Client, path: str, folder: Any) -> Any:
    file = folder / "model.sslart"
    file.write_bytes(client.get(f"{path}/export").content)
    return sslart.load(file)


def choice_of_boxes(model: Any, X: pd.DataFrame) -> Any:
    """Return the choice of each box for each sample by its definition: |I and w| / (alpha + |w|)."""
    low, span = X.min().to_numpy(), (X.max() - X.min()).to_numpy()
    samples, lower, upper = ((one - low) / span for one in (X.to_numpy(), model.lower_, model.upper_))
    coded, weights = np.hstack([samples, 1 - samples]), np.hstack([lower, 1 - upper])
    return np.minimum(coded[:, None], weights).sum(axis=2) / (1e-3 + weights.sum(axis=1))


def test_values_are_those_that_the_model_predicts(client: httpx.Client, tmp_path: Any) -> None:
    model, X = loaded_model(client, PATH, tmp_path), flowers().drop(columns="species")
    proba = model.predict_proba(X)
    assert np.array_equal(model.classes_[values(client, "class")], model.predict(X))
    assert np.allclose(values(client, "probability"), proba.max(axis=1), atol=1e-6)
    assert np.allclose(values(client, "novelty"), 1 - model.score_samples(X), atol=1e-6)
    assert np.array_equal(values(client, "novel").astype(bool), model.is_novel(X))
    choice = choice_of_boxes(model, X)
    assert np.allclose(choice[np.arange(150), values(client, "box")], choice.max(axis=1), atol=1e-6)
    ordered = np.sort(proba, axis=1)
    unlabelled = values(client, "label") < 0
    expected = 1 - ordered[:, -1] + ordered[:, -2]
    assert np.allclose(values(client, "disagreement")[unlabelled], expected[unlabelled], atol=1e-6)


def test_every_quantity_has_a_value_for_every_sample(client: httpx.Client) -> None:
    answer = client.get(f"{PATH}/samples").json()
    assert answer["n"] == 150
    assert answer["classes"] == ["setosa", "versicolor", "virginica"]
    for quantity in QUANTITIES:
        assert len(values(client, quantity)) == 150
    positions = values(client, "position")
    assert positions.shape == (150, 2)
    assert positions.min() == 0
    assert positions.max() == 1
    for feature in answer["features"]:
        found = values(client, "feature", name=feature["name"])
        assert np.allclose(found, flowers()[feature["name"]], atol=1e-6)
        assert (feature["low"], feature["high"]) == (flowers()[feature["name"]].min(), flowers()[feature["name"]].max())


def test_labels_are_indices_of_the_classes_in_the_header(client: httpx.Client) -> None:
    answer = client.get(f"{PATH}/values/label")
    classes = json.loads(unquote(answer.headers["x-sslart-classes"]))
    found = np.load(io.BytesIO(answer.content))
    given = flowers()["species"]
    assert [None if index < 0 else classes[index] for index in found] == [
        None if pd.isna(one) else one for one in given
    ]


def test_boxes_hold_their_samples(client: httpx.Client) -> None:
    of, at = values(client, "box"), values(client, "position").astype(float)
    boxes = client.get(f"{PATH}/boxes").json()["boxes"]
    assert sum(box["n"] for box in boxes) == 150
    for box in boxes:
        own = at[of == box["box"]]
        assert len(own) == box["n"]
        assert np.allclose([box["x"], box["y"]], np.column_stack([own.min(axis=0), own.max(axis=0)]))
    by_features = client.get(f"{PATH}/boxes", params={"x": "petal_length", "y": "petal_width"}).json()["boxes"]
    frame = flowers()[["petal_length", "petal_width"]].to_numpy()
    for box in by_features:
        own = frame[of == box["box"]]
        assert np.allclose([box["x"], box["y"]], np.column_stack([own.min(axis=0), own.max(axis=0)]), atol=1e-6)


def test_a_box_is_described_by_what_is_in_it(client: httpx.Client) -> None:
    of = values(client, "box")
    largest = int(np.bincount(of).argmax())
    found = client.get(f"{PATH}/boxes/{largest}").json()
    assert found["rows"] == np.flatnonzero(of == largest).tolist()
    own = flowers().iloc[found["rows"]]
    texts = {one["feature"]: one["text"] for one in found["conditions"]}
    assert texts["petal_width"] == f"{own.petal_width.min():g} to {own.petal_width.max():g}"
    assert sum(found["labels"].values()) == found["n_labelled"] == own.species.notna().sum()
    assert client.get(f"{PATH}/boxes/100000").status_code == 422


CONDITIONS: list[tuple[dict[str, Any], Any]] = [
    ({}, lambda frame: frame.index >= 0),
    ({"label": ["setosa"]}, lambda frame: frame.label == "setosa"),
    ({"label": [None]}, lambda frame: frame.label.isna()),
    ({"predicted": ["virginica"]}, lambda frame: frame["class"] == "virginica"),
    ({"predicted": ["virginica"], "label": [None]}, lambda frame: (frame["class"] == "virginica") & frame.label.isna()),
    ({"disagrees": True}, lambda frame: frame.label.notna() & (frame.label != frame["class"])),
    ({"novel": True}, lambda frame: frame.novel),
    ({"probability": [0.2, 0.9]}, lambda frame: frame.probability.between(0.2, 0.9)),
    ({"cells": {"petal_width": [0.3, 1.5]}}, lambda frame: frame.petal_width.between(0.3, 1.5)),
    ({"cells": {"petal_width": [None, 0.3]}}, lambda frame: frame.petal_width <= 0.3),
    ({"rows": [3, 5, 7, 100_000]}, lambda frame: frame.index.isin([3, 5, 7])),
    ({"box": 0}, lambda frame: frame.box == 0),
]


@pytest.mark.parametrize(("body", "expected"), CONDITIONS, ids=[json.dumps(one) for one, _ in CONDITIONS])
def test_a_search_finds_the_samples_that_meet_all_conditions(client: httpx.Client, body: Any, expected: Any) -> None:
    every = search(client, limit=1000)["rows"]
    frame = pd.DataFrame([{**one, **{key: float(cell) for key, cell in one["cells"].items()}} for one in every])
    frame = frame.set_index("row")
    wanted = frame.index[expected(frame)].tolist()
    found = search(client, **body, numbers=True, limit=1000)
    assert found["numbers"] == [one["row"] for one in found["rows"]] == wanted
    assert found["total"] == len(wanted)


@pytest.mark.parametrize("sort", ["row", "probability", "novelty", "petal_width"])
@pytest.mark.parametrize("descending", [False, True])
def test_pages_of_a_search_are_in_order_and_have_every_sample_once(
    client: httpx.Client, sort: str, descending: bool
) -> None:
    pages = [search(client, sort=sort, descending=descending, offset=start, limit=40) for start in range(0, 160, 40)]
    rows = [one for page in pages for one in page["rows"]]
    assert sorted(one["row"] for one in rows) == list(range(150))
    keys = [float(one["cells"].get(sort, one.get(sort))) for one in rows]
    assert keys == sorted(keys, reverse=descending)


def test_new_rows_are_among_the_samples(client: httpx.Client) -> None:
    fit_flowers(client, "more")
    path = "/v1/models/more"
    assert len(values(client, "class", path)) == 150
    far = dict.fromkeys(rows_of(flowers())[0], 400.0)
    rows = client.post(f"{path}/decide", json={"rows": [far, rows_of(flowers())[0]]}).json()["predictions"]
    assert values(client, "row", path)[-2:].tolist() == [one["row"] for one in rows] == [150, 151]
    assert values(client, "novel", path)[-2:].tolist() == [1, 0]
    assert search(client, path, novel=True, sort="novelty", descending=True)["rows"][0]["row"] == 150
    client.delete(path)


def odd_table() -> pd.DataFrame:
    """Return a table with categories, dates, gaps, a constant, an id, free text, a blank row, and hostile text."""
    n = 60
    frame = pd.DataFrame(
        {
            "kind": ["<b>x</b>", 'say "hi", you', "=1+1"] * (n // 3),
            "size": np.where(np.arange(n) % 7 == 0, np.nan, np.arange(n) % 5 + 0.5),
            "when": pd.date_range("2024-01-01", periods=n).strftime("%Y-%m-%d"),
            "same": ["one"] * n,
            "id": [f"patient-{number:05d}" for number in range(n)],
            "note": [f"free text number {number} with many words in it" for number in range(n)],
        }
    )
    frame["class"] = [None if row % 4 else "<script>" if row % 8 else "b" for row in range(n)]
    frame.loc[17] = [None] * len(frame.columns)
    return frame


def test_odd_tables_have_values_too(client: httpx.Client) -> None:
    content = odd_table().to_csv(index=False).encode()
    job = client.put("/v1/models/odd", params={"label": "class", "wait": 60}, content=content).json()
    assert job["state"] == "done", job
    path, described = "/v1/models/odd", client.get("/v1/models/odd/samples").json()
    kinds = {one["name"]: one["kind"] for one in described["features"]}
    assert kinds["kind"] == "category"
    assert kinds["when"] == "date"
    assert 17 not in values(client, "row", path)
    n = len(values(client, "row", path))
    assert n == described["n"] == 59
    for quantity in QUANTITIES:
        assert len(values(client, quantity, path)) == n
    for name in kinds:
        assert len(values(client, "feature", path, name=name)) == n
    assert search(client, path, cells={"kind": "=1+1"})["total"] == (odd_table()["kind"] == "=1+1").sum()
    assert search(client, path, text="SAY")["total"] == (odd_table()["kind"] == 'say "hi", you').sum()
    questions = client.get(f"{path}/questions").json()["questions"]
    assert questions
    assert client.get(f"{path}/boxes/0").status_code == 200
    client.delete(path)


@pytest.mark.parametrize(
    "body",
    [{"sort": "nothing"}, {"cells": {"petal_width": "wide"}}, {"cells": {"nothing": [1, 2]}}, {"probability": [0, 2]}],
)
def test_a_search_for_what_there_is_not_is_refused(client: httpx.Client, body: Any) -> None:
    answer = client.post(f"{PATH}/search", json=body)
    assert answer.status_code == 422
    assert answer.json()["error"]


def test_samples_do_not_move_when_the_model_is_fitted_anew(client: httpx.Client) -> None:
    fit_flowers(client, "still")
    path = "/v1/models/still"
    before = values(client, "position", path)
    client.post(f"{path}/labels", params={"wait": 30}, json={"labels": [{"row": 1, "label": "setosa"}]})
    assert client.post(f"{path}/refit", params={"wait": 30}).json()["state"] == "done"
    assert np.allclose(values(client, "position", path), before, atol=1e-6)
    client.delete(path)


def test_a_model_without_rows_is_refused_with_the_cure(tmp_path: Any) -> None:
    with application(tmp_path) as client:
        client.post("/v1/models", json={"name": "empty"})
        for path in ("samples", "values/class", "boxes", "questions", "quality"):
            answer = client.get(f"/v1/models/empty/{path}")
            assert answer.status_code == 409
            assert "send a table" in answer.json()["error"]


def test_a_model_without_rows_has_no_samples(client: httpx.Client) -> None:
    content = client.get("/v1/models/flowers/export").content
    client.put("/v1/models/borrowed", content=content, params={"wait": 20})
    for path in ("samples", "boxes", "questions", "quality", "values/position", "values/box"):
        assert client.get(f"/v1/models/borrowed/{path}").status_code == 200
    found = client.get("/v1/models/borrowed/samples").json()
    assert (found["n"], len(found["features"])) == (0, 4)


def test_most_is_said_of_more_than_half() -> None:
    def words(own: object, *around: object) -> str:
        return _boxes._category_words(own, list(around))

    assert words("a", "b", "b", "a") == "most samples around it have b"
    share = "40 % of the samples around it have b, the most frequent value"
    assert words("a", "b", "b", "c", "d", None) == share
    assert words("a", "a", "b", "c", "a") == "50 % of the samples around it have the same value"
    assert words("a", None) == "missing in the samples around it"
