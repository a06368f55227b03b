"""The synchronous and the asynchronous client."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar, Self

from sslart.client._connection import AsyncEventStream, Awaiting, Connection, Waiting, run
from sslart.client._operations import Operation, Operations
from sslart.client._results import Event


class BaseClient(Operations):
    """Base class of both clients: the connection, and a method for each operation."""

    _transport: ClassVar[type[Waiting | Awaiting]]

    def __init_subclass__(cls) -> None:
        for name, one in vars(Operations).items():
            if isinstance(one, Operation):
                setattr(cls, name, one.coroutine if cls._transport is Awaiting else one.waiting())

    def __init__(
        self,
        url: str = "http://127.0.0.1:8707",
        token: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 5,
        ca_file: str | Path | None = None,
    ) -> None:
        self._connection = Connection(self._transport, url, token, timeout, retries, ca_file)

    @property
    def url(self) -> str:
        """Address of the service."""
        return self._connection.url

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url!r})"


class Client(BaseClient):
    """A service of `sslart serve`, from Python.

    Requests that change nothing, and those that carry an Idempotency-Key, are repeated where the service cannot be
    reached, has too much to do, or is being started again. `learn`, `decide`, `label` and `refit` make such a key, so
    that nothing counts twice. Several threads may use one client.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8707"
        Address of the service.
    token : str, default=None
        What shows who you are, where the service needs one.
    timeout : float, default=60.0
        Seconds for an answer.
    retries : int, default=5
        How often a request is repeated at most; pauses begin with a quarter of a second and double.
    ca_file : path, default=None
        File with certificates to trust, where that of the service is not signed by a known authority.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sslart.client import Client
    >>> from sslart.server import serve
    >>> table = load_iris(as_frame=True).frame
    >>> rows = table.drop(columns="target")[:2]
    >>> with tempfile.TemporaryDirectory() as folder, serve(folder) as service, Client(service.url) as client:
    ...     job = client.fit("flowers", table[::5], label="target")
    ...     found = client.decide("flowers", rows)
    ...     accepted = client.label("flowers", {found.rows[0]: "0"})
    >>> job.state, found.classes, accepted.learnt
    ('done', ['0', '0'], 1)
    """

    _transport = Waiting

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        run(self._connection.transport.close())

    def events(self, model: str | None = None, kinds: Iterable[str] = (), *, after: int | None = None) -> EventStream:
        """Listen to events from now on: decisions, drift, the progress of jobs, states of models, rejected rows.

        Where the connection is lost, it is made again, and events that were missed come first, except decisions.

        Parameters
        ----------
        model : str, default=None
            Of this model only.
        kinds : iterable of str, default=()
            Of these kinds only: "decision", "drift", "job", "state", "rejected".
        after : int, default=None
            The last event that is known; those that the service still has come first.

        Returns
        -------
        EventStream
            An iterator that waits for each event; `close` ends it.
        """
        return EventStream(AsyncEventStream(self._connection, model, kinds, after))


class EventStream:
    """Events as they happen; made by `Client.events`. It listens from its creation on until it is closed."""

    def __init__(self, stream: AsyncEventStream) -> None:
        self._stream = stream
        run(stream.__aenter__())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no more."""
        run(self._stream.close())

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = run(anext(self._stream, None))
        if event is None:
            raise StopIteration
        return event


class AsyncClient(BaseClient):
    """A service of `sslart serve`, from Python that awaits: parameters and methods are those of `Client`.

    Examples
    --------
    >>> import asyncio, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from sslart.client import AsyncClient
    >>> from sslart.server import serve
    >>> table = load_iris(as_frame=True).frame
    >>> async def classes(url):
    ...     async with AsyncClient(url) as client:
    ...         await client.fit("flowers", table[::5], label="target")
    ...         asked = [client.predict("flowers", table[row : row + 1]) for row in (0, 60, 120)]
    ...         return [found.classes for found in await asyncio.gather(*asked)]
    >>> with tempfile.TemporaryDirectory() as folder, serve(folder) as service:
    ...     asyncio.run(classes(service.url))
    [['0'], ['1'], ['2']]
    """

    _transport = Awaiting

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.transport.close()

    def events(
        self, model: str | None = None, kinds: Iterable[str] = (), *, after: int | None = None
    ) -> AsyncEventStream:
        """Listen to events, from the first that is awaited on, or from `async with` on.

        The parameters are those of `Client.events`; `close` of the stream ends it.
        """
        return AsyncEventStream(self._connection, model, kinds, after)
