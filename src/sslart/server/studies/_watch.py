"""Comparison of rows since the last fit with earlier ones: features, novelty, abstentions, and classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sslart._art.novelty import FALSE_ALARMS
from sslart._utils.arrays import BoolArray, IntArray
from sslart._utils.intervals import share
from sslart._utils.text import DateName, DatePart, plural
from sslart.server.models._published import Published, as_json
from sslart.server.samples._loaded import LoadedSamples
from sslart.server.store._journal import records_with_rows
from sslart.server.studies._drift import change_of_categories, change_of_numbers, holm, is_drift

MAX_SAMPLES = 20_000  # of each of the two parts
MAX_ROWS = 200
HOW = (
    "Numbers: test of Kolmogorov and Smirnov. Categories: chi-square test. Missing values: Fisher's exact test. The "
    "p-values are corrected for the number of features by Holm's method. The tests take rows for independent: rows of "
    "one source that follow each other closely may differ by less than they tell."
)


class Decided(NamedTuple):
    """Stored decisions: the predictions for rows on arrival.

    Attributes
    ----------
    rows : array of int
    classes : list
        The most probable class of each, also where the model abstained.
    is_novel, abstained : arrays of bool
    is_stored : bool
        Whether it was predicted when they came; else the model as it is has predicted them.
    """

    rows: IntArray
    classes: list[Any]
    is_novel: BoolArray
    abstained: BoolArray
    is_stored: bool


def watch(
    connection: Any, model: int, published: Published, loaded: LoadedSamples, since: int, now: IntArray
) -> dict[str, Any]:
    """Compare rows since the last fit with those before it.

    Parameters
    ----------
    connection : apsw.Connection
    model : int
    published : Published
    loaded : LoadedSamples
    since : int
        The first row after the last fit.
    now : array of int
        Where the rows are that are compared with those before the fit; of the latter, those that are not among them.
    """
    is_before = loaded.samples.rows < since
    is_before[now] = False
    before = np.flatnonzero(is_before)
    rows = loaded.samples.rows[now]
    found: dict[str, Any] = {
        "since": since,
        "rows": len(now),
        "n_rows": len(now),
        "first": int(rows[0]) if len(rows) else None,
        "last": int(rows[-1]) if len(rows) else None,
        "compared_with": len(before),
        "how": HOW,
    }
    features = _features(loaded, _some(before), _some(now)) if len(before) and len(now) else []
    decided = _decided(connection, model, published, loaded, now)
    drifts = [one["feature"] for one in features if one["has_drifted"]]
    novel, abstained = _novel(published, decided), _abstained(decided)
    return found | {
        "features": features,
        "novel": novel,
        "abstained": abstained,
        "classes": _classes(published, loaded, before, decided),
        "drifts": [one.to_dict("row") for one in published.model.drift_],
        "text": _text(len(now), len(before), drifts, novel),
    }


def _some(places: IntArray) -> IntArray:
    n = min(len(places), MAX_SAMPLES)
    return places[np.unique(np.linspace(0, len(places) - 1, n).astype(np.int64))]


def _features(loaded: LoadedSamples, before: IntArray, now: IntArray) -> list[dict[str, Any]]:
    """Return the change of each feature, the clearest first."""
    table, names = loaded.samples.table, loaded.samples.published.view.feature_names
    changes = []
    for column, name in enumerate(names):
        if column in table.categories:
            values = table.categories[column]
            changes.append(change_of_categories(name, values[before].tolist(), values[now].tolist()))
        else:
            numbers = table.values[:, column]
            changes.append(change_of_numbers(name, numbers[before], numbers[now]))
    found = []
    for name, one, p_value in zip(names, changes, holm([one.p_value for one in changes]), strict=True):
        has_drifted = is_drift(one.drift, p_value)
        outcome = "changed" if has_drifted else "no change that is both large and more than chance"
        if isinstance(name, DateName | DatePart):
            outcome = "not tested: dates move on"
        found.append(
            {
                "feature": str(name),
                "drift": round(one.drift, 6),
                "p_value": p_value,
                "has_drifted": has_drifted,
                "text": f"{outcome} ({one.what})",
                "before": one.before,
                "now": one.now,
            }
        )
    return sorted(found, key=lambda one: (not one["has_drifted"], -one["drift"]))


def _decided(connection: Any, model: int, published: Published, loaded: LoadedSamples, now: IntArray) -> Decided:
    rows = loaded.samples.rows[now]
    if not len(rows):
        return Decided(rows, [], np.zeros(0, dtype=bool), np.zeros(0, dtype=bool), True)
    wanted, stored = set(rows.tolist()), dict[int, dict[str, Any]]()
    for record in records_with_rows(connection, model, int(rows[0]), int(rows[-1])):
        for place, one in enumerate(record.content().get("decisions") or ()):
            if record.first_row + place in wanted:
                stored[record.first_row + place] = one
    if stored:
        given = np.array(sorted(stored), dtype=np.int64)
        own = [stored[row] for row in given.tolist()]
        is_novel, abstained = (np.array([bool(one[name]) for one in own]) for name in ("novel", "abstained"))
        return Decided(given, _most_probable(published, own), is_novel, abstained, True)
    predictions = loaded.predictions(published)
    best, classes = predictions.best[now], [*predictions.classes, None]
    abstained = np.asarray((predictions.indices[now] < 0) & (best >= 0))
    return Decided(rows, [classes[one] for one in best.tolist()], loaded.is_novel[now], abstained, False)


def _most_probable(published: Published, decisions: Sequence[dict[str, Any]]) -> list[Any]:
    names = {str(one): one for one in published.classes}
    found = [max(one["probabilities"], key=one["probabilities"].__getitem__) for one in decisions]
    return [names.get(one, one) for one in found]


def _novel(published: Published, decided: Decided) -> dict[str, Any]:
    n = int(decided.is_novel.sum())
    found = share(n, len(decided.rows))
    can_flag = published.view.novelty_threshold > 0
    expected = FALSE_ALARMS if can_flag else 0.0
    text = published.view.novelty.promise()
    if found.low is not None and can_flag:
        usual = "more" if found.low > expected else "not more"
        text = f"{100 * n / len(decided.rows):.0f} % are novel, {usual} than the {100 * expected:g} % that are usual"
    return {
        "n": n,
        "of": len(decided.rows),
        "share": found.value,
        "low": found.low,
        "high": found.high,
        "expected": expected,
        "is_more": bool(can_flag and found.low is not None and found.low > expected),
        "when_sent": decided.is_stored,
        "rows": decided.rows[decided.is_novel][::-1][:MAX_ROWS].tolist(),
        "text": text,
    }


def _abstained(decided: Decided) -> dict[str, Any]:
    found = share(int(decided.abstained.sum()), len(decided.rows))
    rows = decided.rows[decided.abstained][::-1][:MAX_ROWS].tolist()
    return {
        "n": found.count,
        "of": found.total,
        "share": found.value,
        "low": found.low,
        "high": found.high,
        "rows": rows,
    }


def _classes(published: Published, loaded: LoadedSamples, before: IntArray, decided: Decided) -> list[dict[str, Any]]:
    """Return the share of each class as the most probable one, including rows on which the model abstains."""
    predictions = loaded.predictions(published)
    old = Counter(predictions.best[before].tolist())
    new = Counter(as_json(one) for one in decided.classes if one is not None)
    n_old, n_new = (sum(one.values()) for one in (old, new))
    return [
        {
            "class": name,
            "before": old[index] / n_old if n_old else None,
            "now": new[name] / n_new if n_new else None,
        }
        for index, name in enumerate(predictions.classes)
    ]


def _text(n_now: int, n_before: int, drifts: Sequence[str], novel: dict[str, Any]) -> str:
    if not n_now:
        return "No row has come since the last fit: send rows to decide, or drop a file here."
    if not n_before:
        return "There are no rows before these to compare them with."
    compared = f"{plural(n_now, 'row')} compared with {n_before} before the last fit."
    changed = f"Changed: {', '.join(drifts)}." if drifts else "No feature has changed."
    return f"{compared} {changed} {novel['text'][:1].upper()}{novel['text'][1:]}."
