"""Rules of the model in words, as rows of a table, and as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from sslart._utils.text import DateName, Day, category_text, html_table, markdown_table, plural, printable
from sslart.rules._model.decimals import number_repr
from sslart.rules._model.rule import ModelCondition, ModelRule, Share, share_text

NO_PREDICTION = "no prediction"
HEAD = ("No.", "class", "conditions", "covers", "agrees with the model", "right, of labelled")


def condition_text(condition: ModelCondition) -> str:
    """Return a condition in words: "2.5 < width ≤ 4", "colour is red or blue", "age ≤ 30 or missing"."""
    name = printable(condition.feature)
    if condition.only_missing:
        return f"{name} is missing"
    if condition.categories is not None:
        named = " or ".join(map(category_text, condition.categories))
        text = f"{name} is {'not ' if condition.negated else ''}{named}" if named else f"{name} is known"
    elif condition.low is None and condition.high is None:
        text = f"{name} is known"
    elif condition.high is None:
        text = f"{name} > {_limit(condition, condition.low or 0.0)}"
    else:
        low = "" if condition.low is None else f"{_limit(condition, condition.low)} < "
        text = f"{low}{name} ≤ {_limit(condition, condition.high)}"
    return f"{text} or missing" if condition.missing else text


def _limit(condition: ModelCondition, value: float) -> str:
    return str(Day(value)) if isinstance(condition.feature, DateName) else number_repr(value)


def conditions_text(rule: ModelRule, *, alone: bool) -> str:
    """Return the conditions of a rule in one line; those of the default rule as "otherwise", or "in every case"."""
    if rule.conditions:
        return ", and ".join(map(condition_text, rule.conditions))
    return "in every case" if alone else "otherwise"


def label_text(rule: ModelRule) -> str:
    """Return the class of a rule."""
    return NO_PREDICTION if rule.label is None else printable(rule.label)


def right_text(share: Share) -> str:
    """Return a share of labelled samples with its interval, such as "9 of 10 (90 %, 95 % interval 60 % to 98 %)"."""
    if not share.total:
        return "none labelled"
    low, high = (share_text(end) for end in share.interval)
    value = "" if share.total == 1 else f"{share_text(share.value)}, "
    return f"{share.count} of {share.total} ({value}95 % interval {low} to {high})"


def covers_text(rule: ModelRule, n_samples: int, *, about: bool) -> str:
    """Return a text on the number of samples that a rule covers."""
    return f"{'about ' if about else ''}{rule.n_covered} of {n_samples} samples ({share_text(rule.coverage)})"


def agrees_text(rule: ModelRule) -> str:
    """Return a text on how often the model predicts the class of the rule."""
    return (
        "unknown" if isnan(rule.agreement) else f"{rule.n_agreeing} of {rule.n_covered} ({share_text(rule.agreement)})"
    )


def rule_text(rule: ModelRule, n_samples: int, *, alone: bool, about: bool) -> str:
    """Return the text of a rule, with its coverage and accuracy."""
    conditions = conditions_text(rule, alone=alone)
    sentence = f"if {conditions}, then" if rule.conditions else f"{conditions}"
    lines = [
        f"Rule {rule.number}: {sentence} {label_text(rule)}",
        f"   covers {covers_text(rule, n_samples, about=about)}; the model agrees: {agrees_text(rule)}",
    ]
    if rule.label is not None:
        lines.append(f"   right on labelled samples: {right_text(rule.right)}")
    else:
        lines.append(f"   labelled samples: {rule.right.total}")
    return "\n".join(lines)


def cells(rule: ModelRule, n_samples: int, *, alone: bool, about: bool) -> list[str]:
    """Return one row of the table."""
    return [
        str(rule.number),
        label_text(rule),
        conditions_text(rule, alone=alone),
        covers_text(rule, n_samples, about=about),
        agrees_text(rule),
        right_text(rule.right) if rule.label is not None else f"{plural(rule.right.total, 'label')}",
    ]


def markdown(rows: Sequence[Sequence[str]], caption: str) -> str:
    """Return the table in Markdown, its caption above it."""
    return f"{caption}\n\n{markdown_table(HEAD, rows, plain=True)}\n"


def html(rows: Sequence[Sequence[str]], caption: str) -> str:
    """Return the table in HTML."""
    return html_table(HEAD, rows, caption=caption, css_class="sslart-rules", row_headers=True)


def rule_values(rule: ModelRule) -> dict[str, Any]:
    """Return a rule as plain values that JSON can hold."""
    low, high = rule.right.interval
    return {
        "number": rule.number,
        "label": rule.label,
        "is_default": rule.is_default,
        "conditions": [_condition_values(condition) for condition in rule.conditions],
        "n_covered": rule.n_covered,
        "coverage": rule.coverage,
        "n_agreeing": rule.n_agreeing,
        "agreement": None if isnan(rule.agreement) else rule.agreement,
        "n_labelled": rule.right.total,
        "n_right": rule.right.count,
        "right_interval": [low, high],
    }


def _condition_values(condition: ModelCondition) -> dict[str, Any]:
    values: dict[str, Any] = {"feature": condition.feature, "text": condition_text(condition)}
    if condition.categories is not None:
        values |= {"categories": list(condition.categories), "negated": condition.negated}
    else:
        values |= {"above": condition.low, "at_most": condition.high}
    return {**values, "missing": condition.missing, "only_missing": condition.only_missing}


def bounds(conditions: Sequence[ModelCondition], every: Sequence[ModelCondition]) -> dict[str, Any]:
    """Return the conditions of a rule as cells by column, with None in the columns that only other rules need."""
    columns = dict.fromkeys(name for condition in every for name in _bounds(condition))
    own = {name: value for condition in conditions for name, value in _bounds(condition).items()}
    return {name: own.get(name) for name in columns}


def _bounds(condition: ModelCondition) -> dict[str, Any]:
    name = condition.feature
    missing = {f"{name} missing": "only" if condition.only_missing else "yes"} if condition.missing else {}
    if condition.categories is not None:
        named = "|".join(map(str, condition.categories))
        return {f"{name} {'is not' if condition.negated else 'is'}": named, **missing}
    limits = {f"{name} above": condition.low, f"{name} at most": condition.high}
    given = {place: limit for place, limit in limits.items() if limit is not None}
    return {**given, **missing} or {f"{name} missing": "no"}
