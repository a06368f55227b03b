"""The graph of boxes as basis functions: labels propagated from box to box, read at the box nearest to a sample.

Two kinds: "spread" normalises what every box has received; "carried" is a ridge regression whose Gram matrix the graph
makes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from sslart._art.algebra import Cholesky, multiply
from sslart._art.backend import backend
from sslart._mapping.evidence.bases.base import (
    MARGIN,
    Basis,
    Family,
    Term,
    TermShape,
    saved_coefficients,
    saved_places,
    saved_rank_weight,
    sum_by_scale,
)
from sslart._mapping.evidence.bases.propagation import MIN_BOXES, LabelPropagation, ReadBoxes, similarity
from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.design import DesignMatrices
from sslart._mapping.evidence.ridge import Fit
from sslart._mapping.evidence.settings import BasisSpec, FixedSettings
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import CachesValues
from sslart._utils.parallel import stop_flag
from sslart._utils.validation import require, saved_array

N_BOXES, MAX_BOXES = 1000, 1500  # of the graph: usually, and where classes are many
OWN_SHARE = 0.5  # of the nearest box in what the graph adds; its neighbours share the rest
SPREAD_REACHES = (0.2, 0.9)  # a in (I − aS)⁻¹, by which labels are propagated
CARRIED_REACHES = (0.9, 0.99)  # a in Φ (I − aS)⁻¹ Φ'


@dataclass(frozen=True)
class GraphTerm(CachesValues, Term):
    """The graph of boxes with weights: a sample activates the nearest box and the neighbours of that.

    Attributes
    ----------
    rank_weight : float
    centres : array of shape (n_boxes, n_features)
        On that scale. A missing value of a sample is taken as lying at their mean.
    neighbours : array of shape (n_boxes, n_neighbours)
        The other boxes that are activated with each box.
    boxes : array of int
        Indices of the boxes.
    weights : array of shape (n_boxes, n_classes)
    """

    kind: ClassVar[str] = "graph"
    rank_weight: float
    centres: FloatArray
    neighbours: IntArray
    boxes: IntArray
    weights: FloatArray

    def to_state(self) -> dict[str, Any]:
        """Return the term as plain values and arrays."""
        return {name: getattr(self, name) for name in ("rank_weight", "centres", "neighbours", "boxes", "weights")}

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Return the term of a saved state, after checking that it can be one."""
        boxes = saved_places(state, "boxes", None, shape.n_boxes)
        n = len(boxes)
        centres = saved_array(state, "centres", np.float64, n, shape.n_features, low=-MARGIN, high=1 + MARGIN)
        neighbours = saved_array(state, "neighbours", np.int64, n, None, low=0, high=n - 1)
        require(neighbours.shape[1], "the neighbours")
        weights = saved_coefficients(state, "weights", n, shape.n_classes)
        return cls(saved_rank_weight(state), centres, neighbours, boxes, weights)

    def add_to(self, scorer: Any) -> None:
        """Add the graph to a scorer of the backend."""
        outputs = np.ascontiguousarray(self.outputs())
        scorer.add_graph(self.rank_weight, np.ascontiguousarray(self.centres), self.missing_values, outputs)

    @classmethod
    def combined(cls, terms: list[Self]) -> list[Self]:
        """Return one graph per scale."""
        return sum_by_scale(terms, "weights")

    def mixed(self, weights: FloatArray) -> Self:
        """Return the graph with weights that are mixed over the classes."""
        return replace(self, weights=multiply(self.weights, weights))

    @cached_property
    def missing_values(self) -> FloatArray:
        """Values that replace missing ones: the means of the centres."""
        return np.asarray(self.centres.mean(axis=0))

    def nearest(self, samples: FloatArray) -> IntArray:
        """Return the position of the nearest centre of each sample."""
        nearest = np.empty(len(samples), dtype=np.int64)
        centres = np.ascontiguousarray(self.centres)
        samples = np.ascontiguousarray(samples)
        backend().nearest_centres(samples, centres, self.missing_values, nearest, stop_flag())
        return nearest

    def activations(self, nearest: IntArray) -> FloatArray:
        """Return the activation of each box, shape (n_samples, n_boxes), given the nearest box of each sample."""
        activations = np.zeros((len(nearest), len(self.boxes)))
        others = self.neighbours[nearest]
        np.put_along_axis(activations, others, (1.0 - OWN_SHARE) / others.shape[1], axis=1)
        activations[np.arange(len(nearest)), nearest] = OWN_SHARE
        return activations

    def outputs(self) -> FloatArray:
        """Return the score added at each box: a weighted mean of its weights and those of its neighbours."""
        return np.asarray(OWN_SHARE * self.weights + (1.0 - OWN_SHARE) * self.weights[self.neighbours].mean(axis=1))

    def inside_contributions(self) -> tuple[IntArray, FloatArray]:
        """Return the score that each box adds where it is the nearest one."""
        return self.boxes, OWN_SHARE * self.weights


