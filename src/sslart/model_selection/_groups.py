"""Validation of groups of samples given by the user."""

from __future__ import annotations

from typing import Any

import numpy as np

from sslart._data.labels import group_names
from sslart._utils.arrays import BoolArray, IntArray

NO_GROUP = -1


def read_groups(owner: str, groups: Any, known: BoolArray) -> IntArray:
    """Return the number of each sample's group, groups sorted by name; NO_GROUP where an unlabelled sample has none."""
    if groups is None:
        raise ValueError(
            f"{owner} needs groups, one value per sample (such as patient, batch or day): pass groups= to split, "
            "cross_validate or the fit of a search; with metadata routing, params={'groups': groups}."
        )
    names = group_names(groups, known)
    place = {name: number for number, name in enumerate(sorted({*names} - {None}, key=_kind_and_name))}
    return np.array([NO_GROUP if name is None else place[name] for name in names], dtype=np.int64)


def _kind_and_name(name: Any) -> tuple[str, Any]:
    return "" if isinstance(name, int | float) else type(name).__name__, name
