"""Events of a service as steps: connect, read lines, and connect again after the last event that came."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from typing import NamedTuple

from sslart.client._flows import Answer, Failure, Pause, Request, judged
from sslart.client._results import Event

SILENCE = 45.0  # seconds without a line, after which the connection is taken for lost: the service sends one in 15


class Open(NamedTuple):
    """Connect; the outcome is an answer without its body, or a failure."""

    request: Request


class NextLine(NamedTuple):
    """Read a line; the outcome is the line, or a failure where there is none any more."""


ListeningStep = Open | NextLine | Pause | Event
ListeningOutcome = Answer | Failure | str | None


def listening(
    model: str | None, kinds: Iterable[str], after: int | None, retries: int, url: str
) -> Generator[ListeningStep, ListeningOutcome, None]:
    """Yield steps and the events they produce; raise a ServiceError when retries are exhausted.

    Parameters
    ----------
    model : str or None
        Of this model only.
    kinds : iterable of str
        Of these kinds only; all if there are none.
    after : int or None
        The last event that is known.
    retries : int
        How often in sequence to connect again at most.
    url : str
        Of the service, for messages.
    """
    params, attempt = {"model": model, "kind": list(kinds)}, 0
    while True:
        last = {} if after is None else {"last-event-id": str(after)}
        request = Request("GET", "/v1/events", params, headers=last, is_repeatable=True)
        outcome = yield Open(request)
        assert not isinstance(outcome, str)
        pause, error = judged(outcome, attempt, url, request)
        if error is None:
            parser = LineParser(after)
            while isinstance(line := (yield NextLine()), str):
                attempt, event = 0, parser.take(line)
                if event is not None:
                    yield event
            after = parser.last
            pause, error = judged(None, attempt, url, request)
        if error is not None and (pause is None or attempt >= retries):
            raise error
        attempt += 1
        yield Pause(pause or 0.0)


class LineParser:
    """Makes events of the lines of a stream of server-sent events.

    Parameters
    ----------
    last : int or None, default=None
        The number of the last event, which may also come without an event.

    Examples
    --------
    >>> from sslart.client._listening import LineParser
    >>> parser = LineParser()
    >>> lines = ["id: 7", "event: drift", 'data: {"model": "flowers", "row": 90}', ""]
    >>> [parser.take(line) for line in lines][-1]
    Event(id=7, kind='drift', model='flowers', data={'row': 90})
    """

    def __init__(self, last: int | None = None) -> None:
        self.last, self._fields = last, dict[str, str]()

    def take(self, line: str) -> Event | None:
        """Return the event that a line completes, if it does."""
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
