"""With more than a thousand columns, the first explanation takes a small part of the time of the fit."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import sslart
from sslart._mapping.model_view import view_of
from sslart.explain import _relations
from sslart.explain._contributions import average_amounts
from sslart.explain._options import MOST_MOVED, options_of
from sslart.explain._relations import relations_of


@pytest.fixture(scope="module")
def wide() -> tuple[Any, Any, float]:
    """Return a model of 1,400 columns of which the last two copy others, its samples, and the seconds of its fit."""
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 1400))
    X[:, -2], X[:, -1] = 100 * X[:, 5], -X[:, 7]
    y = np.full(300, -1)
    y[:60] = X[:60, :20].sum(axis=1) > 0
    str(sslart.AutoSSLART(random_state=0).fit(X[:, :5], y).explain(X[:1, :5])[0])  # modules are imported once
    start = time.process_time()
    model = sslart.AutoSSLART(random_state=0).fit(X, y)
    return model, X, time.process_time() - start


def test_the_first_explanation_is_quick_beside_the_fit(wide: tuple[Any, Any, float]) -> None:
    model, X, seconds_to_fit = wide
    start = time.process_time()
    (found,) = model.explain(X[100:101])
    text = str(found)
    assert time.process_time() - start < seconds_to_fit / 2
    assert text.startswith("Prediction: ")
    evidence = found.evidence
    total = evidence.base + sum(one.amount for one in evidence.contributions)
    assert total == pytest.approx(evidence.margin, abs=1e-5)


def test_only_the_columns_that_count_most_may_change(wide: tuple[Any, Any, float]) -> None:
    view = view_of(wide[0])
    amounts = average_amounts(view.members[0], 1400)
    assert set(np.flatnonzero(options_of(view).sizes)) == set(np.argsort(-amounts)[:MOST_MOVED])


def test_copies_are_found_among_many_columns(wide: tuple[Any, Any, float]) -> None:
    found = {(one.bases, one.column) for one in relations_of(view_of(wide[0]))}
    assert {((5,), 1398), ((7,), 1399)} <= found


def test_the_digest_of_the_order_finds_the_same_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(80, 12))
    X[:, 3], X[:, 6], X[:, 11] = X[:, 0] ** 3, 2 - X[:, 1], 1000 * X[:, 0]
    X[5, 2] = np.nan
    X[:, 9] = 10 * X[:, 2]

    def copies() -> set[tuple[tuple[int, ...], int]]:
        model = sslart.AutoSSLART(random_state=0).fit(X, (X[:, 0] > 0).astype(int))
        return {(one.bases, one.column) for one in relations_of(view_of(model))}

    expected = copies()
    assert len(expected) == 4
    monkeypatch.setattr(_relations, "MANY_COLUMNS", 3)
    assert copies() == expected
