"""Samples and labels that come one at a time are read by shorter ways, with the same outcome."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import clone

from sslart import SSLART, AutoSSLART, FuzzyART
from sslart._art.backend import row_keys
from sslart._data.labels import ClassTable, Labels
from sslart._data.samples import Table

X = np.random.RandomState(0).rand(60, 3).round(2)
Y = np.where(np.arange(60) % 3, -1, X[:, 0] > 0.5)
FRAME = pd.DataFrame(X, columns=list("abc"))
MODELS = [SSLART(0.8, random_state=0).fit(X, Y), SSLART(0.8, scaling="rank", random_state=0).fit(X, Y)]

values = st.sampled_from([0.0, 0.25, 0.5, 1.0, -3.0, 7.5, np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324])
few_rows = arrays(np.float64, st.tuples(st.integers(1, 3), st.integers(2, 3)), elements=values)


def outcome(work: Callable[[], Any]) -> str:
    """Result of a call, or its error, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = repr(np.asarray(work()).tolist())
        except ValueError as error:
            found = f"{type(error).__name__}: {error}"
    return f"{found} {[str(one.message) for one in caught]}"


@pytest.mark.parametrize("model", MODELS, ids=["range", "rank"])
@given(rows=few_rows)
def test_few_numbers_are_read_as_objects_are_which_scikit_learn_checks(model: Any, rows: np.ndarray) -> None:
    for method in (model.predict, model.predict_proba, model.score_samples):
        checked = outcome(lambda m=method: m(rows.astype(object)))
        for given_rows in (rows, rows.tolist(), np.asfortranarray(rows), rows.astype(">f8")):
            assert outcome(lambda m=method, x=given_rows: m(x)) == checked


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int64, np.int8, np.uint64, np.longdouble, bool, str])
def test_numbers_of_every_type_are_read_as_doubles(kind: Any) -> None:
    rows = (X[:5] * 9).astype(np.int64).astype(kind)
    assert outcome(lambda: MODELS[0].predict_proba(rows)) == outcome(
        lambda: MODELS[0].predict_proba(rows.astype(float))
    )


@pytest.mark.parametrize("rows", [[[1.0, 2.0], [1.0]], [1.0, 2.0, 3.0], [[[1.0] * 3]], [], [[]], [[*"abc"]], [3]])
def test_lists_that_are_no_table_are_refused_as_ever(rows: Any) -> None:
    with pytest.raises(ValueError, match=r"2D array|inhomogeneous|minimum of 1|could not convert|dim|expected"):
        MODELS[0].predict(rows)


@pytest.mark.parametrize("model", MODELS, ids=["range", "rank"])
@given(rows=arrays(np.float64, (6, 3), elements=st.sampled_from([0.0, 0.3, 0.77, 1.0, -2.0, 4.0])))
def test_the_score_of_a_sample_does_not_depend_on_those_beside_it(model: Any, rows: np.ndarray) -> None:
    alone = [model.score_samples(rows[place : place + 1])[0] for place in range(len(rows))]
    assert model.score_samples(rows).tolist() == alone


@pytest.fixture(scope="module")
def by_name() -> SSLART:
    return SSLART(0.8, random_state=0).fit(FRAME, Y)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64, np.uint8])
def test_a_row_of_a_frame_of_numbers_is_the_same_as_that_of_an_array(by_name: SSLART, kind: Any) -> None:
    rows = (FRAME * 9).astype(kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = [by_name.predict_proba(rows[place : place + 1])[0].tolist() for place in range(20)]
    with pytest.warns(UserWarning, match="feature names"):
        assert found == by_name.predict_proba(rows[:20].to_numpy(np.float64)).tolist()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda row: row[["b", "a", "c"]], "same order"),
        (lambda row: row.rename(columns={"a": "z"}), "seen at fit time"),
        (lambda row: row[["a", "b"]], "seen at fit time"),
        (lambda row: row.assign(a=np.inf), "infinity: 1 value, the first in column 'a'"),
        (lambda row: row * np.nan, "without a single value"),
        (lambda row: row.assign(c="text"), "was numeric in the data learnt first"),
        (lambda row: row[:0], "0 sample"),
    ],
)
def test_a_row_of_another_frame_is_refused_as_ever(by_name: SSLART, change: Any, message: str) -> None:
    for work in (by_name.predict, by_name.partial_fit):
        with pytest.raises(ValueError, match=message):
            work(change(FRAME[:1]))


