"""Access control: names of the service, pages of other sites, tokens, and their scopes."""

from __future__ import annotations

import http.client
import json
import logging
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.routing import APIRoute
from service import Process, application, fit_flowers, flowers, rows_of

from sslart.server._service import Options, run
from sslart.server.api import _middleware
from sslart.server.api._app import ROUTES as API_ROUTES
from sslart.server.api._endpoint import scope_of
from sslart.server.api._metrics import Metrics
from sslart.server.api._middleware import OPEN_PATHS
from sslart.server.store import Store
from sslart.server.store._store import add_token

SCOPES = ("read", "learn", "admin")
ROUTES = [
    (method, route.path_format, scope_of(route), route.path)
    for route in API_ROUTES
    if isinstance(route, APIRoute)
    for method in sorted(route.methods)
]
EXPECTED = {
    "read": {
        "POST /v1/models/{name}/predict",
        "POST /v1/models/{name}/explain",
        "POST /v1/models/{name}/contributions",
        "POST /v1/models/{name}/counterfactual",
        "POST /v1/models/{name}/similar",
        "POST /v1/models/{name}/rules/cover",
        "POST /v1/models/{name}/trial",
        "POST /v1/models/{name}/search",
        "POST /v2/models/{name}/infer",
        "POST /v2/models/{name}/versions/{version}/infer",
    },
    "admin": {
        "DELETE /v1/models/{name}",
        "GET /v1/tokens",
        "POST /v1/tokens",
        "DELETE /v1/tokens/{name}",
        "POST /v1/backup",
        "GET /v1/audit",
    },
}


class Guarded(NamedTuple):
    """A service with a token of each scope."""

    client: httpx.Client
    tokens: dict[str, str]

    def ask(self, method: str, path: str, scope: str | None, **options: Any) -> httpx.Response:
        headers = {} if scope is None else {"authorization": f"Bearer {self.tokens[scope]}"}
        return self.client.request(method, path, headers=headers, **options)


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guarded]:
    with application(tmp_path_factory.mktemp("store")) as client:
        fit_flowers(client)
        admin = client.post("/v1/tokens", json={"name": "admin", "scope": "admin"}).json()["token"]
        tokens = {"admin": admin}
        for scope in ("read", "learn"):
            body = {"name": scope, "scope": scope}
            made = client.post("/v1/tokens", json=body, headers={"authorization": f"Bearer {admin}"})
            tokens[scope] = made.json()["token"]
        yield Guarded(client, tokens)


def answered(client: httpx.Client, target: str = "/v1/models", headers: dict[str, str] | None = None) -> int:
    """Return the status of an answer to a request with exactly these headers."""
    connection = http.client.HTTPConnection(urlsplit(str(client.base_url)).netloc, timeout=20)
    connection.putrequest("GET", target, skip_host=True, skip_accept_encoding=True)
    for name, value in (headers or {}).items():
        connection.putheader(name, value)
    connection.endheaders()
    try:
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8707", "localhost", "LOCALHOST:1", "[::1]", "[::1]:8707"])
def test_the_service_answers_to_its_own_names(client: httpx.Client, host: str) -> None:
    assert answered(client, headers={"Host": host}) == 200


OTHER_NAMES = """
evil.example evil.example:8707 localhost.evil.example evil.example:127.0.0.1 127.0.0.1.evil.example 127.0.0.1:evil
[::1]evil.example. localhost. 127.0.0.1@evil.example 0.0.0.0 [evil]:80
"""


@pytest.mark.parametrize("host", ["", " ", *OTHER_NAMES.split()])
def test_a_name_that_another_site_points_at_this_machine_is_refused(client: httpx.Client, host: str) -> None:
    assert answered(client, headers={"Host": host}) == 421


def test_a_request_without_a_host_is_refused(client: httpx.Client) -> None:
    assert answered(client) == 421


