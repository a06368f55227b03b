"""The samples of a report: which to show, and the explanation of each as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from sslart._data.classes import Label
from sslart.explain import Explanation, explain
from sslart.explain._format_evidence import doubt, in_all, lines_of
from sslart.explain._format_values import number, wanted
from sslart.explain._match import Box, FeatureMatch
from sslart.reporting._summary import Observed

MAX_FEATURES = 12


@dataclass(frozen=True)
class FeatureLine:
    """One feature of a sample beside two boxes.

    Attributes
    ----------
    feature, value : str
    wanted, wanted_elsewhere : str
        What the box that answered asks, and what the nearest box of another class asks; empty without one.
    standing : str
        How the value stands to the box that answered.
    inside : bool or None
    share : float
        Part of this feature in the distance to the box that answered.
    mark : float or None
        Where the value lies in the learnt range, from 0 to 100; None for categories and missing values.
    band, band_elsewhere : (float, float) or None
        From where to where the two boxes reach in the learnt range.
    """

    feature: str
    value: str
    wanted: str
    wanted_elsewhere: str
    standing: str
    inside: bool | None
    share: float
    mark: float | None
    band: tuple[float, float] | None
    band_elsewhere: tuple[float, float] | None


@dataclass(frozen=True)
class BoxLine:
    """A box in a few figures; `rule` is the number of the rule that it is part of, None without one."""

    node: int
    member: int | None
    label: Label | None
    support: int
    match: float
    rule: int | None


@dataclass(frozen=True)
class SampleLine:
    """One sample, its answer, and the reasons for it.

    Attributes
    ----------
    row : int
    name : str or None
    truth, answer : class or None
    states : tuple of str
        "right", "wrong" or "unlabelled"; "abstained"; "novel".
    confidence : float or None
    box, rival : BoxLine
        The box that answered, and the nearest of another class, None without one.
    n_passed_on : int
        Boxes without a label that were asked before.
    n_inside, n_known : int
        Features in which the sample lies inside the box, and those in which that is known.
    features : tuple of FeatureLine
        Those that say most.
    n_features : int
    changes : tuple of (feature, before, after)
        A change that gets another answer.
    other_answer : class or None
        The answer it gets.
    votes : tuple of (class or None, number of members, score)
    familiarity : float or None
        How well the best box fits, where the sample is novel.
    novel_features : tuple of str
    advice : int or None
        How many samples the box holds that a label would name, where there is no answer.
    doubt : str or None
        Why an answer was not sure enough, where there is none because of that.
    evidence : str or None
        What all boxes say together, and for which class; None where a single box answers.
    terms : tuple of (amount, who, what)
        What that is made of.
    spoke : bool
        Whether `box` spoke for the answer, where all boxes speak.
    """

    row: int
    name: str | None
    truth: Label | None
    answer: Label | None
    states: tuple[str, ...]
    confidence: float | None
    box: BoxLine
    rival: BoxLine | None
    n_passed_on: int
    n_inside: int
    n_known: int
    features: tuple[FeatureLine, ...]
    n_features: int
    changes: tuple[tuple[str, str, str], ...]
    other_answer: Label | None
    votes: tuple[tuple[Label | None, int, float], ...]
    familiarity: float | None
    novel_features: tuple[str, ...]
    advice: int | None
    doubt: str | None
    evidence: str | None
    terms: tuple[tuple[str, str, str], ...]
    spoke: bool


def states_of(observed: Observed, row: int) -> tuple[str, ...]:
    """Return what there is to say of the answer to a sample."""
    truth, answer = observed.truth[row], observed.answers[row]
    states = ["abstained"] if answer is None else []
    if truth is None:
        states.append("unlabelled")
    elif answer is not None:
        states.append("right" if truth == answer else "wrong")
    return (*states, "novel") if observed.novel[row] else tuple(states)


def chosen_rows(states: Sequence[tuple[str, ...]], most: int) -> list[int]:
    """Return the samples to show: wrong, without an answer, novel, then others, each kind spread evenly."""
    chosen: dict[int, None] = {}
    for state in ("wrong", "abstained", "novel", None):
        own = [row for row, said in enumerate(states) if row not in chosen and (state is None or state in said)]
        room = min(most - len(chosen), len(own))
        chosen.update(dict.fromkeys(own[int(place)] for place in np.linspace(0, len(own) - 1, room)))
    return sorted(chosen)


def sample_lines(
    observed: Observed, X: Any, rows: Sequence[int], names: Sequence[str] | None, numbers: Mapping[int, int]
) -> list[SampleLine]:
    """Explain some samples; `numbers` says which rule each node is part of."""
    starts = [0, *accumulate(member.n_nodes_ for member in observed.members)]
    ranges = _learnt_ranges(observed)
    lines = []
    for row, why in zip(rows, explain(observed.model, _safe_indexing(X, list(rows))), strict=True):
        shown = _telling(why)
        evidence = [condition for condition in why.box.conditions if condition.inside is not None]
        change = why.counterfactual
        lines.append(
            SampleLine(
                row,
                None if names is None else names[row],
                observed.truth[row],
                observed.answers[row],
                states_of(observed, row),
                why.confidence,
                _box(why.box, starts, numbers),
                None if why.rival is None else _box(why.rival, starts, numbers),
                sum(asked.passed_on is not None for asked in why.asked),
                sum(bool(condition.inside) for condition in evidence),
                len(evidence),
                tuple(_feature(why, place, ranges[place]) for place in shown),
                len(why.box.conditions),
                tuple((one.feature, number(one.before), number(one.after)) for one in change.changes) if change else (),
                change.answer if change else None,
                tuple(_votes(why)),
                why.novelty.familiarity if why.novelty and why.novelty.is_novel else None,
                why.novelty.features if why.novelty and why.novelty.is_novel else (),
                why.advice.support if why.advice else None,
                doubt(*why.unsure) if why.unsure else None,
                in_all(why.evidence) if why.evidence else None,
                tuple(lines_of(why.evidence)) if why.evidence else (),
                bool(why.evidence and (why.evidence.amount_of(why.box) or 0) > 0),
            )
        )
    return lines


def _learnt_ranges(observed: Observed) -> list[tuple[float, float] | None]:
    encoder = observed.members[0]._network.encoder
    known = {
        feature.column: (float(low), float(high))
        for feature, low, high in zip(encoder.features, encoder.lower, encoder.upper, strict=True)
        if feature.category is None and low < high
    }
    return [known.get(column) for column in range(len(observed.names))]


def _box(box: Box, starts: Sequence[int], numbers: Mapping[int, int]) -> BoxLine:
    rule = numbers.get(starts[box.member or 0] + box.node)
    return BoxLine(box.node, box.member, box.label, box.support, box.match, rule)


def _telling(why: Explanation) -> list[int]:
    """Return the features that say most: broken ones, those to change, and those that keep it off the other box."""
    changed = {change.feature for change in why.counterfactual.changes} if why.counterfactual else set()
    others: Iterable[FeatureMatch | None] = why.rival.conditions if why.rival else [None] * len(why.box.conditions)

    def weight(pair: tuple[FeatureMatch, FeatureMatch | None]) -> tuple[float, bool, float, float]:
        own, other = pair
        narrow = 1.0 if own.width is None else own.width
        return own.share, own.feature in changed, other.share if other else 0.0, -narrow

    weights = [weight(pair) for pair in zip(why.box.conditions, others, strict=True)]
    return sorted(range(len(weights)), key=lambda place: weights[place], reverse=True)[:MAX_FEATURES]


def _feature(why: Explanation, place: int, learnt: tuple[float, float] | None) -> FeatureLine:
    own, other = why.box.conditions[place], why.rival.conditions[place] if why.rival else None
    mark = None
    if learnt and own.value is not None:
        mark = _percent(float(own.value), learnt)
    return FeatureLine(
        own.feature,
        number(own.value),
        wanted(own),
        wanted(other) if other else "",
        _standing(own),
        own.inside,
        own.share,
        mark,
        _band(own, learnt),
        _band(other, learnt) if other else None,
    )


def _standing(condition: FeatureMatch) -> str:
    if condition.value is None:
        return "not known"
    if condition.inside is None:
        return "no evidence"
    if condition.inside:
        return "inside"
    if condition.lower is None:
        return "never met" if condition.beyond_range else "another"
    side = "below" if float(condition.value) < condition.lower else "above"
    beyond = ", beyond all learnt" if condition.beyond_range else ""
    return f"{number(condition.outside_by, 3)} {side}{beyond}"


def _band(condition: FeatureMatch, learnt: tuple[float, float] | None) -> tuple[float, float] | None:
    if learnt is None or condition.lower is None or condition.upper is None:
        return None
    return _percent(condition.lower, learnt), _percent(condition.upper, learnt)


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
