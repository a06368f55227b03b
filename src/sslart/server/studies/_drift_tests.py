"""Comparison of rows since the last fit with earlier ones: features, novelty, abstentions, and classes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sslart._art.novelty import FALSE_ALARMS
from sslart._utils.arrays import BoolArray, FloatArray, IntArray
from sslart._utils.intervals import share
from sslart._utils.optional import heavy
from sslart._utils.text import DateName, DatePart, Day, category_text, list_text, plural, printable, value_text
from sslart.server.models._published import Published, as_json
from sslart.server.store._journal import learn_records
from sslart.server.studies._columns import bin_edges, histogram
from sslart.server.studies._samples import LoadedSamples, spread
from sslart.server.studies._study import Study

MAX_P = 0.01
MIN_DRIFT = 0.1
FEW = 5  # rarer categories are pooled
N_TOP = 12
SHOWN_NEW = 3
OTHERS = "\0others"  # no category has such a name in a file
MISSING = "missing"
MAX_SAMPLES = 20_000  # samples used of each of the two parts
MAX_ROWS = 200
HOW = (
    "Numbers: Kolmogorov-Smirnov test. Categories: chi-square test. Missing values: Fisher's exact test. p-values are "
    "corrected for the number of features by Holm's method. The tests assume independent rows: for correlated rows, "
    "such as successive readings of one source, they report differences that may be due to chance."
)


class Change(NamedTuple):
    """Change of a feature's distribution, as numbers and text, with the values on both sides."""

    drift: float  # from 0 for the same distribution to 1 for two that have nothing in common
    p_value: float | None  # None if not tested
    what: str
    before: dict[str, Any]
    now: dict[str, Any]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Return p-values corrected for their number by Holm's method; None stays so."""
    known = sorted((value, place) for place, value in enumerate(p_values) if value is not None)
    found: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (value, place) in enumerate(known):
        highest = max(highest, min(1.0, value * (len(known) - rank)))
        found[place] = highest
    return found


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
        were, are = (100 * gap / max(n, 1) for gap, n in zip(gaps, (len(before), len(now)), strict=True))
        words.append(f"{are:.0f} % missing, before {were:.0f} %")
    return Change(drift, p_value, "; ".join(words) or "no value", parts[0], parts[1])


def _numbers(name: str, values: FloatArray, n_missing: int, edges: FloatArray | None) -> dict[str, Any]:
    found: dict[str, Any] = {"n": len(values), "missing": n_missing, "histogram": [], "edges": [], "median": None}
    if edges is None or not len(values):
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
        words.append(f"new: {list_text(unseen, SHOWN_NEW)}")
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
    """Return the p-value of equal distributions; categories that are rare in both are pooled."""
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


class Decided(NamedTuple):
    """The decisions on rows."""

    rows: IntArray
    classes: list[Any]  # the most probable ones, also where the model abstained
    is_novel: BoolArray
    abstained: BoolArray
    is_stored: bool  # predicted when the rows arrived; else by the current model


def watch(study: Study, since: int, now: IntArray) -> dict[str, Any]:
    """Compare rows since the last fit, with indices `now`, with the other rows, from before the fit.

    `since` is the first row after the last fit.
    """
    published, loaded = study.published, study.loaded
    is_before = loaded.samples.rows < since
    is_before[now] = False
    before = np.flatnonzero(is_before)
    rows = loaded.samples.rows[now]
    features: list[dict[str, Any]] = []
    if len(before) and len(now):
        some = (places[spread(len(places), MAX_SAMPLES)] for places in (before, now))
        features = _features(loaded, *some)
    decided = _decided(study, now)
    drifts = [one["feature"] for one in features if one["has_drifted"]]
    novel = _novel(published, decided)
    if not len(now):
        text = "No rows have arrived since the last fit: send rows to decide, or drop a file here."
    elif not len(before):
        text = "There are no earlier rows to compare with."
    else:
        changed = f"Changed: {', '.join(drifts)}." if drifts else "No feature has changed."
        compared = f"{plural(len(now), 'row')} compared with {len(before)} before the last fit."
        text = f"{compared} {changed} {novel['text'][:1].upper()}{novel['text'][1:]}."
    return {
        "since": since,
        "n_rows": len(now),
        "first": int(rows[0]) if len(rows) else None,
        "last": int(rows[-1]) if len(rows) else None,
        "compared_with": len(before),
        "how": HOW,
        "features": features,
        "novel": novel,
        "abstained": _flagged(decided, decided.abstained),
        "classes": _classes(study, before, decided),
        "drifts": [one.to_dict("row") for one in published.model.drift_],
        "text": text,
    }


