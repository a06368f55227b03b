"""Shared context of the endpoints: models, metrics, and threads for long work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Path, Request

from sslart.server.api._access import Access
from sslart.server.api._errors import ApiError
from sslart.server.api._metrics import Metrics
from sslart.server.models._hosted import HostedModel
from sslart.server.models._registry import Registry
from sslart.server.models._transactions import Key

N_THREADS = 2
MAX_WAITING = 64  # requests for work in threads
MAX_LONG_WAITING = 8

Result = TypeVar("Result")


class Threads:
    """Threads for work that would keep other requests waiting.

    Parameters
    ----------
    max_waiting : int
        How many requests may wait for a thread, or be worked on.
    """

    def __init__(self, max_waiting: int = MAX_WAITING) -> None:
        self._pool = ThreadPoolExecutor(N_THREADS, "work")
        self._n_waiting, self._max_waiting = 0, max_waiting

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Return the result of some work; refuse it where too much waits."""
        if self._n_waiting >= self._max_waiting:
            raise ApiError(429, "Too many requests are being worked on: send this one again.", {"retry-after": "2"})
        self._n_waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, copy_context().run, work, *arguments)
        finally:
            self._n_waiting -= 1

    def close(self) -> None:
        """Shut down the threads after their current work."""
        self._pool.shutdown(cancel_futures=True)


@dataclass
class Context:
    """Context shared by the endpoints.

    Attributes
    ----------
    hub : Registry
    metrics : Metrics
    access : Access
    threads : Threads
        For work of seconds, such as explanations.
    long_threads : Threads
        For work that may take minutes: tables, exports and backups. Shorter work does not wait for it.
    """

    hub: Registry
    metrics: Metrics
    access: Access
    threads: Threads = field(default_factory=Threads)
    long_threads: Threads = field(default_factory=lambda: Threads(MAX_LONG_WAITING))

    @property
    def upload_folder(self) -> FilePath:
        """Folder of request bodies while they are received."""
        return self.hub.store.folder / "uploads"

    def remove_old_uploads(self) -> None:
        """Remove uploads left behind by a killed process."""
        for path in self.upload_folder.glob("*"):
            with suppress(OSError):
                path.unlink()


async def context_of(request: Request) -> Context:  # FastAPI runs what is not async in a thread, for each request
    """Return the shared context of the application."""
    found: Context = request.app.state.context
    return found


ContextOf = Annotated[Context, Depends(context_of)]
ModelName = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="the name of the model")]


async def model_of(request: Request, name: ModelName) -> HostedModel:
    """Return the model that the path names."""
    found: Context = request.app.state.context
    return found.hub.model(name)


IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="the same key and request again get the same answer, and count once",
    ),
]


def digest_begun(request: Request) -> blake2b:
    """Return the checksum of a request as far as its path: its body is to follow."""
    return blake2b(request.url.path.encode(), digest_size=16)


async def key_of(request: Request, idempotency_key: IdempotencyKey = None) -> Key | None:
    """Return the key by which a request may be repeated."""
    if idempotency_key is None:
        return None
    digest = digest_begun(request)
    digest.update(await request.body())
    return Key(idempotency_key, digest.digest())


ModelOf = Annotated[HostedModel, Depends(model_of)]
KeyOf = Annotated[Key | None, Depends(key_of)]
