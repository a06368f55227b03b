"""Columns that are left out, and columns that deserve a second look."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import sslart
from sslart import SSLART, AutoSSLART, FuzzyART
from sslart.cli import main


def patients() -> tuple[pd.DataFrame, np.ndarray]:
    """Return five measurements of 200 patients, and a label of each third."""
    data = load_breast_cancer(as_frame=True)
    y = data.target.to_numpy()[:200].copy()
    return data.data.iloc[:200, [1, 4, 8, 9, 18]], np.where(np.arange(200) % 3 == 0, y, -1)


def noted(model: SSLART, topic: str) -> list[str]:
    return [note.column for note in model.summary().notes if note.topic == topic]


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_ordinary_tables_have_no_notes(load: object) -> None:
    data = load(as_frame=True)  # type: ignore[operator]
    assert SSLART(random_state=0).fit(data.data, data.target).summary().notes == ()


def test_identifiers_and_free_text_are_left_out_with_a_warning(tmp_path: Path) -> None:
    X, y = patients()
    plain = AutoSSLART(random_state=0).fit(X, y)
    wider = X.assign(
        patient=pd.Series([f"P{number}" for number in range(200)]),
        remark=pd.Series([f"this patient was seen by doctor number {number}" for number in range(200)]),
    )
    model = AutoSSLART(random_state=0)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        model.fit(wider, y)
    messages = [str(one.message) for one in warned]
    assert ["'patient' is left out" in messages[0], "dtype 'category'" in messages[0]] == [True, True]
    assert "'remark' is left out: it is free text" in messages[1]
    assert all(one.filename == __file__ for one in warned)
    assert noted(model, "columns left out") == ["patient", "remark"]
    assert model.n_features_in_ == 7
    np.testing.assert_array_equal(model.predict_proba(wider), plain.predict_proba(X))
    sslart.save(model, tmp_path / "model.sslart")
    same = sslart.load(tmp_path / "model.sslart")
    other = wider.assign(patient="another one", remark=None)
    np.testing.assert_array_equal(same.predict_proba(other), plain.predict_proba(X))
    assert same.summary() == model.summary()
    np.testing.assert_array_equal(same.partial_fit(other, y).predict(other), same.predict(wider))


def test_a_column_of_the_dtype_category_is_never_left_out() -> None:
    X, y = patients()
    wider = X.assign(patient=pd.Categorical([f"P{number}" for number in range(200)]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SSLART(random_state=0).fit(wider, y)
    assert "patient=P7" in model.coded_feature_names_


def test_of_few_samples_and_of_columns_that_are_all_there_is_none_is_left_out() -> None:
    few = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": pd.Series(["x", "y", "z"])})
    assert "b=x" in FuzzyART().fit(few).coded_feature_names_
    names = pd.DataFrame({"name": pd.Series([f"n{number}" for number in range(30)])})
    assert len(FuzzyART().fit(names).coded_feature_names_) == 30


@pytest.mark.parametrize("name", ["id", "row", "patient", "Subject", "caseid", "idno", "school_nr", "column 3"])
def test_whole_numbers_that_name_samples_are_left_out_of_frames(name: str) -> None:
    X, y = patients()
    plain = SSLART(random_state=0).fit(X, y)
    wider = X.assign(**{name: np.random.RandomState(0).permutation(200) + 1})
    for frame in (wider, pl.from_pandas(wider)):
        with pytest.warns(UserWarning, match=f"'{name}' is left out: .* give it the dtype float") as warned:
            model = SSLART(random_state=0).fit(frame, y)
        assert [one.filename for one in warned] == [__file__]
        assert noted(model, "columns left out") == [name]
        assert noted(model, "possible identifiers") == []
        assert (model.n_features_in_, list(model.feature_names_in_)) == (6, list(wider.columns))
        np.testing.assert_array_equal(model.predict_proba(frame), plain.predict_proba(X))


def test_a_model_without_its_identifier_predicts_and_learns_as_if_there_were_none(tmp_path: Path) -> None:
    X, y = patients()
    plain = AutoSSLART(random_state=0).fit(X, y)
    wider = X.assign(idno=np.random.RandomState(0).permutation(200) + 1)
    before = wider.copy()
    with pytest.warns(UserWarning, match="'idno' is left out"):
        model = AutoSSLART(random_state=0).fit(wider, y)
    np.testing.assert_array_equal(model.predict_proba(wider), plain.predict_proba(X))
    sslart.save(model, tmp_path / "model.sslart")
    same = sslart.load(tmp_path / "model.sslart")
    np.testing.assert_array_equal(same.predict_proba(wider.assign(idno=7)), plain.predict_proba(X))
    with pytest.warns(UserWarning, match="feature names"):
        np.testing.assert_array_equal(same.predict_proba(wider.to_numpy()), plain.predict_proba(X))
    pd.testing.assert_frame_equal(wider, before)
    with pytest.raises(ValueError, match="idno"):
        same.predict(X)
    np.testing.assert_array_equal(same.partial_fit(wider, y).predict(wider), model.partial_fit(wider, y).predict(wider))


def test_floats_arrays_and_other_numbers_are_not_left_out_but_may_be_named() -> None:
    X, y = patients()
    ids = np.random.RandomState(0).permutation(10_000)[:200]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SSLART(random_state=0).fit(X.assign(z=np.arange(200), id=ids.astype(float), number=ids), y)
        assert noted(model, "possible identifiers") == ["z", "id"]
        assert {"z", "id", "number"} <= set(model.coded_feature_names_)
        wider = X.assign(row=np.arange(200), id=ids)
        assert noted(SSLART(random_state=0).fit(wider.to_numpy(), y), "possible identifiers") == ["x5"]
        SSLART(random_state=0).partial_fit(wider, y)


def test_the_command_line_leaves_out_the_same_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    X, y = patients()
    wider = X.assign(caseid=np.random.RandomState(0).permutation(200) + 1, number=np.arange(200) * 3)
    wider.assign(y=y).replace({"y": {-1: None}}).to_csv(tmp_path / "table.csv", index=False)
    main(["fit", str(tmp_path / "table.csv"), "--label", "y", "--out", str(tmp_path / "model.sslart")])
    assert "caseid left out numbers the rows" in " ".join(capsys.readouterr().out.split())
    fitted = sslart.load(tmp_path / "model.sslart")
    with pytest.warns(UserWarning, match="'caseid' is left out"):
        in_python = AutoSSLART(random_state=0).fit(wider, y)
    known = np.flatnonzero(y >= 0)
    np.testing.assert_array_equal(
        fitted.predict_proba(wider.drop(columns="caseid"))[known], in_python.predict_proba(wider)[known]
    )


def test_columns_that_give_the_class_away_are_named() -> None:
    X, y = patients()
    truth = load_breast_cancer().target[:200]
    wider = X.assign(
        outcome=pd.Series(np.where(truth, "well", "ill")), score=truth + np.random.RandomState(0).rand(200) / 2
    )
    assert noted(SSLART(random_state=0).fit(wider, y), "likely leaks") == ["outcome", "score"]
    assert noted(SSLART(random_state=0).fit(wider[:60], y[:60]), "likely leaks") == []  # too few labels


def test_gaps_that_give_the_class_away_are_named() -> None:
    X, y = patients()
    truth = load_breast_cancer().target[:200].astype(bool)
    wider = X.assign(
        death=pd.Series(np.arange(200) % 9 + 1990.0).where(truth),
        ward=pd.Series(["a", "b"] * 100, dtype=object).where(~truth, None),
        seldom=pd.Series(np.arange(200) % 5 + 0.0).where(np.arange(200) % 4 == 0),
    )
    notes = [one for one in SSLART(random_state=0).fit(wider, y).summary().notes if one.topic == "likely leaks"]
    assert [one.column for one in notes] == ["death", "ward"]
    assert all(one.detail == "alone gives 100 % of the classes, by where it is missing" for one in notes)


def test_a_leak_is_named_beside_another_strong_column() -> None:
    random = np.random.RandomState(0)
    place = random.randint(35, size=400)
    grade, rate = place // 5, place // 5 + random.normal(scale=0.35, size=400)
    loans = pd.DataFrame({"amount": random.rand(400), "rate": rate, "sub_grade": [f"G{one}" for one in place]})
    assert noted(SSLART(random_state=0).fit(loans, grade), "likely leaks") == ["sub_grade"]
    assert noted(SSLART(random_state=0).fit(loans.drop(columns="sub_grade"), grade), "likely leaks") == []


def test_columns_that_count_twice_are_named() -> None:
    X, y = patients()
    first, second = X.columns[:2]
    wider = X.assign(
        copy=X[first],
        cents=100 - 3 * X[second],
        near=X[first] + 1e-3 * np.random.RandomState(0).rand(200),
        sex=pd.Series(["m", "f"] * 100),
        code=[1, 0] * 100,
        first=pd.Series(["a", "b", *[None] * 198], dtype=object),
        second=pd.Series(["c", "d", *[None] * 198], dtype=object),  # of two rows, any two texts divide them alike
    )
    notes = SSLART(random_state=0).fit(wider, y).summary().notes
    assert {(note.column, note.detail) for note in notes if note.topic == "columns counted twice"} == {
        ("copy", f"a copy of {first}"),
        ("cents", f"perfectly correlated with {second}"),
        ("code", "divides the samples as sex does"),
    }


def test_days_that_all_differ_are_no_identifier() -> None:
    days = pd.date_range("2020-01-01", periods=60)
    frame = pd.DataFrame({"day": days, "width": np.random.RandomState(0).rand(60)})
    model = AutoSSLART(random_state=0).fit(frame, ["a", "b"] * 30)
    assert "identifiers" not in str(model.summary())
