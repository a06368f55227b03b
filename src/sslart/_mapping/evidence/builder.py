"""What the chosen ways to speak say, collected into one readout, and how honest its probabilities are."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sslart._mapping.evidence.basis import Bent, Block, Carried, Ground, Spoken, Straight
from sslart._mapping.evidence.readout import Curves, Line, Part, Readout, Web
from sslart._mapping.evidence.settings import Key
from sslart._utils.arrays import FloatArray, IntArray


class Said:
    """Collects what candidates say, and makes one readout of it."""

    def __init__(self, ground: Ground, n_classes: int) -> None:
        self.ground = ground
        self.bias = np.zeros(n_classes)
        self.parts: list[Part] = []
        self.webs: list[Web] = []
        self.lines: list[Line] = []
        self.curves: list[Curves] = []

    def add(self, block: Block, weights: FloatArray) -> None:
        """Take in what a block says."""
        if isinstance(block, Spoken):
            self.parts += block.parts(weights)
        elif isinstance(block, Carried):
            self.webs.append(replace(block.web, weights=weights))
        elif isinstance(block, Straight):
            self.lines.append(block.line(weights))
        elif isinstance(block, Bent):
            self.curves.append(block.curves(weights))

    def add_spread(self, key: Key, weights: FloatArray) -> None:
        """Take in what the graph says."""
        self.webs.append(replace(self.ground.web(key.share), weights=weights))

    def readout(self, left_out: FloatArray, places: IntArray) -> Readout:
        """Return all of it, with probabilities that are honest about the predictions left out."""
        parts = [part.pruned() for part in _together(self.parts)]
        spoken = tuple(part for part in parts if len(part.chorus.boxes))
        webs, lines = _one_each(self.webs, "weights"), _one_each(self.lines, "slopes")
        curves = _one_each(self.curves, "heights")
        return Readout(self.ground.ranks, spoken, webs, lines, curves, self.bias, *calibration(left_out, places))


def _together(parts: list[Part]) -> list[Part]:
    """Return the parts with those of one chorus joined: a level for each width, halving."""
    joined: dict[int, list[Part]] = {}
    for part in parts:
        joined.setdefault(id(part.chorus), []).append(part)
    found = []
    for same in joined.values():
        widest = max(part.width for part in same)
        levels = [round(np.log2(widest / part.width)) for part in same]
        weights = np.zeros((max(levels) + 1, *same[0].weights.shape[1:]))
        for level, part in zip(levels, same, strict=True):
            weights[level] += part.weights[0]
        found.append(Part(same[0].chorus, widest, weights))
    return found


def _one_each(those: list[Any], name: str) -> tuple[Any, ...]:
    """Return one for each scale, with what they say (an attribute) added up."""
    joined: dict[float, Any] = {}
    for one in those:
        before = joined.get(one.share)
        if before is not None:
            one = replace(one, **{name: getattr(before, name) + getattr(one, name)})
        joined[one.share] = one
    return tuple(joined.values())


def calibration(left_out: FloatArray, places: IntArray) -> tuple[float, float]:
    """Return by how much to sharpen scores, and how much doubt to keep, so that probabilities are honest."""
    from scipy.optimize import minimize_scalar  # slow to import, and wanted here alone

    n, n_classes = left_out.shape
    doubt = 1.0 / (n + 2.0)
    each = np.arange(n)

    def surprise(log_sharpness: float) -> float:
        sharp = np.exp(log_sharpness) * (left_out - left_out.max(axis=1, keepdims=True))
        shares = np.exp(sharp)
        right = shares[each, places] / shares.sum(axis=1)
        return -float(np.log((1.0 - doubt) * right + doubt / n_classes).sum())

    return float(np.exp(minimize_scalar(surprise, bounds=(-1.0, 4.0), method="bounded").x)), doubt
