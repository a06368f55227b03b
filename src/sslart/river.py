"""Classifier and novelty detector for river, which learn one dict at a time.

Needs river, installed by the extra `river`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sslart._data.labels import UNLABELLED
from sslart._data.ranks import RANK
from sslart._data.samples import is_missing
from sslart._drift.features import FeatureShift
from sslart._drift.monitor import DriftEvent
from sslart._utils.arrays import FloatArray
from sslart._utils.optional import optional
from sslart.estimators._fitted import shallow_copy
from sslart.estimators._fuzzy_art import FuzzyART, FuzzyARTMAP
from sslart.estimators._sslart import SSLART, AutoSSLART
from sslart.estimators._wesslart import WESSLART

if TYPE_CHECKING:
    import pandas as pd
    from river.base import AnomalyDetector, MiniBatchClassifier
else:
    MiniBatchClassifier = optional("river.base", "river").MiniBatchClassifier
    before_0_26 = not hasattr(optional("river.base", "river"), "AnomalyDetector")
    AnomalyDetector = optional("river.anomaly.base" if before_0_26 else "river.base", "river").AnomalyDetector

__all__ = ["NoveltyDetector", "StreamClassifier"]

Classifier = FuzzyARTMAP | SSLART | AutoSSLART | WESSLART
Sample = Mapping[Hashable, Any]
Label = bool | str | int


class RiverModel:
    """Base class of the river models."""

    _dicts: DictModel

    @property
    def drift_events(self) -> list[DriftEvent]:
        """The drifts detected so far, with the names of the features that moved; see `sslart.DriftEvent`."""
        model, keys = self._dicts.model, list(self._dicts.is_category)
        events: list[DriftEvent] = model.drift_ if keys and model.__sklearn_is_fitted__() else []

        def named(feature: FeatureShift) -> FeatureShift:
            column, is_category, category = feature.name.removeprefix("x").partition("=")
            return replace(feature, name=f"{keys[int(column)]}{is_category}{category}")

        return [replace(event, features=tuple(map(named, event.features))) for event in events]

    def to_sklearn(self) -> Any:
        """Return a fitted copy in scikit-learn's interface, with feature names, to explain, save or train further.

        Its features are in the order of `feature_names_in_`.
        """
        model = copy.deepcopy(self._dicts.model)
        if self._dicts.is_category:
            model.__sslart_with_names__([str(key) for key in self._dicts.is_category])
        return model


class StreamClassifier(RiverModel, MiniBatchClassifier):
    """Semi-supervised classifier for river streams.

    Features are numbers, or categories given as strings or booleans. Absent keys, None and NaN are missing values. New
    keys may appear at any time and count as missing before. The first value of a key decides whether it is a number or
    a category.

    Parameters
    ----------
    estimator : FuzzyARTMAP, SSLART, AutoSSLART, WESSLART or None, default=None
        The estimator to use; only its parameters are copied. None is SSLART with one-to-one mapping. `bounds`, if
        given, are two numbers for all features, since a dict has no order.

    Notes
    -----
    Only None means unlabelled here: -1 is a class. `predict_one` returns None before the first label and where the
    estimator abstains. Samples with missing values only are not learnt; their probabilities are the class frequencies
    so far.

    Without `bounds` the range of the features grows with the stream, and the first boxes are small. Give `bounds` if
    the range is known.

    AutoSSLART updates its regression at the first prediction after learning, which suits mini-batches or streams with
    rare labels. All members of WESSLART learn the same stream in the same order and have the same boxes.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from sslart.river import StreamClassifier
    >>> evaluate.progressive_val_score(datasets.Phishing().take(500), StreamClassifier(), metrics.Accuracy())
    Accuracy: 85.17%

    Unlabelled samples are learnt too.

    >>> model = StreamClassifier()
    >>> for number, (x, y) in enumerate(datasets.Phishing().take(300)):
    ...     model.learn_one(x, y if number % 5 == 0 else None)
    >>> model.predict_one(x)
    True
    """

    def __init__(self, estimator: Classifier | None = None) -> None:
        self.estimator = estimator
        self._dicts = DictModel(estimator, SSLART(mapping="one-to-one"), (FuzzyARTMAP, SSLART, WESSLART))

    @property
    def _multiclass(self) -> bool:
        return True

    def learn_one(self, x: Sample, y: Label | None = None) -> None:
        """Learn a sample.

        Parameters
        ----------
        x : dict
            Features by name.
        y : bool, str, int or None
            The class; None if unknown.
        """
        self._dicts.learn([x], [y])

    def learn_many(self, X: pd.DataFrame, y: Iterable[Label | None] | None = None) -> None:
        """Learn the rows of a frame in order; equivalent to `learn_one` for each row, but faster.

        Parameters
        ----------
        X : pandas.DataFrame
        y : series or None
            Classes; None or NaN where unknown. None if there are no labels.
        """
        samples = X.to_dict("records")
        self._dicts.learn(samples, [None] * len(samples) if y is None else y)

    def predict_proba_one(self, x: Sample, **kwargs: Any) -> dict[Label, float]:
        """Return the probability of each class; empty before the first label."""
        classes, (shares,) = self._probabilities([x])
        return dict(zip(classes, shares.tolist(), strict=True))

    def predict_one(self, x: Sample, **kwargs: Any) -> Label | None:
        """Return the class of a sample; None before the first label and if the estimator abstains."""
        return self._predictions([x])[0]

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return a frame of class probabilities with one row per row of X and one column per class."""
        classes, shares = self._probabilities(X.to_dict("records"))
        return optional("pandas", "data").DataFrame(shares, index=X.index, columns=classes)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the class of each row of X; None before the first label and if the estimator abstains."""
        found = self._predictions(X.to_dict("records"))
        return optional("pandas", "data").Series(found, index=X.index, dtype=object if None in found else None)

    def _probabilities(self, samples: list[Sample]) -> tuple[list[Label], FloatArray]:
        classes, shares = self._dicts.class_shares()
        probabilities = np.tile(shares, (len(samples), 1))
        rows, known = self._dicts.read(samples)
        if classes and rows:
            probabilities[rows] = self._dicts.model.predict_proba(known)
        return classes, probabilities

    def _predictions(self, samples: list[Sample]) -> list[Label | None]:
        classes, shares = self._dicts.class_shares()
        if not classes:
            return [None] * len(samples)
        predictions: list[Label | None] = [classes[int(shares.argmax())]] * len(samples)
        rows, known = self._dicts.read(samples)
        if rows:
            for row, label in zip(rows, self._dicts.model.predict(known).tolist(), strict=True):
                predictions[row] = label if label in classes else None
        return predictions


class NoveltyDetector(RiverModel, AnomalyDetector):
    """Novelty detector for river streams, based on fuzzy ART: distance to the best box, and its rarity.

    Features are numbers and categories, as in `StreamClassifier`; they may be missing or new at any time.

    Parameters
    ----------
    estimator : FuzzyART or None, default=None
        The estimator to use; only its parameters are copied. None is FuzzyART with default parameters.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from sslart.river import NoveltyDetector
    >>> evaluate.progressive_val_score(datasets.Shuttle().take(1000), NoveltyDetector(), metrics.ROCAUC())
    ROCAUC: 92.00%
    """

    def __init__(self, estimator: FuzzyART | None = None) -> None:
        self.estimator = estimator
        self._dicts = DictModel(estimator, FuzzyART(), (FuzzyART,))

    def learn_one(self, x: Sample) -> None:
        """Learn a sample."""
        self._dicts.learn([x], [None])

    def score_one(self, x: Sample) -> float:
        """Return the novelty of a sample, from 0 to 1; 0 before anything has been learnt.

        The score is 1 - m log(1 + s) / log(1 + n), where m is the result of `score_samples`, s the number of samples of
        the best box, and n the number of all samples.
        """
        rows, known = self._dicts.read([x])
        if not rows:
            return 0.0
        model = self._dicts.model
        support = model.support_
        frequency = math.log1p(support[model.predict(known)[0]]) / math.log1p(support.sum())
        return 1.0 - float(model.score_samples(known)[0]) * frequency


class DictModel:
    """A model that learns from dicts, with the column of each feature and the count of each class.

    `estimator` is as given by the user; `default` replaces None; `kinds` are the allowed classes.
    """

    def __init__(self, estimator: Any, default: Any, kinds: tuple[type, ...]) -> None:
        if estimator is not None and not isinstance(estimator, kinds):
            raise TypeError(
                f"estimator must be one of {', '.join(kind.__name__ for kind in kinds)}, got "
                f"{type(estimator).__name__}. For other models of scikit-learn there is river.compat."
            )
        self.model: Any = clone(default if estimator is None else estimator)
        if isinstance(self.model.bounds, Iterable) and any(np.ndim(side) for side in self.model.bounds):
            raise ValueError("bounds must be two numbers for all features here: the features of a dict have no order.")
        if self.model.scaling == RANK:
            raise ValueError(
                "scaling='rank' needs many samples in the first call, but a stream starts with one: leave scaling at "
                "its default, or use the logarithm of skewed features."
            )
        self.is_category: dict[Hashable, bool] = {}  # the features in the order of the columns
        self.label_counts: dict[Label, int] = {}

    def class_shares(self) -> tuple[list[Label], FloatArray]:
        """Return the classes learnt so far, sorted, and their shares of the labels."""
        classes = sorted(self.label_counts)
        counts = np.array([self.label_counts[label] for label in classes], dtype=np.float64)
        return classes, counts / counts.sum()

    def learn(self, samples: Iterable[Sample], labels: Iterable[Label | None]) -> None:
        """Learn samples in order, batching those without new features; on error, none are learnt."""
        together = list(zip(samples, labels, strict=True))
        before = {"model": shallow_copy(self.model), "is_category": {**self.is_category}}
        before["label_counts"] = {**self.label_counts}
        try:
            self._learn(together)
        except BaseException:
            vars(self).update(before)
            raise

    def _learn(self, together: list[tuple[Sample, Label | None]]) -> None:
        rows: list[list[Any]] = []
        known: list[Label | None] = []
        for x, given in together:
            label = None if is_missing(given) else given.item() if isinstance(given, np.generic) else given
            new = self._new_keys(x)
            if new:
                self._learn_rows(rows, known)
                rows, known = [], []
                self._learn_with_new_keys(x, label, new)
                continue
            row = self._row(x)
            if _has_value(row):
                rows.append(row)
                known.append(label)
        self._learn_rows(rows, known)

    def read(self, samples: list[Sample]) -> tuple[list[int], Any]:
        """Return the indices of samples with a value in a known feature, and the model input for them."""
        rows = [self._row(x) for x in samples]
        known = [index for index, row in enumerate(rows) if _has_value(row)]
        return known, self._as_samples([rows[index] for index in known]) if known else None

    def _new_keys(self, x: Sample) -> list[Hashable]:
        if x.keys() <= self.is_category.keys():
            return []
        new = [key for key, value in x.items() if key not in self.is_category and not is_missing(value)]
        try:
            return sorted(new)  # type: ignore[type-var]
        except TypeError:
            return sorted(new, key=repr)

    def _learn_with_new_keys(self, x: Sample, label: Label | None, new: list[Hashable]) -> None:
        """Learn a sample with new features."""
        kinds = [isinstance(x[key], str | bool | np.bool_) for key in new]
        if self.is_category:
            self.model.__sslart_add_columns__(kinds)
        self.is_category.update(zip(new, kinds, strict=True))
        self._learn_rows([self._row(x)], [label])

    def _learn_rows(self, rows: list[list[Any]], labels: list[Label | None]) -> None:
        if not rows:
            return
        if UNLABELLED in labels and UNLABELLED not in self.label_counts:
            self.model.partial_fit(self._as_samples(rows), labels, classes=[UNLABELLED])
        else:
            self.model.partial_fit(self._as_samples(rows), labels)
        for label in labels:
            if label is not None:
                self.label_counts[label] = self.label_counts.get(label, 0) + 1

    def _row(self, x: Sample) -> list[Any]:
        """Return the values of a sample in the order of the columns."""
        return [
            _category(key, x.get(key)) if is_category else _number(key, x.get(key))
            for key, is_category in self.is_category.items()
        ]

    def _as_samples(self, rows: list[list[Any]]) -> Any:
        if not any(self.is_category.values()):
            return np.array(rows, dtype=np.float64)
        kinds = [object if is_category else np.float64 for is_category in self.is_category.values()]
        return _Frame(
            [np.array(column, dtype=kind) for column, kind in zip(zip(*rows, strict=True), kinds, strict=True)]
        )


class _Frame:
    """Minimal data frame with the interface that sslart reads: creating a pandas frame per row is slow."""

    def __init__(self, columns: list[NDArray[Any]]) -> None:
        self._columns = columns
        self.columns = range(len(columns))
        self.dtypes = [column.dtype for column in columns]
        self.shape = len(columns[0]), len(columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, column: int) -> NDArray[Any]:
        return self._columns[column]


def _has_value(row: list[Any]) -> bool:
    return any(value is not None and value == value for value in row)


def _number(key: Hashable, value: Any) -> float:
    if is_missing(value):
        return math.nan
    try:
        number = math.nan if isinstance(value, str) else float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(
            f"Feature {key!r} is numeric but has the value {value!r}. Give a finite number, or None if it is missing; "
            "for a category, give strings or booleans from the first sample on."
        )
    return number


def _category(key: Hashable, value: Any) -> str | bool | int | float | None:
    if is_missing(value):
        return None
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, str | bool | int | float):
        raise ValueError(f"Feature {key!r} is categorical but has the value {value!r}: give a string or a boolean.")
    return plain
