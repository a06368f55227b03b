"""All samples of a model: values for a map, the boxes, and a search."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Annotated, Any
from urllib.parse import quote

import numpy as np
from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from sslart.server.api._access import actor
from sslart.server.api._context import Context, ContextOf, ModelOf
from sslart.server.api._json import answer, body_of
from sslart.server.api._openapi import problems
from sslart.server.api._schemas.samples import (
    MAX_NUMBERS,
    BoxDescription,
    Boxes,
    FoundSamples,
    Quantity,
    SamplesDescription,
    SearchRequest,
)
from sslart.server.models._hosted import HostedModel
from sslart.server.models._published import Published, as_json
from sslart.server.models._settings import Name
from sslart.server.studies._boxes import all_boxes, one_box
from sslart.server.studies._samples import LoadedSamples, Predictions
from sslart.server.studies._search import Search, codes_of, disagreement, found_places

router = APIRouter(tags=["samples"])

_NPY = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}
FeatureName = Annotated[Name | None, Query(description="a feature")]


@router.get("/v1/models/{name}/samples", response_model=SamplesDescription, responses=problems(409))
async def describe_samples(context: ContextOf, _: Annotated[str, actor("read")], model: ModelOf) -> Response:
    """Return the number of samples of a model, its classes, and the features available as values."""
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        loaded = context.hub.samples(model)
        return {
            "model": model.name,
            "sequence": published.sequence,
            "n": len(loaded),
            "classes": published.classes,
            "features": _features(loaded),
        }

    return answer(await context.long_threads.run(work))


def _features(loaded: LoadedSamples) -> list[dict[str, Any]]:
    view, encoder = loaded.samples.published.view, loaded.member.encoder
    found: list[dict[str, Any]] = []
    for column, name in enumerate(view.feature_names[: view.reader.n_features_in_]):
        if column in view.reader.plan.left_out:
            continue
        if column in encoder.categorical:
            known = [as_json(one) for one in encoder.categories_of(column)]
            found.append({"name": name, "kind": "category", "categories": known})
            continue
        values = loaded.samples.table.values[:, column] if len(loaded) else np.zeros(0)
        has_values = not np.isnan(values).all()
        ends = {"low": float(np.nanmin(values)), "high": float(np.nanmax(values))} if has_values else {}
        kind = "date" if column in view.reader.plan.dates else "number"
        found.append({"name": name, "kind": kind, "categories": None, **ends})
    return found


@router.get(
    "/v1/models/{name}/values/{quantity}",
    response_class=Response,
    responses={200: {"description": "An array as numpy.save writes it.", "content": _NPY}, **problems(409)},
)
async def sample_values(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    quantity: Annotated[Quantity, Path(description="what to return of each sample")],
    feature: Annotated[Name | None, Query(alias="name", description="of the quantity feature: which one")] = None,
) -> Response:
    """Return one value for each sample, in the order of their numbers, as a file in the format of NumPy.

    A class or label is the index of one of the classes in the header x-sslart-classes, -1 for none; a category is its
    place among those of the feature. A position is two numbers from 0 to 1, computed from the boxes.
    """
    published: Published = context.hub.published(model)

    def work() -> Response:
        loaded = context.hub.samples(model)
        file = BytesIO()
        np.save(file, np.ascontiguousarray(_values(context, model, published, loaded, quantity, feature)))
        headers = {
            "x-sslart-sequence": str(published.sequence),
            "x-sslart-classes": quote(json.dumps(published.classes)),
        }
        return Response(file.getvalue(), 200, headers, "application/octet-stream")

    return await context.long_threads.run(work)


def _values(
    context: Context,
    model: HostedModel,
    published: Published,
    loaded: LoadedSamples,
    quantity: Quantity,
    feature: str | None,
) -> Any:
    """Return one value for each sample."""
    match quantity:
        case "row":
            return loaded.samples.rows.astype("<i4")
        case "position":
            return loaded.positions
        case "feature":
            if feature is None:
                raise ValueError("Name the feature: ?name=FEATURE.")
            return codes_of(loaded, feature)[0].astype("<f4")
        case "box":
            return loaded.boxes.astype("<i4")
        case "novelty":
            return loaded.novelty
        case "novel":
            return loaded.is_novel.astype("u1")
        case "label":
            return loaded.label_indices(_labels(context, model, loaded), published.classes)
    predictions = loaded.predictions(published)
    match quantity:
        case "class":
            return predictions.indices
        case "probability":
            return predictions.probability
        case "disagreement":
            labels = loaded.label_indices(_labels(context, model, loaded), published.classes)
            return disagreement(predictions, labels)


def _labels(context: Context, model: HostedModel, loaded: LoadedSamples) -> list[Any]:
    return loaded.labels(context.hub.store.reader(), model.id)


@router.get("/v1/models/{name}/boxes", response_model=Boxes, responses=problems(409))
async def boxes(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    x: FeatureName = None,
    y: FeatureName = None,
) -> Response:
    """Return the boxes with the most samples, and where they are by two features, or in the computed positions."""
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        loaded = context.hub.samples(model)
        if (x is None) != (y is None):
            raise ValueError("Give both x and y, or none of them.")
        at = loaded.positions.astype(np.float64)
        if x is not None and y is not None:
            at = np.column_stack([codes_of(loaded, one)[0] for one in (x, y)])
        found = all_boxes(loaded, loaded.predictions(published), _labels(context, model, loaded), at)
        return {"model": model.name, "sequence": published.sequence, "boxes": found}

    return answer(await context.long_threads.run(work))


@router.get("/v1/models/{name}/boxes/{box}", response_model=BoxDescription, responses=problems(409))
async def describe_box(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    box: Annotated[int, Path(ge=0, lt=2**31, description="the number of the box")],
) -> Response:
    """Return the contents of a box: its samples, labels, intervals, and distinctive features."""
    published: Published = context.hub.published(model)

    def work() -> dict[str, Any]:
        loaded = context.hub.samples(model)
        if box >= loaded.member.n_nodes:
            raise ValueError(f"There is no box {box}: there are {loaded.member.n_nodes}, from 0 on.")
        found = one_box(loaded, loaded.predictions(published), _labels(context, model, loaded), box)
        return {"model": model.name, "sequence": published.sequence, **found}

    return answer(await context.long_threads.run(work))


@router.post("/v1/models/{name}/search", response_model=FoundSamples, responses=problems(409))
async def search(
    context: ContextOf,
    _: Annotated[str, actor("read")],
    model: ModelOf,
    body: Annotated[SearchRequest, body_of(SearchRequest)],
) -> Response:
    """Return a page of the samples that meet conditions, sorted, with their predictions."""
    published: Published = context.hub.published(model)
    low_high = None if body.probability is None else (body.probability[0], body.probability[1])
    wanted = Search(
        **body.model_dump(exclude={"offset", "limit", "numbers", "probability"}),
        probability=low_high,
    )

    def work() -> dict[str, Any]:
        loaded = context.hub.samples(model)
        predictions, labels = loaded.predictions(published), _labels(context, model, loaded)
        places = found_places(loaded, predictions, labels, wanted)
        some = places[body.offset : body.offset + body.limit]
        numbers = {"numbers": loaded.samples.rows[places[:MAX_NUMBERS]].tolist()} if body.numbers else {}
        return {
            "model": model.name,
            "sequence": published.sequence,
            "total": len(places),
            "rows": _shown(context, model, loaded, predictions, some.tolist()),
            **numbers,
        }

    return answer(await context.long_threads.run(work))


def _shown(
    context: Context, model: HostedModel, loaded: LoadedSamples, predictions: Predictions, places: list[int]
) -> list[dict[str, Any]]:
    numbers = [int(loaded.samples.rows[place]) for place in places]
    shown = []
    for place, found in zip(places, context.hub.rows(model, numbers), strict=True):
        best, index = int(predictions.best[place]), int(predictions.indices[place])
        shown.append(
            {
                "row": found.row,
                "cells": found.cells,
                "label": found.label,
                "class": None if best < 0 else predictions.classes[best],
                "probability": round(float(predictions.probability[place]), 6),
                "abstained": best >= 0 and index < 0,
                "novelty": round(float(loaded.novelty[place]), 6),
                "novel": bool(loaded.is_novel[place]),
                "box": int(loaded.boxes[place]),
            }
        )
    return shown
