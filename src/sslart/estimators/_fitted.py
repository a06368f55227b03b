"""The fitted model: one immutable value behind every estimator, and the lock of methods that replace it."""

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
from sslart._data.columns import ATTRIBUTE, CODES, GROUPS, IDENTIFIER, NO_PLAN, ColumnPlan
from sslart._data.encoder import Encoder
from sslart._data.labels import ClassTable
from sslart._data.samples import SampleReader, plan_of
from sslart._drift.monitor import NO_DRIFT, DriftMonitor
from sslart._mapping.audit import Audit
from sslart._mapping.base import Mapping
from sslart._mapping.ensemble_votes import VotingRecord
from sslart._mapping.mergeable_state import LabelledRows, MeasuredSamples
from sslart._mapping.model_view import MemberView
from sslart._utils.arrays import IntArray
from sslart._utils.cache import Cache, changed
from sslart._utils.validation import MAX_COUNT, saved_whole

NOT_OF_NUMBERS = (CODES, GROUPS, IDENTIFIER)
LOCK = "_turn"  # attribute of an estimator; copies and unpickled estimators have their own

Model = TypeVar("Model")
Result = TypeVar("Result")


def turn_of(model: Any) -> threading.RLock:
    """Return the lock that methods hold while they learn."""
    attributes = vars(model)
    lock: threading.RLock | None = attributes.get(LOCK)
    return attributes.setdefault(LOCK, threading.RLock()) if lock is None else lock


def shallow_copy(model: Model) -> Model:
    """Return a new estimator with the same parameters and the same fitted model."""
    other = object.__new__(type(model))
    vars(other).update({name: value for name, value in vars(model).items() if name != LOCK})
    return other


class UnavailableError(ValueError, AttributeError):
    """Error for an attribute that the model lacks in its present state; `hasattr` returns False."""


def available(method: Callable[[Any], Result]) -> Callable[[Any], Result]:
    """Decorate a property: raise an `UnavailableError` for an attribute without a value."""

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
    """One network with its mapping: a member of an ensemble, or a single model."""

    network: Network
    class_table: ClassTable
    mapping: Mapping
    params: LearningParams  # parameters that it was learnt with
    calibration: NoveltyCalibration | None  # of novelty, for this network only
    seed: int | None = None  # `random_state` of a member of an ensemble

    @property
    def params_in_use(self) -> LearningParams:
        """The parameters used for prediction and for learning the next sample."""
        return self.params.lowered_to(self.network.nodes.vigilance)

    def view(self, number: int | None, n_jobs: int | None) -> MemberView:
        """Return the read-only view of the member; `number`: its index in an ensemble."""
        return MemberView(number, self.network, self.class_table, self.params_in_use, self.mapping, n_jobs)

    def state(self) -> list[Any]:
        """Return the complete state as plain values and arrays."""
        fits = None if self.calibration is None else self.calibration.to_state()
        return [self.network.to_state(), self.class_table.to_state(), self.mapping.to_state(), fits, self.seed]


class Checked(NamedTuple):
    """Parameters as set by the user at the last validation, and the resulting parameters of learning."""

    given: tuple[Any, ...]
    params: LearningParams


