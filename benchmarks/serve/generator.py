"""A load generator for machines without wrk: connections on one event loop, each with one pending request.

python -m serve.generator URL CONNECTIONS SECONDS BODIES PATH [HEADER VALUE]...
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import httptools
import numpy as np

LENGTH_DIGITS = 10


class Load:
    """State that all connections share: the requests, and the answers so far."""

    def __init__(self, requests: list[bytes], seconds: float) -> None:
        self._requests, self._number = requests, 0
        self.end = time.perf_counter() + seconds
        self.milliseconds: list[float] = []
        self.n_failed = 0

    def next(self) -> bytes:
        self._number += 1
        return self._requests[(self._number - 1) % len(self._requests)]


class Connection(asyncio.Protocol):
    """One connection: the next request is sent when the answer to the last has come."""

    def __init__(self, load: Load) -> None:
        self._load, self.closed = load, asyncio.get_running_loop().create_future()
        self._parser = httptools.HttpResponseParser(self)
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        if self._sent >= self._load.end:
            self._transport.close()
        else:
            self._transport.write(self._load.next())

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_message_complete(self) -> None:
        self._load.milliseconds.append(1e3 * (time.perf_counter() - self._sent))
        self._load.n_failed += self._parser.get_status_code() >= 400
        self._parser = httptools.HttpResponseParser(self)
        self._send()

    def connection_lost(self, error: Exception | None) -> None:
        if time.perf_counter() < self._load.end:
            self._load.n_failed += 1
        self.closed.set_result(None)


async def loaded(url: str, n_connections: int, seconds: float, requests: list[bytes]) -> dict[str, float]:
    """Return the measurements of a server."""
    address, loop, start = urlsplit(url), asyncio.get_running_loop(), time.perf_counter()
    load = Load(requests, seconds)
    made = [
        (await loop.create_connection(lambda: Connection(load), address.hostname, address.port))[1]
        for _ in range(n_connections)
    ]
    await asyncio.wait_for(asyncio.gather(*(one.closed for one in made)), seconds + 60)
    taken = np.array(load.milliseconds) if load.milliseconds else np.array([np.inf])
    p50, p99 = np.quantile(taken, [0.5, 0.99]).tolist()
    spent = time.perf_counter() - start
    return {"requests": len(load.milliseconds), "seconds": spent, "p50": p50, "p99": p99, "failed": load.n_failed}


def split(content: bytes) -> list[bytes]:
    """Return bodies of which each is behind its length."""
    found, place = [], 0
    while place < len(content):
        length = int(content[place : place + LENGTH_DIGITS])
        found.append(content[place + LENGTH_DIGITS : place + LENGTH_DIGITS + length])
        place += LENGTH_DIGITS + length
    return found


def joined(bodies: list[bytes]) -> bytes:
    """Return bodies as `split` takes them."""
    return b"".join(f"{len(body):{LENGTH_DIGITS}d}".encode() + body for body in bodies)


def main(url: str, n_connections: str, seconds: str, bodies: str, path: str, *headers: str) -> None:
    pairs = zip(headers[::2], headers[1::2], strict=True)
    named = "".join(f"{name}: {value}\r\n" for name, value in (("Host", urlsplit(url).netloc), *pairs))
    requests = [
        f"POST {path} HTTP/1.1\r\n{named}Content-Length: {len(body)}\r\n\r\n".encode() + body
        for body in split(Path(bodies).read_bytes())
    ]
    print(json.dumps(asyncio.run(loaded(url, int(n_connections), float(seconds), requests))))


if __name__ == "__main__":
    main(*sys.argv[1:])
