"""How well samples fitted before they were learnt: what the familiarity of a new sample is compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np

from sslart._art.learn_result import Fits
from sslart._art.network import Network
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.random_keys import KeyArray

MAX_SAMPLES = 1000
FIRST_BLOCK = 20  # samples of a stream
GROWTH = 1.25  # of the number of samples learnt, from one block to the next
N_BLOCKS = 3
CHECKED_SHARES = (0.05, 0.01)
MIN_EXPECTED = 5


@dataclass(frozen=True, eq=False)
class FitRecords:
    """Fits of samples that were not learnt yet, or left out.

    Attributes
    ----------
    keys : array of uint64
        Key of each sample: copies have the same.
    familiarity : array
        Mean over the members of an ensemble.
    boxes, extents : arrays of shape (n_samples, n_members)
        The best box of each member, and the sum of its sides at the time.
    blocks : array of int
        In which part of the stream each sample came.
    """

    keys: KeyArray
    familiarity: FloatArray
    boxes: IntArray
    extents: FloatArray
    blocks: IntArray

    @classmethod
    def of(cls, keys: KeyArray, fits: Sequence[Fits], block: int) -> FitRecords:
        """Return the fits of those samples that every member has measured."""
        boxes = np.stack([one.boxes for one in fits], axis=1)
        rows = np.flatnonzero((boxes >= 0).all(axis=1))
        familiarity = np.mean([one.familiarity[rows] for one in fits], axis=0)
        extents = np.stack([one.extents[rows] for one in fits], axis=1)
        return cls(keys[rows], familiarity, boxes[rows], extents, np.full(len(rows), block))

    @classmethod
    def none(cls, n_members: int) -> FitRecords:
        """Return no fits."""
        return cls.of(np.empty(0, dtype=np.uint64), [Fits.none(0)] * n_members, 0)

    def __len__(self) -> int:
        return len(self.keys)

    def rows(self, rows: IntArray | BoolArray) -> FitRecords:
        """Return some of the fits."""
        return FitRecords(*(getattr(self, field.name)[rows] for field in fields(self)))

    def and_new(self, later: FitRecords) -> FitRecords:
        """Return these fits and later ones; of copies the first alone."""
        first = np.sort(np.unique(later.keys, return_index=True)[1])
        later = later.rows(first[~np.isin(later.keys[first], self.keys)])
        return FitRecords(
            *(np.concatenate([getattr(self, field.name), getattr(later, field.name)]) for field in fields(self))
        )


class Measured(NamedTuple):
    """The fits of the samples that a network has learnt in one call.

    Attributes
    ----------
    keys : array of uint64
    fits : Fits
        Of the samples with these keys, before they were learnt.
    n_left_out : int or None
        None: the keys and fits are of all samples, in the order in which they were learnt. Else they are those of some
        samples that were left out in turn after so many samples had been learnt, and nothing was learnt before.
    """

    keys: KeyArray
    fits: Fits
    n_left_out: int | None = None


@dataclass(frozen=True, eq=False)
class NoveltyCalibration:
    """Fits of samples before they were learnt, at most so many, mostly recent ones. Immutable.

    `fit` leaves samples out in turn. In a stream samples are measured before they are learnt. The stream is divided
    into blocks, each a quarter as long as all that was learnt before; the last three blocks that are complete count.
    What is kept does not depend on how the stream is cut.

    Attributes
    ----------
    records : FitRecords
    n_learnt : int
        How many samples have been learnt.
    block : int
        Number of the present block.
    start, end : int
        After how many samples that block starts and ends.
    """

    records: FitRecords
    n_learnt: int = 0
    block: int = 0
    start: int = 0
    end: int = FIRST_BLOCK

    @classmethod
    def of_stream(cls, n_members: int = 1) -> NoveltyCalibration:
        """Return the calibration of a model that has learnt nothing yet."""
        return cls(FitRecords.none(n_members))

    @classmethod
    def after(cls, before: NoveltyCalibration | None, members: Sequence[Measured | None]) -> NoveltyCalibration | None:
        """Return the calibration after what each member has measured in a call; None where it was None before."""
        measured = [one for one in members if one is not None]
        if not measured:
            return None
        keys, _, n_left_out = measured[0]
        fits = [one.fits for one in measured]
        if n_left_out is not None:
            return cls(FitRecords.of(keys, fits, 0), n_left_out, 1, n_left_out, _end_after(n_left_out))
        return None if before is None else before.adding(keys, fits)

    def wanted(self, keys: KeyArray) -> BoolArray:
        """Return which of the next samples are measured before they are learnt."""
        wanted = np.ones(len(keys), dtype=bool)
        for rows, block in self._blocks_of_next(len(keys)):
            if block.share < 1:
                wanted[rows] = keys[rows] < np.uint64(block.share * 2.0**64)
        return wanted

    def adding(self, keys: KeyArray, fits: Sequence[Fits]) -> NoveltyCalibration:
        """Return the calibration after further samples have been learnt."""
        now = self
        for rows, _ in self._blocks_of_next(len(keys)):
            new = FitRecords.of(keys[rows], [one.of(rows) for one in fits], now.block)
            records = now.records.and_new(new) if len(new) else now.records
            now = replace(now, records=records, n_learnt=now.n_learnt + rows.stop - rows.start)
            if now.n_learnt == now.end:
                now = now._next_block(now._accepted())
        return now

    def familiarity(self, networks: Sequence[Network]) -> FloatArray:
        """Return how well the samples kept fit a network as it is now, ascending.

        A box that has grown since fits every sample worse, by as much as it has grown.
        """
        used = self.records.rows(self.records.blocks < self.block)
        grown = [
            (network.extents(used.boxes[:, member]) - used.extents[:, member]) / network.nodes.n_features
            for member, network in enumerate(networks)
        ]
        return np.sort(np.clip(used.familiarity - np.mean(grown, axis=0), 0.0, 1.0))

    @property
    def share(self) -> float:
        """Share of the samples of the present block that are measured."""
        return MAX_SAMPLES / N_BLOCKS / (self.end - self.start)

    def _blocks_of_next(self, n_samples: int) -> Iterator[tuple[slice, NoveltyCalibration]]:
        """Divide the next samples into blocks; yield each with a calibration in that block."""
        now, row = self, 0
        while row < n_samples:
            stop = min(n_samples, now.end - self.n_learnt)
            yield slice(row, stop), now
            now, row = now._next_block(now.records), stop

    def _next_block(self, records: FitRecords) -> NoveltyCalibration:
        return NoveltyCalibration(records, self.end, self.block + 1, self.end, _end_after(self.end))

    def _accepted(self) -> FitRecords:
        """Return the fits of the last blocks, after the present block is complete.

        Where of many samples in the present block not one fits as badly as few of those before, such samples have been
        held back, and the others do not show how well samples fit: the block does not count.
        """
        is_new = self.records.blocks == self.block
        before, new = np.sort(self.records.familiarity[~is_new]), self.records.familiarity[is_new]
        for share in CHECKED_SHARES:
            k = n_lowest(share, len(before))
            if k and share * len(new) >= MIN_EXPECTED and not (new < before[k - 1]).any():
                return self.records.rows(~is_new)
        last = np.unique(self.records.blocks)[-N_BLOCKS:]
        return self.records.rows(np.isin(self.records.blocks, last))

    def to_state(self) -> dict[str, Any]:
        """Return the calibration as plain values."""
        numbers = {name: getattr(self, name) for name in ("n_learnt", "block", "start", "end")}
        records = {field.name: getattr(self.records, field.name) for field in fields(self.records)}
        return {**numbers, **records, "keys": self.records.keys.view(np.int64)}

    @classmethod
    def from_state(cls, state: dict[str, Any], networks: Sequence[Network]) -> NoveltyCalibration:
        """Return the calibration of a saved state, after checking that it can be one."""
        numbers = [state[name] for name in ("n_learnt", "block", "start", "end")]
        keys, familiarity, boxes, extents, blocks = (state[field.name] for field in fields(FitRecords))
        n, n_members = len(keys), len(networks)
        if (
            any(type(number) is not int for number in numbers)
            or not 0 <= numbers[2] <= numbers[0] < numbers[3] < 2**62
            or numbers[1] < 0
            or any(one.dtype != np.int64 for one in (keys, boxes, blocks))
            or any(one.dtype != np.float64 for one in (familiarity, extents))
            or any(one.shape != (n,) for one in (keys, familiarity, blocks))
            or any(one.shape != (n, n_members) for one in (boxes, extents))
            or not ((familiarity >= 0) & (familiarity <= 1)).all()
            or not (extents >= 0).all()
            or not ((boxes >= 0) & (boxes < [network.nodes.n_nodes for network in networks])).all()
            or not ((blocks >= 0) & (blocks <= numbers[1])).all()
        ):
            raise ValueError("the calibration of novelty of the model does not fit it")
        records = FitRecords(keys.view(np.uint64), familiarity, boxes, extents, blocks)
        return cls(records, *numbers)


def n_lowest(share: float, n_samples: int) -> int:
    """Return the rank k of a threshold: what fits worse than the k-th lowest fit has a p-value of at most the share."""
    return int(np.floor(share * (n_samples + 1) + 1e-9))


def _end_after(start: int) -> int:
    return max(FIRST_BLOCK, int(np.ceil(GROWTH * start)))
