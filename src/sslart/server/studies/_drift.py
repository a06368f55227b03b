"""Two-sample tests of drift in a feature: effect size, and p-value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sslart._utils.arrays import FloatArray
from sslart._utils.optional import heavy
from sslart._utils.text import DateName, DatePart, Day, category_text, list_text, printable, value_text
from sslart.server.studies._described import bin_edges, histogram

MAX_P = 0.01
MIN_DRIFT = 0.1
FEW = 5  # categories that come less often are counted together
N_TOP = 12
SHOWN_NEW = 3
OTHERS = "\0others"  # no category has such a name in a file
MISSING = "missing"


class Change(NamedTuple):
    """Change of a feature's distribution.

    Attributes
    ----------
    drift : float
        From 0 for the same distribution to 1 for two that have nothing in common.
    p_value : float or None
        Of no change; None where it is not tested.
    what : str
        The change in words.
    before, now : dict
        The values.
    """

    drift: float
    p_value: float | None
    what: str
    before: dict[str, Any]
    now: dict[str, Any]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for their number by Holm's method; None stays so.

    Examples
    --------
    >>> from sslart.server.studies._drift import holm
    >>> holm([0.01, None, 0.04, 0.03])
    [0.03, None, 0.06, 0.06]
    """
    known = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    found: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        found[place] = highest
    return found


def is_drift(drift: float, p_value: float | None) -> bool:
    """Return True if a change is both large enough and significant."""
    return p_value is not None and p_value <= MAX_P and drift >= MIN_DRIFT


def change_of_numbers(name: str, before: FloatArray, now: FloatArray) -> Change:
    """Return the change of a numeric feature, NaN where missing, by the Kolmogorov-Smirnov test."""
    old, new = before[~np.isnan(before)], now[~np.isnan(now)]
    gaps = [len(before) - len(old), len(now) - len(new)]
    missing_p, missing_drift = _of_shares(gaps, [len(before), len(now)])
    p_value: float | None = missing_p
    drift = missing_drift
    if len(old) and len(new):
        found = heavy("scipy.stats").ks_2samp(old, new)
        drift = max(missing_drift, float(found.statistic))
        p_value = min(1.0, 2.0 * min(missing_p, float(found.pvalue)))  # either of two tests
    if isinstance(name, DateName):
        p_value = None
    edges = bin_edges(np.concatenate([old, new])) if len(old) + len(new) else None
    parts = [_numbers(name, values, n, edges) for values, n in ((old, gaps[0]), (new, gaps[1]))]
    words = [f"median {parts[1]['median']}, before {parts[0]['median']}"] if len(old) and len(new) else []
    if missing_drift >= MIN_DRIFT / 2:
        words.append(_missing_words(gaps, [len(before), len(now)]))
    return Change(drift, p_value, "; ".join(words) or "no value", parts[0], parts[1])


def _numbers(name: str, values: FloatArray, n_missing: int, edges: FloatArray | None) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(values), "missing": n_missing, "histogram": [], "edges": [], "median": None}
    if not len(values):
        return found
    heights, ends = histogram(values, edges)
    shown = [str(Day(end)) for end in ends] if isinstance(name, DateName) else ends
    return found | {"histogram": heights, "edges": shown, "median": value_text(name, float(np.median(values)))}


def change_of_categories(name: str, before: Sequence[Any], now: Sequence[Any]) -> Change:
    """Return the change of a categorical feature, None where missing, by the chi-square test."""
    old, new = Counter(before), Counter(now)
    n_old, n_new = max(len(before), 1), max(len(now), 1)
    every = list(dict.fromkeys([*old, *new]))
    drift = sum(abs(old[one] / n_old - new[one] / n_new) for one in every) / 2
    p_value = None if isinstance(name, DatePart) else _chi_square(old, new)
    most = max(every, key=lambda one: abs(old[one] / n_old - new[one] / n_new), default=None)
    words = [f"{_name(most)}: {100 * new[most] / n_new:.0f} %, before {100 * old[most] / n_old:.0f} %"]
    unseen = [_name(one) for one in new if one not in old]
    if unseen:
        words.append(f"not met before: {list_text(unseen, SHOWN_NEW)}")
    parts = [_categories(counts, every) for counts in (old, new)]
    return Change(drift, p_value, "; ".join(words), parts[0], parts[1])


def _categories(counts: Counter[Any], every: Sequence[Any]) -> dict[str, Any]:
    n = sum(counts.values())
    shown = sorted((one for one in every if one is not None), key=lambda one: -counts[one])[:N_TOP]
    top = [{"value": printable(one), "n": counts[one], "share": counts[one] / max(n, 1)} for one in shown]
    return {"n": n - counts[None], "missing": counts[None], "top": top}


def _name(category: Any) -> str:
    return MISSING if category is None else category_text(category)


def _chi_square(old: Counter[Any], new: Counter[Any]) -> float:
    """Return the p-value of two equal distributions; categories that are rare in both count together."""
    counts: dict[Any, list[int]] = {}
    for one in dict.fromkeys([*old, *new]):
        own = counts.setdefault(OTHERS if old[one] + new[one] < FEW else one, [0, 0])
        own[0] += old[one]
        own[1] += new[one]
    table = np.array(list(counts.values())).T
    if table.shape[1] < 2 or not table.sum(axis=1).all():
        return 1.0
    if table.shape[1] == 2:
        return _of_shares(table[:, 0].tolist(), table.sum(axis=1).tolist())[0]
    return float(heavy("scipy.stats").chi2_contingency(table).pvalue)


def _of_shares(hits: Sequence[int], totals: Sequence[int]) -> tuple[float, float]:
    """Return the p-value of two equal shares, by Fisher's exact test, and their difference."""
    if not all(totals):
        return 1.0, 0.0
    table = [[one, n - one] for one, n in zip(hits, totals, strict=True)]
    return float(heavy("scipy.stats").fisher_exact(table).pvalue), abs(hits[0] / totals[0] - hits[1] / totals[1])


def _missing_words(gaps: Sequence[int], totals: Sequence[int]) -> str:
    old, new = (100 * gap / max(n, 1) for gap, n in zip(gaps, totals, strict=True))
    return f"{new:.0f} % missing, before {old:.0f} %"
