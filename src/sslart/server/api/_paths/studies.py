"""Endpoints that analyse a model: columns, trust, dependence, trial labels, and changes since the last fit."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sslart._tables.files import read_pieces
from sslart._utils.parallel import stop_flag, stopped_by
from sslart.server.api._access import actor
from sslart.server.api._context import Context, ContextOf, IdempotencyKey, ModelOf, digest_begun
from sslart.server.api._json import answer, body_of
from sslart.server.api._openapi import problems
from sslart.server.api._paths.learning import applied
from sslart.server.api._paths.predicting import Wait
from sslart.server.api._received import FILE, called_the_file, received
from sslart.server.api._schemas.studies import (
    Columns,
    Cover,
    CoverRequest,
    Dependence,
    Similar,
    SimilarRequest,
    Trial,
    TrialRequest,
    Trust,
    Watch,
    WatchedTable,
)
from sslart.server.models._hosted import HostedModel
from sslart.server.models._published import Published
from sslart.server.models._settings import Name
from sslart.server.models._stored_rows import RowsBefore, rows_in, within_limits
from sslart.server.models._transactions import ConflictError, Key
from sslart.server.store._journal import LAST, last_fit, n_rows_before
from sslart.server.studies._boxes import nearest_boxes
from sslart.server.studies._boxes import similar as similar_to
from sslart.server.studies._columns import columns_of
from sslart.server.studies._drift import watch as watch_of
from sslart.server.studies._rules import dependence as dependence_of
from sslart.server.studies._samples import LoadedSamples
from sslart.server.studies._search import condition_of, covered, suggested
from sslart.server.studies._trust import NOT_FOUND, UNKNOWN, group_quality, kept_samples, places_of
from sslart.server.studies._trust import trust as trust_of
from sslart.server.studies._what_if_labels import Fits
from sslart.server.studies._what_if_labels import trial as trial_of

MAX_COVERED = 100
MAX_LABELLED = 1000
ROWS_AT_ONCE = 2000
SECONDS_TO_LEARN = 60.0

router = APIRouter(tags=["studies"])


async def _of_model(context: Context, model: HostedModel, work: Callable[[Published], dict[str, Any]]) -> Response:
    """Run a study of a model, and return its result with the model's name and last learnt record."""
    published: Published = context.hub.published(model)
    found = await context.long_threads.run(work, published)
    return answer({"model": model.name, "sequence": published.sequence, **found})


def _labels(context: Context, model: HostedModel, loaded: LoadedSamples) -> list[Any]:
    return loaded.labels(context.hub.store.reader(), model.id)


