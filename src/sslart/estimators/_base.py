"""Bases of all estimators: parameters, fitted attributes, novelty, and the state that files and merged models hold."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sslart._art.learning import LearningParams
from sslart._art.network import Network
from sslart._art.novelty import FALSE_ALARMS
from sslart._data.columns import ATTRIBUTE, NO_PLAN, ColumnPlan
from sslart._data.encoder import Encoder
from sslart._data.labels import ClassTable, Labels
from sslart._data.ranks import SCALINGS
from sslart._data.samples import SampleReader, Table, as_known_texts, read_samples
from sslart._data.scaling import first_encoder, scaling_of
from sslart._drift.monitor import DriftEvent, DriftMonitor
from sslart._mapping.base import CountsMapping
from sslart._mapping.mergeable_state import Shared
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, CountArray, FloatArray, IntArray
from sslart._utils.validation import (
    MAX_COUNT,
    check_bounds,
    check_flag,
    check_half_life,
    check_jobs,
    check_number,
    check_option,
    check_whole,
    saved_whole,
)
from sslart.estimators._fitted import LOCK, Checked, FittedMember, FittedModel, available, turn_of, with_plan
from sslart.estimators._learning import calibration_of, state_of

# parameters that predictions follow at once: they are checked where they are used
OF_PREDICTIONS = frozenset(
    {"search_depth", "abstain_below", "max_error", "decision_costs", "quorum", "voting", "n_jobs"}
)


ANY: Any = object()  # no matter which
MUTABLE = {list, dict, set, np.ndarray}  # parameters of these types may change in place


class RawSamplesEstimator(BaseEstimator):
    """Base of all estimators: parameters, and one fitted model that is replaced as a whole.

    A method that reads takes `_model` once. A method that learns makes another model and publishes it by one
    assignment; if it fails or is interrupted, nothing has changed.
    """

    bounds: Any
    _model: FittedModel

    @property
    def _name(self) -> str:
        return type(self).__name__

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def _fitted(self) -> FittedModel:
        """Return the fitted model, or raise NotFittedError."""
        model: FittedModel | None = vars(self).get("_model")
        if model is None:
            check_is_fitted(self)
        assert model is not None
        return model

    def _publish(self, model: FittedModel, after: FittedModel | Any | None = ANY) -> None:
        """Let the estimator have another fitted model, from now on; `after`: the one that it follows."""
        now = vars(self).get("_model")
        if after is not ANY and after is not now:
            raise RuntimeError(
                f"This {self._name} has learnt in another call of the same thread, such as by a signal handler, while "
                "this call was learning: the other call counts, and this one has changed nothing. Call it again."
            )
        self._model = model.with_reader(self._name, now)

    @property
    def n_features_in_(self) -> int:
        """Number of features."""
        return self._fitted().n_features

    @property
    def feature_names_in_(self) -> Any:
        """Names of the features, where X had string names."""
        names = self._fitted().columns.get("feature_names_in_")
        if names is None:
            raise AttributeError("X had no feature names.")
        return names.copy()

    @property
    def n_nodes_(self) -> int:
        """Number of boxes, over all members of an ensemble."""
        return sum(one.network.nodes.n_nodes for one in self._fitted().members)

    @property
    @available
    def vigilance_(self) -> float:
        """The vigilance in use: `vigilance`, or the lower one that `max_nodes` boxes required.

        Of an ensemble, the lowest of the members.
        """
        return min(one.params_in_use.vigilance for one in self._fitted().members)

    @property
    def scaling_(self) -> list[str]:
        """Scaling of each column: "range", "rank", or "category" for a categorical column."""
        model = self._fitted()
        return scaling_of(model.encoder, model.n_features)

    @property
    def lower_(self) -> FloatArray:
        """Lower corner of each box in the user's units, shape (n_nodes, n_coded_features); NaN: not reached yet."""
        return np.concatenate([one.network.boxes_in_units()[0] for one in self._fitted().members])

    @property
    def upper_(self) -> FloatArray:
        """Upper corner of each box in the user's units, shape (n_nodes, n_coded_features); NaN: not reached yet."""
        return np.concatenate([one.network.boxes_in_units()[1] for one in self._fitted().members])

    @property
    def support_(self) -> CountArray:
        """Number of samples learnt by each box, labelled or not, shape (n_nodes,); fractions where they fade."""
        return np.concatenate([one.network.nodes.support for one in self._fitted().members])

    @property
    def coded_feature_names_(self) -> list[str]:
        """Name of each column of `lower_` and `upper_`: a feature, or feature=category for a category."""
        model = self._fitted()
        return model.encoder.names(model.column_names())

    @property
    def _column_plan(self) -> ColumnPlan:
        return self._fitted().plan

    def __sslart_with_plan__(self, plan: ColumnPlan) -> None:
        """Let a fitted estimator know another plan of its columns."""
        with turn_of(self):
            self._publish(self._fitted().with_plan(plan))

    def __sslart_with_names__(self, names: list[str]) -> None:
        """Give the features of a fitted estimator names."""
        with turn_of(self):
            self._publish(self._fitted().with_names(names))

    @abstractmethod
    def _view(self, model: FittedModel) -> ModelView:
        """Return a view of a fitted model with the current prediction parameters."""

    def __sslart_view__(self) -> ModelView:
        """Return the fitted model as everything that only reads it sees it."""
        return self._view(self._fitted())

    @abstractmethod
    def _learning_params(self) -> LearningParams:
        """Return the checked parameters of learning, after checking the others too."""

    def _checked(self, before: FittedModel | None) -> Checked:
        """Return the parameters of learning, which are checked where one has been set since they were last checked."""
        given = parameters_of(type(self))(self)
        checked = None if before is None else before.checked
        if (
            checked is not None
            and all(map(operator.is_, given, checked.given))
            and MUTABLE.isdisjoint(map(type, given))
        ):
            return checked
        return Checked(given, self._learning_params())

    def _first_reader(self) -> SampleReader:
        """Return a reader for the first samples, which gets to know their columns."""
        return SampleReader(self._name)

    def _read_first(self, reader: SampleReader, X: Any) -> Table:
        """Return the first samples of a stream as a table."""
        return as_known_texts(read_samples(reader, X, reset=True, first_decides=self.bounds is not None), lambda _: ())

    def score_samples(self, X: Any) -> FloatArray:
        """Return the fit of each sample to the model: the match of its best box, averaged over the members.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            From 0 to 1. Low means novel: unlike the best node, or beyond the range of what was learnt.
        """
        view = self.__sslart_view__()
        return view.score_samples(view.read(X))

    def novelty_pvalues(self, X: Any) -> FloatArray:
        """Return the conformal p-value of each sample: low for samples that are unlike those learnt.

        It is the share of samples like the learnt ones that fit the model as badly as this one or worse. It is
        measured by the fits of samples that were left out of `fit`, or that a stream had not yet learnt.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            From 1 / (n + 1) to 1, where n samples are compared with. Of samples like the learnt ones, at most a share
            p has a p-value of p or lower.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import FuzzyART
        >>> X, _ = load_iris(return_X_y=True)
        >>> model = FuzzyART(vigilance=0.9).fit(X[::2])
        >>> model.novelty_pvalues([X[1], [5, 9, 1, 2]]).round(2)
        array([1.  , 0.01])
        """
        view = self.__sslart_view__()
        return view.novelty.pvalues(view.score_samples(view.read(X)))

    def is_novel(self, X: Any, false_alarms: float = FALSE_ALARMS) -> BoolArray:
        """Return a mask of novel samples, at a stated rate of false alarms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        false_alarms : float, default=0.05
            Of samples like the learnt ones, at most this share is flagged, on average over samples to learn from. Where
            fewer than 1 / false_alarms - 1 samples can be compared with, none is ever flagged.

        Returns
        -------
        array of bool of shape (n_samples,)
            True where `novelty_pvalues` is at most `false_alarms`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import FuzzyART
        >>> X, _ = load_iris(return_X_y=True)
        >>> model = FuzzyART(vigilance=0.9).fit(X[::2])
        >>> model.is_novel([X[1], [5, 9, 1, 2]])
        array([False,  True])
        """
        share = check_number(f"{type(self).__name__}.is_novel", "false_alarms", false_alarms, 0, 1, open_low=True)
        view = self.__sslart_view__()
        return view.novelty.is_novel(view.score_samples(view.read(X)), share)

    @property
    @available
    def novelty_threshold_(self) -> float:
        """Value of `score_samples` below which a sample is novel, at 5 % false alarms; 0 with too few samples."""
        return self.__sslart_view__().novelty_threshold

    def __sslart_add_columns__(self, is_category: Sequence[bool]) -> None:
        """Add columns to a fitted estimator, as if their values had been missing in all samples learnt so far.

        For streams in which features appear late. Samples must have come without feature names.

        Parameters
        ----------
        is_category : sequence of bool
            Whether each new column is categorical.
        """
        with turn_of(self):
            self._publish(with_columns(self._name, self._fitted(), is_category, self.bounds))

    @property
    def drift_(self) -> list[DriftEvent]:
        """The drifts that `partial_fit` has found since the last `fit`, the first one first; at most a thousand."""
        return list(self._fitted().drift.events)

    def __sslart_drift__(self) -> DriftMonitor:
        """Return the drift monitor of the stream learnt so far."""
        return self._fitted().drift

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[no-untyped-call]
        tags.input_tags.allow_nan = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[no-untyped-call]
        return {name: value for name, value in state.items() if name != LOCK}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)  # type: ignore[no-untyped-call]
        if "_model" in vars(self):
            self._publish(self._model)

    @abstractmethod
    def __sslart_check__(self) -> None:
        """Raise a ValueError where a parameter has a value that it cannot have, whatever the samples are."""

    def __sslart_parts__(self) -> FittedModel:
        """Return the mergeable state of a fitted estimator, for `sslart.merge`."""
        return replace(self._fitted(), labels=None)

    @abstractmethod
    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        """Learn one part of a table, and return the model; evidence chooses no settings.

        Parameters
        ----------
        columns : dict
            What is known of the columns.
        table : Table
        labels : Labels
        shared : Shared
            What all parts have in common.
        number : int
            Of the part; it has part in random choices, with a `random_state` that must be a number.
        """

    def __sslart_learns_later__(self) -> int:
        """Return the number of labelled samples to learn after the boxes of all parts have been merged; 0: none."""
        return 0

    def __sslart_take__(self, model: FittedModel) -> None:
        """Become an estimator with this fitted model."""
        with turn_of(self):
            self._publish(replace(model, reader=None, checked=None))

    def __sslart_state__(self, *, samples: bool = True) -> dict[str, Any]:
        """Return the state that `sslart.save` writes in addition to the parameters: plain values and arrays.

        `samples`: with samples that were learnt.
        """
        return self._state_of(self._fitted(), samples=samples, promises=False)

    @abstractmethod
    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        """Return a fitted model as plain values and arrays.

        `samples`: with samples that were learnt; `promises`: with what predictions that keep a promise need.
        """

    @abstractmethod
    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        """Restore the state that `__sslart_state__` of a fitted estimator returned, after checking it."""


