"""Shared parts of endpoints: a decorator, dependencies, request bodies, uploads and responses."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, TypeVar, get_args

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from fastapi.params import Param
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.responses import Response

from sslart._utils.text import json_text
from sslart.server.api._errors import STATUSES, ApiError
from sslart.server.api._metrics import Metrics
from sslart.server.api._middleware import OPEN_PATHS, Access
from sslart.server.api._schemas import Problem
from sslart.server.models._hosted import HostedModel
from sslart.server.models._registry import FEW_ROWS, Registry
from sslart.server.models._settings import NAME
from sslart.server.models._transactions import Key
from sslart.server.studies._study import Study

JSON = "application/json"
BINARY = "application/octet-stream"
LARGE = 2**17  # bytes; a larger body is parsed in a thread, so that other requests do not wait
N_THREADS = 2
MAX_WAITING = 64  # requests waiting for a thread
MAX_LONG_WAITING = 8
REF = "#/components/schemas/{model}"
# error statuses of all paths, and of those with a token, a name in the path, or a request body
EVERYWHERE, WITH_TOKEN, WITH_NAME, WITH_BODY = (400, 403, 421), (401, 429, 503), (404, 422), (408, 413, 415, 422)

Result = TypeVar("Result")
Body = TypeVar("Body", bound=BaseModel)
Scope = Literal["read", "learn", "admin"]
Responses = dict[int | str, dict[str, Any]]


class Threads:
    """Thread pool for long work, with a limit on the number of waiting requests."""

    def __init__(self, max_waiting: int) -> None:
        self._pool = ThreadPoolExecutor(N_THREADS, "work")
        self._n_waiting, self._max_waiting = 0, max_waiting

    async def run(self, work: Callable[..., Result], *arguments: Any) -> Result:
        """Run work in a thread and return its result; refuse it if too many requests are waiting."""
        if self._n_waiting >= self._max_waiting:
            raise ApiError(429, "Too many requests at once: send this one again later.", {"retry-after": "2"})
        self._n_waiting += 1
        try:
            loop = asyncio.get_running_loop()
            return await loop.run_in_executor(self._pool, copy_context().run, work, *arguments)
        finally:
            self._n_waiting -= 1

    async def run_for(self, n_rows: int, work: Callable[[], Result]) -> Result:
        """Run work on few rows directly, on many rows in a thread."""
        return work() if n_rows <= FEW_ROWS else await self.run(work)

    def close(self) -> None:
        """Shut down the threads after their current work."""
        self._pool.shutdown(cancel_futures=True)


@dataclass
class Context:
    """Context shared by the endpoints.

    Attributes
    ----------
    threads : Threads
        For work of seconds, such as explanations.
    long_threads : Threads
        For work that may take minutes, such as tables, exports and backups, so that shorter work does not wait for it.
    """

    registry: Registry
    metrics: Metrics
    access: Access
    threads: Threads = field(default_factory=lambda: Threads(MAX_WAITING))
    long_threads: Threads = field(default_factory=lambda: Threads(MAX_LONG_WAITING))

    @property
    def reader(self) -> Any:
        """A read connection to the database."""
        return self.registry.store.reader()

    @property
    def upload_folder(self) -> FilePath:
        """Folder of request bodies while they are received."""
        return self.registry.store.folder / "uploads"

    def remove_old_uploads(self) -> None:
        """Remove uploads left behind by a killed process."""
        for path in self.upload_folder.glob("*"):
            with suppress(OSError):
                path.unlink()


# FastAPI runs dependencies that are not async in a thread, for each request
async def _context_of(request: Request) -> Context:
    found: Context = request.app.state.context
    return found


async def _actor(request: Request) -> str:
    """Return the name of the token of a request."""
    name: str = request.scope["sslart.token"].name
    return name


ModelName = Annotated[str, Path(pattern=NAME, description="the name of the model")]


async def _model_of(request: Request, name: ModelName) -> HostedModel:
    found: Context = request.app.state.context
    return found.registry.model(name)


async def _study_of(request: Request, name: ModelName) -> Study:
    found: Context = request.app.state.context
    return Study(found.registry, found.registry.model(name))


IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="a repeated request with the same key is carried out once and gets the same response",
    ),
]


def _digest_begun(request: Request) -> blake2b:
    """Return a hash of the path, to be updated with the body."""
    return blake2b(request.url.path.encode(), digest_size=16)


async def _key_of(request: Request, idempotency_key: IdempotencyKey = None) -> Key | None:
    """Return the Idempotency-Key of a request."""
    if idempotency_key is None:
        return None
    digest = _digest_begun(request)
    digest.update(await request.body())
    return Key(idempotency_key, digest.digest())


ContextOf = Annotated[Context, Depends(_context_of)]
ModelOf = Annotated[HostedModel, Depends(_model_of)]
StudyOf = Annotated[Study, Depends(_study_of)]
KeyOf = Annotated[Key | None, Depends(_key_of)]
Actor = Annotated[str, Depends(_actor)]
Wait = Annotated[float, Query(ge=0, le=600, description="seconds to wait for the outcome")]
After = Annotated[int, Query(ge=0, lt=2**63, description="the last entry already received")]
Most = Annotated[int, Query(ge=1, le=10_000, description="maximum number of entries")]
Encoding = Annotated[
    str | None, Query(max_length=50, description="encoding of text, such as cp1252; detected by default")
]


def _needs(scope: Scope) -> Callable[[Request], Any]:
    """Return a dependency that checks the scope of the token of a request."""

    async def check(request: Request) -> None:
        token = request.scope["sslart.token"]
        if scope not in token.scopes:
            raise ApiError(403, f"The token {token.name!r} does not have the scope {scope!r}.")

    return check


_CHECKS: dict[Scope, Any] = {scope: _needs(scope) for scope in get_args(Scope)}


def scope_of(route: APIRoute) -> Scope | None:
    """Return the token scope that a path needs; None if it needs no token."""
    calls = [one.call for one in route.dependant.dependencies]
    return next((scope for scope, check in _CHECKS.items() if check in calls), None)


BODIES: dict[str, type[BaseModel]] = {}  # schemas of request bodies, by their names


def _body_of(model: type[Body], *, is_optional: bool) -> Any:
    """Return a dependency that parses the request body as JSON; an optional body may be empty."""

    async def read(request: Request) -> Body:
        content = await request.body()
        if is_optional and not content:
            return model()
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != JSON:
            raise ApiError(
                415, f"The body must be JSON: send the header Content-Type: {JSON}; curl does so with --json."
            )
        if len(content) > LARGE:
            threads = request.app.state.context.threads  # few, since 16 MB of JSON may take a gigabyte
            found: Body = await threads.run(model.model_validate_json, content)
            return found
        return model.model_validate_json(content)

    BODIES[model.__name__] = model
    return Depends(read)


def answer(values: Any, status: int = 200) -> Response:
    """Return plain values as a JSON response, without validation; control characters in messages are escaped."""
    try:
        if isinstance(values, dict) and values.get("text"):
            return Response(json_text(values), status, media_type=JSON)
        text = json.dumps(values, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        content = text.encode()
    except UnicodeEncodeError:  # a model from a file may have names with surrogates
        content = json.dumps(values, allow_nan=False).encode()
    except ValueError as error:  # not an error of the request
        raise RuntimeError("a response cannot be written as JSON") from error
    return Response(content, status, media_type=JSON)


def new_router(tag: str) -> APIRouter:
    """Return a router whose operations are named after their functions."""
    return APIRouter(tags=[tag], generate_unique_id_function=lambda route: route.name)


def of_kind(words: str, *kinds: str, is_text: bool = False) -> Responses:
    """Return the OpenAPI description of a response that is not JSON."""
    schema = {"type": "string"} if is_text else {"type": "string", "format": "binary"}
    return {200: {"description": words, "content": {kind: {"schema": schema} for kind in kinds}}}


def endpoint(
    router: APIRouter,
    operation: str,
    schema: type[BaseModel] | None = None,
    *,
    scope: Scope | None = "read",
    status: int = 200,
    errors: Sequence[int] = (),
    responses: Responses | None = None,
    long: bool = False,
    dependencies: Sequence[Any] = (),
    **options: Any,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make an endpoint of a function that returns plain values or a response.

    Parameters
    ----------
    operation : str
        The method and the path.
    schema : class or None
        Schema of the response; None if it is not JSON.
    scope : {"read", "learn", "admin"} or None
        Token scope needed; None if no token is needed.
    errors : sequence of int
        Error statuses in addition to those of all paths.
    long : bool
        Whether the work may take minutes. It runs in a thread, unless the function is a coroutine function.
    """
    method, path = operation.split()
    if schema is None and status != 204:
        options["response_class"] = Response
    checks = (*([] if scope is None else [_CHECKS[scope]]), *dependencies)
    options["dependencies"] = [Depends(one) for one in checks]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = list(inspect.signature(function, eval_str=True).parameters.values())
        study = next((one.name for one in parameters if one.annotation is StudyOf), None)
        is_work = not inspect.iscoroutinefunction(function)

        def work(given: dict[str, Any]) -> Response:
            return _answered(function(**given), status, None if study is None else given[study])

        async def handle(**given: Any) -> Response:
            request = given.pop("request") if is_work else None
            if request is None:
                return _answered(await function(**given), status, None)
            if study is not None:
                _ = given[study].published  # an error of it needs no thread
            context: Context = request.app.state.context
            return await (context.long_threads if long else context.threads).run(work, given)

        body, parameters = _with_body(parameters)
        described: dict[str, Any] = {**body, **options.pop("openapi_extra", {})}
        if path not in OPEN_PATHS:
            described["security"] = [{"token": []}, {}]
        takes_some = any(isinstance(kind, Param) for one in parameters for kind in get_args(one.annotation))
        problems = _problems(path, {*errors, *([409] if study else []), *([422] if takes_some else [])}, described)
        if is_work:
            parameters.append(inspect.Parameter("request", inspect.Parameter.KEYWORD_ONLY, annotation=Request))
        # not functools.wraps: FastAPI unwraps it, and would call a plain function in its own thread pool
        handle.__name__ = function.__name__
        keywords = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in parameters]
        handle.__signature__ = inspect.Signature(keywords)  # type: ignore[attr-defined]
        words = inspect.cleandoc(function.__doc__ or "")
        router.add_api_route(
            path,
            handle,
            methods=[method],
            response_model=schema,
            status_code=status,
            description=words + (f"\n\nA token needs the scope `{scope}`." if scope else ""),
            responses={**problems, **(responses or {})},
            openapi_extra=described,
            **options,
        )
        return function

    return decorate


