"""Rules as text, table, Markdown, HTML and plain values: all from the same cells and phrases."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from math import floor, isnan, log10, nan
from typing import Any

from sslart._data.classes import Label
from sslart.rules._scales import Rule, RuleCondition, Scale

ANY = "any"


def cell(condition: RuleCondition) -> str:
    """Return a condition as in the paper's table: "1", "2-3", categories, or "any"."""
    if condition.full_range:
        return ANY
    if condition.categories is not None:
        return "|".join(condition.terms)
    if condition.low_level == condition.high_level:
        return str(condition.low_level)
    return f"{condition.low_level}-{condition.high_level}"


def phrase(condition: RuleCondition, scale: Scale) -> str:
    """Return a condition in words, with the range in the user's units behind it."""
    if condition.categories is not None:
        return f"{condition.feature} is {' or '.join(f'“{term}”' for term in condition.terms)}"
    first, last = condition.terms[0], condition.terms[-1]
    words = f"is “{first}”" if len(condition.terms) == 1 else f"is from “{first}” to “{last}”"
    return f"{condition.feature} {words} {_range(condition, scale)}"


def _range(condition: RuleCondition, scale: Scale) -> str:
    """Return the range in the user's units, to a thousandth of the range of the feature."""
    span = scale.high - scale.low
    decimals = max(0, 3 - floor(log10(span))) if span > 0 else 12
    low, high = (round(value, decimals) + 0.0 for value in (condition.low_value, condition.high_value))
    return f"[{low:.15g}, {high:.15g}]"


def _share(value: float) -> str:
    return str(round(value, 3))


def rule_text(number: int, rule: Rule, scales: Sequence[Scale], n_members: int, *, is_last: bool) -> str:
    """Return one rule in the paper's form; the last of several that asks nothing is for what the others leave."""
    phrases = [
        phrase(condition, scale)
        for condition, scale in zip(rule.conditions, scales, strict=True)
        if not condition.full_range
    ]
    others = [f"{label} {_share(share)}" for label, share in rule.confidences.items() if share and label != rule.label]
    remarks = [
        *([f"else {', '.join(others)}"] if others else []),
        f"support {rule.support}, {rule.n_labelled} of them labelled",
        *([f"in {rule.n_members} of {n_members} members"] if n_members > 1 else []),
        *([f"evidence {_evidence(rule.evidence)}"] if rule.evidence else []),
    ]
    antecedent = ", AND\n   ".join(phrases) or "anything"
    antecedent = "Otherwise" if is_last and number > 1 and not phrases else f"If {antecedent}"
    return (
        f"Rule {number}: {antecedent}\n"
        f"Then {rule.label} with confidence estimate={_share(rule.confidence)}.\n"
        f"   ({'; '.join(remarks)})"
    )


def _evidence(said: Mapping[Label, float]) -> str:
    """Return what a box says for each class, the most first."""
    return ", ".join(f"{label} {amount:+.3f}" for label, amount in sorted(said.items(), key=lambda one: -one[1]))


def columns(scales: Sequence[Scale], classes: Sequence[Label], *, evidence: bool = False) -> list[str]:
    """Return the head of the rule table; a feature called like a column of the table's own has "feature " before it."""
    own = [
        "label",
        *(f"confidence {label}" for label in classes),
        "support",
        "n_labelled",
        "n_members",
        "confidence_factor",
        *(f"evidence {label}" for label in classes if evidence),
    ]
    names = [scale.feature for scale in scales]
    taken = {"No.", *own, *names}
    features = []
    for name in names:
        if name in ("No.", *own):
            while name in taken:
                name = f"feature {name}"
            taken.add(name)
        features.append(name)
    return [*features, *own]


def row(rule: Rule, *, evidence: bool = False) -> list[Any]:
    """Return one row of the rule table; NaN where a box says nothing."""
    said = rule.evidence or dict.fromkeys(rule.counts, nan)
    return [
        *(cell(condition) for condition in rule.conditions),
        rule.label,
        *rule.confidences.values(),
        rule.support,
        rule.n_labelled,
        rule.n_members,
        rule.confidence_factor,
        *(said.values() if evidence else ()),
    ]


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else _share(value)
    return str(value)


def markdown(
    rules: Sequence[Rule],
    numbers: Sequence[int],
    scales: Sequence[Scale],
    classes: Sequence[Label],
    *,
    evidence: bool,
) -> str:
    """Return the rule table in Markdown."""
    head = ["No.", *columns(scales, classes, evidence=evidence)]
    body = [
        [str(number), *map(_shown, row(rule, evidence=evidence))] for number, rule in zip(numbers, rules, strict=True)
    ]
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(_escaped(text) for text in line) + " |" for line in lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")


def page(
    rules: Sequence[Rule],
    numbers: Sequence[int],
    scales: Sequence[Scale],
    classes: Sequence[Label],
    caption: str,
    *,
    evidence: bool,
) -> str:
    """Return the rule table in HTML; a cell shows its terms and range when pointed at."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in ["No.", *columns(scales, classes, evidence=evidence)])
    body = "".join(
        f"<tr><th>{number}</th>{''.join(_cells(rule, scales, evidence))}</tr>"
        for number, rule in zip(numbers, rules, strict=True)
    )
    return (
        f'<table class="sslart-rules"><caption>{html.escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def _cells(rule: Rule, scales: Sequence[Scale], evidence: bool) -> list[str]:
    values = row(rule, evidence=evidence)
    hints = [
        f' title="{html.escape(phrase(condition, scale))}"' if not condition.full_range else ""
        for condition, scale in zip(rule.conditions, scales, strict=True)
    ]
    hints += [""] * (len(values) - len(hints))
    return [f"<td{hint}>{html.escape(_shown(value))}</td>" for hint, value in zip(hints, values, strict=True)]


def rule_values(rule: Rule) -> dict[str, Any]:
    """Return a rule as plain values that JSON can hold."""
    return {
        "label": rule.label,
        "conditions": [_condition_values(condition) for condition in rule.conditions],
        "confidences": rule.confidences,
        "counts": dict(rule.counts),
        "support": rule.support,
        "n_labelled": rule.n_labelled,
        "n_members": rule.n_members,
        "confidence_factor": rule.confidence_factor,
        "nodes": list(rule.nodes),
        "members": list(rule.members),
        "evidence": None if rule.evidence is None else dict(rule.evidence),
    }


def _condition_values(condition: RuleCondition) -> dict[str, Any]:
    values: dict[str, Any] = {"feature": condition.feature, "full_range": condition.full_range}
    if condition.categories is not None:
        return {**values, "categories": list(condition.categories)}
    return {
        **values,
        "low_level": condition.low_level,
        "high_level": condition.high_level,
        "low_value": _or_none(condition.low_value),
        "high_value": _or_none(condition.high_value),
        "terms": list(condition.terms),
    }


def scale_values(scale: Scale) -> dict[str, Any]:
    """Return a scale as plain values that JSON can hold."""
    if scale.categories is not None:
        return {"feature": scale.feature, "categories": list(scale.categories)}
    return {
        "feature": scale.feature,
        "low": _or_none(scale.low),
        "high": _or_none(scale.high),
        "cuts": [_or_none(cut) for cut in scale.cuts.tolist()],
        "terms": list(scale.terms),
    }


def _or_none(value: float) -> float | None:
    return None if isnan(value) else value
