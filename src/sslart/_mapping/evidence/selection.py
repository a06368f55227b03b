"""Selection of mixtures of bases by exact leave-one-out, and the readout that they make together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sslart._mapping.evidence.bases.trees import TreeFamily
from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import FAMILIES, family_of
from sslart._mapping.evidence.many.classes import MAX_CHOOSING, has_many_classes, sample_of_classes
from sslart._mapping.evidence.many.labels import learn_many_labels
from sslart._mapping.evidence.many.learning import MAX_LABELS, Able, learn_many_classes
from sslart._mapping.evidence.many.screening import screened
from sslart._mapping.evidence.readout import Readout, ReadoutBuilder
from sslart._mapping.evidence.ridge import Fit
from sslart._mapping.evidence.settings import DEFAULT_MIXTURE, N_BLOCKS, NO_BLOCK, BasisSpec, FixedSettings, Mixture
from sslart._mapping.evidence.trial import Candidate, Specs, TakingPart, Trial, ridges_of
from sslart._utils.arrays import FloatArray, IntArray

TEMPERATURE = 2.0  # optimum of 1 to 8 on tuning sets, flat from 2 to 3; see docs/evidence.md, What was tried
BOXES_ONLY = ("box",)
MAX_TRIED = 400  # labels that candidates are tried on
MAX_MIXTURES = 200  # candidates in the average; 24 were a little worse
MIN_WEIGHT = 0.001  # of a candidate in the average, against the best one
MAX_LOG_WEIGHT = 15.0  # what is this far behind the best has no weight in the choice without any block either
MAX_LOG_WEIGHT_OF_MANY = 9.0  # where a block has a small share in the score
FEW_LABELS = 100
MAX_DROPPED = 0.25  # of the weight, in minor groups of functions: as accurate without them, and much faster
ROUNDING = 1e-3  # of a score, which is summed in another order


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


def candidates(design: DesignMatrices, fixed: FixedSettings) -> list[Specs]:
    """Return the bases that are tried, alone and in pairs: boxes where none of the wanted families applies."""
    alone = [
        spec
        for family in FAMILIES
        if fixed.allows(family.name, is_costly=family.is_costly) and family.applies(design)
        for spec in family.grid(fixed)
    ]
    if not alone and fixed.families != BOXES_ONLY:
        return candidates(design, fixed._replace(families=BOXES_ONLY))
    pairs = [] if fixed.is_coarse else _pairs(alone, fixed)
    return [*((spec,) for spec in alone), *pairs]


def _pairs(alone: list[BasisSpec], fixed: FixedSettings) -> list[Specs]:
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
    in no way. `nodes` are those that the boxes stand for. Where labels or classes are many, see `choose_by_some`.
    """
    trial = Trial(labelled)
    tried = candidates(trial.design, fixed)
    if len(labelled.classes) <= MAX_TRIED:
        mixtures, fits = _weighted(trial, tried, fixed, None, by_block=True)
        return _solution(trial, nodes, mixtures, fits)
    some = labelled.drawn(MAX_TRIED)
    part = trial if len(some.classes) < MAX_TRIED / 2 else trial.of_part(some, len(labelled.boxes.lower))
    return _learnt(trial, nodes, _weighted(part, tried, fixed, None, by_block=True)[0])


def is_chosen_by_some(labelled: LabelledSet) -> bool:
    """Return True if there are so many labels or classes that a subset of the labels chooses for all."""
    return has_many_classes(labelled) or len(labelled.classes) > MAX_LABELS


class Choice(NamedTuple):
    """Settings chosen on a subset of many labels or classes.

    Attributes
    ----------
    mixtures : tuple of Mixture
    blocks : array of int of length n_labels
        The block in which each label had part in the choice; `NO_BLOCK` where it had none.
    by_labels : bool
        Whether labels have decided; they cannot where too few classes have two of them.
    """

    mixtures: tuple[Mixture, ...]
    blocks: IntArray
    by_labels: bool


