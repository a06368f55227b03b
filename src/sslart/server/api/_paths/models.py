"""Models: created from a table, a file or settings; described, changed, exported and deleted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from math import isfinite
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from pydantic import Field, JsonValue, TypeAdapter
from starlette.responses import Response

from sslart._mapping.model_view import view_of
from sslart._mapping.summary import summarise
from sslart.server.api._access import actor
from sslart.server.api._context import Context, ContextOf, IdempotencyKey, KeyOf, ModelName, ModelOf, digest_begun
from sslart.server.api._errors import ApiError
from sslart.server.api._json import answer, body_of
from sslart.server.api._openapi import problems
from sslart.server.api._paths.jobs import job_answer
from sslart.server.api._paths.learning import applied
from sslart.server.api._paths.predicting import Wait
from sslart.server.api._received import FILE, called_the_file, received
from sslart.server.api._schemas.answers import Accepted, Job, ModelDescription, Models, Snapshot
from sslart.server.api._schemas.requests import CreateRequest, ParametersRequest, RefitRequest
from sslart.server.models._hosted import HostedModel
from sslart.server.models._published import Published
from sslart.server.models._settings import Learning, ModelSettings, Name
from sslart.server.models._transactions import Key
from sslart.server.store._files import remove_unused

Estimator = Literal["AutoSSLART", "SSLART", "WESSLART", "FuzzyARTMAP"]
Names = Annotated[list[Name], Field(max_length=1000)]
OptionalName = Name | None
Encoding = Annotated[
    str | None, Query(max_length=50, description="of text, such as cp1252; it is found out if not given")
]

_PARAMETERS = TypeAdapter(dict[str, JsonValue])


def _words(setting: str) -> str | None:
    return ModelSettings.model_fields[setting].description


def _described(setting: str) -> Any:
    """Return a parameter of the query that is a setting of the model."""
    return Query(description=_words(setting))


router = APIRouter(tags=["models"])

_ENDED: dict[int | str, dict[str, Any]] = {200: {"model": Job, "description": "The model is fitted."}}
_UPLOAD = problems(409, 501, 507)


@router.get("/v1/models", response_model=Models)
async def list_models(context: ContextOf, _: Annotated[str, actor("read")]) -> Response:
    """Return all models."""
    return answer({"models": [brief(one) for one in context.hub.models()]})


@router.post("/v1/models", status_code=201, response_model=Accepted, responses=problems(409))
async def create_model(
    context: ContextOf, who: Annotated[str, actor("learn")], body: Annotated[CreateRequest, body_of(CreateRequest)]
) -> Response:
    """Create a model that has learnt nothing; its columns are those of the first rows that it learns."""
    hosted = await context.hub.create(body.name, body.settings, who)
    return answer({"model": hosted.name, "sequence": hosted.accepted, "rows": []}, 201)


@router.put(
    "/v1/models/{name}",
    status_code=202,
    response_model=Job,
    responses={**_ENDED, 201: {"model": Accepted, "description": "The file of a model was taken."}, **_UPLOAD},
    openapi_extra=FILE,
)
async def create_model_from_file(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    request: Request,
    name: ModelName,
    label: Annotated[OptionalName, _described("label")] = None,
    id_column: Annotated[OptionalName, Query(alias="id", description=_words("id"))] = None,
    group: Annotated[OptionalName, _described("group")] = None,
    ignore: Annotated[Names, _described("ignore")] = [],  # noqa: B006
    category: Annotated[Names, _described("category")] = [],  # noqa: B006
    use: Annotated[Names, _described("use")] = [],  # noqa: B006
    estimator: Annotated[Estimator, _described("estimator")] = "AutoSSLART",
    learn: Annotated[Learning, _described("learn")] = Learning.familiar,
    parameters: Annotated[
        str, Query(max_length=10_000, description='of the estimator, as JSON, such as {"vigilance": 0.8}')
    ] = "{}",
    encoding: Encoding = None,
    wait: Wait = 0,
) -> Response:
    """Create a model from a table, which it is fitted to, or from the file of a model.

    The answer is the job that fits it; with `wait`, when it has ended.
    """
    settings = ModelSettings(
        estimator=estimator,
        parameters=_PARAMETERS.validate_json(parameters),
        label=label,
        id=id_column,
        group=group,
        ignore=ignore,
        category=category,
        use=use,
        learn=learn,
    )
    settings.new_estimator()
    before = next((one for one in context.hub.models() if one.name == name), None)
    if before is not None:
        context.hub.check_empty(before)
    async with _uploaded(context, request, encoding, settings.named_columns) as (upload, is_model, _):
        if before is not None:  # it has learnt nothing, such as after a table that could not be learnt
            await context.hub.delete(before, who, only_empty=True)
        hosted = await context.hub.create(name, settings, who)
        written = await context.hub.add_upload(hosted, upload, is_model, who)
    sequence = written.answer["sequence"]
    await applied(hosted, sequence, wait or (60 if is_model else 0))
    if is_model:
        return answer({"model": name, "sequence": sequence, "rows": []}, 201)
    return job_answer(context, hosted, sequence)


@router.post(
    "/v1/models/{name}/table",
    status_code=202,
    response_model=Job,
    responses={**_ENDED, **_UPLOAD},
    openapi_extra=FILE,
)
async def add_table(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    request: Request,
    model: ModelOf,
    idempotency_key: IdempotencyKey = None,
    encoding: Encoding = None,
    wait: Wait = 0,
) -> Response:
    """Add the rows of a table to those of a model, and fit it anew to all of them."""
    context.hub.check_learns(model)
    context.hub.check_has_its_rows(model)
    async with _uploaded(context, request, encoding, ()) as (upload, is_model, digest):
        if is_model:
            raise ApiError(409, "A model file makes a new model: send it to a new name with PUT.")
        key = None if idempotency_key is None else Key(idempotency_key, digest)
        written = await context.hub.add_upload(model, upload, False, who, key)
    await applied(model, written.answer["sequence"], wait)
    return job_answer(context, model, written.answer["sequence"])


@asynccontextmanager
async def _uploaded(
    context: Context, request: Request, encoding: str | None, named: Sequence[str]
) -> AsyncIterator[tuple[int, bool, bytes]]:
    """Read the body of a request into the store: its number, whether it is the file of a model, and its checksum."""
    store, digest = context.hub.store, digest_begun(request)
    async with received(context, request, digest) as path:
        with called_the_file(path):
            upload, is_model = await context.long_threads.run(context.hub.upload, path, encoding, named)
    try:
        yield upload, is_model, digest.digest()
    except BaseException:
        store.submit_own(lambda connection: remove_unused(connection, upload))
        raise


@router.post("/v1/models/{name}/refit", status_code=202, response_model=Job, responses={**_ENDED, **problems(409)})
async def refit(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    model: ModelOf,
    body: Annotated[RefitRequest, body_of(RefitRequest, optional=True)],
    key: KeyOf,
    wait: Wait = 0,
) -> Response:
    """Fit a model anew to all rows it was given, with the labels in force and with other settings where given."""
    changes = body.settings.model_dump(mode="json", exclude_unset=True)
    written = await context.hub.refit(model, changes, who, key)
    await applied(model, written.answer["sequence"], wait)
    return job_answer(context, model, written.answer["sequence"])


@router.get("/v1/models/{name}", response_model=ModelDescription, response_model_exclude_unset=True)
async def describe_model(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the description of a model: its kind, the data it has learnt, and its quality on left-out labels."""
    return answer(await context.threads.run(_all_of, model))


