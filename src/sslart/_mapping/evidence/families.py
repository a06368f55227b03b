"""The registry of all families of basis functions, and those over features: linear, splines and randomised trees.

Families over boxes are in `boxes.py` and `graph.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from sslart._art.backend import Cholesky, gram_matrix, multiply
from sslart._art.trees import Forest
from sslart._mapping.evidence.basis import (
    MARGIN,
    MAX_COEFFICIENT,
    Basis,
    Family,
    Fit,
    Term,
    TermShape,
    saved_coefficients,
    saved_rank_weight,
)
from sslart._mapping.evidence.boxes import BoxFamily, RelevantFamily, SubspaceFamily
from sslart._mapping.evidence.design import DesignMatrices, LabelGroups, feature_means
from sslart._mapping.evidence.graph import CarriedFamily, SpreadFamily
from sslart._mapping.evidence.settings import MAX_SETTING, MIN_SETTING, N_BLOCKS, BasisSpec, FixedSettings, Mixture
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, keys_of_numbers
from sslart._utils.validation import check_number, saved_array

MIN_DEVIATION = 0.02  # in standardisation, so that a nearly constant feature is not scaled up
LOW_RIDGES = (1e-6, 1e-5, 1e-4)  # for linear trends only: cheap there, and no help for other families
N_KNOTS = 17  # knots at every sixteenth of the range
MAX_ENTRIES = 2**23  # spline functions computed at once, to bound memory
N_TREES = 256  # about 64 of them are out of bag for a label, and about 16 for a label and one further block
LEFT_OUT = 0.25  # share of blocks that are out of bag, for each tree
N_REPLICATED = 64  # trees in the replicates without some labels, whose time is linear in them
DAMPING = 0.3  # see benchmarks/explain/certainty.py, which measures the intervals that it leads to
MIN_BLOCKS = 8  # of labels: with fewer no trees are grown
SHARE_TRIED = 0.5  # of the columns, at each split
MIN_WEIGHT = 1e-9  # of a leaf: a single sample may be a leaf


@dataclass(frozen=True)
class LinearTerm(Term):
    """A linear function of the features on one scale. A missing value adds nothing."""

    kind: ClassVar[str] = "linear"
    weights_name: ClassVar[str] = "slopes"
    rank_weight: float
    centre: FloatArray  # the point at which the term is zero
    slopes: FloatArray  # (n_features, n_classes)

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Restore the term from a saved state after validating it."""
        centre = saved_array(state, "centre", np.float64, shape.n_features, low=-MARGIN, high=1 + MARGIN)
        return cls(saved_rank_weight(state), centre, saved_coefficients(state, "slopes", *shape[:2]))

    def add_to(self, scorer: Any) -> None:
        """Add the linear term to a scorer of the backend."""
        scorer.add_linear(self.rank_weight, self.centre, np.ascontiguousarray(self.slopes))


class LinearBasis(Basis):
    """The centred features; standardised if the bandwidth of the spec is 1."""

    def __init__(self, spec: BasisSpec, design: DesignMatrices) -> None:
        samples, sample_weights = design.samples_on(spec.rank_weight), design.labelled.ridge_weights
        centre = feature_means(samples, sample_weights)
        centred = np.nan_to_num(samples - centre)
        deviation = np.ones(samples.shape[1])
        if spec.bandwidth:
            mean = np.average(centred, axis=0, weights=sample_weights)
            deviation = np.sqrt(np.average((centred - mean) ** 2, axis=0, weights=sample_weights))
            deviation = np.maximum(deviation, MIN_DEVIATION)
        super().__init__(spec, design, centred / deviation)
        self.centre, self.deviation = centre, deviation

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the linear term with the given weights."""
        return [LinearTerm(self.spec.rank_weight, self.centre, weights / self.deviation[:, None])]


class LinearFamily(Family):
    """Linear functions of all features; the bandwidth is 0 for raw features, 1 for standardised ones."""

    kind: ClassVar[str] = "linear"
    name: ClassVar[str] = "linear"
    functions_of: ClassVar[tuple[int, int]] = (1, 1)
    term: ClassVar[type[Term]] = LinearTerm
    basis_type = LinearBasis
    bandwidth_range: ClassVar[tuple[float, float]] = (0, MAX_SETTING)

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return raw and standardised features on every scale."""
        return [BasisSpec(self.kind, scale, bandwidth) for scale in fixed.rank_weights for bandwidth in (0.0, 1.0)]

    def ridges(self, fixed: FixedSettings) -> tuple[float, ...]:
        """Return λ including low values, for steep trends in small differences of correlated features."""
        return fixed.ridges if fixed.ridge is not None else (*fixed.some(LOW_RIDGES), *fixed.ridges)