@cache
def parameters_of(cls: type[Any]) -> Any:
    """Return a function that returns the parameters of an estimator that learning follows, call by call."""
    return operator.attrgetter(*(name for name in cls._get_param_names() if name not in {*OF_PREDICTIONS, "bounds"}))


@cache
def decisions_of(cls: type[Any]) -> Any:
    """Return a function that returns the parameters of an estimator that predictions follow at once."""
    names = [name for name in cls._get_param_names() if name in OF_PREDICTIONS]
    return operator.attrgetter(*names, "__class__")  # of one name it would return no tuple


def columns_state(model: FittedModel, *, samples: bool) -> dict[str, Any]:
    """Return the columns of a model and the drift it has detected, as plain values."""
    return {
        "n_features_in": model.n_features,
        "feature_names_in": model.names,
        **({} if model.plan is NO_PLAN else {"column_plan": model.plan.to_state()}),
        **({"drift": model.drift.to_state()} if samples and model.drift.n_samples else {}),
    }


def columns_of(state: dict[str, Any]) -> dict[str, Any]:
    """Return the column attributes of a saved state, after checking it."""
    n_features, names = saved_whole(state, "n_features_in", 1, MAX_COUNT), state["feature_names_in"]
    columns: dict[str, Any] = {"n_features_in_": n_features}
    if names is not None:
        if type(names) is not list or len(names) != n_features or not all(isinstance(n, str) for n in names):
            raise ValueError("the feature names of the model do not fit its features")
        columns["feature_names_in_"] = np.array(names, dtype=object)
    plan = ColumnPlan.from_state(state["column_plan"], n_features) if "column_plan" in state else NO_PLAN
    return with_plan(columns, plan)


