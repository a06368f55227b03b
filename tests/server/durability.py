"""Clients that write to a service that may end at any moment, and a check that all it acknowledged is there, once."""

from __future__ import annotations

import random
import shutil
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count, pairwise
from pathlib import Path
from typing import Any

import apsw
import httpx
from service import application

from sslart.server._service import Service
from sslart.server._verify import verify
from sslart.server.api._app import create_app
from sslart.server.models._registry import Registry
from sslart.server.models._settings import Limits
from sslart.server.models._stored_rows import frame_of
from sslart.server.store import Store
from sslart.server.store._database import open_to_read
from sslart.server.store._files import parts, uploads
from sslart.server.store._journal import learn_records, models
from sslart.server.store._store import FILE_NAME

CLASSES = ("low", "middle", "high")
TABLE_MODEL, STREAM_MODEL = "from_table", "from_stream"
UNKNOWN_STATUSES = (429, 503)  # the request can be repeated
SECONDS_TO_WAIT = 0.02
NO_SNAPSHOTS = Limits(snapshot_rows=10**9, snapshot_seconds=1e9)


@contextmanager
def service_on(folder: Path, vfs: str, **limits: Any) -> Iterator[Service]:
    """Run a service in this process, whose store is in a virtual file system of SQLite."""
    hub = Registry(Store(folder, vfs=vfs), Limits(**limits))
    with Service(hub, create_app(hub), 0) as service:
        yield service


class Target:
    """Address at which the service can be reached at the moment; None if at none."""

    def __init__(self) -> None:
        self.url: str | None = None
        self.is_over = threading.Event()