@dataclass(frozen=True)
class SplineTerm(Term):
    """A piecewise linear curve per feature and class on one scale, with equidistant knots; 0 for missing values."""

    kind: ClassVar[str] = "splines"
    weights_name: ClassVar[str] = "heights"
    rank_weight: float
    heights: FloatArray  # (n_features, n_knots, n_classes)

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Restore the term from a saved state after validating it."""
        heights = saved_coefficients(state, "heights", shape.n_features, N_KNOTS, shape.n_classes)
        return cls(saved_rank_weight(state), heights)

    def add_to(self, scorer: Any) -> None:
        """Add the curves to a scorer of the backend."""
        scorer.add_splines(self.rank_weight, np.ascontiguousarray(self.heights))


def knot_positions(values: FloatArray, n_knots: int = N_KNOTS) -> tuple[IntArray, FloatArray]:
    """Return the knot below each value in [0, 1], and the position of the value between it and the next knot."""
    position = np.clip(np.nan_to_num(values), 0.0, 1.0) * (n_knots - 1)
    below = np.minimum(position.astype(np.int64), n_knots - 2)
    return below, position - below


class SplineBasis(Basis):
    """Smooth curves over each feature: the prior correlation of the heights of two knots decays with their distance.

    An indicator has two knots, since it has two values. The functions of all features take much memory, so they are
    computed for some features at a time and not stored.
    """

    def __init__(self, spec: BasisSpec, design: DesignMatrices) -> None:
        self.spec, self.sample_weights = spec, design.labelled.ridge_weights
        self._samples, indicator = design.samples_on(spec.rank_weight), design.labelled.indicator
        self._features = [(np.flatnonzero(indicator == is_one), knots) for is_one, knots in ((0, N_KNOTS), (1, 2))]

    @property
    def n_functions(self) -> int:
        """Number of functions."""
        return sum(len(features) * knots for features, knots in self._features)

    def functions(self, rows: IntArray) -> FloatArray:
        """Return the functions at some labels."""
        return np.hstack([*self._parts(rows)])

    def _parts(self, rows: IntArray | slice = slice(None)) -> Iterator[FloatArray]:
        """Yield the functions at labels, some features at a time."""
        samples = self._samples[rows]
        for features, n_knots in self._features:
            step = max(MAX_ENTRIES // (max(len(samples), 1) * n_knots), 1)
            for start in range(0, len(features), step):
                own = samples[:, features[start : start + step]]
                below, part = knot_positions(own, n_knots)
                at = np.zeros((*own.shape, n_knots))
                np.put_along_axis(at, below[:, :, None], 1.0 - part[:, :, None], axis=2)
                np.put_along_axis(at, below[:, :, None] + 1, part[:, :, None], axis=2)
                at[np.isnan(own)] = 0.0
                yield multiply(at.reshape(-1, n_knots), self._root(n_knots)).reshape(len(samples), -1)

    def _root(self, n_knots: int) -> FloatArray:
        knots = np.linspace(0.0, 1.0, n_knots)
        return Cholesky(np.exp(-np.abs(knots[:, None] - knots) / self.spec.bandwidth)).lower

    @cached_property
    def scale(self) -> float:
        """The mean diagonal of ΦΦ', by which it is divided."""
        return self._mean(sum(np.einsum("ij,ij->i", part, part) for part in self._parts())) or 1.0

    @cached_property
    def gram(self) -> FloatArray:
        """ΦΦ', scaled so that its mean diagonal is one."""
        return np.asarray(sum(gram_matrix(part) for part in self._parts()) / self.scale)

    def weights(self, coefficients: FloatArray) -> FloatArray:
        """Return the weight of each function, shape (n_functions, n_classes), from coefficients of the samples."""
        return np.concatenate([multiply(part.T, coefficients) for part in self._parts()]) / self.scale

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the curves with the given weights."""
        heights, start = np.empty((self._samples.shape[1], N_KNOTS, weights.shape[1])), 0
        for features, n_knots in self._features:
            end = start + len(features) * n_knots
            by_feature = weights[start:end].reshape(len(features), n_knots, weights.shape[1])
            own = np.einsum("ak,fkc->fac", self._root(n_knots), by_feature)
            if n_knots == N_KNOTS:
                heights[features] = own
            else:
                way = np.linspace(0.0, 1.0, N_KNOTS)[:, None]
                heights[features] = (1.0 - way) * own[:, :1] + way * own[:, 1:]
            start = end
        return [SplineTerm(self.spec.rank_weight, heights)]


class SplineFamily(Family):
    """A curve over each feature."""

    kind: ClassVar[str] = "feature"
    name: ClassVar[str] = "feature"
    functions_of: ClassVar[tuple[int, int]] = (N_KNOTS, 2)
    term: ClassVar[type[Term]] = SplineTerm
    basis_type = SplineBasis

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return the wider bandwidths on the middle scale."""
        return [BasisSpec(self.kind, fixed.middle_rank_weight, width) for width in fixed.bandwidths[:4]]


