"""Regressions without each block of labels, in closed form: how far the scores depend on which samples are labelled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sslart._mapping.evidence.design import LabelledSet
from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.readout import Readout, SolutionBuilder
from sslart._mapping.evidence.selection import LooFits, add_mixtures
from sslart._mapping.evidence.settings import Mixture
from sslart._utils.arrays import FloatArray, IntArray


class Replicates(NamedTuple):
    """The scores of regressions without each block of labels."""

    readout: Readout  # the scores of all replicates side by side: (n_samples, n_replicates * n_classes)
    n: int


def replicates_of(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> Replicates:
    """Return the regression without each block of labels; boxes, settings and the structure of trees are fixed."""
    trial = LooFits(labelled)
    blocks = trial.blocks
    fitted = [_without_each(trial, one, blocks) for one in mixtures]
    builder = SolutionBuilder(labelled, trial.design.scaler, nodes, len(blocks) * labelled.n_classes)
    add_mixtures(builder, trial, mixtures, fitted)
    return Replicates(builder.readout(), len(blocks))


def _without_each(trial: LooFits, mixture: Mixture, blocks: Sequence[IntArray]) -> FloatArray:
    """Return the coefficients of a mixture without each block, (n_labels or n_functions, n_blocks * n_classes)."""
    targets = trial.labelled.targets
    if family_of(mixture.specs[0]).uses_ridge:
        found = trial.regression(mixture.specs).coefficients_without(mixture.ridge, blocks).swapaxes(0, 1)
    else:
        own = trial.basis(mixture.specs[0]).own_weights_without(targets, blocks)
        assert own is not None
        found = own
    return found.reshape(len(found), -1)
