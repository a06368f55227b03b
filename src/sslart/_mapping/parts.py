"""What a fitted model is made of: the seam through which models are merged and put together."""

from __future__ import annotations

from collections.abc import Mapping as Attributes
from dataclasses import dataclass
from typing import Any

from sslart._art.calibration import NoveltyCalibration
from sslart._art.network import Network
from sslart._data.classes import ClassTable
from sslart._data.columns.plan import ATTRIBUTE, NO_PLAN, ColumnPlan
from sslart._data.encoder import Encoder
from sslart._data.samples import Table
from sslart._mapping.base import Mapping
from sslart._mapping.ensemble_votes import VotingRecord
from sslart._utils.random_keys import KeyArray


@dataclass(frozen=True, eq=False)
class Shared:
    """What the parts of a table have in common when each of them is learnt by itself.

    Attributes
    ----------
    encoder : Encoder
        Holds every value of all parts.
    class_table : ClassTable
        The classes of all parts.
    """

    encoder: Encoder
    class_table: ClassTable


@dataclass(frozen=True, eq=False)
class MemberParts:
    """One network with its mapping: a member of an ensemble, or a model by itself.

    Attributes
    ----------
    network : Network
    class_table : ClassTable
    mapping : Mapping
    calibration : NoveltyCalibration or None
    seed : int or None
        The `random_state` of a member of an ensemble.
    """

    network: Network
    class_table: ClassTable
    mapping: Mapping
    calibration: NoveltyCalibration | None
    seed: int | None = None

    def state(self) -> list[Any]:
        """Return all of it as plain values and arrays."""
        fits = None if self.calibration is None else self.calibration.to_state()
        return [self.network.to_state(), self.class_table.to_state(), self.mapping.to_state(), fits, self.seed]


@dataclass(frozen=True, eq=False)
class MeasuredSamples:
    """The samples whose fits a calibration of novelty has.

    Attributes
    ----------
    keys : array of uint64
        Ascending.
    table : Table
    """

    keys: KeyArray
    table: Table


@dataclass(frozen=True, eq=False)
class ModelParts:
    """A fitted model without its parameters. It pickles.

    Attributes
    ----------
    columns : mapping from str to object
        The attributes in which an estimator keeps what it knows of its columns.
    members : tuple of MemberParts
    class_table : ClassTable
    calibration : NoveltyCalibration or None
        Of all members together.
    record : VotingRecord or None
        Of an ensemble.
    measured : MeasuredSamples or None
        Of a part of a table, until all parts are one: then the boxes of other parts can fit these samples too.
    """

    columns: Attributes[str, Any]
    members: tuple[MemberParts, ...]
    class_table: ClassTable
    calibration: NoveltyCalibration | None
    record: VotingRecord | None = None
    measured: MeasuredSamples | None = None

    @property
    def n_features(self) -> int:
        """Number of columns that the user gave."""
        return int(self.columns["n_features_in_"])

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, where the samples learnt had names."""
        names = self.columns.get("feature_names_in_")
        return None if names is None else [str(name) for name in names]

    @property
    def plan(self) -> ColumnPlan:
        """How the columns are read."""
        plan: ColumnPlan = self.columns.get(ATTRIBUTE, NO_PLAN)
        return plan

    def column_names(self) -> list[str]:
        """Return a name for every column, x0, x1, ... where samples came without, and those of the parts of dates."""
        return self.plan.names(self.names or [f"x{column}" for column in range(self.n_features)])

    def state(self) -> list[Any]:
        """Return all that differs between two models of the same columns, as plain values and arrays."""
        votes = None if self.record is None else [self.record.successes, self.record.trials]
        fits = None if self.calibration is None else self.calibration.to_state()
        return [[one.state() for one in self.members], self.class_table.to_state(), fits, votes, self.plan.to_state()]
