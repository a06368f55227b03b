"""Which mixtures of bases suit the labels, by exact leave-one-out, and the readout that they make together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import FAMILIES, family_of
from sslart._mapping.evidence.readout import Readout, ReadoutBuilder
from sslart._mapping.evidence.ridge import Fit, primal
from sslart._mapping.evidence.settings import DEFAULT_MIXTURE, N_BLOCKS, BasisSpec, FixedSettings, Mixture
from sslart._mapping.evidence.trial import Trial
from sslart._utils.arrays import FloatArray, IntArray

TEMPERATURE = 2.0
MAX_LABELS = 1000
MAX_MIXTURES = 200
MAX_MIXTURES_OF_MANY = 2
MAX_BOXES_OF_MANY = 1000
MIN_WEIGHT = 0.001
MAX_LOG_WEIGHT = 15.0  # what is this far behind the best has no weight in the choice without any block either
MAX_LOG_WEIGHT_OF_MANY = 9.0  # where a block has a small share in the score
FEW_LABELS = 100
MAX_DROPPED = 0.25


@dataclass(frozen=True, eq=False)
class Solution:
    """A readout, the mixtures it was made of, and what is predicted for each label by the others alone.

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
    counts : array of length n_labels
        What each counts in the choice and in calibration, weights of samples and classes included.
    rows : array of int of length n_labels
        Which of the labels that are kept.
    """

    readout: Readout
    mixtures: tuple[Mixture, ...]
    left_out: FloatArray
    classes: IntArray
    groups: LabelGroups
    counts: FloatArray
    rows: IntArray


def candidates(design: DesignMatrices, fixed: FixedSettings) -> list[tuple[BasisSpec, ...]]:
    """Return the bases that are tried, alone and in pairs."""
    alone = [
        spec
        for family in FAMILIES
        if fixed.allows(family.name) and family.applies(design)
        for spec in family.grid(fixed)
    ]
    return [*((spec,) for spec in alone), *_pairs(alone, fixed)]


def _pairs(alone: list[BasisSpec], fixed: FixedSettings) -> list[tuple[BasisSpec, ...]]:
    """Return boxes together with trends, with smaller subspaces, or with the graph."""
    middle, some = fixed.middle_rank_weight, fixed.middle_bandwidths

    def those(kind: str, *bandwidths: float) -> list[BasisSpec]:
        return [
            spec
            for spec in alone
            if spec.kind == kind and spec.rank_weight == middle and (not bandwidths or spec.bandwidth in bandwidths)
        ]

    carried = [spec for spec in alone if spec.kind == "carried"][:1]
    trends = those("linear") + those("feature", some[0])
    return [
        *((box, trend) for box in those("box", *fixed.bandwidths[::2]) for trend in trends),
        *((box, trend) for box in those("subspace", some[0]) for trend in trends),
        *((box, other) for box in those("box", some[0]) for other in those("subspace", some[0])),
        *((box, other) for box in those("box", some[0]) for other in carried),
    ]


def choose(labelled: LabelledSet, fixed: FixedSettings, nodes: IntArray) -> Solution:
    """Try all candidates, weight them by their leave-one-out score, and learn with those that matter.

    The same choice is made without each block of labels, so that what is predicted for a left-out label depends on it
    in no way. Of many labels a subset is used: `learn_all` goes on with all of them. `nodes` are those that the boxes
    stand for.
    """
    subset = labelled.subset(MAX_LABELS)
    trial = Trial(subset)
    boxes_only = fixed._replace(families=("box",))  # where none of the wanted families applies
    tried: list[Mixture] = []
    fits: list[Fit] = []
    for specs in candidates(trial.design, fixed) or candidates(trial.design, boxes_only):
        for fit in trial.fits(specs, fixed.ridges):
            tried.append(Mixture(specs, fit.ridge))
            fits.append(fit)
    scores = _losses(np.array([fit.left_out for fit in fits]), subset) @ subset.counts
    n = len(subset.classes)
    reach = TEMPERATURE * (MAX_LOG_WEIGHT if n <= FEW_LABELS else MAX_LOG_WEIGHT_OF_MANY) + 2 * n / N_BLOCKS
    near = np.flatnonzero(scores - scores.min() <= reach)
    tried, fits = [tried[one] for one in near], [fits[one] for one in near]
    many = subset is not labelled
    shares = _group_shares(tried)
    weights = _chosen(tried, shares, scores[near], many)
    by_block = np.repeat(weights[None], N_BLOCKS, axis=0)  # a block without labels keeps the weights of the choice
    if not labelled.as_before:
        scores_without = _scores_without_blocks(trial, tried, fits)
        by_block[trial.block_numbers] = [_chosen(tried, shares, own, many) for own in scores_without.T]
    order = np.argsort(-weights, kind="stable")
    kept = order[(weights[order] > 0) | (by_block[:, order] > 0).any(axis=0)]
    mixtures = [tried[one].weighing(weights[one], by_block[:, one]) for one in kept]
    return _solution(trial, nodes, mixtures, [fits[one] for one in kept])


def _scores_without_blocks(trial: Trial, tried: list[Mixture], fits: list[Fit]) -> FloatArray:
    """Return the score of each candidate on the labels outside each block, predicted without the block."""
    counts = np.repeat(trial.labelled.counts[None], len(trial.blocks), axis=0)
    for rows, own in zip(trial.blocks, counts, strict=True):
        own[rows] = 0.0
    scores = np.empty((len(tried), len(trial.blocks)))
    for specs in dict.fromkeys(one.specs for one in tried):
        places = [place for place, one in enumerate(tried) if one.specs == specs]
        found = trial.left_out_without_blocks(specs, [fits[place] for place in places])
        for place, left_out in zip(places, found, strict=True):
            scores[place] = np.einsum("bn,bn->b", _losses(left_out, trial.labelled), counts)
    return scores


def _chosen(tried: list[Mixture], shares: FloatArray, scores: FloatArray, many: bool) -> FloatArray:
    """Return the weight of each candidate by its score, 0 for those that do not matter; they sum to one.

    `shares`: of groups of functions in the candidates. `many`: whether there are more labels than those of the score.
    """
    weights = np.exp(-(scores - scores.min()) / TEMPERATURE)
    kept = np.argsort(-weights, kind="stable")[:MAX_MIXTURES]
    kept = kept[weights[kept] >= MIN_WEIGHT * weights[kept[0]]]
    if many:
        able = [one for one in kept if _fits_many(tried[one])][:MAX_MIXTURES_OF_MANY]
        kept = np.array(able or kept[:1])
    kept = _without_minor(shares, weights, kept)
    chosen = np.zeros(len(tried))
    chosen[kept] = weights[kept] / weights[kept].sum()
    return chosen


def learn(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> Solution:
    """Learn with mixtures that were chosen before."""
    trial = Trial(labelled.subset(MAX_LABELS))
    ridges: dict[tuple[BasisSpec, ...], list[float]] = {}
    for mixture in mixtures:
        ridges.setdefault(mixture.specs, []).append(mixture.ridge)
    fits = {(specs, fit.ridge): fit for specs, those in ridges.items() for fit in trial.fits(specs, those)}
    return learn_all(labelled, _solution(trial, nodes, mixtures, [fits[one.specs, one.ridge] for one in mixtures]))


def learn_all(labelled: LabelledSet, few: Solution) -> Solution:
    """Return what was learnt from a subset of the labels as learnt from all of them."""
    return few if len(few.classes) == len(labelled.classes) else _learn_many(labelled, few)


def _without_minor(shares: FloatArray, weights: FloatArray, kept: IntArray) -> IntArray:
    """Return the candidates without those of families, each on one scale, whose weights together are small.

    `shares`: of each group of functions (column) in each candidate (row).
    """
    by_group = weights[kept] @ shares[kept]
    order = np.argsort(by_group, kind="stable")
    order = order[by_group[order] > 0]
    minor = order[np.cumsum(by_group[order]) <= MAX_DROPPED * by_group.sum()]
    stays = ~(shares[kept][:, minor] > 0).any(axis=1)
    return kept[stays] if stays.any() else kept


def _group_shares(tried: list[Mixture]) -> FloatArray:
    """Return the share of each group of functions, a family on a scale, in each candidate."""
    groups = [[(family_of(spec).name, spec.rank_weight) for spec in one.specs] for one in tried]
    place = {group: number for number, group in enumerate(dict.fromkeys(one for own in groups for one in own))}
    shares = np.zeros((len(tried), len(place)))
    for row, own in enumerate(groups):
        for group in own:
            shares[row, place[group]] += 1.0 / len(own)
    return shares


def _solution(trial: Trial, nodes: IntArray, mixtures: Sequence[Mixture], fits: Sequence[Fit]) -> Solution:
    """Return the weighted sum of the mixtures; a left-out label is predicted with the weights without its block."""
    labelled = trial.labelled
    builder = ReadoutBuilder(labelled.n_classes)
    coefficients: dict[BasisSpec, FloatArray] = {}
    left_out = np.zeros(labelled.targets.shape)
    for mixture, fit in zip(mixtures, fits, strict=True):
        left_out += mixture.weights_without()[labelled.blocks, None] * fit.left_out
        if not mixture.weight:
            continue
        if not family_of(mixture.specs[0]).uses_ridge:
            builder.add(trial.basis(mixture.specs[0]).terms(mixture.weight * fit.coefficients))
            continue
        builder.bias += mixture.weight * fit.coefficients.sum(axis=0)
        for spec in mixture.specs:
            share = mixture.weight / len(mixture.specs) * fit.coefficients
            coefficients[spec] = coefficients.get(spec, 0.0) + share
    for spec, coefficient in coefficients.items():
        basis = trial.basis(spec)
        builder.add(basis.terms(basis.weights(coefficient)))
    readout = builder.readout(trial.design.scaler, nodes, left_out, labelled.classes, labelled.counts)
    rows = np.arange(len(labelled.classes)) if labelled.rows is None else labelled.rows
    return Solution(readout, tuple(mixtures), left_out, labelled.classes, labelled.groups, labelled.counts, rows)


def _fits_many(mixture: Mixture) -> bool:
    """Return whether a mixture can be learnt from many labels: all but those that need a matrix over labels."""
    return all(family_of(spec).fits_many for spec in mixture.specs)


def _learn_many(labelled: LabelledSet, few: Solution) -> Solution:
    """Learn from many labels in the primal, with the best of what a subset of them chose.

    The scores are those that the dual would give. Probabilities follow from the subset.
    """
    design = DesignMatrices(replace(labelled, boxes=labelled.boxes.first(MAX_BOXES_OF_MANY)))
    able = [one for one in few.mixtures if one.weight and _fits_many(one)]
    best = sorted(able or [DEFAULT_MIXTURE], key=lambda one: -one.weight)[:MAX_MIXTURES_OF_MANY]
    total = sum(one.weight for one in best)
    builder = ReadoutBuilder(labelled.n_classes)
    for mixture in best:
        share = mixture.weight / total
        bases = [family_of(spec).basis(spec, design) for spec in mixture.specs]
        own = bases[0].own_weights(labelled.targets)
        if own is not None:
            builder.add(bases[0].terms(share * own))
            continue
        matrix = np.hstack([np.ones((len(labelled.classes), 1)), *(basis.matrix for basis in bases)])
        targets = labelled.targets
        if labelled.ridge_weights is not None:
            root = np.sqrt(labelled.ridge_weights)[:, None]
            matrix, targets = matrix * root, targets * root
        scales = np.repeat([len(bases) * basis.scale for basis in bases], [basis.matrix.shape[1] for basis in bases])
        found = share * primal(matrix, np.append(1.0, scales), targets, mixture.ridge)
        builder.bias += found[0]
        ends = np.cumsum([basis.matrix.shape[1] for basis in bases])[:-1]
        for basis, weights in zip(bases, np.split(found[1:], ends), strict=True):
            builder.add(basis.terms(weights))
    readout = builder.readout(design.scaler, few.readout.nodes, few.left_out, few.classes, few.counts)
    return replace(few, readout=readout)


def _losses(left_out: FloatArray, labelled: LabelledSet) -> FloatArray:
    """Return what each label adds to a score, given what is predicted for it: one if wrong, half the squared error."""
    wrong = left_out.argmax(axis=-1) != labelled.classes
    return np.asarray(wrong + 0.5 * ((left_out - labelled.targets) ** 2).sum(axis=-1))
