"""Connection to a service: requests, retries, and events, written once for both clients.

Everything here is a coroutine. A `Waiting` transport blocks instead of suspending, so that `run` completes a coroutine
at once: that is the synchronous client. With an `Awaiting` transport, coroutines run in an event loop.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import random
import ssl
import time
from collections.abc import AsyncIterator, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import urlsplit

from sslart._utils.optional import optional
from sslart.client._results import Event, ServiceError, UnreachableError, error_of

if TYPE_CHECKING:
    import httpx
else:
    httpx = optional("httpx", "client")

SECONDS_TO_CONNECT = 10.0
FIRST_PAUSE = 0.25
MAX_PAUSE = 30.0  # a longer Retry-After raises the error at once
BUSY = (429, 503)
SILENCE = 45.0  # seconds without a line of events until reconnecting; the service sends one every 15
BYTES_PER_PART = 2**16

Result = TypeVar("Result")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Return the result of a coroutine that never suspends."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: Result = end.value
        return result
    raise RuntimeError("a coroutine of a waiting transport was suspended")


class Waiting:
    """Transport that blocks until a response arrives."""

    def __init__(self, **options: Any) -> None:
        self._http = httpx.Client(**options)

    async def send(self, content: bytes | Path | None, **request: Any) -> httpx.Response:
        """Send a request, and return the answer."""
        if not isinstance(content, Path):
            return self._http.request(content=content, **request)
        with content.open("rb") as file:
            return self._http.request(content=file, **request)

    async def open(self, **request: Any) -> httpx.Response:
        """Send a request; return the response without its body, unless it is an error."""
        found = self._http.send(self._http.build_request(**request), stream=True)
        if not found.is_success:
            found.read()
        return found

    async def lines(self, stream: httpx.Response) -> AsyncIterator[str]:
        """Yield the lines of an answer as they come."""
        for line in stream.iter_lines():
            yield line

    async def pause(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)

    async def close(self, stream: httpx.Response | None = None) -> None:
        """Close a stream, or all connections."""
        (self._http if stream is None else stream).close()


class Awaiting:
    """Transport that suspends until a response arrives."""

    def __init__(self, **options: Any) -> None:
        self._http = httpx.AsyncClient(**options)

    async def send(self, content: bytes | Path | None, **request: Any) -> httpx.Response:
        body = _parts_of(content) if isinstance(content, Path) else content
        return await self._http.request(content=body, **request)

    async def open(self, **request: Any) -> httpx.Response:
        found = await self._http.send(self._http.build_request(**request), stream=True)
        if not found.is_success:
            await found.aread()
        return found

    def lines(self, stream: httpx.Response) -> AsyncIterator[str]:
        return stream.aiter_lines()

    async def pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def close(self, stream: httpx.Response | None = None) -> None:
        await (self._http if stream is None else stream).aclose()


async def _parts_of(path: Path) -> AsyncIterator[bytes]:
    """Yield a file in parts."""
    with path.open("rb") as file:
        while part := await asyncio.to_thread(file.read, BYTES_PER_PART):
            yield part


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes
    ----------
    content : bytes, Path or None
        The body; a path means the content of the file.
    is_repeatable : bool
        Whether it may be repeated without a response: it is a read request, or has an Idempotency-Key.
    takes : tuple of int
        Statuses that are not errors here.
    seconds : float
        Additional seconds that the response may take.
    """

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False
    takes: tuple[int, ...] = ()
    seconds: float = 0.0


def get(path: str, **params: Any) -> Request:
    """Return a read request."""
    return Request("GET", path, params, is_repeatable=True)


def post(
    path: str, body: Any, *, key: str | None = None, is_repeatable: bool = False, wait: float = 0, method: str = "POST"
) -> Request:
    """Return a request with a JSON body, which may be repeated if it has a key or is a read request.

    The service waits up to `wait` seconds for the outcome.
    """
    content = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    headers = {"content-type": "application/json"} | ({} if key is None else {"idempotency-key": key})
    params = {"wait": wait or None}
    return Request(method, path, params, content, headers, is_repeatable or key is not None, seconds=wait)


