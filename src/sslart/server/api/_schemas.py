"""Request bodies and answers of the HTTP API that several endpoints share, published at /openapi.json.

Answers are written unchecked; tests compare them with these schemas.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt, StrictStr, create_model

from sslart._utils.intervals import Estimate
from sslart.server.models._settings import NAME, Cell, Closed, Learning, ModelSettings, Name, Number, RowNumber

MAX_ROWS = 100_000  # beyond the limit of any service
MAX_COLUMNS = 100_000

Cells = Annotated[dict[Annotated[str, Field(max_length=1000)], Cell], Field(min_length=1, max_length=MAX_COLUMNS)]
Rows = Annotated[list[Cells], Field(min_length=1, max_length=MAX_ROWS, fail_fast=True)]
Label = (
    StrictBool
    | Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]
    | Number
    | Annotated[StrictStr, Field(max_length=1000)]
    | None
)
RowId = Annotated[StrictStr, Field(min_length=1, max_length=200)]
RowIds = Annotated[list[RowId], Field(max_length=MAX_ROWS, fail_fast=True)]
WhichRow = RowNumber | RowId


class OfModel(BaseModel):
    """An answer about a model after a record of its journal."""

    model: str
    sequence: int


def listing(name: str, words: str, base: type[BaseModel] = Closed, /, **items: Any) -> type[BaseModel]:
    """Return the schema of an answer that is little more than a list."""
    fields: dict[str, Any] = {item: (kind, ...) for item, kind in items.items()}
    return create_model(name, __base__=base, __doc__=words, **fields)


class CreateRequest(Closed):
    """A model without rows."""

    name: Annotated[str, Field(pattern=NAME)]
    settings: ModelSettings = ModelSettings()


class RowsRequest(Closed):
    """Rows as objects from column name to cell; absent columns are missing values."""

    rows: Rows


class PredictRequest(RowsRequest):
    """Rows to predict; they are not kept."""

    explain: bool = Field(default=False, description="whether to explain each prediction")
    abstain_below: Annotated[float, Field(ge=0, le=1)] | None = None


class LearnRequest(RowsRequest):
    """Rows to learn, with or without labels."""

    labels: Annotated[list[Label], Field(max_length=MAX_ROWS, fail_fast=True)] | None = Field(
        default=None, description="one for each row, null where not known; or give them in the label column"
    )
    ids: RowIds | None = Field(default=None, description="a name for each row, by which it can be labelled later")


class DecideRequest(RowsRequest):
    """Rows to predict, to keep, and to learn where they are familiar."""

    ids: RowIds | None = None
    learn: Learning | None = Field(default=None, description="which rows are learnt; that of the model if not given")
    explain: bool = False


class GivenLabel(Closed):
    """The label of one row; null withdraws it."""

    row: WhichRow = Field(description="the number of the row, or the id that it was sent with")
    label: Label
    at_random: bool = Field(
        default=True,
        description="whether the row was drawn at random to be labelled, as its question says; labels of other rows "
        "are learnt, but the statement of quality rests on rows drawn at random",
    )


class LabelRequest(Closed):
    """Labels of rows that were sent before."""

    labels: Annotated[list[GivenLabel], Field(min_length=1, max_length=MAX_ROWS, fail_fast=True)]
    by: Annotated[str, Field(min_length=1, max_length=100, pattern=r"^[^\x00-\x1f\x7f]+$")] | None = Field(
        default=None, description="who gives the labels, where several people use one token"
    )
    refit: bool = Field(
        default=False,
        description="whether to fit anew where a label was changed or withdrawn, or there are enough new ones",
    )
    together: bool = Field(
        default=False,
        description="whether this is one answer about similar rows: such labels are left out together, and count one, "
        "where left-out labels choose settings or measure the model",
    )


class RefitRequest(Closed):
    """Settings that shall change; all others stay."""

    settings: ModelSettings = Field(default=ModelSettings(), description="only what shall change")


class ParametersRequest(Closed):
    """Parameters of the estimator that need no fit, such as abstain_below."""

    parameters: dict[str, Any] = Field(min_length=1, max_length=20)


class CounterfactualRequest(Closed):
    """One row, and the allowed changes of it."""

    row: Cells
    target: Label = Field(default=None, description="the class that is wanted; null for any other")
    fixed: list[Name] = Field(default=[], max_length=1000, description="features that never change")
    ranges: dict[Name, Annotated[list[Cell], Field(min_length=1, max_length=1000)]] = Field(
        default={}, max_length=1000, description="of a number [low, high]; of a category those that are allowed"
    )
    n: int = Field(default=3, ge=1, le=20)
    plausible: bool = False


class Problem(BaseModel):
    """An error: a request that was not carried out."""

    error: str = Field(description="the cause and the cure, in words")


class Explanation(BaseModel):
    """Reasons for a prediction; further items depend on the estimator."""

    text: str
    prediction: Label
    abstained: bool
    confidence: float


class Decision(Closed):
    """Prediction for a row."""

    row: int | None = Field(default=None, description="the number by which the row can be labelled later")
    class_: Label = Field(default=None, alias="class", description="null where the model abstains")
    probability: float = Field(description="of the class; of the most probable one where the model abstains")
    probabilities: dict[str, float] = Field(description="of all classes")
    abstained: bool
    novelty: float = Field(description="from 0, as the rows that were learnt, to 1")
    novel: bool
    explanation: Explanation | None = None


class Decisions(Closed, OfModel):
    """Predictions, with the last journal record that the model had learnt."""

    predictions: list[Decision]


Explanations = listing("Explanations", "The explanation of each row.", OfModel, explanations=list[Explanation])


class Contributions(OfModel):
    """Contribution of each feature to the score of each class."""

    features: list[str]
    classes: list[Label]
    base: list[float] = Field(description="the mean score of each class")
    values: list[list[list[float]]] = Field(description="per row, feature and class")
    half_widths: list[list[list[float]]] | None = Field(
        description="half the width of the 95 % interval of each value over the choice of labelled rows; null if it is "
        "not wanted or not known"
    )
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


Drifts = listing("Drifts", "The drifts since the last fit.", OfModel, drifts=list[Drift])


class Accepted(Closed):
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


class Progress(Closed):
    """Progress of a fit."""

    sequence: int
    step: str
    share: float = Field(ge=0, le=1, description="of the step")
    since: float = Field(description="when it began, in seconds since 1970")


class Job(Closed):
    """Long work."""

    id: str
    model: str
    sequence: int
    state: Literal["waiting", "running", "done", "failed", "cancelled"]
    created: float = Field(description="seconds since 1970")
    ended: float | None
    progress: Progress | None
    outcome: dict[str, Any] | None = Field(description="what was learnt, or an error, or who has cancelled it")


Jobs = listing("Jobs", "Jobs, the newest first.", jobs=list[Job])


class Snapshot(Closed, OfModel):
    """The state of a model: the same digest means the same model in every bit."""

    digest: str


class GivenLabelEntry(Closed):
    """Label given to a row, with actor and time; null withdraws a label."""

    entry: int
    row: int
    label: Label
    previous: Label
    actor: str
    time: float
    sequence: int


LabelHistory = listing(
    "LabelHistory", "The labels that were given, the oldest first.", model=str, labels=list[GivenLabelEntry]
)


class Row(Closed):
    """A row that was sent before."""

    model: str
    row: int
    cells: dict[str, Cell]
    label: Label = Field(description="the label in force")
    decision: Decision | None = Field(description="what was predicted when the row was sent to decide")


class ModelBrief(Closed):
    """The most important of a model."""

    name: str
    state: Literal["starting", "ready", "damaged", "failed", "stopped"]
    problem: str | None = Field(description="why the model learns no more")
    sequence: int = Field(description="the last record of its journal")
    learnt_through: int = Field(description="the last record that it has learnt")
    rows: int
    classes: list[Label]


class Summary(Closed):
    """Quality of a model."""

    text: str
    labels: dict[str, int] = Field(description="how many labels each class has")
    accuracy: Estimate | None = Field(description="on labels that are left out")


class ModelDescription(ModelBrief):
    """All that there is to tell of a model; without the last five where it has learnt nothing."""

    created: float
    settings: ModelSettings
    backlog: int = Field(description="rows and records that wait to be learnt")
    rejected: int = Field(description="rows that could not be learnt since the start")
    features: list[str] = Field(default=[])
    boxes: int = 0
    drifts: int = 0
    parameters: dict[str, Any] = Field(default={})
    summary: Summary | None = None


Models = listing("Models", "All models, by name.", models=list[ModelBrief])
