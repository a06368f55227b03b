"""Columns with many categories: memory does not grow with their number, and all surfaces agree on those not coded."""

from __future__ import annotations

import itertools
import sqlite3
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sslart
from sslart import SSLART, AutoSSLART
from sslart._data.encoder import ANOTHER, MAX_CATEGORIES, MAX_INDICATORS, Encoder
from sslart._data.joining import joined_encoder
from sslart._data.samples import Table

N, N_CITIES = 1500, 400


def cities(seed: int = 0, n: int = N) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with a column of many categories, a few of which are frequent, and two classes."""
    random = np.random.RandomState(seed)
    code = np.minimum(random.geometric(0.02, n), N_CITIES)
    frame = pd.DataFrame(
        {"size": random.rand(n), "city": pd.Categorical([f"city {one}" for one in code]), "age": random.rand(n)}
    )
    y = np.where((frame["size"] > 0.5) ^ (code % 3 == 0), "yes", "no").astype(object)
    y[400:] = None
    return frame, y


@pytest.fixture(scope="module")
def fitted() -> tuple[AutoSSLART, pd.DataFrame]:
    frame, y = cities()
    return AutoSSLART(random_state=0).fit(frame, y), frame


def encoder_of(model: Any) -> Encoder:
    found: Encoder = model.__sslart_view__().members[0].encoder
    return found


def of_categories(*columns: list[Any]) -> Table:
    categories = {place: np.array(values, dtype=object) for place, values in enumerate(columns)}
    return Table(np.full((len(columns[0]), len(columns)), np.nan), categories)


def test_the_most_frequent_categories_are_coded(fitted: tuple[AutoSSLART, pd.DataFrame]) -> None:
    model, frame = fitted
    coded = encoder_of(model).categories_of(1)
    often = Counter(frame["city"])
    assert len(coded) == MAX_CATEGORIES < len(often)
    assert min(often[one] for one in coded) >= max(often[one] for one in often.keys() - set(coded))


@given(
    st.lists(st.lists(st.integers(0, 200), min_size=30, max_size=30), min_size=1, max_size=12),
    st.integers(0, 2**16),
)
@settings(max_examples=30)
def test_indicators_of_all_columns_are_bounded(columns: list[list[int]], seed: int) -> None:
    wide = [list(np.random.RandomState(seed + place).permutation(300)) for place in range(20)]
    table = of_categories(
        *[[f"c{value}" for value in own * 10] for own in columns], *[[*map(str, own)] for own in wide]
    )
    encoder = Encoder.first(table, None, stream=False)
    assert len(encoder.features) <= max(MAX_INDICATORS, 8 * (len(columns) + 20))
    # each row has at most one indicator of a column, and those of others none
    matrix = encoder.matrix(table)
    for column in range(len(columns) + 20):
        own = [place for place, feature in enumerate(encoder.features) if feature.column == column]
        assert set(matrix[:, own].sum(axis=1)) <= {0.0, 1.0}


def test_few_categories_are_all_coded() -> None:
    names = [f"c{one}" for one in range(MAX_CATEGORIES)]
    encoder = Encoder.first(of_categories(names), None, stream=False)
    assert encoder.categories_of(0) == names


@pytest.mark.parametrize("cuts", [[1], [0, 700, 1500], range(1, 1500, 97)])
def test_a_stream_does_not_depend_on_its_cuts(cuts: Any) -> None:
    frame, y = cities()
    limits = ([0, np.nan, 0], [1, np.nan, 1])
    whole = SSLART(random_state=0, bounds=limits).partial_fit(frame, y)
    model = SSLART(random_state=0, bounds=limits)
    edges = [0, *cuts, len(frame)]
    for start, stop in itertools.pairwise(edges):
        if stop > start:
            model.partial_fit(frame[start:stop], y[start:stop])
    assert encoder_of(model).features == encoder_of(whole).features
    np.testing.assert_array_equal(model.predict_proba(frame), whole.predict_proba(frame))


def test_categories_that_are_not_coded_count_as_one(fitted: tuple[AutoSSLART, pd.DataFrame]) -> None:
    model, frame = fitted
    coded = set(encoder_of(model).categories_of(1))
    rare = frame[~frame["city"].isin(coded)].head(5)
    assert len(rare) == 5
    expected = model.predict_proba(rare)
    for name in ("city never met", rare["city"].iloc[0]):
        other = rare.assign(city=pd.Categorical([name] * 5))
        np.testing.assert_array_equal(model.predict_proba(other), expected)


def test_rules_export_and_files_agree_on_all_categories(
    fitted: tuple[AutoSSLART, pd.DataFrame], tmp_path: Path
) -> None:
    model, frame = fitted
    rows = frame.tail(300).reset_index(drop=True)
    rules = model.rules(frame)
    by_rules = rules.predict(rows)
    connection = sqlite3.connect(":memory:")
    rows.astype({"city": str}).to_sql("samples", connection)
    by_sql = pd.read_sql(f'SELECT {rules.to_sql()} AS found FROM samples ORDER BY "index"', connection)["found"]
    np.testing.assert_array_equal(by_sql.to_numpy(), by_rules)

    session = onnxruntime.InferenceSession(sslart.to_onnx(model).SerializeToString())
    inputs = {
        "size": rows[["size"]].to_numpy(),
        "city": rows[["city"]].astype(str).to_numpy(),
        "age": rows[["age"]].to_numpy(),
    }
    np.testing.assert_array_equal(session.run(None, inputs)[0].ravel(), model.predict(rows))

    path = tmp_path / "model.sslart"
    sslart.save(model, path)
    loaded = sslart.load(path)
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    assert encoder_of(loaded).features == encoder_of(model).features
    assert encoder_of(loaded).max_categories == MAX_CATEGORIES


def test_contributions_add_up_and_no_change_leads_to_a_category_that_is_none(
    fitted: tuple[AutoSSLART, pd.DataFrame],
) -> None:
    model, frame = fitted
    found = model.contributions(frame.head(20))
    proba = model.predict_proba(frame.head(20))
    assert np.isfinite(found.values).all()
    for row, one in enumerate(model.explain(frame.head(20))):
        assert ANOTHER not in str(one.counterfactual)
        assert one.prediction == model.classes_[proba[row].argmax()]
    assert ANOTHER not in str(model.counterfactual(frame.head(1)))


def test_merging_is_the_same_in_any_order_and_keeps_the_limit() -> None:
    parts = [SSLART(random_state=0).fit(*cities(seed)) for seed in range(3)]
    frame = cities(7)[0]
    one, other = sslart.merge(parts), sslart.merge(parts[::-1])
    assert len(encoder_of(one).categories_of(1)) == MAX_CATEGORIES
    np.testing.assert_array_equal(one.predict_proba(frame), other.predict_proba(frame))
    shared = set.intersection(*(set(encoder_of(part).categories_of(1)) for part in parts))
    assert shared <= set(encoder_of(one).categories_of(1))


def test_joined_encoders_keep_the_categories_that_most_know() -> None:
    encoders = [
        Encoder.first(of_categories([f"c{one}" for one in range(start, start + MAX_CATEGORIES)]), None, stream=False)
        for start in (0, 10, 20)
    ]
    joined = joined_encoder(encoders, [1.0, 1.0, 1.0], ["x0"])
    assert len(joined.categories_of(0)) == MAX_CATEGORIES
    assert {f"c{one}" for one in range(20, MAX_CATEGORIES)} <= set(joined.categories_of(0))
