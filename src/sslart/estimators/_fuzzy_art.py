"""FuzzyART, which clusters samples into boxes in one pass, and FuzzyARTMAP, which learns boxes of one class each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from sslart._data.labels import UNLABELLED, Labels
from sslart._data.samples import SampleReader, known_columns, read_samples
from sslart._data.training import read_training, warn_of_outliers
from sslart._utils.arrays import IntArray
from sslart._utils.sklearn_bases import ClusterMixin
from sslart.estimators._base import StreamSamples
from sslart.estimators._classifier import ARTClassifier
from sslart.estimators._fitted import (
    Checked,
    FittedModel,
    turn_of,
)
from sslart.estimators._learning import (
    ARTEstimator,
    after_row,
    code_of_row,
)
from sslart.estimators._parameters import documented


@documented
class FuzzyART(ClusterMixin, ARTEstimator):
    """Fuzzy ART: online clustering of samples into boxes in one pass, without a given number of clusters.

    Examples
    --------
    >>> from sslart import FuzzyART
    >>> X = [[0, 0], [1, 1], [9, 9], [10, 10]]
    >>> art = FuzzyART(vigilance=0.8).fit(X)
    >>> art.labels_
    array([0, 0, 1, 1])
    >>> art.lower_, art.upper_
    (array([[0., 0.],
           [9., 9.]]), array([[ 1.,  1.],
           [10., 10.]]))
    >>> art.score_samples([[0, 1], [5, 5]]).round(2)
    array([0.99, 0.59])
    """

    def __init__(
        self,
        vigilance: float = 0.75,
        *,
        max_nodes: int | None = None,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
        half_life: float | None = None,
        bounds: Any = None,
        scaling: str = "range",
        shuffle: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self._set(locals())

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples from scratch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        with turn_of(self):
            checked, reader = self._checked(None), SampleReader(self._name)
            table = read_samples(reader, X, reset=True, leave_out=True)
            warn_of_outliers(table, table, self.scaling)
            labels = Labels.none(len(table))
            order = self._order(labels, self.random_state)
            model, _ = self._fit_table(known_columns(reader), table, labels, order)
            self._publish(replace(model, checked=checked))
        return self

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn further samples, in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : ignored
        """
        with turn_of(self):
            before: FittedModel | None = vars(self).get("_model")
            checked = self._checked(before)
            model = None if before is None else after_row(before, X, checked)
            if model is None:
                columns, table = self._read_further(before, X)
                samples = StreamSamples(columns, table, Labels.none(len(table)))
                model, _, _ = self._learn_stream(before, samples, checked)
            self._publish(model, before)
        return self

    @property
    def labels_(self) -> IntArray:
        """Box of each sample of the last `fit` or `partial_fit`; -1 if it was dropped since, with `half_life`."""
        labels = self._fitted().labels
        if labels is None:
            raise AttributeError("A model that was loaded or merged has no labels_: they belong to the samples learnt.")
        return labels.copy()

    def predict(self, X: Any) -> IntArray:
        """Return the index of the box of highest choice for each sample, without learning.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
        """
        view = self.__sslart_view__()
        table, member = view.read(X), view.members[0]
        return member.network.rank(table, member.params.choice, n_jobs=member.n_jobs)[0][:, 0]


@documented
class FuzzyARTMAP(ARTClassifier):
    """Fuzzy ARTMAP: a supervised classifier that learns boxes of one class each, in one pass.

    Examples
    --------
    >>> from sslart import FuzzyARTMAP
    >>> X = [[0, 0], [1, 1], [9, 9], [10, 10]]
    >>> model = FuzzyARTMAP().fit(X, ["low", "low", "high", "high"])
    >>> model.predict([[2, 1], [8, 9]])
    array(['low', 'high'], dtype='<U4')
    >>> model.n_nodes_
    2
    """

    def __init__(
        self,
        vigilance: float = 0.0,
        *,
        max_nodes: int | None = None,
        choice: float = 1e-3,
        learning_rate: float = 1.0,
        match_tracking: float = 1e-6,
        half_life: float | None = None,
        bounds: Any = None,
        scaling: str = "range",
        shuffle: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self._set(locals())

    def _one_to_one(self) -> bool:
        return True

    def fit(self, X: Any, y: Any) -> Self:
        """Fit from scratch.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes: integers, strings or booleans, one for every sample.
        """
        with turn_of(self):
            reader = SampleReader(self._name)
            table, labels = read_training(reader, X, y, scaling=self.scaling, gaps=False)
            refuse_gaps(int((~labels.known).sum()))
            checked = self._checked(None)
            model, _ = self._fit_table(known_columns(reader), table, labels, self._order(labels, self.random_state))
            self._publish(replace(model, checked=checked))
        return self

    def _after_row(self, before: FittedModel, X: Any, y: Any, checked: Checked) -> FittedModel | None:
        if y is None or code_of_row(y, before.class_table) == UNLABELLED:
            return None  # the general path refuses it
        return super()._after_row(before, X, y, checked)

    def _read_stream(self, *args: Any) -> StreamSamples:
        samples = super()._read_stream(*args)
        refuse_gaps(int((~samples.labels.known).sum()))
        return samples


def refuse_gaps(n_unlabelled: int) -> None:
    """Raise a ValueError for unlabelled samples."""
    if n_unlabelled:
        raise ValueError(
            f"y has {n_unlabelled} unlabelled sample(s) (-1, None or NaN). FuzzyARTMAP needs a label for every sample: "
            "use SSLART to learn from unlabelled samples too, or drop them. If -1 is a class, give it another name."
        )
