"""Active learning queries: the samples whose labels help most; one label may be given for a whole box.

Samples are points of a Gaussian process whose covariance decreases with their L1 distance. The label of a sample lowers
the variance of all others near it. The value of a label is the sum of these reductions, each weighted by the number of
samples that the point represents and by the uncertainty of its prediction, times the squared uncertainty at the sample
itself. Without labels all predictions are equally uncertain, and samples in dense regions come first; as predictions
become certain, samples between the classes in dense regions remain.

A model may also be certain where it knows nothing, and where a class without labels may be. Every sixth sample is
therefore chosen by its value under equal uncertainty, which finds clusters, and every third is drawn at random, which
finds a class of dissimilar samples. The labels of random samples also measure the model: chosen ones are more difficult
than others. A random share of all samples is reserved for these draws; others are chosen from the rest, so that the
choice does not change what is drawn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.utils import _safe_indexing

from sslart._art.backend import row_keys
from sslart._art.geometry import centres
from sslart._data.labels import UNLABELLED
from sslart._data.samples import Table, concatenated
from sslart._mapping.model_view import MemberView, view_of
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, keys_of_numbers
from sslart._utils.validation import check_whole

REACH = 0.5  # length scale of the covariance, relative to the mean distance between two samples
NOISE = 0.05  # noise variance of a label
DRAW_EVERY = 3  # every third sample is drawn at random, from a reserve of this share of all samples,
EXPLORE_EVERY = 6  # and every sixth one is chosen independently of the predictions
MIN_UNCERTAINTY = 1e-3  # so that under certain predictions, labels in dense regions come first
MISSING = 0.5  # replaces a missing value: the middle of the range
MAX_ONE_BY_ONE = 100  # labels of a batch that are chosen sequentially, given those before
MAX_UNCERTAIN = 200  # most uncertain samples that are considered
MAX_DRAWN = 1000  # random samples that are considered, as representatives of all
MAX_LABELS = 1000  # labelled samples used; of more, evenly spaced ones
TIGHT = 0.5  # maximum sum of the sides of a tight box, relative to the mean distance between two samples,
LONGEST_SIDE = 0.25  # and its maximum side relative to the range, so that categories agree too
MAX_AT_ONCE = 100  # maximum number of samples labelled by one answer


def uncertainty(proba: FloatArray | None, n: int) -> FloatArray:
    """Return one minus the margin between the two most probable classes of each sample; one for fewer classes."""
    if proba is None or proba.shape[1] < 2:
        return np.ones(n)
    highest = np.sort(proba, axis=1)
    return np.asarray(1.0 - highest[:, -1] + highest[:, -2])


@dataclass(frozen=True, eq=False)
class Points:
    """Coded samples, and the number of samples that each represents."""

    coded: FloatArray  # (n_points, n_features): no value is missing
    mass: FloatArray  # (n_points,)

    @classmethod
    def of(cls, coded: FloatArray, mass: FloatArray) -> Points:
        """Return points of samples, with missing values (NaN) replaced by the middle of the range."""
        return cls(np.nan_to_num(coded, nan=MISSING), mass)

    @cached_property
    def apart(self) -> FloatArray:
        """The L1 distance between each two points."""
        return np.asarray(cdist(self.coded, self.coded, "cityblock"))

    @cached_property
    def mean_distance(self) -> float:
        """The mean distance between two of the represented samples."""
        return float(self.mass @ self.apart @ self.mass) / max(float(self.mass.sum()) ** 2, 1e-12)

    def in_order(
        self,
        unsure: FloatArray,
        free: BoolArray,
        labelled: FloatArray,
        n: int,
        alike: IntArray | None = None,
        reserve: Sequence[int] = (),
        n_labels: int | None = None,
    ) -> IntArray:
        """Return the points to label next, the most valuable first, each chosen as if those before were labelled.

        `unsure`: uncertainty of the predictions, from 0 to 1; `free`: mask of points to choose from; `labelled`
        (n_labelled, n_features): coded labelled samples; `n`: maximum number of points to return; `alike`: group
        numbers, at most one point of each group is returned; None: no groups; `reserve`: points that are only drawn, in
        the order of drawing; `n_labels`: number of labels so far; None: that of `labelled`.
        """
        alike = np.arange(len(free)) if alike is None else alike
        covariance = self._covariance(np.nan_to_num(labelled, nan=MISSING))
        at_first = np.maximum(covariance.diagonal(), 1e-9)
        left, chosen = free.copy(), list[int]()
        draws, n_labels = [one for one in reserve if free[one]], len(labelled) if n_labels is None else n_labels
        left[draws] = False
        while (draws or left.any()) and len(chosen) < n:
            number = n_labels + len(chosen) + 1
            doubts = unsure + MIN_UNCERTAINTY if number % EXPLORE_EVERY != EXPLORE_EVERY - 1 else np.ones(len(unsure))
            variance = np.maximum(covariance.diagonal(), 0.0)
            taken_off = ((self.mass * doubts) @ covariance**2) / (variance + NOISE)
            own = doubts * variance / at_first  # uncertainty falls with the variance within a batch
            value = np.where(left, own**2 * taken_off, -np.inf)
            if len(chosen) >= MAX_ONE_BY_ONE:
                best_first = np.argsort(-value, kind="stable")[: int(left.sum())]
                rest = best_first[np.sort(np.unique(alike[best_first], return_index=True)[1])].tolist()
                return np.array(chosen + self._interleaved(rest, draws, n_labels + len(chosen))[: n - len(chosen)])
            is_draw = bool(draws) and (number % DRAW_EVERY == 0 or not left.any())
            best = draws.pop(0) if is_draw else int(value.argmax())
            chosen.append(best)
            if not is_draw:
                left &= alike != alike[best]
            covariance -= np.outer(covariance[:, best], covariance[best]) / (variance[best] + NOISE)
        return np.array(chosen, dtype=np.int64)

    @staticmethod
    def _interleaved(chosen: list[int], draws: list[int], n_labels: int) -> list[int]:
        """Return chosen and drawn points in the order of labels, after `n_labels` of them."""
        found = list[int]()
        while chosen or draws:
            is_draw = bool(draws) and ((n_labels + len(found) + 1) % DRAW_EVERY == 0 or not chosen)
            found.append((draws if is_draw else chosen).pop(0))
        return found

    def _covariance(self, labelled: FloatArray) -> FloatArray:
        """Return the covariance of the points, conditional on the labelled samples."""
        reach = REACH * self.mean_distance or 1.0
        covariance = np.exp(-self.apart / reach)
        if len(labelled):
            across = np.exp(-cdist(self.coded, labelled, "cityblock") / reach)
            own = np.exp(-cdist(labelled, labelled, "cityblock") / reach) + NOISE * np.eye(len(labelled))
            covariance -= across @ np.linalg.solve(own, across.T)
        return np.asarray(covariance)


class Query(NamedTuple):
    """A sample whose label would help.

    Attributes
    ----------
    row : int
        Row number among all samples of the pool, from 0.
    node : int
        The best box of the sample; for an ensemble, in the first member.
    n_samples : int
        Number of samples of the pool with this box.
    new : bool
        Whether the box has no label yet.
    tight : bool
        Whether the samples of the box are so similar that one answer may be given for all unlabelled ones: there are 2
        to 100 of them, the box is small relative to the distance between samples and in each feature, and it has no
        labels of different classes.
    at_random : bool
        Whether the sample was drawn at random, so that its label counts in the statement of quality.
    """

    row: int
    node: int
    n_samples: int
    new: bool
    tight: bool
    at_random: bool = False


class QueryPool:
    """Pool of samples for active learning; any number of samples can be added in parts.

    Up to 1,000 random samples, as representatives of all, and the most uncertain ones are considered. Centres of boxes
    would be a poor choice: a box may be wide in the feature that separates classes, and the ends of that feature would
    never be queried. Memory grows with the number of boxes, not of samples.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART or WESSLART
        It may continue learning: `best` uses its present state.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.active import QueryPool
    >>> iris = load_iris()
    >>> X, y = iris.data, iris.target
    >>> few = [label if row % 50 == 0 else None for row, label in enumerate(y)]
    >>> model = AutoSSLART(random_state=0).fit(X, few)
    >>> pool = QueryPool(model)
    >>> for start in (0, 75):
    ...     pool.add(X[start : start + 75])
    >>> query = pool.best(1)[0]
    >>> query.new, query.n_samples
    (True, 7)
    >>> before = model.n_labelled_nodes_
    >>> model.partial_fit(X[[query.row]], y[[query.row]]).n_labelled_nodes_ - before
    1
    """

    def __init__(self, model: Any) -> None:
        view_of(model)  # raises an error unless it is a fitted classifier
        self.model: Any = model
        self.n_samples = 0
        self._counts = np.zeros(0, dtype=np.int64)  # per box
        self._drawn: list[tuple[int, int, int]] = []  # random key, row and box
        self._n_unlabelled = 0
        self._unlabelled: dict[int, list[int]] = {}  # rows of each box, up to one more than `MAX_AT_ONCE`
        self._uncertain: list[tuple[float, int, int]] = []  # certainty, row and box
        self._samples: dict[int, Any] = {}  # by row
        self._done: set[int] = set()
        self._done_boxes: set[int] = set()

    def add(self, X: Any, known: Any = None) -> None:
        """Add samples to the pool.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        known : array-like of bool, default=None
            Mask of samples that have a label already, and are never queried. None: those that equal a labelled sample
            that the model stores, as models with evidence mapping do.
        """
        view = view_of(self.model)
        table, member = view.read(X), view.members[0]
        coded = member.encode(table)
        member.network.check_known_features(coded)
        nodes = member.rank(coded)[0][:, 0]
        counts = np.bincount(nodes, minlength=len(self._counts))
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        has_label = _equals_labelled(member, table) if known is None else np.asarray(known, dtype=bool)
        unknown = np.flatnonzero(~has_label)
        numbers = self.n_samples + unknown
        for index in unknown[~is_reserved(numbers)].tolist():
            own = self._unlabelled.setdefault(int(nodes[index]), [])
            if len(own) <= MAX_AT_ONCE:
                own.append(self.n_samples + index)
        keys = keys_of_numbers(numbers, 0)
        lowest = np.argsort(keys)[:MAX_DRAWN]
        drawn = zip(keys[lowest].tolist(), numbers[lowest].tolist(), nodes[unknown[lowest]].tolist(), strict=True)
        self._drawn = sorted([*self._drawn, *drawn])[:MAX_DRAWN]
        self._n_unlabelled += len(unknown)
        if len(view.class_table.seen) > 1:
            certainty = 1.0 - uncertainty(view.predict_proba(table), len(table))
            lowest = unknown[np.argsort(certainty[unknown], kind="stable")[:MAX_UNCERTAIN]]
            uncertain = [(float(certainty[index]), self.n_samples + int(index), int(nodes[index])) for index in lowest]
            self._uncertain = sorted(self._uncertain + uncertain)[:MAX_UNCERTAIN]
        self._keep_samples(X)
        self.n_samples += len(table)

    def _keep_samples(self, X: Any) -> None:
        """Store the candidate samples of the last part, and drop earlier ones that are no longer candidates."""
        rows = {row for _, row, _ in (*self._drawn, *self._uncertain)}
        self._samples = {row: sample for row, sample in self._samples.items() if row in rows}
        for row in sorted(rows - self._samples.keys()):
            self._samples[row] = _safe_indexing(X, [row - self.n_samples])

    def best(self, n: int = 1) -> list[Query]:
        """Return the samples to label next, the most helpful first.

        At first these are in dense regions far from any label; as predictions become certain, between the classes in
        dense regions. Every third one is drawn at random, to measure the model, and to find classes without labels
        where it is overconfident. Each is chosen as if those before it were labelled, and at most one per tight box, so
        that a batch is diverse.

        Parameters
        ----------
        n : int, default=1
            Maximum number of samples.
        """
        n = check_whole("best", "n", n) or 1
        view = view_of(self.model)
        member = view.members[0]
        box_of = {row: box for _, row, box in (*self._drawn, *self._uncertain)}
        rows = sorted(box_of)
        reserved = is_reserved(np.array(rows, dtype=np.int64))
        is_left = np.array([row not in self._done for row in rows], dtype=bool)
        free = is_left & (reserved | ~np.isin([box_of[row] for row in rows], list(self._done_boxes)))
        if not free.any():
            return []
        boxes = np.array([box_of[row] for row in rows])
        table = view.read(concatenated([self._samples[row] for row in rows]))
        proba = view.predict_proba(table) if len(view.class_table.seen) > 1 else None
        is_drawn = np.isin(rows, [row for _, row, _ in self._drawn])
        mass = np.where(is_drawn, self._n_unlabelled / max(len(self._drawn), 1), 0.0)
        points = Points.of(member.encode(table), mass)
        n_together = np.array([len(self._unlabelled.get(box, ())) for box in boxes.tolist()]) + reserved
        may_be_tight = (n_together > 1) & (n_together <= MAX_AT_ONCE)
        tight = may_be_tight & _is_tight(member, boxes, points.mean_distance)
        alike = np.where(tight, boxes, -1 - np.arange(len(boxes)))
        place = {row: index for index, row in enumerate(rows)}
        reserve = [place[row] for _, row, _ in self._drawn if reserved[place[row]]]
        n_labels = member.mapping.n_answers or round(float(member.counts.sum()))
        turn = n_labels // DRAW_EVERY % max(len(reserve), 1)  # so that a new pool of the same samples draws others
        reserve = reserve[turn:] + reserve[:turn]
        order = points.in_order(uncertainty(proba, len(rows)), free, _labelled(member), n, alike, reserve, n_labels)
        chosen = boxes[order]
        new = (member.labels[chosen] == UNLABELLED).tolist()
        each = zip(order.tolist(), chosen.tolist(), new, tight[order].tolist(), reserved[order].tolist(), strict=True)
        return [Query(rows[place], box, int(self._counts[box]), *which) for place, box, *which in each]

    def rows(self) -> list[int]:
        """Return the rows of the candidate samples."""
        return sorted(self._samples)

    def box_rows(self, query: Query) -> list[int]:
        """Return the rows of the unlabelled samples in the box of a tight query; for others, the row of the query.

        Other samples that are reserved for random draws are not among them.
        """
        others = self._unlabelled.get(query.node, []) if query.tight else []
        return [query.row, *(row for row in others if row != query.row)]

    def sample(self, query: Query) -> Any:
        """Return the sample of a query as it was given, one row."""
        return self._samples[query.row]

    def answer(self, query: Query, label: Any, *, whole_box: bool = False, group: Any = None) -> None:
        """Update the model with the label of a sample, and exclude the sample from further queries.

        Parameters
        ----------
        query : Query
            A result of `best`.
        label : class
        whole_box : bool, default=False
            Whether the label holds for all samples of `box_rows`. The sample is then weighted by their number, and no
            other sample of the box is queried. In leave-one-out it counts once, as duplicates do. Only for a tight box.
        group : default=None
            The group of the sample, as in `fit`.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sslart import AutoSSLART
        >>> from sslart.active import QueryPool
        >>> X, y = load_iris(return_X_y=True)
        >>> pool = QueryPool(AutoSSLART(random_state=0).partial_fit(X))
        >>> pool.add(X)
        >>> for query in pool.best(9):
        ...     pool.answer(query, y[query.row], whole_box=query.tight)
        >>> pool.model.score(X, y) > 0.9
        True
        """
        if whole_box and not query.tight:
            raise ValueError(
                "whole_box of answer must be False for this query: the samples of its box are too different or too "
                "many for one answer, or there is one only. query.tight shows where one may be given for the whole box."
            )
        weights = {"sample_weight": [len(self.box_rows(query))]} if whole_box else {}
        groups = {} if group is None else {"groups": [group]}
        self.model.partial_fit(self.sample(query), [label], at_random=[query.at_random], **weights, **groups)
        self.done(query, whole_box=whole_box)

    def done(self, query: Query, *, whole_box: bool = False) -> None:
        """Exclude a sample from further queries, because it has been labelled or its class is unknown.

        With `whole_box`, all samples of its box.
        """
        self._done.add(query.row)
        if whole_box:
            self._done_boxes.add(query.node)

    def share_labelled(self) -> float:
        """Return the share of the samples in boxes with a label."""
        labels = view_of(self.model).members[0].labels[: len(self._counts)]
        return float(self._counts[labels != UNLABELLED].sum() / self._counts.sum())


def _equals_labelled(member: MemberView, table: Table) -> BoolArray:
    """Return a mask of samples that equal a labelled sample that the model stores."""
    kept = member.kept_labels if member.class_table.seen else None
    return np.zeros(len(table), dtype=bool) if kept is None else np.isin(row_keys(table), row_keys(kept[0]))


def is_reserved(rows: IntArray) -> BoolArray:
    """Return a mask of rows that are reserved for random draws: a random share, the same in every pool."""
    return np.asarray(keys_of_numbers(rows, 1) % np.uint64(DRAW_EVERY) == 0)


@overload
def select_queries(model: Any, X: Any, n: int = ..., *, return_at_random: Literal[False] = ...) -> IntArray: ...
@overload
def select_queries(
    model: Any, X: Any, n: int = ..., *, return_at_random: Literal[True]
) -> tuple[IntArray, BoolArray]: ...
def select_queries(
    model: Any, X: Any, n: int = 10, *, return_at_random: bool = False
) -> IntArray | tuple[IntArray, BoolArray]:
    """Return the rows to label next, the most helpful first.

    They are chosen as by `QueryPool.best`: far from any label at first, then between the classes, with every third one
    drawn at random. The model may have no label yet. `docs/active.md` compares the resulting accuracy with that of
    margin sampling and others.

    Parameters
    ----------
    model : fitted FuzzyARTMAP, SSLART, AutoSSLART or WESSLART
    X : array-like of shape (n_samples, n_features)
        Samples to choose from, such as those that the model has learnt. Those that equal a labelled sample are left
        out if the model stores these, as with evidence mapping; with other models, leave them out.
    n : int, default=10
        Maximum number of rows.
    return_at_random : bool, default=False
        Whether to return also which rows were drawn at random. `at_random` of `fit` and `partial_fit` takes this mask,
        so that `quality_` rests on samples drawn at random: the labels of chosen ones are more difficult than others.

    Returns
    -------
    rows : array of int
    at_random : array of bool
        With `return_at_random` only.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sslart import AutoSSLART
    >>> from sslart.active import select_queries
    >>> X, y = load_iris(return_X_y=True)
    >>> model = AutoSSLART(random_state=0).partial_fit(X)
    >>> rows, at_random = select_queries(model, X, n=12, return_at_random=True)
    >>> model.partial_fit(X[rows], y[rows], at_random=at_random).score(X, y) > 0.9
    True
    >>> model.quality_.n_labels, model.quality_.n_chosen
    (4, 8)
    """
    pool = QueryPool(model)
    pool.add(X)
    best = pool.best(n)
    rows = np.array([query.row for query in best], dtype=np.int64)
    return (rows, np.array([query.at_random for query in best], dtype=bool)) if return_at_random else rows


def _labelled(member: MemberView) -> FloatArray:
    """Return coded labelled samples: those stored, or else the centres of boxes with a label."""
    kept = member.kept_labels if member.class_table.seen else None
    if kept is None:
        found = centres(*(side[member.labels != UNLABELLED] for side in member.boxes))
    else:
        found = member.encode(kept[0])
    if len(found) <= MAX_LABELS:
        return found
    return np.asarray(found[np.linspace(0, len(found) - 1, MAX_LABELS).astype(np.int64)])


def _is_tight(member: MemberView, boxes: IntArray, mean_distance: float) -> BoolArray:
    """Return a mask of boxes that are small against the mean sample distance, with labels of at most one class."""
    lower, upper = member.boxes_of(boxes)
    sides = np.maximum(upper - lower, 0.0)
    small = (sides.sum(axis=1) <= TIGHT * mean_distance) & (sides.max(axis=1, initial=0.0) <= LONGEST_SIDE)
    return np.asarray(small & ((member.counts[boxes] > 0).sum(axis=1) < 2))