def test_a_request_with_two_hosts_is_refused(client: httpx.Client) -> None:
    connection = http.client.HTTPConnection(urlsplit(str(client.base_url)).netloc, timeout=20)
    connection.putrequest("GET", "/v1/models", skip_host=True)
    connection.putheader("Host", "evil.example")
    connection.putheader("Host", "127.0.0.1")
    connection.endheaders()
    assert connection.getresponse().status == 400
    connection.close()


def test_the_host_counts_and_not_the_target(client: httpx.Client) -> None:
    assert answered(client, "http://127.0.0.1/v1/models", {"Host": "evil.example"}) == 421
    assert answered(client, "http://evil.example/v1/models", {"Host": "evil.example"}) == 421


@pytest.mark.parametrize("path", sorted(OPEN_PATHS))
def test_also_the_health_is_told_to_no_other_site(client: httpx.Client, path: str) -> None:
    assert client.get(path, headers={"host": "evil.example"}).status_code == 421
    assert client.get(path, headers={"origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize(
    "origin",
    ["null", "https://evil.example", "http://127.0.0.1", "http://127.0.0.1:1", "http://localhost", "file://", "", "*"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "OPTIONS"])
def test_pages_of_other_sites_are_refused(client: httpx.Client, method: str, origin: str) -> None:
    answer = client.request(method, "/v1/models/flowers", headers={"origin": origin})
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_page_of_the_service_itself_may_ask(client: httpx.Client) -> None:
    assert client.get("/v1/models", headers={"origin": str(client.base_url).rstrip("/")}).status_code == 200


@pytest.mark.parametrize(
    ("site", "status"), [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)]
)
def test_a_browser_tells_whose_page_asks(client: httpx.Client, site: str, status: int) -> None:
    assert client.get("/v1/models", headers={"sec-fetch-site": site}).status_code == status


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", "a/json"]
)
@pytest.mark.parametrize("path", ["predict", "decide", "learn", "labels", "explain"])
def test_a_form_of_a_page_cannot_send_json(client: httpx.Client, path: str, kind: str) -> None:
    body = b'{"rows": [{"sepal_length": 1}], "labels": [{"row": 1, "label": "x"}]}'
    answer = client.post(f"/v1/models/flowers/{path}", content=body, headers={"content-type": kind})
    assert answer.status_code == 415


@pytest.mark.parametrize("header", ["x-forwarded-for", "forwarded", "via", "x-real-ip"])
def test_without_tokens_nobody_comes_in_through_a_proxy(client: httpx.Client, guarded: Guarded, header: str) -> None:
    answer = client.get("/v1/models", headers={header: "203.0.113.7"})
    assert answer.status_code == 403
    assert "--behind-proxy" in answer.json()["error"]
    assert client.get("/livez", headers={header: "203.0.113.7"}).status_code == 200
    headers = {header: "203.0.113.7", "authorization": f"Bearer {guarded.tokens['read']}"}
    assert guarded.client.get("/v1/models", headers=headers).status_code == 200


def test_every_path_asks_for_a_scope() -> None:
    without = {path for _, path, scope, _ in ROUTES if scope is None}
    assert without == set(OPEN_PATHS)


def test_what_changes_something_is_not_for_those_who_read() -> None:
    for method, path, scope, _ in ROUTES:
        name = f"{method} {path}"
        if path in OPEN_PATHS:
            continue
        usual = "read" if method == "GET" else "learn"
        expected = next((one for one, names in EXPECTED.items() if name in names), usual)
        assert scope == expected, name


@pytest.mark.parametrize(("method", "path"), [pytest.param(m, p, id=f"{m} {p}") for m, p, s, _ in ROUTES if s])
def test_a_token_without_the_scope_is_refused(guarded: Guarded, method: str, path: str) -> None:
    scope = next(one for m, p, one, _ in ROUTES if (m, p) == (method, path))
    filled = (
        path.replace("{name}", "nothing").replace("{row}", "1").replace("{sequence}", "1").replace("{version}", "1")
    )
    assert guarded.ask(method, filled, None).status_code == 401
    for one in SCOPES:
        if one == scope:
            break
        answer = guarded.ask(method, filled, one)
        assert answer.status_code == 403, one
        assert answer.json()["error"] == f"The token {one!r} does not have the scope {scope!r}."


