"""Endpoints that analyse a model: columns, trust, dependence, trial labels, and changes since the last fit."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from fastapi import Query, Request
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from sslart._tables.files import read_pieces
from sslart._utils.intervals import Estimate
from sslart._utils.resources import stop_flag
from sslart._utils.stopping import stopped_by
from sslart.server.api._endpoint import (
    FILE,
    Actor,
    Context,
    ContextOf,
    Encoding,
    IdempotencyKey,
    ModelOf,
    StudyOf,
    Wait,
    answer,
    applied,
    endpoint,
    new_router,
    received,
)
from sslart.server.api._samples import LabelsOfClass, SampleCells, Stated
from sslart.server.api._schemas import Cells, Drift, GivenLabel, Label, OfModel, listing
from sslart.server.models._settings import Cell, Closed, Name, Number, RowNumber
from sslart.server.models._stored_rows import rows_in, within_limits
from sslart.server.models._transactions import ConflictError, Key
from sslart.server.store._journal import last_fit, n_rows_before
from sslart.server.studies._boxes import nearest_boxes
from sslart.server.studies._boxes import similar as similar_to
from sslart.server.studies._columns import columns_of
from sslart.server.studies._drift_tests import watch as watch_of
from sslart.server.studies._rules import dependence as dependence_of
from sslart.server.studies._search import condition_of, covered, suggested
from sslart.server.studies._study import Study
from sslart.server.studies._trust import NOT_FOUND, UNKNOWN, group_quality, kept_samples, places_of
from sslart.server.studies._trust import trust as trust_of
from sslart.server.studies._what_if_labels import trial as trial_of

MAX_COVERED = 100
MAX_LABELLED = 1000
ROWS_AT_ONCE = 2000
SECONDS_TO_LEARN = 60.0
MAX_LABELS = 10_000
Category = Annotated[str, Field(max_length=10_000)] | StrictBool | Number


class SimilarRequest(Closed):
    """A row to find similar ones to."""

    row: Cells
    n: Annotated[int, Field(ge=1, le=100)] = Field(default=5, description="how many to return, of rows and of boxes")
    leave_out: RowNumber | None = Field(default=None, description="a row that is not to be returned")


class Condition(BaseModel):
    """Condition of a rule on one feature, as GET rules returns it; optional items may be omitted."""

    feature: Name
    above: Number | None = Field(default=None, description="of a number: it is higher")
    at_most: Number | None = Field(default=None, description="of a number: it is not higher")
    categories: Annotated[list[Category], Field(max_length=10_000)] | None = Field(
        default=None, description="of a category: it is one of these"
    )
    negated: bool = Field(default=False, description="of a category: it is none of these")
    missing: bool = Field(default=False, description="whether a missing value meets the condition too")
    only_missing: bool = Field(default=False, description="whether only a missing value meets the condition")


Conditions = Annotated[list[Condition], Field(max_length=1000)]


class CoverRequest(Closed):
    """The conditions of a rule."""

    conditions: Conditions = Field(description="of the rule; none: all rows meet it")
    label: Label = Field(default=None, description="the class of the rule that is to be corrected")
    others: Annotated[list[Conditions], Field(max_length=200)] = Field(
        default=[], description="conditions of other rules, which must not be met: for the rule that is left over"
    )
    n: Annotated[int, Field(ge=1, le=100)] = Field(default=20, description="how many rows to suggest at most")


class TrialRequest(Closed):
    """Labels to try."""

    labels: Annotated[list[GivenLabel], Field(min_length=1, max_length=MAX_LABELS, fail_fast=True)]
    together: bool = Field(default=False, description="whether this is one answer about similar rows, as of labels")


class ColumnWarning(BaseModel):
    """Warning about a column."""

    topic: Literal["constant", "empty", "id", "group", "code", "gap", "leak", "copy", "text", "missing", "problem"]
    text: str


class ValueCount(BaseModel):
    """A value and its number of occurrences."""

    value: Cell
    n: int


class ColumnDescription(Closed):
    """Interpretation of a column."""

    name: str
    role: Literal["feature", "label", "id", "group", "ignored", "left out"]
    kind: Literal["number", "category", "date", "text"]
    missing: int
    distinct: int
    low: float | str | None = Field(description="of numbers; of dates as text")
    high: float | str | None
    mean: float | str | None
    histogram: list[int] = Field(description="how many values each of some bins of equal width has")
    edges: list[float | str] = Field(description="the ends of the bins, one more than there are")
    top: list[ValueCount] = Field(description="the most frequent values, where there are few")
    examples: list[Cell]
    warnings: list[ColumnWarning]


Columns = listing(
    "Columns",
    "Interpretation of the columns of all rows.",
    model=str,
    rows=int,
    columns=list[ColumnDescription],
    notes=list[str],
)


class ClassTrust(LabelsOfClass):
    """Recall and precision of a class; null where they cannot be measured."""

    left_out: int | None = Field(None, description="labels that were left out to measure it; of many, some")
    recall: Estimate | None = None
    precision: Estimate | None = None


class Confusion(BaseModel):
    """Confusion matrix: number of labels by true class (row) and predicted class (column)."""

    classes: list[Label]
    counts: list[list[int]]
    rows: list[list[list[int]]] = Field(description="the numbers of the rows, 200 at most in each cell")
    without_row: int = Field(description="labels that are counted, and whose rows are not known")


class ConfidenceBin(BaseModel):
    """Predictions of similar confidence."""

    low: float
    high: float
    n: int
    predicted: float = Field(description="their mean confidence")
    observed: float = Field(description="the share of right ones")
    obs_low: float
    obs_high: float


class Calibration(BaseModel):
    """Calibration curve: confidence against accuracy."""

    bins: list[ConfidenceBin]
    error: float = Field(description="the mean distance between the two")


class CoveragePoint(BaseModel):
    """Coverage and error rate at a confidence threshold."""

    coverage: float
    error: float
    low: float
    high: float
    threshold: float
    promised: float = Field(description="the smallest max_error that can be promised for these answers")


class Promise(BaseModel):
    """Guarantee of the `max_error` in force."""

    max_error: float | dict[str, float]
    confidence: float | None
    coverage: float
    holds: bool = Field(description="whether it can be promised with these labels, and anything is answered")
    text: str


class PromiseOption(BaseModel):
    """Guarantee that a possible `max_error` would give, with certainty and on average."""

    max_error: float
    confidence: float = Field(description="the certainty with which it would hold for this model")
    coverage: float
    coverage_on_average: float = Field(description="the coverage with confidence=null: it holds on average alone")
    possible: bool
    threshold: float | None
    labels_needed: int
    text: str


class InForce(BaseModel):
    """Coverage and error rate at the current settings of the model."""

    coverage: float | None
    error: float | None
    low: float | None
    high: float | None


class Coverage(BaseModel):
    """Coverage curve: share of answered samples, and their error rate."""

    points: list[CoveragePoint]
    smallest_error: float
    promise: Promise | None
    options: list[PromiseOption]
    in_force: InForce | None


class GroupTrust(BaseModel):
    """The accuracy in a group."""

    group: str
    n: int
    accuracy: Estimate
    note: str | None


class GroupsTrust(BaseModel):
    """The accuracy in the groups of a column."""

    column: str
    groups: list[GroupTrust]


class Trust(OfModel):
    """Quality of a model on left-out labels; null where it cannot be measured."""

    quality: Stated
    how: str
    labels: int
    counted: int = Field(description="labels of rows drawn at random, where those left out together count one")
    chosen: int = Field(description="further labels, of rows that were chosen: the confusion counts these, too")
    accuracy: Estimate | None
    balanced: Estimate | None
    why_not: str | None
    classes: list[ClassTrust]
    confusion: Confusion | None
    calibration: Calibration | None
    coverage: Coverage | None
    groups: GroupsTrust | None
    warnings: dict[str, str]


class DependencePoints(BaseModel):
    """One point per sample."""

    x: list[Cell]
    y: list[list[float]] = Field(description="per sample and class")


class DependenceMean(BaseModel):
    """The mean contribution near a value."""

    x: Cell
    y: list[float] = Field(description="per class")
    n: int | None = None


class Dependence(OfModel):
    """Contribution of a feature to the score of each class, as a function of its value."""

    feature: str
    kind: Literal["number", "category", "date"]
    classes: list[Label]
    points: DependencePoints
    curve: list[DependenceMean]
    n_samples: int
    n_missing: int


class SimilarCase(SampleCells):
    """A labelled row."""

    label: Label
    distance: float = Field(description="from 0 to 1: the mean difference, in ranges of the features")
    text: str


class SimilarBox(BaseModel):
    """A box near a row."""

    box: int
    n: float
    labels: dict[str, float]
    class_: Label = Field(alias="class")
    match: float
    rows: list[int]


class Similar(OfModel):
    """Labelled rows that are most like a given one, and the boxes that fit it best."""

    cases: list[SimilarCase]
    boxes: list[SimilarBox]


class RowLabel(BaseModel):
    """A row and its label."""

    row: int
    label: Label


class Cover(OfModel):
    """The rows that meet conditions."""

    n_rows: int
    labels: dict[str, int]
    labelled: list[RowLabel] = Field(description="1000 at most")
    suggested: list[int] = Field(
        description="rows without a label or with that of the rule, which stand for all of these: label them to correct"
    )
    rows: list[int] = Field(description="the first 100")


class TrialQuality(BaseModel):
    """Quality of one of the two models."""

    labels: int
    accuracy: Estimate | None = Field(description="on the labels of rows drawn at random that are the same in both")
    accuracy_of_all: Estimate | None
    why_not: str | None


class TrialComparison(BaseModel):
    """On how many of the labels that are the same in both only one model is right."""

    labels: int
    better: int
    worse: int
    p_value: float


class ClassChange(BaseModel):
    """Number of samples whose class changes; null where the model abstains."""

    model_config = ConfigDict(populate_by_name=True)

    from_: Label = Field(alias="from")
    to: Label
    n: int


class Changed(BaseModel):
    """The samples that get another class."""

    n: int
    of: int
    by: list[ClassChange]


class Trial(OfModel):
    """Effect of other labels."""

    before: TrialQuality
    after: TrialQuality
    compared: TrialComparison | None
    changed: Changed
    text: str


class WatchedFeature(BaseModel):
    """Change of a feature's distribution."""

    feature: str
    drift: float = Field(description="from 0, the same distribution, to 1, nothing in common")
    p_value: float | None = Field(description="corrected for the number of features")
    has_drifted: bool
    text: str
    before: dict[str, Any]
    now: dict[str, Any]


