"""Properties of every merged model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tables_in_parts import are_covered, excess, file_of, fitted, parts_of

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART, FuzzyARTMAP

BOXES = [
    FuzzyART(0.8),
    FuzzyART(0.9, scaling="rank"),
    FuzzyARTMAP(),
    SSLART(0.8, random_state=0),
    SSLART(0.7, mapping="one-to-one", scaling="rank", random_state=0),
    SSLART(0.9, bounds=(-5, 8), random_state=0),
    WESSLART(2, vigilance=0.8, random_state=0),
]
SIZES = st.lists(st.integers(2, 12), min_size=1, max_size=4)
COLUMNS = st.sampled_from(["mixed", "numbers"])


@settings(max_examples=30)
@given(
    model=st.sampled_from(BOXES),
    seed=st.integers(0, 2**32),
    sizes=SIZES,
    columns=COLUMNS,
    vigilance=st.sampled_from([None, 0.3, 1.0]),
)
def test_boxes_obey_the_vigilance_and_hold_all_samples_and_counts_add(
    model: Any, seed: int, sizes: list[int], columns: str, vigilance: float | None
) -> None:
    parts = parts_of(seed, sizes, columns=columns)
    models = fitted(model, parts)
    merged = sslart.merge(models, vigilance)
    assert merged.support_.sum() == sum(one.support_.sum() for one in models)
    assert merged.n_nodes_ <= sum(one.n_nodes_ for one in models)
    if model.scaling != "rank":
        # samples with gaps can make a box larger than the vigilance allows already where it is learnt
        assert excess(merged) <= max(0, *map(excess, models))
    for X, y in parts:
        is_learnt = [not isinstance(model, FuzzyARTMAP) or label is not None for label in y]
        assert are_covered(merged, X[is_learnt]).all()
    if not isinstance(model, FuzzyART):
        classes = merged.classes_.tolist()
        assert classes == sorted({label for one in models for label in one.classes_.tolist()})
        counts = np.zeros(len(classes), dtype=np.int64)
        for one in models:
            counts[[classes.index(label) for label in one.classes_.tolist()]] += one.counts_.sum(axis=0)
        np.testing.assert_array_equal(merged.counts_.sum(axis=0), counts)


@settings(max_examples=12)
@given(model=st.sampled_from(BOXES), seed=st.integers(0, 2**32), sizes=SIZES, columns=COLUMNS, data=st.data())
def test_the_order_of_models_is_irrelevant_and_a_model_without_samples_adds_nothing(
    model: Any, seed: int, sizes: list[int], columns: str, data: Any
) -> None:
    models = fitted(model, parts_of(seed, sizes, columns=columns))
    before = [file_of(one) for one in models]
    merged = file_of(sslart.merge(models))
    empty = clone(model)
    others = data.draw(st.permutations([*models, empty]))
    assert file_of(sslart.merge(others)) == merged
    assert [file_of(one) for one in models] == before


def test_evidence_does_not_depend_on_the_order_of_models_either() -> None:
    parts = parts_of(3, [16, 12, 6])
    X = parts[0][0]
    few_families = {"families": ["box", "linear"], "bandwidth": 0.25, "ridge": 0.01, "rank_weight": 0.5}
    by_rank = SSLART(mapping="evidence", scaling="rank", max_labels=20, random_state=0, **few_families)
    for model in (AutoSSLART(random_state=0), by_rank):
        models = fitted(model, parts)
        merged, other = sslart.merge(models), sslart.merge(models[::-1])
        assert file_of(merged) == file_of(other)
        np.testing.assert_array_equal(merged.predict_proba(X), other.predict_proba(X))
        assert file_of(sslart.merge([models[0], clone(model)])) == file_of(models[0])


@pytest.mark.parametrize("model", BOXES[:2], ids=repr)
def test_boxes_joined_at_vigilance_0_are_one(model: Any) -> None:
    (X, _), *_ = parts = parts_of(0, [9, 9], columns="numbers")
    merged = sslart.merge(fitted(model, parts), vigilance=0)
    assert merged.n_nodes_ == 1
    assert merged.vigilance_ == 0
    merged.partial_fit(X)
    assert merged.n_nodes_ == 1
