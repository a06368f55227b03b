"""Rows and labels to learn, and rows that were sent before."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from sslart.server.api._access import actor
from sslart.server.api._context import ContextOf, KeyOf, ModelOf
from sslart.server.api._json import answer, body_of
from sslart.server.api._openapi import problems
from sslart.server.api._paths.predicting import Wait
from sslart.server.api._schemas.answers import Accepted, LabelHistory, Row
from sslart.server.api._schemas.requests import LabelRequest, LearnRequest
from sslart.server.models._hosted import HostedModel
from sslart.server.models._stored_rows import MAX_DIGITS
from sslart.server.models._transactions import learnt_with
from sslart.server.store._labels import history

router = APIRouter(tags=["learn"])


async def applied(model: HostedModel, sequence: int, seconds: float) -> None:
    """Wait until a record has been learnt and published, at most so long."""
    if seconds:
        try:
            await asyncio.wait_for(asyncio.wrap_future(model.when_applied(sequence)), seconds)
        except TimeoutError:
            return


@router.post("/v1/models/{name}/learn", response_model=Accepted, responses=problems(409))
async def learn(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    model: ModelOf,
    body: Annotated[LearnRequest, body_of(LearnRequest)],
    key: KeyOf,
    wait: Wait = 0,
) -> Response:
    """Learn rows, with or without labels. The answer confirms the durable write; learning follows soon after."""
    written = await context.hub.learn(model, body.rows, body.labels, body.ids, who, key)
    await applied(model, written.answer["sequence"], wait)
    return answer({"model": model.name, **written.answer})


@router.post("/v1/models/{name}/labels", response_model=Accepted, responses=problems(409))
async def label_rows(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    model: ModelOf,
    body: Annotated[LabelRequest, body_of(LabelRequest)],
    key: KeyOf,
    wait: Wait = 0,
) -> Response:
    """Label rows that were sent before. A row that has another label gets the new one with the next fit.

    With `wait`, the answer comes when the labels are learnt. A fit to more than 20,000 rows, which new labels may lead
    to, goes on after that: ask for its job.
    """
    given = [(one.row, one.label) for one in body.labels]
    written = await context.hub.label(model, given, body.by or who, key, together=body.together)
    job = await context.hub.refit_by_labels(model, written, who) if body.refit else None
    await applied(model, learnt_with(model.n_rows, written, job), wait)
    return answer({"model": model.name, **written.answer, **({} if job is None else {"job": job})})


@router.get("/v1/models/{name}/labels", response_model=LabelHistory)
async def label_history(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    row: Annotated[int | None, Query(ge=0, lt=2**63, description="of one row only, by its number")] = None,
    after: Annotated[int, Query(ge=0, lt=2**63, description="the last entry that is known")] = 0,
    most: Annotated[int, Query(ge=1, le=10_000, description="how many entries at most")] = 100,
) -> Response:
    """Return the history of labels and who gave them, the oldest first."""
    found = await context.threads.run(lambda: history(context.hub.store.reader(), model.id, row, after, most))
    return answer({"model": model.name, "labels": found})


@router.get("/v1/models/{name}/rows/{row:path}", response_model=Row)
async def find_row(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    row: Annotated[
        str, Path(min_length=1, max_length=200, description="its id, or its number where no row has such an id")
    ],
    by_number: Annotated[
        bool, Query(description="whether digits are its number also where a row has such an id")
    ] = False,
) -> Response:
    """Return a stored row by its number or id: its cells, its label, and its prediction."""
    which = int(row) if by_number and row.isdecimal() and len(row) < MAX_DIGITS else row
    (found,) = await context.threads.run(context.hub.rows, model, [which])
    decision: dict[str, Any] | None = found.decision
    return answer(
        {"model": model.name, "row": found.row, "cells": found.cells, "label": found.label, "decision": decision}
    )
