"""Columns that name units, codes or missing values, and ordinary quantities, of which nothing is said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

from sslart import SSLART

RANDOM = np.random.RandomState(0)
N = 400


def rows(**columns: Any) -> pd.DataFrame:
    """Return a table of two measurements and further columns."""
    return pd.DataFrame({"a": RANDOM.rand(N), "b": RANDOM.rand(N), **columns})


def noted(frame: Any, y: Any = None) -> set[tuple[str, str]]:
    labels = ["p", "q"] * (len(frame) // 2) if y is None else y
    return {(note.topic, note.column) for note in SSLART(0.5, random_state=0).fit(frame, labels).summary().notes}


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_diabetes, load_digits])
def test_nothing_is_said_of_ordinary_quantities(load: Any) -> None:
    data = load(as_frame=True)
    y = data.target if load is not load_diabetes else data.target > 100
    assert {topic for topic, _ in noted(data.data, y)} <= {"constant columns"}


@pytest.mark.parametrize("name", ["patient", "Patient ID", "schid", "batch_no", "subject", "machine", "userId"])
def test_units_are_named_by_their_names(name: str) -> None:
    assert noted(rows(**{name: RANDOM.permutation(np.arange(N) // 10) * 17 + 5})) == {("likely groups", name)}


@pytest.mark.parametrize("name", ["children", "doctor_visits", "units", "acid", "paid", "width", "number", "index"])
def test_numbers_of_other_names_are_quantities(name: str) -> None:
    assert noted(rows(**{name: RANDOM.poisson(8, N)})) == set()


def test_small_numbers_under_the_name_of_a_unit_may_be_amounts() -> None:
    years = np.clip(RANDOM.normal(12, 2, N).round(), 6, 18).astype(int)
    assert noted(rows(school=years)) == set()  # of schooling
    assert noted(rows(litter=RANDOM.randint(7, 12, N))) == set()  # sizes
    assert noted(rows(students=RANDOM.randint(80, 300, N))) == set()
    assert noted(rows(schid=years)) == {("likely groups", "schid")}
    assert noted(rows(school=RANDOM.permutation(N) % 20 + 1)) == {("likely groups", "school")}
    assert noted(rows(school=100 * years)) == {("likely groups", "school")}


def test_few_texts_under_the_name_of_a_unit_are_categories() -> None:
    assert noted(rows(School=RANDOM.choice(list("ABCDEFGH"), N))) == set()
    assert noted(rows(School=[f"no. {one % 12}" for one in RANDOM.permutation(N)])) == {("likely groups", "School")}


def test_a_unit_of_nearly_every_row_is_an_identifier() -> None:
    ids = RANDOM.permutation(N)
    assert noted(rows(id=np.where(ids < 8, ids + 8, ids))) == {("possible identifiers", "id")}
    assert noted(rows(id=np.where(ids < 60, ids + 60, ids))) == {("likely groups", "id")}


def test_several_orders_are_ranks() -> None:
    first, second = RANDOM.permutation(N) + 1, RANDOM.permutation(N) + 1
    assert noted(rows(wealth=first, crime=second)) == set()
    assert noted(rows(wealth=first.astype(float), id=second.astype(float))) == {
        ("possible identifiers", "wealth"),
        ("possible identifiers", "id"),
    }


def test_texts_that_hardly_repeat_are_left_out_and_others_are_not() -> None:
    names = [f"name {one}" for one in (*range(300), *range(100))]  # 200 of the 400 rows have one of their own
    assert noted(rows(name=names)) == set()
    with pytest.warns(UserWarning, match="'name' is left out: its values hardly repeat"):
        assert noted(rows(name=[f"name {one}" for one in (*range(340), *range(60))])) == {("columns left out", "name")}


def alike(n_units: int) -> tuple[np.ndarray, pd.DataFrame]:
    """Return the unit of each row, and measurements that rows of one unit have nearly in common."""
    unit = np.repeat(np.arange(n_units), N // n_units)
    own = RANDOM.rand(n_units, 3)[unit] + 0.1 * RANDOM.rand(N, 3)
    return unit, pd.DataFrame(own, columns=list("uvw")).assign(x=RANDOM.rand(N))


def test_numbered_units_are_found_by_the_likeness_of_their_rows() -> None:
    unit, frame = alike(40)
    order = RANDOM.permutation(N)
    assert noted(frame.assign(z=unit + 1).iloc[order]) == {("likely groups", "z")}
    assert noted(frame.assign(z=RANDOM.permutation(unit))) == set()
    assert noted(frame.assign(month=unit + 1)) == set()
    # a quantity that the measurements follow is no unit, though rows of one value are alike
    assert noted(pd.DataFrame({"z": unit + 1, "u": unit + RANDOM.rand(N), "v": RANDOM.rand(N) - unit / 2})) == set()


def test_texts_are_units_by_their_names_alone() -> None:
    unit, frame = alike(40)
    assert noted(frame.assign(z=[f"unit {one}" for one in unit])) == set()  # a category
    assert noted(rows(country=[f"C{one}" for one in unit])) == {("likely groups", "country")}
    uneven = np.minimum(RANDOM.geometric(0.1, N), 40)
    assert noted(rows(country=[f"C{one}" for one in uneven])) == set()  # no panel
    assert noted(rows(subject=[f"S{one}" for one in uneven])) == {("likely groups", "subject")}


def test_numbers_that_start_again_are_units_if_these_have_something_in_common() -> None:
    counter = np.arange(N) % 39
    sex = RANDOM.choice(["m", "f"], 39)[counter]
    assert noted(rows(sample_no=counter)) == set()
    assert noted(rows(sample_no=counter, sex=sex)) == {("likely groups", "sample_no")}
    assert noted(rows(sample_no=RANDOM.permutation(counter))) == {("likely groups", "sample_no")}


def test_numbers_that_number_rows_in_any_order_are_identifiers() -> None:
    assert noted(rows(z=RANDOM.permutation(N) + 1)) == {("possible identifiers", "z")}
    for name in ("rank", "time", "week_of_study"):
        assert noted(rows(**{name: np.arange(N)})) == set()
    assert noted(rows(z=np.arange(N) + 1600)) == set()  # years


def test_codes_are_named() -> None:
    zips = RANDOM.choice([10115, 50667, 80331, 20095], N)
    assert noted(rows(zip_code=zips)) == {("possible codes", "zip_code")}
    assert noted(rows(edema=RANDOM.choice([0, 0.5, 1.0], N))) == {("possible codes", "edema")}
    assert noted(rows(dose=RANDOM.choice([0.5, 1, 2.0], N))) == set()
    area = RANDOM.randint(7, size=N)
    means = np.array([3.0, -2, 4, -3, 2, -4, 3])[area]
    frame = pd.DataFrame({"area": area, **{name: means + RANDOM.normal(size=N) for name in "uvw"}})
    assert noted(frame) == {("possible codes", "area")}
    assert noted(frame.assign(u=area + RANDOM.rand(N), v=RANDOM.rand(N) - area, w=RANDOM.rand(N))) == set()


def test_counts_of_few_rows_and_years_are_no_codes() -> None:
    effect = RANDOM.rand(12, 4)
    counts = RANDOM.choice(12, N, p=np.r_[[0.24] * 4, [0.005] * 8])
    frame = pd.DataFrame(effect[counts] + 0.05 * RANDOM.rand(N, 4), columns=list("uvwx"))
    assert noted(frame.assign(z=counts)) == set()
    assert noted(rows(year=RANDOM.choice([92, 95, 99], N))) == set()
    assert noted(rows(score=RANDOM.choice([92, 95, 9999], N))) == {("possible codes for missing values", "score")}


def test_a_category_is_no_code() -> None:
    zips = pd.Series(RANDOM.choice([10115, 50667, 80331, 20095], N)).astype("category")
    assert noted(rows(zip_code=zips)) == set()


@pytest.mark.parametrize("code", [-999.0, 999.0, 9999.0, -99.0, 888.0])
def test_numbers_for_missing_values_are_named_where_they_are_far_off_and_repeated(code: float) -> None:
    values = RANDOM.normal(30, 8, N)
    assert noted(rows(age=np.where(np.arange(N) % 20 == 0, code, values))) == {
        ("possible codes for missing values", "age")
    }


def test_numbers_among_others_stand_for_themselves() -> None:
    values = RANDOM.randint(18, 110, N).astype(float)
    assert noted(rows(weight=np.where(np.arange(N) % 20 == 0, 99, values))) == set()  # not far off
    once = RANDOM.rand(N)
    once[7] = 999
    with pytest.warns(UserWarning, match="outliers"):
        assert noted(rows(weight=once)) == set()  # not repeated


def test_unknown_is_named_and_stays_a_category() -> None:
    kinds = RANDOM.choice(["red", "blue", "unknown"], N)
    assert noted(rows(colour=kinds)) == {("categories for unknown values", "colour")}
    assert "colour=unknown" in SSLART(random_state=0).fit(rows(colour=kinds), ["p", "q"] * 200).coded_feature_names_


def test_mostly_blank_columns_are_named() -> None:
    share = RANDOM.rand(N)
    assert noted(rows(seldom=np.where(share < 0.7, np.nan, share), often=np.where(share < 0.3, np.nan, share))) == {
        ("mostly blank columns", "seldom")
    }


def test_the_note_names_the_way_to_confirm_it() -> None:
    frame = rows(patient=np.arange(N) // 10)
    shown = str(SSLART(0.5, random_state=0).fit(frame, ["p", "q"] * 200).summary())
    assert "patient (40 values in 400 rows)" in shown
    assert "--group COLUMN, or fit(X, y, groups=...)" in shown
