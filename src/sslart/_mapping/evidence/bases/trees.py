"""Randomised trees: boxes that are split where the labels differ.

Every tree is grown without some blocks of labels, so that its predictions for them are those of labels left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from sslart._art.algebra import multiply
from sslart._art.trees import Forest
from sslart._mapping.evidence.bases.base import MAX_COEFFICIENT, Basis, Family, Term, TermShape, saved_rank_weight
from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.design import DesignMatrices
from sslart._mapping.evidence.ridge import Fit
from sslart._mapping.evidence.settings import BasisSpec, FixedSettings
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, keys_of_numbers

N_TREES = 256  # about 64 of them predict a left-out label, about 16 do without any further block
LEFT_OUT = 0.25  # of the blocks, by each tree
MIN_BLOCKS = 8  # of labels; of fewer no trees are grown
SHARE_TRIED = 0.5  # of the columns, at each node
MIN_WEIGHT = 1e-9  # of a leaf: any sample may be one


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
        """Return the term of a saved state, after checking that it can be one."""
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
    """Trees and which blocks of labels each was grown without."""

    def __init__(self, spec: BasisSpec, design: DesignMatrices) -> None:
        labelled = design.labelled
        super().__init__(spec, np.zeros((len(labelled.classes), 0)), labelled.ridge_weights)
        self._labelled, self._samples = labelled, design.samples_on(spec.rank_weight)
        numbers, self._block_of = np.unique(labelled.blocks, return_inverse=True)
        self._is_without = _drawn(len(numbers), max(round(LEFT_OUT * len(numbers)), 1), labelled.seed)
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
        """Return out-of-bag predictions of each label by the trees grown also without a second block of labels."""
        is_without = self._is_without[:, [self._block_of[rows[0]] for rows in blocks]].astype(np.float64)
        by_tree = self._left_out_by_tree
        sums = multiply(is_without.T, by_tree.reshape(len(by_tree), -1)).reshape(len(blocks), *targets.shape)
        n_without = multiply(is_without.T, self._is_without[:, self._block_of].astype(np.float64))
        return np.asarray(sums / np.maximum(n_without, 1.0)[..., None])

    def own_weights(self, targets: FloatArray) -> FloatArray:
        """Return the values of the leaves, so that the sum over trees is their mean."""
        return self.forest.values / len(self.forest.roots)

    def terms(self, weights: FloatArray) -> list[Term]:
        """Return the trees with values of their leaves."""
        return [TreeTerm(self.spec.rank_weight, replace(self.forest, values=weights))]


def _drawn(n_blocks: int, n_left_out: int, seed: int) -> BoolArray:
    """Draw the blocks of labels left out of each tree, shape (n_trees, n_blocks)."""
    random = np.random.RandomState(seed)
    chosen = np.argsort(random.random_sample((N_TREES, n_blocks)), axis=1)[:, :n_left_out]
    drawn = np.zeros((N_TREES, n_blocks), dtype=bool)
    np.put_along_axis(drawn, chosen, True, axis=1)
    return drawn


def forest_of(spec: BasisSpec, design: DesignMatrices, takes_part: BoolArray) -> Forest:
    """Return a tree for each row of `takes_part`, which shows the labels it is grown from."""
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
    bandwidth_range: ClassVar[tuple[float, float]] = (0.0, 1.0)
    uses_ridge: ClassVar[bool] = False
    gains_from_labels: ClassVar[bool] = True
    prior: ClassVar[float] = 60.0  # against one of many similar candidates of other families

    def grid(self, fixed: FixedSettings) -> list[BasisSpec]:
        """Return one way to grow them; a monotone scale makes no difference."""
        return [BasisSpec(self.kind, fixed.rank_weights[0], SHARE_TRIED)]

    def applies(self, design: DesignMatrices) -> bool:
        """Return True if there are enough labels to leave some out of each tree."""
        return len(np.unique(design.labelled.blocks)) >= MIN_BLOCKS

    def basis(self, spec: BasisSpec, design: DesignMatrices) -> TreeBasis:
        """Return trees that were grown from the labels."""
        return TreeBasis(spec, design)
