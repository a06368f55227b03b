"""Cells of a column: each distinct one is read once, and what looks alike but is not the same stays apart."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from sslart._data.text_parsing import NotADateError, moments
from sslart._tables.cells import distinct, names, texts


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pd.Series(["a", None, "a", " b "]), ["a", None, "a", "b"]),
        (pd.Series([1, True, 1.0, None], dtype=object), ["1", "True", "1", None]),
        (pd.Series([1.0, np.nan, 2.5]), ["1", None, "2.5"]),
        (pd.Series(["1.0", "1", "01"]), ["1", "1", "01"]),
        (pd.Series(["x", None], dtype="category"), ["x", None]),
        (pd.Series([datetime.date(2021, 3, 4), None], dtype=object), ["2021-03-04", None]),
    ],
)
def test_cells_are_texts_row_by_row(column: pd.Series, expected: list[str | None]) -> None:
    assert texts(column) == expected


def test_an_apostrophe_that_makes_a_cell_text_is_no_part_of_it() -> None:
    assert names(pd.Series(["'=1+1", "'quoted'"])) == ["=1+1", "'quoted'"]


def test_distinct_cells_end_with_none_for_blank_ones() -> None:
    places, cells = distinct(pd.Series(["b", None, "a", "b"]))
    assert cells == ["b", "a", None]
    assert places.tolist() == [0, -1, 1, 0]


def test_dates_of_all_forms_are_the_same_moments_whoever_reads_them() -> None:
    cells = ["2021-03-04", "2021/3/4", "04.03.2021", "Mar 4 2021", "2021-03-04T10:30", "2021-03-04 10:30:00 am", None]
    found = moments(cells, day_first=True).astype("datetime64[m]").astype(str).tolist()
    assert found == ["2021-03-04T00:00"] * 4 + ["2021-03-04T10:30"] * 2 + ["NaT"]


@pytest.mark.parametrize("wrong", ["2021-02-30", "2021-13-01", "31.02.2021", "soon"])
def test_what_is_no_date_is_named_by_its_place(wrong: str) -> None:
    with pytest.raises(NotADateError) as error:
        moments(["2021-03-04", None, wrong], day_first=True)
    assert error.value.place == 2