def choose_by_some(labelled: LabelledSet, fixed: FixedSettings) -> Choice:
    """Choose settings by some of the labels, and where classes are many, by those of some classes.

    There is no choice where too few classes have two labels.
    """
    half = len(labelled.classes) // 2
    sample = sample_of_classes(labelled) if has_many_classes(labelled) else labelled.subset(min(MAX_CHOOSING, half))
    if sample is None or sample.rows is None:
        return Choice((_untried(labelled, fixed),), np.full(len(labelled.classes), NO_BLOCK), False)
    trial = Trial(sample)
    tried = candidates(trial.design, fixed)
    if len(labelled.classes) <= MAX_LABELS:
        mixtures, _ = _weighted(trial, tried, fixed, None, by_block=True)
        return Choice(tuple(mixtures), labelled.blocks, True)
    able = Able.of(labelled)
    trees = [] if able.ridge_only else [one for one in tried if isinstance(family_of(one[0]), TreeFamily)]
    others = [one for one in tried if able.allows(one) and one not in trees]
    if not (others or trees):
        others = candidates(trial.design, fixed._replace(families=BOXES_ONLY))
    mixtures = _weighted(trial, others, fixed, able, by_block=False)[0] if others else []
    mixtures += [Mixture(specs, 0.0, 0.0 if others else 1.0) for specs in trees]  # their share is found by all labels
    blocks = np.full(len(labelled.classes), NO_BLOCK)
    blocks[sample.rows] = labelled.blocks[sample.rows]
    return Choice(tuple(mixtures), blocks, True)


