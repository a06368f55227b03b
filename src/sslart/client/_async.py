"""The asynchronous client."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

from sslart.client import _learning, _managing, _predicting, _sampling, _studying
from sslart.client._connection import BaseClient, Connection, failure_of, httpx
from sslart.client._flows import Answer, Failure, Flow, Pause, Request, awaiting, steps_of
from sslart.client._listening import SILENCE, ListeningOutcome, NextLine, Open, listening
from sslart.client._results import Event

Result = TypeVar("Result")

BYTES_PER_PART = 2**16


class AsyncClient(BaseClient):
    """A service of `sslart serve`, from Python that awaits: the methods are those of `Client`.

    Parameters
    ----------
    url : str, default="http://127.0.0.1:8707"
        Where the service is.
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

    _http_kind = httpx.AsyncClient

    models = awaiting(_managing.models)
    model = awaiting(_managing.model)
    create = awaiting(_learning.create)
    fit = awaiting(_learning.fit)
    add_table = awaiting(_learning.add_table)
    refit = awaiting(_learning.refit)
    job = awaiting(_learning.job)
    jobs = awaiting(_managing.jobs)
    cancel = awaiting(_learning.cancel)
    predict = awaiting(_predicting.predict)
    decide = awaiting(_learning.decide)
    learn = awaiting(_learning.learn)
    label = awaiting(_learning.label)
    labels = awaiting(_managing.labels)
    row = awaiting(_managing.row)
    explain = awaiting(_predicting.explain)
    contributions = awaiting(_predicting.contributions)
    counterfactual = awaiting(_predicting.counterfactual)
    rules = awaiting(_predicting.rules)
    importance = awaiting(_predicting.importance)
    drift = awaiting(_predicting.drift)
    samples = awaiting(_sampling.samples)
    values = awaiting(_sampling.values)
    boxes = awaiting(_sampling.boxes)
    box = awaiting(_sampling.box)
    search = awaiting(_sampling.search)
    questions = awaiting(_sampling.questions)
    quality = awaiting(_sampling.quality)
    random_order = awaiting(_sampling.random_order)
    disagreements = awaiting(_sampling.disagreements)
    properties = awaiting(_sampling.properties)
    set_property = awaiting(_sampling.set_property)
    columns = awaiting(_studying.columns)
    trust = awaiting(_studying.trust)
    dependence = awaiting(_studying.dependence)
    similar = awaiting(_studying.similar)
    cover = awaiting(_studying.cover)
    trial = awaiting(_studying.trial)
    watch = awaiting(_studying.watch)
    watch_table = awaiting(_studying.watch_table)
    features = awaiting(_predicting.features)
    state = awaiting(_predicting.state)
    export = awaiting(_predicting.export)
    load = awaiting(_predicting.load)
    snapshot = awaiting(_managing.snapshot)
    set_parameters = awaiting(_managing.set_parameters)
    delete = awaiting(_managing.delete)
    tokens = awaiting(_managing.tokens)
    add_token = awaiting(_managing.add_token)
    revoke_token = awaiting(_managing.revoke_token)
    backup = awaiting(_managing.backup)
    audit = awaiting(_managing.audit)
    ready = awaiting(_managing.ready)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    def events(
        self, model: str | None = None, kinds: Iterable[str] = (), *, after: int | None = None
    ) -> AsyncEventStream:
        """Listen to events, as `Client.events` does, from the first that is awaited on, or from `async with` on.

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
        AsyncEventStream
            An asynchronous iterator; `close` ends it.
        """
        return AsyncEventStream(self._http, self._connection, model, kinds, after)

    async def _run(self, flow: Flow[Result]) -> Result:
        """Run a flow to its end, and return its result."""
        steps = steps_of(flow, self._connection.retries, self.url)
        try:
            step = next(steps)
            while True:
                step = steps.send(await self._done(step))
        except StopIteration as end:
            result: Result = end.value
            return result

    async def _done(self, step: Request | Pause) -> Answer | Failure | None:
        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        content = parts_of(step.content) if isinstance(step.content, Path) else step.content
        try:
            found = await self._http.request(content=content, **self._connection.sending(step))
        except httpx.TransportError as error:
            return failure_of(error)
        return Answer(found.status_code, found.headers, found.content)


async def parts_of(path: Path) -> AsyncIterator[bytes]:
    """Yield a file in parts."""
    with path.open("rb") as file:
        while part := await asyncio.to_thread(file.read, BYTES_PER_PART):
            yield part


class AsyncEventStream:
    """Events as they happen; made by `AsyncClient.events`."""

    def __init__(
        self, http: Any, connection: Connection, model: str | None, kinds: Iterable[str], after: int | None
    ) -> None:
        self._http, self._connection = http, connection
        self._stream = AsyncExitStack()
        self._lines: AsyncIterator[str] | None = None
        self._steps = listening(model, kinds, after, connection.retries, connection.url)
        self._step = next(self._steps)

    async def __aenter__(self) -> Self:
        while not isinstance(self._step, NextLine):
            self._step = self._steps.send(await self._done(self._step))
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Listen no more."""
        self._steps.close()
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        while not isinstance(self._step, Event):
            self._step = self._steps.send(await self._done(self._step))
        event, self._step = self._step, next(self._steps)
        return event

    async def _done(self, step: Open | NextLine | Pause | Event) -> ListeningOutcome:
        try:
            if isinstance(step, Open):
                return await self._opened(step.request)
            if isinstance(step, Pause):
                await asyncio.sleep(step.seconds)
                return None
            assert self._lines is not None
            return await anext(self._lines, None)
        except httpx.TransportError as error:
            return failure_of(error)

    async def _opened(self, request: Request) -> Answer:
        await self._stream.aclose()
        stream = self._http.stream(**self._connection.sending(request, SILENCE))
        found = await self._stream.enter_async_context(stream)
        self._lines = found.aiter_lines()
        return Answer(found.status_code, found.headers, b"" if found.status_code == 200 else await found.aread())