class WatchedRows(BaseModel):
    """Rows of one kind."""

    n: int
    of: int
    share: float | None
    low: float | None
    high: float | None
    rows: list[int] = Field(description="the first 200")


class NovelRows(WatchedRows):
    """Novel rows: rows unlike the learnt ones."""

    expected: float = Field(description="the share that is flagged by mistake, at most")
    is_more: bool
    when_sent: bool = Field(description="whether it was found when the rows came; else the model as it is was asked")
    text: str


class WatchedClass(BaseModel):
    """Share of rows with a class as the most probable one, including rows on which the model abstains."""

    class_: Label = Field(alias="class")
    before: float | None
    now: float | None


class Watch(OfModel):
    """Rows compared with those before the last fit."""

    since: int = Field(description="the first row after the last fit")
    n_rows: int
    first: int | None
    last: int | None
    compared_with: int
    how: str
    features: list[WatchedFeature]
    novel: NovelRows
    abstained: WatchedRows
    classes: list[WatchedClass]
    drifts: list[Drift]
    text: str


router = new_router("studies")


@endpoint(router, "GET /v1/models/{name}/columns", Columns, long=True)
def columns(context: ContextOf, model: ModelOf) -> dict[str, Any]:
    """Return the interpretation of each column of the rows, even during a fit or after a failed one."""
    stored = context.registry.stored_rows(model, model.settings)
    return {"model": model.name, **columns_of(stored, model.published)}


