"""Explanations as words, as plain values, and as a small table."""

from __future__ import annotations

from html import escape
from typing import Any

from sslart.explain._explanation import Account, Novelty
from sslart.explain._flips import Counterfactual
from sslart.explain._format_evidence import amount, doubt, evidence_dict, html_table, text_lines
from sslart.explain._format_values import SHOWN, named, number, several, wanted
from sslart.explain._match import Box, FeatureMatch, broken


def verdict(condition: FeatureMatch) -> str:
    """Return how the sample's value stands to the box."""
    if condition.inside is None:
        return "no evidence"
    if condition.inside:
        return "inside"
    if condition.categories is not None:
        return "never seen" if condition.beyond_range else f"other, {condition.share:.0%} of the distance"
    limit = " (beyond the learnt range)" if condition.beyond_range else ""
    return f"off by {number(condition.outside_by, 3)}, {condition.share:.0%} of the distance{limit}"


def _line(condition: FeatureMatch) -> str:
    asks = f"is {wanted(condition)}" if condition.categories is not None else wanted(condition)
    return f"  {condition.feature} {asks}; it has {number(condition.value)}: {verdict(condition)}"


def _telling(conditions: tuple[FeatureMatch, ...]) -> list[FeatureMatch]:
    """Return the conditions worth a line: those broken, and then the narrowest of those kept."""
    kept = [condition for condition in conditions if condition.inside]
    kept.sort(key=lambda condition: 1.0 if condition.width is None else condition.width)
    shown = list(broken(conditions)[:SHOWN])
    return shown + kept[: SHOWN - len(shown)]


def _box_lines(box: Box) -> list[str]:
    conditions = box.conditions
    silent = [condition.feature for condition in conditions if condition.inside is None]
    n_inside = sum(condition.inside is True for condition in conditions)
    lines = [f"It lies inside this box in {n_inside} of {len(conditions) - len(silent)} features:"]
    lines += [_line(condition) for condition in _telling(conditions)]
    return [*lines, f"No evidence: {several(silent)}."] if silent else lines


def headline(explanation: Account) -> str:
    """Return the answer and its confidence."""
    if explanation.abstained:
        return "No answer"
    return f"Answer: {explanation.answer} (confidence {explanation.confidence:.2f})"


def _why_silent(explanation: Account) -> str:
    """Return why a model abstains."""
    if explanation.unsure is not None:
        return doubt(*explanation.unsure)
    asked, of = len(explanation.asked), "" if explanation.box.member is None else " of any member"
    return f"none of the {asked} best boxes{of} has a label" if asked > 1 else f"the best box{of} does not have a label"


def _abstention_lines(explanation: Account) -> list[str]:
    said = f"{headline(explanation)}: {_why_silent(explanation)}."
    if explanation.evidence is None:
        which = "The best" if explanation.unsure is None else "The best with a label"
        said += f" {which} is {named(explanation.box)}."
    lines = [said]
    if explanation.advice is not None:
        advice = explanation.advice
        node = f"node {advice.node}" + ("" if advice.member is None else f" of member {advice.member}")
        held = "1 sample" if advice.support == 1 else f"{advice.support} samples"
        if explanation.unsure is None:
            lines.append(f"A label for a sample like this one would name {node} that holds {held}.")
        else:
            lines.append(f"A label for {node} near by, that holds {held} and has none, may help.")
    return lines


def _answer_lines(explanation: Account) -> list[str]:
    if explanation.evidence is not None:
        return [f"{headline(explanation)}, from what all boxes say together."]
    lines = [f"{headline(explanation)}, from {named(explanation.box)}."]
    passed = [str(node.node) for node in explanation.asked if node.passed_on]
    if passed:
        lines.append(f"Asked before, but without a label: box {several(passed)}.")
    return lines


def _loudest_line(explanation: Account) -> str:
    """Return which box is shown of those that spoke."""
    evidence, box = explanation.evidence, explanation.box
    assert evidence is not None
    said = evidence.amount_of(box)
    if said is None or said <= 0:
        return f"No box spoke for {evidence.winner}. The best is {named(box)}."
    return f"Loudest for {evidence.winner}: {named(box)}, {amount(said)}."


def _rival_line(explanation: Account, box: Box) -> str:
    outside = [f"{condition.feature} ({condition.share:.0%})" for condition in box.outside]
    where = f"; the sample is outside it in {several(outside, 3)}" if outside else "; the sample lies inside it"
    said = None if explanation.evidence is None else explanation.evidence.amount_of(box)
    if explanation.evidence is not None and said is not None and said < 0:
        return f"Loudest against {explanation.evidence.winner}: {named(box)}, {amount(said)}{where}."
    labelled = explanation.abstained and explanation.unsure is None and explanation.evidence is None
    return f"Nearest {'with a label' if labelled else 'of another class'}: {named(box)}{where}."


def _novelty_line(novelty: Novelty) -> str:
    because = f", because of {several(list(novelty.features))}" if novelty.features else ""
    if not novelty.is_novel:
        return (
            f"It would make a box of its own{because}: the best fits it by {novelty.familiarity:.2f}, less than the "
            f"vigilance {novelty.vigilance:g}. For a new sample that is usual."
        )
    return (
        f"Novel{because}: the best box fits it by {novelty.familiarity:.2f}, where nearly all that was learnt fits by "
        f"{novelty.threshold:.2f} or more."
    )


