"""Requests that are broken, endless, slow or too large are refused in words; others are answered meanwhile."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from service import application, fit_flowers, flowers, rows_of

from sslart.server import _service
from sslart.server.models._settings import Limits

ROW = rows_of(flowers())[0]
TEXT = json.dumps(ROW)
JSON = {"content-type": "application/json"}
SECONDS = 0.6


@pytest.fixture(scope="module")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client of a service that waits only a moment, and takes only small requests."""
    with application(
        tmp_path_factory.mktemp("store"), limits=Limits(timeout=SECONDS, max_body=20_000, max_rows=50)
    ) as client:
        fit_flowers(client)
        yield client


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        '"text"',
        "{}",
        '{"rows": []}',
        '{"rows": [{}]}',
        '{"rows": {}}',
        '{"rows": [[]]}',
        '{"rows": [{"sepal_length": NaN}]}',
        '{"rows": [{"sepal_length": Infinity}]}',
        '{"rows": [{"sepal_length": -Infinity}]}',
        '{"rows": [{"sepal_length": 1e400}]}',
        f'{{"rows": [{{"sepal_length": {"9" * 400}}}]}}',
        f'{{"rows": [{{"sepal_length": {"9" * 5000}}}]}}',
        '{"rows": [{"sepal_length": [1]}]}',
        '{"rows": [{"sepal_length": {"a": 1}}]}',
        '{"rows": [{"sepal_length": "\\ud800"}]}',
        '{"rows": [{"\\udfff": 1}]}',
        '{"rows": [{"sepal_length": 1}]} more',
        '{"rows": [{"sepal_length": 1}], "unknown": 1}',
        '{"rows": [{"sepal_length": 01}]}',
        "{'rows': []}",
        "[" * 100_000,
        '{"rows":' * 10_000,
        "\x00",
        f'{{"rows": [{{"sepal_length": "{"x" * 10_001}"}}]}}',
        f'{{"rows": [{{"{"x" * 1001}": 1}}]}}',
    ],
)
@pytest.mark.parametrize("path", ["/v1/models/flowers/predict", "/v1/models/flowers/learn", "/v2/models/flowers/infer"])
def test_json_that_is_not_as_described_is_refused(client: httpx.Client, path: str, text: str) -> None:
    answer = client.post(path, content=text, headers=JSON)
    assert answer.status_code == 422
    assert set(answer.json()) == {"error"}
    assert len(answer.text) < 3000
    assert "Traceback" not in answer.text
    assert "sslart.server" not in answer.text


@pytest.mark.parametrize("content", [b"\xff\xfe{}", b'{"rows": [{"a": "\xff"}]}', TEXT.encode("utf-16"), b"\x80"])
def test_json_is_in_utf8(client: httpx.Client, content: bytes) -> None:
    assert client.post("/v1/models/flowers/predict", content=content, headers=JSON).status_code == 422


