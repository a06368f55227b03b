"""Endpoints of explanations: reasons, counterfactuals, rules, importances, and drift."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from sslart._utils.text import json_text
from sslart.server.api._access import actor
from sslart.server.api._context import ContextOf, ModelOf
from sslart.server.api._json import JSON, answer, body_of
from sslart.server.api._openapi import problems
from sslart.server.api._paths.predicting import check_explained, explained
from sslart.server.api._schemas.answers import Contributions, Counterfactuals, Drifts, Explanations, Importances, Rules
from sslart.server.api._schemas.requests import CounterfactualRequest, RowsRequest
from sslart.server.models._published import Published, as_class
from sslart.server.studies._rules import rules_of

router = APIRouter(tags=["explain"])


@router.post("/v1/models/{name}/explain", response_model=Explanations, responses=problems(409))
async def explain(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    body: Annotated[RowsRequest, body_of(RowsRequest)],
) -> Response:
    """Explain predictions: feature contributions, similar boxes, and a counterfactual for each."""
    published: Published = context.hub.published(model)
    found = await explained(context, published, body.rows)
    return _visible({"model": model.name, "sequence": published.sequence, "explanations": found})


@router.post("/v1/models/{name}/contributions", response_model=Contributions, responses=problems(409))
async def contributions(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    body: Annotated[RowsRequest, body_of(RowsRequest)],
) -> Response:
    """Return feature contributions to the class scores: exact Shapley values with evidence mapping."""
    check_explained(body.rows)
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        published.check_has_label()
        found = published.model.contributions(published.reader.samples(body.rows))
        return {
            "features": list(found.feature_names),
            "classes": published.classes,
            "base": found.base.tolist(),
            "values": found.values.tolist(),
            "graph": found.graph.tolist(),
            "scores": found.scores.tolist(),
        }

    return _visible({"model": model.name, "sequence": published.sequence, **await context.threads.run(work)})


@router.post("/v1/models/{name}/counterfactual", response_model=Counterfactuals, responses=problems(409))
async def counterfactual(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    body: Annotated[CounterfactualRequest, body_of(CounterfactualRequest)],
) -> Response:
    """Return several diverse counterfactuals of a row, each with a different prediction."""
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        published.check_has_label()
        sample = published.reader.samples([body.row])
        target = as_class(body.target, published.view.classes)
        categorical = published.view.members[0].encoder.categorical
        names = published.reader.names
        ranges = {
            name: values if name in names and names.index(name) in categorical else tuple(values)
            for name, values in body.ranges.items()
        }
        found = published.model.counterfactual(
            sample, target, fixed=body.fixed, ranges=ranges or None, n=body.n, plausible=body.plausible
        )
        return {"text": str(found), **found.to_dict()}

    return _visible({"model": model.name, "sequence": published.sequence, **await context.threads.run(work)})


@router.get("/v1/models/{name}/rules", response_model=Rules, responses=problems(409))
async def rules(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    max_rules: Annotated[int, Query(ge=1, le=200, description="how many rules at most")] = 12,
    max_conditions: Annotated[int, Query(ge=1, le=20, description="conditions in a rule, at most")] = 4,
) -> Response:
    """Return few, short rules that agree with the predictions for the rows that the model was given.

    Of a model from a file they are for samples drawn at random within its boxes; `from_boxes` says so.
    """
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        found = rules_of(context.hub, model, published, max_rules, max_conditions)
        return {"text": found.to_text(), **found.to_dict()}

    return _visible({"model": model.name, "sequence": published.sequence, **await context.long_threads.run(work)})


@router.get("/v1/models/{name}/importance", response_model=Importances, responses=problems(409))
async def importance(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the importance of each feature, and its direction."""
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        published.check_has_label()
        found = published.model.feature_importances()
        return {"text": str(found), **found.to_dict()}

    return _visible({"model": model.name, "sequence": published.sequence, **await context.threads.run(work)})


@router.get("/v1/models/{name}/drift", response_model=Drifts, responses=problems(409))
async def drift(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the drifts that were found in the stream since the last fit."""
    published: Published = context.hub.published(model)
    found = [one.to_dict("row") for one in published.model.drift_]
    return _visible({"model": model.name, "sequence": published.sequence, "drifts": found})


def _visible(values: dict[str, Any]) -> Response:
    return Response(json_text(values), media_type=JSON) if values.get("text") else answer(values)