def _features(loaded: LoadedSamples, before: IntArray, now: IntArray) -> list[dict[str, Any]]:
    """Return the change of each feature, the most significant first."""
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
        has_drifted = p_value is not None and p_value <= MAX_P and one.drift >= MIN_DRIFT
        outcome = "changed" if has_drifted else "no large and significant change"
        if isinstance(name, DateName | DatePart):
            outcome = "not tested: dates always advance"
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


def _decided(study: Study, now: IntArray) -> Decided:
    rows = study.loaded.samples.rows[now]
    if not len(rows):
        return Decided(rows, [], np.zeros(0, dtype=bool), np.zeros(0, dtype=bool), True)
    wanted, stored = set(rows.tolist()), dict[int, dict[str, Any]]()
    for record in learn_records(study.reader, study.model.id, int(rows[0]), int(rows[-1])):
        for place, one in enumerate(record.content().get("decisions") or ()):
            if record.first_row + place in wanted:
                stored[record.first_row + place] = one
    if stored:
        given = np.array(sorted(stored), dtype=np.int64)
        own, names = [stored[row] for row in given.tolist()], {str(one): one for one in study.published.classes}
        best = [max(one["probabilities"], key=one["probabilities"].__getitem__) for one in own]
        is_novel, abstained = (np.array([bool(one[name]) for one in own]) for name in ("novel", "abstained"))
        return Decided(given, [names.get(one, one) for one in best], is_novel, abstained, True)
    predictions = study.predictions
    codes, classes = predictions.best[now], [*predictions.classes, None]
    abstained = np.asarray((predictions.indices[now] < 0) & (codes >= 0))
    return Decided(rows, [classes[one] for one in codes.tolist()], study.loaded.is_novel[now], abstained, False)


def _novel(published: Published, decided: Decided) -> dict[str, Any]:
    flagged = _flagged(decided, decided.is_novel)
    can_flag, text = published.view.novelty_threshold > 0, published.view.novelty.promise()
    expected = FALSE_ALARMS if can_flag else 0.0
    is_more = bool(can_flag and flagged["low"] is not None and flagged["low"] > expected)
    if flagged["low"] is not None and can_flag:
        usual = "more" if is_more else "not more"
        percent = 100 * flagged["n"] / flagged["of"]
        text = f"{percent:.0f} % are novel, {usual} than the {100 * expected:g} % expected"
    return {**flagged, "expected": expected, "is_more": is_more, "when_sent": decided.is_stored, "text": text}


def _flagged(decided: Decided, flags: BoolArray) -> dict[str, Any]:
    """Return the number of flagged rows, their share with its interval, and the last of them."""
    found, rows = share(int(flags.sum()), len(decided.rows)), decided.rows[flags][::-1][:MAX_ROWS].tolist()
    ends = {"share": found.value, "low": found.low, "high": found.high}
    return {"n": found.count, "of": found.total, **ends, "rows": rows}


def _classes(study: Study, before: IntArray, decided: Decided) -> list[dict[str, Any]]:
    """Return the share of each class as the most probable one, including rows on which the model abstains."""
    predictions = study.predictions
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
