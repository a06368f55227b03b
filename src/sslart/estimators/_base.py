"""Base class of all estimators: parameters, fitted attributes, novelty, and the state for saving and merging."""

from __future__ import annotations

import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping as Attributes
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from sslart._art.boxes import LearningParams
from sslart._art.novelty import FALSE_ALARMS
from sslart._data.columns import ColumnPlan
from sslart._data.encoder import scaling_of
from sslart._data.labels import ClassTable, Labels
from sslart._data.samples import SampleReader, Table, as_known_texts, known_columns, read_samples, spread
from sslart._drift.monitor import DriftEvent, DriftMonitor
from sslart._mapping.mergeable_state import Shared
from sslart._mapping.model_view import MemberView, ModelView
from sslart._utils.arrays import BoolArray, CountArray, FloatArray
from sslart._utils.sklearn_bases import BaseEstimator
from sslart._utils.validation import (
    check_bounds,
    check_number,
)
from sslart.estimators._fitted import LOCK, Checked, FittedModel, available, turn_of
from sslart.estimators._parameters import parameter_of, parameters_of, values_of

ANY: Any = object()  # default of `_publish`: no check of the earlier model
MUTABLE = {list, dict, set, np.ndarray}  # parameters of these types may change in place


class StreamSamples(NamedTuple):
    """Samples of a call of `partial_fit`, with the attributes of their columns and the declared classes."""

    columns: Attributes[str, Any]
    table: Table
    labels: Labels
    declared: Labels | None = None


