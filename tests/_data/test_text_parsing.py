"""Columns of text that are dates, numbers with marks or units, or hold marks for missing values."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

import sslart
from sslart import SSLART, WESSLART, AutoSSLART
from sslart._data.text_parsing import numbers_of_unit, numbers_with_marks
from sslart.merging import merge

N = 120
RANDOM = np.random.RandomState(0)
DAYS = pd.date_range("2021-01-01", periods=N)
WEIGHTS, PRICES = RANDOM.normal(70, 9, N).round(1), (2000 * RANDOM.rand(N)).round(2)
Y = np.where(DAYS.day_of_week >= 5, "weekend", "work").astype(object)
Y[60:] = None


def typed() -> pd.DataFrame:
    return pd.DataFrame({"day": DAYS, "weight": WEIGHTS, "price": PRICES, "colour": ["red", "blue", None] * 40})


def as_text(form: str = "%d.%m.%Y") -> pd.DataFrame:
    return pd.DataFrame(
        {
            "day": DAYS.strftime(form),
            "weight": [f"{one} kg" for one in WEIGHTS],
            "price": [f"${one:,.2f}" for one in PRICES],
            "colour": ["red", "blue", "n/a"] * 40,
        }
    )


def noted(model: Any, topic: str) -> dict[str, str]:
    return {note.column: note.detail for note in model.summary().notes if note.topic == topic}


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%b %d, %Y", "%d/%m/%Y"])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.from_pandas])
def test_text_is_what_it_holds(form: str, frame: Any, tmp_path: Path) -> None:
    plain = AutoSSLART(random_state=0).fit(typed(), Y)
    model = AutoSSLART(random_state=0).fit(frame(as_text(form)), Y)
    expected = plain.predict_proba(typed())
    np.testing.assert_array_equal(model.predict_proba(frame(as_text(form))), expected)
    np.testing.assert_array_equal(model.predict_proba(typed()), expected)
    sslart.save(model, tmp_path / "model.sslart")
    np.testing.assert_array_equal(sslart.load(tmp_path / "model.sslart").predict_proba(as_text(form)), expected)
    assert noted(model, "texts read as dates or times").keys() == {"day"}
    assert noted(model, "texts read as numbers") == {
        "weight": f"numbers in kg, such as {WEIGHTS[0]} kg",
        "price": f"numbers in $, such as ${PRICES[0]:,.2f}",
    }
    assert noted(model, "texts treated as missing") == {"colour": "'n/a' in 40 rows"}


def test_a_stream_guesses_nothing() -> None:
    names = SSLART(0.5).partial_fit(as_text(), Y).coded_feature_names_
    assert "colour=n/a" in names
    assert any(name.startswith("weight=") for name in names)


def test_text_is_read_on_as_it_was_first_read() -> None:
    model = AutoSSLART(random_state=0).fit(as_text(), Y)
    boxes = model.n_nodes_
    assert model.partial_fit(as_text(), Y).n_nodes_ == boxes
    with pytest.raises(ValueError, match="numbers in kg in the data learnt first, and holds '3 lb'"):
        model.predict(as_text().assign(weight="3 lb"))
    with pytest.raises(ValueError, match="held dates in the data learnt first, and 'soon' is not one"):
        model.predict(as_text().assign(day="soon"))
    with pytest.warns(UserWarning, match="holds numbers, and 'heavy', treated as blank"):
        model.predict(as_text().assign(weight="heavy"))


def test_the_dtype_category_says_what_text_is() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SSLART(random_state=0).fit(as_text().astype("category"), Y)
    assert "colour=n/a" in model.coded_feature_names_
    assert "day=01.01.2021" in model.coded_feature_names_


def test_where_no_cell_shows_it_the_month_comes_first_and_it_is_said() -> None:
    frame = pd.DataFrame({"day": ["3/4/2021", "5/6/2021"] * 15, "x": RANDOM.rand(30)})
    model = SSLART(random_state=0).fit(frame, ["a", "b"] * 15)
    assert noted(model, "texts read as dates or times") == {
        "day": "such as 3/4/2021, of which the month is taken to come first"
    }


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["1,234", "99"], [1234.0, 99.0]),
        (["45%", "-3 %"], [45.0, -3.0]),
        (["$3.50", "-$1,000.25"], [3.5, -1000.25]),
        (["1 000 000", "20"], [1e6, 20.0]),
        ([f"{n} mm" for n in range(12)], list(range(12))),
        ([str(n) for n in range(40)] + ["unknown"], [*range(40), np.nan]),
    ],
)
def test_marks_separators_and_units_are_read(cells: list[str], values: list[float]) -> None:
    found = numbers_with_marks(cells)
    assert found is not None
    np.testing.assert_array_equal(found.values, values)


@pytest.mark.parametrize(
    "cells",
    [
        ["5a", "6a", "7a"],  # few may be names
        [f"{n} kg" for n in range(20)] + ["3 lb"],
        [str(n) for n in range(40)],  # numbers as strings are categories, as documented
        [f"0{n}" for n in range(10, 40)] + ["-"],  # leading zeros: codes
        ["1,5", "2,5"],
        ["red", "12 kg", "blue"],
        [f"{n}th" for n in range(20)] + [f"no {n}" for n in range(9)],
    ],
)
def test_what_may_be_names_is_left_alone(cells: list[str]) -> None:
    assert numbers_with_marks(cells) is None


def test_a_mark_that_many_rows_have_is_blank_among_measurements_and_a_slip_or_a_name_is_not() -> None:
    amounts = [f"{n / 100}" for n in range(1, 141)]
    once = [1] * len(amounts)
    found = numbers_with_marks([*amounts, "T"], [*once, 20])  # rain, and traces of it
    assert found is not None
    assert np.isnan(found.values).tolist() == [False] * 140 + [True]
    assert found.others == ["T"]
    assert numbers_with_marks([*amounts, "T"], [*once, 2]) is None
    grades = [str(n) for n in range(1, 13)]
    assert numbers_with_marks([*grades, "K"], [90] * 12 + [50]) is None  # kindergarten, before the first grade


def test_the_mark_of_a_measurement_is_named_and_read_so_later() -> None:
    frame = pd.DataFrame({"rain": [f"{n / 100}" for n in range(100)] + ["T"] * 20, "x": RANDOM.rand(N)})
    model = AutoSSLART(random_state=0).fit(frame, Y)
    assert noted(model, "texts read as numbers") == {"rain": "numbers, such as 0.0; 'T' treated as blank"}
    with pytest.warns(UserWarning, match="holds numbers, and 'T', treated as blank"):
        model.predict(frame)


@pytest.mark.parametrize(
    "gap", ["3/-9/1848", "0/12/1950", "??/5/1900", "00/00/0000", "1848-03-00", "0000-00-00 00:00:00"]
)
def test_a_date_without_its_day_or_month_is_blank_and_named(gap: str) -> None:
    form = "%m/%d/%Y" if "/" in gap else "%Y-%m-%d"
    whole = typed()
    whole.loc[3, "day"] = pd.NaT
    days = pd.Series(DAYS.strftime(form), dtype=object)
    days[3] = gap
    model = AutoSSLART(random_state=0).fit(whole.assign(day=days), Y)
    assert noted(model, "texts read as dates or times") == {"day": f"such as {days[0]}; {gap!r} treated as blank"}
    expected = AutoSSLART(random_state=0).fit(whole, Y).predict_proba(whole)
    np.testing.assert_array_equal(model.predict_proba(whole.assign(day=days)), expected)


def test_numbers_of_another_unit_are_named() -> None:
    assert numbers_of_unit(["12", "3 kg", "2 lb", "heavy", None], "kg")[1] == ["2 lb"]


def test_words_in_a_column_of_numbers_are_gaps() -> None:
    numbers = [*RANDOM.rand(38).tolist(), "?", "-"]
    frame = pd.DataFrame({"x": pd.Series(numbers, dtype=object), "z": RANDOM.rand(40)})
    model = SSLART(random_state=0).fit(frame, ["a", "b"] * 20)
    assert model.coded_feature_names_ == ["x", "z"]
    assert noted(model, "texts treated as missing") == {"x": "'-', '?' in 2 rows"}
    assert model.predict(frame).shape == (40,)


@pytest.mark.parametrize("model", [AutoSSLART(random_state=0), SSLART(random_state=0)])
@pytest.mark.parametrize("kind", [object, str])
def test_blank_text_in_y_is_unlabelled(model: Any, kind: type) -> None:
    X, y = RANDOM.rand(30, 2), np.array((["a", "b", "", "  ", "b"] * 6), dtype=kind)
    assert model.fit(X, y).classes_.tolist() == ["a", "b"]
    expected = clone(model).fit(X, [one if one.strip() else None for one in y.tolist()])
    np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    assert model.partial_fit(X[:3], y[1:4]).classes_.tolist() == ["a", "b"]
    assert 0 <= model.score(X, y) <= 1


@pytest.mark.parametrize("model", [AutoSSLART(random_state=0), SSLART(random_state=0), WESSLART(2, random_state=0)])
@pytest.mark.parametrize("classes", [["a", "b"], [3, 4]])
def test_a_row_without_a_value_fails_no_batch(model: Any, classes: list[Any]) -> None:
    X = RANDOM.rand(60, 3)
    X[::4, 1] = np.nan
    y = np.array(classes)[(X[:, 0] > 0.5).astype(int)]
    plain = clone(model).fit(X, y)
    with pytest.warns(UserWarning, match="1 sample of X without a single value.*row is left out|it is left out"):
        model.fit(np.vstack([X[:5], np.full(3, np.nan), X[5:]]), np.concatenate([y[:5], y[:1], y[5:]]))
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    with_blank = np.vstack([X[:2], np.full(3, np.nan)])
    with pytest.warns(UserWarning, match="the model abstains"):
        predicted = model.predict(with_blank)
    assert predicted[2] == (-1 if classes == [3, 4] else None)
    assert predicted[:2].tolist() == plain.predict(X[:2]).tolist()
    with pytest.warns(UserWarning, match="the model abstains"):
        assert model.predict_proba(with_blank)[2].tolist() == [0.5, 0.5]
    with pytest.warns(UserWarning, match="the model abstains"):
        assert model.is_novel(with_blank)[2] == np.False_
    with pytest.raises(ValueError, match="without a single value"):
        model.predict(with_blank[2:])


def test_parts_with_numbers_in_unlike_units_are_not_merged() -> None:
    parts = [SSLART(random_state=0).fit(as_text()[place::2], ["a", "b"] * 30) for place in (0, 1)]
    np.testing.assert_array_equal(merge(parts).predict(as_text()), merge(parts).predict(typed()))
    in_pounds = as_text().assign(weight=[f"{one} lb" for one in WEIGHTS])
    parts[1] = SSLART(random_state=0).fit(in_pounds[1::2], ["a", "b"] * 30)
    with pytest.raises(ValueError, match="'weight' has numbers in kg in one part of the data and in lb in another"):
        merge(parts)
