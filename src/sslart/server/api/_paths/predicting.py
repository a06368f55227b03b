"""Rows in, decisions out: predict, which keeps nothing, and decide, which keeps rows to be labelled and learnt."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from sslart.server.api._access import actor
from sslart.server.api._context import Context, ContextOf, KeyOf, ModelOf
from sslart.server.api._json import answer, body_of
from sslart.server.api._openapi import problems
from sslart.server.api._schemas.answers import Decisions
from sslart.server.api._schemas.requests import DecideRequest, PredictRequest
from sslart.server.models._hub import FEW_ROWS
from sslart.server.models._published import Published

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
    published = context.hub.published(model)
    check_explained(body.rows, body.explain)
    predictions = await predicted(context, published, body.rows, body.abstain_below)
    context.metrics.count_decisions(model.name, predictions)
    explanations = await explained(context, published, body.rows) if body.explain else None
    return answer(
        {
            "model": model.name,
            "sequence": published.sequence,
            "predictions": shown(predictions, None, explanations),
        }
    )


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
    check_explained(body.rows, body.explain)
    written = await context.hub.decide(model, body.rows, body.ids, body.learn, who, key)
    decisions = written.answer["decisions"]
    if not written.is_again:
        context.metrics.count_decisions(model.name, decisions)
    explanations = await explained(context, published, body.rows) if body.explain else None
    return answer(
        {
            "model": model.name,
            "sequence": written.answer["sequence"],
            "predictions": shown(decisions, written.answer["rows"], explanations),
        }
    )


async def predicted(
    context: Context, published: Published, rows: list[dict[str, Any]], abstain_below: float | None = None
) -> list[dict[str, Any]]:
    """Return predictions: of few rows at once, of many in a thread."""
    context.hub.check_rows(rows)
    if len(rows) <= FEW_ROWS:
        return published.predict(rows, abstain_below)
    return await context.threads.run(published.predict, rows, abstain_below)


def check_explained(rows: list[dict[str, Any]], is_explained: bool = True) -> None:
    """Raise a ValueError where more rows shall be explained than can be in the time of a request."""
    if is_explained and len(rows) > MAX_EXPLAINED:
        raise ValueError(f"There are {len(rows)} rows, and {MAX_EXPLAINED} can be explained at a time: send fewer.")


async def explained(context: Context, published: Published, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the explanations of predictions, with their text."""

    def work() -> list[dict[str, Any]]:
        published.check_has_label()
        found = published.model.explain(published.reader.samples(rows))
        return [{"text": str(one), **one.to_dict()} for one in found]

    return await context.threads.run(work)


def shown(
    predictions: list[dict[str, Any]],
    rows: list[int] | None,
    explanations: list[dict[str, Any]] | None,
) -> list[dict[str, Any]]:
    """Return predictions as they are answered, with the number of each row and its explanation where there is one."""
    found = []
    for place, one in enumerate(predictions):
        row = {} if rows is None else {"row": rows[place]}
        explanation = {} if explanations is None else {"explanation": explanations[place]}
        found.append({**row, **one, **explanation})
    return found


Wait = Annotated[float, Query(ge=0, le=600, description="seconds to wait for the outcome")]