@pytest.mark.parametrize(
    ("method", "path", "scope", "status"),
    [
        ("GET", "/v1/models", "read", 200),
        ("GET", "/metrics", "read", 200),
        ("GET", "/v2", "read", 200),
        ("POST", "/v1/models/flowers/snapshot", "learn", 200),
        ("GET", "/v1/tokens", "admin", 200),
        ("GET", "/v1/audit", "admin", 200),
    ],
)
def test_a_token_with_the_scope_is_enough(guarded: Guarded, method: str, path: str, scope: str, status: int) -> None:
    for one in SCOPES[SCOPES.index(scope) :]:
        assert guarded.ask(method, path, one).status_code == status


@pytest.mark.parametrize("path", ["/openapi.json", "/nothing", "/v1/models/nothing", "/"])
def test_without_a_token_nothing_is_told_about_what_is_there(guarded: Guarded, path: str) -> None:
    answer = guarded.ask("GET", path, None)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", sorted(OPEN_PATHS))
def test_health_needs_no_token(guarded: Guarded, path: str) -> None:
    assert guarded.ask("GET", path, None).status_code == 200


@pytest.mark.parametrize("kind", ["bearer", "BEARER", "Bearer"])
def test_the_kind_of_a_token_may_be_written_in_any_case(guarded: Guarded, kind: str) -> None:
    headers = {"authorization": f"{kind}   {guarded.tokens['read']}"}
    assert guarded.client.get("/v1/models", headers=headers).status_code == 200


def test_wrong_tokens_are_soon_not_looked_at(tmp_path: Path) -> None:
    with application(tmp_path) as client:
        good = client.post("/v1/tokens", json={"name": "me", "scope": "admin"}).json()["token"]
        wrong = [{"authorization": one} for one in ("Bearer x", "Basic x", "Bearer", "x", "Bearer é".encode("latin-1"))]
        statuses = [client.get("/v1/models", headers=one).status_code for _ in range(2) for one in wrong]
        assert statuses == [401] * _middleware.MAX_FAILURES
        refused = client.get("/v1/models", headers={"authorization": f"Bearer {good}"})
        assert refused.status_code == 429
        assert 0 < int(refused.headers["retry-after"]) <= _middleware.SECONDS_OF_FAILURES
        assert client.get("/livez").status_code == 200


def test_requests_without_any_token_are_no_failed_attempts(tmp_path: Path) -> None:
    with application(tmp_path) as client:
        good = client.post("/v1/tokens", json={"name": "me", "scope": "admin"}).json()["token"]
        assert {client.get("/v1/models").status_code for _ in range(30)} == {401}
        assert client.get("/v1/models", headers={"authorization": f"Bearer {good}"}).status_code == 200


def test_a_revoked_token_is_refused_at_once(guarded: Guarded) -> None:
    made = guarded.ask("POST", "/v1/tokens", "admin", json={"name": "guest", "scope": "admin"}).json()["token"]
    headers = {"authorization": f"Bearer {made}"}
    assert guarded.client.get("/v1/models", headers=headers).status_code == 200
    assert guarded.ask("DELETE", "/v1/tokens/guest", "admin").status_code == 204
    assert guarded.client.get("/v1/models", headers=headers).status_code == 401
    assert guarded.ask("DELETE", "/v1/tokens/guest", "admin").status_code == 404


def test_names_of_tokens_are_unique_and_printable(guarded: Guarded) -> None:
    assert guarded.ask("POST", "/v1/tokens", "admin", json={"name": "read"}).status_code == 409
    for name in ("", "\x1b[31m", "a\nb", "x" * 101):
        assert guarded.ask("POST", "/v1/tokens", "admin", json={"name": name}).status_code == 422