@router.get("/v1/models/{name}/columns", response_model=Columns)
async def columns(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the interpretation of each column of the rows, even during a fit or after a failed one."""
    before, keep_rows = RowsBefore(model.id, LAST, model.n_rows), context.hub.limits.keep_rows

    def work() -> dict[str, Any]:
        return columns_of(context.hub.store.reader(), before, model.settings, keep_rows, model.published)

    return answer({"model": model.name, **await context.long_threads.run(work)})


@router.get("/v1/models/{name}/trust", response_model=Trust, responses=problems(409))
async def trust(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    group: Annotated[Name | None, Query(description="a column: the quality in each group that it makes")] = None,
) -> Response:
    """Return the quality of a model on left-out labels, by class, by confidence, and by group."""

    def work(published: Published) -> dict[str, Any]:
        published.check_has_label()
        view, loaded = published.view, context.hub.samples(model)
        left_out = view.left_out
        places = np.full(0 if left_out is None else len(left_out.truth), NOT_FOUND)
        if left_out is not None and len(loaded):
            labels = loaded.label_indices(_labels(context, model, loaded), published.classes)
            places = places_of(left_out, view, loaded.samples.table, labels.astype(np.int64))
        found = trust_of(view, places, loaded.samples.rows)
        groups = None
        if group is not None and left_out is not None and found["accuracy"] is not None:
            groups = group_quality(left_out, group, _cells(context, model, loaded, places, group))
        return {**found, "groups": groups}

    return await _of_model(context, model, work)


def _cells(context: Context, model: HostedModel, loaded: LoadedSamples, places: Any, column: str) -> list[Any]:
    """Return the cells of a column in the rows of left-out labels."""
    known = np.flatnonzero(places != NOT_FOUND)
    rows = context.hub.rows(model, loaded.samples.rows[places[known]].tolist())
    if rows and not any(column in one.cells for one in rows):
        raise ValueError(f"The labelled rows have no column {column!r}: give one of those that GET .../columns lists.")
    cells: list[Any] = [UNKNOWN] * len(places)
    for place, one in zip(known.tolist(), rows, strict=True):
        cells[place] = one.cells.get(column)
    return cells


@router.get("/v1/models/{name}/dependence", response_model=Dependence, responses=problems(409))
async def dependence(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    feature: Annotated[Name, Query(description="a feature")],
) -> Response:
    """Return a feature's contribution to class scores by value, for at most 500 samples and on average."""

    def work(published: Published) -> dict[str, Any]:
        published.check_has_label()
        view, loaded = published.view, context.hub.samples(model)
        if not len(loaded) and view.left_out is None:
            raise ConflictError(f"No row of the model {model.name!r} is here: send some to it.")
        table = loaded.samples.table if len(loaded) else kept_samples(view)  # of a model from a file
        return dependence_of(view, table, feature)

    return await _of_model(context, model, work)


@router.post("/v1/models/{name}/similar", response_model=Similar, responses=problems(409))
async def similar(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    body: Annotated[SimilarRequest, body_of(SimilarRequest)],
) -> Response:
    """Return the labelled rows most similar to a row, with their differences, and the best-matching boxes."""

    def work(published: Published) -> dict[str, Any]:
        sample, loaded = published.reader.table([body.row]), context.hub.samples(model)
        labels = _labels(context, model, loaded)
        rows = loaded.samples.rows
        labelled = [place for place, one in enumerate(labels) if one is not None and int(rows[place]) != body.leave_out]
        cases = similar_to(loaded, sample, np.array(labelled, dtype=np.int64), body.n)
        found = context.hub.rows(model, [int(rows[one.place]) for one in cases])
        shown = [
            {"row": row.row, "label": row.label, "cells": row.cells, "distance": case.distance, "text": case.text}
            for case, row in zip(cases, found, strict=True)
        ]
        return {"cases": shown, "boxes": nearest_boxes(loaded, sample, body.n)}

    return await _of_model(context, model, work)


@router.post("/v1/models/{name}/rules/cover", response_model=Cover, responses=problems(409))
async def cover(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    body: Annotated[CoverRequest, body_of(CoverRequest)],
) -> Response:
    """Return the rows that meet the conditions of a rule, and those whose labels would correct it."""

    def work(_published: Published) -> dict[str, Any]:
        loaded = context.hub.samples(model)
        if not len(loaded):
            return {"n_rows": 0, "labels": {}, "labelled": [], "suggested": [], "rows": []}
        labels, rows = _labels(context, model, loaded), loaded.samples.rows
        met = covered(loaded, [condition_of(one.model_dump()) for one in body.conditions])
        for other in body.others:
            met &= ~covered(loaded, [condition_of(one.model_dump()) for one in other])
        places = np.flatnonzero(met)
        labelled = [place for place in places.tolist() if labels[place] is not None]
        vetoed = None if body.label is None else str(body.label)
        open_ones = [place for place in places.tolist() if labels[place] is None or str(labels[place]) == vetoed]
        found = suggested(loaded, np.array(open_ones, dtype=np.int64), body.n)
        return {
            "n_rows": len(places),
            "labels": dict(Counter(str(labels[place]) for place in labelled).most_common()),
            "labelled": [{"row": int(rows[place]), "label": labels[place]} for place in labelled[:MAX_LABELLED]],
            "suggested": [int(rows[place]) for place in found],
            "rows": rows[places[:MAX_COVERED]].tolist(),
        }

    return await _of_model(context, model, work)


@router.post("/v1/models/{name}/trial", response_model=Trial, responses=problems(409))
async def trial(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    body: Annotated[TrialRequest, body_of(TrialRequest)],
    wait: Wait = 0,
) -> Response:
    """Fit a copy of a model with other labels, and return the changes; the copy is discarded.

    `wait` lets it take longer than other requests, as many seconds as are given.
    """
    hub, flag = context.hub, stop_flag()
    hub.check_has_its_rows(model)
    published: Published = hub.published(model)

    def work() -> dict[str, Any]:
        reader = hub.store.reader()
        labels = hub.classes(model, [one.label for one in body.labels])
        rows = hub.rows(model, [one.row for one in body.labels])
        changed = {row.row: label for row, label in zip(rows, labels, strict=True) if label != row.label}
        before = RowsBefore(model.id, LAST, model.n_rows)
        fits = Fits(reader, before, published.settings, hub.limits.keep_rows)
        is_fitted = published.sequence == model.accepted == last_fit(reader, model.id, published.sequence)
        with stopped_by(flag):
            found = trial_of(fits, published, hub.samples(model), changed, is_fitted=is_fitted, together=body.together)
        return {"model": model.name, "sequence": published.sequence, **found}

    try:
        async with asyncio.timeout(max(wait, hub.limits.timeout)):
            return answer(await context.long_threads.run(work))
    except (TimeoutError, asyncio.CancelledError):
        flag[0] = 1
        raise


@router.get("/v1/models/{name}/watch", response_model=Watch, responses=problems(409))
async def watch(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    last: Annotated[
        int | None, Query(ge=1, lt=2**31, description="compare the last so many rows, not all since the last fit")
    ] = None,
) -> Response:
    """Compare the rows since the last fit with those before it: features, novel rows, abstentions and classes."""

    def work(published: Published) -> dict[str, Any]:
        loaded = context.hub.samples(model)
        since = _first_after_fit(context, model, published)
        places = np.flatnonzero(loaded.samples.rows >= since)
        now = places if last is None else np.arange(max(len(loaded) - last, 0), len(loaded))
        return watch_of(context.hub.store.reader(), model.id, published, loaded, since, now)

    return await _of_model(context, model, work)


def _first_after_fit(context: Context, model: HostedModel, published: Published) -> int:
    reader = context.hub.store.reader()
    return n_rows_before(reader, model.id, last_fit(reader, model.id, published.sequence, by_labels=False))


@router.post(
    "/v1/models/{name}/watch/table",
    response_model=WatchedTable,
    responses=problems(409, 501, 507),
    openapi_extra=FILE,
)
async def watch_table(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    request: Request,
    model: ModelOf,
    idempotency_key: IdempotencyKey = None,
    encoding: Annotated[
        str | None, Query(max_length=50, description="of text, such as cp1252; it is found out if not given")
    ] = None,
) -> Response:
    """Predict the rows of a table and keep them, as decide does, and compare them with those before the last fit."""
    hub, digest = context.hub, digest_begun(request)
    hub.check_learns(model)
    hub.published(model).check_has_label()
    async with received(context, request, digest) as path:
        with called_the_file(path):
            rows = await context.long_threads.run(_rows_of, context, path, encoding)
            await context.long_threads.run(hub.published(model).reader.table, rows)
    numbers: list[int] = []
    for start in range(0, len(rows), ROWS_AT_ONCE):
        key = None if idempotency_key is None else Key(f"{idempotency_key}/{start}", digest.digest())
        written = await hub.decide(model, rows[start : start + ROWS_AT_ONCE], None, None, who, key)
        numbers += written.answer["rows"]
        await applied(model, written.answer["sequence"], SECONDS_TO_LEARN)

    def work(published: Published) -> dict[str, Any]:
        loaded = hub.samples(model)
        places = loaded.samples.places(numbers)
        since = min(_first_after_fit(context, model, published), numbers[0])
        found = watch_of(hub.store.reader(), model.id, published, loaded, since, places)
        return {**found, "rows": [numbers[0], numbers[-1]]}

    return await _of_model(context, model, work)


def _rows_of(context: Context, path: Path, encoding: str | None) -> list[dict[str, Any]]:
    """Return the rows of a file, or raise a ValueError where it has none, or too many."""
    limits = context.hub.limits
    rows: list[dict[str, Any]] = []
    for frame in within_limits(read_pieces(str(path), encoding, cells_only=True), (), limits.max_table_cells):
        if len(rows) + len(frame) > limits.max_backlog:
            raise ValueError(f"The file has more than {limits.max_backlog} rows, which is the limit: send fewer rows.")
        rows += rows_in(frame)
    if not rows:
        raise ValueError("The file has no rows below its header.")
    return rows