class Connection:
    """Connection to a service, with the parameters of `Client`; `transport` is synchronous or asynchronous."""

    def __init__(
        self,
        transport: type[Waiting | Awaiting],
        url: str,
        token: str | None,
        timeout: float,
        retries: int,
        ca_file: str | Path | None,
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url!r} is not the address of a service: give one such as http://127.0.0.1:8707.")
        if parts.username is not None:
            raise ValueError("The address contains a user name or password: leave it out and give a token.")
        headers = {"user-agent": f"sslart/{version('sslart')}"}
        if token is not None:
            token = token.strip()
            if not (token and token.isascii() and token.isprintable() and " " not in token):
                raise ValueError("The token is empty or has invalid characters: copy it again.")
            headers["authorization"] = f"Bearer {token}"
        if not timeout > 0 or retries < 0:
            raise ValueError("timeout must be above 0, and retries at least 0.")
        self.url, self.timeout, self.retries = url.rstrip("/"), timeout, retries
        self.transport = transport(
            base_url=self.url,
            headers=headers,
            verify=_usual_certificates() if ca_file is None else ssl.create_default_context(cafile=ca_file),
            # proxies of the environment are not used for a service on this machine
            mounts=dict.fromkeys(("http://", "https://", "all://")) if _is_here(parts.hostname) else None,
        )

    async def send(self, request: Request) -> httpx.Response:
        """Send a request, with retries if it may be repeated; return the response, or raise a ServiceError."""
        attempt = 0
        while True:
            outcome: httpx.Response | httpx.TransportError
            try:
                options = self._options(request, self.timeout + request.seconds)
                outcome = await self.transport.send(request.content, **options)
                if outcome.is_success or outcome.status_code in request.takes:
                    return outcome
            except httpx.TransportError as error:
                outcome = error
            await self.pause_after(outcome, attempt, request)
            attempt += 1

    async def json(self, request: Request) -> dict[str, Any]:
        """Send a request, and return its answer as JSON."""
        answer = await self.send(request)
        try:
            return dict(answer.json())
        except ValueError as error:
            message = "The response is not from a sslart service: check the address."
            raise ServiceError(message, answer.status_code) from error

    async def open(self, request: Request) -> httpx.Response:
        """Return an answer without its body, which is a stream."""
        return await self.transport.open(**self._options(request, SILENCE))

    async def pause_after(
        self, outcome: httpx.Response | httpx.TransportError | None, attempt: int, request: Request
    ) -> None:
        """Pause before a retry, or raise the error if a retry is not allowed or useless."""
        # doubles with each attempt, with random jitter so that clients spread
        pause = min(FIRST_PAUSE * 2**attempt, MAX_PAUSE) * random.uniform(0.5, 1.0)
        is_repeatable, error = request.is_repeatable, _error(outcome, request, self.url)
        if isinstance(outcome, httpx.Response):
            asked = outcome.headers.get("retry-after", "")
            pause = max(float(asked) if asked.isdigit() else 0.0, pause)
            is_repeatable = is_repeatable and outcome.status_code in BUSY
        if attempt >= self.retries or not is_repeatable or pause > MAX_PAUSE:
            raise error
        await self.transport.pause(pause)

    def _options(self, request: Request, seconds: float) -> dict[str, Any]:
        """Return the options for sending a request, without its body."""
        query = {name: value for name, value in request.params.items() if value is not None and value != []}
        limits = httpx.Timeout(seconds, connect=min(SECONDS_TO_CONNECT, self.timeout))
        where = {"method": request.method, "url": request.path, "params": query}
        return {**where, "headers": request.headers, "timeout": limits}


@cache
def _usual_certificates() -> ssl.SSLContext:
    """Return the TLS settings of httpx, which take 20 ms to make."""
    return httpx.create_ssl_context()


