"""Groups of samples as the user hands them over."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, column_or_1d

from sslart._data.samples import plain_value
from sslart._utils.arrays import BoolArray, IntArray

NO_GROUP = -1


def read_groups(owner: str, groups: Any, known: BoolArray) -> IntArray:
    """Return the number of each sample's group, groups sorted by name; NO_GROUP where an unlabelled sample has none."""
    if groups is None:
        raise ValueError(
            f"{owner} needs groups, one value per sample (such as patient, batch or day): pass groups= to split, "
            "cross_validate or the fit of a search; with metadata routing, params={'groups': groups}."
        )
    array = np.asarray(groups, dtype=object)
    check_consistent_length(known, array)
    names = [plain_value(value) for value in column_or_1d(array, dtype=object)]
    place = {name: number for number, name in enumerate(sorted({*names} - {None}, key=_kind_and_name))}
    codes = np.array([NO_GROUP if name is None else place[name] for name in names], dtype=np.int64)
    n_missing = int((codes[known] == NO_GROUP).sum())
    if n_missing:
        raise ValueError(
            f"groups is missing (None or NaN) for {n_missing} labelled sample(s). Name their group, or give each a "
            "name of its own."
        )
    return codes


def _kind_and_name(name: Any) -> tuple[str, Any]:
    return "" if isinstance(name, int | float) else type(name).__name__, name
