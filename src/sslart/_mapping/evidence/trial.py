"""Candidates fitted to labelled samples: what each predicts for labels that it has not seen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from sslart._art.algebra import multiply
from sslart._mapping.evidence.bases.base import Basis
from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.ridge import DualRidge, Fit, left_out_without
from sslart._mapping.evidence.settings import N_BLOCKS, BasisSpec
from sslart._utils.arrays import BoolArray, FloatArray, IntArray

N_FOLDS = 5  # for functions that depend on labels; a fold is several blocks

Specs = tuple[BasisSpec, ...]


class Trial:
    """Candidates on one set of labelled samples, each basis computed once.

    Every prediction for a left-out label is made without it: in closed form where the basis functions follow from the
    samples alone, by folds where they depend on labels.

    Parameters
    ----------
    labelled : LabelledSet
    """

    def __init__(self, labelled: LabelledSet) -> None:
        self.labelled = labelled
        self.design = DesignMatrices(labelled)
        self._bases: dict[BasisSpec, Basis] = {}
        self._refits: dict[tuple[Specs, tuple[float, ...], frozenset[int]], FloatArray] = {}

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

    def fits(self, specs: Specs, ridges: Sequence[float]) -> Iterator[Fit]:
        """Fit a mixture of bases, for each λ."""
        own = self.basis(specs[0]).own_fit(self.labelled.targets, self.labelled.groups)
        if own is not None:
            yield own
            return
        labelled, gram = self.labelled, self._gram([self.basis(spec) for spec in specs])
        regression = DualRidge(gram, labelled.targets, labelled.ridge_weights, labelled.groups.several)
        fits = list(regression.fits(ridges))
        if self._needs_folds(specs):
            left_out = self._left_out_by_folds(specs, tuple(ridges))
            fits = [replace(fit, left_out=own) for fit, own in zip(fits, left_out, strict=True)]
        yield from fits

    def left_out_without_blocks(self, specs: Specs, fits: Sequence[Fit]) -> Iterator[FloatArray]:
        """Yield, for each fit, what is predicted for each label without its group and without each block.

        Arrays of shape (n_blocks, n_labels, n_classes), without meaning for the labels of the block itself.
        """
        targets, groups = self.labelled.targets, self.labelled.groups
        own = self.basis(specs[0]).own_left_out_without(targets, groups, self.blocks)
        if own is not None:
            yield own
        elif self._needs_folds(specs):
            yield from self._without_folds(specs, tuple(fit.ridge for fit in fits))
        else:
            gram, weights = self._gram([self.basis(spec) for spec in specs]), self.labelled.ridge_weights
            yield from left_out_without(gram, targets, fits, self.blocks, weights, groups.several)

    def _needs_folds(self, specs: Specs) -> bool:
        return not self.labelled.as_before and any(family_of(spec).uses_labels for spec in specs)

    def _gram(self, bases: Sequence[Basis]) -> FloatArray:
        return np.asarray(np.sum([basis.gram for basis in bases], axis=0) / len(bases) + 1.0)

    @cached_property
    def _fold_of(self) -> IntArray:
        return self.labelled.blocks % N_FOLDS

    def _left_out_by_folds(self, specs: Specs, ridges: tuple[float, ...]) -> FloatArray:
        """Return what is predicted for each label without its fold, shape (n_ridges, n_labels, n_classes)."""
        found = np.zeros((len(ridges), *self.labelled.targets.shape))
        for fold in np.unique(self._fold_of).tolist():
            own = self._fold_of == fold
            found[:, own] = self._predicted_without(specs, ridges, fold)[:, own]
        return found

    def _without_folds(self, specs: Specs, ridges: tuple[float, ...]) -> Iterator[FloatArray]:
        """Yield the same without the fold of each block too."""
        folds = np.unique(self._fold_of).tolist()
        found = np.zeros((len(ridges), N_FOLDS, *self.labelled.targets.shape))
        for left_out in folds:
            for fold in folds:
                own = self._fold_of == fold
                found[:, left_out, own] = self._predicted_without(specs, ridges, left_out, fold)[:, own]
        for of_ridge in found:
            yield of_ridge[self.block_numbers % N_FOLDS]

    def _predicted_without(self, specs: Specs, ridges: tuple[float, ...], *folds: int) -> FloatArray:
        """Return what is predicted for all labels where those of some folds are not known."""
        key = (specs, ridges, frozenset(folds))
        if key not in self._refits:
            self._refits[key] = self._refit(specs, ridges, np.isin(self._fold_of, folds))
        return self._refits[key]

    def _refit(self, specs: Specs, ridges: tuple[float, ...], hidden: BoolArray) -> FloatArray:
        labelled, known = self.labelled, np.flatnonzero(~hidden)
        found = np.zeros((len(ridges), *labelled.targets.shape))
        if not len(known):
            return found
        design = self.design.once(("hiding", hidden.tobytes()), lambda: self.design.hiding(hidden))
        gram = self._gram([family_of(spec).basis(spec, design) for spec in specs])
        weights = None if labelled.ridge_weights is None else labelled.ridge_weights[known]
        regression = DualRidge(gram[np.ix_(known, known)], labelled.targets[known], weights)
        for own, coefficients in zip(found, regression.coefficients(ridges), strict=True):
            own[:] = multiply(gram[:, known], coefficients)
        return found


assert N_BLOCKS % N_FOLDS == 0  # a fold is made of whole blocks, however many labels there are
