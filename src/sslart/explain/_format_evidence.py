"""Evidence as words, as plain values, and as a small table."""

from __future__ import annotations

from html import escape
from typing import Any

from sslart.explain._contributions import BIAS, BOX, FEATURE, OTHERS, Contribution, Evidence
from sslart.explain._format_values import named, number, several, wanted
from sslart.explain._match import FeatureMatch

SHOWN = 5
SHOWN_CONDITIONS = 3


def amount(value: float) -> str:
    """Return what is said, with its sign: above 0 is for the answer."""
    return f"{value:+.3f}"


def in_all(evidence: Evidence) -> str:
    """Return what the evidence is for, and its sum."""
    of = "" if evidence.member is None else f" of member {evidence.member}"
    against = "" if evidence.runner_up is None else f" against {evidence.runner_up}"
    return f"Evidence{of} for {evidence.winner}{against}, {amount(evidence.margin)} in all"


def lines_of(evidence: Evidence) -> list[tuple[str, str, str]]:
    """Return the terms to show, the loudest first: amount, who says it, what it asks or has; the rest put together."""
    boxes = [term for term in evidence.terms if term.kind == BOX]
    features = [term for term in evidence.terms if term.kind == FEATURE]
    shown = {id(term) for term in (*boxes[:SHOWN], *features[:SHOWN])}
    lines = [_line(term) for term in evidence.terms if id(term) in shown]
    others = [term for term in evidence.terms if term.kind == OTHERS] + boxes[SHOWN:]
    if others:
        n = sum(term.n_boxes for term in others)
        lines.append((amount(_sum(others)), f"all other boxes together ({n})", ""))
    if features[SHOWN:]:
        n = len(features) - SHOWN
        lines.append((amount(_sum(features[SHOWN:])), f"all other features by themselves ({n})", ""))
    lines += [
        (amount(term.amount), "bias: before any of these is heard", "") for term in evidence.terms if term.kind == BIAS
    ]
    return lines


def _sum(terms: list[Contribution]) -> float:
    return sum(term.amount for term in terms)


def _line(term: Contribution) -> tuple[str, str, str]:
    if term.box is not None:
        return amount(term.amount), named(term.box), asks(term.box.conditions)
    return amount(term.amount), f"{term.feature} by itself", f"it has {number(term.value)}"


def asks(conditions: tuple[FeatureMatch, ...]) -> str:
    """Return what a box asks, the narrowest first."""
    asked = [one for one in conditions if one.width is not None and one.width < 1]
    asked.sort(key=lambda one: one.width or 0.0)
    return several([f"{one.feature} {wanted(one)}" for one in asked], SHOWN_CONDITIONS) or "asks nothing"


def text_lines(evidence: Evidence) -> list[str]:
    """Return the evidence in plain words."""
    lines = [" ".join((said, who)) + (f": {what}" if what else "") for said, who, what in lines_of(evidence)]
    return [f"{in_all(evidence)}:", *(f"  {line}" for line in lines)]


def html_table(evidence: Evidence) -> str:
    """Return the evidence as a small table, every name and value escaped."""
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in line) + "</tr>" for line in lines_of(evidence)
    )
    return f'<table class="sslart-evidence"><caption>{escape(in_all(evidence))}</caption><tbody>{rows}</tbody></table>'


def evidence_dict(evidence: Evidence, box_dict: Any) -> dict[str, Any]:
    """Return the evidence as values that JSON knows."""
    return {
        "winner": evidence.winner,
        "runner_up": evidence.runner_up,
        "margin": evidence.margin,
        "member": evidence.member,
        "terms": [
            {
                "kind": term.kind,
                "amount": term.amount,
                "box": None if term.box is None else box_dict(term.box),
                "feature": term.feature,
                "value": term.value,
                "n_boxes": term.n_boxes,
            }
            for term in evidence.terms
        ],
    }


def doubt(highest: float, limit: float) -> str:
    """Return why an answer is not sure enough, in as many digits as show it."""
    digits = next((digits for digits in range(2, 17) if float(f"{highest:.{digits}f}") < limit), 17)
    return f"the highest probability, {highest:.{digits}f}, is below {limit:g}"