@dataclass(frozen=True)
class TreeTerm(Term):
    """Trees on one scale; the values of their leaves are weights."""

    kind: ClassVar[str] = "trees"
    rank_weight: float
    forest: Forest

    def to_state(self) -> dict[str, Any]:
        """Return the term as plain values and arrays."""
        return {"rank_weight": self.rank_weight, **self.forest.to_state()}

    @classmethod
    def from_state(cls, state: dict[str, Any], shape: TermShape) -> Self:
        """Restore the term from a saved state after validating it."""
        return cls(saved_rank_weight(state), Forest.from_state(state, *shape[:2], MAX_COEFFICIENT))

    def add_to(self, scorer: Any) -> None:
        """Add the trees to a scorer of the backend."""
        scorer.add_trees(self.rank_weight, *self.forest.arrays)

    @classmethod
    def combined(cls, terms: list[Self]) -> list[Self]:
        """Return one term per scale."""
        by_scale: dict[float, list[Forest]] = {}
        for term in terms:
            by_scale.setdefault(term.rank_weight, []).append(term.forest)
        return [cls(scale, Forest.joined(forests).by_level()) for scale, forests in by_scale.items()]

    def mixed(self, weights: FloatArray) -> Self:
        """Return the trees with leaf values multiplied by a matrix over the classes."""
        return replace(self, forest=replace(self.forest, values=multiply(self.forest.values, weights)))


class TreeBasis(Basis):
    """Trees, each grown without some blocks of labels, which are its out-of-bag labels."""

    def __init__(self, spec: BasisSpec, design: DesignMatrices) -> None:
        labelled = design.labelled
        super().__init__(spec, design, np.zeros((len(labelled.classes), 0)))
        self._samples = design.samples_on(spec.rank_weight)
        numbers, self._block_of = np.unique(labelled.blocks, return_inverse=True)
        random = np.random.RandomState(labelled.seed).random_sample((N_TREES, len(numbers)))
        self._is_without = np.zeros(random.shape, dtype=bool)
        chosen = np.argsort(random, axis=1)[:, : max(round(LEFT_OUT * len(numbers)), 1)]
        np.put_along_axis(self._is_without, chosen, True, axis=1)
        self.forest = forest_of(spec, design, ~self._is_without[:, self._block_of])

    @cached_property
    def _left_out_by_tree(self) -> FloatArray:
        """Out-of-bag scores of each tree, 0 for labels in its bag, shape (n_trees, n_labels, n_classes)."""
        return self.forest.scores_by_tree(self._samples) * self._is_without[:, self._block_of, None]

    def own_fit(self, targets: FloatArray, groups: LabelGroups) -> Fit:
        """Return the leaf values, and the out-of-bag predictions of the labels."""
        n_without = self._is_without.sum(axis=0)[self._block_of]
        left_out = self._left_out_by_tree.sum(axis=0) / np.maximum(n_without, 1)[:, None]
        return Fit(0.0, self.own_weights(targets), left_out)

    def own_left_out_without(self, targets: FloatArray, groups: LabelGroups, blocks: Sequence[IntArray]) -> FloatArray:
        """Return out-of-bag predictions of each label by the trees that were grown without each block as well."""
        is_without = self._is_without[:, [self._block_of[rows[0]] for rows in blocks]].astype(np.float64)
        by_tree = self._left_out_by_tree
        sums = multiply(is_without.T, by_tree.reshape(len(by_tree), -1)).reshape(len(blocks), *targets.shape)
        n_without = multiply(is_without.T, self._is_without[:, self._block_of].astype(np.float64))
        return np.asarray(sums / np.maximum(n_without, 1.0)[..., None])

    def own_weights(self, targets: FloatArray) -> FloatArray:
        """Return the leaf values divided by the number of trees, so that the sum over trees is the mean."""
        return self.forest.values / len(self.forest.roots)

    def own_terms_without(self, targets: FloatArray, blocks: Sequence[IntArray], share: float) -> list[Term]:
        """Return some of the trees; without a block of labels, those grown without it.

        Differences to all of these trees are damped, since the mean of so few varies by chance alone.
        """
        is_without = self._is_without[:N_REPLICATED]
        change = is_without / np.maximum(is_without.sum(axis=0), 1) - 1.0 / len(is_without)
        taken = [np.unique(self._block_of[rows]) for rows in blocks]
        shares = 1.0 / len(is_without) + DAMPING * np.column_stack([change[:, own].sum(axis=1) for own in taken])
        forest = self.forest.first(len(is_without))
        values = share * forest.values[:, None] * shares[forest.tree_of_leaf, :, None]
        return [TreeTerm(self.spec.rank_weight, replace(forest, values=values.reshape(len(values), -1)))]

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the trees with the given leaf values."""
        return [TreeTerm(self.spec.rank_weight, replace(self.forest, values=weights))]


def forest_of(spec: BasisSpec, design: DesignMatrices, takes_part: BoolArray) -> Forest:
    """Return a tree for each row of `takes_part`, the mask of the labels to grow it from."""
    labelled, samples = design.labelled, design.samples_on(spec.rank_weight)
    n_columns = samples.shape[1] if labelled.column_of is None else len(np.unique(labelled.column_of))
    return Forest.grown(
        samples,
        labelled.classes,
        labelled.n_classes,
        np.where(takes_part, labelled.row_weights, 0.0),
        keys_of_numbers(np.arange(len(takes_part)), labelled.seed),
        max(round(spec.bandwidth * n_columns), 1),
        MIN_WEIGHT,
        labelled.column_of,
    )


class TreeFamily(Family):
    """Randomised trees; the bandwidth of the spec is the share of columns tried at each split."""

    kind: ClassVar[str] = "tree"
    name: ClassVar[str] = "trees"
    term: ClassVar[type[Term]] = TreeTerm
    basis_type = TreeBasis
    bandwidth_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    uses_ridge: ClassVar[bool] = False
    gains_from_labels: ClassVar[bool] = True
    prior: ClassVar[float] = 60.0  # a single candidate, where other families have many similar ones

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return a single candidate: trees do not depend on monotone scales."""
        return [BasisSpec(self.kind, fixed.rank_weights[0], SHARE_TRIED)]

    def applies(self, design: DesignMatrices) -> bool:
        """Return True if there are enough blocks of labels for out-of-bag predictions."""
        return len(np.unique(design.labelled.blocks)) >= MIN_BLOCKS


