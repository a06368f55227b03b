"""The labelled samples of a model that was saved without them: their number, and nothing that they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sslart._data.samples import Table
from sslart._mapping.evidence.kept_labels import Chunk, LabelReservoir
from sslart._utils.arrays import IntArray
from sslart._utils.validation import MAX_COUNT, WITHOUT_SAMPLES, saved_array, saved_whole


class AbsentLabels(LabelReservoir):
    """As many labelled samples as a model had before it was saved without them; all that needs them is refused.

    Parameters
    ----------
    n_kept, n_seen : int
        How many were kept, and how many there had been.
    numbers : array of int of length n_kept, or None
        A number for each sample, in an ensemble: the same for equal samples, also in other members. None: their places.
    """

    n_kept: int
    numbers: IntArray | None

    def __init__(self, n_kept: int, n_seen: int, numbers: IntArray | None = None) -> None:
        vars(self).update(n_kept=n_kept, n_seen=n_seen, numbers=numbers)

    @property
    def chunks(self) -> tuple[Chunk, ...]:
        """No samples: a ValueError that names the remedy."""
        raise ValueError(WITHOUT_SAMPLES)

    def __len__(self) -> int:
        return self.n_kept

    def __repr__(self) -> str:
        return f"AbsentLabels({len(self)}, {self.n_seen})"

    def stand_ins(self) -> Table:
        """Return the number of each sample in its place."""
        return Table((np.arange(len(self)) if self.numbers is None else self.numbers).astype(np.float64)[:, None], {})

    def followed_by(self, later: LabelReservoir, max_labels: int) -> LabelReservoir:
        """Return as many absent labels as there are with those that came after them."""
        numbers = self.numbers
        if numbers is not None and isinstance(later, AbsentLabels) and later.numbers is not None:
            numbers = np.concatenate([numbers, later.numbers])
        return AbsentLabels(len(self) + len(later), later.n_seen, numbers)

    def to_state(self) -> dict[str, Any]:
        """Return the numbers."""
        return {"n_kept": len(self), "n_seen": self.n_seen, "numbers": self.numbers}


def labels_of(state: dict[str, Any] | None, n_columns: int, n_classes: int) -> LabelReservoir:
    """Return the labelled samples of a saved state, or that they are absent, after checking it."""
    if state is None:
        return LabelReservoir()
    if "n_kept" not in state:
        return LabelReservoir.from_state(state, n_columns, n_classes)
    n_seen = saved_whole(state, "n_seen", 1, MAX_COUNT)
    n_kept, numbers = saved_whole(state, "n_kept", 1, n_seen), None
    if state["numbers"] is not None:
        numbers = saved_array(state, "numbers", np.int64, n_kept, low=0, high=MAX_COUNT)
    return AbsentLabels(n_kept, n_seen, numbers)


def identities(tables: Sequence[Table]) -> list[IntArray]:
    """Return a number for each sample of several tables: the same for samples that agree in every value."""
    found: dict[Any, int] = {}
    numbers = []
    for table in tables:
        categories = [table.categories[column] for column in sorted(table.categories)]
        keys = [(values.tobytes(), *own) for values, *own in zip(table.values, *categories, strict=True)]
        numbers.append(np.array([found.setdefault(key, len(found)) for key in keys], dtype=np.int64))
    return numbers
