"""Regressions without each block of labels, in closed form: how far the scores depend on which samples are labelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sslart._mapping.evidence.design import LabelledSet
from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.readout import Readout, SolutionBuilder
from sslart._mapping.evidence.selection import LooFits, add_mixtures
from sslart._mapping.evidence.settings import Mixture
from sslart._utils.arrays import IntArray

N_REPLICATES = 20  # at most: each costs as much as a class


class Replicates(NamedTuple):
    """The scores of regressions without each block of labels."""

    readout: Readout  # the scores of all replicates side by side: (n_samples, n_replicates * n_classes)
    n: int


def replicates_of(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> Replicates:
    """Return the regressions without each group of blocks of labels; settings, boxes and trees are fixed."""
    trial = LooFits(labelled)
    parts = labelled.blocks % N_REPLICATES
    blocks = [np.flatnonzero(parts == part) for part in np.unique(parts)]
    builder = SolutionBuilder(labelled, trial.design.scaler, nodes, len(blocks) * labelled.n_classes)
    ridge, fitted = [], []
    for mixture in mixtures:
        if family_of(mixture.specs[0]).uses_ridge:
            ridge.append(mixture)
            own = trial.regression(mixture.specs).coefficients_without(mixture.ridge, blocks)
            fitted.append(own.swapaxes(0, 1).reshape(len(labelled.classes), -1))
        else:
            builder.add(trial.basis(mixture.specs[0]).own_terms_without(labelled.targets, blocks, mixture.weight))
    add_mixtures(builder, trial, ridge, fitted)
    return Replicates(builder.readout(), len(blocks))
