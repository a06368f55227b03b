"""What the classifiers share: stages, classes, answers and abstention."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d

from sslart._art.network import NO_LIMIT, LearnResult, Network, Undo
from sslart._data.classes import ClassTable
from sslart._data.labels import UNLABELLED, Labels, read_labels
from sslart._data.samples import Table
from sslart._data.training import as_known, check_has_label, read_stream, table_from_state, table_to_state
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.params import check_number, check_whole
from sslart.estimators._base import ARTEstimator, unchanged_on_failure

if TYPE_CHECKING:
    from sslart.explain import Explanation
    from sslart.rules import RuleSet


class AbstainingClassifier(ClassifierMixin, ABC):
    """A classifier that may leave a sample without an answer, and learns from labels with gaps."""

    search_depth: int | None = None
    abstain_below: float | None = None
    _class_table: ClassTable

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes, sorted."""
        check_is_fitted(self)
        return self._class_table.classes

    def _answers(self, places: IntArray, *, may_abstain: bool) -> NDArray[Any]:
        """Return the class at each place of `classes_`; -1 or None at place -1, where the model abstains."""
        answered = places != UNLABELLED
        answers = self.classes_[np.where(answered, places, 0)]
        if answers.dtype.kind == "i" and not self._class_table.has_minus_one():
            answers = np.where(answered, answers, UNLABELLED)
        elif may_abstain:
            answers = answers.astype(object)
            answers[~answered] = None
        return answers

    def _may_abstain(self) -> bool:
        return self.search_depth is not None or self.abstain_below is not None

    def _sure(self, places: IntArray, table: Table) -> IntArray:
        """Return answers without those whose probability is below the user's limit."""
        if self.abstain_below is None:
            return places
        return np.where(self._unsure(self._class_probabilities(table)), UNLABELLED, places)

    def _unsure(self, probabilities: FloatArray) -> BoolArray:
        """Tell which samples have no probability that reaches the user's limit."""
        return np.asarray(probabilities.max(axis=1) < self._least_probability())

    def _least_probability(self) -> float:
        if self.abstain_below is None:
            return 0.0
        return check_number(type(self).__name__, "abstain_below", self.abstain_below, 0, 1)

    @abstractmethod
    def _class_probabilities(self, table: Table) -> FloatArray:
        """Return the probability of each class, in the order of `classes_`."""

    def _search_depth(self) -> int:
        depth = check_whole(type(self).__name__, "search_depth", self.search_depth, or_none=True)
        return NO_LIMIT if depth is None else depth

    def rules(
        self,
        levels: Any = 5,
        terms: Any = None,
        min_confidence: float = 0,
        min_support: float = 0,
        simplify: Any = False,
    ) -> RuleSet:
        """Say what was learnt as If-Then rules: one per labelled node.

        Parameters
        ----------
        levels, terms, min_confidence, min_support, simplify
            See `sslart.rules.rules_of`.

        Returns
        -------
        RuleSet
            Rules as data, with `to_text`, `to_frame`, `to_dict`, `to_json` and `to_markdown`.
        """
        from sslart.rules import rules_of

        return rules_of(self, levels, terms, min_confidence, min_support, simplify)

    def explain(self, X: Any) -> list[Explanation]:
        """Say of each sample why it gets its answer, what speaks against it, and what would change it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        list of Explanation
            Each is data first; `str()` says it in words.
        """
        from sslart.explain import explain

        return explain(self, X)  # type: ignore[arg-type]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of labelled samples that get the right answer; abstention is no right answer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            True classes. Unlabelled samples are left out of account.
        sample_weight : array-like of shape (n_samples,), default=None
        """
        answers = np.asarray(self.predict(X))  # type: ignore[attr-defined]
        labels = as_known(self._class_table, read_labels(y, Table(np.empty((len(answers), 1)))))
        self._class_table.check_kind(labels)
        if not labels.known.any():
            raise ValueError("y has no labelled sample to score against: give the true classes of some samples.")
        right = (answers == labels.values)[labels.known]
        return float(np.average(right, weights=_read_weights(sample_weight, labels)))


def _read_weights(sample_weight: Any, labels: Labels) -> FloatArray | None:
    if sample_weight is None:
        return None
    weights = column_or_1d(np.asarray(sample_weight, dtype=np.float64))
    check_consistent_length(weights, labels.known)
    if not (weights >= 0).all() or not 0 < weights[labels.known].sum() < np.inf:
        raise ValueError("sample_weight must be numbers from 0 up, some above 0 among the labelled samples.")
    return np.asarray(weights[labels.known])


class ARTClassifier(AbstainingClassifier, ARTEstimator):
    """Base of the classifiers that are one network each."""

    shuffle: bool
    random_state: Any

    def _learn(
        self,
        network: Network,
        classes: ClassTable,
        table: Table,
        labels: Labels,
        *,
        undo: Undo | None,
        foresee: bool = False,
        stop: Any = None,
    ) -> LearnResult:
        return network.learn(
            table,
            classes.codes(labels),
            len(classes.seen),
            self._learning_params(),
            foresee_depth=NO_LIMIT if foresee else None,
            undo=undo,
            stop=stop,
        )

    def _fit_table(self, table: Table, labels: Labels, order: slice | IntArray, stop: Any = None) -> None:
        """Learn a table afresh, in an order that has the unlabelled samples before the labelled ones."""
        self._search_depth()
        self._least_probability()
        network = Network(self._first_encoder(table, stream=False))
        classes = ClassTable().learning(labels[order])
        self._learn(network, classes, table[order], labels[order], undo=None, stop=stop)
        network.nodes.trim()
        self._network, self._class_table = network, classes

    def _partial_fit_table(
        self,
        table: Table,
        labels: Labels,
        declared: Labels | None,
        undo: Undo,
        order: slice | IntArray = slice(None),
        *,
        foresee: bool = False,
        stop: Any = None,
    ) -> LearnResult:
        """Go on learning a table in the given order."""
        self._search_depth()
        self._least_probability()
        first = not self.__sklearn_is_fitted__()
        network = Network(self._first_encoder(table, stream=True)) if first else self._network
        classes = ClassTable() if first else self._class_table
        if declared is not None:
            classes = classes.declaring(declared)
        classes = classes.learning(labels[order])
        learnt = self._learn(
            network, classes, table[order], labels[order], undo=None if first else undo, foresee=foresee, stop=stop
        )
        self._network, self._class_table = network, classes
        return learnt

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Go on learning: labelled and unlabelled samples in the given order, one or many.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Raw features; NaN where a value is missing.
        y : array-like of shape (n_samples,), default=None
            Classes; -1, None or NaN where unlabelled. None: all unlabelled. New classes may appear at any time.
        classes : array-like, default=None
            Classes to expect, so that `predict_proba` has a column for each from the start.
        """
        with unchanged_on_failure(self) as undo:
            table, labels, declared = read_stream(self, X, y, classes)
            self._partial_fit_table(table, labels, declared, undo)
        return self

    def _answering_nodes(self, table: Table, depth: int = NO_LIMIT, stop: Any = None) -> IntArray:
        """Return the first labelled node among the `depth` best of each sample, -1 where there is none."""
        check_has_label(self._class_table)
        rank, choice = self._network.rank, self._learning_params().choice
        if depth == NO_LIMIT:
            return rank(table, choice, labelled_only=True, n_jobs=self.n_jobs, stop=stop)[0][:, 0]
        nodes = rank(table, choice, depth=depth, n_jobs=self.n_jobs, stop=stop)[0]
        labelled = self._network.nodes.labels[nodes] != UNLABELLED
        first = labelled.argmax(axis=1)[:, None]
        answered = np.take_along_axis(labelled, first, axis=1)
        return np.where(answered, np.take_along_axis(nodes, first, axis=1), UNLABELLED)[:, 0]

    def _places(self, nodes: IntArray) -> IntArray:
        """Return the place in `classes_` of the label of each node, -1 for no node."""
        codes = self._network.nodes.labels[: self.n_nodes_][nodes]
        return np.where(nodes == UNLABELLED, UNLABELLED, self._class_table.sorted_codes()[codes])

    def predict(self, X: Any) -> NDArray[Any]:
        """Name the class of each sample: that of its best node, or of the next best, up to depth T.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            Classes. Where none of the T best nodes has a label the model abstains: -1 for integer classes, None for
            others.
        """
        table = self._read(X)
        places = self._sure(self._answer_places(table, self._search_depth()), table)
        return self._answers(places, may_abstain=self._may_abstain())

    def apply(self, X: Any) -> IntArray:
        """Name the node that answered for each sample.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples,)
            Index of the node, -1 where the model abstains.
        """
        return self._answering_nodes(self._read(X), self._search_depth())

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the share of each class among the labelled samples of the answering node.

        Never abstains: it searches on until a labelled node is found.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        array of shape (n_samples, n_classes)
            Columns in the order of `classes_`; rows sum to one.
        """
        return self._class_probabilities(self._read(X))

    def _answer_places(self, table: Table, depth: int = NO_LIMIT, stop: Any = None) -> IntArray:
        """Return the place in `classes_` of the answer to each sample, -1 where the model abstains."""
        return self._places(self._answering_nodes(table, depth, stop))

    def _class_probabilities(self, table: Table) -> FloatArray:
        nodes = self._answering_nodes(table)
        counts = self._by_class(self._network.nodes.counts[nodes]).astype(np.float64)
        return np.asarray(counts / counts.sum(axis=1, keepdims=True))

    def _by_class(self, counts: IntArray) -> IntArray:
        """Return counts by class code as counts in the order of `classes_`."""
        sorted_counts = np.zeros((len(counts), len(self.classes_)), dtype=np.int64)
        sorted_counts[:, self._class_table.sorted_codes()] = counts
        return sorted_counts

    @property
    def counts_(self) -> NDArray[np.int64]:
        """How often each class resonated with each node, shape (n_nodes, n_classes), in the order of `classes_`."""
        check_is_fitted(self)
        return self._by_class(self._network.nodes.counts[: self.n_nodes_])

    @property
    def node_labels_(self) -> NDArray[Any]:
        """Class of each node, shape (n_nodes,); -1 for integer classes and None for others where it has none."""
        check_is_fitted(self)
        labelled = self._labelled_nodes()
        if not labelled.any():
            as_integers = self.classes_.dtype.kind in "if" and not self._class_table.has_minus_one()
            return np.full(self.n_nodes_, UNLABELLED if as_integers else None)
        nodes = np.where(labelled, np.arange(self.n_nodes_), UNLABELLED)
        return self._answers(self._places(nodes), may_abstain=not labelled.all())

    def _labelled_nodes(self) -> BoolArray:
        return np.asarray(self._network.nodes.labels[: self.n_nodes_] != UNLABELLED)

    @property
    def n_labelled_nodes_(self) -> int:
        """Number of nodes that have a label."""
        check_is_fitted(self)
        return int(self._labelled_nodes().sum())

    @property
    def n_nodes_stage1_(self) -> int:
        """Number of nodes made by unlabelled samples: those of stage 1."""
        check_is_fitted(self)
        return self._network.nodes.n_nodes_stage1

    def _get_state(self) -> dict[str, Any]:
        return {**super()._get_state(), **table_to_state(self._class_table)}

    def _set_state(self, state: dict[str, Any]) -> None:
        super()._set_state(state)
        self._class_table = table_from_state(state)
        if len(self._class_table.seen) != self._network.nodes.n_classes:
            raise ValueError("the classes of the model do not fit its counts")
