"""Jobs: fits, which take long, with their progress."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from sslart.server.api._access import actor
from sslart.server.api._context import Context, ContextOf, ModelOf
from sslart.server.api._errors import ApiError
from sslart.server.api._json import answer
from sslart.server.api._openapi import problems
from sslart.server.api._schemas.answers import Job, Jobs
from sslart.server.models._hosted import HostedModel
from sslart.server.store._journal import CANCELLED, DONE, FAILED, WAITING, JobRow, job, jobs

router = APIRouter(tags=["jobs"])

Sequence = Annotated[int, Path(ge=1, lt=2**63, description="the number of the record in the journal of the model")]


def described(model: HostedModel, row: JobRow) -> dict[str, Any]:
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


def job_answer(context: Context, model: HostedModel, sequence: int) -> Response:
    """Return a job: 202 while it has not ended, 422 where it has failed, 409 where it was cancelled."""
    row = job(context.hub.store.reader(), model.id, sequence)
    if row is None:
        raise ApiError(404, f"There is no job {model.name}/{sequence}.")
    found = described(model, row)
    if row.state == FAILED:
        assert row.outcome is not None
        return answer({**found, "error": row.outcome["error"]}, 422)
    if row.state == CANCELLED:
        return answer({**found, "error": "The job was cancelled before it had ended: the model is as it was."}, 409)
    return answer(found, 200 if row.state == DONE else 202)


@router.get("/v1/jobs", response_model=Jobs)
async def list_jobs(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    most: Annotated[int, Query(ge=1, le=1000, description="how many jobs at most")] = 100,
) -> Response:
    """Return the newest jobs, the newest first."""
    by_number = {model.id: model for model in context.hub.models()}
    rows = jobs(context.hub.store.reader(), most)
    return answer({"jobs": [described(by_number[row.model], row) for row in rows if row.model in by_number]})


@router.get("/v1/models/{name}/jobs/{sequence}", response_model=Job)
async def find_job(
    context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf, sequence: Sequence
) -> Response:
    """Return a job with its progress or outcome."""
    row = job(context.hub.store.reader(), model.id, sequence)
    if row is None:
        raise ApiError(404, f"There is no job {model.name}/{sequence}.")
    return answer(described(model, row))


@router.delete("/v1/models/{name}/jobs/{sequence}", response_model=Job, responses=problems(409))
async def cancel_job(
    context: ContextOf, who: Annotated[str, actor("learn")], model: ModelOf, sequence: Sequence
) -> Response:
    """Cancel a job that has not ended: the model stays as it was."""
    row = job(context.hub.store.reader(), model.id, sequence)
    if row is None:
        raise ApiError(404, f"There is no job {model.name}/{sequence}.")
    if not await context.hub.cancel(model, sequence, who):
        raise ApiError(409, f"The job {model.name}/{sequence} has ended before.")
    row = job(context.hub.store.reader(), model.id, sequence)
    assert row is not None
    return answer(described(model, row))