def test_the_first_token_can_make_others(client: httpx.Client) -> None:
    answer = client.post("/v1/tokens", json={"name": "reader", "scope": "read"})
    assert answer.status_code == 409
    assert "admin" in answer.json()["error"]
    assert client.get("/v1/tokens").json() == {"tokens": []}


def test_tokens_are_listed_without_their_secrets(guarded: Guarded) -> None:
    answer = guarded.ask("GET", "/v1/tokens", "admin")
    scopes = {one["name"]: one["scopes"] for one in answer.json()["tokens"]}
    assert scopes["learn"] == ["learn", "read"]
    assert not [secret for secret in guarded.tokens.values() if secret in answer.text]


def refusal(folder: Path, **options: Any) -> str:
    """Return why a service is not started."""
    with pytest.raises((ValueError, FileNotFoundError)) as error:
        run(Options(folder, port=0, **options))
    return str(error.value)


@pytest.fixture
def _as_before() -> Iterator[None]:
    """Let the log and the threads of this process be as before: a service sets them for a process of its own."""
    loggers = [logging.getLogger(name) for name in ("sslart.server", "uvicorn", "asyncio")]
    before = [(one.handlers, one.propagate, one.level) for one in loggers]
    seconds = sys.getswitchinterval()
    yield
    sys.setswitchinterval(seconds)
    for one, (handlers, propagate, level) in zip(loggers, before, strict=True):
        one.handlers, one.propagate = handlers, propagate
        one.setLevel(level)


def test_beyond_this_machine_the_service_wants_tls(tmp_path: Path) -> None:
    assert "--tls-cert and --tls-key" in refusal(tmp_path, host="0.0.0.0")
    assert "--tls-cert and --tls-key" in refusal(tmp_path, host="::")
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("_as_before")
def test_beyond_this_machine_the_service_wants_tokens(tmp_path: Path) -> None:
    assert "--add-token NAME --scope admin" in refusal(tmp_path, host="0.0.0.0", behind_proxy=True)
    assert "--add-token NAME --scope admin" in refusal(tmp_path, host="127.0.0.1", behind_proxy=True)


def test_half_of_the_tls_options_is_refused(tmp_path: Path) -> None:
    there = tmp_path / "cert.pem"
    there.touch()
    assert "both" in refusal(tmp_path, tls_cert=there)
    assert "no file" in refusal(tmp_path, tls_cert=there, tls_key=tmp_path / "none.pem")


class Visit(NamedTuple):
    """Observations of a service that listens beyond this machine, with TLS."""

    folder: Path
    url: str
    secret: str
    answers: dict[str, httpx.Response]
    log: str


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Visit:
    """Run a service as it is run for others, and ask it this and that."""
    folder = tmp_path_factory.mktemp("visited")
    cert, key = certificate(tmp_path_factory.mktemp("tls"))
    with Store(folder) as store:
        secret = store.submit(lambda connection: add_token(connection, "me", "admin")).result()
    process = Process(folder, "--host", "0.0.0.0", "--tls-cert", str(cert), "--tls-key", str(key), "--log-all")
    base = f"https://localhost:{urlsplit(process.url).port}"
    good = {"authorization": f"Bearer {secret}", "idempotency-key": "key-of-mine"}
    with httpx.Client(verify=ssl.create_default_context(cafile=cert), base_url=base, timeout=60) as client:
        answers = {
            "without": client.get("/v1/models"),
            "with": client.get("/v1/models", headers=good),
            "rebound": client.get("/v1/models", headers={**good, "host": "evil.example"}),
            "wrong": client.get("/v1/models", headers={"authorization": f"Bearer {secret}x"}),
            "forged": client.get("/v1/models/%0A%7B%22level%22%3A%22forged%22%7D%1B%5B31m", headers=good),
            "created": client.post("/v1/models", json={"name": "stream"}, headers=good),
            "learnt": client.post("/v1/models/stream/learn", json={"rows": [{"x": 1.0}]}, headers=good),
            "audit": client.get("/v1/audit", headers=good),
            "metrics": client.get("/metrics", headers=good),
            "backup": client.post("/v1/backup", json={"name": "copy"}, headers=good),
        }
    return Visit(folder, process.url, secret, answers, process.stop())


