"""Estimate of the memory of a fit, before it starts, and fits that take less where there is not enough."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from sslart._art.network import MAX_CELLS
from sslart._data.encoder import Encoder
from sslart._mapping.evidence.boxes import BOXES_PER_FEATURE, MAX_SIDES, MIN_BOXES
from sslart._mapping.evidence.large_scale import MAX_BOXES, MAX_FUNCTIONS, MAX_LABELS
from sslart._mapping.evidence.mapping import MAX_BOXES as MAX_LANDMARKS
from sslart._mapping.evidence.selection import MAX_TRIED
from sslart._mapping.evidence.settings import N_BLOCKS
from sslart._utils.memory import VARIABLE, memory_text, usable_memory
from sslart._utils.text import plural

DOUBLE = 8  # bytes
PER_SIDE = 1.3 * 2 * DOUBLE  # of a box in one feature: two sides, and the search's copy; see docs/benchmarks.md
N_BASES = 24  # kept while settings are chosen: boxes of several bandwidths on several scales, and others
N_CORNERS = 16  # copies of the boxes' corners: on each scale, weighted, and as the kernel packs them
FEW_BOXES, FEW_LABELS = 200, 2 * MAX_LABELS  # of fewer, a fit would be another model


class FitSize(NamedTuple):
    """Size of a fit, and the memory that its parts take, in bytes."""

    n_samples: int
    n_features: int
    n_boxes: int
    n_labels: int  # 0 without evidence
    n_classes: int

    @property
    def coding(self) -> float:
        """Memory of the coded samples."""
        return DOUBLE * (self.n_samples * self.n_features + 2 * min(MAX_CELLS, self.n_samples * self.n_features))

    @property
    def boxes(self) -> float:
        """Memory of the boxes."""
        return PER_SIDE * self.n_boxes * self.n_features

    @property
    def evidence(self) -> float:
        """Memory of the regressions: their functions at the labels, and matrices over labels or functions."""
        if not self.n_labels:
            return 0.0
        n_few = min(self.n_labels, MAX_TRIED)
        n_dual = min(self.n_labels, MAX_LABELS)
        used = min(
            self.n_boxes,
            MAX_LANDMARKS,
            max(MIN_BOXES, min(BOXES_PER_FEATURE * self.n_features, MAX_SIDES // self.n_features)),
        )
        entries = N_CORNERS * used * self.n_features + 2 * min(self.n_boxes, MAX_LANDMARKS) * self.n_features
        entries += N_BASES * n_few * (used + n_few) + N_BLOCKS * n_few * self.n_classes
        entries += 6 * n_dual * (used + n_dual) + 4 * n_dual * self.n_features
        if self.n_labels > MAX_LABELS:
            n_functions = min(MAX_FUNCTIONS, 18 * self.n_features) + MAX_BOXES
            entries += 2 * n_functions**2 + self.n_labels * (2 * MAX_BOXES + 3 * self.n_features + 6 * self.n_classes)
        return DOUBLE * entries

    @property
    def total(self) -> float:
        """Memory of all of it."""
        return self.coding + self.boxes + self.evidence


class FitLimits(NamedTuple):
    """Most boxes and most labels that a fit may have; None: as the parameters say."""

    max_nodes: int | None = None
    max_labels: int | None = None


def limits_by_memory(owner: str, size: FitSize, encoder: Encoder, names: Sequence[str] | None) -> FitLimits:
    """Return limits by which a fit takes no more memory than there is, with a warning where they change it.

    A fit that does not fit even so is refused with a ValueError.
    """
    usable = usable_memory()
    if usable is None or size.total <= usable:
        return FitLimits()
    fewer, limits = size, FitLimits()
    for n_labels in _halves(size.n_labels, FEW_LABELS):
        for n_boxes in _halves(size.n_boxes, FEW_BOXES):
            fewer = size._replace(n_labels=n_labels, n_boxes=n_boxes)
            limits = FitLimits(
                n_boxes if n_boxes < size.n_boxes else None, n_labels if n_labels < size.n_labels else None
            )
            if fewer.total <= usable:
                break
        if fewer.total <= usable:
            break
    need = (
        f"{owner} needs about {memory_text(size.total)} of memory for {plural(size.n_samples, 'row')} with "
        f"{plural(size.n_features, 'feature')}, and {memory_text(usable)} may be used"
    )
    if fewer.total > usable:
        raise ValueError(
            f"{need}, which is too little even with fewer boxes. {_widest(encoder, names)}Learn fewer rows at once (by "
            f"partial_fit, or sslart.dask), leave columns out, free memory, or set {VARIABLE} if more may be used."
        )
    done = {"max_nodes": f"{limits.max_nodes} boxes are learnt", "max_labels": f"{limits.max_labels} labels are used"}
    set_by = [name for name, n in limits._asdict().items() if n is not None]
    warnings.warn(
        f"{need}: at most {' and '.join(done[name] for name in set_by)}. Set {' and '.join(set_by)} to have the same "
        "model on every machine.",
        UserWarning,
        stacklevel=4,
    )
    return limits


def _halves(n: int, least: int) -> list[int]:
    """Return a number and its halves, down to the least that is worth a try."""
    found = [n]
    while found[-1] // 2 >= least:
        found.append(found[-1] // 2)
    return found


def _widest(encoder: Encoder, names: Sequence[str] | None) -> str:
    """Return a sentence on the column that makes most features; none where each makes one."""
    n_features = Counter(feature.column for feature in encoder.features)
    column, most = n_features.most_common(1)[0]
    if most == 1:
        return ""
    name = repr(names[column]) if names and column < len(names) else f"number {column}"
    return f"Column {name} alone makes {most} of the features, one for each of its categories. "