def test_of_a_key_that_comes_twice_the_last_counts(client: httpx.Client) -> None:
    twice = '{"rows": [{"sepal_length": 7.9, "sepal_length": 4.3}]}'
    once = '{"rows": [{"sepal_length": 4.3}]}'
    path = "/v1/models/flowers/predict"
    answers = [client.post(path, content=text, headers=JSON).json()["predictions"] for text in (twice, once)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize(
    ("query", "status"),
    [("wait=nan", 422), ("wait=inf", 422), ("wait=-1", 422), ("wait=601", 422), ("wait=", 422), ("wait=1e-9", 200)],
)
def test_nobody_waits_for_ever(client: httpx.Client, query: str, status: int) -> None:
    answer = client.post(f"/v1/models/flowers/learn?{query}", json={"rows": [ROW]})
    assert answer.status_code == status


def test_numbers_that_are_hard_to_read_stay_what_they_are(client: httpx.Client) -> None:
    texts = {"1e-320": 1e-320, "18446744073709551615": 2**64 - 1, "-0.0": -0.0, "0.1": 0.1}
    for text, value in texts.items():
        content = f'{{"rows": [{{"sepal_length": {text}, "sepal_width": 1}}]}}'
        row = client.post("/v1/models/flowers/learn", content=content, headers=JSON).json()["rows"][0]
        assert client.get(f"/v1/models/flowers/rows/{row}").json()["cells"]["sepal_length"] == value


def test_a_body_that_is_too_large_is_refused_by_its_length(hasty: httpx.Client) -> None:
    answer = hasty.post("/v1/models/flowers/predict", content=b" " * 20_001, headers=JSON)
    assert answer.status_code == 413
    assert "20000 bytes" in answer.json()["error"]


def test_a_body_that_is_too_large_is_refused_also_without_a_length(hasty: httpx.Client) -> None:
    parts = (b" " * 1000 for _ in range(30))
    assert hasty.post("/v1/models/flowers/predict", content=parts, headers=JSON).status_code == 413


def test_twenty_megabytes_are_too_large(client: httpx.Client) -> None:
    content = b'{"rows": [' + b" " * 20_000_000 + b"]}"
    assert client.post("/v1/models/flowers/predict", content=content, headers=JSON).status_code == 413
    assert client.patch("/v1/models/flowers", content=content, headers=JSON).status_code == 413


@pytest.mark.parametrize("name", ["table", "export", "events", "labels"])
def test_a_model_may_be_named_as_a_path_is(hasty: httpx.Client, name: str) -> None:
    assert hasty.post("/v1/models", json={"name": name}).status_code == 201
    large = b" " * 20_001
    assert hasty.patch(f"/v1/models/{name}", content=large, headers=JSON).status_code == 413
    assert hasty.get(f"/v1/models/{name}").json()["name"] == name
    assert hasty.delete(f"/v1/models/{name}").status_code == 204


@pytest.mark.parametrize("path", ["predict", "decide", "learn"])
def test_too_many_rows_are_refused(hasty: httpx.Client, path: str) -> None:
    answer = hasty.post(f"/v1/models/flowers/{path}", json={"rows": [{"sepal_length": 1}] * 51})
    assert answer.status_code == 422
    assert "51 rows, but the limit is 50" in answer.json()["error"]


def test_too_many_labels_and_samples_are_refused(hasty: httpx.Client) -> None:
    labels = {"labels": [{"row": 1, "label": "setosa"}] * 51}
    assert hasty.post("/v1/models/flowers/labels", json=labels).status_code == 422
    tensor = {"name": "input", "shape": [51, 4], "datatype": "FP64", "data": [1.0] * 204}
    assert hasty.post("/v2/models/flowers/infer", json={"inputs": [tensor]}).status_code == 422


def talk(client: httpx.Client, *parts: bytes, pause: float = 0.0) -> bytes:
    """Send bytes as they are, with a pause before each but the first, and return what comes back until the end."""
    url = urlsplit(str(client.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=20) as connection:
        try:
            for number, part in enumerate(parts):
                time.sleep(pause if number else 0)
                connection.sendall(part)
            received = connection.recv(65536)
            while received and b"\r\n\r\n" not in received:
                received += connection.recv(65536)
        except (ConnectionResetError, BrokenPipeError):
            return b"reset"
    return received


def head(path: str, *lines: str, method: str = "POST") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", *lines, "", ""]).encode()


PREDICT = "/v1/models/flowers/predict"


def test_a_body_that_does_not_come_is_not_waited_for(hasty: httpx.Client) -> None:
    lines = ("Content-Type: application/json", "Content-Length: 1000")
    start = time.monotonic()
    received = talk(hasty, head(PREDICT, *lines) + b'{"rows"')
    assert received.startswith(b"HTTP/1.1 408 ")
    assert time.monotonic() - start > SECONDS / 2


def test_a_body_that_comes_in_drops_is_not_waited_for(hasty: httpx.Client) -> None:
    lines = ("Content-Type: application/json", "Transfer-Encoding: chunked")
    drops = [b"1\r\n \r\n"] * 6
    received = talk(hasty, head(PREDICT, *lines), *drops, pause=SECONDS / 4)
    assert received.startswith(b"HTTP/1.1 408 ")


def test_a_table_that_does_not_come_is_not_waited_for(hasty: httpx.Client) -> None:
    received = talk(hasty, head("/v1/models/new", "Content-Length: 1000", method="PUT") + b"a,b\n")
    assert received.startswith(b"HTTP/1.1 408 ")
    assert hasty.get("/v1/models/new").status_code == 404


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 4", "Content-Length: 5"),
        ("Content-Length: 4", "Transfer-Encoding: chunked"),
        ("Content-Length: -1",),
        ("Content-Length: 99999999999999999999999999",),
        ("Transfer-Encoding: gzip, nonsense",),
        ("Content Length: 4",),
        ("X: a\x00b",),
    ],
)
def test_a_head_that_can_be_read_in_two_ways_is_refused(client: httpx.Client, lines: tuple[str, ...]) -> None:
    received = talk(client, head(PREDICT, "Content-Type: application/json", *lines) + b"null\r\n\r\n")
    assert received.startswith((b"HTTP/1.1 400 ", b"reset"))
    assert b'{"error": "' in received or received == b"reset"