def test_categories_that_are_numbers_count_as_the_numbers_learnt(by_name: SSLART) -> None:
    categories = FRAME.astype({"b": pd.CategoricalDtype([*np.unique(X)])})
    assert by_name.predict_proba(categories[:1]).tolist() == by_name.predict_proba(FRAME[:1]).tolist()


def test_a_row_of_a_mixed_frame_is_compared_with_the_names_learnt() -> None:
    mixed = FRAME.assign(d=np.where(X[:, 1] > 0.5, "high", "low"))
    model = SSLART(0.8, random_state=0).fit(mixed, Y)
    assert model.predict(mixed[:1]).tolist() == model.predict(mixed)[:1].tolist()
    with pytest.raises(ValueError, match="same order"):
        model.predict(mixed[["d", "a", "b", "c"]][:1])
    with pytest.raises(ValueError, match="seen at fit time"):
        model.predict(mixed.assign(e=1.0)[:1])


@given(given_labels=st.lists(st.integers(-1, 6), min_size=1, max_size=80), cut=st.integers(1, 12))
def test_few_labels_get_the_codes_that_many_get(given_labels: list[int], cut: int) -> None:
    labels = Labels(np.array(given_labels), np.array(given_labels) != -1)
    table, codes = ClassTable().learning(labels), []
    in_parts = ClassTable()
    for start in range(0, len(given_labels), cut):
        part = labels[start : start + cut]
        in_parts = in_parts.learning(part)
        codes += in_parts.codes(part).tolist()
    assert in_parts.seen == table.seen
    assert codes == table.codes(labels).tolist()


@pytest.mark.parametrize("model", [FuzzyART(0.8), AutoSSLART(random_state=0)], ids=["FuzzyART", "AutoSSLART"])
def test_gaps_in_a_row_are_no_reason_for_another_model(model: Any) -> None:
    gaps = np.where(np.random.RandomState(1).rand(60, 3) < 0.3, np.nan, X)
    gaps[:, 0] = X[:, 0]
    learnt = [(row[None], row[None].astype(object)) for row in gaps]
    by_array, checked = (type(model)(**model.get_params()).set_params(bounds=(0, 1)) for _ in range(2))
    for as_array, as_objects in learnt:
        by_array.partial_fit(as_array)
        checked.partial_fit(as_objects)
    assert by_array.lower_.tobytes() == checked.lower_.tobytes()
    assert by_array.support_.tolist() == checked.support_.tolist()


@given(
    column=st.lists(st.sampled_from(["a", "b", "ab", None, True, 1, 0.5, 2]), min_size=2, max_size=6),
    seed=st.integers(0, 9),
)
def test_a_sample_has_the_same_key_alone_and_among_others(column: list[Any], seed: int) -> None:
    numbers = np.random.RandomState(seed).rand(len(column), 2)
    categories = {1: np.array(column, dtype=object), 2: np.array(column[::-1], dtype=object)}
    table = Table(np.column_stack([numbers[:, 0], np.full((len(column), 2), np.nan)]), categories)
    alone = [row_keys(table[place : place + 1]).item() for place in range(len(column))]
    assert row_keys(table).tolist() == alone


@pytest.mark.parametrize("model", [SSLART(0.8), AutoSSLART(0.8, random_state=0)], ids=["SSLART", "AutoSSLART"])
def test_the_memory_of_a_row_may_be_used_again_for_the_next_one(model: Any) -> None:
    of_copies, of_one_buffer = (clone(model).set_params(bounds=(0, 1)) for _ in range(2))
    row, label = np.empty((1, 3)), np.empty(1, dtype=np.int64)
    for sample, known in zip(X, Y, strict=True):
        of_copies.partial_fit(sample[None].copy(), [known])
        row[:], label[:] = sample, known
        of_one_buffer.partial_fit(row, label)
    row[:] = 0.5
    assert of_one_buffer.predict_proba(X).tolist() == of_copies.predict_proba(X).tolist()
    assert pickle.dumps(of_one_buffer.__sslart_state__()) == pickle.dumps(of_copies.__sslart_state__())
