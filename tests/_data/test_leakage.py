"""The search for leaks and copies: the findings of a plain specification, at a small part of the cost of a fit."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits

from sslart import SSLART
from sslart._data.samples import Table
from sslart._data.training import copies, suspects


def plain_share(values: list[Any], codes: list[int], *, is_number: bool) -> float:
    """Return the mean share of each class that the other samples of the same value give, or else the nearest value."""
    right: dict[int, list[bool]] = {}
    for place, (value, code) in enumerate(zip(values, codes, strict=True)):
        others = [c for at, (v, c) in enumerate(zip(values, codes, strict=True)) if at != place and v == value]
        if not others and is_number and value is not None:
            known = sorted({v for v in values if v is not None and v != value}, key=lambda v: (abs(v - value), v))
            others = [c for v, c in zip(values, codes, strict=True) if v == known[0]] if known else []
            best = max(sorted(set(others)), key=others.count, default=None)
            right.setdefault(code, []).append(best == code)
        else:
            rest = max((others.count(c) for c in set(others) if c != code), default=0)
            right.setdefault(code, []).append(others.count(code) > rest)
    return statistics.mean(statistics.mean(one) for one in right.values())


def plain_leaks(table: Table, codes: np.ndarray) -> Iterator[str]:
    """Yield the names of columns that are likely leaks."""
    listed = codes.tolist()
    rows = [row for row, code in enumerate(listed) if code >= 0 and listed.count(code) >= 3]
    own = [listed[row] for row in rows]
    if len(rows) < 30 or len(set(own)) < 2:
        return
    shares = []
    for column in range(table.values.shape[1]):
        is_number = column not in table.categories
        given = table.values[:, column] if is_number else table.categories[column]
        values = [None if given[row] != given[row] else given[row] for row in rows]
        shares.append(plain_share(values, own, is_number=is_number))
    others = [share for share in shares if share < 0.99]
    least = 0.99 if others and max(others) <= 0.9 else 0.999 if len(rows) >= 100 else np.inf
    yield from (f"x{column}" for column, share in enumerate(shares) if share >= least)


@st.composite
def tables(draw: st.DrawFn) -> tuple[Table, np.ndarray]:
    """Return a table, some columns of which tell the class, and class codes."""
    random = np.random.RandomState(draw(st.integers(0, 10**6)))
    n = draw(st.sampled_from([20, 40, 120]))
    codes = random.randint(0, draw(st.integers(1, 4)), n)
    kinds: dict[str, Callable[[], Any]] = {
        "random": lambda: random.rand(n),
        "whole": lambda: random.randint(0, 5, n).astype(float),
        "tells": lambda: codes + random.rand(n) * draw(st.sampled_from([0.5, 1.0, 1.1])),
        "class": lambda: np.where(random.rand(n) < draw(st.sampled_from([0, 0.01, 0.05])), 0.0, codes),
        "pairs": lambda: np.repeat(random.rand(n), 2)[:n],
        "gaps": lambda: np.where(codes == 0, np.nan, random.rand(n)),
        "constant": lambda: np.zeros(n),
    }
    columns, categories = [], {}
    for column in range(draw(st.integers(1, 5))):
        values = kinds[draw(st.sampled_from(sorted(kinds)))]()
        if draw(st.integers(0, 4)) == 0:
            categories[column] = np.array([None if v != v else f"{v:.1f}" for v in values], dtype=object)
            values = np.full(n, np.nan)
        columns.append(values)
    labelled = np.where(random.rand(n) < draw(st.sampled_from([0, 0.3])), -1, codes)
    return Table(np.transpose(columns).copy(), categories), labelled


@settings(max_examples=3 * settings().max_examples)
@given(tables())
def test_the_leaks_are_those_of_the_plain_specification(given: tuple[Table, np.ndarray]) -> None:
    table, codes = given
    names = [f"x{column}" for column in range(table.values.shape[1])]
    found = [note.column for note in suspects(table, codes, names) if note.topic == "likely leaks"]
    assert found == list(plain_leaks(table, codes))


def test_of_several_copies_each_is_compared_with_the_first() -> None:
    first = np.random.RandomState(0).rand(50)
    other = np.random.RandomState(1).rand(50)
    gaps = np.where(np.arange(50) == 3, np.nan, first)
    columns = [first, other, 1 - 2 * first, first, 3 + first, other, gaps, 5 * gaps]
    found = [str(note) for note in copies(Table(np.transpose(columns).copy()), [*"abcdefgh"])]
    assert found == [
        "c (perfectly correlated with a)",
        "d (a copy of a)",
        "e (perfectly correlated with a)",
        "f (a copy of b)",
        "h (perfectly correlated with g)",
    ]


def _seconds(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def test_the_search_takes_a_small_part_of_a_fit() -> None:
    X, y = load_digits(return_X_y=True)
    table, names = Table(X), [f"x{column}" for column in range(X.shape[1])]
    turns = [
        (_seconds(lambda: list(suspects(table, y, names))), _seconds(lambda: SSLART(0.9).fit(X, y))) for _ in range(15)
    ]
    search, fit = (statistics.median(one) for one in zip(*turns, strict=True))
    assert search < 0.2 * fit
