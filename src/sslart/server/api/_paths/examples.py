"""Endpoints of example tables, from which a model can be created at once."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path as FilePath
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from sslart.server.api._access import actor
from sslart.server.api._context import Context, ContextOf
from sslart.server.api._json import answer
from sslart.server.api._openapi import problems
from sslart.server.api._paths.jobs import job_answer
from sslart.server.api._paths.learning import applied
from sslart.server.api._paths.predicting import Wait
from sslart.server.api._schemas.answers import Job
from sslart.server.api._schemas.samples import ExampleList
from sslart.server.models._settings import ModelSettings
from sslart.server.models._transactions import NoSuchModelError
from sslart.server.studies._examples import ANSWER, EXAMPLES, LABEL, Example, described, example_frame

router = APIRouter(tags=["models"])


@cache
def _all() -> list[dict[str, Any]]:
    return [described(one) for one in EXAMPLES.values()]


@router.get("/v1/examples", response_model=ExampleList)
async def list_examples(context: ContextOf, _: Annotated[str, actor("read")]) -> Response:
    """Return the tables for a first try."""
    return answer({"examples": await context.threads.run(_all)})


@router.post("/v1/examples/{example}", status_code=202, response_model=Job, responses=problems(409))
async def use_example(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    example: Annotated[str, Path(max_length=100, description="its name")],
    name: Annotated[
        str | None,
        Query(alias="as", pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="the name of the model"),
    ] = None,
    wait: Wait = 0,
) -> Response:
    """Create a model of a table for a first try: few of its rows have a label."""
    if example not in EXAMPLES:
        raise NoSuchModelError(f"There is no example {example!r}: there are {', '.join(EXAMPLES)}.")
    upload, is_model = await context.long_threads.run(_stored, context, EXAMPLES[example])
    settings = ModelSettings(label=LABEL, ignore=[ANSWER])
    hosted = await context.hub.create(name or example, settings, who)
    written = await context.hub.add_upload(hosted, upload, is_model, who)
    await applied(hosted, written.answer["sequence"], wait)
    return job_answer(context, hosted, written.answer["sequence"])


def _stored(context: Context, example: Example) -> tuple[int, bool]:
    with tempfile.TemporaryDirectory() as folder:
        path = FilePath(folder) / "table.csv"
        example_frame(example).to_csv(path, index=False)
        return context.hub.upload(path)
