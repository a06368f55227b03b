"""Labelled samples among boxes, and readouts made of them, for the tests of evidence mapping."""

from __future__ import annotations

import numpy as np

from sslart._mapping.evidence.basis import Basis
from sslart._mapping.evidence.design import BoxSet, DesignMatrices, LabelledSet
from sslart._mapping.evidence.families import FAMILIES, family_of
from sslart._mapping.evidence.readout import Readout, SolutionBuilder
from sslart._mapping.evidence.settings import BasisSpec, FixedSettings


def labelled_set(
    seed: int,
    *,
    n_labels: int = 20,
    n_boxes: int = 40,
    n_features: int = 5,
    n_classes: int = 3,
    missing: float = 0.0,
    indicators: int = 0,
) -> LabelledSet:
    """Labelled samples anywhere in the unit cube among small boxes, some of whose sides no sample has reached."""
    random = np.random.RandomState(seed)
    samples = random.rand(n_labels, n_features)
    lower = random.rand(n_boxes, n_features)
    upper = np.minimum(lower + 0.2 * random.rand(n_boxes, n_features), 1.0)
    samples[:, :indicators] = samples[:, :indicators] > 0.5
    lower[:, :indicators] = upper[:, :indicators] = lower[:, :indicators] > 0.5
    samples[random.rand(n_labels, n_features) < missing] = np.nan
    unreached = random.rand(n_boxes, n_features) < missing
    lower[unreached], upper[unreached] = 1.0, 0.0
    classes = np.concatenate([np.arange(n_classes), random.randint(n_classes, size=n_labels)])[:n_labels]
    boxes = BoxSet(lower, upper, random.randint(1, 9, n_boxes))
    return LabelledSet(samples, classes, n_classes, boxes, np.arange(n_features) < indicators, seed)


def applies(spec: BasisSpec, design: DesignMatrices) -> bool:
    return family_of(spec).applies(design)


def basis_of(spec: BasisSpec, design: DesignMatrices) -> Basis:
    return family_of(spec).basis(spec, design)


def one_of_each(design: DesignMatrices) -> list[BasisSpec]:
    """Bases of every family that is a ridge regression, on every scale, with more than one bandwidth to a group."""
    specs = [
        *(BasisSpec("box", weight, bandwidth) for weight in (0.0, 0.5, 1.0) for bandwidth in (1.0, 0.25)),
        BasisSpec("relevant", 0.5, 0.25),
        *(BasisSpec("feature", weight, 0.5) for weight in (0.0, 0.5)),
        *(BasisSpec("linear", weight, standardise) for weight in (0.0, 0.5) for standardise in (0.0, 1.0)),
        *(BasisSpec("subspace", 0.5, bandwidth) for bandwidth in (0.5, 0.25)),
        *(BasisSpec("carried", 0.0, reach) for reach in (0.9, 0.99)),
    ]
    listed = {spec.kind for spec in specs}
    for family in FAMILIES:
        if family.uses_ridge and family.kind not in listed:
            specs += family.grid(FixedSettings())
    return [spec for spec in specs if applies(spec, design)]


def readout_of(design: DesignMatrices, coefficients: list[tuple[BasisSpec, np.ndarray]]) -> Readout:
    """The readout of some bases, each with coefficients of the labelled samples."""
    labelled = design.labelled
    builder = SolutionBuilder(labelled, design.scaler, np.arange(len(design.boxes.lower)))
    for spec, own in coefficients:
        basis = design.get_or_compute(spec, lambda spec=spec: basis_of(spec, design))
        builder.add(basis.terms(basis.weights(own)))
    return builder.solution((), labelled.targets).readout
