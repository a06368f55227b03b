"""Restart of a model, and replacement of its state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from service import application, fit_flowers, flowers, rows_of

from sslart.server.models._hosted import HostedModel
from sslart.server.models._registry import Registry
from sslart.server.models._settings import Limits
from sslart.server.store import Store
from sslart.server.store._database import StoreError
from sslart.server.store._journal import models

ROWS = rows_of(flowers())


def put_flowers(http: httpx.Client, **query: str) -> httpx.Response:
    content = flowers().to_csv(index=False).encode()
    return http.put("/v1/models/flowers", params={"label": "species", "wait": 60, **query}, content=content)


def test_rows_that_were_learnt_before_a_restart_do_not_count_as_waiting(tmp_path: Path) -> None:
    with application(tmp_path) as http:
        fit_flowers(http)
    with application(tmp_path, limits=Limits(max_backlog=20)) as http:
        assert http.get("/v1/models/flowers").json()["backlog"] == 0
        answer = http.post("/v1/models/flowers/learn", json={"rows": ROWS[:1]})
        assert answer.status_code == 200


@pytest.mark.slow
def test_a_model_that_is_being_restored_has_not_learnt_nothing(tmp_path: Path) -> None:
    with application(tmp_path) as http:
        fit_flowers(http)
    store = Store(tmp_path)
    hub = Registry(store)
    hosted = HostedModel(store, models(store.reader())[0], hub.events, hub.limits)
    with pytest.raises(StoreError, match="is being restored"):
        hub.published(hosted)
    with pytest.raises(StoreError, match="is being restored"):
        hub.check_learns(hosted)
    store.close()


def test_a_model_with_rows_is_not_replaced_whatever_its_state(tmp_path: Path) -> None:
    with application(tmp_path) as http:
        http.post("/v1/models", json={"name": "flowers", "settings": {"label": "species"}})
        assert http.post("/v1/models/flowers/learn", json={"rows": ROWS[:5]}).status_code == 200
        assert put_flowers(http).status_code == 409
    connection = apsw.Connection(str(tmp_path / "store.db"))
    connection.execute("DELETE FROM snapshots; UPDATE journal SET time = 0 WHERE sequence = 1")
    connection.close()
    with application(tmp_path) as http:
        while http.get("/v1/models/flowers").json()["state"] != "damaged":
            pass
        assert put_flowers(http).status_code == 409
        assert http.get("/v1/models/flowers/rows/0").json()["cells"] == ROWS[0]


@pytest.mark.slow
def test_a_model_whose_table_could_not_be_learnt_is_replaced_by_the_next_table(tmp_path: Path) -> None:
    with application(tmp_path) as http:
        unlabelled = put_flowers(http, estimator="FuzzyARTMAP")  # which needs a label for every row
        assert unlabelled.status_code == 422
        assert put_flowers(http).json()["state"] == "done"


def test_a_key_has_the_same_answer_also_where_the_model_would_refuse_the_request_now(tmp_path: Path) -> None:
    def send(http: httpx.Client, path: str, body: Any) -> httpx.Response:
        return http.post(f"/v1/models/some/{path}", json=body, headers={"idempotency-key": path})

    with application(tmp_path) as http:
        http.post("/v1/models", json={"name": "some", "settings": {}})
        body = {"rows": [{"size": 1.0}, {"size": 2.0}], "labels": ["a", "b"]}
        first = send(http, "learn", body)
        http.post("/v1/models/some/learn", params={"wait": 10}, json={"rows": [{"size": 3.0}]})
        label = {"labels": [{"row": 2, "label": "b"}]}
        labelled = send(http, "labels", label)
    with application(tmp_path, limits=Limits(max_backlog=0)) as http:
        assert http.post("/v1/models/some/learn", json=body).status_code in (429, 503)
        assert send(http, "learn", body).json() == first.json()
        assert send(http, "labels", label).json() == labelled.json()
