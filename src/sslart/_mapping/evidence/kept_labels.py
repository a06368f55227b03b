"""The labelled samples that a model keeps: at most so many, drawn evenly from all, however the stream was cut."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sslart._data.groups import MAX_WEIGHT, MIN_WEIGHT
from sslart._data.samples import Table, is_category
from sslart._data.saved import MAX_COUNT, require, saved_array, saved_whole
from sslart._mapping.evidence.settings import N_BLOCKS, NO_BLOCK
from sslart._utils.arrays import FloatArray, IntArray
from sslart._utils.random_keys import keys_of_numbers

MAX_CHUNKS = 32


@dataclass(frozen=True)
class Chunk:
    """Labelled samples with their class codes, numbers in the stream, weights, keys of their groups, and blocks."""

    table: Table
    codes: IntArray
    numbers: IntArray
    weights: FloatArray
    groups: IntArray
    blocks: IntArray

    def __getitem__(self, rows: IntArray) -> Chunk:
        return Chunk(
            self.table[rows],
            self.codes[rows],
            self.numbers[rows],
            self.weights[rows],
            self.groups[rows],
            self.blocks[rows],
        )


@dataclass(frozen=True)
class LabelReservoir:
    """Labelled samples in the user's units. Immutable: new labels make a new reservoir.

    Attributes
    ----------
    chunks : tuple of Chunk
    n_seen : int
        How many labels there have been.
    """

    chunks: tuple[Chunk, ...] = ()
    n_seen: int = 0

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
    ) -> LabelReservoir:
        """Return the reservoir with further samples; of too many those stay whose random keys are lowest.

        `weights` are one each by default; `groups` are keys, 0 for none.
        """
        if not len(codes):
            return self
        numbers = self.n_seen + np.arange(len(codes))
        weights = np.ones(len(codes)) if weights is None else weights
        groups = np.zeros(len(codes), dtype=np.int64) if groups is None else groups
        added = Chunk(table, codes, numbers, weights, groups, np.full(len(codes), NO_BLOCK))
        longer = LabelReservoir((*self.chunks, added), self.n_seen + len(codes))
        if len(longer) <= max_labels and len(longer.chunks) <= MAX_CHUNKS:
            return longer
        whole = longer.whole()
        kept = np.sort(np.argsort(keys_of_numbers(whole.numbers, seed), kind="stable")[:max_labels])
        return LabelReservoir((whole[kept],), longer.n_seen)

    def with_columns(self, n_columns: int) -> LabelReservoir:
        """Return the reservoir with so many further columns, in which the samples kept have no value."""
        chunks = (
            replace(
                chunk,
                table=Table(
                    np.pad(chunk.table.values, ((0, 0), (0, n_columns)), constant_values=np.nan), chunk.table.categories
                ),
            )
            for chunk in self.chunks
        )
        return LabelReservoir(tuple(chunks), self.n_seen)

    def of_columns(self, categorical: frozenset[int]) -> LabelReservoir:
        """Return the reservoir with these columns as the categorical ones.

        A column may have been without a value, and so without a kind, in samples that came before.
        """
        if all(chunk.table.categories.keys() == categorical for chunk in self.chunks):
            return self
        chunks = []
        for chunk in self.chunks:
            own = {column: _of_column(chunk.table, column) for column in sorted(categorical)}
            chunks.append(replace(chunk, table=replace(chunk.table, categories=own)))
        return LabelReservoir(tuple(chunks), self.n_seen)

    def whole(self) -> Chunk:
        """Return all that is kept, in the order in which it came."""
        tables = [chunk.table for chunk in self.chunks]
        columns = sorted({column for table in tables for column in table.categories})
        categories = {column: np.concatenate([_of_column(table, column) for table in tables]) for column in columns}
        values = np.concatenate([table.values for table in tables])
        return Chunk(
            Table(values, categories, tables[0].names),
            np.concatenate([chunk.codes for chunk in self.chunks]),
            np.concatenate([chunk.numbers for chunk in self.chunks]),
            np.concatenate([chunk.weights for chunk in self.chunks]),
            np.concatenate([chunk.groups for chunk in self.chunks]),
            np.concatenate([chunk.blocks for chunk in self.chunks]),
        )

    def with_blocks(self, blocks: IntArray) -> LabelReservoir:
        """Return the reservoir with the block of each label kept, in which it had part in a choice of settings."""
        return LabelReservoir((replace(self.whole(), blocks=blocks),), self.n_seen)

    def to_state(self) -> dict[str, Any]:
        """Return the reservoir as plain values."""
        whole = self.whole()
        return {
            "values": whole.table.values,
            "categories": {str(column): list(values) for column, values in whole.table.categories.items()},
            "codes": whole.codes,
            "numbers": whole.numbers,
            "weights": whole.weights,
            "groups": whole.groups,
            "blocks": whole.blocks,
            "n_seen": self.n_seen,
        }

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int, n_classes: int) -> LabelReservoir:
        """Return the reservoir of a saved state, after checking that it can be one."""
        values = saved_array(state, "values", np.float64, None, n_columns)
        n = len(values)
        categories = {int(column): np.array([*given], dtype=object) for column, given in state["categories"].items()}
        codes = saved_array(state, "codes", np.int64, n, low=0, high=n_classes - 1)
        numbers = saved_array(state, "numbers", np.int64, n, low=0, high=MAX_COUNT)
        n_seen = saved_whole(state, "n_seen", 1, MAX_COUNT)
        # files of before weights, groups and blocks have none
        weights = saved_array(state, "weights", np.float64, n, low=MIN_WEIGHT, high=MAX_WEIGHT, missing=np.ones(n))
        groups = saved_array(state, "groups", np.int64, n, missing=np.zeros(n, dtype=np.int64))
        blocks = saved_array(
            state, "blocks", np.int64, n, low=NO_BLOCK, high=N_BLOCKS - 1, missing=np.full(n, NO_BLOCK)
        )
        require(n and not np.isinf(values).any(), "the labelled samples")
        require((np.diff(numbers) > 0).all() and numbers[-1] < n_seen, "the numbers of the labels")
        for column, given in categories.items():
            fits = given.shape == (n,) and 0 <= column < n_columns and np.isnan(values[:, column]).all()
            require(fits and all(is_category(one) for one in given), "the categories of labelled samples")
        return cls((Chunk(Table(values, categories), codes, numbers, weights, groups, blocks),), n_seen)


def _of_column(table: Table, column: int) -> Any:
    """Return the categories of a column; a table in which all of them are missing may not know it as categorical."""
    return table.categories.get(column, np.full(len(table), None))
