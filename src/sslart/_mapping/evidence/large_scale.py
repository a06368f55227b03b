"""Learning from many labels or classes, with settings selected on a subset of them.

Memory is linear in the number of labels. With many labels of a few classes, some labels are held out first: the
predictions for them decide the share of the trees and measure the accuracy; then all labels are learnt.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sslart._art.backend import multiply
from sslart._mapping.evidence.basis import PrimalRidge, Term
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet, places_in_class
from sslart._mapping.evidence.families import TreeFamily, TreeTerm, family_of, forest_of
from sslart._mapping.evidence.readout import Solution, SolutionBuilder
from sslart._mapping.evidence.settings import DEFAULT_MIXTURE, MANY_CLASSES, NO_BLOCK, BasisSpec, Mixture
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

MAX_CHOOSING = 500  # labels used to select settings, in cubic time
MIN_CLASSES = 10  # with two labels each: with fewer, default settings are used
MIN_LEFT_OUT = 50  # labels not used in the selection
MAX_LABELS = 1000  # in the dual, or left out to measure quality: time is cubic
MAX_BOXES = 1000  # or as many as the classes need
MAX_FUNCTIONS = 6000  # of features in one regression: two Gram matrices take 0.6 GB
MAX_ACTIVATIONS = 125_000_000  # labels times boxes: 0.5 GB in single precision
MAX_CLASSES_OF_SEVERAL = 1000  # with more classes, only one mixture is learnt, to save time
HELD_OUT = 5  # every fifth label is held out, up to MAX_LABELS
N_TREES, N_TREES_TRIED = 128, 48  # trees for prediction, and trees to estimate their share


def sample_of_classes(labelled: LabelledSet) -> LabelledSet | None:
    """Draw several labels of each of some classes; None if too few classes have two labels.

    Classes with more labels are more likely to be drawn. Of each group only one label is drawn, since its others could
    not measure how well the class is predicted. At most half of the labels are drawn, so that the others can measure
    the accuracy.
    """
    order = _random_order(labelled)
    order = order[_first_of_each(labelled.groups.numbers[order])]
    classes = labelled.classes[order]
    order = order[np.bincount(classes)[classes] > 1]
    classes = labelled.classes[order]
    drawn = classes[_first_of_each(classes)]
    if len(drawn) < MIN_CLASSES:
        return None
    size = min(MAX_CHOOSING, max(len(labelled.classes) // 2, 2 * MIN_CLASSES))
    order = order[np.isin(classes, drawn[: min(MANY_CLASSES, size // 2)])]
    return labelled.of_classes(np.sort(_in_proportion(order, labelled.classes[order])[:size]))


def warn_of_usual_settings(n_classes: int) -> None:
    """Warn that default settings are used."""
    warnings.warn(
        f"Of {n_classes} classes fewer than {MIN_CLASSES} have two labels, so left-out labels cannot show which "
        "settings suit the data: the usual settings are taken, and the accuracy is not measured. Label a second sample "
        "of some classes.",
        UserWarning,
        stacklevel=2,
    )


def left_out_rows(labelled: LabelledSet, size: int, *, in_proportion: bool) -> IntArray:
    """Return about `size` labels, in whole groups, that were not used to select settings.

    With `in_proportion`, stratified by class, but at least two of each. Else independent of classes.
    """
    groups = labelled.groups.numbers
    took_part = np.zeros(len(groups), dtype=bool) if labelled.block_of is None else labelled.block_of != NO_BLOCK
    free = ~np.isin(groups, groups[took_part])
    if free.sum() < MIN_LEFT_OUT:
        free[:] = True
    order = _random_order(labelled)
    order = order[free[order]]
    if in_proportion:
        order = _in_proportion(order, labelled.classes[order])
    in_order = groups[order][_first_of_each(groups[order])]
    n_labels = np.cumsum(np.bincount(groups)[in_order])
    return np.flatnonzero(np.isin(groups, in_order[: int(np.searchsorted(n_labels, size)) + 1]))


def _first_of_each(values: IntArray) -> IntArray:
    """Return the index of the first occurrence of each distinct value, ascending."""
    return np.sort(np.unique(values, return_index=True)[1])


def _in_proportion(rows: IntArray, classes: IntArray) -> IntArray:
    """Reorder rows so that any leading part is stratified by class, with at least two of each class."""
    place = places_in_class(classes)
    rank = np.where(place < 2, 0.0, (place + 0.5) / np.bincount(classes)[classes])
    return rows[np.argsort(rank, kind="stable")]


def _random_order(labelled: LabelledSet) -> IntArray:
    """Return a random order of labels by their keys, the same in all members of an ensemble; without keys, by seed."""
    if labelled.keys is None:
        return np.random.RandomState(labelled.seed).permutation(len(labelled.classes))
    return np.argsort(labelled.keys, kind="stable")


class MixtureLimits(NamedTuple):
    """Limits on the mixtures fitted to many labels: the best few whose memory is linear in the labels.

    `ridge_only`: ridge regressions only, since others need memory for labels times classes. The number of functions is
    limited by the size of their Gram matrix: `n_features` are the numeric features and the indicators.
    """

    n_mixtures: int = 2
    ridge_only: bool = False
    n_features: tuple[int, int] = (0, 0)

    @classmethod
    def of(cls, labelled: LabelledSet) -> MixtureLimits:
        """Return the limits for labels."""
        n_indicators = int(labelled.indicator.sum())
        n_features = len(labelled.indicator) - n_indicators, n_indicators
        if not labelled.has_many_classes:
            return cls(n_features=n_features)
        return cls(2 if labelled.n_classes <= MAX_CLASSES_OF_SEVERAL else 1, ridge_only=True, n_features=n_features)

    def allows(self, specs: Sequence[BasisSpec]) -> bool:
        """Return True if all bases of a mixture can be fitted."""
        families = [family_of(spec) for spec in specs]
        n_functions = sum(int(np.dot(one.functions_of, self.n_features)) for one in families)
        fits = n_functions <= MAX_FUNCTIONS
        return fits and all(one.fits_many and (one.uses_ridge or not self.ridge_only) for one in families)

    def best(self, mixtures: Sequence[Mixture]) -> list[Mixture]:
        """Return the best of the mixtures that are within the limits."""
        able = [one for one in mixtures if one.weight and self.allows(one.specs)]
        return sorted(able or [DEFAULT_MIXTURE], key=lambda one: -one.weight)[: self.n_mixtures]


def learn_many_classes(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> Solution:
    """Learn from many labels of many classes; labels not used to select settings measure the accuracy."""
    n_boxes = min(max(MAX_BOXES, labelled.boxes.n_wanted), max(MAX_BOXES, MAX_ACTIVATIONS // len(labelled.classes)))
    design = DesignMatrices(replace(labelled, boxes=labelled.boxes.first(n_boxes)))
    best = MixtureLimits.of(labelled).best(mixtures)
    total = sum(one.weight for one in best)
    rows = left_out_rows(labelled, MAX_LABELS, in_proportion=True)
    groups, builder = labelled.groups.of_rows(rows), SolutionBuilder(labelled, design.scaler, nodes)
    left_out = np.zeros((len(rows), labelled.n_classes))
    for mixture in best:
        share = mixture.weight / total
        bases = [family_of(spec).basis(spec, design) for spec in mixture.specs]
        regression = PrimalRidge(bases, labelled, mixture.ridge)
        builder.add(*regression.terms(share))
        left_out += share * regression.left_out(rows, groups)
    return builder.solution(best, left_out, rows)


class LearntMixture(NamedTuple):
    """A mixture fitted without the held-out labels."""

    predicted: FloatArray  # (n_held_out, n_classes): the scores of labels that were held out
    # returns the terms and the bias, multiplied by a share, after learning all labels
    terms: Callable[[float], tuple[list[Term], FloatArray | float]]


def learn_many_labels(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> Solution:
    """Learn from many labels with mixtures selected on a subset of them."""
    design = DesignMatrices(replace(labelled, boxes=labelled.boxes.first(MAX_BOXES)))
    rows = left_out_rows(labelled, min(MAX_LABELS, len(labelled.classes) // HELD_OUT), in_proportion=False)
    is_held_out = np.zeros(len(labelled.classes), dtype=bool)
    is_held_out[rows] = True
    trees = [one for one in mixtures if isinstance(family_of(one.specs[0]), TreeFamily)][:1]
    able = MixtureLimits.of(labelled)
    others = able.best([one for one in mixtures if one not in trees])
    if trees and others == [DEFAULT_MIXTURE] and DEFAULT_MIXTURE not in mixtures:
        others = []
    weights = np.array([one.weight for one in others]) / (sum(one.weight for one in others) or 1.0)
    learnt = [_learnt(one, design, is_held_out) for one in (*others, *trees)]
    blend = np.zeros((len(rows), labelled.n_classes))
    for weight, one in zip(weights, learnt, strict=False):
        blend += weight * one.predicted
    share, left_out = 0.0, blend
    if trees:
        share, shares = _share_of_trees(blend, learnt[-1].predicted, labelled, rows) if others else (1.0, np.ones(1))
        left_out = blend + shares[:, None] * (learnt[-1].predicted - blend)
    builder, used = SolutionBuilder(labelled, design.scaler, nodes), []
    for one, mixture, own in zip(learnt, (*others, *trees), (*(1.0 - share) * weights, share), strict=False):
        if own > 0.0:
            builder.add(*one.terms(float(own)))
            used.append(mixture._replace(weight=float(own), without=()))
    return builder.solution(used, left_out, rows)


def _learnt(mixture: Mixture, design: DesignMatrices, is_held_out: BoolArray) -> LearntMixture:
    family = family_of(mixture.specs[0])
    if isinstance(family, TreeFamily):
        return _trees(mixture, design, is_held_out)
    return _regression(mixture, design, is_held_out) if family.uses_ridge else _graph(mixture, design, is_held_out)


def _regression(mixture: Mixture, design: DesignMatrices, is_held_out: BoolArray) -> LearntMixture:
    held_out, labelled = np.flatnonzero(is_held_out), design.labelled
    uses_labels = any(family_of(spec).uses_labels for spec in mixture.specs)
    without = design.hiding(is_held_out) if uses_labels else design
    bases = [family_of(spec).basis(spec, without) for spec in mixture.specs]
    regression = PrimalRidge(bases, labelled, mixture.ridge, np.flatnonzero(~is_held_out))
    predicted = regression.predicted(held_out)
    if uses_labels:
        bases = [family_of(spec).basis(spec, design) for spec in mixture.specs]
        regression = PrimalRidge(bases, labelled, mixture.ridge)
    else:
        regression.add(held_out)
    return LearntMixture(predicted, regression.terms)


def _graph(mixture: Mixture, design: DesignMatrices, is_held_out: BoolArray) -> LearntMixture:
    spec, targets = mixture.specs[0], design.labelled.targets
    without, every = (family_of(spec).basis(spec, design) for _ in range(2))
    weights = without.own_weights(np.where(is_held_out[:, None], 0.0, targets))
    assert weights is not None
    predicted = multiply(without.matrix[is_held_out], weights)

    def terms(share: float) -> tuple[list[Term], float]:
        own = every.own_weights(targets)
        assert own is not None
        return every.terms(share * own), 0.0

    return LearntMixture(predicted, terms)


def _trees(mixture: Mixture, design: DesignMatrices, is_held_out: BoolArray) -> LearntMixture:
    spec = mixture.specs[0]
    tried = forest_of(spec, design, np.repeat(~is_held_out[None], N_TREES_TRIED, axis=0))
    predicted = tried.scores_by_tree(design.samples_on(spec.rank_weight)[is_held_out]).mean(axis=0)

    def terms(share: float) -> tuple[list[Term], float]:
        forest = forest_of(spec, design, np.ones((N_TREES, len(is_held_out)), dtype=bool))
        return [TreeTerm(spec.rank_weight, replace(forest, values=forest.values * (share / N_TREES)))], 0.0

    return LearntMixture(predicted, terms)


def _share_of_trees(
    others: FloatArray, trees: FloatArray, labelled: LabelledSet, rows: IntArray
) -> tuple[float, FloatArray]:
    """Return the share of trees with the lowest squared error, and that without the block of each held-out label."""
    counts, blocks = labelled.counts[rows], labelled.blocks[rows]
    difference = trees - others
    gains = counts * (difference * (labelled.targets[rows] - others)).sum(axis=1)
    sizes = counts * (difference**2).sum(axis=1)
    own_gains, own_sizes = np.bincount(blocks, gains), np.bincount(blocks, sizes)
    gain, size = gains.sum(), sizes.sum()
    shares = (gain - own_gains) / np.maximum(size - own_sizes, 1e-12)
    return float(np.clip(gain / max(size, 1e-12), 0.0, 1.0)), np.clip(shares, 0.0, 1.0)[blocks]
