"""Label propagation over the graph of boxes; a sample gets the values of its nearest box.

Labels follow clusters and manifolds, since unlabelled boxes pass them on like labelled ones. Two kinds: "spread" is
label spreading (Zhou et al. 2004), normalised per box; "carried" is a ridge regression with the kernel of the graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from sslart._art.backend import Cholesky, backend, gram_matrix, multiply
from sslart._mapping.evidence.basis import (
    MARGIN,
    Basis,
    Family,
    Fit,
    Term,
    TermShape,
    saved_coefficients,
    saved_places,
    saved_rank_weight,
)
from sslart._mapping.evidence.design import DesignMatrices, LabelGroups
from sslart._mapping.evidence.settings import BasisSpec, FixedSettings
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.cache import CachesValues
from sslart._utils.resources import stop_flag
from sslart._utils.validation import require, saved_array

N_NEIGHBOURS = 7  # of each box in the graph; the distance to the last one is the local scale of similarity
UNREACHED = 1e-12  # total below which no label has reached a box, except for rounding
MIN_BOXES = 4  # smallest graph that is tried
N_BOXES, MAX_BOXES = 1000, 1500  # of the graph: usually, and with many classes; the time is cubic
OWN_SHARE = 0.5  # activation of the nearest box; its neighbours share the rest
SPREAD_REACHES = (0.2, 0.9)  # a in (I − aS)⁻¹, the label propagation
CARRIED_REACHES = (0.9, 0.99)  # a in Φ (I − aS)⁻¹ Φ'


def similarity(centres: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return the self-tuned similarity S (symmetric, of norm one) and the nearest neighbours of each box."""
    n_boxes = len(centres)
    n_neighbours = min(N_NEIGHBOURS, n_boxes - 1)
    distances, neighbours = _nearest(centres, n_neighbours)
    scale = distances[:, -1] + 1e-9  # of each box: the distance to the last of its neighbours
    near = np.exp(-(distances**2) / (scale[:, None] * scale[neighbours]))
    S = np.zeros((n_boxes, n_boxes))
    np.put_along_axis(S, neighbours, near, axis=1)
    S = np.maximum(S, S.T)
    root = np.sqrt(S.sum(axis=1)) + 1e-12
    return np.asarray(S / root[:, None] / root), np.asarray(neighbours)


def _nearest(centres: FloatArray, n_neighbours: int) -> tuple[FloatArray, IntArray]:
    """Return distances and indices of the nearest other centres of each centre, nearest first."""
    products = gram_matrix(centres)
    squares = np.diagonal(products)
    apart = np.maximum(squares[:, None] + squares - 2.0 * products, 0.0)
    np.fill_diagonal(apart, np.inf)
    nearest = np.sort(np.argpartition(apart, n_neighbours - 1, axis=1)[:, :n_neighbours], axis=1)
    order = np.argsort(np.take_along_axis(apart, nearest, axis=1), axis=1, kind="stable")
    nearest = np.take_along_axis(nearest, order, axis=1)
    return np.sqrt(np.take_along_axis(apart, nearest, axis=1)), nearest


class ReadBoxes(NamedTuple):
    """The boxes activated by each sample and their activations, shape (n_samples, n_read)."""

    boxes: IntArray
    shares: FloatArray


class LabelPropagation:
    """Labels propagated over the graph, normalised to class shares in every box.

    They start from `boxes` and are propagated by (I − aS)⁻¹ with the reach a in [0, 1). Targets are one-hot classes
    times the weights of the labels.
    """

    def __init__(self, S: FloatArray, reach: float, boxes: IntArray, targets: FloatArray) -> None:
        self.targets = targets
        starts, self.start_of = np.unique(boxes, return_inverse=True)
        from_start = np.zeros((len(S), len(starts)))
        from_start[starts, np.arange(len(starts))] = 1.0
        system = np.eye(len(S)) - reach * S
        self.received = Cholesky(system, overwrite=True).solve(from_start)
        labels = np.zeros((len(starts), targets.shape[1]))
        np.add.at(labels, self.start_of, targets)
        self.held = np.maximum(multiply(self.received, labels), 0.0)

    def shares(self) -> FloatArray:
        """Return the share of each class in each box, shape (n_boxes, n_classes)."""
        return _normalised(self.held, _shares_of(self.targets.sum(axis=0)))

    def shares_without(self, blocks: Sequence[IntArray]) -> FloatArray:
        """Return the shares without each block of labels, shape (n_boxes, n_blocks * n_classes)."""
        found = np.empty((len(self.held), len(blocks), self.targets.shape[1]))
        for place, block in enumerate(blocks):
            own = self.targets[block]
            rest = np.maximum(self.held - multiply(self.received[:, self.start_of[block]], own), 0.0)
            found[:, place] = _normalised(rest, _shares_of(np.maximum(self.targets.sum(axis=0) - own.sum(axis=0), 0.0)))
        return found.reshape(len(found), -1)

    def left_out(self, read: ReadBoxes, groups: LabelGroups) -> FloatArray:
        """Return leave-group-out predictions of each label, read at boxes."""
        held, otherwise = self._without_group(read, groups)
        return np.asarray(np.einsum("na,nak->nk", read.shares, _normalised(held, _shares_of(otherwise)[:, None])))

    def left_out_without(self, read: ReadBoxes, groups: LabelGroups, blocks: Sequence[IntArray]) -> FloatArray:
        """Return leave-group-out predictions of each label, each also without one block of labels.

        The result has the shape (n_blocks, n_labels, n_classes) and is undefined for the labels of the block itself.
        """
        held, otherwise = self._without_group(read, groups)
        found = np.empty((len(blocks), *self.targets.shape))
        for block, own in zip(blocks, found, strict=True):
            received = self.received[read.boxes[:, :, None], self.start_of[block]]
            removed = multiply(received.reshape(-1, len(block)), self.targets[block]).reshape(held.shape)
            rest = np.maximum(held - removed, 0.0)
            others = np.maximum(otherwise - self.targets[block].sum(axis=0), 0.0)
            own[:] = np.einsum("na,nak->nk", read.shares, _normalised(rest, _shares_of(others)[:, None]))
        return found

    def _without_group(self, read: ReadBoxes, groups: LabelGroups) -> tuple[FloatArray, FloatArray]:
        """Return the mass at boxes without each label's group, (n_labels, n_read, n_classes), and its targets."""
        received = self.received[read.boxes, self.start_of[:, None]]
        removed = received[:, :, None] * self.targets[:, None]
        own = self.targets.copy()
        for rows in groups.several:
            received = self.received[read.boxes[rows][..., None], self.start_of[rows][:, None, None]]
            removed[rows] = np.einsum("gmrs,gsc->gmrc", received, self.targets[rows])
            own[rows] = self.targets[rows].sum(axis=1, keepdims=True)
        held = np.maximum(self.held[read.boxes] - removed, 0.0)
        return held, np.maximum(self.targets.sum(axis=0) - own, 0.0)


