"""Endpoints of labelling: samples to label next, quality of the model, and custom properties."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from pydantic import JsonValue, TypeAdapter
from starlette.responses import Response

from sslart.server.api._access import actor
from sslart.server.api._context import ContextOf, ModelOf
from sslart.server.api._errors import ApiError
from sslart.server.api._json import answer
from sslart.server.api._openapi import problems
from sslart.server.api._schemas.samples import (
    Disagreements,
    Properties,
    QualityAnswer,
    QuestionList,
    RandomOrderAnswer,
)
from sslart.server.models._published import Published
from sslart.server.store._labels import disagreements as disagreements_in
from sslart.server.store._labels import properties as properties_in
from sslart.server.studies._questions import questions_of
from sslart.server.studies._trust import quality as quality_of
from sslart.server.studies._trust import random_order_of

MAX_DISAGREEMENTS = 1000
MAX_PROPERTY = 2**16  # bytes

router = APIRouter(tags=["label"])

_JSON = TypeAdapter[Any](JsonValue)
PropertyKey = Annotated[str, Path(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$", description="the name of the property")]


@router.get("/v1/models/{name}/questions", response_model=QuestionList, responses=problems(409))
async def questions(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    n: Annotated[int, Query(ge=1, le=50, description="how many at most")] = 3,
    skip: Annotated[list[int], Query(max_length=1000, description="rows that nobody could label")] = [],  # noqa: B006
) -> Response:
    """Return the samples whose labels would help most, with context that helps to answer."""
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        loaded = context.hub.samples(model)
        has_label = loaded.has_label(context.hub.store.reader(), model.id)
        found = questions_of(loaded, published, has_label).next(published, has_label, n, skip)
        wanted = sorted({row for one in found for row in one["rows"]})
        cells = {row.row: row.cells for row in context.hub.rows(model, wanted)}
        return {
            "model": model.name,
            "sequence": published.sequence,
            "questions": [
                {
                    **one,
                    "cells": cells[one["row"]],
                    "samples": [{"row": row, "cells": cells[row]} for row in one["rows"]],
                }
                for one in found
            ],
            "remaining": int((~has_label).sum()),
        }

    return answer(await context.long_threads.run(work))


@router.get("/v1/models/{name}/quality", response_model=QualityAnswer, responses=problems(409))
async def quality(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    target: Annotated[float, Query(gt=0, le=1, description="the accuracy that you want")] = 0.9,
    needed: Annotated[
        bool, Query(description="whether to estimate also what takes longer: how many more labels it needs")
    ] = True,
) -> Response:
    """Return the quality of a model on left-out labels, and the number of labels needed for an accuracy."""
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        loaded = context.hub.samples(model)
        has_label = loaded.has_label(context.hub.store.reader(), model.id)
        found = quality_of(loaded, published, has_label, target if needed else None)
        share = round(questions_of(loaded, published, has_label).share_labelled(), 4) if needed else None
        return {
            "model": model.name,
            "sequence": published.sequence,
            "rows": len(loaded),
            **found,
            "share_in_labelled_boxes": share,
        }

    return answer(await context.threads.run(work))


@router.get("/v1/models/{name}/quality/random_order", response_model=RandomOrderAnswer, responses=problems(409))
async def random_order(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the number of randomly chosen labels that would reach the quality of the model, by simulation."""
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        loaded = context.hub.samples(model)
        has_label = loaded.has_label(context.hub.store.reader(), model.id)
        found = random_order_of(loaded, published, has_label)
        return {"model": model.name, "sequence": published.sequence, **found}

    return answer(await context.long_threads.run(work))


@router.get("/v1/models/{name}/disagreements", response_model=Disagreements)
async def disagreements(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the rows to which several people have given different labels."""
    found = await context.threads.run(lambda: disagreements_in(context.hub.store.reader(), model.id, MAX_DISAGREEMENTS))
    return answer({"model": model.name, "rows": found})


@router.get("/v1/models/{name}/properties", response_model=Properties)
async def list_properties(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the custom properties stored with a model."""
    found = await context.threads.run(lambda: properties_in(context.hub.store.reader(), model.id))
    return answer({"model": model.name, "properties": found})


@router.put(
    "/v1/models/{name}/properties/{key}",
    response_model=Properties,
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": {}}}}},
)
async def keep_property(
    context: ContextOf, _: Annotated[str, actor("learn")], model: ModelOf, key: PropertyKey, request: Request
) -> Response:
    """Keep a value with a model, in place of the one before: any JSON of at most 64 KiB; null removes it."""
    content = await request.body()
    if len(content) > MAX_PROPERTY:
        raise ApiError(413, f"The value has more than {MAX_PROPERTY} bytes, which is the limit: keep less.")
    value = _JSON.validate_json(content)
    json.dumps(value, allow_nan=False)
    await context.hub.set_property(model, key, value)
    return answer({"model": model.name, "properties": {key: value}})


@router.delete("/v1/models/{name}/properties/{key}", status_code=204)
async def remove_property(
    context: ContextOf, _: Annotated[str, actor("learn")], model: ModelOf, key: PropertyKey
) -> Response:
    """Remove a value that is kept with a model."""
    await context.hub.set_property(model, key, None)
    return Response(status_code=204)
