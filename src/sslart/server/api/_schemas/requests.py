"""Request bodies of the HTTP API."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr

from sslart.server.models._published import MAX_TEXT
from sslart.server.models._settings import Learning, ModelSettings, Name

MAX_ROWS = 100_000  # beyond the limit of any service
MAX_COLUMNS = 100_000

Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[StrictStr, Field(max_length=MAX_TEXT)]
Cell = StrictBool | Annotated[StrictInt, Field(ge=-(2**63), lt=2**64)] | Number | Text | None
Row = Annotated[dict[Annotated[str, Field(max_length=1000)], Cell], Field(min_length=1, max_length=MAX_COLUMNS)]
Rows = Annotated[list[Row], Field(min_length=1, max_length=MAX_ROWS, fail_fast=True)]
Label = (
    StrictBool
    | Annotated[StrictInt, Field(ge=-(2**63), lt=2**63)]
    | Number
    | Annotated[StrictStr, Field(max_length=1000)]
    | None
)
RowId = Annotated[StrictStr, Field(min_length=1, max_length=200)]
WhichRow = Annotated[StrictInt, Field(ge=0, lt=2**63)] | RowId


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CreateRequest(_Request):
    """A model without rows."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
    settings: ModelSettings = ModelSettings()


class RowsRequest(_Request):
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
    ids: Annotated[list[RowId], Field(max_length=MAX_ROWS, fail_fast=True)] | None = Field(
        default=None, description="a name for each row, by which it can be labelled later"
    )


class DecideRequest(RowsRequest):
    """Rows to predict, to keep, and to learn where they are familiar."""

    ids: Annotated[list[RowId], Field(max_length=MAX_ROWS, fail_fast=True)] | None = None
    learn: Learning | None = Field(default=None, description="which rows are learnt; that of the model if not given")
    explain: bool = False


class GivenLabel(_Request):
    """The label of one row; null withdraws it."""

    row: WhichRow = Field(description="the number of the row, or the id that it was sent with")
    label: Label


class LabelRequest(_Request):
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


class RefitRequest(_Request):
    """Settings that shall change; all others stay."""

    settings: ModelSettings = Field(default=ModelSettings(), description="only what shall change")


class ParametersRequest(_Request):
    """Parameters of the estimator that need no fit, such as abstain_below."""

    parameters: dict[str, Any] = Field(min_length=1, max_length=20)


class CounterfactualRequest(_Request):
    """One row, and the allowed changes of it."""

    row: Row
    target: Label = Field(default=None, description="the class that is wanted; null for any other")
    fixed: list[Name] = Field(default=[], max_length=1000, description="features that never change")
    ranges: dict[Name, Annotated[list[Cell], Field(min_length=1, max_length=1000)]] = Field(
        default={}, max_length=1000, description="of a number [low, high]; of a category those that are allowed"
    )
    n: int = Field(default=3, ge=1, le=20)
    plausible: bool = False


class TokenRequest(_Request):
    """A new token."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    scope: Annotated[str, Field(pattern="^(read|learn|admin)$")] = "read"


class BackupRequest(_Request):
    """A copy of the store, in the folder backups beside it."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