@endpoint(router, "GET /v1/models/{name}/trust", Trust, long=True)
def trust(
    study: StudyOf,
    group: Annotated[Name | None, Query(description="a column: the quality in each group that it makes")] = None,
) -> dict[str, Any]:
    """Return the quality of a model on left-out labels, by class, by confidence, and by group."""
    published, loaded = study.published, study.loaded
    published.check_has_label()
    view, left_out = published.view, published.view.left_out
    places = np.full(0 if left_out is None else len(left_out.truth), NOT_FOUND)
    if left_out is not None and len(loaded):
        places = places_of(left_out, view, loaded.samples.table, study.label_indices.astype(np.int64))
    found = trust_of(view, places, loaded.samples.rows)
    groups = None
    if group is not None and left_out is not None and found["accuracy"] is not None:
        drawn = places if left_out.at_random is None else places[left_out.at_random]
        groups = group_quality(left_out.drawn, group, _cells(study, drawn, group))
    return {**found, "groups": groups}


def _cells(study: Study, places: Any, column: str) -> list[Any]:
    """Return the cells of a column in the rows of left-out labels."""
    known = np.flatnonzero(places != NOT_FOUND)
    rows = study.rows(study.loaded.samples.rows[places[known]].tolist())
    if rows and not any(column in one.cells for one in rows):
        raise ValueError(f"The labelled rows have no column {column!r}: give one of those that GET .../columns lists.")
    cells: list[Any] = [UNKNOWN] * len(places)
    for place, one in zip(known.tolist(), rows, strict=True):
        cells[place] = one.cells.get(column)
    return cells


