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
    """Synchronous client of `sslart serve`.

    Read requests, and those with an Idempotency-Key, are repeated if the service is unreachable, overloaded or
    restarting. `learn`, `decide`, `label` and `refit` create such a key, so that nothing counts twice. A client may be
    shared by several threads.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8707"
        Address of the service.
    token : str, default=None
        Access token, if the service needs one.
    timeout : float, default=60.0
        Seconds to wait for a response.
    retries : int, default=5
        Maximum number of repetitions of a request; pauses start at a quarter of a second and double.
    ca_file : path, default=None
        File of CA certificates to trust, for services without a publicly trusted certificate.

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
        """Stream events: decisions, drift, progress of jobs, states of models, rejected rows.

        A lost connection is re-established; missed events follow, except decisions.

        Parameters
        ----------
        model : str, default=None
            Events of this model only.
        kinds : iterable of str, default=()
            Kinds of events: "decision", "drift", "job", "state", "rejected"; all by default.
        after : int, default=None
            The last event already received; later ones that the service still has come first.

        Returns
        -------
        EventStream
            An iterator that waits for each event; `close` ends it.
        """
        return EventStream(AsyncEventStream(self._connection, model, kinds, after))


class EventStream:
    """Iterator over events, created by `Client.events`; it listens until it is closed."""

    def __init__(self, stream: AsyncEventStream) -> None:
        self._stream = stream
        run(stream.__aenter__())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop listening."""
        run(self._stream.close())

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = run(anext(self._stream, None))
        if event is None:
            raise StopIteration
        return event


class AsyncClient(BaseClient):
    """Asynchronous client of `sslart serve`, with the parameters and methods of `Client`.

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
        """Stream events, starting when the first one is awaited, or at `async with`.

        The parameters are those of `Client.events`; `close` of the stream ends it.
        """
        return AsyncEventStream(self._connection, model, kinds, after)
