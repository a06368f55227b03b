"""Which mixtures of bases suit the labels, by exact leave-one-out, and the readout that they make together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sslart._mapping.evidence.bases.base import Basis
from sslart._mapping.evidence.copies import LabelGroups
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import FAMILIES, family_of
from sslart._mapping.evidence.readout import Readout, ReadoutBuilder
from sslart._mapping.evidence.ridge import Fit, dual, primal
from sslart._mapping.evidence.settings import DEFAULT_MIXTURE, BasisSpec, FixedSettings, Mixture
from sslart._utils.arrays import FloatArray, IntArray

TEMPERATURE = 2.0
MAX_LABELS = 1000
MAX_MIXTURES = 200
MAX_MIXTURES_OF_MANY = 2
MAX_BOXES_OF_MANY = 1000
MIN_WEIGHT = 0.001
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
    rows : array of int of length n_labels
        Which of the labels that are kept.
    """

    readout: Readout
    mixtures: tuple[Mixture, ...]
    left_out: FloatArray
    classes: IntArray
    groups: LabelGroups
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

    Of many labels a subset is used: `learn_all` goes on with all of them. `nodes` are those that the boxes stand for.
    """
    subset = labelled.subset(MAX_LABELS)
    trial = _Trial(subset, nodes)
    tried: list[Mixture] = []
    fits: list[Fit] = []
    boxes_only = fixed._replace(families=("box",))  # where none of the wanted families applies
    for specs in candidates(trial.design, fixed) or candidates(trial.design, boxes_only):
        for fit in trial.fits(specs, fixed.ridges):
            tried.append(Mixture(specs, fit.ridge))
            fits.append(fit)
    weights = _weights(np.array([fit.left_out for fit in fits]), subset)
    kept = np.argsort(-weights, kind="stable")[:MAX_MIXTURES]
    kept = kept[weights[kept] >= MIN_WEIGHT * weights[kept[0]]]
    if subset is not labelled:
        able = [one for one in kept if _fits_many(tried[one])][:MAX_MIXTURES_OF_MANY]
        kept = np.array(able or kept[:1])
    kept = _without_minor([(tried[one].specs, weights[one]) for one in kept], kept)
    weights = weights[kept] / weights[kept].sum()
    mixtures = tuple(tried[one]._replace(weight=float(weight)) for one, weight in zip(kept, weights, strict=True))
    return trial.solution(mixtures, [fits[one] for one in kept])


def learn(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> Solution:
    """Learn with mixtures that were chosen before."""
    trial = _Trial(labelled.subset(MAX_LABELS), nodes)
    ridges: dict[tuple[BasisSpec, ...], list[float]] = {}
    for mixture in mixtures:
        ridges.setdefault(mixture.specs, []).append(mixture.ridge)
    fits = {(specs, fit.ridge): fit for specs, those in ridges.items() for fit in trial.fits(specs, those)}
    return learn_all(labelled, trial.solution(mixtures, [fits[one.specs, one.ridge] for one in mixtures]))


def learn_all(labelled: LabelledSet, few: Solution) -> Solution:
    """Return what was learnt from a subset of the labels as learnt from all of them."""
    return few if len(few.classes) == len(labelled.classes) else _learn_many(labelled, few)


def _without_minor(weighted: list[tuple[tuple[BasisSpec, ...], float]], kept: IntArray) -> IntArray:
    """Return the candidates without those of families, each on one scale, whose weights together are small."""
    total = sum(weight for _, weight in weighted)
    shares: dict[tuple[str, float], float] = {}
    for specs, weight in weighted:
        for group in map(_group, specs):
            shares[group] = shares.get(group, 0.0) + weight / len(specs) / total
    dropped: set[tuple[str, float]] = set()
    for group, share in sorted(shares.items(), key=lambda one: one[1]):
        if share + sum(shares[one] for one in dropped) <= MAX_DROPPED:
            dropped.add(group)
    stays = [not dropped.intersection(map(_group, specs)) for specs, _ in weighted]
    return kept[stays] if any(stays) else kept


def _group(spec: BasisSpec) -> tuple[str, float]:
    return family_of(spec).name, spec.rank_weight


class _Trial:
    """Candidates fitted to labelled samples, each basis computed once."""

    def __init__(self, labelled: LabelledSet, nodes: IntArray) -> None:
        self.labelled, self.nodes = labelled, nodes
        self.design = DesignMatrices(labelled)
        self.bases: dict[BasisSpec, Basis] = {}

    def _basis(self, spec: BasisSpec) -> Basis:
        if spec not in self.bases:
            self.bases[spec] = family_of(spec).basis(spec, self.design)
        return self.bases[spec]

    def fits(self, specs: tuple[BasisSpec, ...], ridges: Sequence[float]) -> Iterator[Fit]:
        """Fit a mixture of bases, for each λ."""
        targets = self.labelled.targets
        own = self._basis(specs[0]).own_fit(targets, self.labelled.groups)
        if own is not None:
            yield own
            return
        grams = [self._basis(spec).gram for spec in specs]
        gram = np.sum(grams, axis=0) / len(grams) + 1.0
        yield from dual(gram, targets, ridges, self.labelled.groups.several)

    def solution(self, mixtures: Sequence[Mixture], fits: Sequence[Fit]) -> Solution:
        """Return the weighted sum of the chosen mixtures."""
        builder = ReadoutBuilder(self.labelled.n_classes)
        coefficients: dict[BasisSpec, FloatArray] = {}
        left_out = np.zeros(self.labelled.targets.shape)
        for mixture, fit in zip(mixtures, fits, strict=True):
            left_out += mixture.weight * fit.left_out
            if not family_of(mixture.specs[0]).uses_ridge:
                builder.add(self._basis(mixture.specs[0]).terms(mixture.weight * fit.coefficients))
                continue
            builder.bias += mixture.weight * fit.coefficients.sum(axis=0)
            for spec in mixture.specs:
                share = mixture.weight / len(mixture.specs) * fit.coefficients
                coefficients[spec] = coefficients.get(spec, 0.0) + share
        for spec, coefficient in coefficients.items():
            basis = self._basis(spec)
            builder.add(basis.terms(basis.weights(coefficient)))
        classes = self.labelled.classes
        groups = self.labelled.groups
        readout = builder.readout(self.design.scaler, self.nodes, left_out, classes, groups.weights)
        rows = np.arange(len(classes)) if self.labelled.rows is None else self.labelled.rows
        return Solution(readout, tuple(mixtures), left_out, classes, groups, rows)


def _fits_many(mixture: Mixture) -> bool:
    """Return whether a mixture can be learnt from many labels: all but those that need a matrix over labels."""
    return all(family_of(spec).fits_many for spec in mixture.specs)


def _learn_many(labelled: LabelledSet, few: Solution) -> Solution:
    """Learn from many labels in the primal, with the best of what a subset of them chose.

    The scores are those that the dual would give. Probabilities follow from the subset.
    """
    design = DesignMatrices(replace(labelled, boxes=labelled.boxes.first(MAX_BOXES_OF_MANY)))
    able = [one for one in few.mixtures if _fits_many(one)]
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
        scales = np.repeat([len(bases) * basis.scale for basis in bases], [basis.matrix.shape[1] for basis in bases])
        found = share * primal(matrix, np.append(1.0, scales), labelled.targets, mixture.ridge)
        builder.bias += found[0]
        ends = np.cumsum([basis.matrix.shape[1] for basis in bases])[:-1]
        for basis, weights in zip(bases, np.split(found[1:], ends), strict=True):
            builder.add(basis.terms(weights))
    readout = builder.readout(design.scaler, few.readout.nodes, few.left_out, few.classes, few.groups.weights)
    return replace(few, readout=readout)


def _weights(left_out: FloatArray, labelled: LabelledSet) -> FloatArray:
    """Return the weight of each candidate: it falls off with its errors and half its squared error, summed."""
    counts = labelled.groups.weights
    wrong = (left_out.argmax(axis=2) != labelled.classes) @ counts
    squared = ((left_out - labelled.targets) ** 2).sum(axis=2) @ counts
    score = wrong + 0.5 * squared
    weights = np.exp(-(score - score.min()) / TEMPERATURE)
    return np.asarray(weights / weights.sum())
