"""The class table: ART_b with ρ_b = 1, so that every class is an exact symbol with its own category."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.labels import UNLABELLED, Labels
from sslart._utils.arrays import IntArray
from sslart._utils.deferred import CachesValues

Label = int | bool | str
FEW = 32  # labels: to sort so few costs more than to look up each


@dataclass(frozen=True)
class ClassTable(CachesValues):
    """The classes a model knows.

    Attributes
    ----------
    seen : tuple of labels
        Classes in the order in which they were first learnt; a class's place here is its code.
    declared : tuple of labels
        Classes announced by the user, whether learnt yet or not.
    """

    seen: tuple[Label, ...] = ()
    declared: tuple[Label, ...] = ()

    def declaring(self, labels: Labels) -> ClassTable:
        """Return the table with further classes announced."""
        new = tuple(labels.values[labels.known].tolist())
        return self._checked(ClassTable(self.seen, tuple(dict.fromkeys(self.declared + new))))

    def learning(self, labels: Labels) -> ClassTable:
        """Return the table with the classes of further samples, in the order of the samples."""
        given = labels.values[labels.known]
        if len(given) > FEW:
            values, first = np.unique(given, return_index=True)
            given = values[np.argsort(first)]
        new = tuple(label for label in dict.fromkeys(given.tolist()) if label not in self._code_of)
        return self._checked(ClassTable(self.seen + new, self.declared)) if new else self

    def _checked(self, table: ClassTable) -> ClassTable:
        kinds = {type(label).__name__ for label in table.seen + table.declared}
        if len(kinds) > 1:
            raise ValueError(
                f"Classes of several kinds: {', '.join(sorted(kinds))}. The labels of one model are all integers, "
                "all strings or all booleans: convert the new ones to the kind used before."
            )
        return table

    @classmethod
    def joined(cls, tables: Sequence[ClassTable]) -> ClassTable:
        """Return the table of the classes of several models, sorted: the same in every order of them."""
        seen, declared = (
            {label for table in tables for label in getattr(table, name)} for name in ("seen", "declared")
        )
        both = cls()._checked(cls(tuple(seen), tuple(declared)))
        if both.has_minus_one():
            for table in tables:
                if not table.has_minus_one() and {*table.seen, *table.declared} - {1}:
                    raise ValueError(
                        "-1 is a class in one part of the data and means unlabelled in another. Write None or NaN for "
                        "unlabelled samples in all of them, or name the classes: partial_fit(X, y, classes=...)."
                    )
        return cls(tuple(sorted(seen)), tuple(sorted(declared)))

    def codes_in(self, other: ClassTable) -> IntArray:
        """Return for each code the code of its class in another table, which must have it."""
        place = {label: code for code, label in enumerate(other.seen)}
        return np.array([place[label] for label in self.seen], dtype=np.int64)

    def check_kind(self, labels: Labels) -> None:
        """Raise a ValueError where labels are of another kind than the classes, and so can never be among them."""
        if labels.known.any():
            self.declaring(labels[np.flatnonzero(labels.known)[:1]])

    def code_of(self, label: Label) -> int | None:
        """Return the code of a class; None where it has not been learnt, or the classes are of another type."""
        return self._code_of.get(label) if self.seen and type(self.seen[0]) is type(label) else None

    def has_minus_one(self) -> bool:
        """Return True if -1 is a class, so that it does not mean unlabelled."""
        return self._has_minus_one

    def codes(self, labels: Labels) -> IntArray:
        """Return the code of each sample's class, -1 where it is unlabelled or not in the table."""
        codes, code_of = np.full(len(labels.known), UNLABELLED, dtype=np.int64), self._code_of
        given = labels.values[labels.known]
        if len(given) > FEW:
            values, inverse = np.unique(given, return_inverse=True)
            codes[labels.known] = np.array([code_of.get(label, UNLABELLED) for label in values.tolist()])[inverse]
        elif len(given):
            codes[labels.known] = [code_of.get(label, UNLABELLED) for label in given.tolist()]
        return codes

    def indices(self, codes: IntArray) -> IntArray:
        """Return the index in `classes` of each class code, -1 where the code is -1."""
        return self._class_of_code_or_none[codes]

    def by_class(self, values: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Return values with a column per class code as values with a column per class; `fill` where not learnt."""
        if len(self.seen) == len(self.classes):
            return np.asarray(values[:, self._code_of_class])
        every = np.full((len(values), len(self.classes)), fill, dtype=values.dtype)
        every[:, self._class_of_code] = values
        return every

    def with_unseen(self, values: NDArray[Any], fill: float = 0) -> NDArray[Any]:
        """Return values with a column per class learnt, sorted, as values with a column per class."""
        if len(self.seen) == len(self.classes):
            return values
        every = np.full((len(values), len(self.classes)), fill, dtype=values.dtype)
        every[:, np.sort(self.sorted_codes())] = values
        return every

    def order_of_seen(self) -> IntArray:
        """Return for each code the index of its class among the classes learnt so far, sorted."""
        return self._order_of_seen

    def first(self, n: int) -> ClassTable:
        """Return the table with the first n classes that were learnt."""
        return self if n == len(self.seen) else ClassTable(self.seen[:n], self.declared)

    def to_state(self) -> dict[str, Any]:
        """Return the state to save: plain values."""
        return {"seen": list(self.seen), "declared": list(self.declared)}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> ClassTable:
        """Return the table of a saved state, after checking that it can be one."""
        table = cls(tuple(state["seen"]), tuple(state["declared"]))
        labels = table.seen + table.declared
        kinds = {type(label) for label in labels}
        fits = (
            len(kinds) <= 1
            and kinds <= {int, bool, str}
            and all(len(set(ones)) == len(ones) for ones in (table.seen, table.declared))
            and all(-(2**63) <= label < 2**63 for label in labels if isinstance(label, int))
            and not any(label.endswith("\0") for label in labels if isinstance(label, str))
        )
        if not fits:
            raise ValueError("the classes of the model are not classes")
        return table

    @cached_property
    def classes(self) -> NDArray[Any]:
        """All classes, sorted, as users of scikit-learn expect them."""
        classes = np.array(sorted({*self.seen, *self.declared}))
        classes.setflags(write=False)
        return classes

    def sorted_codes(self) -> IntArray:
        """Return for each code the place of its class in `classes`."""
        return self._class_of_code

    @cached_property
    def _has_minus_one(self) -> bool:
        return UNLABELLED in self.seen or UNLABELLED in self.declared

    @cached_property
    def _code_of(self) -> dict[Label, int]:
        return {label: code for code, label in enumerate(self.seen)}

    @cached_property
    def _class_of_code(self) -> IntArray:
        place = {label: position for position, label in enumerate(self.classes.tolist())}
        return np.array([place[label] for label in self.seen], dtype=np.int64)

    @cached_property
    def _order_of_seen(self) -> IntArray:
        return np.argsort(np.argsort(self._class_of_code))

    @cached_property
    def _class_of_code_or_none(self) -> IntArray:
        return np.append(self._class_of_code, UNLABELLED)

    @cached_property
    def _code_of_class(self) -> IntArray:
        """The code of each class, where all classes have been learnt."""
        return np.argsort(self._class_of_code)
