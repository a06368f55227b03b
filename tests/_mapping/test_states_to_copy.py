"""Copied or pickled state does not change during the copy, even if the model is read meanwhile."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pytest
from sklearn.base import clone

from conftest import EVIDENCE, name_of
from sslart import SSLART, AutoSSLART


def states_in(thing: Any, found: dict[int, tuple[Any, dict[str, Any]]]) -> dict[int, tuple[Any, dict[str, Any]]]:
    """Return the state of every object of ours in a thing, as `copy` and `pickle` take it."""
    if type(thing).__module__.startswith("sslart") and hasattr(thing, "__dict__") and id(thing) not in found:
        state = next((part for part in thing.__reduce_ex__(4)[2:] if isinstance(part, dict)), {})
        found[id(thing)] = thing, state
        thing = state
    if isinstance(thing, dict | tuple | list):
        for part in list(thing.values() if isinstance(thing, dict) else thing):
            states_in(part, found)
    return found


@pytest.mark.parametrize("model", [*EVIDENCE, SSLART(random_state=0), AutoSSLART(random_state=0)], ids=name_of)
def test_what_keeps_values_made_of_it_hands_over_a_state_of_its_own(model: Any, few_labels: Any) -> None:
    model = clone(model).fit(*few_labels)
    model.predict(few_labels[0])
    reached = [thing for thing, _ in states_in(model, {}).values()]
    keeping = [
        thing
        for thing in reached
        if any(isinstance(value, cached_property) for kind in type(thing).__mro__ for value in vars(kind).values())
    ]
    assert keeping
    assert [type(thing).__name__ for thing in keeping if thing.__reduce_ex__(4)[2] is vars(thing)] == []


@pytest.mark.parametrize("model", [SSLART(random_state=0), EVIDENCE[0]], ids=name_of)
def test_reading_a_model_adds_nothing_to_states_that_are_being_copied(model: Any, few_labels: Any) -> None:
    X, _ = few_labels
    model = clone(model).partial_fit(*few_labels)
    model.predict(X)  # evidence is fitted when it is first needed
    states = [(thing, state, set(state)) for thing, state in states_in(model, {}).values()]
    assert len(states) > 5
    model.predict_proba(X)
    model.score_samples(X)
    model.explain(X[:2])
    model.summary()
    assert [type(thing).__name__ for thing, state, names in states if set(state) != names] == []
