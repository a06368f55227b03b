"""Learning from many labels of a few classes: a ridge regression in the primal, and trees.

Some labels are held out first. What the others predict for them decides the share of the trees, and measures how good
the model is; then all labels are learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sslart._art.algebra import multiply
from sslart._mapping.evidence.bases.base import Term
from sslart._mapping.evidence.bases.trees import TreeFamily, TreeTerm, forest_of
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.many.classes import left_out_rows
from sslart._mapping.evidence.many.learning import MAX_BOXES, MAX_LABELS, Able, LearntFromMany
from sslart._mapping.evidence.many.primal import PrimalRidge
from sslart._mapping.evidence.readout import ReadoutBuilder
from sslart._mapping.evidence.settings import DEFAULT_MIXTURE, Mixture
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

HELD_OUT = 5  # one label in so many is held out, up to MAX_LABELS
N_TREES, N_TREES_TRIED = 128, 48  # that predict, and that show what trees are worth


class Learnt(NamedTuple):
    """One mixture.

    Attributes
    ----------
    predicted : array of shape (n_held_out, n_classes)
        The scores of labels that were held out.
    parts : callable
        Returns the bias and the terms, times a share, after all labels are learnt.
    """

    predicted: FloatArray
    parts: Callable[[float], tuple[FloatArray, list[Term]]]


def learn_many_labels(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> LearntFromMany:
    """Learn from many labels with mixtures that others of the labels have chosen."""
    design = DesignMatrices(replace(labelled, boxes=labelled.boxes.first(MAX_BOXES)))
    rows = left_out_rows(labelled, min(MAX_LABELS, len(labelled.classes) // HELD_OUT), in_proportion=False)
    is_held_out = np.zeros(len(labelled.classes), dtype=bool)
    is_held_out[rows] = True
    trees = [one for one in mixtures if isinstance(family_of(one.specs[0]), TreeFamily)][:1]
    able = Able.of(labelled)
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
    builder = ReadoutBuilder(labelled.n_classes)
    used = []
    for one, mixture, own in zip(learnt, (*others, *trees), (*(1.0 - share) * weights, share), strict=False):
        if own > 0.0:
            bias, terms = one.parts(float(own))
            builder.bias += bias
            builder.add(terms)
            used.append(mixture._replace(weight=float(own), without=()))
    readout = builder.readout(design.scaler, nodes, left_out, labelled.classes[rows], labelled.counts[rows])
    return LearntFromMany(readout, left_out, rows, tuple(used))


def _learnt(mixture: Mixture, design: DesignMatrices, is_held_out: BoolArray) -> Learnt:
    family = family_of(mixture.specs[0])
    if isinstance(family, TreeFamily):
        return _trees(mixture, design, is_held_out)
    return _regression(mixture, design, is_held_out) if family.uses_ridge else _graph(mixture, design, is_held_out)


def _regression(mixture: Mixture, design: DesignMatrices, is_held_out: BoolArray) -> Learnt:
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
    return Learnt(predicted, regression.terms)


def _graph(mixture: Mixture, design: DesignMatrices, is_held_out: BoolArray) -> Learnt:
    spec, targets = mixture.specs[0], design.labelled.targets
    without, every = (family_of(spec).basis(spec, design) for _ in range(2))
    weights = without.own_weights(np.where(is_held_out[:, None], 0.0, targets))
    assert weights is not None
    predicted = multiply(without.matrix[is_held_out], weights)

    def parts(share: float) -> tuple[FloatArray, list[Term]]:
        own = every.own_weights(targets)
        assert own is not None
        return np.zeros(targets.shape[1]), every.terms(share * own)

    return Learnt(predicted, parts)


def _trees(mixture: Mixture, design: DesignMatrices, is_held_out: BoolArray) -> Learnt:
    spec, labelled = mixture.specs[0], design.labelled
    tried = forest_of(spec, design, np.repeat(~is_held_out[None], N_TREES_TRIED, axis=0))
    predicted = tried.scores_by_tree(design.samples_on(spec.rank_weight)[is_held_out]).mean(axis=0)

    def parts(share: float) -> tuple[FloatArray, list[Term]]:
        forest = forest_of(spec, design, np.ones((N_TREES, len(is_held_out)), dtype=bool))
        values = forest.values * (share / N_TREES)
        return np.zeros(labelled.n_classes), [TreeTerm(spec.rank_weight, replace(forest, values=values))]

    return Learnt(predicted, parts)


def _share_of_trees(
    others: FloatArray, trees: FloatArray, labelled: LabelledSet, rows: IntArray
) -> tuple[float, FloatArray]:
    """Return the share of trees of the least squared error, and for each held-out label that without its block."""
    counts, blocks = labelled.counts[rows], labelled.blocks[rows]
    difference = trees - others
    gains = counts * (difference * (labelled.targets[rows] - others)).sum(axis=1)
    sizes = counts * (difference**2).sum(axis=1)
    own_gains, own_sizes = np.bincount(blocks, gains), np.bincount(blocks, sizes)
    gain, size = gains.sum(), sizes.sum()
    shares = (gain - own_gains) / np.maximum(size - own_sizes, 1e-12)
    return float(np.clip(gain / max(size, 1e-12), 0.0, 1.0)), np.clip(shares, 0.0, 1.0)[blocks]