@dataclass
class Ledger:
    """Ledger of sent and acknowledged data; every row has a unique value of the feature `mark`."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    marks: count[int] = field(default_factory=count)
    sent: set[tuple[str, float]] = field(default_factory=set)
    rows: dict[tuple[str, int], float] = field(default_factory=dict)
    ids: dict[tuple[str, str], float] = field(default_factory=dict)
    in_tables: set[tuple[str, float]] = field(default_factory=set)
    labels: dict[tuple[str, int], str] = field(default_factory=dict)
    unsure_labels: set[tuple[str, int]] = field(default_factory=set)
    by_key: dict[str, tuple[str, Any, list[int]]] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    n_acknowledged: int = 0

    def new_rows(self, model: str, chance: random.Random, n_rows: int) -> list[dict[str, float]]:
        """Return rows that were never sent."""
        found = []
        for _ in range(n_rows):
            with self.lock:
                mark = next(self.marks) / 2**20
                self.sent.add((model, mark))
            found.append({"x": round(chance.random(), 2), "y": round(chance.random(), 2), "mark": mark})
        return found


def label_of(row: dict[str, float]) -> str:
    """Return the class of a row."""
    return CLASSES[min(int(3 * row["x"]), 2)]


def table_of(rows: list[dict[str, float]]) -> bytes:
    """Return rows as a table, every second with its label."""
    lines = ["x,y,mark,kind"]
    lines += [
        f"{row['x']},{row['y']},{row['mark']!r},{label_of(row) if place % 2 else ''}" for place, row in enumerate(rows)
    ]
    return "\n".join(lines).encode()


def create_models(url: str, ledger: Ledger, chance: random.Random, estimator: str = "AutoSSLART") -> bool:
    """Create a model from a table, and one from settings; return whether both were acknowledged."""
    with httpx.Client(base_url=url, timeout=60, transport=httpx.HTTPTransport(verify=False, retries=5)) as http:
        return _create_from_table(http, ledger, chance, estimator) and _create_from_rows(http, ledger, chance)


def _create_from_table(http: httpx.Client, ledger: Ledger, chance: random.Random, estimator: str) -> bool:
    rows = ledger.new_rows(TABLE_MODEL, chance, 60)
    query = {"label": "kind", "estimator": estimator, "wait": 60}
    answer = http.put(f"/v1/models/{TABLE_MODEL}", params=query, content=table_of(rows))
    if answer.is_success:
        ledger.in_tables |= {(TABLE_MODEL, row["mark"]) for row in rows}
    return answer.is_success and answer.json()["state"] == "done"


def _create_from_rows(http: httpx.Client, ledger: Ledger, chance: random.Random) -> bool:
    rows = ledger.new_rows(STREAM_MODEL, chance, 60)
    settings = {"estimator": "SSLART", "label": "kind"}
    if not http.post("/v1/models", json={"name": STREAM_MODEL, "settings": settings}).is_success:
        return False
    body = {"rows": rows, "labels": [label_of(row) for row in rows]}
    answer = http.post(f"/v1/models/{STREAM_MODEL}/learn", params={"wait": 10}, json=body)
    if answer.is_success:
        for number, row in zip(answer.json()["rows"], rows, strict=True):
            ledger.rows[STREAM_MODEL, number], ledger.labels[STREAM_MODEL, number] = row["mark"], label_of(row)
    return answer.is_success


class Client(threading.Thread):
    """A client that learns, decides and labels, and repeats what was not answered where it has a key.

    `share_of_fits`: how many of its requests, of each hundred, send a table, and how many ask for a fit.
    """

    def __init__(self, name: str, seed: str, ledger: Ledger, target: Target, share_of_fits: float = 1.0) -> None:
        super().__init__(name=name, daemon=True)
        self._chance, self._ledger, self._target = random.Random(seed), ledger, target
        self._http, self._numbers = httpx.Client(verify=False, timeout=20), count()
        self._own: list[tuple[str, int, dict[str, float]]] = []
        self._kinds: dict[str, float] = {"learn": 40, "decide": 30, "label": 20, "again": 5, "snapshot": 3}
        self._kinds |= {"table": share_of_fits, "refit": share_of_fits}

    def run(self) -> None:
        """Send requests until the end."""
        try:
            while not self._target.is_over.is_set():
                if self._target.url is None:
                    time.sleep(SECONDS_TO_WAIT)
                else:
                    self._one()
        except Exception as error:
            self._ledger.problems.append(f"{self.name}: {error!r}")
        finally:
            self._http.close()

    def _one(self) -> None:
        model = self._chance.choice([TABLE_MODEL, STREAM_MODEL])
        kind = self._chance.choices(list(self._kinds), list(self._kinds.values()))[0]
        if kind in ("learn", "decide"):
            self._rows(model, kind)
        elif kind == "label" and self._own:
            self._label()
        elif kind == "again":
            self._again()
        elif kind == "snapshot":
            self._send("POST", f"/v1/models/{model}/snapshot", None)
        elif kind == "table":
            self._table(model)
        elif kind == "refit":
            self._send("POST", f"/v1/models/{model}/refit", None, self._key())

    def _key(self) -> str:
        return f"{self.name}-{next(self._numbers)}"

    def _rows(self, model: str, kind: str) -> None:
        ledger, chance = self._ledger, self._chance
        rows = ledger.new_rows(model, chance, chance.choice([1, 1, 1, 5, 20]))
        key = self._key() if chance.random() < 0.6 else None
        body: dict[str, Any] = {"rows": rows}
        if chance.random() < 0.5:
            body["ids"] = [f"id {row['mark']}" for row in rows]
        labels = [label_of(row) if chance.random() < 0.5 else None for row in rows]
        if kind == "learn":
            body["labels"] = labels
        answer = self._send("POST", f"/v1/models/{model}/{kind}", body, key)
        if answer is None:
            return
        numbers = numbers_in(answer)
        with ledger.lock:
            for number, row, label in zip(numbers, rows, labels, strict=True):
                ledger.rows[model, number] = row["mark"]
                if "ids" in body:
                    ledger.ids[model, f"id {row['mark']}"] = row["mark"]
                if kind == "learn" and label is not None:
                    ledger.labels[model, number] = label
        self._own += [(model, number, row) for number, row in zip(numbers, rows, strict=True)]

    def _label(self) -> None:
        ledger = self._ledger
        model, number, row = self._chance.choice(self._own)
        if (model, number) in ledger.unsure_labels:
            return
        label = label_of(row) if self._chance.random() < 0.8 else self._chance.choice(CLASSES)
        key = self._key() if self._chance.random() < 0.6 else None
        body = {"labels": [{"row": number, "label": label}]}
        answer = self._send("POST", f"/v1/models/{model}/labels", body, key)
        with ledger.lock:
            if answer is None:
                ledger.unsure_labels.add((model, number))
            else:
                ledger.labels[model, number] = label

    def _table(self, model: str) -> None:
        rows = self._ledger.new_rows(model, self._chance, 10)
        key = self._key() if self._chance.random() < 0.6 else None
        if self._send("POST", f"/v1/models/{model}/table", table_of(rows), key) is not None:
            with self._ledger.lock:
                self._ledger.in_tables |= {(model, row["mark"]) for row in rows}

    def _again(self) -> None:
        """Repeat a request that was acknowledged: the answer must be the same."""
        with self._ledger.lock:
            mine = [key for key in self._ledger.by_key if key.startswith(f"{self.name}-")]
        if mine:
            key = self._chance.choice(mine)
            path, body, _ = self._ledger.by_key[key]
            self._send("POST", path, body, key)

    def _send(self, method: str, path: str, body: Any, key: str | None = None) -> dict[str, Any] | None:
        """Return the answer to a request; None where there is none and it cannot be repeated."""
        content = content_of(body)
        headers = {} if key is None else {"idempotency-key": key}
        while not self._target.is_over.is_set():
            try:
                url = self._target.url
                if url is not None:
                    answer = self._http.request(method, f"{url}{path}", headers=headers, **content)
                    if answer.status_code < 300:
                        return self._acknowledged(path, body, key, answer.json())
                    if answer.status_code not in UNKNOWN_STATUSES:
                        self._ledger.problems.append(f"{method} {path}: {answer.status_code} {answer.text}")
                        return None
            except httpx.TransportError:
                pass
            if key is None:
                return None
            time.sleep(SECONDS_TO_WAIT)
        return None

    def _acknowledged(self, path: str, body: Any, key: str | None, answer: dict[str, Any]) -> dict[str, Any]:
        ledger, numbers = self._ledger, [answer["sequence"], *numbers_in(answer)]
        with ledger.lock:
            ledger.n_acknowledged += 1
            if key is not None and ledger.by_key.setdefault(key, (path, body, numbers))[2] != numbers:
                ledger.problems.append(f"{key} gave {numbers}, and before {ledger.by_key[key][2]}")
        return answer


def content_of(body: Any) -> dict[str, Any]:
    """Return the body of a request as httpx takes it: a table, JSON or nothing."""
    return {"content": body} if isinstance(body, bytes) else {} if body is None else {"json": body}


def numbers_in(answer: dict[str, Any]) -> list[int]:
    """Return the numbers of the rows that an answer names."""
    return [one["row"] for one in answer["predictions"]] if "predictions" in answer else answer.get("rows", [])


def wait_until_learnt(http: Any, seconds: float = 600) -> dict[str, tuple[int, str]]:
    """Wait until the models have learnt their journals; return the sequence and the digest of each."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = http.get("/v1/models").json()["models"]
        assert [one["problem"] for one in found if one["problem"]] == []
        if all(one["learnt_through"] == one["sequence"] and one["state"] == "ready" for one in found):
            states = [http.get(f"/v1/models/{one['name']}/state").json() for one in found if one["classes"]]
            return {one["model"]: (one["sequence"], one["digest"]) for one in states}
        time.sleep(0.02)
    raise TimeoutError("the models have not learnt their journals")


