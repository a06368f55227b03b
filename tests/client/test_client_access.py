"""Access control of the client, requests about the service itself, and errors that name the cause."""

from __future__ import annotations

import pickle
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from service import flowers

from sslart.client import AccessError, Client, ServiceError, UnreachableError
from sslart.server import serve


def test_tokens_are_needed_once_there_is_one(tmp_path: Path) -> None:
    with serve(tmp_path) as service, Client(service.url) as local:
        secret = local.add_token("lead", "admin")
        with Client(service.url, token=f"{secret}\n") as client:
            reader = client.add_token("reader")
            assert [(one["name"], one["scopes"]) for one in client.tokens()] == [
                ("lead", ["admin", "learn", "read"]),
                ("reader", ["read"]),
            ]
            with pytest.raises(AccessError, match="A token is required") as raised:
                local.models()
            assert raised.value.status == 401
            with Client(service.url, reader) as other:
                assert other.models() == []
                with pytest.raises(AccessError, match="does not have the scope 'learn'"):
                    other.create("flowers")
            client.revoke_token("reader")
            with Client(service.url, reader) as other, pytest.raises(PermissionError):
                other.models()
            assert secret not in repr(client)
            assert secret not in repr(vars(client))


@pytest.mark.parametrize("token", ["", "two words", "grün", "a\nb"])
def test_a_token_that_is_none_is_refused_and_not_shown(token: str) -> None:
    with pytest.raises(ValueError, match="invalid characters") as raised:
        Client(token=token)
    assert not token or token not in str(raised.value)


@pytest.mark.parametrize("url", ["127.0.0.1:8707", "ftp://host", "http://", "http://me:secret@host"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="address"):
        Client(url)


def test_a_backup_the_audit_log_and_readiness(tmp_path: Path) -> None:
    with serve(tmp_path) as service, Client(service.url) as client:
        assert client.ready()
        client.create("flowers")
        assert client.backup("monday")["file"] == "backups/monday.db"
        assert (tmp_path / "backups" / "monday.db").is_file()
        assert [one["action"] for one in client.audit()] == ["create", "backup"]
        assert [one["action"] for one in client.audit(after=1, most=1)] == ["backup"]


def test_a_service_that_is_not_there_is_named_with_the_cure() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with Client(f"http://127.0.0.1:{port}", retries=0) as client:
        assert not client.ready()
        with pytest.raises(UnreachableError, match=f"No answer from http://127.0.0.1:{port} .*sslart serve"):
            client.models()


def test_a_proxy_of_the_environment_is_not_asked_for_a_service_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    with serve(tmp_path) as service, Client(service.url, retries=0) as client:
        assert client.ready()


def test_another_program_at_the_address_is_recognised(tmp_path: Path) -> None:
    with serve(tmp_path) as service, Client(f"{service.url}/v1", retries=0) as client, pytest.raises(ServiceError):
        client.models()


def test_an_error_can_be_sent_to_another_process() -> None:
    error = AccessError("A token is required.", 401)
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy), copy.status) == (AccessError, "A token is required.", 401)


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)


def test_the_client_imports_neither_the_service_nor_the_estimators() -> None:
    names = ("sslart.client", "sslart.server", "sklearn", "pandas", "pydantic", "fastapi")
    heavy = f"[one for one in {names} if one in sys.modules]"
    found = run(f"import sslart, sys; print({heavy}); import sslart.client; print({heavy})")
    assert found.stdout == "[]\n['sslart.client']\n"


def test_without_httpx_the_error_has_the_command_that_installs_it() -> None:
    found = run("import sys; sys.modules['httpx'] = None; import sslart; sslart.client")
    assert 'This needs httpx, which is not installed: pip install "httpx' in found.stderr


class Scripted:
    """A transport whose requests have given outcomes, and that notes its pauses instead of making them."""

    def __init__(self, outcomes: list[httpx.Response | Exception]) -> None:
        self.outcomes, self.pauses = outcomes, list[float]()

    async def send(self, content: object, **request: object) -> httpx.Response:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)


BUSY = httpx.Response(429, headers={"retry-after": "2"}, content=b'{"error": "Too much waits."}')
GOOD = httpx.Response(200, content=b'{"models": [], "model": "flowers", "sequence": 1}')
REFUSED = httpx.ConnectError("refused")


def outcome_after(
    outcomes: list[httpx.Response | Exception], ask: Callable[[Client], object] = Client.models
) -> tuple[object, list[float]]:
    """Return the result of a call whose requests have these outcomes, and the pauses between them."""
    client = Client()
    client._connection.transport = transport = Scripted(outcomes)
    try:
        return ask(client), transport.pauses
    except ServiceError as error:
        return error, transport.pauses


def test_a_request_waits_as_long_as_the_service_asks_for() -> None:
    assert outcome_after([BUSY, BUSY, GOOD]) == ([], [2.0, 2.0])


def test_pauses_double_and_differ_from_client_to_client() -> None:
    found, pauses = outcome_after([REFUSED] * 6)
    assert isinstance(found, UnreachableError)
    bounds = [0.25 * 2**attempt for attempt in range(5)]
    assert all(bound / 2 <= pause <= bound for pause, bound in zip(pauses, bounds, strict=True))
    assert pauses != outcome_after([REFUSED] * 6)[1]


def test_nobody_waits_for_minutes() -> None:
    found, pauses = outcome_after([httpx.Response(429, headers={"retry-after": "60"})])
    assert isinstance(found, ServiceError)
    assert (found.status, pauses) == (429, [])


def test_a_wrong_request_is_not_repeated() -> None:
    found, pauses = outcome_after([httpx.Response(500, content=b"oops")])
    assert str(found) == "The service responded with status 500."
    assert pauses == []


@pytest.mark.parametrize(
    ("ask", "n_pauses"),
    [(lambda client: client.learn("flowers", [{"a": 1}]), 1), (lambda client: client.create("flowers"), 0)],
    ids=["with a key", "without"],
)
def test_what_changes_something_is_repeated_with_a_key_only(ask: Callable[[Client], object], n_pauses: int) -> None:
    assert len(outcome_after([BUSY, GOOD], ask)[1]) == n_pauses


def test_a_fit_is_not_a_table_that_is_sent_twice(tmp_path: Path) -> None:
    with serve(tmp_path) as service, Client(service.url) as client:
        client.fit("flowers", flowers(), label="species")
        with pytest.raises(ValueError, match="There is already a model named 'flowers'"):
            client.fit("flowers", flowers(), label="species")