def _error(outcome: httpx.Response | httpx.TransportError | None, request: Request, url: str) -> ServiceError:
    """Return the exception for an answer, or for none."""
    if isinstance(outcome, httpx.Response):
        try:
            message = str(outcome.json()["error"])
        except (ValueError, KeyError, TypeError):
            message = f"The service responded with status {outcome.status_code}."
        return error_of(outcome.status_code, message)
    cut_off = "the connection ended" if outcome is None else str(outcome) or "it was cut off"
    reason = "it took too long" if isinstance(outcome, httpx.TimeoutException) else cut_off
    message = f"No answer from {url} ({reason}): check the address, and that the service runs: sslart serve DIR."
    if not request.is_repeatable:
        message += " It is unknown whether the request was carried out."
    return UnreachableError(message)


def _is_here(host: str) -> bool:
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class AsyncEventStream:
    """Asynchronous iterator over events, created by `AsyncClient.events`."""

    def __init__(self, connection: Connection, model: str | None, kinds: Iterable[str], after: int | None) -> None:
        self._connection, self._params = connection, {"model": model, "kind": list(kinds)}
        self._parser, self._attempt, self._is_closed = LineParser(after), 0, False
        self._stream: httpx.Response | None = None
        self._lines: AsyncIterator[str] | None = None

    async def __aenter__(self) -> Self:
        """Connect, continuing after the last event received; raise a ServiceError when retries are exhausted."""
        while self._lines is None and not self._is_closed:
            last = {} if self._parser.last is None else {"last-event-id": str(self._parser.last)}
            request = Request("GET", "/v1/events", self._params, headers=last, is_repeatable=True)
            outcome: httpx.Response | httpx.TransportError
            try:
                outcome = self._stream = await self._connection.open(request)
            except httpx.TransportError as error:
                outcome = error
            if isinstance(outcome, httpx.Response) and outcome.is_success:
                self._lines = self._connection.transport.lines(outcome)
            else:
                await self._lost(outcome, request)
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Listen no more."""
        self._is_closed = True
        if self._stream is not None:
            await self._connection.transport.close(self._stream)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not self._is_closed:
            await self.__aenter__()
            assert self._lines is not None
            try:
                line = await anext(self._lines, None)
            except httpx.TransportError:
                line = None
            if line is None:
                await self._lost(None, get("/v1/events"))
                continue
            self._attempt, event = 0, self._parser.take(line)
            if event is not None:
                return event
        raise StopAsyncIteration

    async def _lost(self, outcome: httpx.Response | httpx.TransportError | None, request: Request) -> None:
        """Pause before reconnecting; close if that is impossible."""
        self._lines, attempt = None, self._attempt
        self._attempt += 1
        try:
            if self._stream is not None:
                await self._connection.transport.close(self._stream)
            if not self._is_closed:
                await self._connection.pause_after(outcome, attempt, request)
        except ServiceError:
            self._is_closed = True
            raise


class LineParser:
    """Parser of server-sent events; `last` is the last event number, which may also be sent without an event.

    Examples
    --------
    >>> from sslart.client._connection import LineParser
    >>> parser = LineParser()
    >>> lines = ["id: 7", "event: drift", 'data: {"model": "flowers", "row": 90}', ""]
    >>> [parser.take(line) for line in lines][-1]
    Event(id=7, kind='drift', model='flowers', data={'row': 90})
    """

    def __init__(self, last: int | None = None) -> None:
        self.last, self._fields = last, dict[str, str]()

    def take(self, line: str) -> Event | None:
        """Parse a line; return the event that it completes, or None."""
        if line:
            name, _, value = line.partition(":")
            self._fields[name] = value.removeprefix(" ")
            return None
        fields, self._fields = self._fields, {}
        self.last = int(fields["id"]) if "id" in fields else self.last
        if "data" not in fields:
            return None
        data = json.loads(fields["data"])
        return Event(self.last or 0, fields.get("event", "message"), data.pop("model", ""), data)
