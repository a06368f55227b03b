"""sslart in river: a classifier and a novelty detector that learn one dict at a time.

Needs river, which the extra `river` brings.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from sslart._drift.events import DriftEvent
from sslart._utils.arrays import FloatArray
from sslart._utils.optional import optional
from sslart.estimators._fuzzy_art import FuzzyART
from sslart.estimators._fuzzy_artmap import FuzzyARTMAP
from sslart.estimators._sslart import SSLART, AutoSSLART
from sslart.estimators._wesslart import WESSLART
from sslart.river._dict_model import DictModel, Label, Sample

if TYPE_CHECKING:
    import pandas as pd
    from river.base import AnomalyDetector, MiniBatchClassifier
else:
    MiniBatchClassifier = optional("river.base", "river").MiniBatchClassifier
    before_0_26 = not hasattr(optional("river.base", "river"), "AnomalyDetector")
    AnomalyDetector = optional("river.anomaly.base" if before_0_26 else "river.base", "river").AnomalyDetector

Classifier = FuzzyARTMAP | SSLART | AutoSSLART | WESSLART


class StreamClassifier(MiniBatchClassifier):
    """A sslart classifier that learns from a river stream, with labels for all samples or for some.

    The features of a sample are numbers, or categories given as strings or booleans. A key that is not there, None and
    NaN are missing values, which are no evidence. A key may be new at any time: the model goes on as if its value had
    been missing before. The first value of a key decides whether it is a number or a category.

    Parameters
    ----------
    estimator : FuzzyARTMAP, SSLART, AutoSSLART, WESSLART or None, default=None
        What learns; its parameters are taken over, and nothing that it has learnt. None: SSLART with one-to-one
        mapping. `bounds`, if any, are two numbers for all features: a dict has no order.

    Notes
    -----
    A label of None means unlabelled, and here nothing else does: -1 is a class. `predict_one` is None before the first
    label and where the estimator abstains. A sample without any value is not learnt; its probabilities are the shares
    of the classes among the labels so far.

    Without `bounds` the range of the features grows with the stream, and the first boxes are small. Give `bounds` where
    the range is known.

    AutoSSLART fits its regression again at the first prediction after it has learnt. That suits streams where labels
    are rare, or mini-batches. All members of WESSLART learn the same stream, and make the same boxes.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from sslart.river import StreamClassifier
    >>> evaluate.progressive_val_score(datasets.Phishing().take(500), StreamClassifier(), metrics.Accuracy())
    Accuracy: 85.17%

    Samples without a label are learnt as well.

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
            The class; None where it is not known.
        """
        self._dicts.learn([x], [y])

    def learn_many(self, X: pd.DataFrame, y: Iterable[Label | None] | None = None) -> None:
        """Learn the rows of a frame in their order: quicker than one by one, and the same.

        Parameters
        ----------
        X : pandas.DataFrame
        y : series or None
            Classes; None or NaN where they are not known. None: no label at all.
        """
        samples = X.to_dict("records")
        self._dicts.learn(samples, [None] * len(samples) if y is None else y)

    def predict_proba_one(self, x: Sample, **kwargs: Any) -> dict[Label, float]:
        """Return the probability of each class; none before the first label.

        Parameters
        ----------
        x : dict
        **kwargs
            Not used.
        """
        classes, (shares,) = self._probabilities([x])
        return dict(zip(classes, shares.tolist(), strict=True))

    def predict_one(self, x: Sample, **kwargs: Any) -> Label | None:
        """Return the class of a sample; None before the first label and where the estimator abstains.

        Parameters
        ----------
        x : dict
        **kwargs
            Not used.
        """
        return self._predictions([x])[0]

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the probability of each class, a row for each of X and a column for each class.

        Parameters
        ----------
        X : pandas.DataFrame
        """
        classes, shares = self._probabilities(X.to_dict("records"))
        return optional("pandas", "data").DataFrame(shares, index=X.index, columns=classes)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the class of each row of X; None before the first label and where the estimator abstains.

        Parameters
        ----------
        X : pandas.DataFrame
        """
        found = self._predictions(X.to_dict("records"))
        return optional("pandas", "data").Series(found, index=X.index, dtype=object if None in found else None)

    @property
    def drift_events(self) -> list[DriftEvent]:
        """The drifts found so far, with the features that moved by name; see `sslart.DriftEvent`."""
        return self._dicts.drifts()

    def to_sklearn(self) -> Classifier:
        """Return a fitted scikit-learn style copy with feature names, to explain, save, or train further.

        Its features are in the order of `feature_names_in_`.
        """
        model: Classifier = self._dicts.named_copy()
        return model

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


class NoveltyDetector(AnomalyDetector):
    """Scores how novel the samples of a river stream are: unlike all boxes of fuzzy ART, or like a rare box.

    Features are those of `StreamClassifier`: numbers and categories, missing or new at any time.

    Parameters
    ----------
    estimator : FuzzyART or None, default=None
        What learns; its parameters are taken over, and nothing that it has learnt. None: FuzzyART with its defaults.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from sslart.river import NoveltyDetector
    >>> evaluate.progressive_val_score(datasets.Shuttle().take(1000), NoveltyDetector(), metrics.ROCAUC())
    ROCAUC: 91.51%
    """

    def __init__(self, estimator: FuzzyART | None = None) -> None:
        self.estimator = estimator
        self._dicts = DictModel(estimator, FuzzyART(), (FuzzyART,))

    def learn_one(self, x: Sample) -> None:
        """Learn a sample.

        Parameters
        ----------
        x : dict
        """
        self._dicts.learn([x], [None])

    def score_one(self, x: Sample) -> float:
        """Return the novelty of a sample, from 0 to 1; 0 before anything has been learnt.

        That is 1 - m log(1 + s) / log(1 + n), with m the match of the best box less what lies beyond the range, s the
        samples that this box has learnt, and n all samples.

        Parameters
        ----------
        x : dict
        """
        rows, known = self._dicts.read([x])
        if not rows:
            return 0.0
        model = self._dicts.model
        support = model.support_
        frequency = math.log1p(support[model.predict(known)[0]]) / math.log1p(support.sum())
        return 1.0 - float(model.score_samples(known)[0]) * frequency

    @property
    def drift_events(self) -> list[DriftEvent]:
        """The drifts found so far, with the features that moved by name; see `sslart.DriftEvent`."""
        return self._dicts.drifts()

    def to_sklearn(self) -> FuzzyART:
        """Return a fitted scikit-learn style copy with feature names, which give the order of features."""
        model: FuzzyART = self._dicts.named_copy()
        return model
