"""Leave-one-out fits of candidate settings to labelled samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from sslart._art.algebra import multiply
from sslart._mapping.evidence.bases.base import Basis
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.ridge import DualRidge, Fit
from sslart._mapping.evidence.settings import N_BLOCKS, BasisSpec
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

N_FOLDS = 5  # for functions that depend on labels; a fold is several blocks

Specs = tuple[BasisSpec, ...]
Candidate = tuple[Specs, float]  # bases, and λ
IsWanted = Callable[[FloatArray], bool]
TakingPart = dict[Candidate, BoolArray]  # in which views: the choice by all labels, then that without each block


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


class Trial:
    """Candidates on one set of labelled samples, each basis computed once.

    Every prediction for a left-out label is made without it: in closed form where the basis functions follow from the
    samples alone, by folds where they depend on labels.

    Parameters
    ----------
    labelled : LabelledSet
    design : DesignMatrices or None
        Those of the set; None: made of it.
    """

    def __init__(self, labelled: LabelledSet, design: DesignMatrices | None = None) -> None:
        self.labelled = labelled
        self.design = DesignMatrices(labelled) if design is None else design
        self._bases: dict[BasisSpec, Basis] = {}
        self._refits: dict[tuple[Specs, tuple[float, ...], frozenset[int]], FloatArray] = {}

    def of_part(self, labelled: LabelledSet, n_boxes: int) -> Trial:
        """Return candidates on a part of the labels and the first boxes, on the same scales."""
        part = labelled.with_boxes(labelled.boxes.first(n_boxes))
        return Trial(part, self.design.of_part(part))

    def basis(self, spec: BasisSpec) -> Basis:
        """Return a basis that depends on all labels."""
        if spec not in self._bases:
            self._bases[spec] = family_of(spec).basis(spec, self.design)
        return self._bases[spec]

    @cached_property
    def blocks(self) -> list[IntArray]:
        """The labels of each block that has some, in the order of blocks."""
        return [np.flatnonzero(self.labelled.blocks == block) for block in self.block_numbers]

    @cached_property
    def block_numbers(self) -> IntArray:
        """The numbers of the blocks that have labels."""
        return np.unique(self.labelled.blocks)

    def fits(self, specs: Specs, ridges: Sequence[float], is_wanted: IsWanted | None = None) -> Iterator[Fit]:
        """Fit a mixture of bases, for each λ.

        `is_wanted`: whether what is predicted for left-out labels makes it worth while to fit without each block of
        labels too; None: never.
        """
        labelled, basis = self.labelled, self.basis(specs[0])
        own = basis.own_fit(labelled.targets, labelled.groups)
        if own is not None:
            if is_wanted is not None and is_wanted(own.left_out):
                own = replace(own, without=basis.own_left_out_without(labelled.targets, labelled.groups, self.blocks))
            yield own
            return
        gram = self._gram([self.basis(spec) for spec in specs])
        regression = DualRidge(gram, labelled.targets, labelled.ridge_weights, labelled.groups.several)
        if self._needs_folds(specs):
            yield from self._by_folds(specs, list(regression.fits(ridges)), is_wanted)
        elif is_wanted is None:
            yield from regression.fits(ridges)
        else:
            yield from regression.fits(ridges, self.blocks, is_wanted)

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
        """Return the score of a fit, and where it was fitted without each block, that on the labels outside each."""
        left_out = fit.left_out[None] if fit.without is None else np.concatenate([fit.left_out[None], fit.without])
        return np.asarray((losses_of(left_out, self.labelled.classes) * self._counts[: len(left_out)]).sum(axis=1))

    def by_view(self, values: FloatArray) -> FloatArray:
        """Return values by view; the choice without a block that has no labels is that by all."""
        if len(values) == 1:
            return values
        found = np.repeat(values[:1], 1 + N_BLOCKS, axis=0)
        found[1 + self.block_numbers] = values[1:]
        return found

    def _needs_folds(self, specs: Specs) -> bool:
        return any(family_of(spec).uses_labels for spec in specs)

    def _gram(self, bases: Sequence[Basis]) -> FloatArray:
        return np.asarray(np.sum([basis.gram for basis in bases], axis=0) / len(bases) + 1.0)

    @cached_property
    def _fold_of(self) -> IntArray:
        return self.labelled.blocks % N_FOLDS

    def _by_folds(self, specs: Specs, fits: Sequence[Fit], is_wanted: IsWanted | None) -> Iterator[Fit]:
        """Yield fits where each label is predicted without its fold, and where wanted without that of each block."""
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
