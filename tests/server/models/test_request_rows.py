"""Rows of requests are the samples that a table with the same cells has, whichever way they are read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sslart import AutoSSLART
from sslart._mapping.model_view import view_of
from sslart._tables.columns import samples_for
from sslart.server.models._published import RowReader, as_class, text_frame

NAMES = ["length", "weight", "colour"]


def fitted() -> Any:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.normal(size=(60, 2)), columns=NAMES[:2])
    frame["colour"] = np.where(frame["length"] > 0, "red", "blue")
    return AutoSSLART(random_state=0).fit(frame, np.where(frame["weight"] > 0, "heavy", "light"))


MODEL = fitted()
READER = RowReader(MODEL, view_of(MODEL), ["batch"])
numbers = st.one_of(
    st.none(), st.integers(-1000, 1000), st.floats(-1e6, 1e6), st.sampled_from(["1.5", " 2 ", "NA", "?", "", "1e3"])
)
colours = st.one_of(st.none(), st.sampled_from(["red", "blue", " red ", "green", "", "NA", "'red"]))
rows = st.fixed_dictionaries({"length": st.floats(-10, 10), "weight": numbers, "colour": colours})


def as_a_table(cells: list[dict[str, Any]]) -> Any:
    return view_of(MODEL).read(samples_for(MODEL, text_frame(cells), "a file"))


@settings(max_examples=60, deadline=None)
@given(st.lists(rows, min_size=1, max_size=5))
def test_rows_are_read_as_the_cells_of_a_table_are(cells: list[dict[str, Any]]) -> None:
    read, table = READER.table(cells), as_a_table(cells)
    np.testing.assert_array_equal(read.values, table.values)
    assert {place: list(one) for place, one in read.categories.items()} == {
        place: list(one) for place, one in table.categories.items()
    }
    learnt = view_of(MODEL).read(READER.samples(cells))
    np.testing.assert_array_equal(learnt.values, table.values)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"length": 1.0, "weight": "heavy"}, "'heavy' in row 1 is not one"),
        ({"length": True, "weight": 1.0}, "is not one"),
        ({"length": 10**400}, "infinity"),
        ({"lenght": 1.0, "weight": 1.0}, "correct the name"),
        ({"length": None, "weight": None, "colour": None}, "no value"),
    ],
)
def test_a_bad_row_is_refused_with_its_reason(row: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        READER.table([row])


def test_a_row_may_have_columns_that_are_no_features_and_lack_some_that_are() -> None:
    assert len(READER.table([{"length": 1.0, "weight": 2.0, "colour": "red", "note": "x"}])) == 1
    assert np.isnan(READER.table([{"length": 1.0, "batch": 7}]).values[0, 1])


def test_labels_are_classes_of_the_model() -> None:
    assert as_class(3, None) == "3"
    assert as_class(3.0, None) == "3"
    assert as_class(" red ", None) == "red"
    assert as_class("", None) is None
    assert as_class("3", np.array([1, 3])) == 3
    assert as_class("true", np.array([False, True])) is True
    for label, classes in ((1.5, None), ("NA", None), ("red", np.array([1, 3]))):
        with pytest.raises(ValueError, match="class"):
            as_class(label, classes)
