"""The cache of derived values is bounded, although a stream derives ever more of them."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from sslart import AutoSSLART
from sslart._art.learning.kept import MAX_OF_A_KIND, Kept
from sslart._mapping.model_view import view_of


def test_a_value_is_made_once_and_the_newest_of_each_kind_are_kept() -> None:
    kept, made = Kept(), list[int]()

    def value(number: int) -> int:
        return kept.once(("squares", number), lambda: made.append(number) or number**2)

    assert [value(number) for number in (1, 2, 1, 2)] == [1, 4, 1, 4]
    assert made == [1, 2]
    kept.once(("others", 1), lambda: 0)
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
