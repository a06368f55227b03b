"""Endpoints about all samples of a model: values, boxes, a search, samples to label next, quality, properties."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Annotated, Any, Literal
from urllib.parse import quote

import numpy as np
from fastapi import Path, Query, Request
from pydantic import BaseModel, Field, JsonValue, TypeAdapter
from starlette.responses import Response

from sslart._utils.intervals import Estimate
from sslart.server.api._endpoint import BINARY, ContextOf, ModelOf, StudyOf, endpoint, new_router, of_kind
from sslart.server.api._errors import ApiError
from sslart.server.api._schemas import Label, OfModel, listing
from sslart.server.models._published import as_json
from sslart.server.models._settings import NAME, Cell, Closed, Name
from sslart.server.store._labels import disagreements as disagreements_in
from sslart.server.store._labels import properties as properties_in
from sslart.server.studies._boxes import all_boxes, one_box
from sslart.server.studies._questions import questions_of
from sslart.server.studies._search import MAX_NUMBERS, QUANTITIES, SearchRequest, codes_of, found_places
from sslart.server.studies._study import Study
from sslart.server.studies._trust import quality as quality_of
from sslart.server.studies._trust import random_order_of

MAX_DISAGREEMENTS = 1000
MAX_PROPERTY = 2**16  # bytes

router = new_router("samples")
labelling = new_router("label")

Quantity = Literal[
    "row", "position", "feature", "class", "probability", "novelty", "novel", "disagreement", "label", "box"
]


class FeatureOfSamples(BaseModel):
    """A feature as it can be asked for."""

    name: str
    kind: Literal["number", "category", "date"]
    categories: list[Any] | None = None
    low: float | None = None
    high: float | None = None


class SamplesDescription(OfModel):
    """Overview of all samples: their number, the classes, and the features."""

    n: int
    classes: list[Label]
    features: list[FeatureOfSamples]


class SampleCells(BaseModel):
    """A sample: the number of its row, and its cells."""

    row: int
    cells: dict[str, Cell]


class FoundSample(Closed, SampleCells):
    """A sample with its prediction."""

    label: Label
    class_: Label = Field(alias="class", description="the most probable class, also where the model abstains")
    probability: float
    abstained: bool
    novelty: float
    novel: bool
    box: int


class FoundSamples(OfModel):
    """Samples that meet the conditions."""

    total: int
    rows: list[FoundSample]
    numbers: list[int] | None = None


class Box(BaseModel):
    """A box with its number of samples, labels, and prediction."""

    box: int
    n: int = Field(description="how many samples fall into it")
    labels: dict[str, int]
    class_: Label = Field(alias="class", description="the class predicted most")
    probability: float


class DrawnBox(Box):
    """A box where it is drawn."""

    x: list[float]
    y: list[float]


Boxes = listing("Boxes", "The boxes with the most samples.", OfModel, boxes=list[DrawnBox])


class InWords(BaseModel):
    """A feature with a text about it."""

    feature: str
    text: str
    value: str | None = None


class BoxDescription(Box, OfModel):
    """All that there is to know of a box."""

    n_labelled: int
    conditions: list[InWords]
    special: list[InWords]
    rows: list[int]


class GuessedClass(BaseModel):
    """Prediction of the model for the sample of a question."""

    class_: Label = Field(alias="class")
    abstained: bool
    probability: float
    probabilities: dict[str, float]


class Question(SampleCells):
    """A sample to label."""

    label: Label
    kind: Literal["sample", "box"] = Field(description="box: its rows are those of its box, which are much alike")
    box: int
    n_rows: int = Field(description="how many samples its box has")
    rows: list[int] = Field(
        description="the sample and those most like it, or those of its box: one answer may be given for all of them, "
        "where a person has looked at them and they are of one class"
    )
    samples: list[SampleCells] = Field(description="these rows with their cells")
    at_random: bool = Field(
        description="whether the sample was drawn at random: say so with its label, on which the statement of quality "
        "then rests; other rows that the answer labels were not"
    )
    why: str
    special: list[InWords]
    prediction: GuessedClass | None


class QuestionList(OfModel):
    """Samples to label next, the most useful first."""

    questions: list[Question]
    remaining: int = Field(description="how many samples have no label")


class LabelsOfClass(BaseModel):
    """A class and how many labels it has."""

    class_: Label = Field(alias="class")
    labels: float


class Stated(BaseModel):
    """The statement of quality beside the accuracy, in words."""

    lines: dict[str, str] = Field(description="by topic, such as baseline, skill and dependent rows")
    skill: str | None
    assumes: str = Field(description="what the figures hold for")


class QualityAnswer(OfModel):
    """Quality of a model on left-out labels, and the number of labels it still needs."""

    rows: int
    labels: int
    classes: list[LabelsOfClass]
    quality: Stated
    how: str
    accuracy: Estimate | None = Field(description="on left-out labels of rows drawn at random")
    why_not: str
    warnings: dict[str, str]
    share_in_labelled_boxes: float | None = Field(description="of the samples; null unless needed is true")
    target: float | None
    needed: dict[str, Any] | None
    needed_why_not: str


class RandomOrderAnswer(OfModel):
    """Number of labels that a random order would have needed."""

    labels: int
    random: dict[str, int | None] | None
    text: str


class Disagreement(BaseModel):
    """A row to which several people have given different labels."""

    row: int
    in_force: Label
    labels: list[dict[str, Any]]


Disagreements = listing(
    "Disagreements",
    "Rows to which several people have given different labels.",
    BaseModel,
    model=str,
    rows=list[Disagreement],
)
Properties = listing(
    "Properties", "Custom properties stored with a model.", BaseModel, model=str, properties=dict[str, JsonValue]
)


FeatureName = Annotated[Name | None, Query(description="a feature")]
PropertyKey = Annotated[str, Path(pattern=NAME, description="the name of the property")]

_JSON = TypeAdapter[Any](JsonValue)
_NPY = of_kind("An array as numpy.save writes it.", BINARY)


@endpoint(router, "GET /v1/models/{name}/samples", SamplesDescription, long=True)
def describe_samples(study: StudyOf) -> dict[str, Any]:
    """Return the number of samples of a model, its classes, and the features available as values."""
    return {"n": len(study.loaded), "classes": study.published.classes, "features": _features(study)}


def _features(study: Study) -> list[dict[str, Any]]:
    loaded = study.loaded
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


@endpoint(router, "GET /v1/models/{name}/values/{quantity}", responses=_NPY, long=True)
def sample_values(
    study: StudyOf,
    quantity: Annotated[Quantity, Path(description="what to return of each sample")],
    feature: Annotated[Name | None, Query(alias="name", description="of the quantity feature: which one")] = None,
) -> Response:
    """Return one value for each sample, in the order of their numbers, as a file in the format of NumPy.

    A class or label is the index of one of the classes in the header x-sslart-classes, -1 for none; a category is its
    place among those of the feature. A position is two numbers from 0 to 1, computed from the boxes.
    """
    if quantity != "feature":
        values = QUANTITIES[quantity](study)
    elif feature is None:
        raise ValueError("Name the feature: ?name=FEATURE.")
    else:
        values = codes_of(study.loaded, feature)[0].astype("<f4")
    file = BytesIO()
    np.save(file, np.ascontiguousarray(values))
    headers = {
        "x-sslart-sequence": str(study.published.sequence),
        "x-sslart-classes": quote(json.dumps(study.published.classes)),
    }
    return Response(file.getvalue(), 200, headers, BINARY)


@endpoint(router, "GET /v1/models/{name}/boxes", Boxes, long=True)
def boxes(study: StudyOf, x: FeatureName = None, y: FeatureName = None) -> dict[str, Any]:
    """Return the boxes with the most samples, and where they are by two features, or in the computed positions."""
    loaded = study.loaded
    if (x is None) != (y is None):
        raise ValueError("Give both x and y, or none of them.")
    at = loaded.positions.astype(np.float64)
    if x is not None and y is not None:
        at = np.column_stack([codes_of(loaded, one)[0] for one in (x, y)])
    return {"boxes": all_boxes(study, at)}


@endpoint(router, "GET /v1/models/{name}/boxes/{box}", BoxDescription, long=True)
def describe_box(
    study: StudyOf, box: Annotated[int, Path(ge=0, lt=2**31, description="the number of the box")]
) -> dict[str, Any]:
    """Return the contents of a box: its samples, labels, intervals, and distinctive features."""
    return one_box(study, box)


@endpoint(router, "POST /v1/models/{name}/search", FoundSamples, long=True)
def search(study: StudyOf, body: SearchRequest) -> dict[str, Any]:
    """Return a page of the samples that meet conditions, sorted, with their predictions."""
    places = found_places(study, body)
    some = places[body.offset : body.offset + body.limit]
    numbers = {"numbers": study.loaded.samples.rows[places[:MAX_NUMBERS]].tolist()} if body.numbers else {}
    return {"total": len(places), "rows": _shown(study, some.tolist()), **numbers}


def _shown(study: Study, places: list[int]) -> list[dict[str, Any]]:
    loaded, predictions, shown = study.loaded, study.predictions, []
    for place, found in zip(places, study.rows(loaded.samples.rows[places].tolist()), strict=True):
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


@endpoint(labelling, "GET /v1/models/{name}/questions", QuestionList, long=True)
def questions(
    study: StudyOf,
    n: Annotated[int, Query(ge=1, le=50, description="how many at most")] = 3,
    skip: Annotated[list[int], Query(max_length=1000, description="rows that nobody could label")] = [],  # noqa: B006
) -> dict[str, Any]:
    """Return the samples whose labels would help most, with context that helps to answer."""
    found = questions_of(study).next(study, n, skip)
    cells = {row.row: row.cells for row in study.rows(sorted({row for one in found for row in one["rows"]}))}
    return {
        "questions": [
            {**one, "cells": cells[one["row"]], "samples": [{"row": row, "cells": cells[row]} for row in one["rows"]]}
            for one in found
        ],
        "remaining": int((~study.has_label).sum()),
    }


@endpoint(labelling, "GET /v1/models/{name}/quality", QualityAnswer)
def quality(
    study: StudyOf,
    target: Annotated[float, Query(gt=0, le=1, description="the accuracy that you want")] = 0.9,
    needed: Annotated[
        bool, Query(description="whether to estimate also what takes longer: how many more labels it needs")
    ] = True,
) -> dict[str, Any]:
    """Return the quality of a model on left-out labels, and the number of labels needed for an accuracy."""
    found = quality_of(study, target if needed else None)
    share = round(questions_of(study).share_labelled(), 4) if needed else None
    return {"rows": len(study.loaded), **found, "share_in_labelled_boxes": share}


@endpoint(labelling, "GET /v1/models/{name}/quality/random_order", RandomOrderAnswer, long=True)
def random_order(study: StudyOf) -> dict[str, Any]:
    """Return the number of randomly chosen labels that would reach the quality of the model, by simulation."""
    return random_order_of(study)


@endpoint(labelling, "GET /v1/models/{name}/disagreements", Disagreements)
def disagreements(context: ContextOf, model: ModelOf) -> dict[str, Any]:
    """Return the rows to which several people have given different labels."""
    return {"model": model.name, "rows": disagreements_in(context.reader, model.id, MAX_DISAGREEMENTS)}


@endpoint(labelling, "GET /v1/models/{name}/properties", Properties)
def list_properties(context: ContextOf, model: ModelOf) -> dict[str, Any]:
    """Return the custom properties stored with a model."""
    return {"model": model.name, "properties": properties_in(context.reader, model.id)}


@endpoint(
    labelling,
    "PUT /v1/models/{name}/properties/{key}",
    Properties,
    scope="learn",
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": {}}}}},
)
async def keep_property(context: ContextOf, model: ModelOf, key: PropertyKey, request: Request) -> dict[str, Any]:
    """Keep a value with a model, in place of the one before: any JSON of at most 64 KiB; null removes it."""
    content = await request.body()
    if len(content) > MAX_PROPERTY:
        raise ApiError(413, f"The value has more than {MAX_PROPERTY} bytes, which is the limit: keep less.")
    value = _JSON.validate_json(content)
    json.dumps(value, allow_nan=False)
    await context.registry.set_property(model, key, value)
    return {"model": model.name, "properties": {key: value}}


@endpoint(labelling, "DELETE /v1/models/{name}/properties/{key}", scope="learn", status=204)
async def remove_property(context: ContextOf, model: ModelOf, key: PropertyKey) -> None:
    """Remove a value that is kept with a model."""
    await context.registry.set_property(model, key, None)
