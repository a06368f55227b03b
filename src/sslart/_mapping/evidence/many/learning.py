"""Learning from many labels of many classes with mixtures that some of the labels have chosen, in the primal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sslart._mapping.evidence.design import DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import family_of
from sslart._mapping.evidence.many.classes import has_many_classes, left_out_rows
from sslart._mapping.evidence.many.primal import PrimalRidge
from sslart._mapping.evidence.readout import Readout, ReadoutBuilder
from sslart._mapping.evidence.settings import DEFAULT_MIXTURE, BasisSpec, Mixture
from sslart._utils.arrays import FloatArray, IntArray

MAX_LABELS = 1000  # that take part in the dual, or are left out to measure quality
MAX_BOXES = 1000  # or as many as the classes need
MAX_ACTIVATIONS = 125_000_000  # labels times boxes
MAX_CLASSES_OF_SEVERAL = 1000  # of more, one mixture is learnt


class Able(NamedTuple):
    """Limits on the mixtures fitted to many labels: the best few that need no matrix over labels.

    `ridge_only`: those of a ridge regression, since others need memory for labels times classes.
    """

    n_mixtures: int = 2
    ridge_only: bool = False

    @classmethod
    def of(cls, labelled: LabelledSet) -> Able:
        """Return it for a number of classes."""
        if not has_many_classes(labelled):
            return cls()
        return cls(2 if labelled.n_classes <= MAX_CLASSES_OF_SEVERAL else 1, ridge_only=True)

    def allows(self, specs: Sequence[BasisSpec]) -> bool:
        """Return True if all bases of a mixture can be fitted."""
        families = [family_of(spec) for spec in specs]
        return all(one.fits_many and (one.uses_ridge or not self.ridge_only) for one in families)

    def best(self, mixtures: Sequence[Mixture]) -> list[Mixture]:
        """Return the best of some mixtures that can be learnt."""
        able = [one for one in mixtures if one.weight and self.allows(one.specs)]
        return sorted(able or [DEFAULT_MIXTURE], key=lambda one: -one.weight)[: self.n_mixtures]


class LearntFromMany(NamedTuple):
    """A readout, out-of-sample scores of some labels, (n_rows, n_classes), and the mixtures of the readout."""

    readout: Readout
    left_out: FloatArray
    rows: IntArray
    mixtures: tuple[Mixture, ...]


def learn_many_classes(labelled: LabelledSet, mixtures: Sequence[Mixture], nodes: IntArray) -> LearntFromMany:
    """Learn from many labels of many classes.

    Labels that had no part in the choice of the mixtures are left out to measure how good it is.
    """
    n_boxes = min(max(MAX_BOXES, labelled.boxes.n_wanted), max(MAX_BOXES, MAX_ACTIVATIONS // len(labelled.classes)))
    design = DesignMatrices(replace(labelled, boxes=labelled.boxes.first(n_boxes)))
    best = Able.of(labelled).best(mixtures)
    total = sum(one.weight for one in best)
    rows = left_out_rows(labelled, MAX_LABELS, in_proportion=True)
    groups = labelled.groups.of_rows(rows)
    builder = ReadoutBuilder(labelled.n_classes)
    left_out = np.zeros((len(rows), labelled.n_classes))
    for mixture in best:
        share = mixture.weight / total
        bases = [family_of(spec).basis(spec, design) for spec in mixture.specs]
        regression = PrimalRidge(bases, labelled, mixture.ridge)
        bias, terms = regression.terms(share)
        builder.bias += bias
        builder.add(terms)
        left_out += share * regression.left_out(rows, groups)
    readout = builder.readout(design.scaler, nodes, left_out, labelled.classes[rows], labelled.counts[rows])
    return LearntFromMany(readout, left_out, rows, tuple(best))
