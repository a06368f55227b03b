"""Feature importances: they are the mean size of contributions, have a direction, and find what decides."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from conftest import few
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyARTMAP
from sslart._mapping.model_view import view_of
from sslart.explain import FeatureImportances, importances_of
from sslart.explain._contributions import background


def coloured(n: int = 120, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return samples whose class depends on the colour and a little on the size; the noise means nothing."""
    random = np.random.RandomState(seed)
    frame = pd.DataFrame(
        {
            "noise": random.normal(size=n),
            "colour": random.choice(["red", "green", "blue"], n),
            "size": random.normal(size=n),
        }
    )
    frame.loc[frame.index % 11 == 0, "size"] = np.nan
    frame.loc[frame.index % 13 == 0, "colour"] = None
    warm = (frame["colour"] == "red") | (frame["size"].fillna(0) > 1.2)
    return frame, np.where(warm, "warm", "cold")


def test_over_samples_they_are_the_mean_absolute_contributions(cancer: Any) -> None:
    X, model = cancer
    found, parts = model.feature_importances(X), model.contributions(X)
    np.testing.assert_allclose(found.by_class, np.abs(parts.values).mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.importances, found.by_class.mean(axis=1))
    np.testing.assert_allclose(found.graph, np.abs(parts.graph).mean(axis=0), rtol=1e-12)
    assert found.n_samples == len(X)
    assert not found.of_boxes


def test_without_samples_they_are_those_of_samples_drawn_from_the_boxes(cancer: Any) -> None:
    _, model = cancer
    (member,) = view_of(model).members
    found, parts = model.feature_importances(), model.contributions(member.encoder.decode(background(member)))
    np.testing.assert_allclose(found.by_class, np.abs(parts.values).mean(axis=0), atol=1e-5)
    assert found.of_boxes
    assert found.n_samples == len(parts.values)


def test_boxes_give_nearly_the_importances_of_the_samples_that_they_have_learnt(cancer: Any) -> None:
    X, model = cancer
    assert np.abs(model.feature_importances().shares - model.feature_importances(X).shares).max() < 0.01


@pytest.mark.parametrize("vigilance", [0.9, 0.7])  # small boxes, and wide ones
def test_samples_drawn_from_boxes_give_nearly_the_importances_and_directions_of_those_learnt(vigilance: float) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = AutoSSLART(vigilance, random_state=0).fit(X, few(y, 10))
    drawn, learnt = model.feature_importances(), model.feature_importances(X)
    assert (drawn.of_boxes, learnt.of_boxes) == (True, False)
    assert np.abs(drawn.shares - learnt.shares).max() < 0.03
    clear = (np.abs(learnt.direction) >= 0.5) & (np.abs(drawn.direction) >= 0.5)
    assert clear.any()
    assert (np.sign(drawn.direction) == np.sign(learnt.direction))[clear].all()


def test_importances_of_boxes_are_made_once_until_the_model_learns_more(cancer: Any) -> None:
    X, y = load_iris(return_X_y=True)
    model = AutoSSLART(random_state=0).fit(X[::2], y[::2])
    first = model.feature_importances()
    assert model.feature_importances() is first
    model.partial_fit(X[1::2], y[1::2])
    assert model.feature_importances() is not first


def test_the_direction_is_that_of_the_contributions(cancer: Any) -> None:
    X, model = cancer
    found, parts = model.feature_importances(X), model.contributions(X)
    area = 23
    ranks = pd.Series(X[:, area]).rank()
    assert found.direction[area, 0] == pytest.approx(np.corrcoef(ranks, parts.values[:, area, 0])[0, 1], abs=1e-9)
    assert found.direction[area, 0] > 0.9
    assert (np.abs(found.direction) <= 1 + 1e-12).all()