@router.patch("/v1/models/{name}", response_model=Accepted)
async def change_parameters(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    model: ModelOf,
    body: Annotated[ParametersRequest, body_of(ParametersRequest)],
) -> Response:
    """Change parameters that need no fit, such as abstain_below."""
    written = await context.hub.set_parameters(model, body.parameters, who)
    await applied(model, written.answer["sequence"], context.hub.limits.timeout / 2)
    return answer({**written.answer, "rows": []})


@router.delete("/v1/models/{name}", status_code=204)
async def delete_model(context: ContextOf, who: Annotated[str, actor("admin")], model: ModelOf) -> Response:
    """Delete a model with all its rows, labels and snapshots."""
    await context.hub.delete(model, who)
    context.metrics.forget(model.name)
    return Response(status_code=204)


@router.get("/v1/models/{name}/state", response_model=Snapshot, responses=problems(409))
async def model_state(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the digest of the current model: equal digests mean models equal in every bit."""
    published: Published = context.hub.published(model)
    digest = await context.threads.run(lambda: published.digest)
    return answer({"model": model.name, "sequence": published.sequence, "digest": digest})


@router.post("/v1/models/{name}/snapshot", response_model=Snapshot, responses=problems(409))
async def snapshot(context: ContextOf, who: Annotated[str, actor("learn")], model: ModelOf) -> Response:
    """Store a snapshot of the current model, so that a restart continues from it."""
    context.hub.published(model)
    published = await asyncio.wrap_future(model.want_snapshot())
    assert published is not None
    digest = await context.threads.run(lambda: published.digest)
    await context.hub.note_in_audit(who, "snapshot", model.name, {"sequence": published.sequence})
    return answer({"model": model.name, "sequence": published.sequence, "digest": digest})


def brief(model: HostedModel) -> dict[str, Any]:
    """Return the most important of a model."""
    published = model.published
    return {
        "name": model.name,
        "state": model.state,
        "problem": model.problem,
        "sequence": model.accepted,
        "learnt_through": model.applied,
        "rows": model.n_rows,
        "classes": [] if published is None else published.classes,
    }


def _all_of(model: HostedModel) -> dict[str, Any]:
    """Return all that there is to tell of a model."""
    published = model.published
    found = {
        **brief(model),
        "created": model.created,
        "settings": model.settings.model_dump(mode="json"),
        "backlog": model.backlog,
        "rejected": model.n_rejected,
    }
    if published is None:
        return found
    fitted = published.model
    found |= {
        "features": published.reader.names,
        "boxes": int(fitted.n_nodes_),
        "drifts": len(fitted.drift_),
        "parameters": {name: value for name, value in fitted.get_params().items() if _is_plain(value)},
        "summary": None,
    }
    if published.classes:
        summary = summarise(view_of(fitted))
        accuracy = None if summary.accuracy is None else dict(vars(summary.accuracy))
        found["summary"] = {
            "text": str(summary),
            "labels": {str(one.label): int(one.n_labels) for one in summary.classes},
            "accuracy": accuracy,
        }
    return found


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))
