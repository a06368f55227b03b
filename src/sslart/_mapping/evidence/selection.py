"""Selection of mixtures of bases by exact leave-one-out, and their weighted average."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np

from sslart._art.backend import multiply
from sslart._mapping.evidence.basis import Basis, DualRidge, Fit
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import FAMILIES, TreeFamily, family_of
from sslart._mapping.evidence.large_scale import (
    MAX_CHOOSING,
    MAX_LABELS,
    MixtureLimits,
    learn_many_classes,
    learn_many_labels,
    sample_of_classes,
)
from sslart._mapping.evidence.readout import Solution, SolutionBuilder
from sslart._mapping.evidence.settings import DEFAULT_MIXTURE, N_BLOCKS, NO_BLOCK, BasisSpec, FixedSettings, Mixture
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

N_FOLDS = 5  # for functions that depend on labels; each fold consists of several blocks
Specs = tuple[BasisSpec, ...]
Candidate = tuple[Specs, float]  # bases, and λ
IsWanted = Callable[[FloatArray], bool]
TakingPart = dict[Candidate, BoolArray]  # mask of views: the selection by all labels, and that without each block
MAX_UNSCREENED = 150  # with more labels, candidates are screened on some of them
MIN_SCREENING, N_SCREENING = 50, 200  # labels of either half used for screening
LABELS_PER_CLASS = 3  # with fewer labels per class on average, nothing is screened
FEW_BOXES = 600  # boxes used in screening, for speed
MIN_BASES, USUAL_LABELS = 6, 400  # bases kept for 400 labels; with fewer labels more bases, at the same cost
CLEARLY = 2.0  # standard errors
Item = TypeVar("Item")
TEMPERATURE = 2.0  # optimum of 1 to 8 on tuning sets, flat from 2 to 3; see docs/evidence.md, Variants tried
BOXES_ONLY = ("box",)
MAX_TRIED = 400  # labels used to compare candidates, in cubic time
MAX_MIXTURES = 200  # candidates in the average; 24 were slightly worse
MIN_WEIGHT = 0.001  # of a candidate in the average, relative to the best one
MAX_LOG_WEIGHT = 15.0  # difference of log weights beyond which a candidate has no weight in any view
MAX_LOG_WEIGHT_OF_MANY = 9.0  # the same with many labels, when a block has a small share in the score
FEW_LABELS = 100  # up to here MAX_LOG_WEIGHT holds
MAX_DROPPED = 0.25  # total weight of minor groups of functions that are dropped: as accurate and much faster
ROUNDING = 1e-3  # tolerance of a score that is summed in another order


def ridges_of(candidates: Iterable[Candidate]) -> dict[Specs, list[float]]:
    """Return the values of λ of each of the bases."""
    found: dict[Specs, list[float]] = {}
    for specs, ridge in candidates:
        found.setdefault(specs, []).append(ridge)
    return found


def losses_of(left_out: FloatArray, classes: IntArray) -> FloatArray:
    """Return the loss of each label given its prediction: one if wrong, plus half the squared error."""
    wrong = left_out.argmax(axis=-1) != classes
    right = left_out[..., np.arange(len(classes)), classes]
    return np.asarray(wrong + 0.5 * (np.einsum("...k,...k->...", left_out, left_out) - 2.0 * right + 1.0))


class LooFits:
    """Leave-one-out fits of candidates on one set of labelled samples; each basis is computed once.

    Leave-one-out predictions are exact: in closed form if the basis functions do not depend on labels, else by folds.
    """

    def __init__(self, labelled: LabelledSet, design: DesignMatrices | None = None) -> None:
        self.labelled = labelled
        self.design = DesignMatrices(labelled) if design is None else design
        self._bases: dict[BasisSpec, Basis] = {}
        self._refits: dict[tuple[Specs, tuple[float, ...], frozenset[int]], FloatArray] = {}

    def of_part(self, labelled: LabelledSet, n_boxes: int) -> LooFits:
        """Return the fits on a subset of the labels and the first boxes, on the same scales."""
        part = labelled.with_boxes(labelled.boxes.first(n_boxes))
        return LooFits(part, self.design.of_part(part))

    def basis(self, spec: BasisSpec) -> Basis:
        """Return a basis that depends on all labels."""
        if spec not in self._bases:
            self._bases[spec] = family_of(spec).basis(spec, self.design)
        return self._bases[spec]

    @cached_property
    def blocks(self) -> list[IntArray]:
        """The labels of each non-empty block, in the order of blocks."""
        return [np.flatnonzero(self.labelled.blocks == block) for block in self.block_numbers]

    @cached_property
    def block_numbers(self) -> IntArray:
        """The numbers of the non-empty blocks."""
        return np.unique(self.labelled.blocks)

    def fits(self, specs: Specs, ridges: Sequence[float], is_wanted: IsWanted | None = None) -> Iterator[Fit]:
        """Fit a mixture of bases, for each λ.

        `is_wanted` takes the leave-one-out predictions and returns True to fit also without each block of labels; None:
        never.
        """
        labelled, basis = self.labelled, self.basis(specs[0])
        own = basis.own_fit(labelled.targets, labelled.groups)
        if own is not None:
            if is_wanted is not None and is_wanted(own.left_out):
                own = replace(own, without=basis.own_left_out_without(labelled.targets, labelled.groups, self.blocks))
            yield own
            return
        regression = self.regression(specs)
        if any(family_of(spec).uses_labels for spec in specs):
            yield from self._by_folds(specs, list(regression.fits(ridges)), is_wanted)
        elif is_wanted is None:
            yield from regression.fits(ridges)
        else:
            yield from regression.fits(ridges, self.blocks, is_wanted)

    def regression(self, specs: Specs) -> DualRidge:
        """Return the regression on a mixture of bases."""
        labelled = self.labelled
        gram = self._gram([self.basis(spec) for spec in specs])
        return DualRidge(gram, labelled.targets, labelled.ridge_weights, labelled.groups.several)

    def fits_of(self, candidates: Iterable[Candidate]) -> Iterator[tuple[Candidate, Fit]]:
        """Yield candidates with their fits; candidates with the same bases are fitted together."""
        for specs, ridges in ridges_of(candidates).items():
            yield from (((specs, fit.ridge), fit) for fit in self.fits(specs, ridges))

    @cached_property
    def _counts(self) -> FloatArray:
        """Weight of each label in each view: the selection by all labels, and one without each block of labels."""
        counts = np.repeat(self.labelled.counts[None], 1 + len(self.blocks), axis=0)
        for rows, own in zip(self.blocks, counts[1:], strict=True):
            own[rows] = 0.0
        return counts

    def losses(self, left_out: FloatArray) -> FloatArray:
        """Return the weighted loss of each label given its leave-one-out prediction."""
        return losses_of(left_out, self.labelled.classes) * self.labelled.counts

    def scores(self, fit: Fit) -> FloatArray:
        """Return the score of a fit by view: on all labels, and if available on the labels outside each block."""
        left_out = fit.left_out[None] if fit.without is None else np.concatenate([fit.left_out[None], fit.without])
        return np.asarray((losses_of(left_out, self.labelled.classes) * self._counts[: len(left_out)]).sum(axis=1))

    def by_view(self, values: FloatArray) -> FloatArray:
        """Expand values to all views; the view without an empty block equals that of all labels."""
        if len(values) == 1:
            return values
        found = np.repeat(values[:1], 1 + N_BLOCKS, axis=0)
        found[1 + self.block_numbers] = values[1:]
        return found

    def _gram(self, bases: Sequence[Basis]) -> FloatArray:
        return np.asarray(np.sum([basis.gram for basis in bases], axis=0) / len(bases) + 1.0)

    @cached_property
    def _fold_of(self) -> IntArray:
        return self.labelled.blocks % N_FOLDS

    def _by_folds(self, specs: Specs, fits: Sequence[Fit], is_wanted: IsWanted | None) -> Iterator[Fit]:
        """Yield fits that predict each label without its fold, and if wanted also without the fold of each block."""
        ridges, folds = tuple(fit.ridge for fit in fits), np.unique(self._fold_of).tolist()
        left_out = np.zeros((len(ridges), *self.labelled.targets.shape))
        for fold in folds:
            own = self._fold_of == fold
            left_out[:, own] = self._predicted_without(specs, ridges, fold)[:, own]
        wanted = [place for place, own in enumerate(left_out) if is_wanted is not None and is_wanted(own)]
        those = tuple(ridges[place] for place in wanted)
        without = np.zeros((N_FOLDS, *left_out[wanted].shape))
        for fold in folds if wanted else ():
            own = self._fold_of == fold
            for other in folds:
                found = self._predicted_without(specs, those, fold, other)
                without[other, :, own] = found[:, own].swapaxes(0, 1)
        of_blocks = dict(zip(wanted, without[self.block_numbers % N_FOLDS].swapaxes(0, 1), strict=True))
        for place, fit in enumerate(fits):
            yield replace(fit, left_out=left_out[place], without=of_blocks.get(place))

    def _predicted_without(self, specs: Specs, ridges: tuple[float, ...], *folds: int) -> FloatArray:
        """Return predictions of all labels by a fit without the labels of some folds."""
        key = (specs, ridges, frozenset(folds))
        if key not in self._refits:
            self._refits[key] = self._refit(specs, ridges, np.isin(self._fold_of, folds))
        return self._refits[key]

    def _refit(self, specs: Specs, ridges: tuple[float, ...], hidden: BoolArray) -> FloatArray:
        labelled, known = self.labelled, np.flatnonzero(~hidden)
        found = np.zeros((len(ridges), *labelled.targets.shape))
        if not len(known):
            return found
        design = self.design.get_or_compute(("hiding", hidden.tobytes()), lambda: self.design.hiding(hidden))
        gram = self._gram([family_of(spec).basis(spec, design) for spec in specs])
        weights = None if labelled.ridge_weights is None else labelled.ridge_weights[known]
        regression = DualRidge(gram[np.ix_(known, known)], labelled.targets[known], weights)
        for own, coefficients in zip(found, regression.coefficients(ridges), strict=True):
            own[:] = multiply(gram[:, known], coefficients)
        return found


assert N_BLOCKS % N_FOLDS == 0  # a fold is made of whole blocks, however many labels there are


def screened(trial: LooFits, taking_part: TakingPart, *, is_coarse: bool = False) -> TakingPart:
    """Screen candidates on a subset of labels and boxes, and return the promising ones.

    Labels of even blocks screen for the views without an odd block, and vice versa, so that a label is never used in
    the view without its block. A coarse grid is screened; grid neighbours of the best candidates are added.
    `is_coarse`: whether the grid has few values, of which few bases are kept.
    """
    labelled = trial.labelled
    n, n_few = len(labelled.classes), max(N_SCREENING, LABELS_PER_CLASS * labelled.n_classes)
    if n <= max(MAX_UNSCREENED, LABELS_PER_CLASS * labelled.n_classes):
        return taking_part
    halves = [labelled.restricted(np.flatnonzero(labelled.blocks % 2 == half)).drawn(n_few) for half in (0, 1)]
    if min(len(half.classes) for half in halves) < MIN_SCREENING:  # too few groups
        return taking_part
    grid = _Grid(taking_part)
    if not grid.coarse:
        return taking_part
    parts = [trial.of_part(half, FEW_BOXES) for half in halves]
    losses = [np.array([part.losses(fit.left_out) for _, fit in part.fits_of(grid.coarse)]) for part in parts]
    n_bases = MIN_BASES if is_coarse else max(MIN_BASES, round(MIN_BASES * (USUAL_LABELS / n) ** 2))
    found: TakingPart = {}
    for own, views in (
        (np.hstack(losses), slice(0, 1)),
        (losses[1], slice(1, None, 2)),
        (losses[0], slice(2, None, 2)),
    ):
        for candidate in grid.fine(_best(grid.coarse, own, n_bases), n_bases // 2):
            found.setdefault(candidate, np.zeros_like(taking_part[candidate]))[views] = True
    found |= {one: taking_part[one] for one in grid.alone}
    return {one: found[one] for one in taking_part if one in found}


def _best(candidates: Sequence[Candidate], losses: FloatArray, n_bases: int) -> list[Candidate]:
    """Return the best bases, each with its best λ, and the best of each kind unless it is significantly worse.

    Functions that depend on labels improve most with more labels: the best of them are always kept.
    """
    order = np.argsort(losses.sum(axis=1), kind="stable")
    behind = losses - losses[order[0]]
    is_clear = behind.sum(axis=1) > CLEARLY * np.sqrt((behind**2).sum(axis=1))
    of_specs: dict[Specs, int] = {}
    for place in order.tolist():
        of_specs.setdefault(candidates[place][0], place)
    found, kinds = [], set()
    for rank, (specs, place) in enumerate(of_specs.items()):
        kind = tuple(spec.kind for spec in specs)
        is_new = kind not in kinds
        if (is_new or rank < n_bases) and (not is_clear[place] or (is_new and _gains_from_labels(specs))):
            kinds.add(kind)
            found.append(candidates[place])
    return found


def _gains_from_labels(specs: Specs) -> bool:
    return any(family_of(spec).gains_from_labels for spec in specs)


class _Grid:
    """Grid of all candidates: one axis is the bandwidth of bases of the same kinds and scales, the other one is λ.

    `coarse`: candidates to screen. `alone`: single candidates of families that improve with labels, which are always
    kept.
    """

    def __init__(self, candidates: Iterable[Candidate]) -> None:
        self._ridges = ridges_of(candidates)
        lines: dict[tuple[tuple[str, float], ...], list[Specs]] = {}
        for specs in self._ridges:
            lines.setdefault(tuple((spec.kind, spec.rank_weight) for spec in specs), []).append(specs)
        self._line_of = {specs: line for line in lines.values() for specs in line}
        of_lines = [
            [
                (specs, ridge)
                for specs in line[1::2] or line
                for ridge in self._ridges[specs][1::3] or self._ridges[specs]
            ]
            for line in lines.values()
        ]
        self.alone = {own[0] for own in of_lines if len(own) == 1 and _gains_from_labels(own[0][0])}
        self.coarse = [one for own in of_lines for one in own if one not in self.alone]

    def fine(self, best: Sequence[Candidate], n_centres: int) -> list[Candidate]:
        """Return the best candidates, followed by the grid neighbours of the first `n_centres`."""
        found = list(best)
        for specs, ridge in best[:n_centres]:
            found += [(specs, other) for other in _beside(ridge, self._ridges[specs])]
            found += [(other, ridge) for other in _beside(specs, self._line_of[specs]) if ridge in self._ridges[other]]
        return found


def _beside(one: Item, line: Sequence[Item]) -> list[Item]:
    at = line.index(one)
    return [*line[max(at - 1, 0) : at], *line[at + 1 : at + 2]]


def candidates(design: DesignMatrices, fixed: FixedSettings) -> list[Specs]:
    """Return the bases to try, alone and in pairs; boxes if none of the wanted families applies."""
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
    """Return pairs of boxes with linear functions, with narrower subspaces, or with the graph."""
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
    """Try all candidates, weight them by their leave-one-out score, and fit the average of the best ones.

    The same selection is made without each block of labels, so that the prediction for a left-out label does not depend
    on it in any way. `nodes`: index in the network of each box. For many labels or classes, see `choose_by_some`.
    """
    trial = LooFits(labelled)
    tried = candidates(trial.design, fixed)
    if len(labelled.classes) <= MAX_TRIED:
        mixtures, fits = _weighted(trial, tried, fixed, None, by_block=True)
        return _solution(trial, nodes, mixtures, fits)
    some = labelled.drawn(MAX_TRIED)
    part = trial if len(some.classes) < MAX_TRIED / 2 else trial.of_part(some, len(labelled.boxes.lower))
    return _learnt(trial, nodes, _weighted(part, tried, fixed, None, by_block=True)[0])


def is_chosen_by_some(labelled: LabelledSet) -> bool:
    """Return True if there are so many labels or classes that settings are selected on a subset."""
    return labelled.has_many_classes or len(labelled.classes) > MAX_LABELS


class SubsetChoice(NamedTuple):
    """Settings selected on a subset of many labels or classes."""

    mixtures: tuple[Mixture, ...]
    blocks: IntArray  # the block of each label in the selection; `NO_BLOCK` if it was not used
    by_labels: bool  # False for default settings, if too few classes have two labels


def choose_by_some(labelled: LabelledSet, fixed: FixedSettings) -> SubsetChoice:
    """Select settings on a subset of the labels, and with many classes on a subset of the classes.

    Default settings are used if too few classes have two labels.
    """
    half = len(labelled.classes) // 2
    sample = sample_of_classes(labelled) if labelled.has_many_classes else labelled.subset(min(MAX_CHOOSING, half))
    if sample is None or sample.rows is None:
        return SubsetChoice((_untried(labelled, fixed),), np.full(len(labelled.classes), NO_BLOCK), False)
    trial = LooFits(sample)
    tried = candidates(trial.design, fixed)
    if len(labelled.classes) <= MAX_LABELS:
        mixtures, _ = _weighted(trial, tried, fixed, None, by_block=True)
        return SubsetChoice(tuple(mixtures), labelled.blocks, True)
    able = MixtureLimits.of(labelled)
    trees = [] if able.ridge_only else [one for one in tried if isinstance(family_of(one[0]), TreeFamily)]
    others = [one for one in tried if able.allows(one) and one not in trees]
    if not (others or trees):
        others = candidates(trial.design, fixed._replace(families=BOXES_ONLY))
    mixtures = _weighted(trial, others, fixed, able, by_block=False)[0] if others else []
    mixtures += [Mixture(specs, 0.0, 0.0 if others else 1.0) for specs in trees]  # their share is found on all labels
    blocks = np.full(len(labelled.classes), NO_BLOCK)
    blocks[sample.rows] = labelled.blocks[sample.rows]
    return SubsetChoice(tuple(mixtures), blocks, True)


def _untried(labelled: LabelledSet, fixed: FixedSettings) -> Mixture:
    """Return the default settings."""
    ridge = DEFAULT_MIXTURE.ridge if fixed.ridge is None else fixed.ridge
    bandwidth = DEFAULT_MIXTURE.specs[0].bandwidth if fixed.bandwidth is None else fixed.bandwidth
    usual = BasisSpec("box", fixed.middle_rank_weight, bandwidth)
    able = MixtureLimits.of(labelled)
    tried = [one for one in candidates(DesignMatrices(labelled), fixed) if len(one) == 1 and able.allows(one)]
    return Mixture((usual,) if (usual,) in tried or not tried else tried[len(tried) // 2], ridge)


def _weighted(
    trial: LooFits, candidates: list[Specs], fixed: FixedSettings, able: MixtureLimits | None, *, by_block: bool
) -> tuple[list[Mixture], list[Fit]]:
    """Return the candidates with weight, by their scores, and their fits.

    `able`: limits on the candidates that can be fitted to all labels. `by_block`: whether to repeat the selection
    without each block of labels.
    """
    every = np.ones(1 + N_BLOCKS if by_block else 1, dtype=bool)
    taking_part = {(specs, ridge): every for specs in candidates for ridge in _ridges(specs, fixed)}
    taking_part |= {(one.specs, one.ridge): every for one in fixed.known if able is None or able.allows(one.specs)}
    tried, fits, scores = _tried(trial, screened(trial, taking_part, is_coarse=fixed.is_coarse))
    shares = _group_shares(tried)
    of_scores: dict[bytes, FloatArray] = {}  # views without an empty block are all the same
    for own in scores:
        if own.tobytes() not in of_scores:
            of_scores[own.tobytes()] = _chosen(tried, shares, own, able)
    weights, *others = (of_scores[own.tobytes()] for own in scores)
    without = np.array(others) if by_block else np.repeat(weights[None], N_BLOCKS, axis=0)
    order = np.argsort(-weights, kind="stable")
    kept = order[(weights[order] > 0) | (without[:, order] > 0).any(axis=0)]
    return [tried[one].weighing(weights[one], without[:, one]) for one in kept], [fits[one] for one in kept]


def _tried(trial: LooFits, taking_part: TakingPart) -> tuple[list[Mixture], list[Fit], FloatArray]:
    """Return the candidates with weight in any view, their fits, and their scores (n_views, n_candidates).

    A score is inf in views that screened the candidate out. A fit that is far behind is dropped at once.
    """
    n, n_views = len(trial.labelled.classes), len(next(iter(taking_part.values())))
    reach = ROUNDING - TEMPERATURE * np.log(MIN_WEIGHT)
    reach_of_all = TEMPERATURE * (MAX_LOG_WEIGHT if n <= FEW_LABELS else MAX_LOG_WEIGHT_OF_MANY) + 2 * n / N_BLOCKS
    if not all(views.all() for views in taking_part.values()):
        reach_of_all = np.inf  # after screening each candidate may be the best of a view
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
    return mixtures, [fits[one] for one in kept], np.array([scores[one] for one in kept]).T


def _ridges(specs: Specs, fixed: FixedSettings) -> tuple[float, ...]:
    """Return the values of λ to try for a candidate."""
    family = family_of(specs[0])
    if not family.uses_ridge:
        return (0.0,)
    return family.ridges(fixed) if len(specs) == 1 else fixed.ridges


def _head_start(specs: Specs) -> float:
    """Return the logarithm of the prior weight of a candidate, as a difference of scores."""
    return TEMPERATURE * float(np.log(family_of(specs[0]).prior))


def _chosen(tried: list[Mixture], shares: FloatArray, scores: FloatArray, able: MixtureLimits | None) -> FloatArray:
    """Return the weight of each candidate by its score, 0 for negligible ones; they sum to one."""
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
    """Learn with mixtures selected before."""
    if len(labelled.classes) > MAX_LABELS:
        learn_many = learn_many_classes if labelled.has_many_classes else learn_many_labels
        return learn_many(labelled, mixtures, nodes)
    return _learnt(LooFits(labelled), nodes, mixtures)


def _learnt(trial: LooFits, nodes: IntArray, mixtures: Sequence[Mixture]) -> Solution:
    fits = dict(trial.fits_of((one.specs, one.ridge) for one in mixtures))
    return _solution(trial, nodes, mixtures, [fits[one.specs, one.ridge] for one in mixtures])


def _without_minor(shares: FloatArray, weights: FloatArray, kept: IntArray) -> IntArray:
    """Drop candidates that use groups of functions with a small total weight."""
    by_group = (weights[kept, None] * shares[kept]).sum(axis=0)
    order = np.argsort(by_group, kind="stable")
    order = order[by_group[order] > 0]
    minor = order[np.cumsum(by_group[order]) <= MAX_DROPPED * by_group.sum()]
    stays = ~(shares[kept][:, minor] > 0).any(axis=1)
    return kept[stays] if stays.any() else kept


def _group_shares(tried: list[Mixture]) -> FloatArray:
    """Return the share of each group of functions (a family on a scale) in each candidate."""
    groups = [[(family_of(spec).name, spec.rank_weight) for spec in one.specs] for one in tried]
    place = {group: number for number, group in enumerate(dict.fromkeys(one for own in groups for one in own))}
    shares = np.zeros((len(tried), len(place)))
    for row, own in enumerate(groups):
        for group in own:
            shares[row, place[group]] += 1.0 / len(own)
    return shares


def _solution(trial: LooFits, nodes: IntArray, mixtures: Sequence[Mixture], fits: Sequence[Fit]) -> Solution:
    """Return the weighted sum of the mixtures; leave-one-out predictions use the weights without the label's block."""
    labelled = trial.labelled
    left_out = np.zeros(labelled.targets.shape)
    for mixture, fit in zip(mixtures, fits, strict=True):
        left_out += mixture.weights_without()[labelled.blocks, None] * fit.left_out
    builder = SolutionBuilder(labelled, trial.design.scaler, nodes)
    add_mixtures(builder, trial, mixtures, [fit.coefficients for fit in fits])
    return builder.solution(mixtures, left_out)


def add_mixtures(
    builder: SolutionBuilder, trial: LooFits, mixtures: Sequence[Mixture], fitted: Sequence[FloatArray]
) -> None:
    """Add the weighted sum of the mixtures to a readout, given the coefficients or own weights of each."""
    coefficients: dict[BasisSpec, FloatArray] = {}
    for mixture, own in zip(mixtures, fitted, strict=True):
        if not mixture.weight:
            continue
        if not family_of(mixture.specs[0]).uses_ridge:
            builder.add(trial.basis(mixture.specs[0]).terms(mixture.weight * own))
            continue
        builder.add((), mixture.weight * own.sum(axis=0))
        for spec in mixture.specs:
            share = mixture.weight / len(mixture.specs) * own
            coefficients[spec] = coefficients.get(spec, 0.0) + share
    for spec, coefficient in coefficients.items():
        basis = trial.basis(spec)
        builder.add(basis.terms(basis.weights(coefficient)))