def _shares_of(totals: FloatArray) -> FloatArray:
    """Normalise totals per class to shares; zeros where the total is zero."""
    sums = totals.sum(axis=-1, keepdims=True)
    return np.asarray(totals / np.where(sums > UNREACHED, sums, 1.0))


def _normalised(held: FloatArray, otherwise: FloatArray) -> FloatArray:
    """Normalise shares to sum to one; a box that no label has reached gets the shares of all labels."""
    sums = held.sum(axis=-1, keepdims=True)
    reached = sums > UNREACHED
    return np.where(reached, held / np.where(reached, sums, 1.0), otherwise)


@dataclass(frozen=True)
class GraphTerm(CachesValues, Term):
    """The graph of boxes with weights: a sample activates the nearest box and its neighbours."""

    kind: ClassVar[str] = "graph"
    rank_weight: float
    # (n_boxes, n_features): on that scale. Missing values of samples are replaced by their mean
    centres: FloatArray
    neighbours: IntArray  # (n_boxes, n_neighbours): the other boxes that are activated with each box
    boxes: IntArray  # indices of the boxes
    weights: FloatArray  # (n_boxes, n_classes)

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Restore the term from a saved state after validating it."""
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
        """Return the score added at the nearest box, for each box."""
        return self.boxes, OWN_SHARE * self.weights


@dataclass(frozen=True)
class BoxGraph:
    """A graph without weights, the box nearest to each labelled sample, and the similarity of boxes."""

    term: GraphTerm
    nearest: IntArray
    S: FloatArray

    @property
    def read_boxes(self) -> ReadBoxes:
        """The boxes activated by each labelled sample: the nearest one and its neighbours."""
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


class GraphBasis(Basis):
    """The boxes of the graph that each labelled sample activates."""

    def __init__(self, spec: BasisSpec, design: DesignMatrices) -> None:
        scale = spec.rank_weight
        self.graph = graph = design.get_or_compute(("graph", scale), lambda: BoxGraph.of(scale, design))
        super().__init__(spec, design, graph.term.activations(graph.nearest))

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the graph with the weights of its boxes."""
        return [replace(self.graph.term, weights=weights)]


class SpreadBasis(GraphBasis):
    """Label spreading: boxes have the shares of the classes that reach them."""

    _labels: LabelPropagation | None = None

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

    def own_terms_without(self, targets: FloatArray, blocks: Sequence[IntArray], share: float) -> list[Term]:
        """Return the graph with the shares of the classes in every box without each block of labels."""
        return self.terms(share * self._propagated(targets).shares_without(blocks))

    def _propagated(self, targets: FloatArray) -> LabelPropagation:
        if self._labels is None:
            weighted = targets if self.sample_weights is None else targets * self.sample_weights[:, None]
            self._labels = LabelPropagation(self.graph.S, self.spec.bandwidth, self.graph.nearest, weighted)
        return self._labels


class CarriedBasis(GraphBasis):
    """Ridge regression with the kernel Φ (I − aS)⁻¹ Φ' of the graph instead of ΦΦ'."""

    @cached_property
    def carried(self) -> FloatArray:
        """(I − aS)⁻¹ Φ'."""
        system = np.eye(len(self.graph.S)) - self.spec.bandwidth * self.graph.S
        return Cholesky(system, overwrite=True).solve(self.matrix.T)

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


class SpreadFamily(Family):
    """Label spreading over the graph; the bandwidth of the spec is the reach a."""

    kind: ClassVar[str] = "spread"
    name: ClassVar[str] = "propagated"
    term: ClassVar[type[Term]] = GraphTerm
    basis_type: ClassVar[type[Basis]] = SpreadBasis
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


class CarriedFamily(SpreadFamily):
    """A ridge regression over the graph."""

    kind: ClassVar[str] = "carried"
    fits_many: ClassVar[bool] = False
    uses_ridge: ClassVar[bool] = True
    reaches: ClassVar[tuple[float, ...]] = CARRIED_REACHES
    basis_type = CarriedBasis
