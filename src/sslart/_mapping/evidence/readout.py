"""The fitted regression: terms that add up to a score per class, and scores as probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from sslart._art.backend import backend
from sslart._data.labels import ClassTable
from sslart._mapping.evidence.basis import MAX_COEFFICIENT, Term, TermShape, saved_coefficients, saved_places
from sslart._mapping.evidence.boxes import BoxTerm
from sslart._mapping.evidence.design import RankScaler
from sslart._mapping.evidence.duplicate_groups import LabelGroups
from sslart._mapping.evidence.families import (
    LinearTerm,
    SplineTerm,
    TreeTerm,
    mixture_of,
    term_of,
)
from sslart._mapping.evidence.graph import GraphTerm
from sslart._mapping.evidence.label_reservoir import AbsentLabels, LabelReservoir
from sslart._mapping.evidence.settings import (
    Mixture,
)
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.parallel import n_threads, stop_flag
from sslart._utils.validation import check_number, require, saved_array

LOG_RANGE, N_TRIED = (-1.0, 4.0), 26  # of the inverse temperature: its logarithm, and how many are tried first
_INVERSE_TEMPERATURES = 0.3, 60.0  # of a file: rounded outwards
CONTRIBUTION_COST = 24  # of the contributions of a sample, against its score
KINDS = ("single", "copies", "near copies", "given")


class ScoreParts(NamedTuple):
    """Components of the scores.

    Attributes
    ----------
    base : array of length n_classes
        The scores of a sample without any value.
    by_column : array of shape (n_samples, n_columns, n_classes)
        The Shapley value of each column, where a missing value adds nothing.
    of_graph : array of shape (n_samples, n_classes)
        What the graph of boxes adds, against a sample without any value.
    """

    base: FloatArray
    by_column: FloatArray
    of_graph: FloatArray


TERM_ORDER: tuple[type[Term], ...] = (BoxTerm, GraphTerm, LinearTerm, SplineTerm, TreeTerm)


@dataclass(frozen=True, eq=False)
class Readout:
    """Scores and probabilities of the classes learnt so far, sorted.

    Attributes
    ----------
    scaler : RankScaler
    terms : tuple of Term
    bias : array of length n_classes
    inverse_temperature : float
        What scores are multiplied by before they become probabilities.
    smoothing : float
        Share of the probability that is spread evenly, because labels are few.
    nodes : array of int
        The node of the network that each box of the terms stands for.
    """

    scaler: RankScaler
    terms: tuple[Term, ...]
    bias: FloatArray
    inverse_temperature: float
    smoothing: float
    nodes: IntArray
    _scorers: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def _scorer(self) -> Any:
        """Return the terms as the backend takes them, packed once."""
        module = backend()
        if module not in self._scorers:
            scorer = module.Scorer(np.ascontiguousarray(self.bias))
            self.scaler.add_to(scorer)
            for term in self.terms:
                term.add_to(scorer)
            self._scorers[module] = scorer
        return self._scorers[module]

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_scorers": {}}

    def to_state(self) -> dict[str, Any]:
        """Return the regression as plain values and arrays."""
        return {
            "ranks": self.scaler.to_state(),
            "terms": [{"kind": term.kind, **term.to_state()} for term in self.terms],
            "bias": self.bias,
            "inverse_temperature": self.inverse_temperature,
            "smoothing": self.smoothing,
            "nodes": self.nodes,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_features: int, n_classes: int, n_nodes: int) -> Readout:
        """Return the regression of a saved state, after checking that it can be one."""
        nodes = saved_array(state, "nodes", np.int64, None, low=0, high=n_nodes - 1)
        require(len(nodes) and len(np.unique(nodes)) == len(nodes), "the nodes")
        shape = TermShape(n_features, n_classes, len(nodes))
        return cls(
            RankScaler.from_state(state["ranks"], n_features),
            tuple(term_of(one, shape) for one in state["terms"]),
            saved_coefficients(state, "bias", n_classes),
            check_number("a model", "inverse_temperature", state["inverse_temperature"], *_INVERSE_TEMPERATURES),
            check_number("a model", "smoothing", state["smoothing"], 0, 1),
            nodes,
        )

    def scores(self, coded: FloatArray, n_jobs: int | None = None) -> FloatArray:
        """Return the score of each class, shape (n_samples, n_classes)."""
        scores = np.empty((len(coded), len(self.bias)))
        threads = n_threads(n_jobs, coded.size * max(len(self.nodes), 1) * max(len(self.terms), 1))
        self._scorer().scores(np.ascontiguousarray(coded), scores, threads, stop_flag())
        return scores

    def contributions(
        self, coded: FloatArray, columns: IntArray, n_columns: int, n_jobs: int | None = None
    ) -> ScoreParts:
        """Divide the scores among the columns that the coded features encode.

        Parameters
        ----------
        coded : array of shape (n_samples, n_features)
        columns : array of length n_features
            The column that each feature encodes.
        n_columns : int
        n_jobs : int or None
        """
        n_classes = len(self.bias)
        by_column, of_graph = np.empty((len(coded), n_columns, n_classes)), np.empty((len(coded) + 1, n_classes))
        threads = n_threads(n_jobs, CONTRIBUTION_COST * coded.size * max(len(self.nodes), 1) * max(len(self.terms), 1))
        scorer = self._scorer()
        nothing = np.full((1, coded.shape[1]), np.nan)
        scorer.contributions(nothing, columns, np.empty((1, n_columns, n_classes)), of_graph[:1], 1, stop_flag())
        scorer.contributions(np.ascontiguousarray(coded), columns, by_column, of_graph[1:], threads, stop_flag())
        return ScoreParts(self.scores(nothing)[0], by_column, of_graph[1:] - of_graph[0])

    def probabilities(self, scores: FloatArray) -> FloatArray:
        """Return scores as probabilities that sum to one."""
        shares = scores - np.maximum.reduce(scores, axis=1, keepdims=True)
        shares *= self.inverse_temperature
        np.exp(shares, out=shares)
        shares /= np.add.reduce(shares, axis=1, keepdims=True)
        shares *= 1.0 - self.smoothing
        shares += self.smoothing / scores.shape[1]
        return shares

    def inside_contributions(self) -> FloatArray:
        """Return the score each box adds inside it, shape (n_boxes, n_classes); NaN for boxes without a weight."""
        contributions = np.full((len(self.nodes), len(self.bias)), np.nan)
        for term in self.terms:
            found = term.inside_contributions()
            if found is not None:
                boxes, own = found
                contributions[boxes] = np.nan_to_num(contributions[boxes]) + own
        return contributions


class ReadoutBuilder:
    """Collects the terms of the chosen mixtures and makes one readout of them."""

    def __init__(self, n_classes: int) -> None:
        self.bias = np.zeros(n_classes)
        self._terms: list[Term] = []

    def add(self, terms: Sequence[Term]) -> None:
        """Add further terms."""
        self._terms += terms

    def readout(
        self, scaler: RankScaler, nodes: IntArray, left_out: FloatArray, classes: IntArray, weights: FloatArray
    ) -> Readout:
        """Return the sum of all terms; probabilities are calibrated on the scores of left-out labels, and weights."""
        kinds = [*TERM_ORDER, *dict.fromkeys(type(term) for term in self._terms if type(term) not in TERM_ORDER)]
        terms: list[Term] = []
        for kind in kinds:
            terms += kind.combined([term for term in self._terms if type(term) is kind])
        return Readout(scaler, tuple(terms), self.bias, *calibration(left_out, classes, weights), nodes)


def calibration(left_out: FloatArray, classes: IntArray, weights: FloatArray) -> tuple[float, float]:
    """Return the inverse temperature and the smoothing that suit the scores of left-out labels best.

    The inverse temperature is that of the lowest log loss within its range, the ends included.
    """
    smoothing = 1.0 / (float(weights.sum()) + 2.0)
    loss = _CalibrationLoss(left_out, classes, weights, smoothing)
    grid = np.linspace(*LOG_RANGE, N_TRIED)
    best = int(np.argmin([loss(one) for one in grid]))
    lower, upper = grid[max(best - 1, 0)], grid[min(best + 1, N_TRIED - 1)]
    found = [float(grid[best])]
    if loss.slope(lower) < 0.0 < loss.slope(upper):
        found.append(float(brentq(loss.slope, lower, upper, xtol=1e-14)))
    return float(np.exp(min(found, key=loss))), smoothing


class _CalibrationLoss:
    """The log loss of probabilities by the logarithm of the inverse temperature, and its slope."""

    def __init__(self, left_out: FloatArray, classes: IntArray, weights: FloatArray, smoothing: float) -> None:
        self._below_best = left_out - left_out.max(axis=1, keepdims=True)
        self._right = np.arange(len(classes)), classes
        self._weights, self._smoothing = weights, smoothing

    def __call__(self, log_scale: float) -> float:
        shares = self._shares(log_scale)
        return -float((self._weights * np.log(self._smoothed(shares[self._right]))).sum())

    def slope(self, log_scale: float) -> float:
        shares = self._shares(log_scale)
        right = shares[self._right]
        gain = self._below_best[self._right] - (shares * self._below_best).sum(axis=1)
        rise = (1.0 - self._smoothing) * right * np.exp(log_scale) * gain
        return -float((self._weights * rise / self._smoothed(right)).sum())

    def _shares(self, log_scale: float) -> FloatArray:
        shares = np.exp(np.exp(log_scale) * self._below_best)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def _smoothed(self, shares: FloatArray) -> FloatArray:
        return np.asarray((1.0 - self._smoothing) * shares + self._smoothing / self._below_best.shape[1])


class Around(NamedTuple):
    """Context that a saved solution must fit: features, boxes, classes, labels, and chosen mixtures."""

    n_features: int
    n_nodes: int
    class_table: ClassTable
    labels: LabelReservoir
    chosen: tuple[Mixture, ...]

    @property
    def n_classes(self) -> int:
        """Number of classes learnt so far."""
        return len(self.class_table.seen)


def solution_state(solution: Solution, chosen: tuple[Mixture, ...]) -> dict[str, Any]:
    """Return a solution as plain values and arrays; its mixtures only where they are others than those chosen."""
    return {
        "readout": solution.readout.to_state(),
        "mixtures": None if solution.mixtures == chosen else [one.to_state() for one in solution.mixtures],
        "left_out": solution.left_out,
        "classes": solution.classes,
        "groups": solution.groups.numbers,
        "kind": solution.groups.kind,
        "rows": solution.rows,
        "class_factors": solution.class_factors,
    }


def solution_of(state: dict[str, Any], around: Around) -> Solution:
    """Return the solution of a saved state, after checking that it can be one."""
    n_classes = around.n_classes
    rows = saved_places(state, "rows", None, len(around.labels))
    n = len(rows)
    left_out = saved_coefficients(state, "left_out", n, n_classes)
    classes = saved_array(state, "classes", np.int64, n, low=0, high=n_classes - 1)
    if not isinstance(around.labels, AbsentLabels):
        codes = np.concatenate([chunk.codes for chunk in around.labels.chunks])
        require((around.class_table.order_of_seen()[codes[rows]] == classes).all(), "the classes of left-out labels")
    groups = LabelGroups(saved_array(state, "groups", np.int64, n, low=0, high=n - 1), state["kind"])
    require(groups.kind in KINDS and (groups.numbers == groups.of_label).all(), "the groups of labels")
    mixtures = around.chosen if state["mixtures"] is None else tuple(mixture_of(one) for one in state["mixtures"])
    require(mixtures, "the mixtures")
    factors = saved_array(state, "class_factors", np.float64, n_classes, low=0, high=MAX_COEFFICIENT)
    readout = Readout.from_state(state["readout"], around.n_features, n_classes, around.n_nodes)
    return Solution(readout, mixtures, left_out, classes, groups, rows, factors)


def without_terms(solution: Solution) -> Solution:
    """Return a solution reduced to its leave-one-out predictions, with a readout without terms."""
    own = solution.readout
    nothing = RankScaler((None,) * len(own.scaler.knots))
    readout = Readout(nothing, (), own.bias, own.inverse_temperature, own.smoothing, own.nodes)
    return Solution(
        readout,
        solution.mixtures,
        solution.left_out,
        solution.classes,
        solution.groups,
        solution.rows,
        solution.class_factors,
    )


@dataclass(frozen=True, eq=False)
class Solution:
    """A readout, its mixtures, and the leave-one-out predictions of the labels.

    Attributes
    ----------
    readout : Readout
    mixtures : tuple of Mixture
    left_out : array of shape (n_labels, n_classes)
        Scores of each label used for the choice, predicted without it.
    classes : array of length n_labels
        The classes of these labels, as indices into the classes learnt so far, sorted.
    groups : LabelGroups
        Which labels were left out together.
    rows : array of int of length n_labels
        Which of the labels that are kept.
    class_factors : array of length n_classes
        How much each class counts.
    """

    readout: Readout
    mixtures: tuple[Mixture, ...]
    left_out: FloatArray
    classes: IntArray
    groups: LabelGroups
    rows: IntArray
    class_factors: FloatArray