@dataclass(frozen=True)
class BoxGraph:
    """A graph without weights, the box nearest to each labelled sample, and the similarity of boxes."""

    term: GraphTerm
    nearest: IntArray
    S: FloatArray

    @property
    def read_boxes(self) -> ReadBoxes:
        """The boxes that the prediction for each labelled sample is read at: the nearest, and its neighbours."""
        others = self.term.neighbours[self.nearest]
        shares = np.full((len(others), 1 + others.shape[1]), (1.0 - OWN_SHARE) / others.shape[1])
        shares[:, 0] = OWN_SHARE
        return ReadBoxes(np.column_stack([self.nearest, others]), shares)

    @classmethod
    def of(cls, rank_weight: float, design: DesignMatrices) -> BoxGraph:
        """Return the graph of the first boxes on a scale."""
        n_boxes = min(max(N_BOXES, design.boxes.n_wanted), MAX_BOXES)
        lower, upper = design.boxes_on(rank_weight, n_boxes)
        centres = np.where(lower <= upper, (lower + upper) / 2, 0.5)
        S, neighbours = similarity(centres)
        every = np.arange(len(centres))
        term = GraphTerm(rank_weight, centres, neighbours, every, np.zeros((len(centres), 0)))
        return cls(term, term.nearest(design.samples_on(rank_weight)), S)


class SpreadBasis(Basis):
    """Boxes that hold the shares of the classes which have reached them."""

    def __init__(self, spec: BasisSpec, graph: BoxGraph, sample_weights: FloatArray | None = None) -> None:
        super().__init__(spec, graph.term.activations(graph.nearest), sample_weights)
        self.graph = graph
        self._labels: LabelPropagation | None = None

    def own_fit(self, targets: FloatArray, groups: LabelGroups) -> Fit:
        """Return the shares of the classes in every box, with exact leave-one-out."""
        labels = self._propagated(targets)
        return Fit(0.0, labels.shares(), labels.left_out(self.graph.read_boxes, groups))

    def own_left_out_without(self, targets: FloatArray, groups: LabelGroups, blocks: Sequence[IntArray]) -> FloatArray:
        """Return leave-group-out predictions of each label, each also without one block of labels."""
        return self._propagated(targets).left_out_without(self.graph.read_boxes, groups, blocks)

    def own_weights(self, targets: FloatArray) -> FloatArray:
        """Return the shares of the classes in every box."""
        return self._propagated(targets).shares()

    def _propagated(self, targets: FloatArray) -> LabelPropagation:
        if self._labels is None:
            weighted = targets if self.sample_weights is None else targets * self.sample_weights[:, None]
            self._labels = LabelPropagation(self.graph.S, self.spec.bandwidth, self.graph.nearest, weighted)
        return self._labels

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the graph with the weights of its boxes."""
        return [replace(self.graph.term, weights=weights)]


class CarriedBasis(Basis):
    """Nearest boxes with weights propagated over the graph: Φ (I − aS)⁻¹ Φ' instead of ΦΦ'."""

    def __init__(self, spec: BasisSpec, graph: BoxGraph, sample_weights: FloatArray | None = None) -> None:
        super().__init__(spec, graph.term.activations(graph.nearest), sample_weights)
        self.graph = graph
        system = np.eye(len(graph.S)) - spec.bandwidth * graph.S
        self.carried = Cholesky(system, overwrite=True).solve(self.matrix.T)

    @cached_property
    def scale(self) -> float:
        """The mean diagonal of Φ (I − aS)⁻¹ Φ'."""
        return self._mean(np.einsum("ij,ji->i", self.matrix, self.carried)) or 1.0

    @cached_property
    def gram(self) -> FloatArray:
        """Φ (I − aS)⁻¹ Φ', scaled so that its mean diagonal is one."""
        return np.asarray(multiply(self.matrix, self.carried) / self.scale)

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Return the weight of each box of the graph."""
        return np.asarray(multiply(self.carried, coefficients) / self.scale)

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the graph with the weights of its boxes."""
        return [replace(self.graph.term, weights=weights)]


class SpreadFamily(Family):
    """Labels propagated over the graph; in place of τ the spec has the reach a."""

    kind: ClassVar[str] = "spread"
    name: ClassVar[str] = "propagated"
    term: ClassVar[type[Term]] = GraphTerm
    bandwidth_range: ClassVar[tuple[float, float]] = (0, 0.999)
    uses_ridge: ClassVar[bool] = False
    is_costly: ClassVar[bool] = True
    reaches: ClassVar[tuple[float, ...]] = SPREAD_REACHES

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return every reach on the first scale."""
        return [BasisSpec(self.kind, fixed.rank_weights[0], reach) for reach in self.reaches]

    def applies(self, design: DesignMatrices) -> bool:
        """Return True if there are enough boxes for a graph, and few enough classes for its size."""
        return len(design.boxes.lower) >= MIN_BOXES and design.boxes.n_wanted <= MAX_BOXES

    def basis(self, spec: BasisSpec, design: DesignMatrices) -> Basis:
        """Return the boxes of the graph at the labelled samples."""
        return SpreadBasis(spec, self._graph(spec, design), design.labelled.ridge_weights)

    @staticmethod
    def _graph(spec: BasisSpec, design: DesignMatrices) -> BoxGraph:
        return design.get_or_compute(("graph", spec.rank_weight), lambda: BoxGraph.of(spec.rank_weight, design))


class CarriedFamily(SpreadFamily):
    """A ridge regression over the graph."""

    kind: ClassVar[str] = "carried"
    fits_many: ClassVar[bool] = False
    uses_ridge: ClassVar[bool] = True
    reaches: ClassVar[tuple[float, ...]] = CARRIED_REACHES

    def basis(self, spec: BasisSpec, design: DesignMatrices) -> Basis:
        """Return the boxes of the graph at the labelled samples."""
        return CarriedBasis(spec, self._graph(spec, design), design.labelled.ridge_weights)
