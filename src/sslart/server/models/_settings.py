"""Settings of a model, and limits on the load of a service."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StrictBool, StrictInt, StrictStr

from sslart._tables.training_table import ColumnRoles
from sslart._utils.text import list_text
from sslart.estimators import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP

ESTIMATORS = {one.__name__: one for one in (AutoSSLART, SSLART, WESSLART, FuzzyARTMAP)}
NOT_OFFERED = ("n_jobs",)  # the service manages threads
MAX_NAMES = 10_000
MAX_TEXT = 10_000  # characters in a cell

Name = Annotated[str, Field(min_length=1, max_length=1000)]
RowNumber = Annotated[StrictInt, Field(ge=0, lt=2**63)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Text = Annotated[StrictStr, Field(max_length=MAX_TEXT)]
Cell = StrictBool | Annotated[StrictInt, Field(ge=-(2**63), lt=2**64)] | Number | Text | None

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"  # of models, properties and backups
_OPTION = re.compile(r"--(use|category|ignore|encoding|group|id|label)\b( (?=['\"\w]))?")


@dataclass(frozen=True)
class Limits:
    """Limits of a service."""

    max_rows: int = 10_000  # of one request
    max_body: int = 2**24  # bytes of a request, but for tables
    max_table: int = 2**30  # bytes of an uploaded table or model
    max_table_cells: int = 200_000_000  # of an uploaded table, after decompression
    max_backlog: int = 100_000  # rows accepted and not yet learnt; beyond, requests to learn are answered with 429
    max_models: int = 100
    keep_rows: int = 1_000_000  # newest unlabelled rows that stay available for fits and labels
    snapshot_rows: int = 20_000  # a snapshot is written after this many learnt rows,
    snapshot_seconds: float = 60.0  # or after this many seconds, if something was learnt
    group_rows: int = 500  # learnt between two publications, at most
    timeout: float = 30.0  # seconds for one request
    keep_samples: bool = False  # rows of the last fit stay in memory, so that all samples can be shown at once


def with_settings(text: str) -> str:
    """Replace options of the command line in a message by the settings of the service."""
    return _OPTION.sub(lambda found: f"the setting {found[1]}{'=' if found[2] else ''}", text)


def check_name(name: str) -> None:
    """Raise a ValueError for an invalid model name."""
    if not re.fullmatch(NAME, name):
        raise ValueError(
            "A model name has 1 to 100 letters, digits, points, hyphens and underscores, and starts with a letter or "
            "digit."
        )


class Learning(StrEnum):
    """Policy for learning unlabelled rows: those that are not novel, all, or none."""

    familiar = "familiar"
    every = "all"
    none = "none"

    def takes(self, *, is_novel: bool) -> bool:
        """Return True if an unlabelled row is learnt."""
        return self == Learning.every or (self == Learning.familiar and not is_novel)


class Closed(BaseModel):
    """A request or response that allows no additional items."""

    model_config = ConfigDict(extra="forbid")


class ModelSettings(Closed):
    """Settings of a model, fixed when it is created."""

    estimator: Literal["AutoSSLART", "SSLART", "WESSLART", "FuzzyARTMAP"] = Field(
        default="AutoSSLART", description="class of the estimator; AutoSSLART needs no tuning"
    )
    parameters: dict[str, JsonValue] = Field(
        default={}, description="parameters of the estimator by name, such as vigilance or half_life", max_length=50
    )
    label: Name | None = Field(default=None, description="column with the classes, blank where unknown")
    id: Name | None = Field(default=None, description="column of row IDs, not a feature")
    group: Name | None = Field(
        default=None, description="column of groups, such as patient: rows of one group are left out together"
    )
    ignore: list[Name] = Field(default=[], description="columns to leave out", max_length=MAX_NAMES)
    category: list[Name] = Field(
        default=[], description="numeric columns that are categorical codes", max_length=MAX_NAMES
    )
    use: list[Name] = Field(
        default=[],
        description="columns to use as features although they look like IDs or free text",
        max_length=MAX_NAMES,
    )
    learn: Learning = Field(
        default=Learning.familiar, description="which rows sent to decide are learnt without a label"
    )
    max_fit_rows: int = Field(
        default=1_000_000, ge=1, le=100_000_000, description="maximum rows of a fit; of more, a random sample is used"
    )

    def new_estimator(self) -> Any:
        """Return an unfitted estimator, or raise a ValueError with a remedy.

        Its `random_state` is 0 by default, so that replaying the journal gives the same model.
        """
        cls = ESTIMATORS[self.estimator]
        known = [name for name in inspect.signature(cls).parameters if name not in NOT_OFFERED]
        other = [name for name in self.parameters if name not in known]
        if other:
            raise ValueError(f"{self.estimator} has no parameter {other[0]!r}; it has {list_text(known, 30)}.")
        given: dict[str, Any] = dict(self.parameters)
        if "random_state" in known:
            state = given.setdefault("random_state", 0)
            if type(state) is not int or not 0 <= state < 2**32:
                raise ValueError(
                    "random_state must be a whole number from 0 to 2**32 - 1, so that the journal can be replayed."
                )
        estimator = cls(**given)
        try:
            estimator.__sslart_check__()
        except TypeError as error:
            raise ValueError(str(error)) from error
        return estimator

    @property
    def takes_groups(self) -> bool:
        """True if the estimator accepts groups of labels."""
        return "groups" in inspect.signature(ESTIMATORS[self.estimator].fit).parameters

    def columns(self, label: str | None) -> ColumnRoles:
        """Return the column roles of a table that has its labels in a column."""
        return ColumnRoles(label, self.id, self.group, self.ignore, self.category, self.use)

    @property
    def named_columns(self) -> list[str]:
        """All columns named in the settings."""
        return [*self.not_features, *self.category, *self.use]

    @property
    def not_features(self) -> tuple[str, ...]:
        """Named columns that are not features."""
        return tuple(name for name in (self.label, self.id, self.group, *self.ignore) if name is not None)
