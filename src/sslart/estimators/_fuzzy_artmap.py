"""Classifiers of one network: their base, and FuzzyARTMAP with one class per box."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np

from sslart._art.network import Network
from sslart._data.labels import UNLABELLED, ClassTable, Labels
from sslart._data.samples import SampleReader, Table, known_columns
from sslart._data.training import read_training
from sslart._mapping.base import Effort, Mapping
from sslart._mapping.mergeable_state import Shared
from sslart.estimators._base import StreamSamples
from sslart.estimators._classifier import AbstainingClassifier
from sslart.estimators._fitted import Checked, FittedModel, turn_of
from sslart.estimators._fuzzy_art import ARTEstimator
from sslart.estimators._learning import (
    NO_CODE,
    after_row,
    code_of_row,
)
from sslart.estimators._parameters import documented


class ARTClassifier(AbstainingClassifier, ARTEstimator):
    """Base of the classifiers that are one network each."""

    _has_classes = True

    def _check_weights(self, labels: Labels) -> None:
        weights = labels.weights
        if weights is not None and not self._new_mapping().uses_evidence and (weights != np.rint(weights)).any():
            raise ValueError(
                f"sample_weight of {self._name} must be whole numbers unless mapping='evidence': boxes count samples, "
                "and a weight of 2 is the sample twice. Round the weights, or use evidence mapping, which takes any "
                "weights."
            )

    def _after_row(self, before: FittedModel, X: Any, y: Any, checked: Checked) -> FittedModel | None:
        classes, mapping = before.class_table, before.mapping
        code = UNLABELLED if y is None else code_of_row(y, classes)
        if checked is not before.checked or code is None:
            return None
        codes = NO_CODE if code == UNLABELLED else np.array([code])
        if mapping.segment(codes, len(classes.seen)).choose is not Effort.NONE:
            return None

        def mapping_after(network: Network, table: Table) -> Mapping:
            if code == UNLABELLED:
                return mapping.after_unlabelled(classes)
            labels = Labels(codes, np.ones(1, dtype=bool))
            return mapping.learned(network, classes, table, codes, labels, choose=Effort.NONE, is_last=True)

        return after_row(before, X, checked, code=code, mapping_after=mapping_after)

    def _after_samples(self, before: FittedModel | None, samples: StreamSamples, checked: Checked) -> FittedModel:
        return self._learn_stream(before, samples, checked)[0]

    def __sslart_part__(
        self, columns: dict[str, Any], table: Table, labels: Labels, shared: Shared, number: int
    ) -> FittedModel:
        self._check_weights(labels)
        return super().__sslart_part__(columns, table, labels, shared, number)

    def _state_of(self, model: FittedModel, *, samples: bool, promises: bool) -> dict[str, Any]:
        return {**super()._state_of(model, samples=samples, promises=promises), **model.class_table.to_state()}

    def _restored_classes(self, state: dict[str, Any], network: Network) -> ClassTable:
        class_table = ClassTable.from_state(state)
        counts, may_have_faded = network.nodes.counts, network.nodes.n_learnt is not None
        if len(class_table.seen) != counts.shape[1] or not (may_have_faded or counts.any(axis=0).all()):
            raise ValueError("the classes of the model do not fit its counts")
        return class_table


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
        """Learn afresh.

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

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # type: ignore[override]
        """Learn further labelled samples, in the given order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,)
            Classes, one for every sample. New classes may appear at any time.
        classes : array-like, default=None
            Classes to expect, so that `predict_proba` has a column for each from the start.
        """
        return super().partial_fit(X, y, classes)

    def _read_stream(self, *args: Any) -> StreamSamples:
        samples = super()._read_stream(*args)
        refuse_gaps(int((~samples.labels.known).sum()))
        return samples


def refuse_gaps(n_unlabelled: int) -> None:
    """Raise a ValueError where samples have no label."""
    if n_unlabelled:
        raise ValueError(
            f"y has {n_unlabelled} unlabelled sample(s) (-1, None or NaN). FuzzyARTMAP needs a label for every sample: "
            "use SSLART to learn from unlabelled samples too, or drop them. If -1 is a class, give it another name."
        )