def drift_of(state: dict[str, Any], n_columns: int) -> dict[str, Any]:
    """Return the drift in a saved state as an argument of `FittedModel`."""
    return {"drift": DriftMonitor.from_state(state["drift"], n_columns)} if "drift" in state else {}


MIN_NODES = 2  # so that there is room for a new box after the others have been joined


LATER = 2**32 - 1  # number of the samples that are learnt after all parts


def random_of_part(seed: int, number: int) -> np.random.RandomState:
    """Return the random choices of one part of a table: other ones for each part, the same whenever it is learnt."""
    return np.random.RandomState([seed, number])


class ARTEstimator(RawSamplesEstimator):
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

    def __sslart_check__(self) -> None:
        self._learning_params()

    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        return {
            **columns_state(model, samples=samples),
            "network": model.network.to_state(),
            "learnt_with": model.members[0].params.to_state(),
            **state_of(model.calibration, [model.network], samples=samples),
        }

    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        self.__sslart_take__(self._restored(state))

    def _restored(self, state: dict[str, Any]) -> FittedModel:
        """Return the model of a saved state, after checking that it can be one."""
        columns = columns_of(state)
        n_columns = columns.get(ATTRIBUTE, NO_PLAN).n_columns(columns["n_features_in_"])
        network, params = (
            Network.from_state(state["network"], n_columns),
            LearningParams.from_state(state["learnt_with"]),
        )
        calibration = calibration_of(state, [network])
        member = FittedMember(network, ClassTable(), CountsMapping(), params, calibration)
        return FittedModel(columns, (member,), member.class_table, calibration, **drift_of(state, n_columns))


def with_columns(owner: str, model: FittedModel, is_category: Sequence[bool], bounds: Any) -> FittedModel:
    """Return a model with further columns, as if their values had been missing in all samples learnt so far."""
    n_columns = model.n_features + len(is_category)
    members = []
    for one in model.members:
        network = one.network.with_columns(is_category, check_bounds(owner, bounds, n_columns))
        mapping = one.mapping.with_columns(network, len(is_category))
        members.append(replace(one, network=network, mapping=mapping))
    columns = {**model.columns, "n_features_in_": n_columns}
    return replace(model, columns=columns, members=tuple(members), reader=None)