def _problems(path: str, own: set[int], described: Mapping[str, Any]) -> Responses:
    """Return the OpenAPI descriptions of the errors of an operation."""
    statuses = {*own, *EVERYWHERE}
    if path not in OPEN_PATHS:
        statuses.update(WITH_TOKEN)
    if "{" in path:
        statuses.update(WITH_NAME)
    if "requestBody" in described:
        statuses.update(WITH_BODY)
    return {one: {"model": Problem, "description": STATUSES[one]} for one in statuses}


def _with_body(parameters: list[inspect.Parameter]) -> tuple[dict[str, Any], list[inspect.Parameter]]:
    """Return the description of a JSON body, and parameters in which a dependency supplies it."""
    for place, one in enumerate(parameters):
        if isinstance(model := one.annotation, type) and issubclass(model, BaseModel):
            is_optional = one.default is not one.empty
            read = one.replace(annotation=Annotated[model, _body_of(model, is_optional=is_optional)], default=one.empty)
            content = {JSON: {"schema": {"$ref": REF.format(model=model.__name__)}}}
            body = {"requestBody": {"required": not is_optional, "content": content}}
            return body, [*parameters[:place], read, *parameters[place + 1 :]]
    return {}, parameters


def _answered(found: Any, status: int, study: Study | None) -> Response:
    """Return the result of an endpoint as a response; for studies, with the model and its journal record."""
    if isinstance(found, Response):
        return found
    if found is None:
        return Response(status_code=204)
    of = {} if study is None else {"model": study.model.name, "sequence": study.published.sequence}
    return answer({**of, **found}, status)


