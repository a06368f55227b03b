"""Rules as text, table, Markdown, HTML and plain values: all from the same cells and phrases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, isnan, log10, nan
from typing import Any

from sslart._data.labels import Label
from sslart._utils.text import Cell, DateName, Day, count_text, html_table, markdown_table, printable
from sslart.rules._boxes.domain import Domain
from sslart.rules._boxes.rule import Rule, RuleCondition
from sslart.rules._boxes.scales import Scale

ANY = "any"
NUMBER = "No."


def level_text(condition: RuleCondition) -> str:
    """Return a condition as in the paper's table: "1", "2-3", categories, or "any"."""
    if condition.full_range:
        return ANY
    if condition.categories is not None:
        return "|".join(condition.terms)
    if condition.low_level == condition.high_level:
        return str(condition.low_level)
    return f"{condition.low_level}-{condition.high_level}"


def condition_text(condition: RuleCondition, scale: Scale) -> str:
    """Return a condition in words, with the range in the user's units behind it."""
    name = printable(condition.feature)
    if condition.categories is not None:
        return f"{name} is {' or '.join(f'“{printable(term)}”' for term in condition.terms)}"
    first, last = printable(condition.terms[0]), printable(condition.terms[-1])
    words = f"is “{first}”" if len(condition.terms) == 1 else f"is from “{first}” to “{last}”"
    return f"{name} {words} {_range(condition, scale)}"


def _range(condition: RuleCondition, scale: Scale) -> str:
    """Return the range in the user's units, to a thousandth of the range of the feature."""
    span = scale.high - scale.low
    decimals = max(0, 3 - floor(log10(span))) if span > 0 else 12
    low, high = (round(value, decimals) + 0.0 for value in (condition.low_value, condition.high_value))
    if isinstance(condition.feature, DateName):
        return f"[{Day(low)}, {Day(high)}]"
    return f"[{low:.15g}, {high:.15g}]"


def _share(value: float) -> str:
    return str(round(value, 3))


def value_cells(rule: Rule) -> dict[str, float | None]:
    """Return the ends of the ranges of a rule, in the user's units, by column; None where it has no condition."""
    cells: dict[str, float | None] = {}
    for condition in rule.conditions:
        if condition.categories is None:
            for side, value in (("from", condition.low_value), ("to", condition.high_value)):
                cells[f"{condition.feature} {side}"] = None if condition.full_range else value
    return cells


def rule_text(number: int, rule: Rule, domain: Domain, *, is_rest: bool) -> str:
    """Return one rule in the paper's form; where it is for the rest and has no condition, it reads "Otherwise"."""
    conditions = [
        condition_text(condition, scale)
        for condition, scale in zip(rule.conditions, domain.scales, strict=True)
        if not condition.full_range
    ]
    others = [
        f"{printable(label)} {_share(share)}"
        for label, share in rule.confidences.items()
        if share and label != rule.label
    ]
    remarks = [
        *([f"else {', '.join(others)}"] if others else []),
        f"support {count_text(rule.support)}, {count_text(rule.n_labelled)} of them labelled",
        *([f"in {rule.n_members} of {domain.n_members} members"] if domain.n_members > 1 else []),
        *([f"evidence {_evidence(rule.evidence)}"] if rule.evidence else []),
    ]
    antecedent = ", AND\n   ".join(conditions) or "anything"
    antecedent = "Otherwise" if is_rest and not conditions else f"If {antecedent}"
    return (
        f"{domain.noun} {number}: {antecedent}\n"
        f"Then {printable(rule.label)} with confidence estimate={_share(rule.confidence)}.\n"
        f"   ({'; '.join(remarks)})"
    )


def _evidence(contributions: Mapping[Label, float]) -> str:
    """Return a text on the score a box adds to each class, the highest first."""
    highest_first = sorted(contributions.items(), key=lambda item: -item[1])
    return ", ".join(f"{printable(label)} {amount:+.3f}" for label, amount in highest_first)


def columns(domain: Domain) -> list[str]:
    """Return the head of the rule table; a feature called like another column has "feature " before its name."""
    classes = domain.classes.tolist()
    own = [
        "label",
        *(f"confidence {label}" for label in classes),
        "support",
        "n_labelled",
        "n_members",
        "confidence_factor",
        *(f"evidence {label}" for label in classes if domain.uses_evidence),
    ]
    names = [scale.feature for scale in domain.scales]
    taken = {NUMBER, *own, *names}
    features = []
    for name in names:
        if name in (NUMBER, *own):
            while name in taken:
                name = f"feature {name}"
            taken.add(name)
        features.append(name)
    return [*features, *own]


def row(rule: Rule, domain: Domain) -> list[Any]:
    """Return one row of the rule table; NaN as the evidence of a box without a weight."""
    evidence = rule.evidence or dict.fromkeys(rule.counts, nan)
    return [
        *(level_text(condition) for condition in rule.conditions),
        rule.label,
        *rule.confidences.values(),
        rule.support,
        rule.n_labelled,
        rule.n_members,
        rule.confidence_factor,
        *(evidence.values() if domain.uses_evidence else ()),
    ]


def _cells(rule: Rule, domain: Domain) -> list[str]:
    """Return one row of the rule table as text; empty where a value is NaN."""
    return [_cell(value) for value in row(rule, domain)]


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else _share(value)
    return str(value)


def rules_markdown(rules: Sequence[Rule], numbers: Sequence[int], domain: Domain) -> str:
    """Return the rule table in Markdown."""
    body = [[str(number), *_cells(rule, domain)] for number, rule in zip(numbers, rules, strict=True)]
    return markdown_table([NUMBER, *columns(domain)], body, plain=True) + "\n"


def rules_html(rules: Sequence[Rule], numbers: Sequence[int], domain: Domain, caption: str) -> str:
    """Return the rule table in HTML; a cell shows its terms and range while the mouse pointer is over it."""
    body = [[str(number), *_html_cells(rule, domain)] for number, rule in zip(numbers, rules, strict=True)]
    return html_table([NUMBER, *columns(domain)], body, caption=caption, css_class="sslart-rules", row_headers=True)


def _html_cells(rule: Rule, domain: Domain) -> list[str | Cell]:
    titles = [
        "" if condition.full_range else condition_text(condition, scale)
        for condition, scale in zip(rule.conditions, domain.scales, strict=True)
    ]
    texts = _cells(rule, domain)
    of_features = [Cell(text, title=title) for text, title in zip(texts, titles, strict=False)]
    return [*of_features, *texts[len(titles) :]]


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