FAMILIES: tuple[Family, ...] = (
    BoxFamily(),
    RelevantFamily(),
    SplineFamily(),
    LinearFamily(),
    SubspaceFamily(),
    SpreadFamily(),
    CarriedFamily(),
    TreeFamily(),
)
FAMILY_NAMES = tuple(dict.fromkeys(family.name for family in FAMILIES))
_BY_KIND = {family.kind: family for family in FAMILIES}
_TERMS = {family.term.kind: family.term for family in FAMILIES}


def family_of(spec: BasisSpec) -> Family:
    """Return the family of a basis; raise a KeyError if there is none."""
    return _BY_KIND[spec.kind]


def term_of(state: dict[str, Any], shape: TermShape) -> Term:
    """Restore a term from a saved state after validating it."""
    return _TERMS[state["kind"]].from_state(state, shape)


def mixture_of(state: dict[str, Any]) -> Mixture:
    """Restore a mixture from a saved state after validating it."""
    specs = tuple(BasisSpec(*spec) for spec in state["specs"])
    if not specs or any(not isinstance(spec.kind, str) or spec.kind not in _BY_KIND for spec in specs):
        raise ValueError("the model has a basis of an unknown kind")
    uses_ridge = all(_BY_KIND[spec.kind].uses_ridge for spec in specs)
    if not uses_ridge and len(specs) > 1:
        raise ValueError("the model mixes bases that cannot be mixed")
    without = tuple(saved_array(state, "without", np.float64, None, low=0, high=1).tolist())
    if len(without) not in (0, N_BLOCKS):
        raise ValueError("the model has weights for another number of blocks")
    check_number("a mixture", "weight", state["weight"], 0, 1)
    check_number("a mixture", "ridge", state["ridge"], MIN_SETTING if uses_ridge else 0, MAX_SETTING)
    for spec in specs:
        check_number("a basis", "rank_weight", spec.rank_weight, 0, 1)
        check_number("a basis", "bandwidth", spec.bandwidth, *_BY_KIND[spec.kind].bandwidth_range)
    return Mixture(specs, state["ridge"], state["weight"], without)
