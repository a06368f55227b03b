"""Response schemas. Responses are written unchecked; tests compare them with these schemas."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from sslart.server.api._schemas.requests import Cell, Label
from sslart.server.models._settings import ModelSettings


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """Why a request was not carried out."""

    error: str = Field(description="the cause and the cure, in words")


class Decision(_Answer):
    """Prediction for a row."""

    row: int | None = Field(default=None, description="the number by which the row can be labelled later")
    class_: Label = Field(default=None, alias="class", description="null where the model abstains")
    probability: float = Field(description="of the class; of the most probable one where the model abstains")
    probabilities: dict[str, float] = Field(description="of all classes")
    abstained: bool
    novelty: float = Field(description="from 0, as the rows that were learnt, to 1")
    novel: bool
    explanation: Explanation | None = None


class Decisions(_Answer):
    """Predictions, with the last journal record that the model had learnt."""

    model: str
    sequence: int
    predictions: list[Decision]


class Explanation(BaseModel):
    """Reasons for a prediction; further items depend on the estimator."""

    text: str
    prediction: Label
    abstained: bool
    confidence: float


class OfModel(BaseModel):
    """An answer about a model after a record of its journal."""

    model: str
    sequence: int


class Explanations(OfModel):
    """The explanation of each row."""

    explanations: list[Explanation]


class Contributions(OfModel):
    """Contribution of each feature to the score of each class."""

    features: list[str]
    classes: list[Label]
    base: list[float] = Field(description="the mean score of each class")
    values: list[list[list[float]]] = Field(description="per row, feature and class")
    graph: list[list[float]] = Field(description="what similar rows without a label add, per row and class")
    scores: list[list[float]] = Field(description="per row and class: the sum of all the others")


class Counterfactuals(OfModel):
    """Counterfactuals of a row, each with a different prediction."""

    text: str
    prediction: Label
    abstained: bool
    features: list[str]
    sample: list[Cell]


class Rules(OfModel):
    """Few, short rules that agree with the predictions."""

    text: str
    kind: str
    classes: list[Label]
    features: list[str]
    rules: list[dict[str, Any]]


class ImportanceOfFeature(BaseModel):
    """Importance of one feature."""

    feature: str
    importance: float
    share: float


class Importances(OfModel):
    """Importance of each feature, the most important one first."""

    text: str
    features: list[ImportanceOfFeature]


class Drift(BaseModel):
    """A change in the stream of rows."""

    kind: Literal["novelty", "error", "classes", "features"]
    row: int = Field(description="how many rows were learnt since the last fit when it was found")
    since: int
    description: str


class Drifts(OfModel):
    """The drifts since the last fit."""

    drifts: list[Drift]


class Accepted(_Answer):
    """Acknowledgement of a durable write."""

    model: str
    sequence: int = Field(description="the number of the record in the journal")
    rows: list[int] = Field(description="the numbers of the rows")
    learnt: int | None = Field(default=None, description="of labels: how many rows are learnt with them")
    corrected: int | None = Field(
        default=None, description="of labels: how many rows had another, which a fit corrects"
    )
    same: int | None = Field(default=None, description="of labels: how many rows had the same")
    job: int | None = Field(default=None, description="of labels: the fit that corrects them, where one was wanted")


class Progress(_Answer):
    """Progress of a fit."""

    sequence: int
    step: str
    share: float = Field(ge=0, le=1, description="of the step")
    since: float = Field(description="when it began, in seconds since 1970")


class Job(_Answer):
    """Long work."""

    id: str
    model: str
    sequence: int
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    created: float = Field(description="seconds since 1970")
    ended: float | None
    progress: Progress | None
    outcome: dict[str, Any] | None = Field(description="what was learnt, or an error, or who has cancelled it")


class Jobs(_Answer):
    """Jobs, the newest first."""

    jobs: list[Job]


class Snapshot(_Answer):
    """The state of a model: the same digest means the same model in every bit."""

    model: str
    sequence: int
    digest: str


class GivenLabelEntry(_Answer):
    """Label given to a row, with actor and time; null withdraws a label."""

    entry: int
    row: int
    label: Label
    previous: Label
    actor: str
    time: float
    sequence: int


class LabelHistory(_Answer):
    """The labels that were given, the oldest first."""

    model: str
    labels: list[GivenLabelEntry]


class Row(_Answer):
    """A row that was sent before."""

    model: str
    row: int
    cells: dict[str, Cell]
    label: Label = Field(description="the label in force")
    decision: Decision | None = Field(description="what was predicted when the row was sent to decide")


class ModelBrief(_Answer):
    """The most important of a model."""

    name: str
    state: Literal["starting", "ready", "damaged", "failed", "stopped"]
    problem: str | None = Field(description="why the model learns no more")
    sequence: int = Field(description="the last record of its journal")
    learnt_through: int = Field(description="the last record that it has learnt")
    rows: int
    classes: list[Label]


class Accuracy(_Answer):
    """The accuracy on labels that are left out, with its 95 % interval."""

    value: float
    low: float
    high: float
    count: int
    total: int


class Summary(_Answer):
    """Quality of a model."""

    text: str
    labels: dict[str, int] = Field(description="how many labels each class has")
    accuracy: Accuracy | None


class ModelDescription(ModelBrief):
    """All that there is to tell of a model; without the last five where it has learnt nothing."""

    created: float
    settings: ModelSettings
    backlog: int = Field(description="rows and records that wait to be learnt")
    rejected: int = Field(description="rows that could not be learnt since the start")
    features: list[str] = []
    boxes: int = 0
    drifts: int = 0
    parameters: dict[str, Any] = {}
    summary: Summary | None = None


class Models(_Answer):
    """All models, by name."""

    models: list[ModelBrief]
