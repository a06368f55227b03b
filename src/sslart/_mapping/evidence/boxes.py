"""Boxes as basis functions: each is activated by a sample according to its distance.

Three kinds: boxes over all features, over features weighted by their relevance, and over a few features each.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse

from sslart._art.backend import backend, multiply
from sslart._mapping.evidence.basis import (
    MARGIN,
    Basis,
    Family,
    Term,
    TermShape,
    saved_coefficients,
    saved_places,
    saved_rank_weight,
)
from sslart._mapping.evidence.design import DesignMatrices, feature_means
from sslart._mapping.evidence.settings import MANY_CLASSES, MAX_SETTING, MIN_SETTING, BasisSpec, FixedSettings
from sslart._utils.arrays import FloatArray, IntArray, SingleArray
from sslart._utils.cache import CachesValues
from sslart._utils.resources import stop_flag
from sslart._utils.validation import check_number, require, saved_array

WIDTH = 16  # boxes per block: one AVX-512 register of single precision
N_SUBSPACES = 24  # random groups of features; see docs/evidence.md, Families
BOXES_PER_SUBSPACE = 128  # few, since a prediction computes the distances in all subspaces
BOXES_PER_FEATURE = 15  # limit of the boxes of a basis, or MIN_BOXES if that is more
MAX_SIDES = 4_000_000  # boxes times features, 32 MB a corner: matters beyond a thousand features
MIN_BOXES = 500  # allowed for any number of features
NEGLIGIBLE = 0.01  # change of a score: activations are at most 1, so boxes of less total weight are dropped


@dataclass(frozen=True)
class PackedBoxes:
    """Boxes in blocks; the last block is padded with boxes of weight zero."""

    lower: SingleArray  # (n_blocks, n_features, WIDTH): the sides; -inf and inf where no sample has reached the box
    upper: SingleArray
    n_boxes: int

    @classmethod
    def of(cls, lower: FloatArray, upper: FloatArray) -> PackedBoxes:
        """Pack boxes of shape (n_boxes, n_features); lower > upper in features without a value."""
        reached = lower <= upper
        sides = np.where(reached, lower, -np.inf), np.where(reached, upper, np.inf)
        return cls(_in_blocks(sides[0]), _in_blocks(sides[1]), len(lower))

    def distances(self, samples: FloatArray) -> SingleArray:
        """Return the L1 distance of each sample to each box, over the features that the sample has."""
        distances = np.empty((len(samples), self.lower.shape[0] * WIDTH), dtype=np.float32)
        samples = np.ascontiguousarray(samples, dtype=np.float32)
        backend().measure(samples, self.lower, self.upper, distances, stop_flag())
        return distances[:, : self.n_boxes]


def padded(weights: FloatArray) -> SingleArray:
    """Pad weights of shape (..., n_boxes) with zeros up to whole blocks."""
    n = weights.shape[-1]
    found = np.zeros((*weights.shape[:-1], n + -n % WIDTH), dtype=np.float32)
    found[..., :n] = weights
    return found


def _in_blocks(sides: FloatArray) -> SingleArray:
    by_feature = padded(sides.T)
    n_features = len(by_feature)
    return np.ascontiguousarray(by_feature.reshape(n_features, -1, WIDTH).transpose(1, 0, 2))


@dataclass(frozen=True)
class BoxGroup(CachesValues):
    """Boxes over some features on one scale."""

    rank_weight: float  # weight of the ranks in the scale: 0 none, 1 all
    features: IntArray  # the features that distances are measured in
    factors: FloatArray  # weights of these features in the distance
    boxes: IntArray  # indices of the boxes
    lower: FloatArray  # (n_boxes, n_features): on that scale, times the factors
    upper: FloatArray

    def select_features(self, samples: FloatArray) -> FloatArray:
        """Return samples, given on the scale, in the features of the group, times the factors."""
        return samples[:, self.features] * self.factors

    @cached_property
    def packed(self) -> PackedBoxes:
        """The boxes as the backend takes them, packed once."""
        return PackedBoxes.of(self.lower, self.upper)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        state.pop("packed", None)
        return state

    def to_state(self) -> dict[str, Any]:
        """Return the boxes as plain values and arrays."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> BoxGroup:
        """Restore the boxes from a saved state after validating it."""
        features = saved_places(state, "features", None, shape.n_features)
        n = len(features)
        factors = saved_array(state, "factors", np.float64, n, low=0, high=shape.n_features + MARGIN)
        boxes = saved_places(state, "boxes", None, shape.n_boxes)
        sides = (
            saved_array(state, name, np.float64, len(boxes), n, low=-MARGIN, high=shape.n_features + MARGIN)
            for name in ("lower", "upper")
        )
        return cls(saved_rank_weight(state), features, factors, boxes, *sides)

    def without_sides(self) -> BoxGroup:
        """Return the group without the sides of its boxes, which take most of its memory."""
        nothing = np.empty((0, len(self.features)))
        return replace(self, lower=nothing, upper=nothing)

    def only(self, kept: IntArray) -> BoxGroup:
        """Return the group with some of its boxes."""
        return replace(self, boxes=self.boxes[kept], lower=self.lower[kept], upper=self.upper[kept])


