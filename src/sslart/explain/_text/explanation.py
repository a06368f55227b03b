"""Explanations as words, as plain values, and as a small table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sslart._utils.text import SHOWN, escape, html_table, list_text, number_text, plural, printable, value_text
from sslart.explain._text.boxes import box_text, comparison_lines, position_text, side_text, similar_text
from sslart.explain._text.evidence import evidence_dict, evidence_html, evidence_lines
from sslart.explain._text.what_if import change_text

if TYPE_CHECKING:
    from sslart.explain._counterfactuals.changes import Counterfactual
    from sslart.explain._explanation import Explanation, Novelty
    from sslart.explain._match import Box, FeatureMatch


def headline(explanation: Explanation) -> str:
    """Return the prediction and its confidence."""
    if explanation.abstained:
        return "No prediction"
    return f"Prediction: {printable(explanation.prediction)} (confidence {explanation.confidence:.2f})"


def low_probability_text(highest: float, limit: float | None, max_error: float | None = None) -> str:
    """Return why a probability is too low, in as many digits as show it."""
    if limit is None:
        return f"no probability is high enough for at most {100 * (max_error or 0):g} % wrong predictions (max_error)"
    digits = next((digits for digits in range(2, 17) if float(f"{highest:.{digits}f}") < limit), 17)
    if max_error is None:
        return f"the highest probability, {highest:.{digits}f}, is below {limit:g}"
    digits = next((n for n in range(digits, 17) if float(f"{highest:.{n}f}") < float(f"{limit:.{n}f}")), 17)
    return (
        f"the probability of the class, {highest:.{digits}f}, is below {limit:.{digits}f}, from which on at most "
        f"{100 * max_error:g} % of the predictions are wrong (max_error)"
    )


def _why_abstained(explanation: Explanation) -> str:
    if explanation.low_confidence is not None:
        return low_probability_text(*explanation.low_confidence, explanation.max_error)
    n_votes = sum(vote.vote is not None for vote in explanation.votes or ())
    if n_votes:
        n_members = len(explanation.votes or ())
        return f"only {n_votes} of {plural(n_members, 'member')} vote, and the quorum is {explanation.quorum}"
    n_searched, of = len(explanation.search_path), "" if explanation.box.member is None else " of any member"
    if n_searched > 1:
        return f"none of the {n_searched} best boxes{of} has a label"
    return f"the best box{of} does not have a label"


def _abstention_lines(explanation: Explanation) -> list[str]:
    first = f"{headline(explanation)}: {_why_abstained(explanation)}."
    if explanation.evidence is None:
        which = "The best" if explanation.low_confidence is None else "The best with a label"
        first += f" {which} is {box_text(explanation.box)}."
    lines = [first]
    if explanation.advice is not None:
        advice = explanation.advice
        box = f"box {advice.node}" + ("" if advice.member is None else f" of member {advice.member}")
        held = plural(advice.support, "sample")
        if explanation.low_confidence is None:
            lines.append(f"A label for a sample like this one would label {box}, which holds {held}.")
        else:
            lines.append(f"A label for {box} near by, which holds {held} and has no label, may help.")
    return lines


def costs_text(explanation: Explanation) -> str | None:
    """Return by which costs the prediction is decided; None for a model without costs, or that abstains."""
    costs = explanation.expected_costs
    if costs is None or explanation.abstained:
        return None
    own = costs[explanation.prediction]  # type: ignore[index]
    others = [(label, cost) for label, cost in costs.items() if label != explanation.prediction]
    named = [f"{number_text(cost, 3)} for {printable(label)}" for label, cost in sorted(others, key=lambda one: one[1])]
    against = f", against {list_text(named, 3)}" if named else ""
    return f"It has the lowest expected cost: {number_text(own, 3)}{against}."


def _prediction_lines(explanation: Explanation) -> list[str]:
    costs = costs_text(explanation)
    by_costs = [] if costs is None else [costs]
    if explanation.evidence is not None:
        return [f"{headline(explanation)}.", *by_costs]
    lines = [f"{headline(explanation)}, from {box_text(explanation.box)}.", *by_costs]
    skipped = [str(step.node) for step in explanation.search_path if step.skipped_because]
    if skipped:
        lines.append(f"Ranked higher, but without a label: box {list_text(skipped)}.")
    return lines


def _similar_lines(explanation: Explanation) -> list[str]:
    """Return the similar boxes: the nearest, and the nearest of another class if it is not among them."""
    boxes, other = explanation.similar_boxes, explanation.opposing_box
    title = "Similar boxes (a box is an interval for each feature, around similar samples), and where this sample lies:"
    lines = [title, *(f"  {similar_text(box)}" for box in boxes)]
    if other is not None and other.node not in [box.node for box in boxes]:
        lines.append(f"  nearest with a label of another class: {similar_text(other)}")
    return lines


def _opposing_line(explanation: Explanation, box: Box) -> str:
    outside = [f"{printable(match.feature)} ({match.share:.0%})" for match in box.outside]
    where = f"; the sample is outside it in {list_text(outside, 3)}" if outside else "; the sample lies inside it"
    if explanation.abstained and explanation.low_confidence is None:
        which = "with a label"
    else:
        by_label = explanation.expected_costs is None or explanation.votes is not None
        which = "of another class" if by_label else "of another prediction"
    return f"Nearest {which}: {box_text(box)}{where}."


def _beyond(because: str) -> str:
    return (
        f"It lies beyond all that was learnt{because}, and no box matches it: the prediction is that at the nearest "
        "edge of the learnt range, and its confidence is not reliable."
    )


def _novelty_line(novelty: Novelty) -> str:
    because = f", because of {list_text([printable(name) for name in novelty.features])}" if novelty.features else ""
    if novelty.is_novel:
        return (
            f"Novel{because}: the best match is {novelty.familiarity:.2f}. Of samples like those learnt, at most 5 in "
            f"100 have less than {novelty.threshold:.2f}." + (f" {_beyond('')}" if novelty.is_beyond else "")
        )
    if novelty.is_beyond:
        return _beyond(because)
    return (
        f"Learning it would make a new box{because}: the best match is {novelty.familiarity:.2f}, less than the "
        f"vigilance {novelty.vigilance:g}. For a new sample that is usual."
    )


def as_text(explanation: Explanation) -> str:
    """Return an explanation in plain words."""
    lines = _abstention_lines(explanation) if explanation.abstained else _prediction_lines(explanation)
    if explanation.evidence is not None:
        lines += [*evidence_lines(explanation.evidence), *_similar_lines(explanation)]
    else:
        lines += comparison_lines(explanation.box)
    if explanation.novelty is not None:
        lines.append(_novelty_line(explanation.novelty))
    if explanation.evidence is None and explanation.opposing_box is not None:
        lines.append(_opposing_line(explanation, explanation.opposing_box))
    if explanation.counterfactual is not None:
        changes = map(change_text, explanation.counterfactual.changes)
        other = printable(explanation.counterfactual.prediction)
        lines.append(f"The prediction would be {other} with {', '.join(changes)}.")
    if explanation.votes is not None:
        lines.append(_evidence_votes(explanation) if explanation.evidence else f"Votes: {_votes(explanation)}.")
    return "\n".join(lines)


def _members_by_vote(explanation: Explanation) -> dict[Any, list[str]]:
    members: dict[Any, list[str]] = {}
    for vote in explanation.votes or ():
        members.setdefault(vote.vote, []).append(str(vote.member))
    return members


def _votes(explanation: Explanation) -> str:
    scores = explanation.scores or {}
    parts = [
        f"{'none' if vote is None else printable(vote)} {scores.get(vote, 0.0):.2f} (member {list_text(names, 10)})"
        for vote, names in sorted(_members_by_vote(explanation).items(), key=lambda item: -scores.get(item[0], -1.0))
    ]
    return ", ".join(parts)


def _evidence_votes(explanation: Explanation) -> str:
    """Return the score of each class, and which members predict it."""
    members = _members_by_vote(explanation)
    scores = sorted((explanation.scores or {}).items(), key=lambda item: -item[1])
    parts = [
        f"{printable(label)} {score:.2f}"
        + (f" (predicted by member {list_text(members[label], 10)})" if label in members else "")
        for label, score in scores
        if score
    ]
    abstained = [f"no prediction by member {list_text(members[None], 10)}"] if None in members else []
    return f"Scores, each member's probability times its weight: {list_text([*parts, *abstained], 2 * SHOWN)}."


def as_dict(explanation: Explanation) -> dict[str, Any]:
    """Return an explanation as values that JSON knows."""
    counterfactual, votes, scores = explanation.counterfactual, explanation.votes, explanation.scores
    opposing, evidence, low = explanation.opposing_box, explanation.evidence, explanation.low_confidence
    return {
        "prediction": explanation.prediction,
        "abstained": explanation.abstained,
        "confidence": explanation.confidence,
        "expected_costs": None
        if explanation.expected_costs is None
        else [{"class": name, "cost": cost} for name, cost in explanation.expected_costs.items()],
        "low_confidence": None if low is None else list(low),
        "max_error": explanation.max_error,
        "search_path": [step._asdict() for step in explanation.search_path],
        "box": _box_dict(explanation.box),
        "opposing_box": None if opposing is None else _box_dict(opposing),
        "evidence": None if evidence is None else evidence_dict(evidence),
        "similar_boxes": [_box_dict(box) for box in explanation.similar_boxes],
        "counterfactual": None if counterfactual is None else _counterfactual_dict(counterfactual),
        "novelty": None if explanation.novelty is None else _with_lists(vars(explanation.novelty)),
        "advice": None if explanation.advice is None else vars(explanation.advice).copy(),
        "votes": None if votes is None else [vars(vote).copy() for vote in votes],
        "scores": None if scores is None else [{"class": name, "score": score} for name, score in scores.items()],
    }


def _counterfactual_dict(counterfactual: Counterfactual) -> dict[str, Any]:
    return {
        "prediction": counterfactual.prediction,
        "changes": [change._asdict() for change in counterfactual.changes],
        "sample": list(counterfactual.sample),
    }


def _with_lists(values: dict[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def _match_dict(match: FeatureMatch) -> dict[str, Any]:
    return _with_lists(match._asdict())


def _box_dict(box: Box) -> dict[str, Any]:
    return {
        "node": box.node,
        "member": box.member,
        "label": box.label,
        "support": box.support,
        "label_counts": [{"class": label, "n": n} for label, n in box.label_counts.items()],
        "choice": box.choice,
        "match": box.match,
        "distance": box.distance,
        "feature_matches": [_match_dict(match) for match in box.feature_matches],
    }


def as_html(explanation: Explanation) -> str:
    """Return an explanation as a small table, every name and value escaped."""
    opposing, evidence = explanation.opposing_box, explanation.evidence
    others = opposing.feature_matches if opposing is not None else None
    changes = {change.feature: change for change in getattr(explanation.counterfactual, "changes", ())}
    heads = ["feature", "value", "box", "", "box of another class", "to change the prediction"]
    if evidence is not None:
        heads[2] = "nearest box with a label"
    rows = []
    for position, match in enumerate(explanation.box.feature_matches):
        change = changes.get(match.feature)
        rows.append(
            [
                match.feature,
                value_text(match.feature, match.value),
                side_text(match),
                position_text(match),
                "" if others is None else side_text(others[position]),
                "" if change is None else value_text(match.feature, change.after, 6),
            ]
        )
    lines = [line for line in as_text(explanation).split("\n") if not line.startswith("  ")]
    notes = "".join(f"<p>{escape(line)}</p>" for line in lines if not line.endswith(":"))
    contributions = "" if evidence is None else evidence_html(evidence)
    return f'<div class="sslart-explanation">{notes}{contributions}{html_table(heads, rows)}</div>'