@pytest.mark.parametrize(
    "model",
    [AutoSSLART(random_state=0), pytest.param(WESSLART(3, mapping="evidence", random_state=0), marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("on_samples", [True, False])
def test_what_decides_is_more_important_than_noise(model: Any, on_samples: bool) -> None:
    frame, y = coloured()
    found = model.fit(frame, y).feature_importances(frame if on_samples else None)
    assert [found.feature_names[column] for column in found.order] == ["colour", "size", "noise"]
    warm = found.classes.tolist().index("warm")
    amounts = {category: amounts[warm] for category, amounts in found.by_category["colour"].items()}
    assert set(amounts) == {"red", "green", "blue"}
    assert amounts["red"] > 0 > max(amounts["green"], amounts["blue"])
    assert found.direction_text("colour").startswith("red: warm; ")
    assert found.direction_text("size") == "higher values: warm; lower values: cold"
    assert np.isnan(found.direction[1]).all()


@settings(max_examples=15, deadline=None)
@given(rows=st.lists(st.integers(0, 568), min_size=2, max_size=30), cut=st.integers(1, 29))
def test_importances_of_samples_are_means_over_parts_of_them_in_any_order(
    rows: list[int], cut: int, cancer: Any
) -> None:
    X, model = cancer
    cut = min(cut, len(rows) - 1)
    whole = model.feature_importances(X[rows[::-1]])
    first, second = (model.feature_importances(X[part]) for part in (rows[:cut], rows[cut:]))
    mean = (cut * first.by_class + (len(rows) - cut) * second.by_class) / len(rows)
    np.testing.assert_allclose(whole.by_class, mean, rtol=1e-9)
    assert (np.abs(whole.direction) <= 1 + 1e-9).all()


def test_a_class_that_was_only_announced_counts_for_nothing() -> None:
    X, y = load_wine(return_X_y=True)
    model = AutoSSLART(random_state=0).partial_fit(X[:120], y[:120], classes=[0, 1, 2])
    found = model.feature_importances()
    assert not found.by_class[:, 2].any()
    np.testing.assert_allclose(found.importances, found.by_class[:, :2].mean(axis=1))
    assert "2" not in found.direction_text(found.feature_names[found.order[0]])


def test_a_constant_feature_is_not_used() -> None:
    X, y = load_iris(return_X_y=True)
    found = AutoSSLART(random_state=0).fit(np.column_stack([X, np.ones(150)]), y).feature_importances()
    assert found.order[-1] == 4
    assert found.importances[4] == 0
    assert found.direction_text("x4") == "not used"


def test_they_are_printed_as_tables(cancer: Any) -> None:
    _, model = cancer
    found = model.feature_importances()
    lines = str(found).splitlines()
    assert "500 samples drawn from the boxes" in lines[0]
    n_rows = 30 + bool(found.graph.any())
    assert lines[3].split()[0] == f"x{found.order[0]}"
    assert lines[3 + n_rows :] == ["", *found.notes()]
    assert found._repr_html_().count("<tr>") == 1 + n_rows
    frame = found.to_frame()
    assert frame.index[0] == f"x{found.order[0]}"
    assert frame["importance"].is_monotonic_decreasing
    assert frame.loc["x23", "direction for 0"] == found.direction[23, 0]


def test_they_are_values_that_json_knows() -> None:
    frame, y = coloured()
    found = AutoSSLART(random_state=0).fit(frame, y).feature_importances()
    read = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["feature"] for one in read["features"]] == ["colour", "size", "noise"]
    assert {one["category"] for one in read["features"][0]["categories"]} == {"red", "green", "blue"}
    assert read["features"][1]["by_class"][1].keys() == {"class", "importance", "direction"}
    shares = [one["share"] for one in read["features"]] + ([read["graph"]["share"]] if read["graph"] else [])
    assert sum(shares) == pytest.approx(1.0)


@pytest.mark.parametrize("model", [FuzzyARTMAP(), SSLART(), WESSLART(2, random_state=0)])
def test_models_that_predict_by_single_boxes_are_refused_with_the_cure(model: Any) -> None:
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=r"single boxes.*explain\(X\).*AutoSSLART"):
        model.fit(X, y).feature_importances()


def test_a_model_of_another_package_is_refused() -> None:
    with pytest.raises(TypeError, match="AutoSSLART"):
        importances_of(object())


def test_the_method_is_the_function(cancer: Any) -> None:
    X, model = cancer
    assert isinstance(importances_of(model), FeatureImportances)
    np.testing.assert_array_equal(importances_of(model, X[:9]).by_class, model.feature_importances(X[:9]).by_class)


def test_where_trees_are_large_fewer_samples_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = load_iris(return_X_y=True)
    model = SSLART(mapping="evidence", families="trees", random_state=0).fit(X, y)
    assert model.feature_importances().n_samples == 500
    monkeypatch.setattr("sslart.explain._contributions.MAX_VISITED", 1)
    again = SSLART(mapping="evidence", families="trees", random_state=0).fit(X, y)
    assert again.feature_importances().n_samples == 100