def as_text(explanation: Account) -> str:
    """Return an explanation in plain words."""
    lines = _abstention_lines(explanation) if explanation.abstained else _answer_lines(explanation)
    if explanation.evidence is not None:
        lines += [*text_lines(explanation.evidence), _loudest_line(explanation)]
    lines += _box_lines(explanation.box)
    if explanation.novelty is not None:
        lines.append(_novelty_line(explanation.novelty))
    if explanation.rival is not None:
        lines.append(_rival_line(explanation, explanation.rival))
    if explanation.counterfactual is not None:
        changes = [
            f"{change.feature} {number(change.after, 6)} instead of {number(change.before, 6)}"
            for change in explanation.counterfactual.changes
        ]
        lines.append(f"It would be {explanation.counterfactual.answer} with {several(changes)}.")
    if explanation.votes is not None:
        lines.append(_evidence_votes(explanation) if explanation.evidence else f"Votes: {_votes(explanation)}.")
    return "\n".join(lines)


def _votes(explanation: Account) -> str:
    members: dict[Any, list[str]] = {}
    for vote in explanation.votes or ():
        members.setdefault(vote.vote, []).append(str(vote.member))
    scores = explanation.scores or {}
    parts = [
        f"{'none' if vote is None else vote} {scores.get(vote, 0.0):.2f} (member {several(names, 10)})"
        for vote, names in sorted(members.items(), key=lambda item: -scores.get(item[0], -1.0))
    ]
    return ", ".join(parts)


def _evidence_votes(explanation: Account) -> str:
    """Return what the members say for each class, and which class each names."""
    members: dict[Any, list[str]] = {}
    for vote in explanation.votes or ():
        members.setdefault(vote.vote, []).append(str(vote.member))
    scores = sorted((explanation.scores or {}).items(), key=lambda item: -item[1])
    parts = [
        f"{label} {score:.2f}" + (f" (named by member {several(members[label], 10)})" if label in members else "")
        for label, score in scores
        if score
    ]
    silent = [f"no answer from member {several(members[None], 10)}"] if None in members else []
    return f"Scores, each member's probability times its weight: {several([*parts, *silent], 2 * SHOWN)}."


def as_dict(explanation: Account) -> dict[str, Any]:
    """Return an explanation as values that JSON knows."""
    counterfactual, votes, scores = explanation.counterfactual, explanation.votes, explanation.scores
    return {
        "answer": explanation.answer,
        "abstained": explanation.abstained,
        "confidence": explanation.confidence,
        "unsure": None if explanation.unsure is None else list(explanation.unsure),
        "asked": [node._asdict() for node in explanation.asked],
        "box": _box_dict(explanation.box),
        "rival": None if explanation.rival is None else _box_dict(explanation.rival),
        "evidence": None if explanation.evidence is None else evidence_dict(explanation.evidence, _box_dict),
        "counterfactual": None if counterfactual is None else _counterfactual_dict(counterfactual),
        "novelty": None if explanation.novelty is None else _listed(vars(explanation.novelty)),
        "advice": None if explanation.advice is None else vars(explanation.advice).copy(),
        "votes": None if votes is None else [vars(vote).copy() for vote in votes],
        "scores": None if scores is None else [{"class": name, "score": score} for name, score in scores.items()],
    }


def _counterfactual_dict(counterfactual: Counterfactual) -> dict[str, Any]:
    return {
        "answer": counterfactual.answer,
        "changes": [change._asdict() for change in counterfactual.changes],
        "sample": list(counterfactual.sample),
    }


def _listed(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _condition_dict(condition: FeatureMatch) -> dict[str, Any]:
    plain = condition._asdict()
    if condition.categories is not None:
        plain["categories"] = list(condition.categories)
    return plain


def _box_dict(box: Box) -> dict[str, Any]:
    return {
        "node": box.node,
        "member": box.member,
        "label": box.label,
        "support": box.support,
        "choice": box.choice,
        "match": box.match,
        "distance": box.distance,
        "conditions": [_condition_dict(condition) for condition in box.conditions],
    }


def as_html(explanation: Account) -> str:
    """Return an explanation as a small table, every name and value escaped."""
    others = explanation.rival.conditions if explanation.rival is not None else None
    changes = {change.feature: change for change in getattr(explanation.counterfactual, "changes", ())}
    heads = ["feature", "value", "box", "", "box of another class", "to change the answer"]
    evidence = explanation.evidence
    if evidence is not None:
        against = evidence.amount_of(explanation.rival) is not None
        heads = ["feature", "value", "loudest for", "", "loudest against" if against else heads[4], heads[5]]
    rows = []
    for place, condition in enumerate(explanation.box.conditions):
        change = changes.get(condition.feature)
        cells = [
            condition.feature,
            number(condition.value),
            wanted(condition),
            verdict(condition),
            "" if others is None else wanted(others[place]),
            "" if change is None else number(change.after, 6),
        ]
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    table = "<table><thead><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr></thead><tbody>"
    lines = [line for line in as_text(explanation).split("\n") if not line.startswith("  ")]
    lines = [line for line in lines if not line.endswith(":")]
    said = "" if evidence is None else html_table(evidence)
    notes = "".join(f"<p>{escape(line)}</p>" for line in lines)
    return f'<div class="sslart-explanation">{notes}{said}{table}{"".join(rows)}</tbody></table></div>'
