"""Evidence as words, as plain values, and as a small table."""

from __future__ import annotations

from typing import Any

from sslart._utils.tables import html_table
from sslart._utils.text import SHOWN, list_text, number_text
from sslart.explain._contributions import BIAS, BOX, FEATURE, OTHERS, Contribution, Evidence
from sslart.explain._match import FeatureMatch
from sslart.explain._text.boxes import box_text, side_text

SHOWN_SIDES = 3


def amount_text(value: float) -> str:
    """Return a contribution with its sign: above 0 is for the predicted class."""
    return f"{value:+.3f}"


def evidence_headline(evidence: Evidence) -> str:
    """Return which classes the evidence compares, and its sum."""
    of = "" if evidence.member is None else f" of member {evidence.member}"
    against = "" if evidence.runner_up is None else f" against {evidence.runner_up}"
    return f"Evidence{of} for {evidence.predicted}{against}, {amount_text(evidence.margin)} in total"


def contribution_rows(evidence: Evidence) -> list[tuple[str, str, str]]:
    """Return the contributions to show, the largest first: amount, source, its value or sides; the rest added up."""
    boxes = [one for one in evidence.contributions if one.kind == BOX]
    features = [one for one in evidence.contributions if one.kind == FEATURE]
    shown = {id(one) for one in (*boxes[:SHOWN], *features[:SHOWN])}
    rows = [_row(one) for one in evidence.contributions if id(one) in shown]
    others = [one for one in evidence.contributions if one.kind == OTHERS] + boxes[SHOWN:]
    if others:
        n = sum(one.n_boxes for one in others)
        rows.append((amount_text(_sum(others)), f"all other boxes together ({n})", ""))
    if features[SHOWN:]:
        n = len(features) - SHOWN
        rows.append((amount_text(_sum(features[SHOWN:])), f"all other features alone ({n})", ""))
    biases = [one for one in evidence.contributions if one.kind == BIAS]
    return rows + [(amount_text(one.amount), "bias, the same for every sample", "") for one in biases]


def _sum(contributions: list[Contribution]) -> float:
    return sum(one.amount for one in contributions)


def _row(one: Contribution) -> tuple[str, str, str]:
    if one.box is not None:
        return amount_text(one.amount), box_text(one.box), narrowest_sides(one.box.feature_matches)
    return amount_text(one.amount), f"{one.feature} alone", f"the sample has {number_text(one.value)}"


def narrowest_sides(matches: tuple[FeatureMatch, ...]) -> str:
    """Return the narrowest sides of a box."""
    narrow = [match for match in matches if match.width is not None and match.width < 1]
    narrow.sort(key=lambda match: match.width or 0.0)
    sides = [f"{match.feature} {side_text(match)}" for match in narrow]
    return list_text(sides, SHOWN_SIDES) or "the whole range of every feature"


def evidence_lines(evidence: Evidence) -> list[str]:
    """Return the evidence in plain words."""
    rows = [
        f"  {amount} {source}" + (f": {detail}" if detail else "")
        for amount, source, detail in contribution_rows(evidence)
    ]
    return [f"{evidence_headline(evidence)}:", *rows]


def evidence_html(evidence: Evidence) -> str:
    """Return the evidence as a small table, every name and value escaped."""
    caption = evidence_headline(evidence)
    return html_table([], contribution_rows(evidence), caption=caption, css_class="sslart-evidence")


def evidence_dict(evidence: Evidence, box_dict: Any) -> dict[str, Any]:
    """Return the evidence as values that JSON knows."""
    return {
        "predicted": evidence.predicted,
        "runner_up": evidence.runner_up,
        "margin": evidence.margin,
        "member": evidence.member,
        "contributions": [
            {
                "kind": one.kind,
                "amount": one.amount,
                "box": None if one.box is None else box_dict(one.box),
                "feature": one.feature,
                "value": one.value,
                "n_boxes": one.n_boxes,
            }
            for one in evidence.contributions
        ],
    }
