"""Explanations, evidence and boxes as text, plain values and small tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from sslart._mapping.quality import NO_FINDING
from sslart._utils.text import (
    SHOWN,
    category_text,
    count_text,
    distance_text,
    escape,
    html_table,
    list_text,
    number_text,
    plural,
    printable,
    value_text,
)
from sslart.explain._boxes import Box, FeatureMatch, outside_first
from sslart.explain._certainty import INTERVALS, ORDER_NOT_SETTLED, decimals_of
from sslart.explain._contributions import GRAPH, Contribution, Evidence
from sslart.explain._counterfactual import change_text

if TYPE_CHECKING:
    from sslart.explain._counterfactual import Counterfactual
    from sslart.explain._explanation import Explanation, Novelty

MAX_CATEGORIES = 3  # categories of a box that are named


def box_text(box: Box) -> str:
    """Return a box in a few words."""
    of = "" if box.member is None else f" of member {box.member}"
    label = "no label" if box.label is None else f"class {printable(box.label)}"
    return f"box {box.node}{of} ({label}, {plural(box.support, 'sample')}, match {box.match:.2f})"


def similar_text(box: Box) -> str:
    """Return the text of a similar box: its samples and labels, and whether the sample is inside it."""
    of = "" if box.member is None else f" of member {box.member}"
    counts = [
        f"{count_text(n)} labelled {printable(label)}"
        for label, n in sorted(box.label_counts.items(), key=lambda item: -item[1])
    ]
    outside = _first_texts(box.outside, 2, _distance_text)
    where = f"outside in {list_text(outside, 2)}" if outside else "inside"
    return f"box {box.node}{of}: {plural(box.support, 'sample')}, {list_text(counts, 3) or 'no label'}; {where}"


def _first_texts(matches: tuple[FeatureMatch, ...], n: int, text_of: Callable[[FeatureMatch], str]) -> list[str]:
    """Return the texts of the first n matches, and empty texts for the others, which are only counted."""
    return [text_of(match) if place < n else "" for place, match in enumerate(matches)]


def _distance_text(match: FeatureMatch) -> str:
    if match.categories is not None:
        n = len(match.categories)
        side = f"one of {n} others" if n > MAX_CATEGORIES else f"is {side_text(match)}"
        return f"{printable(match.feature)} ({side} there)"
    return f"{printable(match.feature)} by {distance_text(match.feature, match.outside_by)}"


def side_text(match: FeatureMatch) -> str:
    """Return the side of a box in one feature."""
    if match.categories is not None:
        return " or ".join(map(category_text, match.categories))
    if match.lower is None or match.upper is None:
        return "no evidence"
    lower, upper = (value_text(match.feature, side) for side in (match.lower, match.upper))
    return lower if lower == upper else f"{lower} to {upper}"


def short_position_text(match: FeatureMatch) -> str:
    """Return the position of the sample's value: inside the box, or its distance."""
    if match.inside is None:
        return "no evidence"
    if match.inside:
        return "inside"
    if match.categories is not None:
        return "never seen" if match.beyond_range else "another category"
    return f"outside by {distance_text(match.feature, match.outside_by)}"


def position_details(match: FeatureMatch) -> list[str]:
    """Return the share of the distance of a value outside the box, and a remark if it is out of the learnt range."""
    if match.inside is not False or (match.categories is not None and match.beyond_range):
        return []
    return [f"{match.share:.0%} of the distance", *(["beyond the learnt range"] if match.beyond_range else [])]


def position_text(match: FeatureMatch) -> str:
    """Return the position of the sample's value, with all details."""
    text = ", ".join([short_position_text(match), *position_details(match)[:1]])
    return text + "".join(f" ({detail})" for detail in position_details(match)[1:])