@dataclass(frozen=True)
class BoxTerm(Term):
    """A group of boxes with weights."""

    kind: ClassVar[str] = "boxes"
    group: BoxGroup
    bandwidth: float  # τ at level 0; it halves from level to level
    weights: FloatArray  # (n_levels, n_classes, n_boxes)

    def to_state(self) -> dict[str, Any]:
        """Return the term as plain values and arrays."""
        return {"group": self.group.to_state(), "bandwidth": self.bandwidth, "weights": self.weights}

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Restore the term from a saved state after validating it."""
        group = BoxGroup.from_state(state["group"], shape)
        bandwidth = check_number("a term", "bandwidth", state["bandwidth"], MIN_SETTING, MAX_SETTING)
        weights = saved_coefficients(state, "weights", None, shape.n_classes, len(group.boxes))
        require(len(weights), "the weights")
        return cls(group, bandwidth, weights)

    @property
    def rank_weight(self) -> float:  # type: ignore[override]
        """Weight of the ranks in the scale."""
        return self.group.rank_weight

    @property
    def rate(self) -> float:
        """Decay rate of the activation exp(−rate · distance)."""
        return 1.0 / (self.bandwidth * len(self.group.features))

    def add_to(self, scorer: Any) -> None:
        """Add the boxes to a scorer of the backend."""
        group, packed = self.group, self.group.packed
        where = group.rank_weight, group.features, group.factors, packed.lower, packed.upper
        scorer.add_boxes(*where, self.rate, padded(self.weights))

    @classmethod
    def combined(cls, terms: list[Self]) -> list[Self]:
        """Return one term per group, with a level for each bandwidth, halving; without negligible boxes."""
        by_group: dict[int, list[Self]] = {}
        for term in terms:
            by_group.setdefault(id(term.group), []).append(term)
        found = []
        for same in by_group.values():
            widest = max(term.bandwidth for term in same)
            levels = [round(np.log2(widest / term.bandwidth)) for term in same]
            weights = np.zeros((max(levels) + 1, *same[0].weights.shape[1:]))
            for level, term in zip(levels, same, strict=True):
                weights[level] += term.weights[0]
            found.append(cls(same[0].group, widest, weights).pruned())
        return [term for term in found if len(term.group.boxes)]

    def mixed(self, weights: FloatArray) -> Self:
        """Return the boxes with weights that are mixed over the classes."""
        return replace(self, weights=multiply(np.repeat(weights.T[None], len(self.weights), axis=0), self.weights))

    def pruned(self) -> Self:
        """Return the term without boxes of negligible total weight."""
        largest = np.abs(self.weights).sum(axis=0).max(axis=0)
        order = np.argsort(largest, kind="stable")
        n_dropped = int(np.searchsorted(np.cumsum(largest[order]), NEGLIGIBLE, side="right"))
        kept = np.sort(order[n_dropped:])
        return replace(self, group=self.group.only(kept), weights=self.weights[:, :, kept])

    def inside_contributions(self) -> tuple[IntArray, FloatArray]:
        """Return the score that each box adds at full activation."""
        return self.group.boxes, self.weights.sum(axis=0).T


class BoxBasis(Basis):
    """Boxes of one or more groups."""

    def __init__(
        self, spec: BasisSpec, design: DesignMatrices, groups: list[BoxGroup], distances: list[SingleArray]
    ) -> None:
        activations = np.concatenate(distances, axis=1, dtype=np.float64)
        widths = [spec.bandwidth * len(group.features) for group in groups]
        activations /= -np.repeat(widths, [len(group.boxes) for group in groups])
        super().__init__(spec, design, np.exp(activations, out=activations))
        self.groups = groups

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return a term per group."""
        terms: list[Term] = []
        start = 0
        for group in self.groups:
            own = weights[start : start + len(group.boxes)]
            terms.append(BoxTerm(group, self.spec.bandwidth, own.T[None]))
            start += len(group.boxes)
        return terms


