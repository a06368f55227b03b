"""Audit of a model: labelled samples that are never learnt, on which its quality is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sslart._art.backend import row_keys
from sslart._data.joining import joined_tables
from sslart._data.labels import Label, Labels
from sslart._data.samples import Table, table_from_state, table_state
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.validation import require, saved_array


@dataclass(frozen=True, eq=False)
class Audit:
    """Labelled samples set aside."""

    table: Table
    classes: tuple[Label, ...]  # the true class of each sample
    groups: IntArray  # group of each sample

    def __len__(self) -> int:
        return len(self.classes)

    @classmethod
    def of(cls, table: Table, labels: Labels) -> Audit:
        """Return the audit of labelled samples; samples without a group are groups of their own."""
        groups = np.zeros(len(table), dtype=np.int64) if labels.groups is None else labels.groups
        return cls(table, tuple(labels.values.tolist()), groups)

    def joined(self, other: Audit) -> Audit:
        """Return the samples of two audits together."""
        table = joined_tables([self.table, other.table])
        return Audit(table, self.classes + other.classes, np.concatenate([self.groups, other.groups]))

    def without(self, table: Table) -> Audit | None:
        """Return the samples that equal none of a table; None if there are none."""
        left = ~np.isin(row_keys(self.table), row_keys(table))
        classes = tuple(one for one, is_left in zip(self.classes, left.tolist(), strict=True) if is_left)
        return Audit(self.table[left], classes, self.groups[left]) if left.any() else None

    def has(self, table: Table) -> BoolArray:
        """Return a mask of samples that equal one of the audit."""
        return np.isin(row_keys(table), row_keys(self.table))

    @property
    def units(self) -> IntArray:
        """A number for each sample, equal in a group."""
        own = np.arange(len(self)) + len(self)
        known = np.unique(self.groups, return_inverse=True)[1]
        return np.where(self.groups == 0, own, known)

    def to_state(self) -> dict[str, Any]:
        """Return the audit as plain values."""
        return {**table_state(self.table), "classes": list(self.classes), "groups": self.groups}

    @classmethod
    def from_state(cls, state: dict[str, Any], n_columns: int) -> Audit:
        """Restore an audit from a saved state after validating it."""
        table, classes = table_from_state(state, n_columns), state["classes"]
        kinds = {type(one) for one in classes}
        fits = len(classes) == len(table) > 0 and len(kinds) == 1 and kinds <= {int, bool, str}
        require(fits, "the classes of the audit")
        return cls(table, tuple(classes), saved_array(state, "groups", np.int64, len(table)))
