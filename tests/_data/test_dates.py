"""Columns of dates and times: features of their own, shown as dates."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
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
    with pytest.raises(ValueError, match="'day' held dates in the data first learnt"):
        model.predict(X.assign(day=5.0))
    with pytest.raises(ValueError, match="'size' holds dates, and held none"):
        model.predict(X.assign(size=DAYS))


def test_dates_have_no_form_in_onnx_and_sql(model: AutoSSLART) -> None:
    X, _ = weekends()
    with pytest.raises(ValueError, match="'day' holds dates, which ONNX has no type for"):
        to_onnx(model)
    with pytest.raises(ValueError, match="follows from dates"):
        model.rules(X).to_sql()
