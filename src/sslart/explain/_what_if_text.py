"""Counterfactuals as words, as plain values, and as a small table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sslart._utils.text import category_text, escape, html_table, printable, value_text

if TYPE_CHECKING:
    from sslart.explain._counterfactuals.changes import Change, Counterfactual
    from sslart.explain._counterfactuals.results import Counterfactuals

DIGITS = 6
IMPLAUSIBLE_NOTE = "implausible: unlike nearly all learnt samples, as a whole or in a new value."


def change_text(change: Change) -> str:
    """Return one change, in as many digits as show it."""
    before, after = next(
        texts
        for digits in (DIGITS, 17)
        if len(set(texts := [_value_text(change.feature, value, digits) for value in (change.before, change.after)]))
        == 2
        or digits > DIGITS
    )
    return f"{printable(change.feature)} {after} instead of {before}"


def _value_text(feature: str, value: Any, digits: int) -> str:
    return category_text(value) if isinstance(value, str) else value_text(feature, value, digits)


def _prediction_text(prediction: Any, confidence: float | None, *, plausible: bool | None = None) -> str:
    details = ([] if confidence is None else [f"confidence {confidence:.2f}"]) + (
        ["implausible"] if plausible is False else []
    )
    return f"{printable(prediction)} ({', '.join(details)})" if details else printable(prediction)


def change_line(counterfactual: Counterfactual) -> str:
    """Return a text on all changes and the resulting prediction."""
    *first, last = (change_text(change) for change in counterfactual.changes)
    changes = f"{', '.join(first)} and {last}" if first else last
    return f"{changes}: {_predicted(counterfactual)}"


def _predicted(counterfactual: Counterfactual) -> str:
    return _prediction_text(counterfactual.prediction, counterfactual.confidence, plausible=counterfactual.plausible)


def headline(found: Counterfactuals) -> str:
    """Return the headline with the current prediction."""
    if found.abstained:
        return "No prediction"
    return f"Prediction: {_prediction_text(found.prediction, found.confidence)}"


def as_text(found: Counterfactuals) -> str:
    """Return counterfactuals in plain words, one line each."""
    lines = [f"{headline(found)}."]
    if len(found):
        wanted = "another prediction" if found.target is None else printable(found.target)
        each = "This change leads" if len(found) == 1 else "Each of these changes alone leads"
        lines = [f"{headline(found)}. {each} to {wanted}:"]
    lines += [f"  {number}. {one}" for number, one in enumerate(found, start=1)]
    return "\n".join([*lines, *_notes(found)])


def _notes(found: Counterfactuals) -> list[str]:
    implausible = [IMPLAUSIBLE_NOTE] if any(one.plausible is False for one in found) else []
    return implausible + ([found.note] if found.note else [])


def counterfactual_dict(counterfactual: Counterfactual) -> dict[str, Any]:
    """Return one counterfactual as values that JSON knows."""
    return {
        "prediction": counterfactual.prediction,
        "confidence": counterfactual.confidence,
        "distance": counterfactual.distance,
        "plausible": counterfactual.plausible,
        "changes": [change._asdict() for change in counterfactual.changes],
        "sample": list(counterfactual.sample),
    }


def as_dict(found: Counterfactuals) -> dict[str, Any]:
    """Return counterfactuals as values that JSON knows."""
    return {
        "prediction": found.prediction,
        "abstained": found.abstained,
        "confidence": found.confidence,
        "target": found.target,
        "features": found.feature_names,
        "sample": list(found.sample),
        "counterfactuals": [counterfactual_dict(one) for one in found],
        "note": found.note,
    }


def as_html(found: Counterfactuals) -> str:
    """Return counterfactuals as a table: one row per feature that changes, one column per counterfactual."""
    heads = ["feature", "now", *(f"change {number}" for number in range(1, len(found) + 1))]
    rows = []
    for column, name in enumerate(found.feature_names):
        now = found.sample[column]
        cells = [value_text(name, one.sample[column], DIGITS) if one.sample[column] != now else "" for one in found]
        if any(cells):
            rows.append([name, value_text(name, now, DIGITS), *cells])
    if rows:
        now = "none" if found.abstained else _prediction_text(found.prediction, found.confidence)
        rows.append(["prediction", now, *(_predicted(one) for one in found)])
    notes = "".join(f"<p>{escape(line)}</p>" for line in (as_text(found).split("\n")[0], *_notes(found)))
    return f'<div class="sslart-counterfactuals">{notes}{html_table(heads, rows) if rows else ""}</div>'
