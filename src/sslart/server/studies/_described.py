"""The values of a column in figures: how many differ, their range, a histogram, the most frequent ones."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sslart._data.dates import days_of
from sslart._utils.arrays import FloatArray
from sslart._utils.text import Day

N_BINS = 20
N_TOP = 12
N_EXAMPLES = 3
MAX_SHOWN = 200  # characters of a value
NO_RANGE: dict[str, Any] = {"low": None, "high": None, "mean": None, "histogram": [], "edges": []}


def described(kind: str, values: Any) -> dict[str, Any]:
    """Return the figures of known values.

    Parameters
    ----------
    kind : {"number", "category", "date", "text"}
    values : array of numbers or texts, or a column of dates
    """
    if kind == "date":
        return _of_numbers(days_of(values, "dates"), lambda day: str(Day(day)))
    if kind == "number":
        return _of_numbers(np.asarray(values, dtype=np.float64), _plain)
    return _of_texts(np.asarray(values, dtype=object), is_text=kind == "text")


def _of_numbers(values: FloatArray, shown: Any) -> dict[str, Any]:
    distinct, counts = np.unique(values, return_counts=True)
    found: dict[str, Any] = {
        "distinct": len(distinct),
        "low": None,
        "high": None,
        "mean": None,
        "histogram": [],
        "edges": [],
    }
    first = list(dict.fromkeys(values[:1000].tolist()))[:N_EXAMPLES]
    top = np.argsort(-counts, kind="stable")[:N_TOP].tolist() if len(distinct) <= N_TOP else []
    found |= {
        "top": [{"value": shown(float(distinct[place])), "n": int(counts[place])} for place in top],
        "examples": [shown(one) for one in first],
    }
    if len(values):
        heights, edges = histogram(values)
        with np.errstate(over="ignore"):
            mean = float((values / len(values)).sum())
        found |= {
            "low": shown(float(distinct[0])),
            "high": shown(float(distinct[-1])),
            "mean": shown(mean) if np.isfinite(mean) else None,
            "histogram": heights,
            "edges": [shown(edge) for edge in edges],
        }
    return found


def histogram(values: FloatArray, edges: FloatArray | None = None) -> tuple[list[int], list[float]]:
    """Return a histogram with bins of equal width: the counts and the edges."""
    if edges is None:
        edges = bin_edges(values)
    inside = np.clip(values, edges[0], edges[-1])
    places = np.clip(np.searchsorted(edges, inside, side="right") - 1, 0, len(edges) - 2)
    return np.bincount(places, minlength=len(edges) - 1).tolist(), edges.tolist()


def bin_edges(values: FloatArray) -> FloatArray:
    """Return the edges of bins of equal width over all values."""
    low, high = float(values.min()), float(values.max())
    n_bins = min(N_BINS, max(len(np.unique(values)), 1))
    shares = np.linspace(0.0, 1.0, n_bins + 1)
    edges = low * (1.0 - shares) + high * shares  # high - low may be more than a number can hold
    return np.maximum.accumulate(edges)


def _of_texts(values: NDArray[Any], *, is_text: bool) -> dict[str, Any]:
    counts = Counter(str(one) for one in values.tolist())
    top = [] if is_text else [{"value": one[:MAX_SHOWN], "n": n} for one, n in counts.most_common(N_TOP)]
    return {
        "distinct": len(counts),
        **NO_RANGE,
        "top": top,
        "examples": [one[:MAX_SHOWN] for one in list(counts)[:N_EXAMPLES]],
    }


def _plain(value: float) -> float | int:
    return int(value) if abs(value) < 2**53 and value.is_integer() else value
