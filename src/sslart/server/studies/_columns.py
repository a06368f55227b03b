"""Interpretation of the columns of a model's rows, even if no model could be fitted to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from sslart._data.columns import (
    CODES,
    FREE_TEXT,
    GROUPS,
    IDENTIFIER,
    LEAK,
    MISSING_CODES,
    TWICE,
    UNKNOWN,
    kind_of_text,
)
from sslart._data.dates import days_of
from sslart._data.samples import SampleReader, plan_of, read_samples
from sslart._data.text_parsing import MISSING
from sslart._data.training import notes_on
from sslart._tables import pandas
from sslart._tables.cells import texts
from sslart._tables.columns import features_of, unusable
from sslart._tables.files import sample_rows
from sslart._utils.arrays import FloatArray
from sslart._utils.notes import collected_notes
from sslart._utils.text import Day
from sslart.server.models._published import Published
from sslart.server.models._settings import ModelSettings, with_settings
from sslart.server.models._stored_rows import StoredRows

N_BINS = 20
N_TOP = 12
N_EXAMPLES = 3
MAX_SHOWN = 200  # characters of a value
NO_RANGE: dict[str, Any] = {"low": None, "high": None, "mean": None, "histogram": [], "edges": []}
MAX_CELLS = 3_000_000  # used for statistics
MAX_ROWS = 20_000
MIN_ROWS = 1000
MANY_MISSING = 0.5
CURE = "It is left out. To use it anyway, set its role to feature."
LABELS = "labels in force "  # headers never end with a blank
_TOPIC = {  # mostly blank columns are shown by their statistics
    LEAK: "leak",
    TWICE: "copy",
    IDENTIFIER: "id",
    GROUPS: "group",
    CODES: "code",
    MISSING_CODES: "gap",
    UNKNOWN: "gap",
}
_WORDS = {
    "leak": "{detail}. Check that it is known before the class; if not, ignore it.",
    "copy": "It is {detail}. Ignore one of the two.",
    "group": "Rows with the same value seem to be dependent ({detail}). If so, set its role to group.",
    "code": "Its numbers may be codes ({detail}). If so, use them as categories.",
    "gap": "Some cells may stand for missing values: {detail}. If so, leave them blank.",
    "id": "It may be a row number ({detail}). Ignore it if it only identifies rows.",
}


def described(kind: str, values: Any) -> dict[str, Any]:
    """Return statistics of the known values: numbers, categories, dates, or text."""
    if kind == "date":
        return _of_numbers(days_of(values, "dates"), lambda day: str(Day(day)))
    if kind == "number":
        return _of_numbers(np.asarray(values, dtype=np.float64), _whole_or_float)
    counts = Counter(str(one) for one in np.asarray(values, dtype=object).tolist())
    top = [] if kind == "text" else [{"value": one[:MAX_SHOWN], "n": n} for one, n in counts.most_common(N_TOP)]
    examples = [one[:MAX_SHOWN] for one in list(counts)[:N_EXAMPLES]]
    return {"distinct": len(counts), **NO_RANGE, "top": top, "examples": examples}


def _whole_or_float(value: float) -> float | int:
    return int(value) if abs(value) < 2**53 and value.is_integer() else value


def _of_numbers(values: FloatArray, shown: Callable[[float], Any]) -> dict[str, Any]:
    distinct, counts = np.unique(values, return_counts=True)
    first = list(dict.fromkeys(values[:1000].tolist()))[:N_EXAMPLES]
    top = np.argsort(-counts, kind="stable")[:N_TOP].tolist() if len(distinct) <= N_TOP else []
    found = {
        "distinct": len(distinct),
        **NO_RANGE,
        "top": [{"value": shown(float(distinct[place])), "n": int(counts[place])} for place in top],
        "examples": [shown(one) for one in first],
    }
    if not len(values):
        return found
    heights, edges = histogram(values, bin_edges(values))
    with np.errstate(over="ignore"):
        mean = float((values / len(values)).sum())
    return found | {
        "low": shown(float(distinct[0])),
        "high": shown(float(distinct[-1])),
        "mean": shown(mean) if np.isfinite(mean) else None,
        "histogram": heights,
        "edges": [shown(edge) for edge in edges],
    }


def histogram(values: FloatArray, edges: FloatArray) -> tuple[list[int], list[float]]:
    """Return a histogram and its bin edges; values out of range count in the outermost bins."""
    return np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0].tolist(), edges.tolist()


def bin_edges(values: FloatArray) -> FloatArray:
    """Return the edges of bins of equal width over all values."""
    low, high = float(values.min()), float(values.max())
    n_bins = min(N_BINS, max(len(np.unique(values)), 1))
    shares = np.linspace(0.0, 1.0, n_bins + 1)
    edges = low * (1.0 - shares) + high * shares  # high - low may overflow
    return np.maximum.accumulate(edges)


def columns_of(stored: StoredRows, published: Published | None) -> dict[str, Any]:
    """Return the interpretation of each column: its role, kind, statistics, and warnings.

    For the published model, the left-out columns are those of its fit.
    """
    given, settings, label = stored.given_labels(), stored.settings, stored.label
    n_rows, most, has_label = 0, MAX_ROWS, False

    def pieces() -> Iterable[Any]:
        nonlocal n_rows, has_label
        for rows, frame, own in stored.pieces():
            n_rows += len(frame)
            has_label = has_label or label in frame.columns
            labels = [given.get(row, one) for row, one in zip(rows, own, strict=True)]
            yield frame.assign(**{LABELS: pandas().Series(labels, dtype=object, index=frame.index)})

    first = next(iter(pieces()), None)
    if first is None:
        return {"rows": 0, "columns": [], "notes": ["The model has no rows yet."]}
    n_rows, most = 0, max(MIN_ROWS, min(MAX_ROWS, MAX_CELLS // len(first.columns)))
    frame = sample_rows(pieces(), None, most, 0).frame.reset_index(drop=True)
    labels = frame.pop(LABELS).tolist()
    notes = []
    if len(frame) < n_rows:
        notes.append(f"Statistics of {len(frame)} of {n_rows} rows, drawn at random.")
    roles = dict.fromkeys(settings.ignore, "ignored") | {settings.group: "group", settings.id: "id"}
    roles |= {label: "label"} if has_label else {}
    columns = [_column(name, frame[name], roles.get(name, "feature"), settings) for name in frame.columns]
    for name, (topic, why) in _left_out(columns, frame, settings, published).items():
        column = next(one for one in columns if one["name"] == name)
        column["role"] = "left out"
        column["warnings"].append({"topic": topic, "text": f"It {why}. {CURE}"})
    _add_suspects(columns, frame, labels, settings)
    return {"rows": n_rows, "columns": columns, "notes": notes}


def _column(name: str, column: Any, role: str, settings: ModelSettings) -> dict[str, Any]:
    known = column.dropna()
    if known.dtype.kind not in "iufbmM":
        known = known[[one is not None and one not in MISSING for one in texts(known)]]
    kind, values, problem = _values(name, known, settings, role)
    found = {"name": name, "role": role, "kind": kind, "missing": len(column) - len(known), **described(kind, values)}
    warnings = [] if problem is None else [{"topic": "problem", "text": problem}]
    if not len(known):
        warnings.append({"topic": "empty", "text": "It has no values."})
    elif found["distinct"] == 1:
        text = "It has one class only." if role == "label" else "It is constant and has no influence."
        warnings.append({"topic": "constant", "text": text})
    if role == "feature" and len(known) and found["missing"] > MANY_MISSING * len(column):
        share = 100 * found["missing"] / len(column)
        warnings.append({"topic": "missing", "text": f"{share:.0f} % of its values are missing."})
    return {**found, "warnings": warnings}


def _values(name: str, known: Any, settings: ModelSettings, role: str) -> tuple[str, Any, str | None]:
    """Return the kind of a column, its converted values, and the reason if it cannot be read."""
    if not len(known):
        return "text", np.zeros(0, dtype=object), None
    if role != "feature":
        return "category", np.array(texts(known), dtype=object), None
    try:
        with collected_notes():
            values = features_of(known.to_frame(), "the table", settings.category)[name]
    except ValueError as error:
        return "text", np.array(texts(known), dtype=object), with_settings(str(error))
    if values.dtype.kind == "M":
        return "date", values, None
    if values.dtype.kind == "f":
        return "number", values.to_numpy(), None
    is_text = name not in (*settings.category, *settings.use) and kind_of_text(values.tolist()) == FREE_TEXT
    return "text" if is_text else "category", values.to_numpy(), None


def _features(columns: Sequence[dict[str, Any]], frame: Any, settings: ModelSettings) -> Any:
    """Return the readable feature columns as model input."""
    names = [
        one["name"]
        for one in columns
        if one["role"] == "feature" and not {"problem", "empty"} & {warning["topic"] for warning in one["warnings"]}
    ]
    some = frame[names]
    some = some[some.notna().any(axis=1)]
    if not len(names) or not len(some):
        return None
    with collected_notes():
        try:
            samples = features_of(some, "the table", [name for name in settings.category if name in names])
        except ValueError:  # such as a row with missing-value markers only
            return None
    wanted = [name for name in (*settings.category, *settings.use) if name in names]
    return samples.astype({name: "category" for name in wanted if samples[name].dtype.kind == "O"})


def _left_out(
    columns: Sequence[dict[str, Any]], frame: Any, settings: ModelSettings, published: Published | None
) -> dict[str, tuple[str, str]]:
    """Return the columns that the model has left out or a fit would leave out, with topic and reason."""
    if published is not None and published.settings.columns("") == settings.columns(""):
        names, left_out = published.reader.names, published.view.reader.plan.left_out
        used = {name for place, name in enumerate(names) if place not in left_out}
        unused = [one for one in columns if one["role"] == "feature" and one["name"] not in used]
        id_like = ("id", "looks like a row identifier")
        return {one["name"]: ("text", "is free text") if one["kind"] == "text" else id_like for one in unused}
    samples = _features(columns, frame, settings)
    why_not = {} if samples is None else unusable(samples, [*settings.category, *settings.use])
    return {name: ("text", "is free text") if why == FREE_TEXT else ("id", why) for name, why in why_not.items()}


def _add_suspects(
    columns: Sequence[dict[str, Any]], frame: Any, labels: Sequence[Any], settings: ModelSettings
) -> None:
    """Add warnings on columns that may be leaks, copies, or row numbers."""
    samples = _features(columns, frame, settings)
    if samples is None or len(samples) < len(frame):
        return
    codes_of = {one: code for code, one in enumerate(dict.fromkeys(one for one in labels if one is not None))}
    codes = np.array([-1 if one is None else codes_of[one] for one in labels], dtype=np.int64)
    reader = SampleReader(type(settings.new_estimator()).__name__)
    with collected_notes():
        table = read_samples(reader, samples, reset=True, leave_out=True)
        found = [one for one in notes_on(table, codes, list(samples.columns), plan_of(reader)) if one.topic in _TOPIC]
    by_name = {one["name"]: one["warnings"] for one in columns}
    for note in found:
        topic = _TOPIC[note.topic]
        text = _WORDS[topic].format(detail=note.detail)
        by_name[note.column].append({"topic": topic, "text": f"{text[:1].upper()}{text[1:]}"})
