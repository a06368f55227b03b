"""Record of the rows a model has learnt, as one hash key per row, so that no row is learnt twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from sslart._art.backend import row_keys
from sslart._data.samples import Table
from sslart._mapping.model_view import ModelView
from sslart._utils.arrays import BoolArray, FloatArray, KeyArray, equal_rows_share, mixed

MAX_KEYS = 2**17  # two megabytes in the file
MAX_BY_CHANCE = 0.01  # expected other rows with the same values, if values shall identify a row
MAX_COMPARED = 10_000  # rows compared, to estimate how often rows agree by chance
NO_LABEL = np.uint64(0)


class RowKeys(NamedTuple):
    """Keys of rows, and keys of their labels."""

    rows: KeyArray
    labels: KeyArray

    @classmethod
    def joined(cls, parts: Sequence[RowKeys]) -> RowKeys:
        """Concatenate keys."""
        return cls(np.concatenate([one.rows for one in parts]), np.concatenate([one.labels for one in parts]))

    def pairs(self) -> KeyArray:
        """Return one key for each pair of row and label."""
        return mixed(self.rows ^ mixed(self.labels))


NO_KEYS = RowKeys(np.zeros(0, np.uint64), np.zeros(0, np.uint64))


class Comparison(NamedTuple):
    """Masks of rows learnt before: with the same label (or none now), or with another label.

    Rows that may equal learnt ones by chance are counted but not marked.
    """

    again: BoolArray
    other_label: BoolArray
    n_by_chance: int = 0


@dataclass(frozen=True)
class LearntRows:
    """The rows that a model has learnt, as sorted keys. Immutable.

    At most `MAX_KEYS` keys are kept, the lowest ones: a random sample of the rows.
    """

    # the columns of IDs and groups given to `sslart fit`
    id_column: str | None = None
    group_column: str | None = None
    keys: RowKeys = NO_KEYS
    n_rows: int = 0
    equal_share: float = 1.0  # share of pairs of rows that agree by chance

    @classmethod
    def of_fit(cls, table: Table, keys: RowKeys, id_column: str | None, group_column: str | None) -> LearntRows:
        """Return the record of the rows that a model was fitted to."""
        equal_share = equal_rows_share(_as_numbers(table[:MAX_COMPARED]))
        return cls(id_column, group_column, equal_share=equal_share).adding(keys)

    @classmethod
    def joined(cls, parts: Sequence[LearntRows]) -> LearntRows:
        """Return the union of the rows of several models."""
        id_column, group_column = (
            names.pop() if len(names) == 1 else None
            for names in ({getattr(one, name) for one in parts} for name in ("id_column", "group_column"))
        )
        joined = cls(id_column, group_column, equal_share=max(one.equal_share for one in parts))
        for one in parts:
            joined = joined.adding(one.keys)
        return replace(joined, n_rows=sum(one.n_rows for one in parts))

    @property
    def identifies(self) -> bool:
        """True if rows can be recognised: by ID, or by values that rarely agree by chance."""
        return self.id_column is not None or self.n_rows * self.equal_share <= MAX_BY_CHANCE

    @property
    def is_part(self) -> bool:
        """True if the record is full and lacks some rows."""
        return len(self.keys.rows) >= MAX_KEYS

    def adding(self, keys: RowKeys) -> LearntRows:
        """Return a copy with further rows."""
        n_rows = self.n_rows + len(keys.rows)
        if self.is_part:
            low = keys.rows <= self.keys.rows[-1]
            keys = RowKeys(keys.rows[low], keys.labels[low])
        both = RowKeys.joined([self.keys, keys])
        first = np.unique(both.pairs(), return_index=True)[1]
        kept = first[np.argsort(both.rows[first], kind="stable")[:MAX_KEYS]]
        return replace(self, keys=RowKeys(both.rows[kept], both.labels[kept]), n_rows=n_rows)

    def with_kept_labels(self, view: ModelView) -> LearntRows:
        """Return a copy with the labelled rows stored in a model, such as those added by `sslart label`."""
        kept = view.members[0].kept_labels if view.class_table.seen else None
        if kept is None or self.id_column is not None:
            return self
        table, indices = kept
        keys = keys_of(table, view.classes[indices].tolist())
        if not self.n_rows:  # the model was fitted in Python
            return LearntRows.of_fit(table, keys, None, self.group_column)
        return replace(self.adding(keys), n_rows=self.n_rows)

    def compare(self, keys: RowKeys) -> Comparison:
        """Compare rows with those that were learnt.

        A row that was learnt without a label and now has one is new.
        """
        known = np.isin(keys.rows, self.keys.rows)
        if not self.identifies:
            none = np.zeros(len(known), dtype=bool)
            return Comparison(none, none, int(known.sum()))
        labelled = keys.labels != NO_LABEL
        same = np.isin(keys.pairs(), self.keys.pairs())
        other = np.isin(keys.rows, self.keys.rows[self.keys.labels != NO_LABEL])
        return Comparison(known & (~labelled | same), labelled & other & ~same)

    def to_notes(self) -> dict[str, Any]:
        """Return the record as a dict of plain values and arrays, to be saved with the model."""
        return {
            "id_column": self.id_column,
            "group_column": self.group_column,
            "rows": self.keys.rows.view(np.int64),
            "labels": self.keys.labels.view(np.int64),
            "n_rows": self.n_rows,
            "equal_share": self.equal_share,
        }

    @classmethod
    def from_notes(cls, notes: dict[str, Any]) -> LearntRows:
        """Restore and check a saved record; it is empty for a model without notes."""
        if not notes:
            return cls()
        rows, labels, n_rows, equal = (notes[name] for name in ("rows", "labels", "n_rows", "equal_share"))
        id_column, group_column = notes["id_column"], notes["group_column"]
        if (
            any(keys.dtype != np.int64 or keys.ndim != 1 for keys in (rows, labels))
            or not len(rows) == len(labels) <= MAX_KEYS
            or type(n_rows) is not int
            or n_rows < 0
            or not (isinstance(equal, int | float) and 0 <= equal <= 1)
            or not all(name is None or isinstance(name, str) for name in (id_column, group_column))
        ):
            raise ValueError("its record of learnt rows is inconsistent")
        keys = RowKeys(rows.view(np.uint64), labels.view(np.uint64))
        return cls(id_column, group_column, keys, n_rows, float(equal))


def keys_of(table: Table, labels: Any = None, ids: list[str | None] | None = None) -> RowKeys:
    """Return the keys of rows, from their IDs if they have any, else from their values."""
    rows = row_keys(table)
    if ids is not None:
        own = _text_keys(ids)
        rows = np.where(own == NO_LABEL, rows, own)
    if labels is None:
        return RowKeys(rows, np.zeros(len(rows), np.uint64))
    return RowKeys(rows, _text_keys([None if label is None else str(label) for label in labels]))


def _text_keys(texts: list[str | None]) -> KeyArray:
    """Return a key for each text, the same on every machine; 0 for None."""
    distinct = {text for text in texts if text is not None}
    keys = {text: int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little") | 1 for text in distinct}
    return np.array([0 if text is None else keys[text] for text in texts], dtype=np.uint64)


def _as_numbers(table: Table) -> FloatArray:
    """Encode rows as numbers that agree where the values agree; categories and missing values get codes."""
    numbers = np.where(np.isnan(table.values), np.inf, table.values)
    for column, values in table.categories.items():
        numbers[:, column] = np.unique([str(value) for value in values], return_inverse=True)[1]
    return numbers
