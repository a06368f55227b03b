"""A connection to a server on this machine, for requests that are not measured."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from serve.calls import JSON, Call

SECONDS_TO_START = 120.0


class Http:
    """One connection that is kept."""

    def __init__(self, url: str, timeout: float = 120.0) -> None:
        self.url, self._timeout = url, timeout
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=timeout)

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> bytes:
        """Return the body of the answer; raise a RuntimeError where it is an error."""
        self._connection.request(method, path, body, headers or {})
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {content[:500].decode(errors='replace')}")
        return content

    def get(self, path: str) -> Any:
        """Return an answer that is JSON."""
        return json.loads(self.send("GET", path))

    def post(self, path: str, values: Any) -> Any:
        """Send JSON, and return an answer that is JSON."""
        return json.loads(self.send("POST", path, json.dumps(values).encode(), JSON))

    def call(self, call: Call, number: int) -> bytes:
        """Send one request of a kind."""
        return self.send("POST", call.path, call.bodies[number % len(call.bodies)], call.headers)

    def close(self) -> None:
        self._connection.close()


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def wait_until(is_so: Callable[[], bool], what: str, seconds: float = SECONDS_TO_START) -> float:
    """Wait until something is so, and return the seconds it took."""
    start = time.perf_counter()
    while not is_so():
        if time.perf_counter() - start > seconds:
            raise TimeoutError(f"{what} took more than {seconds:.0f} seconds")
        time.sleep(0.02)
    return time.perf_counter() - start


def answers(url: str, path: str) -> bool:
    """Return True if a server answers, and answers yes."""
    http_once = Http(url, timeout=5)
    try:
        http_once.send("GET", path)
    except (OSError, http.client.HTTPException, RuntimeError):
        return False
    finally:
        http_once.close()
    return True
