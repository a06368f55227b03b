"""Columns of dates and times: features of their own, shown as dates."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import date, datetime, time, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pandas as pd
import polars as pl
import pytest

import sslart
from sslart import SSLART, WESSLART, AutoSSLART, FuzzyART
from sslart.export.onnx import to_onnx

DAYS = pd.date_range("2021-01-01", periods=120, freq="D")


def weekends() -> tuple[pd.DataFrame, np.ndarray]:
    """Return days with a number of no use, and whether each is at a weekend, with gaps."""
    size = np.random.RandomState(0).rand(len(DAYS))
    y = np.where(DAYS.day_of_week >= 5, "weekend", "work").astype(object)
    y[60:] = None
    return pd.DataFrame({"size": size, "day": DAYS}), y


@pytest.fixture(scope="module")
def model() -> AutoSSLART:
    return AutoSSLART(random_state=0).fit(*weekends())


def test_weekdays_are_learnt_from_dates(model: AutoSSLART) -> None:
    X, _ = weekends()
    truth = np.where(DAYS.day_of_week >= 5, "weekend", "work")
    assert model.score(X, truth) == 1.0
    assert model.n_features_in_ == 2
    assert model.feature_names_in_.tolist() == ["size", "day"]


def test_parts_that_do_not_vary_are_no_features() -> None:
    X, _ = weekends()
    assert not any(name.startswith("hour") for name in FuzzyART().fit(X).coded_feature_names_)
    one_week = FuzzyART().fit(X[:7])
    assert not any(name.startswith("month") for name in one_week.coded_feature_names_)
    hours = FuzzyART().fit(pd.DataFrame({"when": pd.date_range("2021-03-01", periods=9, freq="h")}))
    assert hours.coded_feature_names_[0] == "when"
    assert "hour of when=06:00 to 09:00" in hours.coded_feature_names_
    assert not any(name.startswith("weekday") for name in hours.coded_feature_names_)


def test_dates_are_shown_as_dates(model: AutoSSLART) -> None:
    X, _ = weekends()
    (why,) = model.explain(X[:1])
    assert "weekday of day is Friday" in str(why)
    rules = model.rules(X).to_text()
    assert "weekday of day is" in rules
    early = np.where(DAYS.day_of_year < 46, "early", "late")
    late = AutoSSLART(random_state=0).fit(X, early)
    text = late.rules(X).to_text()
    assert "2021-02-" in text
    assert "day" in str(late.explain(X[:1])[0])
    assert "2021-" in SSLART(random_state=0).fit(X, early).rules(kind="boxes").to_text()


def test_a_change_of_a_date_is_shown_as_a_date() -> None:
    minutes = pd.DataFrame({"at": pd.date_range("2021-03-04 06:00", periods=120, freq="min")})
    model = SSLART(random_state=0).fit(minutes, np.where(minutes.index < 50, "early", "late"))
    assert "at 2021-03-04 06:5" in str(model.counterfactual(minutes.iloc[0]))
    assert "at 2021-03-04 06:5" in str(model.counterfactual(minutes.iloc[0], ranges={"at": (None, 1e6)}))


def test_a_model_with_dates_is_saved_and_streamed(model: AutoSSLART, tmp_path: Path) -> None:
    X, y = weekends()
    sslart.save(model, tmp_path / "model.sslart")
    same = sslart.load(tmp_path / "model.sslart")
    np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))
    streams = [SSLART(0.8), SSLART(0.8)]
    for stream, cuts in zip(streams, [[0, 40, 120], [0, 40, 41, 90, 120]], strict=True):
        for start, stop in pairwise(cuts):
            stream.partial_fit(X[start:stop], y[start:stop])
    np.testing.assert_array_equal(streams[0].lower_, streams[1].lower_)


@pytest.mark.parametrize("kind", ["pandas", "polars", "objects", "dates", "with a zone", "polars with a zone"])
def test_dates_of_all_kinds_are_read_alike(model: AutoSSLART, kind: str) -> None:
    X, _ = weekends()
    zone = timezone(timedelta(hours=5))
    given: Any = {
        "pandas": X,
        "polars": pl.DataFrame({"size": X["size"].to_numpy(), "day": DAYS.to_numpy()}),
        "objects": X.assign(day=pd.Series([datetime(one.year, one.month, one.day) for one in DAYS], dtype=object)),
        "dates": X.assign(day=pd.Series([date(one.year, one.month, one.day) for one in DAYS], dtype=object)),
        "with a zone": X.assign(day=DAYS.tz_localize(zone)),
        "polars with a zone": pl.DataFrame({"size": X["size"].to_numpy(), "day": DAYS.to_numpy()}).with_columns(
            pl.col("day").dt.replace_time_zone("Asia/Tokyo")
        ),
    }[kind]
    np.testing.assert_array_equal(model.predict_proba(given), model.predict_proba(X))


def test_missing_dates_are_missing_values() -> None:
    X, y = weekends()
    X.loc[3:9, "day"] = pd.NaT
    model = AutoSSLART(random_state=0).fit(X, y)
    assert model.predict(X[3:5]).shape == (2,)


def test_times_and_durations_are_numbers() -> None:
    times = [time(hour, 30) for hour in range(12)]
    model = FuzzyART(0.9).fit(pd.DataFrame({"at": times, "for": pd.to_timedelta(range(12), unit="s")}))
    assert model.upper_[:, :2].max(axis=0).tolist() == [11.5 / 24, 11.0]


@pytest.mark.parametrize("model", [SSLART(random_state=0), WESSLART(2, random_state=0)])
def test_another_kind_of_column_than_learnt_is_refused(model: Any) -> None:
    X, y = weekends()
    model.fit(X, y)
    with pytest.raises(ValueError, match="'day' held dates in the data learnt first"):
        model.predict(X.assign(day=5.0))
    with pytest.raises(ValueError, match="'size' holds dates, and held none"):
        model.predict(X.assign(size=DAYS))


def moments_of(kind: str) -> pd.DataFrame:
    """Return moments whose hours, weekdays, months or years decide, from before 1970 to leap years after it."""
    random = np.random.RandomState(3)
    seconds = random.randint(-40 * 365 * 86400, 60 * 365 * 86400, 400)
    if kind == "trend":
        seconds = random.randint(10**9, 10**9 + 10**7, 400)
    when = pd.to_datetime(seconds, unit="s")
    return pd.DataFrame({"when": when, "x": random.rand(400)})


CLASSES: dict[str, Any] = {
    "hour": lambda when: (when.dt.hour >= 12) & (when.dt.hour < 18),
    "weekday": lambda when: when.dt.day_of_week >= 5,
    "month": lambda when: when.dt.month.isin([1, 2, 12]),
    "trend": lambda when: when < pd.Timestamp("2001-10-20 07:30"),
}


@pytest.mark.parametrize("kind", CLASSES)
def test_rules_with_dates_are_the_same_in_sql_and_python(kind: str) -> None:
    X = moments_of(kind)
    model = AutoSSLART(random_state=0).fit(X, np.where(CLASSES[kind](X["when"]), "in", "out"))
    X.loc[3, "when"] = pd.NaT
    rules = model.rules(X)
    assert "when" in rules.to_text()
    expected = rules.predict(X).tolist()
    scope: dict[str, Any] = {}
    exec(rules.to_python(), scope)
    texts = X.astype({"when": str}).replace({"NaT": None})
    for frame in (X, texts):
        assert [scope["predict"](row) for row in frame.to_dict("records")] == expected
    with closing(sqlite3.connect(":memory:")) as database:
        X.to_sql("t", database, index=False)
        assert [one for (one,) in database.execute(f"SELECT {rules.to_sql()} FROM t")] == expected


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize("mapping", ["one-to-many", "evidence"])
def test_onnx_takes_dates_as_days_since_1970(kind: str, mapping: str) -> None:
    X = moments_of(kind)
    model = SSLART(0.7, mapping=mapping, random_state=0).fit(X, np.where(CLASSES[kind](X["when"]), "in", "out"))
    X.loc[3, "when"] = pd.NaT
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    assert [one.name for one in session.get_inputs()] == ["when", "x"]
    days = (X["when"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)
    feeds = {"when": days.to_numpy()[:, None], "x": X[["x"]].to_numpy()}
    label, probabilities, _ = session.run(None, feeds)
    assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


def test_dates_that_stand_for_months_have_no_weekday_in_onnx() -> None:
    X = pd.DataFrame({"when": pd.date_range("1990-01-01", periods=120, freq="MS"), "x": np.arange(120) % 7 + 0.5})
    model = SSLART(0.7, mapping="evidence", random_state=0).fit(X, np.where(X["when"].dt.month < 5, "in", "out"))
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    days = X[["when"]].to_numpy().astype("datetime64[D]").astype(np.float64)
    assert session.run(None, {"when": days, "x": X[["x"]].to_numpy()})[0].tolist() == model.predict(X).tolist()


def test_limits_of_changes_are_dates() -> None:
    X, _ = weekends()
    model = SSLART(random_state=0).fit(X, np.where(DAYS.day_of_year < 46, "early", "late"))
    days = (18690.0, 18710.0)
    expected = str(model.counterfactual(X.iloc[0], ranges={"day": days}))
    assert "day 2021-03" in expected
    for limits in (("2021-03-04", "2021-03-24"), (date(2021, 3, 4), datetime(2021, 3, 24))):
        assert str(model.counterfactual(X.iloc[0], ranges={"day": limits})) == expected
    with pytest.raises(ValueError, match="is empty: 2021-03-24 is above 2021-03-04"):
        model.counterfactual(X.iloc[0], ranges={"day": ("2021-03-24", "2021-03-04")})
    with pytest.raises(ValueError, match="'day' is a date from 2021-01-01 to 2021-04-30"):
        model.counterfactual(X.iloc[0], ranges={"day": ("soon", None)})


@pytest.mark.parametrize(
    "model", [AutoSSLART(random_state=0), SSLART(0.9, random_state=0), WESSLART(2, random_state=0)]
)
def test_a_date_after_the_last_one_makes_no_sample_novel(model: Any) -> None:
    random, days = np.random.RandomState(0), pd.date_range("2020-01-01", periods=730)
    X = pd.DataFrame({"when": days, "a": random.normal(size=730), "b": random.normal(size=730)})
    model.fit(X[:700], np.where(X["a"] > 0, "p", "q")[:700])
    later = X.assign(when=days + pd.Timedelta(days=3000))
    assert model.is_novel(later).mean() < 0.1
    assert model.is_novel(later.assign(a=50.0)).all()
    assert model.is_novel(X.assign(when=days - pd.Timedelta(days=3000))).all()  # before the first: not like the data
    assert not model.is_novel(later.assign(a=np.nan, b=np.nan)).any()
    view = model.__sslart_view__()
    np.testing.assert_array_equal(view.decide(view.read(later)).is_novel, model.is_novel(later))
