"""Active learning: which samples a person should label next, where one label serves a whole box."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing

from sslart._art.geometry import centres
from sslart._data.labels import UNLABELLED
from sslart._data.samples import concatenated
from sslart._mapping.model_view import view_of
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.params import check_whole

MAX_UNCERTAIN = 200
MIN_UNCERTAINTY = 1e-3  # where one box decides, its class is often certain; then the larger box comes first

__all__ = ["Query", "QueryPool", "select_queries"]


class Query(NamedTuple):
    """A sample whose label would help.

    Attributes
    ----------
    row : int
        Its number among all samples of the pool, from 0.
    node : int
        The box that it falls into; of an ensemble, in the first member.
    n_samples : int
        Number of samples of the pool that fall into this box.
    new : bool
        Whether the box has no label yet.
    """

    row: int
    node: int
    n_samples: int
    new: bool


class QueryPool:
    """The sample nearest to the centre of each box, out of any number of samples that are added part by part.

    Memory grows with the number of boxes, not of samples.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
        It may go on learning: `best` uses the model as it is at that time.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.active import QueryPool
    >>> X, y = load_iris(return_X_y=True)
    >>> few = [label if row % 50 == 0 else None for row, label in enumerate(y)]
    >>> model = AutoSSLART(random_state=0).fit(X, few)
    >>> pool = QueryPool(model)
    >>> for start in (0, 75):
    ...     pool.add(X[start : start + 75])
    >>> query = pool.best(1)[0]
    >>> query.new, query.n_samples
    (True, 8)
    >>> before = model.n_labelled_nodes_
    >>> model.partial_fit(X[[query.row]], y[[query.row]]).n_labelled_nodes_ - before
    1
    """

    def __init__(self, model: Any) -> None:
        view_of(model)  # raises an error for what is no fitted classifier
        self.model: Any = model
        self.n_samples = 0
        self._counts = np.zeros(0, dtype=np.int64)  # per box
        self._central: dict[int, tuple[float, int]] = {}  # of each box: distance and row of the most central sample
        self._uncertain: list[tuple[float, int, int]] = []  # probability, row and box
        self._samples: dict[int, Any] = {}  # by row
        self._done: set[int] = set()

    def add(self, X: Any, known: Any = None) -> None:
        """Add samples to the pool.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        known : array-like of bool, default=None
            Which of them have a label already, and are never proposed.
        """
        view = view_of(self.model)
        table, member = view.read(X), view.members[0]
        coded = member.encode(table)
        member.network.check_known_features(coded)
        nodes = member.rank(coded)[0][:, 0]
        lower, upper = (side[nodes] for side in member.boxes)
        distances = np.nansum(np.abs(coded - centres(lower, upper)), axis=1)
        counts = np.bincount(nodes, minlength=len(self._counts))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        unknown = np.arange(len(table)) if known is None else np.flatnonzero(~np.asarray(known, dtype=bool))
        for index in unknown[_first_of_each(nodes[unknown], distances[unknown])]:
            node = int(nodes[index])
            if node not in self._central or distances[index] < self._central[node][0]:
                self._central[node] = float(distances[index]), self.n_samples + int(index)
        if view.class_table.seen:
            highest = view.predict_proba(table).max(axis=1)
            lowest = unknown[np.argsort(highest[unknown], kind="stable")[:MAX_UNCERTAIN]]
            uncertain = [(float(highest[index]), self.n_samples + int(index), int(nodes[index])) for index in lowest]
            self._uncertain = sorted(self._uncertain + uncertain)[:MAX_UNCERTAIN]
        self._keep_samples(X)
        self.n_samples += len(table)

    def _keep_samples(self, X: Any) -> None:
        """Keep the samples that may be proposed, of the last part and of those before."""
        rows = {row for _, row in self._central.values()} | {row for _, row, _ in self._uncertain}
        self._samples = {row: sample for row, sample in self._samples.items() if row in rows}
        for row in sorted(rows - self._samples.keys()):
            self._samples[row] = _safe_indexing(X, [row - self.n_samples])

    def best(self, n: int = 1) -> list[Query]:
        """Return the samples to label next, the most helpful first.

        Boxes without a label come first, by the number of their samples and the uncertainty of the prediction; then
        the samples with the most uncertain predictions.

        Parameters
        ----------
        n : int, default=1
            How many; fewer where there are no more.
        """
        check_whole("best", "n", n)
        labels = view_of(self.model).members[0].labels
        proposed = {row: (node, bool(labels[node] == UNLABELLED)) for node, (_, row) in self._central.items()}
        proposed.update({row: (node, False) for _, row, node in self._uncertain if row not in proposed})
        rows = [row for row in proposed if row not in self._done]
        if not rows:
            return []
        new = np.array([proposed[row][1] for row in rows])
        counts = self._counts[[proposed[row][0] for row in rows]]
        gain = (self._uncertainty(rows) + MIN_UNCERTAINTY) * np.where(new, counts, 1)
        order = np.lexsort((np.array(rows), -gain, ~new))[:n]
        return [Query(rows[index], proposed[rows[index]][0], int(counts[index]), bool(new[index])) for index in order]

    def rows(self) -> list[int]:
        """Return the rows of the samples that may be proposed."""
        return sorted(self._samples)

    def sample(self, query: Query) -> Any:
        """Return the sample of a query, one row, as it was given."""
        return self._samples[query.row]

    def done(self, query: Query) -> None:
        """Do not propose this sample again: it has been labelled, or nobody knows its class."""
        self._done.add(query.row)

    def share_labelled(self) -> float:
        """Return the share of the samples that fall into boxes with a label."""
        labels = view_of(self.model).members[0].labels[: len(self._counts)]
        return float(self._counts[labels != UNLABELLED].sum() / self._counts.sum())

    def _uncertainty(self, rows: list[int]) -> FloatArray:
        """Return one minus the highest probability of each sample; 1 while no label has been learnt."""
        view = view_of(self.model)
        if not view.class_table.seen:
            return np.ones(len(rows))
        table = view.read(concatenated([self._samples[row] for row in rows]))
        return np.asarray(1.0 - view.predict_proba(table).max(axis=1))


def select_queries(model: Any, X: Any, n: int = 10) -> IntArray:
    """Return the rows that a person should label next, the most helpful first.

    Boxes without a label come first, by the number of their samples and the uncertainty of the prediction, each with
    the sample nearest to its centre; then the samples with the most uncertain predictions.

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
    pool = QueryPool(model)
    pool.add(X)
    return np.array([query.row for query in pool.best(n)], dtype=np.int64)


def _first_of_each(nodes: IntArray, distances: FloatArray) -> IntArray:
    """Return the index of the smallest distance of each node."""
    order = np.lexsort((distances, nodes))
    return np.asarray(order[np.diff(nodes[order], prepend=-1) != 0])
