"""The fitted model: one immutable value behind every estimator, and the turns of those that replace it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Attributes
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sslart._art.boxes import LearningParams
from sslart._art.network import Network
from sslart._art.novelty import NoveltyCalibration
from sslart._data.columns import ATTRIBUTE, CODES, GROUPS, IDENTIFIER, NO_PLAN, ColumnPlan, plan_of
from sslart._data.encoder import Encoder
from sslart._data.labels import ClassTable
from sslart._data.samples import SampleReader
from sslart._drift.monitor import NO_DRIFT, DriftMonitor
from sslart._mapping.base import Mapping
from sslart._mapping.ensemble_votes import VotingRecord
from sslart._mapping.mergeable_state import LabelledRows, MeasuredSamples
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import IntArray
from sslart._utils.cache import Cache, changed
from sslart._utils.validation import MAX_COUNT, saved_whole

NOT_OF_NUMBERS = (CODES, GROUPS, IDENTIFIER)
LOCK = "_turn"  # the attribute of an estimator; copies and pickles have their own

Model = TypeVar("Model")
Result = TypeVar("Result")


def turn_of(model: Any) -> threading.RLock:
    """Return the lock that a method holds while it learns."""
    attributes = vars(model)
    lock: threading.RLock | None = attributes.get(LOCK)
    return attributes.setdefault(LOCK, threading.RLock()) if lock is None else lock


def shallow_copy(model: Model) -> Model:
    """Return another estimator with the same parameters and the same fitted model."""
    other = object.__new__(type(model))
    vars(other).update({name: value for name, value in vars(model).items() if name != LOCK})
    return other


class UnavailableError(ValueError, AttributeError):
    """Raised for an attribute that the model lacks in its present state; `hasattr` then returns False."""


def available(method: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Let an attribute that has no value raise an `UnavailableError`."""

    @wraps(method)
    def of_model(self: Any) -> Result:
        try:
            return method(self)
        except AttributeError:
            raise
        except ValueError as error:
            raise UnavailableError(str(error)) from error

    return of_model


Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class FittedMember:
    """One network with its mapping: a member of an ensemble, or a model by itself."""

    network: Network
    class_table: ClassTable
    mapping: Mapping
    params: LearningParams  # those it has learnt with
    calibration: NoveltyCalibration | None  # of this network alone
    seed: int | None = None  # the `random_state` of a member of an ensemble

    @property
    def params_in_use(self) -> LearningParams:
        """The parameters that the next sample is learnt with, and that samples are predicted with."""
        return self.params.lowered_to(self.network.nodes.vigilance)

    def view(self, number: int | None, n_jobs: int | None) -> MemberView:
        """Return the member as everything that only reads it sees it; `number`: in an ensemble."""
        return MemberView(number, self.network, self.class_table, self.params_in_use, self.mapping, n_jobs)

    def state(self) -> list[Any]:
        """Return all of it as plain values and arrays."""
        fits = None if self.calibration is None else self.calibration.to_state()
        return [self.network.to_state(), self.class_table.to_state(), self.mapping.to_state(), fits, self.seed]


class Checked(NamedTuple):
    """Parameters as the user set them when they were last checked, and those of learning that they stand for."""

    given: tuple[Any, ...]
    params: LearningParams


