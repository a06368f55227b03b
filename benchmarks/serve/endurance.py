"""Memory, lag and disk use over many requests: an hour of mixed requests, and a long stream of rows to learn."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from serve.calls import CALLS, rows_call
from serve.data import Table
from serve.service import Service
from serve.web import Http

KEEP_ROWS = 20_000
RETENTION = ("--keep-rows", str(KEEP_ROWS), "--snapshot-rows", "20000")  # options of the service
N_CLIENTS = 4
ROWS_PER_SECOND = 200  # of the hour
WARM = 0.2  # of the rows: what comes before counts as warming up
# how many of a thousand requests are of which kind, and with how many rows each
MIXTURE = (
    ("predict", 1, 550),
    ("infer", 1, 150),
    ("decide", 1, 120),
    ("learn", 10, 80),
    ("predict", 100, 70),
    ("labels", 1, 28),
    ("explain", 1, 1),
    ("describe", 0, 1),
)


class Samples(threading.Thread):
    """Memory, lag and size of the store, once a second."""

    def __init__(self, service: Service, table: Table, n_rows: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self._service, self._table, self._n_rows = Service(service.process, service.url), table, n_rows
        self._end, self.found = threading.Event(), list[dict[str, float]]()

    def run(self) -> None:
        while not self._end.wait(1.0):
            self.take()

    def take(self) -> None:
        service = self._service
        self.found.append(
            {
                "rows": self._n_rows(),
                "mb": service.resident_mb(),
                "lag": service.lag(self._table.name),
                "store_mb": service.metric("sslart_store_bytes") / 1e6,
                "boxes": service.metric("sslart_model_boxes", self._table.name),
            }
        )

    def stop(self) -> None:
        self._end.set()
        self.join()
        self.take()
        self._service.http.close()


@contextmanager
def listening(url: str) -> Iterator[Counter[str]]:
    """Listen to all events in a thread, and count them by kind."""
    connection, found = HTTPConnection(urlsplit(url).netloc, timeout=60), Counter[str]()
    connection.connect()
    own = connection.sock
    connection.request("GET", "/v1/events")
    answer = connection.getresponse()

    def listen() -> None:
        with suppress(OSError, HTTPException):  # the end of the connection
            while line := answer.readline():
                if line.startswith(b"event: "):
                    found[line[7:].strip().decode()] += 1

    thread = threading.Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield found
        time.sleep(0.2)  # the last events are on their way
    finally:
        own.shutdown(socket.SHUT_RDWR)
        thread.join()
        answer.close()
        connection.close()


class Mixed(threading.Thread):
    """A client that sends all kinds of requests in a random order, until it has sent enough rows.

    Attributes
    ----------
    counts : Counter
        Requests by kind; `requests` and `rows` have the sums.
    seconds : Counter
        In which they were answered, by kind.
    """

    def __init__(self, url: str, table: Table, seed: int, n_rows: int) -> None:
        super().__init__(daemon=True)
        self._http, self._table, self._n_rows = Http(url), table, n_rows
        self.counts, self.seconds = Counter[str](), Counter[str]()
        self._random = np.random.default_rng(seed)
        self._decided: tuple[int, str] | None = None  # a row, and its class
        self.error: Exception | None = None

    def run(self) -> None:
        steps = self._steps()
        try:
            while self.counts["rows"] < self._n_rows:
                for place in self._random.permutation(len(steps)):
                    steps[place]()
        except Exception as error:
            self.error = error
        self._http.close()

    def _steps(self) -> list[Callable[[], None]]:
        own: dict[str, Callable[[], bool]] = {"labels": self._label, "describe": self._describe}
        steps = []
        for name, n_rows, share in MIXTURE:
            send = own.get(name) or self._sending(name, n_rows)
            steps += [partial(self._timed, name, n_rows, send)] * share
        return steps

    def _timed(self, name: str, n_rows: int, send: Callable[[], bool]) -> None:
        start = time.perf_counter()
        if send():
            self.seconds[name] += time.perf_counter() - start
            self.counts.update({name: 1, "requests": 1, "rows": n_rows})

    def _sending(self, name: str, n_rows: int) -> Callable[[], bool]:
        make = CALLS.get(name, lambda table, n_rows: rows_call(table, name, n_rows))
        call = make(self._table, n_rows)

        def send() -> bool:
            number = int(self._random.integers(len(call.bodies)))
            content = self._http.call(call, number)
            if name == "decide":
                self._decided = json.loads(content)["predictions"][0]["row"], self._table.classes[number]
            return True

        return send

    def _label(self) -> bool:
        if self._decided is None:
            return False
        (row, label), self._decided = self._decided, None
        self._http.post(f"/v1/models/{self._table.name}/labels", {"labels": [{"row": row, "label": label}]})
        return True

    def _describe(self) -> bool:
        self._http.get(f"/v1/models/{self._table.name}")
        return True


def hour(service: Service, table: Table, n_rows: int) -> dict[str, Any]:
    """Return the memory of a service over so many rows in a mixture of requests, with somebody who listens."""
    with listening(service.url) as events:
        clients = [Mixed(service.url, table, seed, n_rows // N_CLIENTS) for seed in range(N_CLIENTS)]
        samples, seconds = _sampled(service, table, clients, lambda: sum(one.counts["rows"] for one in clients))
    for one in clients:
        if one.error is not None:
            raise one.error
    counts = sum((one.counts for one in clients), Counter[str]())
    took = sum((one.seconds for one in clients), Counter[str]())
    milliseconds = {name: 1e3 * seconds / counts[name] for name, seconds in took.items()}
    return {
        "counts": dict(counts),
        "milliseconds": milliseconds,
        "events": dict(events),
        "seconds": seconds,
        "samples": samples,
    }


def learnt(service: Service, table: Table, n_rows: int) -> dict[str, Any]:
    """Return memory, lag and size of the store while a service learns so many rows in batches of 100."""
    call, counts = CALLS["learn"](table, 100), Counter[str]()

    def send() -> None:
        http = Http(service.url)
        while counts["rows"] < n_rows:
            http.call(call, counts["requests"])
            counts.update({"requests": 1, "rows": call.n_rows})
        http.close()

    samples, seconds = _sampled(service, table, [threading.Thread(target=send)], lambda: counts["rows"])
    waited = service.catch_up(table.name)
    return {"counts": dict(counts), "seconds": seconds, "catch_up": waited, "samples": samples}


def _sampled(
    service: Service, table: Table, clients: list[Any], n_rows: Callable[[], int]
) -> tuple[list[dict[str, float]], float]:
    samples, start = Samples(service, table, n_rows), time.perf_counter()
    for one in (samples, *clients):
        one.start()
    for one in clients:
        one.join()
    seconds = time.perf_counter() - start
    samples.stop()
    return samples.found, seconds


def flatness(samples: list[dict[str, float]]) -> dict[str, float]:
    """Return the memory when a service was warm, at the end, and at its highest in between."""
    last = samples[-1]["rows"]
    warm = [one["mb"] for one in samples if one["rows"] >= WARM * last]
    return {"first": warm[0], "last": warm[-1], "most": max(warm)}
