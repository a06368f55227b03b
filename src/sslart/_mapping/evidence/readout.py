"""The fitted regression: a sum of terms as class scores, and its calibration to probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from sslart._art.backend import backend
from sslart._data.labels import ClassTable
from sslart._mapping.evidence.basis import MAX_COEFFICIENT, Term, TermShape, saved_coefficients, saved_places
from sslart._mapping.evidence.boxes import BoxTerm
from sslart._mapping.evidence.design import LabelGroups, LabelledSet, RankScaler
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
from sslart._mapping.loo_predictions import ANSWERS, GIVEN
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.resources import n_threads, stop_flag
from sslart._utils.validation import check_number, require, saved_array

LOG_RANGE, N_TRIED = (-1.0, 4.0), 26  # logarithms of the inverse temperatures tried, and the size of the first grid
_INVERSE_TEMPERATURES = 0.3, 60.0  # range in a file: exp(LOG_RANGE), rounded outwards
CONTRIBUTION_COST = 24  # time of the contributions of a sample, relative to its score
KINDS = ("single", "copies", "near copies", GIVEN, ANSWERS)


class ScoreParts(NamedTuple):
    """Components of the scores."""

    base: FloatArray  # the scores of a sample without any value
    # (n_samples, n_columns, n_classes): the Shapley value of each column; missing values add nothing
    by_column: FloatArray
    of_graph: FloatArray  # (n_samples, n_classes): contribution of the graph, relative to a sample without any value


TERM_ORDER: tuple[type[Term], ...] = (BoxTerm, GraphTerm, LinearTerm, SplineTerm, TreeTerm)


@dataclass(frozen=True, eq=False)
class Readout:
    """Scores and probabilities of the classes learnt so far, sorted."""

    scaler: RankScaler
    terms: tuple[Term, ...]
    bias: FloatArray  # (n_classes,)
    inverse_temperature: float  # factor of the scores in the softmax
    smoothing: float  # share of the uniform distribution, larger for fewer labels
    nodes: IntArray  # index in the network of each box of the terms
    _scorers: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    def _scorer(self) -> Any:
        """Return the scorer of the backend with all terms."""
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
        """Restore the regression from a saved state after validating it."""
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
        """Divide the scores among columns, given the column that each coded feature encodes."""
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
        """Return the scores that samples inside each box get, (n_boxes, n_classes); NaN for boxes without a weight."""
        contributions = np.full((len(self.nodes), len(self.bias)), np.nan)
        for term in self.terms:
            found = term.inside_contributions()
            if found is not None:
                boxes, own = found
                contributions[boxes] = np.nan_to_num(contributions[boxes]) + own
        return contributions


def calibration(left_out: FloatArray, classes: IntArray, weights: FloatArray) -> tuple[float, float]:
    """Fit the inverse temperature and the smoothing to leave-one-out scores.

    The inverse temperature minimises the log loss within its range.
    """
    smoothing = 1.0 / (float(weights.sum()) + 2.0)
    below_best, right = left_out - left_out.max(axis=1, keepdims=True), (np.arange(len(classes)), classes)

    def shares_at(log_scale: float) -> FloatArray:
        shares = np.exp(np.exp(log_scale) * below_best)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def smoothed(shares: FloatArray) -> FloatArray:
        return np.asarray((1.0 - smoothing) * shares + smoothing / left_out.shape[1])

    def log_loss(log_scale: float) -> float:
        return -float((weights * np.log(smoothed(shares_at(log_scale)[right]))).sum())

    def slope(log_scale: float) -> float:
        shares = shares_at(log_scale)
        gain = below_best[right] - (shares * below_best).sum(axis=1)
        rise = (1.0 - smoothing) * shares[right] * np.exp(log_scale) * gain
        return -float((weights * rise / smoothed(shares[right])).sum())

    grid = np.linspace(*LOG_RANGE, N_TRIED)
    best = int(np.argmin([log_loss(one) for one in grid]))
    lower, upper = grid[max(best - 1, 0)], grid[min(best + 1, N_TRIED - 1)]
    found = [float(grid[best])]
    if slope(lower) < 0.0 < slope(upper):
        found.append(float(brentq(slope, lower, upper, xtol=1e-14)))
    return float(np.exp(min(found, key=log_loss))), smoothing


class SavedContext(NamedTuple):
    """Features, boxes, classes, labels and selected mixtures that a saved solution must match."""

    n_features: int
    n_nodes: int
    class_table: ClassTable
    labels: LabelReservoir
    chosen: tuple[Mixture, ...]

    @property
    def n_classes(self) -> int:
        """Number of classes learnt so far."""
        return len(self.class_table.seen)


@dataclass(frozen=True, eq=False)
class Solution:
    """A readout, its mixtures, and the leave-one-out predictions of the labels."""

    readout: Readout
    mixtures: tuple[Mixture, ...]
    left_out: FloatArray  # (n_labels, n_classes): leave-one-out scores of the labels used for the selection
    classes: IntArray  # the classes of these labels, as indices into the classes learnt so far, sorted
    groups: LabelGroups  # the labels left out together
    rows: IntArray  # indices among the stored labels
    class_factors: FloatArray  # class weights

    @property
    def loo_right(self) -> BoolArray:
        """Mask of labels whose leave-one-out prediction is correct."""
        return np.asarray(self.left_out.argmax(axis=1) == self.classes)

    def without_terms(self) -> Solution:
        """Return the leave-one-out predictions, with a readout without terms."""
        nothing = RankScaler((None,) * len(self.readout.scaler.knots))
        return replace(self, readout=replace(self.readout, scaler=nothing, terms=()))

    def to_state(self, chosen: tuple[Mixture, ...]) -> dict[str, Any]:
        """Return the state to save; mixtures only if they differ from those selected."""
        return {
            "readout": self.readout.to_state(),
            "mixtures": None if self.mixtures == chosen else [one.to_state() for one in self.mixtures],
            "left_out": self.left_out,
            "classes": self.classes,
            "groups": self.groups.numbers,
            "kind": self.groups.kind,
            "rows": self.rows,
            "class_factors": self.class_factors,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], context: SavedContext) -> Solution:
        """Restore the solution from a saved state after validating it."""
        n_classes = context.n_classes
        rows = saved_places(state, "rows", None, len(context.labels))
        n = len(rows)
        left_out = saved_coefficients(state, "left_out", n, n_classes)
        classes = saved_array(state, "classes", np.int64, n, low=0, high=n_classes - 1)
        if not isinstance(context.labels, AbsentLabels):
            own = context.class_table.order_of_seen()[context.labels.whole().codes[rows]]
            require((own == classes).all(), "the classes of left-out labels")
        groups = LabelGroups(saved_array(state, "groups", np.int64, n, low=0, high=n - 1), state["kind"])
        require(groups.kind in KINDS and (groups.numbers == groups.of_label).all(), "the groups of labels")
        given = state["mixtures"]
        mixtures = context.chosen if given is None else tuple(mixture_of(one) for one in given)
        require(mixtures, "the mixtures")
        factors = saved_array(state, "class_factors", np.float64, n_classes, low=0, high=MAX_COEFFICIENT)
        readout = Readout.from_state(state["readout"], context.n_features, n_classes, context.n_nodes)
        return cls(readout, mixtures, left_out, classes, groups, rows, factors)


class SolutionBuilder:
    """Builder of a readout from the terms of the selected mixtures; `nodes`: index in the network of each box.

    `n_scores`: number of scores, one per class by default.
    """

    def __init__(self, labelled: LabelledSet, scaler: RankScaler, nodes: IntArray, n_scores: int | None = None) -> None:
        self._labelled, self._scaler, self._nodes = labelled, scaler, nodes
        self._bias = np.zeros(labelled.n_classes if n_scores is None else n_scores)
        self._terms: list[Term] = []

    def add(self, terms: Sequence[Term], bias: FloatArray | float = 0.0) -> None:
        """Add further terms, and a bias."""
        self._terms += terms
        self._bias += bias

    def readout(self, inverse_temperature: float = 1.0, smoothing: float = 0.0) -> Readout:
        """Return the sum of all terms."""
        kinds: dict[type[Term], None] = dict.fromkeys([*TERM_ORDER, *(type(one) for one in self._terms)])
        terms = [one for kind in kinds for one in kind.combined([own for own in self._terms if type(own) is kind])]
        return Readout(self._scaler, tuple(terms), self._bias, inverse_temperature, smoothing, self._nodes)

    def solution(self, mixtures: Sequence[Mixture], left_out: FloatArray, rows: IntArray | None = None) -> Solution:
        """Return the sum of all terms, calibrated on the scores of the left-out labels: some rows, or all."""
        labelled, groups = self._labelled, self._labelled.groups
        classes, counts = labelled.classes, labelled.counts
        if rows is None:
            rows = np.arange(len(classes)) if labelled.rows is None else labelled.rows
        else:
            classes, counts, groups = classes[rows], counts[rows], groups.of_rows(rows)
        readout = self.readout(*calibration(left_out, classes, counts))
        return Solution(readout, tuple(mixtures), left_out, classes, groups, rows, labelled.class_factors)
