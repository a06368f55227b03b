"""Endpoints of models: created, described, changed and deleted; rows and labels to learn; jobs and exports."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from math import isfinite
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import Path, Query, Request
from pydantic import BaseModel, Field, Json, JsonValue, WithJsonSchema
from starlette.responses import Response

from sslart._mapping.model_view import view_of
from sslart._mapping.summary import summarise
from sslart.server.api import _schemas as schemas
from sslart.server.api._endpoint import (
    FILE,
    Actor,
    After,
    Context,
    ContextOf,
    Encoding,
    IdempotencyKey,
    KeyOf,
    ModelName,
    ModelOf,
    Most,
    Responses,
    StudyOf,
    Wait,
    answer,
    applied,
    endpoint,
    new_router,
    of_kind,
    received,
)
from sslart.server.api._errors import ApiError
from sslart.server.api._schemas import listing
from sslart.server.models._hosted import HostedModel
from sslart.server.models._settings import NAME, ModelSettings, Name
from sslart.server.models._stored_rows import MAX_DIGITS
from sslart.server.models._transactions import Key, NoSuchModelError, record_to_await
from sslart.server.store._files import remove_unused
from sslart.server.store._journal import CANCELLED, DONE, FAILED, WAITING, JobRow, job, jobs
from sslart.server.store._labels import history
from sslart.server.studies._examples import ANSWER, EXAMPLES, LABEL, Example, described, example_frame
from sslart.server.studies._exports import EXPORTS, Format

NO_CHANGE = schemas.RefitRequest()
JobNumber = Annotated[int, Path(ge=1, lt=2**63, description="the number of the record in the journal of the model")]

_ENDED: Responses = {200: {"model": schemas.Job, "description": "The model is fitted."}}
_TAKEN: Responses = {201: {"model": schemas.Accepted, "description": "The file of a model was taken."}}

router = new_router("models")
learning = new_router("learn")
job_router = new_router("jobs")
fitting = partial(endpoint, router, schema=schemas.Job, scope="learn", status=202, responses=_ENDED)


def _few_names(setting: str) -> Any:
    """Return a list of columns in a query, which holds fewer of them than a body."""
    return Field(default=[], max_length=1000, description=ModelSettings.model_fields[setting].description)


class FileQuery(ModelSettings):
    """Query of a request that makes a model from a file: settings, the encoding of text, and how long to wait."""

    ignore: list[Name] = _few_names("ignore")
    category: list[Name] = _few_names("category")
    use: list[Name] = _few_names("use")
    parameters: Annotated[Json[dict[str, JsonValue]], WithJsonSchema({"type": "string"})] = Field(
        default={}, description='of the estimator, as JSON, such as {"vigilance": 0.8}', max_length=50
    )
    encoding: Encoding = None
    wait: Wait = 0


@endpoint(learning, "POST /v1/models/{name}/learn", schemas.Accepted, scope="learn", errors=(409,))
async def learn(
    context: ContextOf, actor: Actor, model: ModelOf, body: schemas.LearnRequest, key: KeyOf, wait: Wait = 0
) -> Any:
    """Learn rows, with or without labels. The answer confirms the durable write; learning follows soon after."""
    written = await context.registry.learn(model, body.rows, body.labels, body.ids, actor, key)
    await applied(model, written.answer["sequence"], wait)
    return {"model": model.name, **written.answer}


@endpoint(learning, "POST /v1/models/{name}/labels", schemas.Accepted, scope="learn", errors=(409,))
async def label_rows(
    context: ContextOf, actor: Actor, model: ModelOf, body: schemas.LabelRequest, key: KeyOf, wait: Wait = 0
) -> Any:
    """Label rows that were sent before. A row that has another label gets the new one with the next fit.

    With `wait`, the answer comes when the labels are learnt. A fit to more than 20,000 rows, which new labels may lead
    to, goes on after that: ask for its job.
    """
    given = [(one.row, one.label, one.at_random) for one in body.labels]
    written = await context.registry.label(model, given, body.by or actor, key, together=body.together)
    number = await context.registry.refit_by_labels(model, written, actor) if body.refit else None
    await applied(model, record_to_await(model.n_rows, written, number), wait)
    return {"model": model.name, **written.answer, **({} if number is None else {"job": number})}


@endpoint(learning, "GET /v1/models/{name}/labels", schemas.LabelHistory)
def label_history(
    context: ContextOf,
    model: ModelOf,
    row: Annotated[int | None, Query(ge=0, lt=2**63, description="of one row only, by its number")] = None,
    after: After = 0,
    most: Most = 100,
) -> Any:
    """Return the history of labels and who gave them, the oldest first."""
    return {"model": model.name, "labels": history(context.reader, model.id, row, after, most)}


@endpoint(learning, "GET /v1/models/{name}/rows/{row:path}", schemas.Row)
def find_row(
    context: ContextOf,
    model: ModelOf,
    row: Annotated[
        str, Path(min_length=1, max_length=200, description="its id, or its number where no row has such an id")
    ],
    by_number: Annotated[
        bool, Query(description="whether digits are its number also where a row has such an id")
    ] = False,
) -> Any:
    """Return a stored row by its number or id: its cells, its label, and its prediction."""
    which = int(row) if by_number and row.isdecimal() and len(row) < MAX_DIGITS else row
    (found,) = context.registry.rows(model, [which])
    return {"model": model.name, **vars(found)}


@endpoint(router, "GET /v1/models", schemas.Models)
async def list_models(context: ContextOf) -> Any:
    """Return all models."""
    return {"models": [_brief(one) for one in context.registry.models()]}


@endpoint(router, "POST /v1/models", schemas.Accepted, scope="learn", status=201, errors=(409,))
async def create_model(context: ContextOf, actor: Actor, body: schemas.CreateRequest) -> Any:
    """Create a model that has learnt nothing; its columns are those of the first rows that it learns."""
    hosted = await context.registry.create(body.name, body.settings, actor)
    return {"model": hosted.name, "sequence": hosted.accepted, "rows": []}


@fitting("PUT /v1/models/{name}", responses={**_ENDED, **_TAKEN}, errors=(409, 501, 507), openapi_extra=FILE)
async def create_model_from_file(
    context: ContextOf,
    actor: Actor,
    request: Request,
    name: ModelName,
    query: Annotated[FileQuery, Query()],
) -> Any:
    """Create a model from a table, which it is fitted to, or from the file of a model.

    The answer is the job that fits it; with `wait`, when it has ended.
    """
    settings = ModelSettings(**query.model_dump(exclude={"encoding", "wait"}))
    settings.new_estimator()
    registry = context.registry
    before = next((one for one in registry.models() if one.name == name), None)
    if before is not None:
        registry.check_empty(before)
    async with _uploaded(context, request, query.encoding, settings.named_columns) as (upload, is_model, _):
        if before is not None:  # it has learnt nothing, such as after a table that could not be learnt
            await registry.delete(before, actor, only_empty=True)
        hosted = await registry.create(name, settings, actor)
        written = await registry.add_upload(hosted, upload, is_model, actor)
    sequence = written.answer["sequence"]
    await applied(hosted, sequence, query.wait or (60 if is_model else 0))
    if is_model:
        return answer({"model": name, "sequence": sequence, "rows": []}, 201)
    return _job_answer(context, hosted, sequence)


@fitting("POST /v1/models/{name}/table", errors=(409, 501, 507), openapi_extra=FILE)
async def add_table(
    context: ContextOf,
    actor: Actor,
    request: Request,
    model: ModelOf,
    idempotency_key: IdempotencyKey = None,
    encoding: Encoding = None,
    wait: Wait = 0,
) -> Any:
    """Add the rows of a table to those of a model, and fit it anew to all of them."""
    context.registry.check_learns(model)
    context.registry.check_has_its_rows(model)
    async with _uploaded(context, request, encoding, ()) as (upload, is_model, digest):
        if is_model:
            raise ApiError(409, "A model file makes a new model: send it to a new name with PUT.")
        key = None if idempotency_key is None else Key(idempotency_key, digest)
        written = await context.registry.add_upload(model, upload, False, actor, key)
    await applied(model, written.answer["sequence"], wait)
    return _job_answer(context, model, written.answer["sequence"])


@asynccontextmanager
async def _uploaded(
    context: Context, request: Request, encoding: str | None, named: Sequence[str]
) -> AsyncIterator[tuple[int, bool, bytes]]:
    """Read the body of a request into the store: its number, whether it is the file of a model, and its checksum."""
    work = partial(context.registry.upload, encoding=encoding, named=named)
    (upload, is_model), digest = await received(context, request, work)
    try:
        yield upload, is_model, digest
    except BaseException:
        context.registry.store.submit_own(lambda connection: remove_unused(connection, upload))
        raise


@fitting("POST /v1/models/{name}/refit", errors=(409,))
async def refit(
    context: ContextOf,
    actor: Actor,
    model: ModelOf,
    key: KeyOf,
    body: schemas.RefitRequest = NO_CHANGE,
    wait: Wait = 0,
) -> Any:
    """Fit a model anew to all rows it was given, with the labels in force and with other settings where given."""
    changes = body.settings.model_dump(mode="json", exclude_unset=True)
    written = await context.registry.refit(model, changes, actor, key)
    await applied(model, written.answer["sequence"], wait)
    return _job_answer(context, model, written.answer["sequence"])


@endpoint(router, "GET /v1/models/{name}", schemas.ModelDescription, response_model_exclude_unset=True)
def describe_model(model: ModelOf) -> Any:
    """Return the description of a model: its kind, the data it has learnt, and its quality on left-out labels."""
    published = model.published
    found = {
        **_brief(model),
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
        found["summary"] = {
            "text": str(summary),
            "labels": {str(one.label): int(one.n_labels) for one in summary.classes},
            "accuracy": None if summary.quality.accuracy is None else dict(vars(summary.quality.accuracy)),
        }
    return found


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value))


def _brief(model: HostedModel) -> dict[str, Any]:
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


@endpoint(router, "PATCH /v1/models/{name}", schemas.Accepted, scope="learn")
async def change_parameters(context: ContextOf, actor: Actor, model: ModelOf, body: schemas.ParametersRequest) -> Any:
    """Change parameters that need no fit, such as abstain_below."""
    written = await context.registry.set_parameters(model, body.parameters, actor)
    await applied(model, written.answer["sequence"], context.registry.limits.timeout / 2)
    return {**written.answer, "rows": []}


@endpoint(router, "DELETE /v1/models/{name}", scope="admin", status=204)
async def delete_model(context: ContextOf, actor: Actor, model: ModelOf) -> None:
    """Delete a model with all its rows, labels and snapshots."""
    await context.registry.delete(model, actor)
    context.metrics.forget(model.name)


@endpoint(router, "GET /v1/models/{name}/state", schemas.Snapshot)
def model_state(study: StudyOf) -> Any:
    """Return the digest of the current model: equal digests mean models equal in every bit."""
    return {"digest": study.published.digest}


@endpoint(router, "POST /v1/models/{name}/snapshot", schemas.Snapshot, scope="learn", errors=(409,))
async def snapshot(context: ContextOf, actor: Actor, model: ModelOf) -> Any:
    """Store a snapshot of the current model, so that a restart continues from it."""
    context.registry.published(model)
    published = await asyncio.wrap_future(model.want_snapshot())
    assert published is not None
    digest = await context.threads.run(lambda: published.digest)
    await context.registry.note_in_audit(actor, "snapshot", model.name, {"sequence": published.sequence})
    return {"model": model.name, "sequence": published.sequence, "digest": digest}


def _described_job(model: HostedModel, row: JobRow) -> dict[str, Any]:
    """Return a job in words and numbers."""
    busy = model.busy_with
    is_running = row.state == WAITING and busy is not None and busy["sequence"] == row.sequence
    return {
        "id": f"{model.name}/{row.sequence}",
        "model": model.name,
        "sequence": row.sequence,
        "state": "running" if is_running else row.state,
        "created": row.created,
        "ended": row.ended,
        "progress": busy if is_running else None,
        "outcome": row.outcome,
    }


def _found_job(context: Context, model: HostedModel, sequence: int) -> JobRow:
    row = job(context.reader, model.id, sequence)
    if row is None:
        raise ApiError(404, f"There is no job {model.name}/{sequence}.")
    return row


def _job_answer(context: Context, model: HostedModel, sequence: int) -> Response:
    """Return a job: 202 while it has not ended, 422 where it has failed, 409 where it was cancelled."""
    row = _found_job(context, model, sequence)
    found = _described_job(model, row)
    if row.state == FAILED:
        assert row.outcome is not None
        return answer({**found, "error": row.outcome["error"]}, 422)
    if row.state == CANCELLED:
        return answer({**found, "error": "The job was cancelled before it had ended: the model is as it was."}, 409)
    return answer(found, 200 if row.state == DONE else 202)


@endpoint(job_router, "GET /v1/jobs", schemas.Jobs)
async def list_jobs(
    context: ContextOf, most: Annotated[int, Query(ge=1, le=1000, description="how many jobs at most")] = 100
) -> Any:
    """Return the newest jobs, the newest first."""
    by_number = {model.id: model for model in context.registry.models()}
    rows = jobs(context.reader, most)
    return {"jobs": [_described_job(by_number[row.model], row) for row in rows if row.model in by_number]}


@endpoint(job_router, "GET /v1/models/{name}/jobs/{sequence}", schemas.Job)
async def find_job(context: ContextOf, model: ModelOf, sequence: JobNumber) -> Any:
    """Return a job with its progress or outcome."""
    return _described_job(model, _found_job(context, model, sequence))


@endpoint(job_router, "DELETE /v1/models/{name}/jobs/{sequence}", schemas.Job, scope="learn", errors=(409,))
async def cancel_job(context: ContextOf, actor: Actor, model: ModelOf, sequence: JobNumber) -> Any:
    """Cancel a job that has not ended: the model stays as it was."""
    _found_job(context, model, sequence)
    if not await context.registry.cancel(model, sequence, actor):
        raise ApiError(409, f"The job {model.name}/{sequence} has ended before.")
    return _described_job(model, _found_job(context, model, sequence))


_EXPORTED = of_kind("The file.", *dict.fromkeys(kind.partition(";")[0] for _, kind, _ in EXPORTS.values()))


@endpoint(router, "GET /v1/models/{name}/export", responses=_EXPORTED, errors=(501,), long=True)
def export(study: StudyOf, format: Annotated[Format, Query(description="of the file")] = "sslart") -> Response:
    """Return the model as a file: for sslart.load, for ONNX runtimes, or as an HTML page to read.

    Or what it knows: its rules, its labels, a script that makes the same model again, or a model card.
    """
    content, kind, ending = EXPORTS[format]
    headers = {"content-disposition": f'attachment; filename="{study.model.name}{ending}"'}
    return Response(content(study), 200, headers, kind)


class ExampleTable(BaseModel):
    """A table for a first try."""

    name: str
    title: str
    text: str
    rows: int
    columns: int
    label: str
    classes: int


ExampleList = listing("ExampleList", "Tables for a first try.", BaseModel, examples=list[ExampleTable])


@cache
def _examples() -> list[dict[str, Any]]:
    return [described(one) for one in EXAMPLES.values()]


@endpoint(router, "GET /v1/examples", ExampleList)
def list_examples() -> Any:
    """Return the tables for a first try."""
    return {"examples": _examples()}


@endpoint(router, "POST /v1/examples/{example}", schemas.Job, scope="learn", status=202, errors=(409,))
async def use_example(
    context: ContextOf,
    actor: Actor,
    example: Annotated[str, Path(max_length=100, description="its name")],
    name: Annotated[str | None, Query(alias="as", pattern=NAME, description="the name of the model")] = None,
    wait: Wait = 0,
) -> Any:
    """Create a model of a table for a first try: few of its rows have a label."""
    if example not in EXAMPLES:
        raise NoSuchModelError(f"There is no example {example!r}: there are {', '.join(EXAMPLES)}.")
    upload, is_model = await context.long_threads.run(_stored, context, EXAMPLES[example])
    settings = ModelSettings(label=LABEL, ignore=[ANSWER])
    hosted = await context.registry.create(name or example, settings, actor)
    written = await context.registry.add_upload(hosted, upload, is_model, actor)
    await applied(hosted, written.answer["sequence"], wait)
    return _job_answer(context, hosted, written.answer["sequence"])


def _stored(context: Context, example: Example) -> tuple[int, bool]:
    with tempfile.TemporaryDirectory() as folder:
        path = FilePath(folder) / "table.csv"
        example_frame(example).to_csv(path, index=False)
        return context.registry.upload(path)