@dataclass(frozen=True, eq=False)
class FittedModel:
    """The complete state of a fitted estimator. Immutable: it can be read at any time, in any thread."""

    columns: Attributes[str, Any]  # attributes of a reader of samples that describe its columns
    members: tuple[FittedMember, ...]  # empty for a part of a table whose samples are all learnt later
    class_table: ClassTable
    calibration: NoveltyCalibration | None  # of all members together; None if not available
    record: VotingRecord | None = None  # of an ensemble
    drift: DriftMonitor = NO_DRIFT
    audit: Audit | None = None  # labelled samples that are never learnt
    labels: IntArray | None = None  # of `FuzzyART`: the box of each sample of the last call that learnt
    # for a part of a table: samples for the novelty calibration, and labelled samples to learn after merging
    measured: MeasuredSamples | None = None
    labelled: LabelledRows | None = None
    checked: Checked | None = None  # None: parameters are validated before the next sample is learnt
    reader: SampleReader | None = None  # reader of samples; set when the model is published
    _made: Cache = field(default_factory=Cache, repr=False)

    def get_or_compute(self, key: Any, make: Callable[[], Made]) -> Made:
        """Return a value derived from the model, computed once and cached."""
        return self._made.get_or_compute(key, make)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "checked": None, "reader": None}

    def __deepcopy__(self, memo: Any) -> FittedModel:
        return self

    def with_reader(self, owner: str, before: FittedModel | None) -> FittedModel:
        """Return the model with a reader of samples; that of an earlier model is reused if columns are unchanged."""
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
        """Return the model with another column plan."""
        columns = {name: value for name, value in self.columns.items() if name != ATTRIBUTE}
        return replace(self, columns=with_plan(columns, plan), reader=None, _made=Cache())

    def with_names(self, names: list[str]) -> FittedModel:
        """Return the model with feature names."""
        columns = {**self.columns, "feature_names_in_": np.array(names, dtype=object)}
        return replace(self, columns=columns, reader=None, _made=Cache())

    def of_member(self, place: int) -> FittedModel:
        """Return one member as a single model."""
        member = self.members[place]
        return FittedModel(self.columns, (member,), member.class_table, member.calibration, checked=self.checked)

    @property
    def encoder(self) -> Encoder:
        """The encoder of the first member; all members have the same columns."""
        return self.members[0].network.encoder

    @property
    def network(self) -> Network:
        """The network of a single model."""
        return self.members[0].network

    @property
    def mapping(self) -> Mapping:
        """The mapping of a single model."""
        return self.members[0].mapping

    @property
    def n_features(self) -> int:
        """Number of columns that the user gave."""
        return int(self.columns["n_features_in_"])

    @property
    def n_samples(self) -> int:
        """Number of samples learnt by each member, or in a part of a table still to be learnt."""
        n_learnt = self.members[0].network.nodes.n_samples if self.members else 0
        return n_learnt if self.labelled is None else n_learnt + self.labelled.n_presented

    @property
    def names(self) -> list[str] | None:
        """Names of the columns, if the learnt samples had names."""
        names = self.columns.get("feature_names_in_")
        return None if names is None else [str(name) for name in names]

    @property
    def plan(self) -> ColumnPlan:
        """Plan for reading the columns."""
        plan: ColumnPlan = self.columns.get(ATTRIBUTE, NO_PLAN)
        return plan

    def column_names(self) -> list[str]:
        """Return the name of every column (x0, x1, ... without names), including parts of dates."""
        return self.plan.names(self.names or [f"x{column}" for column in range(self.n_features)])

    def state(self) -> list[Any]:
        """Return the state that may differ between two models of the same columns, as plain values and arrays."""
        votes = None if self.record is None else [self.record.successes, self.record.trials]
        fits = None if self.calibration is None else self.calibration.to_state()
        audit = [] if self.audit is None else [self.audit.to_state()]
        members = [one.state() for one in self.members]
        return [members, self.class_table.to_state(), fits, votes, self.plan.to_state(), *audit]


def with_plan(columns: Attributes[str, Any], plan: ColumnPlan) -> dict[str, Any]:
    """Return the attributes of columns with a column plan, unless it is empty."""
    return {**columns, **({} if plan == NO_PLAN else {ATTRIBUTE: plan})}


def take_forms(
    estimator: Any, day_first: Sequence[str], units: Attributes[str, str], numbers: Sequence[str] = ()
) -> None:
    """Store on a fitted estimator how the cells of its columns are written.

    Parameters
    ----------
    estimator : estimator
    day_first : sequence of str
        Columns of dates in text with the day before the month.
    units : mapping from str to str
        Unit of text columns of numbers, empty if there is none.
    numbers : sequence of str
        Columns that the user declared as numbers: notes on codes, groups and identifiers are dropped.
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
    """Return the columns, the drift monitor and the audit of a model as plain values."""
    return {
        "n_features_in": model.n_features,
        "feature_names_in": model.names,
        **({} if model.plan is NO_PLAN else {"column_plan": model.plan.to_state()}),
        **({"drift": model.drift.to_state()} if samples and model.drift.n_samples else {}),
        **({"audit": model.audit.to_state()} if samples and model.audit is not None else {}),
    }


def novelty_state(model: FittedModel, *, samples: bool) -> dict[str, Any]:
    """Return the novelty calibration of a model as plain values, with or without the keys of its samples."""
    assert model.calibration is not None
    networks = [one.network for one in model.members]
    return {"novelty": (model.calibration if samples else model.calibration.without_samples(networks)).to_state()}


def columns_of(state: dict[str, Any]) -> tuple[dict[str, Any], int]:
    """Restore the column attributes of a saved state after validating it, and the number of columns with date parts."""
    n_features, names = saved_whole(state, "n_features_in", 1, MAX_COUNT), state["feature_names_in"]
    columns: dict[str, Any] = {"n_features_in_": n_features}
    if names is not None:
        if type(names) is not list or len(names) != n_features or not all(isinstance(n, str) for n in names):
            raise ValueError("the feature names of the model do not fit its features")
        columns["feature_names_in_"] = np.array(names, dtype=object)
    plan = ColumnPlan.from_state(state["column_plan"], n_features) if "column_plan" in state else NO_PLAN
    return with_plan(columns, plan), plan.n_columns(n_features)


def drift_and_audit(state: dict[str, Any], n_columns: int) -> dict[str, Any]:
    """Restore the drift monitor and the audit from a saved state, as arguments of `FittedModel`."""
    return {
        "drift": DriftMonitor.from_state(state["drift"], n_columns) if "drift" in state else NO_DRIFT,
        "audit": Audit.from_state(state["audit"], n_columns) if "audit" in state else None,
    }
