"""Base class of all classifiers: prediction through the view of the model, and abstention."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from sslart._art.network import NO_LIMIT
from sslart._data.classes import ClassTable
from sslart._data.groups import read_sample_weight
from sslart._data.labels import NO_TRUTH, UNLABELLED, Labels
from sslart._data.samples import Table, known_columns
from sslart._data.training import check_has_label, read_stream_labels, with_groups_and_weights
from sslart._mapping.decision_rules import ErrorLevels, cost_matrix
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import CountArray, FloatArray, IntArray
from sslart._utils.params import check_number, check_whole
from sslart.estimators._base import RawSamplesEstimator, decisions_of
from sslart.estimators._explained import ExplainedMixin
from sslart.estimators._fitted import FittedModel
from sslart.estimators._published import available


class AbstainingClassifier(ExplainedMixin, ClassifierMixin, RawSamplesEstimator):
    """A classifier that may leave a sample without a class, and learns from labels with gaps."""

    bounds: Any
    n_jobs: int | None
    search_depth: int | None = None
    abstain_below: float | None = None
    decision_costs: Any = None

    @property
    def counts_(self) -> CountArray:
        """Number of labelled samples of each class learnt by each box, (n_nodes, n_classes), in `classes_` order.

        Fractions where they fade.
        """
        members = self._fitted().members
        return np.concatenate([one.class_table.by_class(one.network.nodes.counts) for one in members])

    @property
    @available
    def node_labels_(self) -> NDArray[Any]:
        """Class of each box, shape (n_nodes,); without a label -1 for integer classes, None for others."""
        view = self.__sslart_view__()
        return np.concatenate([_shown_labels(view, member.labels) for member in view.members])

    @property
    def n_labelled_nodes_(self) -> int:
        """Number of boxes with a label."""
        return sum(int((one.network.nodes.labels != UNLABELLED).sum()) for one in self._fitted().members)

    @property
    def n_nodes_stage1_(self) -> int:
        """Number of boxes created by unlabelled samples (stage 1); with `half_life`, including dropped ones."""
        return sum(one.network.nodes.n_nodes_stage1 for one in self._fitted().members)

    def apply(self, X: Any) -> IntArray:
        """Return the index of the box that predicts each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or, of an ensemble, (n_samples, n_members)
            Index of the node, -1 where the model, or the member, abstains.
        """
        view = self.__sslart_view__()
        table = view.read(X)
        check_has_label(view.class_table)
        nodes = [one.first_labelled(one.encode(table), view.search_depth) for one in view.members]
        return np.transpose(nodes) if view.is_ensemble else nodes[0]

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        return self._fitted().class_table.classes.copy()

    def _view(self, model: FittedModel) -> ModelView:
        given = decisions_of(type(self))(self)
        key = ("view", *given, *map(type, given))  # 1 is no True
        try:
            return model.once(key, lambda: self._new_view(model))
        except TypeError:  # a parameter that has no hash
            return self._new_view(model)

    @abstractmethod
    def _new_view(self, model: FittedModel) -> ModelView:
        """Return a fitted model with the parameters of predictions, which are checked."""

    def _min_probability(self) -> float | None:
        if self.abstain_below is None:
            return None
        return check_number(self._name, "abstain_below", self.abstain_below, 0, 1)

    def _cost_matrix(self, class_table: ClassTable, counts: Callable[[], CountArray]) -> FloatArray | None:
        return cost_matrix(self._name, self.decision_costs, class_table.classes, counts)

    def _check_max_error(self, classes: NDArray[Any] | None = None) -> None:
        """Raise a ValueError where `max_error` cannot be one; of classes that are known, also where it names others."""

    def _error_levels(self, class_table: ClassTable) -> ErrorLevels | None:
        return None

    def _search_depth(self) -> int:
        depth = check_whole(self._name, "search_depth", self.search_depth, or_none=True)
        return NO_LIMIT if depth is None else depth

    def _read_stream(
        self,
        before: FittedModel | None,
        X: Any,
        y: Any,
        classes: Any,
        groups: Any = None,
        sample_weight: Any = None,
    ) -> tuple[Mapping[str, Any], Table, Labels, Labels | None]:
        """Return the column attributes, samples, labels, and announced classes of a `partial_fit`."""
        if before is None:
            reader = self._first_reader()
            table, known = self._read_first(reader, X), ClassTable()
            columns: Mapping[str, Any] = known_columns(reader)
        else:
            assert before.reader is not None
            table, known, columns = before.reader.read(X), before.class_table, before.columns
        labels, declared = read_stream_labels(table, y, classes, known)
        return columns, *with_groups_and_weights(table, labels, groups, sample_weight), declared

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            Classes. Where the model abstains: -1 for integer classes, None for others.
        """
        view = self.__sslart_view__()
        return view.labels_of(view.predict(view.read(X)).indices)

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each class.

        Never abstains: a search goes on until a labelled node is found.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to one.
        """
        view = self.__sslart_view__()
        return view.predict_proba(view.read(X))

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Return the natural logarithm of the probability of each class; minus infinity where that is 0.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of `classes_`.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def decision_function(self, X: Any) -> FloatArray:
        """Return a finite score of each class: `predict` returns the class of the highest, unless the model abstains.

        Scores are logarithms of probabilities; with `decision_costs`, expected costs with a minus.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
            Of two classes, the score of `classes_[1]` less that of `classes_[0]`: above 0 means `classes_[1]`. Else
            columns in the order of `classes_`.
        """
        view = self.__sslart_view__()
        scores = view.decision_scores(view.read(X))
        return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else scores

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of labelled samples that are predicted rightly; abstention does not count as right.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True classes. Unlabelled samples are left out of account.
        sample_weight : array-like of shape (n_samples,), default=None
        """
        view = self.__sslart_view__()
        table = view.read(X)
        predicted, labels = view.labels_of(view.predict(table).indices), view.read_labels(y, table)
        if not labels.known.any():
            raise ValueError(NO_TRUTH)
        right = (predicted == labels.values)[labels.known]
        weights = None if sample_weight is None else read_sample_weight(sample_weight, labels.known)[labels.known]
        return float(np.average(right, weights=weights))


def _shown_labels(view: ModelView, labels: IntArray) -> NDArray[Any]:
    """Return class indices of boxes as classes: -1 or None for a box without one."""
    labelled = labels != UNLABELLED
    if not labelled.any():
        as_integers = view.classes.dtype.kind in "if" and not view.class_table.has_minus_one()
        return np.full(len(labels), UNLABELLED if as_integers else None)
    return view.labels_of(labels, may_abstain=not labelled.all())
