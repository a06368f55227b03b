"""Values that are made late: once, when first read."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sslart import AutoSSLART
from sslart._utils.deferred import Deferred, changed


def test_a_value_is_made_once_when_it_is_first_read() -> None:
    made: list[int] = []

    def make() -> int:
        made.append(1)
        return 7

    value = Deferred(make)
    assert made == []
    assert (value.get(), value.get(), made) == (7, 7, [1])


def test_a_value_that_is_pickled_is_made() -> None:
    assert pickle.loads(pickle.dumps(Deferred(dict))).get() == {}


def test_explanations_are_those_of_the_model_as_it_was_whenever_they_are_read() -> None:
    random = np.random.RandomState(0)
    X = random.rand(60, 3)
    y = (X[:, 0] > 0.5).astype(int)
    model = AutoSSLART(random_state=0).fit(X, y)
    at_once = [str(explanation) for explanation in model.explain(X[:5])]
    late = model.explain(X[:5])
    model.partial_fit(X, 1 - y)
    assert [str(explanation) for explanation in late] == at_once
    assert [str(explanation) for explanation in model.explain(X[:5])] != at_once


@dataclass(frozen=True)
class Squared:
    number: int
    name: str = "x"

    @cached_property
    def square(self) -> int:
        return self.number**2


def test_a_changed_object_has_no_cached_value_of_the_one_before() -> None:
    before = Squared(3)
    assert before.square == 9
    after = changed(before, number=4)
    assert (after, after.square) == (Squared(4), 16)
    assert (before, vars(before)["square"]) == (Squared(3), 9)
