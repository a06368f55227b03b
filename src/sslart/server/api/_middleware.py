"""Middleware of every request: host, origin, token, size, and time limit checks, logging, and metrics."""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import threading
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect

from sslart.server.api._errors import ApiError, answer_to
from sslart.server.api._metrics import Metrics
from sslart.server.models._settings import Limits
from sslart.server.store import Store
from sslart.server.store._store import SCOPES, Token, add_token, revoke_token, token_hash, tokens

LOCAL = Token("local", frozenset(SCOPES), 0.0)  # used on loopback while no tokens exist
MAX_FAILURES = 10
SECONDS_OF_FAILURES = 60.0
MAX_CLIENTS = 10_000
OPEN_PATHS = frozenset({"/livez", "/readyz", "/v2/health/live", "/v2/health/ready"})
LONG_SECONDS = 900.0  # time limit of tables, exports and requests that wait for a job
EVENTS_PATH = "/v1/events"
FORWARDED = (b"forwarded", b"x-forwarded-for", b"x-forwarded-host", b"x-real-ip", b"via")
CLIENT_GONE = 499
PAGES_PATH = "/studio/"
ALWAYS = ((b"x-content-type-options", b"nosniff"),)
HEADERS = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'; sandbox"),
)

# work on all samples of a model may take long
_LONG = re.compile(r"/(export|samples|values/\w+|boxes|boxes/\d+|search|questions|quality|random_order|trial)$")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::\d*)?")

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

logger = logging.getLogger("sslart.server.access")


class Failures:
    """Counters of recent failed authentications per client."""

    def __init__(self) -> None:
        self._times: OrderedDict[str, deque[float]] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, client: str) -> None:
        """Count a wrong token."""
        with self._lock:
            times = self._times.setdefault(client, deque(maxlen=MAX_FAILURES))
            times.append(time.monotonic())
            self._times.move_to_end(client)
            if len(self._times) > MAX_CLIENTS:
                self._times.popitem(last=False)

    def seconds_to_wait(self, client: str) -> int:
        """Return the seconds for which a client is blocked; 0 if it is not."""
        times = self._times.get(client)
        if times is None or len(times) < MAX_FAILURES:
            return 0
        return max(0, int(times[0] + SECONDS_OF_FAILURES - time.monotonic()))


class Access:
    """Authentication by tokens; with `needs_token`, requests need one even if none exists yet."""

    def __init__(self, store: Store, *, needs_token: bool) -> None:
        self._store, self._needs_token = store, needs_token
        self._tokens = tokens(store.reader())
        self.failures = Failures()

    def known(self) -> list[Token]:
        """Return all tokens, without their secrets."""
        return list(self._tokens.values())

    def check(self, authorization: str | None, client: str) -> Token:
        """Return the token that a request was sent with, or raise an ApiError."""
        if not self._tokens and not self._needs_token:
            return LOCAL
        wait = self.failures.seconds_to_wait(client)
        if wait:
            raise ApiError(429, "Too many wrong tokens: try again later.", {"retry-after": str(wait)})
        kind, _, secret = (authorization or "").partition(" ")
        token = self._tokens.get(token_hash(secret.strip())) if kind.lower() == "bearer" else None
        if token is None:
            if authorization is not None:
                self.failures.add(client)
            raise ApiError(
                401, "A token is required: send the header Authorization: Bearer TOKEN.", {"www-authenticate": "Bearer"}
            )
        return token

    def add(self, name: str, scope: str) -> str:
        """Add a token, and return its secret."""
        secret = self._store.submit_own(lambda connection: add_token(connection, name, scope)).result()
        self._tokens = tokens(self._store.reader())
        return secret

    def revoke(self, name: str) -> None:
        """Remove a token."""
        self._store.submit_own(lambda connection: revoke_token(connection, name)).result()
        self._tokens = tokens(self._store.reader())


