"""Reservoir sampling of labelled samples; the result does not depend on how a stream is split into calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sslart._art.backend import row_keys
from sslart._data.joining import categories_of, joined_tables
from sslart._data.labels import MAX_WEIGHT, MIN_WEIGHT
from sslart._data.samples import Table, table_from_state, table_state
from sslart._mapping.evidence.settings import N_BLOCKS, NO_BLOCK
from sslart._utils.arrays import BoolArray, FloatArray, IntArray, KeyArray, keys_of_numbers, mixed
from sslart._utils.validation import MAX_COUNT, WITHOUT_SAMPLES, require, saved_array, saved_whole

MAX_CHUNKS = 32  # one per call that learns: beyond, they are concatenated, so that a call of one row is cheap
ARRAYS = ("codes", "numbers", "weights", "groups", "answers", "at_random", "blocks", "keys", "times")


@dataclass(frozen=True)
class Chunk:
    """Labelled samples stored by a model."""

    table: Table
    codes: IntArray  # class codes
    numbers: IntArray  # number of each label among all labels so far, ascending
    weights: FloatArray
    groups: IntArray  # keys of the groups; 0 for a label without one
    answers: IntArray  # keys of the answers that gave several labels; 0 for a label of its own
    at_random: BoolArray  # mask of samples that were drawn at random to be labelled
    blocks: IntArray  # the block of each label in the last selection of settings
    keys: KeyArray  # random keys: the labels with the lowest ones stay
    times: IntArray  # number of each label among all samples, labelled or not

    def __getitem__(self, rows: IntArray) -> Chunk:
        return Chunk(self.table[rows], *(getattr(self, name)[rows] for name in ARRAYS))


@dataclass(frozen=True)
class LabelReservoir:
    """Labelled samples in the user's units. Immutable: adding labels returns a new reservoir."""

    chunks: tuple[Chunk, ...] = ()
    n_seen: int = 0  # number of labels so far, stored or not

    def __len__(self) -> int:
        return sum(len(chunk.codes) for chunk in self.chunks)

    def adding(
        self,
        table: Table,
        codes: IntArray,
        max_labels: int,
        seed: int,
        *,
        weights: FloatArray | None = None,
        groups: IntArray | None = None,
        answers: IntArray | None = None,
        at_random: BoolArray | None = None,
        times: IntArray | None = None,
    ) -> LabelReservoir:
        """Add samples to the reservoir; above `max_labels`, those with the lowest random keys stay.

        `weights` default to one; `groups` and `answers` are keys, 0 for none; `at_random` defaults to True; `times` are
        sample numbers, by default those of the labels.
        """
        if not len(codes):
            return self
        numbers = self.n_seen + np.arange(len(codes))
        weights = np.ones(len(codes)) if weights is None else weights
        groups, answers = (np.zeros(len(codes), dtype=np.int64) if one is None else one for one in (groups, answers))
        at_random = np.ones(len(codes), dtype=bool) if at_random is None else at_random
        blocks = np.full(len(codes), NO_BLOCK)
        keys = mixed(keys_of_numbers(numbers, seed) ^ row_keys(table))  # depend on samples and seed
        times = numbers if times is None else times
        added = Chunk(table, codes, numbers, weights, groups, answers, at_random, blocks, keys, times)
        return LabelReservoir((*self.chunks, added), self.n_seen + len(codes))._limited(max_labels)

    def followed_by(self, later: LabelReservoir, max_labels: int) -> LabelReservoir:
        """Append later labels; above `max_labels`, those with the lowest keys stay."""
        return LabelReservoir((*self.chunks, *later.chunks), later.n_seen)._limited(max_labels)

    def _limited(self, max_labels: int) -> LabelReservoir:
        if len(self) <= max_labels and len(self.chunks) <= MAX_CHUNKS:
            return self
        whole = self.whole()
        if len(whole.codes) > max_labels:
            whole = whole[np.sort(np.argsort(whole.keys, kind="stable")[:max_labels])]
        return LabelReservoir((whole,), self.n_seen)

    def later_by(self, n_samples: int) -> LabelReservoir:
        """Return the labels with times shifted by `n_samples`, as if that many samples had preceded them."""
        return self._changed(lambda chunk: replace(chunk, times=chunk.times + n_samples))

    def _changed(self, change: Callable[[Chunk], Chunk]) -> LabelReservoir:
        return LabelReservoir(tuple(map(change, self.chunks)), self.n_seen)

    def times(self) -> IntArray:
        """Return the numbers of the stored labels among all samples."""
        return np.concatenate([np.empty(0, dtype=np.int64), *(chunk.times for chunk in self.chunks)])

    def at_random(self) -> BoolArray:
        """Return a mask of the stored labels whose samples were drawn at random."""
        return np.concatenate([np.empty(0, dtype=bool), *(chunk.at_random for chunk in self.chunks)])

    def last(self, n_labels: int) -> Chunk:
        """Return the last `n_labels` labels."""
        if self.chunks and len(self.chunks[-1].codes) == n_labels:
            return self.chunks[-1]
        n_chunks = 1
        while sum(len(chunk.codes) for chunk in self.chunks[-n_chunks:]) < n_labels:
            n_chunks += 1
        tail = LabelReservoir(self.chunks[-n_chunks:], self.n_seen).whole()
        return tail[np.arange(len(tail.codes) - n_labels, len(tail.codes))]

    def since(self, time: float) -> LabelReservoir:
        """Return the labels of samples from number `time` on."""
        whole = self.whole()
        kept = np.flatnonzero(whole.times >= time)
        return self if len(kept) == len(whole.codes) else LabelReservoir((whole[kept],), self.n_seen)

    @classmethod
    def joined(cls, reservoirs: Sequence[LabelReservoir], codes: Sequence[IntArray], max_labels: int) -> LabelReservoir:
        """Merge the labels of several models as if they had been interleaved evenly; the order of models is irrelevant.

        Above `max_labels`, those with the lowest random keys stay: a uniform sample of all labels. `codes`: the new
        class codes, for each model.
        """
        known = [(one, new) for one, new in zip(reservoirs, codes, strict=True) if len(one)]
        if not known:
            return cls()
        wholes = [one.whole() for one, _ in known]
        recoded = tuple(replace(whole, codes=new[whole.codes]) for whole, (_, new) in zip(wholes, known, strict=True))
        n_seen = sum(one.n_seen for one, _ in known)
        places = np.concatenate([chunk.numbers / one.n_seen for chunk, (one, _) in zip(recoded, known, strict=True)])
        both = cls(recoded, n_seen).whole()
        both = replace(both, blocks=np.full(len(both.codes), NO_BLOCK))
        contents = row_keys(both.table)
        kept = np.lexsort((both.at_random, both.answers, both.groups, both.weights, both.codes, contents, both.keys))[
            :max_labels
        ]
        kept = kept[np.argsort(places[kept], kind="stable")]
        numbers = np.floor(places[kept] * n_seen).astype(np.int64)
        rank = np.arange(len(kept))
        numbers = np.maximum.accumulate(numbers - rank) + rank  # strictly ascending
        numbers = np.minimum(numbers, n_seen - len(kept) + rank)
        return cls((replace(both[kept], numbers=numbers),), n_seen)

    def with_columns(self, n_columns: int) -> LabelReservoir:
        """Return the reservoir with `n_columns` further columns, missing in all stored samples."""
        missing = ((0, 0), (0, n_columns))
        return self._changed(
            lambda chunk: replace(
                chunk,
                table=Table(np.pad(chunk.table.values, missing, constant_values=np.nan), chunk.table.categories),
            )
        )

    def of_columns(self, categorical: frozenset[int]) -> LabelReservoir:
        """Return the reservoir with the given columns as categorical ones.

        Earlier samples may have been stored before the kind of a column was known.
        """
        if all(chunk.table.categories.keys() == categorical for chunk in self.chunks):
            return self

        def of_kind(chunk: Chunk) -> Chunk:
            own = {column: categories_of(chunk.table, column) for column in sorted(categorical)}
            return replace(chunk, table=replace(chunk.table, categories=own))

        return self._changed(of_kind)

    def whole(self) -> Chunk:
        """Return all stored labels in order."""
        if len(self.chunks) == 1:
            return self.chunks[0]
        arrays = (np.concatenate([getattr(chunk, name) for chunk in self.chunks]) for name in ARRAYS)
        return Chunk(joined_tables([chunk.table for chunk in self.chunks]), *arrays)

    def with_blocks(self, blocks: IntArray) -> LabelReservoir:
        """Return the reservoir with the block of each stored label in the selection of settings."""
        return LabelReservoir((replace(self.whole(), blocks=blocks),), self.n_seen)

    def grouped(self, keys: IntArray) -> LabelReservoir:
        """Return the reservoir with a group for each label; `keys`: of all labels so far."""
        whole = self.whole()
        groups = 1 + np.unique(keys, return_inverse=True)[1]
        return LabelReservoir((replace(whole, groups=groups[whole.numbers]),), self.n_seen)

    def to_state(self) -> dict[str, Any]:
        """Return the reservoir as plain values."""
        whole = self.whole()
        return {
            **table_state(whole.table),
            **{name: getattr(whole, name) for name in ARRAYS},
            "keys": whole.keys.view(np.int64),
            "at_random": whole.at_random.astype(np.int64),
            "n_seen": self.n_seen,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int, n_classes: int) -> LabelReservoir:
        """Restore the reservoir from a saved state after validating it."""
        table = table_from_state(state, n_columns)
        n = len(table)
        codes = saved_array(state, "codes", np.int64, n, low=0, high=n_classes - 1)
        numbers = saved_array(state, "numbers", np.int64, n, low=0, high=MAX_COUNT)
        n_seen = saved_whole(state, "n_seen", 1, MAX_COUNT)
        weights = saved_array(state, "weights", np.float64, n, low=MIN_WEIGHT, high=MAX_WEIGHT)
        groups = saved_array(state, "groups", np.int64, n)
        answers, at_random = saved_array(state, "answers", np.int64, n), _saved_mask(state, n)
        blocks = saved_array(state, "blocks", np.int64, n, low=NO_BLOCK, high=N_BLOCKS - 1)
        keys = saved_array(state, "keys", np.int64, n).view(np.uint64)
        times = saved_array(state, "times", np.int64, n, low=0, high=MAX_COUNT)
        require((np.diff(numbers) > 0).all() and numbers[-1] < n_seen, "the numbers of the labels")
        whole = Chunk(table, codes, numbers, weights, groups, answers, at_random, blocks, keys, times)
        return cls((whole,), n_seen)


