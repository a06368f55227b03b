"""Rules and samples of a report: selection, and explanations as plain data for the templates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from sslart._data.labels import Label
from sslart._utils.text import count_text, printable, value_text
from sslart.explain import Box, Evidence, Explanation, FeatureMatch, explain
from sslart.explain._text import (
    amount_text,
    certainty_lines,
    contribution_rows,
    costs_text,
    evidence_headline,
    low_probability_text,
    position_details,
    short_position_text,
    side_text,
    similar_text,
    sum_text,
)
from sslart.reporting._summary import Numbers, Observed
from sslart.rules import Rule, RuleSet
from sslart.rules._box_rules import Scale, condition_text

MAX_FEATURES = 12


def rule_lines(rules: RuleSet, most: int) -> list[Numbers]:
    """Return the rules with most samples, in the order of the rule set."""
    largest = sorted(range(len(rules)), key=lambda index: -rules[index].support)[:most]
    return [_rule(rules.numbers[index], rules[index], rules.scales) for index in sorted(largest)]


def _rule(number: int, rule: Rule, scales: Sequence[Scale]) -> Numbers:
    pairs = zip(rule.conditions, scales, strict=True)
    shown = [(column, *pair) for column, pair in enumerate(pairs) if not pair[0].full_range]
    shown.sort(key=lambda one: -one[2].excluded_share(one[1]))
    evidence = sorted((rule.evidence or {}).items(), key=lambda item: -item[1])
    return {
        "number": number,
        "label": rule.label,
        "confidence": rule.confidence,
        "n_own": count_text(rule.counts[rule.label]),
        "n_labelled": count_text(rule.n_labelled),
        "support": rule.support,
        "n_members": rule.n_members,
        "others": [(label, share) for label, share in rule.confidences.items() if share and label != rule.label],
        "conditions": [  # the narrowest first
            (column, one.feature, condition_text(one, scale).removeprefix(f"{printable(one.feature)} "))
            for column, one, scale in shown
        ],
        "evidence": [(label, amount_text(amount)) for label, amount in evidence],
    }


def rule_numbers(rules: RuleSet) -> dict[int, int]:
    """Return the number of the rule of each box."""
    return {node: number for number, rule in zip(rules.numbers, rules, strict=True) for node in rule.nodes}


def states_of(observed: Observed, row: int) -> tuple[str, ...]:
    """Return the states of a sample: right, wrong, abstained, or unlabelled; and novel."""
    truth, prediction = observed.truth[row], observed.predicted[row]
    states = ["abstained"] if prediction is None else []
    if truth is None:
        states.append("unlabelled")
    elif prediction is not None:
        states.append("right" if truth == prediction else "wrong")
    return (*states, "novel") if observed.novel[row] else tuple(states)


def chosen_rows(states: Sequence[tuple[str, ...]], most: int) -> list[int]:
    """Return the samples to show: wrong, abstained, novel, then others, evenly spaced within each kind."""
    chosen: dict[int, None] = {}
    for state in ("wrong", "abstained", "novel", None):
        own = [row for row, of_row in enumerate(states) if row not in chosen and (state is None or state in of_row)]
        room = min(most - len(chosen), len(own))
        chosen.update(dict.fromkeys(own[int(index)] for index in np.linspace(0, len(own) - 1, room)))
    return sorted(chosen)


def sample_lines(
    observed: Observed,
    X: Any,
    rows: Sequence[int],
    numbers: Sequence[int],
    names: Sequence[str] | None,
    rule_of_box: Mapping[int, int],
) -> list[Numbers]:
    """Return the predictions and explanations of some samples."""
    starts = [0, *accumulate(member.n_nodes for member in observed.view.members)]
    encoder = observed.view.members[0].encoder

    def learnt_range(column: int) -> tuple[float, float] | None:
        low, high = (0.0, 0.0) if column in encoder.categorical else encoder.range_of(column)
        return (low, high) if low < high else None

    def box(one: Box) -> Numbers:
        found = {name: getattr(one, name) for name in ("node", "member", "label", "support", "match")}
        return {**found, "rule": rule_of_box.get(starts[one.member or 0] + one.node)}

    def line(row: int, why: Explanation) -> Numbers:
        compared = [match for match in why.box.feature_matches if match.inside is not None]
        change, evidence, opposing = why.counterfactual, why.evidence, _other_box(why)
        novelty = why.novelty if why.novelty and why.novelty.is_novel else None
        changed = [
            (one.feature, value_text(one.feature, one.before), value_text(one.feature, one.after))
            for one in (change.changes if change else ())
        ]
        return {
            "number": numbers[row],
            "name": None if names is None else names[row],
            "truth": observed.truth[row],
            "prediction": observed.predicted[row],
            "states": states_of(observed, row),
            "confidence": why.confidence,
            "box": box(why.box),
            "opposing_box": None if opposing is None else box(opposing),
            "n_skipped": sum(step.skipped_because is not None for step in why.search_path),
            "n_inside": sum(bool(match.inside) for match in compared),
            "n_known": len(compared),  # features without missing values of sample and box
            "features": [_feature(why, column, learnt_range(column)) for column in _most_important(why)],
            "n_features": len(why.box.feature_matches),
            "changes": changed,
            "other_prediction": change.prediction if change else None,
            "votes": _votes(why),
            "familiarity": novelty.familiarity if novelty else None,
            "novel_features": novelty.features if novelty else (),
            "advice": why.advice.support if why.advice else None,
            "costs": costs_text(why),
            "low_confidence": low_probability_text(*why.low_confidence, why.max_error) if why.low_confidence else None,
            "evidence": evidence_headline(evidence) if evidence else None,
            "contributions": _waterfall(evidence) if evidence else (),
            "sum": " ".join([sum_text(evidence), *certainty_lines(evidence)]) if evidence else None,
            "similar": [similar_text(one) for one in why.similar_boxes],
        }

    return [line(*pair) for pair in zip(rows, explain(observed.model, _safe_indexing(X, list(rows))), strict=True)]


def _waterfall(evidence: Evidence) -> list[Numbers]:
    """Return the evidence as bars of a waterfall chart, in percent of its width."""
    amounts = [evidence.base, *(one.amount for one in evidence.shown)]
    if evidence.not_shown:
        amounts.append(evidence.rest)
    ends = list(accumulate(amounts))
    starts = [0.0, *ends[:-1], 0.0]
    ends.append(evidence.margin)
    low, high = min(0.0, *ends), max(0.0, *ends)

    def place(value: float) -> float:
        return round(100 * (value - low) / ((high - low) or 1.0), 1)

    rows = [*contribution_rows(evidence), (amount_text(evidence.margin), "sum")]
    return [
        {
            "amount": amount,
            "source": source,
            "kind": "end" if row in (0, len(rows) - 1) else "for" if end >= start else "against",
            "start": place(start),
            "end": place(end),
            "zero": place(0.0),
        }
        for row, ((amount, source), start, end) in enumerate(zip(rows, starts, ends, strict=True))
    ]


def _other_box(why: Explanation) -> Box | None:
    """Return the nearest box of another class, unless it is shown already."""
    own, other = why.box, why.opposing_box
    return None if other is None or (other.member, other.node) == (own.member, own.node) else other


def _most_important(why: Explanation) -> list[int]:
    """Return the features to show: outside the box, changed by the counterfactual, or far from the opposing box."""
    changed = {change.feature for change in why.counterfactual.changes} if why.counterfactual else set()
    matches = why.box.feature_matches
    opposing = _other_box(why)
    others: Iterable[FeatureMatch | None] = opposing.feature_matches if opposing else [None] * len(matches)

    def weight(pair: tuple[FeatureMatch, FeatureMatch | None]) -> tuple[float, bool, float, float]:
        own, other = pair
        width = 1.0 if own.width is None else own.width
        return own.share, own.feature in changed, other.share if other else 0.0, -width

    weights = [weight(pair) for pair in zip(matches, others, strict=True)]
    return sorted(range(len(weights)), key=lambda column: weights[column], reverse=True)[:MAX_FEATURES]


def _feature(why: Explanation, column: int, learnt: tuple[float, float] | None) -> Numbers:
    """Return a feature of a sample, compared with the deciding box and with the opposing box.

    Positions in the learnt range are in percent.
    """
    own, opposing = why.box.feature_matches[column], _other_box(why)
    other = opposing.feature_matches[column] if opposing else None
    return {
        "feature": own.feature,
        "value": value_text(own.feature, own.value),
        "side": side_text(own),
        "opposing_side": side_text(other) if other else "",
        "position": short_position_text(own),
        "details": position_details(own),
        "inside": own.inside,
        "mark": _percent(float(own.value), learnt) if learnt and own.value is not None else None,
        "band": _band(own, learnt),
        "opposing_band": _band(other, learnt) if other else None,
    }


def _band(match: FeatureMatch, learnt: tuple[float, float] | None) -> tuple[float, float] | None:
    if learnt is None or match.lower is None or match.upper is None:
        return None
    return _percent(match.lower, learnt), _percent(match.upper, learnt)


def _percent(value: float, learnt: tuple[float, float]) -> float:
    low, high = learnt
    return round(min(max(100 * (value - low) / (high - low), 0.0), 100.0), 1)


def _votes(why: Explanation) -> list[tuple[Label | None, int, float]]:
    """Return the classes with votes, their numbers of members, and their scores."""
    scores = why.scores or {}
    members = Counter(vote.vote for vote in why.votes or ())
    votes = [(label, n, 0.0 if label is None else scores[label]) for label, n in members.items()]
    return sorted(votes, key=lambda vote: (vote[0] is None, -vote[2]))