class BoxFamily(Family):
    """Boxes over all features."""

    kind: ClassVar[str] = "box"
    name: ClassVar[str] = "box"
    term: ClassVar[type[Term]] = BoxTerm

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return every bandwidth on every scale."""
        return [BasisSpec(self.kind, scale, width) for scale in fixed.rank_weights for width in fixed.bandwidths]

    def basis(self, spec: BasisSpec, design: DesignMatrices) -> BoxBasis:
        """Return the activations of the boxes; distances are measured once per scale."""

        def measured() -> tuple[list[BoxGroup], list[SingleArray]]:
            groups, samples = self.groups(spec.rank_weight, design), design.samples_on(spec.rank_weight)
            distances = [group.packed.distances(group.select_features(samples)) for group in groups]
            # the many fits that only predict hidden labels need no terms
            return groups if design.known_labels.all() else [group.without_sides() for group in groups], distances

        groups, distances = design.get_or_compute((self.kind, spec.rank_weight), measured)
        return BoxBasis(spec, design, groups, distances)

    def groups(self, rank_weight: float, design: DesignMatrices) -> list[BoxGroup]:
        """Return the boxes as one group over all features."""
        some = _first_boxes(design)
        lower, upper = design.boxes_on(rank_weight, len(some))
        factors = self.factors(rank_weight, design)
        return [BoxGroup(rank_weight, np.arange(design.n_features), factors, some, lower * factors, upper * factors)]

    def factors(self, rank_weight: float, design: DesignMatrices) -> FloatArray:
        """Return the weight of each feature in the distance."""
        return np.ones(design.n_features)


class RelevantFamily(BoxFamily):
    """Boxes over all features, with each feature weighted by its share in explaining the labels."""

    kind: ClassVar[str] = "relevant"
    name: ClassVar[str] = "relevant"
    uses_labels: ClassVar[bool] = True
    gains_from_labels: ClassVar[bool] = True
    is_costly: ClassVar[bool] = True  # a third of the time of a selection, as each fold needs its own distances

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return every second bandwidth on the middle scale."""
        widths = fixed.bandwidths[1::2] or fixed.bandwidths
        return [BasisSpec(self.kind, fixed.middle_rank_weight, width) for width in widths]

    def factors(self, rank_weight: float, design: DesignMatrices) -> FloatArray:
        """Return a factor per feature with mean one: the root of the bias-corrected share of explained variance."""
        known = design.known_labels
        samples, classes, weights = (
            design.samples_on(rank_weight)[known],
            design.labelled.classes[known],
            design.labelled.row_weights[known],
        )
        samples = np.where(np.isnan(samples), feature_means(samples, weights), samples)
        n, n_classes = weights.sum(), int(classes.max(initial=0)) + 1
        sizes, mean = np.bincount(classes, weights), (weights[:, None] * samples).sum(axis=0) / max(n, 1e-9)
        means = _sums_by_class(samples, classes, weights, n_classes) / np.maximum(sizes, 1e-9)[:, None]
        between = (sizes[:, None] * (means - mean) ** 2).sum(axis=0)
        total = (weights[:, None] * (samples - mean) ** 2).sum(axis=0) + 1e-9
        explained = 1.0 - (1.0 - between / total) * (n - 1) / max(n - n_classes, 1)
        root = np.sqrt(np.maximum(explained, 0.0))
        root += 0.1 * (root.max() + 0.01)
        return np.asarray(root * len(root) / root.sum())


def _sums_by_class(samples: FloatArray, classes: IntArray, weights: FloatArray, n_classes: int) -> FloatArray:
    """Return the weighted sum of the samples of each class, summed in order."""
    if n_classes > MANY_CLASSES:
        of_class = scipy.sparse.csr_array((weights, (np.arange(len(classes)), classes)), (len(classes), n_classes))
        return np.asarray(of_class.T @ samples)
    return multiply(np.eye(n_classes)[classes].T * weights, samples)  # ten times as fast for few classes


class SubspaceFamily(BoxFamily):
    """Boxes over a few features each, drawn at random."""

    kind: ClassVar[str] = "subspace"
    name: ClassVar[str] = "subspace"

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return the middle bandwidths on the middle scale."""
        return [BasisSpec(self.kind, fixed.middle_rank_weight, width) for width in fixed.middle_bandwidths]

    def applies(self, design: DesignMatrices) -> bool:
        """Return True if there are more than two features, so that subspaces differ from the whole space."""
        return design.n_features > 2

    def groups(self, rank_weight: float, design: DesignMatrices) -> list[BoxGroup]:
        """Return a group per subspace."""
        some = _first_boxes(design)[:BOXES_PER_SUBSPACE]
        lower, upper = design.boxes_on(rank_weight, len(some))
        random, n_features = np.random.RandomState(design.labelled.seed), design.n_features
        most = int(np.sqrt(n_features)) + 2
        subspaces = (
            np.sort(random.choice(n_features, min(random.randint(2, most + 1), n_features), replace=False))
            for _ in range(N_SUBSPACES)
        )
        return [
            BoxGroup(rank_weight, features, np.ones(len(features)), some, lower[:, features], upper[:, features])
            for features in subspaces
        ]


def most_boxes(n_features: int) -> int:
    """Return the maximum number of boxes of a basis."""
    return max(MIN_BOXES, min(BOXES_PER_FEATURE * n_features, MAX_SIDES // n_features))


def _first_boxes(design: DesignMatrices) -> IntArray:
    """Return the indices of the boxes used: boxes with labels first, then the largest."""
    most = max(most_boxes(design.n_features), design.boxes.n_wanted)
    return np.arange(min(len(design.boxes.lower), most))