def replayed(folder: Path, copy: Path) -> dict[str, tuple[int, str]]:
    """Return the state of a service on a copy of a store without snapshots, from the whole journal."""
    copy.mkdir()
    for path in folder.glob(f"{FILE_NAME}*"):
        if not path.name.endswith("-shm"):
            shutil.copy(path, copy)
    connection = apsw.Connection(str(copy / FILE_NAME))
    connection.execute("DELETE FROM snapshots; DELETE FROM snapshot_parts")
    connection.close()
    with application(copy, limits=NO_SNAPSHOTS) as http:
        return wait_until_learnt(http)


def problems_of(folder: Path) -> list[str]:
    """Return the problems found by the check of a store."""
    return [f"{one.model}: {one.text}" for one in verify(folder) if not one.is_good]


def marks_in(folder: Path) -> Counter[tuple[str, float]]:
    """Return the number of occurrences of each mark in a store."""
    connection = open_to_read(folder / FILE_NAME)
    found: Counter[tuple[str, float]] = Counter()
    for model in models(connection):
        records = learn_records(connection, model.id)
        found.update((model.name, row["mark"]) for record in records for row in record.content()["rows"])
        for upload in uploads(connection, model.id, model.last_sequence):
            frames = [frame_of(part.content) for part in parts(connection, upload.id)]
            found.update((model.name, float(mark)) for frame in frames for mark in frame["mark"])
    connection.close()
    return found


def check_kept(http: Any, folder: Path, ledger: Ledger) -> None:
    """Check that all that was acknowledged is in the store of a service, and that nothing is there twice."""
    assert ledger.problems == []
    marks = marks_in(folder)
    assert {mark: n for mark, n in marks.items() if n > 1} == {}
    assert set(marks) <= ledger.sent
    assert {(model, mark) for (model, _), mark in ledger.rows.items()} - set(marks) == set()
    assert ledger.in_tables - set(marks) == set()
    for (model, which), mark in [*ledger.rows.items(), *ledger.ids.items()]:
        found = http.get(f"/v1/models/{model}/rows/{which}").json()
        assert found["cells"]["mark"] == mark
        if isinstance(which, int) and (model, which) not in ledger.unsure_labels:
            assert found["label"] == ledger.labels.get((model, which))
    for model in (TABLE_MODEL, STREAM_MODEL):
        by_row = defaultdict(list)
        for entry in http.get(f"/v1/models/{model}/labels", params={"most": 10_000}).json().get("labels", []):
            by_row[entry["row"]].append(entry)
        for entries in by_row.values():
            assert all(before["label"] == after["previous"] != after["label"] for before, after in pairwise(entries))
    for key, (path, body, numbers) in ledger.by_key.items():
        again = http.post(path, headers={"idempotency-key": key}, **content_of(body)).json()
        assert [again["sequence"], *numbers_in(again)] == numbers
    assert marks_in(folder) == marks
