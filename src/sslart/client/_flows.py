"""Sans-I/O protocol of the client: requests, pauses, and retries as generators.

A method of the client is a generator that yields requests, gets their answers, and returns its result. `steps_of` adds
the retries. Who runs the steps, waiting for each or awaiting it, decides nothing.
"""

from __future__ import annotations

import functools
import inspect
import json
import random
from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar

from sslart.client._errors import ServiceError, UnreachableError, error_of

FIRST_PAUSE = 0.25
MAX_PAUSE = 30.0  # who is asked to wait longer is told so at once
BUSY = (429, 503)

Result = TypeVar("Result")
Given = ParamSpec("Given")


@dataclass(frozen=True)
class Request:
    """One request.

    Attributes
    ----------
    method, path : str
    params : mapping
        Of the query; those that are None are left out.
    content : bytes, Path or None
        The body; a path stands for the file.
    headers : mapping
    is_repeatable : bool
        Whether it may be sent again where no answer came: it changes nothing, or it has an Idempotency-Key.
    takes : tuple of int
        Statuses that are answers here and no errors.
    seconds : float
        How much longer than usual the answer may take.
    """

    method: str
    path: str
    params: Mapping[str, Any] = field(default_factory=dict)
    content: bytes | Path | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False
    takes: tuple[int, ...] = ()
    seconds: float = 0.0

    @property
    def query(self) -> dict[str, Any]:
        """The parameters that are given."""
        return {name: value for name, value in self.params.items() if value is not None and value != []}


class Pause(NamedTuple):
    """Time that goes by without a request."""

    seconds: float


class Failure(NamedTuple):
    """Why a request got no answer."""

    reason: str


@dataclass(frozen=True)
class Answer:
    """The answer to a request."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    def json(self) -> Any:
        """Return the body as JSON, or raise a ServiceError where it is none."""
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise ServiceError("The answer is not that of a sslart service: check the address.", self.status) from error

    def error(self) -> ServiceError:
        """Return the answer as an exception."""
        try:
            message = str(json.loads(self.content)["error"])
        except (ValueError, KeyError, TypeError):
            message = f"The service answered with status {self.status}."
        return error_of(self.status, message)


Step = Request | Pause
Flow = Generator[Step, Any, Result]


def get(path: str, **params: Any) -> Request:
    """Return a request that changes nothing."""
    return Request("GET", path, params, is_repeatable=True)


def post(path: str, body: Any, *, key: str | None = None, is_repeatable: bool = False, wait: float = 0) -> Request:
    """Return a request with a body of JSON, which may be repeated where it has a key or changes nothing.

    The service waits up to `wait` seconds for the outcome.
    """
    content = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    headers = {"content-type": "application/json"} | ({} if key is None else {"idempotency-key": key})
    params = {"wait": wait or None}
    return Request("POST", path, params, content, headers, is_repeatable or key is not None, seconds=wait)


def steps_of(flow: Flow[Result], retries: int, url: str) -> Generator[Step, Answer | Failure | None, Result]:
    """Yield the steps of a flow, with retries; return its result.

    Parameters
    ----------
    flow : generator
    retries : int
        How often a request is repeated at most.
    url : str
        Of the service, for messages.
    """
    try:
        step = next(flow)
        while True:
            if isinstance(step, Pause):
                yield step
                step = flow.send(None)
                continue
            try:
                answer = yield from _answered(step, retries, url)
            except ServiceError as error:
                step = flow.throw(error)
            else:
                step = flow.send(answer)
    except StopIteration as end:
        result: Result = end.value
        return result


def _answered(request: Request, retries: int, url: str) -> Generator[Step, Answer | Failure | None, Answer]:
    """Yield a request, again after a pause where it may be repeated; return the answer, or raise a ServiceError."""
    for attempt in range(retries + 1):
        outcome = yield request
        pause, error = judged(outcome, attempt, url, request)
        if error is None:
            assert isinstance(outcome, Answer)
            return outcome
        if pause is None or attempt == retries or not request.is_repeatable:
            raise error
        yield Pause(pause)
    raise AssertionError("unreachable")


def judged(
    outcome: Answer | Failure | None, attempt: int, url: str, request: Request
) -> tuple[float | None, ServiceError | None]:
    """Return the delay before a retry, None if a retry is useless; and the error, if any."""
    if isinstance(outcome, Answer):
        if 200 <= outcome.status < 300 or outcome.status in request.takes:
            return None, None
        if outcome.status not in BUSY:
            return None, outcome.error()
        asked = outcome.headers.get("retry-after", "")
        seconds = max(float(asked) if asked.isdigit() else 0.0, _pause(attempt))
        return None if seconds > MAX_PAUSE else seconds, outcome.error()
    reason = outcome.reason if isinstance(outcome, Failure) else "the connection ended"
    message = f"No answer from {url} ({reason}): check the address, and that the service runs: sslart serve DIR."
    if not request.is_repeatable:
        message += " It is not known whether the request was carried out."
    return _pause(attempt), UnreachableError(message)


def _pause(attempt: int) -> float:
    """Return a delay in seconds that doubles with each attempt, with random jitter so that clients spread."""
    return float(min(FIRST_PAUSE * 2**attempt, MAX_PAUSE) * random.uniform(0.5, 1.0))


def waiting(flow: Callable[Given, Flow[Result]]) -> Callable[Concatenate[Any, Given], Result]:
    """Return a method that runs a flow to its end."""

    @functools.wraps(flow)
    def method(self: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        found: Result = self._run(flow(*args, **kwargs))
        return found

    _describe(method, flow)
    return method


def awaiting(flow: Callable[Given, Flow[Result]]) -> Callable[Concatenate[Any, Given], Awaitable[Result]]:
    """Return a coroutine method that runs a flow to its end."""

    @functools.wraps(flow)
    async def method(self: Any, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        found: Result = await self._run(flow(*args, **kwargs))
        return found

    _describe(method, flow)
    return method


def _describe(method: Any, flow: Callable[..., Any]) -> None:
    """Set the signature of a method to the parameters and the final result of its flow, for help()."""
    signature = inspect.signature(flow)
    first = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    result = str(signature.return_annotation).removeprefix("Flow[").removesuffix("]")
    method.__signature__ = signature.replace(
        parameters=[first, *signature.parameters.values()], return_annotation=result
    )
