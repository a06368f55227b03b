"""Old records go, and with them nothing that a fit, a label or a check needs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from durability import NO_SNAPSHOTS, label_of, problems_of, wait_until_learnt
from service import application, fit_flowers, flowers, rows_of

from sslart.server.models._settings import Limits, ModelSettings
from sslart.server.models._stored_rows import RowFinder
from sslart.server.models._transactions import Target, label
from sslart.server.store import Store
from sslart.server.store._labels import compact_some
from sslart.server.store._store import FILE_NAME

MODEL = "/v1/models/some"
KEPT, IN_A_BATCH = 50, 10
FEW = Limits(keep_rows=KEPT, snapshot_rows=20, snapshot_seconds=1e9)
SAME_WITHOUT_SNAPSHOTS = Limits(keep_rows=KEPT, snapshot_rows=10**9, snapshot_seconds=1e9)


def send_rows(http: httpx.Client, n_batches: int, seed: int = 0) -> None:
    """Send rows, the first of each batch with a label."""
    chance = random.Random(seed)
    for number in range(n_batches):
        rows = [{"x": round(chance.random(), 3), "y": round(chance.random(), 3)} for _ in range(IN_A_BATCH)]
        labels = [label_of(rows[0]), *[None] * (IN_A_BATCH - 1)]
        ids = [f"{seed} {number} {place}" for place in range(IN_A_BATCH)]
        answer = http.post(f"{MODEL}/learn", params={"wait": 10}, json={"rows": rows, "labels": labels, "ids": ids})
        assert answer.status_code == 200, answer.text


def create(http: httpx.Client) -> None:
    """Create a model without rows."""
    settings = {"estimator": "SSLART", "label": "kind"}
    assert http.post("/v1/models", json={"name": "some", "settings": settings}).status_code == 201


def in_store(folder: Path, query: str) -> Any:
    """Return the result of a query on a store."""
    connection = apsw.Connection(str(folder / FILE_NAME))
    found = connection.execute(query).get
    connection.close()
    return found


def test_old_rows_go_and_labelled_ones_stay_for_fits_and_requests(tmp_path: Path) -> None:
    folder, other = tmp_path / "some", tmp_path / "other"
    n_batches = 40
    with application(folder, limits=FEW) as http:
        create(http)
        send_rows(http, n_batches)
        late = http.post(f"{MODEL}/labels", json={"labels": [{"row": n_batches * IN_A_BATCH - 1, "label": "high"}]})
        assert late.status_code == 200
        assert http.post(f"{MODEL}/snapshot").status_code == 200
        learnt = wait_until_learnt(http)
        n_records = in_store(folder, "SELECT count(*) FROM journal")
        assert n_records < n_batches / 2
        for number in range(n_batches):
            assert http.get(f"{MODEL}/rows/{number * IN_A_BATCH}").status_code == 200
            assert http.get(f"{MODEL}/rows/0 {number} 0").json()["row"] == number * IN_A_BATCH
        assert http.get(f"{MODEL}/rows/5").status_code == 404
        assert http.get(f"{MODEL}/rows/0 0 5").status_code == 404
    assert problems_of(folder) == []
    with application(folder, limits=FEW) as http:
        assert wait_until_learnt(http) == learnt
        job = http.post(f"{MODEL}/refit", params={"wait": 60}).json()
        assert job["outcome"]["rows"] == KEPT + (n_batches * IN_A_BATCH - KEPT) // IN_A_BATCH
        fitted = wait_until_learnt(http)
    assert problems_of(folder) == []
    with application(other, limits=SAME_WITHOUT_SNAPSHOTS) as http:  # which keeps all records
        create(http)
        send_rows(http, n_batches)
        http.post(f"{MODEL}/labels", json={"labels": [{"row": n_batches * IN_A_BATCH - 1, "label": "high"}]})
        assert wait_until_learnt(http) == learnt
        http.post(f"{MODEL}/refit", params={"wait": 60})
        assert wait_until_learnt(http) == fitted


@pytest.mark.slow
def test_a_store_does_not_grow_with_rows_that_are_not_kept(tmp_path: Path) -> None:
    n_pages, n_records = [], []
    with application(tmp_path, limits=FEW) as http:
        create(http)
        for seed in range(6):
            send_rows(http, 30, seed)
            http.post(f"{MODEL}/snapshot")
            n_pages.append(in_store(tmp_path, "PRAGMA page_count"))
            n_records.append(in_store(tmp_path, "SELECT count(*) FROM journal"))
    assert max(n_records) < 30
    assert n_pages[5] < 1.3 * n_pages[1]
    assert problems_of(tmp_path) == []


def test_records_stay_until_there_are_two_snapshots(tmp_path: Path) -> None:
    with application(tmp_path, limits=NO_SNAPSHOTS) as http:
        create(http)
        send_rows(http, 20)
    with application(tmp_path, limits=FEW) as http:
        learnt = wait_until_learnt(http)
        http.post(f"{MODEL}/snapshot")
    assert in_store(tmp_path, "SELECT count(*) FROM snapshots") == 1
    assert in_store(tmp_path, "SELECT count(*) FROM journal") == 21
    in_store(tmp_path, "UPDATE snapshot_parts SET content = x'00'")
    with application(tmp_path, limits=FEW) as http:
        assert wait_until_learnt(http) == learnt


@pytest.mark.slow
def test_rows_of_a_fit_stay_until_both_snapshots_are_newer_than_it(tmp_path: Path) -> None:
    with application(tmp_path, limits=NO_SNAPSHOTS) as http:
        fit_flowers(http)
        for row in rows_of(flowers())[:30]:
            http.post("/v1/models/flowers/learn", json={"rows": [row]})
        http.post("/v1/models/flowers/snapshot")
        http.post("/v1/models/flowers/refit", params={"wait": 60})
    with application(tmp_path, limits=Limits(keep_rows=5)) as http:
        wait_until_learnt(http)
        http.post("/v1/models/flowers/snapshot")
        learnt = wait_until_learnt(http)
    assert problems_of(tmp_path) == []
    newest = "(SELECT max(id) FROM snapshots)"
    in_store(tmp_path, f"UPDATE snapshot_parts SET content = x'00' WHERE snapshot = {newest}")
    with application(tmp_path) as http:
        assert wait_until_learnt(http) == learnt


def test_a_row_that_is_labelled_while_its_record_goes_is_kept(tmp_path: Path) -> None:
    with application(tmp_path, limits=NO_SNAPSHOTS) as http:
        create(http)
        for seed in range(2):
            send_rows(http, 10, seed)
            http.post(f"{MODEL}/snapshot")
    with Store(tmp_path) as store:
        found = RowFinder().find(store.reader(), 1, ModelSettings(label="kind"), [5])
        assert store.submit(lambda connection: compact_some(connection, 1, KEPT)).result() > 0
        store.submit(lambda connection: label(connection, Target(1, "", ""), [(found[0], "high", True)])).result()
    with application(tmp_path, limits=NO_SNAPSHOTS) as http:
        row = http.get(f"{MODEL}/rows/5").json()
        assert (row["cells"], row["label"]) == (found[0].cells, "high")
