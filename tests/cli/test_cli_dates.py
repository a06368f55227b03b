"""Dates and times in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sslart
from sslart._data.text_parsing import day_comes_first, moments
from sslart.cli import main

DAYS = pd.date_range("2021-03-01", periods=120, freq="D")


def week(folder: Path, form: str) -> Path:
    """Write a table of days, half of them labelled, in some form; return its path."""
    kind = np.where(DAYS.day_of_week >= 5, "weekend", "work").astype(object)
    kind[1::2] = None
    frame = pd.DataFrame({"size": np.arange(120) % 7 / 7, "day": DAYS.strftime(form), "kind": kind})
    frame.to_csv(folder / "table.csv", index=False)
    return folder / "table.csv"


IN_EVERY_RUN = ("%Y-%m-%d", "%b %d %Y")
FORMS = [
    *IN_EVERY_RUN,
    *(pytest.param(one, marks=pytest.mark.slow) for one in ("%d/%m/%y 00:00", "%d.%m.%Y", "%m/%d/%Y", "%d-%b-%y")),
]


@pytest.mark.parametrize("form", FORMS)
def test_dates_of_many_forms_are_features(form: str, tmp_path: Path, capsys: Any) -> None:
    table, model = week(tmp_path, form), tmp_path / "model.sslart"
    assert main(["fit", str(table), "--label", "kind", "--out", str(model), "--quiet"]) == 0
    new = pd.DataFrame({"size": 0.5, "day": [pd.Timestamp("2021-04-03").strftime(form)]})  # a Saturday in any case
    new.to_csv(tmp_path / "new.csv", index=False)
    assert main(["predict", str(model), str(tmp_path / "new.csv"), "--out", str(tmp_path / "out.csv")]) == 0
    assert pd.read_csv(tmp_path / "out.csv")["class"].tolist() == ["weekend"]
    assert main(["explain", str(model), str(tmp_path / "new.csv"), "--row", "1"]) == 0
    assert "weekday of day is Saturday" in capsys.readouterr().out


def test_fit_shows_dates_as_dates(tmp_path: Path, capsys: Any) -> None:
    assert main(["fit", str(week(tmp_path, "%d/%m/%Y")), "--label", "kind", "--out", str(tmp_path / "m.sslart")]) == 0
    shown = capsys.readouterr().out
    assert "2021-03-01 to 2021-06-28" in shown
    assert "weekday of day" in shown


def test_a_cell_that_is_no_date_is_named_by_its_row(tmp_path: Path, capsys: Any) -> None:
    table, model = week(tmp_path, "%Y-%m-%d"), tmp_path / "model.sslart"
    assert main(["fit", str(table), "--label", "kind", "--out", str(model), "--quiet"]) == 0
    (tmp_path / "new.csv").write_text("size,day\n0.1,2021-04-03\n0.2,soon\n")
    assert main(["predict", str(model), str(tmp_path / "new.csv")]) == 1
    assert "Column 'day' of" in (error := capsys.readouterr().err)
    assert "'soon' in row 2" in error


def test_a_date_without_its_day_is_blank_with_a_note(tmp_path: Path, capsys: Any) -> None:
    table, model = week(tmp_path, "%m/%d/%Y"), tmp_path / "model.sslart"
    table.write_text(table.read_text().replace("03/05/2021", "3/-9/2021"))
    assert main(["fit", str(table), "--label", "kind", "--out", str(model), "--quiet"]) == 0
    assert "'3/-9/2021' in column 'day' lacks a part of the date and is treated as blank" in capsys.readouterr().err
    assert main(["predict", str(model), str(table), "--out", str(tmp_path / "out.csv")]) == 0
    assert "weekday of day=Saturday" in sslart.load(model).coded_feature_names_
    assert main(["what-if", str(model), str(table), "--row", "1", "--range", "day=0000-00-00:2021-04-20"]) == 1
    assert "'day' is a date from 2021-03-01" in capsys.readouterr().err


def test_dates_of_parquet_are_features(tmp_path: Path) -> None:
    pd.read_csv(week(tmp_path, "%Y-%m-%d")).assign(day=DAYS).to_parquet(tmp_path / "table.parquet")
    model = tmp_path / "model.sslart"
    assert main(["fit", str(tmp_path / "table.parquet"), "--label", "kind", "--out", str(model), "--quiet"]) == 0
    assert "weekday of day=Saturday" in sslart.load(model).coded_feature_names_


def test_where_the_month_comes_is_shown_by_the_cells() -> None:
    assert day_comes_first(["1/2/2021", "13/2/2021"]) is True
    assert day_comes_first(["1/2/2021", "1/13/2021"]) is False
    assert day_comes_first(["1.2.2021", None]) is True
    assert day_comes_first(["1/2/2021"]) is None
    read = moments(["1/2/2021 6:30 pm", None, "18:30"], day_first=True)
    assert read.astype("datetime64[s]").astype(str).tolist() == ["2021-02-01T18:30:00", "NaT", "1970-01-01T18:30:00"]


def test_limits_of_changes_are_dates(tmp_path: Path, capsys: Any) -> None:
    table, model = week(tmp_path, "%Y-%m-%d"), str(tmp_path / "model.sslart")
    assert main(["fit", str(table), "--label", "kind", "--out", model, "--quiet"]) == 0
    arguments = ["what-if", model, str(table), "--row", "1", "--json"]
    capsys.readouterr()
    assert main([*arguments, "--range", "day=2021-03-10:2021-04-20"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert main([*arguments, "--range", "day=2021-03-10 00:00:2021-04-20"]) == 0
    assert json.loads(capsys.readouterr().out) == first
    assert main([*arguments, "--range", "day=soon"]) == 1
    assert "is not two dates separated by a colon" in capsys.readouterr().err


def test_text_dates_of_a_frame_are_those_of_the_command_line(tmp_path: Path) -> None:
    table, model = week(tmp_path, "%d.%m.%Y"), tmp_path / "model.sslart"
    assert main(["fit", str(table), "--label", "kind", "--out", str(model), "--quiet"]) == 0
    frame = pd.read_csv(table)
    labels = frame.pop("kind")
    here = sslart.AutoSSLART(random_state=0).fit(frame, [None if one != one else one for one in labels])
    assert (here.predict_proba(frame) == sslart.load(model).predict_proba(frame)).all()