def test_a_head_has_a_limit(client: httpx.Client) -> None:
    many = [b"X: " + b"a" * 2**16 + b"\r\n"] * (4 * _service.MAX_HEAD_BYTES // 2**16)
    received = talk(client, head("/livez", method="GET")[:-2], *many)
    assert received.startswith((b"HTTP/1.1 431 ", b"reset"))
    endless = talk(client, b"GET /livez?", *[b"a" * 2**16] * (4 * _service.MAX_HEAD_BYTES // 2**16))
    assert endless.startswith((b"HTTP/1.1 431 ", b"HTTP/1.1 400", b"reset"))
    assert client.get("/livez").status_code == 200


def test_a_head_of_usual_length_is_read_however_it_is_cut(client: httpx.Client) -> None:
    whole = head("/livez", "X: " + "a" * 5000, "Connection: close", method="GET")
    parts = [whole[start : start + 700] for start in range(0, len(whole), 700)]
    assert talk(client, *parts, pause=0.002).startswith(b"HTTP/1.1 200 ")


def test_a_head_that_does_not_come_is_not_waited_for(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_service, "SECONDS_FOR_HEAD", 0.3)
    assert talk(client, b"GET /livez HT").startswith(b"HTTP/1.1 408 ")
    url = urlsplit(str(client.base_url))
    with socket.create_connection((url.hostname, url.port), timeout=20) as silent:
        assert silent.recv(1) == b""


def test_a_client_that_goes_away_leaves_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with application(tmp_path) as client:
        url = urlsplit(str(client.base_url))
        for _ in range(3):
            with socket.create_connection((url.hostname, url.port), timeout=20) as connection:
                connection.sendall(head("/v1/models/new", "Content-Length: 100000", method="PUT") + b"a,b\n1,2\n")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            gone = 'status="499"' in client.get("/metrics").text
            left = list(tmp_path.glob("uploads/*"))
            if gone and not left:
                break
            time.sleep(0.02)
        assert gone
        assert not left
        assert client.get("/v1/models").json() == {"models": []}
    assert not [one for one in caplog.records if one.levelname == "ERROR"]


@pytest.mark.parametrize("path", ["/", "/v1", "/v1/models/", "/v1/models/a/b/c", "/../etc/passwd", "/%2e%2e/x", "/v3"])
def test_unknown_paths_are_not_found(client: httpx.Client, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"error": "Unknown path."}


def test_a_method_that_a_path_does_not_have_is_refused_with_those_it_has(client: httpx.Client) -> None:
    answer = client.post("/v1/models/flowers", json={})
    assert answer.status_code == 405
    assert answer.headers["allow"] == "DELETE, GET, PATCH, PUT"


def test_every_answer_has_headers_for_browsers_and_a_number(client: httpx.Client) -> None:
    for path in ("/v1/models", "/nothing", "/livez", "/metrics"):
        answer = client.get(path)
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.headers["x-request-id"]) == 16
        assert "server" not in answer.headers or answer.headers["server"] == "uvicorn"
