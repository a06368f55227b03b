"""The client that waits for each answer."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self, TypeVar

from sslart.client import _learning, _managing, _predicting, _sampling, _studying
from sslart.client._connection import BaseClient, Connection, failure_of, httpx
from sslart.client._flows import Answer, Failure, Flow, Pause, Request, steps_of, waiting
from sslart.client._listening import SILENCE, ListeningOutcome, NextLine, Open, listening
from sslart.client._results import Event

Result = TypeVar("Result")


class Client(BaseClient):
    """A service of `sslart serve`, from Python.

    Requests that change nothing, and those that carry an Idempotency-Key, are repeated where the service cannot be
    reached, has too much to do, or is being started again. `learn`, `decide`, `label` and `refit` make such a key, so
    that nothing counts twice. Several threads may use one client.

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

    _http_kind = httpx.Client

    models = waiting(_managing.models)
    model = waiting(_managing.model)
    create = waiting(_learning.create)
    fit = waiting(_learning.fit)
    add_table = waiting(_learning.add_table)
    refit = waiting(_learning.refit)
    job = waiting(_learning.job)
    jobs = waiting(_managing.jobs)
    cancel = waiting(_learning.cancel)
    predict = waiting(_predicting.predict)
    decide = waiting(_learning.decide)
    learn = waiting(_learning.learn)
    label = waiting(_learning.label)
    labels = waiting(_managing.labels)
    row = waiting(_managing.row)
    explain = waiting(_predicting.explain)
    contributions = waiting(_predicting.contributions)
    counterfactual = waiting(_predicting.counterfactual)
    rules = waiting(_predicting.rules)
    importance = waiting(_predicting.importance)
    drift = waiting(_predicting.drift)
    samples = waiting(_sampling.samples)
    values = waiting(_sampling.values)
    boxes = waiting(_sampling.boxes)
    box = waiting(_sampling.box)
    search = waiting(_sampling.search)
    questions = waiting(_sampling.questions)
    quality = waiting(_sampling.quality)
    random_order = waiting(_sampling.random_order)
    disagreements = waiting(_sampling.disagreements)
    properties = waiting(_sampling.properties)
    set_property = waiting(_sampling.set_property)
    columns = waiting(_studying.columns)
    trust = waiting(_studying.trust)
    dependence = waiting(_studying.dependence)
    similar = waiting(_studying.similar)
    cover = waiting(_studying.cover)
    trial = waiting(_studying.trial)
    watch = waiting(_studying.watch)
    watch_table = waiting(_studying.watch_table)
    features = waiting(_predicting.features)
    state = waiting(_predicting.state)
    export = waiting(_predicting.export)
    load = waiting(_predicting.load)
    snapshot = waiting(_managing.snapshot)
    set_parameters = waiting(_managing.set_parameters)
    delete = waiting(_managing.delete)
    tokens = waiting(_managing.tokens)
    add_token = waiting(_managing.add_token)
    revoke_token = waiting(_managing.revoke_token)
    backup = waiting(_managing.backup)
    audit = waiting(_managing.audit)
    ready = waiting(_managing.ready)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

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
        return EventStream(self._http, self._connection, model, kinds, after)

    def _run(self, flow: Flow[Result]) -> Result:
        """Run a flow to its end, and return its result."""
        steps = steps_of(flow, self._connection.retries, self.url)
        try:
            step = next(steps)
            while True:
                step = steps.send(self._done(step))
        except StopIteration as end:
            result: Result = end.value
            return result

    def _done(self, step: Request | Pause) -> Answer | Failure | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        with ExitStack() as stack:
            content: Any = step.content
            if isinstance(content, Path):
                content = stack.enter_context(content.open("rb"))
            try:
                found = self._http.request(content=content, **self._connection.sending(step))
            except httpx.TransportError as error:
                return failure_of(error)
        return Answer(found.status_code, found.headers, found.content)


class EventStream:
    """Events as they happen; made by `Client.events`. It listens from its creation on until it is closed."""

    def __init__(
        self, http: Any, connection: Connection, model: str | None, kinds: Iterable[str], after: int | None
    ) -> None:
        self._http, self._connection = http, connection
        self._stream = ExitStack()
        self._lines: Iterator[str] = iter(())
        self._steps = listening(model, kinds, after, connection.retries, connection.url)
        self._step = next(self._steps)
        while not isinstance(self._step, NextLine):
            self._step = self._steps.send(self._done(self._step))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no more."""
        self._steps.close()
        self._stream.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        while not isinstance(self._step, Event):
            self._step = self._steps.send(self._done(self._step))
        event, self._step = self._step, next(self._steps)
        return event

    def _done(self, step: Open | NextLine | Pause | Event) -> ListeningOutcome:
        try:
            if isinstance(step, Open):
                return self._opened(step.request)
            if isinstance(step, Pause):
                time.sleep(step.seconds)
                return None
            return next(self._lines, None)
        except httpx.TransportError as error:
            return failure_of(error)

    def _opened(self, request: Request) -> Answer:
        self._stream.close()
        found = self._stream.enter_context(self._http.stream(**self._connection.sending(request, SILENCE)))
        self._lines = found.iter_lines()
        return Answer(found.status_code, found.headers, b"" if found.status_code == 200 else found.read())
