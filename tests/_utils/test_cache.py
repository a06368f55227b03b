"""Lazy and cached values: computed once, and bounded although a stream derives ever more of them."""

from __future__ import annotations

import gc
import pickle
import weakref
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pytest

from sslart import AutoSSLART
from sslart._mapping.model_view import view_of
from sslart._utils.cache import MAX_OF_A_KIND, Cache, Deferred, changed


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


def test_a_value_is_made_once_and_the_newest_of_each_kind_are_kept() -> None:
    kept, made = Cache(), list[int]()

    def value(number: int) -> int:
        return kept.get_or_compute(("squares", number), lambda: made.append(number) or number**2)

    assert [value(number) for number in (1, 2, 1, 2)] == [1, 4, 1, 4]
    assert made == [1, 2]
    kept.get_or_compute(("others", 1), lambda: 0)
    for number in range(10, 30):
        value(number)
    assert len(kept) == MAX_OF_A_KIND + 1
    assert value(29) == 841
    assert made.count(29) == 1


@pytest.mark.slow
def test_explaining_a_stream_keeps_no_old_readouts() -> None:
    random = np.random.default_rng(0)
    X = random.random((2080, 3))
    y = np.where(X[:, 0] + random.normal(scale=0.1, size=2080) > 0.5, "high", "low").astype(object)
    model = AutoSSLART(random_state=0).fit(X[:2000], np.where(np.arange(2000) % 10 == 0, y[:2000], None))
    model.partial_fit(X[2000:2055], y[2000:2055])
    readouts = []
    for row in range(2055, 2080):
        model.partial_fit(X[row : row + 1], y[row : row + 1])
        model.contributions(X[row : row + 1])
        readouts.append(weakref.ref(view_of(model).members[0].readout))
    gc.collect()
    assert sum(one() is not None for one in readouts) <= 10
