"""Rows in, decisions out: predict, which keeps nothing, and decide, which keeps rows to be labelled and learnt."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from sslart.server.api._access import actor
from sslart.server.api._context import Context, ContextOf, KeyOf, ModelOf
from sslart.server.api._json import answer, body_of
from sslart.server.api._openapi import problems
from sslart.server.api._schemas.answers import Decisions
from sslart.server.api._schemas.requests import DecideRequest, PredictRequest
from sslart.server.models._published import Published
from sslart.server.models._registry import FEW_ROWS

MAX_EXPLAINED = 1000  # rows

router = APIRouter(tags=["predict"])


@router.post("/v1/models/{name}/predict", response_model=Decisions, responses=problems(409))
async def predict(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    body: Annotated[PredictRequest, body_of(PredictRequest)],
) -> Response:
    """Predict rows; nothing is kept of them."""
    context.hub.check_rows(body.rows)
    published = context.hub.published(model)
    explanations = await explained(context, published, body.rows) if body.explain else None

    def work() -> Response:
        predictions = published.predict(body.rows, body.abstain_below)
        context.metrics.count_decisions(model.name, predictions)
        return decisions_answer(model.name, published.sequence, predictions, None, explanations)

    return await soon(context, body.rows, work)


@router.post("/v1/models/{name}/decide", response_model=Decisions, responses=problems(409))
async def decide(
    context: ContextOf,
    who: Annotated[str, actor("learn")],
    model: ModelOf,
    body: Annotated[DecideRequest, body_of(DecideRequest)],
    key: KeyOf,
) -> Response:
    """Predict rows and keep them: they can be labelled later, and familiar ones are learnt without a label.

    When the answer comes, the rows are on the disk.
    """
    published = context.hub.published(model)
    # before anything is written, since it may fail
    explanations = await explained(context, published, body.rows) if body.explain else None
    written = await context.hub.decide(model, body.rows, body.ids, body.learn, who, key)
    decisions = written.answer["decisions"]
    if not written.is_again:
        context.metrics.count_decisions(model.name, decisions)
    sequence, rows = written.answer["sequence"], written.answer["rows"]
    return await soon(context, body.rows, lambda: decisions_answer(model.name, sequence, decisions, rows, explanations))


async def soon(context: Context, rows: list[Any], work: Callable[[], Response]) -> Response:
    """Return the answer that some work makes: of few rows at once, of many by a thread."""
    return work() if len(rows) <= FEW_ROWS else await context.threads.run(work)


def check_explained(rows: list[dict[str, Any]]) -> None:
    """Raise a ValueError where more rows shall be explained than can be in the time of a request."""
    if len(rows) > MAX_EXPLAINED:
        raise ValueError(f"There are {len(rows)} rows, and {MAX_EXPLAINED} can be explained at a time: send fewer.")


async def explained(context: Context, published: Published, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the explanations of predictions, with their text."""
    check_explained(rows)

    def work() -> list[dict[str, Any]]:
        published.check_has_label()
        found = published.model.explain(published.reader.samples(rows))
        return [{"text": str(one), **one.to_dict()} for one in found]

    return await context.threads.run(work)


def decisions_answer(
    model: str,
    sequence: int,
    predictions: list[dict[str, Any]],
    rows: list[int] | None,
    explanations: list[dict[str, Any]] | None,
) -> Response:
    """Return predictions as an answer, with the number of each row and its explanation where there is one."""
    found = []
    for place, one in enumerate(predictions):
        row = {} if rows is None else {"row": rows[place]}
        explanation = {} if explanations is None else {"explanation": explanations[place]}
        found.append({**row, **one, **explanation})
    return answer({"model": model, "sequence": sequence, "predictions": found})


Wait = Annotated[float, Query(ge=0, le=600, description="seconds to wait for the outcome")]
