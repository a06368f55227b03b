"""Settings are chosen at the same labels and samples, however a stream is cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sslart._mapping.evidence.streams import GAP, MIN_GAP, choosing_rows


def test_few_labels_grow_by_a_third_or_a_half_from_choice_to_choice_and_many_double() -> None:
    rows = choosing_rows(np.zeros(600, dtype=int), 1, 0, 0, 0, np.inf, 1000)
    assert (rows + 1).tolist() == [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512]
    one_by_one = [
        number
        for number in range(1, 601)
        if len(choosing_rows(np.zeros(1, dtype=int), 1, number - 1, 0, 9, np.inf, 1000))
    ]
    assert one_by_one == (rows + 1).tolist()


def test_a_new_class_leads_to_a_choice() -> None:
    codes = np.array([0, -1, 0, 0, 0, 1, 1, 2])
    rows = choosing_rows(codes, 0, 0, 0, 0, np.inf, 1000)
    assert {0, 5, 7} <= set(rows.tolist())
    assert 1 not in rows


def test_samples_without_any_label_lead_to_no_choice() -> None:
    assert not len(choosing_rows(np.full(200, -1), 0, 0, 0, 0, np.inf, 1000))


@pytest.mark.parametrize("half_life", [100.0, 1000.0, 8000.0])
def test_with_a_half_life_choices_are_no_further_apart_than_a_part_of_it(half_life: float) -> None:
    codes = np.full(40_000, -1)
    codes[0] = 0
    rows = choosing_rows(codes, 0, 0, 0, 0, half_life, 1000)
    assert np.diff(rows).max() == max(round(GAP * half_life), MIN_GAP)


def test_without_further_labels_samples_lead_to_a_choice_when_there_are_three_times_as_many() -> None:
    codes = np.full(1000, -1)
    codes[99] = 0
    assert (choosing_rows(codes, 0, 0, 0, 0, np.inf, 100) + 1).tolist() == [100, 300, 900]


def test_no_more_labels_come_between_two_choices_than_half_of_those_kept() -> None:
    rows = choosing_rows(np.zeros(10_000, dtype=int), 1, 0, 0, 0, np.inf, 400)
    assert np.diff(rows).max() <= 200


@given(
    codes=st.lists(st.integers(-1, 3), min_size=1, max_size=80),
    cut=st.integers(0, 80),
    half_life=st.sampled_from([8.0, 50.0, np.inf]),
)
def test_a_cut_changes_no_choice(codes: list[int], cut: int, half_life: float) -> None:
    first_places = {code: number for number, code in enumerate(dict.fromkeys(one for one in codes if one >= 0))}
    whole = np.array([first_places.get(one, -1) for one in codes])
    before, after = whole[:cut], whole[cut:]
    n_classes, n_labels = int(before.max(initial=-1)) + 1, int((before >= 0).sum())
    first = choosing_rows(before, 0, 0, 0, 0, half_life, 20)
    n_chosen = int(first[-1]) + 1 if len(first) else 0
    later = len(before) + choosing_rows(after, n_classes, n_labels, len(before), n_chosen, half_life, 20)
    assert np.concatenate([first, later]).tolist() == choosing_rows(whole, 0, 0, 0, 0, half_life, 20).tolist()


@given(
    whole=st.lists(st.integers(-1, 2), min_size=1, max_size=150),
    half_life=st.sampled_from([np.inf, 3.0, 20.0, 50.0]),
    max_labels=st.sampled_from([1, 8, 1000]),
)
def test_rows_that_come_one_at_a_time_have_the_same_choices(
    whole: list[int], half_life: float, max_labels: int
) -> None:
    codes = np.array(whole)
    codes = np.minimum(codes, np.maximum.accumulate(np.concatenate([[-1], codes]))[:-1] + 1)  # classes come in order
    n_labels, n_classes, n_chosen, rows = 0, 0, 0, []
    for row, code in enumerate(codes.tolist()):
        if len(choosing_rows(codes[row : row + 1], n_classes, n_labels, row, n_chosen, half_life, max_labels)):
            rows.append(row)
            n_chosen = row + 1
        n_labels, n_classes = n_labels + (code >= 0), max(n_classes, code + 1)
    assert rows == choosing_rows(codes, 0, 0, 0, 0, half_life, max_labels).tolist()
