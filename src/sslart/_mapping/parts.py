"""What a fitted model is made of: the seam through which models are merged and put together."""

from __future__ import annotations

from collections.abc import Mapping as Attributes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._art.calibration import NoveltyCalibration
from sslart._art.network import Network
from sslart._data.classes import ClassTable
from sslart._data.columns.plan import ATTRIBUTE, NO_PLAN, ColumnPlan
from sslart._data.encoder import Encoder
from sslart._data.joining.tables import joined_tables
from sslart._data.labels import Labels
from sslart._data.samples import Table
from sslart._mapping.base import Mapping
from sslart._mapping.ensemble_votes import VotingRecord
from sslart._utils.arrays import IntArray
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
class LabelledRows:
    """Labelled samples of a part of a table, which are learnt when the boxes of all parts have been joined.

    Attributes
    ----------
    table : Table
    labels : Labels
        All known.
    numbers : array of int
        Part and place of each sample as one number, ascending.
    shared : Shared
    seed : int
        Of the order in which they are learnt.
    """

    table: Table
    labels: Labels
    numbers: IntArray
    shared: Shared
    seed: int

    @property
    def n_presented(self) -> int:
        """How many samples there are, each as often as boxes learn it."""
        times = self.labels.presentations
        return len(self.numbers) if times is None else int(times.sum())

    @classmethod
    def joined(cls, parts: Sequence[LabelledRows]) -> LabelledRows | None:
        """Return the samples of several parts of one table, the same in every order of the parts; None without any."""
        if len(parts) < 2:
            return parts[0] if parts else None
        parts = sorted(parts, key=lambda part: int(part.numbers[0]))
        numbers = np.concatenate([part.numbers for part in parts])
        values = np.concatenate([part.labels.values for part in parts])
        groups, weights = (
            None if getattr(parts[0].labels, name) is None else np.concatenate([getattr(p.labels, name) for p in parts])
            for name in ("groups", "weights")
        )
        labels, order = Labels(values, np.ones(len(values), dtype=bool), groups, weights), np.argsort(numbers)
        table = joined_tables([part.table for part in parts])
        return cls(table[order], labels[order], numbers[order], parts[0].shared, parts[0].seed)


@dataclass(frozen=True, eq=False)
class ModelParts:
    """A fitted model without its parameters. It pickles.

    Attributes
    ----------
    columns : mapping from str to object
        The attributes in which an estimator keeps what it knows of its columns.
    members : tuple of MemberParts
        None of a part of a table that has labelled samples alone, which are learnt later.
    class_table : ClassTable
    calibration : NoveltyCalibration or None
        Of all members together.
    record : VotingRecord or None
        Of an ensemble.
    measured : MeasuredSamples or None
        Of a part of a table, until all parts are one: then the boxes of other parts can fit these samples too.
    labelled : LabelledRows or None
        Of a part of a table: samples that are not learnt yet.
    """

    columns: Attributes[str, Any]
    members: tuple[MemberParts, ...]
    class_table: ClassTable
    calibration: NoveltyCalibration | None
    record: VotingRecord | None = None
    measured: MeasuredSamples | None = None
    labelled: LabelledRows | None = None

    @property
    def n_features(self) -> int:
        """Number of columns that the user gave."""
        return int(self.columns["n_features_in_"])

    @property
    def n_samples(self) -> int:
        """How many samples there have been, of a table: learnt by each member, or to be learnt yet."""
        n_learnt = self.members[0].network.nodes.n_samples if self.members else 0
        return n_learnt if self.labelled is None else n_learnt + self.labelled.n_presented

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
