"""Which samples a person should label next: one answer labels a whole box."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from sslart._data.labels import UNLABELLED
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.params import check_whole
from sslart.estimators._classifier import AbstainingClassifier

MAX_UNSURE = 200
MIN_DOUBT = 1e-3  # where one box answers it is often quite sure; then the larger box comes first

__all__ = ["Query", "QueryPool", "select_queries"]


class Query(NamedTuple):
    """A sample whose label would help.

    Attributes
    ----------
    row : int
        Its number among all samples looked at, from 0.
    node : int
        The box that it falls into; of an ensemble, in the first member.
    n_samples : int
        How many of the samples looked at fall into this box.
    new : bool
        Whether the box has no label yet.
    """

    row: int
    node: int
    n_samples: int
    new: bool


class QueryPool:
    """The sample nearest to the middle of each box, out of any number of samples that come piece by piece.

    Memory grows with the number of boxes, not of samples.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
        May go on learning: `best` asks it as it is then.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.active import QueryPool
    >>> X, y = load_iris(return_X_y=True)
    >>> few = [label if row % 50 == 0 else None for row, label in enumerate(y)]
    >>> model = AutoSSLART(random_state=0).fit(X, few)
    >>> shortlist = QueryPool(model)
    >>> for start in (0, 75):
    ...     shortlist.look_at(X[start : start + 75])
    >>> question = shortlist.best(1)[0]
    >>> question.new, question.n_samples
    (True, 8)
    >>> before = model.n_labelled_nodes_
    >>> model.partial_fit(X[[question.row]], y[[question.row]]).n_labelled_nodes_ - before
    1
    """

    def __init__(self, model: Any) -> None:
        if not isinstance(model, AbstainingClassifier):
            raise TypeError(f"Labels are asked for by a classifier of sslart, got a {type(model).__name__}.")
        check_is_fitted(model)
        self.model: Any = model
        self.n_samples = 0
        self._counts = np.zeros(0, dtype=np.int64)  # per box
        self._middle: dict[int, tuple[float, int]] = {}  # of each box: the distance and row of the sample nearest
        self._unsure: list[tuple[float, int, int]] = []  # probability, row and box
        self._samples: dict[int, Any] = {}  # by row
        self._done: set[int] = set()

    @property
    def _member(self) -> Any:
        return getattr(self.model, "estimators_", [self.model])[0]

    def look_at(self, X: Any, known: Any = None) -> None:
        """Take further samples into account.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        known : array-like of bool, default=None
            Which of them have a label already, and are not asked about.
        """
        table = self.model._read(X)
        network = self._member._network
        nodes = network.rank(table, self._member._learning_params().choice, depth=1)[0][:, 0]
        lower, upper = (side[nodes] for side in network.nodes.boxes())
        away = np.abs(network._encode(table)[0] - (lower + upper) / 2)
        distances = np.nansum(np.where(lower <= upper, away, 0.0), axis=1)
        more = np.bincount(nodes, minlength=len(self._counts))
        more[: len(self._counts)] += self._counts
        self._counts = more
        unknown = np.arange(len(table)) if known is None else np.flatnonzero(~np.asarray(known, dtype=bool))
        for place in unknown[_first_of_each(nodes[unknown], distances[unknown])]:
            node = int(nodes[place])
            if node not in self._middle or distances[place] < self._middle[node][0]:
                self._middle[node] = float(distances[place]), self.n_samples + int(place)
        if self.model._class_table.seen:
            highest = self.model.predict_proba(X).max(axis=1)
            least_sure = unknown[np.argsort(highest[unknown], kind="stable")[:MAX_UNSURE]]
            unsure = [(float(highest[place]), self.n_samples + int(place), int(nodes[place])) for place in least_sure]
            self._unsure = sorted(self._unsure + unsure)[:MAX_UNSURE]
        self._keep_samples(X)
        self.n_samples += len(table)

    def _keep_samples(self, X: Any) -> None:
        """Hold on to the samples that are in question, out of the last piece and of those before."""
        rows = {row for _, row in self._middle.values()} | {row for _, row, _ in self._unsure}
        self._samples = {row: sample for row, sample in self._samples.items() if row in rows}
        for row in sorted(rows - self._samples.keys()):
            self._samples[row] = _safe_indexing(X, [row - self.n_samples])

    def best(self, n: int = 1) -> list[Query]:
        """Return the samples to label next, the most helpful first.

        Boxes without a label come first, by how many samples they hold and how unsure the model is of them; then the
        samples that it is least sure of.

        Parameters
        ----------
        n : int, default=1
            How many; fewer where there are no more.
        """
        check_whole("best", "n", n)
        labels = self._member._network.nodes.labels
        asked = {row: (node, bool(labels[node] == UNLABELLED)) for node, (_, row) in self._middle.items()}
        asked.update({row: (node, False) for _, row, node in self._unsure if row not in asked})
        rows = [row for row in asked if row not in self._done]
        if not rows:
            return []
        new = np.array([asked[row][1] for row in rows])
        counts = self._counts[[asked[row][0] for row in rows]]
        worth = (self._doubts(rows) + MIN_DOUBT) * np.where(new, counts, 1)
        order = np.lexsort((np.array(rows), -worth, ~new))[:n]
        return [Query(rows[place], asked[rows[place]][0], int(counts[place]), bool(new[place])) for place in order]

    def rows(self) -> list[int]:
        """Return the rows that are in question."""
        return sorted(self._samples)

    def sample(self, question: Query) -> Any:
        """Return the sample of a question, one row, as it was given."""
        return self._samples[question.row]

    def done(self, question: Query) -> None:
        """Do not ask about this sample again: it has been labelled, or nobody knows."""
        self._done.add(question.row)

    def share_labelled(self) -> float:
        """Return the share of the samples that fall into boxes with a label."""
        labels = self._member._network.nodes.labels[: len(self._counts)]
        return float(self._counts[labels != UNLABELLED].sum() / self._counts.sum())

    def _doubts(self, rows: list[int]) -> FloatArray:
        """Return what each sample lacks to be sure."""
        if not self.model._class_table.seen:
            return np.ones(len(rows))
        samples = [self._samples[row] for row in rows]
        together = _stacked(samples)
        return np.asarray(1.0 - self.model.predict_proba(together).max(axis=1))


def select_queries(model: Any, X: Any, n: int = 10) -> IntArray:
    """Return the rows that a person should label next, the most helpful first.

    Boxes without a label come first, by how many samples they hold and how unsure the model is of them, each with the
    sample nearest to its middle; then the samples that the model is least sure of.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
    X : array-like of shape (n_samples, n_features)
        Samples to choose from, such as those that the model has learnt without a label.
    n : int, default=10
        How many; fewer where there are no more.

    Returns
    -------
    array of int

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.active import select_queries
    >>> X, y = load_iris(return_X_y=True)
    >>> few = [label if row % 50 == 0 else None for row, label in enumerate(y)]
    >>> model = AutoSSLART(random_state=0).fit(X, few)
    >>> rows = select_queries(model, X, n=10)
    >>> model.partial_fit(X[rows], y[rows]).score(X, y) > 0.9
    True
    """
    shortlist = QueryPool(model)
    shortlist.look_at(X)
    return np.array([question.row for question in shortlist.best(n)], dtype=np.int64)


def _first_of_each(nodes: IntArray, distances: FloatArray) -> IntArray:
    """Return the place of the least distance of each node."""
    order = np.lexsort((distances, nodes))
    return np.asarray(order[np.diff(nodes[order], prepend=-1) != 0])


def _stacked(samples: list[Any]) -> Any:
    """Return rows as one array or frame, of pandas or polars."""
    if not hasattr(samples[0], "columns"):
        return np.concatenate(samples)
    return importlib.import_module(type(samples[0]).__module__.partition(".")[0]).concat(samples)