@endpoint(router, "GET /v1/models/{name}/dependence", Dependence, long=True)
def dependence(study: StudyOf, feature: Annotated[Name, Query(description="a feature")]) -> dict[str, Any]:
    """Return a feature's contribution to class scores by value, for at most 500 samples and on average."""
    study.published.check_has_label()
    view, loaded = study.published.view, study.loaded
    if not len(loaded) and view.left_out is None:
        raise ConflictError(f"No row of the model {study.model.name!r} is here: send some to it.")
    table = loaded.samples.table if len(loaded) else kept_samples(view)  # of a model from a file
    return dependence_of(view, table, feature)


@endpoint(router, "POST /v1/models/{name}/similar", Similar, long=True)
def similar(study: StudyOf, body: SimilarRequest) -> dict[str, Any]:
    """Return the labelled rows most similar to a row, with their differences, and the best-matching boxes."""
    sample, loaded = study.published.reader.table([body.row]), study.loaded
    rows = loaded.samples.rows
    labelled = [
        place for place, one in enumerate(study.labels) if one is not None and int(rows[place]) != body.leave_out
    ]
    cases = similar_to(loaded, sample, np.array(labelled, dtype=np.int64), body.n)
    shown = [
        {"row": row.row, "label": row.label, "cells": row.cells, "distance": case.distance, "text": case.text}
        for case, row in zip(cases, study.rows([int(rows[one.place]) for one in cases]), strict=True)
    ]
    return {"cases": shown, "boxes": nearest_boxes(loaded, sample, body.n)}


@endpoint(router, "POST /v1/models/{name}/rules/cover", Cover, long=True)
def cover(study: StudyOf, body: CoverRequest) -> dict[str, Any]:
    """Return the rows that meet the conditions of a rule, and those whose labels would correct it."""
    loaded = study.loaded
    if not len(loaded):
        return {"n_rows": 0, "labels": {}, "labelled": [], "suggested": [], "rows": []}
    labels, rows = study.labels, loaded.samples.rows
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


