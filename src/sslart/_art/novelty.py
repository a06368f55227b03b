"""Novelty detection: a sample is novel if it fits the model worse than almost all learnt samples would.

Calibrated on jackknife fits, and in a stream on fits measured before learning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np

from sslart._art.boxes import DROPPED, NO_BOX, NO_FITS, Fits, LearningParams, renamed
from sslart._art.geometry import SIZE_SHARE
from sslart._art.network import Network, RowLearnt
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray
from sslart._utils.cache import Deferred, changed
from sslart._utils.validation import MAX_COUNT, WITHOUT_SAMPLES, require, saved_array, saved_whole

MAX_IN_BLOCK = 100  # measured samples per block, on average: bounds the memory of an endless stream
MAX_LATER = 200  # calls whose fits are stored before they are merged, so that a call of one row is cheap
FIRST_BLOCK = 20  # samples in the first block of a stream
SHORTER = 4  # a block has a quarter as many samples as all before it
N_BLOCKS = 3  # the calibration uses the last three complete blocks
CHECKED_SHARES = (0.05, 0.01)  # shares of false alarms at which a block without any is taken for filtered
NUMBERS = ("n_learnt", "block", "start", "end")
MIN_EXPECTED = 3  # expected badly fitting samples in a block: with fewer, finding none proves nothing


@dataclass(frozen=True, eq=False)
class FitRecords:
    """Fits of samples, each measured before the sample was learnt or with the sample left out.

    Attributes
    ----------
    keys : array of uint64
        Hash of each sample.
    familiarity : array
        Mean over the members of an ensemble.
    boxes, extents : arrays of shape (n_samples, n_members)
        The best box of each member, -2 where it has been dropped since, and the sum of its side lengths then.
    blocks : array of int
        The block of the stream that each sample came in.
    """

    keys: KeyArray
    familiarity: FloatArray
    boxes: IntArray
    extents: FloatArray
    blocks: IntArray

    @classmethod
    def of(cls, keys: KeyArray, fits: Sequence[Fits], block: int) -> FitRecords:
        """Return the fits of the samples that every member has measured."""
        boxes = np.stack([one.boxes for one in fits], axis=1)
        rows = np.flatnonzero((boxes != NO_BOX).all(axis=1))
        familiarity = np.mean([one.familiarity[rows] for one in fits], axis=0)
        extents = np.stack([one.extents[rows] for one in fits], axis=1)
        return cls(keys[rows], familiarity, boxes[rows], extents, np.full(len(rows), block))

    @classmethod
    def none(cls, n_members: int) -> FitRecords:
        """Return an empty record."""
        return cls.of(np.empty(0, dtype=np.uint64), [Fits.none(0)] * n_members, 0)

    def __len__(self) -> int:
        return len(self.keys)

    def rows(self, rows: IntArray | BoolArray | slice) -> FitRecords:
        """Return some of the fits."""
        return FitRecords(
            self.keys[rows], self.familiarity[rows], self.boxes[rows], self.extents[rows], self.blocks[rows]
        )

    def and_new(self, later: FitRecords) -> FitRecords:
        """Return these fits and later ones without duplicates of samples."""
        both = FitRecords(
            *(np.concatenate([getattr(self, field.name), getattr(later, field.name)]) for field in fields(self))
        )
        first = np.unique(both.keys, return_index=True)[1]
        return both if len(first) == len(both) else both.rows(np.sort(first))


class Measured(NamedTuple):
    """Keys and pre-learning fits of the samples of one call, and new box indices if any have changed."""

    keys: KeyArray
    fits: Fits
    into: IntArray | None = None


class RowFit(NamedTuple):
    """The key and the fit of a single row, as plain numbers for speed."""

    key: int
    fit: tuple[int, float, float]

    def measured(self) -> tuple[KeyArray, list[Fits]]:
        """Return the same as arrays."""
        return np.array([self.key], dtype=np.uint64), [_fits_of(self.fit)]


def _fits_of(fit: tuple[int, float, float]) -> Fits:
    return Fits(*(np.array([value]) for value in fit))


class LeftOut(NamedTuple):
    """Jackknife fits of samples learnt in the first call of a network, with their keys."""

    fits: Deferred[tuple[KeyArray, Fits]]
    n_learnt: int


@dataclass(frozen=True, eq=False)
class NoveltyCalibration:
    """A bounded, immutable record of the fits of samples before they were learnt, weighted towards recent samples.

    `fit` leaves samples out in turn. In a stream samples are measured before they are learnt. The stream is divided
    into blocks, each a quarter as long as all samples before it; the last three complete blocks count. The record does
    not depend on how the stream is split into calls.

    Attributes
    ----------
    earlier : Deferred
        The fits of all calls but the last ones.
    later : tuple of (keys, list of Fits) or RowFit
        The fits of the last calls, by member of an ensemble, and of single rows.
    n_learnt : int
        Number of samples learnt.
    block, start, end : int
        Number of the current block, and the sample counts at which it starts and ends.
    longest : int or None
        The maximum length of a block, with a half-life; None: no limit.
    is_final : bool
        Whether it comes from a file without samples. Duplicates cannot be recognised then, so nothing can be learnt.
    """

    earlier: Deferred[FitRecords]
    later: tuple[tuple[KeyArray, list[Fits]] | RowFit, ...] = ()
    n_learnt: int = 0
    block: int = 0
    start: int = 0
    end: int = FIRST_BLOCK
    longest: int | None = None
    is_final: bool = False

    @classmethod
    def of_stream(cls, n_members: int = 1) -> NoveltyCalibration:
        """Return the calibration of a model that has learnt nothing yet."""
        return cls(Deferred(lambda: FitRecords.none(n_members)))

    @classmethod
    def of_left_out(cls, members: Sequence[LeftOut]) -> NoveltyCalibration:
        """Return the calibration of a model whose members all learnt the same samples in one call."""

        def records() -> FitRecords:
            found = [member.fits.get() for member in members]
            keys = reduce(np.intersect1d, [keys for keys, _ in found])
            return FitRecords.of(keys, [fits.of(np.searchsorted(own, keys)) for own, fits in found], 0)

        return cls.of_records(Deferred(records), members[0].n_learnt)

    @classmethod
    def of_records(cls, records: Deferred[FitRecords], n_learnt: int) -> NoveltyCalibration:
        """Return the calibration of a model that has learnt `n_learnt` samples, with all fits in block 0."""
        return cls(records, (), n_learnt, 1, n_learnt, _end_after(n_learnt))

    @cached_property
    def records(self) -> FitRecords:
        """All fits that are kept."""
        earlier = self.earlier.get()
        if not self.later:
            return earlier
        later = [one.measured() if isinstance(one, RowFit) else one for one in self.later]
        keys = np.concatenate([keys for keys, _ in later])
        members = zip(*(fits for _, fits in later), strict=True)
        return earlier.and_new(FitRecords.of(keys, [Fits.joined(one) for one in members], self.block))

    def fading(self, half_life: float | None) -> NoveltyCalibration:
        """Return the calibration of a model with a half-life, which limits the length of a block."""
        self.check_learns()
        longest = None if half_life is None else max(FIRST_BLOCK, round(half_life))
        if longest == self.longest:
            return self
        end = self.end if longest is None else min(self.end, max(self.n_learnt + 1, self.start + longest))
        return replace(self, end=end, longest=longest)

    def check_learns(self) -> None:
        """Raise a ValueError if the model was saved without samples, so that it cannot learn."""
        if self.is_final:
            raise ValueError(WITHOUT_SAMPLES)

    def without_samples(self, networks: Sequence[Network]) -> NoveltyCalibration:
        """Return an equivalent calibration for networks that no longer change, without the keys of samples."""
        return self if self.is_final else self._final(self.familiarity(networks), len(networks))

    def _final(self, familiarity: FloatArray, n_members: int) -> NoveltyCalibration:
        """Return the calibration without samples, given the familiarities of its samples, ascending."""
        n = len(familiarity)
        boxes, extents = np.full((n, n_members), DROPPED), np.zeros((n, n_members))
        keys, blocks = np.arange(n, dtype=np.uint64), np.zeros(n, dtype=np.int64)
        records = FitRecords(keys, familiarity, boxes, extents, blocks)
        return replace(self, earlier=Deferred(lambda: records), later=(), is_final=True)

    def wanted(self, keys: KeyArray) -> BoolArray | None:
        """Return a mask of the next samples to measure before they are learnt, or None if there are none."""
        share = MAX_IN_BLOCK / (self.end - self.start)
        if len(keys) == 1 and share < 1:  # the next sample is in the current block
            return None if keys.item(0) >= int(share * 2.0**64) else np.ones(1, dtype=bool)
        parts = [
            np.ones(rows.stop - rows.start, dtype=bool) if share >= 1 else keys[rows] < np.uint64(share * 2.0**64)
            for rows, share in self._parts_of_next(len(keys))
        ]
        wanted = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return wanted if wanted.any() else None

    @property
    def measure_below(self) -> int | None:
        """Upper limit of the keys of samples to measure; None: no limit."""
        share = MAX_IN_BLOCK / (self.end - self.start)
        return None if share >= 1 else int(share * 2.0**64)

    def adding_row(self, row: RowLearnt) -> NoveltyCalibration:
        """Return the calibration after one further row has been learnt."""
        if self.n_learnt + 1 < self.end and len(self.later) < MAX_LATER:
            later = self.later if row.fit is None else (*self.later, RowFit(row.key, row.fit))
            return changed(self, later=later, n_learnt=self.n_learnt + 1)
        keys = np.array([row.key], dtype=np.uint64)
        return self.adding([Measured(keys, NO_FITS if row.fit is None else _fits_of(row.fit))])

    def adding(self, members: Sequence[Measured]) -> NoveltyCalibration:
        """Return the calibration after further samples have been learnt."""
        now, keys = self._renamed([member.into for member in members]), members[0].keys
        if self.n_learnt + len(keys) < self.end:
            return now._with(keys, [member.fits for member in members])
        for rows, _ in self._parts_of_next(len(keys)):
            now = now._with(keys[rows], [member.fits.of(rows) for member in members])
            if now.n_learnt == now.end:
                earlier = Deferred(now._accepted)
                earlier.get()
                end = _end_after(now.end, now.longest)
                now = NoveltyCalibration(earlier, (), now.end, now.block + 1, now.end, end, now.longest)
        return now

    def _renamed(self, into: Sequence[IntArray | None]) -> NoveltyCalibration:
        """Return the calibration after boxes of the members have been dropped or joined."""
        if all(one is None for one in into):
            return self
        columns = zip(self.records.boxes.T, into, strict=True)
        boxes = np.stack([renamed(own, change, DROPPED) for own, change in columns], axis=1)
        records = replace(self.records, boxes=boxes)
        return replace(self, earlier=Deferred(lambda: records), later=())

    def _with(self, keys: KeyArray, fits: list[Fits]) -> NoveltyCalibration:
        """Return the calibration with further samples of the current block."""
        n_learnt, earlier, later = self.n_learnt + len(keys), self.earlier, self.later
        if len(fits[0].boxes):
            rows = np.flatnonzero(fits[0].boxes != NO_BOX)
            later = (*later, (keys, fits) if len(rows) == len(keys) else (keys[rows], [one.of(rows) for one in fits]))
        if len(later) > MAX_LATER:
            records = NoveltyCalibration(earlier, later, n_learnt, self.block).records
            earlier, later = Deferred(lambda: records), ()
        return NoveltyCalibration(earlier, later, n_learnt, self.block, self.start, self.end, self.longest)

    def familiarity(self, networks: Sequence[Network]) -> FloatArray:
        """Return the familiarity of the recorded samples with respect to the current boxes, ascending.

        A box that has grown since fits every sample worse by its size. A dropped box counts as it was.
        """
        return np.sort(self.up_to_date(networks).familiarity)

    def up_to_date(self, networks: Sequence[Network]) -> FitRecords:
        """Return the fits of the blocks in use, corrected for the growth of boxes since they were measured."""
        earlier = self.earlier.get()
        used = earlier.rows(earlier.blocks < self.block)  # all later ones are of the current block
        present = [network.nodes.extents(np.maximum(used.boxes[:, one], 0)) for one, network in enumerate(networks)]
        extents = np.where(used.boxes == DROPPED, used.extents, np.stack(present, axis=1))
        grown = [
            (extents[:, member] - used.extents[:, member]) / network.nodes.n_features
            for member, network in enumerate(networks)
        ]
        familiarity = np.clip(used.familiarity - SIZE_SHARE * np.mean(grown, axis=0), 0.0, 1.0)
        return replace(used, familiarity=familiarity, extents=extents)

    def _parts_of_next(self, n_samples: int) -> list[tuple[slice, float]]:
        """Split the next samples at the ends of blocks; return each part and the share of it to measure."""
        start, end, row = self.start, self.end, 0
        parts = []
        while row < n_samples:
            stop = min(n_samples, end - self.n_learnt)
            parts.append((slice(row, stop), MAX_IN_BLOCK / (end - start)))
            start, end, row = end, _end_after(end, self.longest), stop
        return parts

    def _accepted(self) -> FitRecords:
        """Return the fits of the last blocks, after the current block is complete.

        If not one of many samples in the current block fits as badly as a few of those before did, novel samples were
        filtered out before learning, and the block would bias the calibration: it is left out.
        """
        is_new = self.records.blocks == self.block
        before, new = np.sort(self.records.familiarity[~is_new]), self.records.familiarity[is_new]
        for share in CHECKED_SHARES:
            k = n_lowest(share, len(before))
            if k and share * len(new) >= MIN_EXPECTED and not (new < before[k - 1]).any():
                return self.records.rows(~is_new)
        starts = np.flatnonzero(np.diff(self.records.blocks, prepend=-1))  # blocks are in ascending order
        return self.records.rows(slice(starts[-N_BLOCKS:].min(initial=len(self.records)), None))

    def __getstate__(self) -> dict[str, Any]:
        records = self.records
        numbers = {name: getattr(self, name) for name in NUMBERS}
        return {**numbers, "earlier": Deferred(lambda: records), "later": (), "is_final": self.is_final}

    def to_state(self) -> dict[str, Any]:
        """Return the calibration as plain values."""
        numbers = {name: getattr(self, name) for name in NUMBERS}
        if self.is_final:
            return {**numbers, "familiarity": self.records.familiarity}
        records = {field.name: getattr(self.records, field.name) for field in fields(self.records)}
        return {**numbers, **records, "keys": self.records.keys.view(np.int64)}

    @classmethod
    def from_state(cls, state: dict[str, Any], networks: Sequence[Network]) -> NoveltyCalibration:
        """Restore the calibration from a saved state after validating it."""
        try:
            return cls._checked(state, networks)
        except ValueError as error:
            raise ValueError(f"the calibration of novelty does not fit the model: {error}") from error

    @classmethod
    def _checked(cls, state: dict[str, Any], networks: Sequence[Network]) -> NoveltyCalibration:
        n_learnt, block, start, end = (saved_whole(state, name, 0, MAX_COUNT) for name in NUMBERS)
        if "keys" not in state:
            sorted_fits = saved_array(state, "familiarity", np.float64, None, low=0, high=1)
            require(start <= n_learnt < end and block >= bool(len(sorted_fits)), "the fits")
            require((np.diff(sorted_fits) >= 0).all(), "the fits")
            empty = Deferred(lambda: FitRecords.none(len(networks)))
            return cls(empty, (), n_learnt, block, start, end)._final(sorted_fits, len(networks))
        keys = saved_array(state, "keys", np.int64, None)
        n, n_members = len(keys), len(networks)
        familiarity = saved_array(state, "familiarity", np.float64, n, low=0, high=1)
        boxes = saved_array(state, "boxes", np.int64, n, n_members, low=DROPPED)
        n_features = max(network.nodes.n_features for network in networks)
        extents = saved_array(state, "extents", np.float64, n, n_members, low=0, high=n_features)
        blocks = saved_array(state, "blocks", np.int64, n, low=0, high=block)
        require(start <= n_learnt < end and len(np.unique(keys)) == n, "the fits")
        require((boxes < [network.nodes.n_nodes for network in networks]).all() and (boxes != NO_BOX).all(), "the fits")
        require((np.diff(blocks) >= 0).all(), "the fits")
        records = FitRecords(keys.view(np.uint64), familiarity, boxes, extents, blocks)
        return cls(Deferred(lambda: records), (), n_learnt, block, start, end)


def n_lowest(share: float, n_samples: int) -> int:
    """Return the rank k such that any fit below the k-th lowest has a p-value of at most `share`."""
    return int(np.floor(share * (n_samples + 1) + 1e-9))


def _end_after(start: int, longest: int | None = None) -> int:
    end = max(FIRST_BLOCK, start + start // SHORTER)
    return end if longest is None else min(end, start + longest)


FALSE_ALARMS = 0.05  # share of samples like the learnt ones that is flagged by default


@dataclass(frozen=True, eq=False)
class NoveltyTest:
    """Conformal test for novel samples with a given share of false alarms, for one network or an ensemble.

    The p-value of a sample is the share of samples like the learnt ones that fit the model as badly or worse.
    """

    calibration: NoveltyCalibration
    networks: Sequence[Network]
    params: LearningParams

    @cached_property
    def familiarity(self) -> FloatArray:
        """Familiarities of the calibration samples, ascending."""
        return self.networks[0].get_or_compute(self.calibration, lambda: self.calibration.familiarity(self.networks))

    def threshold(self, false_alarms: float = FALSE_ALARMS) -> float:
        """Return the familiarity below which samples are novel; 0 if there are too few calibration samples."""
        k = n_lowest(false_alarms, len(self.familiarity))
        if k > len(self.familiarity):  # a share of 1
            return np.inf
        return float(self.familiarity[k - 1]) if k else 0.0

    def promise(self, false_alarms: float = FALSE_ALARMS) -> str:
        """Describe the share of false alarms, or the reason why nothing can be flagged."""
        share = f"{100 * false_alarms:g} in 100"
        if n_lowest(false_alarms, len(self.familiarity)):
            return f"of samples like those learnt, at most {share} are flagged"
        n_needed = int(np.ceil(1.0 / false_alarms - 1e-9)) - 1
        return (
            f"none can be flagged: at most {share} false alarms need {n_needed} distinct learnt samples to compare "
            f"with, and there are {len(self.familiarity)}"
        )

    def is_novel(self, familiarity: FloatArray, false_alarms: float = FALSE_ALARMS) -> BoolArray:
        """Return True for each familiarity that the test flags as novel."""
        return np.asarray(familiarity < self.threshold(false_alarms))

    def pvalues(self, familiarity: FloatArray) -> FloatArray:
        """Return the conformal p-values of samples, given their familiarity."""
        n_as_bad = np.searchsorted(self.familiarity, familiarity, side="right")
        return np.asarray((1.0 + n_as_bad) / (len(self.familiarity) + 1))