class RawSamplesEstimator(BaseEstimator, ABC):
    """Base of all estimators: parameters, and one immutable fitted model.

    A method that reads takes `_model` once. A method that learns builds a new model and publishes it by one assignment;
    if it fails or is interrupted, nothing changes.
    """

    # types of all parameters; the parameters of a class, with their defaults, are in its signature
    n_members: int
    voting: str
    quorum: int
    validation: str | float
    vigilance: float
    max_nodes: int | None
    choice: float
    learning_rate: float
    mapping: str
    match_tracking: float
    search_depth: int | None
    abstain_below: float | None
    max_error: float | dict[Any, float] | None
    confidence: float | None
    decision_costs: Any
    class_weight: Any
    families: Any
    bandwidth: float | None
    ridge: float | None
    rank_weight: float | None
    max_labels: int
    half_life: float | str | None
    bounds: Any
    scaling: str
    shuffle: bool
    random_state: Any
    n_jobs: int | None
    _model: FittedModel

    def _set(self, given: dict[str, Any]) -> None:
        """Set the parameters to the local variables of `__init__`."""
        vars(self).update({name: value for name, value in given.items() if name != "self"})

    def _check(self, name: str) -> Any:
        """Validate a parameter and return it in its plain type."""
        return parameter_of(type(self), name).check(self._name, getattr(self, name))

    def _check_parameters(self, *, predicts: bool) -> None:
        """Validate the parameters of predictions, or those of learning."""
        for name, one in parameters_of(type(self)).items():
            if one.predicts == predicts:
                self._check(name)

    @property
    def _name(self) -> str:
        return type(self).__name__

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    def _fitted(self) -> FittedModel:
        """Return the fitted model, or raise a NotFittedError."""
        model: FittedModel | None = vars(self).get("_model")
        if model is None:
            check_is_fitted(self)
        assert model is not None
        return model

    def _publish(self, model: FittedModel, after: FittedModel | Any | None = ANY) -> None:
        """Replace the fitted model; `after`: the model that it was derived from."""
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
    def feature_names_in_(self) -> NDArray[Any]:
        """Names of the features, if X had string names."""
        names = self._fitted().columns.get("feature_names_in_")
        if names is None:
            raise AttributeError("X had no feature names.")
        return np.asarray(names).copy()

    @property
    def n_nodes_(self) -> int:
        """Number of boxes; for an ensemble, the total over all members."""
        return sum(one.network.nodes.n_nodes for one in self._fitted().members)

    @property
    @available
    def vigilance_(self) -> float:
        """The vigilance in use: lower than `vigilance` if `max_nodes` required it; for an ensemble, the lowest."""
        return min(one.params_in_use.vigilance for one in self._fitted().members)

    @property
    def scaling_(self) -> list[str]:
        """Scaling of each column: "range", "rank", or "category" for a categorical column."""
        model = self._fitted()
        return scaling_of(model.encoder, model.n_features)

    @property
    def lower_(self) -> FloatArray:
        """Lower corner of each box in the user's units, shape (n_nodes, n_coded_features); NaN: no value yet."""
        return np.concatenate([one.network.boxes_in_units()[0] for one in self._fitted().members])

    @property
    def upper_(self) -> FloatArray:
        """Upper corner of each box in the user's units, shape (n_nodes, n_coded_features); NaN: no value yet."""
        return np.concatenate([one.network.boxes_in_units()[1] for one in self._fitted().members])

    @property
    def support_(self) -> CountArray:
        """Number of samples learnt by each box, labelled or not, shape (n_nodes,); fractions with `half_life`."""
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
        """Set the column plan of a fitted estimator."""
        with turn_of(self):
            self._publish(self._fitted().with_plan(plan))

    def __sslart_with_names__(self, names: list[str]) -> None:
        """Set the feature names of a fitted estimator."""
        with turn_of(self):
            self._publish(self._fitted().with_names(names))

    def _view(self, model: FittedModel) -> ModelView:
        """Return a view of a fitted model with the current prediction parameters."""
        given = values_of(type(self), True)(self)
        key = ("view", *given, *map(type, given))  # with types, since 1 == True
        try:
            return model.get_or_compute(key, lambda: self._new_view(model))
        except TypeError:  # a parameter is not hashable
            return self._new_view(model)

    def _new_view(self, model: FittedModel) -> ModelView:
        """Validate the parameters of predictions, and return the view of a fitted model with them."""
        assert model.reader is not None
        n_jobs = self._check("n_jobs")
        members = tuple(
            one.view(None if model.record is None else number, n_jobs) for number, one in enumerate(model.members)
        )
        return ModelView(
            self._name,
            members,
            class_table=model.class_table,
            reader=model.reader,
            calibration=model.calibration,
            audit=model.audit,
            **{"weigh_votes": None, **self._decisions(model, members)},
        )

    def _uses_evidence(self) -> bool:
        """Return True if the mapping is evidence mapping."""
        return False

    def _decisions(self, model: FittedModel, members: tuple[MemberView, ...]) -> dict[str, Any]:
        """Return the validated parameters of decisions, as arguments of `ModelView`."""
        return {}

    def _check_classes(self, class_table: ClassTable) -> None:
        """Raise a ValueError if a parameter names classes without labels."""

    def __sslart_view__(self) -> ModelView:
        """Return the read-only view of the fitted model."""
        return self._view(self._fitted())

    @abstractmethod
    def _learning_params(self) -> LearningParams:
        """Validate all parameters, and return those of learning."""

    def _checked(self, before: FittedModel | None) -> Checked:
        """Return the parameters of learning, validated again if one was set since the last call."""
        given = values_of(type(self), False)(self)
        checked = None if before is None else before.checked
        if (
            checked is not None
            and all(map(operator.is_, given, checked.given))
            and MUTABLE.isdisjoint(map(type, given))
        ):
            return checked
        return Checked(given, self._learning_params())

    def _read_further(self, before: FittedModel | None, X: Any) -> tuple[Attributes[str, Any], Table]:
        """Return the column attributes and the samples of a `partial_fit`."""
        if before is not None:
            assert before.reader is not None
            return before.columns, before.reader.read(X)
        reader = SampleReader(self._name)
        table = read_samples(reader, X, reset=True, first_decides=self.bounds is not None)
        return known_columns(reader), as_known_texts(table, lambda _: ())

    def score_samples(self, X: Any) -> FloatArray:
        """Return the fit of each sample to the model, averaged over the members.

        It is 1 minus the mean distance per feature from the best box, in learnt ranges, less an eighth of the mean
        side length of that box.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            From 0 to 1. Low means novel: unlike the best box, or out of the learnt range. 1 for a sample without any
            value: nothing in it is unusual.
        """
        view = self.__sslart_view__()
        return self._familiarity(view, X)

    @staticmethod
    def _familiarity(view: ModelView, X: Any) -> FloatArray:
        table, known = view.reader.read_known(X)
        return spread(view.score_samples(table), known, 1.0)

    def novelty_pvalues(self, X: Any) -> FloatArray:
        """Return the conformal p-value of each sample: low for samples that are unlike those learnt.

        It is the share of samples like the learnt ones that fit the model as badly as this one or worse, calibrated on
        samples that were left out of `fit` in turn, or measured in a stream before they were learnt.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            From 1 / (n + 1) to 1, with n calibration samples. Of samples like the learnt ones, at most a share p has a
            p-value of p or lower.

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
        return view.novelty.pvalues(self._familiarity(view, X))

    def is_novel(self, X: Any, false_alarms: float = FALSE_ALARMS) -> BoolArray:
        """Return a mask of novel samples, at a stated rate of false alarms.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        false_alarms : float, default=0.05
            Of samples like the learnt ones, at most this share is flagged, on average over training sets. With fewer
            than 1 / false_alarms - 1 calibration samples, none is ever flagged.

        Returns
        -------
        array of bool of shape (n_samples,)
            True if `novelty_pvalues` is at most `false_alarms`.

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
        return view.novelty.is_novel(self._familiarity(view, X), share)

    @property
    @available
    def novelty_threshold_(self) -> float:
        """Value of `score_samples` below which a sample is novel, at 5 % false alarms; 0 with too few samples."""
        return self.__sslart_view__().novelty_threshold

    def __sslart_add_columns__(self, is_category: Sequence[bool]) -> None:
        """Add columns to a fitted estimator, as if their values had been missing in all samples learnt so far.

        For streams in which features appear late. The learnt samples must not have feature names.
        """
        with turn_of(self):
            model, members = self._fitted(), []
            n_columns = model.n_features + len(is_category)
            bounds = check_bounds(self._name, self.bounds, n_columns)
            for one in model.members:
                network = one.network.with_columns(is_category, bounds)
                mapping = one.mapping.with_columns(network, len(is_category))
                members.append(replace(one, network=network, mapping=mapping))
            columns = {**model.columns, "n_features_in_": n_columns}
            self._publish(replace(model, columns=columns, members=tuple(members), reader=None))

    @property
    def drift_(self) -> list[DriftEvent]:
        """The drifts found by `partial_fit` since the last `fit`, in order; at most the last thousand."""
        return list(self._fitted().drift.events)

    def __sslart_drift__(self) -> DriftMonitor:
        """Return the drift monitor of the stream learnt so far."""
        return self._fitted().drift

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != LOCK}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if "_model" in vars(self):
            self._publish(self._model)

    def __sslart_check__(self) -> None:
        """Raise a ValueError if a parameter is invalid for any samples."""
        self._learning_params()
        self._check_parameters(predicts=True)

    def __sslart_parts__(self) -> FittedModel:
        """Return the mergeable state of a fitted estimator, for `sslart.merge`."""
        return replace(self._fitted(), labels=None)

    @abstractmethod
    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        """Learn one part of a table and return the model; evidence mapping selects no settings yet.

        `number` is that of the part: with `random_state`, which must be an integer, it seeds random choices.
        """

    def __sslart_learns_later__(self) -> int:
        """Return the number of labelled samples to learn after the boxes of all parts have been merged; 0: none."""
        return 0

    def __sslart_take__(self, model: FittedModel) -> None:
        """Set the fitted model."""
        with turn_of(self):
            self._publish(replace(model, reader=None, checked=None))

    def __sslart_state__(self, *, samples: bool = True) -> dict[str, Any]:
        """Return the state that `sslart.save` writes beside the parameters, with learnt samples or without."""
        return self._state_of(self._fitted(), samples=samples, promises=False)

    @abstractmethod
    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        """Return a fitted model as plain values and arrays.

        `samples`: include stored samples; `promises`: include the leave-one-out predictions that guarantees need.
        """

    @abstractmethod
    def __sslart_restore__(self, state: dict[str, Any]) -> None:
        """Validate and restore a state from `__sslart_state__`."""


LATER = 2**32 - 1  # part number of the samples that are learnt after all parts


def random_of_part(seed: int, number: int) -> np.random.RandomState:
    """Return the random state of one part of a table, determined by the seed and the number of the part."""
    return np.random.RandomState([seed, number])