class AbsentLabels(LabelReservoir):
    """Placeholder for the labelled samples of a model saved without them; accessing a sample raises a ValueError."""

    n_kept: int  # number of stored labels before saving
    # in an ensemble, a number for each sample that identifies equal samples across members; None: their indices
    numbers: IntArray | None
    drawn: BoolArray  # mask of the labels whose samples were drawn at random

    def __init__(self, n_seen: int, drawn: BoolArray, numbers: IntArray | None = None) -> None:
        vars(self).update(n_kept=len(drawn), n_seen=n_seen, numbers=numbers, drawn=drawn)

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """Raise a ValueError with a remedy."""
        raise ValueError(WITHOUT_SAMPLES)

    def __len__(self) -> int:
        return self.n_kept

    def __repr__(self) -> str:
        return f"AbsentLabels({len(self)}, {self.n_seen})"

    def stand_ins(self) -> Table:
        """Return the number of each sample as its only feature."""
        return Table((np.arange(len(self)) if self.numbers is None else self.numbers).astype(np.float64)[:, None], {})

    def followed_by(self, later: LabelReservoir, max_labels: int) -> LabelReservoir:
        """Return a placeholder that includes later labels."""
        numbers = self.numbers
        if numbers is not None and isinstance(later, AbsentLabels) and later.numbers is not None:
            numbers = np.concatenate([numbers, later.numbers])
        return AbsentLabels(later.n_seen, np.concatenate([self.drawn, later.at_random()]), numbers)

    def at_random(self) -> BoolArray:
        """Return a mask of the labels whose samples were drawn at random."""
        return self.drawn

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: the numbers of labels and samples."""
        return {
            "n_kept": len(self),
            "n_seen": self.n_seen,
            "numbers": self.numbers,
            "at_random": self.drawn.astype(np.int64),
        }


def labels_of(state: dict[str, Any] | None, n_columns: int, n_classes: int) -> LabelReservoir:
    """Restore the labelled samples from a saved state after validating it, or a placeholder if it has none."""
    if state is None:
        return LabelReservoir()
    if "n_kept" not in state:
        return LabelReservoir.from_state(state, n_columns, n_classes)
    n_seen = saved_whole(state, "n_seen", 1, MAX_COUNT)
    n_kept, numbers = saved_whole(state, "n_kept", 1, n_seen), None
    if state["numbers"] is not None:
        numbers = saved_array(state, "numbers", np.int64, n_kept, low=0, high=MAX_COUNT)
    return AbsentLabels(n_seen, _saved_mask(state, n_kept), numbers)


def _saved_mask(state: dict[str, Any], n: int) -> BoolArray:
    return saved_array(state, "at_random", np.int64, n, low=0, high=1).astype(bool)