def _untried(labelled: LabelledSet, fixed: FixedSettings) -> Mixture:
    """Return the settings that are taken where there is nothing to choose by."""
    ridge = DEFAULT_MIXTURE.ridge if fixed.ridge is None else fixed.ridge
    bandwidth = DEFAULT_MIXTURE.specs[0].bandwidth if fixed.bandwidth is None else fixed.bandwidth
    usual = BasisSpec("box", fixed.middle_rank_weight, bandwidth)
    able = Able.of(labelled)
    tried = [one for one in candidates(DesignMatrices(labelled), fixed) if len(one) == 1 and able.allows(one)]
    return Mixture((usual,) if (usual,) in tried or not tried else tried[len(tried) // 2], ridge)


class Tried(NamedTuple):
    """Candidates with their fits, and their scores in each view, shape (n_views, n_candidates); inf: no part in it."""

    mixtures: list[Mixture]
    fits: list[Fit]
    scores: FloatArray


def _weighted(
    trial: Trial, candidates: list[Specs], fixed: FixedSettings, able: Able | None, *, by_block: bool
) -> tuple[list[Mixture], list[Fit]]:
    """Return the candidates that matter, weighted by their score, and their fits.

    `able`: which can be learnt where there are more labels than those of the trial. `by_block`: whether the same choice
    is made without each block of labels.
    """
    every = np.ones(1 + N_BLOCKS if by_block else 1, dtype=bool)
    taking_part = {(specs, ridge): every for specs in candidates for ridge in _ridges(specs, fixed)}
    taking_part |= {(one.specs, one.ridge): every for one in fixed.known if able is None or able.allows(one.specs)}
    tried, fits, scores = _tried(trial, screened(trial, taking_part, is_coarse=fixed.is_coarse))
    shares = _group_shares(tried)
    of_scores: dict[bytes, FloatArray] = {}  # views without a block that has no labels are all the same
    for own in scores:
        if own.tobytes() not in of_scores:
            of_scores[own.tobytes()] = _chosen(tried, shares, own, able)
    weights, *others = (of_scores[own.tobytes()] for own in scores)
    without = np.array(others) if by_block else np.repeat(weights[None], N_BLOCKS, axis=0)
    order = np.argsort(-weights, kind="stable")
    kept = order[(weights[order] > 0) | (without[:, order] > 0).any(axis=0)]
    return [tried[one].weighing(weights[one], without[:, one]) for one in kept], [fits[one] for one in kept]


def _tried(trial: Trial, taking_part: TakingPart) -> Tried:
    """Try candidates, and return those that have weight in a view; a fit that is too far behind is dropped at once."""
    n, n_views = len(trial.labelled.classes), len(next(iter(taking_part.values())))
    reach = ROUNDING - TEMPERATURE * np.log(MIN_WEIGHT)
    reach_of_all = TEMPERATURE * (MAX_LOG_WEIGHT if n <= FEW_LABELS else MAX_LOG_WEIGHT_OF_MANY) + 2 * n / N_BLOCKS
    if not all(views.all() for views in taking_part.values()):
        reach_of_all = np.inf  # candidates were screened: each may be the best of a view
    fits: dict[Candidate, Fit] = {}
    scores: dict[Candidate, FloatArray] = {}
    lowest = np.full(n_views, np.inf)

    def may_matter(left_out: FloatArray) -> bool:
        return bool(trial.losses(left_out).sum() <= lowest[0] + reach_of_all + _head_start(specs))

    for specs, ridges in ridges_of(taking_part).items():
        for fit in trial.fits(specs, ridges, may_matter if n_views > 1 else None):
            if fit.without is None and n_views > 1:
                continue
            found = trial.by_view(trial.scores(fit) - _head_start(specs))
            own = np.where(taking_part[specs, fit.ridge], found, np.inf)
            np.minimum(lowest, own, out=lowest)
            if (np.isfinite(own) & (own <= lowest + reach)).any():
                fits[specs, fit.ridge], scores[specs, fit.ridge] = replace(fit, without=None), own
    kept = [one for one, own in scores.items() if (np.isfinite(own) & (own <= lowest + reach)).any()]
    mixtures = [Mixture(*one) for one in kept]
    return Tried(mixtures, [fits[one] for one in kept], np.array([scores[one] for one in kept]).T)


def _ridges(specs: Specs, fixed: FixedSettings) -> tuple[float, ...]:
    """Return the values of λ to try for a candidate."""
    family = family_of(specs[0])
    if not family.uses_ridge:
        return (0.0,)
    return family.ridges(fixed) if len(specs) == 1 else fixed.ridges


def _head_start(specs: Specs) -> float:
    """Return the score handicap of a candidate: the prior of its family, as a difference of scores."""
    return TEMPERATURE * float(np.log(family_of(specs[0]).prior))


def _chosen(tried: list[Mixture], shares: FloatArray, scores: FloatArray, able: Able | None) -> FloatArray:
    """Return the weight of each candidate by its score, 0 for those that do not matter; they sum to one.

    `shares`: of groups of functions in the candidates. `able`: which can be learnt, None for all.
    """
    weights = np.exp(-(scores - scores.min()) / TEMPERATURE)
    kept = np.argsort(-weights, kind="stable")[:MAX_MIXTURES]
    kept = kept[weights[kept] >= MIN_WEIGHT * weights[kept[0]]]
    if able is not None:
        kept = np.array([one for one in kept if able.allows(tried[one].specs)][: able.n_mixtures] or kept[:1])
    kept = _without_minor(shares, weights, kept)
    chosen = np.zeros(len(tried))
    chosen[kept] = weights[kept] / weights[kept].sum()
    return chosen


def learn(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> Solution:
    """Learn with mixtures that were chosen before."""
    if len(labelled.classes) > MAX_LABELS:
        learn_many = learn_many_classes if has_many_classes(labelled) else learn_many_labels
        readout, left_out, rows, used = learn_many(labelled, mixtures, nodes)
        groups = labelled.groups.of_rows(rows)
        return Solution(readout, used, left_out, labelled.classes[rows], groups, rows, labelled.class_factors)
    return _learnt(Trial(labelled), nodes, mixtures)


def _learnt(trial: Trial, nodes: IntArray, mixtures: Sequence[Mixture]) -> Solution:
    ridges = ridges_of((one.specs, one.ridge) for one in mixtures)
    fits = {(specs, fit.ridge): fit for specs, those in ridges.items() for fit in trial.fits(specs, those)}
    return _solution(trial, nodes, mixtures, [fits[one.specs, one.ridge] for one in mixtures])


def _without_minor(shares: FloatArray, weights: FloatArray, kept: IntArray) -> IntArray:
    """Return the candidates without those that use groups of functions of small total weight.

    `shares`: of each group of functions (column) in each candidate (row).
    """
    by_group = (weights[kept, None] * shares[kept]).sum(axis=0)
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
    return Solution(readout, tuple(mixtures), left_out, labelled.classes, labelled.groups, rows, labelled.class_factors)
