"""What every estimator shares: checked parameters, boxes in the user's units, calls that fail without trace."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sslart._art.calibration import NoveltyCalibration
from sslart._art.network import LearningParams, Network
from sslart._data.classes import ClassTable
from sslart._data.columns.known_texts import as_known_texts
from sslart._data.columns.plan import NO_PLAN, ColumnPlan, keep_plan, plan_of
from sslart._data.encoder import Encoder
from sslart._data.labels import Labels
from sslart._data.ranks.choice import first_encoder, scaling_of
from sslart._data.ranks.tables import SCALINGS
from sslart._data.samples import SampleReader, Table, known_columns, read_samples
from sslart._data.saved import MAX_COUNT, saved_whole
from sslart._drift.events import DriftEvent
from sslart._drift.monitor import NO_DRIFT, Context, DriftMonitor, Learnt
from sslart._mapping.counts import CountsMapping
from sslart._mapping.parts import MemberParts, ModelParts, Shared
from sslart._utils.arrays import CountArray, FloatArray, IntArray
from sslart._utils.changes import Reader
from sslart._utils.params import (
    check_bounds,
    check_flag,
    check_half_life,
    check_jobs,
    check_number,
    check_option,
    check_whole,
)
from sslart.estimators._novelty import NoveltyMixin, calibration_of, state_of
from sslart.estimators._published import READER, draft_of, reads, reads_attribute, snapshot_of


class RawSamplesEstimator(BaseEstimator, ABC):
    """Base of all estimators: takes raw samples, missing values included, and keeps what their columns were."""

    n_features_in_: int
    bounds: Any
    _drift: DriftMonitor = NO_DRIFT

    @property
    def _name(self) -> str:
        return type(self).__name__

    @abstractmethod
    def __sklearn_is_fitted__(self) -> bool: ...

    @abstractmethod
    def _networks(self) -> list[Network]:
        """Return the networks of the estimator; none before it has learnt."""

    @abstractmethod
    def _categorical_columns(self) -> frozenset[int]:
        """Return the columns that were categorical in the samples learnt."""

    def _read(self, X: Any) -> Table:
        """Return X as a table for a fitted estimator."""
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)
        encoder = self._networks()[0].encoder
        table = read_samples(self, X, reset=False, categorical=self._categorical_columns(), undecided=encoder.undecided)
        return encoder.with_known_texts(table)

    def _read_first(self, X: Any) -> Table:
        """Return the first samples of a stream as a table, and record what their columns are."""
        return as_known_texts(read_samples(self, X, reset=True, first_decides=self.bounds is not None), lambda _: ())

    def _reader(self) -> SampleReader:
        """Return what reads samples as this estimator does."""
        names = getattr(self, "feature_names_in_", None)
        columns, as_known = self._categorical_columns(), self._networks()[0].encoder.with_known_texts
        return SampleReader(self._name, self.n_features_in_, names, columns, plan_of(self), as_known)

    @property
    @reads
    def drift_(self) -> list[DriftEvent]:
        """The drifts that `partial_fit` has found since the last `fit`, the first one first; at most a thousand."""
        check_is_fitted(self)
        return list(self._drift.events)

    @reads
    def __sslart_drift__(self) -> DriftMonitor:
        """Return what was measured of the samples of a stream before they were learnt."""
        check_is_fitted(self)
        return self._drift

    def _watch_for_drift(self, table: Table, learnt: Learnt, classes: Sequence[Any] = ()) -> None:
        """Take account of samples that have been learnt, given the classes by code."""
        self._drift = self._drift.after(learnt, table, Context(lambda: self._reader().feature_names, classes))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[no-untyped-call]
        tags.input_tags.allow_nan = True
        return tags

    def __sslart_snapshot__(self) -> Self:
        """Return the estimator as it is now; while this lives, nothing that it refers to changes."""
        return snapshot_of(self)

    def __getstate__(self) -> dict[str, Any]:
        """Return a snapshot in which networks keep a reader, until all of it has been copied or written."""
        snapshot = snapshot_of(self)
        state: dict[str, Any] = super(RawSamplesEstimator, snapshot).__getstate__()  # type: ignore[no-untyped-call]
        reader = state.pop(READER)
        return {**state, **snapshot._held_by(reader)} if snapshot._networks() else state

    @abstractmethod
    def _held_by(self, reader: Reader) -> dict[str, Any]:
        """Return the attributes that refer to networks, with networks that keep a reader."""

    @abstractmethod
    def __sslart_parts__(self) -> ModelParts:
        """Return what a fitted estimator is made of, for `sslart.merge`."""

    @abstractmethod
    def __sslart_check__(self) -> None:
        """Raise a ValueError where a parameter has a value that it cannot have, whatever the samples are."""

    @abstractmethod
    def __sslart_part__(self, table: Table, labels: Labels, shared: Shared, number: int) -> ModelParts:
        """Learn one part of a table, and return what a model of it is made of; evidence chooses no settings.

        Parameters
        ----------
        table : Table
        labels : Labels
        shared : Shared
            What all parts have in common.
        number : int
            Of the part; it has part in random choices, with a `random_state` that must be a number.
        """

    def __sslart_learns_later__(self) -> int:
        """Return how many labelled samples of all parts are learnt when the boxes of all parts are one; 0: none is."""
        return 0

    @abstractmethod
    def __sslart_take__(self, parts: ModelParts) -> None:
        """Become a fitted estimator that is made of these parts, which nobody else may change."""

    def __sslart_state__(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any]:
        """Return what `sslart.save` writes of a fitted estimator beside its parameters: plain values and arrays.

        `samples`: with samples that were learnt; `promises`: with what predictions that keep a promise need.
        """
        names = getattr(self, "feature_names_in_", None)
        plan = plan_of(self)
        return {
            "n_features_in": self.n_features_in_,
            "feature_names_in": None if names is None else list(names),
            **({} if plan is NO_PLAN else {"column_plan": plan.to_state()}),
            **({"drift": self._drift.to_state()} if samples and self._drift.n_samples else {}),
        }

    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        """Take over what `__sslart_state__` of a fitted estimator returned, after checking it."""
        n_features, names = saved_whole(state, "n_features_in", 1, MAX_COUNT), state["feature_names_in"]
        self.n_features_in_ = n_features
        if names is not None:
            if type(names) is not list or len(names) != n_features or not all(isinstance(n, str) for n in names):
                raise ValueError("the feature names of the model do not fit its features")
            self.feature_names_in_ = np.array(names, dtype=object)
        if "column_plan" in state:
            keep_plan(self, ColumnPlan.from_state(state["column_plan"], n_features))
        if "drift" in state:
            self._drift = DriftMonitor.from_state(state["drift"], plan_of(self).n_columns(n_features))


MIN_NODES = 2  # so that there is room for a new box after the others have been joined


LATER = 2**32 - 1  # number of the samples that are learnt after all parts


def random_of_part(seed: int, number: int) -> np.random.RandomState:
    """Return the random choices of one part of a table: other ones for each part, the same whenever it is learnt."""
    return np.random.RandomState([seed, number])


class ARTEstimator(RawSamplesEstimator, NoveltyMixin):
    """Base of the estimators that are one network each."""

    vigilance: float
    max_nodes: int | None
    choice: float
    learning_rate: float
    half_life: Any
    bounds: Any
    scaling: str
    _scalings: tuple[str, ...] = SCALINGS
    shuffle: bool
    random_state: Any
    n_jobs: int | None
    _network: Network
    _calibration: NoveltyCalibration | None

    def _learning_params(self) -> LearningParams:
        """Return the checked parameters of learning, after checking the others too."""
        return self._common_params()

    def _checked_choice(self) -> float:
        if isinstance(self.choice, int | float) and self.choice == 0:
            raise ValueError(
                f"choice of {self._name} must be above 0: at 0 all boxes that hold a sample tie, whatever their size, "
                "and a box over the whole range has no choice value at all. For the limit α → 0, in which the smallest "
                "of them wins, give a small number such as 1e-9."
            )
        return check_number(self._name, "choice", self.choice, 0, open_low=True)

    def _common_params(self, match_tracking: float = 0.0, one_to_one: bool = False) -> LearningParams:
        name = self._name
        check_flag(name, "shuffle", self.shuffle)
        check_jobs(name, self.n_jobs)
        self._checked_scaling()
        return LearningParams(
            check_number(name, "vigilance", self.vigilance, 0, 1),
            self._checked_choice(),
            check_number(name, "learning_rate", self.learning_rate, 0, 1, open_low=True),
            match_tracking,
            one_to_one,
            self._box_half_life(),
            check_whole(name, "max_nodes", self.max_nodes, MIN_NODES, or_none=True),
        )

    def _box_half_life(self) -> float | None:
        """Return after how many samples a sample of a stream counts half in the boxes; None: it always counts one."""
        half_life = check_half_life(self._name, self.half_life)
        assert not isinstance(half_life, str)
        return half_life

    def _checked_scaling(self) -> str:
        return check_option(self._name, "scaling", self.scaling, self._scalings)

    def _order(self, labels: Labels, random_state: Any) -> slice | IntArray:
        """Return the order in which `fit` learns samples."""
        return check_random_state(random_state).permutation(len(labels.known)) if self.shuffle else slice(None)

    def _first_encoder(self, table: Table, shown: slice | IntArray = slice(None), *, stream: bool) -> Encoder:
        """Return the encoder to start with; `shown`: the rows of the table, each as often as boxes learn it."""
        scaling = self._checked_scaling()
        return first_encoder(self._name, table, shown, bounds=self.bounds, scaling=scaling, stream=stream)

    @property
    @reads
    def scaling_(self) -> list[str]:
        """How each feature is scaled: "range", "rank", or "category" where it is not a number."""
        check_is_fitted(self)
        return scaling_of(self._network.encoder, self.n_features_in_)

    @reads
    def score_samples(self, X: Any) -> FloatArray:
        """Return how well each sample fits what was learnt: the match of its best node.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            From 0 to 1. Low means novel: unlike the best node, or beyond the range of what was learnt.
        """
        table = self._read(X)
        return self._network.familiarity(table, self._learning_params().choice, n_jobs=self.n_jobs)

    @property
    @reads
    def n_nodes_(self) -> int:
        """Number of prototype nodes."""
        check_is_fitted(self)
        return self._network.nodes.n_nodes

    @property
    @reads_attribute
    def vigilance_(self) -> float:
        """The vigilance in use: `vigilance`, or what it was lowered to, so that there are at most `max_nodes` nodes."""
        check_is_fitted(self)
        return self._params_in_use().vigilance

    def _params_in_use(self) -> LearningParams:
        """Return the parameters that the next sample is learnt with."""
        return self._learning_params().lowered_to(self._network.nodes.vigilance)

    @property
    @reads
    def lower_(self) -> FloatArray:
        """Lower corner of each box in the user's units, shape (n_nodes, n_coded_features); NaN: not reached yet."""
        check_is_fitted(self)
        return self._network.boxes_in_units()[0]

    @property
    @reads
    def upper_(self) -> FloatArray:
        """Upper corner of each box in the user's units, shape (n_nodes, n_coded_features); NaN: not reached yet."""
        check_is_fitted(self)
        return self._network.boxes_in_units()[1]

    @property
    @reads
    def support_(self) -> CountArray:
        """How many samples resonated with each node, labelled or not, shape (n_nodes,); fractions where they fade."""
        check_is_fitted(self)
        return self._network.nodes.support[: self.n_nodes_].copy()

    @property
    @reads
    def coded_feature_names_(self) -> list[str]:
        """Name of each column of `lower_` and `upper_`: a feature, or feature=category for a category."""
        check_is_fitted(self)
        return self._network.encoder.names(self._reader().feature_names)

    def __sslart_add_columns__(self, is_category: Sequence[bool]) -> None:
        """Add columns to a fitted estimator, as if their values had been missing in all samples learnt so far.

        For streams in which features appear late. Samples must have come without feature names.

        Parameters
        ----------
        is_category : sequence of bool
            Whether each new column is categorical.
        """
        with draft_of(self) as (draft, _):
            draft._add_columns(is_category)

    def _add_columns(self, is_category: Sequence[bool]) -> None:
        n_columns = self.n_features_in_ + len(is_category)
        self._network = self._network.with_columns(is_category, check_bounds(self._name, self.bounds, n_columns))
        self.n_features_in_ = n_columns

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_network")

    def _held_by(self, reader: Reader) -> dict[str, Any]:
        return {"_network": self._network.held_by(reader)}

    def _networks(self) -> list[Network]:
        network = vars(self).get("_network")
        return [] if network is None else [network]

    def _categorical_columns(self) -> frozenset[int]:
        return self._network.encoder.categorical

    def __sslart_check__(self) -> None:
        self._learning_params()

    def __sslart_parts__(self) -> ModelParts:
        member = MemberParts(self._network, ClassTable(), CountsMapping(), self._calibration)
        return ModelParts(known_columns(self), (member,), member.class_table, self._calibration)

    def __sslart_take__(self, parts: ModelParts) -> None:
        vars(self).update(parts.columns)
        self._network, self._calibration = parts.members[0].network, parts.calibration

    def __sslart_state__(self, *, samples: bool = True, promises: bool = False) -> dict[str, Any]:
        return {
            **super().__sslart_state__(samples=samples, promises=promises),
            "network": self._network.to_state(),
            **state_of(self._calibration, [self._network], samples=samples),
        }

    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        super().__sslart_restore__(state)
        self._network = Network.from_state(state["network"], plan_of(self).n_columns(self.n_features_in_))
        self._calibration = calibration_of(state, [self._network])
