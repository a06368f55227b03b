"""Units to unit cube and back: the grid, widening, categories."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from conftest import lattices
from sslart._data.encoder import Encoder, Feature, recode_boxes
from sslart._data.ranks import GRID
from sslart._data.samples import Table
from sslart._reference import encode

finite = st.floats(-1e6, 1e6, allow_nan=False)
tables = hnp.arrays(np.float64, st.tuples(st.integers(1, 12), st.integers(1, 4)), elements=finite)


def first(values: np.ndarray) -> Encoder:
    return Encoder.first(Table(values), None, stream=False)


def encoded(encoder: Encoder, values: np.ndarray) -> np.ndarray:
    values = np.ascontiguousarray(encoder.matrix(Table(values)))
    coded = np.empty_like(values)
    beyond = encode(values, encoder.lower, encoder.upper, coded)
    assert beyond == ((values < encoder.lower) | (values > encoder.upper)).any()
    return coded


@given(values=tables)
def test_coded_values_lie_on_the_grid_in_the_unit_cube_and_come_back(values: np.ndarray) -> None:
    encoder = first(values)
    coded = encoded(encoder, values)
    assert ((coded >= 0) & (coded <= 1)).all()
    np.testing.assert_array_equal(coded * GRID, np.rint(coded * GRID))
    matrix = encoder.matrix(Table(values))
    span = matrix.max(axis=0) - matrix.min(axis=0)
    assert (np.abs(encoder.decode(coded) - matrix) <= span / GRID + 1e-9).all()


def test_rounding_is_to_nearest_ties_to_even() -> None:
    encoder = first(np.array([[0.0], [1.0]]))
    coded = encoded(encoder, np.array([[0.5], [1.5], [2.5], [0.75]]) / GRID)
    assert (coded * GRID).ravel().tolist() == [0.0, 2.0, 2.0, 1.0]


def test_a_constant_feature_is_not_coded_and_missing_stays_missing() -> None:
    encoder = first(np.array([[5.0, 1.0], [5.0, np.nan], [5.0, 3.0]]))
    assert encoder.features == (Feature(1),)
    assert encoder.constant == {Feature(0): 5.0}
    np.testing.assert_array_equal(encoded(encoder, np.array([[5.0, 2.0], [9.0, np.nan]])), [[0.5], [np.nan]])


def test_where_every_feature_is_constant_all_of_them_count_until_one_varies() -> None:
    encoder = first(np.array([[5.0, 1.0]]))
    assert encoder.features == (Feature(0), Feature(1))
    wider = encoder.covering(Table(np.array([[5.0, 2.0]])))
    assert wider.features == (Feature(1),)
    assert wider.constant == {Feature(0): 5.0}
    lower, upper, met = recode_boxes(encoder, np.zeros((1, 2)), np.zeros((1, 2)), np.empty((1, 0), bool), wider)
    assert (lower.tolist(), upper.tolist(), met.tolist()) == ([[0.0]], [[0.0]], [[True]])


def test_a_feature_joins_with_the_one_value_as_its_side_in_the_boxes_that_have_met_it() -> None:
    encoder = first(np.array([[5.0, 1.0], [np.nan, 3.0]]))
    wider = encoder.covering(Table(np.array([[4.0, 2.0]])))
    assert wider.features == (Feature(0), Feature(1))
    sides, met = np.array([[0.0], [1.0]]), np.array([[True], [False]])
    lower, upper, none = recode_boxes(encoder, sides, sides, met, wider)
    np.testing.assert_array_equal(lower, [[1.0, 0.0], [1.0, 1.0]])
    np.testing.assert_array_equal(upper, [[1.0, 0.0], [0.0, 1.0]])
    assert none.shape == (2, 0)


def test_values_beyond_the_range_are_clipped() -> None:
    encoder = first(np.array([[0.0], [10.0]]))
    np.testing.assert_array_equal(encoded(encoder, np.array([[-3.0], [99.0]])), [[0.0], [1.0]])


@example(values=np.array([[1.1154495e-131], [0.0]]), more=np.array([[-1.0]]), corners=0)
@given(values=tables, more=tables, corners=st.integers(0, 2**31))
def test_recoded_boxes_cover_what_they_covered(values: np.ndarray, more: np.ndarray, corners: int) -> None:
    n_features = min(values.shape[1], more.shape[1])
    encoder = first(values[:, :n_features])
    wider = encoder.covering(Table(more[:, :n_features]))
    sides = np.random.RandomState(corners).randint(0, GRID + 1, size=(2, 20, len(encoder.features))) / GRID
    lower, upper = sides.min(axis=0), sides.max(axis=0)
    lower[0, 0], upper[0, 0] = 1.0, 0.0  # a side not reached yet
    met = np.random.RandomState(corners).rand(20, len(encoder.constant)) < 0.5
    whole_lower, whole_upper, new_met = recode_boxes(encoder, lower, upper, met, wider)
    for feature, had_met in zip(encoder.constant, met.T, strict=True):
        if feature in wider.constant:
            np.testing.assert_array_equal(new_met[:, list(wider.constant).index(feature)], had_met)
        else:
            at = np.array([wider.features.index(feature)])
            assert (whole_lower[~had_met, at] > whole_upper[~had_met, at]).all()
            value, step = encoder.constant[feature], (wider.upper - wider.lower)[at] / GRID
            low, high = (wider.decode(side[had_met][:, at], at) for side in (whole_lower, whole_upper))
            assert ((low <= value) & (value <= high) & (high - low <= 4 * step + 1e-9)).all()
    kept = [place for place, feature in enumerate(encoder.features) if feature in wider.features]
    at = np.array([wider.features.index(encoder.features[place]) for place in kept], dtype=int)
    lower, upper, new_lower, new_upper = lower[:, kept], upper[:, kept], whole_lower[:, at], whole_upper[:, at]
    reached = lower <= upper
    kept = np.array(kept, dtype=int)
    assert (wider.decode(new_lower, at)[reached] <= encoder.decode(lower, kept)[reached]).all()
    assert (wider.decode(new_upper, at)[reached] >= encoder.decode(upper, kept)[reached]).all()
    step = ((wider.upper - wider.lower) / GRID)[at]
    away = np.abs(wider.decode(new_lower, at) - encoder.decode(lower, kept))
    assert (away[reached] <= (2 * step + 1e-9 + 0 * lower)[reached]).all()
    np.testing.assert_array_equal(new_lower[~reached], 1.0)
    np.testing.assert_array_equal(new_upper[~reached], 0.0)
    np.testing.assert_array_equal(new_lower * GRID, np.rint(new_lower * GRID))


def recoded_by_the_page(code: float, old: tuple[float, float], new: tuple[float, float], step: int) -> float:
    """Return the code of a corner after widening, as docs/model.md has it; step: -1 for a lower corner, else 1."""

    def value(code: float, low: float, high: float) -> float:
        return high if code == 1 else low + code * (high - low)

    x = value(code, *old)
    scaled = (x - new[0]) / (new[1] - new[0]) * GRID
    found = min(max((math.floor(scaled) if step < 0 else math.ceil(scaled)) / GRID, 0.0), 1.0)
    return found + step / GRID if step * value(found, *new) < step * x else found


@given(
    start=st.floats(-1e6, 1e6).filter(lambda x: abs(x) > 1e-300),
    widths=st.tuples(st.integers(1, 9), st.integers(0, 9), st.integers(0, 2**40)),
    codes=st.lists(st.integers(0, int(GRID)), min_size=2, max_size=2),
)
def test_ranges_of_a_few_units_in_the_last_place_widen_as_the_page_has_it(
    start: float, widths: tuple[int, int, int], codes: list[int]
) -> None:
    unit = math.ulp(start)
    old = start, start + widths[0] * unit
    new = old[0] - widths[1] * unit, old[1] + widths[2] * unit
    encoder = first(np.array([[old[0]], [old[1]]]))
    wider = encoder.covering(Table(np.array([[new[0]], [new[1]]])))
    lower, upper = sorted(code / GRID for code in codes)
    found = recode_boxes(encoder, np.array([[lower]]), np.array([[upper]]), np.empty((1, 0), dtype=bool), wider)
    expected = lower, upper
    if old != new:
        expected = recoded_by_the_page(lower, old, new, -1), recoded_by_the_page(upper, old, new, 1)
    assert (found[0].item(), found[1].item()) == expected


@given(samples=lattices(min_samples=2))
def test_segments_cover_the_table_and_end_where_covering_ends(samples: np.ndarray) -> None:
    start = first(samples[:1])
    segments = list(start.segments(Table(samples * 4 - 1)))
    assert [rows.start for rows, _ in segments] == [0, *(rows.stop for rows, _ in segments[:-1])]
    assert segments[-1][0].stop == len(samples)
    end, whole = segments[-1][1], start.covering(Table(samples * 4 - 1))
    np.testing.assert_array_equal(end.lower, whole.lower)
    np.testing.assert_array_equal(end.upper, whole.upper)
    for rows, encoder in segments:
        part = encoder.matrix(Table((samples * 4 - 1)[rows]))
        assert not (part < encoder.lower).any()
        assert not (part > encoder.upper).any()


def test_encoder_that_need_not_change_is_kept() -> None:
    encoder = first(np.array([[0.0], [1.0]]))
    ((rows, same),) = encoder.segments(Table(np.array([[0.2], [0.9]])))
    assert same is encoder
    assert rows == slice(0, 2)