async def applied(model: HostedModel, sequence: int, seconds: float) -> None:
    """Wait until a record has been learnt and published, at most `seconds`."""
    if seconds:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.wrap_future(model.when_applied(sequence)), seconds)


FILE_WORDS = "a table as CSV, TSV, Parquet, Arrow or Excel, or a model that sslart.save wrote"
FILE: dict[str, Any] = {"requestBody": {"required": True, **of_kind(FILE_WORDS, BINARY)[200]}}


async def received(context: Context, request: Request, work: Callable[[FilePath], Result]) -> tuple[Result, bytes]:
    """Write the body of a request to a file and process it in a thread; return the result and the checksum."""
    folder, digest = context.upload_folder, _digest_begun(request)
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder)
        path = FilePath(name)
    except OSError as error:
        raise ApiError(503, f"The upload cannot be written: {error.strerror}.") from error
    try:
        try:
            with os.fdopen(descriptor, "wb") as file:
                async for part in request.stream():
                    file.write(part)
                    digest.update(part)
        except TimeoutError:
            raise
        except OSError as error:  # also when closing the file, which writes the last bytes
            raise ApiError(507, f"The upload cannot be written: {error.strerror}.") from error
        return await context.long_threads.run(work, path), digest.digest()
    except ValueError as error:
        words = str(error).replace(name, "the file")
        raise ValueError(words[:1].upper() + words[1:]) from error
    finally:
        path.unlink(missing_ok=True)
