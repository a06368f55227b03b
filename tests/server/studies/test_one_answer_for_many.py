"""One answer for several rows: their labels are left out together, and the journal makes the same model again."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import zipfile
from io import BytesIO
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from service import application
from sklearn.datasets import load_digits

from sslart.server._verify import verify

NAME = "digits"
PATH = f"/v1/models/{NAME}"


@pytest.fixture(scope="module")
def data() -> Any:
    found = load_digits(as_frame=True)
    return found.data[:600], [f"digit {one}" for one in found.target[:600]]


def alike(data: Any, digit: int, number: int) -> list[int]:
    """Return rows of a digit that are most like one of them."""
    pixels, answers = data
    own = [row for row, answer in enumerate(answers) if answer == f"digit {digit}"]
    apart = np.abs(pixels.iloc[own].to_numpy() - pixels.iloc[own[number]].to_numpy()).sum(axis=1)
    return [own[place] for place in np.argsort(apart, kind="stable")[:10]]


def started(client: httpx.Client, data: Any) -> None:
    job = client.put(PATH, params={"wait": 60}, content=data[0].to_csv(index=False).encode()).json()
    assert job["state"] == "done"


def answer_all(client: httpx.Client, data: Any, **more: Any) -> None:
    """Give two answers about each of four digits, each for ten rows."""
    for number in (0, 20):
        for digit in range(4):
            rows = [{"row": row, "label": f"digit {digit}"} for row in alike(data, digit, number)]
            found = client.post(f"{PATH}/labels", params={"wait": 60}, json={"labels": rows, **more})
            assert found.status_code == 200, found.text


def quality(client: httpx.Client) -> dict[str, Any]:
    found: dict[str, Any] = client.get(f"{PATH}/quality", params={"needed": False}).json()
    return found


@pytest.mark.parametrize("refit", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_labels_of_one_answer_are_left_out_together(tmp_path: Path, data: Any, refit: bool) -> None:
    found = {}
    for together in (False, True):
        with application(tmp_path / str(together)) as client:
            started(client, data)
            answer_all(client, data, together=together, refit=refit)
            found[together] = quality(client)
    assert [one["labels"] for one in found.values()] == [found[True]["labels"]] * 2
    assert [one["how"] for one in found.values()] == ["leave-one-out", "leave-one-group-out"]
    assert found[True]["accuracy"]["value"] < found[False]["accuracy"]["value"]
    assert "labels given together" not in json.dumps(found)


def test_the_journal_makes_the_same_model_again_and_so_does_the_script(tmp_path: Path, data: Any) -> None:
    with application(tmp_path / "store") as client:
        started(client, data)
        answer_all(client, data, together=True)
        client.post(f"{PATH}/labels", params={"wait": 60}, json={"labels": [{"row": 5, "label": "digit 5"}]})
        assert client.post(f"{PATH}/refit", params={"wait": 60}, json={}).json()["state"] == "done"
        answer_all(client, data, together=True)  # the same labels again change nothing
        rows = [{"row": row, "label": "digit 6"} for row in alike(data, 6, 3)]
        client.post(f"{PATH}/labels", params={"wait": 60}, json={"labels": rows, "together": True})
        digest = client.get(f"{PATH}/state").json()["digest"]
        columns = [one["name"] for one in client.get(f"{PATH}/samples").json()["features"]]
        assert columns == list(data[0].columns)
        content = client.get(f"{PATH}/export", params={"format": "script"}).content
    assert all(one.is_good for one in verify(tmp_path / "store"))
    with application(tmp_path / "store") as client:
        assert client.get(f"{PATH}/state").json()["digest"] == digest
    with zipfile.ZipFile(BytesIO(content)) as file:
        file.extractall(tmp_path / "script")
    done = subprocess.run([sys.executable, tmp_path / "script" / "rebuild.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_labels_are_learnt_and_published_before_the_fit_that_they_lead_to(tmp_path: Path, data: Any) -> None:
    with application(tmp_path) as client:
        started(client, data)
        heard, ready = list[int](), threading.Event()

        def listen() -> None:
            options = {"model": NAME, "kind": "learnt"}
            with (
                httpx.Client(verify=False, timeout=60) as own,
                own.stream("GET", f"{client.base_url}/v1/events", params=options) as it,
            ):
                for line in it.iter_lines():
                    ready.set()
                    if line.startswith("data: "):
                        heard.append(json.loads(line.removeprefix("data: "))["sequence"])
                    if len(heard) == 2:
                        return

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        assert ready.wait(20)
        labels = [{"row": row, "label": data[1][row]} for row in range(20)]
        given = client.post(f"{PATH}/labels", params={"wait": 60}, json={"labels": labels, "refit": True}).json()
        thread.join(20)
        assert heard == [given["sequence"], given["job"]]


def test_a_model_that_leaves_no_label_out_takes_such_answers_too(tmp_path: Path, data: Any) -> None:
    with application(tmp_path) as client:
        settings = {"estimator": "FuzzyARTMAP", "label": "digit"}
        assert client.post("/v1/models", json={"name": NAME, "settings": settings}).status_code in (200, 201)
        rows = data[0][:100].assign(digit=data[1][:100]).to_dict("records")
        client.post(f"{PATH}/learn", params={"wait": 60}, json={"rows": rows})
        changed = [{"row": row, "label": "digit 9"} for row in (0, 10)]
        body = {"labels": changed, "together": True, "refit": True}
        job = client.post(f"{PATH}/labels", params={"wait": 60}, json=body).json()["job"]
        assert client.get(f"{PATH}/jobs/{job}").json()["state"] == "done"