@dataclass(frozen=True, eq=False)
class FittedModel:
    """All that an estimator has learnt. Immutable: whoever has it may read it at any time, in any thread."""

    columns: Attributes[str, Any]  # the attributes in which a reader of samples keeps what it knows of its columns
    members: tuple[FittedMember, ...]  # none in a part of a table whose samples are all learnt later
    class_table: ClassTable
    calibration: NoveltyCalibration | None  # of all members; None where nothing is left that it was measured by
    record: VotingRecord | None = None  # of an ensemble
    drift: DriftMonitor = NO_DRIFT
    labels: IntArray | None = None  # of `FuzzyART`: the box of each sample of the last call that learnt
    # of a part of a table: samples that the boxes of other parts can fit too, and labelled ones that are learnt later
    measured: MeasuredSamples | None = None
    labelled: LabelledRows | None = None
    checked: Checked | None = None  # None: parameters are checked before the next sample is learnt
    reader: SampleReader | None = None  # reads samples as those learnt were read; set where the model is published
    _made: Cache = field(default_factory=Cache, repr=False)

    def get_or_compute(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return a value derived from the model; it is computed once and cached."""
        return self._made.get_or_compute(key, make)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "checked": None, "reader": None}

    def __deepcopy__(self, memo: Any) -> FittedModel:
        return self

    def with_reader(self, owner: str, before: FittedModel | None) -> FittedModel:
        """Return the model with a reader of samples, that of an earlier state where nothing has changed for it."""
        if self.reader is not None and self.reader.owner == owner:
            return self
        encoder = self.encoder
        reader = before.reader if before is not None and before.columns is self.columns else None
        if before is None or reader is None or before.encoder is not encoder:
            names, plan = self.columns.get("feature_names_in_"), self.plan
            columns = (self.n_features, names, encoder.categorical, plan, encoder.with_known_texts)
            reader = SampleReader(owner, *columns, undecided=encoder.undecided)
        return changed(self, reader=reader, _made=Cache())

    def with_plan(self, plan: ColumnPlan) -> FittedModel:
        """Return the model with another plan of its columns."""
        columns = {name: value for name, value in self.columns.items() if name != ATTRIBUTE}
        return replace(self, columns=with_plan(columns, plan), reader=None, _made=Cache())

    def with_names(self, names: list[str]) -> FittedModel:
        """Return the model with names of its features."""
        columns = {**self.columns, "feature_names_in_": np.array(names, dtype=object)}
        return replace(self, columns=columns, reader=None, _made=Cache())

    def of_member(self, place: int) -> FittedModel:
        """Return one member as a model by itself."""
        member = self.members[place]
        return FittedModel(self.columns, (member,), member.class_table, member.calibration, checked=self.checked)

    @property
    def encoder(self) -> Encoder:
        """The encoder of the first member; all members have the same columns."""
        return self.members[0].network.encoder

    @property
    def network(self) -> Network:
        """The network of a model that has one."""
        return self.members[0].network

    @property
    def mapping(self) -> Mapping:
        """The mapping of a model that has one network."""
        return self.members[0].mapping

    @property
    def n_features(self) -> int:
        """Number of columns that the user gave."""
        return int(self.columns["n_features_in_"])

    @property
    def n_samples(self) -> int:
        """Number of samples of a table: learnt by each member, or still to be learnt."""
        n_learnt = self.members[0].network.nodes.n_samples if self.members else 0
        return n_learnt if self.labelled is None else n_learnt + self.labelled.n_presented

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, where the samples learnt had names."""
        names = self.columns.get("feature_names_in_")
        return None if names is None else [str(name) for name in names]

    @property
    def plan(self) -> ColumnPlan:
        """Plan for reading the columns."""
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


def with_plan(columns: Attributes[str, Any], plan: ColumnPlan) -> dict[str, Any]:
    """Return attributes of columns with a plan; an empty one is none."""
    return {**columns, **({} if plan == NO_PLAN else {ATTRIBUTE: plan})}


def take_forms(
    estimator: Any, day_first: Sequence[str], units: Attributes[str, str], numbers: Sequence[str] = ()
) -> None:
    """Let a fitted estimator know how the cells of its columns were written.

    Parameters
    ----------
    estimator : estimator
    day_first : sequence of str
        Columns with dates that came as text with the day before the month.
    units : mapping from str to str
        Columns of numbers that came as text, and their unit, empty where they have none.
    numbers : sequence of str
        Columns that the user has named as numbers, so that notes on codes, groups and identifiers are wrong.
    """
    if not (day_first or units or numbers):
        return
    names, plan = estimator.feature_names_in_.tolist(), plan_of(estimator)
    texts = {**dict(plan.texts), **{names.index(name): unit for name, unit in units.items() if name in names}}
    estimator.__sslart_with_plan__(
        replace(
            plan,
            day_first=tuple(place for place, name in enumerate(names) if name in day_first) or plan.day_first,
            texts=tuple(sorted(texts.items())),
            notes=tuple(one for one in plan.notes if one.column not in numbers or one.topic not in NOT_OF_NUMBERS),
        )
    )


def state_of(model: FittedModel, *, samples: bool) -> dict[str, Any]:
    """Return the columns of a model and the drift it has detected, as plain values."""
    return {
        "n_features_in": model.n_features,
        "feature_names_in": model.names,
        **({} if model.plan is NO_PLAN else {"column_plan": model.plan.to_state()}),
        **({"drift": model.drift.to_state()} if samples and model.drift.n_samples else {}),
    }


def novelty_state(model: FittedModel, *, samples: bool) -> dict[str, Any]:
    """Return the calibration of a model as plain values, with keys of its samples or without."""
    assert model.calibration is not None
    networks = [one.network for one in model.members]
    return {"novelty": (model.calibration if samples else model.calibration.without_samples(networks)).to_state()}


def columns_of(state: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Return the column attributes of a saved state, after checking it, and how many columns the plan makes of them."""
    n_features, names = saved_whole(state, "n_features_in", 1, MAX_COUNT), state["feature_names_in"]
    columns: dict[str, Any] = {"n_features_in_": n_features}
    if names is not None:
        if type(names) is not list or len(names) != n_features or not all(isinstance(n, str) for n in names):
            raise ValueError("the feature names of the model do not fit its features")
        columns["feature_names_in_"] = np.array(names, dtype=object)
    plan = ColumnPlan.from_state(state["column_plan"], n_features) if "column_plan" in state else NO_PLAN
    return with_plan(columns, plan), plan.n_columns(n_features)


def drift_of(state: dict[str, Any], n_columns: int) -> DriftMonitor:
    """Return the drift in a saved state."""
    return DriftMonitor.from_state(state["drift"], n_columns) if "drift" in state else NO_DRIFT
