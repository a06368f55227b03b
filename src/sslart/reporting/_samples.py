"""Rules and samples of a report: which to show, and the explanation of each sample as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from sslart._data.labels import Label
from sslart._utils.text import count_text, printable, value_text
from sslart.explain import Box, Change, Evidence, Explanation, FeatureMatch, explain
from sslart.explain._text import (
    amount_text,
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
from sslart.reporting._summary import Observed
from sslart.rules import Rule, RuleSet
from sslart.rules._box_rules import Scale, condition_text

MAX_FEATURES = 12


@dataclass(frozen=True)
class RuleLine:
    """One rule, ready to be shown.

    Attributes
    ----------
    number : int
        Number in the rule set: that of its box, or in an ensemble of its place.
    label : class
    confidence : float
    n_own, n_labelled : str
        Number of labelled samples of its class, and of all labelled samples.
    support : float
        Number of samples.
    n_members : int
        Members of an ensemble that have it.
    others : tuple of (class, share)
        The other classes among its labelled samples.
    conditions : tuple of (column, feature, words)
        The narrowest first.
    evidence : tuple of (class, amount)
        What its box adds to the score of each class, the highest first; empty without evidence mapping, and for a box
        without a weight.
    """

    number: int
    label: Label
    confidence: float
    n_own: str
    n_labelled: str
    support: float
    n_members: int
    others: tuple[tuple[Label, float], ...]
    conditions: tuple[tuple[int, str, str], ...]
    evidence: tuple[tuple[Label, str], ...]


def rule_lines(rules: RuleSet, most: int) -> list[RuleLine]:
    """Return the rules with most samples, in the order of the rule set."""
    largest = sorted(range(len(rules)), key=lambda index: -rules[index].support)[:most]
    return [_line(rules.numbers[index], rules[index], rules.scales) for index in sorted(largest)]


def _line(number: int, rule: Rule, scales: Sequence[Scale]) -> RuleLine:
    pairs = zip(rule.conditions, scales, strict=True)
    shown = [(column, *pair) for column, pair in enumerate(pairs) if not pair[0].full_range]
    shown.sort(key=lambda one: -one[2].excluded_share(one[1]))
    evidence = sorted((rule.evidence or {}).items(), key=lambda item: -item[1])
    return RuleLine(
        number,
        rule.label,
        rule.confidence,
        count_text(rule.counts[rule.label]),
        count_text(rule.n_labelled),
        rule.support,
        rule.n_members,
        tuple((label, share) for label, share in rule.confidences.items() if share and label != rule.label),
        tuple(
            (
                column,
                condition.feature,
                condition_text(condition, scale).removeprefix(f"{printable(condition.feature)} "),
            )
            for column, condition, scale in shown
        ),
        tuple((label, amount_text(amount)) for label, amount in evidence),
    )


def rule_numbers(rules: RuleSet) -> dict[int, int]:
    """Return the number of the rule that each box is part of."""
    return {node: number for number, rule in zip(rules.numbers, rules, strict=True) for node in rule.nodes}


@dataclass(frozen=True)
class FeatureLine:
    """One feature of a sample compared with two boxes.

    Attributes
    ----------
    feature, value : str
    side, opposing_side : str
        The side of the box behind the prediction and of the opposing box; the second is empty without one.
    position : str
        Where the value lies: inside the first box, or how far outside.
    details : tuple of str
        Outside, its part of the distance, and whether it lies beyond the learnt range.
    inside : bool or None
    mark : float or None
        Where the value lies in the learnt range, from 0 to 100; None for categories and missing values.
    band, opposing_band : (float, float) or None
        Lower and upper end of the two boxes in the learnt range.
    """

    feature: str
    value: str
    side: str
    opposing_side: str
    position: str
    details: tuple[str, ...]
    inside: bool | None
    mark: float | None
    band: tuple[float, float] | None
    opposing_band: tuple[float, float] | None


@dataclass(frozen=True)
class BoxLine:
    """A box in a few numbers; `rule` is the number of the rule that it is part of, None without one."""

    node: int
    member: int | None
    label: Label | None
    support: float
    match: float
    rule: int | None


@dataclass(frozen=True)
class ContributionLine:
    """One line of the evidence, as a bar of a waterfall.

    Attributes
    ----------
    amount, source : str
    kind : {"end", "for", "against"}
        The average sample and the sum; a contribution to the predicted class, or against it.
    start, end : float
        Where the bar starts and ends, from 0 to 100.
    zero : float
        Where 0 lies.
    """

    amount: str
    source: str
    kind: str
    start: float
    end: float
    zero: float


@dataclass(frozen=True)
class SampleNames:
    """The number of each sample, and its name; `names` is None where samples have none."""

    numbers: Sequence[int]
    names: Sequence[str] | None


@dataclass(frozen=True)
class SampleLine:
    """One sample, its prediction, and the reasons for it.

    Attributes
    ----------
    number : int
    name : str or None
    truth, prediction : class or None
    states : tuple of str
        "right", "wrong" or "unlabelled"; "abstained"; "novel".
    confidence : float or None
    box, opposing_box : BoxLine
        See `Explanation`; the second is None without one.
    n_skipped : int
        Boxes without a label that were ranked higher.
    n_inside, n_known : int
        Features in which the sample lies inside the box, and those in which that is known.
    features : tuple of FeatureLine
        Those that matter most.
    n_features : int
    changes : tuple of (feature, before, after)
        A change that leads to another prediction.
    other_prediction : class or None
        That prediction.
    votes : tuple of (class or None, number of members, score)
    familiarity : float or None
        The match of the best box, where the sample is novel.
    novel_features : tuple of str
    advice : int or None
        Number of samples in the box that a label would help most, where the model abstains.
    costs : str or None
        By which expected costs the prediction is decided; None for a model without costs.
    low_confidence : str or None
        Why the probability is too low, where the model abstains because of that.
    evidence : str or None
        The classes that the evidence compares, and its sum; None without evidence mapping.
    contributions : tuple of ContributionLine
        What the evidence consists of; the last is the sum.
    sum : str or None
        What the evidence adds up to, and what that means as a probability.
    similar : tuple of str
        Similar boxes: the nearest.
    """

    number: int
    name: str | None
    truth: Label | None
    prediction: Label | None
    states: tuple[str, ...]
    confidence: float | None
    box: BoxLine
    opposing_box: BoxLine | None
    n_skipped: int
    n_inside: int
    n_known: int
    features: tuple[FeatureLine, ...]
    n_features: int
    changes: tuple[tuple[str, str, str], ...]
    other_prediction: Label | None
    votes: tuple[tuple[Label | None, int, float], ...]
    familiarity: float | None
    novel_features: tuple[str, ...]
    advice: float | None
    costs: str | None
    low_confidence: str | None
    evidence: str | None
    contributions: tuple[ContributionLine, ...]
    sum: str | None
    similar: tuple[str, ...]


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
    """Return the samples to show: wrong, abstained, novel, then others, each kind spread evenly."""
    chosen: dict[int, None] = {}
    for state in ("wrong", "abstained", "novel", None):
        own = [row for row, of_row in enumerate(states) if row not in chosen and (state is None or state in of_row)]
        room = min(most - len(chosen), len(own))
        chosen.update(dict.fromkeys(own[int(index)] for index in np.linspace(0, len(own) - 1, room)))
    return sorted(chosen)


def sample_lines(
    observed: Observed, X: Any, rows: Sequence[int], naming: SampleNames, rule_numbers: Mapping[int, int]
) -> list[SampleLine]:
    """Explain some samples; `rule_numbers` maps each box to the number of its rule."""
    starts = [0, *accumulate(member.n_nodes for member in observed.view.members)]
    ranges = _learnt_ranges(observed)
    lines = []
    for row, why in zip(rows, explain(observed.model, _safe_indexing(X, list(rows))), strict=True):
        compared = [match for match in why.box.feature_matches if match.inside is not None]
        change, evidence = why.counterfactual, why.evidence
        opposing = _other_box(why)
        novelty = why.novelty if why.novelty and why.novelty.is_novel else None
        lines.append(
            SampleLine(
                naming.numbers[row],
                None if naming.names is None else naming.names[row],
                observed.truth[row],
                observed.predicted[row],
                states_of(observed, row),
                why.confidence,
                _box(why.box, starts, rule_numbers),
                None if opposing is None else _box(opposing, starts, rule_numbers),
                sum(step.skipped_because is not None for step in why.search_path),
                sum(bool(match.inside) for match in compared),
                len(compared),
                tuple(_feature(why, column, ranges[column]) for column in _most_important(why)),
                len(why.box.feature_matches),
                tuple(map(_change, change.changes)) if change else (),
                change.prediction if change else None,
                tuple(_votes(why)),
                novelty.familiarity if novelty else None,
                novelty.features if novelty else (),
                why.advice.support if why.advice else None,
                costs_text(why),
                low_probability_text(*why.low_confidence, why.max_error) if why.low_confidence else None,
                evidence_headline(evidence) if evidence else None,
                _waterfall(evidence) if evidence else (),
                sum_text(evidence) if evidence else None,
                tuple(similar_text(box) for box in why.similar_boxes),
            )
        )
    return lines


def _waterfall(evidence: Evidence) -> tuple[ContributionLine, ...]:
    """Return the evidence as a waterfall: each bar starts at the end of the previous one; the sum starts at 0."""
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
    return tuple(
        ContributionLine(
            amount,
            source,
            "end" if row in (0, len(rows) - 1) else "for" if end >= start else "against",
            place(start),
            place(end),
            place(0.0),
        )
        for row, ((amount, source), start, end) in enumerate(zip(rows, starts, ends, strict=True))
    )


def _learnt_ranges(observed: Observed) -> list[tuple[float, float] | None]:
    encoder = observed.view.members[0].encoder
    known = {
        feature.column: (float(low), float(high))
        for feature, low, high in zip(encoder.features, encoder.lower, encoder.upper, strict=True)
        if feature.category is None and low < high
    }
    return [known.get(column) for column in range(len(observed.view.feature_names))]


def _box(box: Box, starts: Sequence[int], numbers: Mapping[int, int]) -> BoxLine:
    rule = numbers.get(starts[box.member or 0] + box.node)
    return BoxLine(box.node, box.member, box.label, box.support, box.match, rule)


def _other_box(why: Explanation) -> Box | None:
    """Return the nearest box of another class, where it is not the box that is shown anyway."""
    own, other = why.box, why.opposing_box
    return None if other is None or (other.member, other.node) == (own.member, own.node) else other


def _most_important(why: Explanation) -> list[int]:
    """Return the features to show: those outside the box, those to change, and those far from the opposing box."""
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


def _change(one: Change) -> tuple[str, str, str]:
    return one.feature, value_text(one.feature, one.before), value_text(one.feature, one.after)


def _feature(why: Explanation, column: int, learnt: tuple[float, float] | None) -> FeatureLine:
    own = why.box.feature_matches[column]
    opposing = _other_box(why)
    other = opposing.feature_matches[column] if opposing else None
    mark = None
    if learnt and own.value is not None:
        mark = _percent(float(own.value), learnt)
    return FeatureLine(
        own.feature,
        value_text(own.feature, own.value),
        side_text(own),
        side_text(other) if other else "",
        short_position_text(own),
        tuple(position_details(own)),
        own.inside,
        mark,
        _band(own, learnt),
        _band(other, learnt) if other else None,
    )


def _band(match: FeatureMatch, learnt: tuple[float, float] | None) -> tuple[float, float] | None:
    if learnt is None or match.lower is None or match.upper is None:
        return None
    return _percent(match.lower, learnt), _percent(match.upper, learnt)


def _percent(value: float, learnt: tuple[float, float]) -> float:
    low, high = learnt
    return round(min(max(100 * (value - low) / (high - low), 0.0), 100.0), 1)


def _votes(why: Explanation) -> list[tuple[Label | None, int, float]]:
    members: dict[Label | None, int] = {}
    for vote in why.votes or ():
        members[vote.vote] = members.get(vote.vote, 0) + 1
    scores = why.scores or {}
    votes = [(label, n, 0.0 if label is None else scores[label]) for label, n in members.items()]
    return sorted(votes, key=lambda vote: (vote[0] is None, -vote[2]))