def comparison_lines(box: Box) -> list[str]:
    """Return lines on the features in which a sample differs most from a box, and then the narrowest sides inside."""
    matches = box.feature_matches
    unknown = [printable(match.feature) for match in matches if match.inside is None]
    inside = [match for match in matches if match.inside]
    shown = list(outside_first(matches)[:SHOWN])
    narrowest = sorted(inside, key=lambda match: 1.0 if match.width is None else match.width)
    shown += narrowest[: SHOWN - len(shown)]
    lines = [f"The sample lies inside this box in {len(inside)} of {len(matches) - len(unknown)} features:"]
    lines += [_comparison_line(match) for match in shown]
    return [*lines, f"No evidence: {list_text(unknown)}."] if unknown else lines


def _comparison_line(match: FeatureMatch) -> str:
    side = f"is {side_text(match)}" if match.categories is not None else side_text(match)
    has = value_text(match.feature, match.value)
    return f"  {printable(match.feature)} {side}; the sample has {has}: {position_text(match)}"


NAMED = 4  # features of one group that are named
UNSETTLED = " (no stable direction)"


def amount_text(value: float, half_width: float | None = None) -> str:
    """Return a contribution with its sign, above 0 for the predicted class, and its interval, in settled decimals."""
    n = decimals_of(half_width)
    return f"{round(value, n) + 0.0:+.{n}f}" + ("" if half_width is None else f" ± {half_width:.{n}f}")


def comparison_text(evidence: Evidence) -> str:
    """Return a text on the classes that the evidence compares."""
    against = "" if evidence.runner_up is None else f" against {printable(evidence.runner_up)}"
    return f"{printable(evidence.predicted)}{against}"


def evidence_headline(evidence: Evidence) -> str:
    """Return a headline that states the amounts and the meaning of their sign."""
    if evidence.runner_up is None:
        return (
            f"What each feature adds to the score of {printable(evidence.predicted)}, compared with an average sample"
        )
    return (
        "What each feature adds, compared with an average sample: + is towards "
        f"{printable(evidence.predicted)}, - is towards {printable(evidence.runner_up)}"
    )


def source_text(one: Contribution, named: int = NAMED) -> str:
    """Return the source of a contribution: a feature and its value, or several correlated features."""
    if one.kind == GRAPH:
        return "similar samples without a label (the graph of boxes)"
    pairs = [
        f"{printable(name)} {'is ' if isinstance(value, str | bool) else ''}{value_text(name, value)}"
        for name, value in zip(one.features, one.values, strict=True)
    ]
    if len(pairs) == 1:
        return pairs[0]
    if len(pairs) > named:
        return f"{', '.join(pairs[:named])} and {len(pairs) - named} more that go together"
    return f"{', '.join(pairs[:-1])} and {pairs[-1]}, which go together"


def rest_text(evidence: Evidence) -> str:
    """Return a text on the contributions omitted from the list: number of features, and the graph."""
    n = sum(len(one.features) for one in evidence.not_shown)
    graph = any(one.kind == GRAPH for one in evidence.not_shown)
    parts = [f"all other features ({n})"] if n else []
    return " and ".join([*parts, *(["the graph of boxes"] if graph else [])])


def contribution_rows(evidence: Evidence) -> list[tuple[str, str]]:
    """Return amount and source of the summands of the margin: base, largest contributions, and rest."""
    rows = [(amount_text(evidence.base), "an average sample, to start from")]
    reaches = evidence.half_widths or (None,) * len(evidence.shown)
    for one, reach in zip(evidence.shown, reaches, strict=False):
        is_open = reach is not None and abs(one.amount) <= reach
        rows.append((amount_text(one.amount, reach), source_text(one) + (UNSETTLED if is_open else "")))
    if evidence.not_shown:
        rows.append((amount_text(evidence.rest), rest_text(evidence)))
    return rows


def sum_text(evidence: Evidence) -> str:
    """Return the sum, with its meaning as a probability."""
    runner_up = (
        ""
        if evidence.runner_up is None or evidence.runner_up_probability is None
        else f" and {evidence.runner_up_probability:.2f} for {printable(evidence.runner_up)}"
    )
    return (
        f"Sum: {amount_text(evidence.margin)} for {comparison_text(evidence)}. As a probability, this is "
        f"{evidence.probability:.2f} for {printable(evidence.predicted)}{runner_up}."
    )