@dataclass
class Middleware:
    """An ASGI application around another."""

    app: Any
    access: Access
    metrics: Metrics
    limits: Limits
    hosts: frozenset[str]  # allowed Host headers in lower case, without port: prevents DNS rebinding
    log_all: bool = False  # log every request, not only writes and failures
    pages: Any = None  # application below /studio/, without tokens and with its own headers

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        is_page = self.pages is not None and scope["path"].startswith(PAGES_PATH)
        request = _RequestState(scope, receive, send, self.limits, () if is_page else HEADERS)
        try:
            self._check(scope, request.headers)
            if not is_page:
                self._check_token(scope, request.headers)
            async with asyncio.timeout(request.seconds_allowed()):
                await (self.pages if is_page else self.app)(scope, request.receive, request.send)
        except (ApiError, TimeoutError) as error:
            if request.status is None:
                await answer_to(_too_slow() if request.is_waiting else error)(scope, receive, request.send)
        except ClientDisconnect:
            request.status = CLIENT_GONE
        except Exception as error:
            logger.exception("unexpected error", extra={"request": request.id})
            if request.status is None:
                await answer_to(error)(scope, receive, request.send)
        finally:
            self._note(scope, request)

    def _check(self, scope: Any, headers: dict[bytes, bytes]) -> None:
        if sum(name == b"host" for name, _ in scope["headers"]) > 1:
            raise ApiError(400, "The request has more than one Host header.")
        host = headers.get(b"host", b"").decode("latin-1").lower()
        found = _HOST.fullmatch(host)
        if found is None or found[1] not in self.hosts:
            raise ApiError(421, f"Unknown host name {host!r}: start the service with --allow-host to allow it.")
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() not in (f"http://{host}", f"https://{host}"):
            raise ApiError(403, "Requests from pages of other sites are refused.")
        if headers.get(b"content-encoding", b"identity") != b"identity":
            raise ApiError(415, "The body is compressed: send it without Content-Encoding.")
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            raise ApiError(403, "Requests from pages of other sites are refused.")

    def _check_token(self, scope: Any, headers: dict[bytes, bytes]) -> None:
        if scope["path"] not in OPEN_PATHS:
            client = (scope.get("client") or ("unknown",))[0]
            authorization = headers.get(b"authorization")
            given = None if authorization is None else authorization.decode("latin-1")
            token = scope["sslart.token"] = self.access.check(given, client)
            if token is LOCAL and any(name in headers for name in FORWARDED):
                raise ApiError(403, "The request was forwarded by a proxy: start the service with --behind-proxy.")

    def _note(self, scope: Any, request: _RequestState) -> None:
        seconds, status = time.perf_counter() - request.start, request.status or CLIENT_GONE
        path = getattr(scope.get("route"), "path", "other")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self.metrics.requests.labels(method, path, status).inc()
        self.metrics.seconds.labels(path).observe(seconds)
        is_failure = status >= 500 and scope["path"] not in OPEN_PATHS
        if self.log_all or is_failure or (method not in ("GET", "HEAD") and status in (401, 403, 421)):
            token = scope.get("sslart.token")
            details = {
                "request": request.id,
                "method": method,
                "path": scope["path"],
                "status": status,
                "milliseconds": round(1000 * seconds, 2),
                "actor": None if token is None else token.name,
                "client": (scope.get("client") or (None,))[0],
            }
            logger.info("request", extra=details)


class _RequestState:
    """State of one request: bytes received, and the response status."""

    def __init__(self, scope: Any, receive: Any, send: Any, limits: Limits, added: Any) -> None:
        self._scope, self._receive, self._send, self._limits = scope, receive, send, limits
        self._added = (*ALWAYS, *added)
        self.headers: dict[bytes, bytes] = dict(scope["headers"])
        self.start, self.id = time.perf_counter(), secrets.token_hex(8)
        self.status: int | None = None
        self._n_bytes, self._has_come, self.is_waiting = 0, False, False
        method = scope["method"]
        self._is_upload = method == "PUT" or (method == "POST" and scope["path"].endswith("/table"))
        self._most = limits.max_table if self._is_upload else limits.max_body

    def seconds_allowed(self) -> float | None:
        """Return the time limit of the request; None for a stream of events."""
        if self._scope["path"] == EVENTS_PATH:
            return None
        is_long = self._is_upload or b"wait=" in self._scope["query_string"] or _LONG.search(self._scope["path"])
        return LONG_SECONDS if is_long else self._limits.timeout

    async def receive(self) -> Any:
        """Return the next part of the body, within the limits of size and time.

        After the whole body, the next message is the end of the connection, at any time.
        """
        length = self.headers.get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._most:
            raise self._too_large()
        self.is_waiting = self.status is None and not self._has_come
        try:
            async with asyncio.timeout(self._limits.timeout if self.is_waiting else None):
                message = await self._receive()
        except TimeoutError as error:
            raise _too_slow() from error
        self.is_waiting, self._has_come = False, not message.get("more_body", False)
        self._n_bytes += len(message.get("body", b""))
        if self._n_bytes > self._most:
            raise self._too_large()
        return message

    def _too_large(self) -> ApiError:
        return ApiError(413, f"The body is larger than the limit of {self._most} bytes: send less at a time.")

    async def send(self, message: Any) -> None:
        """Forward the response, with security headers."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            message["headers"] = [*message.get("headers", ()), *self._added, (b"x-request-id", self.id.encode())]
        await self._send(message)


def _too_slow() -> ApiError:
    """Return the error for a body that arrives too slowly."""
    return ApiError(408, "The body was sent too slowly: send it again, or in smaller parts.")
