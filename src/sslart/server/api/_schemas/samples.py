"""Schemas of requests and responses about the samples of a model."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictInt

from sslart.server.api._schemas.answers import OfModel
from sslart.server.api._schemas.requests import Cell, Label
from sslart.server.models._settings import Name

RowNumber = Annotated[StrictInt, Field(ge=0, lt=2**63)]
Share = Annotated[float, Field(ge=0, le=1)]
Quantity = Literal[
    "row", "position", "feature", "class", "probability", "novelty", "novel", "disagreement", "label", "box"
]
MAX_NUMBERS = 100_000


class SearchRequest(BaseModel):
    """Conditions on the samples to return; without conditions, all samples."""

    model_config = ConfigDict(extra="forbid")

    rows: Annotated[list[RowNumber], Field(max_length=MAX_NUMBERS, fail_fast=True)] | None = Field(
        default=None, description="of these numbers only"
    )
    box: Annotated[int, Field(ge=0, lt=2**31)] | None = Field(default=None, description="in this box only")
    predicted: Annotated[list[Name], Field(max_length=1000)] | None = Field(
        default=None, description="predicted as one of these classes"
    )
    label: Annotated[list[Name | None], Field(max_length=1000)] | None = Field(
        default=None, description="labelled as one of these classes; null for samples without a label"
    )
    disagrees: bool | None = Field(default=None, description="whether the label is not the most probable class")
    novel: bool | None = None
    abstained: bool | None = None
    probability: Annotated[list[Share], Field(min_length=2, max_length=2)] | None = Field(
        default=None, description="the lowest and the highest"
    )
    cells: dict[Name, str | Annotated[list[Cell], Field(min_length=1, max_length=1000)]] = Field(
        default={}, max_length=1000, description="by feature: [lowest, highest] of a number, part of a category"
    )
    text: Annotated[str, Field(max_length=1000)] = Field(default="", description="part of any category")
    sort: Annotated[str, Field(max_length=1000)] = Field(
        default="row", description="row, probability, novelty, disagreement, or a feature"
    )
    descending: bool = False
    offset: Annotated[int, Field(ge=0, lt=2**31)] = 0
    limit: Annotated[int, Field(ge=0, le=1000)] = 50
    numbers: bool = Field(default=False, description=f"whether to return the numbers of all, {MAX_NUMBERS} at most")


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


class FoundSample(BaseModel):
    """A sample with its prediction."""

    model_config = ConfigDict(extra="forbid")

    row: int
    cells: dict[str, Cell]
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


class Boxes(OfModel):
    """The boxes with the most samples."""

    boxes: list[DrawnBox]


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


class QuestionSample(BaseModel):
    """A sample that one answer may be given for, too."""

    row: int
    cells: dict[str, Cell]


class Question(BaseModel):
    """A sample to label."""

    row: int
    cells: dict[str, Cell]
    label: Label
    kind: Literal["sample", "box"] = Field(description="box: its rows are those of its box, which are much alike")
    box: int
    n_rows: int = Field(description="how many samples its box has")
    rows: list[int] = Field(
        description="the sample and those most like it, or those of its box: one answer may be given for all of them, "
        "where a person has looked at them and they are of one class"
    )
    samples: list[QuestionSample] = Field(description="these rows with their cells")
    why: str
    special: list[InWords]
    prediction: GuessedClass | None


class QuestionList(OfModel):
    """Samples to label next, the most useful first."""

    questions: list[Question]
    remaining: int = Field(description="how many samples have no label")


class ShareWithInterval(BaseModel):
    """A share with its 95 % interval."""

    value: float | None
    low: float | None
    high: float | None


class LabelsOfClass(BaseModel):
    """A class and how many labels it has."""

    class_: Label = Field(alias="class")
    labels: float


class QualityAnswer(OfModel):
    """Quality of a model on left-out labels, and the number of labels it still needs."""

    rows: int
    labels: int
    classes: list[LabelsOfClass]
    how: str
    accuracy: ShareWithInterval | None = Field(description="on left-out labels")
    over_all: ShareWithInterval | None = Field(
        description="estimated for all samples: left-out labels, weighted by confidence, since questions are difficult"
    )
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


class Disagreements(BaseModel):
    """Rows to which several people have given different labels."""

    model: str
    rows: list[Disagreement]


class Properties(BaseModel):
    """Custom properties stored with a model."""

    model: str
    properties: dict[str, JsonValue]


class ExampleTable(BaseModel):
    """A table for a first try."""

    name: str
    title: str
    text: str
    rows: int
    columns: int
    label: str
    classes: int


class ExampleList(BaseModel):
    """Tables for a first try."""

    examples: list[ExampleTable]
