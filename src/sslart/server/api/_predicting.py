"""Endpoints of predictions and their explanations: decisions, reasons, counterfactuals, rules, importances, drift."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from starlette.responses import Response

from sslart.server.api import _schemas as schemas
from sslart.server.api._endpoint import Actor, Context, ContextOf, KeyOf, ModelOf, StudyOf, answer, endpoint, new_router
from sslart.server.models._published import Published, as_class
from sslart.server.studies._rules import rules_of

MAX_EXPLAINED = 1000  # rows

router = new_router("predict")
explaining = new_router("explain")


@endpoint(router, "POST /v1/models/{name}/predict", schemas.Decisions, errors=(409,))
async def predict(context: ContextOf, model: ModelOf, body: schemas.PredictRequest) -> Response:
    """Predict rows without storing them."""
    context.registry.check_rows(body.rows)
    published = context.registry.published(model)
    explanations = await _explained(context, published, body.rows) if body.explain else None

    def work() -> Response:
        published.check_has_label()
        found = published.predict_table(published.reader.table(body.rows), body.abstain_below)
        context.metrics.count(model.name, found.abstained, found.is_novel)
        return _decisions(model.name, published.sequence, published.plain(found), None, explanations)

    return await context.threads.run_for(len(body.rows), work)


@endpoint(router, "POST /v1/models/{name}/decide", schemas.Decisions, scope="learn", errors=(409,))
async def decide(context: ContextOf, actor: Actor, model: ModelOf, body: schemas.DecideRequest, key: KeyOf) -> Response:
    """Predict rows and store them: they can be labelled later, and are learnt without a label as `learn` states.

    The rows are on the disk before the response is sent.
    """
    published = context.registry.published(model)
    # before anything is written, since it may fail
    explanations = await _explained(context, published, body.rows) if body.explain else None
    written = await context.registry.decide(model, body.rows, body.ids, body.learn, actor, key)
    found = written.answer
    if not written.is_again:
        flags = ([one[name] for one in found["decisions"]] for name in ("abstained", "novel"))
        context.metrics.count(model.name, *flags)

    def work() -> Response:
        return _decisions(model.name, found["sequence"], found["decisions"], found["rows"], explanations)

    return await context.threads.run_for(len(body.rows), work)


def _decisions(
    model: str,
    sequence: int,
    predictions: list[dict[str, Any]],
    rows: list[int] | None,
    explanations: list[dict[str, Any]] | None,
) -> Response:
    """Return predictions as a response, with row numbers and explanations where they are given."""
    found = []
    for place, one in enumerate(predictions):
        row = {} if rows is None else {"row": rows[place]}
        explanation = {} if explanations is None else {"explanation": explanations[place]}
        found.append({**row, **one, **explanation})
    return answer({"model": model, "sequence": sequence, "predictions": found})


def _check_explained(rows: list[dict[str, Any]]) -> None:
    """Raise a ValueError if a request asks to explain too many rows."""
    if len(rows) > MAX_EXPLAINED:
        raise ValueError(f"There are {len(rows)} rows, and {MAX_EXPLAINED} can be explained at a time: send fewer.")


async def _explained(context: Context, published: Published, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    _check_explained(rows)
    return await context.threads.run(_explanations, published, rows)


def _explanations(published: Published, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the explanations of predictions, with their text."""
    published.check_has_label()
    found = published.model.explain(published.reader.table(rows))
    return [{"text": str(one), **one.to_dict()} for one in found]


@endpoint(explaining, "POST /v1/models/{name}/explain", schemas.Explanations)
def explain(study: StudyOf, body: schemas.RowsRequest) -> dict[str, Any]:
    """Explain predictions: feature contributions, similar boxes, and a counterfactual for each."""
    _check_explained(body.rows)
    return {"explanations": _explanations(study.published, body.rows)}


@endpoint(explaining, "POST /v1/models/{name}/contributions", schemas.Contributions)
def contributions(
    study: StudyOf,
    body: schemas.RowsRequest,
    intervals: Annotated[bool, Query(description="compute half the widths of the intervals of the values")] = False,
) -> dict[str, Any]:
    """Return feature contributions to the class scores: exact Shapley values with evidence mapping."""
    _check_explained(body.rows)
    published = study.published
    published.check_has_label()
    found = published.model.contributions(published.reader.table(body.rows))
    ends = found.intervals if intervals else None
    return {
        "features": list(found.feature_names),
        "classes": published.classes,
        **{name: getattr(found, name).tolist() for name in ("base", "values", "graph", "scores")},
        "half_widths": None if ends is None else (ends[..., 1] - found.values).tolist(),
    }


@endpoint(explaining, "POST /v1/models/{name}/counterfactual", schemas.Counterfactuals)
def counterfactual(study: StudyOf, body: schemas.CounterfactualRequest) -> dict[str, Any]:
    """Return several diverse counterfactuals of a row, each with a different prediction."""
    published = study.published
    published.check_has_label()
    names = published.view.feature_names
    categories = {names[place] for place in published.view.members[0].encoder.categorical}
    ranges = {name: values if name in categories else tuple(values) for name, values in body.ranges.items()}
    found = published.model.counterfactual(
        published.reader.samples([body.row]),
        as_class(body.target, published.view.classes),
        fixed=body.fixed,
        ranges=ranges or None,
        n=body.n,
        plausible=body.plausible,
    )
    return {"text": str(found), **found.to_dict()}


@endpoint(explaining, "GET /v1/models/{name}/rules", schemas.Rules, long=True)
def rules(
    study: StudyOf,
    max_rules: Annotated[int, Query(ge=1, le=200, description="maximum number of rules")] = 12,
    max_conditions: Annotated[int, Query(ge=1, le=20, description="maximum number of conditions in a rule")] = 4,
) -> dict[str, Any]:
    """Return few, short rules that agree with the predictions for the rows of the model.

    For a model from a file, samples drawn at random within its boxes take the place of rows; `from_boxes` is then true.
    """
    found = rules_of(study, max_rules, max_conditions)
    return {"text": found.to_text(), **found.to_dict()}


@endpoint(explaining, "GET /v1/models/{name}/importance", schemas.Importances)
def importance(study: StudyOf) -> dict[str, Any]:
    """Return the importance of each feature, and its direction."""
    study.published.check_has_label()
    found = study.published.model.feature_importances()
    return {"text": str(found), **found.to_dict()}


@endpoint(explaining, "GET /v1/models/{name}/drift", schemas.Drifts)
def drift(study: StudyOf) -> dict[str, Any]:
    """Return the drift events detected in the stream since the last fit."""
    return {"drifts": [one.to_dict("row") for one in study.published.model.drift_]}
