"""Repeated requests count once: answers are lost, services are killed, and clients retry."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from service import Process, fit_flowers, flowers, rows_of
from wire import Wire

from sslart.client import Client, UnreachableError
from sslart.server import serve

ROWS = rows_of(flowers())[:3]


@pytest.mark.slow
def test_rows_are_learnt_once_where_the_service_is_killed_before_its_answer_comes(tmp_path: Path) -> None:
    first = Process(tmp_path)
    first.wait_until_ready()
    fit_flowers(first.http)
    with Wire(first.url) as wire, Client(wire.url, retries=12) as client, ThreadPoolExecutor(1) as threads:
        n_rows = client.model("flowers")["rows"]
        wire.drop_answers = True
        answer = threads.submit(client.learn, "flowers", ROWS, ["setosa", None, None])
        assert wire.dropped.wait(30)
        first.kill()
        second = Process(tmp_path)
        try:
            wire.target, wire.drop_answers = second.url, False
            accepted = answer.result(60)
            second.wait_until_ready()
            assert accepted.rows == (n_rows, n_rows + 1, n_rows + 2)
            assert client.model("flowers")["rows"] == n_rows + 3
            assert [one["row"] for one in client.labels("flowers", row=n_rows)] == [n_rows]
        finally:
            second.stop()


def test_a_call_with_the_same_key_adds_nothing(tmp_path: Path) -> None:
    with serve(tmp_path) as service, Client(service.url) as client:
        client.fit("flowers", flowers(), label="species")
        many = rows_of(flowers()) * 10  # two requests
        first = client.learn("flowers", many, key="delivery-7")
        again = client.learn("flowers", many, key="delivery-7")
        assert first == again
        assert client.model("flowers")["rows"] == 150 + 1500
        assert client.learn("flowers", many[:1]).rows == (1650,)


def test_what_has_no_key_is_not_sent_again(tmp_path: Path) -> None:
    with serve(tmp_path) as service, Wire(service.url) as wire, Client(wire.url) as client:
        wire.drop_answers = True
        with pytest.raises(UnreachableError, match="It is unknown whether the request was carried out") as raised:
            client.create("flowers")
        assert raised.value.status is None
        wire.drop_answers = False
        assert [one["name"] for one in client.models()] == ["flowers"]


def test_predictions_are_asked_for_again_where_the_connection_was_lost(tmp_path: Path) -> None:
    with serve(tmp_path) as service, Wire(service.url) as wire, Client(wire.url) as client:
        client.fit("flowers", flowers(), label="species")
        wire.drop_answers = True
        threading.Timer(0.3, lambda: setattr(wire, "drop_answers", False)).start()
        assert client.predict("flowers", ROWS).classes == ["setosa"] * 3
        assert wire.dropped.is_set()