def certainty_lines(evidence: Evidence) -> list[str]:
    """Return sentences on the intervals, and on the order of the first two contributions."""
    lines = [INTERVALS] if evidence.half_widths else []
    if evidence.order_settled is False:
        first, second = (_names_text(one) for one in evidence.contributions[:2])
        lines.append(ORDER_NOT_SETTLED.format(second, first))
    return lines


def _names_text(one: Contribution) -> str:
    return list_text([printable(name) for name in one.features], NAMED) if one.features else "the graph of boxes"


def evidence_lines(evidence: Evidence) -> list[str]:
    """Return the evidence in plain words."""
    given = contribution_rows(evidence)
    width = max(len(amount) for amount, _ in given)
    return [
        *([] if evidence.shows_skill else [NO_FINDING]),
        f"{evidence_headline(evidence)}:",
        *(f"  {amount:{width}} {source}" for amount, source in given),
        sum_text(evidence),
        *certainty_lines(evidence),
    ]


def evidence_html(evidence: Evidence) -> str:
    """Return the evidence as a small table, every name and value escaped."""
    rows = [*contribution_rows(evidence), (amount_text(evidence.margin), f"sum, for {comparison_text(evidence)}")]
    return html_table([], rows, caption=evidence_headline(evidence), css_class="sslart-evidence")


def evidence_dict(evidence: Evidence) -> dict[str, Any]:
    """Return the evidence as values that JSON knows."""
    reaches = evidence.half_widths or (None,) * len(evidence.contributions)
    return {
        "predicted": evidence.predicted,
        "runner_up": evidence.runner_up,
        "base": evidence.base,
        "margin": evidence.margin,
        "probability": evidence.probability,
        "runner_up_probability": evidence.runner_up_probability,
        "contributions": [
            {
                "kind": one.kind,
                "amount": one.amount,
                "half_width": reach,
                "features": [
                    {"feature": name, "value": value, "amount": amount}
                    for name, value, amount in zip(one.features, one.values, one.amounts, strict=True)
                ],
                "shown": position < len(evidence.shown),
            }
            for position, (one, reach) in enumerate(zip(evidence.contributions, reaches, strict=True))
        ],
        "rest": evidence.rest,
        "order_settled": evidence.order_settled,
        "shows_skill": evidence.shows_skill,
    }


def headline(explanation: Explanation) -> str:
    """Return the prediction and its confidence."""
    if explanation.abstained:
        return "No prediction"
    return f"Prediction: {printable(explanation.prediction)} (confidence {explanation.confidence:.2f})"


def low_probability_text(highest: float, limit: float | None, max_error: float | None = None) -> str:
    """Return the reason why a probability is too low, with enough digits to show it."""
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
    """Return a sentence on the expected costs of the prediction; None without costs, or if the model abstains."""
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
    outside = _first_texts(box.outside, 3, lambda match: f"{printable(match.feature)} ({match.share:.0%})")
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


def _decimals(value: float, limit: float) -> int:
    """Return the number of decimals, two or more, that show that a value is less than a limit."""
    return next((n for n in range(2, 9) if round(value, n) < round(limit, n)), 9)


def _novelty_line(novelty: Novelty) -> str:
    because = f", because of {list_text([printable(name) for name in novelty.features])}" if novelty.features else ""
    if novelty.is_novel:
        n = _decimals(novelty.familiarity, novelty.threshold)
        return (
            f"Novel{because}: the fit to the best box is {novelty.familiarity:.{n}f}. Of samples like those learnt, "
            f"at most 5 in 100 have less than {novelty.threshold:.{n}f}."
            + (f" {_beyond('')}" if novelty.is_beyond else "")
        )
    if novelty.is_beyond:
        return _beyond(because)
    n = _decimals(novelty.match, novelty.vigilance)
    return (
        f"Learning it would make a new box{because}: the best match is {novelty.match:.{n}f}, less than the "
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
    """Return the score of each class, with the members that predict it."""
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
