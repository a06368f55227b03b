"""Requests per second and latency of our service: idle, while it learns, and while it is fitted."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from serve.calls import CALLS, WRITES, learn_call
from serve.data import Table
from serve.load import Generator
from serve.service import Service
from serve.web import Http

CONNECTIONS = (1, 16)
ROWS = (1, 100)
IDLE, LEARNING, FITTING = "idle", "while it learns", "while it is fitted"
STATES = (IDLE, LEARNING, FITTING)
ROWS_AT_ONCE = 10


class Client(threading.Thread):
    """Somebody who sends requests of one kind, one after the other, until told to stop.

    Attributes
    ----------
    n_done : int
        How many of them were answered.
    """

    def __init__(self, url: str, table: Table, state: str) -> None:
        super().__init__(daemon=True)
        self._http, self._table, self._state = Http(url), table, state
        self._end, self.n_done = threading.Event(), 0
        self._error: Exception | None = None

    def run(self) -> None:
        call = learn_call(self._table, ROWS_AT_ONCE)
        try:
            while not self._end.is_set():
                if self._state == LEARNING:
                    self._http.call(call, self.n_done)
                else:
                    self._http.post(f"/v1/models/{self._table.name}/refit?wait=120", {})
                self.n_done += 1
        except Exception as error:
            self._error = error

    def stop(self) -> None:
        self._end.set()
        self.join()
        self._http.close()
        if self._error is not None:
            raise self._error


@contextmanager
def going_on(state: str, url: str, table: Table) -> Iterator[dict[str, Any]]:
    """Let a client do what belongs to a state; at the end the dictionary says how much it has done."""
    found: dict[str, Any] = {}
    if state == IDLE:
        yield found
        return
    client = Client(url, table, state)
    start = time.perf_counter()
    client.start()
    try:
        yield found
    finally:
        client.stop()
    seconds = time.perf_counter() - start
    found |= {"learnt": client.n_done * ROWS_AT_ONCE / seconds} if state == LEARNING else {}
    found |= {"fits": client.n_done, "seconds": seconds} if state == FITTING else {}


def measured(
    service: Service,
    table: Table,
    state: str,
    generator: Generator,
    seconds: float,
    calls: Sequence[str] = tuple(CALLS),
) -> Iterator[dict[str, Any]]:
    """Yield what is found for each kind of request, on a service that has fitted the table."""
    for name in calls:
        for n_rows in ROWS:
            for n_connections in CONNECTIONS:
                call = CALLS[name](table, n_rows)
                with going_on(state, service.url, table) as others:
                    found = generator.measure(service.url, call, n_connections, seconds)
                    lag = service.lag(table.name)
                waited = service.catch_up(table.name)
                about = {"table": table.name, "state": state, "call": name}
                about |= {"each": n_rows, "connections": n_connections}
                about |= {"lag": lag, "catch_up": waited} if name in WRITES else {}
                yield {**about, **found, "others": others}