@endpoint(router, "POST /v1/models/{name}/trial", Trial)
async def trial(context: ContextOf, study: StudyOf, body: TrialRequest, wait: Wait = 0) -> Any:
    """Fit a copy of a model with other labels, and return the changes; the copy is discarded.

    `wait` lets it take longer than other requests, as many seconds as are given.
    """
    registry, model, flag = study.registry, study.model, stop_flag()
    registry.check_has_its_rows(model)
    sequence = study.published.sequence

    def work() -> dict[str, Any]:
        labels = registry.classes(model, [one.label for one in body.labels])
        rows = study.rows([one.row for one in body.labels])
        changed = {row.row: label for row, label in zip(rows, labels, strict=True) if label != row.label}
        chosen = {
            row.row for row, one in zip(rows, body.labels, strict=True) if row.label is None and not one.at_random
        }
        with stopped_by(flag):
            found = trial_of(study, changed, chosen=chosen, together=body.together)
        return {"model": model.name, "sequence": sequence, **found}

    try:
        async with asyncio.timeout(max(wait, registry.limits.timeout)):
            return answer(await context.long_threads.run(work))
    except (TimeoutError, asyncio.CancelledError):
        flag[0] = 1
        raise


def _first_after_fit(study: Study) -> int:
    """Return the number of the first row that came after the last fit."""
    reader, number = study.reader, study.model.id
    return n_rows_before(reader, number, last_fit(reader, number, study.published.sequence, by_labels=False))


@endpoint(router, "GET /v1/models/{name}/watch", Watch, long=True)
def watch(
    study: StudyOf,
    last: Annotated[
        int | None, Query(ge=1, lt=2**31, description="compare the last so many rows, not all since the last fit")
    ] = None,
) -> dict[str, Any]:
    """Compare the rows since the last fit with those before it: features, novel rows, abstentions and classes."""
    n_rows, since = len(study.loaded), _first_after_fit(study)
    places = np.flatnonzero(study.loaded.samples.rows >= since)
    return watch_of(study, since, places if last is None else np.arange(max(n_rows - last, 0), n_rows))


@endpoint(
    router,
    "POST /v1/models/{name}/watch/table",
    Watch,
    scope="learn",
    errors=(409, 501, 507),
    openapi_extra=FILE,
)
async def watch_table(
    context: ContextOf,
    actor: Actor,
    request: Request,
    model: ModelOf,
    idempotency_key: IdempotencyKey = None,
    encoding: Encoding = None,
) -> Any:
    """Predict the rows of a table and keep them, as decide does, and compare them with those before the last fit."""
    registry = context.registry
    registry.check_learns(model)
    registry.published(model).check_has_label()

    def read(path: Path) -> list[dict[str, Any]]:
        found = _rows_of(context, path, encoding)
        registry.published(model).reader.table(found)
        return found

    rows, digest = await received(context, request, read)
    numbers: list[int] = []
    for start in range(0, len(rows), ROWS_AT_ONCE):
        key = None if idempotency_key is None else Key(f"{idempotency_key}/{start}", digest)
        written = await registry.decide(model, rows[start : start + ROWS_AT_ONCE], None, None, actor, key)
        numbers += written.answer["rows"]
        await applied(model, written.answer["sequence"], SECONDS_TO_LEARN)
    study = Study(registry, model)  # of the model that has learnt them

    def work() -> dict[str, Any]:
        since = min(_first_after_fit(study), numbers[0])
        found = watch_of(study, since, study.loaded.samples.places(numbers))
        return {"model": model.name, "sequence": study.published.sequence, **found}

    return answer(await context.long_threads.run(work))


def _rows_of(context: Context, path: Path, encoding: str | None) -> list[dict[str, Any]]:
    """Return the rows of a file, or raise a ValueError where it has none, or too many."""
    limits = context.registry.limits
    rows: list[dict[str, Any]] = []
    for frame in within_limits(read_pieces(str(path), encoding, cells_only=True), (), limits.max_table_cells):
        if len(rows) + len(frame) > limits.max_backlog:
            raise ValueError(f"The file has more than {limits.max_backlog} rows, which is the limit: send fewer rows.")
        rows += rows_in(frame)
    if not rows:
        raise ValueError("The file has no rows below its header.")
    return rows
