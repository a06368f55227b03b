"""The quality of a model in groups of samples, which a column gives: by left-out labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from sslart._mapping.loo_predictions import LooPredictions
from sslart._tables.cells import MISSING, plain
from sslart._utils.arrays import FloatArray
from sslart._utils.text import number_text, plural, printable
from sslart.server.studies._trust import ends, note_on

MAX_GROUPS = 20
FEW_VALUES = 12  # numbers of more values are cut into bands
N_BANDS = 4
NO_VALUE = "no value"
UNKNOWN = "row not known"


def group_quality(left_out: LooPredictions, column: str, cells: Sequence[Any]) -> dict[str, Any]:
    """Return the accuracy in each group of a column: bands of numbers in their order, else the most labels first.

    Parameters
    ----------
    left_out : LooPredictions
    column : str
    cells : sequence
        What each left-out label has in the column; `UNKNOWN` where its row is not known.
    """
    all_names, bands = _groups(cells)
    names = np.array(all_names, dtype=object)
    sizes = Counter(names.tolist()).most_common()
    shown = [name for name, _ in sizes[: MAX_GROUPS if len(sizes) <= MAX_GROUPS else MAX_GROUPS - 1]]
    shown.sort(key=lambda name: bands.index(name) if name in bands else len(bands))
    if len(shown) < len(sizes):
        rest = f"{plural(len(sizes) - len(shown), 'other group')}"
        names = np.array([one if one in set(shown) else rest for one in names.tolist()], dtype=object)
        shown.append(rest)
    groups = []
    for name in shown:
        own = np.asarray(names == name, dtype=bool)
        accuracy = left_out.share(left_out.right, own)
        note = note_on(accuracy, left_out.share(left_out.right, ~own))
        groups.append({"group": name, "n": int(own.sum()), "accuracy": ends(accuracy), "note": note})
    return {"column": column, "groups": groups}


def _groups(cells: Sequence[Any]) -> tuple[list[str], list[str]]:
    """Return the group of each cell: its text, or a band of numbers where there are many; and all bands in order."""
    known = [one for one in cells if one is not None and one != UNKNOWN and one not in MISSING]
    if len({str(one) for one in known}) > FEW_VALUES and all(_number(one) is not None for one in known):
        numbers = [_number(one) for one in cells]
        return _bands(np.array([np.nan if one is None else one for one in numbers]), cells)
    return [_text(one) for one in cells], []


def _number(cell: Any) -> float | None:
    try:
        value = float(cell)
    except (TypeError, ValueError):
        return None
    return value if isfinite(value) else None


def _text(cell: Any) -> str:
    return NO_VALUE if cell is None or cell in MISSING else printable(plain(str(cell)))


def _bands(numbers: FloatArray, cells: Sequence[Any]) -> tuple[list[str], list[str]]:
    cuts = np.unique(np.nanquantile(numbers, np.linspace(0, 1, N_BANDS + 1)))
    last = len(cuts) - 2
    texts = [number_text(float(cut)) for cut in cuts]
    bands = [f"{texts[at]} to {'' if at == last else 'below '}{texts[at + 1]}" for at in range(last + 1)]
    names = []
    for number, cell in zip(numbers.tolist(), cells, strict=True):
        if number != number:
            names.append(cell if cell == UNKNOWN else NO_VALUE)
            continue
        place = min(int(np.searchsorted(cuts, number, side="right")) - 1, last)
        names.append(bands[place])
    return names, bands
