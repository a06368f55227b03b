"""With evidence mapping a rule has the evidence of its box for each class."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sslart import SSLART, WESSLART
from sslart._art.geometry import centres
from sslart._mapping.evidence.boxes import BoxTerm
from sslart._mapping.model_view import MemberView, view_of


def inside_contributions(member: MemberView, node: int) -> np.ndarray:
    """Return the score that a box adds to each class for a sample in its middle."""
    readout = member.readout
    assert readout is not None
    (box,) = np.flatnonzero(readout.nodes == node)
    terms = []
    for term in readout.terms:
        assert isinstance(term, BoxTerm)
        own = np.flatnonzero(term.group.boxes == box)
        if own.size:
            terms.append(replace(term, group=term.group.only(own), weights=term.weights[:, :, own]))
    middle = centres(*(side[[node]] for side in member.boxes))
    return replace(readout, terms=tuple(terms), bias=np.zeros(len(readout.bias))).scores(middle)[0]


@pytest.mark.parametrize("n_members", [None, 3])
def test_the_evidence_of_a_rule_is_what_its_box_adds_for_a_sample_inside(
    n_members: int | None, few_labels: Any
) -> None:
    X, y = few_labels
    model: Any = SSLART(0.9) if n_members is None else WESSLART(n_members, vigilance=0.9)
    model.set_params(mapping="evidence", families=["box", "relevant"], random_state=0).fit(X, y)
    rules = model.rules(kind="boxes")
    members = view_of(model).members
    starts = np.cumsum([0, *(member.n_nodes for member in members)])
    weighted = [rule for rule in rules if rule.evidence is not None]
    for rule in weighted:
        expected = np.zeros(3)
        for node in rule.nodes:
            index = int(np.searchsorted(starts, node, side="right")) - 1
            expected += inside_contributions(members[index], node - starts[index]) / len(rule.members)
        assert list(rule.evidence) == [0, 1, 2]
        assert list(rule.evidence.values()) == pytest.approx(expected.tolist())
    assert weighted
    text, frame = rules.to_text(), rules.to_frame()
    assert frame["evidence 1"].tolist() == pytest.approx(
        [np.nan if rule.evidence is None else rule.evidence[1] for rule in rules], nan_ok=True
    )
    assert f"{weighted[0].label} {weighted[0].evidence[weighted[0].label]:+.3f}" in text
    assert json.loads(rules.to_json())["rules"][0]["evidence"] == (
        None if rules[0].evidence is None else {str(label): amount for label, amount in rules[0].evidence.items()}
    )
    assert "| evidence 0 | evidence 1 | evidence 2 |" in rules.to_markdown()
    assert "<th>evidence 2</th>" in rules._repr_html_()
    assert list(rules[:0].to_frame().columns) == list(frame.columns)


def test_rules_of_other_mappings_have_no_evidence(few_labels: Any) -> None:
    rules = SSLART(0.9, random_state=0).fit(*few_labels).rules(kind="boxes")
    assert all(rule.evidence is None for rule in rules)
    assert "evidence" not in rules.to_text() + rules.to_markdown() + rules._repr_html_()


def test_a_box_without_a_weight_has_no_evidence(few_labels: Any) -> None:
    rules = SSLART(0.9, mapping="evidence", families=["linear"], random_state=0).fit(*few_labels).rules(kind="boxes")
    assert all(rule.evidence is None for rule in rules)
    assert rules.to_frame()["evidence 0"].isna().all()
    assert "nan" not in rules.to_markdown() + rules.to_text()