def certificate(folder: Path) -> tuple[Path, Path]:
    """Return a certificate for this machine, and its key."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"]
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files = ["-keyout", str(key), "-out", str(cert), "-days", "2"]
    try:
        subprocess.run([*command, *files, *name], check=True, capture_output=True)
    except (FileNotFoundError, subprocess.CalledProcessError):
        pytest.skip("there is no openssl that makes a certificate")
    return cert, key


def test_with_tls_and_a_token_the_service_can_be_reached(visit: Visit) -> None:
    assert visit.url.startswith("https://0.0.0.0:")
    assert visit.answers["without"].status_code == 401
    assert visit.answers["with"].status_code == 200
    assert visit.answers["rebound"].status_code == 421


def test_secrets_are_in_no_file_log_error_or_metric(visit: Visit) -> None:
    secret = visit.secret.removeprefix("sslart_")
    kept = b"".join(path.read_bytes() for path in sorted(visit.folder.rglob("*")) if path.is_file())
    assert kept.count(b"SQLite format 3") == 2  # the store and its backup
    assert secret.encode() not in kept
    assert '"path": "/v1/models/stream/learn"' in visit.log
    assert '"actor": "me"' in visit.log
    assert secret not in visit.log
    assert not [name for name, one in visit.answers.items() if secret in one.text]


def test_a_request_is_logged_in_one_line_whatever_its_path_holds(visit: Visit) -> None:
    assert "forged" in visit.log
    assert all(json.loads(line)["level"] in ("info", "warning") for line in visit.log.splitlines())
    assert "\x1b" not in visit.log


def test_who_did_what_is_in_the_audit_log(guarded: Guarded) -> None:
    row = rows_of(flowers())[0]
    sent = guarded.ask("POST", "/v1/models/flowers/learn", "learn", json={"rows": [row]}).json()["rows"][0]
    given = {"labels": [{"row": sent, "label": "setosa"}]}
    assert guarded.ask("POST", "/v1/models/flowers/labels", "learn", json=given).status_code == 200
    guarded.ask("POST", "/v1/models/flowers/snapshot", "admin")
    history = guarded.ask("GET", f"/v1/models/flowers/labels?row={sent}", "read").json()["labels"]
    assert [(one["actor"], one["label"], one["previous"]) for one in history] == [("learn", "setosa", None)]
    assert abs(history[0]["time"] - time.time()) < 60
    end = time.monotonic() + 5
    entries: list[Any] = []
    while time.monotonic() < end and ("admin", "snapshot") not in entries:
        audit = guarded.ask("GET", "/v1/audit?most=10000", "admin").json()["audit"]
        entries = [(one["actor"], one["action"]) for one in audit]
    assert ("local", "create") in entries
    assert ("admin", "snapshot") in entries


def test_an_unexpected_error_is_logged_and_told_without_any_detail(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_: Metrics) -> bytes:
        raise KeyError("a secret of the inside")

    monkeypatch.setattr(Metrics, "text", broken)
    with caplog.at_level(logging.ERROR, "sslart.server.access"):
        answer = client.get("/metrics")
        end = time.monotonic() + 10
        while "a secret of the inside" not in caplog.text and time.monotonic() < end:
            time.sleep(0.01)
    assert answer.status_code == 500
    assert answer.json() == {"error": "Internal error: see the log of the service."}
    assert "a secret of the inside" in caplog.text
