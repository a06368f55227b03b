"""Schemas of requests and responses about studies of a model."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool

from sslart.server.api._schemas.answers import Drift, OfModel
from sslart.server.api._schemas.requests import Cell, GivenLabel, Label, Number, Row
from sslart.server.api._schemas.samples import RowNumber, ShareWithInterval
from sslart.server.models._settings import Name

MAX_LABELS = 10_000
Category = Annotated[str, Field(max_length=10_000)] | StrictBool | Number


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SimilarRequest(_Request):
    """A row to find similar ones to."""

    row: Row
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


class CoverRequest(_Request):
    """The conditions of a rule."""

    conditions: Conditions = Field(description="of the rule; none: all rows meet it")
    label: Label = Field(default=None, description="the class of the rule that is to be corrected")
    others: Annotated[list[Conditions], Field(max_length=200)] = Field(
        default=[], description="conditions of other rules, which must not be met: for the rule that is left over"
    )
    n: Annotated[int, Field(ge=1, le=100)] = Field(default=20, description="how many rows to suggest at most")


class TrialRequest(_Request):
    """Labels to try."""

    labels: Annotated[list[GivenLabel], Field(min_length=1, max_length=MAX_LABELS, fail_fast=True)]
    together: bool = Field(default=False, description="whether this is one answer about similar rows, as of labels")


class ColumnWarning(BaseModel):
    """Warning about a column."""

    topic: Literal["constant", "empty", "id", "leak", "copy", "text", "missing", "problem"]
    text: str


class ValueCount(BaseModel):
    """A value and its number of occurrences."""

    value: Cell
    n: int


class ColumnDescription(BaseModel):
    """Interpretation of a column."""

    model_config = ConfigDict(extra="forbid")

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


class Columns(BaseModel):
    """Interpretation of the columns of all rows."""

    model_config = ConfigDict(extra="forbid")

    model: str
    rows: int
    columns: list[ColumnDescription]
    notes: list[str]


class ClassTrust(BaseModel):
    """Recall and precision of a class; null where they cannot be measured."""

    class_: Label = Field(alias="class")
    labels: float
    left_out: int | None = Field(None, description="labels that were left out to measure it; of many, some")
    recall: ShareWithInterval | None = None
    precision: ShareWithInterval | None = None


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
    coverage: float
    holds: bool = Field(description="whether it can be promised with these labels, and anything is answered")
    text: str


class PromiseOption(BaseModel):
    """Guarantee that a possible `max_error` would give."""

    max_error: float
    coverage: float
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
    accuracy: ShareWithInterval
    note: str | None


class GroupsTrust(BaseModel):
    """The accuracy in the groups of a column."""

    column: str
    groups: list[GroupTrust]


class Trust(OfModel):
    """Quality of a model on left-out labels; null where it cannot be measured."""

    how: str
    labels: int
    counted: int = Field(description="labels, where those that are left out together count one")
    accuracy: ShareWithInterval | None
    balanced: ShareWithInterval | None
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


class SimilarCase(BaseModel):
    """A labelled row."""

    row: int
    label: Label
    cells: dict[str, Cell]
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
    accuracy: ShareWithInterval | None = Field(description="on the labels that are the same in both")
    accuracy_of_all: ShareWithInterval | None
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


class _Watched(OfModel):
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


class Watch(_Watched):
    """Rows compared with those before the last fit."""

    rows: int = Field(description="how many")


class WatchedTable(_Watched):
    """The rows of a table compared with those before the last fit."""

    rows: list[int] = Field(description="the first and the last number")
