"""Parameters and results of learning, decay of counts with age, and updates of box indices."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import numpy as np

from sslart._data.labels import UNLABELLED
from sslart._data.samples import is_all
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.validation import MAX_COUNT, check_flag, check_number, check_whole


@dataclass(frozen=True)
class LearningParams:
    """Parameters of learning: ρ, α, β, δ, one-to-one mapping, half-life, and the largest number of boxes."""

    vigilance: float
    choice: float
    learning_rate: float
    match_tracking: float = 0.0
    one_to_one: bool = False
    half_life: float | None = None
    max_nodes: int | None = None

    def to_state(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> LearningParams:
        """Return the parameters of a saved state, after checking that they can be."""
        owner, half_life = "a saved model", state["half_life"]
        return cls(
            check_number(owner, "vigilance", state["vigilance"], 0, 1),
            check_number(owner, "choice", state["choice"], 0, open_low=True),
            check_number(owner, "learning_rate", state["learning_rate"], 0, 1, open_low=True),
            check_number(owner, "match_tracking", state["match_tracking"], 0),
            check_flag(owner, "one_to_one", state["one_to_one"]),
            None if half_life is None else check_number(owner, "half_life", half_life, 1),
            check_whole(owner, "max_nodes", state["max_nodes"], 2, or_none=True),
        )

    def lowered_to(self, vigilance: float) -> LearningParams:
        """Return the same with a vigilance of at most the given one."""
        return self if vigilance >= self.vigilance else replace(self, vigilance=vigilance)


@dataclass(frozen=True)
class Fits:
    """Fits of samples to a network, measured before the network learnt them.

    Attributes
    ----------
    boxes : array
        The box of highest choice, -1 where the fit was not measured or there was no box, -2 where it was dropped since.
    familiarity : array
        The match of that box, less what the sample lay beyond the learnt range.
    extents : array
        The sum of the sides of that box, in the unit cube.
    """

    boxes: IntArray
    familiarity: FloatArray
    extents: FloatArray

    @classmethod
    def none(cls, n_samples: int) -> Fits:
        """Return placeholder fits for `n_samples` samples that have not been measured yet."""
        return cls(np.full(n_samples, -1), np.zeros(n_samples), np.zeros(n_samples))

    @classmethod
    def joined(cls, parts: Sequence[Fits]) -> Fits:
        """Return the fits of several parts, one after the other."""
        return cls(*(np.concatenate([getattr(one, field.name) for one in parts]) for field in fields(cls)))

    def of(self, rows: slice | IntArray) -> Fits:
        """Return the fits of some samples; of none where none was measured."""
        return self if not len(self.boxes) else Fits(self.boxes[rows], self.familiarity[rows], self.extents[rows])

    def renamed(self, into: IntArray | None) -> Fits:
        """Return the fits after boxes have been dropped or joined: see `renamed`."""
        return self if into is None else Fits(renamed(self.boxes, into, DROPPED), self.familiarity, self.extents)

    def arguments(self, wanted: Any) -> dict[str, Any]:
        """Return the keyword arguments by which a backend measures the fits of the `wanted` samples."""
        if wanted is None:
            return {}
        return {
            "fit_wanted": wanted,
            "fit_nodes": self.boxes,
            "fit_matches": self.familiarity,
            "fit_extents": self.extents,
        }


NO_FITS = Fits.none(0)
NOT_MEASURED = np.empty(0)


@dataclass(frozen=True)
class LearnResult:
    """Per-sample results of a call that learns.

    Attributes
    ----------
    nodes : array
        The box that learnt it, by its index now; -1 where it has been dropped since.
    predicted : array
        The class predicted before, -1 for none; empty where nothing was predicted.
    fits : Fits
    gaps : array
        How far it lay from the first box that vigilance admits, by the mean of its features in the unit cube; NaN where
        there was no such box. Empty where that was not measured.
    into : array or None
        The index now of each box that there was before, -1 where it was dropped; None where no index has changed.
    """

    nodes: IntArray
    predicted: IntArray
    fits: Fits
    gaps: FloatArray = field(default_factory=lambda: NOT_MEASURED)
    into: IntArray | None = None

    def of(self, rows: slice | IntArray) -> LearnResult:
        """Return the results of the given rows."""
        if is_all(rows, len(self.nodes)):
            return self
        predicted = self.predicted[rows] if len(self.predicted) else self.predicted
        gaps = self.gaps[rows] if len(self.gaps) else self.gaps
        return LearnResult(self.nodes[rows], predicted, self.fits.of(rows), gaps, self.into)

    def renamed(self, into: IntArray | None) -> LearnResult:
        """Return the same results after boxes have been dropped or joined: see `renamed`."""
        if into is None:
            return self
        nodes, fits, both_into = renamed(self.nodes, into), self.fits.renamed(into), both(self.into, into)
        return LearnResult(nodes, self.predicted, fits, self.gaps, both_into)

    def rename(self, into: IntArray) -> None:
        """Update the box indices in place, after boxes have been joined while samples are being learnt."""
        self.nodes[:] = renamed(self.nodes, into)
        self.fits.boxes[:] = renamed(self.fits.boxes, into)

    def n_made_unlabelled(self, targets: IntArray, n_nodes_before: int) -> int:
        """Count the boxes created by unlabelled samples: those whose first winner is an unlabelled sample."""
        known_before = np.maximum.accumulate(np.concatenate([[n_nodes_before - 1], self.nodes]))[:-1]
        return int(((self.nodes > known_before) & (targets == UNLABELLED)).sum())

    @classmethod
    def joined(cls, parts: Sequence[LearnResult]) -> LearnResult:
        """Concatenate the results of consecutive batches, with box indices brought up to date."""
        if len(parts) == 1:
            return parts[0]
        into, renamed_parts = None, []
        for part in reversed(parts):
            renamed_parts.append(part.renamed(into))
            into = both(part.into, into)
        parts = renamed_parts[::-1]
        nodes, predicted, gaps = (
            np.concatenate([getattr(one, name) for one in parts]) for name in ("nodes", "predicted", "gaps")
        )
        return cls(nodes, predicted, Fits.joined([one.fits for one in parts]), gaps, into)


def as_flags(wanted: BoolArray | None, rows: slice) -> Any:
    """Return the `wanted` flags of the given rows as the bytes that a backend takes, or None if `wanted` is None."""
    return None if wanted is None else np.ascontiguousarray(wanted[rows]).view(np.uint8)


PERIODS = 16  # in a half-life: after each, all supports and counts are multiplied by the same factor
LEAST_SUPPORT = 1 / 16  # a box with less is dropped: that of one sample, after four half-lives


@dataclass(frozen=True)
class Fading:
    """Exponential decay of supports and counts, by half after each half-life (at least 1), applied once per period."""

    half_life: float

    @property
    def period(self) -> int:
        """Number of samples between two decays."""
        return max(1, round(min(self.half_life / PERIODS, MAX_COUNT)))

    @property
    def factor(self) -> float:
        """Factor by which supports and counts are multiplied at each decay."""
        return math.exp2(-self.period / self.half_life)

    def is_due(self, n_before: int, n_samples: int) -> bool:
        """Return True if a decay is due within the next `n_samples` samples, after `n_before` earlier ones."""
        return n_before // self.period < (n_before + n_samples) // self.period


def pieces(rows: slice, fading: Fading | None, n_before: int | None) -> Iterator[tuple[slice, bool]]:
    """Cut rows where supports and counts fade; yield each piece, and whether they fade after it.

    `n_before`: number of samples learnt before, read once, so that it may grow meanwhile. None: nothing fades.
    """
    if fading is None or n_before is None:
        yield rows, False
        return
    start, n_until = rows.start, fading.period - n_before % fading.period
    while rows.stop - start >= n_until:
        yield slice(start, start + n_until), True
        start, n_until = start + n_until, fading.period
    if start < rows.stop:
        yield slice(start, rows.stop), False


NO_BOX = -1  # in place of the index of a dropped box
DROPPED = -2  # in a record of how well samples fitted, where -1 is a sample that was not measured


def renamed(boxes: IntArray, into: IntArray | None, dropped: int = NO_BOX) -> IntArray:
    """Return box indices after a change; negative ones are unchanged.

    `into` has the new index of each box that there was before, -1 where it was dropped: `dropped` stands for these.
    None: no change.
    """
    if into is None:
        return boxes
    after = into[np.maximum(boxes, 0)]
    after[after == NO_BOX] = dropped
    return np.where(boxes < 0, boxes, after)


def both(first: IntArray | None, second: IntArray | None) -> IntArray | None:
    """Return two changes, one after the other, as one."""
    if first is None or second is None:
        return second if first is None else first
    return renamed(first, second)
