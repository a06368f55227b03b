"""sslart in river: a classifier and a novelty detector that learn one dict at a time.

Needs river: ``pip install "sslart[river]"``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from sslart._utils.arrays import FloatArray
from sslart.estimators._auto import AutoSSLART
from sslart.estimators._fuzzy_art import FuzzyART
from sslart.estimators._fuzzy_artmap import FuzzyARTMAP
from sslart.estimators._sslart import SSLART
from sslart.estimators._wesslart import WESSLART
from sslart.river._dict_model import DictStream, Label, Sample

try:
    from river import base
except ImportError as error:
    raise ImportError('sslart.river needs river: pip install "sslart[river]"') from error

try:
    from river.base import AnomalyDetector
except ImportError:  # before river 0.26
    from river.anomaly.base import AnomalyDetector  # type: ignore[import-not-found, no-redef]

if TYPE_CHECKING:
    import pandas as pd


Classifier = FuzzyARTMAP | SSLART | AutoSSLART | WESSLART


class StreamClassifier(base.MiniBatchClassifier):
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
    label and where the estimator abstains. A sample without any value is not learnt, and its answer is the shares of
    the classes among the labels so far.

    Without `bounds` the range of the features grows with the stream, and the first boxes are small. Give `bounds` where
    the range is known.

    AutoSSLART works out its evidence anew when it is asked after it has learnt. That suits streams where labels are
    rare, or mini-batches. All members of WESSLART see the same stream, and make the same boxes.

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
        self._stream = DictStream(estimator, SSLART(mapping="one-to-one"), (FuzzyARTMAP, SSLART, WESSLART))

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
        self._stream.learn([x], [y])

    def learn_many(self, X: pd.DataFrame, y: Iterable[Label | None] | None = None) -> None:
        """Learn the rows of a frame in their order: quicker than one by one, and the same.

        Parameters
        ----------
        X : pandas.DataFrame
        y : series or None
            Classes; None or NaN where they are not known. None: no label at all.
        """
        samples = X.to_dict("records")
        self._stream.learn(samples, [None] * len(samples) if y is None else y)

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
        return self._answers([x])[0]

    def predict_proba_many(self, X: pd.DataFrame) -> pd.DataFrame:
        """Return the probability of each class, a row for each of X and a column for each class.

        Parameters
        ----------
        X : pandas.DataFrame
        """
        import pandas as pd

        classes, shares = self._probabilities(X.to_dict("records"))
        return pd.DataFrame(shares, index=X.index, columns=classes)

    def predict_many(self, X: pd.DataFrame) -> pd.Series:
        """Return the class of each row of X; None before the first label and where the estimator abstains.

        Parameters
        ----------
        X : pandas.DataFrame
        """
        import pandas as pd

        answers = self._answers(X.to_dict("records"))
        return pd.Series(answers, index=X.index, dtype=object if None in answers else None)

    def to_sklearn(self) -> Classifier:
        """Return a copy of what was learnt, with the names of the features: to explain, to save, to fit on.

        Its features are in the order of `feature_names_in_`.
        """
        model: Classifier = self._stream.named_copy()
        return model

    def _probabilities(self, samples: list[Sample]) -> tuple[list[Label], FloatArray]:
        classes, shares = self._stream.class_shares()
        probabilities = np.tile(shares, (len(samples), 1))
        rows, asked = self._stream.read(samples)
        if classes and rows:
            probabilities[rows] = self._stream.model.predict_proba(asked)
        return classes, probabilities

    def _answers(self, samples: list[Sample]) -> list[Label | None]:
        classes, shares = self._stream.class_shares()
        if not classes:
            return [None] * len(samples)
        answers: list[Label | None] = [classes[int(shares.argmax())]] * len(samples)
        rows, asked = self._stream.read(samples)
        if rows:
            for row, answer in zip(rows, self._stream.model.predict(asked).tolist(), strict=True):
                answers[row] = answer if answer in classes else None
        return answers


class NoveltyDetector(AnomalyDetector):
    """Tells which samples of a river stream are novel: unlike all boxes of fuzzy ART, or like a box seldom met.

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
        self._stream = DictStream(estimator, FuzzyART(), (FuzzyART,))

    def learn_one(self, x: Sample) -> None:
        """Learn a sample.

        Parameters
        ----------
        x : dict
        """
        self._stream.learn([x], [None])

    def score_one(self, x: Sample) -> float:
        """Return how novel a sample is, from 0 to 1; 0 while there is nothing to compare it with.

        That is 1 - m log(1 + s) / log(1 + n), with m the match of the best box less what lies beyond the range, s the
        samples that this box has learnt, and n all samples.

        Parameters
        ----------
        x : dict
        """
        rows, asked = self._stream.read([x])
        if not rows:
            return 0.0
        model = self._stream.model
        support = model.support_
        met = math.log1p(support[model.predict(asked)[0]]) / math.log1p(support.sum())
        return 1.0 - float(model.score_samples(asked)[0]) * met

    def to_sklearn(self) -> FuzzyART:
        """Return a copy of what was learnt, with the names of the features, which are in that order."""
        model: FuzzyART = self._stream.named_copy()
        return model
